// SPDX-License-Identifier: Apache-2.0
/*
 * A pull: list the commit, choose and decide, copy, merge, change the sandbox, and write the base.
 * Objects written to the store before the sandbox changes are garbage if the pull ends there.
 */
#include "staging/pull/pull.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/log.h"
#include "git/plumbing/bare.h"
#include "git/repo/repo.h"
#include "git/run.h"
#include "git/vet/vet.h"
#include "guard/nofollow.h"
#include "guard/text.h"
#include "staging/base.h"
#include "staging/pull/private.h"
#include "staging/store.h"
#include "staging/target.h"
#include "verbs/preview/verify_objects.h"

/* A pointer of git-lfs(1) is smaller (git-lfs-spec, "The Pointer"). */
#define LFS_MAX_BYTES 1024u

/* --- Content --- */

static bool is_wanted(const struct al_pull_item *item)
{
    return item->chosen && !item->skipped && item->theirs.mode &&
           !al_sandbox_version_equal(&item->theirs, &item->base);
}

static void list_blobs(const struct al_pull *pull, struct al_strv *ret_oids)
{
    for (size_t i = 0; i < pull->count; i++) {
        char oid[AL_OID_TEXT];

        al_oid_text(&pull->items[i].theirs.oid, pull->staging->options.sha256, oid);
        if (is_wanted(&pull->items[i]))
            al_strv_add(ret_oids, oid);
    }
}

/* Compare the commit and its trees with their ids. */
static int verify_trees(const struct al_pull *pull)
{
    const char *commit = pull->request->commit;
    al_auto(al_str_clear) struct al_str words = AL_STR_INIT;
    bool complete = true;
    int r;

    al_str_addf(&words, "%s\n%s^{tree}\n", commit, commit);
    al_str_add(&words, pull->commit.trees.buf, pull->commit.trees.len);
    r = al_git_verify_objects(&pull->request->repo->at, &words, &complete, pull->err);
    if (r == 0 && !complete)
        r = al_error_set(pull->err, AL_ERR_EXECUTION,
                         "the directories of the commit to pull have more than %u bytes; pull from "
                         "a smaller one",
                         AL_VERIFY_MAX_BYTES);
    return r;
}

/* Blobs as they come, each verified. */
struct copying {
    struct al_pull_item *next; /* those before it have come */
    struct al_import *import;
    struct al_str content;
    uint64_t bytes, max_bytes; /* so far; 0: no limit */
};

static int take(void *payload, size_t which, const char *data, size_t len, bool last,
                struct al_error *err)
{
    struct copying *copying = payload;
    struct al_str *content = &copying->content;

    (void)which;
    copying->bytes += len;
    if (copying->max_bytes && copying->bytes > copying->max_bytes)
        return al_error_set(err, AL_ERR_EXECUTION,
                            "the files have more than the %" PRIu64 " bytes that the sandbox may "
                            "hold, so nothing was pulled; give fewer paths or raise "
                            "staging.max_bytes",
                            copying->max_bytes);
    al_str_add(content, data, len);
    if (!last)
        return 0;
    while (!is_wanted(copying->next))
        copying->next++;
    copying->next++->is_lfs =
        content->len < LFS_MAX_BYTES && al_starts_with(content->buf, AL_LFS_MARK);
    al_import_put(copying->import, content->buf, content->len);
    al_str_reset(content);
    return 0;
}

/* Copy the content of these files into the store, durable.
 *
 * The commit, its trees and every blob are hashed, and compared with their ids: a forged object
 * does not get into the store, nor does a forged tree decide which files there are. */
static int copy_blobs(struct al_pull *pull)
{
    const struct al_repo *repo = pull->request->repo;
    al_auto(al_strv_clear) struct al_strv oids = AL_STRV_INIT;
    al_auto(al_import_clear) struct al_import import = { .file = NULL };
    struct copying copying = { .next = pull->items,
                               .import = &import,
                               .content = AL_STR_INIT,
                               .max_bytes = pull->staging->options.max_bytes };
    struct al_location both = al_staging_bare(pull->staging, pull->budget);
    int r = verify_trees(pull);

    list_blobs(pull, &oids);
    if (r < 0 || !oids.count)
        return r;
    r = al_target_bring(repo, &oids, pull->err);
    if (r == 0)
        r = al_import_begin(pull->staging, &import, pull->err);
    both.lender = &repo->at;
    if (r == 0)
        r = al_bare_read(&both, (const char *const *)oids.items, oids.count, take, &copying,
                         pull->err);
    al_str_clear(&copying.content);
    return r < 0 ? r : al_import_end(&import, pull->budget, NULL, pull->err);
}

/* --- Merging --- */

#define STORED_MAX_BYTES (1u << 30)

/* The versions that the store has. */
struct stored {
    struct al_str theirs, base;
};

static void stored_clear(struct stored *stored)
{
    al_str_clear(&stored->theirs);
    al_str_clear(&stored->base);
}

/* One byte more than can be merged tells that a version is too large. */
static int take_version(void *payload, size_t which, const char *data, size_t len, bool last,
                        struct al_error *err)
{
    struct stored *stored = payload;
    struct al_str *text = which ? &stored->base : &stored->theirs;
    size_t room = AL_MERGE_MAX_BYTES + 1 - text->len;

    (void)last;
    (void)err;
    al_str_add(text, data, len < room ? len : room);
    return 0;
}

static int read_stored(const struct al_pull *pull, const struct al_pull_item *item,
                       struct stored *stored)
{
    const bool sha256 = pull->staging->options.sha256;
    char theirs[AL_OID_TEXT], base[AL_OID_TEXT];
    const char *const oids[] = { theirs, base };
    const struct al_location bare = al_staging_bare(pull->staging, pull->budget);

    al_oid_text(&item->theirs.oid, sha256, theirs);
    al_oid_text(&item->base.oid, sha256, base);
    return al_bare_read(&bare, oids, item->base.mode ? 2 : 1, take_version, stored, pull->err);
}

/* Read the side of the agent; of a file that is too large to be merged only a part. */
static int read_ours(const struct al_pull *pull, struct al_pull_item *item)
{
    size_t max = item->merges ? AL_MERGE_MAX_BYTES + 1 : STORED_MAX_BYTES;
    struct al_str *text = &item->ours_text;
    al_auto(al_freep) char *safe = NULL;
    struct al_oid oid;
    int r =
        al_sandbox_read(pull->staging->options.sandbox, item->path, 0, max, text, NULL, pull->err);

    if (r < 0 || (item->merges && text->len == max))
        return r;
    al_oid_of(pull->staging->options.sha256, AL_OBJECT_BLOB, text->buf, text->len, &oid);
    if (al_oid_equal(&oid, &item->ours.oid))
        return 0;
    safe = al_text_sanitize_line(item->path);
    return al_error_set(pull->err, AL_ERR_EXECUTION,
                        "'" AL_SANDBOX_ROOT "/%s' was changed while it was pulled, so nothing "
                        "was; call git_pull again",
                        safe);
}

static void set_outcome(struct al_pull_item *item, enum al_text_merge outcome)
{
    if (outcome == AL_MERGE_BINARY)
        al_pull_keep_ours(item, "binary, and changed on both sides; the sandbox's file was kept. "
                                "delete_file and git_pull again take the incoming one");
    else if (outcome == AL_MERGE_TOO_LARGE)
        al_pull_keep_ours(item, "too large to be merged; the sandbox's file was kept. delete_file "
                                "and git_pull again take the incoming one");
    item->has_markers = outcome == AL_MERGE_CONFLICT;
    item->has_all_separators =
        item->has_markers && al_markers_have_all_separators(&item->result_text);
    if (item->has_markers)
        item->conflict = item->base.mode ? "the lines between the markers have to be resolved"
                                         : "the sandbox had another file of this name; the lines "
                                           "between the markers have to be resolved";
}

static int merge_item(const struct al_pull *pull, struct al_pull_item *item)
{
    al_auto(stored_clear) struct stored stored = { AL_STR_INIT, AL_STR_INIT };
    const struct al_merge_sides sides = { .base = item->base.mode ? &stored.base : NULL,
                                          .ours = &item->ours_text,
                                          .theirs = &stored.theirs };
    struct al_str *text = &item->result_text;
    enum al_text_merge outcome = AL_MERGE_CLEAN;
    int r = read_stored(pull, item, &stored);

    if (r == 0)
        r = al_merge(pull->staging, &sides, pull->budget, &outcome, text, pull->err);
    if (r < 0)
        return r;
    al_oid_of(pull->staging->options.sha256, AL_OBJECT_BLOB, text->buf, text->len,
              &item->result.oid);
    item->changes = !al_sandbox_version_equal(&item->result, &item->ours);
    set_outcome(item, outcome);
    return 0;
}

/* A file whose lines are merged, or whose mode alone changes. */
static bool needs_texts(const struct al_pull_item *item)
{
    return item->merges ||
           (item->changes && item->ours.mode && !al_oid_equal(&item->ours.oid, &item->base.oid));
}

static int set_texts(const struct al_pull *pull, struct al_pull_item *item)
{
    int r = read_ours(pull, item);

    if (r == 0 && item->merges)
        r = merge_item(pull, item);
    else if (r == 0)
        al_str_add(&item->result_text, item->ours_text.buf, item->ours_text.len);
    item->has_texts = true;
    return r;
}

/* Merge the lines of every item with `merges`, whose incoming version the store has.  Beside a
 * directory the results are put into the store with the versions that they replace, for a pull that
 * is killed; what is in memory alone is in no file. */
static int merge(struct al_pull *pull)
{
    al_auto(al_import_clear) struct al_import import = { .file = NULL };
    bool is_dir = al_sandbox_dir(pull->staging->options.sandbox) != NULL;
    int r = 0;

    for (size_t i = 0; i < pull->count && r == 0; i++) {
        struct al_pull_item *item = &pull->items[i];

        if (!needs_texts(item))
            continue;
        r = set_texts(pull, item);
        if (r == 0 && is_dir && !import.file)
            r = al_import_begin(pull->staging, &import, pull->err);
        if (r == 0 && is_dir && item->changes) {
            al_import_put(&import, item->ours_text.buf, item->ours_text.len);
            al_import_put(&import, item->result_text.buf, item->result_text.len);
        }
    }
    return r < 0 || !import.file ? r : al_import_end(&import, pull->budget, NULL, pull->err);
}

/* --- Changing the sandbox, all of it or nothing --- */

/*
 * In a directory the files change one after the other.  From before the first change until the base
 * has been written, refs/pull/<key> is a commit of the changed files as they become; its parent has
 * them as they were, and its message names the base.  So a pull that was killed in between is taken
 * back by the next session.  A file is there as a whole or not at all.
 */

#define RECOVERY_MS     60000 /* for what a killed process left */
#define TAKE_BACK_TRIES 3

/* The file after the pull. */
static struct al_sandbox_file file_of(const struct al_pull_item *item, bool back)
{
    const struct al_sandbox_version *to = back ? &item->ours : &item->result;
    const struct al_str *text = back ? &item->ours_text : &item->result_text;

    return (struct al_sandbox_file){ .path = item->path,
                                     .mode = to->mode,
                                     .oid = to->oid,
                                     .content = item->has_texts ? text : NULL,
                                     .over = back ? &item->result : &item->ours };
}

/* Remove what is to go, and then write what is to come: a file may take the place of a directory.
 * Every file is looked at once more just before, so that nothing is lost that somebody writes
 * meanwhile. */
static int set_files(const struct al_pull *pull, bool back)
{
    struct al_sandbox *sandbox = pull->staging->options.sandbox;
    al_auto(al_freep) struct al_sandbox_file *files = al_calloc(pull->count + 1, sizeof(*files));
    size_t count = 0;
    int r = 0;

    for (size_t i = 0; i < pull->count && r == 0; i++) {
        if (!pull->items[i].changes)
            continue;
        files[count] = file_of(&pull->items[i], back);
        if (files[count].mode)
            count++;
        else
            r = al_sandbox_remove(sandbox, files[count].path, files[count].over, pull->err);
        if (r == AL_ERR_NOT_FOUND)
            r = 0;
    }
    return r < 0 || !count ? r : al_sandbox_import(sandbox, files, count, pull->err);
}

/* Keep the changes whose files are as the pull left them. */
static int keep_made(struct al_pull *pull)
{
    struct al_sandbox_files files = AL_SANDBOX_FILES_INIT;
    int r = al_sandbox_snapshot(pull->staging->options.sandbox, &files, pull->err);

    for (size_t i = 0; i < pull->count && r == 0; i++) {
        struct al_pull_item *item = &pull->items[i];
        const struct al_sandbox_version now = al_sandbox_files_find(&files, item->path);

        item->changes = item->changes && al_sandbox_version_equal(&now, &item->result);
    }
    al_sandbox_files_clear(&files);
    return r;
}

/* Files that somebody else wrote stay.  They are looked for anew when that happens meanwhile. */
static int take_back(struct al_pull *pull)
{
    for (int i = 1;; i++) {
        int r = keep_made(pull);

        if (r < 0)
            return r;
        r = set_files(pull, true);
        if (r == 0 || i == TAKE_BACK_TRIES)
            return r;
    }
}

/* --- The record --- */

static char *record_name(const struct al_staging *staging)
{
    return al_asprintf(AL_REF_PULL "%s", staging->key);
}

/* The commit of the base as it is on disk; "-": there is none.  Caller frees. */
static char *base_commit(const struct al_staging *staging)
{
    al_auto(al_freep) char *ref = al_asprintf(AL_REF_BASE "%s", staging->key);
    char text[AL_OID_TEXT] = "-";
    struct al_oid oid;

    if (al_staging_read_ref(staging, ref, &oid))
        al_oid_text(&oid, staging->options.sha256, text);
    return al_strdup(text);
}

static int write_record(const struct al_pull *pull)
{
    al_auto(al_freep) char *ref = record_name(pull->staging);
    al_auto(al_freep) char *base = base_commit(pull->staging);
    al_auto(al_import_clear) struct al_import import;
    int r = al_import_begin(pull->staging, &import, pull->err);

    if (r < 0)
        return r;
    al_import_commit(&import, ref, "before", 0);
    for (size_t i = 0; i < pull->count; i++)
        if (pull->items[i].changes && pull->items[i].ours.mode)
            al_import_set(&import, pull->items[i].path, pull->items[i].ours.mode,
                          &pull->items[i].ours.oid);
    al_import_commit(&import, ref, base, 0);
    for (int removes = 1; removes >= 0; removes--)
        for (size_t i = 0; i < pull->count; i++)
            if (pull->items[i].changes && (pull->items[i].result.mode == 0) == removes)
                al_import_set(&import, pull->items[i].path, pull->items[i].result.mode,
                              &pull->items[i].result.oid);
    return al_import_end(&import, pull->budget, NULL, pull->err);
}

static bool read_change(void *payload, const struct al_change *from)
{
    struct al_pull *pull = payload;
    const bool sha256 = pull->staging->options.sha256;
    struct al_pull_item item = { .ours.mode = from->old_mode,
                                 .result.mode = from->new_mode,
                                 .changes = true,
                                 .ours_text = AL_STR_INIT,
                                 .result_text = AL_STR_INIT };

    if (!al_oid_parse(from->old_oid, sha256, &item.ours.oid) ||
        !al_oid_parse(from->new_oid, sha256, &item.result.oid))
        return false;
    item.path = al_strdup(from->path);
    pull->items = al_grow(pull->items, pull->count, sizeof(*pull->items));
    pull->items[pull->count++] = item;
    return true;
}

static int forget_record(struct al_staging *staging, struct al_error *err)
{
    al_auto(al_freep) char *ref = record_name(staging);

    return al_staging_delete_ref(staging, ref, err);
}

/* --- A pull --- */

/* Make the changes.  The store has both versions of every file already, and its lock is held.  A
 * failure, also where a file has changed since it was decided, is for undo(). */
static int apply(struct al_pull *pull)
{
    int r = 0;

    for (size_t i = 0; i < pull->count; i++)
        pull->is_begun |= pull->items[i].changes;
    if (pull->is_begun && al_sandbox_dir(pull->staging->options.sandbox))
        r = write_record(pull);
    pull->is_begun &= r == 0;
    return pull->is_begun ? set_files(pull, false) : r;
}

/* The base has been written: the pull is complete. */
static int complete(const struct al_pull *pull)
{
    struct al_staging *staging = pull->staging;

    return al_sandbox_dir(staging->options.sandbox) ? forget_record(staging, pull->err) : 0;
}

/* Undo the changes of a pull that failed.  Files that are not as the pull left them stay. */
static void undo(struct al_pull *pull)
{
    al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;
    struct al_error *const reason = pull->err;

    if (!pull->is_begun)
        return;
    pull->err = &why;
    if (take_back(pull) < 0)
        al_log_warn("a failed pull could not be taken back: %s", why.message);
    else
        (void)complete(pull); /* taking it back twice does no harm */
    pull->err = reason;
}

void al_pull_recover(struct al_staging *staging)
{
    struct al_run_limits budget = { .left_ms = RECOVERY_MS };
    const struct al_location bare = al_staging_bare(staging, &budget);
    al_auto(al_freep) char *ref = record_name(staging);
    al_auto(al_freep) char *base = base_commit(staging);
    al_auto(al_str_clear) struct al_str message = AL_STR_INIT;
    al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;
    al_auto(
        al_pull_clear) struct al_pull pull = { .staging = staging, .budget = &budget, .err = &why };
    char commit[AL_OID_TEXT];
    struct al_oid oid;
    int r;

    if (!al_staging_read_ref(staging, ref, &oid))
        return;
    al_oid_text(&oid, staging->options.sha256, commit);
    r = al_bare_read_commit(&bare, commit, &message, read_change, &pull, &why);
    if (r == 0 && !strcmp(message.buf, base)) /* else the base was written: the pull was complete */
        r = take_back(&pull);
    if (r == 0)
        r = forget_record(staging, &why);
    if (r < 0)
        al_log_warn("a pull that was interrupted could not be taken back: %s", why.message);
}

/* The most lines of one kind in a result. */
#define LINES_MAX 50u

/* --- Words --- */

/* The path that an agent names, without what only says where it begins.  `*is_whole`: as a pattern
 * it goes by the whole path. */
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
        r = al_tree_read(&pull->request->repo->at, staging->options.sha256, pull->request->commit,
                         "the commit to pull", "pull from a smaller one", &pull->commit, pull->err);
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

/* No words mean everything, or what was pulled before. */
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

/* The recorded files: those that the sandbox agrees with; in the origin also those that stayed
 * there.  A conflict that is not settled is not recorded, so the next pull says it again. */
static bool is_recorded(const struct al_pull_item *item, bool in_origin)
{
    return item->chosen && !item->skipped && !item->is_blocked &&
           (item->is_settled ||
            (in_origin && al_sandbox_version_equal(&item->theirs, &item->base)));
}

/* Record the files; true when anything changed.  Files that cannot be beside them go first. */
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
    return r < 0 ? r : complete(pull);
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

/* Ask a repository on GitHub for the content of the chosen files that changed there.  The lock is
 * not held: other calls go on while the network is slow.  The decision is made again with the lock,
 * and what is missing then is asked for once more. */
static int bring(const struct al_pull *fresh)
{
    al_auto(al_pull_clear) struct al_pull pull = *fresh;
    al_auto(al_strv_clear) struct al_strv oids = AL_STRV_INIT;
    int r = decide(&pull);

    list_blobs(&pull, &oids);
    return r < 0 ? r : al_target_bring(pull.request->repo, &oids, pull.err);
}

/* Bring the files into the sandbox, and record that. */
static int change(struct al_pull *pull, struct al_pull_result *result)
{
    int r = copy_blobs(pull);

    if (r == 0)
        r = merge(pull);
    if (r == 0)
        r = apply(pull);
    if (r == 0)
        r = save_base(pull, result);
    if (r < 0)
        undo(pull);
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
