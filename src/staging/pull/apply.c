// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>

#include "base/log.h"
#include "base/sorted.h"
#include "staging/pull/private.h"
#include "staging/store.h"

#define RECOVERY_MS     60000 /* for what a killed process left */
#define TAKE_BACK_TRIES 3

/* --- The sandbox --- */

/* What becomes of a file. */
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
static int set_files(struct al_staging *staging, const struct al_pull_plan *plan, bool back,
                     struct al_error *err)
{
    struct al_sandbox *sandbox = staging->options.sandbox;
    al_auto(al_freep) struct al_sandbox_file *files = al_calloc(plan->count + 1, sizeof(*files));
    size_t count = 0;
    int r = 0;

    for (size_t i = 0; i < plan->count && r == 0; i++) {
        if (!plan->items[i].changes)
            continue;
        files[count] = file_of(&plan->items[i], back);
        if (files[count].mode)
            count++;
        else
            r = al_sandbox_remove(sandbox, files[count].path, files[count].over, err);
        if (r == AL_ERR_NOT_FOUND)
            r = 0;
    }
    return r < 0 || !count ? r : al_sandbox_import(sandbox, files, count, err);
}

/* Keep the changes whose files are as the pull left them. */
static int keep_made(struct al_sandbox *sandbox, struct al_pull_plan *plan, struct al_error *err)
{
    struct al_sandbox_files files = AL_SANDBOX_FILES_INIT;
    int r = al_sandbox_snapshot(sandbox, &files, err);

    for (size_t i = 0; i < plan->count && r == 0; i++) {
        struct al_pull_item *item = &plan->items[i];
        const struct al_sandbox_version now = al_sandbox_files_find(&files, item->path);

        item->changes = item->changes && al_sandbox_version_equal(&now, &item->result);
    }
    al_sandbox_files_clear(&files);
    return r;
}

/* Files that somebody else wrote stay.  When that happens meanwhile, it is looked anew which they
 * are. */
static int take_back(struct al_staging *staging, struct al_pull_plan *plan, struct al_error *err)
{
    for (int i = 1;; i++) {
        int r = keep_made(staging->options.sandbox, plan, err);

        if (r < 0)
            return r;
        r = set_files(staging, plan, true, err);
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

static int write_record(struct al_staging *staging, const struct al_pull_plan *plan,
                        struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_freep) char *ref = record_name(staging);
    al_auto(al_freep) char *base = base_commit(staging);
    al_auto(al_import_clear) struct al_import import;
    int r = al_import_begin(staging, &import, err);

    if (r < 0)
        return r;
    al_import_commit(&import, ref, "before", 0);
    for (size_t i = 0; i < plan->count; i++)
        if (plan->items[i].changes && plan->items[i].ours.mode)
            al_import_set(&import, plan->items[i].path, plan->items[i].ours.mode,
                          &plan->items[i].ours.oid);
    al_import_commit(&import, ref, base, 0);
    for (int removes = 1; removes >= 0; removes--)
        for (size_t i = 0; i < plan->count; i++)
            if (plan->items[i].changes && (plan->items[i].result.mode == 0) == removes)
                al_import_set(&import, plan->items[i].path, plan->items[i].result.mode,
                              &plan->items[i].result.oid);
    return al_import_end(&import, budget, NULL, err);
}

/* What is read of a record. */
struct reading {
    const struct al_staging *staging;
    struct al_pull_plan plan;
};

static bool read_change(void *payload, const struct al_bare_change *from)
{
    struct reading *reading = payload;
    struct al_pull_plan *plan = &reading->plan;
    const bool sha256 = reading->staging->options.sha256;
    struct al_pull_item item = { .ours.mode = from->old_mode,
                                 .result.mode = from->new_mode,
                                 .changes = true,
                                 .ours_text = AL_STR_INIT,
                                 .result_text = AL_STR_INIT };

    if (!al_oid_parse(from->old_oid, sha256, &item.ours.oid) ||
        !al_oid_parse(from->new_oid, sha256, &item.result.oid))
        return false;
    item.path = al_strdup(from->path);
    plan->items = al_grow(plan->items, plan->count, sizeof(*plan->items));
    plan->items[plan->count++] = item;
    return true;
}

static int forget_record(struct al_staging *staging, struct al_error *err)
{
    al_auto(al_freep) char *ref = record_name(staging);

    return al_staging_delete_ref(staging, ref, err);
}

/* --- A pull --- */

int al_pull_apply(struct al_staging *staging, struct al_pull_plan *plan,
                  struct al_run_limits *budget, struct al_error *err)
{
    int r = 0;

    for (size_t i = 0; i < plan->count; i++)
        plan->is_begun |= plan->items[i].changes;
    if (plan->is_begun && al_sandbox_dir(staging->options.sandbox))
        r = write_record(staging, plan, budget, err);
    plan->is_begun &= r == 0;
    return plan->is_begun ? set_files(staging, plan, false, err) : r;
}

void al_pull_take_back(struct al_staging *staging, struct al_pull_plan *plan)
{
    al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;

    if (!plan->is_begun)
        return;
    if (take_back(staging, plan, &why) < 0)
        al_log_warn("a failed pull could not be taken back: %s", why.message);
    else if (al_sandbox_dir(staging->options.sandbox))
        (void)forget_record(staging, NULL); /* taking it back twice does no harm */
}

int al_pull_complete(struct al_staging *staging, struct al_error *err)
{
    return al_sandbox_dir(staging->options.sandbox) ? forget_record(staging, err) : 0;
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
        r = take_back(staging, &reading.plan, &why);
    if (r == 0)
        r = forget_record(staging, &why);
    if (r < 0)
        al_log_warn("a pull that was interrupted could not be taken back: %s", why.message);
    al_pull_plan_clear(&reading.plan);
}
