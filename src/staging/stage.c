// SPDX-License-Identifier: Apache-2.0
#include "staging/stage.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/secret.h"
#include "base/sorted.h"
#include "guard/text.h"
#include "staging/store.h"

#define TRIES          3     /* while the files change */
#define GC_TIME_MS     10000 /* the time that clearing up may take of a call */
#define FILE_MAX_BYTES (1u << 30)

/* --- What changed --- */

const char *al_change_status(const struct al_sandbox_file *change)
{
    static const char *const words[] = { "new", "modified", "deleted" };

    return words[change->operation];
}

/* A staged version from before a pull that moved a head would overwrite what came: it is staged
 * again, and counts as changed until then. */
static int load_base(struct al_staging *staging, struct al_run_limits *budget,
                     const struct al_staged_list *list, struct al_base *ret_base,
                     struct al_error *err)
{
    int r = al_base_load(staging, staging->key, budget, ret_base, err);

    if (r < 0)
        return r;
    for (size_t i = 0; i < list->count; i++)
        if (!strcmp(list->items[i].sandbox, staging->key) &&
            !al_heads_differ(list->items[i].heads, ret_base->heads))
            al_base_apply(ret_base, &list->items[i]);
    return 0;
}

/* `file`: in the sandbox, or with mode 0 that it is gone. */
static void add(struct al_sandbox_files *changes, const struct al_sandbox_file *file,
                enum al_sandbox_operation operation)
{
    struct al_sandbox_file change = *file;

    change.path = al_strdup(file->path);
    change.operation = operation;
    al_sandbox_files_add(changes, &change);
}

/* Merge two sorted lists. */
static void compare(const struct al_sandbox_files *base, const struct al_sandbox_files *files,
                    struct al_sandbox_files *changes)
{
    size_t i = 0, j = 0;

    while (i < base->count || j < files->count) {
        const struct al_sandbox_file *old = &base->items[i];
        const struct al_sandbox_file *new = &files->items[j];
        int order = i == base->count ? 1 : j == files->count ? -1 : strcmp(old->path, new->path);

        if (order < 0)
            add(changes, &(struct al_sandbox_file){ .path = old->path }, AL_STAGED_DELETE);
        else if (order > 0)
            add(changes, new, AL_STAGED_CREATE);
        else if (old->mode != new->mode || !al_oid_equal(&old->oid, &new->oid))
            add(changes, new, AL_STAGED_UPDATE);
        i += order <= 0;
        j += order >= 0;
    }
}

/* An imported file that was never read has no size yet.  A link is not read. */
static int add_sizes(struct al_sandbox *sandbox, struct al_sandbox_files *changes,
                     struct al_error *err)
{
    int r = 0;

    for (size_t i = 0; i < changes->count && r == 0; i++) {
        struct al_sandbox_file *change = &changes->items[i];
        al_auto(al_str_clear) struct al_str none = AL_STR_INIT;

        if (change->mode && change->mode != AL_SANDBOX_MODE_LINK && !change->size)
            r = al_sandbox_read(sandbox, change->path, 0, 0, &none, &change->size, err);
    }
    return r;
}

void al_comparison_clear(struct al_comparison *comparison)
{
    al_staged_list_clear(&comparison->staged);
    al_base_clear(&comparison->base);
    al_sandbox_files_clear(&comparison->files);
    al_sandbox_files_clear(&comparison->changes);
}

int al_comparison_make(struct al_staging *staging, struct al_run_limits *budget,
                       struct al_comparison *ret_comparison, struct al_error *err)
{
    struct al_comparison made = { .files = AL_SANDBOX_FILES_INIT };
    struct al_sandbox *sandbox = staging->options.sandbox;
    int r = al_staged_list(staging, budget, &made.staged, err);

    if (r == 0)
        r = load_base(staging, budget, &made.staged, &made.base, err);
    if (r == 0)
        r = al_sandbox_snapshot(sandbox, &made.files, err);
    if (r == 0) {
        compare(&made.base.files, &made.files, &made.changes);
        r = add_sizes(sandbox, &made.changes, err);
    }
    if (r < 0)
        al_comparison_clear(&made);
    else
        *ret_comparison = made;
    return r;
}

/* --- Choosing --- */

/* The changes, and everything in the sandbox, to choose from. */
struct choosing {
    struct al_choosing changes, files;
};

static int nothing_there(const char *safe, bool is_pattern, struct al_error *err)
{
    return al_error_reason(al_error_set(err, AL_ERR_EXECUTION,
                                        is_pattern ? "no file in the sandbox matches '%s'%s"
                                                   : "there is no '%s' in the sandbox%s",
                                        safe, al_sandbox_pattern_hint(safe)),
                           err, "not_found");
}

static int unchanged(const char *before, const char *safe, const char *behind, struct al_error *err)
{
    return al_error_set_code(err, AL_ERR_EXECUTION, AL_CODE_NO_STAGED_CHANGES,
                             "%s'%s' %s, so there is nothing to stage", before, safe, behind);
}

/* A word that no change is found for as a file or as a directory. */
static int choose_other(const struct choosing *from, const char *path, const char *safe,
                        bool may_be_file, struct al_error *err)
{
    const struct al_choosing *files = &from->files;
    bool is_pattern = al_choose_is_pattern(path), changed = false, exists = false;
    int r = 0;

    if (may_be_file &&
        al_sorted_find(files->items, files->count, files->item_bytes, path) != SIZE_MAX)
        return unchanged("", safe, "is unchanged", err);
    if (!*path || al_choose_path(files, path, false))
        return unchanged("no file in ", safe, "has changed", err);
    if (is_pattern)
        r = al_choose_matching(&from->changes, path, true, &changed, err);
    if (r == 0 && is_pattern && !changed)
        r = al_choose_matching(files, path, true, &exists, err);
    if (r < 0 || changed)
        return r;
    return exists ? unchanged("no file that matches ", safe, "has changed", err)
                  : nothing_there(safe, is_pattern, err);
}

static int choose_word(const struct choosing *from, const char *given, struct al_error *err)
{
    bool may_be_file = !al_ends_with(given, "/");
    al_auto(al_freep) char *path = NULL;
    al_auto(al_freep) char *safe = NULL;
    int r = al_sandbox_path(given, &path, err);

    if (r < 0 || al_choose_path(&from->changes, path, may_be_file))
        return r;
    safe = al_text_sanitize_line(given);
    return choose_other(from, path, safe, may_be_file, err);
}

/* No tree has both a file and a directory of one name: a file that takes the place of a directory,
 * or the other way round, comes with the deletion of what was there. */
static void choose_replaced(const struct al_comparison *comparison, const char *path, bool *chosen)
{
    const struct al_sandbox_files *changes = &comparison->changes;
    al_auto(al_strv_clear) struct al_strv replaced = AL_STRV_INIT;

    al_files_list_replaced(&comparison->base.files, path, &replaced);
    for (size_t i = 0; i < replaced.count; i++) {
        const size_t at = al_sorted_find(changes->items, changes->count, sizeof(*changes->items),
                                         replaced.items[i]);

        if (at != SIZE_MAX)
            chosen[at] = true;
    }
}

/* --- Limits --- */

static int refuse_file(const struct al_sandbox_file *change, const char *why, struct al_error *err)
{
    al_auto(al_freep) char *safe = al_text_sanitize_line(change->path);

    return al_error_set(err, AL_ERR_EXECUTION, "'/workspace/%s' %s", safe, why);
}

static int check_file(const struct al_staging *staging, const struct al_sandbox_file *change,
                      struct al_error *err)
{
    if (change->mode == AL_SANDBOX_MODE_LINK &&
        !al_sandbox_allows_symlinks(staging->options.sandbox))
        return refuse_file(change,
                           "is a symbolic link; stage a file, or let the user set "
                           "staging.allow_symlinks",
                           err);
    if (change->size >= FILE_MAX_BYTES)
        return refuse_file(change, "is too large to be staged: 1 GiB or more", err);
    return 0;
}

/* Remove the changes that were not chosen, and check the others. */
static int take_chosen(const struct al_staging *staging, struct al_sandbox_files *changes,
                       const bool *chosen, struct al_error *err)
{
    uint64_t bytes = 0, most = staging->options.max_bytes;
    size_t count = 0;
    int r = 0;

    for (size_t i = 0; i < changes->count; i++) {
        struct al_sandbox_file *change = &changes->items[i];

        if (!chosen[i]) {
            free(change->path);
            change->path = NULL;
            continue;
        }
        if (r == 0)
            r = check_file(staging, change, err);
        bytes += change->size;
        changes->items[count++] = *change;
    }
    changes->count = count;
    if (r == 0 && count > AL_STAGE_FILES_MAX)
        return al_error_set(err, AL_ERR_EXECUTION,
                            "%zu files are more than the %d of one staged commit; stage fewer at "
                            "a time",
                            count, AL_STAGE_FILES_MAX);
    if (r == 0 && bytes > most)
        return al_error_set(err, AL_ERR_EXECUTION,
                            "%" PRIu64 " bytes are more than the %" PRIu64 " of one staged commit; "
                            "stage fewer files at a time or raise staging.max_bytes",
                            bytes, most);
    return r;
}

/* --- The record --- */

/* Of RFC 4122, version 4: its digit stands for the version, and two bits for the variant. */
static void make_id(char ret_id[AL_STAGED_ID_TEXT])
{
    char hex[33];

    al_random_hex(16, hex);
    (void)snprintf(ret_id, AL_STAGED_ID_TEXT, "%.8s-%.4s-4%.3s-%c%.3s-%.12s", hex, hex + 8,
                   hex + 13, "89ab"[hex[16] % 4], hex + 17, hex + 20);
}

/* The content of all staged commits, this one included, is bounded. */
static int check_total(const struct al_staging *staging, const struct al_staged_list *list,
                       const struct al_sandbox_files *changes, struct al_error *err)
{
    uint64_t bytes = 0, most = AL_STAGE_STORE_FACTOR * staging->options.max_bytes;

    if (list->count >= AL_STAGE_COMMITS_MAX)
        return al_error_set(err, AL_ERR_EXECUTION,
                            "there are %zu staged commits; push or discard some first",
                            list->count);
    for (size_t i = 0; i < changes->count; i++)
        bytes += changes->items[i].size;
    for (size_t i = 0; i < list->count; i++)
        for (size_t j = 0; j < list->items[i].count; j++)
            bytes += list->items[i].files[j].size;
    if (bytes <= most)
        return 0;
    return al_error_set(err, AL_ERR_EXECUTION,
                        "all staged commits would have %" PRIu64 " bytes, and the most is %" PRIu64
                        "; push or discard some first, or raise staging.max_bytes",
                        bytes, most);
}

/* A number above those of all staged commits, whatever the clock says. */
static int64_t next_order(const struct al_staged_list *list)
{
    int64_t last = list->count ? list->items[list->count - 1].order : 0;
    int64_t now = al_clock_ns();

    return now > last ? now : last + 1;
}

static int fill_record(struct al_staging *staging, const struct al_comparison *comparison,
                       const char *message, struct al_staged *staged, struct al_error *err)
{
    const struct al_sandbox_files *changes = &comparison->changes;
    int r = check_total(staging, &comparison->staged, changes, err);

    if (r < 0)
        return r;
    make_id(staged->id);
    staged->order = next_order(&comparison->staged);
    al_clock_iso(staged->created_at);
    staged->message = al_strdup(message);
    staged->sandbox = al_strdup(staging->key);
    staged->worker = al_strdup(staging->options.worker);
    staged->heads = json_deep_copy(comparison->base.heads);
    staged->files = al_calloc(changes->count, sizeof(*staged->files));
    for (; staged->count < changes->count; staged->count++) {
        staged->files[staged->count] = changes->items[staged->count];
        staged->files[staged->count].path = al_strdup(changes->items[staged->count].path);
    }
    return 0;
}

/* --- The commit --- */

static int put_blobs(struct al_import *import, const struct al_sandbox_files *changes,
                     struct al_run_limits *budget, struct al_error *err)
{
    struct al_deadline deadline = al_deadline_begin(budget);
    int r = 0;

    for (size_t i = 0; i < changes->count && r == 0; i++)
        if (changes->items[i].mode)
            r = al_import_put_file(import, &changes->items[i], &deadline, err);
    al_deadline_sync(&deadline);
    return r;
}

/* The parent is what the files are a change to. */
static void put_commits(struct al_import *import, const char *ref, struct al_comparison *comparison,
                        const char *message)
{
    const struct al_sandbox_files *changes = &comparison->changes;

    al_import_commit(import, ref, "base", 0);
    al_import_set_all(import, &comparison->base);
    al_import_commit(import, ref, message, (int64_t)time(NULL));
    for (int removes = 1; removes >= 0; removes--)
        for (size_t i = 0; i < changes->count; i++)
            if ((changes->items[i].mode == 0) == removes)
                al_import_set(import, changes->items[i].path, changes->items[i].mode,
                              &changes->items[i].oid);
}

/* Objects and reference, then the record: a process that is killed in between has staged nothing.
 */
static int write_commit(struct al_staging *staging, struct al_comparison *comparison,
                        const char *message, struct al_run_limits *budget, struct al_staged *staged,
                        struct al_error *err)
{
    al_auto(al_import_clear) struct al_import import = { .file = NULL };
    al_auto(al_freep) char *ref = NULL;
    int r = fill_record(staging, comparison, message, staged, err);

    if (r == 0)
        r = al_import_begin(staging, &import, err);
    if (r == 0)
        r = put_blobs(&import, &comparison->changes, budget, err);
    if (r < 0)
        return r;
    ref = al_asprintf(AL_REF_STAGED "%s", staged->id);
    put_commits(&import, ref, comparison, message);
    r = al_import_end(&import, budget, &staged->commit, err);
    return r < 0 ? r : al_staged_write(staging, staged, NULL, err);
}

/* One that cannot be removed stands in nobody's way. */
static void drop_superseded(struct al_staging *staging, const struct al_staged_list *list,
                            const struct al_staged *staged)
{
    for (size_t i = 0; i < list->count; i++)
        if (al_staged_supersedes(staged, &list->items[i]))
            (void)al_staged_remove(staging, list->items[i].id, NULL);
}

/* Keep the changes that words stand for: files, directories or patterns. */
static int choose(struct al_staging *staging, struct al_comparison *comparison,
                  const struct al_strv *words, struct al_run_limits *budget, struct al_error *err)
{
    struct al_sandbox_files *changes = &comparison->changes;
    const struct al_sandbox_files *files = &comparison->files;
    al_auto(al_freep) bool *chosen = al_calloc(changes->count + 1, sizeof(*chosen));
    struct al_deadline deadline = al_deadline_begin(budget);
    const struct choosing from = {
        { changes->items, changes->count, sizeof(*changes->items), chosen, &deadline },
        { files->items, files->count, sizeof(*files->items), NULL, &deadline },
    };
    int r = 0;

    for (size_t i = 0; i < words->count && r == 0; i++)
        r = choose_word(&from, words->items[i], err);
    for (size_t i = 0; i < changes->count && r == 0; i++)
        if (chosen[i] && changes->items[i].operation == AL_STAGED_CREATE)
            choose_replaced(comparison, changes->items[i].path, chosen);
    al_deadline_sync(&deadline);
    return r < 0 ? r : take_chosen(staging, changes, chosen, err);
}

static int stage_once(struct al_staging *staging, const struct al_strv *words, const char *message,
                      struct al_run_limits *budget, struct al_staged *ret_staged,
                      struct al_error *err)
{
    al_auto(al_comparison_clear) struct al_comparison comparison = { .files =
                                                                         AL_SANDBOX_FILES_INIT };
    al_auto(al_staged_clear) struct al_staged staged = { .id = "" };
    int r = al_comparison_make(staging, budget, &comparison, err);

    if (r == 0)
        r = choose(staging, &comparison, words, budget, err);
    if (r == 0)
        r = al_markers_check(staging, &comparison, err);
    if (r == 0)
        r = write_commit(staging, &comparison, message, budget, &staged, err);
    if (r < 0)
        return r;
    drop_superseded(staging, &comparison.staged, &staged);
    *ret_staged = staged;
    staged = (struct al_staged){ .id = "" };
    return 0;
}

/* The rest that could not be cleared up now is cleared up another time. */
static void clear_up(struct al_staging *staging, const struct al_run_limits *budget)
{
    struct al_run_limits own = { .cancel = budget->cancel, .left_ms = GC_TIME_MS };

    if (budget->left_ms < GC_TIME_MS)
        own.left_ms = budget->left_ms;
    (void)al_staging_gc(staging, &own, NULL);
}

int al_stage(struct al_staging *staging, const struct al_strv *words, const char *message,
             struct al_run_limits *budget, struct al_staged *ret_staged, struct al_error *err)
{
    int r;

    message = al_staged_message(message);
    if (!*message)
        return al_error_set(err, AL_ERR_BAD_ARGS, "message must not be empty");
    r = al_staging_lock(staging, budget, err);
    if (r < 0)
        return r;
    r = al_staging_make_room(staging, budget, err);
    if (r == 0)
        r = AL_ERR_AGAIN;
    for (int i = 0; i < TRIES && r == AL_ERR_AGAIN; i++)
        r = stage_once(staging, words, message, budget, ret_staged, err);
    al_staging_unlock(staging);
    if (r == 0)
        clear_up(staging, budget);
    return r;
}
