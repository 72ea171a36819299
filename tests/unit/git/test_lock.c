// SPDX-License-Identifier: Apache-2.0
/* git/vet/vet.h, git/repo/remotes.h, git/run.h: nobody holds a lock that all
 * repositories share while a place is looked at that may never answer, on a dead file server say.
 */
#include "git/command.h"
#include "git/layer.h"
#include "git/repo/remotes.h"
#include "git/repo/repo.h"
#include "proc/proc.h"
#include "tests/unit/git/lib.h"
#include "verbs/transport/network.h"

static bool watching;
static _Thread_local int locks; /* that this thread has */
static unsigned looks, held;

static void look(void)
{
    looks += watching;
    held += watching && locks > 0;
}

/* The linker puts these in the way. */
int __real_pthread_mutex_lock(pthread_mutex_t *lock);
int __wrap_pthread_mutex_lock(pthread_mutex_t *lock);
int __real_pthread_mutex_unlock(pthread_mutex_t *lock);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *lock);
struct al_file_id __real_al_file_id_at(int dir_fd, const char *path);
struct al_file_id __wrap_al_file_id_at(int dir_fd, const char *path);
int __wrap_pthread_mutex_lock(pthread_mutex_t *lock)
{
    locks++;
    return __real_pthread_mutex_lock(lock);
}

int __wrap_pthread_mutex_unlock(pthread_mutex_t *lock)
{
    locks--;
    return __real_pthread_mutex_unlock(lock);
}

struct al_file_id __wrap_al_file_id_at(int dir_fd, const char *path)
{
    look();
    return __real_al_file_id_at(dir_fd, path);
}

static void begin_watch(void)
{
    looks = held = 0;
    watching = true;
}

/* A test looked at least once, and no lock was held any time. */
static void assert_free(void)
{
    watching = false;
    assert_true(looks > 0);
    assert_int_equal(held, 0);
}

/* The control: a look while the lock is held is one that counts. */
static void a_look_under_the_lock_is_seen(void **state)
{
    struct world *w = *state;

    begin_watch();
    (void)pthread_mutex_lock(&w->git->lock);
    (void)al_file_id_at(AT_FDCWD, "/");
    (void)pthread_mutex_unlock(&w->git->lock);
    watching = false;
    assert_int_equal(looks, 1);
    assert_int_equal(held, 1);
}

static void a_repository_is_vetted_without_the_lock(void **state)
{
    struct world *w = *state;

    begin_watch();
    al_repo_free(must_open(w, "repo"));
    assert_free();
}

/* What a vetting rests on is looked at once more, be it the same or not. */
static void a_remembered_vetting_is_looked_at_without_the_lock(void **state)
{
    struct world *w = *state;
    uint64_t before;

    do {
        before = al_proc_started();
        begin_watch();
        al_repo_free(must_open(w, "repo"));
        assert_free();
    } while (al_proc_started() != before);
    git_ok(w->repo, "config", "x.y", "z", NULL);
    begin_watch();
    al_repo_free(must_open(w, "repo"));
    assert_free();
}

static void what_is_known_of_remotes_is_looked_up_without_a_lock(void **state)
{
    struct world *w = *state;
    al_auto(al_remote_clear) struct al_remote remote = AL_REMOTE_INIT;
    al_auto(repo_freep) struct al_repo *repo = NULL;

    git_ok(w->repo, "remote", "add", "origin", "https://example.com/r", NULL);
    repo = must_open(w, "repo");
    assert_int_equal(al_remote_find(repo, "origin", &remote, &w->err), 0);
    begin_watch();
    assert_true(al_remote_address_is_new(repo, "origin", "https://example.com/r",
                                         AL_PUSHES)); /* since the session began */
    assert_free();
    begin_watch();
    al_remote_forget(repo, "origin");
    assert_free();
    begin_watch();
    al_remote_accept(repo, &remote, AL_PUSHES);
    assert_free();
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        WORLD_TEST(a_look_under_the_lock_is_seen),
        WORLD_TEST(a_repository_is_vetted_without_the_lock),
        WORLD_TEST(a_remembered_vetting_is_looked_at_without_the_lock),
        WORLD_TEST(what_is_known_of_remotes_is_looked_up_without_a_lock),
    };

    gitops_begin();
    return cmocka_run_group_tests_name("gitops/lock", tests, NULL, NULL);
}
