// SPDX-License-Identifier: Apache-2.0
/* A checkpoint that the store gets only when it is accepted: al_checkpoint_create_pending(), and
 * checkpoint/quarantine.h below it. */
#include "checkpoint/quarantine.h"

#include <ftw.h>
#include <sys/stat.h>

#include "tests/unit/checkpoint/lib.h"

static struct al_str listed;

static int list_entry(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)at;
    al_str_addf(&listed, "%s %llu", path, (unsigned long long)st->st_ino);
    if (type == FTW_F)
        al_str_addf(&listed, " %lld %lld.%09ld", (long long)st->st_size,
                    (long long)st->st_mtim.tv_sec, (long)st->st_mtim.tv_nsec);
    al_str_addc(&listed, '\n');
    return 0;
}

static int by_line(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Every file and directory of the store, with what tells that a file was written. */
static char *store_listing(struct saver *s)
{
    al_auto(al_strv_clear) struct al_strv lines = AL_STRV_INIT;
    struct al_str text = AL_STR_INIT;
    char *save = NULL;

    listed = AL_STR_INIT;
    assert_int_equal(nftw(s->store->dir, list_entry, 16, FTW_PHYS), 0);
    for (char *line = strtok_r(listed.buf, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
        al_strv_add(&lines, line);
    qsort(lines.items, lines.count, sizeof(*lines.items), by_line);
    for (size_t i = 0; i < lines.count; i++)
        al_str_addf(&text, "%s\n", lines.items[i]);
    al_str_clear(&listed);
    return al_str_detach(&text);
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
    struct al_run_limits limits = long_budget();

    al_error_clear(&s->w->err);
    return al_checkpoint_create_pending(s->store, &reason, &limits, ret_pending, s->id, &s->w->err);
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
    struct al_run_limits limits = long_budget();

    al_error_clear(&s->w->err);
    return al_checkpoint_accept(pending, dropping, &limits, &s->w->err);
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

static void leaves_the_store_as_it_was(void **state)
{
    struct saver *s = *state;
    al_auto(al_freep) char *before = NULL, *after = NULL;
    struct al_pending_checkpoint *pending;

    take(s, NULL);
    git_ok(s->w->repo, "branch", "lost", NULL);
    git_ok(s->w->repo, "switch", "-q", "lost", NULL);
    git_fixture_commit(s->w->repo, "lost.txt", "lost\n", "lost");
    git_ok(s->w->repo, "switch", "-q", "main", NULL);
    take(s, NULL);
    git_ok(s->w->repo, "branch", "-q", "-D", "lost", NULL); /* a checkpoint would pack it */
    change_all(s);
    before = store_listing(s);
    pending = pend(s);
    assert_false(al_checkpoint_exists(s->store, s->id));
    assert_false(git_has(s, s->id));
    al_pending_checkpoint_free(pending);
    after = store_listing(s);
    assert_string_equal(after, before);
    al_pending_checkpoint_free(NULL);
}

static void leaves_an_empty_store_as_it_was(void **state)
{
    struct saver *s = *state;
    al_auto(al_freep) char *before = store_listing(s), *after = NULL;

    al_pending_checkpoint_free(pend(s));
    after = store_listing(s);
    assert_string_equal(after, before);
}

/* What it adds, and what the store had before, are read alike. */
static void can_be_read_meanwhile(void **state)
{
    struct saver *s = *state;
    al_auto(al_saved_state_clear) struct al_saved_state saved = { .index = AL_STR_INIT };
    struct al_differences changes = { .items = NULL };
    struct al_run_limits limits = long_budget();
    struct al_pending_checkpoint *pending;
    al_auto(al_freep) char *files = NULL;
    char before[AL_OID_TEXT];

    take(s, NULL);
    memcpy(before, s->id, sizeof(before));
    change_all(s);
    pending = pend(s);
    files = files_of(s);
    assert_string_equal(files, "100644 a.txt\n100644 new.txt\n100644 staged.txt\n");
    assert_int_equal(al_checkpoint_state(s->store, s->id, &limits, &saved, &s->w->err), 0);
    assert_int_equal(saved.nrefs, 2);
    assert_int_equal(al_checkpoint_compare(s->store, before, s->id, &limits, &changes, &s->w->err),
                     0);
    assert_int_equal(changes.count, 4); /* two files, the index, a branch */
    al_differences_clear(&changes);
    al_pending_checkpoint_free(pending);
}

static void is_whole_once_it_is_accepted(void **state)
{
    struct saver *s = *state;
    al_auto(al_freep) char *staged = NULL, *left = NULL;
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
        take(s, first); /* with the stat cache of the other one */
        assert_whole(s);
        tmpdir_write(s->w->repo, "a.txt", "two\n");
    }
    left = store_listing(s);
    assert_null(strstr(left, "tmp_objdir"));
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
    int fd = s->store->bare.dir_fd;

    s->store->bare.dir_fd = -1;
    assert_int_equal(create_pending(s, &pending), AL_ERR_EXECUTION);
    assert_int_equal(s->w->err.code, AL_CODE_SNAPSHOT_DISABLED);
    assert_null(pending);
    s->store->bare.dir_fd = fd;
    pending = pend(s);
    fd = s->store->pack_fd;
    s->store->pack_fd = -1;
    assert_int_equal(accept_it(s, pending, NULL), AL_ERR_EXECUTION);
    assert_int_equal(s->w->err.code, AL_CODE_SNAPSHOT_DISABLED);
    s->store->pack_fd = fd;
    assert_false(al_checkpoint_exists(s->store, s->id));
    al_pending_checkpoint_free(pending);
}

static void refuses_what_the_store_can_never_hold(void **state)
{
    struct saver *s = *state;
    struct al_pending_checkpoint *pending = NULL;
    al_auto(al_freep) char *before = store_listing(s), *after = NULL;

    s->settings.max_store_bytes = 10;
    assert_int_equal(create_pending(s, &pending), AL_ERR_EXECUTION);
    assert_non_null(strstr(s->w->err.message, "journal.max_store_bytes (10)"));
    after = store_listing(s);
    assert_string_equal(after, before);
}

static void removes_what_a_killed_process_left(void **state)
{
    struct saver *s = *state;
    al_auto(subdir_closep) struct tmpdir *bare = NULL;
    struct al_quarantine quarantine = AL_QUARANTINE_INIT;
    struct al_run_limits limits = long_budget();
    al_auto(al_freep) char *pack = NULL, *before = NULL, *left = NULL;

    take(s, NULL);
    assert_int_equal(al_quarantine_begin(&quarantine, s->store, &s->w->err), 0);
    bare = store_open_bare(s);
    pack = al_asprintf("%s/pack/pack-1.pack", quarantine.name);
    tmpdir_write(bare, pack, "half");
    s->store->bare.quarantine = NULL; /* of that process, no more of this one */
    before = store_listing(s);
    assert_non_null(strstr(before, "tmp_objdir"));
    assert_int_equal(al_store_gc(s->store, &limits, &s->w->err), 0);
    left = store_listing(s);
    assert_null(strstr(left, "tmp_objdir"));
    assert_true(git_has(s, s->id));
    al_quarantine_end(&quarantine);
    al_quarantine_end(&quarantine);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        SAVER_TEST(leaves_the_store_as_it_was),
        SAVER_TEST(leaves_an_empty_store_as_it_was),
        SAVER_TEST(can_be_read_meanwhile),
        SAVER_TEST(is_whole_once_it_is_accepted),
        SAVER_TEST(packs_what_is_lost_when_it_is_accepted),
        SAVER_TEST(says_when_the_store_cannot_be_written),
        SAVER_TEST(refuses_what_the_store_can_never_hold),
        SAVER_TEST(removes_what_a_killed_process_left),
    };

    gitops_begin();
    return cmocka_run_group_tests_name("checkpoint/pending", tests, NULL, NULL);
}
