// SPDX-License-Identifier: Apache-2.0
/* checkpoint/recent.h: checkpoints that are in the file `recent2` only, and how git gets them. */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "checkpoint/recent.h"

#include "checkpoint/recent_file.h"
#include "checkpoint/recent_known.h"
#include "tests/unit/checkpoint/lib.h"

#define NO_FILES AL_PARTS_WORKTREE
#define LOOSE    8u /* more references than these are packed */

static int setup(void **state)
{
    struct saver *s;
    int r = saver_setup(state);

    s = *state;
    s->settings.publishes_later = true;
    return r;
}

/* What plain git says of the store as it is.  Caller frees. */
static char *plain_git(struct saver *s, const char *command, const char *option)
{
    al_auto(al_freep) char *path = al_fs_join(s->store->dir, "checkpoints.git");
    al_auto(al_closep) int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct tmpdir bare = { .path = path, .fd = fd };

    return git_output(&bare, command, option, NULL);
}

static void done_git(struct saver *s, const char *command, const char *option)
{
    free(plain_git(s, command, option));
}

static size_t count_refs(struct saver *s)
{
    al_auto(al_freep) char *refs = plain_git(s, "for-each-ref", "--format=%(refname)");
    size_t count = 0;

    for (const char *at = refs; (at = strchr(at, '\n')); at++)
        count++;
    return count;
}

static unsigned long count_packs(struct saver *s)
{
    al_auto(al_freep) char *said = plain_git(s, "count-objects", "-v");

    return strtoul(strstr(said, "\npacks: ") + 8, NULL, 10);
}

/* Change the index and take a checkpoint without the files. */
static void take_next(struct saver *s, const char *before)
{
    static unsigned number;
    al_auto(al_freep) char *text = al_asprintf("%u\n", number++);

    tmpdir_write(s->w->repo, "a.txt", text);
    git_ok(s->w->repo, "add", "-A", NULL);
    take_without(s, before, NO_FILES);
}

static void assert_readable(struct saver *s, struct al_store *store, const char *id)
{
    al_auto(al_saved_state_clear) struct al_saved_state saved = { .index = AL_STR_INIT };
    struct al_run_limits budget = long_budget();

    assert_int_equal(al_checkpoint_state(store, id, &budget, &saved, &s->w->err), 0);
}

static struct al_store *open_another(struct saver *s)
{
    struct al_run_limits budget = long_budget();
    struct al_store *store = NULL;

    assert_int_equal(al_store_open(&s->settings, s->repo, false, &budget, &store, &s->w->err), 0);
    return store;
}

/* The record has everything.  The other handle is another process: it has read the file before. */
static void is_seen_before_git_sees_it(void **state)
{
    struct saver *s = *state;
    struct al_store *other = open_another(s);
    char before[AL_OID_TEXT], after[AL_OID_TEXT];
    struct al_oid oid;

    take_next(s, NULL);
    memcpy(before, s->id, sizeof(before));
    assert_true(al_checkpoint_exists(other, before));
    assert_int_equal(al_checkpoint_find_after(other, before, after, NULL), AL_ERR_NOT_FOUND);
    take_next(s, before);
    assert_int_equal(count_refs(s), 0);
    assert_int_equal(count_packs(s), 0);
    assert_true(al_store_parse_id(s->store, s->id, &oid));
    assert_true(al_store_has_object(s->store, &oid));
    assert_int_equal(al_checkpoint_find_after(other, before, after, NULL), 0);
    assert_true(al_store_has_object(other, &oid));
    assert_string_equal(after, s->id);
    oid.bytes[0] ^= 1;
    assert_false(al_store_has_object(s->store, &oid));
    assert_false(al_store_has_object(other, &oid));
    assert_readable(s, other, after);
    assert_int_equal(count_refs(s), 2);
    assert_int_equal(count_packs(s), 1);
    assert_true(al_checkpoint_exists(s->store, before));
    al_store_close(other);
}

/** How the records reach the files. */
enum way { PUBLISHED, SETTLED, SETTLED_ALONE };

/* What was put back has its checkpoint after taken once more. */
static void the_last_checkpoint_after_counts(void **state)
{
    struct saver *s = *state;

    for (unsigned i = 0; i < 30; i++) {
        const enum way way = i % 3;
        char before[AL_OID_TEXT], after[AL_OID_TEXT];

        take_next(s, NULL);
        memcpy(before, s->id, sizeof(before));
        take_next(s, before);
        if (i % 2)
            assert_int_equal(al_recent_publish(s->store, &s->w->err), 0);
        take_next(s, before);
        if (way == PUBLISHED)
            assert_int_equal(al_recent_publish(s->store, &s->w->err), 0);
        else
            assert_int_equal(al_recent_settle(s->store, way == SETTLED_ALONE, &s->w->err), 0);
        assert_int_equal(al_checkpoint_find_after(s->store, before, after, NULL), 0);
        assert_string_equal(after, s->id);
    }
}

static void lists_what_is_recent(void **state)
{
    struct saver *s = *state;
    struct al_run_limits budget = long_budget();

    for (size_t i = 1; i <= 3; i++) {
        al_auto(al_checkpoint_list_clear) struct al_checkpoint_list list = { .items = NULL };

        take_next(s, NULL);
        assert_int_equal(al_checkpoint_list(s->store, &budget, &list, &s->w->err), 0);
        assert_int_equal(list.count, i);
        assert_int_equal(count_refs(s), i);
    }
}

/* An object that a record has is in no later one. */
static void stores_an_object_once(void **state)
{
    struct saver *s = *state;
    uint64_t end;

    take_next(s, NULL);
    end = s->store->recent.end;
    take_without(s, NULL, NO_FILES);
    assert_true(s->store->recent.end - end < 2048);
    end = s->store->recent.end;
    saver_reopen(s, "repo");
    (void)unlinkat(s->store->dir_fd, "index", 0);
    take_without(s, NULL, NO_FILES);
    assert_true(s->store->recent.end - end < 2048);
}

static void packs_many_references(void **state)
{
    struct saver *s = *state;

    for (size_t count = LOOSE - 1; count <= LOOSE + 1; count++) {
        struct al_str packed = AL_STR_INIT;
        char first[AL_OID_TEXT];
        bool is_packed;

        saver_reopen(s, "repo");
        assert_int_equal(al_recent_settle(s->store, true, &s->w->err), 0);
        (void)unlinkat(s->store->bare.dir_fd, "packed-refs", 0);
        for (size_t i = 0; i < count; i++) {
            take_next(s, NULL);
            if (i == 0)
                memcpy(first, s->id, sizeof(first));
        }
        assert_int_equal(al_recent_publish(s->store, &s->w->err), 0);
        is_packed = al_fs_read(s->store->bare.dir_fd, "packed-refs", 1u << 20, &packed) == 0;
        assert_int_equal(is_packed, count > LOOSE);
        assert_int_equal(s->store->recent.count, is_packed ? 0 : count);
        assert_true(al_checkpoint_exists(s->store, first));
        assert_true(al_checkpoint_exists(s->store, s->id));
        assert_readable(s, s->store, first);
        al_str_clear(&packed);
    }
}

/* A reference that was removed does not come back from a record. */
static void keeps_a_published_reference_removed(void **state)
{
    struct saver *s = *state;
    al_auto(al_freep) char *name = NULL;

    take_next(s, NULL);
    name = al_asprintf("refs/before/%s", s->id);
    assert_int_equal(al_recent_publish(s->store, &s->w->err), 0);
    assert_int_equal(unlinkat(s->store->bare.dir_fd, name, 0), 0);
    assert_false(al_checkpoint_exists(s->store, s->id));
    saver_reopen(s, "repo");
    assert_false(al_checkpoint_exists(s->store, s->id));
    assert_int_equal(al_recent_settle(s->store, true, &s->w->err), 0);
    assert_false(al_checkpoint_exists(s->store, s->id));
}

/* A handle knows what another one moved to packs meanwhile. */
static void goes_on_while_another_settles(void **state)
{
    struct saver *s = *state;
    struct al_store *other;
    char first[AL_OID_TEXT];
    struct al_oid oid;

    take_next(s, NULL);
    memcpy(first, s->id, sizeof(first));
    assert_true(al_store_parse_id(s->store, first, &oid));
    assert_true(al_store_has_object(s->store, &oid));
    other = open_another(s);
    assert_int_equal(al_recent_settle(other, false, &s->w->err), 0);
    al_store_close(other);
    assert_true(al_checkpoint_exists(s->store, first));
    assert_true(al_store_has_object(s->store, &oid));
    take_next(s, NULL);
    assert_int_equal(s->store->recent.count, 1);
    assert_true(al_checkpoint_exists(s->store, first));
    assert_true(al_checkpoint_exists(s->store, s->id));
    assert_readable(s, s->store, first);
    assert_readable(s, s->store, s->id);
}

/* Packs that were published and joined later are removed, and others stay. */
static void removes_what_it_joined(void **state)
{
    struct saver *s = *state;
    al_auto(al_closedirp) DIR *dir = NULL;
    const char *stem = NULL;
    al_auto(al_freep) char *keep = NULL;
    struct dirent *entry;

    for (int i = 0; i < 3; i++) {
        take_next(s, NULL);
        assert_int_equal(al_recent_publish(s->store, &s->w->err), 0);
    }
    assert_int_equal(count_packs(s), 3);
    dir = al_fs_list_at(s->store->pack_fd);
    while (!stem && (entry = readdir(dir)))
        stem = al_ends_with(entry->d_name, ".pack") ? entry->d_name : NULL;
    assert_non_null(stem);
    keep = al_asprintf("%.*s.keep", (int)(strlen(stem) - 5), stem);
    assert_int_equal(al_fs_write_atomic(s->store->pack_fd, keep, "", 0, 0600, true), 0);
    assert_int_equal(al_recent_settle(s->store, true, &s->w->err), 0);
    assert_int_equal(count_packs(s), 2);
    assert_int_equal(unlinkat(s->store->pack_fd, keep, 0), 0);
}

/* Small packs of before are joined as well, unless they have deltas, which name other objects. */
static void joins_packs_without_deltas(void **state)
{
    struct saver *s = *state;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    for (int i = 0; i < 3; i++) {
        take_next(s, NULL);
        assert_int_equal(al_recent_settle(s->store, true, &s->w->err), 0);
        assert_int_equal(count_packs(s), 1);
        assert_readable(s, s->store, s->id);
    }
    for (int i = 0; i < 4000; i++)
        al_str_addf(&text, "%d\n", i * i);
    for (int i = 0; i < 2; i++) {
        al_str_addf(&text, "%d\n", i);
        tmpdir_write(s->w->repo, "b.txt", text.buf);
        take_next(s, NULL);
    }
    assert_int_equal(al_recent_settle(s->store, true, &s->w->err), 0);
    done_git(s, "repack", "-adf");
    assert_int_equal(count_packs(s), 1);
    take_next(s, NULL);
    assert_int_equal(al_recent_settle(s->store, true, &s->w->err), 0);
    assert_int_equal(count_packs(s), 2);
    assert_readable(s, s->store, s->id);
    done_git(s, "fsck", "--strict");
}

/* A pack with a .keep file is not looked into. */
static void looks_into_no_kept_pack(void **state)
{
    struct saver *s = *state;
    al_auto(al_freep) char *keep = NULL;
    struct al_oid oid;
    al_auto(al_closedirp) DIR *dir = NULL;
    struct dirent *entry;

    take_next(s, NULL);
    assert_int_equal(al_recent_settle(s->store, true, &s->w->err), 0);
    assert_true(al_store_parse_id(s->store, s->id, &oid));
    saver_reopen(s, "repo");
    assert_true(al_store_has_object(s->store, &oid));
    dir = al_fs_list_at(s->store->pack_fd);
    while (!keep && (entry = readdir(dir)))
        if (al_ends_with(entry->d_name, ".pack"))
            keep = al_asprintf("%.*s.keep", (int)strcspn(entry->d_name, "."), entry->d_name);
    assert_int_equal(al_fs_write_atomic(s->store->pack_fd, keep, "", 0, 0600, true), 0);
    assert_true(al_store_has_object(s->store, &oid));
    al_store_look_again(s->store);
    assert_false(al_store_has_object(s->store, &oid));
}

/* A record that is being written does not count until it is whole. */
static void overlooks_a_partial_record(void **state)
{
    struct saver *s = *state;
    const struct al_recent_record said = {
        .reference = "refs/before/x", .pack = "pack", .pack_len = 4, .index = "i", .index_len = 1
    };
    al_auto(al_str_clear) struct al_str record = AL_STR_INIT;
    off_t end;

    take_next(s, NULL);
    end = (off_t)s->store->recent.end;
    al_recent_record_format(&said, s->store->recent.nonce, &record);
    for (size_t len = 1; len <= record.len; len++) {
        assert_int_equal(pwrite(s->store->recent.fd, record.buf, len, end), (ssize_t)len);
        assert_int_equal(al_store_has_ref(s->store, "refs/before/x"), len == record.len);
    }
    assert_true(al_checkpoint_exists(s->store, s->id));
}

/* A mark of which only a part was written counts for nothing. */
static void publishes_again_after_a_torn_mark(void **state)
{
    struct saver *s = *state;
    char bytes[AL_RECENT_PUBLISHED_BYTES];

    take_next(s, NULL);
    assert_int_equal(al_recent_publish(s->store, &s->w->err), 0);
    al_recent_published_format(s->store->recent.nonce, s->store->recent.end, bytes);
    bytes[9] ^= 1;
    assert_int_equal(pwrite(s->store->recent.fd, bytes, sizeof(bytes), AL_RECENT_PUBLISHED_AT),
                     (ssize_t)sizeof(bytes));
    saver_reopen(s, "repo");
    assert_true(al_checkpoint_exists(s->store, s->id));
    assert_int_equal(s->store->recent.published, AL_RECENT_HEAD_BYTES);
    take_next(s, NULL);
    assert_int_equal(al_recent_publish(s->store, &s->w->err), 0);
    assert_int_equal(count_refs(s), 2);
    assert_readable(s, s->store, s->id);
}

/* Plain git in the store as it is, without publishing anything. */
static void collect_by_hand(struct saver *s)
{
    done_git(s, "gc", "--prune=now");
    done_git(s, "repack", "-ad");
    al_store_look_again(s->store);
}

/* Write a file that no compression makes smaller. */
static void write_random(struct saver *s, const char *name, size_t len)
{
    al_auto(al_freep) char *path = al_fs_join(s->w->repo->path, name);
    al_auto(al_closep) int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    static uint64_t number = 88172645463325252u;

    for (size_t at = 0; at < len; at += sizeof(number)) {
        number ^= number << 13;
        number ^= number >> 7;
        number ^= number << 17;
        assert_int_equal(write(fd, &number, sizeof(number)), (ssize_t)sizeof(number));
    }
}

static void assert_whole(struct saver *s)
{
    al_auto(al_strv_clear) struct al_strv commits = AL_STRV_INIT;
    struct al_run_limits budget = long_budget();

    al_strv_add(&commits, s->id);
    assert_int_equal(al_recent_publish(s->store, &s->w->err), 0);
    assert_int_equal(al_bare_is_whole(&s->store->bare, &commits, &budget, &s->w->err), 0);
}

/* More than a record has is a pack of its own. */
static void keeps_large_objects_from_a_gc(void **state)
{
    struct saver *s = *state;

    for (size_t kib = 64; kib <= 512; kib *= 2) {
        write_random(s, "large.bin", kib << 10);
        take(s, NULL);
        assert_true(kib > 64 || !count_refs(s));
        collect_by_hand(s);
        assert_whole(s);
    }
}

/* What the index has, and no loose object, is copied by git. */
static void keeps_copied_objects_from_a_gc(void **state)
{
    struct saver *s = *state;

    write_random(s, "packed.bin", 1024);
    git_ok(s->w->repo, "add", "-A", NULL);
    git_ok(s->w->repo, "commit", "-q", "-m", "packed", NULL);
    git_ok(s->w->repo, "gc", "-q", NULL);
    take_without(s, NULL, NO_FILES);
    collect_by_hand(s);
    assert_whole(s);
}

#define RECENT_TEST(name) cmocka_unit_test_setup_teardown(name, setup, saver_teardown)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        RECENT_TEST(is_seen_before_git_sees_it),
        RECENT_TEST(the_last_checkpoint_after_counts),
        RECENT_TEST(lists_what_is_recent),
        RECENT_TEST(stores_an_object_once),
        RECENT_TEST(packs_many_references),
        RECENT_TEST(keeps_a_published_reference_removed),
        RECENT_TEST(goes_on_while_another_settles),
        RECENT_TEST(removes_what_it_joined),
        RECENT_TEST(joins_packs_without_deltas),
        RECENT_TEST(looks_into_no_kept_pack),
        RECENT_TEST(overlooks_a_partial_record),
        RECENT_TEST(publishes_again_after_a_torn_mark),
        RECENT_TEST(keeps_large_objects_from_a_gc),
        RECENT_TEST(keeps_copied_objects_from_a_gc),
    };

    gitops_begin();
    return cmocka_run_group_tests_name("checkpoint/recent_publish", tests, NULL, NULL);
}
