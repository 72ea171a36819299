// SPDX-License-Identifier: Apache-2.0
/*
 * A pull: list the commit, choose and decide, copy, merge, change the sandbox, and write the base.
 * What is written to the store before the sandbox changes is garbage if the pull ends there.
 */
#include "staging/pull/pull.h"

#include <stdlib.h>

#include "git/repo/repo.h"
#include "git/vet/vet.h"
#include "guard/nofollow.h"
#include "guard/text.h"
#include "staging/base.h"
#include "staging/pull/private.h"
#include "staging/store.h"

/* The most lines of one kind in a result. */
#define LINES_MAX 50u

/* --- Words --- */

/* What an agent names, without what only says where the path begins.  `*is_whole`: as a pattern it
 * goes by the whole path. */
static int strip(const char *given, char **ret_path, bool *is_whole, struct al_error *err)
{
    static const char root[] = AL_SANDBOX_ROOT "/";
    al_auto(al_freep) char *safe = al_text_sanitize_line(given);
    const char *rest = given;

    *is_whole = al_starts_with(given, root) || !strcmp(given, AL_SANDBOX_ROOT);
    if (*is_whole)
        rest = strcmp(given, AL_SANDBOX_ROOT) ? given + strlen(root) : "";
    else if (!strcmp(given, ".") || !strcmp(given, "./"))
        rest = "";
    else if (al_starts_with(given, "./"))
        rest = given + 2;
    if (!*given)
        return al_error_set(err, AL_ERR_BAD_ARGS, "paths has an empty path; leave it out");
    if (*rest == '/' || al_path_goes_up(rest))
        return al_error_set(err, AL_ERR_SANDBOX,
                            "Path outside sandbox: %s (paths are relative to the top of the "
                            "repository)",
                            safe);
    *ret_path = al_strndup(rest, strlen(rest) - al_ends_with(rest, "/"));
    return 0;
}

static int choose_word(const struct al_choosing *from, const char *given, const char *where,
                       struct al_error *err)
{
    al_auto(al_freep) char *path = NULL;
    al_auto(al_freep) char *safe = NULL;
    bool is_whole = false, any = false;
    int r = strip(given, &path, &is_whole, err);

    if (r < 0)
        return r;
    any = al_choose_path(from, path, !al_ends_with(given, "/")) || !*path;
    if (!any && al_choose_is_pattern(path))
        r = al_choose_matching(from, path, is_whole, &any, err);
    if (r < 0 || any)
        return r;
    safe = al_text_sanitize_line(given);
    return al_error_reason(al_error_set(err, AL_ERR_EXECUTION, "there is no '%s' in %s%s", safe,
                                        where, al_sandbox_pattern_hint(path)),
                           err, "not_found");
}

/* --- A pull --- */

void al_pull_result_clear(struct al_pull_result *result)
{
    al_strv_clear(&result->pulled);
    al_strv_clear(&result->conflicts);
    al_strv_clear(&result->notes);
}

/* --- What there is --- */

static int check_format(const struct al_pull *pull)
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

static int read_all(struct al_pull *pull)
{
    struct al_staging *staging = pull->staging;
    int r = check_format(pull);

    if (r == 0)
        r = al_base_load(staging, staging->key, pull->budget, &pull->base, pull->err);
    if (r == 0)
        r = al_base_load(staging, pull->origin_name, pull->budget, &pull->origin, pull->err);
    if (r == 0)
        r = al_pull_read_commit(pull);
    if (r == 0)
        r = al_sandbox_snapshot(staging->options.sandbox, &pull->files, pull->err);
    return r;
}

/* --- Which files --- */

static int choose_named(struct al_pull *pull, const struct al_strv *words, bool *chosen)
{
    struct al_deadline deadline = al_deadline_begin(pull->budget);
    const struct al_choosing from = { pull->items, pull->count, sizeof(*pull->items), chosen,
                                      &deadline };
    int r = 0;

    for (size_t i = 0; i < words->count && r == 0; i++)
        r = choose_word(&from, words->items[i], pull->request->where, pull->err);
    al_deadline_sync(&deadline);
    return r;
}

/* Without words: everything, or what was pulled before. */
static int choose(struct al_pull *pull)
{
    const struct al_strv *words = pull->request->paths;
    const bool has_words = words && words->count, everything = pull->request->everything;
    al_auto(al_freep) bool *chosen = al_calloc(pull->count + 1, sizeof(*chosen));
    int r = has_words ? choose_named(pull, words, chosen) : 0;

    if (!has_words && !everything && !pull->origin.files.count)
        return al_error_set(pull->err, AL_ERR_BAD_ARGS,
                            "paths is required: nothing was pulled from %s yet, and no "
                            "default_target is configured",
                            pull->request->where);
    for (size_t i = 0; i < pull->count; i++) {
        struct al_pull_item *item = &pull->items[i];

        item->chosen =
            has_words ? chosen[i]
                      : everything || al_sandbox_files_find(&pull->origin.files, item->path).mode;
    }
    return r;
}

/* --- The base afterwards --- */

static bool differs(const struct al_base *base, const struct al_pull_item *item)
{
    const struct al_sandbox_version recorded = al_sandbox_files_find(&base->files, item->path);

    return !al_sandbox_version_equal(&recorded, &item->theirs);
}

/* What is recorded: what the sandbox agrees with; in the origin also what did not change there.  A
 * conflict that is not settled is not recorded, so the next pull says it again. */
static bool is_recorded(const struct al_pull_item *item, bool in_origin)
{
    return item->chosen && !item->skipped && !item->is_blocked &&
           (item->is_settled ||
            (in_origin && al_sandbox_version_equal(&item->theirs, &item->base)));
}

/* Record the files; true when anything changed.  What cannot be beside them goes first. */
static bool record(const struct al_pull *pull, struct al_base *base, bool in_origin)
{
    al_auto(al_strv_clear) struct al_strv replaced = AL_STRV_INIT;
    struct al_sandbox_files removed = AL_SANDBOX_FILES_INIT, set = AL_SANDBOX_FILES_INIT;
    bool any;

    for (size_t i = 0; i < pull->count; i++) {
        const struct al_pull_item *item = &pull->items[i];

        if (!is_recorded(item, in_origin) || !differs(base, item))
            continue;
        if (item->theirs.mode)
            al_files_list_replaced(&base->files, item->path, &replaced);
        al_sandbox_files_add(&set, &(struct al_sandbox_file){ .path = al_strdup(item->path),
                                                              .mode = item->theirs.mode,
                                                              .oid = item->theirs.oid });
    }
    for (size_t i = 0; i < replaced.count; i++)
        al_sandbox_files_add(&removed,
                             &(struct al_sandbox_file){ .path = al_strdup(replaced.items[i]) });
    al_sandbox_files_sort(&removed);
    al_base_change(base, &removed);
    al_base_change(base, &set);
    any = set.count > 0;
    al_sandbox_files_clear(&removed);
    al_sandbox_files_clear(&set);
    return any;
}

/* Files that were not chosen and are older than the commit: a push must not take them for new. */
static size_t count_older(struct al_pull *pull)
{
    size_t count = 0;

    for (size_t i = 0; i < pull->count; i++) {
        const struct al_pull_item *item = &pull->items[i];

        count += !item->chosen && al_sandbox_files_find(&pull->origin.files, item->path).mode &&
                 differs(&pull->origin, item);
    }
    return count;
}

static bool advance_head(struct al_pull *pull, struct al_pull_result *result)
{
    const struct al_pull_request *request = pull->request;
    const char *commit = request->commit;
    const char *known = al_heads_find(pull->base.heads, request->target, request->branch);
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
    al_heads_set(&pull->base.heads, request->target, request->branch, commit);
    return true;
}

static bool remember_markers(struct al_pull *pull)
{
    bool any = false;

    for (size_t i = 0; i < pull->count; i++) {
        const struct al_pull_item *item = &pull->items[i];

        if (item->has_markers)
            al_markers_remember(&pull->base, item->path, item->has_all_separators);
        any |= item->has_markers;
    }
    return any;
}

/* The pull counts from when the base is written. */
static int save_base(struct al_pull *pull, struct al_pull_result *result)
{
    struct al_staging *staging = pull->staging;
    bool moved = advance_head(pull, result), changed = record(pull, &pull->base, false);

    return remember_markers(pull) || moved || changed
               ? al_base_save(staging, staging->key, &pull->base, pull->budget, pull->err)
               : 0;
}

/* After a crash before this the origin is older; the next pull completes it. */
static int save_origin(struct al_pull *pull)
{
    struct al_staging *staging = pull->staging;
    int r = 0;

    if (record(pull, &pull->origin, true))
        r = al_base_save(staging, pull->origin_name, &pull->origin, pull->budget, pull->err);
    return r < 0 ? r : al_pull_complete(pull);
}

/* --- The result --- */

/* The kinds of lines. */
enum kind { CONFLICT, SKIPPED, REMOVED, KEPT, LFS, KINDS };

static const struct {
    const char *before, *of_many;
} kinds[KINDS] = {
    [CONFLICT] = { "conflict in ", "conflicts" },
    [SKIPPED] = { "skipped ", "skipped files" },
    [REMOVED] = { "removed ", "files deleted upstream" },
    [KEPT] = { "", "files deleted in the sandbox" },
    [LFS] = { "", "pointers of git-lfs" },
};

static void add(struct al_pull_result *result, size_t counts[KINDS], enum kind kind,
                const struct al_pull_item *item, const char *what)
{
    al_auto(al_freep) char *safe = NULL;

    if (counts[kind]++ >= LINES_MAX)
        return;
    safe = al_text_sanitize_line(item->path);
    al_strv_addf(&result->notes, "%s%s: %s", kinds[kind].before, safe, what);
}

static void report_item(const struct al_pull_item *item, size_t counts[KINDS],
                        struct al_pull_result *result)
{
    if (item->skipped) {
        add(result, counts, SKIPPED, item, item->skipped);
        return;
    }
    if (item->changes && item->result.mode)
        al_strv_add(&result->pulled, item->path);
    if (item->conflict) {
        al_strv_add(&result->conflicts, item->path);
        add(result, counts, CONFLICT, item, item->conflict);
    } else if (item->changes && !item->result.mode) {
        add(result, counts, REMOVED, item, "deleted upstream");
    } else if (item->theirs.mode && !item->ours.mode && !item->changes) {
        add(result, counts, KEPT, item,
            "deleted in the sandbox and unchanged upstream, so not written again");
    }
    if (item->changes && item->is_lfs)
        add(result, counts, LFS, item,
            "a pointer of git-lfs, not the file's content; the user can copy the content into the "
            "sandbox");
}

static void report(const struct al_pull *pull, struct al_pull_result *result)
{
    size_t counts[KINDS] = { 0 };

    for (size_t i = 0; i < pull->count; i++)
        if (pull->items[i].chosen)
            report_item(&pull->items[i], counts, result);
    for (size_t kind = 0; kind < KINDS; kind++)
        if (counts[kind] > LINES_MAX)
            al_strv_addf(&result->notes, "… and %zu more %s", counts[kind] - LINES_MAX,
                         kinds[kind].of_many);
}

/* --- All of it --- */

/* The files, and what happens with each. */
static int decide(struct al_pull *pull)
{
    int r = read_all(pull);

    if (r < 0)
        return r;
    al_pull_list(pull);
    r = choose(pull);
    if (r < 0)
        return r;
    al_pull_decide(pull);
    al_pull_check_places(pull);
    return 0;
}

/* Without the lock: other calls go on while the network is slow.  With the lock it is decided
 * again, and what is missing then is asked for once more. */
static int bring(const struct al_pull *fresh)
{
    al_auto(al_pull_clear) struct al_pull pull = *fresh;
    int r = decide(&pull);

    return r < 0 ? r : al_pull_bring_blobs(&pull);
}

/* Bring the files into the sandbox, and record that. */
static int change(struct al_pull *pull, struct al_pull_result *result)
{
    int r = al_pull_copy_blobs(pull);

    if (r == 0)
        r = al_pull_merge(pull);
    if (r == 0)
        r = al_pull_apply(pull);
    if (r == 0)
        r = save_base(pull, result);
    if (r < 0)
        al_pull_take_back(pull);
    return r;
}

static int run(struct al_pull *pull, struct al_pull_result *result)
{
    int r = decide(pull);

    if (r == 0)
        r = change(pull, result);
    if (r == 0)
        r = save_origin(pull);
    if (r == 0)
        report(pull, result);
    return r;
}

int al_pull(struct al_staging *staging, const struct al_pull_request *request,
            struct al_run_limits *budget, struct al_pull_result *ret_result, struct al_error *err)
{
    al_auto(al_freep) char *origin_name =
        al_origin_name(staging->key, request->target, request->branch);
    al_auto(al_pull_clear) struct al_pull pull = {
        .staging = staging,
        .request = request,
        .origin_name = origin_name,
        .budget = budget,
        .allows_symlinks = al_sandbox_allows_symlinks(staging->options.sandbox),
        .err = err,
    };
    int r = request->repo->mirror ? bring(&pull) : 0;

    if (r == 0)
        r = al_staging_lock(staging, budget, err);
    if (r < 0)
        return r;
    r = run(&pull, ret_result);
    al_staging_unlock(staging);
    return r;
}
