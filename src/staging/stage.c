// SPDX-License-Identifier: Apache-2.0
#include "staging/stage.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

#include "guard/text.h"
#include "staging/changes.h"
#include "staging/choose.h"
#include "staging/import.h"
#include "staging/markers.h"
#include "staging/staged_record.h"
#include "staging/store.h"
#include "util/clock.h"

#define TRIES          3     /* while the files change */
#define GC_TIME_MS     10000 /* the time that clearing up may take of a call */
#define FILE_MAX_BYTES (1u << 30)

/* --- Limits --- */

static int refuse_file(const struct al_sandbox_change *change, const char *why,
                       struct al_error *err)
{
    al_auto(al_freep) char *safe = al_text_sanitize_line(change->path);

    return al_error_set(err, AL_ERR_EXECUTION, "'/workspace/%s' %s", safe, why);
}

static int check_file(const struct al_staging *staging, const struct al_sandbox_change *change,
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
static int take_chosen(const struct al_staging *staging, struct al_changes *changes,
                       const bool *chosen, struct al_error *err)
{
    uint64_t bytes = 0, most = staging->options.max_bytes;
    size_t count = 0;
    int r = 0;

    for (size_t i = 0; i < changes->count; i++) {
        struct al_sandbox_change *change = &changes->items[i];

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

static int make_id(char ret_id[AL_STAGED_ID_TEXT], struct al_error *err)
{
    unsigned char b[16];

    if (getrandom(b, sizeof(b), 0) != (ssize_t)sizeof(b))
        return al_error_errno(err, errno, "cannot get random numbers");
    b[6] = (unsigned char)((b[6] & 0x0f) | 0x40); /* RFC 4122: version 4 */
    b[8] = (unsigned char)((b[8] & 0x3f) | 0x80);
    (void)snprintf(ret_id, AL_STAGED_ID_TEXT,
                   "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0],
                   b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13],
                   b[14], b[15]);
    return 0;
}

/* The content of all staged commits, this one included, is bounded. */
static int check_total(const struct al_staging *staging, const struct al_staged_list *list,
                       const struct al_changes *changes, struct al_error *err)
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
    int64_t last = list->count ? list->items[list->count - 1].order : 0, now_ns;
    struct timespec now;

    (void)clock_gettime(CLOCK_REALTIME, &now);
    now_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    return now_ns > last ? now_ns : last + 1;
}

static int fill_record(struct al_staging *staging, const struct al_comparison *comparison,
                       const char *message, struct al_staged *staged, struct al_error *err)
{
    const struct al_changes *changes = &comparison->changes;
    int r = check_total(staging, &comparison->staged, changes, err);

    if (r == 0)
        r = make_id(staged->id, err);
    if (r < 0)
        return r;
    staged->order = next_order(&comparison->staged);
    al_clock_iso(staged->created_at);
    staged->message = al_strdup(message);
    staged->sandbox = al_strdup(staging->key);
    staged->worker = al_strdup(staging->options.worker);
    al_heads_copy(&comparison->base.heads, &staged->heads);
    staged->files = al_calloc(changes->count, sizeof(*staged->files));
    for (size_t i = 0; i < changes->count; i++)
        staged->files[staged->count++] = (struct al_staged_file){
            .path = al_strdup(changes->items[i].path),
            .operation = changes->items[i].operation,
            .mode = changes->items[i].mode,
            .size = changes->items[i].size,
            .oid = changes->items[i].oid,
        };
    return 0;
}

/* --- The commit --- */

static int put_blobs(struct al_import *import, const struct al_changes *changes,
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
    const struct al_changes *changes = &comparison->changes;

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
                            const struct al_staged *staged, struct al_run_limits *budget)
{
    for (size_t i = 0; i < list->count; i++)
        if (al_staged_supersedes(staged, &list->items[i]))
            (void)al_staged_remove(staging, list->items[i].id, budget, NULL);
}

static int choose(struct al_staging *staging, struct al_comparison *comparison,
                  const struct al_strv *words, struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_freep) bool *chosen = al_calloc(comparison->changes.count + 1, sizeof(*chosen));
    struct al_deadline deadline = al_deadline_begin(budget);
    struct al_choosing choosing = { .changes = &comparison->changes,
                                    .files = &comparison->files,
                                    .deadline = &deadline,
                                    .chosen = chosen };
    int r = al_changes_choose(&choosing, words, err);

    al_deadline_sync(&deadline);
    return r < 0 ? r : take_chosen(staging, &comparison->changes, chosen, err);
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
        r = al_markers_check(staging, &comparison.changes, err);
    if (r == 0)
        r = write_commit(staging, &comparison, message, budget, &staged, err);
    if (r < 0)
        return r;
    al_markers_forget(staging, &comparison.changes);
    drop_superseded(staging, &comparison.staged, &staged, budget);
    *ret_staged = staged;
    staged = (struct al_staged){ .id = "" };
    return 0;
}

/* What could not be cleared up now is cleared up another time. */
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
