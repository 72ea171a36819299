// SPDX-License-Identifier: Apache-2.0
#include "staging/pull/apply.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "staging/import.h"
#include "staging/store.h"
#include "util/log.h"
#include "util/sorted.h"

#define RECOVERY_MS     60000 /* for what a killed process left */
#define TAKE_BACK_TRIES 3

/* A file before and after. */
struct change {
    char *path;
    struct al_pull_side before, after;
    bool keeps_before, keeps_after; /* the base does not have this content */
};

struct changes {
    struct change *items;
    size_t count;
};

static void clear(struct changes *changes)
{
    for (size_t i = 0; i < changes->count; i++)
        free(changes->items[i].path);
    free(changes->items);
}

static void add(struct changes *changes, const struct change *change)
{
    if (!(changes->count & (changes->count - 1))) /* 0 or a power of two: there is no more room */
        changes->items = al_reallocarray(changes->items, changes->count ? 2 * changes->count : 1,
                                         sizeof(*changes->items));
    changes->items[changes->count++] = *change;
}

/* The store keeps the content of the base alone, which is `theirs` after the pull. */
static bool is_beside(const struct al_pull_side *side, const struct al_pull_side *base)
{
    return S_ISREG(side->mode) && (!base->mode || !al_oid_equal(&side->oid, &base->oid));
}

static void list_changes(const struct al_pull_plan *plan, struct changes *ret_changes)
{
    for (size_t i = 0; i < plan->count; i++) {
        const struct al_pull_item *item = &plan->items[i];

        if (item->changes)
            add(ret_changes,
                &(struct change){ .path = al_strdup(item->path),
                                  .before = item->ours,
                                  .after = item->result,
                                  .keeps_before = is_beside(&item->ours, &item->base),
                                  .keeps_after = is_beside(&item->result, &item->theirs) });
    }
}

/* --- The sandbox --- */

/* What becomes of a file, and what it was. */
static struct al_sandbox_file file_of(const struct change *change, bool back,
                                      struct al_sandbox_version *from)
{
    const struct al_pull_side *to = back ? &change->before : &change->after;
    const struct al_pull_side *was = back ? &change->after : &change->before;

    *from = (struct al_sandbox_version){ was->mode, was->oid };
    return (struct al_sandbox_file){ .path = change->path,
                                     .mode = to->mode,
                                     .oid = to->oid,
                                     .keeps_content =
                                         back ? change->keeps_before : change->keeps_after,
                                     .is_new = !was->mode,
                                     .over = was->mode ? from : NULL };
}

/* Remove what is to go, and then write what is to come: a file may take the place of a directory.
 * Every file is looked at once more just before, so that nothing is lost that somebody writes
 * meanwhile. */
static int set_files(struct al_staging *staging, const struct changes *changes, bool back,
                     struct al_error *err)
{
    struct al_sandbox *sandbox = staging->options.sandbox;
    al_auto(al_freep) struct al_sandbox_file *files = al_calloc(changes->count + 1, sizeof(*files));
    al_auto(al_freep) struct al_sandbox_version *from =
        al_calloc(changes->count + 1, sizeof(*from));
    size_t count = 0;
    int r = 0;

    for (size_t i = 0; i < changes->count && r == 0; i++) {
        const struct change *change = &changes->items[i];

        files[count] = file_of(change, back, &from[i]);
        if (files[count].mode)
            count++;
        else
            r = al_sandbox_remove_version(sandbox, change->path, &from[i], err);
        if (r == AL_ERR_NOT_FOUND)
            r = 0;
    }
    return r < 0 || !count ? r : al_sandbox_import(sandbox, files, count, staging->source, err);
}

static bool is_now(const struct al_sandbox_files *files, const char *path,
                   const struct al_pull_side *side)
{
    const size_t at = al_sorted_find(files->items, files->count, sizeof(*files->items), path);
    struct al_pull_side now = { 0 };

    if (at != SIZE_MAX)
        now = (struct al_pull_side){ files->items[at].mode, files->items[at].oid };
    return al_pull_side_equal(&now, side);
}

/* Keep the changes whose files are as the pull left them. */
static int keep_made(struct al_sandbox *sandbox, struct changes *changes, struct al_error *err)
{
    struct al_sandbox_files files = AL_SANDBOX_FILES_INIT;
    size_t kept = 0;
    int r = al_sandbox_snapshot(sandbox, &files, err);

    for (size_t i = 0; i < changes->count; i++)
        if (r == 0 && is_now(&files, changes->items[i].path, &changes->items[i].after))
            changes->items[kept++] = changes->items[i];
        else
            free(changes->items[i].path);
    changes->count = kept;
    al_sandbox_files_clear(&files);
    return r;
}

/* Files that somebody else wrote stay.  When that happens meanwhile, it is looked anew which they
 * are. */
static int take_back(struct al_staging *staging, struct changes *changes, struct al_error *err)
{
    for (int i = 1;; i++) {
        int r = keep_made(staging->options.sandbox, changes, err);

        if (r < 0)
            return r;
        r = set_files(staging, changes, true, err);
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

    if (al_staging_read_ref(staging, ref, &oid, NULL) == 0)
        al_oid_text(&oid, staging->options.sha256, text);
    return al_strdup(text);
}

static int write_record(struct al_staging *staging, const struct changes *changes,
                        struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_freep) char *ref = record_name(staging);
    al_auto(al_freep) char *base = base_commit(staging);
    al_auto(al_import_clear) struct al_import import;
    int r = al_import_begin(staging, &import, err);

    if (r < 0)
        return r;
    al_import_commit(&import, ref, "before", 0);
    for (size_t i = 0; i < changes->count; i++)
        if (changes->items[i].before.mode)
            al_import_set(&import, changes->items[i].path, changes->items[i].before.mode,
                          &changes->items[i].before.oid);
    al_import_commit(&import, ref, base, 0);
    for (int removes = 1; removes >= 0; removes--)
        for (size_t i = 0; i < changes->count; i++)
            if ((changes->items[i].after.mode == 0) == removes)
                al_import_set(&import, changes->items[i].path, changes->items[i].after.mode,
                              &changes->items[i].after.oid);
    return al_import_end(&import, budget, NULL, err);
}

/* What is read of a record. */
struct reading {
    const struct al_staging *staging;
    struct changes changes;
};

static bool read_change(void *payload, const struct al_bare_change *from)
{
    struct reading *reading = payload;
    const bool sha256 = reading->staging->options.sha256;
    struct change change = { .before.mode = from->old_mode, .after.mode = from->new_mode };

    if (!al_oid_parse(from->old_oid, sha256, &change.before.oid) ||
        !al_oid_parse(from->new_oid, sha256, &change.after.oid))
        return false;
    change.path = al_strdup(from->path);
    add(&reading->changes, &change);
    return true;
}

static int forget_record(struct al_staging *staging, struct al_run_limits *budget,
                         struct al_error *err)
{
    al_auto(al_freep) char *ref = record_name(staging);

    return al_staging_delete_ref(staging, ref, budget, err);
}

/* --- A pull --- */

int al_pull_apply(struct al_staging *staging, struct al_pull_plan *plan,
                  struct al_run_limits *budget, struct al_error *err)
{
    al_auto(clear) struct changes changes = { .items = NULL };
    int r = 0;

    list_changes(plan, &changes);
    if (!changes.count)
        return 0;
    if (al_sandbox_dir(staging->options.sandbox))
        r = write_record(staging, &changes, budget, err);
    plan->is_begun = r == 0;
    return r < 0 ? r : set_files(staging, &changes, false, err);
}

void al_pull_take_back(struct al_staging *staging, const struct al_pull_plan *plan)
{
    struct al_run_limits budget = { .left_ms = RECOVERY_MS };
    al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;
    al_auto(clear) struct changes changes = { .items = NULL };

    if (!plan->is_begun)
        return;
    list_changes(plan, &changes);
    if (take_back(staging, &changes, &why) < 0)
        al_log_warn("a failed pull could not be taken back: %s", why.message);
    else if (al_sandbox_dir(staging->options.sandbox))
        (void)forget_record(staging, &budget, NULL); /* taking it back twice does no harm */
}

int al_pull_complete(struct al_staging *staging, struct al_run_limits *budget, struct al_error *err)
{
    return al_sandbox_dir(staging->options.sandbox) ? forget_record(staging, budget, err) : 0;
}

void al_pull_recover(struct al_staging *staging)
{
    struct al_run_limits budget = { .left_ms = RECOVERY_MS };
    al_auto(al_freep) char *ref = record_name(staging);
    al_auto(al_freep) char *base = base_commit(staging);
    al_auto(al_str_clear) struct al_str message = AL_STR_INIT;
    al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;
    struct reading reading = { .staging = staging };
    char commit[AL_OID_TEXT];
    struct al_oid oid;
    int r;

    if (al_staging_read_ref(staging, ref, &oid, NULL) < 0)
        return;
    al_oid_text(&oid, staging->options.sha256, commit);
    r = al_bare_read_commit(&staging->bare, commit, &message, read_change, &reading, &budget, &why);
    if (r == 0 && !strcmp(message.buf, base)) /* else the base was written: the pull was complete */
        r = take_back(staging, &reading.changes, &why);
    if (r == 0)
        r = forget_record(staging, &budget, &why);
    if (r < 0)
        al_log_warn("a pull that was interrupted could not be taken back: %s", why.message);
    clear(&reading.changes);
}
