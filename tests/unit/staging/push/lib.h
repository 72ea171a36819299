// SPDX-License-Identifier: Apache-2.0
/* Pushes to the repository of the world, shared by the tests of src/staging/push. */
#ifndef TESTS_UNIT_STAGING_PUSH_LIB_H
#define TESTS_UNIT_STAGING_PUSH_LIB_H

#include "staging/push/push.h"
#include "staging/target.h"
#include "tests/unit/staging/lib.h"

/* Write new files `<prefix>0`, … of different content, and stage them. */
static inline void stage_many(struct stager *s, const char *prefix, int count)
{
    al_auto(al_str_clear) struct al_str words = AL_STR_INIT;

    for (int i = 0; i < count; i++) {
        al_auto(al_freep) char *name = al_asprintf("%s%d", prefix, i);

        put(s, name, name);
        al_str_addf(&words, "/workspace/%s ", name);
    }
    stage(s, words.buf, "x");
}

static inline struct al_push *plan_push(struct stager *s, struct al_repo *repo)
{
    const struct al_target target = { .type = AL_TARGET_LOCAL, .path = (char *)"repo" };
    struct al_push *push = NULL;

    must(s, al_push_plan(s->staging, s->last.id, &target, repo, &push, &s->w->err));
    return push;
}

static inline void push_freep(struct al_push **push)
{
    al_push_free(*push);
}

/* Push what was staged last; gives the notes as one text, which the caller frees. */
static inline char *push_last(struct stager *s)
{
    al_auto(repo_freep) struct al_repo *repo = must_open(s->w, "repo");
    al_auto(push_freep) struct al_push *push = plan_push(s, repo);
    al_auto(al_push_result_clear) struct al_push_result result = { .message = NULL };
    al_auto(al_str_clear) struct al_str notes = AL_STR_INIT;

    must(s, al_push_run(push, NULL, &result, &s->w->err));
    assert_false(result.is_conflict);
    for (size_t i = 0; i < result.notes.count; i++)
        al_str_addf(&notes, "%s\n", result.notes.items[i]);
    return al_str_detach(&notes);
}

/* The question about it, which the caller frees; NULL and s->w->err when it fails. */
static inline char *show_last(struct stager *s)
{
    al_auto(repo_freep) struct al_repo *repo = must_open(s->w, "repo");
    al_auto(push_freep) struct al_push *push = plan_push(s, repo);
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    al_auto(al_freep) char *commit = NULL;
    size_t framed;

    al_error_clear(&s->w->err);
    return al_push_preview(push, &text, &framed, &commit, &s->w->err) < 0 ? NULL
                                                                          : al_str_detach(&text);
}

#endif
