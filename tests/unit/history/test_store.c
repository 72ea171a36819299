// SPDX-License-Identifier: Apache-2.0
/* history/store.h: a store is bounded, can be shared, and survives a kill at any point. */
#include <dirent.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "git/command.h"
#include "git/plumbing/bare.h"
#include "history/store.h"
#include "tests/unit/history/checkpoint_lib.h"

/** The packs of a store, without those that are kept. */
struct packs {
    size_t count;
    uint64_t bytes; /* of all files */
};

static struct packs size_of(struct saver *s)
{
    al_auto(al_closedirp) DIR *dir = al_fs_list_at(s->store->pack_fd);
    struct packs packs = { .count = 0 };
    struct dirent *entry;
    struct stat st;

    assert_non_null(dir);
    while ((entry = readdir(dir))) {
        assert_int_equal(fstatat(s->store->pack_fd, entry->d_name, &st, 0), 0);
        packs.bytes += S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
        packs.count += al_ends_with(entry->d_name, ".pack");
        packs.count -= al_ends_with(entry->d_name, ".keep");
    }
    return packs;
}

static void maintain(struct saver *s)
{
    int r = al_store_gc(s->store, &s->w->err);

    if (r < 0)
        print_message("# %s\n", s->w->err.message);
    assert_int_equal(r, 0);
}

static size_t count(struct saver *s)
{
    al_auto(al_freep) char *names = store_git(s, "for-each-ref", "refs/before", "refs/after");
    size_t lines = 0;

    for (const char *at = names; (at = strchr(at, '\n')); at++)
        lines++;
    return lines;
}

static void assert_whole(struct saver *s, const char *id)
{
    al_auto(al_freep) char *said = store_git(s, "fsck", "--full", "--no-dangling", "--no-progress");

    assert_string_equal(said, "");
    (void)load(s, id);
}

/* An execution that writes `bytes` of random content. */
static void execute(struct saver *s, size_t bytes)
{
    al_auto(al_freep) char *noise = al_malloc(bytes);
    al_auto(al_closep) int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
    char before[AL_OID_TEXT];

    take(s, NULL);
    memcpy(before, s->id, sizeof(before));
    assert_int_equal(read(fd, noise, bytes), (ssize_t)bytes);
    tmpdir_write_bytes(s->w->repo, "a.txt", noise, bytes);
    take(s, before);
}

static void joins_small_packs(void **state)
{
    struct saver *s = *state;
    char first[AL_OID_TEXT];

    take(s, NULL);
    memcpy(first, s->id, sizeof(first));
    for (int i = 0; i < 50; i++) {
        execute(s, 100);
        maintain(s);
        assert_true(size_of(s).count <= 100);
    }
    assert_int_equal(count(s), 101);
    assert_whole(s, first);
    assert_true(al_checkpoint_exists(s->store, first)); /* packed references count as well */
}

static void drops_the_oldest_when_it_is_too_large(void **state)
{
    struct saver *s = *state;
    al_auto(al_freep) char *loose = NULL;
    char first[AL_OID_TEXT];

    s->settings.max_store_bytes = 600u << 10;
    take(s, NULL);
    memcpy(first, s->id, sizeof(first));
    free(store_git(s, "hash-object", "-w", "/dev/null"));
    for (int i = 0; i < 12; i++) {
        execute(s, 100u << 10);
        maintain(s);
        assert_true(size_of(s).bytes <= s->settings.max_store_bytes);
        assert_true(al_checkpoint_exists(s->store, s->id) || count(s) >= 2);
    }
    assert_false(al_checkpoint_exists(s->store, first));
    assert_true(count(s) >= 4);
    assert_whole(s, s->id);
    loose = store_git(s, "count-objects");
    assert_string_equal(loose, "0 objects, 0 kilobytes\n");
}

static void keeps_the_last_execution_however_large_it_is(void **state)
{
    struct saver *s = *state;

    s->settings.max_store_bytes = 150u << 10;
    execute(s, 100u << 10);
    maintain(s);
    execute(s, 100u << 10);
    maintain(s);
    assert_int_equal(count(s), 2);
    assert_whole(s, s->id);
}

static enum al_room room_of(struct saver *s)
{
    enum al_room room = AL_ROOM_NONE;

    assert_int_equal(al_store_room(s->store, &room, NULL), 0);
    return room;
}

/* An agent that fills the store must not be able to drop recent checkpoints. */
static void keeps_what_is_young_or_of_this_session(void **state)
{
    static const struct {
        uint32_t keep_s;
        bool this_session;
        size_t stay;
    } cases[] = { { 0, false, 2 }, { 86400, false, 8 }, { 0, true, 8 }, { 86400, true, 8 } };
    struct saver *s = *state;
    int64_t began_ns = al_clock_ns();

    s->settings.max_store_bytes = 150u << 10;
    for (int i = 0; i < 4; i++)
        execute(s, 100u << 10);
    for (size_t i = COUNT(cases); i > 0; i--) {
        s->settings.keep_s = cases[i - 1].keep_s;
        s->settings.began_ns = cases[i - 1].this_session ? began_ns : 0;
        maintain(s);
        assert_int_equal(count(s), cases[i - 1].stay);
    }
    s->settings.keep_s = 86400;
    s->settings.began_ns =
        al_clock_ns(); /* a new session; the checkpoint is still younger than a day */
    maintain(s);
    assert_int_equal(count(s), 2);
}

static void is_short_of_room_beyond_the_limit(void **state)
{
    struct saver *s = *state;
    uint64_t bytes;

    s->settings.keep_s = 86400;
    execute(s, 100u << 10);
    bytes = size_of(s).bytes;
    s->settings.max_store_bytes = bytes + 1;
    assert_int_equal(room_of(s), AL_ROOM_ENOUGH);
    s->settings.max_store_bytes = bytes;
    assert_int_equal(room_of(s), AL_ROOM_ENOUGH);
    s->settings.max_store_bytes = bytes - 1;
    assert_int_equal(room_of(s), AL_ROOM_SHORT);
    s->settings.max_store_bytes = bytes / 2 + 1;
    assert_int_equal(room_of(s), AL_ROOM_SHORT);
    s->settings.max_store_bytes = bytes / 2;
    assert_int_equal(room_of(s), AL_ROOM_NONE);
    s->settings.keep_s = 0; /* the next gc may then drop it */
    assert_int_equal(room_of(s), AL_ROOM_ENOUGH);
}

/* One that is larger than the store may be is taken; then there is no room for another one. */
static void has_no_room_after_checkpoints_that_must_stay(void **state)
{
    struct saver *s = *state;

    s->settings.keep_s = 86400;
    s->settings.max_store_bytes = 200u << 10;
    for (int i = 0; i < 3; i++)
        execute(s, 150u << 10);
    maintain(s);
    assert_int_equal(count(s), 6);
    assert_int_equal(room_of(s), AL_ROOM_NONE);
    assert_whole(s, s->id);
}

/* What was recorded for a checkpoint that is dropped is not relied on. */
static void believes_nothing_of_a_checkpoint_that_is_gone(void **state)
{
    struct saver *s = *state;
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;

    tmpdir_write(s->w->repo, "b.txt", "only in the store\n");
    take(s, NULL);
    al_strv_addf(&names, AL_REF_BEFORE "%s", s->id);
    al_strv_add(&names, AL_REF_FILES);
    assert_int_equal(al_bare_delete_refs(&s->store->bare, &names, NULL), 0);
    free(store_git(s, "gc", "-q", "--prune=now"));
    take(s, NULL);
    assert_whole(s, s->id);
    assert_content(s, "worktree/b.txt", "only in the store\n");
}

static void does_nothing_while_another_process_reads(void **state)
{
    struct saver *s = *state;
    struct al_store *other = NULL;

    s->settings.max_store_bytes = 150u << 10;
    execute(s, 100u << 10);
    execute(s, 100u << 10);
    assert_int_equal(al_store_open(&s->settings, s->repo, true, &other, NULL), 0);
    maintain(s);
    assert_int_equal(count(s), 4);
    al_store_close(other);
    maintain(s);
    assert_int_equal(count(s), 2);
}

static void forgets_what_is_too_old(void **state)
{
    struct saver *s = *state;
    al_auto(al_freep) char *expiry = NULL;

    execute(s, 100);
    execute(s, 100);
    maintain(s);
    assert_int_equal(count(s), 4);
    s->settings.max_age_days = 1;
    expiry = al_fs_join(s->store->dir, "expiry");
    assert_int_equal(unlink(expiry), 0);
    maintain(s);
    assert_int_equal(count(s), 4);
    s->settings.max_age_days = 0;
    assert_int_equal(unlink(expiry), 0);
    maintain(s);
    assert_int_equal(count(s), 2);
    assert_whole(s, s->id);
}

/* The files that a killed writer left are removed. */
static void lives_with_leftovers(void **state)
{
    static const char *const names[] = { "objects/pack/tmp_pack_1_0",
                                         "objects/pack/.tmp-1-pack-0.idx", "fast_import_crash_1",
                                         "refs/new/0123456789abcdef" };
    struct saver *s = *state;
    al_auto(subdir_closep) struct tmpdir *bare = store_open_bare(s);
    char first[AL_OID_TEXT], line[AL_OID_TEXT + 1];

    take(s, NULL);
    memcpy(first, s->id, sizeof(first));
    (void)snprintf(line, sizeof(line), "%.*s\n", AL_OID_TEXT - 1, first);
    for (size_t i = 0; i < COUNT(names); i++)
        tmpdir_write(bare, names[i], line);
    tmpdir_write(bare, "files.index.lock", "half of it");
    tmpdir_write(s->w->repo, "a.txt", "two\n");
    take(s, NULL);
    assert_content(s, "worktree/a.txt", "two\n");
    maintain(s);
    for (size_t i = 0; i < COUNT(names); i++)
        assert_int_equal(faccessat(bare->fd, names[i], F_OK, 0), -1);
    assert_whole(s, s->id);
    assert_whole(s, first);
}

/* The store stays valid when its writer is killed at any point. */
static void survives_being_killed(void **state)
{
    struct saver *s = *state;
    al_auto(al_freep) char *text = al_calloc(1, 4000);

    for (int i = 0; i < 60; i++) {
        al_auto(al_freep) char *name = al_asprintf("dir%d/file%d", i % 7, i);
        pid_t pid;

        memset(text, 'a' + i % 26, 3999);
        tmpdir_write(s->w->repo, name, text);
        pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
            struct itimerval soon = { .it_value = { .tv_usec = 200 + 250 * i } };

            (void)signal(SIGALRM, SIG_DFL);
            (void)setitimer(ITIMER_REAL, &soon, NULL); /* the default action kills */
            for (;;)
                (void)try_take(s, NULL, NULL);
        }
        assert_int_equal(waitpid(pid, NULL, 0), pid);
    }
    take(s, NULL);
    assert_whole(s, s->id);
    maintain(s);
    assert_whole(s, s->id);
}

static void counts_the_deadline_and_the_cancel(void **state)
{
    struct saver *s = *state;
    struct al_cancel *cancel = al_cancel_new();
    struct al_checkpoint_reason reason = { .tool = "t", .operation = "o" };

    s->w->budget = (struct al_run_limits){ .cancel = cancel, .left_ms = LONG_MS };
    al_cancel_fire(cancel);
    assert_int_equal(al_checkpoint_create(s->store, &reason, s->id, &s->w->err), AL_ERR_CANCELLED);
    al_cancel_unref(cancel);
    for (int i = 0; i < 400; i++) {
        al_auto(al_freep) char *name = al_asprintf("many/%d", i);

        tmpdir_write(s->w->repo, name, name);
    }
    s->w->budget = (struct al_run_limits){ .left_ms = 1 };
    assert_int_equal(al_checkpoint_create(s->store, &reason, s->id, &s->w->err), AL_ERR_TIMEOUT);
    s->w->budget = long_budget();
    assert_int_equal(count(s), 0);
}

/* Most tries have too little time, and leave nothing that harms the last one. */
static void lives_with_what_ended_too_early(void **state)
{
    struct saver *s = *state;
    struct al_checkpoint_reason reason = { .tool = "t", .operation = "o" };
    al_auto(al_freep) char *noise = al_malloc(200u << 10);
    al_auto(al_closep) int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
    int r = AL_ERR_TIMEOUT;

    for (int i = 0; i < 40; i++) {
        al_auto(al_freep) char *name = al_asprintf("noise%02d", i);

        assert_int_equal(read(fd, noise, 200u << 10), 200 << 10);
        tmpdir_write_bytes(s->w->repo, name, noise, 200u << 10);
    }
    for (unsigned ms = 4; ms < LONG_MS && r == AL_ERR_TIMEOUT; ms += ms / 4) {
        s->w->budget.left_ms = ms;
        r = al_checkpoint_create(s->store, &reason, s->id, &s->w->err);
    }
    assert_int_equal(r, 0);
    s->w->budget = long_budget();
    assert_int_equal(count(s), 1);
    assert_whole(s, s->id);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        SAVER_TEST(joins_small_packs),
        SAVER_TEST(drops_the_oldest_when_it_is_too_large),
        SAVER_TEST(keeps_the_last_execution_however_large_it_is),
        SAVER_TEST(keeps_what_is_young_or_of_this_session),
        SAVER_TEST(is_short_of_room_beyond_the_limit),
        SAVER_TEST(has_no_room_after_checkpoints_that_must_stay),
        SAVER_TEST(believes_nothing_of_a_checkpoint_that_is_gone),
        SAVER_TEST(does_nothing_while_another_process_reads),
        SAVER_TEST(forgets_what_is_too_old),
        SAVER_TEST(lives_with_leftovers),
        SAVER_TEST(survives_being_killed),
        SAVER_TEST(counts_the_deadline_and_the_cancel),
        SAVER_TEST(lives_with_what_ended_too_early),
    };

    gitops_begin();
    return cmocka_run_group_tests_name("checkpoint/store", tests, NULL, NULL);
}
