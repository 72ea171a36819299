// SPDX-License-Identifier: Apache-2.0
/* A checkpoint that is one of the store only when it is accepted: al_checkpoint_create_pending().
 */
#include <sys/stat.h>
#include <sys/wait.h>

#include "tests/unit/history/checkpoint_lib.h"

/* Every reference of the store. */
static char *references(struct saver *s)
{
    return store_git(s, "for-each-ref", "--format=%(refname) %(objectname)", "refs/before",
                     "refs/after", "refs/new");
}

/* Change something of every part, so that a checkpoint has all of it to write. */
static void change_all(struct saver *s)
{
    tmpdir_write(s->w->repo, "staged.txt", "only staged\n");
    git_ok(s->w->repo, "add", "staged.txt", NULL);
    tmpdir_write(s->w->repo, "staged.txt", "and changed\n");
    tmpdir_write(s->w->repo, "new.txt", "new\n");
    git_ok(s->w->repo, "branch", "new", NULL);
}

static int create_pending(struct saver *s, struct al_pending_checkpoint **ret_pending)
{
    const struct al_checkpoint_reason reason = { .tool = "t", .operation = "o" };

    al_error_clear(&s->w->err);
    return al_checkpoint_create_pending(s->store, &reason, ret_pending, s->id, &s->w->err);
}

static struct al_pending_checkpoint *pend(struct saver *s)
{
    struct al_pending_checkpoint *pending = NULL;
    int r = create_pending(s, &pending);

    if (r < 0)
        print_message("# %s\n", s->w->err.message);
    assert_int_equal(r, 0);
    return pending;
}

static int accept_it(struct saver *s, struct al_pending_checkpoint *pending,
                     const struct al_strv *dropping)
{

    al_error_clear(&s->w->err);
    return al_checkpoint_accept(pending, dropping, &s->w->err);
}

static bool git_has(struct saver *s, const char *id)
{
    al_auto(subdir_closep) struct tmpdir *bare = store_open_bare(s);

    return git_status_of(bare, "cat-file", "-e", id, NULL) == 0;
}

/* With everything it refers to. */
static void assert_whole(struct saver *s)
{
    al_auto(al_freep) char *said = store_git(s, "fsck", "--full", "--no-dangling", "--no-progress");
    al_auto(al_freep) char *objects = store_git(s, "rev-list", "--objects", s->id);

    assert_string_equal(said, "");
    assert_string_not_equal(objects, "");
}

static void is_gone_when_it_is_refused(void **state)
{
    struct saver *s = *state;
    al_auto(al_freep) char *before = NULL, *after = NULL, *files = NULL;
    struct al_pending_checkpoint *pending;

    take(s, NULL);
    git_ok(s->w->repo, "switch", "-q", "-c", "lost", NULL);
    git_fixture_commit(s->w->repo, "lost.txt", "lost\n", "lost");
    git_ok(s->w->repo, "switch", "-q", "main", NULL);
    take(s, NULL);
    git_ok(s->w->repo, "branch", "-q", "-D", "lost", NULL); /* a checkpoint would pack it */
    change_all(s);
    before = references(s);
    pending = pend(s);
    assert_false(al_checkpoint_exists(s->store, s->id));
    al_pending_checkpoint_free(pending);
    after = references(s);
    assert_string_equal(after, before);
    al_pending_checkpoint_free(NULL);
    /* The next one has everything all the same, also if the objects went. */
    free(store_git(s, "gc", "-q", "--prune=now"));
    take(s, NULL);
    files = files_of(s);
    assert_string_equal(files, "100644 a.txt\n100644 new.txt\n100644 staged.txt\n");
    assert_content(s, "worktree/new.txt", "new\n");
    assert_whole(s);
}

static void leaves_nothing_in_an_empty_store(void **state)
{
    struct saver *s = *state;
    al_auto(al_freep) char *names = NULL;

    al_pending_checkpoint_free(pend(s));
    names = references(s);
    assert_string_equal(names, "");
    take(s, NULL);
    assert_content(s, "worktree/a.txt", "one\n");
}

/* What it adds, and what the store had before, are read alike. */
static void can_be_read_meanwhile(void **state)
{
    struct saver *s = *state;
    const struct al_saved *saved;
    struct al_differences changes = { .items = NULL };
    struct al_pending_checkpoint *pending;
    al_auto(al_freep) char *files = NULL;
    char before[AL_OID_TEXT];

    take(s, NULL);
    memcpy(before, s->id, sizeof(before));
    change_all(s);
    pending = pend(s);
    files = files_of(s);
    assert_string_equal(files, "100644 a.txt\n100644 new.txt\n100644 staged.txt\n");
    saved = load(s, s->id);
    assert_int_equal(count_of(saved, AL_PART_REF), 2);
    assert_int_equal(al_checkpoint_changes_of(s->store, before, s->id, &changes, &s->w->err), 0);
    assert_int_equal(changes.count, 4); /* two files, the index, a branch */
    al_differences_clear(&changes);
    al_pending_checkpoint_free(pending);
}

static void is_whole_once_it_is_accepted(void **state)
{
    struct saver *s = *state;
    al_auto(al_freep) char *staged = NULL, *names = NULL;
    struct al_pending_checkpoint *pending;
    char first[AL_OID_TEXT];

    for (int earlier = 0; earlier < 2; earlier++) { /* the first one of its store, and another */
        change_all(s);
        pending = pend(s);
        memcpy(first, s->id, sizeof(first));
        assert_int_equal(accept_it(s, pending, NULL), 0);
        al_pending_checkpoint_free(pending);
        assert_true(al_checkpoint_exists(s->store, s->id));
        assert_whole(s);
        staged = git_output(s->w->repo, "rev-parse", ":staged.txt", NULL);
        staged[strcspn(staged, "\n")] = '\0';
        assert_true(git_has(s, staged));
        al_freep(&staged);
        git_ok(s->w->repo, "branch", "-D", "new", NULL);
        take(s, first);
        assert_whole(s);
        tmpdir_write(s->w->repo, "a.txt", "two\n");
    }
    names = references(s);
    assert_null(strstr(names, "refs/new"));
}

static void forget(struct saver *s)
{
    git_ok(s->w->repo, "reflog", "expire", "--expire=now", "--expire-unreachable=now", "--all",
           NULL);
    git_ok(s->w->repo, "gc", "-q", "--prune=now", NULL);
}

/* What counts is what it saw, not what the repository is when it is accepted. */
static void packs_what_is_lost_when_it_is_accepted(void **state)
{
    struct saver *s = *state;
    al_auto(al_strv_clear) struct al_strv dropping = AL_STRV_INIT;
    al_auto(al_freep) char *side = NULL, *content = NULL;
    struct al_pending_checkpoint *pending;

    take(s, NULL);
    git_ok(s->w->repo, "switch", "-q", "-c", "side", NULL);
    git_fixture_commit(s->w->repo, "side.txt", "side\n", "side");
    side = git_output(s->w->repo, "rev-parse", "side:side.txt", NULL);
    side[strcspn(side, "\n")] = '\0';
    git_ok(s->w->repo, "switch", "-q", "main", NULL);
    pending = pend(s);
    git_ok(s->w->repo, "branch", "-q", "-D", "side", NULL);
    al_strv_add(&dropping, "refs/heads/side");
    assert_false(git_has(s, side));
    assert_int_equal(accept_it(s, pending, &dropping), 0);
    al_pending_checkpoint_free(pending);
    forget(s);
    assert_int_not_equal(git_status_of(s->w->repo, "cat-file", "-e", side, NULL), 0);
    content = store_git(s, "cat-file", "blob", side);
    assert_string_equal(content, "side\n");
}

static void says_when_the_store_cannot_be_written(void **state)
{
    struct saver *s = *state;
    struct al_pending_checkpoint *pending = NULL;
    al_auto(al_freep) char *before = al_fs_join(s->store->path, "refs/before");

    take(s, NULL);
    pending = pend(s);
    assert_int_equal(renameat(s->store->bare.dir_fd, "refs/before", s->store->bare.dir_fd, "away"),
                     0);
    assert_int_equal(mknod(before, S_IFREG | 0600, 0), 0);
    assert_int_equal(accept_it(s, pending, NULL), AL_ERR_EXECUTION);
    assert_int_equal(s->w->err.code, AL_CODE_SNAPSHOT_DISABLED);
    assert_int_equal(unlink(before), 0);
    assert_int_equal(renameat(s->store->bare.dir_fd, "away", s->store->bare.dir_fd, "refs/before"),
                     0);
    assert_false(al_checkpoint_exists(s->store, s->id));
    al_pending_checkpoint_free(pending);
    take(s, NULL);
}

/* Its process was killed before it was accepted. */
static void is_removed_when_its_process_was_killed(void **state)
{
    struct saver *s = *state;
    al_auto(al_freep) char *names = NULL, *left = NULL;
    pid_t pid;

    take(s, NULL);
    change_all(s);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        struct al_pending_checkpoint *pending = NULL;

        _exit(create_pending(s, &pending) < 0);
    }
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    names = references(s);
    assert_non_null(strstr(names, "refs/new/"));
    assert_int_equal(al_store_gc(s->store, &s->w->err), 0);
    left = references(s);
    assert_null(strstr(left, "refs/new/"));
    assert_true(git_has(s, s->id));
    assert_whole(s);
}

/* What it would be with changes, for a comparison. */
static void has_changes_made_to_it(void **state)
{
    static const char odd[] = "odd \"\\\n\xff%";
    struct saver *s = *state;
    al_auto(al_differences_clear) struct al_differences changes = { .items = NULL };
    al_auto(al_freep) char *names = NULL, *before = NULL, *diff = NULL;
    struct al_pending_checkpoint *pending;
    char target[AL_OID_TEXT], old[AL_OID_TEXT];

    tmpdir_write(s->w->repo, "same", "same\n");
    tmpdir_write(s->w->repo, "gone", "gone\n");
    tmpdir_write(s->w->repo, odd, "1\n");
    take(s, NULL);
    memcpy(old, s->id, sizeof(old));
    tmpdir_write(s->w->repo, odd, "2\n");
    assert_int_equal(unlinkat(s->w->repo->fd, "gone", 0), 0);
    tmpdir_write(s->w->repo, "new", "new\n");
    before = references(s);
    pending = pend(s);
    assert_int_equal(al_checkpoint_changes_of(s->store, old, s->id, &changes, &s->w->err), 0);
    for (size_t i = 0; i < changes.count; i++) { /* back */
        struct al_difference *change = &changes.items[i];
        char *to = change->to;

        change->to = change->from;
        change->to_mode = change->from_mode;
        change->from = to;
    }
    assert_int_equal(al_pending_checkpoint_changed(pending, &changes, target, &s->w->err), 0);
    diff = store_git(s, "diff", "--name-status", target, s->id);
    assert_string_equal(diff, "D\tworktree/gone\nA\tworktree/new\n"
                              "M\t\"worktree/odd \\\"\\\\\\n\\377%\"\n");
    al_pending_checkpoint_free(pending);
    names = references(s);
    assert_string_equal(names, before);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        SAVER_TEST(is_gone_when_it_is_refused),
        SAVER_TEST(leaves_nothing_in_an_empty_store),
        SAVER_TEST(can_be_read_meanwhile),
        SAVER_TEST(is_whole_once_it_is_accepted),
        SAVER_TEST(packs_what_is_lost_when_it_is_accepted),
        SAVER_TEST(says_when_the_store_cannot_be_written),
        SAVER_TEST(is_removed_when_its_process_was_killed),
        SAVER_TEST(has_changes_made_to_it),
    };

    gitops_begin();
    return cmocka_run_group_tests_name("checkpoint/pending", tests, NULL, NULL);
}
