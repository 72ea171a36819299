// SPDX-License-Identifier: Apache-2.0
/* checkpoint/recent_old.h: what an older airlock left, and what a newer one did. */
#include "checkpoint/recent_old.h"

#include <fcntl.h>
#include <unistd.h>

#include "checkpoint/recent.h"
#include "checkpoint/recent_file.h"
#include "tests/unit/checkpoint/lib.h"

#define NO_FILES AL_PARTS_WORKTREE

static int setup(void **state)
{
    struct saver *s;
    int r = saver_setup(state);

    s = *state;
    s->settings.publishes_later = true;
    return r;
}

/* Take a checkpoint that is in no file but the one of the newest. */
static void take_next(struct saver *s, char ret_id[AL_OID_TEXT])
{
    static unsigned number;
    al_auto(al_freep) char *text = al_asprintf("%u\n", number++);

    tmpdir_write(s->w->repo, "a.txt", text);
    git_ok(s->w->repo, "add", "-A", NULL);
    take_without(s, NULL, NO_FILES);
    memcpy(ret_id, s->id, AL_OID_TEXT);
}

static void read_newest(struct saver *s, struct al_str *ret_bytes, struct al_recent_head *ret_head)
{
    assert_int_equal(al_fs_read(s->store->dir_fd, AL_RECENT_NAME, 64u << 20, ret_bytes), 0);
    assert_true(al_recent_head_parse(ret_bytes->buf, s->store->sha256, ret_head));
}

/* Turn the file of the newest checkpoints into that of an older airlock. */
static void make_old(struct saver *s, bool other_boot)
{
    al_auto(al_str_clear) struct al_str bytes = AL_STR_INIT;
    struct al_recent_head head;

    read_newest(s, &bytes, &head);
    assert_int_equal(head.format, AL_RECENT_FORMAT);
    head.format = 1;
    if (other_boot)
        memset(head.boot, 'b', AL_BOOT_ID_BYTES);
    al_recent_head_format(&head, s->store->sha256, bytes.buf);
    assert_int_equal(
        al_fs_write_atomic(s->store->dir_fd, AL_RECENT_OLD_NAME, bytes.buf, bytes.len, 0600, true),
        0);
    assert_int_equal(unlinkat(s->store->dir_fd, AL_RECENT_NAME, 0), 0);
}

static bool has_old(struct saver *s)
{
    return faccessat(s->store->dir_fd, AL_RECENT_OLD_NAME, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static void assert_readable(struct saver *s, const char *id)
{
    al_auto(al_saved_state_clear) struct al_saved_state saved = { .index = AL_STR_INIT };
    struct al_run_limits budget = long_budget();

    assert_true(al_checkpoint_exists(s->store, id));
    assert_int_equal(al_checkpoint_state(s->store, id, &budget, &saved, &s->w->err), 0);
}

static void takes_what_an_older_one_left(void **state)
{
    struct saver *s = *state;

    for (int other_boot = 0; other_boot < 2; other_boot++) {
        char first[AL_OID_TEXT], second[AL_OID_TEXT];

        take_next(s, first);
        take_next(s, second);
        make_old(s, other_boot);
        saver_reopen(s, "repo");
        assert_false(has_old(s));
        assert_int_equal(s->store->recent.count, 0);
        assert_readable(s, first);
        assert_readable(s, second);
        take_next(s, second);
        assert_readable(s, first);
        assert_readable(s, second);
    }
}

/* An older airlock uses the store.  What it writes next is taken as well. */
static void leaves_the_file_to_one_that_uses_it(void **state)
{
    struct saver *s = *state;
    struct al_run_limits budget = long_budget();
    struct al_store *other = NULL;
    char ids[3][AL_OID_TEXT];

    assert_int_equal(al_store_open(&s->settings, s->repo, false, &budget, &other, &s->w->err), 0);
    for (size_t i = 0; i < COUNT(ids); i++) {
        al_auto(al_str_clear) struct al_str bytes = AL_STR_INIT;
        struct al_recent_head head;

        take_next(s, ids[i]);
        make_old(s, false);
        saver_reopen(s, "repo");
        assert_true(has_old(s));
        assert_int_equal(al_fs_read(s->store->dir_fd, AL_RECENT_OLD_NAME, 64u << 20, &bytes), 0);
        assert_true(al_recent_head_parse(bytes.buf, s->store->sha256, &head));
        assert_int_equal(head.format, 1);
        for (size_t j = 0; j <= i; j++)
            assert_readable(s, ids[j]);
    }
    al_store_close(other);
    saver_reopen(s, "repo");
    assert_false(has_old(s));
    for (size_t i = 0; i < COUNT(ids); i++)
        assert_readable(s, ids[i]);
}

static void shorten_old(struct saver *s, size_t len)
{
    al_auto(al_closep) int fd = openat(s->store->dir_fd, AL_RECENT_OLD_NAME, O_RDWR | O_CLOEXEC);

    assert_int_equal(ftruncate(fd, (off_t)len), 0);
}

/* A record of which only a part was written, no head, or nothing at all. */
static void lives_with_a_file_that_is_torn(void **state)
{
    struct saver *s = *state;
    const size_t lengths[] = { 0, 1, AL_RECENT_HEAD_BYTES - 1, AL_RECENT_HEAD_BYTES,
                               AL_RECENT_HEAD_BYTES + 100 };
    char kept[AL_OID_TEXT], torn[AL_OID_TEXT];

    take_next(s, kept);
    assert_int_equal(al_recent_settle(s->store, true, &s->w->err), 0);
    for (size_t i = 0; i < COUNT(lengths); i++) {
        take_next(s, torn);
        make_old(s, i % 2);
        shorten_old(s, lengths[i]);
        saver_reopen(s, "repo");
        assert_false(has_old(s));
        assert_readable(s, kept);
        assert_false(al_checkpoint_exists(s->store, torn));
    }
}

/* Write the mark of a format into the file, and open the store. */
static int open_marked(struct saver *s, char mark)
{
    al_auto(al_str_clear) struct al_str before = AL_STR_INIT;
    al_auto(al_str_clear) struct al_str after = AL_STR_INIT;
    struct al_run_limits budget = long_budget();
    struct al_store *store = NULL;
    int r;

    assert_int_equal(pwrite(s->store->recent.fd, &mark, 1, 7), 1);
    assert_int_equal(al_fs_read(s->store->dir_fd, AL_RECENT_NAME, 64u << 20, &before), 0);
    al_error_clear(&s->w->err);
    r = al_store_open(&s->settings, s->repo, true, &budget, &store, &s->w->err);
    assert_int_equal(al_fs_read(s->store->dir_fd, AL_RECENT_NAME, 64u << 20, &after), 0);
    if (r < 0) {
        assert_int_equal(after.len, before.len);
        assert_memory_equal(after.buf, before.buf, before.len);
    }
    al_store_close(store);
    return r;
}

static void refuses_what_a_newer_one_wrote(void **state)
{
    struct saver *s = *state;
    char id[AL_OID_TEXT];

    take_next(s, id);
    for (char mark = '3'; mark <= '9'; mark++) {
        assert_int_equal(open_marked(s, mark), AL_ERR_EXECUTION);
        assert_non_null(strstr(s->w->err.message, "a newer airlock wrote the checkpoints"));
    }
    assert_int_equal(open_marked(s, '2'), 0);
    saver_reopen(s, "repo");
    assert_readable(s, id);
    assert_int_equal(open_marked(s, ':'), 0); /* no format: damaged */
}

#define OLD_TEST(name) cmocka_unit_test_setup_teardown(name, setup, saver_teardown)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        OLD_TEST(takes_what_an_older_one_left),
        OLD_TEST(leaves_the_file_to_one_that_uses_it),
        OLD_TEST(lives_with_a_file_that_is_torn),
        OLD_TEST(refuses_what_a_newer_one_wrote),
    };

    gitops_begin();
    return cmocka_run_group_tests_name("checkpoint/recent_old", tests, NULL, NULL);
}
