// SPDX-License-Identifier: Apache-2.0
/* git/location.h: every part of a repository lies inside the roots, or it is not opened. */
#include <sys/wait.h>

#include "git/refs.h"
#include "git/repo/git.h"
#include "guard/root.h"
#include "tests/unit/git/locate_lib.h"

#define NOBODY 65534

static void opens_from_the_top_and_from_below(void **state)
{
    struct world *w = *state;
    al_auto(al_freep) char *absolute = tmpdir_path(w->repo, "deep/er");

    tmpdir_mkdir(w->repo, "deep/er");
    assert_opens(w, "repo", "repo");
    assert_opens(w, "repo/", "repo");
    assert_opens(w, "repo/deep", "repo");
    assert_opens(w, "repo/deep/er", "repo");
    assert_opens(w, absolute, "repo");
}

static void opens_the_nearest_of_nested_repositories(void **state)
{
    struct world *w = *state;

    make_repo(w->repo, "inner");
    tmpdir_mkdir(w->repo, "inner/deep");
    assert_opens(w, "repo/inner/deep", "repo/inner");
    assert_opens(w, "repo", "repo");
}

static void goes_on_upward_from_an_empty_dot_git(void **state)
{
    struct world *w = *state;

    tmpdir_mkdir(w->repo, "deep/.git");
    tmpdir_write(w->repo, "half/.git/HEAD", "ref: refs/heads/main\n"); /* no objects, no refs */
    tmpdir_mkdir(w->repo, "half/.git/objects");
    assert_opens(w, "repo/deep", "repo");
    assert_opens(w, "repo/half", "repo");
}

static void opens_a_linked_worktree_and_its_common_directory(void **state)
{
    struct world *w = *state;
    al_auto(repo_freep) struct al_repo *repo = NULL;
    al_auto(al_freep) char *common = tmpdir_path(w->repo, ".git");
    al_auto(al_freep) char *git_dir = tmpdir_path(w->repo, ".git/worktrees/linked");

    git_ok(w->repo, "worktree", "add", "-q", "../linked", NULL);
    assert_opens(w, "linked", "linked");
    repo = must_open(w, "linked");
    assert_string_equal(repo->at.common_dir, common);
    assert_string_equal(repo->at.git_dir, git_dir);
}

static void opens_a_submodule(void **state)
{
    struct world *w = *state;
    al_auto(repo_freep) struct al_repo *repo = NULL;
    al_auto(al_freep) char *git_dir = tmpdir_path(w->repo, ".git/modules/sub");

    make_repo(w->root, "other");
    git_ok(w->repo, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "../other",
           "sub", NULL);
    assert_opens(w, "repo/sub", "repo/sub");
    repo = must_open(w, "repo/sub");
    assert_string_equal(repo->at.git_dir, git_dir);
}

static void opens_a_repository_with_sha256_names(void **state)
{
    struct world *w = *state;
    al_auto(subdir_closep) struct tmpdir *dir = subdir_open(w->root, "long");
    al_auto(repo_freep) struct al_repo *repo = NULL;
    al_auto(al_freep) char *head = NULL;

    git_ok(dir, "init", "-q", "-b", "main", "--object-format=sha256", NULL);
    git_fixture_commit(dir, "f.txt", "f\n", "f");
    assert_opens(w, "long", "long");
    repo = must_open(w, "long");
    head = al_ref_head(&repo->at);
    assert_int_equal(strlen(head), 64);
}

static void says_exactly_that_there_is_no_repository(void **state)
{
    struct world *w = *state;

    al_auto(al_freep) char *here = al_asprintf("Not a git repository: %s", w->root->path);

    tmpdir_mkdir(w->root, "plain/deep");
    assert_refused(w, ".", AL_ERR_EXECUTION, here); /* the directory itself */
    assert_no_repository(w, "plain");
    assert_no_repository(w, "plain/deep/");
}

static void says_what_is_no_directory(void **state)
{
    struct world *w = *state;

    assert_refused(w, "absent", AL_ERR_EXECUTION, "No such directory: absent");
    assert_refused(w, "repo/absent/deep", AL_ERR_EXECUTION, "No such directory: repo/absent/deep");
    assert_refused(w, "repo/a.txt", AL_ERR_EXECUTION, "No such directory: repo/a.txt");
}

static void refuses_directories_outside(void **state)
{
    struct world *w = *state;

    make_repo(w->outside, "secret");
    tmpdir_symlink(w->root, "../outside/secret", "out");
    assert_outside(w, "out");
    assert_outside(w, "..");
    assert_outside(w, "repo/..");
    assert_outside(w, "../outside/secret");
    assert_outside(w, w->outside->path);
    assert_outside(w, "/");
}

static void does_not_look_above_the_root(void **state)
{
    struct world *w = *state;

    tmpdir_mkdir(w->root, "plain");
    git_fixture_init(w->place);
    assert_part_outside(w, "plain", "The top of the working tree");
    assert_part_outside(w, ".", "The top of the working tree");
    assert_opens(w, "repo", "repo"); /* one of its own is none the worse for it */
}

static void is_silent_about_what_lies_above_the_root(void **state)
{
    struct world *w = *state;

    tmpdir_mkdir(w->root, "plain");
    tmpdir_write(w->place, ".git", "gitdir: /secret/place\n");
    assert_outside(w, "plain");
}

static void does_not_take_a_bare_repository_for_a_working_tree(void **state)
{
    struct world *w = *state;
    al_auto(repo_freep) struct al_repo *repo = NULL;

    git_ok(w->root, "init", "-q", "--bare", "bare.git", NULL);
    repo = must_open(w, "bare.git");
    assert_true(al_location_is_bare(&repo->at));
    assert_no_repository(w, "bare.git/objects");
}

static void opens_a_worktree_of_a_bare_repository(void **state)
{
    struct world *w = *state;

    git_ok(w->root, "clone", "-q", "--bare", "repo", "bare.git", NULL);
    git_ok(w->root, "-C", "bare.git", "worktree", "add", "-q", "../wt", "main", NULL);
    assert_opens(w, "wt", "wt");
}

/* Moves <repo>/.git to <dir>/<name> and leaves a gitfile with these words behind. */
static void move_git_dir(struct world *w, struct tmpdir *dir, const char *name, const char *words)
{
    assert_int_equal(renameat(w->repo->fd, ".git", dir->fd, name), 0);
    tmpdir_write(w->repo, ".git", words);
}

static void follows_a_gitfile_that_stays_inside(void **state)
{
    struct world *w = *state;
    al_auto(al_freep) char *absolute = tmpdir_path(w->root, "real.git");
    al_auto(al_freep) char *words = al_asprintf("gitdir: %s\n", absolute);

    move_git_dir(w, w->root, "real.git", "gitdir: ../real.git\n");
    assert_opens(w, "repo", "repo");
    tmpdir_write(w->repo, ".git", "gitdir: ../real.git"); /* without a newline */
    assert_opens(w, "repo", "repo");
    tmpdir_write(w->repo, ".git", words);
    assert_opens(w, "repo", "repo");
}

static void refuses_a_gitfile_that_leads_outside(void **state)
{
    struct world *w = *state;
    al_auto(al_freep) char *absolute = tmpdir_path(w->outside, "real.git");
    al_auto(al_freep) char *words = al_asprintf("gitdir: %s\n", absolute);

    move_git_dir(w, w->outside, "real.git", "gitdir: ../../outside/real.git\n");
    assert_outside(w, "repo");
    tmpdir_write(w->repo, ".git", words);
    assert_outside(w, "repo");
    tmpdir_write(w->repo, ".git", "gitdir: ../../outside/absent.git\n"); /* no oracle either */
    assert_part_outside(w, "repo", "Its git directory");
}

static void refuses_a_gitfile_that_says_nothing(void **state)
{
    struct world *w = *state;
    static const char *const words[] = { "",
                                         "gitdir: ",
                                         "gitdir: \n",
                                         "gitdir:../real.git\n",
                                         "../real.git\n",
                                         "gitdir: ../absent.git\n" };

    move_git_dir(w, w->root, "real.git", "");
    for (size_t i = 0; i < COUNT(words); i++) {
        tmpdir_write(w->repo, ".git", words[i]);
        assert_no_repository(w, "repo");
        assert_non_null(strstr(w->err.remedy, ".git is a file that names no git directory"));
    }
    tmpdir_write_bytes(w->repo, ".git", "gitdir: ../real.git\0/x", 22);
    assert_no_repository(w, "repo");
}

static void reads_a_gitfile_up_to_the_limit(void **state)
{
    struct world *w = *state;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    al_str_adds(&text, "gitdir: ../real.git");
    while (text.len < 4095)
        al_str_addc(&text, '\n');
    move_git_dir(w, w->root, "real.git", text.buf);
    assert_opens(w, "repo", "repo"); /* 4095 bytes */
    al_str_addc(&text, '\n');
    tmpdir_write(w->repo, ".git", text.buf);
    assert_opens(w, "repo", "repo"); /* 4096 */
    al_str_addc(&text, '\n');
    tmpdir_write(w->repo, ".git", text.buf);
    assert_no_repository(w, "repo"); /* 4097 */
}

static void follows_a_dot_git_link_that_stays_inside(void **state)
{
    struct world *w = *state;

    assert_int_equal(renameat(w->repo->fd, ".git", w->root->fd, "real.git"), 0);
    tmpdir_symlink(w->repo, "../real.git", ".git");
    assert_opens(w, "repo", "repo");
}

static void refuses_a_dot_git_link_that_leads_outside(void **state)
{
    struct world *w = *state;

    assert_int_equal(renameat(w->repo->fd, ".git", w->outside->fd, "real.git"), 0);
    tmpdir_symlink(w->repo, "../../outside/real.git", ".git");
    assert_outside(w, "repo");
}

static void refuses_a_dot_git_that_is_no_file_and_no_directory(void **state)
{
    struct world *w = *state;

    tmpdir_mkdir(w->root, "odd");
    assert_int_equal(mkfifoat(w->root->fd, "odd/.git", 0600), 0);
    assert_no_repository(w, "odd");
}

static void refuses_a_common_directory_outside(void **state)
{
    struct world *w = *state;
    static const char *const words[] = { "../../../../../outside/c.git\n", "/\n",
                                         "../../../../../outside/absent\n" };

    git_ok(w->repo, "worktree", "add", "-q", "../linked", NULL);
    make_repo(w->outside, "other");
    assert_int_equal(renameat(w->outside->fd, "other/.git", w->outside->fd, "c.git"), 0);
    for (size_t i = 0; i < COUNT(words); i++) {
        tmpdir_write(w->repo, ".git/worktrees/linked/commondir", words[i]);
        assert_part_outside(w, "linked", "the common directory");
    }
    tmpdir_write(w->repo, ".git/worktrees/linked/commondir", "../absent\n");
    assert_no_repository(w, "linked");
    tmpdir_write(w->repo, ".git/worktrees/linked/commondir", "");
    assert_no_repository(w, "linked");
    tmpdir_write(w->repo, ".git/worktrees/linked/commondir", "../..\n");
    assert_opens(w, "linked", "linked");
}

static void refuses_an_object_store_outside(void **state)
{
    struct world *w = *state;

    assert_int_equal(renameat(w->repo->fd, ".git/objects", w->outside->fd, "objects"), 0);
    tmpdir_symlink(w->repo, "../../../outside/objects", ".git/objects");
    assert_part_outside(w, "repo", "Its object store");
}

/* As another user: what cannot be looked into is refused, and says nothing. */
static int open_as_nobody(struct world *w)
{
    al_auto(al_freep) char *run = tmpdir_path(w->state, "run");

    if (chown(w->state->path, NOBODY, NOBODY) < 0 || chown(run, NOBODY, NOBODY) < 0 ||
        setresuid(NOBODY, NOBODY, NOBODY) < 0)
        return 100;
    world_start_git(w);
    return try_open(w, "repo/closed") ? 101 : -w->err.status;
}

static void refuses_a_directory_it_may_not_enter(void **state)
{
    struct world *w = *state;
    int status;
    pid_t pid;

    if (geteuid() != 0) {
        print_message("# skipped: only root can become another user\n");
        skip();
    }
    tmpdir_mkdir(w->repo, "closed/deep");
    assert_int_equal(fchmodat(w->repo->fd, "closed", 0700, 0), 0);
    assert_int_equal(chmod(w->place->path, 0755), 0);
    al_git_free(al_take(&w->git));
    pid = fork();
    if (pid == 0)
        _exit(open_as_nobody(w));
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_true(WEXITSTATUS(status) == -AL_ERR_EXECUTION || WEXITSTATUS(status) == -AL_ERR_SANDBOX);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        WORLD_TEST(opens_from_the_top_and_from_below),
        WORLD_TEST(opens_the_nearest_of_nested_repositories),
        WORLD_TEST(goes_on_upward_from_an_empty_dot_git),
        WORLD_TEST(opens_a_linked_worktree_and_its_common_directory),
        WORLD_TEST(opens_a_submodule),
        WORLD_TEST(opens_a_repository_with_sha256_names),
        WORLD_TEST(says_exactly_that_there_is_no_repository),
        WORLD_TEST(says_what_is_no_directory),
        WORLD_TEST(refuses_directories_outside),
        WORLD_TEST(does_not_look_above_the_root),
        WORLD_TEST(is_silent_about_what_lies_above_the_root),
        WORLD_TEST(does_not_take_a_bare_repository_for_a_working_tree),
        WORLD_TEST(opens_a_worktree_of_a_bare_repository),
        WORLD_TEST(follows_a_gitfile_that_stays_inside),
        WORLD_TEST(refuses_a_gitfile_that_leads_outside),
        WORLD_TEST(refuses_a_gitfile_that_says_nothing),
        WORLD_TEST(reads_a_gitfile_up_to_the_limit),
        WORLD_TEST(follows_a_dot_git_link_that_stays_inside),
        WORLD_TEST(refuses_a_dot_git_link_that_leads_outside),
        WORLD_TEST(refuses_a_dot_git_that_is_no_file_and_no_directory),
        WORLD_TEST(refuses_a_common_directory_outside),
        WORLD_TEST(refuses_an_object_store_outside),
        WORLD_TEST(refuses_a_directory_it_may_not_enter),
    };

    gitops_begin();
    return cmocka_run_group_tests_name("gitops/locate", tests, NULL, NULL);
}
