// SPDX-License-Identifier: Apache-2.0
/* The tests of restoring share a way between two checkpoints. */
#ifndef TESTS_UNIT_HISTORY_RESTORE_LIB_H
#define TESTS_UNIT_HISTORY_RESTORE_LIB_H

#include "tests/unit/history/rollback_lib.h"

/** Two checkpoints, and the way from one to the other. */
struct between {
    char target[AL_OID_TEXT];
    struct al_way way;
    struct al_rollback report;
};

static inline void between_clear(struct between *b)
{
    al_way_clear(&b->way);
    al_rollback_clear(&b->report);
}

#define BETWEEN_INIT ((struct between){ .way = { AL_WAY_INIT }, .report = AL_ROLLBACK_INIT })

/* Take the checkpoint of the present, to go back to s->id. */
static inline void look(struct saver *s, struct between *b)
{
    b->way.store = s->store;
    b->way.repo = s->repo;
    b->way.report = &b->report;
    memcpy(b->way.token, "0123456789abcdef", AL_LOCK_TOKEN);
    memcpy(b->target, s->id, sizeof(b->target));
    take(s, NULL);
    memcpy(b->way.present, s->id, sizeof(b->way.present));
    assert_int_equal(al_location_open_all(&b->way.repo->at, &b->way.top_fd, &b->way.git_fd,
                                          &b->way.common_fd, &s->w->err),
                     0);
    assert_int_equal(al_way_to(&b->way, b->target, NULL, &s->w->err), 0);
}

static inline int apply(struct saver *s, struct between *b)
{
    int r;

    al_error_clear(&s->w->err);
    r = al_restore_objects(&b->way, &s->w->err);
    return r < 0 ? r : al_restore_apply(&b->way, &s->w->err);
}

static inline void must_apply(struct saver *s, struct between *b)
{
    int r = apply(s, b);

    if (r < 0)
        print_message("# %s\n", s->w->err.message);
    assert_int_equal(r, 0);
}

/* "<name>\n" of what would be lost. */
static inline void assert_unsaved(struct saver *s, struct between *b, const char *expected)
{
    const struct al_strv *unsaved = &b->report.unsaved;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    (void)s;
    al_obstacles_unsaved(&b->way);
    for (size_t i = 0; i < unsaved->count; i++)
        al_str_addf(&text, "%s\n", unsaved->items[i]);
    assert_string_equal(text.buf ? text.buf : "", expected);
}

static inline void assert_file(const struct tmpdir *dir, const char *name, const char *expected)
{
    al_auto(al_freep) char *text = tmpdir_read(dir, name);

    if (!expected) {
        assert_null(text);
        return;
    }
    assert_non_null(text);
    assert_string_equal(text, expected);
}

/* All that git says about the repository.  Caller frees. */
static inline char *git_view(const struct saver *s)
{
    al_auto(al_freep) char *status =
        git_output(s->w->repo, "status", "--porcelain=v2", "--branch", "--ignored", NULL);
    al_auto(al_freep) char *refs = git_output(s->w->repo, "for-each-ref", NULL);
    al_auto(al_freep) char *staged = git_output(s->w->repo, "ls-files", "--stage", NULL);

    return al_asprintf("%s%s%s", status, refs, staged);
}

#endif
