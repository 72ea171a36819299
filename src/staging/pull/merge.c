// SPDX-License-Identifier: Apache-2.0
#include "staging/pull/pull.h"

#include "staging/store.h"
#include "verbs/sequencer/conflict_hunks.h"

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

int al_merge(struct al_staging *staging, const struct al_merge_sides *sides,
             struct al_run_limits *budget, enum al_text_merge *ret_outcome,
             struct al_str *ret_content, struct al_error *err)
{
    const struct al_str nothing = AL_STR_INIT;
    const struct al_str *texts[SIDES] = { sides->ours, sides->base ? sides->base : &nothing,
                                          sides->theirs };
    const struct al_str *only = only_change(sides);
    const struct al_location bare = al_staging_bare(staging, budget);
    al_auto(al_strv_clear) struct al_strv labels = AL_STRV_INIT;
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
    al_strv_adds(&labels, "-L", AL_MERGE_LABEL_OURS, "-L", "base", "-L", AL_MERGE_LABEL_THEIRS,
                 NULL);
    r = al_conflict_merge_texts(&bare, texts, &labels, al_git_sink(ret_content), err);
    if (r > 0)
        *ret_outcome = AL_MERGE_CONFLICT;
    return r < 0 ? r : 0;
}
