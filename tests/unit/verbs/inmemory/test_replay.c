// SPDX-License-Identifier: Apache-2.0
/* verbs/inmemory/replay.c, commit.c, replay_message.c, accept.c: replayed commits are those that
 * git itself makes, to the byte, and come to the repository only when they are accepted. */
#include "tests/unit/git/lib.h"
#include "tests/unit/verbs/inmemory/memory_lib.h"
#include "verbs/inmemory/private.h"

#define STEPS_MAX 8

/* One replay. */
struct run {
    struct al_repo *repo;
    struct al_inmemory *memory;
    struct al_replayed replayed;
    struct al_replay replay;
    struct al_replay_step steps[STEPS_MAX];
    char *ids[STEPS_MAX + 1];
};

static void run_clear(struct run *run)
{
    al_replayed_clear(&run->replayed);
    al_inmemory_free(run->memory);
    al_repo_free(run->repo);
    for (size_t i = 0; i < COUNT(run->ids); i++)
        free(run->ids[i]);
}

static void add(struct world *w, struct run *run, enum al_replay_kind kind, const char *word,
                const char *message)
{
    const size_t n = run->replay.nsteps++;

    run->ids[n] = id_of(w, word);
    run->steps[n] =
        (struct al_replay_step){ .commit = run->ids[n], .kind = kind, .message = (char *)message };
}

/* From now on git makes its commits at the time of an identity, "Name <mail> <seconds> <zone>". */
static void set_date(const char *variable, const char *identity)
{
    al_auto(al_freep) char *date = al_asprintf("@%s", strrchr(identity, '>') + 2);

    setenv(variable, date, 1);
}

static int start(struct world *w, struct run *run, const char *onto)
{
    int r;

    run->repo = must_open(w, "repo");
    run->memory = must_open_memory(w, run->repo);
    run->ids[STEPS_MAX] = id_of(w, onto);
    run->replay.onto = run->ids[STEPS_MAX];
    run->replay.steps = run->steps;
    run->replayed = AL_REPLAYED_INIT;
    al_error_clear(&w->err);
    r = al_inmemory_replay(run->memory, &run->replay, &run->replayed, &w->err);
    if (run->memory->committer)
        set_date("GIT_COMMITTER_DATE", run->memory->committer);
    if (run->memory->author)
        set_date("GIT_AUTHOR_DATE", run->memory->author);
    return r;
}

static void assert_tip(struct world *w, const struct run *run, const char *word)
{
    al_auto(al_freep) char *id = id_of(w, word);

    if (strcmp(id, run->replayed.tip) != 0) {
        al_auto(al_freep) char *git = git_text(run->repo, "cat-file", "commit", id);
        al_auto(al_freep) char *airlock =
            git_text(al_inmemory_repo(run->memory), "cat-file", "commit", run->replayed.tip);

        print_message("# git:\n%s# airlock:\n%s", git, airlock);
    }
    assert_string_equal(run->replayed.tip, id);
}

/* Three commits on `topic`, one on `main`, which stays checked out. */
static void part(struct world *w)
{
    branch_with(w, "topic", "main", "b.txt", "b\n");
    git_fixture_commit(w->repo, "c.txt", "c\n", "second  \n\n\n\nwith a body\n# and a hash\n");
    git_fixture_commit(w->repo, "b.txt", "b\nb\n", "third\n\nLine\n");
    git_ok(w->repo, "checkout", "-q", "main", NULL);
    git_fixture_commit(w->repo, "m.txt", "m\n", "main moves");
}

static void picks_as_cherry_pick_does(void **state)
{
    struct world *w = *state;
    al_auto(run_clear) struct run run = { .repo = NULL };

    part(w);
    git_ok(w->repo, "commit", "-q", "--allow-empty", "--cleanup=verbatim", "--author",
           "Ann Other <ann@example.com>", "--date=2001-02-03T04:05:06+0130", "-m",
           "\n \nodd  \n\n\nmessage", NULL);
    git_ok(w->repo, "checkout", "-q", "topic", NULL);
    git_ok(w->repo, "commit", "-q", "--amend", "--cleanup=verbatim", "--author",
           "Ann Other <ann@example.com>", "--date=2001-02-03T04:05:06+0130", "-m",
           "\n \nodd  \n\n\nmessage", NULL);
    git_ok(w->repo, "checkout", "-q", "main", NULL);
    add(w, &run, AL_REPLAY_PICK, "topic~2", NULL);
    add(w, &run, AL_REPLAY_PICK, "topic~1", NULL);
    add(w, &run, AL_REPLAY_PICK, "topic", NULL);
    assert_worked(w, start(w, &run, "main"));
    assert_false(run.replayed.stopped);
    assert_int_equal(run.replayed.commits.count, 3);
    git_ok(w->repo, "cherry-pick", "topic~3..topic", NULL);
    assert_tip(w, &run, "HEAD");
    for (size_t i = 0; i < 3; i++) {
        al_auto(al_freep) char *word = al_asprintf("HEAD~%zu", 2 - i);
        al_auto(al_freep) char *id = id_of(w, word);

        assert_string_equal(run.replayed.commits.items[i], id);
    }
}

/* A step that is merged by the attributes that the step before it brought. */
static void attributes_follow_the_steps(void **state)
{
    struct world *w = *state;
    al_auto(run_clear) struct run run = { .repo = NULL };

    git_fixture_commit(w->repo, "dir/list", "begin\n", "list");
    branch_with(w, "topic", "main", "dir/.gitattributes", "list merge=union\n");
    git_fixture_commit(w->repo, "dir/list", "begin\ntheirs\n", "theirs");
    git_ok(w->repo, "checkout", "-q", "main", NULL);
    git_fixture_commit(w->repo, "dir/list", "begin\nours\n", "ours");
    add(w, &run, AL_REPLAY_PICK, "topic~1", NULL);
    add(w, &run, AL_REPLAY_PICK, "topic", NULL);
    assert_worked(w, start(w, &run, "main"));
    assert_false(run.replayed.stopped);
    git_ok(w->repo, "cherry-pick", "topic~2..topic", NULL);
    assert_tip(w, &run, "HEAD");
}

static void goes_on_as_rebase_does(void **state)
{
    struct world *w = *state;
    al_auto(run_clear) struct run run = { .replay = { .fast_forwards = true } };

    part(w);
    git_ok(w->repo, "checkout", "-q", "topic", NULL);
    git_ok(w->repo, "commit", "-q", "--allow-empty", "-m", "empty from the start", NULL);
    git_fixture_commit(w->repo, "m.txt", "m\n", "empty by then");
    git_fixture_commit(w->repo, "d.txt", "d\n", "last");
    for (int i = 5; i >= 0; i--) {
        al_auto(al_freep) char *word = al_asprintf("topic~%d", i);

        add(w, &run, AL_REPLAY_PICK, word, NULL);
    }
    assert_worked(w, start(w, &run, "main"));
    git_ok(w->repo, "rebase", "-q", "main", NULL);
    assert_tip(w, &run, "topic");
    assert_string_equal(run.replayed.commits.items[4], "");
}

static void a_commit_in_its_place_stays(void **state)
{
    struct world *w = *state;
    al_auto(run_clear) struct run run = { .replay = { .fast_forwards = true } };

    part(w);
    add(w, &run, AL_REPLAY_PICK, "topic~2", NULL);
    add(w, &run, AL_REPLAY_PICK, "topic~1", NULL);
    assert_worked(w, start(w, &run, "topic~3"));
    assert_tip(w, &run, "topic~1");
}

/* git encodes the message anew. */
static void an_encoded_message_becomes_utf8(void **state)
{
    static const char *const encodings[] = { "ISO-8859-1", "latin-1", "no-such-encoding" };
    struct world *w = *state;

    part(w);
    git_ok(w->repo, "checkout", "-q", "topic", NULL);
    for (size_t i = 0; i < COUNT(encodings); i++) {
        al_auto(run_clear) struct run run = { .repo = NULL };
        al_auto(al_freep) char *config = al_asprintf("i18n.commitEncoding=%s", encodings[i]);

        git_ok(w->repo, "checkout", "-q", "topic", NULL);
        git_ok(w->repo, "-c", config, "commit", "-q", "--amend", "--author",
               "J\xfcrgen <j@example.com>", "-m",
               "gr\xfc\xdf"
               "e",
               NULL);
        git_ok(w->repo, "checkout", "-q", "--detach", "main", NULL);
        add(w, &run, AL_REPLAY_PICK, "topic", NULL);
        add(w, &run, AL_REPLAY_PICK, "topic~1", NULL);
        run.replay.nsteps = 1;
        run.steps[0].commit = run.ids[0];
        git_ok(w->repo, "checkout", "-q", "--detach", "topic~1", NULL);
        assert_worked(w, start(w, &run, "topic~1"));
        git_ok(w->repo, "cherry-pick", "--no-ff", "topic", NULL);
        assert_tip(w, &run, "HEAD");
    }
}

/* git rebase -i with a list of its own. */
static void rebase(struct world *w, const char *list)
{
    al_auto(al_freep) char *path = tmpdir_path(w->outside, "list");
    al_auto(al_freep) char *editor = al_asprintf("cp %s", path);

    tmpdir_write(w->outside, "list", list);
    setenv("GIT_SEQUENCE_EDITOR", editor, 1);
    setenv("GIT_EDITOR", "true", 1);
    git_ok(w->repo, "checkout", "-q", "topic", NULL);
    git_ok(w->repo, "rebase", "-q", "-i", "main", NULL);
    unsetenv("GIT_SEQUENCE_EDITOR");
    unsetenv("GIT_EDITOR");
}

static void melds_as_rebase_does(void **state)
{
    static const enum al_replay_kind kinds[][2] = {
        { AL_REPLAY_SQUASH, AL_REPLAY_SQUASH },
        { AL_REPLAY_FIXUP, AL_REPLAY_FIXUP },
        { AL_REPLAY_FIXUP, AL_REPLAY_SQUASH },
        { AL_REPLAY_PICK, AL_REPLAY_FIXUP },
    };
    static const char *const words[] = {
        [AL_REPLAY_PICK] = "pick", [AL_REPLAY_SQUASH] = "squash", [AL_REPLAY_FIXUP] = "fixup"
    };
    struct world *w = *state;

    branch_with(w, "topic", "main", "b.txt", "b\n");
    git_ok(w->repo, "commit", "-q", "--amend", "--author", "Ann Other <ann@example.com>", "-m",
           "first\n\nof these", NULL);
    git_fixture_commit(w->repo, "c.txt", "c\n", "second\n\nwith a body");
    git_fixture_commit(w->repo, "b.txt", "b\nb\n", "squash! first\n\nmore");
    git_ok(w->repo, "checkout", "-q", "main", NULL);
    git_fixture_commit(w->repo, "m.txt", "m\n", "main moves");
    git_ok(w->repo, "branch", "start", "topic", NULL);
    for (size_t i = 0; i < COUNT(kinds); i++) {
        al_auto(run_clear) struct run run = { .repo = NULL };
        al_auto(al_freep) char *list = NULL;

        add(w, &run, AL_REPLAY_PICK, "start~2", NULL);
        add(w, &run, kinds[i][0], "start~1", NULL);
        add(w, &run, kinds[i][1], "start", NULL);
        list = al_asprintf("pick %s\n%s %s\n%s %s\n", run.ids[0], words[kinds[i][0]], run.ids[1],
                           words[kinds[i][1]], run.ids[2]);
        assert_worked(w, start(w, &run, "main"));
        git_ok(w->repo, "branch", "-q", "-f", "topic", "start", NULL);
        rebase(w, list);
        assert_tip(w, &run, "topic");
        assert_string_equal(run.replayed.commits.items[2], run.replayed.tip);
        git_ok(w->repo, "checkout", "-q", "main", NULL);
    }
}

static void rewords_and_reorders(void **state)
{
    struct world *w = *state;
    al_auto(run_clear) struct run run = { .repo = NULL };

    part(w);
    add(w, &run, AL_REPLAY_REWORD, "topic~1", "  new words \n\n\nand more\n\n");
    add(w, &run, AL_REPLAY_PICK, "topic~2", NULL);
    assert_worked(w, start(w, &run, "main"));
    git_ok(w->repo, "cherry-pick", "topic~1", NULL);
    git_ok(w->repo, "commit", "-q", "--amend", "-m", "  new words \n\n\nand more\n\n", NULL);
    git_ok(w->repo, "cherry-pick", "topic~2", NULL);
    assert_tip(w, &run, "HEAD");
}

static void reverts_as_git_revert_does(void **state)
{
    struct world *w = *state;
    al_auto(run_clear) struct run run = { .repo = NULL };

    part(w);
    git_ok(w->repo, "merge", "-q", "--no-edit", "topic", NULL);
    add(w, &run, AL_REPLAY_REVERT, "topic", NULL);
    add(w, &run, AL_REPLAY_REVERT, "main~1", NULL);
    assert_worked(w, start(w, &run, "main"));
    git_ok(w->repo, "revert", "--no-edit", "topic", "main~1", NULL);
    assert_tip(w, &run, "HEAD");
}

static void a_merge_needs_a_parent(void **state)
{
    struct world *w = *state;
    al_auto(run_clear) struct run run = { .repo = NULL }, with = { .repo = NULL };

    part(w);
    git_ok(w->repo, "checkout", "-q", "-b", "merged", NULL);
    git_ok(w->repo, "merge", "-q", "--no-edit", "topic", NULL);
    add(w, &run, AL_REPLAY_PICK, "merged", NULL);
    assert_int_equal(start(w, &run, "main"), AL_ERR_EXECUTION);
    assert_non_null(strstr(w->err.message, "is a merge"));
    add(w, &with, AL_REPLAY_REVERT, "merged", NULL);
    with.steps[0].mainline = 1;
    assert_worked(w, start(w, &with, "merged"));
    git_ok(w->repo, "revert", "--no-edit", "-m", "1", "merged", NULL);
    assert_tip(w, &with, "HEAD");
}

static void a_root_commit_can_be_picked(void **state)
{
    struct world *w = *state;
    al_auto(run_clear) struct run run = { .repo = NULL };

    git_ok(w->repo, "checkout", "-q", "--orphan", "root", NULL);
    git_ok(w->repo, "rm", "-q", "-f", "a.txt", NULL);
    git_fixture_commit(w->repo, "r.txt", "r\n", "another root");
    git_ok(w->repo, "checkout", "-q", "main", NULL);
    add(w, &run, AL_REPLAY_PICK, "root", NULL);
    assert_worked(w, start(w, &run, "main"));
    git_ok(w->repo, "cherry-pick", "root", NULL);
    assert_tip(w, &run, "HEAD");
}

static void stops_at_a_conflict(void **state)
{
    struct world *w = *state;
    al_auto(run_clear) struct run run = { .repo = NULL };

    part(w);
    git_fixture_commit(w->repo, "c.txt", "other\n", "in the way");
    for (int i = 2; i >= 0; i--) {
        al_auto(al_freep) char *word = al_asprintf("topic~%d", i);

        add(w, &run, AL_REPLAY_PICK, word, NULL);
    }
    assert_worked(w, start(w, &run, "main"));
    assert_true(run.replayed.stopped);
    assert_int_equal(run.replayed.commits.count, 1);
    assert_string_equal(run.replayed.tip, run.replayed.commits.items[0]);
    assert_int_equal(run.replayed.conflict.files.count, 1);
    assert_string_equal(run.replayed.conflict.files.items[0].path, "c.txt");
}

static void refuses_what_makes_no_sense(void **state)
{
    struct world *w = *state;
    al_auto(run_clear) struct run squash = { .repo = NULL }, reword = { .repo = NULL };
    al_auto(run_clear) struct run empty = { .repo = NULL }, blob = { .repo = NULL };

    part(w);
    add(w, &squash, AL_REPLAY_SQUASH, "topic", NULL);
    assert_int_equal(start(w, &squash, "main"), AL_ERR_EXECUTION);
    add(w, &reword, AL_REPLAY_REWORD, "topic~1", NULL);
    assert_int_equal(start(w, &reword, "main"), AL_ERR_EXECUTION);
    add(w, &empty, AL_REPLAY_REWORD, "topic~1", " \n\n");
    assert_int_equal(start(w, &empty, "main"), AL_ERR_EXECUTION);
    add(w, &blob, AL_REPLAY_PICK, "main:a.txt", NULL);
    assert_int_equal(start(w, &blob, "main"), AL_ERR_EXECUTION);
    assert_non_null(strstr(w->err.message, "is not a commit"));
}

static void needs_an_identity(void **state)
{
    struct world *w = *state;
    al_auto(run_clear) struct run run = { .repo = NULL };

    part(w);
    tmpdir_write(w->home, ".gitconfig", "[user]\n\tname = A U Thor\n");
    add(w, &run, AL_REPLAY_PICK, "topic~2", NULL);
    assert_int_equal(start(w, &run, "main"), AL_ERR_EXECUTION);
    assert_non_null(strstr(w->err.message, "user.email"));
}

/* Onto nothing: as git rebase --root does. */
static void begins_a_history_anew(void **state)
{
    struct world *w = *state;
    al_auto(run_clear) struct run run = { .replay = { .fast_forwards = true, .is_root = true } };
    al_auto(al_freep) char *nothing = NULL;
    al_auto(al_freep) char *parents = NULL;

    part(w);
    run.repo = must_open(w, "repo");
    run.memory = must_open_memory(w, run.repo);
    assert_worked(w, al_inmemory_nothing(run.memory, &nothing, &w->err));
    add(w, &run, AL_REPLAY_PICK, "topic~2", NULL);
    add(w, &run, AL_REPLAY_FIXUP, "topic~1", NULL);
    run.replay.onto = nothing;
    run.replay.steps = run.steps;
    run.replayed = AL_REPLAYED_INIT;
    assert_worked(w, al_inmemory_replay(run.memory, &run.replay, &run.replayed, &w->err));
    assert_worked(w, al_inmemory_accept(run.memory, run.replayed.tip, &w->err));
    parents = git_text(run.repo, "log", "--format=%P", run.replayed.tip);
    assert_string_equal(parents, "\n");
    git_ok(w->repo, "fsck", "--strict", "--no-dangling", NULL);
}

static void a_history_is_not_left_empty(void **state)
{
    struct world *w = *state;
    static const char *const firsts[] = { NULL, "topic" };

    part(w);
    for (size_t i = 0; i < COUNT(firsts); i++) {
        al_auto(run_clear) struct run run = { .replay = { .is_root = true } };
        al_auto(al_freep) char *nothing = NULL;

        run.repo = must_open(w, "repo");
        run.memory = must_open_memory(w, run.repo);
        assert_worked(w, al_inmemory_nothing(run.memory, &nothing, &w->err));
        if (firsts[i])
            add(w, &run, AL_REPLAY_PICK, firsts[i], NULL);
        run.replay.onto = nothing;
        run.replay.steps = run.steps;
        run.replayed = AL_REPLAYED_INIT;
        al_error_clear(&w->err);
        assert_int_equal(al_inmemory_replay(run.memory, &run.replay, &run.replayed, &w->err),
                         AL_ERR_EXECUTION);
        assert_non_null(
            strstr(w->err.message, firsts[i] ? "cannot be the first commit" : "Nothing would be"));
    }
}

/* A squash whose change is there already: its message joins only what is melded after it. */
static void drops_what_is_melded_and_empty(void **state)
{
    struct world *w = *state;
    static const char *const messages[] = { NULL, "mine" };

    part(w);
    git_ok(w->repo, "checkout", "-q", "topic", NULL);
    git_fixture_commit(w->repo, "m.txt", "m\n", "there already");
    for (size_t i = 0; i < COUNT(messages); i++) {
        al_auto(run_clear) struct run run = { .repo = NULL };
        al_auto(al_freep) char *message = NULL;

        add(w, &run, AL_REPLAY_PICK, "topic~2", NULL);
        add(w, &run, AL_REPLAY_SQUASH, "topic", messages[i]);
        assert_worked(w, start(w, &run, "main"));
        assert_string_equal(run.replayed.commits.items[1], messages[i] ? run.replayed.tip : "");
        message = git_text(al_inmemory_repo(run.memory), "log", "--format=%B", run.replayed.tip);
        assert_non_null(strstr(message, messages[i] ? "mine" : "with a body"));
        assert_null(strstr(message, "there already"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WORLD_TEST(picks_as_cherry_pick_does),
        WORLD_TEST(attributes_follow_the_steps),
        WORLD_TEST(goes_on_as_rebase_does),
        WORLD_TEST(a_commit_in_its_place_stays),
        WORLD_TEST(an_encoded_message_becomes_utf8),
        WORLD_TEST(melds_as_rebase_does),
        WORLD_TEST(rewords_and_reorders),
        WORLD_TEST(reverts_as_git_revert_does),
        WORLD_TEST(a_merge_needs_a_parent),
        WORLD_TEST(a_root_commit_can_be_picked),
        WORLD_TEST(stops_at_a_conflict),
        WORLD_TEST(refuses_what_makes_no_sense),
        WORLD_TEST(begins_a_history_anew),
        WORLD_TEST(a_history_is_not_left_empty),
        WORLD_TEST(drops_what_is_melded_and_empty),
        WORLD_TEST(needs_an_identity),
    };

    gitops_begin();
    return cmocka_run_group_tests_name("gitops/inmemory/replay", tests, NULL, NULL);
}
