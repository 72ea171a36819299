// SPDX-License-Identifier: Apache-2.0
#include "gitops/plumbing/loose_object.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

#include "guard/nofollow.h"
#include "util/fs.h"

#define HEADER_MAX_BYTES 32u /* "commit <size>" NUL */

void al_loose_object_clear(struct al_loose_object *object)
{
    free(object->memory);
    *object = (struct al_loose_object){ .data = NULL };
}

/* Decompress into exactly `bytes`; false when that is not its size. */
static bool decompress(const struct al_str *from, unsigned char *into, size_t bytes)
{
    uLongf got = (uLongf)bytes;

    return uncompress(into, &got, (const unsigned char *)from->buf, (uLong)from->len) == Z_OK &&
           got == bytes;
}

/* Read "<type> SP <size>" NUL; 0 when it is not understood, else its length. */
static size_t parse_header(const char *head, struct al_loose_object *object)
{
    static const char *const types[] = {
        [AL_OBJECT_COMMIT] = "commit", [AL_OBJECT_TREE] = "tree", [AL_OBJECT_BLOB] = "blob"
    };
    unsigned long long size;
    char word[8];
    int len = 0;

    if (sscanf(head, "%7[a-z] %10llu%n", word, &size, &len) != 2 || !len || head[len] != '\0')
        return 0;
    for (unsigned type = AL_OBJECT_COMMIT; type < AL_COUNT(types); type++)
        if (!strcmp(word, types[type]))
            object->type = (enum al_object_type)type;
    object->len = (size_t)size;
    return object->type ? (size_t)len + 1 : 0;
}

/* Find the type and the size of an object, and the length of its header; 0 when it is not
 * understood. */
static size_t read_header(const struct al_str *file, struct al_loose_object *object)
{
    unsigned char head[HEADER_MAX_BYTES + 1] = { 0 };
    z_stream stream = { .next_in = (unsigned char *)file->buf,
                        .avail_in = (uInt)file->len,
                        .next_out = head,
                        .avail_out = HEADER_MAX_BYTES };
    int r;

    if (inflateInit(&stream) != Z_OK)
        return 0;
    r = inflate(&stream, Z_SYNC_FLUSH);
    (void)inflateEnd(&stream);
    return r == Z_OK || r == Z_STREAM_END || r == Z_BUF_ERROR
               ? parse_header((const char *)head, object)
               : 0;
}

static int read_file(int common_fd, const struct al_oid *oid, bool sha256, struct al_str *ret_file)
{
    al_auto(al_closep) int fd = -1;
    char text[AL_OID_TEXT], path[sizeof("objects//") + AL_OID_TEXT];

    al_oid_text(oid, sha256, text);
    (void)snprintf(path, sizeof(path), "objects/%.2s/%s", text, text + 2);
    fd = al_nofollow_open(common_fd, path, O_RDONLY);
    return fd < 0 ? -1 : al_fs_read_fd(fd, AL_LOOSE_MAX_BYTES, ret_file);
}

bool al_loose_object_read(int common_fd, const struct al_oid *oid, bool sha256, size_t max_bytes,
                          struct al_loose_object *ret_object)
{
    al_auto(al_str_clear) struct al_str file = AL_STR_INIT;
    al_auto(al_loose_object_clear) struct al_loose_object object = { .data = NULL };
    struct al_oid found;
    size_t header;

    if (read_file(common_fd, oid, sha256, &file) < 0)
        return false;
    header = read_header(&file, &object);
    if (!header || object.len > max_bytes || object.len > AL_LOOSE_MAX_BYTES)
        return false;
    object.memory = al_malloc(header + object.len + 1);
    if (!decompress(&file, object.memory, header + object.len))
        return false;
    object.memory[header + object.len] = '\0';
    object.data = (const char *)object.memory + header;
    al_oid_of(sha256, object.type, object.data, object.len, &found);
    if (!al_oid_equal(&found, oid))
        return false;
    *ret_object = object;
    object.memory = NULL;
    return true;
}

/* An id at the end of a line; NULL when there is none, else that line feed. */
static const char *take_id(const char *text, bool sha256, struct al_oid *ret_oid)
{
    const char *end = text + 2 * al_oid_bytes(sha256);

    return al_oid_parse(text, sha256, ret_oid) && *end == '\n' ? end : NULL;
}

bool al_loose_object_parse_commit(const struct al_loose_object *object, bool sha256,
                                  struct al_oid *ret_tree, struct al_strv *parents)
{
    const char *line = NULL;
    struct al_oid oid;

    if (object->type == AL_OBJECT_COMMIT && al_starts_with(object->data, "tree "))
        line = take_id(object->data + strlen("tree "), sha256, ret_tree);
    while (line && al_starts_with(line + 1, "parent ")) {
        char text[AL_OID_TEXT];

        line = take_id(line + 1 + strlen("parent "), sha256, &oid);
        if (!line)
            return false;
        al_oid_text(&oid, sha256, text);
        if (parents)
            al_strv_add(parents, text);
    }
    return line != NULL;
}

bool al_loose_object_parents(int common_fd, const char *commit, bool sha256,
                             struct al_strv *parents)
{
    al_auto(al_loose_object_clear) struct al_loose_object object = { .data = NULL };
    struct al_oid oid, tree;

    return al_oid_parse(commit, sha256, &oid) &&
           al_loose_object_read(common_fd, &oid, sha256, AL_LOOSE_MAX_BYTES, &object) &&
           al_loose_object_parse_commit(&object, sha256, &tree, parents);
}
