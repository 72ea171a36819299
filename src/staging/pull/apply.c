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

/* A file before and after. */
struct change {
    const char *path; /* borrowed */
    struct al_pull_side before, after;
    bool keeps_before, keeps_after; /* the base does not have this content */
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
                                 .keeps_after = is_beside(&item->result, &item->theirs) };
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

        if (is_now(&files, changes->items[i].path, &changes->items[i].before))
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

/* Remove what is to go, and then write what is to come: a file may take the place of a directory.
 */
static int set_files(struct al_staging *staging, const struct changes *changes, bool back,
                     struct al_error *err)
{
    struct al_sandbox *sandbox = staging->options.sandbox;
    al_auto(al_freep) struct al_sandbox_file *files = al_calloc(changes->count + 1, sizeof(*files));
    size_t count = 0;
    int r = 0;

    for (size_t i = 0; i < changes->count && r == 0; i++) {
        const struct change *change = &changes->items[i];
        const struct al_pull_side *to = back ? &change->before : &change->after;

        if (to->mode)
            files[count++] =
                (struct al_sandbox_file){ .path = (char *)(uintptr_t)change->path,
                                          .mode = to->mode,
                                          .oid = to->oid,
                                          .keeps_content =
                                              back ? change->keeps_before : change->keeps_after };
        else
            r = al_sandbox_remove(sandbox, change->path, err);
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

static void take_back(struct al_staging *staging, const struct changes *changes)
{
    al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;

    if (set_files(staging, changes, true, &why) < 0)
        al_log_warn("a failed pull could not be taken back: %s", why.message);
    else if (al_sandbox_dir(staging->options.sandbox))
        (void)forget_record(staging, NULL); /* taking it back twice does no harm */
}

int al_pull_apply(struct al_staging *staging, const struct al_pull_plan *plan, struct al_error *err)
{
    struct al_sandbox *sandbox = staging->options.sandbox;
    al_auto(clear) struct changes changes = { .items = NULL };
    int r;

    list_changes(plan, &changes);
    if (!changes.count)
        return 0;
    r = check_unchanged(sandbox, &changes, err);
    if (r == 0 && al_sandbox_dir(sandbox))
        r = write_record(staging, &changes, err);
    if (r < 0)
        return r;
    r = set_files(staging, &changes, false, err);
    if (r < 0)
        take_back(staging, &changes);
    return r;
}

void al_pull_take_back(struct al_staging *staging, const struct al_pull_plan *plan)
{
    al_auto(clear) struct changes changes = { .items = NULL };

    list_changes(plan, &changes);
    if (changes.count)
        take_back(staging, &changes);
}

int al_pull_complete(struct al_staging *staging, struct al_error *err)
{
    return al_sandbox_dir(staging->options.sandbox) ? forget_record(staging, err) : 0;
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

void al_pull_recover(struct al_staging *staging)
{
    struct al_sandbox *sandbox = staging->options.sandbox;
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
        r = keep_made(sandbox, &changes, &why);
        if (r == 0)
            r = set_files(staging, &changes, true, &why);
    }
    if (r == 0)
        r = forget_record(staging, &why);
    if (r < 0)
        al_log_warn("a pull that was interrupted could not be taken back: %s", why.message);
}
