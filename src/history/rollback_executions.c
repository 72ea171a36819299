// SPDX-License-Identifier: Apache-2.0
/* The executions of a repository: what each changed, which of them a rollback undoes, and `airlock
 * diff`, which shows them. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/fs.h"
#include "git/plumbing/bare.h"
#include "guard/text.h"
#include "history/rollback_private.h"

/* --- Executions --- */

/* Whether the other one ended while an execution ran.  One that was killed lists none, and has its
 * number from when that was found. */
static bool lists(const struct al_execution *execution, const struct al_execution *other)
{
    bool has = execution->ended_ms < 0 && other->seq < execution->seq &&
               other->ended_ms >= execution->began_ms;

    for (size_t i = 0; i < json_array_size(execution->overlaps); i++)
        has |= (uint64_t)json_integer_value(json_array_get(execution->overlaps, i)) == other->seq;
    return has;
}

static bool is_of(const char *name, const char *wanted)
{
    return !wanted || (name && !strcmp(name, wanted));
}

static void note_file(struct al_execution *item, const struct al_execution *other)
{
    if (!other->file || !item->held_no_lock || al_change_is_same(item->file, 0, other->file, 0))
        return;
    al_strv_add(&item->others, other->before);
    al_strv_add(&item->others, other->file);
}

/* The files that are the other's alone, of two that overlap: see forget_files(). */
static void note_files(struct al_executions *executions)
{
    struct al_execution *items = executions->items;

    for (size_t i = 0; i < executions->count; i++)
        for (size_t k = 0; items[i].overlaps && k < executions->count; k++)
            if (lists(&items[i], &items[k])) {
                note_file(&items[i], &items[k]);
                note_file(&items[k], &items[i]);
            }
}

static void add_execution(struct al_executions *executions, const json_t *line, const char *top)
{
    const char *tool = al_json_get_string(line, "tool");
    const char *before = al_json_get_string(line, "git_commit");
    const char *outcome = al_json_get_string(line, "outcome");
    const char *operation = al_json_get_string(line, "operation");
    const json_t *took = json_object_get(line, "duration_ms");
    const json_t *input = json_object_get(line, "input");
    const char *file = al_json_get_string(input, "file_path");
    struct al_execution *item;

    if (!tool || !outcome || strlen(before) >= AL_OID_TEXT)
        return;
    executions->items =
        al_reallocarray(executions->items, executions->count + 1, sizeof(*executions->items));
    item = &executions->items[executions->count++];
    *item = (struct al_execution){
        .seq = (uint64_t)json_integer_value(json_object_get(line, "seq")),
        .tool = al_strdup(tool),
        .session = al_strdup(al_json_get_string(line, "conversation_id")),
        .agent = al_strdup(al_json_get_string(line, "agent")),
        .summary = al_strdup(al_json_get_string(line, "summary")),
    };
    item->began_ms = al_clock_iso_ms(al_json_get_string(line, "time"));
    item->pushes = !strcmp(tool, "git_push") || (!strcmp(tool, "git") && is_of(operation, "push"));
    item->fetches = operation && (!strcmp(operation, "fetch") || !strcmp(operation, "pull") ||
                                  !strcmp(operation, "remote_update"));
    item->held_no_lock = al_journal_held_no_lock(line);
    if (!file)
        file = al_json_get_string(input, "notebook_path");
    if (item->held_no_lock && file) /* that a client's own tool was given to write */
        item->file = al_strdup(al_fs_beneath(top, file));
    item->ended_ms = json_is_integer(took) ? item->began_ms + json_integer_value(took) : -1;
    item->overlaps = json_incref(json_object_get(line, "overlaps")); /* none if it was killed */
    (void)snprintf(item->before, sizeof(item->before), "%s", before);
    if (!strcmp(tool, "rollback"))
        item->input = json_incref(json_object_get(line, "input"));
    item->interrupted = item->input && strcmp(outcome, "ok") != 0;
    item->redo = json_is_true(json_object_get(item->input, "redo"));
}

int al_executions_read(const char *file, const char *top, struct al_executions *ret_executions,
                       struct al_error *err)
{
    static const char taken[] = "\"git_commit\":\"";
    al_auto(al_history_clear) struct al_history history = AL_HISTORY_INIT;
    const char *text;
    size_t len;
    int r = al_history_open(file, &history);

    while (r >= 0 && (r = al_history_next(&history, &text, &len)) > 0) {
        al_auto(al_json_decrefp) json_t *line = NULL;

        if (!memmem(text, len, taken, strlen(taken)))
            continue;
        line = json_loadb(text, len, JSON_ALLOW_NUL, NULL);
        if (al_journal_is_about(line, top) && al_json_get_string(line, "git_commit"))
            add_execution(ret_executions, line, top);
    }
    note_files(ret_executions);
    return r < 0 ? al_error_errno(err, -r, "cannot read the journal '%s'", file) : 0;
}

static void execution_clear(struct al_execution *execution)
{
    for (size_t i = 0; i < execution->ninside; i++)
        execution_clear(&execution->inside[i]);
    free(execution->inside);
    free(execution->file);
    al_strv_clear(&execution->others);
    json_decref(execution->overlaps);
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

void al_executions_mark_undone(struct al_executions *executions)
{
    struct al_execution *items = executions->items;

    for (size_t i = executions->count; i-- > 0;) {
        if (!items[i].input || items[i].undone ||
            json_is_true(json_object_get(items[i].input, "own")))
            continue;
        for (size_t k = target_of(executions, i, i); k < i; k++)
            items[k].undone |= is_of(items[k].agent, items[i].agent);
    }
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

/* The shim and `airlock run` run in the shell of another execution; other calls, as those of a
 * client's hook, run beside it. */
static bool ran_inside(const struct al_execution *inner, const struct al_execution *outer)
{
    return (!strcmp(inner->tool, "run") || (!strcmp(inner->tool, "git") && !inner->held_no_lock)) &&
           lists(outer, inner) && inner->began_ms >= outer->began_ms &&
           is_of(inner->session, outer->session);
}

void al_executions_absorb(struct al_executions *executions)
{
    size_t kept = 0;

    for (size_t i = 0; i < executions->count; i++) {
        struct al_execution *item = &executions->items[i], *outer = item;

        for (size_t k = executions->count; k > i + 1 && outer == item; k--)
            if (ran_inside(item, &executions->items[k - 1]))
                outer = &executions->items[k - 1];
        if (outer == item) {
            executions->items[kept++] = *item;
            continue;
        }
        outer->inside = al_reallocarray(outer->inside, outer->ninside + 1, sizeof(*outer));
        outer->inside[outer->ninside++] = *item;
    }
    executions->count = kept;
}

bool al_executions_unfinished(const struct al_executions *executions)
{
    return executions->count && executions->items[executions->count - 1].interrupted;
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

/* The rest of a change after another execution, whose own it may be in part. */
static void go_on(struct al_store *store, const char *before, struct al_difference *change)
{
    al_auto(al_differences_clear) struct al_differences changes = { .items = NULL };
    struct al_difference *own = NULL;
    char after[AL_OID_TEXT];

    if (al_checkpoint_find_after(store, before, after, NULL) == 0 &&
        al_checkpoint_changes_of(store, before, after, &changes, NULL) == 0)
        own = al_change_find(&changes, AL_PART_WORKTREE, change->name);
    if (own && al_change_is_same(own->from, own->from_mode, change->from, change->from_mode)) {
        free(change->from);
        change->from = al_take(&own->to);
        change->from_mode = own->to_mode;
    }
}

/* Forget the files that others were given to write meanwhile, if nothing else happened to them. */
static void forget_files(struct al_store *store, struct al_execution *execution)
{
    const struct al_strv *others = &execution->others;

    for (size_t i = others->count ? execution->changes.count : 0; i > 0; i--) {
        struct al_difference *change = &execution->changes.items[i - 1], left = *change;

        left.from = left.from ? al_strdup(left.from) : NULL;
        for (size_t k = 0; change->part == AL_PART_WORKTREE && k < others->count; k += 2)
            if (!strcmp(others->items[k + 1], left.name))
                go_on(store, others->items[k], &left);
        if (al_change_is_same(left.from, left.from_mode, left.to, left.to_mode))
            al_change_drop(&execution->changes, change);
        free(left.from);
    }
}

int al_execution_read(struct al_store *store, struct al_execution *execution, struct al_error *err)
{
    struct al_differences *changes = &execution->changes;
    int r;

    if (execution->is_read)
        return 0;
    r = al_checkpoint_find_after(store, execution->before, execution->after, err);
    execution->undone &= r == AL_ERR_NOT_FOUND;
    execution->has_after = r == 0 || execution->undone;
    if (execution->undone)
        memcpy(execution->after, execution->before, sizeof(execution->after));
    if (r == AL_ERR_NOT_FOUND)
        r = 0;
    else if (r == 0)
        r = al_checkpoint_changes_of(store, execution->before, execution->after, changes, err);
    for (size_t i = changes->count; execution->input && i > 0; i--)
        if (is_leftover(&changes->items[i - 1]))
            al_change_drop(changes, &changes->items[i - 1]);
    forget_files(store, execution);
    execution->is_read = r == 0;
    return r;
}

static bool has_linked_of(const struct al_saved *saved, const struct al_saved *other)
{
    for (size_t i = al_change_at(&other->values, AL_PART_LINKED, ""); i < other->values.count; i++)
        if (!al_change_find(&saved->values, AL_PART_LINKED, other->values.items[i].name))
            return false;
    return true;
}

/* The checkpoint that shows what an execution which did not end has left: that before a later one,
 * if it has as much; what later ones changed is theirs.  NULL: there is none. */
static const char *find_end(struct al_way *way, size_t which, size_t end)
{
    const struct al_execution *executions = way->executions.items;
    const struct al_saved *own, *saved;
    int r = al_checkpoint_load(way->store, executions[which].before, true, &own, NULL);

    for (size_t i = which + 1; r == 0 && i < end; i++)
        if (al_checkpoint_load(way->store, executions[i].before, false, &saved, NULL) == 0 &&
            !(saved->without & ~own->without) && has_linked_of(saved, own))
            return executions[i].before;
    return NULL;
}

int al_execution_read_end(struct al_way *way, size_t which, size_t end, struct al_error *err)
{
    struct al_execution *execution = &way->executions.items[which];
    int r = al_execution_read(way->store, execution, err);
    const char *found;

    if (r < 0 || execution->has_after)
        return r;
    found = find_end(way, which, end);
    if (!found && !way->present[0])
        r = al_checkpoint_create_pending(
            way->store, &(struct al_checkpoint_reason){ .tool = "diff", .operation = "show" },
            &way->pending, way->present, err);
    (void)snprintf(execution->after, sizeof(execution->after), "%s", found ? found : way->present);
    return r < 0 ? r
                 : al_checkpoint_changes_of(way->store, execution->before, execution->after,
                                            &execution->changes, err);
}

/* --- The plan --- */

bool al_execution_tells_of_remote(const struct al_execution *execution,
                                  const struct al_difference *change)
{
    const char *tool = execution->tool, *name = change->name;

    if (change->part != AL_PART_REF)
        return execution->pushes && change->part == AL_PART_STATE && !strcmp(name, "config");
    if (execution->pushes || execution->fetches)
        return al_starts_with(name, "refs/remotes/") ||
               (execution->fetches && !change->from && al_starts_with(name, "refs/tags/"));
    /* A rollback has what it took back; git_remote takes these references along with the remote,
     * `airlock git` as well, and so does a command that removes the remote, or the repository. */
    return al_starts_with(name, "refs/remotes/") && !execution->input &&
           strcmp(tool, "git_remote") != 0 && strcmp(tool, "git") != 0 &&
           (change->to || !al_change_find(&execution->changes, AL_PART_STATE, "config"));
}

/* Append "git_add: Stage a.c". */
static void name_call(const struct al_execution *item, struct al_strv *calls)
{
    al_auto(al_freep) char *safe = item->summary ? al_text_join_lines(item->summary) : NULL;

    if (calls)
        al_strv_addf(calls, "%s%s%s", item->tool, safe ? ": " : "", safe ? safe : "");
    for (size_t i = 0; i < item->ninside; i++)
        name_call(&item->inside[i], calls);
}

bool al_difference_is_note(const struct al_difference *change)
{
    return change->part == AL_PART_STATE &&
           (!strcmp(change->name, "ORIG_HEAD") || !strcmp(change->name, "AUTO_MERGE") ||
            al_change_is_shared_index(change));
}

/* Whether an execution changed anything that a rollback takes back: 1 or 0.  One that was
 * interrupted may have. */
static int is_step(struct al_way *way, size_t which, struct al_error *err)
{
    struct al_execution *execution = &way->executions.items[which];
    int r = al_execution_read(way->store, execution, err);
    bool did = r == 0 && (!execution->has_after || execution->undone);

    if (r < 0)
        return r;
    if (did && way->report && !execution->has_after)
        way->report->interrupted = execution->seq;
    for (size_t i = 0; !did && i < execution->changes.count; i++)
        did = !al_difference_is_note(&execution->changes.items[i]) &&
              !al_execution_tells_of_remote(execution, &execution->changes.items[i]);
    return did;
}

/* Forget what a rollback has taken back, and the rollback: neither is a step, and what they changed
 * is as it was before them, or somebody else's. */
static void forget_undone(struct al_executions *executions)
{
    for (size_t end = executions->count, first; end > 0; end = first) {
        first = end - 1;
        if (!executions->items[first].input)
            continue;
        first = target_of(executions, first, first);
        for (size_t i = first; i < end; i++)
            execution_clear(&executions->items[i]);
        memmove(&executions->items[first], &executions->items[end],
                (executions->count - end) * sizeof(*executions->items));
        executions->count -= end - first;
    }
}

/* Go back to the next step before *at: 1; 0: there is none. */
static int step_back(struct al_way *way, size_t *at, struct al_strv *pushes, struct al_error *err)
{
    while (*at > 0) {
        const struct al_execution *execution = &way->executions.items[--*at];
        int r;

        if (!al_checkpoint_exists(way->store, execution->before))
            return 0; /* the older ones are gone as well */
        r = is_step(way, *at, err);
        if (r != 0)
            return r;
        if (execution->pushes)
            name_call(execution, pushes);
    }
    return 0;
}

static bool has_number(const struct al_execution *execution, uint64_t seq)
{
    bool has = execution->seq == seq;

    for (size_t i = 0; i < execution->ninside; i++)
        has |= execution->inside[i].seq == seq;
    return has;
}

/* Find the execution with the number that was asked for, or around it. */
static int find_execution(const struct al_way *way, const struct al_rollback_options *options,
                          size_t *ret_index, struct al_error *err)
{
    const struct al_executions *executions = &way->executions;
    size_t at = executions->count;

    while (at > 0 && !has_number(&executions->items[at - 1], options->execution))
        at--;
    if (!at)
        return al_error_set(err, AL_ERR_NOT_FOUND,
                            "there is no execution %" PRIu64
                            " with a checkpoint in this repository",
                            options->execution);
    if (!al_checkpoint_exists(way->store, executions->items[at - 1].before))
        return al_error_set(err, AL_ERR_NOT_FOUND,
                            "the checkpoint of execution %" PRIu64 " is gone", options->execution);
    if (options->newest && executions->items[executions->count - 1].seq != options->newest)
        return al_error_set(err, AL_ERR_EXECUTION,
                            "execution %" PRIu64 " came since; look again at what would change",
                            executions->items[executions->count - 1].seq);
    *ret_index = at - 1;
    return 0;
}

static int too_many(const struct al_rollback_options *options, size_t found, struct al_error *err)
{
    const bool own = options->own_session;

    if (!found)
        return al_error_set(err, AL_ERR_NOT_FOUND,
                            own ? "this session has changed nothing here that is not undone"
                                : "there is nothing to roll back in this repository");
    return al_error_set(err, AL_ERR_NOT_FOUND, "only %zu %s%s%s can be %s, not %zu", found,
                        own ? "call" : "execution", found == 1 ? "" : "s",
                        own ? " of this session" : "", own ? "undone" : "rolled back",
                        options->count);
}

/* Whether an execution, which is read for this, may have changed what another one of the plan did
 * that ran at the same time: 1 or 0. */
static int share_a_change(struct al_way *way, struct al_execution *item,
                          const struct al_execution *planned, struct al_error *err)
{
    const bool together = lists(item, planned) || lists(planned, item);
    int r = together ? al_execution_read(way->store, item, err) : 0;

    for (size_t i = 0; r == 0 && i < item->changes.count; i++) {
        const struct al_difference *change = &item->changes.items[i];

        r = !al_difference_is_note(change) && !al_execution_tells_of_remote(item, change) &&
            al_change_find(&planned->changes, change->part, change->name);
    }
    return r;
}

/* Whether the execution before those of the plan goes back with them, as one step: 1 or 0. */
static int goes_along(struct al_way *way, size_t which, struct al_error *err)
{
    struct al_execution *item = &way->executions.items[which];
    int r = 0;

    for (size_t i = way->plan.oldest; i < way->executions.count && r == 0; i++)
        if (is_of(item->session, way->executions.items[i].session))
            r = share_a_change(way, item, &way->executions.items[i], err);
    return r;
}

static void add_to_plan(struct al_way *way, size_t which)
{
    name_call(&way->executions.items[which], way->report ? &way->report->calls : NULL);
    way->plan.oldest = which;
    way->plan.has_command |= way->executions.items[which].held_no_lock;
}

/* So many executions, or all down to one. */
static int choose(struct al_way *way, const struct al_rollback_options *options,
                  struct al_error *err)
{
    const size_t wanted = options->count ? options->count : 1;
    struct al_plan *plan = &way->plan;
    size_t at = way->executions.count, down_to = 0;
    int along = 0, r = options->execution ? find_execution(way, options, &down_to, err) : 0;

    if (r < 0)
        return r;
    do {
        r = step_back(way, &at, way->report ? &way->report->pushes : NULL, err);
        plan->count += r == 1;
        if (r == 1)
            add_to_plan(way, at);
        while (r == 1 && at > 0 && (along = goes_along(way, at - 1, err)) == 1)
            add_to_plan(way, --at);
        if (along < 0)
            r = along;
    } while (r == 1 && (options->execution ? at > down_to : plan->count < wanted));
    if (r < 0)
        return r;
    if (options->execution && (r == 0 || at < down_to))
        return al_error_set(err, AL_ERR_NOT_FOUND,
                            "execution %" PRIu64 " changed nothing that a rollback takes back",
                            options->execution);
    return r == 0 ? too_many(options, plan->count, err) : 0;
}

/* A rollback that was undone already does not count, so each redo undoes one rollback more. */
static int choose_redo(struct al_way *way, struct al_error *err)
{
    const struct al_executions *executions = &way->executions;
    size_t at = executions->count;
    int did = 0;

    while (at > 0 && did == 0) {
        const struct al_execution *item = &executions->items[--at];

        if (item->redo)
            at = target_of(executions, at, 0);
        else if (!al_checkpoint_exists(way->store, item->before))
            break;
        else
            did = is_step(way, at, err);
    }
    if (did == 0 || (did == 1 && !executions->items[at].input))
        return al_error_set(err, AL_ERR_NOT_FOUND,
                            "there is nothing to redo: the last execution that changed something "
                            "was not a rollback");
    /* One that goes on with an earlier attempt is one with it. */
    while (did == 1 && at > 0 && executions->items[at - 1].interrupted &&
           target_of(executions, at - 1, at) == target_of(executions, at, 0))
        at--;
    way->plan.oldest = at;
    for (; did >= 0 && at < executions->count; at++) {
        did = is_step(way, at, err);
        way->plan.count += did == 1;
    }
    return did < 0 ? did : 0;
}

/* Plan the same rollback as the last one, if that was interrupted. */
static bool resume(struct al_way *way, const struct al_rollback_options *options)
{
    const struct al_executions *executions = &way->executions;
    const size_t last = executions->count - 1;
    const json_t *input =
        al_executions_unfinished(executions) ? executions->items[last].input : NULL;
    const char *to = al_json_get_string(input, "to");
    struct al_plan plan = { .end = last, .resumes = true };

    if (!to || (options->redo && !executions->items[last].redo) || options->execution ||
        strlen(to) >= AL_OID_TEXT || !al_checkpoint_exists(way->store, to))
        return false;
    plan.count = (size_t)json_integer_value(json_object_get(input, "count"));
    plan.oldest = target_of(executions, last, executions->count);
    if (plan.oldest == executions->count || (options->count && options->count != plan.count))
        return false;
    way->plan = plan;
    return true;
}

int al_plan_make(struct al_way *way, const struct al_rollback_options *options,
                 struct al_error *err)
{
    if (options->own_session && !options->redo)
        forget_undone(&way->executions);
    way->plan = (struct al_plan){ .end = way->executions.count };
    if (resume(way, options))
        return 0;
    return options->redo ? choose_redo(way, err) : choose(way, options, err);
}

/* Whether an execution that is not in the plan may have made changes that are undone: 1 or 0. */
static int ran_meanwhile(struct al_way *way, struct al_execution *other, struct al_error *err)
{
    int r = 0;

    for (size_t i = way->plan.oldest; i < way->plan.end && r >= 0; i++) {
        const struct al_execution *item = &way->executions.items[i];

        if (has_number(item, other->seq))
            return 0;
        if (item->held_no_lock && r == 0)
            r = share_a_change(way, other, item, err);
    }
    return r;
}

int al_plan_meanwhile(struct al_way *way, struct al_error *err)
{
    al_auto(al_executions_clear) struct al_executions all = { .items = NULL };
    int r = al_executions_read(way->journal_file, way->repo->at.top, &all, err);

    for (size_t i = 0; r >= 0 && i < all.count; i++) {
        const struct al_execution *item = &all.items[i];

        r = ran_meanwhile(way, &all.items[i], err);
        if (r == 1)
            al_strv_addf(&way->report->meanwhile, "execution %" PRIu64 ", %s%s%s", item->seq,
                         item->tool, item->agent ? " by " : "", item->agent ? item->agent : "");
    }
    return r < 0 ? r : 0;
}

size_t al_plan_further(struct al_way *way)
{
    size_t at = way->plan.oldest;

    const bool is = step_back(way, &at, NULL, NULL) == 1 && !way->executions.items[at].input;

    return is ? way->plan.count + 2 : 0; /* to undo a rollback goes forward */
}

/* --- To look at --- */

/* Compare what is staged on both sides, or the commits that HEAD led to.  A change that cannot be
 * shown as a patch is still listed. */
static int diff_sides(const struct al_way *way, bool lines, bool staged,
                      const struct al_saved *const sides[2], struct al_str *ret_text)
{
    char commit[AL_OID_TEXT] = AL_COMMIT_NONE, trees[2][AL_OID_TEXT];
    int r = 0;

    for (size_t i = 0; i < 2 && r == 0; i++) {
        /* The commits that HEAD's branch was at are not known without references. */
        if (!staged && sides[i]->without & AL_PARTS_REFS)
            return 0;
        if (!staged)
            al_state_commit(sides[i], NULL, commit);
        (void)snprintf(trees[i], AL_OID_TEXT, "%s", al_commit_treeish(way->store, commit));
        if (staged && sides[i]->pieces.count)
            r = al_bare_write_tree(&way->store->bare, &sides[i]->index, trees[i], NULL);
    }
    if (r == 0 && strcmp(trees[0], trees[1]) != 0)
        r = al_bare_diff(&way->store->bare, trees[0], trees[1], lines ? AL_BARE_LINES : 0,
                         AL_DIFFERENCE_MAX_BYTES, ret_text, NULL);
    return r == AL_ERR_EXECUTION || r == AL_ERR_NOT_FOUND ? 0 : r;
}

/* Add the patches of an execution that changed something. */
static int add_patches(struct al_way *way, bool lines, const struct al_execution *execution,
                       struct al_str *patches, struct al_error *err)
{
    const struct al_saved *sides[2];
    int r = al_checkpoint_load_index(way->store, execution->before, false, &sides[0], err);

    if (r == 0)
        r = al_checkpoint_load_index(way->store, execution->after, false, &sides[1], err);
    if (r == 0 && execution->changes.items[0].part == AL_PART_WORKTREE) /* they come first */
        r = al_bare_diff(&way->store->bare, execution->before, execution->after,
                         AL_BARE_WORKTREE | (lines ? AL_BARE_LINES : 0), AL_DIFFERENCE_MAX_BYTES,
                         &patches[AL_PATCH_WORKTREE], err);
    if (r == 0 && al_change_find(&execution->changes, AL_PART_INDEX, "index"))
        r = diff_sides(way, lines, true, sides, &patches[AL_PATCH_INDEX]);
    return r < 0 ? r : diff_sides(way, lines, false, sides, &patches[AL_PATCH_HEAD]);
}

static int read_execution(struct al_way *way, bool lines, size_t which, al_difference_fn take,
                          void *payload, struct al_error *err)
{
    const struct al_execution *execution = &way->executions.items[which];
    struct al_execution_changes found = { .seq = execution->seq,
                                          .tool = execution->tool,
                                          .summary = execution->summary,
                                          .patches = { AL_STR_INIT, AL_STR_INIT, AL_STR_INIT } };
    int r = al_execution_read_end(way, which, way->executions.count, err);

    found.ended = execution->has_after;
    found.changes = execution->changes;
    if (r == 0 && found.changes.count)
        r = add_patches(way, lines, execution, found.patches, err);
    if (r == 0 && found.changes.count)
        take(payload, &found);
    for (size_t i = 0; i < AL_PATCH_COUNT; i++)
        al_str_clear(&found.patches[i]);
    return r;
}

/* The plan's message is about going back; this command only looks. */
static int too_few(const char *agent, size_t count, struct al_error *err)
{
    al_auto(al_freep) char *safe = agent ? al_text_sanitize_line(agent) : NULL;
    al_auto(al_freep) char *only =
        al_asprintf(count ? "only %zu execution%s" : "no execution", count, count == 1 ? "" : "s");

    return al_error_set(err, AL_ERR_NOT_FOUND, "%s%s%s changed something in this repository", only,
                        safe ? " of agent " : "", safe ? safe : "");
}

static int read_executions(struct al_way *way, const struct al_rollback_options *options,
                           al_difference_fn take, void *payload, struct al_error *err)
{
    size_t at = 0, end;
    int r =
        options->execution ? find_execution(way, options, &at, err) : choose(way, options, NULL);

    if (r == AL_ERR_NOT_FOUND && !options->execution)
        return too_few(options->agent, way->plan.count, err);
    if (!options->execution)
        at = way->plan.oldest;
    end = options->execution ? at + 1 : way->executions.count;
    for (; r == 0 && at < end; at++)
        if (options->execution || is_step(way, at, err) != 0)
            r = read_execution(way, options->lines, at, take, payload, err);
    return r < 0 && err && !err->message ? al_error_set(err, r, "the changes cannot be read") : r;
}

int al_difference_read(struct al_repo *repo, const struct al_rollback_options *options,
                       al_difference_fn take, void *payload, struct al_error *err)
{
    struct al_way way = { .repo = repo, AL_WAY_INIT };
    int r = al_store_open(options->settings, repo, false, &way.store, err);

    if (r == AL_ERR_NOT_FOUND)
        return al_error_set(err, r, "nothing was changed in this repository");
    if (r == 0)
        r = al_executions_read(options->journal_file, repo->at.top, &way.executions, err);
    if (r == 0) {
        al_executions_keep(&way.executions, options->agent, NULL);
        r = read_executions(&way, options, take, payload, err);
    }
    al_way_clear(&way);
    al_store_close(way.store);
    return r;
}
