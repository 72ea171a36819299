// SPDX-License-Identifier: Apache-2.0
/* call/decide.c: the user is asked again if the repository changed meanwhile. */
#include "guard/approval.h"
#include "tests/unit/call/lib.h"
#include "verbs/preview/affected_files.h"

static void edit_the_file(struct scene *scene)
{
    tmpdir_write(scene->w->repo, "a.txt", "something else\n");
}

static void commit_something(struct scene *scene)
{
    git_fixture_commit(scene->w->repo, "c.txt", "c\n", "meanwhile");
}

static void stage_more(struct scene *scene)
{
    git_ok(scene->w->repo, "add", "b.txt", NULL);
}

static void touch_another_file(struct scene *scene)
{
    tmpdir_write(scene->w->repo, "b.txt", "not concerned\n");
}

static void asks_again_when_the_file_changed_meanwhile(void **state)
{
    struct scene *scene = *state;

    scene->meanwhile = edit_the_file;
    scene->answers[0] = AL_ANSWER_ONCE;
    scene->answers[1] = AL_ANSWER_REJECT;
    run(scene, &stage, STAGE_A);
    assert_int_equal(scene->asked, 2);
    assert_int_equal(scene->result.status, AL_ERR_APPROVAL_DENIED);
    assert_status(scene, UNTOUCHED);
    assert_journal(scene, "declined rejected terminal stage no");
    assert_int_equal(journal_lines(scene), 1);
}

static void edit_the_file_once_more(struct scene *scene)
{
    al_auto(al_freep) char *text = al_asprintf("edit number %zu\n", scene->asked);

    tmpdir_write(scene->w->repo, "a.txt", text);
}

/* At most sixteen questions: the answer to the last one counts, and then the call ends. */
static void asks_no_more_when_it_is_overtaken_every_time(void **state)
{
    struct scene *scene = *state;

    for (size_t i = 0; i < COUNT(scene->answers); i++)
        scene->answers[i] = AL_ANSWER_ONCE;
    scene->meanwhile = edit_the_file_once_more;
    scene->restless = 15; /* also during the sixteenth */
    run(scene, &stage, STAGE_A);
    assert_int_equal(scene->asked, 16);
    assert_int_equal(scene->result.status, AL_ERR_EXECUTION);
    assert_non_null(strstr(scene->result.text.buf, "keeps changing"));
    assert_status(scene, UNTOUCHED);
    for (size_t restless = 13; restless < 15; restless++) {
        git_ok(scene->w->repo, "reset", "-q", NULL);
        scene->asked = 0;
        scene->restless = restless; /* the fifteenth or the sixteenth answer counts */
        run(scene, &stage, STAGE_A);
        assert_int_equal(scene->asked, restless + 2);
        assert_int_equal(scene->result.status, AL_OK);
        assert_status(scene, STAGED_A);
    }
}

static void asks_again_when_head_moved_meanwhile(void **state)
{
    struct scene *scene = *state;

    git_ok(scene->w->repo, "add", "a.txt", NULL);
    scene->meanwhile = commit_something; /* includes the staged file */
    scene->answers[0] = scene->answers[1] = AL_ANSWER_ONCE;
    run(scene, &record, RECORD);
    assert_int_equal(scene->asked, 1); /* nothing is left to ask about */
    assert_int_equal(scene->result.error.code, AL_CODE_NO_STAGED_CHANGES);
    assert_commits(scene, "2\n");
}

static void shows_what_is_staged_now_when_the_index_changed_meanwhile(void **state)
{
    struct scene *scene = *state;

    git_ok(scene->w->repo, "add", "a.txt", NULL);
    scene->meanwhile = stage_more;
    scene->answers[0] = scene->answers[1] = AL_ANSWER_ONCE;
    run(scene, &record, RECORD);
    assert_int_equal(scene->asked, 2);
    assert_non_null(strstr(scene->detail, "+two"));
    assert_non_null(strstr(scene->detail, "+new"));
    assert_int_equal(scene->result.status, AL_OK);
    assert_commits(scene, "2\n");
    assert_journal(scene, "ok once terminal record yes");
}

static void asks_once_when_only_other_files_changed(void **state)
{
    struct scene *scene = *state;

    scene->meanwhile = touch_another_file;
    scene->answers[0] = AL_ANSWER_ONCE;
    run(scene, &stage, STAGE_A);
    assert_int_equal(scene->asked, 1);
    assert_int_equal(scene->result.status, AL_OK);
    assert_status(scene, STAGED_A);
}

static int listings;

static int list_changed(struct al_call *call, struct al_strv *out, struct al_error *err)
{
    listings++;
    return al_git_affected_files(al_call_repo(call), NULL, true, out, err);
}

static int list_in_detail(struct al_call *call, struct al_str *out, struct al_error *err)
{
    const struct al_strv *files;
    int r = al_call_affected_files(call, &files, err);

    if (r == 0)
        al_git_files_excerpt(al_call_repo(call), files, "Files:", out);
    return r;
}

static struct al_tool stage_and_list(void)
{
    struct al_tool tool = stage;

    tool.affected_files = list_changed;
    tool.preview = list_in_detail;
    return tool;
}

static void lists_files_once_to_ask_and_once_more_to_act(void **state)
{
    struct scene *scene = *state;
    const struct al_tool tool = stage_and_list();

    listings = 0;
    scene->answers[0] = AL_ANSWER_ONCE;
    run(scene, &tool, STAGE_A);
    assert_int_equal(scene->result.status, AL_OK);
    assert_int_equal(listings, 2);
    assert_string_equal(scene->detail, "Files:\n  a.txt\n  b.txt\n");
}

static void add_a_file(struct scene *scene)
{
    tmpdir_write(scene->w->repo, "c.txt", "just now\n");
}

static void asks_again_about_a_file_that_came_meanwhile(void **state)
{
    struct scene *scene = *state;
    const struct al_tool tool = stage_and_list();

    listings = 0;
    scene->meanwhile = add_a_file;
    scene->answers[0] = AL_ANSWER_ONCE;
    scene->answers[1] = AL_ANSWER_REJECT;
    run(scene, &tool, STAGE_A);
    assert_int_equal(scene->asked, 2);
    assert_string_equal(scene->detail,
                        "Something this depends on changed after your answer, so nothing was done. "
                        "This is what it is now.\n\nFiles:\n  a.txt\n  b.txt\n  c.txt\n");
    assert_status(scene, " M a.txt\n?? b.txt\n?? c.txt\n");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        SCENE_TEST(asks_again_when_the_file_changed_meanwhile),
        SCENE_TEST(asks_no_more_when_it_is_overtaken_every_time),
        SCENE_TEST(asks_again_when_head_moved_meanwhile),
        SCENE_TEST(shows_what_is_staged_now_when_the_index_changed_meanwhile),
        SCENE_TEST(asks_once_when_only_other_files_changed),
        SCENE_TEST(lists_files_once_to_ask_and_once_more_to_act),
        SCENE_TEST(asks_again_about_a_file_that_came_meanwhile),
    };

    gitops_begin();
    return cmocka_run_group_tests_name("tool/approve_again", tests, NULL, NULL);
}
