// SPDX-License-Identifier: Apache-2.0
/* verbs/sequencer/merge.c, operation_state.c: a merge does what git does and runs no program, a
 * conflict is a success, and an interrupted merge leaves no trace. */
#include "git/command.h"
#include "tests/unit/git/tree.h"
#include "verbs/sequencer/merge.h"
#include "verbs/sequencer/operation_state.h"

/* `feature` branches off `main` after the first commit; each then gets one commit of a file. */
static void part(struct world *w, const char *ours_name, const char *ours, const char *theirs_name,
                 const char *theirs)
{
    git_ok(w->repo, "checkout", "-q", "-b", "feature", NULL);
    git_fixture_commit(w->repo, theirs_name, theirs, "feat: theirs");
    git_ok(w->repo, "checkout", "-q", "main", NULL);
    if (ours_name)
        git_fixture_commit(w->repo, ours_name, ours, "fix: ours");
}

static int merge(struct world *w, const struct al_merge_options *options,
                 struct al_merge_outcome *outcome)
{
    al_auto(repo_freep) struct al_repo *repo = must_open(w, "repo");

    al_error_clear(&w->err);
    return al_git_merge(repo, options, 1u << 20, outcome, &w->err);
}

static int merge_feature(struct world *w, struct al_merge_outcome *outcome)
{
    return merge(w, &(struct al_merge_options){ .commit = "feature" }, outcome);
}

static void assert_file(const struct world *w, const char *name, const char *expected)
{
    al_auto(al_freep) char *text = tmpdir_read(w->repo, name);

    if (expected)
        assert_string_equal(text, expected);
    else
        assert_null(text);
}

static void assert_subject(const struct world *w, const char *expected)
{
    al_auto(al_freep) char *subject = git_output(w->repo, "log", "-1", "--format=%s", NULL);

    assert_int_equal(strncmp(subject, expected, strlen(expected)), 0);
}

static void moves_the_branch_when_it_can(void **state)
{
    struct world *w = *state;
    al_auto(al_merge_outcome_clear) struct al_merge_outcome outcome = AL_MERGE_INIT;

    part(w, NULL, NULL, "b.txt", "b\n");
    assert_int_equal(merge_feature(w, &outcome), 0);
    assert_true(outcome.fast_forward);
    assert_false(outcome.conflicted || outcome.up_to_date);
    assert_non_null(strstr(outcome.text.buf, "Fast-forward"));
    assert_file(w, "b.txt", "b\n");
    assert_subject(w, "feat: theirs");
}

static void makes_a_commit_when_told_or_needed(void **state)
{
    static const struct al_merge_options told = { .commit = "feature",
                                                  .message = "Merge it\n\nwith a body\n",
                                                  .no_ff = true };
    struct world *w = *state;
    al_auto(al_merge_outcome_clear) struct al_merge_outcome outcome = AL_MERGE_INIT;
    al_auto(al_merge_outcome_clear) struct al_merge_outcome again = AL_MERGE_INIT;

    part(w, NULL, NULL, "b.txt", "b\n");
    assert_int_equal(merge(w, &told, &outcome), 0);
    assert_false(outcome.fast_forward || outcome.conflicted || outcome.up_to_date);
    assert_subject(w, "Merge it\n");
    git_ok(w->repo, "reset", "-q", "--hard", "HEAD^1", NULL);
    git_fixture_commit(w->repo, "c.txt", "c\n", "fix: ours");
    assert_int_equal(merge_feature(w, &again), 0);
    assert_false(again.fast_forward);
    assert_subject(w, "Merge branch 'feature'");
    assert_file(w, "b.txt", "b\n");
    assert_file(w, "c.txt", "c\n");
}

static void says_when_nothing_comes_in(void **state)
{
    struct world *w = *state;
    al_auto(al_merge_outcome_clear) struct al_merge_outcome outcome = AL_MERGE_INIT;

    git_ok(w->repo, "branch", "feature", NULL);
    assert_int_equal(merge_feature(w, &outcome), 0);
    assert_true(outcome.up_to_date);
    assert_false(outcome.fast_forward || outcome.conflicted);
    assert_string_equal(outcome.text.buf, "Already up to date.");
}

static void takes_over_everything_on_an_unborn_branch(void **state)
{
    struct world *w = *state;
    al_auto(al_merge_outcome_clear) struct al_merge_outcome outcome = AL_MERGE_INIT;

    git_ok(w->repo, "checkout", "-q", "--orphan", "new", NULL);
    git_ok(w->repo, "rm", "-q", "-rf", ".", NULL);
    assert_int_equal(merge(w, &(struct al_merge_options){ .commit = "main" }, &outcome), 0);
    assert_true(outcome.fast_forward);
    assert_file(w, "a.txt", "one\n");
}

static void a_conflict_is_an_answer(void **state)
{
    struct world *w = *state;
    al_auto(al_merge_outcome_clear) struct al_merge_outcome outcome = AL_MERGE_INIT;
    al_auto(al_merge_outcome_clear) struct al_merge_outcome again = AL_MERGE_INIT;
    al_auto(repo_freep) struct al_repo *repo = NULL;

    part(w, "a.txt", "ours\n", "a.txt", "theirs\n");
    assert_int_equal(merge_feature(w, &outcome), 0);
    assert_true(outcome.conflicted);
    assert_false(outcome.fast_forward || outcome.up_to_date);
    assert_int_equal(outcome.conflicts.count, 1);
    assert_string_equal(outcome.conflicts.items[0], "a.txt");
    assert_non_null(strstr(outcome.text.buf, "CONFLICT"));
    repo = must_open(w, "repo");
    assert_int_equal(al_git_operation_state(repo), AL_IN_PROGRESS_MERGE);
    assert_int_equal(merge_feature(w, &again), AL_ERR_EXECUTION);
    assert_int_equal(w->err.code, AL_CODE_CONFLICT);
    tmpdir_write(w->repo, "a.txt", "both\n");
    git_ok(w->repo, "add", "a.txt", NULL);
    assert_int_equal(merge_feature(w, &again), AL_ERR_EXECUTION);
    assert_int_equal(w->err.code, AL_CODE_OPERATION_FAILED);
}

static void refuses_what_is_not_there(void **state)
{
    static const char *const words[] = { "no-such", "main~9", "HEAD:a.txt", "refs/heads/none" };
    struct world *w = *state;

    for (size_t i = 0; i < COUNT(words); i++) {
        al_auto(al_merge_outcome_clear) struct al_merge_outcome outcome = AL_MERGE_INIT;

        assert_int_equal(merge(w, &(struct al_merge_options){ .commit = words[i] }, &outcome),
                         AL_ERR_EXECUTION);
        assert_int_equal(w->err.code, AL_CODE_BRANCH_NOT_FOUND);
    }
}

static void keeps_changes_that_are_not_in_the_way(void **state)
{
    struct world *w = *state;
    al_auto(al_merge_outcome_clear) struct al_merge_outcome outcome = AL_MERGE_INIT;

    part(w, "c.txt", "c\n", "b.txt", "b\n");
    tmpdir_write(w->repo, "a.txt", "edited\n");
    tmpdir_write(w->repo, "new.txt", "untracked\n");
    assert_int_equal(merge_feature(w, &outcome), 0);
    assert_file(w, "a.txt", "edited\n");
    assert_file(w, "new.txt", "untracked\n");
    assert_file(w, "b.txt", "b\n");
}

/* A file `name` would be overwritten by a merge: git does nothing. */
static void assert_in_the_way(struct world *w, const char *name)
{
    al_auto(al_freep) char *before = git_output(w->repo, "status", "--porcelain=2", NULL);
    al_auto(al_freep) char *after = NULL;
    al_auto(al_merge_outcome_clear) struct al_merge_outcome outcome = AL_MERGE_INIT;

    assert_int_equal(merge_feature(w, &outcome), AL_ERR_EXECUTION);
    assert_int_equal(w->err.code, AL_CODE_DIRTY_WORKDIR);
    assert_non_null(strstr(w->err.message, name));
    after = git_output(w->repo, "status", "--porcelain=2", NULL);
    assert_string_equal(before, after);
}

static void refuses_to_overwrite(void **state)
{
    struct world *w = *state;

    part(w, "c.txt", "c\n", "a.txt", "theirs\n");
    git_ok(w->repo, "checkout", "-q", "feature", NULL);
    git_fixture_commit(w->repo, "b.txt", "b\n", "feat: more");
    git_ok(w->repo, "checkout", "-q", "main", NULL);
    tmpdir_write(w->repo, "b.txt", "mine\n");
    assert_in_the_way(w, "b.txt");
    git_ok(w->repo, "clean", "-q", "-f", NULL);
    tmpdir_write(w->repo, "a.txt", "edited\n");
    assert_in_the_way(w, "a.txt");
    git_ok(w->repo, "add", "a.txt", NULL);
    assert_in_the_way(w, "a.txt");
}

static void refuses_programs_that_would_have_to_run(void **state)
{
    static const char *const attributes[] = { "*.txt merge=evil\n", "*.txt filter=evil\n" };
    struct world *w = *state;
    al_auto(al_merge_outcome_clear) struct al_merge_outcome outcome = AL_MERGE_INIT;
    al_auto(al_freep) char *ran = tmpdir_path(w->outside, "ran");
    al_auto(al_freep) char *merge_command = al_asprintf("touch %s; true", ran);
    al_auto(al_freep) char *smudge = al_asprintf("touch %s; cat", ran);

    part(w, "a.txt", "ours\n", "a.txt", "theirs\n");
    git_ok(w->repo, "config", "merge.evil.driver", merge_command, NULL);
    git_ok(w->repo, "config", "filter.evil.smudge", smudge, NULL);
    for (size_t i = 0; i < COUNT(attributes); i++) {
        tmpdir_write(w->repo, ".git/info/attributes", attributes[i]);
        assert_int_equal(merge_feature(w, &outcome), AL_ERR_EXECUTION);
        assert_non_null(strstr(w->err.message, "'evil', a program airlock does not run"));
    }
    assert_int_equal(access(ran, F_OK), -1);
    tmpdir_write(w->repo, ".git/info/attributes", attributes[0]);
    git_ok(w->repo, "merge", "-q", "feature", NULL); /* the control */
    assert_int_equal(access(ran, F_OK), 0);
    assert_file(w, "a.txt", "ours\n");
}

static void a_repository_chooses_no_way_to_merge(void **state)
{
    struct world *w = *state;
    al_auto(al_merge_outcome_clear) struct al_merge_outcome outcome = AL_MERGE_INIT;

    part(w, "c.txt", "c\n", "b.txt", "b\n");
    git_ok(w->repo, "config", "pull.twohead", "ours", NULL);
    git_ok(w->repo, "config", "merge.ff", "only", NULL);
    git_ok(w->repo, "config", "merge.autostash", "true", NULL);
    git_ok(w->repo, "config", "branch.main.mergeOptions", "--squash -F /etc/hostname", NULL);
    (void)git_status_of(w->repo, "merge", "-q", "feature", NULL);
    assert_subject(w, "fix: ours"); /* the control: plain git obeys these settings */
    git_ok(w->repo, "reset", "-q", "--hard", NULL);
    assert_int_equal(merge_feature(w, &outcome), 0);
    assert_file(w, "b.txt", "b\n");
    assert_subject(w, "Merge branch 'feature'");
}

static void needs_an_identity_only_for_a_commit(void **state)
{
    struct world *w = *state;
    al_auto(al_merge_outcome_clear) struct al_merge_outcome moved = AL_MERGE_INIT;
    al_auto(al_merge_outcome_clear) struct al_merge_outcome made = AL_MERGE_INIT;
    static const struct al_merge_options told = { .commit = "feature", .no_ff = true };

    part(w, NULL, NULL, "b.txt", "b\n");
    tmpdir_write(w->home, ".gitconfig", "");
    assert_int_equal(merge(w, &told, &made), AL_ERR_EXECUTION);
    assert_non_null(strstr(w->err.message, "user.name"));
    assert_int_equal(merge_feature(w, &moved), 0);
}

static int abort_it(struct world *w, enum al_operation_state *done)
{
    al_auto(repo_freep) struct al_repo *repo = must_open(w, "repo");

    al_error_clear(&w->err);
    return al_git_abort(repo, done, &w->err);
}

static void aborts_whatever_is_in_progress(void **state)
{
    static const struct {
        const char *words[3];
        enum al_operation_state progress;
    } cases[] = {
        { { "merge", "feature", NULL }, AL_IN_PROGRESS_MERGE },
        { { "rebase", "feature", NULL }, AL_IN_PROGRESS_REBASE },
        { { "rebase", "--apply", "feature" }, AL_IN_PROGRESS_REBASE },
        { { "cherry-pick", "feature", NULL }, AL_IN_PROGRESS_CHERRY_PICK },
        { { "revert", "HEAD~1", NULL }, AL_IN_PROGRESS_REVERT },
    };
    struct world *w = *state;
    enum al_operation_state done = AL_IN_PROGRESS_NONE;

    part(w, "a.txt", "ours\n", "a.txt", "theirs\n");
    git_fixture_commit(w->repo, "a.txt", "ours twice\n", "fix: again");
    for (size_t i = 0; i < COUNT(cases); i++) {
        al_auto(al_freep) char *before = git_output(w->repo, "rev-parse", "HEAD", NULL);
        al_auto(al_freep) char *after = NULL;
        al_auto(al_freep) char *branch = NULL;

        assert_int_not_equal(
            git_status_of(w->repo, cases[i].words[0], cases[i].words[1], cases[i].words[2], NULL),
            0);
        assert_int_equal(abort_it(w, &done), 0);
        assert_int_equal(done, cases[i].progress);
        after = git_output(w->repo, "rev-parse", "HEAD", NULL);
        branch = git_output(w->repo, "symbolic-ref", "HEAD", NULL);
        assert_string_equal(before, after);
        assert_string_equal(branch, "refs/heads/main\n");
        assert_file(w, "a.txt", "ours twice\n");
        assert_int_equal(abort_it(w, &done), AL_ERR_EXECUTION);
        assert_int_equal(w->err.code, AL_CODE_OPERATION_FAILED);
    }
}

static void shows_what_comes_in(void **state)
{
    struct world *w = *state;
    al_auto(repo_freep) struct al_repo *repo = NULL;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    bool any = false;

    part(w, "c.txt", "c\n", "b.txt", "b\n");
    repo = must_open(w, "repo");
    assert_int_equal(al_git_merge_preview(repo, &(struct al_merge_options){ .commit = "feature" },
                                          &text, &any, &w->err),
                     0);
    assert_true(any);
    assert_true(al_starts_with(text.buf, "These commits come in:\n"));
    assert_non_null(strstr(text.buf, " feat: theirs\n"));
    assert_null(strstr(text.buf, "fix: ours"));
    assert_non_null(strstr(text.buf, "+++ b/b.txt"));
    assert_null(strstr(text.buf, "c.txt"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WORLD_TEST(moves_the_branch_when_it_can),
        WORLD_TEST(makes_a_commit_when_told_or_needed),
        WORLD_TEST(says_when_nothing_comes_in),
        WORLD_TEST(takes_over_everything_on_an_unborn_branch),
        WORLD_TEST(a_conflict_is_an_answer),
        WORLD_TEST(refuses_what_is_not_there),
        WORLD_TEST(keeps_changes_that_are_not_in_the_way),
        WORLD_TEST(refuses_to_overwrite),
        WORLD_TEST(refuses_programs_that_would_have_to_run),
        WORLD_TEST(a_repository_chooses_no_way_to_merge),
        WORLD_TEST(needs_an_identity_only_for_a_commit),
        WORLD_TEST(aborts_whatever_is_in_progress),
        WORLD_TEST(shows_what_comes_in),
    };

    gitops_begin();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
