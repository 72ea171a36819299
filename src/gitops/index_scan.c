// SPDX-License-Identifier: Apache-2.0
/*
 * Whether an index may have a gitlink: its entries one by one, then the headers of its extensions.
 *
 * Read in pieces and never mapped: the file may shrink.  What names and contents look like decides
 * nothing.  An index that cannot be understood may have one.
 *
 * Source: gitformat-index(5).
 */
#include "gitops/index_scan.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/fs.h"

#define PIECE_BYTES     ((size_t)64 * 1024)
#define INDEX_MAX_BYTES (INT64_C(1) << 30)

#define HEADER_BYTES    12
#define STAT_BYTES      40 /* before the object id; the mode stands at MODE_AT */
#define MODE_AT         24
#define OID_MAX_BYTES   32
#define NAME_MASK       0x0fffu
#define EXTENDED        0x4000u

enum found { FOUND_NONE, FOUND_GITLINK, NOT_UNDERSTOOD };

/* A file from its beginning to what its size was when it was opened. */
struct input {
    int fd;
    unsigned char *piece;
    size_t len, at;
    int64_t left; /* bytes that were not taken yet */
};

static uint32_t number(const unsigned char *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

/* The next byte; -1 at the end. */
static int next_byte(struct input *in)
{
    if (in->left <= 0)
        return -1;
    if (in->at == in->len) {
        ssize_t n = read(in->fd, in->piece, PIECE_BYTES);

        if (n <= 0)
            return -1;
        in->len = (size_t)n;
        in->at = 0;
    }
    in->left--;
    return in->piece[in->at++];
}

static bool take(struct input *in, unsigned char *ret_bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        int c = next_byte(in);

        if (c < 0)
            return false;
        ret_bytes[i] = (unsigned char)c;
    }
    return true;
}

static bool skip(struct input *in, int64_t n)
{
    while (n > 0) {
        int64_t here;

        if (next_byte(in) < 0)
            return false;
        n--;
        here = (int64_t)(in->len - in->at);
        if (here > n)
            here = n;
        if (here > in->left)
            here = in->left;
        in->at += (size_t)here;
        in->left -= here;
        n -= here;
    }
    return true;
}

/* Past the NUL; false when there is none.  *ret_len is the length before it. */
static bool skip_string(struct input *in, size_t *ret_len)
{
    int c;

    for (*ret_len = 0; (c = next_byte(in)) > 0; ++*ret_len)
        continue;
    return c == 0;
}

/* Version 4: how much of the last name goes, as a number of seven bits a byte; then what follows.
 */
static bool skip_compressed_name(struct input *in)
{
    size_t ignored;
    int c;

    do {
        c = next_byte(in);
    } while (c >= 0x80);
    return c >= 0 && skip_string(in, &ignored);
}

/* Entries up to version 3 have one to eight NULs behind the name, up to a multiple of eight. */
static bool skip_padded_name(struct input *in, size_t fixed, size_t len)
{
    const bool counted = len < NAME_MASK;
    size_t behind = 0;

    if (!counted && !skip_string(in, &len))
        return false;
    behind = ((fixed + len + 8) & ~(size_t)7) - fixed;
    return skip(in, (int64_t)(counted ? behind : behind - len - 1));
}

static enum found scan_entry(struct input *in, uint32_t version, size_t oid_bytes)
{
    unsigned char entry[STAT_BYTES + OID_MAX_BYTES + 2];
    size_t fixed = STAT_BYTES + oid_bytes + 2;
    uint32_t mode, flags;
    bool fine = take(in, entry, fixed);

    if (!fine)
        return NOT_UNDERSTOOD;
    mode = number(entry + MODE_AT) & 0170000u;
    flags = (uint32_t)entry[fixed - 2] << 8 | entry[fixed - 1];
    /* What a directory of a sparse index stands for is not in here. */
    if (mode == 0160000u || mode == 0040000u)
        return FOUND_GITLINK;
    if (mode != 0100000u && mode != 0120000u)
        return NOT_UNDERSTOOD;
    if (flags & EXTENDED) {
        fixed += 2;
        fine = version > 2 && skip(in, 2);
    }
    if (fine)
        fine = version == 4 ? skip_compressed_name(in)
                            : skip_padded_name(in, fixed, flags & NAME_MASK);
    return fine ? FOUND_NONE : NOT_UNDERSTOOD;
}

/* A split index has its entries elsewhere; a sparse one has directories for entries. */
static enum found scan_extensions(struct input *in, size_t oid_bytes)
{
    unsigned char header[8];

    while (in->left > (int64_t)oid_bytes) {
        if (!take(in, header, sizeof(header)))
            return NOT_UNDERSTOOD;
        if (!memcmp(header, "link", 4) || !memcmp(header, "sdir", 4))
            return FOUND_GITLINK;
        if (!skip(in, number(header + 4)))
            return NOT_UNDERSTOOD;
    }
    return in->left == (int64_t)oid_bytes ? FOUND_NONE : NOT_UNDERSTOOD;
}

static enum found scan(struct input *in, size_t oid_bytes)
{
    unsigned char header[HEADER_BYTES];
    enum found found = FOUND_NONE;
    uint32_t version, count;

    if (!take(in, header, sizeof(header)) || memcmp(header, "DIRC", 4) != 0)
        return NOT_UNDERSTOOD;
    version = number(header + 4);
    count = number(header + 8);
    if (version < 2 || version > 4)
        return NOT_UNDERSTOOD;
    for (; count && found == FOUND_NONE; count--)
        found = scan_entry(in, version, oid_bytes);
    return found == FOUND_NONE ? scan_extensions(in, oid_bytes) : found;
}

/* Nothing in the file says which ids it has: only one of the two fits to its end. */
static bool may_have(int fd, int64_t size)
{
    static const size_t oid_bytes[] = { 20, 32 };
    al_auto(al_freep) unsigned char *piece = al_malloc(PIECE_BYTES);

    for (size_t i = 0; i < AL_COUNT(oid_bytes); i++) {
        struct input in = { .fd = fd, .piece = piece, .left = size };
        enum found found = NOT_UNDERSTOOD;

        if (lseek(fd, 0, SEEK_SET) == 0)
            found = scan(&in, oid_bytes[i]);
        if (found != NOT_UNDERSTOOD)
            return found == FOUND_GITLINK;
    }
    return true;
}

bool al_index_may_have_gitlinks(const char *path)
{
    al_auto(al_closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    struct stat st;

    if (fd < 0)
        return errno != ENOENT;
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size > INDEX_MAX_BYTES)
        return true;
    return may_have(fd, st.st_size);
}
