// SPDX-License-Identifier: Apache-2.0
#include "checkpoint/loose_object.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
#include <zlib.h>

#include "guard/nofollow.h"
#include "util/fs.h"
#include "util/str.h"

#define BLOB_MAX_BYTES   (4u << 20)
#define HEADER_MAX_BYTES 32u /* "blob <size>" NUL */

/* Decompress into exactly `bytes`; false when that is not its size. */
static bool decompress(const struct al_str *from, unsigned char *into, size_t bytes)
{
    uLongf got = (uLongf)bytes;

    return uncompress(into, &got, (const unsigned char *)from->buf, (uLong)from->len) == Z_OK &&
           got == bytes;
}

/* Find the size of the blob, and of its header.  False for other objects and larger ones. */
static bool read_header(const struct al_str *file, size_t *ret_header, size_t *ret_size)
{
    unsigned char head[HEADER_MAX_BYTES + 1] = { 0 };
    z_stream stream = { .next_in = (unsigned char *)file->buf,
                        .avail_in = (uInt)file->len,
                        .next_out = head,
                        .avail_out = HEADER_MAX_BYTES };
    unsigned long long size;
    int len = 0, r;

    if (inflateInit(&stream) != Z_OK)
        return false;
    r = inflate(&stream, Z_SYNC_FLUSH);
    (void)inflateEnd(&stream);
    if ((r != Z_OK && r != Z_STREAM_END && r != Z_BUF_ERROR) ||
        sscanf((const char *)head, "blob %10llu%n", &size, &len) != 1 || head[len] != '\0' ||
        size > BLOB_MAX_BYTES)
        return false;
    *ret_header = (size_t)len + 1;
    *ret_size = (size_t)size;
    return true;
}

static int read_file(int common_fd, const struct al_oid *oid, bool sha256, struct al_str *ret_file)
{
    al_auto(al_closep) int fd = -1;
    char text[AL_OID_TEXT], path[sizeof("objects//") + AL_OID_TEXT];

    al_oid_text(oid, sha256, text);
    (void)snprintf(path, sizeof(path), "objects/%.2s/%s", text, text + 2);
    fd = al_nofollow_open(common_fd, path, O_RDONLY);
    return fd < 0 ? -1 : al_fs_read_fd(fd, BLOB_MAX_BYTES, ret_file);
}

int al_loose_object_copy(int common_fd, const struct al_oid *oid, uint64_t max_bytes,
                         struct al_objects *objects, struct al_error *err)
{
    al_auto(al_str_clear) struct al_str file = AL_STR_INIT;
    al_auto(al_freep) unsigned char *bytes = NULL;
    size_t header, size;
    struct al_oid found;
    int r;

    if (read_file(common_fd, oid, objects->sha256, &file) < 0 ||
        !read_header(&file, &header, &size) || size > max_bytes)
        return 0;
    bytes = al_malloc(header + size);
    if (!decompress(&file, bytes, header + size))
        return 0;
    al_oid_of(objects->sha256, AL_OBJECT_BLOB, bytes + header, size, &found);
    if (!al_oid_equal(&found, oid))
        return 0;
    r = al_objects_put(objects, AL_OBJECT_BLOB, bytes + header, size, &found, err);
    return r < 0 ? r : 1;
}
