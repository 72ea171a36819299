// SPDX-License-Identifier: Apache-2.0
/* The way back: only what executions changed goes back, and whose work is in the way. */
#include "tests/unit/history/rollback_lib.h"

/** The answer for undoing all executions. */
struct answer {
    struct al_str changes, lost; /* "<name>\n" each; with " -" when the target does not have it */
    bool writes_index;
};

static void answer_clear(struct answer *answer)
{
    al_str_clear(&answer->changes);
    al_str_clear(&answer->lost);
}

static void add_names(struct answer *answer, const struct al_way *way)
{
    for (size_t i = 0; i < way->changes.count; i++)
        al_str_addf(&answer->changes, "%s%s\n", way->changes.items[i].name,
                    way->changes.items[i].to ? "" : " -");
    for (size_t i = 0; i < way->entries.count && !way->index; i++)
        al_str_addf(&answer->changes, "%s%s\n", way->entries.items[i].name,
                    way->entries.items[i].to ? "" : " -");
    for (size_t i = 0; i < way->report->lost.count; i++)
        al_str_addf(&answer->lost, "%s\n", way->report->lost.items[i]);
    answer->writes_index = way->index != NULL;
}

static struct answer way_back(struct saver *s, const struct al_executions *executions)
{
    struct answer answer = { .changes = AL_STR_INIT, .lost = AL_STR_INIT };
    al_auto(al_rollback_clear) struct al_rollback report = AL_ROLLBACK_INIT;
    struct al_way way = { .store = s->store,
                          .repo = s->repo,
                          .report = &report,
                          .journal_file = "/nonexistent",
                          AL_WAY_INIT };

    take(s, NULL);
    memcpy(way.present, s->id, sizeof(way.present));
    for (size_t i = 0; i < executions->count; i++) {
        const struct al_execution *item = &executions->items[i];

        add_execution(&way.executions, item->before)->input = json_incref(item->input);
    }
    way.plan.end = executions->count;
    assert_int_equal(al_way_read_executions(&way, &s->w->err), 0);
    assert_int_equal(al_way_find(&way, &s->w->err), 0);
    assert_int_equal(
        al_location_open_all(&way.repo->at, &way.top_fd, &way.git_fd, &way.common_fd, &s->w->err),
        0);
    assert_int_equal(al_obstacles_check(&way, &s->w->err), 0);
    add_names(&answer, &way);
    al_way_clear(&way);
    return answer;
}

static void assert_way(struct saver *s, const struct al_executions *executions, const char *changes,
                       const char *lost)
{
    al_auto(answer_clear) struct answer answer = way_back(s, executions);

    assert_string_equal(answer.changes.buf, changes);
    assert_string_equal(answer.lost.buf, lost);
}

static void leaves_what_no_execution_changed(void **state)
{
    struct saver *s = *state;
    al_auto(al_executions_clear) struct al_executions executions = { .items = NULL };

    (void)execute(s, &executions, "a.txt", "1\n");
    assert_way(s, &executions, "a.txt\n", "");
    tmpdir_write(s->w->repo, "between", "theirs\n");
    (void)execute(s, &executions, "b.txt", "2\n");
    tmpdir_write(s->w->repo, "after", "theirs\n");
    git_ok(s->w->repo, "branch", "theirs", NULL);
    git_ok(s->w->repo, "add", "after", NULL);
    git_ok(s->w->repo, "config", "their.key", "1", NULL);
    assert_way(s, &executions, "a.txt\nb.txt -\n", "");
}

static void names_what_others_changed_as_well(void **state)
{
    struct saver *s = *state;
    al_auto(al_executions_clear) struct al_executions executions = { .items = NULL };

    (void)execute(s, &executions, "a.txt", "1\n");
    (void)execute(s, &executions, "b.txt", "2\n");
    tmpdir_write(s->w->repo, "a.txt", "theirs\n");
    assert_way(s, &executions, "a.txt\nb.txt -\n", "a.txt\n");
    (void)execute(s, &executions, "a.txt", "3\n"); /* over it */
    assert_way(s, &executions, "a.txt\nb.txt -\n", "a.txt\n");
}

/* A file comes back as it was before the first execution that changed it, and not as it was before
 * the oldest one. */
static void goes_back_to_before_the_first_change(void **state)
{
    struct saver *s = *state;
    al_auto(al_executions_clear) struct al_executions executions = { .items = NULL };

    (void)execute(s, &executions, "b.txt", "1\n");
    tmpdir_write(s->w->repo, "a.txt", "theirs\n");
    (void)execute(s, &executions, "a.txt", "2\n");
    assert_way(s, &executions, "a.txt\nb.txt -\n", "");
    tmpdir_write(s->w->repo, "a.txt", "theirs\n");
    assert_way(s, &executions, "b.txt -\n", "");
}

static void names_nothing_that_going_back_does_not_take_away(void **state)
{
    struct saver *s = *state;
    al_auto(al_executions_clear) struct al_executions executions = { .items = NULL };

    (void)execute(s, &executions, "a.txt", "1\n");
    (void)execute(s, &executions, "b.txt", "2\n");
    tmpdir_write(s->w->repo, "a.txt", "one\n"); /* as it was before the first */
    assert_way(s, &executions, "b.txt -\n", "");
}

static void names_a_change_once(void **state)
{
    struct saver *s = *state;
    al_auto(al_executions_clear) struct al_executions executions = { .items = NULL };

    (void)execute(s, &executions, "a.txt", "1\n");
    tmpdir_write(s->w->repo, "a.txt", "theirs 1\n");
    (void)execute(s, &executions, "a.txt", "2\n");
    tmpdir_write(s->w->repo, "a.txt", "theirs 2\n");
    (void)execute(s, &executions, "a.txt", "3\n");
    tmpdir_write(s->w->repo, "a.txt", "theirs 3\n");
    assert_way(s, &executions, "a.txt\n", "a.txt\n");
}

/* A file of somebody else's, where a directory has to come back, and below a path that has to be a
 * file. */
static void names_files_in_the_way(void **state)
{
    struct saver *s = *state;
    al_auto(al_executions_clear) struct al_executions executions = { .items = NULL };

    tmpdir_write(s->w->repo, "dir/a", "a\n");
    tmpdir_write(s->w->repo, "dir/b", "b\n");
    tmpdir_write(s->w->repo, "file", "f\n");
    (void)execute(s, &executions, "dir/a", "1\n");
    (void)execute(s, &executions, "dir/b", "1\n");
    (void)execute(s, &executions, "file", "1\n");
    git_ok(s->w->repo, "clean", "-q", "-f", "-d", "dir", "file", NULL);
    tmpdir_write(s->w->repo, "dir", "theirs\n");
    tmpdir_write(s->w->repo, "file/x", "theirs\n");
    tmpdir_write(s->w->repo, "file/y/z", "theirs\n");
    tmpdir_write(s->w->repo, "file.txt", "theirs, and not in the way\n");
    assert_way(s, &executions, "dir -\ndir/a\ndir/b\nfile\nfile/x -\nfile/y/z -\n",
               "dir\ndir/a\ndir/b\nfile\nfile/x\nfile/y/z\n");
}

static void names_a_stash_that_would_go(void **state)
{
    struct saver *s = *state;
    al_auto(al_executions_clear) struct al_executions executions = { .items = NULL };

    for (int i = 0; i < 3; i++) {
        tmpdir_write(s->w->repo, "a.txt", (const char *[]){ "1\n", "2\n", "3\n" }[i]);
        git_ok(s->w->repo, "stash", "-q", NULL);
    }
    begin(s);
    git_ok(s->w->repo, "stash", "drop", "-q", "stash@{0}", NULL);
    end(s, &executions);
    git_ok(s->w->repo, "stash", "drop", "-q", "stash@{1}", NULL); /* the target has it */
    assert_way(s, &executions, "refs/stash\nlogs/refs/stash\n", "");
    tmpdir_write(s->w->repo, "a.txt", "theirs\n");
    git_ok(s->w->repo, "stash", "-q", NULL);
    assert_way(s, &executions, "refs/stash\nlogs/refs/stash\n", "refs/stash\nthe stash\n");
}

/* git rewrites an index without changing its entries. */
static void finds_the_index_with_the_right_entries(void **state)
{
    struct saver *s = *state;
    al_auto(al_executions_clear) struct al_executions executions = { .items = NULL };
    al_auto(answer_clear) struct answer first = { .changes = AL_STR_INIT, .lost = AL_STR_INIT };
    al_auto(answer_clear) struct answer second = { .changes = AL_STR_INIT, .lost = AL_STR_INIT };

    begin(s);
    git_ok(s->w->repo, "update-index", "--index-version", "4", NULL);
    git_ok(s->w->repo, "branch", "new", NULL);
    end(s, &executions);
    first = way_back(s, &executions);
    assert_string_equal(first.changes.buf, "refs/heads/new -\n");
    assert_true(first.writes_index);
    tmpdir_write(s->w->repo, "theirs", "staged\n");
    git_ok(s->w->repo, "add", "theirs", NULL);
    second = way_back(s, &executions);
    assert_string_equal(second.changes.buf, "refs/heads/new -\n");
    assert_string_equal(second.lost.buf, "");
    assert_false(second.writes_index);
    begin(s);
    git_ok(s->w->repo, "add", "a.txt", NULL);
    git_ok(s->w->repo, "rm", "-q", "--cached", "a.txt", NULL);
    end(s, &executions);
    answer_clear(&second);
    second = way_back(s, &executions);
    assert_string_equal(second.changes.buf, "index\nrefs/heads/new -\n");
    assert_string_equal(second.lost.buf, "");
    assert_true(second.writes_index); /* `theirs` is in it */
}

/* An execution that was interrupted may have changed what its checkpoint has, and nothing else. */
static void takes_what_an_interrupted_execution_may_have_changed(void **state)
{
    struct saver *s = *state;
    al_auto(al_executions_clear) struct al_executions executions = { .items = NULL };

    take_without(s, NULL, AL_PARTS_WORKTREE | AL_PARTS_INDEX);
    (void)add_execution(&executions, s->id);
    git_ok(s->w->repo, "branch", "new", NULL);
    tmpdir_write(s->w->repo, "theirs", "staged\n");
    git_ok(s->w->repo, "add", "theirs", NULL);
    assert_way(s, &executions, "refs/heads/new -\n", "");
}

/* A rollback that goes on after it was killed removes the temporary files of the first attempt. */
static void brings_no_temporary_file_back(void **state)
{
    static const char temp[] = "dir/.airlock-0123456789abcdef";
    static const char other[] = "dir/.airlock-0123456789abcde";
    struct saver *s = *state;

    for (int is_rollback = 0; is_rollback < 2; is_rollback++) {
        al_auto(al_executions_clear) struct al_executions executions = { .items = NULL };

        tmpdir_write(s->w->repo, temp, "half of a file");
        tmpdir_write(s->w->repo, other, "theirs\n");
        begin(s);
        assert_int_equal(unlinkat(s->w->repo->fd, temp, 0), 0);
        assert_int_equal(unlinkat(s->w->repo->fd, other, 0), 0);
        end(s, &executions)->input = is_rollback ? json_object() : NULL;
        assert_way(s, &executions,
                   is_rollback ? "dir/.airlock-0123456789abcde\n"
                               : "dir/.airlock-0123456789abcde\ndir/.airlock-0123456789abcdef\n",
                   "");
    }
}

static void names_a_change_for_the_user(void **state)
{
    static const struct {
        struct al_difference change;
        const char *words;
    } rows[] = {
        { { .part = AL_PART_INDEX, .name = (char *)"index" }, "the index (what is staged)" },
        { { .part = AL_PART_HEAD, .name = (char *)"HEAD" }, "HEAD" },
        { { .part = AL_PART_STASH, .name = (char *)"logs/refs/stash" }, "the stash" },
        { { .part = AL_PART_REF, .name = (char *)"refs/heads/main" }, "refs/heads/main" },
        { { .part = AL_PART_STATE, .name = (char *)"MERGE_HEAD" },
          "MERGE_HEAD in the git directory" },
        { { .part = AL_PART_WORKTREE, .name = (char *)"dir/a b" }, "dir/a b" },
    };
    static const struct al_difference hostile = { .part = AL_PART_WORKTREE,
                                                  .name = (char *)"a\x1b[2J\nb" };
    al_auto(al_freep) char *safe = al_difference_words(&hostile);

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        al_auto(al_freep) char *words = al_difference_words(&rows[i].change);

        assert_string_equal(words, rows[i].words);
    }
    assert_null(strchr(safe, '\x1b'));
    assert_null(strchr(safe, '\n'));
}

/* Somebody staged something else meanwhile, between two executions and since. */
static void goes_back_entry_by_entry(void **state)
{
    struct saver *s = *state;
    al_auto(al_executions_clear) struct al_executions executions = { .items = NULL };

    for (int i = 0; i < 4; i++) {
        tmpdir_write(s->w->repo, (const char *[]){ "one", "their1", "two", "their2" }[i], "x\n");
        if (i % 2 == 0)
            begin(s);
        git_ok(s->w->repo, "add", (const char *[]){ "one", "their1", "two", "their2" }[i], NULL);
        if (i % 2 == 0)
            end(s, &executions);
    }
    assert_way(s, &executions, "index\n/one -\n/two -\n", "");
    tmpdir_write(s->w->repo, "one", "theirs\n");
    git_ok(s->w->repo, "add", "one", NULL);
    assert_way(s, &executions, "index\n/one -\n/two -\n", "one in the index\n");
    git_ok(s->w->repo, "rm", "-q", "--cached", "one", "two", NULL);
    assert_way(s, &executions, "", "");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        SAVER_TEST(leaves_what_no_execution_changed),
        SAVER_TEST(names_what_others_changed_as_well),
        SAVER_TEST(goes_back_to_before_the_first_change),
        SAVER_TEST(names_nothing_that_going_back_does_not_take_away),
        SAVER_TEST(names_a_change_once),
        SAVER_TEST(names_files_in_the_way),
        SAVER_TEST(names_a_stash_that_would_go),
        SAVER_TEST(finds_the_index_with_the_right_entries),
        SAVER_TEST(goes_back_entry_by_entry),
        SAVER_TEST(takes_what_an_interrupted_execution_may_have_changed),
        SAVER_TEST(brings_no_temporary_file_back),
        cmocka_unit_test(names_a_change_for_the_user),
    };

    gitops_begin();
    return cmocka_run_group_tests_name("rollback/way", tests, NULL, NULL);
}
