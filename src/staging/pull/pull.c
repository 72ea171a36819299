// SPDX-License-Identifier: Apache-2.0
/*
 * A pull: list the commit, choose and decide, copy, merge, change the sandbox, and write the base.
 * What is written to the store before the sandbox changes is garbage if the pull ends there.
 */
#include "staging/pull/pull.h"

#include <stdlib.h>

#include "git/repo/repo.h"
#include "git/vet/vet.h"
#include "guard/text.h"
#include "staging/base.h"
#include "staging/pull/private.h"
#include "staging/store.h"

/* The most lines of one kind in a result. */
#define LINES_MAX 50u

/* A word by which an agent names files, relative to the top of the repository. */
struct word {
    char *given, *path; /* as the agent wrote it; without what only says where it begins */
    bool is_whole;      /* as a pattern it goes by the whole path */
};

struct words {
    struct word *items;
    size_t count;
};

/* A pull that runs. */
struct pull {
    struct al_staging *staging;
    const struct al_pull_request *request;
    const char *origin_name;
    struct al_run_limits *budget;
    struct words words;
    struct al_pull_list list;
    struct al_base base, origin;
    struct al_sandbox_files files;
    struct al_pull_plan plan;
    struct al_error *err;
};

/* --- Words --- */

static bool has_parent(const char *path)
{
    while (*path) {
        size_t len = strcspn(path, "/");

        if (len == 2 && !strncmp(path, "..", 2))
            return true;
        path += len + (path[len] == '/');
    }
    return false;
}

/* Strip what only says where the path begins. */
static int strip(const char *given, struct word *ret_word, struct al_error *err)
{
    static const char root[] = AL_SANDBOX_ROOT "/";
    al_auto(al_freep) char *safe = al_text_sanitize_line(given);
    const char *rest = given;

    ret_word->is_whole = al_starts_with(given, root) || !strcmp(given, AL_SANDBOX_ROOT);
    if (ret_word->is_whole)
        rest = strcmp(given, AL_SANDBOX_ROOT) ? given + strlen(root) : "";
    else if (!strcmp(given, ".") || !strcmp(given, "./"))
        rest = "";
    else if (al_starts_with(given, "./"))
        rest = given + 2;
    if (!*given)
        return al_error_set(err, AL_ERR_BAD_ARGS, "paths has an empty path; leave it out");
    if (*rest == '/' || has_parent(rest))
        return al_error_set(err, AL_ERR_SANDBOX,
                            "Path outside sandbox: %s (paths are relative to the top of the "
                            "repository)",
                            safe);
    ret_word->given = al_strdup(given);
    ret_word->path = al_strdup(rest);
    if (al_ends_with(rest, "/"))
        ret_word->path[strlen(rest) - 1] = '\0';
    return 0;
}

static void words_clear(struct words *words)
{
    for (size_t i = 0; i < words->count; i++) {
        free(words->items[i].given);
        free(words->items[i].path);
    }
    free(words->items);
    *words = (struct words){ .items = NULL };
}

static int words_parse(const struct al_strv *given, struct words *ret_words, struct al_error *err)
{
    struct words words = { .items = al_calloc(given->count + 1, sizeof(*words.items)) };
    int r = 0;

    while (words.count < given->count && r == 0) {
        r = strip(given->items[words.count], &words.items[words.count], err);
        words.count++;
    }
    if (r < 0)
        words_clear(&words);
    else
        *ret_words = words;
    return r;
}

/* Test whether a path is this file, or lies in this directory. */
static bool is_in(const char *path, const char *dir)
{
    size_t len = strlen(dir);

    return !*dir || (!strncmp(path, dir, len) && (path[len] == '/' || !path[len]));
}

/* Test whether a word may stand for this file.  It does not if the word is a pattern and also the
 * name of another file or directory, which choose_word() knows. */
static bool may_mean(const struct words *words, const char *path)
{
    for (size_t i = 0; i < words->count; i++) {
        const struct word *word = &words->items[i];

        if (is_in(path, word->path) || (al_choose_is_pattern(word->path) &&
                                        al_choose_matches(word->path, word->is_whole, path)))
            return true;
    }
    return false;
}

static int choose_word(const struct al_choosing *from, const struct word *word, const char *where,
                       struct al_error *err)
{
    bool any = al_choose_path(from, word->path, !al_ends_with(word->given, "/")) || !*word->path;
    al_auto(al_freep) char *safe = NULL;
    int r = 0;

    if (!any && al_choose_is_pattern(word->path))
        r = al_choose_matching(from, word->path, word->is_whole, &any, err);
    if (r < 0 || any)
        return r;
    safe = al_text_sanitize_line(word->given);
    (void)al_error_set(err, AL_ERR_EXECUTION, "there is no '%s' in %s%s", safe, where,
                       al_sandbox_pattern_hint(word->path));
    if (err)
        err->reason = "not_found";
    return AL_ERR_EXECUTION;
}

/* --- A pull --- */

void al_pull_result_clear(struct al_pull_result *result)
{
    al_strv_clear(&result->pulled);
    al_strv_clear(&result->conflicts);
    al_strv_clear(&result->notes);
}

static void clear(struct pull *pull)
{
    words_clear(&pull->words);
    al_pull_list_clear(&pull->list);
    al_base_clear(&pull->base);
    al_base_clear(&pull->origin);
    al_sandbox_files_clear(&pull->files);
    al_pull_plan_clear(&pull->plan);
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

    return may_mean(&pull->words, path) || al_base_find(&pull->origin, path);
}

static int list_files(struct pull *pull)
{
    const struct al_pull_filter filter = { is_wanted, pull };
    const struct al_strv *paths = pull->request->paths;
    bool has_words = paths && paths->count;
    int r = has_words ? words_parse(paths, &pull->words, pull->err) : 0;

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
        r = al_base_load(staging, pull->origin_name, pull->budget, &pull->origin, pull->err);
    if (r == 0)
        r = list_files(pull);
    if (r == 0)
        r = al_sandbox_snapshot(staging->options.sandbox, &pull->files, pull->err);
    return r;
}

/* --- Which files --- */

static int choose_named(struct pull *pull, bool *chosen)
{
    struct al_deadline deadline = al_deadline_begin(pull->budget);
    const struct al_choosing from = { pull->plan.items, pull->plan.count, sizeof(*pull->plan.items),
                                      chosen, &deadline };
    int r = 0;

    for (size_t i = 0; i < pull->words.count && r == 0; i++)
        r = choose_word(&from, &pull->words.items[i], pull->request->where, pull->err);
    al_deadline_sync(&deadline);
    return r;
}

static int choose(struct pull *pull)
{
    al_auto(al_freep) bool *chosen = al_calloc(pull->plan.count + 1, sizeof(*chosen));
    int r = choose_named(pull, chosen);

    if (r == 0 && !pull->words.count && !pull->request->everything && !pull->origin.count)
        return al_error_set(pull->err, AL_ERR_BAD_ARGS,
                            "paths is required: nothing was pulled from %s yet, and no "
                            "default_target is configured",
                            pull->request->where);
    for (size_t i = 0; i < pull->plan.count; i++)
        pull->plan.items[i].chosen =
            pull->words.count ? chosen[i]
                              : pull->request->everything ||
                                    al_base_find(&pull->origin, pull->plan.items[i].path) != NULL;
    return r;
}

/* Before anything is copied, as far as the sizes are known. */
static int check_size(const struct pull *pull)
{
    uint64_t max = pull->staging->options.max_bytes, total = 0;

    for (size_t i = 0; i < pull->plan.count; i++)
        if (al_pull_is_wanted(&pull->plan.items[i]))
            total += pull->list.items[pull->plan.items[i].which].size;
    return max && total > max ? al_pull_too_large(total, max, pull->err) : 0;
}

/* --- The base afterwards --- */

static bool differs(struct al_base *base, const struct al_pull_item *item)
{
    const struct al_sandbox_version recorded = al_pull_find_base(base, item->path);

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
        r = al_base_save(staging, pull->origin_name, &pull->origin, pull->budget, pull->err);
    return r < 0 ? r : al_pull_complete(staging, pull->budget, pull->err);
}

/* --- The result --- */

/* One kind of lines. */
struct kind {
    struct al_pull_result *result;
    const char *name; /* of many: "conflicts" */
    size_t count;
};

static void add(struct kind *kind, const char *path, const char *before, const char *after)
{
    al_auto(al_freep) char *safe = NULL;

    if (kind->count++ >= LINES_MAX)
        return;
    safe = al_text_sanitize_line(path);
    al_strv_addf(&kind->result->notes, "%s%s: %s", before, safe, after);
}

static void end(struct kind *kind)
{
    if (kind->count > LINES_MAX)
        al_strv_addf(&kind->result->notes, "… and %zu more %s", kind->count - LINES_MAX,
                     kind->name);
}

static bool is_kept_deleted(const struct al_pull_item *item)
{
    return item->theirs.mode && !item->ours.mode && !item->changes && !item->conflict;
}

static void add_items(const struct al_pull_plan *plan, struct al_pull_result *result)
{
    struct kind conflicts = { result, "conflicts", 0 }, skipped = { result, "skipped files", 0 };
    struct kind removed = { result, "files deleted upstream", 0 };
    struct kind kept = { result, "files deleted in the sandbox", 0 };

    for (size_t i = 0; i < plan->count; i++) {
        const struct al_pull_item *item = &plan->items[i];

        if (!item->chosen)
            continue;
        if (item->skipped) {
            add(&skipped, item->path, "skipped ", item->skipped);
            continue;
        }
        if (item->changes && item->result.mode)
            al_strv_add(&result->pulled, item->path);
        if (item->conflict)
            al_strv_add(&result->conflicts, item->path);
        if (item->conflict)
            add(&conflicts, item->path, "conflict in ", item->conflict);
        else if (item->changes && !item->result.mode)
            add(&removed, item->path, "removed ", "deleted upstream");
        else if (is_kept_deleted(item))
            add(&kept, item->path, "",
                "deleted in the sandbox and unchanged upstream, so not "
                "written again");
    }
    end(&conflicts);
    end(&skipped);
    end(&removed);
    end(&kept);
}

static void report(const struct al_pull_plan *plan, struct al_pull_result *result)
{
    struct kind lfs = { result, "pointers of git-lfs", 0 };

    add_items(plan, result);
    for (size_t i = 0; i < plan->count; i++) {
        const struct al_pull_item *item = &plan->items[i];

        if (item->changes && item->is_lfs)
            add(&lfs, item->path, "",
                "a pointer of git-lfs, not the file's content; the user can "
                "copy the content into the sandbox");
    }
    end(&lfs);
}

/* --- All of it --- */

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
    return check_size(pull);
}

/* Without the lock: other calls go on while the network is slow.  With the lock it is decided
 * again, and what is missing then is asked for once more. */
static int bring(struct pull *pull)
{
    int r = decide(pull);

    return r < 0 ? r : al_pull_bring_blobs(pull->request, &pull->plan, pull->budget, pull->err);
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
    int r = al_pull_copy_blobs(pull->staging, pull->request, &pull->list, &pull->plan, pull->budget,
                               pull->err);

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
        report(&pull->plan, result);
    return r;
}

int al_pull(struct al_staging *staging, const struct al_pull_request *request,
            struct al_run_limits *budget, struct al_pull_result *ret_result, struct al_error *err)
{
    al_auto(al_freep) char *origin_name =
        al_origin_name(staging->key, request->target, request->branch);
    const struct pull fresh = { .staging = staging,
                                .request = request,
                                .origin_name = origin_name,
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
