// SPDX-License-Identifier: Apache-2.0
#include "odb/tree.h"

#include <sys/stat.h>

unsigned al_tree_parse_mode(const char *text, const char **ret_end)
{
    unsigned mode = 0;

    for (; *text >= '0' && *text <= '7'; text++)
        mode = mode << 3 | (unsigned)(*text - '0');
    *ret_end = text;
    return mode;
}

void al_tree_add(struct al_str *tree, unsigned mode, const char *name, const struct al_oid *oid,
                 bool sha256)
{
    char digits[16];
    size_t at = sizeof(digits);

    digits[--at] = ' ';
    for (; mode; mode >>= 3)
        digits[--at] = (char)('0' + (mode & 7));
    al_str_add(tree, digits + at, sizeof(digits) - at);
    al_str_add(tree, name, strlen(name) + 1);
    al_str_add(tree, oid->bytes, al_oid_bytes(sha256));
}

/* The mode that git's trees have for a file.  Its permissions are recorded elsewhere. */
static unsigned tree_mode(unsigned mode)
{
    if (S_ISLNK(mode))
        return 0120000;
    return mode & S_IXUSR ? 0100755 : 0100644;
}

/** The files of one directory: a range of the sorted list. */
struct subtree {
    struct al_objects *objects;
    const struct al_tree_file *files;
    size_t count;
    struct al_error *err;
};

static bool has_file(const struct al_tree_file *files, size_t count, const char *path, size_t len)
{
    size_t low = 0, high = count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strncmp(files[middle].path, path, len);

        if (order == 0 && files[middle].path[len])
            order = 1;
        if (order == 0)
            return true;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

static int put_tree(struct subtree subtree, size_t prefix, struct al_oid *ret_tree)
{
    al_auto(al_str_clear) struct al_str tree = AL_STR_INIT;
    bool sha256 = subtree.objects->sha256;
    size_t i = 0;

    while (i < subtree.count) {
        const struct al_tree_file *file = &subtree.files[i];
        const char *name = file->path + prefix, *slash = strchr(name, '/');
        struct subtree below = { subtree.objects, file, 1, subtree.err };
        size_t len = slash ? (size_t)(slash - file->path) : 0;
        al_auto(al_freep) char *word = NULL;
        struct al_oid oid;
        int r;

        if (!slash) {
            al_tree_add(&tree, tree_mode(file->mode), name, &file->oid, sha256);
            i++;
            continue;
        }
        while (i + below.count < subtree.count &&
               !strncmp(file[below.count].path, file->path, len + 1))
            below.count++;
        if (has_file(subtree.files, i, file->path, len))
            return al_error_set(subtree.err, AL_ERR_AGAIN,
                                "the working tree changed while it was read");
        r = put_tree(below, len + 1, &oid);
        if (r < 0)
            return r;
        word = al_strndup(name, (size_t)(slash - name));
        al_tree_add(&tree, 040000, word, &oid, sha256);
        i += below.count;
    }
    return al_objects_put(subtree.objects, AL_OBJECT_TREE, tree.buf, tree.len, ret_tree,
                          subtree.err);
}

int al_tree_put(struct al_objects *objects, const struct al_tree_file *files, size_t count,
                struct al_oid *ret_tree, struct al_error *err)
{
    return put_tree((struct subtree){ objects, files, count, err }, 0, ret_tree);
}
