// SPDX-License-Identifier: Apache-2.0
#include "staging/pull/private.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/fs.h"
#include "git/plumbing/bare.h"
#include "guard/text.h"
#include "staging/store.h"

/* git takes a file for binary when a NUL is among the first bytes. */
#define BINARY_LOOK_BYTES 8000u

#define STORED_MAX_BYTES  (1u << 30)

enum side { OURS, BASE, THEIRS, SIDES };

static bool is_equal(const struct al_str *a, const struct al_str *b)
{
    return a->len == b->len && (!a->len || !memcmp(a->buf, b->buf, a->len));
}

static bool is_binary(const struct al_str *text)
{
    size_t len = text->len < BINARY_LOOK_BYTES ? text->len : BINARY_LOOK_BYTES;

    return len && memchr(text->buf, 0, len);
}

/* The result where only one side changed, or both did the same; NULL: lines have to be merged. */
static const struct al_str *only_change(const struct al_merge_sides *sides)
{
    if (is_equal(sides->ours, sides->theirs))
        return sides->ours;
    if (sides->base && is_equal(sides->base, sides->ours))
        return sides->theirs;
    return sides->base && is_equal(sides->base, sides->theirs) ? sides->ours : NULL;
}

static void remove_files(const struct al_staging *staging, char *const names[SIDES])
{
    for (size_t i = 0; i < SIDES; i++)
        (void)unlinkat(staging->bare.dir_fd, names[i], 0); /* gc removes what stays */
}

static int write_files(struct al_staging *staging, const struct al_str *const texts[SIDES],
                       char *const names[SIDES], struct al_error *err)
{
    int r = 0;

    for (size_t i = 0; i < SIDES && r == 0; i++)
        r = al_fs_write_atomic(staging->bare.dir_fd, names[i], texts[i]->buf, texts[i]->len, 0600,
                               true);
    return r < 0 ? al_staging_unusable(staging, -r, err) : 0;
}

static int merge_lines(struct al_staging *staging, const struct al_str *const texts[SIDES],
                       struct al_run_limits *budget, struct al_str *ret_content, bool *ret_conflict,
                       struct al_error *err)
{
    static const char *const sides[SIDES] = { "ours", "base", "theirs" };
    static atomic_uint serial;
    unsigned number = atomic_fetch_add(&serial, 1);
    const struct al_location bare = al_staging_bare(staging, budget);
    char *names[SIDES];
    int r;

    for (size_t i = 0; i < SIDES; i++)
        names[i] = al_asprintf("tmp_merge_%ld_%u_%s", (long)getpid(), number, sides[i]);
    r = write_files(staging, texts, names, err);
    if (r == 0)
        r = al_bare_merge_files(&bare,
                                &(struct al_merge_files){ .base = names[BASE],
                                                          .ours = names[OURS],
                                                          .theirs = names[THEIRS] },
                                ret_content, ret_conflict, err);
    remove_files(staging, names);
    for (size_t i = 0; i < SIDES; i++)
        free(names[i]);
    return r;
}

int al_merge(struct al_staging *staging, const struct al_merge_sides *sides,
             struct al_run_limits *budget, enum al_merge_outcome *ret_outcome,
             struct al_str *ret_content, struct al_error *err)
{
    const struct al_str nothing = AL_STR_INIT;
    const struct al_str *texts[SIDES] = { sides->ours, sides->base ? sides->base : &nothing,
                                          sides->theirs };
    const struct al_str *only = only_change(sides);
    bool conflict = false;
    int r;

    al_str_reset(ret_content);
    *ret_outcome = AL_MERGE_CLEAN;
    if (only) {
        al_str_add(ret_content, only->buf, only->len);
        return 0;
    }
    for (size_t i = 0; i < SIDES; i++) {
        if (texts[i]->len > AL_MERGE_MAX_BYTES)
            *ret_outcome = AL_MERGE_TOO_LARGE;
        else if (is_binary(texts[i]) && *ret_outcome == AL_MERGE_CLEAN)
            *ret_outcome = AL_MERGE_BINARY;
    }
    if (*ret_outcome != AL_MERGE_CLEAN)
        return 0;
    r = merge_lines(staging, texts, budget, ret_content, &conflict, err);
    if (r == 0 && conflict)
        *ret_outcome = AL_MERGE_CONFLICT;
    return r;
}

/* --- The files of a pull --- */

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
static int take(void *payload, size_t which, const char *data, size_t len, bool last,
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
    return al_bare_read(&bare, oids, item->base.mode ? 2 : 1, take, stored, pull->err);
}

/* What the agent wrote; of a file that is too large to be merged only a part. */
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

static void set_outcome(struct al_pull_item *item, enum al_merge_outcome outcome)
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
    enum al_merge_outcome outcome = AL_MERGE_CLEAN;
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

int al_pull_merge(struct al_pull *pull)
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
