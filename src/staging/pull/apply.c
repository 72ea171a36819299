// SPDX-License-Identifier: Apache-2.0
#include "staging/pull/apply.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "guard/text.h"
#include "odb/tree.h"
#include "staging/base_record.h"
#include "staging/store.h"
#include "util/fs.h"
#include "util/log.h"

#define RECORD_MAX_BYTES (256u << 20)
#define LOCK_TIMEOUT_MS  1000 /* this thread has the lock already */
#define TAKE_BACK_TRIES  3

/* A file before and after. */
struct change {
    const char *path; /* borrowed */
    struct al_pull_side before, after;
    bool keeps_before, keeps_after; /* the base does not have this content */
    bool is_made;
};

struct changes {
    struct change *items;
    size_t count;
};

static void clear(struct changes *changes)
{
    free(changes->items);
}

/* The store keeps the content of the base alone, which is `theirs` after the pull. */
static bool is_beside(const struct al_pull_side *side, const struct al_pull_side *base)
{
    return S_ISREG(side->mode) && (!base->mode || !al_oid_equal(&side->oid, &base->oid));
}

static void list_changes(const struct al_pull_plan *plan, struct changes *ret_changes)
{
    ret_changes->items = al_calloc(plan->count + 1, sizeof(*ret_changes->items));
    for (size_t i = 0; i < plan->count; i++) {
        const struct al_pull_item *item = &plan->items[i];

        if (item->changes)
            ret_changes->items[ret_changes->count++] =
                (struct change){ .path = item->path,
                                 .before = item->ours,
                                 .after = item->result,
                                 .keeps_before = is_beside(&item->ours, &item->base),
                                 .keeps_after = is_beside(&item->result, &item->theirs),
                                 .is_made = item->is_made };
    }
}

/* --- The sandbox --- */

static const struct al_sandbox_file *find(const struct al_sandbox_files *files, const char *path)
{
    size_t low = 0, high = files->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(files->items[middle].path, path);

        if (!order)
            return &files->items[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

static bool is_now(const struct al_sandbox_files *files, const char *path,
                   const struct al_pull_side *side)
{
    const struct al_sandbox_file *file = find(files, path);
    struct al_pull_side now = { 0 };

    if (file)
        now = (struct al_pull_side){ file->mode, file->oid };
    return al_pull_side_equal(&now, side);
}

/* Another call or another process may write into the sandbox. */
static int check_unchanged(struct al_sandbox *sandbox, const struct changes *changes,
                           struct al_error *err)
{
    struct al_sandbox_files files = AL_SANDBOX_FILES_INIT;
    int r = al_sandbox_snapshot(sandbox, &files, err);

    for (size_t i = 0; i < changes->count && r == 0; i++) {
        al_auto(al_freep) char *safe = NULL;

        if (changes->items[i].is_made ||
            is_now(&files, changes->items[i].path, &changes->items[i].before))
            continue;
        safe = al_text_sanitize_line(changes->items[i].path);
        r = al_error_set(err, AL_ERR_EXECUTION,
                         "'" AL_SANDBOX_ROOT "/%s' was changed while it was pulled, so nothing "
                         "was; call git_pull again",
                         safe);
    }
    al_sandbox_files_clear(&files);
    return r;
}

/* What becomes of a file, and what it was. */
static struct al_sandbox_file file_of(const struct change *change, bool back,
                                      struct al_sandbox_version *from)
{
    const struct al_pull_side *to = back ? &change->before : &change->after;
    const struct al_pull_side *was = back ? &change->after : &change->before;

    *from = (struct al_sandbox_version){ was->mode, was->oid };
    return (struct al_sandbox_file){ .path = (char *)(uintptr_t)change->path,
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

        if (change->is_made && !back)
            continue;
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

/* --- The record: "<tree of the base>" NUL, then "<mode> SP <oid> SP <mode> SP <oid> TAB <path>"
 * NUL for each file --- */

static char *record_name(const struct al_staging *staging)
{
    return al_asprintf("%s.pull", staging->key);
}

/* The tree of the base as it is on disk; "-": there is none. */
static char *base_tree(struct al_staging *staging)
{
    al_auto(al_base_record_clear) struct al_base_record record = { .heads = { .items = NULL } };
    struct al_run_limits budget = { .left_ms = LOCK_TIMEOUT_MS };
    char text[AL_OID_TEXT] = "-";

    if (al_base_record_read(staging, staging->key, &budget, &record, NULL) == 0)
        al_oid_text(&record.tree, staging->options.sha256, text);
    return al_strdup(text);
}

static void add_side(const struct al_staging *staging, const struct al_pull_side *side,
                     struct al_str *out)
{
    char text[AL_OID_TEXT];

    al_oid_text(&side->oid, staging->options.sha256, text);
    al_str_addf(out, "%o %s", side->mode, text);
}

static int write_record(struct al_staging *staging, const struct changes *changes,
                        struct al_error *err)
{
    al_auto(al_freep) char *name = record_name(staging);
    al_auto(al_freep) char *tree = base_tree(staging);
    al_auto(al_str_clear) struct al_str out = AL_STR_INIT;
    int r;

    al_str_add(&out, tree, strlen(tree) + 1);
    for (size_t i = 0; i < changes->count; i++) {
        const struct change *change = &changes->items[i];

        add_side(staging, &change->before, &out);
        al_str_addc(&out, ' ');
        add_side(staging, &change->after, &out);
        al_str_addc(&out, '\t');
        al_str_add(&out, change->path, strlen(change->path) + 1);
    }
    r = al_fs_write_durable(staging->sandboxes_fd, name, out.buf, out.len, 0600);
    return r < 0 ? al_staging_unusable(staging, -r, err) : 0;
}

static bool parse_side(const struct al_staging *staging, const char **at,
                       struct al_pull_side *ret_side)
{
    const char *end;

    ret_side->mode = al_tree_parse_mode(*at, &end);
    if (end == *at || *end != ' ' ||
        !al_oid_parse(end + 1, staging->options.sha256, &ret_side->oid))
        return false;
    *at = end + 1 + 2 * al_oid_bytes(staging->options.sha256);
    return true;
}

/* Parse the files of a record; a part that is damaged is left out. */
static void parse_record(const struct al_staging *staging, const struct al_str *record,
                         struct changes *ret_changes)
{
    size_t at = strlen(record->buf) + 1, capacity = 0;

    while (at < record->len) {
        struct change change = { .path = NULL };
        const char *field = record->buf + at;

        at += strlen(field) + 1;
        if (!parse_side(staging, &field, &change.before) || *field != ' ')
            continue;
        field++;
        if (!parse_side(staging, &field, &change.after) || *field != '\t')
            continue;
        change.path = field + 1;
        if (ret_changes->count == capacity) {
            capacity = capacity ? 2 * capacity : 64;
            ret_changes->items =
                al_reallocarray(ret_changes->items, capacity, sizeof(*ret_changes->items));
        }
        ret_changes->items[ret_changes->count++] = change;
    }
}

static int forget_record(struct al_staging *staging, struct al_error *err)
{
    al_auto(al_freep) char *name = record_name(staging);

    return al_staging_remove_json(staging, staging->sandboxes_fd, name, err);
}

/* Keep the changes whose files are as the pull left them. */
static int keep_made(struct al_sandbox *sandbox, struct changes *changes, struct al_error *err)
{
    struct al_sandbox_files files = AL_SANDBOX_FILES_INIT;
    size_t kept = 0;
    int r = al_sandbox_snapshot(sandbox, &files, err);

    for (size_t i = 0; i < changes->count && r == 0; i++)
        if (is_now(&files, changes->items[i].path, &changes->items[i].after))
            changes->items[kept++] = changes->items[i];
    changes->count = r == 0 ? kept : 0;
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

/* --- A pull --- */

/* Record the changes that are known, before the first of them is made. */
static int record_changes(struct al_staging *staging, struct al_pull_plan *plan,
                          const struct changes *changes, struct al_error *err)
{
    int r = 0;

    if (al_sandbox_dir(staging->options.sandbox) && changes->count > plan->recorded)
        r = write_record(staging, changes, err);
    if (r == 0)
        plan->recorded = changes->count;
    return r;
}

static bool is_creation(const struct al_pull_item *item)
{
    return item->changes && !item->ours.mode && al_pull_side_equal(&item->result, &item->theirs);
}

/* A file can take the place of a directory whose files are removed. */
static bool has_removal(const struct al_pull_plan *plan)
{
    for (size_t i = 0; i < plan->count; i++)
        if (plan->items[i].changes && !plan->items[i].result.mode)
            return true;
    return false;
}

int al_pull_begin_creating(struct al_staging *staging, struct al_pull_plan *plan, bool *creates,
                           struct al_error *err)
{
    al_auto(clear) struct changes changes = { .items = NULL };
    bool any = false;

    if (!al_sandbox_dir(staging->options.sandbox) || has_removal(plan))
        return 0;
    for (size_t i = 0; i < plan->count; i++) {
        if (!is_creation(&plan->items[i]))
            continue;
        creates[plan->items[i].which] = true;
        any = true;
    }
    if (!any)
        return 0;
    list_changes(plan, &changes);
    return record_changes(staging, plan, &changes, err);
}

void al_pull_end_creating(struct al_pull_plan *plan, const bool *creates)
{
    for (size_t i = 0; i < plan->count; i++)
        if (plan->items[i].which != SIZE_MAX && creates[plan->items[i].which])
            plan->items[i].is_made = true;
}

/* Test whether something is left to do. */
static bool has_unmade(const struct changes *changes)
{
    for (size_t i = 0; i < changes->count; i++)
        if (!changes->items[i].is_made)
            return true;
    return false;
}

int al_pull_apply(struct al_staging *staging, struct al_pull_plan *plan, struct al_error *err)
{
    al_auto(clear) struct changes changes = { .items = NULL };
    int r;

    list_changes(plan, &changes);
    if (!has_unmade(&changes))
        return 0;
    r = check_unchanged(staging->options.sandbox, &changes, err);
    if (r == 0)
        r = record_changes(staging, plan, &changes, err);
    return r < 0 ? r : set_files(staging, &changes, false, err);
}

void al_pull_take_back(struct al_staging *staging, const struct al_pull_plan *plan)
{
    al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;
    al_auto(clear) struct changes changes = { .items = NULL };

    if (!plan->recorded)
        return;
    list_changes(plan, &changes);
    if (take_back(staging, &changes, &why) < 0)
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
    al_auto(al_freep) char *name = record_name(staging);
    al_auto(al_freep) char *tree = NULL;
    al_auto(al_str_clear) struct al_str record = AL_STR_INIT;
    al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;
    al_auto(clear) struct changes changes = { .items = NULL };
    int r = 0;

    if (al_fs_read(staging->sandboxes_fd, name, RECORD_MAX_BYTES, &record) < 0 || !record.len)
        return;
    tree = base_tree(staging);
    if (!strcmp(tree, record.buf)) { /* else the base was written: the pull was complete */
        parse_record(staging, &record, &changes);
        r = take_back(staging, &changes, &why);
    }
    if (r == 0)
        r = forget_record(staging, &why);
    if (r < 0)
        al_log_warn("a pull that was interrupted could not be taken back: %s", why.message);
}
