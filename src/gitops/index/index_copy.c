// SPDX-License-Identifier: Apache-2.0
#include "gitops/index/index_copy.h"

#include <errno.h>
#include <linux/fs.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gitops/plumbing/index_scan.h"
#include "util/mem.h"

#define PIECE_BYTES     ((size_t)64 * 1024)
#define EXTENSION_BYTES 8 /* name and length */
#define OID_MAX_BYTES   32

static int read_at(int fd, void *bytes, size_t len, int64_t at)
{
    for (size_t done = 0; done < len;) {
        ssize_t got = pread(fd, (char *)bytes + done, len - done, at + (int64_t)done);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got < 0 ? -errno : -ENOTSUP; /* the file is shorter than it was */
        done += (size_t)got;
    }
    return 0;
}

static int write_at(int fd, const void *bytes, size_t len, int64_t at)
{
    for (size_t done = 0; done < len;) {
        ssize_t put = pwrite(fd, (const char *)bytes + done, len - done, at + (int64_t)done);

        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return put < 0 ? -errno : -EIO;
        done += (size_t)put;
    }
    return 0;
}

/* Copy `len` bytes in pieces; also to an earlier place in the same file. */
static int copy_pieces(int from_fd, int64_t from, int to_fd, int64_t to, int64_t len)
{
    al_auto(al_freep) char *piece = al_malloc(PIECE_BYTES);
    int r = 0;

    while (r == 0 && len > 0) {
        size_t some = len < (int64_t)PIECE_BYTES ? (size_t)len : PIECE_BYTES;

        r = read_at(from_fd, piece, some, from);
        if (r == 0)
            r = write_at(to_fd, piece, some, to);
        from += (int64_t)some;
        to += (int64_t)some;
        len -= (int64_t)some;
    }
    return r;
}

/* The whole file: by sharing blocks, else inside the kernel, else by reading and writing. */
static int copy_file(int from_fd, int to_fd, int64_t size)
{
    off_t from = 0, to = 0;

    if (ioctl(to_fd, FICLONE, from_fd) == 0)
        return 0;
    while (to < size) {
        ssize_t some = copy_file_range(from_fd, &from, to_fd, &to, (size_t)(size - to), 0);

        if (some <= 0)
            return copy_pieces(from_fd, to, to_fd, to, size - to);
    }
    return 0;
}

static uint32_t number(const unsigned char *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static bool is_kept(const unsigned char *name)
{
    return !memcmp(name, "TREE", 4) || !memcmp(name, "REUC", 4);
}

/* A git that does not know an extension may ignore it if its name begins with a capital letter. */
static bool is_optional(const unsigned char *name)
{
    return name[0] >= 'A' && name[0] <= 'Z';
}

/* Close up the extensions from `at` to `end` that are kept; `*ret_end` is where they end then. */
static int keep_extensions(int fd, int64_t at, int64_t end, int64_t *ret_end)
{
    int64_t out = at;

    while (at < end) {
        unsigned char header[EXTENSION_BYTES];
        int64_t len;
        int r = end - at < EXTENSION_BYTES ? -ENOTSUP : read_at(fd, header, sizeof(header), at);

        if (r < 0)
            return r;
        len = EXTENSION_BYTES + (int64_t)number(header + 4);
        if (len > end - at || !is_optional(header))
            return -ENOTSUP;
        if (is_kept(header)) {
            r = at == out ? 0 : copy_pieces(fd, at, fd, out, len);
            out += len;
        }
        if (r < 0)
            return r;
        at += len;
    }
    *ret_end = out;
    return 0;
}

int al_index_copy(int from_fd, int to_fd, bool sha256, uint32_t *ret_entries)
{
    static const char no_checksum[OID_MAX_BYTES];
    const size_t oid_bytes = sha256 ? 32 : 20;
    int64_t size, extensions, end;
    struct stat st;
    int r;

    if (fstat(from_fd, &st) < 0)
        return -errno;
    if (!S_ISREG(st.st_mode))
        return -ENOTSUP;
    if (st.st_size > AL_INDEX_COPY_MAX_BYTES)
        return -EFBIG;
    r = copy_file(from_fd, to_fd, st.st_size);
    if (r < 0)
        return r;
    /* The copy is what is looked at: nobody else can change it. */
    if (fstat(to_fd, &st) < 0)
        return -errno;
    size = st.st_size;
    if (size > AL_INDEX_COPY_MAX_BYTES ||
        !al_index_find_end(to_fd, oid_bytes, &extensions, ret_entries))
        return -ENOTSUP;
    r = keep_extensions(to_fd, extensions, size - (int64_t)oid_bytes, &end);
    if (r == 0)
        r = write_at(to_fd, no_checksum, oid_bytes, end);
    if (r == 0 && ftruncate(to_fd, end + (int64_t)oid_bytes) < 0)
        r = -errno;
    return r;
}
