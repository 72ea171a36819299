// SPDX-License-Identifier: Apache-2.0
/* The gits that a call starts, checkpoints included, in a session that knows the repository. */
#include "history/checkpoint.h"
#include "proc/proc.h"
#include "tests/unit/call/lib.h"
#include "tools/toolsets.h"

static size_t started;
static struct al_str *words; /* the commands, one a line */

/* The names that the linker gives. */
int __real_al_proc_run(const struct al_proc_spec *spec, struct al_proc_result *ret_result,
                       struct al_error *err);
int __wrap_al_proc_run(const struct al_proc_spec *spec, struct al_proc_result *ret_result,
                       struct al_error *err);

int __wrap_al_proc_run(const struct al_proc_spec *spec, struct al_proc_result *ret_result,
                       struct al_error *err)
{
    /* The configuration is listed again when it was written. */
    started += strcmp(spec->argv[1], "config") != 0;
    for (size_t i = 0; words && spec->argv[i]; i++)
        al_str_addf(words, "%s%s", i ? " " : "# ", spec->argv[i]);
    if (words)
        al_str_adds(words, "\n");
    return __real_al_proc_run(spec, ret_result, err);
}

/* The most gits that a call may start: the budgets of docs/PERFORMANCE.md.  The first checkpoint
 * with files begins the store's index, and keeps what is easily lost.  A merge may take one more
 * today, and a stash entry that is popped four: each is merged in memory first. */
enum { FEW = 8, SOME = 12, FIRST = 5, MERGING = 1, POPPING = 4 };

/* Make a call, and count its children. */
static void assert_children(struct scene *scene, const struct al_tool *tool, const char *arguments,
                            size_t most)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    started = 0;
    words = &text;
    run(scene, tool, arguments);
    words = NULL;
    if (scene->result.status != AL_OK)
        print_message("# %s\n", scene->result.text.buf);
    assert_int_equal(scene->result.status, AL_OK);
    if (started > most)
        print_message("%s", text.buf);
    assert_in_range(started, 1, most);
}

/* A session with checkpoints in which no call is asked about. */
static void begin(struct scene *scene, struct al_checkpoint_settings *settings)
{
    *settings = (struct al_checkpoint_settings){
        .state_dir = scene->w->state->path,
        .max_store_bytes = 1u << 30,
        .max_age_days = 30,
        .max_file_bytes = 1u << 20,
    };
    scene->session.mode = AL_APPROVAL_ALLOW;
    scene->session.checkpoints = settings;
    scene->session.requires_checkpoints = true;
    run(scene, &al_tool_git_branch, "{\"working_dir\":\"repo\",\"create\":\"first\"}");
    run(scene, &al_tool_git_add, "{\"working_dir\":\"repo\",\"paths\":[\"b.txt\"]}");
    assert_int_equal(scene->result.status, AL_OK);
}

static void what_writes_no_file_starts_few_gits(void **state)
{
    static const struct {
        const struct al_tool *tool;
        const char *arguments;
    } rows[] = {
        { &al_tool_git_add, "{\"working_dir\":\"repo\",\"paths\":[\"a.txt\"]}" },
        { &al_tool_git_commit,
          "{\"working_dir\":\"repo\",\"type\":\"fix\",\"message\":\"change\"}" },
        { &al_tool_git_checkout, "{\"working_dir\":\"repo\",\"create_branch\":\"second\"}" },
        { &al_tool_git_branch, "{\"working_dir\":\"repo\",\"create\":\"third\"}" },
        { &al_tool_git_branch,
          "{\"working_dir\":\"repo\",\"rename\":\"third\",\"new_name\":\"3\"}" },
    };
    struct scene *scene = *state;
    struct al_checkpoint_settings settings;

    begin(scene, &settings);
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_children(scene, rows[i].tool, rows[i].arguments, FEW);
    tmpdir_write(scene->w->repo, "a.txt", "three\n");
    assert_children(scene, &al_tool_git_add, "{\"working_dir\":\"repo\",\"paths\":[\"a.txt\"]}",
                    FEW);
    assert_children(scene, &al_tool_git_restore,
                    "{\"working_dir\":\"repo\",\"paths\":[\"a.txt\"],\"staged\":true,"
                    "\"worktree\":false}",
                    FEW);
}

static void what_commits_again_starts_few_gits(void **state)
{
    struct scene *scene = *state;
    struct al_checkpoint_settings settings;

    begin(scene, &settings);
    for (int i = 0; i < 3; i++) {
        char text[] = { (char)('0' + i), '\n', '\0' };

        tmpdir_write(scene->w->repo, "a.txt", text);
        assert_children(scene, &al_tool_git_add, "{\"working_dir\":\"repo\",\"paths\":[\"a.txt\"]}",
                        FEW);
        assert_children(scene, &al_tool_git_commit,
                        "{\"working_dir\":\"repo\",\"type\":\"fix\",\"message\":\"change\"}", FEW);
    }
}

/* Two gits look for an entry with the name of a pattern. */
static void what_restores_files_starts_few_gits(void **state)
{
    struct scene *scene = *state;
    struct al_checkpoint_settings settings;

    begin(scene, &settings);
    assert_children(scene, &al_tool_git_restore, "{\"working_dir\":\"repo\",\"paths\":[\"a.txt\"]}",
                    SOME + FIRST);
    tmpdir_write(scene->w->repo, "a.txt", "three\n");
    assert_children(scene, &al_tool_git_checkout,
                    "{\"working_dir\":\"repo\",\"paths\":[\"a.txt\"]}", SOME);
    tmpdir_write(scene->w->repo, "a.txt", "four\n");
    assert_children(scene, &al_tool_git_restore, "{\"working_dir\":\"repo\",\"paths\":[\"a.t*\"]}",
                    SOME);
}

static void what_switches_starts_few_gits(void **state)
{
    struct scene *scene = *state;
    struct al_checkpoint_settings settings;

    git_ok(scene->w->repo, "add", "-A", NULL);
    git_ok(scene->w->repo, "commit", "-q", "-m", "all", NULL);
    git_ok(scene->w->repo, "branch", "other", "HEAD~", NULL);
    begin(scene, &settings);
    assert_children(scene, &al_tool_git_checkout, "{\"working_dir\":\"repo\",\"branch\":\"other\"}",
                    FEW + FIRST);
    assert_children(scene, &al_tool_git_checkout, "{\"working_dir\":\"repo\",\"branch\":\"main\"}",
                    FEW);
}

/* A pushed stash is packed without git. */
static void what_stashes_starts_few_gits(void **state)
{
    struct scene *scene = *state;
    struct al_checkpoint_settings settings;

    git_ok(scene->w->repo, "add", "-A", NULL);
    git_ok(scene->w->repo, "commit", "-q", "-m", "all", NULL);
    begin(scene, &settings);
    tmpdir_write(scene->w->repo, "a.txt", "stashed\n");
    assert_children(scene, &al_tool_git_stash, "{\"working_dir\":\"repo\",\"action\":\"push\"}",
                    SOME + FIRST);
    assert_children(scene, &al_tool_git_stash, "{\"working_dir\":\"repo\",\"action\":\"pop\"}",
                    SOME + POPPING);
}

static void what_merges_starts_few_gits(void **state)
{
    struct scene *scene = *state;
    struct al_checkpoint_settings settings;

    git_ok(scene->w->repo, "add", "-A", NULL);
    git_ok(scene->w->repo, "commit", "-q", "-m", "all", NULL);
    git_ok(scene->w->repo, "checkout", "-q", "-b", "other", "HEAD~", NULL);
    git_fixture_commit(scene->w->repo, "theirs.txt", "theirs\n", "theirs");
    git_ok(scene->w->repo, "checkout", "-q", "main", NULL);
    begin(scene, &settings);
    assert_children(scene, &al_tool_workflow_merge, "{\"cwd\":\"repo\",\"branch\":\"other\"}",
                    SOME + MERGING + FIRST);
    git_ok(scene->w->repo, "checkout", "-q", "-b", "more", NULL);
    git_fixture_commit(scene->w->repo, "more.txt", "more\n", "more");
    git_ok(scene->w->repo, "checkout", "-q", "main", NULL);
    assert_children(scene, &al_tool_workflow_merge, "{\"cwd\":\"repo\",\"branch\":\"more\"}",
                    SOME + MERGING);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        SCENE_TEST(what_writes_no_file_starts_few_gits),
        SCENE_TEST(what_commits_again_starts_few_gits),
        SCENE_TEST(what_restores_files_starts_few_gits),
        SCENE_TEST(what_switches_starts_few_gits),
        SCENE_TEST(what_stashes_starts_few_gits),
        SCENE_TEST(what_merges_starts_few_gits),
    };

    gitops_begin();
    return cmocka_run_group_tests_name("toolsets/git/children", tests, NULL, NULL);
}
