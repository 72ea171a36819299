// SPDX-License-Identifier: Apache-2.0
/*
 * A pull: list the commit, choose and decide, copy, merge, change the sandbox, and write the base.
 * What is written to the store before the sandbox changes is garbage if the pull ends there.
 */
#include "staging/pull/pull.h"

#include <stdlib.h>

#include "gitops/repo/repo.h"
#include "gitops/vet/vet.h"
#include "staging/markers.h"
#include "staging/origins.h"
#include "staging/pull/apply.h"
#include "staging/pull/choose.h"
#include "staging/pull/copy.h"
#include "staging/pull/file_merge.h"
#include "staging/pull/merge.h"
#include "staging/pull/notes.h"
#include "staging/pull/plan.h"
#include "staging/store.h"

/* A pull that runs. */
struct pull {
    struct al_staging *staging;
    const struct al_pull_request *request;
    struct al_branch_name branch;
    struct al_run_limits *budget;
    struct al_pull_words words;
    struct al_pull_list list;
    struct al_base base, origin;
    struct al_sandbox_files files;
    struct al_pull_plan plan;
    bool *wanted, *is_lfs; /* one for each file of the list */
    struct al_error *err;
};

void al_pull_result_clear(struct al_pull_result *result)
{
    al_strv_clear(&result->pulled);
    al_strv_clear(&result->conflicts);
    al_strv_clear(&result->notes);
}

static void clear(struct pull *pull)
{
    al_pull_words_clear(&pull->words);
    al_pull_list_clear(&pull->list);
    al_base_clear(&pull->base);
    al_base_clear(&pull->origin);
    al_sandbox_files_clear(&pull->files);
    al_pull_plan_clear(&pull->plan);
    free(pull->wanted);
    free(pull->is_lfs);
}

static struct al_pull_from from(struct pull *pull)
{
    return (struct al_pull_from){
        .list = &pull->list,
        .base = &pull->base,
        .origin = &pull->origin,
        .files = &pull->files,
        .allows_symlinks = al_sandbox_allows_symlinks(pull->staging->options.sandbox),
    };
}

/* --- What there is --- */

static int check_format(const struct pull *pull)
{
    bool sha256 = pull->staging->options.sha256;

    if (pull->request->repo->vetting->is_sha256 == sha256)
        return 0;
    return al_error_set(pull->err, AL_ERR_EXECUTION,
                        "%s has %s object ids and the sandbox %s; start airlock with %s as the "
                        "first root",
                        pull->request->where, sha256 ? "SHA-1" : "SHA-256",
                        sha256 ? "SHA-256" : "SHA-1",
                        pull->request->repo->mirror ? "a clone of it" : "that repository");
}

/* Files that were pulled before count too: one that is older than the commit holds the head back.
 */
static bool is_wanted(void *payload, const char *path)
{
    struct pull *pull = payload;

    return al_pull_words_may_mean(&pull->words, path) || al_base_find(&pull->origin, path);
}

static int list_files(struct pull *pull)
{
    const struct al_pull_filter filter = { is_wanted, pull };
    const struct al_strv *paths = pull->request->paths;
    bool has_words = paths && paths->count;
    int r = has_words ? al_pull_words_parse(paths, &pull->words, pull->err) : 0;

    if (r < 0)
        return r;
    return al_pull_list_read(pull->request->repo, pull->request->commit,
                             !has_words && pull->request->everything ? NULL : &filter, pull->budget,
                             &pull->list, pull->err);
}

static int read_all(struct pull *pull)
{
    struct al_staging *staging = pull->staging;
    int r = check_format(pull);

    if (r == 0)
        r = al_base_load(staging, staging->key, pull->budget, &pull->base, pull->err);
    if (r == 0)
        r = al_origin_load(staging, staging->key, &pull->branch, pull->budget, &pull->origin,
                           pull->err);
    if (r == 0)
        r = list_files(pull);
    if (r == 0)
        r = al_sandbox_snapshot(staging->options.sandbox, &pull->files, pull->err);
    return r;
}

/* --- Which files --- */

static int choose(struct pull *pull)
{
    if (pull->words.count)
        return al_pull_choose(&pull->plan, &pull->words, pull->request->where, pull->err);
    if (!pull->request->everything && !pull->origin.count)
        return al_error_set(pull->err, AL_ERR_BAD_ARGS,
                            "paths is required: nothing was pulled from %s yet, and no "
                            "default_target is configured",
                            pull->request->where);
    for (size_t i = 0; i < pull->plan.count; i++)
        pull->plan.items[i].chosen = pull->request->everything ||
                                     al_base_find(&pull->origin, pull->plan.items[i].path) != NULL;
    return 0;
}

/* Mark the files whose content the base needs, and add up their sizes. */
static int want(struct pull *pull)
{
    uint64_t max = pull->staging->options.max_bytes, total = 0;

    pull->wanted = al_calloc(pull->list.count + 1, sizeof(*pull->wanted));
    pull->is_lfs = al_calloc(pull->list.count + 1, sizeof(*pull->is_lfs));
    for (size_t i = 0; i < pull->plan.count; i++) {
        const struct al_pull_item *item = &pull->plan.items[i];

        if (!item->chosen || item->skipped || !item->theirs.mode ||
            al_pull_side_equal(&item->theirs, &item->base))
            continue;
        pull->wanted[item->which] = true;
        total += pull->list.items[item->which].size;
    }
    return max && total > max ? al_pull_too_large(total, max, pull->err) : 0;
}

/* --- The base afterwards --- */

static bool differs(struct al_base *base, const struct al_pull_item *item)
{
    const struct al_base_file *file = al_base_find(base, item->path);
    struct al_pull_side side = { 0 };

    if (file)
        side = (struct al_pull_side){ file->mode, file->oid };
    return !al_pull_side_equal(&side, &item->theirs);
}

/* What is recorded: what the sandbox agrees with; in the origin also what did not change there.  A
 * conflict that is not settled is not recorded, so the next pull says it again. */
static bool is_recorded(const struct al_pull_item *item, bool in_origin)
{
    return item->chosen && !item->skipped && !item->is_blocked &&
           (item->is_settled || (in_origin && al_pull_side_equal(&item->theirs, &item->base)));
}

static void set(struct al_base *base, const struct al_pull_item *item)
{
    if (item->theirs.mode)
        al_base_set(base, item->path, item->theirs.mode, &item->theirs.oid);
    else
        al_base_remove(base, item->path);
}

/* Record the files; true when anything changed.  All that is compared is compared first, since the
 * base is sorted anew after it was changed. */
static bool record(const struct pull *pull, struct al_base *base, bool in_origin)
{
    al_auto(al_freep) bool *differ = al_calloc(pull->plan.count + 1, sizeof(*differ));
    al_auto(al_strv_clear) struct al_strv replaced = AL_STRV_INIT;
    bool any = false;

    for (size_t i = 0; i < pull->plan.count; i++) {
        const struct al_pull_item *item = &pull->plan.items[i];

        differ[i] = is_recorded(item, in_origin) && differs(base, item);
        if (differ[i] && item->theirs.mode)
            al_base_list_replaced(base, item->path, &replaced);
        any |= differ[i];
    }
    for (size_t i = 0; i < replaced.count; i++)
        al_base_remove(base, replaced.items[i]);
    for (size_t i = 0; i < pull->plan.count; i++)
        if (differ[i])
            set(base, &pull->plan.items[i]);
    return any;
}

/* Files that were not chosen and are older than the commit: a push must not take them for new. */
static size_t count_older(struct pull *pull)
{
    size_t count = 0;

    for (size_t i = 0; i < pull->plan.count; i++) {
        const struct al_pull_item *item = &pull->plan.items[i];

        count += !item->chosen && al_base_find(&pull->origin, item->path) &&
                 differs(&pull->origin, item);
    }
    return count;
}

static bool advance_head(struct pull *pull, struct al_pull_result *result)
{
    const struct al_branch_name *branch = &pull->branch;
    const char *commit = pull->request->commit;
    const char *known = al_heads_find(&pull->base.heads, branch->target, branch->branch);
    size_t older = count_older(pull);

    if (known && !strcmp(known, commit))
        return false;
    if (known && older) {
        al_strv_addf(&result->notes,
                     "%zu other file%s of %s changed since %s pulled; pull %s too before a push",
                     older, older == 1 ? "" : "s", pull->request->where,
                     older == 1 ? "it was" : "they were", older == 1 ? "it" : "them");
        return false;
    }
    al_heads_set(&pull->base.heads, branch->target, branch->branch, commit);
    return true;
}

/* The pull counts from when the base is written. */
static int save_base(struct pull *pull, struct al_pull_result *result)
{
    struct al_staging *staging = pull->staging;
    bool moved = advance_head(pull, result), changed = record(pull, &pull->base, false);

    return moved || changed
               ? al_base_save(staging, staging->key, &pull->base, pull->budget, pull->err)
               : 0;
}

/* After a crash before this the origin is older; the next pull completes it. */
static int save_origin(struct pull *pull)
{
    struct al_staging *staging = pull->staging;
    int r = 0;

    if (record(pull, &pull->origin, true))
        r = al_origin_save(staging, staging->key, &pull->branch, &pull->origin, pull->budget,
                           pull->err);
    return r < 0 ? r : al_pull_complete(staging, pull->budget, pull->err);
}

/* The files, and what happens with each. */
static int decide(struct pull *pull)
{
    struct al_pull_from lists;
    int r = read_all(pull);

    if (r < 0)
        return r;
    lists = from(pull);
    al_pull_plan_make(&lists, &pull->plan);
    r = choose(pull);
    if (r < 0)
        return r;
    al_pull_decide(&lists, &pull->plan);
    al_pull_check_places(&lists, &pull->plan);
    return want(pull);
}

static struct al_pull_copy copy_of(const struct pull *pull)
{
    return (struct al_pull_copy){ .repo = pull->request->repo,
                                  .commit = pull->request->commit,
                                  .list = &pull->list,
                                  .wanted = pull->wanted,
                                  .is_lfs = pull->is_lfs };
}

/* Without the lock: other calls go on while the network is slow.  With the lock it is decided
 * again, and what is missing then is asked for once more. */
static int bring(struct pull *pull)
{
    struct al_pull_copy copy;
    int r = decide(pull);

    if (r < 0)
        return r;
    copy = copy_of(pull);
    return al_pull_bring_blobs(pull->staging, &copy, pull->budget, pull->err);
}

static int remember_markers(struct pull *pull)
{
    al_auto(al_strv_clear) struct al_strv paths = AL_STRV_INIT;

    for (size_t i = 0; i < pull->plan.count; i++) {
        const struct al_pull_item *item = &pull->plan.items[i];

        if (item->has_markers)
            al_strv_addf(&paths, "%s%s", item->has_all_separators ? "/" : "", item->path);
    }
    return al_markers_remember(pull->staging, &paths, pull->err);
}

/* Bring the files into the sandbox, and record that. */
static int change(struct pull *pull, struct al_pull_result *result)
{
    struct al_pull_copy copy = copy_of(pull);
    int r = al_pull_copy_blobs(pull->staging, &copy, pull->budget, pull->err);

    if (r == 0)
        r = al_pull_merge(pull->staging, &pull->plan, pull->budget, pull->err);
    if (r == 0)
        r = remember_markers(pull);
    if (r == 0)
        r = al_pull_apply(pull->staging, &pull->plan, pull->budget, pull->err);
    if (r == 0)
        r = save_base(pull, result);
    if (r < 0)
        al_pull_take_back(pull->staging, &pull->plan);
    return r;
}

static int run(struct pull *pull, struct al_pull_result *result)
{
    int r = decide(pull);

    if (r == 0)
        r = change(pull, result);
    if (r == 0)
        r = save_origin(pull);
    if (r == 0)
        al_pull_report(&pull->plan, pull->is_lfs, result);
    return r;
}

int al_pull(struct al_staging *staging, const struct al_pull_request *request,
            struct al_run_limits *budget, struct al_pull_result *ret_result, struct al_error *err)
{
    const struct pull fresh = { .staging = staging,
                                .request = request,
                                .branch = { request->target, request->branch },
                                .budget = budget,
                                .files = AL_SANDBOX_FILES_INIT,
                                .err = err };
    struct pull pull = fresh;
    int r = 0;

    if (request->repo->mirror) {
        r = bring(&pull);
        clear(&pull);
        pull = fresh;
    }
    if (r == 0)
        r = al_staging_lock(staging, budget, err);
    if (r < 0)
        return r;
    r = run(&pull, ret_result);
    al_staging_unlock(staging);
    clear(&pull);
    return r;
}
