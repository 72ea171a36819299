// SPDX-License-Identifier: Apache-2.0
/* gitops/index/index_store.h: what is given to everybody is whole, and of the index it claims. */
#include "gitops/index/index_store.h"

#include <time.h>

#include "tests/unit/gitops/lib.h"

struct kept {
    struct world *w;
    struct al_index_store store;
    struct al_index_source source;
    struct al_index_record record;
    char *dir;
};

static int fill_as(struct kept *k, bool is_stale)
{
    al_auto(al_closep) int fd = openat(k->w->repo->fd, ".git/index", O_RDONLY | O_CLOEXEC);

    k->source.id = al_file_id_at(k->w->repo->fd, ".git/index");
    return al_index_store_fill(&k->store, fd, false, is_stale, &k->source, k->w->repo->path,
                               &k->record);
}

static int fill(struct kept *k)
{
    return fill_as(k, false);
}

static int kept_setup(void **state)
{
    struct kept *k = al_calloc(1, sizeof(*k));

    (void)world_setup(state);
    k->w = *state;
    k->dir = tmpdir_path(k->w->state, "indexes/one");
    assert_int_equal(al_index_store_open(k->dir, false, &k->store), -ENOENT);
    assert_int_equal(al_index_store_open(k->dir, true, &k->store), 0);
    assert_true(al_index_store_lock(&k->store));
    assert_int_equal(fill(k), 0);
    *state = k;
    return 0;
}

static int kept_teardown(void **state)
{
    struct kept *k = *state;

    *state = k->w;
    al_index_store_close(&k->store);
    free(k->dir);
    free(k);
    return world_teardown(state);
}

#define KEPT_TEST(name) cmocka_unit_test_setup_teardown(name, kept_setup, kept_teardown)

static struct stat stat_in(const struct kept *k, const char *name)
{
    struct stat st;

    assert_int_equal(fstatat(k->store.dir_fd, name, &st, AT_SYMLINK_NOFOLLOW), 0);
    return st;
}

/* As a git that refreshes: another file with the name of the index. */
static void replace_work(const struct kept *k, const char *bytes, size_t len)
{
    assert_int_equal(unlinkat(k->store.dir_fd, "work/index", 0), 0);
    assert_int_equal(al_fs_write_atomic(k->store.dir_fd, "work/index", bytes, len, 0600, false), 0);
}

static void replace_work_with_a_copy(const struct kept *k)
{
    al_auto(al_str_clear) struct al_str raw = AL_STR_INIT;

    assert_int_equal(al_fs_read(k->store.dir_fd, "ready/index", 1u << 20, &raw), 0);
    replace_work(k, raw.buf, raw.len);
}

static bool holds(const struct kept *k)
{
    return al_index_store_holds(&k->store, &k->record, &k->source);
}

static void belongs_to_one_index_and_configuration(void **state)
{
    struct kept *k = *state;
    const struct al_index_source source = k->source;

    assert_true(holds(k));
    for (size_t i = 0; i < 6; i++) {
        k->source = source;
        k->source.id.dev += i == 0;
        k->source.id.ino += i == 1;
        k->source.id.size += i == 2;
        k->source.id.mtime_ns += i == 3;
        k->source.id.ctime_ns += i == 4;
        k->source.config[31] ^= i == 5;
        assert_false(holds(k));
    }
    k->source = source;
    k->source.id.exists = false;
    assert_false(holds(k));
    k->source = source;
    assert_true(holds(k));
}

static void has_the_time_of_its_source(void **state)
{
    struct kept *k = *state;
    struct stat ready = stat_in(k, "ready/index");
    al_auto(al_freep) char *index = tmpdir_path(k->w->repo, ".git/index");

    assert_int_equal(al_file_id_from(&ready).mtime_ns, k->source.id.mtime_ns);
    assert_int_equal(
        utimensat(AT_FDCWD, index,
                  (const struct timespec[]){ { .tv_sec = 4000000000 }, { .tv_sec = 4000000000 } },
                  0),
        0);
    assert_int_equal(fill(k), 0);
    ready = stat_in(k, "ready/index");
    assert_true(ready.st_mtim.tv_sec <= time(NULL));
}

static void another_process_reads_the_record(void **state)
{
    struct kept *k = *state;
    struct al_index_store store;
    struct al_index_record record;

    assert_int_equal(al_index_store_open(k->dir, false, &store), 0);
    assert_false(al_index_store_lock(&store)); /* the first one has it */
    assert_true(al_index_store_load(&store, &record));
    assert_true(al_index_store_holds(&store, &record, &k->source));
    al_index_store_unlock(&k->store);
    assert_true(al_index_store_lock(&store));
    assert_false(al_index_store_lock(&k->store));
    al_index_store_close(&store);
    assert_true(al_index_store_lock(&k->store));
}

static void publishes_what_git_replaced(void **state)
{
    struct kept *k = *state;
    const struct stat before = stat_in(k, "ready/index");
    struct al_index_record loaded;

    assert_int_equal(al_index_store_publish(&k->store, 1700000000500000000, "/t", &k->record), 0);
    assert_int_equal(stat_in(k, "ready/index").st_ino, before.st_ino); /* nothing was replaced */
    replace_work_with_a_copy(k);
    assert_int_equal(al_index_store_publish(&k->store, 1700000000500000000, "/t", &k->record), 0);
    assert_int_not_equal(stat_in(k, "ready/index").st_ino, before.st_ino);
    assert_int_equal(stat_in(k, "ready/index").st_ino, stat_in(k, "work/index").st_ino);
    assert_int_equal(stat_in(k, "ready/index").st_mtim.tv_sec, 1700000000 - AL_INDEX_MARGIN_S);
    assert_int_equal(stat_in(k, "ready/index").st_mtim.tv_nsec, 500000000);
    assert_true(holds(k));
    assert_true(al_index_store_load(&k->store, &loaded));
    assert_memory_equal(&loaded, &k->record, sizeof(loaded));
}

static void publishes_no_other_index(void **state)
{
    static const char one_more[] = "DIRC\0\0\0\2\0\0\0\2 and the rest of an index";
    static const char no_index[] = "DIRX\0\0\0\2\0\0\0\1 and the rest of an index";
    struct kept *k = *state;
    const struct stat before = stat_in(k, "ready/index");

    replace_work(k, one_more, sizeof(one_more));
    assert_true(al_index_store_publish(&k->store, 1, "/t", &k->record) < 0);
    replace_work(k, no_index, sizeof(no_index));
    assert_true(al_index_store_publish(&k->store, 1, "/t", &k->record) < 0);
    for (size_t len = 0; len < 12; len++) {
        replace_work(k, one_more, len);
        assert_true(al_index_store_publish(&k->store, 1, "/t", &k->record) < 0);
    }
    assert_int_equal(unlinkat(k->store.dir_fd, "work/index", 0), 0);
    assert_true(al_index_store_publish(&k->store, 1, "/t", &k->record) < 0);
    assert_int_equal(symlinkat("../ready/index", k->store.dir_fd, "work/index"), 0);
    assert_true(al_index_store_publish(&k->store, 1, "/t", &k->record) < 0);
    assert_int_equal(stat_in(k, "ready/index").st_ino, before.st_ino);
}

/* The old file has a link less, and so another time of change. */
static void what_a_kill_left_is_noticed(void **state)
{
    struct kept *k = *state;

    assert_true(al_index_store_may_refresh(&k->store, &k->record));
    replace_work_with_a_copy(k);
    assert_false(al_index_store_may_refresh(&k->store, &k->record));
    assert_false(holds(k));
    assert_int_equal(al_fs_write_atomic(k->store.dir_fd, "work/index.lock", "", 0, 0600, false), 0);
    tmpdir_write(k->w->state, "indexes/one/ready/new", "");
    assert_int_equal(fill(k), 0);
    assert_int_equal(faccessat(k->store.dir_fd, "work/index.lock", F_OK, 0), -1);
    assert_int_equal(faccessat(k->store.dir_fd, "ready/new", F_OK, 0), -1);
    assert_true(holds(k) && al_index_store_may_refresh(&k->store, &k->record));
}

static void notices_another_file(void **state)
{
    struct kept *k = *state;
    al_auto(al_freep) char *ready = tmpdir_path(k->w->state, "indexes/one/ready/index");
    const struct stat before = stat_in(k, "ready/index");
    const struct timespec times[] = { before.st_atim, before.st_mtim };
    al_auto(al_closep) int fd = open(ready, O_RDWR | O_CLOEXEC);

    assert_int_equal(pwrite(fd, "X", 1, 0), 1);
    assert_int_equal(futimens(fd, times), 0); /* the time of change stays a new one */
    assert_false(holds(k));
    assert_int_equal(fill(k), 0);
    assert_true(holds(k));
    assert_int_equal(truncate(ready, 10), 0);
    assert_false(holds(k));
    assert_int_equal(unlink(ready), 0);
    assert_false(holds(k));
    assert_int_equal(symlink(k->store.work_index, ready), 0);
    assert_false(holds(k));
}

static void a_record_of_another_boot_is_none(void **state)
{
    struct kept *k = *state;
    struct al_index_record record = k->record, loaded;

    for (int i = 0; i < 3; i++) {
        record = k->record;
        record.boot[0] = (char)(i == 0 ? 'x' : record.boot[0]);
        record.format[6] = (char)(i == 1 ? '0' : record.format[6]);
        assert_int_equal(al_fs_write_atomic(k->store.dir_fd, "record", &record,
                                            sizeof(record) - (i == 2), 0600, true),
                         0);
        assert_false(al_index_store_load(&k->store, &loaded));
    }
    assert_int_equal(
        al_fs_write_atomic(k->store.dir_fd, "record", &k->record, sizeof(record), 0600, true), 0);
    assert_true(al_index_store_load(&k->store, &loaded));
}

static void refresh(const struct kept *k)
{
    assert_int_equal(setenv("GIT_INDEX_FILE", k->store.work_index, 1), 0);
    git_ok(k->w->repo, "update-index", "-q", "--refresh", NULL);
    assert_int_equal(unsetenv("GIT_INDEX_FILE"), 0);
}

/* Whether the index has stat data of a file. */
static bool knows(const struct kept *k, const char *name)
{
    al_auto(al_freep) char *text = NULL;

    assert_int_equal(setenv("GIT_INDEX_FILE", k->store.ready_index, 1), 0);
    text = git_output(k->w->repo, "ls-files", "--debug", "--", name, NULL);
    assert_int_equal(unsetenv("GIT_INDEX_FILE"), 0);
    assert_non_null(strstr(text, "ino:"));
    return !strstr(text, "ino: 0\n");
}

static void add_old(const struct kept *k, const char *name, const char *text)
{
    const struct timespec old = { .tv_sec = 1600000000 };

    tmpdir_write(k->w->repo, name, text);
    assert_int_equal(utimensat(k->w->repo->fd, name, (const struct timespec[]){ old, old }, 0), 0);
    git_ok(k->w->repo, "add", name, NULL);
}

static void keeps_what_its_own_git_saw(void **state)
{
    struct kept *k = *state;
    const int64_t now = (int64_t)time(NULL) * 1000000000;

    add_old(k, "a.txt", "one\n");
    add_old(k, "b.txt", "two\n");
    assert_int_equal(fill_as(k, true), 0);
    assert_false(knows(k, "a.txt") || knows(k, "b.txt"));
    refresh(k);
    assert_int_equal(al_index_store_publish(&k->store, now, "/t", &k->record), 0);
    assert_true(knows(k, "a.txt") && knows(k, "b.txt"));
    add_old(k, "b.txt", "three\n");
    assert_int_equal(fill(k), 0);
    assert_true(k->record.has_own_stats);
    assert_true(knows(k, "a.txt"));
    assert_false(knows(k, "b.txt")); /* that is only what the source says */
    k->source.config[0] ^= 1;
    assert_int_equal(fill(k), 0);
    assert_false(k->record.has_own_stats);
    assert_true(knows(k, "a.txt") && knows(k, "b.txt")); /* again, as the source says */
}

static void what_a_source_says_is_not_kept(void **state)
{
    struct kept *k = *state;

    add_old(k, "b.txt", "two\n");
    assert_int_equal(fill(k), 0);
    assert_false(k->record.has_own_stats);
    add_old(k, "c.txt", "three\n");
    assert_int_equal(fill_as(k, true), 0);
    assert_true(k->record.has_own_stats);
    assert_false(knows(k, "a.txt") || knows(k, "b.txt") || knows(k, "c.txt"));
}

static void a_source_that_changes_is_not_copied(void **state)
{
    struct kept *k = *state;
    al_auto(al_closep) int fd = openat(k->w->repo->fd, ".git/index", O_RDONLY | O_CLOEXEC);
    struct al_index_source other = k->source;

    other.id.size++;
    assert_int_equal(al_index_store_fill(&k->store, fd, false, false, &other, "/t", &k->record),
                     -EAGAIN);
    assert_int_equal(faccessat(k->store.dir_fd, "ready/new", F_OK, 0), -1);
    assert_int_equal(faccessat(k->store.dir_fd, "ready/index", F_OK, 0), 0); /* never missing */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        KEPT_TEST(belongs_to_one_index_and_configuration),
        KEPT_TEST(has_the_time_of_its_source),
        KEPT_TEST(another_process_reads_the_record),
        KEPT_TEST(publishes_what_git_replaced),
        KEPT_TEST(publishes_no_other_index),
        KEPT_TEST(what_a_kill_left_is_noticed),
        KEPT_TEST(notices_another_file),
        KEPT_TEST(a_record_of_another_boot_is_none),
        KEPT_TEST(keeps_what_its_own_git_saw),
        KEPT_TEST(what_a_source_says_is_not_kept),
        KEPT_TEST(a_source_that_changes_is_not_copied),
    };

    gitops_begin();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
