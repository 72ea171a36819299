// SPDX-License-Identifier: Apache-2.0
#include "history/memo.h"

#include <stdlib.h>

#include "history/store.h"

/* A rollback of one execution looks at five checkpoints. */
#define REMEMBERED_MAX 6u

/* A checkpoint with a larger index or a longer list of files is read again. */
#define INDEX_MAX_BYTES (16u << 20)
#define FILES_MAX       150000u

/** What is remembered of one checkpoint. */
struct remembered {
    char id[AL_OID_TEXT]; /* "": nothing */
    struct al_saved_state state;
    struct al_saved_files files;
};

struct al_memo {
    struct remembered items[REMEMBERED_MAX];
    size_t next; /* the one to be forgotten next */
};

static void forget(struct remembered *item)
{
    if (item->id[0])
        al_saved_state_clear(&item->state);
    al_saved_files_clear(&item->files);
    *item = (struct remembered){ .id = "" };
}

void al_memo_free(struct al_memo *memo)
{
    for (size_t i = 0; memo && i < REMEMBERED_MAX; i++)
        forget(&memo->items[i]);
    free(memo);
}

/* What is remembered of a checkpoint; NULL: nothing. */
static const struct remembered *find(const struct al_store *store, const char *id)
{
    for (size_t i = 0; store->memo && *id && i < REMEMBERED_MAX; i++)
        if (!strcmp(store->memo->items[i].id, id))
            return &store->memo->items[i];
    return NULL;
}

static void copy_words(const struct al_strv *from, struct al_strv *to)
{
    for (size_t i = 0; i < from->count; i++)
        al_strv_add(to, from->items[i]);
}

static void copy_files(const struct al_saved_files *from, struct al_saved_files *to)
{
    *to = (struct al_saved_files){ .count = from->count };
    to->items = from->count ? al_calloc(from->count, sizeof(*to->items)) : NULL;
    for (size_t i = 0; i < from->count; i++) {
        to->items[i] = from->items[i];
        to->items[i].path = al_strdup(from->items[i].path);
    }
}

static void copy_state(const struct al_saved_state *from, struct al_saved_state *to)
{
    *to = *from;
    to->writes = to->moves = to->left_out = (struct al_strv){ .items = NULL };
    copy_words(&from->writes, &to->writes);
    copy_words(&from->moves, &to->moves);
    copy_words(&from->left_out, &to->left_out);
    to->index = AL_STR_INIT;
    al_str_add(&to->index, from->index.buf, from->index.len);
    to->head = al_strdup(from->head);
    to->refs = from->nrefs ? al_calloc(from->nrefs, sizeof(*to->refs)) : NULL;
    for (size_t i = 0; i < from->nrefs; i++)
        to->refs[i] = (struct al_saved_ref){ .name = al_strdup(from->refs[i].name),
                                             .value = al_strdup(from->refs[i].value) };
    copy_files(&from->files, &to->files);
}

/* Remember a checkpoint that was just read. */
static void remember(struct al_store *store, const char *id, const struct al_saved_state *state,
                     const struct al_saved_files *files)
{
    struct remembered *item;

    if (state->index.len > INDEX_MAX_BYTES || files->count > FILES_MAX)
        return;
    if (!store->memo)
        store->memo = al_calloc(1, sizeof(*store->memo));
    item = &store->memo->items[store->memo->next];
    store->memo->next = (store->memo->next + 1) % REMEMBERED_MAX;
    forget(item);
    memcpy(item->id, id, strnlen(id, sizeof(item->id) - 1));
    copy_state(state, &item->state);
    copy_files(files, &item->files);
}

int al_checkpoint_state(struct al_store *store, const char *id, struct al_run_limits *budget,
                        struct al_saved_state *ret_state, struct al_error *err)
{
    al_auto(al_saved_files_clear) struct al_saved_files files = { .items = NULL };
    const struct remembered *item = find(store, id);
    int r = 0;

    if (item) {
        copy_state(&item->state, ret_state);
        return 0;
    }
    r = al_read_checkpoint(store, id, budget, ret_state, &files, err);
    if (r == 0)
        remember(store, id, ret_state, &files);
    return r;
}

int al_checkpoint_worktree(struct al_store *store, const char *id, struct al_run_limits *budget,
                           struct al_saved_files *ret_files, struct al_error *err)
{
    al_auto(al_saved_state_clear) struct al_saved_state state = { .index = AL_STR_INIT };
    const struct remembered *item = find(store, id);
    int r = 0;

    if (item) {
        copy_files(&item->files, ret_files);
        return 0;
    }
    r = al_read_checkpoint(store, id, budget, &state, ret_files, err);
    if (r == 0)
        remember(store, id, &state, ret_files);
    return r;
}
