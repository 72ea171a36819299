// SPDX-License-Identifier: Apache-2.0
/*
 * checkpoint/recent.h: what a power failure leaves of a store.
 *
 * The files of the store are made as a disk may have them after a power failure: what was
 * synchronised is there, and of the rest any part.  A file that was not synchronised may be whole,
 * gone, empty, cut short or full of zeros.
 */
#include "checkpoint/recent.h"

#include <errno.h>

#include "checkpoint/recent_file.h"
#include "tests/unit/checkpoint/lib.h"

#define NO_FILES   AL_PARTS_WORKTREE
#define BLOCK      512u
#define ROUNDS     40
#define EXECUTIONS 4

/* What the disk has: the inodes that were synchronised, and the bytes of the file `recent2`. */
static ino_t synced[65536];
static size_t nsynced, syncs;
static struct al_str on_disk = { .buf = al_str_empty };
static bool disk_fails;

/* The names that the linker gives. */

int __wrap_fsync(int fd);
int __wrap_fdatasync(int fd);

static void add_synced(const struct stat *st)
{
    assert_true(nsynced < COUNT(synced));
    synced[nsynced++] = st->st_ino;
}

static int note_sync(int fd)
{
    al_auto(al_freep) char *path = al_fs_fd_path(fd);
    struct stat st;

    syncs++;
    if (disk_fails) {
        errno = EIO;
        return -1;
    }
    assert_int_equal(fstat(fd, &st), 0);
    add_synced(&st);
    if (path && al_ends_with(path, "/recent2"))
        assert_int_equal(al_fs_read_fd(fd, 64u << 20, &on_disk), 0);
    return 0;
}

int __wrap_fsync(int fd)
{
    return note_sync(fd);
}

int __wrap_fdatasync(int fd)
{
    return note_sync(fd);
}

static bool is_synced(const struct stat *st)
{
    for (size_t i = 0; i < nsynced; i++)
        if (synced[i] == st->st_ino)
            return true;
    return false;
}

/* The same numbers in each run. */
static uint64_t state_of_random = 1;

static unsigned pick(unsigned count)
{
    state_of_random = state_of_random * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state_of_random >> 33) % count;
}

/* Damage a file that was not synchronised. */
static void damage(int dir_fd, const char *name)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    unsigned how = pick(5);

    if (how == 0 || al_fs_read(dir_fd, name, 64u << 20, &text) < 0)
        return;
    assert_int_equal(unlinkat(dir_fd, name, 0), 0);
    if (how == 1)
        return;
    if (how == 2)
        al_str_truncate(&text, 0);
    else if (how == 3)
        al_str_truncate(&text, text.len ? pick((unsigned)text.len) : 0);
    else
        memset(text.buf, 0, text.len);
    assert_int_equal(al_fs_write_atomic(dir_fd, name, text.buf, text.len, 0600, true), 0);
}

/* What is left is on the disk. */
static void damage_dir(struct saver *s, const char *path)
{
    al_auto(al_freep) char *full = al_fs_join(s->store->dir, path);
    al_auto(al_closedirp) DIR *dir = opendir(full);
    struct dirent *entry;
    struct stat st;

    assert_non_null(dir);
    while ((entry = readdir(dir)))
        if (fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISREG(st.st_mode) && !is_synced(&st) && strcmp(entry->d_name, "lock") != 0)
            damage(dirfd(dir), entry->d_name);
    rewinddir(dir);
    while ((entry = readdir(dir)))
        if (fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0)
            add_synced(&st);
}

/* Any of the blocks that were written since the file was synchronised, and another boot. */
static void damage_recent(struct saver *s)
{
    al_auto(al_str_clear) struct al_str now = AL_STR_INIT;
    struct al_recent_head head;

    assert_int_equal(al_fs_read(s->store->dir_fd, AL_RECENT_NAME, 64u << 20, &now), 0);
    for (size_t at = 0; at < now.len; at += BLOCK) {
        size_t len = now.len - at < BLOCK ? now.len - at : BLOCK;

        if (pick(2))
            continue;
        if (at < on_disk.len)
            memcpy(now.buf + at, on_disk.buf + at, len);
        else
            memset(now.buf + at, 0, len);
    }
    assert_true(al_recent_head_parse(now.buf, s->store->sha256, &head));
    memset(head.boot, 'b', AL_BOOT_ID_BYTES);
    al_recent_head_format(&head, s->store->sha256, now.buf);
    assert_int_equal(pwrite(s->store->recent.fd, now.buf, now.len, 0), (ssize_t)now.len);
    al_str_clear(&on_disk);
    al_str_add(&on_disk, now.buf, now.len);
}

static void fail_power(struct saver *s)
{
    damage_recent(s);
    damage_dir(s, ".");
    damage_dir(s, "checkpoints.git");
    damage_dir(s, "checkpoints.git/objects/pack");
    damage_dir(s, "checkpoints.git/refs/before");
    damage_dir(s, "checkpoints.git/refs/after");
    saver_reopen(s, "repo");
}

/* Everything that a reference names is there.  git fails otherwise, and when a pack has another
 * checksum than its content. */
static void assert_store_is_whole(struct saver *s)
{
    al_auto(al_freep) char *said = store_git(s, "rev-list", "--objects", "--all", "--quiet");

    assert_string_equal(said, "");
}

/** An execution. */
struct execution {
    char before[AL_OID_TEXT], after[AL_OID_TEXT];
};

static void write_random(struct saver *s)
{
    al_auto(al_freep) char *text = al_asprintf("%u %u %u\n", pick(1000), pick(1000), pick(1000));

    tmpdir_write(s->w->repo, pick(2) ? "a.txt" : "b.txt", text);
    if (pick(2))
        git_ok(s->w->repo, "add", "-A", NULL);
}

static bool never_at_once;

static struct execution execute(struct saver *s)
{
    unsigned without = pick(3) ? NO_FILES : 0;
    struct execution execution;

    s->settings.publishes_later = pick(2) || never_at_once;
    take_without(s, NULL, without);
    memcpy(execution.before, s->id, sizeof(s->id));
    write_random(s);
    take_without(s, execution.before, without);
    memcpy(execution.after, s->id, sizeof(s->id));
    return execution;
}

static void assert_readable(struct saver *s, const char *id)
{
    al_auto(al_saved_state_clear) struct al_saved_state saved = { .index = AL_STR_INIT };
    al_auto(al_saved_files_clear) struct al_saved_files files = { .items = NULL };
    struct al_run_limits budget = long_budget();

    assert_int_equal(al_checkpoint_state(s->store, id, &budget, &saved, &s->w->err), 0);
    if (!(saved.without & AL_PARTS_WORKTREE))
        assert_int_equal(al_checkpoint_worktree(s->store, id, &budget, &files, &s->w->err), 0);
}

/* A checkpoint after may be lost, as if the execution had been interrupted. */
static size_t check(struct saver *s, const struct execution *execution)
{
    char id[AL_OID_TEXT];

    assert_true(al_checkpoint_exists(s->store, execution->before));
    assert_readable(s, execution->before);
    if (al_checkpoint_find_after(s->store, execution->before, id, NULL) < 0)
        return 1;
    assert_string_equal(id, execution->after);
    assert_readable(s, id);
    return 0;
}

/* One more checkpoint before an operation makes everything before it durable. */
static void keeps_what_was_synchronised(void **state)
{
    struct saver *s = *state;
    size_t lost = 0;

    for (int round = 0; round < ROUNDS; round++) {
        struct execution executions[EXECUTIONS];

        for (size_t i = 0; i < EXECUTIONS; i++)
            executions[i] = execute(s);
        fail_power(s);
        assert_store_is_whole(s);
        for (size_t i = 0; i < EXECUTIONS; i++) {
            size_t is_lost = check(s, &executions[i]);

            assert_true(!is_lost || i == EXECUTIONS - 1);
            lost += is_lost;
        }
    }
    assert_true(lost > 0 && lost < ROUNDS);
}

/* The cache of a checkpoint that is lost would leave objects out. */
static void relies_on_nothing_that_was_lost(void **state)
{
    struct saver *s = *state;

    for (int round = 0; round < ROUNDS; round++) {
        (void)execute(s);
        fail_power(s);
        take_without(s, NULL, NO_FILES);
        assert_store_is_whole(s);
        assert_readable(s, s->id);
        take(s, NULL);
        assert_store_is_whole(s);
        assert_readable(s, s->id);
    }
}

/* A restart in good order changes no boot's checkpoint, and starts no git. */
static void keeps_everything_without_a_failure(void **state)
{
    struct saver *s = *state;
    struct execution executions[3];
    struct al_recent_head head;
    char bytes[AL_RECENT_HEAD_BYTES];

    for (size_t i = 0; i < COUNT(executions); i++)
        executions[i] = execute(s);
    assert_int_equal(pread(s->store->recent.fd, bytes, sizeof(bytes), 0), (ssize_t)sizeof(bytes));
    assert_true(al_recent_head_parse(bytes, s->store->sha256, &head));
    memset(head.boot, 'b', AL_BOOT_ID_BYTES);
    al_recent_head_format(&head, s->store->sha256, bytes);
    assert_int_equal(pwrite(s->store->recent.fd, bytes, sizeof(bytes), 0), (ssize_t)sizeof(bytes));
    saver_reopen(s, "repo");
    for (size_t i = 0; i < COUNT(executions); i++)
        assert_int_equal(check(s, &executions[i]), 0);
    assert_store_is_whole(s);
}

/* An airlock of an earlier version writes and synchronises references of its own. */
static void keeps_a_reference_that_is_in_no_record(void **state)
{
    struct saver *s = *state;
    struct execution execution = execute(s);
    struct al_oid oid;

    assert_int_equal(al_recent_settle(s->store, true, &s->w->err), 0);
    assert_true(al_store_parse_id(s->store, execution.before, &oid));
    assert_int_equal(al_store_write_ref(s->store, "refs/before/0123", &oid, true, NULL), 0);
    memset(oid.bytes, 7, al_oid_bytes(s->store->sha256));
    assert_int_equal(al_store_write_ref(s->store, "refs/before/4567", &oid, true, NULL), 0);
    fail_power(s);
    assert_true(al_store_has_ref(s->store, "refs/before/0123"));
    assert_false(al_store_has_ref(s->store, "refs/before/4567"));
    assert_int_equal(check(s, &execution), 0);
    assert_store_is_whole(s);
}

static void settles(void **state)
{
    struct saver *s = *state;
    struct execution executions[66];
    struct al_run_limits budget = long_budget();
    al_auto(al_freep) char *packs = NULL;

    never_at_once = true; /* no git joins packs: it synchronises them unseen */
    for (size_t i = 0; i < COUNT(executions); i++) {
        executions[i] = execute(s);
        assert_int_equal(al_store_gc(s->store, &budget, &s->w->err), 0);
    }
    never_at_once = false;
    assert_true(s->store->recent.count < 128);
    assert_int_equal(al_recent_settle(s->store, true, &s->w->err), 0);
    assert_int_equal(s->store->recent.count, 0);
    packs = store_git(s, "count-objects", "-v");
    assert_non_null(strstr(packs, "\npacks: "));
    assert_true(strtoul(strstr(packs, "\npacks: ") + 8, NULL, 10) <= 3);
    for (size_t i = 0; i < COUNT(executions); i++)
        assert_int_equal(check(s, &executions[i]), 0);
    assert_store_is_whole(s);
    fail_power(s);
    for (size_t i = 0; i < COUNT(executions); i++)
        assert_int_equal(check(s, &executions[i]), 0);
}

/* What is no reference does not get among the references. */
static void settles_beside_a_file_that_is_no_reference(void **state)
{
    struct saver *s = *state;
    struct execution execution = execute(s);

    assert_int_equal(
        al_fs_write_atomic(s->store->bare.dir_fd, "refs/after/torn", "", 0, 0600, true), 0);
    assert_int_equal(mkdirat(s->store->bare.dir_fd, "refs/after/dir", 0700), 0);
    assert_int_equal(al_recent_settle(s->store, true, &s->w->err), 0);
    assert_int_equal(unlinkat(s->store->bare.dir_fd, "refs/after/torn", 0), 0);
    assert_int_equal(check(s, &execution), 0);
    assert_store_is_whole(s);
}

/* A record that a killed process began is written over. */
static void writes_over_a_partial_record(void **state)
{
    struct saver *s = *state;
    struct execution first = execute(s), second;
    uint64_t end = s->store->recent.end;

    for (size_t cut = 1; cut < 200; cut += 13) {
        al_auto(al_str_clear) struct al_str record = AL_STR_INIT;
        const struct al_recent_record said = { .reference = "refs/before/x",
                                               .pack = "pack",
                                               .pack_len = 4,
                                               .index = "index",
                                               .index_len = 5 };

        al_recent_record_format(&said, s->store->recent.nonce, &record);
        record.buf[record.len - 1] ^= 1; /* never whole, however much of it is there */
        assert_true(pwrite(s->store->recent.fd, record.buf, cut < record.len ? cut : record.len,
                           (off_t)end) > 0);
        saver_reopen(s, "repo");
        second = execute(s);
        end = s->store->recent.end;
    }
    fail_power(s);
    assert_int_equal(check(s, &first), 0);
    (void)check(s, &second);
    assert_store_is_whole(s);
    assert_false(al_store_has_ref(s->store, "refs/before/x"));
}

/* One synchronisation before an operation, and none after it. */
static void synchronises_once(void **state)
{
    struct saver *s = *state;

    (void)execute(s);
    for (int i = 0; i < 6; i++) {
        char before[AL_OID_TEXT];

        write_random(s);
        syncs = 0;
        take_without(s, NULL, NO_FILES);
        assert_int_equal(syncs, 1);
        memcpy(before, s->id, sizeof(before));
        write_random(s);
        syncs = 0;
        take_without(s, before, NO_FILES);
        assert_int_equal(syncs, 0);
    }
}

static void fails_if_the_disk_does(void **state)
{
    struct saver *s = *state;
    struct execution execution = execute(s);

    disk_fails = true;
    assert_int_equal(try_take(s, NULL, NULL), AL_ERR_EXECUTION);
    disk_fails = false;
    fail_power(s);
    assert_store_is_whole(s);
    (void)check(s, &execution);
}

/* The state of the disk belongs to one store. */
static int setup(void **state)
{
    nsynced = 0;
    al_str_clear(&on_disk);
    return saver_setup(state);
}

#define RECENT_TEST(name) cmocka_unit_test_setup_teardown(name, setup, saver_teardown)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        RECENT_TEST(keeps_what_was_synchronised),
        RECENT_TEST(relies_on_nothing_that_was_lost),
        RECENT_TEST(keeps_everything_without_a_failure),
        RECENT_TEST(keeps_a_reference_that_is_in_no_record),
        RECENT_TEST(settles),
        RECENT_TEST(settles_beside_a_file_that_is_no_reference),
        RECENT_TEST(writes_over_a_partial_record),
        RECENT_TEST(synchronises_once),
        RECENT_TEST(fails_if_the_disk_does),
    };

    gitops_begin();
    return cmocka_run_group_tests_name("checkpoint/recent", tests, NULL, NULL);
}
