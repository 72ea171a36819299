// SPDX-License-Identifier: Apache-2.0
/*
 * checkpoint/kept.h: an entry of the stash is kept in `recent2` first, and synchronised with the
 * next checkpoint before an operation.
 */
#include "checkpoint/kept.h"

#include <errno.h>

#include "checkpoint/recent.h"
#include "checkpoint/recent_file.h"
#include "tests/unit/checkpoint/lib.h"

static size_t syncs;

/* The names that the linker gives. */

int __real_fsync(int fd);
int __real_fdatasync(int fd);
int __wrap_fsync(int fd);
int __wrap_fdatasync(int fd);

int __wrap_fsync(int fd)
{
    syncs++;
    return __real_fsync(fd);
}

int __wrap_fdatasync(int fd)
{
    syncs++;
    return __real_fdatasync(fd);
}

static int setup(void **state)
{
    struct saver *s;
    int r = saver_setup(state);

    s = *state;
    s->settings.publishes_later = true;
    return r;
}

static char *rev(struct saver *s, const char *name)
{
    char *oid = git_output(s->w->repo, "rev-parse", name, NULL);

    oid[strcspn(oid, "\n")] = '\0';
    return oid;
}

/* Stash a change, take the checkpoints around it, and return the entry's id. */
static char *stash(struct saver *s, const char *content)
{
    char before[AL_OID_TEXT];

    tmpdir_write(s->w->repo, "a.txt", content);
    take_without(s, NULL, AL_PARTS_WORKTREE);
    memcpy(before, s->id, sizeof(before));
    git_ok(s->w->repo, "stash", "push", "-q", NULL);
    syncs = 0;
    take_without(s, before, AL_PARTS_WORKTREE);
    return rev(s, "stash@{0}");
}

/* Make git forget everything it can. */
static void forget(struct saver *s)
{
    git_ok(s->w->repo, "stash", "clear", NULL);
    git_ok(s->w->repo, "reflog", "expire", "--expire=now", "--expire-unreachable=now", "--all",
           NULL);
    git_ok(s->w->repo, "gc", "-q", "--prune=now", NULL);
}

static void assert_kept(struct saver *s, const char *oid, const char *content)
{
    al_auto(al_freep) char *path = al_asprintf("%s:a.txt", oid);
    al_auto(al_freep) char *found = NULL;

    assert_int_not_equal(git_status_of(s->w->repo, "cat-file", "-e", oid, NULL), 0);
    found = store_git(s, "cat-file", "blob", path);
    assert_string_equal(found, content);
}

/* The number of files in objects/pack whose names end so. */
static size_t count_files(struct saver *s, const char *suffix)
{
    al_auto(al_closedirp) DIR *dir = al_fs_list_at(s->store->pack_fd);
    struct dirent *entry;
    size_t count = 0;

    assert_non_null(dir);
    while ((entry = readdir(dir)))
        count += al_ends_with(entry->d_name, suffix);
    return count;
}

static bool is_kept(struct saver *s, const char *oid)
{
    al_auto(al_tip_list_clear) struct al_tip_list wanted = { .list = AL_STRV_INIT };
    al_auto(al_tip_list_clear) struct al_tip_list kept = { .list = AL_STRV_INIT };

    al_tip_list_add(&wanted, oid, s->store->sha256);
    al_kept_find(s->store, &wanted, &kept);
    return kept.list.count == 1;
}

static void keeps_an_entry_without_a_file(void **state)
{
    struct saver *s = *state;
    al_auto(al_freep) char *oid = stash(s, "stashed\n");

    assert_int_equal(syncs, 0);
    assert_int_equal(count_files(s, ".pack"), 0);
    assert_int_equal(count_files(s, ".keep"), 0);
    assert_int_equal(faccessat(s->store->dir_fd, "kept", F_OK, 0), -1);
    assert_true(is_kept(s, oid));
    saver_reopen(s, "repo");
    assert_true(is_kept(s, oid));
    forget(s);
    assert_kept(s, oid, "stashed\n");
    assert_int_equal(count_files(s, ".keep"), 1);
    saver_reopen(s, "repo");
    assert_true(is_kept(s, oid));
}

/* While it is in `recent2`, no checkpoint stores it again, and none relies on its objects. */
static void keeps_an_entry_once(void **state)
{
    struct saver *s = *state;
    al_auto(al_freep) char *oid = stash(s, "stashed\n");
    uint64_t end = s->store->recent.end;
    struct al_oid blob;
    al_auto(al_freep) char *text = rev(s, "stash@{0}^{tree}");

    assert_true(al_oid_parse(text, s->store->sha256, &blob));
    assert_false(al_store_has_object(s->store, &blob));
    saver_reopen(s, "repo");
    assert_false(al_store_has_object(s->store, &blob));
    git_ok(s->w->repo, "branch", "more", NULL);
    git_fixture_commit(s->w->repo, "c.txt", "more\n", "more");
    take_without(s, NULL, AL_PARTS_WORKTREE);
    assert_true(s->store->recent.end - end < 4096);
    assert_int_equal(count_files(s, ".pack"), 0);
    forget(s);
    assert_kept(s, oid, "stashed\n");
    assert_int_equal(count_files(s, ".keep"), 1);
}

/* Many entries become one pack, which stays when the packs of checkpoints are joined and pruned. */
static void keeps_entries_in_one_pack(void **state)
{
    struct saver *s = *state;
    struct al_run_limits budget = long_budget();
    char *oids[5];

    for (size_t i = 0; i < COUNT(oids); i++) {
        al_auto(al_freep) char *content = al_asprintf("%zu\n", i);

        oids[i] = stash(s, content);
        if (i == 1)
            assert_int_equal(al_recent_publish(s->store, &s->w->err), 0);
    }
    forget(s);
    assert_int_equal(al_recent_settle(s->store, true, &s->w->err), 0);
    assert_int_equal(count_files(s, ".keep"), 2);
    assert_int_equal(al_bare_prune(&s->store->bare, &budget, &s->w->err), 0);
    for (size_t i = 0; i < COUNT(oids); i++) {
        al_auto(al_freep) char *content = al_asprintf("%zu\n", i);

        assert_true(is_kept(s, oids[i]));
        assert_kept(s, oids[i], content);
        free(oids[i]);
    }
}

/* Nothing but the lost commits of a branch says that they were lost, so they are synchronised. */
static void synchronises_a_lost_branch(void **state)
{
    struct saver *s = *state;
    al_auto(al_freep) char *side = NULL;
    char before[AL_OID_TEXT];

    git_ok(s->w->repo, "switch", "-q", "-c", "side", NULL);
    git_fixture_commit(s->w->repo, "a.txt", "side\n", "side");
    side = rev(s, "side");
    git_ok(s->w->repo, "switch", "-q", "main", NULL);
    take_without(s, NULL, AL_PARTS_WORKTREE);
    memcpy(before, s->id, sizeof(before));
    git_ok(s->w->repo, "branch", "-q", "-D", "side", NULL);
    syncs = 0;
    take_without(s, before, AL_PARTS_WORKTREE);
    assert_true(syncs > 0);
    forget(s);
    assert_kept(s, side, "side\n");
}

/* Another boot, and `recent2` as the disk has it: without what follows `end`. */
static void fail_power(struct saver *s, uint64_t end)
{
    al_auto(al_str_clear) struct al_str bytes = AL_STR_INIT;
    struct al_recent_head head;

    assert_int_equal(al_fs_read_fd(s->store->recent.fd, 64u << 20, &bytes), 0);
    assert_true(al_recent_head_parse(bytes.buf, s->store->sha256, &head));
    memset(head.boot, 'b', AL_BOOT_ID_BYTES);
    al_recent_head_format(&head, s->store->sha256, bytes.buf);
    memset(bytes.buf + end, 0, bytes.len - end);
    assert_int_equal(pwrite(s->store->recent.fd, bytes.buf, bytes.len, 0), (ssize_t)bytes.len);
    saver_reopen(s, "repo");
}

/* The repository still has the entry.  The next checkpoint keeps it, although no tip changed. */
static void keeps_an_entry_again_after_a_power_failure(void **state)
{
    struct saver *s = *state;
    uint64_t end;
    al_auto(al_freep) char *oid = NULL;

    take_without(s, NULL, AL_PARTS_WORKTREE);
    end = s->store->recent.end;
    oid = stash(s, "stashed\n");
    fail_power(s, end);
    assert_false(is_kept(s, oid));
    take_without(s, NULL, AL_PARTS_WORKTREE);
    assert_true(is_kept(s, oid));
    end = s->store->recent.end;
    fail_power(s, end); /* it is on the disk now */
    assert_true(is_kept(s, oid));
    forget(s);
    assert_kept(s, oid, "stashed\n");
}

/* What was lost before a power failure is still found missing after it. */
static void finds_a_lost_branch_after_a_power_failure(void **state)
{
    struct saver *s = *state;
    al_auto(al_freep) char *side = NULL;

    git_ok(s->w->repo, "switch", "-q", "-c", "side", NULL);
    git_fixture_commit(s->w->repo, "a.txt", "side\n", "side");
    side = rev(s, "side");
    git_ok(s->w->repo, "switch", "-q", "main", NULL);
    take_without(s, NULL, AL_PARTS_WORKTREE);
    git_ok(s->w->repo, "branch", "-q", "-D", "side", NULL);
    for (int i = 0; i < 2; i++)
        fail_power(s, s->store->recent.end);
    take_without(s, NULL, AL_PARTS_WORKTREE);
    forget(s);
    assert_kept(s, side, "side\n");
}

#define KEPT_TEST(name) cmocka_unit_test_setup_teardown(name, setup, saver_teardown)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        KEPT_TEST(keeps_an_entry_without_a_file),
        KEPT_TEST(keeps_an_entry_once),
        KEPT_TEST(keeps_entries_in_one_pack),
        KEPT_TEST(synchronises_a_lost_branch),
        KEPT_TEST(keeps_an_entry_again_after_a_power_failure),
        KEPT_TEST(finds_a_lost_branch_after_a_power_failure),
    };

    gitops_begin();
    return cmocka_run_group_tests_name("checkpoint/kept", tests, NULL, NULL);
}
