// SPDX-License-Identifier: Apache-2.0
/* A repository of airlock's own: what its git children may touch. */
#include "git/refs.h"
#include "git/repo/repo.h"
#include "proc/proc.h"
#include "tests/unit/git/lib.h"

/* The repository at <state>/own.git, and one root beside it. */
static struct al_repo *open_own(struct world *w, struct tmpdir *own)
{
    struct al_repo *repo = NULL;

    w->budget = long_budget();
    tmpdir_write(own, "config", "[core]\n\tbare = true\n");
    tmpdir_mkdir(own, "objects");
    tmpdir_mkdir(own, "refs");
    tmpdir_write(own, "HEAD", "ref: refs/heads/none\n");
    assert_int_equal(al_repo_open_own(w->git, own->path, &w->budget, &repo, &w->err), 0);
    return repo;
}

/* Run `git hash-object [-w] <file>`; whether it succeeded. */
static bool hashes(const struct al_repo *repo, enum al_git_class class, bool writes,
                   const char *file)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };

    command.class = class;
    al_strv_adds(&command.argv, "git", "hash-object", "--no-filters", NULL);
    if (writes)
        al_strv_add(&command.argv, "-w");
    al_strv_adds(&command.argv, "--", file, NULL);
    assert_int_equal(
        al_git_run(&repo->at, &command, &(struct al_git_run){ .max_bytes = 4096 }, &output, NULL),
        0);
    return output.exit_code == 0;
}

static const enum al_git_class classes[] = { AL_GIT_READ, AL_GIT_WRITE, AL_GIT_HTTP };

static void children_read_it_and_no_root(void **state)
{
    struct world *w = *state;
    al_auto(subdir_closep) struct tmpdir *own = subdir_open(w->state, "own.git");
    struct al_repo *repo = open_own(w, own), *users = NULL;
    struct al_run_limits budget = { .left_ms = LONG_MS };
    al_auto(al_freep) char *inside = tmpdir_path(own, "HEAD");
    al_auto(al_freep) char *in_root = tmpdir_path(w->repo, "a.txt");
    al_auto(al_freep) char *outside = tmpdir_path(w->outside, "b.txt");

    tmpdir_write(w->outside, "b.txt", "b\n");
    assert_int_equal(al_repo_open(w->git, w->root->path, w->repo->path, &budget, &users, &w->err),
                     0);
    for (size_t i = 0; i < AL_COUNT(classes); i++) {
        assert_true(hashes(repo, classes[i], false, inside));
        assert_true(hashes(users, classes[i], false, in_root)); /* the control */
        if (al_confine_abi() == 0)
            continue;
        assert_false(hashes(repo, classes[i], false, in_root));
        assert_false(hashes(repo, classes[i], false, outside));
    }
    al_repo_free(users);
    al_repo_free(repo);
}

static void children_that_write_write_it_alone(void **state)
{
    struct world *w = *state;
    al_auto(subdir_closep) struct tmpdir *own = subdir_open(w->state, "own.git");
    al_auto(subdir_closep) struct tmpdir *other = subdir_open(w->state, "other.git");
    struct al_repo *repo = open_own(w, own), *beside = open_own(w, other);
    al_auto(al_freep) char *file = tmpdir_path(own, "HEAD");
    al_auto(al_freep) char *in_root = tmpdir_path(w->repo, ".git");

    if (al_confine_abi() > 0)
        assert_false(hashes(repo, AL_GIT_READ, true, file));
    assert_true(hashes(repo, AL_GIT_HTTP, true, file));
    if (al_confine_abi() > 0) {
        free(repo->at.git_dir); /* the environment names the root's, the ruleset does not */
        repo->at.git_dir = al_strdup(in_root);
        assert_false(hashes(repo, AL_GIT_HTTP, true, file));
        free(repo->at.git_dir);
        repo->at.git_dir = al_strdup(other->path);
        assert_false(hashes(repo, AL_GIT_HTTP, true, file));
    }
    al_repo_free(beside);
    al_repo_free(repo);
}

static void references_are_read_without_a_root(void **state)
{
    struct world *w = *state;
    al_auto(subdir_closep) struct tmpdir *own = subdir_open(w->state, "own.git");
    struct al_repo *repo = open_own(w, own);
    static const char oid[] = "1234567890123456789012345678901234567890";
    al_auto(al_freep) char *head = NULL;
    al_auto(al_freep) char *loose = NULL;
    al_auto(al_freep) char *packed = NULL;
    al_auto(al_freep) char *through = NULL;

    tmpdir_write(own, "HEAD", "ref: refs/heads/main\n");
    tmpdir_write(own, "refs/heads/main", "1234567890123456789012345678901234567890\n");
    tmpdir_write(own, "packed-refs", "1234567890123456789012345678901234567890 refs/heads/p\n");
    tmpdir_symlink(own, "main", "refs/heads/link");
    head = al_ref_head(&repo->at);
    loose = al_ref_oid(&repo->at, "refs/heads/main");
    packed = al_ref_oid(&repo->at, "refs/heads/p");
    through = al_ref_read_loose(&repo->at, "refs/heads/link");
    assert_string_equal(head, oid);
    assert_string_equal(loose, oid);
    assert_string_equal(packed, oid);
    assert_null(through);
    assert_true(al_location_is_bare(&repo->at));
    al_repo_free(repo);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WORLD_TEST(children_read_it_and_no_root),
        WORLD_TEST(children_that_write_write_it_alone),
        WORLD_TEST(references_are_read_without_a_root),
    };

    gitops_begin();
    return cmocka_run_group_tests_name("gitops/own_repo", tests, NULL, NULL);
}
