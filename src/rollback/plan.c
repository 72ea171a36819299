// SPDX-License-Identifier: Apache-2.0
#include "rollback/plan.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "gitops/oid.h"
#include "guard/text.h"

char *al_difference_words(const struct al_difference *change)
{
    switch (change->part) {
    case AL_PART_INDEX:
        return al_strdup("the index (what is staged)");
    case AL_PART_HEAD:
        return al_strdup("HEAD");
    case AL_PART_STASH:
        return al_strdup("the stash");
    case AL_PART_WORKTREE:
    case AL_PART_REF:
        break;
    case AL_PART_STATE: {
        al_auto(al_freep) char *name = al_text_sanitize_line(change->name);

        return al_asprintf("%s in the git directory", name);
    }
    }
    return al_text_sanitize_line(change->name);
}

/* Whether the execution changed anything.  One that was interrupted may have. */
static int changed(struct al_store *store, const struct al_execution *execution,
                   struct al_run_limits *budget, bool *ret_changed, bool *ret_ended,
                   struct al_error *err)
{
    struct al_differences changes = { .items = NULL };
    char after[AL_OID_TEXT];
    int r = al_checkpoint_find_after(store, execution->before, after, err);

    *ret_changed = true;
    *ret_ended = r == 0;
    if (r < 0)
        return r == AL_ERR_NOT_FOUND ? 0 : r;
    r = al_checkpoint_compare(store, execution->before, after, budget, &changes, err);
    *ret_changed = changes.count > 0;
    al_differences_clear(&changes);
    return r;
}

static int too_many(size_t wanted, size_t found, struct al_error *err)
{
    if (!found)
        return al_error_set(err, AL_ERR_NOT_FOUND,
                            "there is nothing to roll back in this repository");
    return al_error_set(err, AL_ERR_NOT_FOUND, "only %zu execution%s can be rolled back, not %zu",
                        found, found == 1 ? "" : "s", wanted);
}

bool al_plan_is_unfinished(const struct al_executions *executions)
{
    const struct al_execution *last =
        executions->count ? &executions->items[executions->count - 1] : NULL;

    return last && last->interrupted && last->input;
}

/* Plan the same rollback as the last one, if that was interrupted. */
static bool resume(struct al_store *store, const struct al_executions *executions, size_t count,
                   struct al_plan *plan)
{
    const struct al_execution *last =
        executions->count ? &executions->items[executions->count - 1] : NULL;
    const char *to = last ? al_json_get_string(last->input, "to") : NULL;
    size_t before = last ? (size_t)json_integer_value(json_object_get(last->input, "count")) : 0;

    if (!last || !last->interrupted || !to || (count && count != before) ||
        strlen(to) >= AL_OID_TEXT || !al_checkpoint_exists(store, to))
        return false;
    *plan = (struct al_plan){
        .first = executions->count - 1,
        .count = before,
        .resumes = true,
    };
    (void)snprintf(plan->target, sizeof(plan->target), "%s", to);
    return true;
}

/* The index of the oldest execution that the redo at `at` covers.  The executions from there on are
 * skipped. */
static size_t before_undone(const struct al_executions *executions, size_t at)
{
    const char *to = al_json_get_string(executions->items[at].input, "to");

    while (to && at > 0)
        if (!strcmp(executions->items[--at].before, to))
            return at;
    return 0;
}

static int nothing_to_redo(struct al_error *err)
{
    return al_error_set(err, AL_ERR_NOT_FOUND,
                        "there is nothing to redo: the last execution that changed something "
                        "was not a rollback");
}

int al_plan_redo(struct al_store *store, const struct al_executions *executions,
                 struct al_run_limits *budget, struct al_plan *ret_plan, struct al_error *err)
{
    struct al_plan plan = { .count = 0 };
    size_t found = 0, at = executions->count;
    bool did, ended;
    int r = 0;

    while (r == 0 && at > 0 && !found) {
        const struct al_execution *item = &executions->items[at - 1];

        if (item->redo) {
            at = before_undone(executions, at - 1);
            continue;
        }
        r = al_checkpoint_exists(store, item->before)
                ? changed(store, item, budget, &did, &ended, err)
                : nothing_to_redo(err);
        if (r == 0 && did && !item->input)
            r = nothing_to_redo(err);
        if (r == 0 && did)
            found = at;
        at--;
    }
    if (r == 0 && !found)
        r = nothing_to_redo(err);
    for (size_t i = found; r == 0 && i > 0 && i <= executions->count; i++) {
        r = changed(store, &executions->items[i - 1], budget, &did, &ended, err);
        plan.count += did;
        if (!ended)
            plan.interrupted = executions->items[i - 1].seq;
    }
    if (r < 0)
        return r;
    plan.first = found - 1;
    memcpy(plan.target, executions->items[plan.first].before, sizeof(plan.target));
    *ret_plan = plan;
    return 0;
}

int al_plan_further(struct al_store *store, const struct al_executions *executions,
                    const struct al_plan *plan, struct al_run_limits *budget, size_t *ret_count,
                    struct al_error *err)
{
    bool did = false, ended;
    int r = 0;

    *ret_count = 0;
    for (size_t i = plan->first; i > 0 && r == 0 && !did; i--) {
        if (!al_checkpoint_exists(store, executions->items[i - 1].before))
            break;
        r = changed(store, &executions->items[i - 1], budget, &did, &ended, err);
    }
    if (r == 0 && did)
        *ret_count = plan->count + 2;
    return r;
}

int al_plan_make(struct al_store *store, const struct al_executions *executions, size_t count,
                 struct al_run_limits *budget, struct al_plan *ret_plan, struct al_error *err)
{
    return resume(store, executions, count, ret_plan)
               ? 0
               : al_plan_choose(store, executions, count, budget, ret_plan, err);
}

int al_plan_choose(struct al_store *store, const struct al_executions *executions, size_t count,
                   struct al_run_limits *budget, struct al_plan *ret_plan, struct al_error *err)
{
    const size_t wanted = count ? count : 1;
    struct al_plan plan = { .first = 0 };

    for (size_t i = executions->count; i > 0 && plan.count < wanted; i--) {
        const struct al_execution *execution = &executions->items[i - 1];
        bool did, ended;
        int r;

        if (!al_checkpoint_exists(store, execution->before))
            break; /* the older ones are gone as well */
        r = changed(store, execution, budget, &did, &ended, err);
        if (r < 0)
            return r;
        if (!did)
            continue;
        plan.count++;
        plan.first = i - 1;
        if (!ended)
            plan.interrupted = execution->seq;
    }
    if (plan.count < wanted)
        return too_many(wanted, plan.count, err);
    memcpy(plan.target, executions->items[plan.first].before, sizeof(plan.target));
    *ret_plan = plan;
    return 0;
}

/* The order of al_checkpoint_compare(). */
static int by_name(const void *left, const void *right)
{
    const struct al_difference *a = left, *b = right;

    return a->part != b->part ? (a->part > b->part) - (a->part < b->part)
                              : strcmp(a->name, b->name);
}

static const struct al_difference *find(const struct al_differences *changes,
                                        const struct al_difference *like)
{
    return changes->count ? bsearch(like, changes->items, changes->count, sizeof(*like), by_name)
                          : NULL;
}

static int add_bytes(void *payload, size_t which, const char *data, size_t len, bool last,
                     struct al_error *err)
{
    struct al_str *texts = payload;

    (void)last;
    (void)err;
    al_str_add(&texts[which], data, len);
    return 0;
}

/* Entries can leave the stash's reflog without a change by a user (`git reflog expire`).  Only an
 * entry that the target does not have would be lost. */
static int loses_stash(struct al_store *store, const struct al_difference *change,
                       struct al_run_limits *budget, bool *ret_loses, struct al_error *err)
{
    const char *const oids[] = { change->from, change->to };
    struct al_str texts[2] = { AL_STR_INIT, AL_STR_INIT };
    int r = 0;

    *ret_loses = false;
    if (change->from)
        r = al_checkpoint_read(store, oids, change->to ? 2 : 1, add_bytes, texts, budget, err);
    for (char *line = texts[0].buf, *end; r == 0 && (end = strchr(line, '\n')); line = end + 1) {
        *end = '\0';
        /* "<old> <new> <who> ...": <old> changes when the entry before it is removed. */
        if (!strchr(line, ' ') || !strstr(texts[1].buf, strchr(line, ' ')))
            *ret_loses = true;
    }
    al_str_clear(&texts[0]);
    al_str_clear(&texts[1]);
    return r;
}

struct check {
    struct al_store *store;
    const char *target, *leftover;
    struct al_run_limits *budget;
    struct al_strv *lost;
    struct al_oid_set *named; /* digests of what is in `lost` */
};

static bool is_leftover(const struct check *check, const struct al_difference *change)
{
    const char *slash = strrchr(change->name, '/');

    return *check->leftover && !strcmp(slash ? slash + 1 : change->name, check->leftover);
}

/* Several gaps may have the same change.  It is listed once. */
static void add_lost(const struct check *check, const struct al_difference *change)
{
    al_auto(al_freep) char *words = al_difference_words(change);
    struct al_oid digest;

    al_oid_of(true, AL_OBJECT_BLOB, words, strlen(words), &digest);
    if (al_oid_set_add(check->named, &digest))
        al_strv_add(check->lost, words);
}

/* List the changes in `others` that going back undoes. */
static int name_lost(const struct check *check, const struct al_differences *others,
                     const struct al_differences *back, struct al_error *err)
{
    int r = 0;

    for (size_t i = 0; i < others->count && r == 0; i++) {
        const struct al_difference *change = find(back, &others->items[i]);
        bool loses = true;

        if (!change || is_leftover(check, change))
            continue;
        if (change->part == AL_PART_STASH)
            r = loses_stash(check->store, change, check->budget, &loses, err);
        if (r == 0 && loses)
            add_lost(check, change);
    }
    return r;
}

/* Compare two checkpoints that no execution lies between. */
static int check_gap(const struct check *check, const char *from, const char *to,
                     struct al_error *err)
{
    struct al_differences others = { .items = NULL }, back = { .items = NULL };
    int r = al_checkpoint_compare(check->store, from, to, check->budget, &others, err);

    if (r == 0 && others.count)
        r = al_checkpoint_compare(check->store, to, check->target, check->budget, &back, err);
    if (r == 0)
        r = name_lost(check, &others, &back, err);
    al_differences_clear(&others);
    al_differences_clear(&back);
    return r;
}

int al_plan_check(struct al_store *store, const struct al_executions *executions,
                  const struct al_plan *plan, const char *present, const char *leftover,
                  struct al_run_limits *budget, struct al_strv *ret_lost, struct al_error *err)
{
    al_auto(al_oid_set_clear) struct al_oid_set named = { .count = 0 };
    const struct check check = { store, plan->target, leftover, budget, ret_lost, &named };
    int r = 0;

    for (size_t i = plan->first; i < executions->count && r == 0; i++) {
        bool is_last = i + 1 == executions->count;
        const char *next = is_last ? present : executions->items[i + 1].before;
        char after[AL_OID_TEXT];

        if (plan->resumes)
            r = check_gap(&check, executions->items[i].before, present, err);
        else if (!al_checkpoint_find_after(store, executions->items[i].before, after, NULL))
            r = check_gap(&check, after, next, err);
    }
    return r;
}
