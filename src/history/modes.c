// SPDX-License-Identifier: Apache-2.0
#include "history/modes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fs.h"

#define NAME        "modes"
#define MAX_BYTES   (512u << 20)
#define PERMISSIONS 07777u

void al_modes_clear(struct al_modes *modes)
{
    al_differences_clear(&modes->set);
    al_differences_clear(&modes->known);
    *modes = AL_MODES_INIT;
}

static void parse(const struct al_str *text, struct al_modes *modes)
{
    const char *at = strchrnul(text->buf, '\n');

    if (sscanf(text->buf, "%o %o", &modes->plain, &modes->executable) != 2)
        return;
    for (at += *at == '\n'; at < text->buf + text->len; at += strlen(at) + 1) {
        char *path;
        const unsigned mode = (unsigned)strtoull(at, &path, 8) & PERMISSIONS;

        if (*path == ' ')
            al_differences_add(&modes->known, AL_PART_WORKTREE, path + 1)->to_mode = mode;
    }
}

void al_modes_read(struct al_modes *modes, const struct al_store *store)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    modes->is_new = al_fs_read(store->dir_fd, NAME, MAX_BYTES, &text) < 0;
    modes->written_s = (uint32_t)(al_file_id_at(store->dir_fd, NAME).mtime_ns / 1000000000);
    parse(&text, modes);
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

/* Join both lists.  Of several modes that were set for a file any one counts: they are the same
 * unless the file changed in between. */
static void join(struct al_modes *modes)
{
    struct al_differences *set = &modes->set, *known = &modes->known;
    struct al_differences joined = { .items = NULL };

    al_differences_sort(set);
    for (size_t i = 0; i < known->count; i++)
        if (!al_change_find(set, AL_PART_WORKTREE, known->items[i].name))
            al_differences_add(&joined, AL_PART_WORKTREE, known->items[i].name)->to_mode =
                known->items[i].to_mode;
    for (size_t i = 0; i < set->count; i++) {
        const struct al_difference *file = &set->items[i];

        if ((!i || strcmp(file[-1].name, file->name) != 0) && S_ISREG(file->to_mode) &&
            (file->to_mode & PERMISSIONS) != *usual(modes, file->to_mode))
            al_differences_add(&joined, AL_PART_WORKTREE, file->name)->to_mode =
                file->to_mode & PERMISSIONS;
    }
    al_differences_sort(&joined);
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
    al_auto(al_str_clear) struct al_str before = AL_STR_INIT, text = AL_STR_INIT;
    int r;

    if (!modes->set.count)
        return 0;
    if (modes->is_new)
        count_usual(modes);
    al_modes_dump(modes, &before);
    join(modes);
    al_modes_dump(modes, &text);
    /* The file is up to date, and only gets the time of this look: nothing has to be on the disk.
     */
    if (before.len == text.len && !memcmp(before.buf, text.buf, text.len) &&
        utimensat(store->dir_fd, NAME, NULL, 0) == 0)
        return 0;
    /* Durable: the index that is written after it may be on the disk first. */
    r = al_fs_write_durable(store->dir_fd, NAME, text.buf, text.len, 0600);
    return r < 0 ? al_store_unusable(store, -r, err) : 0;
}

/* A link has none. */
static void give(unsigned *mode, unsigned permissions)
{
    if (S_ISREG(*mode))
        *mode = S_IFREG | permissions;
}

void al_modes_apply(const struct al_str *text, struct al_differences *files)
{
    al_auto(al_modes_clear) struct al_modes modes = AL_MODES_INIT;
    const size_t count = al_change_at(files, AL_PART_INDEX, "");

    parse(text, &modes);
    for (size_t i = 0; i < count; i++) {
        struct al_difference *file = &files->items[i];
        const struct al_difference *known =
            al_change_find(&modes.known, AL_PART_WORKTREE, file->name);

        give(&file->from_mode, known ? known->to_mode : *usual(&modes, file->from_mode));
        give(&file->to_mode, known ? known->to_mode : *usual(&modes, file->to_mode));
    }
}
