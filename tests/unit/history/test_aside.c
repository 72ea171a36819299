// SPDX-License-Identifier: Apache-2.0
/* history/aside.h: what is moved aside comes back as it was, and a process that is killed leaves
 * every thing whole at one of two places.  renameat2(2) is this file's own. */
#include "history/aside.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guard/gitdir.h"
#include "tests/lib/assert.h"
#include "tests/lib/tmpdir.h"
#include "util/fs.h"

static int fail_at, fail_with; /* which rename fails, from 1; 0: none */
static bool is_far;            /* the aside folder is on another file system */
static int kill_at;            /* the rename before which the process dies; 0: none */

int __real_renameat2(int from_fd, const char *from, int to_fd, const char *to, unsigned flags);
int __wrap_renameat2(int from_fd, const char *from, int to_fd, const char *to, unsigned flags);

static bool is_in_base(int fd)
{
    al_auto(al_freep) char *path = al_fs_fd_path(fd);

    return path && strstr(path, "/airlock/aside/");
}

int __wrap_renameat2(int from_fd, const char *from, int to_fd, const char *to, unsigned flags)
{
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
    is_far = false;
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
    const struct al_aside_about about = {
        .why = "test", .name = "x\ny", .note = "", .beside_fd = -1, .is_one = true
    };

    assert_int_equal(al_aside_begin(lab->git_fd, &about, entry, NULL), 0);
}

/* Everything of the tree. */
static int move_all(const struct lab *lab, struct al_aside_entry *entry)
{
    int r = al_aside_move(entry, lab->tree_fd, "a", NULL, NULL);

    return r < 0 ? r : al_aside_move(entry, lab->tree_fd, "b\n ", NULL, NULL);
}

static size_t count_entries(const struct lab *lab)
{
    size_t count;

    free(al_aside_list(lab->git_fd, &count));
    return count;
}

static void tidy(const struct lab *lab)
{
    al_auto(al_strv_clear) struct al_strv below = AL_STRV_INIT;

    al_strv_take(&below, tmpdir_path(lab->dir, "tree"));
    al_aside_tidy(lab->git_fd, &below, NULL);
}

/* The only entry, as another process finds it. */
static void load_only(const struct lab *lab, struct al_aside_entry *entry)
{
    size_t count;
    al_auto(al_freep) unsigned long *seqs = al_aside_list(lab->git_fd, &count);

    assert_int_equal(count, 1);
    assert_int_equal(al_aside_load(lab->git_fd, seqs[0], entry), 0);
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
    assert_string_equal(entry.why, "test");
    assert_string_equal(entry.name, "x\ny");
    assert_int_equal(entry.count, 2);
    assert_true(al_ends_with(entry.items[1].path, "/tree/b\n "));
    assert_true(al_aside_has(&entry, 0) && al_aside_has(&entry, 1));
    assert_true(al_aside_bytes(&entry) >= 4096);
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
    assert_false(al_aside_has(&entry, 0));
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
    assert_true(al_aside_has(&entry, 0) && al_aside_has(&entry, 1) && entry.is_whole);
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
    assert_true(entry.is_whole && al_aside_has(&entry, 0) && al_aside_has(&entry, 1));
    al_aside_entry_clear(&entry);
}

static void test_killed_and_one_in_the_way(void **state)
{
    struct lab *lab = *state;
    struct al_aside_entry entry = AL_ASIDE_ENTRY_INIT;
    const struct al_aside_about about = { .beside_fd = -1 };

    assert_int_equal(al_aside_begin(lab->git_fd, &about, &entry, NULL), 0);
    assert_int_equal(move_all(lab, &entry), 0);
    al_aside_entry_clear(&entry);
    assert_int_equal(mkdirat(lab->tree_fd, "a", 0700), 0);
    tidy(lab);
    load_only(lab, &entry);
    assert_true(entry.is_whole && al_aside_has(&entry, 0) && !al_aside_has(&entry, 1));
    assert_int_equal(faccessat(lab->tree_fd, "b\n ", F_OK, 0), 0);
    al_aside_entry_clear(&entry);
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

        al_str_addf(&text, "why 1 x\ndevice 1 1\nitem %zu %s\n", strlen(path), path);
        tmpdir_write(lab->dir, "git/airlock/aside/1/record", text.buf);
        tmpdir_write(lab->dir, "git/airlock/aside/1/0", "planted");
        tidy(lab);
        planted = tmpdir_read(lab->dir, is_control ? "tree/x" : "else/x");
        assert_int_equal(planted != NULL, is_control);
    }
    tmpdir_write(lab->dir, "git/airlock/aside/1/record", "item 6 else/x\n");
    tidy(lab);
}

static void move_one(struct lab *lab, const char *name, int64_t *ret_when)
{
    struct al_aside_entry entry = AL_ASIDE_ENTRY_INIT;

    tmpdir_write(lab->dir, "tree/one", "one");
    begin(lab, &entry);
    assert_int_equal(al_aside_move(&entry, lab->tree_fd, name, NULL, NULL), 0);
    assert_int_equal(al_aside_end(&entry, NULL), 0);
    *ret_when = entry.when_ns;
    al_aside_entry_clear(&entry);
}

static void test_gc(void **state)
{
    struct lab *lab = *state;
    int64_t when[3];
    uint64_t all;

    for (size_t i = 0; i < AL_COUNT(when); i++)
        move_one(lab, "one", &when[i]);
    all = al_aside_gc(lab->git_fd, 0, 0, UINT64_MAX);
    assert_int_equal(count_entries(lab), 3);
    assert_true(al_aside_gc(lab->git_fd, when[1], INT64_MAX, UINT64_MAX) < all);
    assert_int_equal(count_entries(lab), 2);
    (void)al_aside_gc(lab->git_fd, 0, when[1], all / 2);
    assert_int_equal(count_entries(lab), 2); /* they are young */
    (void)al_aside_gc(lab->git_fd, 0, INT64_MAX, all / 2);
    assert_int_equal(count_entries(lab), 1);
    assert_int_equal(al_aside_gc(lab->git_fd, INT64_MAX, INT64_MAX, UINT64_MAX), 0);
    assert_int_equal(count_entries(lab), 0);
}

static void test_follows_no_link(void **state)
{
    struct lab *lab = *state;
    struct al_aside_entry entry = AL_ASIDE_ENTRY_INIT;
    const struct al_aside_about about = { .beside_fd = -1 };

    assert_int_equal(symlinkat("../tree", lab->git_fd, "airlock"), 0);
    assert_int_equal(al_aside_begin(lab->git_fd, &about, &entry, NULL), AL_ERR_EXECUTION);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_comes_back, setup, teardown),
        cmocka_unit_test_setup_teardown(test_comes_back_from_beside, setup, teardown),
        cmocka_unit_test_setup_teardown(test_hidden_folder_is_ignored_and_its_own, setup, teardown),
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
