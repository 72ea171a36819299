// SPDX-License-Identifier: Apache-2.0
#include "staging/pull/pull.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/fs.h"
#include "git/plumbing/bare.h"
#include "staging/store.h"

/* git takes a file for binary when a NUL is among the first bytes. */
#define BINARY_LOOK_BYTES 8000u

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
    const struct al_location bare = al_staging_bare(staging, budget);
    unsigned number = atomic_fetch_add(&serial, 1);
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
    for (size_t i = 0; i < SIDES; i++) {
        if (texts[i]->len > AL_MERGE_MAX_BYTES) /* perhaps only its beginning */
            *ret_outcome = AL_MERGE_TOO_LARGE;
        else if (is_binary(texts[i]) && !only && *ret_outcome == AL_MERGE_CLEAN)
            *ret_outcome = AL_MERGE_BINARY;
    }
    if (*ret_outcome != AL_MERGE_CLEAN)
        return 0;
    if (only) {
        al_str_add(ret_content, only->buf, only->len);
        return 0;
    }
    r = merge_lines(staging, texts, budget, ret_content, &conflict, err);
    if (r == 0 && conflict)
        *ret_outcome = AL_MERGE_CONFLICT;
    return r;
}
