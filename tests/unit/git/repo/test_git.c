// SPDX-License-Identifier: Apache-2.0
/* git/repo/git.h: which git runs, and the private directory it gets. */
#include <dirent.h>
#include <sys/wait.h>

#include "git/layer.h"
#include "git/repo/git.h"
#include "guard/program.h"
#include "tests/unit/git/lib.h"

static void put_program(struct tmpdir *dir, const char *name, mode_t mode)
{
    tmpdir_write(dir, name, "#!/bin/sh\n");
    assert_int_equal(fchmodat(dir->fd, name, mode, 0), 0);
}

/* What is found along a list in which '%' stands for the directory; NULL for nothing. */
static void assert_found(const struct tmpdir *dir, const char *list, const char *expected)
{
    al_auto(al_str_clear) struct al_str path = AL_STR_INIT;
    al_auto(al_freep) char *found = NULL;
    al_auto(al_freep) char *wanted = expected ? tmpdir_path(dir, expected) : NULL;

    for (; *list; list++) {
        if (*list == '%')
            al_str_adds(&path, dir->path);
        else
            al_str_addc(&path, *list);
    }
    found = al_program_find("git", path.buf, NULL);
    if (!wanted) {
        assert_null(found);
        return;
    }
    assert_non_null(found);
    assert_string_equal(found, wanted);
}

static void finds_the_first_git_that_can_run(void **state)
{
    struct world *w = *state;
    struct tmpdir *dir = w->outside;

    put_program(dir, "one/git", 0755);
    put_program(dir, "two/git", 0700);
    put_program(dir, "plain/git", 0644);
    tmpdir_mkdir(dir, "folder/git");
    tmpdir_symlink(dir, "../one/git", "link/git");
    tmpdir_symlink(dir, "absent", "dangling/git");
    assert_int_equal(mkdirat(dir->fd, "fifo", 0755), 0);
    assert_int_equal(mkfifoat(dir->fd, "fifo/git", 0755), 0);
    assert_found(dir, "%/one:%/two", "one/git");
    assert_found(dir, "%/two:%/one", "two/git");
    assert_found(dir, "%/absent:%/plain:%/folder:%/dangling:%/fifo:%/two", "two/git");
    assert_found(dir, "%/link", "one/git"); /* as the file it is */
    assert_found(dir, "%/plain:%/folder:%/dangling:%/fifo", NULL);
}

static void never_looks_in_the_current_directory(void **state)
{
    struct world *w = *state;
    al_auto(al_closep) int before = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);

    put_program(w->repo, "git", 0755);
    put_program(w->repo, "bin/git", 0755);
    put_program(w->outside, "good/git", 0755);
    assert_int_equal(fchdir(w->repo->fd), 0);
    assert_found(w->outside, "", NULL);
    assert_found(w->outside, ":", NULL);
    assert_found(w->outside, ".", NULL);
    assert_found(w->outside, "bin:./bin:~/bin", NULL);
    assert_found(w->outside, "::.:bin:%/good:", "good/git");
    assert_null(al_program_find("git", NULL, NULL));
    assert_int_equal(fchdir(before), 0);
}

static void supports_versions_from_2_38_on(void **state)
{
    static const char *const new_enough[] = { "2.38",  "2.38.0", "2.38.1.rc0", "2.39.5",
                                              "2.100", "3.0",    "10.1" };
    static const char *const too_old[] = { "2.37", "2.37.99", "2.4", "1.99", "0.0",
                                           "2",    "",        "new", ".34",  "x2.40" };

    (void)state;
    for (size_t i = 0; i < COUNT(new_enough); i++)
        assert_true(al_git_version_is_supported(new_enough[i]));
    for (size_t i = 0; i < COUNT(too_old); i++)
        assert_false(al_git_version_is_supported(too_old[i]));
}

static void asks_git_for_its_version(void **state)
{
    struct world *w = *state;
    al_auto(al_freep) char *program = al_program_find("git", getenv("PATH"), NULL);
    al_auto(al_freep) char *version = NULL, *line = NULL;
    al_auto(al_freep) char *said = git_output(w->repo, "--version", NULL);

    assert_int_equal(al_git_version(program, &version, NULL), 0);
    assert_true(al_git_version_is_supported(version));
    line = al_asprintf("git version %s", version);
    assert_true(al_starts_with(said, line));
    assert_int_equal(al_git_version(NULL, &version, &w->err), AL_ERR_EXECUTION);
    assert_string_equal(w->err.message, "git binary not available");
}

/* In a process of its own, since the one program to run is chosen once. */
static int ask_another_program(const char *program)
{
    al_auto(al_freep) char *version = NULL;

    if (al_proc_init(program, NULL) < 0)
        return 100;
    return -al_git_version(program, &version, NULL);
}

static void believes_no_other_program(void)
{
    static const char *const programs[] = { "/bin/true", "/bin/false", "/bin/echo" };

    for (size_t i = 0; i < COUNT(programs); i++) {
        al_auto(al_freep) char *program = realpath(programs[i], NULL);
        int status;
        pid_t pid = fork();

        if (pid == 0)
            _exit(ask_another_program(program));
        if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) ||
            WEXITSTATUS(status) != -AL_ERR_EXECUTION) {
            print_error("%s was taken for git\n", program);
            abort();
        }
    }
}

static size_t count_private_dirs(struct world *w)
{
    al_auto(al_freep) char *run = tmpdir_path(w->state, "run");
    DIR *dir = opendir(run);
    const struct dirent *entry;
    size_t count = 0;

    assert_non_null(dir);
    while ((entry = readdir(dir)))
        count += al_starts_with(entry->d_name, "git-");
    closedir(dir);
    return count;
}

static struct al_git *new_git(struct world *w)
{
    struct al_git *git = NULL;
    int r = al_git_new(&(struct al_git_options){ .roots = &w->roots,
                                                 .env_allow = &w->env_allow,
                                                 .environ_ = environ,
                                                 .state_dir = w->state->path },
                       &git, &w->err);

    assert_int_equal(r, 0);
    return git;
}

static void removes_its_private_directory(void **state)
{
    struct world *w = *state;
    struct al_git *git = new_git(w);
    struct stat st;

    assert_int_equal(stat(git->private_dir, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
    assert_int_equal(count_private_dirs(w), 2); /* the world's own is alive */
    al_git_free(git);
    assert_int_equal(count_private_dirs(w), 1);
    git = new_git(w);
    al_git_abandon(git);
    assert_int_equal(count_private_dirs(w), 1);
    al_git_free(git);
    al_git_abandon(NULL);
    al_git_free(NULL);
}

/* A server that begins and is killed at once. */
static void leave_one_behind(struct world *w)
{
    int status;
    pid_t pid = fork();

    if (pid == 0) {
        struct al_git *git = new_git(w);

        _exit(git ? 0 : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

static void removes_what_a_killed_server_left(void **state)
{
    struct world *w = *state;
    al_auto(al_freep) char *alive = al_strdup(w->git->private_dir);
    struct al_git *git;

    leave_one_behind(w);
    assert_int_equal(count_private_dirs(w), 2);
    tmpdir_write(w->state, "run/other", "not ours\n");
    git = new_git(w);
    assert_int_equal(count_private_dirs(w), 2); /* the living one and the new one */
    assert_int_equal(access(alive, F_OK), 0);
    al_git_free(git);
    assert_int_equal(faccessat(w->state->fd, "run/other", F_OK, 0), 0);
}

static void does_not_follow_a_link_that_poses_as_a_leftover(void **state)
{
    struct world *w = *state;

    tmpdir_write(w->outside, "precious", "x\n");
    tmpdir_symlink(w->state, w->outside->path, "run/git-link");
    tmpdir_symlink(w->state, w->outside->path, "git-elsewhere");
    al_git_free(new_git(w));
    assert_int_equal(faccessat(w->outside->fd, "precious", F_OK, 0), 0);
}

static void needs_a_state_directory_it_can_write(void **state)
{
    struct world *w = *state;
    al_auto(al_freep) char *file = tmpdir_path(w->state, "file");
    struct al_git *git = NULL;

    tmpdir_write(w->state, "file", "in the way\n");
    assert_int_equal(al_git_new(&(struct al_git_options){ .roots = &w->roots,
                                                          .env_allow = &w->env_allow,
                                                          .environ_ = environ,
                                                          .state_dir = file },
                                &git, &w->err),
                     AL_ERR_EXECUTION);
    assert_null(git);
}

static void names_its_confinement(void **state)
{
    struct world *w = *state;
    al_auto(al_freep) char *expected = al_asprintf("landlock%d+seccomp", al_confine_abi());

    assert_string_equal(w->git->confinement, al_confine_abi() > 0 ? expected : "seccomp");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        WORLD_TEST(finds_the_first_git_that_can_run),
        WORLD_TEST(never_looks_in_the_current_directory),
        WORLD_TEST(supports_versions_from_2_38_on),
        WORLD_TEST(asks_git_for_its_version),
        WORLD_TEST(removes_its_private_directory),
        WORLD_TEST(removes_what_a_killed_server_left),
        WORLD_TEST(does_not_follow_a_link_that_poses_as_a_leftover),
        WORLD_TEST(needs_a_state_directory_it_can_write),
        WORLD_TEST(names_its_confinement),
    };

    believes_no_other_program();
    gitops_begin();
    return cmocka_run_group_tests_name("gitops/git", tests, NULL, NULL);
}
