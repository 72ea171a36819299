// SPDX-License-Identifier: Apache-2.0
/* verbs/porcelain/resume.c: a stopped rebase continues as in git, and no state file makes
 * it run a program or write what was not approved. */
#include "git/command.h"
#include "git/refs.h"
#include "tests/unit/git/tree.h"
#include "verbs/porcelain/resume.h"

/* Rebase main, three commits of a.txt of which the first conflicts with feature, until it stops. */
static void stop(struct world *w, const char *option)
{
    git_ok(w->repo, "checkout", "-q", "-b", "feature", NULL);
    git_fixture_commit(w->repo, "a.txt", "theirs\n", "feat: theirs");
    git_ok(w->repo, "checkout", "-q", "main", NULL);
    git_fixture_commit(w->repo, "a.txt", "ours\n", "fix: first");
    git_fixture_commit(w->repo, "b.txt", "b\n", "fix: second");
    git_fixture_commit(w->repo, "c.txt", "c\n", "fix: third");
    assert_int_equal(git_status_of(w->repo, "rebase", "-q", option, "feature", NULL), 1);
}

static void resolve(struct world *w, const char *text)
{
    tmpdir_write(w->repo, "a.txt", text);
    git_ok(w->repo, "add", "a.txt", NULL);
}

static int go_on(struct world *w, const char *message, struct al_merge_outcome *outcome)
{
    al_auto(repo_freep) struct al_repo *repo = must_open(w, "repo");

    al_error_clear(&w->err);
    return al_git_resume(repo, message, NULL, 1u << 16, outcome, &w->err);
}

static void assert_subjects(struct world *w, const char *expected)
{
    al_auto(al_freep) char *subjects =
        git_output(w->repo, "log", "--format=%s", "feature..main", NULL);
    al_auto(al_freep) char *branch = git_output(w->repo, "symbolic-ref", "HEAD", NULL);

    assert_string_equal(subjects, expected);
    assert_string_equal(branch, "refs/heads/main\n");
}

static void goes_on_to_its_end(void **state)
{
    static const char *const options[] = { "--merge", "--apply" };
    struct world *w = *state;

    for (size_t i = 0; i < COUNT(options); i++) {
        al_auto(al_merge_outcome_clear) struct al_merge_outcome outcome = AL_MERGE_INIT;

        stop(w, options[i]);
        resolve(w, "both\n");
        assert_int_equal(go_on(w, NULL, &outcome), 0);
        assert_false(outcome.in_progress);
        assert_false(outcome.conflicted);
        assert_subjects(w, "fix: third\nfix: second\nfix: first\n");
        git_ok(w->repo, "reset", "-q", "--hard", "feature~1", NULL);
        git_ok(w->repo, "branch", "-q", "-D", "feature", NULL);
    }
}

static void takes_a_message(void **state)
{
    static const char *const options[] = { "--merge", "--apply" };
    struct world *w = *state;

    for (size_t i = 0; i < COUNT(options); i++) {
        al_auto(al_merge_outcome_clear) struct al_merge_outcome outcome = AL_MERGE_INIT;

        stop(w, options[i]);
        resolve(w, "both\n");
        assert_int_equal(go_on(w, "fix: in other words\n\nbody\n", &outcome), 0);
        assert_subjects(w, "fix: third\nfix: second\nfix: in other words\n");
        git_ok(w->repo, "reset", "-q", "--hard", "feature~1", NULL);
        git_ok(w->repo, "branch", "-q", "-D", "feature", NULL);
    }
}

static void drops_what_is_wholly_ours(void **state)
{
    struct world *w = *state;
    al_auto(al_merge_outcome_clear) struct al_merge_outcome outcome = AL_MERGE_INIT;

    stop(w, "--merge");
    resolve(w, "theirs\n");
    assert_int_equal(go_on(w, NULL, &outcome), 0);
    assert_subjects(w, "fix: third\nfix: second\n");
}

static void stops_again_where_it_must(void **state)
{
    struct world *w = *state;
    al_auto(al_merge_outcome_clear) struct al_merge_outcome outcome = AL_MERGE_INIT;
    al_auto(al_merge_outcome_clear) struct al_merge_outcome none = AL_MERGE_INIT;

    stop(w, "--merge");
    assert_int_equal(go_on(w, NULL, &none), AL_ERR_EXECUTION);
    assert_int_equal(w->err.code, AL_CODE_CONFLICT);
    git_ok(w->repo, "rm", "-q", "--cached", "a.txt", NULL);
    git_ok(w->repo, "add", "a.txt", NULL);
    tmpdir_write(w->repo, "b.txt", "in the way\n");
    git_ok(w->repo, "add", ".", NULL);
    assert_int_equal(go_on(w, NULL, &outcome), 0);
    assert_true(outcome.conflicted);
    assert_true(outcome.in_progress);
    assert_int_equal(outcome.conflicts.count, 1);
    assert_string_equal(outcome.conflicts.items[0], "b.txt");
}

static void runs_nothing_that_its_notes_name(void **state)
{
    struct world *w = *state;
    al_auto(al_merge_outcome_clear) struct al_merge_outcome outcome = AL_MERGE_INIT;
    al_auto(al_freep) char *ran = tmpdir_path(w->outside, "ran");
    al_auto(al_freep) char *exec = al_asprintf("exec touch %s\n", ran);
    const char *const todos[] = {
        exec,           "x true\n",        "merge -C HEAD feature\n",
        "label here\n", "reset feature\n", "pick HEAD\nrevert HEAD\n",
    };
    al_auto(al_freep) char *before = NULL;
    al_auto(al_freep) char *after = NULL;

    stop(w, "--merge");
    resolve(w, "both\n");
    for (size_t i = 0; i < COUNT(todos); i++) {
        tmpdir_write(w->repo, ".git/rebase-merge/git-rebase-todo", todos[i]);
        free(al_take(&before));
        before = tree_text(w->repo);
        assert_int_equal(go_on(w, NULL, &outcome), AL_ERR_EXECUTION);
        assert_int_equal(w->err.code, AL_CODE_OPERATION_FAILED);
        assert_non_null(strstr(w->err.message, "among what is left to do"));
        free(al_take(&after));
        after = tree_text(w->repo);
        assert_same_tree(before, after);
    }
    tmpdir_write(w->repo, ".git/rebase-merge/git-rebase-todo", exec);
    setenv("GIT_EDITOR", ":", 1);
    git_ok(w->repo, "rebase", "--continue", NULL); /* the control */
    assert_int_equal(access(ran, F_OK), 0);
}

static void heeds_its_other_notes(void **state)
{
    static const char *const notes[][2] = {
        { "gpg_sign_opt", "-S" },
        { "update-refs", "refs/heads/feature\n1\n2\n" },
        { "strategy", "theirs" },
    };
    struct world *w = *state;
    al_auto(al_merge_outcome_clear) struct al_merge_outcome outcome = AL_MERGE_INIT;

    stop(w, "--merge");
    resolve(w, "both\n");
    for (size_t i = 0; i < COUNT(notes); i++) {
        al_auto(al_freep) char *name = al_asprintf(".git/rebase-merge/%s", notes[i][0]);
        al_auto(al_freep) char *path = tmpdir_path(w->repo, name);

        tmpdir_write(w->repo, name, notes[i][1]);
        assert_int_equal(go_on(w, NULL, &outcome), AL_ERR_EXECUTION);
        assert_int_equal(w->err.code, AL_CODE_OPERATION_FAILED);
        assert_int_equal(unlink(path), 0);
        tmpdir_symlink(w->repo, "/etc/passwd", name);
        assert_int_equal(go_on(w, NULL, &outcome), AL_ERR_EXECUTION);
        assert_null(strstr(w->err.message, "root"));
        assert_int_equal(unlink(path), 0);
    }
    tmpdir_write(w->repo, ".git/rebase-merge/strategy", "ort");
    assert_int_equal(go_on(w, NULL, &outcome), 0);
}

static void runs_no_hook(void **state)
{
    static const char *const hooks[] = { "pre-commit",  "commit-msg",   "prepare-commit-msg",
                                         "post-commit", "post-rewrite", "post-checkout" };
    struct world *w = *state;
    al_auto(al_merge_outcome_clear) struct al_merge_outcome outcome = AL_MERGE_INIT;
    al_auto(al_freep) char *ran = tmpdir_path(w->outside, "ran");
    al_auto(al_freep) char *script = al_asprintf("#!/bin/sh\ntouch %s\n", ran);

    stop(w, "--merge");
    resolve(w, "both\n");
    for (size_t i = 0; i < COUNT(hooks); i++) {
        al_auto(al_freep) char *name = al_asprintf(".git/hooks/%s", hooks[i]);
        al_auto(al_freep) char *path = tmpdir_path(w->repo, name);

        tmpdir_write(w->repo, name, script);
        assert_int_equal(chmod(path, 0755), 0);
    }
    assert_int_equal(go_on(w, NULL, &outcome), 0);
    assert_false(outcome.in_progress);
    assert_int_equal(access(ran, F_OK), -1);
    git_ok(w->repo, "commit", "-q", "--allow-empty", "-m", "x", NULL); /* the control */
    assert_int_equal(access(ran, F_OK), 0);
}

static void shows_what_goes_on(void **state)
{
    struct world *w = *state;
    al_auto(repo_freep) struct al_repo *repo = NULL;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT, empty = AL_STR_INIT;

    stop(w, "--merge");
    resolve(w, "both\n");
    repo = must_open(w, "repo");
    assert_int_equal(al_git_resume_preview(repo, &text, &w->err), 0);
    assert_true(al_starts_with(text.buf,
                               "A rebase is in progress and continues, with 2 more commits "
                               "after this one.\n1 file, "));
    resolve(w, "theirs\n");
    assert_int_equal(al_git_resume_preview(repo, &empty, &w->err), 0);
    assert_non_null(strstr(empty.buf, ".\nNothing of this commit is left.\n"));
}

static void the_branch_of_a_rebase_is_concerned(void **state)
{
    static const char *const options[] = { "--merge", "--apply" };
    struct world *w = *state;

    for (size_t i = 0; i < COUNT(options); i++) {
        al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;
        al_auto(repo_freep) struct al_repo *repo = NULL;

        stop(w, options[i]);
        repo = must_open(w, "repo");
        al_ref_head_branches(&repo->at, &names);
        assert_int_equal(names.count, 2);
        assert_string_equal(names.items[0], "HEAD");
        assert_string_equal(names.items[1], "main");
        git_ok(w->repo, "rebase", "--abort", NULL);
        git_ok(w->repo, "reset", "-q", "--hard", "feature~1", NULL);
        git_ok(w->repo, "branch", "-q", "-D", "feature", NULL);
    }
}

static void knows_what_may_be_left_to_do(void **state)
{
    static const struct {
        const char *todo, *refused;
        size_t left;
        bool picks; /* of a cherry-pick or a revert */
    } cases[] = {
        { "", NULL, 0, false },
        { "\n\n# exec false\n   # comment\n", NULL, 0, false },
        { "pick 1111 one\nreword 2222\ne 3333\ns 4444\nfixup -C 5555\n", NULL, 5, false },
        { "drop 1111\nnoop\nbreak\nd 2222\nb\n", NULL, 0, false },
        { "pick 1111\r\nbreak\r\n", NULL, 1, false },
        { "pick", NULL, 0, false },
        { "pick 1111\nexec true", "exec", 1, false },
        { "  x\ttrue", "x", 0, false },
        { "EXEC true", "EXEC", 0, false },
        { "picks 1111", "picks", 0, false },
        { "merge -C 1111 2222", "merge", 0, false },
        { "u refs/heads/x\nupdate-ref refs/heads/y\npick 1111", NULL, 1, false },
        { "l x", "l", 0, false },
        { "t x", "t", 0, false },
        { "revert 1111", "revert", 0, false },
        { "pick 1111 one\nrevert 2222 two\n", NULL, 2, true },
        { "pick 1111 one\npick HEAD two\n", "HEAD", 1, true },
        { "pick 1111 one\nreword 2222 two\n", "reword", 1, true },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        al_auto(al_strv_clear) struct al_strv commits = AL_STRV_INIT;
        al_auto(al_freep) char *word = al_todo_vet(cases[i].todo, !cases[i].picks, &commits);

        assert_int_equal(commits.count, cases[i].left);
        assert_int_equal(!word, !cases[i].refused);
        if (word)
            assert_string_equal(word, cases[i].refused);
    }
}

static void knows_the_commits_that_are_left(void **state)
{
    static const char todo[] = "pick 1111111111111111111111111111111111111111 a 2222222\n"
                               "drop 3333333333333333333333333333333333333333 b\n"
                               "  fixup -C 4444444444444444444444444444444444444444 # c\n"
                               "edit 5555555\n"
                               "break\n"
                               "pick subject 6666666666666666666666666666666666666666\n"
                               "pick\n"
                               "squash\t7777777777777777777777777777777777777777";
    static const char *const expected[] = { "1111111111111111111111111111111111111111",
                                            "4444444444444444444444444444444444444444", "5555555",
                                            "7777777777777777777777777777777777777777" };
    al_auto(al_strv_clear) struct al_strv commits = AL_STRV_INIT;

    (void)state;
    assert_null(al_todo_vet(todo, true, &commits));
    assert_int_equal(commits.count, COUNT(expected));
    for (size_t i = 0; i < COUNT(expected); i++)
        assert_string_equal(commits.items[i], expected[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WORLD_TEST(goes_on_to_its_end),
        WORLD_TEST(takes_a_message),
        WORLD_TEST(drops_what_is_wholly_ours),
        WORLD_TEST(stops_again_where_it_must),
        WORLD_TEST(runs_nothing_that_its_notes_name),
        WORLD_TEST(heeds_its_other_notes),
        WORLD_TEST(runs_no_hook),
        WORLD_TEST(shows_what_goes_on),
        WORLD_TEST(the_branch_of_a_rebase_is_concerned),
        cmocka_unit_test(knows_what_may_be_left_to_do),
        cmocka_unit_test(knows_the_commits_that_are_left),
    };

    gitops_begin();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
