// SPDX-License-Identifier: Apache-2.0
/* gitops/vet.h, gitops/private.h: nobody holds the lock of all repositories while a place is looked
 * at that may never answer, on a dead file server say. */
#include "gitops/private.h"
#include "proc/confine.h"
#include "test_gitops_lib.h"

static struct al_git *watched; /* NULL: nobody looks */
static unsigned looks, held;

/* A program of one thread gets a lock unless it has it. */
static void look(void)
{
    if (!watched)
        return;
    looks++;
    if (pthread_mutex_trylock(&watched->lock) == 0)
        (void)pthread_mutex_unlock(&watched->lock);
    else
        held++;
}

/* The linker puts these in the way. */
struct al_file_id __real_al_file_id_at(int dir_fd, const char *path);
struct al_file_id __wrap_al_file_id_at(int dir_fd, const char *path);
bool __real_al_ruleset_is_current(const struct al_ruleset *ruleset);
bool __wrap_al_ruleset_is_current(const struct al_ruleset *ruleset);
int __real_al_ruleset_new(const struct al_confine_rule *rules, size_t nrules,
                          struct al_ruleset **ret_ruleset, struct al_error *err);
int __wrap_al_ruleset_new(const struct al_confine_rule *rules, size_t nrules,
                          struct al_ruleset **ret_ruleset, struct al_error *err);

struct al_file_id __wrap_al_file_id_at(int dir_fd, const char *path)
{
    look();
    return __real_al_file_id_at(dir_fd, path);
}

bool __wrap_al_ruleset_is_current(const struct al_ruleset *ruleset)
{
    look();
    return __real_al_ruleset_is_current(ruleset);
}

int __wrap_al_ruleset_new(const struct al_confine_rule *rules, size_t nrules,
                          struct al_ruleset **ret_ruleset, struct al_error *err)
{
    look();
    return __real_al_ruleset_new(rules, nrules, ret_ruleset, err);
}

static void begin_watch(struct world *w)
{
    looks = held = 0;
    watched = w->git;
}

/* Somebody looked, and the lock was free each time. */
static void assert_free(void)
{
    watched = NULL;
    assert_true(looks > 0);
    assert_int_equal(held, 0);
}

/* The control: a look while the lock is held is one that counts. */
static void a_look_under_the_lock_is_seen(void **state)
{
    struct world *w = *state;

    begin_watch(w);
    (void)pthread_mutex_lock(&w->git->lock);
    (void)al_file_id_at(AT_FDCWD, "/");
    (void)pthread_mutex_unlock(&w->git->lock);
    watched = NULL;
    assert_int_equal(looks, 1);
    assert_int_equal(held, 1);
}

static void a_repository_is_vetted_without_the_lock(void **state)
{
    struct world *w = *state;

    begin_watch(w);
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
        begin_watch(w);
        al_repo_free(must_open(w, "repo"));
        assert_free();
    } while (al_proc_started() != before);
    git_ok(w->repo, "config", "x.y", "z", NULL);
    begin_watch(w);
    al_repo_free(must_open(w, "repo"));
    assert_free();
}

static void hold_ruleset(struct world *w)
{
    struct al_held_ruleset *ruleset = NULL;

    begin_watch(w);
    assert_int_equal(al_git_ruleset(w->git, AL_GIT_WRITE, true, &ruleset, &w->err), 0);
    assert_free();
    assert_non_null(ruleset);
    al_git_ruleset_put(w->git, ruleset);
}

static void a_ruleset_is_made_and_looked_at_without_the_lock(void **state)
{
    struct world *w = *state;

    if (al_confine_abi() == 0)
        skip();
    hold_ruleset(w); /* made */
    hold_ruleset(w); /* looked at */
    hold_ruleset(w);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        WORLD_TEST(a_look_under_the_lock_is_seen),
        WORLD_TEST(a_repository_is_vetted_without_the_lock),
        WORLD_TEST(a_remembered_vetting_is_looked_at_without_the_lock),
        WORLD_TEST(a_ruleset_is_made_and_looked_at_without_the_lock),
    };

    gitops_begin();
    return cmocka_run_group_tests_name("gitops/lock", tests, NULL, NULL);
}
