// SPDX-License-Identifier: Apache-2.0
/* history/chain.c: concurrent writers lose no line, and the log stays valid when one dies. */
#include "history/journal_private.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fs.h"
#include "tests/unit/history/fixture.h"

extern char **environ;

#define WRITERS    4
#define LINES_EACH 50

/* The errno that flock(2) sets; 0: it works. */
static int no_locks;

int __real_flock(int fd, int operation);
int __wrap_flock(int fd, int operation);

int __wrap_flock(int fd, int operation)
{
    if (!no_locks || operation == LOCK_UN)
        return __real_flock(fd, operation);
    errno = no_locks;
    return -1;
}

/* The program of the other processes: "writer DIRECTORY". */
static int be_a_writer(char *path)
{
    struct tmpdir dir = { .path = path, .fd = -1 };
    struct al_journal *journal = NULL;
    al_auto(al_freep) char *file = tmpdir_path(&dir, "tool_log.jsonl");

    if (al_journal_open(file, &journal, NULL) < 0)
        return 1;
    for (int i = 0; i < LINES_EACH; i++)
        if (journal_add(journal, "writer") < 0)
            return 1;
    al_journal_free(journal);
    return 0;
}

static void loses_no_line_of_several_processes(void **state)
{
    struct tmpdir *dir = *state;
    char self[] = "/proc/self/exe", role[] = "writer";
    char *argv[] = { self, role, dir->path, NULL };
    pid_t pids[WRITERS];

    /* None of them finds a journal, so they also have to agree on a key. */
    for (int i = 0; i < WRITERS; i++)
        assert_int_equal(posix_spawn(&pids[i], self, NULL, NULL, argv, environ), 0);
    for (int i = 0; i < WRITERS; i++) {
        int status;

        assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
        assert_int_equal(status, 0);
    }
    assert_intact(dir, WRITERS * LINES_EACH);
}

static void writes_and_reads_nothing_without_a_lock(void **state)
{
    static const int errors[] = { ENOLCK, EIO, EBADF };
    const struct tmpdir *dir = *state;
    struct al_journal *journal = journal_open(dir);
    al_auto(al_freep) char *file = tmpdir_path(dir, "tool_log.jsonl");

    assert_int_equal(journal_add(journal, "before"), 0);
    for (size_t i = 0; i < COUNT(errors); i++) {
        al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;
        struct al_verdict verdict = { .lines = 0 };
        struct al_record *record = NULL;

        assert_int_equal(journal_begin(journal, "during", NULL, &record, NULL), 0);
        no_locks = errors[i];
        assert_int_equal(al_record_close(record, &(struct al_record_end){ .status = AL_OK }),
                         AL_ERR_EXECUTION);
        assert_int_equal(al_journal_verify(file, &verdict, &why), AL_ERR_EXECUTION);
        no_locks = 0;
        assert_intact(dir, 1);
    }
    assert_int_equal(journal_add(journal, "after"), 0);
    assert_intact(dir, 2);
    al_journal_free(journal);
    journal_fill(dir, 0); /* the calls without a line get one when locks work again */
    assert_intact(dir, 2 + COUNT(errors));
}

static void *write_in_a_thread(void *journal)
{
    intptr_t failures = 0;

    for (int i = 0; i < LINES_EACH; i++)
        failures += journal_add(journal, "thread") < 0;
    return (void *)failures;
}

static void loses_no_line_of_several_threads(void **state)
{
    const struct tmpdir *dir = *state;
    struct al_journal *journal = journal_open(dir);
    pthread_t threads[WRITERS];

    for (int i = 0; i < WRITERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, write_in_a_thread, journal), 0);
    for (int i = 0; i < WRITERS; i++) {
        void *failures;

        assert_int_equal(pthread_join(threads[i], &failures), 0);
        assert_null(failures);
    }
    al_journal_free(journal);
    assert_intact(dir, WRITERS * LINES_EACH);
}

static void goes_on_where_an_earlier_server_stopped(void **state)
{
    const struct tmpdir *dir = *state;

    journal_fill(dir, 2);
    journal_fill(dir, 3);
    assert_intact(dir, 5);
}

static void goes_on_after_the_lines_of_another_that_runs(void **state)
{
    const struct tmpdir *dir = *state;
    struct al_journal *one = journal_open(dir), *two = journal_open(dir);

    for (int i = 0; i < 3; i++) {
        assert_int_equal(journal_add(one, "one"), 0);
        assert_int_equal(journal_add(one, "one"), 0);
        assert_int_equal(journal_add(two, "two"), 0);
    }
    al_journal_free(one);
    al_journal_free(two);
    assert_intact(dir, 9);
}

/* Set the soft limit for file sizes, to simulate a full disk. */
static void limit_files(rlim_t bytes)
{
    struct rlimit limit;

    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static size_t log_size(const struct tmpdir *dir)
{
    al_auto(al_freep) char *text = journal_text(dir);

    return strlen(text);
}

static void leaves_no_part_of_a_line_when_the_disk_is_full(void **state)
{
    const struct tmpdir *dir = *state;
    struct al_journal *journal = journal_open(dir);
    size_t first, line;

    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(journal_add(journal, "tool"), 0);
    first = log_size(dir);
    assert_int_equal(journal_add(journal, "tool"), 0);
    line = log_size(dir) - first; /* duration and numbers always have the same number of digits */
    const size_t rooms[] = { 0, 1, line / 2, line - 1 };
    for (size_t i = 0; i < COUNT(rooms); i++) {
        size_t size = log_size(dir);
        int r;

        limit_files(size + rooms[i]);
        r = journal_add(journal, "tool");
        limit_files(RLIM_INFINITY);
        assert_int_equal(r, AL_ERR_EXECUTION);
        assert_int_equal(log_size(dir), size);
        assert_int_equal(journal_open_count(dir, false), i + 1); /* the missing line is noticed */
        assert_intact(dir, 2);
    }
    limit_files(log_size(dir) + line);
    assert_int_equal(journal_add(journal, "tool"), 0);
    limit_files(RLIM_INFINITY);
    assert_int_equal(journal_add(journal, "tool"), 0);
    al_journal_free(journal);
    assert_intact(dir, 4);
}

static void refuses_to_write_where_nobody_reads(void **state)
{
    const struct tmpdir *dir = *state;
    struct al_journal *journal = journal_open(dir);
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    const struct al_record_end end = { .decision = "auto", .decided_by = "policy" };
    struct al_record *begun = NULL;

    assert_int_equal(journal_add(journal, "tool"), 0);
    assert_int_equal(journal_begin(journal, "tool", NULL, &begun, &err), 0);
    assert_int_equal(al_journal_check(journal, &err), 0);
    assert_int_equal(unlinkat(dir->fd, "tool_log.jsonl", 0), 0);
    assert_int_equal(al_journal_check(journal, &err), AL_ERR_EXECUTION);
    assert_non_null(strstr(err.message, "was removed; start airlock again"));
    assert_int_equal(al_record_close(begun, &end), AL_ERR_EXECUTION);
    al_journal_free(journal);
}

static void assert_cannot_open(const struct tmpdir *dir, const char *name)
{
    al_auto(al_freep) char *file = tmpdir_path(dir, name);
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    struct al_journal *journal = NULL;

    assert_int_equal(al_journal_open(file, &journal, &err), AL_ERR_EXECUTION);
    assert_null(journal);
    assert_non_null(err.message);
}

static void refuses_places_that_are_not_its_own(void **state)
{
    struct tmpdir *dir = *state;
    struct al_journal *journal = NULL;

    assert_int_equal(al_journal_open("relative.jsonl", &journal, NULL), AL_ERR_EXECUTION);
    tmpdir_mkdir(dir, "folder.jsonl");
    assert_cannot_open(dir, "folder.jsonl");
    tmpdir_write(dir, "target", "");
    tmpdir_symlink(dir, "target", "link.jsonl");
    assert_cannot_open(dir, "link.jsonl");
    assert_int_equal(mkfifoat(dir->fd, "fifo.jsonl", 0600), 0);
    assert_cannot_open(dir, "fifo.jsonl");
    tmpdir_symlink(dir, "target", "head.head");
    assert_cannot_open(dir, "head.jsonl");
    tmpdir_write(dir, "below", "");
    assert_cannot_open(dir, "below/log.jsonl");
}

static void takes_no_key_of_another_size(void **state)
{
    struct tmpdir *dir = *state;

    for (size_t len = 31; len <= 33; len++) {
        al_auto(al_freep) char *file = tmpdir_path(dir, "log.jsonl");
        struct al_journal *journal = NULL;

        tmpdir_write_bytes(dir, "log.key", "0123456789abcdef0123456789abcdefg", len);
        assert_int_equal(al_journal_open(file, &journal, NULL), len == 32 ? 0 : AL_ERR_EXECUTION);
        al_journal_free(journal);
    }
}

static void creates_its_files_for_their_owner_alone(void **state)
{
    static const char *const files[] = { "new/deep/log", "new/deep/log.key", "new/deep/log.head" };
    const struct tmpdir *dir = *state;
    al_auto(al_freep) char *file = tmpdir_path(dir, "new/deep/log");
    struct al_journal *journal = NULL;
    struct stat st;

    assert_int_equal(al_journal_open(file, &journal, NULL), 0);
    al_journal_free(journal);
    for (size_t i = 0; i < COUNT(files); i++) {
        assert_int_equal(fstatat(dir->fd, files[i], &st, 0), 0);
        assert_int_equal(st.st_mode, S_IFREG | 0600);
    }
    assert_int_equal(fstatat(dir->fd, "new", &st, 0), 0);
    assert_int_equal(st.st_mode, S_IFDIR | 0700);
}

/* Make the kernel update the file's access time at the next read. */
static void age(const struct tmpdir *dir, const char *name)
{
    const struct timespec times[2] = { { .tv_sec = 1000 }, { .tv_nsec = UTIME_NOW } };

    assert_int_equal(utimensat(dir->fd, name, times, 0), 0);
}

static bool is_aged(const struct tmpdir *dir, const char *name)
{
    struct stat st;

    assert_int_equal(fstatat(dir->fd, name, &st, 0), 0);
    return st.st_atim.tv_sec == 1000;
}

static void does_not_note_when_the_head_was_read(void **state)
{
    struct tmpdir *dir = *state;
    struct al_journal *journal = journal_open(dir);
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    tmpdir_write(dir, "control", "x");
    age(dir, "control");
    assert_int_equal(al_fs_read(dir->fd, "control", 1, &text), 0);
    assert_int_equal(journal_add(journal, "tool"), 0);
    age(dir, "tool_log.head");
    assert_int_equal(journal_add(journal, "tool"), 0);
    assert_true(is_aged(dir, "tool_log.head"));
    al_journal_free(journal);
    if (is_aged(dir, "control")) /* this file system is mounted without access times */
        skip();
}

/* O_NOATIME fails for a file of another user. */
static void writes_a_head_of_another_user(void **state)
{
    struct tmpdir *dir = *state;
    int fd, r, error;

    tmpdir_write(dir, "tool_log.head", "");
    assert_int_equal(fchmodat(dir->fd, "tool_log.head", 0666, 0), 0);
    if (geteuid() != 0 || fchown(dir->fd, 65534, 65534) < 0 || seteuid(65534) < 0)
        skip(); /* not root, or a user namespace without other users */
    fd = openat(dir->fd, "tool_log.head", O_RDWR | O_CLOEXEC);
    r = fcntl(fd, F_SETFL, O_NOATIME);
    error = errno;
    al_close(fd);
    journal_fill(dir, 2);
    if (seteuid(0) < 0)
        abort();
    assert_true(fd >= 0 && r < 0 && error == EPERM);
    assert_intact(dir, 2);
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        JOURNAL_TEST(loses_no_line_of_several_processes),
        JOURNAL_TEST(loses_no_line_of_several_threads),
        JOURNAL_TEST(writes_and_reads_nothing_without_a_lock),
        JOURNAL_TEST(goes_on_where_an_earlier_server_stopped),
        JOURNAL_TEST(goes_on_after_the_lines_of_another_that_runs),
        JOURNAL_TEST(leaves_no_part_of_a_line_when_the_disk_is_full),
        JOURNAL_TEST(refuses_to_write_where_nobody_reads),
        JOURNAL_TEST(refuses_places_that_are_not_its_own),
        JOURNAL_TEST(takes_no_key_of_another_size),
        JOURNAL_TEST(creates_its_files_for_their_owner_alone),
        JOURNAL_TEST(does_not_note_when_the_head_was_read),
        JOURNAL_TEST(writes_a_head_of_another_user),
    };

    if (argc == 3 && !strcmp(argv[1], "writer"))
        return be_a_writer(argv[2]);
    return cmocka_run_group_tests_name("journal/chain", tests, NULL, NULL);
}
