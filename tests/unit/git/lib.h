// SPDX-License-Identifier: Apache-2.0
/*
 * The base of tests of git/: a root with real git in it, a home, and git/ over both.
 * Every test gets its own, so that no configuration and no memory of one reaches the next.
 */
#ifndef TESTS_UNIT_GITOPS_LIB_H
#define TESTS_UNIT_GITOPS_LIB_H

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "git/command.h"
#include "git/reading/worktree_state.h"
#include "git/repo/git.h"
#include "git/repo/repo.h"
#include "git/run.h"
#include "git/vet/vet.h"
#include "guard/program.h"
#include "guard/root.h"
#include "tests/lib/assert.h"
#include "tests/lib/git_fixture.h"
#include "tests/lib/tmpdir.h"

#define LONG_MS 120000u /* no test waits this long */

extern char **environ;

struct world {
    struct tmpdir *home;    /* holds .gitconfig */
    struct tmpdir *place;   /* holds what follows */
    struct tmpdir *root;    /* <place>/root, the one root */
    struct tmpdir *outside; /* <place>/outside, in no root */
    struct tmpdir *repo;    /* <root>/repo, with one commit of a.txt */
    struct tmpdir *state;
    struct al_roots roots;
    struct al_strv env_allow;
    struct al_git *git;
    struct al_run_limits budget; /* of what was opened */
    struct al_error err;         /* of the last call */
};

/* A directory inside another one, to be filled like it; released with subdir_close(). */
static inline struct tmpdir *subdir_open(struct tmpdir *dir, const char *name)
{
    struct tmpdir *sub = al_calloc(1, sizeof(*sub));

    tmpdir_mkdir(dir, name);
    sub->path = tmpdir_path(dir, name);
    sub->fd = open(sub->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(sub->fd >= 0);
    return sub;
}

static inline void subdir_close(struct tmpdir *sub)
{
    close(sub->fd);
    free(sub->path);
    free(sub);
}

static inline void subdir_closep(struct tmpdir **sub)
{
    if (*sub)
        subdir_close(*sub);
}

/* (Re)start the git layer, as a new session would. */
static inline void world_start_git(struct world *w)
{
    al_auto(al_freep) char *program = al_program_find("git", getenv("PATH"), NULL);

    al_git_free(w->git);
    assert_non_null(program);
    assert_int_equal(al_git_new(
                         &(struct al_git_options){
                             .program = program,
                             .roots = &w->roots,
                             .env_allow = &w->env_allow,
                             .environ_ = environ,
                             .home = w->home->path,
                             .state_dir = w->state->path,
                         },
                         &w->git, &w->err),
                     0);
}

static inline int world_setup(void **state)
{
    struct world *w = al_calloc(1, sizeof(*w));

    w->home = tmpdir_new();
    w->place = tmpdir_new();
    w->state = tmpdir_new();
    w->root = subdir_open(w->place, "root");
    w->outside = subdir_open(w->place, "outside");
    git_fixture_environment(w->home);
    w->repo = subdir_open(w->root, "repo");
    git_fixture_init(w->repo);
    git_fixture_commit(w->repo, "a.txt", "one\n", "first");
    w->roots = AL_ROOTS_INIT;
    assert_int_equal(al_roots_add(&w->roots, w->root->path, &AL_STRV_INIT, NULL, NULL), 0);
    world_start_git(w);
    *state = w;
    return 0;
}

static inline int world_teardown(void **state)
{
    struct world *w = *state;

    al_git_free(w->git);
    al_error_clear(&w->err);
    al_strv_clear(&w->env_allow);
    al_roots_clear(&w->roots);
    subdir_close(w->repo);
    subdir_close(w->outside);
    subdir_close(w->root);
    tmpdir_free(w->state);
    tmpdir_free(w->place);
    tmpdir_free(w->home);
    free(w);
    return 0;
}

#define WORLD_TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

static inline struct al_run_limits long_budget(void)
{
    return (struct al_run_limits){ .left_ms = LONG_MS };
}

/* Open the repository of `given`, as written below the root; NULL and w->err when refused. */
static inline struct al_repo *try_open(struct world *w, const char *given)
{
    struct al_repo *repo = NULL;
    int r;

    w->budget = long_budget();
    al_error_clear(&w->err);
    r = al_repo_open(w->git, w->root->path, given, &w->budget, &repo, &w->err);
    assert_int_equal(r, w->err.status);
    assert_true((r == 0) == (repo != NULL));
    return repo;
}

static inline struct al_repo *must_open(struct world *w, const char *given)
{
    struct al_repo *repo = try_open(w, given);

    if (!repo)
        print_message("# %s: %s\n", given, w->err.message);
    assert_non_null(repo);
    return repo;
}

static inline void repo_freep(struct al_repo **repo)
{
    al_repo_free(*repo);
}

/* Run `git <words…>` (NULL-terminated) in the repository as airlock would; its output, which the
 * caller frees. */
static inline char *text_of(const struct al_repo *repo, const char *const *words)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    int r;

    al_strv_add(&command.argv, "git");
    for (; *words; words++)
        al_strv_add(&command.argv, *words);
    r = al_git_run(&repo->at, &command,
                   &(struct al_git_run){ .max_bytes = 1u << 20, .checked = true }, &output, &err);
    if (r < 0)
        print_message("# git %s: %s\n", command.argv.items[1], err.message);
    assert_int_equal(r, 0);
    return al_str_detach(&output.out.out);
}

/* The same for words written out: git_text(repo, "status", "-s"). */
#define git_text(repo, ...) text_of(repo, (const char *const[]){ __VA_ARGS__, NULL })

static inline char *status_text(const struct al_repo *repo)
{
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    struct al_status_options options = { .porcelain = true, .untracked = true };

    assert_int_equal(al_git_status(repo, &options, 1u << 20, &output, NULL), 0);
    return al_str_detach(&output.out.out);
}

/* What every test program of gitops begins with: before any thread and any child. */
static inline void gitops_begin(void)
{
    al_auto(al_freep) char *program = al_program_find("git", getenv("PATH"), NULL);

    assert_int_equal(al_proc_init(program, NULL), 0);
}

#endif
