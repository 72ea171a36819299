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

/* Files that somebody else wrote stay.  When that happens meanwhile, it is looked anew which they
 * are. */
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

    if (al_staging_read_ref(staging, ref, &oid, NULL) == 0)
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

static bool read_change(void *payload, const struct al_bare_change *from)
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

int al_pull_apply(struct al_pull *pull)
{
    int r = 0;

    for (size_t i = 0; i < pull->count; i++)
        pull->is_begun |= pull->items[i].changes;
    if (pull->is_begun && al_sandbox_dir(pull->staging->options.sandbox))
        r = write_record(pull);
    pull->is_begun &= r == 0;
    return pull->is_begun ? set_files(pull, false) : r;
}

void al_pull_take_back(struct al_pull *pull)
{
    al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;
    struct al_error *const reason = pull->err;

    if (!pull->is_begun)
        return;
    pull->err = &why;
    if (take_back(pull) < 0)
        al_log_warn("a failed pull could not be taken back: %s", why.message);
    else
        (void)al_pull_complete(pull); /* taking it back twice does no harm */
    pull->err = reason;
}

int al_pull_complete(const struct al_pull *pull)
{
    struct al_staging *staging = pull->staging;

    return al_sandbox_dir(staging->options.sandbox) ? forget_record(staging, pull->err) : 0;
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

    if (al_staging_read_ref(staging, ref, &oid, NULL) < 0)
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
