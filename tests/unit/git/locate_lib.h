// SPDX-License-Identifier: Apache-2.0
/* The base of tests of finding a repository: it is opened, or refused in these words. */
#ifndef TESTS_UNIT_GITOPS_LOCATE_LIB_H
#define TESTS_UNIT_GITOPS_LOCATE_LIB_H

#include "tests/unit/git/lib.h"

static inline void assert_opens(struct world *w, const char *given, const char *top)
{
    al_auto(repo_freep) struct al_repo *repo = must_open(w, given);
    al_auto(al_freep) char *expected = tmpdir_path(w->root, top);
    al_auto(al_freep) char *status = NULL;

    assert_string_equal(repo->at.top, expected);
    status = status_text(repo); /* and git agrees that it is one */
}

/* Refused with this status and message; the message tells nothing of what lies outside. */
static inline void assert_refused(struct world *w, const char *given, int status,
                                  const char *message)
{
    al_auto(repo_freep) struct al_repo *repo = try_open(w, given);

    assert_null(repo);
    assert_int_equal(w->err.status, status);
    assert_string_equal(w->err.message, message);
    assert_null(w->err.detail);
}

static inline void assert_outside(struct world *w, const char *given)
{
    al_auto(al_freep) char *message = al_asprintf("Path outside sandbox: %s", given);

    assert_refused(w, given, AL_ERR_SANDBOX, message);
}

/* The same, and which part of the repository it is. */
static inline void assert_part_outside(struct world *w, const char *given, const char *part)
{
    assert_outside(w, given);
    assert_non_null(w->err.remedy);
    assert_non_null(strstr(w->err.remedy, part));
    assert_non_null(strstr(w->err.remedy, "--root"));
    assert_null(strstr(w->err.remedy, w->outside->path));
}

static inline void assert_no_repository(struct world *w, const char *given)
{
    al_auto(al_freep) char *message = al_asprintf("Not a git repository: %s", given);

    assert_refused(w, given, AL_ERR_EXECUTION, message);
    assert_int_equal(w->err.code, AL_CODE_NOT_INITIALIZED);
}

/* A repository with one commit in <place>/<name>. */
static inline void make_repo(struct tmpdir *place, const char *name)
{
    al_auto(subdir_closep) struct tmpdir *dir = subdir_open(place, name);

    git_fixture_init(dir);
    git_fixture_commit(dir, "f.txt", "f\n", "f");
}

#endif
