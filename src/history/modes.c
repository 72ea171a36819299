// SPDX-License-Identifier: Apache-2.0
#include "history/modes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/fs.h"

#define NAME        "modes"
#define MAX_BYTES   (512u << 20)
#define PERMISSIONS 07777u

void al_modes_clear(struct al_modes *modes)
{
    al_saved_files_clear(&modes->set);
    al_saved_files_clear(&modes->known);
    *modes = AL_MODES_INIT;
}

static void add(struct al_saved_files *files, size_t *room, const char *path, unsigned mode)
{
    if (files->count == *room) {
        *room = *room ? 2 * *room : 64;
        files->items = al_reallocarray(files->items, *room, sizeof(*files->items));
    }
    files->items[files->count++] = (struct al_saved_file){ .path = al_strdup(path), .mode = mode };
}

/* Read the exceptions of a text; returns where they begin, or NULL for an unknown form. */
static const char *parse_head(const struct al_str *text, unsigned *plain, unsigned *executable)
{
    int n = 0;

    return sscanf(text->buf, "%o %o\n%n", plain, executable, &n) == 2 && n
               ? strchr(text->buf, '\n') + 1
               : NULL;
}

/* "<octal> SP <path>"; NULL: another form. */
static unsigned parse_mode(const char *text, const char **ret_path)
{
    unsigned mode = 0;

    while (*text >= '0' && *text <= '7')
        mode = (mode * 8 + (unsigned)(*text++ - '0')) & PERMISSIONS;
    *ret_path = *text == ' ' ? text + 1 : NULL;
    return mode;
}

void al_modes_read(struct al_modes *modes, const struct al_store *store)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    const char *at;
    size_t room = 0;

    if (al_fs_read(store->dir_fd, NAME, MAX_BYTES, &text) < 0)
        return;
    modes->is_new = false;
    at = parse_head(&text, &modes->plain, &modes->executable);
    for (; at && at < text.buf + text.len; at += strlen(at) + 1) {
        const char *path;
        const unsigned mode = parse_mode(at, &path);

        if (path)
            add(&modes->known, &room, path, mode);
    }
}

void al_modes_forget(const struct al_store *store)
{
    (void)unlinkat(store->dir_fd, NAME, 0);
}

void al_modes_set(struct al_modes *modes, const char *path, unsigned mode)
{
    add(&modes->set, &modes->room, path, mode);
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const struct al_saved_file *)a)->path, ((const struct al_saved_file *)b)->path);
}

static unsigned *usual(struct al_modes *modes, unsigned mode)
{
    return mode & S_IXUSR ? &modes->executable : &modes->plain;
}

/* The permissions that most files have, when all are set at once. */
static void count_usual(struct al_modes *modes)
{
    size_t counts[PERMISSIONS + 1] = { 0 };

    for (size_t i = 0; i < modes->set.count; i++) {
        const unsigned mode = modes->set.items[i].mode;
        unsigned *most = usual(modes, mode);

        if (S_ISREG(mode) && ++counts[mode & PERMISSIONS] > counts[*most])
            *most = mode & PERMISSIONS;
    }
}

/* Join both lists.  Of several modes that were set for a file the last one counts, which qsort(3)
 * does not keep in order; they are the same unless the file changed in between. */
static void join(struct al_modes *modes)
{
    struct al_saved_files *set = &modes->set, *known = &modes->known;
    struct al_saved_files joined = { .items = NULL };
    size_t room = 0, i = 0, k = 0;

    if (set->count)
        qsort(set->items, set->count, sizeof(*set->items), by_path);
    while (i < set->count || k < known->count) {
        int order = i == set->count     ? 1
                    : k == known->count ? -1
                                        : by_path(&set->items[i], &known->items[k]);
        const struct al_saved_file *file = order <= 0 ? &set->items[i] : &known->items[k];

        if (order > 0 ||
            (S_ISREG(file->mode) && (file->mode & PERMISSIONS) != *usual(modes, file->mode)))
            if (!joined.count || strcmp(joined.items[joined.count - 1].path, file->path) != 0)
                add(&joined, &room, file->path, file->mode & PERMISSIONS);
        i += order <= 0;
        k += order >= 0;
    }
    al_saved_files_clear(known);
    al_saved_files_clear(set);
    modes->room = 0;
    *known = joined;
}

void al_modes_dump(const struct al_modes *modes, struct al_str *out)
{
    al_str_addf(out, "%o %o\n", modes->plain, modes->executable);
    for (size_t i = 0; i < modes->known.count; i++) {
        al_str_addf(out, "%o %s", modes->known.items[i].mode, modes->known.items[i].path);
        al_str_addc(out, '\0');
    }
}

int al_modes_write(struct al_modes *modes, const struct al_store *store, struct al_error *err)
{
    const bool changed = modes->set.count;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    int r;

    if (!changed)
        return 0;
    if (modes->is_new)
        count_usual(modes);
    join(modes);
    al_modes_dump(modes, &text);
    r = al_fs_write_atomic(store->dir_fd, NAME, text.buf, text.len, 0600, true);
    return r < 0 ? al_store_unusable(store, -r, err) : 0;
}

void al_modes_apply(const struct al_str *text, struct al_saved_files *files)
{
    unsigned plain = 0644, executable = 0755;
    const char *at = parse_head(text, &plain, &executable);
    size_t i = 0;

    for (size_t k = 0; k < files->count; k++)
        if (S_ISREG(files->items[k].mode))
            files->items[k].mode = S_IFREG | (files->items[k].mode & S_IXUSR ? executable : plain);
    while (at && at < text->buf + text->len && i < files->count) {
        const char *path;
        const unsigned mode = parse_mode(at, &path);
        int order = path ? strcmp(files->items[i].path, path) : 1;

        if (order < 0) {
            i++;
            continue;
        }
        if (order == 0 && S_ISREG(files->items[i].mode))
            files->items[i].mode = S_IFREG | mode;
        at += strlen(at) + 1;
    }
}
