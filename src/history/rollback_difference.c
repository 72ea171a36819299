// SPDX-License-Identifier: Apache-2.0
#include "history/rollback_difference.h"

#include <stdio.h>
#include <stdlib.h>

#include "gitops/plumbing/bare.h"
#include "history/rollback_executions.h"
#include "history/rollback_plan.h"
#include "history/rollback_touched.h"
#include "history/store.h"

/** One request and what it reads from. */
struct query {
    struct al_store *store;
    struct al_pending_checkpoint *pending; /* of the present; NULL until it is needed */
    char present[AL_OID_TEXT];             /* its id */
    const struct al_difference_options *options;
    const struct al_executions *executions;
    struct al_run_limits *budget;
};

static int read_present(struct query *query, char ret_id[AL_OID_TEXT], struct al_error *err)
{
    int r = 0;

    if (!query->pending)
        r = al_checkpoint_create_pending(
            query->store, &(struct al_checkpoint_reason){ .tool = "diff", .operation = "show" },
            query->budget, &query->pending, query->present, err);
    memcpy(ret_id, query->present, AL_OID_TEXT);
    return r;
}

/* Find the checkpoint after an execution.  If the execution was interrupted, the next checkpoint
 * takes its place, or the present if that checkpoint lacks a part. */
static int find_end(struct query *query, size_t which, char ret_id[AL_OID_TEXT], bool *ret_ended,
                    struct al_error *err)
{
    const struct al_executions *executions = query->executions;
    const struct al_execution *execution = &executions->items[which];

    *ret_ended = al_checkpoint_find_after(query->store, execution->before, ret_id, NULL) == 0;
    if (*ret_ended)
        return 0;
    if (which + 1 < executions->count &&
        al_touched_has_parts(query->store, executions->items[which + 1].before, execution->before,
                             query->budget)) {
        memcpy(ret_id, executions->items[which + 1].before, AL_OID_TEXT);
        return 0;
    }
    return read_present(query, ret_id, err);
}

/* A change that cannot be shown as a patch is still listed. */
static int ignore_unreadable(int r)
{
    return r == AL_ERR_EXECUTION || r == AL_ERR_NOT_FOUND ? 0 : r;
}

/* The commit that HEAD is at, or the empty tree if there is none. */
static void find_head(const struct query *query, const struct al_saved_state *state,
                      char ret_id[AL_OID_TEXT])
{
    const char *name = al_starts_with(state->head, "ref: ") ? state->head + strlen("ref: ") : NULL;
    struct al_oid none;

    al_oid_of(query->store->sha256, AL_OBJECT_TREE, "", 0, &none);
    al_oid_text(&none, query->store->sha256, ret_id);
    if (!name)
        (void)snprintf(ret_id, AL_OID_TEXT, "%s", state->head);
    for (size_t i = 0; name && i < state->nrefs; i++)
        if (!strcmp(state->refs[i].name, name))
            (void)snprintf(ret_id, AL_OID_TEXT, "%s", state->refs[i].value);
}

static int diff_trees(const struct query *query, const char *from, const char *to,
                      struct al_str *ret_text, struct al_error *err)
{
    return al_bare_diff_trees(&query->store->bare, from, to, query->options->lines,
                              AL_DIFFERENCE_MAX_BYTES, query->budget, ret_text, err);
}

static int diff_indexes(const struct query *query, const struct al_saved_state *from,
                        const struct al_saved_state *to, struct al_str *ret_text,
                        struct al_error *err)
{
    const struct al_saved_state *const sides[] = { from, to };
    char *trees[2] = { NULL };
    int r = 0;

    for (size_t i = 0; i < 2 && r == 0; i++) {
        struct al_saved_state unborn = { .nrefs = 0, .head = (char[]){ "ref: " } };

        if (sides[i]->has_index) {
            r = al_bare_write_tree(&query->store->bare, &sides[i]->index, query->budget, &trees[i],
                                   err);
        } else {
            trees[i] = al_malloc(AL_OID_TEXT);
            find_head(query, &unborn, trees[i]);
        }
    }
    if (r == 0)
        r = diff_trees(query, trees[0], trees[1], ret_text, err);
    free(trees[0]);
    free(trees[1]);
    return r;
}

static bool changed(const struct al_differences *changes, enum al_part part)
{
    for (size_t i = 0; i < changes->count; i++)
        if (changes->items[i].part == part)
            return true;
    return false;
}

/* Add the patch of the working tree.  A checkpoint of some files is not compared with a whole one:
 * the patch is that of the changes. */
static int diff_worktrees(struct query *query, const char *const ids[2],
                          const struct al_saved_state states[2], struct al_execution_changes *found,
                          struct al_error *err)
{
    char from[AL_OID_TEXT], to[AL_OID_TEXT], present[AL_OID_TEXT];
    bool differ = (states[0].without ^ states[1].without) & AL_PARTS_WORKTREE;
    int r = 0;

    memcpy(from, ids[0], strlen(ids[0]) + 1);
    memcpy(to, ids[1], strlen(ids[1]) + 1);
    if (differ)
        r = read_present(query, present, err);
    if (r == 0 && differ)
        r = al_pending_checkpoint_trees(query->pending, &found->changes, query->budget, from, to,
                                        err);
    return r < 0 ? r
                 : al_bare_diff(&query->store->bare, from, to, query->options->lines,
                                AL_DIFFERENCE_MAX_BYTES, query->budget,
                                &found->patches[AL_PATCH_WORKTREE], err);
}

/* Add the patches of the index and of HEAD. */
static int diff_states(const struct query *query, const struct al_saved_state states[2],
                       struct al_execution_changes *found)
{
    char head_before[AL_OID_TEXT], head_after[AL_OID_TEXT];
    int r = 0;

    if (changed(&found->changes, AL_PART_INDEX))
        r = ignore_unreadable(
            diff_indexes(query, &states[0], &states[1], &found->patches[AL_PATCH_INDEX], NULL));
    /* Without references it is not known which commits HEAD's branch was at. */
    if (r < 0 || (states[0].without | states[1].without) & AL_PARTS_REFS)
        return r;
    find_head(query, &states[0], head_before);
    find_head(query, &states[1], head_after);
    return strcmp(head_before, head_after) != 0
               ? ignore_unreadable(diff_trees(query, head_before, head_after,
                                              &found->patches[AL_PATCH_HEAD], NULL))
               : 0;
}

/* Add the patches of an execution that changed something. */
static int add_patches(struct query *query, const char *const ids[2],
                       struct al_execution_changes *found, struct al_error *err)
{
    struct al_saved_state states[2] = { { .index = AL_STR_INIT }, { .index = AL_STR_INIT } };
    int r = al_checkpoint_state(query->store, ids[0], query->budget, &states[0], err);

    if (r == 0)
        r = al_checkpoint_state(query->store, ids[1], query->budget, &states[1], err);
    if (r == 0 && changed(&found->changes, AL_PART_WORKTREE))
        r = diff_worktrees(query, ids, states, found, err);
    if (r == 0)
        r = diff_states(query, states, found);
    al_saved_state_clear(&states[0]);
    al_saved_state_clear(&states[1]);
    return r < 0 && err && !err->message ? al_error_set(err, r, "the changes cannot be read") : r;
}

static int read_execution(struct query *query, size_t which, al_difference_fn take, void *payload,
                          struct al_error *err)
{
    const struct al_execution *execution = &query->executions->items[which];
    struct al_execution_changes found = { .seq = execution->seq,
                                          .tool = execution->tool,
                                          .summary = execution->summary };
    char end[AL_OID_TEXT];
    int r;

    for (size_t i = 0; i < AL_PATCH_COUNT; i++)
        found.patches[i] = AL_STR_INIT;
    r = find_end(query, which, end, &found.ended, err);
    if (r == 0)
        r = al_checkpoint_changes_of(query->store, execution->before, end, query->budget,
                                     &found.changes, err);
    if (r == 0 && found.changes.count)
        r = add_patches(query, (const char *const[]){ execution->before, end }, &found, err);
    if (r == 0 && found.changes.count)
        take(payload, &found);
    al_differences_clear(&found.changes);
    for (size_t i = 0; i < AL_PATCH_COUNT; i++)
        al_str_clear(&found.patches[i]);
    return r;
}

/* The plan's message is about going back; this command only looks. */
static int too_few(const char *agent, struct al_error *err)
{
    al_auto(al_freep) char *message = err ? al_take(&err->message) : NULL;
    al_auto(al_freep) char *safe = agent ? al_text_sanitize_line(agent) : NULL;
    char *end = message ? strstr(message, " can be rolled back") : NULL;

    if (end)
        *end = '\0';
    return al_error_set(err, AL_ERR_NOT_FOUND, "%s%s%s changed something in this repository",
                        end ? message : "no execution", safe ? " of agent " : "", safe ? safe : "");
}

static int read_executions(struct query *query, al_difference_fn take, void *payload,
                           struct al_error *err)
{
    struct al_plan plan;
    size_t which;
    int r;

    if (query->options->execution) {
        r = al_plan_find(query->store, query->executions, query->options->execution, &which, err);
        return r < 0 ? r : read_execution(query, which, take, payload, err);
    }
    r = al_plan_choose(query->store, query->executions, query->options->count, query->budget, &plan,
                       NULL, NULL, err);

    if (r == AL_ERR_NOT_FOUND)
        return too_few(query->options->agent, err);
    for (size_t i = plan.first; r == 0 && i < query->executions->count; i++)
        r = read_execution(query, i, take, payload, err);
    return r;
}

int al_difference_read(struct al_repo *repo, const struct al_difference_options *options,
                       struct al_run_limits *budget, al_difference_fn take, void *payload,
                       struct al_error *err)
{
    struct al_executions executions = { .items = NULL };
    struct query query = { .options = options, .executions = &executions, .budget = budget };
    int r = al_store_open(options->settings, repo, false, budget, &query.store, err);

    if (r == AL_ERR_NOT_FOUND)
        return al_error_set(err, r, "nothing was changed in this repository");
    if (r == 0)
        r = al_executions_read(options->journal_file, repo->at.top, &executions, err);
    if (r == 0 && options->agent)
        al_executions_keep_agent(&executions, options->agent);
    if (r == 0)
        r = read_executions(&query, take, payload, err);
    al_executions_clear(&executions);
    al_pending_checkpoint_free(query.pending);
    al_store_close(query.store);
    return r;
}
