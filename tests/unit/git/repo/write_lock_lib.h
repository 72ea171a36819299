// SPDX-License-Identifier: Apache-2.0
/* The tests of git/repo/write_lock.c share writers with threads of their own. */
#ifndef TESTS_UNIT_GITOPS_REPO_WRITE_LOCK_LIB_H
#define TESTS_UNIT_GITOPS_REPO_WRITE_LOCK_LIB_H

#include <pthread.h>
#include <sched.h>

#include "git/layer.h"
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

    writer->r = al_write_lock_acquire_with_index(writer->repo, &writer->budget, &writer->err);
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

static inline size_t count_locks(struct al_git *git)
{
    size_t count = 0;

    (void)pthread_mutex_lock(&git->lock);
    for (const struct al_write_lock *at = git->write_locks; at; at = at->next)
        count++;
    (void)pthread_mutex_unlock(&git->lock);
    return count;
}

/* Wait until so many work or wait, so that they arrive one after the other. */
static inline void await_locks(struct al_git *git, size_t count)
{
    while (count_locks(git) != count)
        sched_yield();
}

#endif
