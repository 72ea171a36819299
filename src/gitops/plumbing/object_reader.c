// SPDX-License-Identifier: Apache-2.0
#include "gitops/plumbing/object_reader.h"

#include <fcntl.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/fs.h"

#define MODE_GITLINK 0160000u

bool al_object_reader_open(struct al_object_reader *reader, const struct al_location *at,
                           bool sha256)
{
    *reader = AL_OBJECT_READER_INIT;
    reader->sha256 = sha256;
    if (at->objects) {
        al_auto(al_freep) char *dir = al_fs_join(at->objects, "..");

        reader->new_fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    }
    return al_location_open_common_dir(at, &reader->common_fd, NULL) == 0;
}

void al_object_reader_clear(struct al_object_reader *reader)
{
    al_packed_files_clear(&reader->packs);
    al_close(reader->common_fd);
    al_close(reader->new_fd);
    *reader = AL_OBJECT_READER_INIT;
}

bool al_object_reader_get(struct al_object_reader *reader, const struct al_oid *oid,
                          enum al_object_type type, struct al_loose_object *ret_object)
{
    al_auto(al_loose_object_clear) struct al_loose_object object = { .data = NULL };
    size_t most = AL_READER_BYTES_MAX - reader->bytes;

    if (reader->objects == AL_READER_OBJECTS_MAX)
        return false;
    reader->objects++;
    if (!(reader->new_fd >= 0 &&
          al_loose_object_read(reader->new_fd, oid, reader->sha256, most, &object)) &&
        !al_loose_object_read(reader->common_fd, oid, reader->sha256, most, &object) &&
        !al_packed_object_read(&reader->packs, reader->common_fd, oid, reader->sha256, most,
                               &object))
        return false;
    reader->bytes += object.len;
    if (object.type != type)
        return false;
    *ret_object = object;
    object.memory = NULL;
    return true;
}

bool al_object_reader_commit(struct al_object_reader *reader, const char *commit,
                             struct al_oid *ret_tree, struct al_strv *parents)
{
    al_auto(al_loose_object_clear) struct al_loose_object object = { .data = NULL };
    struct al_oid oid;

    return al_oid_parse(commit, reader->sha256, &oid) &&
           al_object_reader_get(reader, &oid, AL_OBJECT_COMMIT, &object) &&
           al_loose_object_parse_commit(&object, reader->sha256, ret_tree, parents);
}

static bool is_known_mode(unsigned mode)
{
    const unsigned type = mode & S_IFMT;

    return (type == S_IFREG && mode <= 0177777) || mode == S_IFDIR || mode == S_IFLNK ||
           mode == MODE_GITLINK;
}

/* The octal digits of a mode, with the space after them.  Git makes something of every number; what
 * no git writes is left to it. */
static const char *take_mode(const char *at, const char *end, unsigned *ret_mode)
{
    *ret_mode = 0;
    for (; at < end && *at >= '0' && *at <= '7' && *ret_mode <= 0177777; at++)
        *ret_mode = 8 * *ret_mode + (unsigned)(*at - '0');
    return at < end && *at == ' ' && is_known_mode(*ret_mode) ? at + 1 : NULL;
}

/* A name that a checkout could make a file of. */
static bool is_name(const char *name)
{
    return *name && !strchr(name, '/') && strcmp(name, ".") != 0 && strcmp(name, "..") != 0 &&
           strcasecmp(name, ".git") != 0;
}

bool al_tree_item_next(const char **at, const char *end, bool sha256, struct al_tree_item *ret_item)
{
    size_t oid_bytes = al_oid_bytes(sha256);
    const char *name, *nul;

    if (*at == end)
        return false;
    name = take_mode(*at, end, &ret_item->mode);
    nul = name ? memchr(name, '\0', (size_t)(end - name)) : NULL;
    *at = NULL;
    if (!nul || (size_t)(end - nul) <= oid_bytes || !is_name(name))
        return false;
    ret_item->name = name;
    ret_item->oid = (struct al_oid){ .bytes = { 0 } };
    memcpy(ret_item->oid.bytes, nul + 1, oid_bytes);
    *at = nul + 1 + oid_bytes;
    return true;
}
