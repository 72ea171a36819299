// SPDX-License-Identifier: Apache-2.0
/* The tests of history/rollback_restore.c share a restore between two checkpoints. */
#ifndef TESTS_UNIT_HISTORY_RESTORE_LIB_H
#define TESTS_UNIT_HISTORY_RESTORE_LIB_H

#include "history/rollback_restore.h"
#include "tests/unit/history/rollback_lib.h"

/** Two checkpoints, and what lies between them. */
struct between {
    char target[AL_OID_TEXT], present[AL_OID_TEXT];
    struct al_differences changes;
    struct al_saved_state from, to;
    struct al_run_limits limits;
    struct tmpdir *git_dir;
    struct al_strv kept;
};

static inline void between_clear(struct between *b)
{
    al_differences_clear(&b->changes);
    al_saved_state_clear(&b->from);
    al_saved_state_clear(&b->to);
    al_strv_clear(&b->kept);
    if (b->git_dir)
        subdir_close(b->git_dir);
}

/* Take the checkpoint of the present, to go back to s->id. */
static inline void look(struct saver *s, struct between *b)
{
    b->limits = long_budget();
    memcpy(b->target, s->id, sizeof(b->target));
    take(s, NULL);
    memcpy(b->present, s->id, sizeof(b->present));
    assert_int_equal(al_checkpoint_state(s->store, b->target, &b->limits, &b->to, &s->w->err), 0);
    assert_int_equal(al_checkpoint_state(s->store, b->present, &b->limits, &b->from, &s->w->err),
                     0);
    assert_int_equal(
        al_checkpoint_compare(s->store, b->present, b->target, &b->limits, &b->changes, &s->w->err),
        0);
    b->git_dir = subdir_open(s->w->repo, ".git");
}

static inline struct al_restore restore_of(struct saver *s, struct between *b)
{
    return (struct al_restore){
        .store = s->store,
        .repo = s->repo,
        .changes = &b->changes,
        .from = &b->from,
        .to = &b->to,
        .token = "0123456789abcdef",
        .budget = &b->limits,
        .top_fd = s->w->repo->fd,
        .git_fd = b->git_dir->fd,
        .common_fd = b->git_dir->fd,
    };
}

static inline int apply(struct saver *s, struct between *b)
{
    const struct al_restore restore = restore_of(s, b);

    al_error_clear(&s->w->err);
    return al_restore_apply(&restore, &b->kept, &s->w->err);
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
    const struct al_restore restore = restore_of(s, b);
    al_auto(al_strv_clear) struct al_strv unsaved = AL_STRV_INIT;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    al_restore_check(&restore, &unsaved);
    for (size_t i = 0; i < unsaved.count; i++)
        al_str_addf(&text, "%s\n", unsaved.items[i]);
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
