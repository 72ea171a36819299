// SPDX-License-Identifier: Apache-2.0
#include "history/rollback_way_back.h"

#include <stdlib.h>
#include <string.h>

void al_way_back_clear(struct al_way_back *way)
{
    al_differences_clear(&way->changes);
    way->index_of[0] = way->staged_of[0] = '\0';
}

static void add_file(struct al_saved_files *files, const struct al_difference *change)
{
    struct al_saved_file *file;

    files->items = al_reallocarray(files->items, files->count + 1, sizeof(*files->items));
    file = &files->items[files->count++];
    *file = (struct al_saved_file){ .path = al_strdup(change->name), .mode = change->to_mode };
    memcpy(file->oid, change->to, strnlen(change->to, sizeof(file->oid) - 1));
}

static void add_ref(struct al_saved_state *state, const struct al_difference *change)
{
    state->refs = al_reallocarray(state->refs, state->nrefs + 1, sizeof(*state->refs));
    state->refs[state->nrefs++] =
        (struct al_saved_ref){ .name = al_strdup(change->name), .value = al_strdup(change->to) };
}

static void add_change(struct al_saved_state *state, const struct al_difference *change)
{
    switch (change->part) {
    case AL_PART_WORKTREE:
        if (!change->to && change->was_left_out)
            al_strv_add(&state->left_out, change->name);
        break;
    case AL_PART_INDEX:
    case AL_PART_LINKED: /* history/rollback_linked.h reads it */
        break;
    case AL_PART_HEAD:
        free(state->head);
        state->head = al_strdup(change->to);
        break;
    case AL_PART_REF:
        if (change->to)
            add_ref(state, change);
        break;
    case AL_PART_STASH:
    case AL_PART_STATE:
        if (change->to)
            add_file(&state->files, change);
        break;
    }
}

int al_way_back_target(struct al_store *store, const struct al_way_back *way,
                       const struct al_saved_state *present, struct al_run_limits *budget,
                       struct al_saved_state *ret_target, struct al_error *err)
{
    struct al_saved_state target = { .index = AL_STR_INIT, .head = al_strdup(present->head) };
    struct al_saved_state source = { .index = AL_STR_INIT };
    int r = 0;

    if (way->index_of[0])
        r = al_checkpoint_state(store, way->index_of, budget, &source, err);
    target.has_index = source.has_index;
    target.index_mtime_ns = source.index_mtime_ns;
    al_str_add(&target.index, source.index.buf, source.index.len);
    al_saved_state_clear(&source);
    for (size_t i = 0; i < way->changes.count; i++)
        add_change(&target, &way->changes.items[i]);
    if (r < 0) {
        al_saved_state_clear(&target);
        return r;
    }
    *ret_target = target;
    return 0;
}
