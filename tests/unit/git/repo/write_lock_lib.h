// SPDX-License-Identifier: Apache-2.0
/* The tests of git/repo/write_lock.c share writers with threads of their own. */
#ifndef TESTS_UNIT_GITOPS_REPO_WRITE_LOCK_LIB_H
#define TESTS_UNIT_GITOPS_REPO_WRITE_LOCK_LIB_H

#include <pthread.h>

#include "git/git_lock.h"
#include "git/repo/write_lock.h"
#include "tests/unit/git/lib.h"

/* A writer with a thread of its own.  It writes its letter while it holds the lock. */
struct writer {
    struct al_repo *repo;
    struct al_run_limits budget;
    struct al_str *log; /* guarded by the write lock */
    char letter;
    int r;
    struct al_error err;
    pthread_t thread;
};

static inline void *write_letter(void *payload)
{
    struct writer *writer = payload;

    writer->r =
        al_write_lock_acquire_with(writer->repo, AL_LOCK_INDEX, &writer->budget, &writer->err);
    if (writer->r == 0) {
        al_str_addc(writer->log, writer->letter);
        al_write_lock_release(writer->repo);
    }
    return NULL;
}

static inline void start(struct world *w, struct writer *writer, const char *given,
                         struct al_str *log, char letter)
{
    *writer = (struct writer){
        .repo = must_open(w, given), .budget = long_budget(), .log = log, .letter = letter
    };
    writer->budget.cancel = al_cancel_new();
    assert_int_equal(pthread_create(&writer->thread, NULL, write_letter, writer), 0);
}

static inline int finish(struct writer *writer)
{
    assert_int_equal(pthread_join(writer->thread, NULL), 0);
    al_repo_free(writer->repo);
    al_cancel_unref(writer->budget.cancel);
    al_error_clear(&writer->err);
    return writer->r;
}

/* Whether nobody holds the lock. */
static inline bool is_free(struct world *w)
{
    al_auto(repo_freep) struct al_repo *repo = must_open(w, "repo");
    const struct al_repo none = { .at = { .common_dir = (char[]){ "" } } };
    struct al_run_limits budget = { .left_ms = 1 };

    return al_write_lock_acquire_other(repo, &none, &budget, NULL) == 0;
}

/* Long enough for a writer to wait. */
static inline void let_it_wait(void)
{
    (void)usleep(50000);
}

#endif
