// SPDX-License-Identifier: Apache-2.0
/* gitops/index/private_index.h: git writes one directory and nothing else, and few trees are kept.
 */
#include "gitops/index/private_index.h"

#include <sched.h>

#include "gitops/index/known_trees.h"
#include "gitops/layer.h"
#include "gitops/ruleset.h"
#include "proc/confine.h"
#include "tests/unit/gitops/lib.h"

#define FILES 64

/* Files that the index does not vouch for. */
static void make_stale(struct tmpdir *repo)
{
    for (size_t i = 0; i < FILES; i++) {
        al_auto(al_freep) char *name = al_asprintf("many/f%02zu", i);

        tmpdir_write(repo, name, "content\n");
    }
    git_ok(repo, "add", "many", NULL);
    for (size_t i = 0; i < FILES; i++) {
        al_auto(al_freep) char *name = al_asprintf("many/f%02zu", i);
        const struct timespec times[] = { { .tv_sec = 1600000000 }, { .tv_sec = 1600000000 } };

        assert_int_equal(utimensat(repo->fd, name, times, 0), 0);
    }
}

/* The tree that was used last. */
static struct al_known_tree *known(struct world *w)
{
    return w->git->private_indexes ? w->git->private_indexes->first : NULL;
}

/* Read the status until there is a private index: an index that changed just now gets none. */
static void make_private(struct world *w, const char *name)
{
    for (int i = 0; i < 1000; i++) {
        al_auto(repo_freep) struct al_repo *repo = must_open(w, name);
        al_auto(al_freep) char *text = status_text(repo);

        assert_non_null(strstr(text, "A  many/f00"));
        if (known(w) && known(w)->is_open && !strcmp(known(w)->top, repo->at.top))
            return;
        (void)sched_yield();
    }
    fail_msg("no private index was made");
}

/* Run git with `index` as its private index; its exit code. */
static int run_on(const struct al_repo *repo, const struct al_git_index *index,
                  const char *const *words)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    struct al_run_limits budget = long_budget();

    for (; *words; words++)
        al_strv_add(&command.argv, *words);
    command.private_index = index;
    assert_int_equal(al_git_run(&repo->at, &command, &(struct al_git_run){ .max_bytes = 1000 },
                                &budget, &output, NULL),
                     0);
    return output.exit_code;
}

#define git_on(repo, index, ...) run_on(repo, index, (const char *const[]){ __VA_ARGS__, NULL })

static void git_writes_the_one_directory(void **state)
{
    struct world *w = *state;
    al_auto(repo_freep) struct al_repo *repo = NULL;
    al_auto(al_freep) char *beside = tmpdir_path(w->state, "indexes/beside");
    al_auto(al_freep) char *before = NULL;
    al_auto(al_freep) char *after = NULL;
    struct al_git_index index;
    struct al_held_ruleset *ruleset = NULL;

    if (!al_confine_abi())
        skip();
    make_stale(w->repo);
    make_private(w, "repo");
    tmpdir_write(w->repo, "new", "in no object\n");
    repo = must_open(w, "repo");
    before = git_output(w->repo, "for-each-ref", NULL);
    index = (struct al_git_index){
        .path = known(w)->store.work_index,
        .may_refresh = true,
        .dir = known(w)->store.dir,
        .work_dir = known(w)->store.work_dir,
        .ruleset = &ruleset,
        .lock_fd = known(w)->store.lock_fd,
    };
    assert_int_equal(git_on(repo, &index, "git", "read-tree", "HEAD"), 0);
    assert_int_not_equal(git_on(repo, &index, "git", "update-ref", "refs/heads/x", "HEAD"), 0);
    assert_int_not_equal(git_on(repo, &index, "git", "hash-object", "-w", "--", "new"), 0);
    assert_int_not_equal(git_on(repo, &index, "git", "config", "a.b", "c"), 0);
    index.path = known(w)->store.ready_index;
    assert_int_not_equal(git_on(repo, &index, "git", "read-tree", "HEAD"), 0);
    index.path = beside;
    assert_int_not_equal(git_on(repo, &index, "git", "read-tree", "HEAD"), 0);
    after = git_output(w->repo, "for-each-ref", NULL);
    assert_string_equal(after, before);
    al_git_ruleset_put(w->git, ruleset);
}

static void few_trees_are_kept(void **state)
{
    struct world *w = *state;

    make_stale(w->repo);
    for (unsigned i = 0; i < AL_KNOWN_TREES_MAX + 2; i++) {
        al_auto(al_freep) char *name = al_asprintf("copy%u", i);
        al_auto(al_freep) char *path = tmpdir_path(w->root, name);

        git_ok(w->root, "clone", "-q", "--no-checkout", w->repo->path, path, NULL);
        {
            al_auto(repo_freep) struct al_repo *repo = must_open(w, name);
            al_auto(al_freep) char *text = status_text(repo);

            assert_non_null(text);
        }
    }
    assert_true(!w->git->private_indexes || w->git->private_indexes->count <= AL_KNOWN_TREES_MAX);
}

static void another_layer_finds_the_copy(void **state)
{
    struct world *w = *state;
    struct stat before, after;

    make_stale(w->repo);
    make_private(w, "repo");
    assert_int_equal(lstat(known(w)->store.dir, &before), 0);
    world_start_git(w);
    assert_null(known(w));
    make_private(w, "repo");
    assert_int_equal(lstat(known(w)->store.dir, &after), 0);
    assert_int_equal(after.st_ino, before.st_ino);
    assert_true(known(w)->record.entries == FILES + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WORLD_TEST(git_writes_the_one_directory),
        WORLD_TEST(few_trees_are_kept),
        WORLD_TEST(another_layer_finds_the_copy),
    };

    gitops_begin();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
