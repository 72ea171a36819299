// SPDX-License-Identifier: Apache-2.0
/* The executions of a repository: what each changed, which of them a rollback undoes, and `airlock
 * diff`, which shows them. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gitops/plumbing/bare.h"
#include "guard/text.h"
#include "history/rollback_private.h"

/* --- Executions --- */

static void add_execution(struct al_executions *executions, const json_t *line)
{
    const char *tool = al_json_get_string(line, "tool");
    const char *before = al_json_get_string(line, "git_commit");
    const char *outcome = al_json_get_string(line, "outcome");
    struct al_execution *item;

    if (!tool || !outcome || strlen(before) >= AL_OID_TEXT)
        return;
    /* The capacity doubles at powers of two. */
    if ((executions->count & (executions->count - 1)) == 0)
        executions->items =
            al_reallocarray(executions->items, executions->count ? 2 * executions->count : 1,
                            sizeof(*executions->items));
    item = &executions->items[executions->count++];
    *item = (struct al_execution){
        .seq = (uint64_t)json_integer_value(json_object_get(line, "seq")),
        .tool = al_strdup(tool),
        .session = al_strdup(al_json_get_string(line, "conversation_id")),
        .agent = al_strdup(al_json_get_string(line, "agent")),
        .summary = al_strdup(al_json_get_string(line, "summary")),
        .interrupted = !strcmp(outcome, "interrupted"),
    };
    (void)snprintf(item->before, sizeof(item->before), "%s", before);
    if (!strcmp(tool, "rollback"))
        item->input = json_incref(json_object_get(line, "input"));
    item->redo = json_is_true(json_object_get(item->input, "redo"));
}

static int read_file(const struct al_history *history, size_t index, const char *top,
                     struct al_executions *executions)
{
    static const char taken[] = "\"git_commit\":\"";
    al_auto(al_closep) int fd = al_history_file(history, index);
    al_auto(al_lines_clear) struct al_lines lines = AL_LINES_INIT(fd, 0);
    const char *text;
    size_t len;
    int r;

    if (fd < 0)
        return fd;
    while ((r = al_lines_next(&lines, &text, &len)) > 0) {
        al_auto(al_json_decrefp) json_t *line = NULL;

        if (!memmem(text, len, taken, strlen(taken)))
            continue;
        line = json_loadb(text, len, JSON_ALLOW_NUL, NULL);
        if (al_journal_is_about(line, top) && al_json_get_string(line, "git_commit"))
            add_execution(executions, line);
    }
    return r;
}

int al_executions_read(const char *file, const char *top, struct al_executions *ret_executions,
                       struct al_error *err)
{
    al_auto(al_history_clear) struct al_history history = AL_HISTORY_INIT;
    int r = al_history_open(file, &history);

    for (size_t i = 0; r == 0 && i < al_history_count(&history); i++)
        r = read_file(&history, i, top, ret_executions);
    return r < 0 ? al_error_errno(err, -r, "cannot read the journal '%s'", file) : 0;
}

static void execution_clear(struct al_execution *execution)
{
    free(execution->tool);
    free(execution->session);
    free(execution->agent);
    free(execution->summary);
    json_decref(execution->input);
    al_differences_clear(&execution->changes);
    al_differences_clear(&execution->entries);
}

void al_executions_clear(struct al_executions *executions)
{
    for (size_t i = 0; i < executions->count; i++)
        execution_clear(&executions->items[i]);
    free(executions->items);
    *executions = (struct al_executions){ .items = NULL };
}

static bool is_of(const char *name, const char *wanted)
{
    return !wanted || (name && !strcmp(name, wanted));
}

void al_executions_keep(struct al_executions *executions, const char *agent, const char *session)
{
    size_t kept = 0;

    for (size_t i = 0; i < executions->count; i++) {
        struct al_execution *item = &executions->items[i];

        if (is_of(item->agent, agent) && is_of(item->session, session))
            executions->items[kept++] = *item;
        else
            execution_clear(item);
    }
    executions->count = kept;
}

bool al_executions_unfinished(const struct al_executions *executions)
{
    const struct al_execution *last =
        executions->count ? &executions->items[executions->count - 1] : NULL;

    return last && last->interrupted && last->input;
}

/* Whether a change removed a temporary file of a rollback that was killed.  The one that went on
 * did that, and nobody wants it back. */
static bool is_leftover(const struct al_difference *change)
{
    static const char begin[] = ".airlock-";
    const char *slash = strrchr(change->name, '/');
    const char *name = slash ? slash + 1 : change->name;

    return change->part == AL_PART_WORKTREE && !change->to && al_starts_with(name, begin) &&
           strspn(name + strlen(begin), "0123456789abcdef") == AL_LOCK_TOKEN - 1 &&
           strlen(name) == strlen(begin) + AL_LOCK_TOKEN - 1;
}

int al_execution_read(struct al_store *store, struct al_execution *execution,
                      struct al_run_limits *budget, struct al_error *err)
{
    struct al_differences *changes = &execution->changes;
    int r;

    if (execution->is_read)
        return 0;
    r = al_checkpoint_find_after(store, execution->before, execution->after, err);
    execution->has_after = r == 0;
    if (r == AL_ERR_NOT_FOUND)
        r = 0;
    else if (r == 0)
        r = al_checkpoint_changes_of(store, execution->before, execution->after, budget, changes,
                                     err);
    for (size_t i = 0; execution->input && i < changes->count;)
        if (is_leftover(&changes->items[i]))
            al_change_drop(changes, &changes->items[i]);
        else
            i++;
    execution->is_read = r == 0;
    return r;
}

static bool has_linked_of(const struct al_saved *saved, const struct al_saved *other)
{
    bool has = true;

    for (size_t i = al_change_at(&other->values, AL_PART_LINKED, ""); i < other->values.count; i++)
        has &= al_change_find(&saved->values, AL_PART_LINKED, other->values.items[i].name) != NULL;
    return has;
}

const char *al_execution_end(struct al_store *store, const struct al_executions *executions,
                             size_t which, size_t end, struct al_run_limits *budget)
{
    const struct al_saved *own, *saved;
    int r = al_checkpoint_load(store, executions->items[which].before, true, budget, &own, NULL);

    for (size_t i = which + 1; r == 0 && i < end; i++)
        if (al_checkpoint_load(store, executions->items[i].before, false, budget, &saved, NULL) ==
                0 &&
            !(saved->without & ~own->without) && has_linked_of(saved, own))
            return executions->items[i].before;
    return NULL;
}

/* --- The plan --- */

bool al_execution_tells_of_remote(const struct al_execution *execution,
                                  const struct al_difference *change)
{
    /* A rollback has what it took back; git_remote takes these references along with the remote. */
    if (execution->input || !strcmp(execution->tool, "git_remote"))
        return false;
    if (change->part == AL_PART_REF)
        return al_starts_with(change->name, "refs/remotes/");
    return change->part == AL_PART_STATE && !strcmp(change->name, "config") &&
           !strcmp(execution->tool, "git_push");
}

/* Append "git_add: Stage a.c". */
static void name_call(const struct al_execution *execution, struct al_strv *calls)
{
    al_auto(al_freep) char *safe =
        execution->summary ? al_text_join_lines(execution->summary) : NULL;

    if (calls && safe)
        al_strv_addf(calls, "%s: %s", execution->tool, safe);
    else if (calls)
        al_strv_add(calls, execution->tool);
}

/* Whether the execution changed anything that a rollback takes back: 1 or 0.  One that was
 * interrupted may have. */
static int is_step(const struct al_plan_wish *wish, struct al_execution *execution,
                   uint64_t *interrupted, struct al_error *err)
{
    int r = al_execution_read(wish->store, execution, wish->budget, err);
    bool did = r == 0 && !execution->has_after;

    if (r < 0)
        return r;
    if (did)
        *interrupted = execution->seq;
    for (size_t i = 0; !did && i < execution->changes.count; i++)
        did = !al_execution_tells_of_remote(execution, &execution->changes.items[i]);
    return did;
}

/* The index of the execution that a rollback went back to before; `otherwise` if it is not known.
 */
static size_t target_of(const struct al_executions *executions, size_t rollback, size_t otherwise)
{
    const char *to = al_json_get_string(executions->items[rollback].input, "to");

    for (size_t i = rollback; to && i > 0; i--)
        if (!strcmp(executions->items[i - 1].before, to))
            return i - 1;
    return otherwise;
}

/* Go back to the next step before *at: 1; 0: there is none. */
static int step_back(const struct al_plan_wish *wish, size_t *at, uint64_t *interrupted,
                     struct al_error *err)
{
    struct al_executions *executions = wish->executions;

    while (*at > 0) {
        struct al_execution *execution = &executions->items[--*at];
        int r;

        if (wish->skips_undone && execution->input) {
            *at = target_of(executions, *at, *at);
            continue;
        }
        if (!al_checkpoint_exists(wish->store, execution->before))
            return 0; /* the older ones are gone as well */
        r = is_step(wish, execution, interrupted, err);
        if (r != 0)
            return r;
        if (!strcmp(execution->tool, "git_push"))
            name_call(execution, wish->pushes);
    }
    return 0;
}

int al_plan_find(const struct al_plan_wish *wish, uint64_t seq, size_t *ret_index,
                 struct al_error *err)
{
    const struct al_executions *executions = wish->executions;

    for (*ret_index = executions->count; *ret_index > 0;)
        if (executions->items[--*ret_index].seq == seq)
            return al_checkpoint_exists(wish->store, executions->items[*ret_index].before)
                       ? 0
                       : al_error_set(err, AL_ERR_NOT_FOUND,
                                      "the checkpoint of execution %" PRIu64 " is gone", seq);
    return al_error_set(err, AL_ERR_NOT_FOUND,
                        "there is no execution %" PRIu64 " with a checkpoint in this repository",
                        seq);
}

static int too_many(const struct al_plan_wish *wish, size_t found, struct al_error *err)
{
    const bool own = wish->skips_undone;

    if (!found)
        return al_error_set(err, AL_ERR_NOT_FOUND,
                            own ? "this session has changed nothing here that is not undone"
                                : "there is nothing to roll back in this repository");
    return al_error_set(err, AL_ERR_NOT_FOUND, "only %zu %s%s%s can be %s, not %zu", found,
                        own ? "call" : "execution", found == 1 ? "" : "s",
                        own ? " of this session" : "", own ? "undone" : "rolled back", wish->count);
}

static int choose(const struct al_plan_wish *wish, struct al_plan *plan, struct al_error *err)
{
    const size_t wanted = wish->count ? wish->count : 1;
    size_t at = wish->executions->count;
    int r = 1;

    while (r == 1 && plan->count < wanted) {
        r = step_back(wish, &at, &plan->interrupted, err);
        if (r != 1)
            break;
        name_call(&wish->executions->items[at], wish->calls);
        plan->oldest = at;
        plan->count++;
    }
    return r < 0 ? r : r == 1 ? 0 : too_many(wish, plan->count, err);
}

static int choose_back_to(const struct al_plan_wish *wish, struct al_plan *plan,
                          struct al_error *err)
{
    const struct al_executions *executions = wish->executions;
    size_t at = executions->count;
    int r = al_plan_find(wish, wish->execution, &plan->oldest, err);

    if (r == 0 && wish->newest && executions->items[at - 1].seq != wish->newest)
        return al_error_set(err, AL_ERR_EXECUTION,
                            "execution %" PRIu64 " came since; look again at what would change",
                            executions->items[at - 1].seq);
    while (r >= 0 && at > plan->oldest) {
        r = step_back(wish, &at, &plan->interrupted, err);
        if (r == 0 || (r == 1 && at < plan->oldest))
            return al_error_set(err, AL_ERR_NOT_FOUND,
                                "execution %" PRIu64 " changed nothing that a rollback takes back",
                                wish->execution);
        if (r == 1)
            name_call(&executions->items[at], wish->calls);
        plan->count++;
    }
    return r < 0 ? r : 0;
}

static int nothing_to_redo(struct al_error *err)
{
    return al_error_set(err, AL_ERR_NOT_FOUND,
                        "there is nothing to redo: the last execution that changed something "
                        "was not a rollback");
}

/* A rollback that was undone already does not count, so each redo undoes one rollback more. */
static int choose_redo(const struct al_plan_wish *wish, struct al_plan *plan, struct al_error *err)
{
    struct al_executions *executions = wish->executions;
    size_t at = executions->count;
    int did = 0;

    while (at > 0 && did == 0) {
        struct al_execution *item = &executions->items[--at];

        if (item->redo) {
            at = target_of(executions, at, 0);
            continue;
        }
        if (!al_checkpoint_exists(wish->store, item->before))
            return nothing_to_redo(err);
        did = is_step(wish, item, &plan->interrupted, err);
        if (did == 1 && !item->input)
            return nothing_to_redo(err);
    }
    if (did != 1)
        return did < 0 ? did : nothing_to_redo(err);
    plan->oldest = at;
    for (; did >= 0 && at < executions->count; at++) {
        did = is_step(wish, &executions->items[at], &plan->interrupted, err);
        plan->count += did == 1;
    }
    return did < 0 ? did : 0;
}

/* Plan the same rollback as the last one, if that was interrupted. */
static bool resume(const struct al_plan_wish *wish, struct al_plan *plan)
{
    const struct al_executions *executions = wish->executions;
    const struct al_execution *last = &executions->items[executions->count - 1];
    const char *to = last->input ? al_json_get_string(last->input, "to") : NULL;
    const size_t none = executions->count;

    if (wish->anew || !al_executions_unfinished(executions) || !to)
        return false;
    plan->count = (size_t)json_integer_value(json_object_get(last->input, "count"));
    plan->end = executions->count - 1;
    plan->oldest = target_of(executions, plan->end, none);
    plan->resumes = (!wish->count || wish->count == plan->count) && !wish->execution &&
                    strlen(to) < AL_OID_TEXT && plan->oldest != none &&
                    al_checkpoint_exists(wish->store, to);
    return plan->resumes;
}

int al_plan_make(const struct al_plan_wish *wish, struct al_plan *ret_plan, struct al_error *err)
{
    struct al_plan plan = { .end = wish->executions->count };
    int r;

    *ret_plan = plan;
    if (plan.end && resume(wish, ret_plan))
        return 0;
    if (wish->redo)
        r = choose_redo(wish, &plan, err);
    else
        r = wish->execution ? choose_back_to(wish, &plan, err) : choose(wish, &plan, err);
    *ret_plan = plan;
    return r;
}

size_t al_plan_further(const struct al_plan_wish *wish, const struct al_plan *plan)
{
    const struct al_plan_wish silent = { .store = wish->store,
                                         .executions = wish->executions,
                                         .budget = wish->budget };
    size_t at = plan->oldest;
    uint64_t interrupted;

    return step_back(&silent, &at, &interrupted, NULL) == 1 ? plan->count + 2 : 0;
}

/* --- To look at --- */

/** One request and what it reads from. */
struct query {
    struct al_store *store;
    struct al_pending_checkpoint *pending; /* of the present; NULL until it is needed */
    char present[AL_OID_TEXT];             /* its id */
    const struct al_difference_options *options;
    struct al_executions *executions;
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
    const char *end;

    *ret_ended = al_checkpoint_find_after(query->store, query->executions->items[which].before,
                                          ret_id, NULL) == 0;
    if (*ret_ended)
        return 0;
    end = al_execution_end(query->store, query->executions, which, query->executions->count,
                           query->budget);
    if (!end)
        return read_present(query, ret_id, err);
    memcpy(ret_id, end, strlen(end) + 1);
    return 0;
}

/* A change that cannot be shown as a patch is still listed. */
static int ignore_unreadable(int r)
{
    return r == AL_ERR_EXECUTION || r == AL_ERR_NOT_FOUND ? 0 : r;
}

/* What HEAD is at, or the empty tree. */
static void find_head(const struct query *query, const struct al_saved *state,
                      char ret_id[AL_OID_TEXT])
{
    char commit[AL_OID_TEXT] = AL_COMMIT_NONE;

    if (state)
        al_state_commit(state, NULL, commit);
    al_commit_treeish(query->store, commit, ret_id);
}

static int diff_trees(const struct query *query, const char *from, const char *to,
                      struct al_str *ret_text, struct al_error *err)
{
    return al_bare_diff_trees(&query->store->bare, from, to, query->options->lines,
                              AL_DIFFERENCE_MAX_BYTES, query->budget, ret_text, err);
}

static int diff_indexes(const struct query *query, const struct al_saved *from,
                        const struct al_saved *to, struct al_str *ret_text, struct al_error *err)
{
    const struct al_saved *const sides[] = { from, to };
    char *trees[2] = { NULL };
    int r = 0;

    for (size_t i = 0; i < 2 && r == 0; i++) {
        if (sides[i]->has_index) {
            r = al_bare_write_tree(&query->store->bare, &sides[i]->index, query->budget, &trees[i],
                                   err);
        } else {
            trees[i] = al_malloc(AL_OID_TEXT);
            find_head(query, NULL, trees[i]);
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
                          const struct al_saved *const states[2],
                          struct al_execution_changes *found, struct al_error *err)
{
    char from[AL_OID_TEXT], to[AL_OID_TEXT], present[AL_OID_TEXT];
    bool differ = (states[0]->without ^ states[1]->without) & AL_PARTS_WORKTREE;
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
static int diff_states(const struct query *query, const struct al_saved *const states[2],
                       struct al_execution_changes *found)
{
    char head_before[AL_OID_TEXT], head_after[AL_OID_TEXT];
    int r = 0;

    if (changed(&found->changes, AL_PART_INDEX))
        r = ignore_unreadable(
            diff_indexes(query, states[0], states[1], &found->patches[AL_PATCH_INDEX], NULL));
    /* Without references it is not known which commits HEAD's branch was at. */
    if (r < 0 || (states[0]->without | states[1]->without) & AL_PARTS_REFS)
        return r;
    find_head(query, states[0], head_before);
    find_head(query, states[1], head_after);
    return strcmp(head_before, head_after) != 0
               ? ignore_unreadable(diff_trees(query, head_before, head_after,
                                              &found->patches[AL_PATCH_HEAD], NULL))
               : 0;
}

/* Add the patches of an execution that changed something. */
static int add_patches(struct query *query, const char *const ids[2],
                       struct al_execution_changes *found, struct al_error *err)
{
    const struct al_saved *states[2];
    int r = al_checkpoint_load(query->store, ids[0], false, query->budget, &states[0], err);

    if (r == 0)
        r = al_checkpoint_load(query->store, ids[1], false, query->budget, &states[1], err);
    if (r == 0 && changed(&found->changes, AL_PART_WORKTREE))
        r = diff_worktrees(query, ids, states, found, err);
    if (r == 0)
        r = diff_states(query, states, found);
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
static int too_few(const char *agent, size_t count, struct al_error *err)
{
    al_auto(al_freep) char *safe = agent ? al_text_sanitize_line(agent) : NULL;
    al_auto(al_freep) char *only =
        count ? al_asprintf("only %zu execution%s", count, count == 1 ? "" : "s") : NULL;

    return al_error_set(err, AL_ERR_NOT_FOUND, "%s%s%s changed something in this repository",
                        only ? only : "no execution", safe ? " of agent " : "", safe ? safe : "");
}

static int read_executions(struct query *query, al_difference_fn take, void *payload,
                           struct al_error *err)
{
    const struct al_plan_wish wish = { .store = query->store,
                                       .executions = query->executions,
                                       .budget = query->budget,
                                       .count = query->options->count,
                                       .anew = true };
    struct al_plan plan;
    size_t which;
    int r;

    if (query->options->execution) {
        r = al_plan_find(&wish, query->options->execution, &which, err);
        return r < 0 ? r : read_execution(query, which, take, payload, err);
    }
    r = al_plan_make(&wish, &plan, NULL);
    if (r == AL_ERR_NOT_FOUND)
        return too_few(query->options->agent, plan.count, err);
    for (size_t i = plan.oldest; r == 0 && i < query->executions->count; i++)
        r = read_execution(query, i, take, payload, err);
    return r < 0 && err && !err->message ? al_error_set(err, r, "the changes cannot be read") : r;
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
    if (r == 0)
        al_executions_keep(&executions, options->agent, NULL);
    if (r == 0)
        r = read_executions(&query, take, payload, err);
    al_executions_clear(&executions);
    al_pending_checkpoint_free(query.pending);
    al_store_close(query.store);
    return r;
}
