// SPDX-License-Identifier: Apache-2.0
/* git/vet/vet.h: a repository is vetted once, and again as soon as anything it rests on changes.
 */
#include "git/repo/repo.h"
#include "git/vet/vet.h"
#include "tests/unit/git/lib.h"

#define TRIES_MAX 10000

/* How many children it takes to open the repository. */
static uint64_t cost_of_opening(struct world *w)
{
    uint64_t before = al_proc_started();

    al_repo_free(must_open(w, "repo"));
    return al_proc_started() - before;
}

/* Until the vetting is remembered: one of files that changed just now is not. */
static void settle(struct world *w)
{
    for (int i = 0; i < TRIES_MAX; i++)
        if (cost_of_opening(w) == 0)
            return;
    fail_msg("the vetting is never remembered");
}

static void costs_one_child_for_each_later_status(void **state)
{
    struct world *w = *state;

    settle(w);
    for (int i = 0; i < 5; i++) {
        uint64_t before = al_proc_started();
        al_auto(repo_freep) struct al_repo *repo = must_open(w, "repo");
        al_auto(al_freep) char *status = status_text(repo);

        assert_string_equal(status, "");
        assert_int_equal(al_proc_started() - before, 1);
    }
}

static void remembers_several_repositories(void **state)
{
    struct world *w = *state;
    al_auto(subdir_closep) struct tmpdir *other = subdir_open(w->root, "other");
    uint64_t before;

    git_fixture_init(other);
    settle(w);
    for (int i = 0; i < TRIES_MAX; i++) {
        al_auto(repo_freep) struct al_repo *repo = NULL;

        before = al_proc_started();
        repo = must_open(w, "other");
        if (al_proc_started() == before)
            break;
    }
    before = al_proc_started();
    assert_int_equal(cost_of_opening(w), 0);
}

/* After this change the repository is vetted anew, and then remembered again. */
static void assert_vetted_again(struct world *w)
{
    assert_int_equal(cost_of_opening(w), 1);
    settle(w);
}

static void looks_again_when_a_configuration_changes(void **state)
{
    struct world *w = *state;

    settle(w);
    git_ok(w->repo, "config", "x.y", "z", NULL);
    assert_vetted_again(w);
    tmpdir_write(w->home, ".gitconfig", "[user]\n\tname = Somebody Else\n");
    assert_vetted_again(w);
    assert_int_equal(unlinkat(w->home->fd, ".gitconfig", 0), 0);
    assert_vetted_again(w);
    tmpdir_write(w->home, ".config/git/config", "[user]\n\tname = X\n"); /* was absent */
    assert_vetted_again(w);
    tmpdir_write(w->repo, ".git/config.worktree", "[x]\n\ty = z\n"); /* was absent */
    assert_vetted_again(w);
    tmpdir_write(w->home, ".config/git/ignore", "*.o\n"); /* was absent */
    assert_vetted_again(w);
    tmpdir_write(w->home, ".config/git/attributes", "*.o -diff\n");
    assert_vetted_again(w);
}

static void looks_again_when_an_included_file_changes(void **state)
{
    struct world *w = *state;

    tmpdir_write(w->repo, ".git/there", "[x]\n\ty = z\n");
    git_ok(w->repo, "config", "include.path", "there", NULL);
    git_ok(w->repo, "config", "--add", "include.path", "not-yet", NULL);
    git_ok(w->repo, "config", "includeIf.onbranch:other.path", "conditional", NULL);
    git_ok(w->repo, "config", "--global", "include.path", "~/mine", NULL);
    settle(w);
    tmpdir_write(w->repo, ".git/there", "[x]\n\ty = zz\n");
    assert_vetted_again(w);
    tmpdir_write(w->repo, ".git/not-yet", "[x]\n\ty = z\n");
    assert_vetted_again(w);
    tmpdir_write(w->repo, ".git/conditional", "[x]\n\ty = z\n"); /* though it does not apply */
    assert_vetted_again(w);
    tmpdir_write(w->home, "mine", "[x]\n\ty = z\n");
    assert_vetted_again(w);
}

static size_t count_filters(struct world *w)
{
    al_auto(repo_freep) struct al_repo *repo = must_open(w, "repo");

    return repo->vetting->filters.count;
}

static void looks_again_when_another_branch_is_checked_out(void **state)
{
    struct world *w = *state;

    tmpdir_write(w->repo, ".git/evil", "[filter \"x\"]\n\tclean = evil\n");
    git_ok(w->repo, "config", "includeIf.onbranch:evil.path", "evil", NULL);
    settle(w);
    assert_int_equal(count_filters(w), 0);
    git_ok(w->repo, "checkout", "-q", "-b", "evil", NULL);
    assert_int_equal(count_filters(w), 1);
}

static void looks_again_when_the_user_has_settings_of_a_branch(void **state)
{
    struct world *w = *state;

    tmpdir_write(w->home, "mine", "[filter \"x\"]\n\tclean = mine\n");
    git_ok(w->repo, "config", "--global", "includeIf.onbranch:other.path", "~/mine", NULL);
    settle(w);
    assert_int_equal(count_filters(w), 0);
    git_ok(w->repo, "checkout", "-q", "-b", "other", NULL);
    assert_int_equal(count_filters(w), 1);
}

static void does_not_look_again_for_anything_else(void **state)
{
    struct world *w = *state;

    settle(w);
    git_fixture_commit(w->repo, "b.txt", "x\n", "second");
    git_ok(w->repo, "branch", "other", NULL);
    tmpdir_write(w->home, "unrelated", "x\n");
    git_ok(w->repo, "checkout", "-q", "other", NULL);
    assert_int_equal(cost_of_opening(w), 0);
}

/* A configuration with so many driver keys opens, or is refused. */
static bool opens_with_drivers(struct world *w, int count)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    al_auto(repo_freep) struct al_repo *repo = NULL;

    al_str_adds(&text, "[core]\n\trepositoryformatversion = 0\n\tbare = false\n");
    for (int i = 0; i < count; i++)
        al_str_addf(&text, "[diff \"driver-%d\"]\n\ttextconv = evil\n", i);
    tmpdir_write(w->repo, ".git/config", text.buf);
    repo = try_open(w, "repo");
    if (repo) {
        al_auto(al_freep) char *status = status_text(repo);
        al_auto(al_freep) char *last =
            git_text(repo, "config", "--get", "diff.driver-998.textconv");

        assert_string_equal(status, ""); /* so the overrides fit */
        assert_string_equal(last, "\n");
    }
    return repo != NULL;
}

static void refuses_too_many_drivers(void **state)
{
    struct world *w = *state;

    assert_true(opens_with_drivers(w, AL_DRIVER_KEYS_MAX - 1));
    assert_true(opens_with_drivers(w, AL_DRIVER_KEYS_MAX));
    assert_false(opens_with_drivers(w, AL_DRIVER_KEYS_MAX + 1));
    assert_int_equal(w->err.status, AL_ERR_SANDBOX);
}

static void counts_a_driver_once(void **state)
{
    struct world *w = *state;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    al_auto(repo_freep) struct al_repo *repo = NULL;

    for (int i = 0; i < 2 * AL_DRIVER_KEYS_MAX; i++)
        al_str_adds(&text, "[filter \"same\"]\n\tclean = evil\n");
    tmpdir_write(w->repo, ".git/config", text.buf);
    repo = must_open(w, "repo");
}

static void knows_whether_there_is_an_identity(void **state)
{
    static const struct {
        const char *global, *local;
        bool has;
    } cases[] = {
        { "[user]\nname=N\nemail=e@x\n", "", true },
        { "[user]\nname=N\n", "", false },
        { "[user]\nemail=e@x\n", "", false },
        { "", "", false },
        { "", "[user]\nname=N\nemail=e@x\n", true },
        { "[user]\nname=N\n", "[user]\nemail=e@x\n", true },
        { "[author]\nname=N\nemail=e@x\n[committer]\nname=N\nemail=e@x\n", "", true },
        { "[author]\nname=N\nemail=e@x\n[committer]\nname=N\n", "", false },
        { "[author]\nname=N\nemail=e@x\n", "", false },
        { "[user]\nname=N\n[author]\nemail=e@x\n[committer]\nemail=e@x\n", "", true },
        { "[user]\nname=N\nemail=e@x\n", "[user]\nname=\n", false },
    };
    struct world *w = *state;

    for (size_t i = 0; i < COUNT(cases); i++) {
        al_auto(repo_freep) struct al_repo *repo = NULL;

        tmpdir_write(w->home, ".gitconfig", cases[i].global);
        tmpdir_write(w->repo, ".git/config", cases[i].local);
        repo = must_open(w, "repo");
        assert_int_equal(repo->vetting->has_identity, cases[i].has);
    }
}

/* What status says with these files untracked: x.o and x.p. */
static void assert_untracked(struct world *w, const char *expected)
{
    al_auto(repo_freep) struct al_repo *repo = must_open(w, "repo");
    al_auto(al_freep) char *status = status_text(repo);

    assert_string_equal(status, expected);
}

static void honours_the_persons_ignore_file_only(void **state)
{
    struct world *w = *state;
    al_auto(al_freep) char *absolute = tmpdir_path(w->home, "my-ignore");

    tmpdir_write(w->repo, "x.o", "");
    tmpdir_write(w->repo, "x.p", "");
    assert_untracked(w, "?? x.o\n?? x.p\n");
    tmpdir_write(w->home, ".config/git/ignore", "*.o\n");
    assert_untracked(w, "?? x.p\n");
    tmpdir_write(w->home, "my-ignore", "*.p\n");
    git_ok(w->repo, "config", "--global", "core.excludesFile", absolute, NULL);
    assert_untracked(w, "?? x.o\n");
    git_ok(w->repo, "config", "--global", "core.excludesFile", "~/my-ignore", NULL);
    assert_untracked(w, "?? x.o\n");
    tmpdir_write(w->repo, ".git/theirs", "*\n");
    git_ok(w->repo, "config", "core.excludesFile", ".git/theirs", NULL);
    assert_untracked(w, "?? x.o\n");
}

static void honours_the_persons_attributes_file_only(void **state)
{
    struct world *w = *state;
    al_auto(repo_freep) struct al_repo *repo = NULL;
    al_auto(al_freep) char *attributes = NULL;

    tmpdir_write(w->home, ".config/git/attributes", "a.txt mine\n");
    tmpdir_write(w->repo, ".git/theirs", "a.txt theirs\n");
    git_ok(w->repo, "config", "core.attributesFile", ".git/theirs", NULL);
    repo = must_open(w, "repo");
    attributes = git_text(repo, "check-attr", "mine", "theirs", "--", "a.txt");
    assert_string_equal(attributes, "a.txt: mine: set\na.txt: theirs: unspecified\n");
}

static void copies_personal_files_up_to_the_limit(void **state)
{
    struct world *w = *state;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    tmpdir_write(w->repo, "x.o", "");
    al_str_adds(&text, "*.o\n");
    while (text.len < (1u << 20) - 1)
        al_str_addc(&text, '\n');
    tmpdir_write(w->home, ".config/git/ignore", text.buf);
    assert_untracked(w, "");
    al_str_addc(&text, '\n');
    tmpdir_write(w->home, ".config/git/ignore", text.buf);
    assert_untracked(w, "");
    al_str_addc(&text, '\n');
    tmpdir_write(w->home, ".config/git/ignore", text.buf);
    assert_untracked(w, "?? x.o\n");
}

static void lets_the_repository_win_where_git_would(void **state)
{
    struct world *w = *state;
    al_auto(repo_freep) struct al_repo *repo = NULL;
    al_auto(al_freep) char *name = NULL, *mail = NULL;

    git_ok(w->repo, "config", "user.name", "Local Name", NULL);
    repo = must_open(w, "repo");
    name = git_text(repo, "config", "user.name");
    mail = git_text(repo, "config", "user.email");
    assert_string_equal(name, "Local Name\n");
    assert_string_equal(mail, "author@example.com\n");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        WORLD_TEST(costs_one_child_for_each_later_status),
        WORLD_TEST(remembers_several_repositories),
        WORLD_TEST(looks_again_when_a_configuration_changes),
        WORLD_TEST(looks_again_when_an_included_file_changes),
        WORLD_TEST(looks_again_when_another_branch_is_checked_out),
        WORLD_TEST(looks_again_when_the_user_has_settings_of_a_branch),
        WORLD_TEST(does_not_look_again_for_anything_else),
        WORLD_TEST(refuses_too_many_drivers),
        WORLD_TEST(counts_a_driver_once),
        WORLD_TEST(knows_whether_there_is_an_identity),
        WORLD_TEST(honours_the_persons_ignore_file_only),
        WORLD_TEST(honours_the_persons_attributes_file_only),
        WORLD_TEST(copies_personal_files_up_to_the_limit),
        WORLD_TEST(lets_the_repository_win_where_git_would),
    };

    gitops_begin();
    return cmocka_run_group_tests_name("gitops/vet", tests, NULL, NULL);
}
