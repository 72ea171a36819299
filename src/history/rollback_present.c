// SPDX-License-Identifier: Apache-2.0
#include "history/rollback_present.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "history/rollback_plan.h"
#include "history/rollback_stash_entries.h"

void al_present_clear(struct al_present *present)
{
    al_saved_files_clear(&present->files);
    al_saved_state_clear(&present->state);
}

int al_present_read(struct al_store *store, const char *id, struct al_run_limits *budget,
                    struct al_present *ret_present, struct al_error *err)
{
    al_auto(al_present_clear) struct al_present present = AL_PRESENT_INIT;
    int r = al_checkpoint_state(store, id, budget, &present.state, err);

    if (r == 0 && !(present.state.without & AL_PARTS_WORKTREE))
        r = al_checkpoint_worktree(store, id, budget, &present.files, err);
    if (r < 0)
        return r;
    *ret_present = present;
    present = AL_PRESENT_INIT;
    return 0;
}

/* The index of the first file whose path is not before `path`. */
static size_t lower_bound(const struct al_saved_files *files, const char *path)
{
    size_t low = 0, high = files->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (strcmp(files->items[middle].path, path) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static const struct al_saved_file *find_file(const struct al_saved_files *files, const char *path)
{
    size_t at = lower_bound(files, path);

    return at < files->count && !strcmp(files->items[at].path, path) ? &files->items[at] : NULL;
}

static const char *find_ref(const struct al_saved_state *state, const char *name)
{
    size_t low = 0, high = state->nrefs;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(state->refs[middle].name, name);

        if (order == 0)
            return state->refs[middle].value;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

const char *al_present_value(const struct al_present *present, const struct al_difference *of,
                             unsigned *ret_mode)
{
    const struct al_saved_file *file = NULL;

    switch (of->part) {
    case AL_PART_INDEX:
        return present->state.entries;
    case AL_PART_HEAD:
        return present->state.head;
    case AL_PART_REF:
        return find_ref(&present->state, of->name);
    case AL_PART_WORKTREE:
        file = find_file(&present->files, of->name);
        break;
    case AL_PART_STASH:
    case AL_PART_STATE:
    case AL_PART_LINKED:
        file = find_file(&present->state.files, of->name);
        break;
    }
    *ret_mode = file ? file->mode : 0;
    return file ? file->oid : NULL;
}

/* --- What is in the way --- */

/** The changes, and the files to remove as well. */
struct obstacles {
    const struct al_differences *changes;
    struct al_differences more;
};

static void add_obstacle(struct obstacles *obstacles, const struct al_saved_file *file)
{
    struct al_differences *more = &obstacles->more;
    const struct al_difference change = { .part = AL_PART_WORKTREE,
                                          .name = file->path,
                                          .from_mode = file->mode,
                                          .from = (char *)(uintptr_t)file->oid };

    if (bsearch(&change, obstacles->changes->items, obstacles->changes->count, sizeof(change),
                al_difference_order))
        return;
    /* The files in the way of two paths come one after the other. */
    if (more->count && !strcmp(more->items[more->count - 1].name, file->path))
        return;
    more->items = al_reallocarray(more->items, more->count + 1, sizeof(*more->items));
    more->items[more->count] = change;
    more->items[more->count].name = al_strdup(file->path);
    more->items[more->count++].from = al_strdup(file->oid);
}

static void add_obstacles_of(struct obstacles *obstacles, const struct al_present *present,
                             const char *path)
{
    al_auto(al_freep) char *part = al_strdup(path);
    al_auto(al_freep) char *below = al_asprintf("%s/", path);

    for (char *slash = strchr(part, '/'); slash; slash = strchr(slash + 1, '/')) {
        const struct al_saved_file *file;

        *slash = '\0';
        file = find_file(&present->files, part);
        *slash = '/';
        if (file)
            add_obstacle(obstacles, file);
    }
    for (size_t i = lower_bound(&present->files, below);
         i < present->files.count && al_starts_with(present->files.items[i].path, below); i++)
        add_obstacle(obstacles, &present->files.items[i]);
}

void al_present_add_obstacles(const struct al_present *present, struct al_differences *changes,
                              struct al_strv *ret_lost)
{
    struct obstacles obstacles = { .changes = changes };
    size_t count = changes->count;

    for (size_t i = 0; i < count; i++)
        if (changes->items[i].part == AL_PART_WORKTREE && changes->items[i].to)
            add_obstacles_of(&obstacles, present, changes->items[i].name);
    if (!obstacles.more.count)
        return;
    changes->items =
        al_reallocarray(changes->items, count + obstacles.more.count, sizeof(*changes->items));
    memcpy(changes->items + count, obstacles.more.items,
           obstacles.more.count * sizeof(*changes->items));
    changes->count += obstacles.more.count;
    for (size_t i = 0; ret_lost && i < obstacles.more.count; i++)
        al_strv_take(ret_lost, al_difference_words(&obstacles.more.items[i]));
    free(obstacles.more.items);
    qsort(changes->items, changes->count, sizeof(*changes->items), al_difference_order);
}

/* --- The stash --- */

int al_stash_log_loses(struct al_store *store, const struct al_stash_owners *owners,
                       const struct al_difference *change, const char *left,
                       struct al_run_limits *budget, bool *ret_loses, struct al_error *err)
{
    const char *const from[] = { change->from }, *kept[2];
    struct al_str texts[3] = { AL_STR_INIT, AL_STR_INIT, AL_STR_INIT };
    size_t count = 0;
    int r = 0;

    if (change->to)
        kept[count++] = change->to;
    if (left)
        kept[count++] = left;
    *ret_loses = false;
    if (change->from)
        r = al_checkpoint_read(store, from, 1, al_rollback_add_bytes, texts, budget, err);
    if (r == 0 && count)
        r = al_checkpoint_read(store, kept, count, al_rollback_add_bytes, texts + 1, budget, err);
    for (char *line = texts[0].buf, *end; r == 0 && (end = strchr(line, '\n')); line = end + 1) {
        *end = '\0';
        *ret_loses |= !al_stash_log_has(&texts[1], line) && !al_stash_log_has(&texts[2], line) &&
                      !al_stash_line_is_others(owners, line);
    }
    for (size_t i = 0; i < AL_COUNT(texts); i++)
        al_str_clear(&texts[i]);
    return r;
}

static const struct al_difference *find_log(const struct al_differences *changes)
{
    for (size_t i = 0; i < changes->count; i++)
        if (changes->items[i].part == AL_PART_STASH && changes->items[i].to)
            return &changes->items[i];
    return NULL;
}

int al_present_add_stash_ref(struct al_store *store, const struct al_present *present,
                             struct al_differences *changes, struct al_run_limits *budget,
                             struct al_error *err)
{
    static char name[] = "refs/stash";
    const struct al_difference key = { .part = AL_PART_REF, .name = name };
    const struct al_difference *log = find_log(changes);
    const char *now = find_ref(&present->state, name);
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    al_auto(al_freep) char *newest = NULL;
    int r = 0;

    if (!log || bsearch(&key, changes->items, changes->count, sizeof(key), al_difference_order))
        return 0;
    r = al_checkpoint_read(store, (const char *const[]){ log->to }, 1, al_rollback_add_bytes, &text,
                           budget, err);
    newest = r == 0 ? al_stash_log_newest(&text) : NULL;
    if (!newest || (now && !strcmp(now, newest)))
        return r;
    changes->items = al_reallocarray(changes->items, changes->count + 1, sizeof(*changes->items));
    changes->items[changes->count++] = (struct al_difference){
        .part = AL_PART_REF, .name = al_strdup(name), .from = al_strdup(now), .to = al_take(&newest)
    };
    qsort(changes->items, changes->count, sizeof(*changes->items), al_difference_order);
    return 0;
}
