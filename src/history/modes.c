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
    al_differences_clear(&modes->set);
    al_differences_clear(&modes->known);
    *modes = AL_MODES_INIT;
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
    char *end;
    const unsigned long mode = strtoul(text, &end, 8);

    *ret_path = *end == ' ' ? end + 1 : NULL;
    return (unsigned)mode & PERMISSIONS;
}

void al_modes_read(struct al_modes *modes, const struct al_store *store)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    const char *at;

    if (al_fs_read(store->dir_fd, NAME, MAX_BYTES, &text) < 0)
        return;
    modes->is_new = false;
    at = parse_head(&text, &modes->plain, &modes->executable);
    for (; at && at < text.buf + text.len; at += strlen(at) + 1) {
        const char *path;
        const unsigned mode = parse_mode(at, &path);

        if (path)
            al_differences_add(&modes->known, AL_PART_WORKTREE, path)->to_mode = mode;
    }
}

void al_modes_forget(const struct al_store *store)
{
    (void)unlinkat(store->dir_fd, NAME, 0);
}

void al_modes_set(struct al_modes *modes, const char *path, unsigned mode)
{
    al_differences_add(&modes->set, AL_PART_WORKTREE, path)->to_mode = mode;
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
        const unsigned mode = modes->set.items[i].to_mode;
        unsigned *most = usual(modes, mode);

        if (S_ISREG(mode) && ++counts[mode & PERMISSIONS] > counts[*most])
            *most = mode & PERMISSIONS;
    }
}

/* Join both lists.  Of several modes that were set for a file the last one counts, which qsort(3)
 * does not keep in order; they are the same unless the file changed in between. */
static void join(struct al_modes *modes)
{
    struct al_differences *set = &modes->set, *known = &modes->known;
    struct al_differences joined = { .items = NULL };
    size_t i = 0, k = 0;

    if (set->count)
        qsort(set->items, set->count, sizeof(*set->items), al_difference_order);
    while (i < set->count || k < known->count) {
        int order = i == set->count     ? 1
                    : k == known->count ? -1
                                        : al_difference_order(&set->items[i], &known->items[k]);
        const struct al_difference *file = order <= 0 ? &set->items[i] : &known->items[k];

        if (order > 0 || (S_ISREG(file->to_mode) &&
                          (file->to_mode & PERMISSIONS) != *usual(modes, file->to_mode)))
            if (!joined.count || strcmp(joined.items[joined.count - 1].name, file->name) != 0)
                al_differences_add(&joined, AL_PART_WORKTREE, file->name)->to_mode =
                    file->to_mode & PERMISSIONS;
        i += order <= 0;
        k += order >= 0;
    }
    al_differences_clear(known);
    al_differences_clear(set);
    *known = joined;
}

void al_modes_dump(const struct al_modes *modes, struct al_str *out)
{
    al_str_addf(out, "%o %o\n", modes->plain, modes->executable);
    for (size_t i = 0; i < modes->known.count; i++) {
        al_str_addf(out, "%o %s", modes->known.items[i].to_mode, modes->known.items[i].name);
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
    /* Durable: the index that is written after it may be on the disk first. */
    r = al_fs_write_durable(store->dir_fd, NAME, text.buf, text.len, 0600);
    return r < 0 ? al_store_unusable(store, -r, err) : 0;
}

void al_modes_apply(const struct al_str *text, struct al_differences *files)
{
    unsigned plain = 0644, executable = 0755;
    const char *at = parse_head(text, &plain, &executable);
    const size_t count = al_change_at(files, AL_PART_INDEX, "");
    size_t i = 0;

    for (size_t k = 0; k < count; k++)
        if (S_ISREG(files->items[k].to_mode))
            files->items[k].to_mode =
                S_IFREG | (files->items[k].to_mode & S_IXUSR ? executable : plain);
    while (at && at < text->buf + text->len && i < count) {
        const char *path;
        const unsigned mode = parse_mode(at, &path);
        int order = path ? strcmp(files->items[i].name, path) : 1;

        if (order < 0) {
            i++;
            continue;
        }
        if (order == 0 && S_ISREG(files->items[i].to_mode))
            files->items[i].to_mode = S_IFREG | mode;
        at += strlen(at) + 1;
    }
}
