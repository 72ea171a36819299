// SPDX-License-Identifier: Apache-2.0
/* history/aside.h: what is moved aside comes back as it was, and a process that is killed leaves
 * every thing whole at one of two places.  The system calls that rename, and mkdirat(2), are this
 * file's own. */
#include "history/aside.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fs.h"
#include "guard/gitdir.h"
#include "tests/lib/assert.h"
#include "tests/lib/tmpdir.h"

static int fail_at, fail_with; /* which rename fails, from 1; 0: none */
static bool is_far;            /* the aside folder is on another file system */
static int kill_at;            /* the rename before which the process dies; 0: none */
static bool is_plain;          /* a file system without flags of renameat2(2) */
static const char *saved_as;   /* what somebody saves before the next call that changes a name */
static bool is_tidied;         /* the next folder that is made is removed at once */

int __wrap_renameat(int from_fd, const char *from, int to_fd, const char *to);
int __real_linkat(int from_fd, const char *from, int to_fd, const char *to, int flags);
int __wrap_linkat(int from_fd, const char *from, int to_fd, const char *to, int flags);
int __real_mkdirat(int dir_fd, const char *name, mode_t mode);
int __wrap_mkdirat(int dir_fd, const char *name, mode_t mode);

int __real_renameat2(int from_fd, const char *from, int to_fd, const char *to, unsigned flags);
int __wrap_renameat2(int from_fd, const char *from, int to_fd, const char *to, unsigned flags);

static bool is_in_base(int fd)
{
    al_auto(al_freep) char *path = al_fs_fd_path(fd);

    return path && strstr(path, "/airlock/aside/");
}

static void save(int dir_fd)
{
    al_auto(al_closep) int fd =
        saved_as ? openat(dir_fd, al_take(&saved_as), O_WRONLY | O_CREAT | O_CLOEXEC, 0600) : -1;

    if (fd >= 0)
        assert_int_equal(al_write_all(fd, "saved", 5), 0);
}

int __wrap_renameat2(int from_fd, const char *from, int to_fd, const char *to, unsigned flags)
{
    if (is_plain && flags) {
        errno = EINVAL;
        return -1;
    }
    save(to_fd);
    if (kill_at && --kill_at == 0)
        raise(SIGKILL);
    if (fail_at && --fail_at == 0) {
        errno = fail_with;
        return -1;
    }
    if (is_far && is_in_base(from_fd) != is_in_base(to_fd)) {
        errno = EXDEV;
        return -1;
    }
    return __real_renameat2(from_fd, from, to_fd, to, flags);
}

int __wrap_renameat(int from_fd, const char *from, int to_fd, const char *to)
{
    return __wrap_renameat2(from_fd, from, to_fd, to, 0);
}

int __wrap_linkat(int from_fd, const char *from, int to_fd, const char *to, int flags)
{
    save(to_fd);
    return __real_linkat(from_fd, from, to_fd, to, flags);
}

int __wrap_mkdirat(int dir_fd, const char *name, mode_t mode)
{
    int r = __real_mkdirat(dir_fd, name, mode);

    if (is_tidied && *name == '1') {
        is_tidied = false;
        assert_int_equal(unlinkat(dir_fd, name, AT_REMOVEDIR), 0);
    }
    return r;
}

struct lab {
    struct tmpdir *dir;
    int git_fd, tree_fd;
};

static int setup(void **state)
{
    struct lab *lab = al_calloc(1, sizeof(*lab));
    al_auto(al_freep) char *git = NULL;
    al_auto(al_freep) char *tree = NULL;

    fail_at = kill_at = 0;
    is_far = is_plain = is_tidied = false;
    saved_as = NULL;
    lab->dir = tmpdir_new();
    tmpdir_mkdir(lab->dir, "git");
    tmpdir_mkdir(lab->dir, "tree");
    tmpdir_mkdir(lab->dir, "tree/a");
    tmpdir_write(lab->dir, "tree/a/file", "in a directory");
    tmpdir_write(lab->dir, "tree/b\n ", "a file");
    git = tmpdir_path(lab->dir, "git");
    tree = tmpdir_path(lab->dir, "tree");
    lab->git_fd = open(git, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    lab->tree_fd = open(tree, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    *state = lab;
    return 0;
}

static int teardown(void **state)
{
    struct lab *lab = *state;

    al_close(lab->git_fd);
    al_close(lab->tree_fd);
    tmpdir_free(lab->dir);
    free(lab);
    return 0;
}

static void assert_there(const struct lab *lab, bool there)
{
    static const char *const paths[] = { "a/file", "b\n " };

    for (size_t i = 0; i < AL_COUNT(paths); i++)
        assert_int_equal(faccessat(lab->tree_fd, paths[i], F_OK, 0), there ? 0 : -1);
}

static void begin(const struct lab *lab, struct al_aside_entry *entry)
{
    assert_int_equal(al_aside_begin(lab->git_fd, "x\ny", -1, entry, NULL), 0);
}

static int move_one_of(const struct lab *lab, struct al_aside_entry *entry, const char *name)
{
    al_auto(al_freep) char *tree = al_fs_fd_path(lab->tree_fd);
    al_auto(al_freep) char *path = al_fs_join(tree, name);

    return al_aside_move(entry, lab->tree_fd, name, path, NULL);
}

/* Everything of the tree. */
static int move_all(const struct lab *lab, struct al_aside_entry *entry)
{
    int r = move_one_of(lab, entry, "a");

    return r < 0 ? r : move_one_of(lab, entry, "b\n ");
}

static bool is_aside(const struct al_aside_entry *entry, size_t item)
{
    char name[32];

    return al_aside_folder_of(entry, item, name) >= 0;
}

static size_t count_entries(const struct lab *lab)
{
    al_auto(al_aside_entry_clear) struct al_aside_entry entry = AL_ASIDE_ENTRY_INIT;
    unsigned long seq = ULONG_MAX;
    size_t count = 0;

    while (al_aside_next(lab->git_fd, &seq, &entry))
        count++;
    return count;
}

static void tidy_and_ask(const struct lab *lab, struct al_strv *ret_kept)
{
    al_auto(al_strv_clear) struct al_strv below = AL_STRV_INIT;

    al_strv_take(&below, tmpdir_path(lab->dir, "tree"));
    al_aside_tidy(lab->git_fd, &below, ret_kept);
}

static void tidy(const struct lab *lab)
{
    tidy_and_ask(lab, NULL);
}

/* The only entry, as another process finds it. */
static void load_only(const struct lab *lab, struct al_aside_entry *entry)
{
    unsigned long seq = ULONG_MAX;

    assert_int_equal(count_entries(lab), 1);
    assert_true(al_aside_next(lab->git_fd, &seq, entry));
}

static void there_and_back(struct lab *lab)
{
    struct al_aside_entry entry = AL_ASIDE_ENTRY_INIT;
    struct stat st;

    begin(lab, &entry);
    assert_int_equal(move_all(lab, &entry), 0);
    assert_int_equal(al_aside_end(&entry, NULL), 0);
    assert_there(lab, false);
    al_aside_entry_clear(&entry);

    load_only(lab, &entry);
    assert_true(entry.is_whole);
    assert_string_equal(entry.note, "x\ny");
    assert_int_equal(entry.items.count, 2);
    assert_true(al_ends_with(entry.items.items[1], "/tree/b\n "));
    assert_true(is_aside(&entry, 0) && is_aside(&entry, 1));
    assert_int_equal(fstatat(lab->git_fd, "airlock/aside", &st, 0), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
    assert_int_equal(al_aside_return(&entry, NULL), 0);
    assert_there(lab, true);
    assert_int_equal(count_entries(lab), 0);
}

static void test_comes_back(void **state)
{
    there_and_back(*state);
}

static void test_comes_back_from_beside(void **state)
{
    struct lab *lab = *state;

    is_far = true;
    there_and_back(lab);
    assert_int_equal(faccessat(lab->tree_fd, AL_ASIDE_HIDDEN "1", F_OK, 0), -1);
}

static void test_hidden_folder_is_ignored_and_its_own(void **state)
{
    struct lab *lab = *state;
    struct al_aside_entry entry = AL_ASIDE_ENTRY_INIT;

    is_far = true;
    begin(lab, &entry);
    assert_int_equal(move_all(lab, &entry), 0);
    assert_int_equal(al_aside_end(&entry, NULL), 0);
    al_aside_entry_clear(&entry);
    assert_int_equal(faccessat(lab->tree_fd, AL_ASIDE_HIDDEN "1/.gitignore", F_OK, 0), 0);
    /* another folder in its place is not believed */
    assert_int_equal(renameat(lab->tree_fd, AL_ASIDE_HIDDEN "1", lab->tree_fd, "taken"), 0);
    assert_int_equal(mkdirat(lab->tree_fd, AL_ASIDE_HIDDEN "1", 0700), 0);
    assert_int_equal(mkdirat(lab->tree_fd, AL_ASIDE_HIDDEN "1/0", 0700), 0);
    load_only(lab, &entry);
    assert_false(is_aside(&entry, 0));
    al_aside_entry_clear(&entry);
}

static void test_plain_file_system(void **state)
{
    struct lab *lab = *state;
    al_auto(al_freep) char *saved = NULL;

    is_plain = true;
    there_and_back(lab);
    tmpdir_symlink(lab->dir, "nowhere", "tree/link");
    assert_int_equal(al_fs_rename_new(lab->tree_fd, "link", lab->tree_fd, "moved"), 0);
    assert_int_equal(al_fs_rename_new(lab->tree_fd, "a", lab->tree_fd, "moved"), -EEXIST);
    saved_as = "new"; /* after it was seen that nothing is there */
    assert_int_equal(al_fs_rename_new(lab->tree_fd, "moved", lab->tree_fd, "new"), -EEXIST);
    saved = tmpdir_read(lab->dir, "tree/new");
    assert_string_equal(saved, "saved");
}

static void test_folder_is_gone_at_once(void **state)
{
    struct lab *lab = *state;
    struct al_aside_entry entry = AL_ASIDE_ENTRY_INIT;

    is_tidied = true;
    begin(lab, &entry);
    assert_int_equal(entry.seq, 2);
    al_aside_entry_clear(&entry);
}

static void test_something_in_the_way(void **state)
{
    struct lab *lab = *state;
    struct al_aside_entry entry = AL_ASIDE_ENTRY_INIT;
    struct al_error err = AL_ERROR_INIT;

    begin(lab, &entry);
    assert_int_equal(move_all(lab, &entry), 0);
    assert_int_equal(al_aside_end(&entry, NULL), 0);
    assert_int_equal(mkdirat(lab->tree_fd, "a", 0700), 0);
    assert_int_equal(al_aside_return(&entry, &err), AL_ERR_EXECUTION);
    assert_non_null(strstr(err.message, "/tree/a'"));
    assert_true(is_aside(&entry, 0) && is_aside(&entry, 1) && entry.is_whole);
    al_error_clear(&err);
    al_aside_entry_clear(&entry);
}

static void test_fails_on_the_way_back(void **state)
{
    struct lab *lab = *state;
    struct al_aside_entry entry = AL_ASIDE_ENTRY_INIT;

    begin(lab, &entry);
    assert_int_equal(move_all(lab, &entry), 0);
    assert_int_equal(al_aside_end(&entry, NULL), 0);
    fail_at = 2;
    fail_with = EACCES;
    assert_int_equal(al_aside_return(&entry, NULL), AL_ERR_EXECUTION);
    assert_there(lab, false);
    assert_true(entry.is_whole);
    assert_int_equal(al_aside_return(&entry, NULL), 0);
    assert_there(lab, true);
}

static void test_fails_on_the_way_there(void **state)
{
    struct lab *lab = *state;
    struct al_aside_entry entry = AL_ASIDE_ENTRY_INIT;

    begin(lab, &entry);
    fail_at = 2;
    fail_with = EACCES;
    assert_int_equal(move_all(lab, &entry), AL_ERR_EXECUTION);
    assert_int_equal(al_aside_return(&entry, NULL), 0);
    assert_there(lab, true);
    assert_int_equal(count_entries(lab), 0);
}

/* Whether something is where it was, or aside, and nothing twice. */
static void killed_at(struct lab *lab, int step)
{
    struct al_aside_entry entry = AL_ASIDE_ENTRY_INIT;
    pid_t pid = fork();
    int status;

    if (pid == 0) {
        kill_at = step;
        begin(lab, &entry);
        (void)(move_all(lab, &entry) == 0 && al_aside_end(&entry, NULL) == 0 &&
               al_aside_return(&entry, NULL));
        raise(SIGKILL);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
    tidy(lab);
    assert_there(lab, true);
    assert_int_equal(count_entries(lab), 0);
}

static void test_killed(void **state)
{
    for (int step = 1; step <= 5; step++)
        killed_at(*state, step);
    is_far = true;
    for (int step = 1; step <= 8; step++)
        killed_at(*state, step);
}

static void test_killed_and_in_the_way(void **state)
{
    struct lab *lab = *state;
    struct al_aside_entry entry = AL_ASIDE_ENTRY_INIT;

    begin(lab, &entry);
    assert_int_equal(move_all(lab, &entry), 0);
    tidy(lab); /* it is at work, and locked */
    assert_there(lab, false);
    al_aside_entry_clear(&entry);
    assert_int_equal(mkdirat(lab->tree_fd, "a", 0700), 0);
    tidy(lab);
    load_only(lab, &entry);
    assert_true(entry.is_whole && is_aside(&entry, 0) && is_aside(&entry, 1));
    al_aside_entry_clear(&entry);
}

static void test_killed_and_one_in_the_way(void **state)
{
    struct lab *lab = *state;
    struct al_aside_entry entry = AL_ASIDE_ENTRY_INIT;

    assert_int_equal(al_aside_begin(lab->git_fd, NULL, -1, &entry, NULL), 0);
    assert_int_equal(move_all(lab, &entry), 0);
    al_aside_entry_clear(&entry);
    assert_int_equal(mkdirat(lab->tree_fd, "a", 0700), 0);
    tidy(lab);
    load_only(lab, &entry);
    assert_true(entry.is_whole && is_aside(&entry, 0) && !is_aside(&entry, 1));
    assert_int_equal(faccessat(lab->tree_fd, "b\n ", F_OK, 0), 0);
    al_aside_entry_clear(&entry);
}

static void write_record(const struct lab *lab, const char *word)
{
    al_auto(al_closep) int fd = -1;

    tmpdir_write(lab->dir, "git/airlock/aside/1/record", "");
    fd = openat(lab->git_fd, "airlock/aside/1/record", O_WRONLY | O_CLOEXEC);
    assert_int_equal(al_write_all(fd, word, strlen(word) + 1), 0);
}

/* The record did not reach the disk, what was moved did. */
static void test_power_failure(void **state)
{
    struct lab *lab = *state;

    for (int i = 0; i < 2; i++) {
        struct al_aside_entry entry = AL_ASIDE_ENTRY_INIT;
        al_auto(al_strv_clear) struct al_strv kept = AL_STRV_INIT;

        is_far = i; /* the hidden folder's place is on the disk before it is made */
        assert_int_equal(al_aside_begin(lab->git_fd, NULL, lab->tree_fd, &entry, NULL), 0);
        if (is_far)
            assert_int_equal(move_one_of(lab, &entry, "a"), 0);
        else
            assert_int_equal(ftruncate(entry.record_fd, 0), 0);
        tmpdir_write(lab->dir, is_far ? "tree/" AL_ASIDE_HIDDEN "2/7" : "git/airlock/aside/1/7",
                     "");
        al_aside_entry_clear(&entry);
        for (int j = 0; j < 3; j++)
            tidy_and_ask(lab, &kept);
        assert_there(lab, true);
        assert_int_equal(count_entries(lab), i + 1);
        assert_int_equal(kept.count, 1);
        assert_true(al_starts_with(kept.items[0], "?: /"));
        assert_true(al_ends_with(kept.items[0], is_far ? "/" AL_ASIDE_HIDDEN "2/7" : "/aside/1/7"));
    }
}

/* Somebody else wrote the record: nothing goes where it says. */
static void test_forged(void **state)
{
    static const char *const tails[] = { "else/x", "tree/../else/x", "tree/link/x", "tree/x" };
    struct lab *lab = *state;

    tmpdir_mkdir(lab->dir, "else");
    tmpdir_symlink(lab->dir, "../else", "tree/link");
    for (size_t i = 0; i < AL_COUNT(tails); i++) {
        al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
        al_auto(al_freep) char *path = al_fs_join(lab->dir->path, tails[i]);
        al_auto(al_freep) char *planted = NULL;
        const bool is_control = i + 1 == AL_COUNT(tails);

        al_str_addf(&text, "item %s", path);
        write_record(lab, text.buf);
        tmpdir_write(lab->dir, "git/airlock/aside/1/0", "planted");
        tidy(lab);
        planted = tmpdir_read(lab->dir, is_control ? "tree/x" : "else/x");
        assert_int_equal(planted != NULL, is_control);
    }
    write_record(lab, "item else/x");
    tidy(lab);
}

static void move_one(struct lab *lab, int64_t *ret_when)
{
    struct al_aside_entry entry = AL_ASIDE_ENTRY_INIT;
    struct stat st;

    tmpdir_write(lab->dir, "tree/one", "one");
    begin(lab, &entry);
    assert_int_equal(move_one_of(lab, &entry, "one"), 0);
    assert_int_equal(al_aside_end(&entry, NULL), 0);
    assert_int_equal(fstat(entry.record_fd, &st), 0);
    *ret_when = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
    al_aside_entry_clear(&entry);
    (void)usleep(20000); /* the next one is later, however coarse the clock */
}

static void test_gc(void **state)
{
    enum { PLENTY = 1 << 20 };
    struct lab *lab = *state;
    int64_t when[3];

    for (size_t i = 0; i < AL_COUNT(when); i++)
        move_one(lab, &when[i]);
    al_aside_gc(lab->git_fd, 0, 0, PLENTY);
    assert_int_equal(count_entries(lab), 3);
    al_aside_gc(lab->git_fd, when[1], INT64_MAX, PLENTY);
    assert_int_equal(count_entries(lab), 2);
    al_aside_gc(lab->git_fd, 0, when[1], 1);
    assert_int_equal(count_entries(lab), 2); /* they are young */
    al_aside_gc(lab->git_fd, 0, when[2], 1);
    assert_int_equal(count_entries(lab), 1);
    al_aside_gc(lab->git_fd, 0, INT64_MAX, PLENTY);
    assert_int_equal(count_entries(lab), 1);
    al_aside_gc(lab->git_fd, INT64_MAX, INT64_MAX, PLENTY);
    assert_int_equal(count_entries(lab), 0);
}

static void test_follows_no_link(void **state)
{
    struct lab *lab = *state;
    struct al_aside_entry entry = AL_ASIDE_ENTRY_INIT;

    assert_int_equal(symlinkat("../tree", lab->git_fd, "airlock"), 0);
    assert_int_equal(al_aside_begin(lab->git_fd, NULL, -1, &entry, NULL), AL_ERR_EXECUTION);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_comes_back, setup, teardown),
        cmocka_unit_test_setup_teardown(test_comes_back_from_beside, setup, teardown),
        cmocka_unit_test_setup_teardown(test_hidden_folder_is_ignored_and_its_own, setup, teardown),
        cmocka_unit_test_setup_teardown(test_plain_file_system, setup, teardown),
        cmocka_unit_test_setup_teardown(test_folder_is_gone_at_once, setup, teardown),
        cmocka_unit_test_setup_teardown(test_power_failure, setup, teardown),
        cmocka_unit_test_setup_teardown(test_something_in_the_way, setup, teardown),
        cmocka_unit_test_setup_teardown(test_fails_on_the_way_back, setup, teardown),
        cmocka_unit_test_setup_teardown(test_fails_on_the_way_there, setup, teardown),
        cmocka_unit_test_setup_teardown(test_killed, setup, teardown),
        cmocka_unit_test_setup_teardown(test_killed_and_in_the_way, setup, teardown),
        cmocka_unit_test_setup_teardown(test_killed_and_one_in_the_way, setup, teardown),
        cmocka_unit_test_setup_teardown(test_forged, setup, teardown),
        cmocka_unit_test_setup_teardown(test_gc, setup, teardown),
        cmocka_unit_test_setup_teardown(test_follows_no_link, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
