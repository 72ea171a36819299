// SPDX-License-Identifier: Apache-2.0
#include "staging/pull/file_merge.h"

#include "guard/text.h"
#include "staging/import.h"
#include "staging/markers.h"
#include "staging/pull/merge.h"
#include "staging/store.h"

#define STORED_MAX_BYTES (1u << 30)

/* The versions of one file. */
struct versions {
    struct al_str theirs, base, ours;
};

static void clear(struct versions *versions)
{
    al_str_clear(&versions->theirs);
    al_str_clear(&versions->base);
    al_str_clear(&versions->ours);
}

/* One byte more than can be merged tells that a version is too large. */
static int take(void *payload, size_t which, const char *data, size_t len, bool last,
                struct al_error *err)
{
    struct versions *versions = payload;
    struct al_str *text = which ? &versions->base : &versions->theirs;
    size_t room = AL_MERGE_MAX_BYTES + 1 - text->len;

    (void)last;
    (void)err;
    al_str_add(text, data, len < room ? len : room);
    return 0;
}

static int read_stored(struct al_staging *staging, const struct al_pull_item *item,
                       struct al_run_limits *budget, struct versions *versions,
                       struct al_error *err)
{
    char theirs[AL_OID_TEXT], base[AL_OID_TEXT];
    const char *const oids[] = { theirs, base };

    al_oid_text(&item->theirs.oid, staging->options.sha256, theirs);
    al_oid_text(&item->base.oid, staging->options.sha256, base);
    return al_bare_read(&staging->bare, oids, item->base.mode ? 2 : 1, take, versions, budget, err);
}

static int was_changed(const struct al_pull_item *item, struct al_error *err)
{
    al_auto(al_freep) char *safe = al_text_sanitize_line(item->path);

    return al_error_set(err, AL_ERR_EXECUTION,
                        "'" AL_SANDBOX_ROOT "/%s' was changed while it was pulled, so nothing "
                        "was; call git_pull again",
                        safe);
}

static int read_ours(struct al_staging *staging, const struct al_pull_item *item,
                     struct versions *versions, struct al_error *err)
{
    struct al_oid oid;
    uint64_t size;
    int r = al_sandbox_read(staging->options.sandbox, item->path, 0, AL_MERGE_MAX_BYTES + 1,
                            &versions->ours, &size, err);

    if (r < 0 || size > AL_MERGE_MAX_BYTES)
        return r;
    al_oid_of(staging->options.sha256, AL_OBJECT_BLOB, versions->ours.buf, versions->ours.len,
              &oid);
    if (al_oid_equal(&oid, &item->ours.oid))
        return 0;
    return was_changed(item, err);
}

static void put_result(struct al_import *import, const struct versions *versions,
                       const struct al_str *content, struct al_pull_item *item)
{
    al_import_put(import, versions->ours.buf, versions->ours.len);
    al_import_put(import, content->buf, content->len);
    al_oid_of(import->staging->options.sha256, AL_OBJECT_BLOB, content->buf, content->len,
              &item->result.oid);
    item->changes = !al_pull_side_equal(&item->result, &item->ours);
}

static int merge_item(struct al_staging *staging, struct al_pull_item *item,
                      struct al_import *import, struct al_run_limits *budget, struct al_error *err)
{
    al_auto(clear) struct versions versions = { AL_STR_INIT, AL_STR_INIT, AL_STR_INIT };
    al_auto(al_str_clear) struct al_str content = AL_STR_INIT;
    const struct al_merge_sides sides = { .base = item->base.mode ? &versions.base : NULL,
                                          .ours = &versions.ours,
                                          .theirs = &versions.theirs };
    enum al_merge_outcome outcome = AL_MERGE_CLEAN;
    int r = read_stored(staging, item, budget, &versions, err);

    if (r == 0)
        r = read_ours(staging, item, &versions, err);
    if (r == 0)
        r = al_merge(staging, &sides, budget, &outcome, &content, err);
    if (r < 0)
        return r;
    if (outcome == AL_MERGE_BINARY)
        al_pull_keep_ours(item, "binary, and changed on both sides; the sandbox's file was kept. "
                                "delete_file and git_pull again take the incoming one");
    else if (outcome == AL_MERGE_TOO_LARGE)
        al_pull_keep_ours(item, "too large to be merged; the sandbox's file was kept. delete_file "
                                "and git_pull again take the incoming one");
    else
        put_result(import, &versions, &content, item);
    item->has_markers = outcome == AL_MERGE_CONFLICT;
    item->has_all_separators = item->has_markers && al_markers_have_all_separators(&content);
    if (item->has_markers)
        item->conflict = item->base.mode ? "the lines between the markers have to be resolved"
                                         : "the sandbox had another file of this name; the lines "
                                           "between the markers have to be resolved";
    return r;
}

/* A file whose mode alone changes: the store may not have what the agent wrote. */
static bool needs_storing(const struct al_pull_item *item)
{
    return item->changes && item->ours.mode && !al_oid_equal(&item->ours.oid, &item->base.oid);
}

static int store_ours(struct al_staging *staging, const struct al_pull_item *item,
                      struct al_import *import, struct al_error *err)
{
    al_auto(al_str_clear) struct al_str content = AL_STR_INIT;
    struct al_oid oid;
    uint64_t size;
    int r = al_sandbox_read(staging->options.sandbox, item->path, 0, STORED_MAX_BYTES, &content,
                            &size, err);

    if (r < 0)
        return r;
    al_oid_of(staging->options.sha256, AL_OBJECT_BLOB, content.buf, content.len, &oid);
    al_import_put(import, content.buf, content.len);
    return al_oid_equal(&oid, &item->ours.oid) ? 0 : was_changed(item, err);
}

int al_pull_merge(struct al_staging *staging, struct al_pull_plan *plan,
                  struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_import_clear) struct al_import import = { .file = NULL };
    bool any = false;
    int r = 0;

    for (size_t i = 0; i < plan->count && r == 0; i++) {
        struct al_pull_item *item = &plan->items[i];

        if (!item->merges && !needs_storing(item))
            continue;
        if (!any)
            r = al_import_begin(staging, &import, err);
        any = true;
        if (r == 0)
            r = item->merges ? merge_item(staging, item, &import, budget, err)
                             : store_ours(staging, item, &import, err);
    }
    return r < 0 || !any ? r : al_import_end(&import, budget, NULL, err);
}
