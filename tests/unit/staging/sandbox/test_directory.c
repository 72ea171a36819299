// SPDX-License-Identifier: Apache-2.0
/* staging/sandbox/directory.c: files on the disk, where others can put what is no plain file. */
#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/unit/staging/sandbox/sandbox_lib.h"

static void assert_file(const struct box *box, const char *name, const char *expected)
{
    al_auto(al_freep) char *text = tmpdir_read(box->dir, name);

    if (expected)
        assert_string_equal(text, expected);
    else
        assert_null(text);
}

/* What a plain open() of a path in the workspace does: write "canary". */
static void write_plainly(const struct box *box, const char *name)
{
    int fd = openat(box->dir->fd, name, O_WRONLY | O_CREAT | O_TRUNC, 0666);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, "canary", 6), 6);
    (void)close(fd);
}

/* What a plain open() reads. */
static void assert_plainly(const struct box *box, const char *name, const char *expected)
{
    char text[64] = "";
    int fd = openat(box->dir->fd, name, O_RDONLY);

    assert_true(fd >= 0);
    assert_true(read(fd, text, sizeof(text) - 1) >= 0);
    assert_string_equal(text, expected);
    (void)close(fd);
}

static mode_t mode_of(const struct box *box, const char *name)
{
    struct stat st;

    assert_int_equal(fstatat(box->dir->fd, name, &st, AT_SYMLINK_NOFOLLOW), 0);
    return st.st_mode;
}

static void is_the_directory_it_names(void **state)
{
    struct box *box = *state;
    al_auto(al_freep) char *path = tmpdir_path(box->dir, "ws");

    assert_string_equal(al_sandbox_dir(box->sandbox), path);
    box_write(box, "a/b", "text");
    assert_file(box, "ws/a/b", "text");
    tmpdir_write(box->dir, "ws/of the user", "more");
    assert_content(box, "of the user", "more");
    assert_list(box, "", NULL, "a/b of the user");
}

static void keeps_its_files_for_the_next_one(void **state)
{
    struct box *box = *state;
    al_auto(al_freep) char *path = tmpdir_path(box->dir, "ws");
    struct al_error err = AL_ERROR_INIT;

    box_write(box, "a/b", "text");
    al_sandbox_free(box->sandbox);
    assert_int_equal(al_sandbox_new(&(struct al_sandbox_options){ .in_directory = true,
                                                                  .path = path,
                                                                  .max_bytes = BOX_BYTES },
                                    &box->sandbox, &err),
                     0);
    assert_content(box, "a/b", "text");
}

static void follows_no_directory_that_is_a_link(void **state)
{
    struct box *box = *state;

    tmpdir_write(box->dir, "outside/secret", "secret");
    tmpdir_symlink(box->dir, "../outside", "ws/d");
    write_plainly(box, "ws/d/control");
    assert_file(box, "outside/control", "canary");

    assert_write_fails(box, "d/f", "x", AL_ERR_SANDBOX, "is a symbolic link");
    assert_write_fails(box, "d/sub/f", "x", AL_ERR_SANDBOX, "is a symbolic link");
    assert_read_fails(box, "d/secret", AL_ERR_SANDBOX, "is a symbolic link");
    assert_remove_fails(box, "d/secret", AL_ERR_SANDBOX, "is a symbolic link");
    assert_list(
        box, "d", NULL,
        "error: '/workspace/d' is a symbolic link, which is not followed; delete it or name "
        "another file");
    assert_list(box, "", NULL, "d");
    assert_snapshot(box, "120000 d");
    assert_file(box, "outside/f", NULL);
    assert_file(box, "outside/secret", "secret");
    box_remove(box, "d");
    assert_file(box, "outside/secret", "secret");
}

static void follows_no_file_that_is_a_link(void **state)
{
    struct box *box = *state;

    tmpdir_write(box->dir, "outside/secret", "secret");
    tmpdir_symlink(box->dir, "../outside/secret", "ws/f");
    assert_plainly(box, "ws/f", "secret");

    assert_read_fails(box, "f", AL_ERR_SANDBOX, "is a symbolic link");
    assert_write_fails(box, "f", "x", AL_ERR_SANDBOX, "is a symbolic link");
    box_remove(box, "f");
    assert_file(box, "outside/secret", "secret");
    tmpdir_symlink(box->dir, "../outside/none", "ws/f");
    assert_write_fails(box, "f", "x", AL_ERR_SANDBOX, "is a symbolic link");
    assert_file(box, "outside/none", NULL);
}

static void reads_the_target_of_a_link(void **state)
{
    static const char *const none[] = { "file", "none", "file/x", "dir", "dir/x" };
    struct box *box = *state;
    al_auto(al_str_clear) struct al_str target = AL_STR_INIT;
    struct al_error err = AL_ERROR_INIT;

    tmpdir_write(box->dir, "outside/x", "");
    box_write(box, "file", "x");
    tmpdir_symlink(box->dir, "../outside/secret", "ws/l");
    tmpdir_symlink(box->dir, "x", "outside/link");
    tmpdir_symlink(box->dir, "../outside", "ws/other");
    assert_int_equal(al_sandbox_read_link(box->sandbox, "l", &target, &err), 0);
    assert_string_equal(target.buf, "../outside/secret");
    for (size_t i = 0; i < COUNT(none); i++)
        assert_failed(al_sandbox_read_link(box->sandbox, none[i], &target, &err), &err,
                      AL_ERR_NOT_FOUND, "no such file");
    assert_failed(al_sandbox_read_link(box->sandbox, "other/link", &target, &err), &err,
                  AL_ERR_SANDBOX, "is a symbolic link");
    assert_int_equal(target.len, 0);
}

static void leaves_the_other_name_of_a_file_as_it_is(void **state)
{
    struct box *box = *state;

    tmpdir_write(box->dir, "outside/a", "secret");
    tmpdir_write(box->dir, "outside/b", "secret");
    assert_int_equal(linkat(box->dir->fd, "outside/a", box->dir->fd, "ws/a", 0), 0);
    assert_int_equal(linkat(box->dir->fd, "outside/b", box->dir->fd, "ws/b", 0), 0);
    write_plainly(box, "ws/a");
    assert_file(box, "outside/a", "canary");

    box_write(box, "b", "new");
    assert_file(box, "outside/b", "secret");
    assert_file(box, "ws/b", "new");
}

static void make_socket(const struct box *box, const char *name)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    assert_true(fd >= 0);
    (void)snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/%s", box->dir->fd,
                   name);
    assert_int_equal(bind(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
    (void)close(fd);
}

static void names_what_is_no_file(void **state)
{
    static const char *const names[] = { "fifo", "socket" };
    struct box *box = *state;

    assert_int_equal(mkfifoat(box->dir->fd, "ws/fifo", 0666), 0);
    make_socket(box, "ws/socket");
    for (size_t i = 0; i < COUNT(names); i++) {
        const char *words = "is no regular file but a fifo, a socket or a device";

        assert_read_fails(box, names[i], AL_ERR_EXECUTION, words);
        assert_write_fails(box, names[i], "x", AL_ERR_EXECUTION, words);
        assert_remove_fails(box, names[i], AL_ERR_EXECUTION, words);
    }
    assert_list(box, "", NULL, "");
    assert_snapshot(box, "");
    assert_true(S_ISFIFO(mode_of(box, "ws/fifo")));
}

static void leaves_git_directories_out(void **state)
{
    struct box *box = *state;

    tmpdir_write(box->dir, "ws/.git/config", "x");
    tmpdir_write(box->dir, "ws/sub/.GIT", "gitdir: elsewhere");
    tmpdir_write(box->dir, "ws/sub/.gitignore", "x");
    assert_list(box, "", NULL, "sub/.gitignore");
    assert_snapshot(box, "100644 sub/.gitignore");
}

/* Each order of creation ends with the part that would complete a git directory. */
static void makes_no_git_directory_of_another_name(void **state)
{
    static const char *const orders[][3] = {
        { "HEAD", "objects/x", "refs/heads/y" },
        { "objects/x", "refs/y", "HEAD" },
        { "refs/y", "HEAD", "objects/pack/x" },
        { "HEAD", "x", "commondir" },
    };
    struct box *box = *state;

    for (size_t i = 0; i < COUNT(orders); i++) {
        al_auto(al_freep) char *first = al_asprintf("%zu/%s", i, orders[i][0]);
        al_auto(al_freep) char *second = al_asprintf("%zu/%s", i, orders[i][1]);
        al_auto(al_freep) char *third = al_asprintf("%zu/%s", i, orders[i][2]);

        box_write(box, first, "x");
        box_write(box, second, "x");
        assert_write_fails(box, third, "x", AL_ERR_SANDBOX, "Protected path");
        assert_read_fails(box, third, AL_ERR_NOT_FOUND, "no such file");
    }
    tmpdir_write(box->dir, "ws/bare/HEAD", "x");
    tmpdir_write(box->dir, "ws/bare/objects/x", "x");
    tmpdir_write(box->dir, "ws/bare/refs/x", "x");
    assert_write_fails(box, "bare/config", "x", AL_ERR_SANDBOX, "Protected path");
    assert_write_fails(box, "bare/hooks/post-update", "x", AL_ERR_SANDBOX, "Protected path");
    assert_int_equal(faccessat(box->dir->fd, "ws/bare/hooks", F_OK, 0), -1);
}

static void keeps_permissions(void **state)
{
    struct box *box = *state;

    tmpdir_write(box->dir, "ws/run", "x");
    assert_int_equal(fchmodat(box->dir->fd, "ws/run", 0700, 0), 0);
    box_write(box, "run", "y");
    assert_int_equal(mode_of(box, "ws/run") & 07777, 0700);
    assert_snapshot(box, "100755 run");
}

static void leaves_no_file_beside(void **state)
{
    struct box *box = *state;
    struct store store = { .reads = 0 };
    struct al_error err = AL_ERROR_INIT;

    box_write(box, "a", "x");
    box_write(box, "a", "y");
    assert_int_equal(box_import(box, &store, "b", AL_SANDBOX_MODE_LINK, 3, &err), 0);
    assert_int_equal(box_import(box, &store, "b", AL_SANDBOX_MODE_LINK, 3, &err), 0);
    assert_list(box, "", NULL, "a b");
}

static void leaves_no_directory_of_a_write_that_fails(void **state)
{
    struct box *box = *state;
    char name[300];

    memset(name, 'x', sizeof(name));
    memcpy(name, "new/dir/", 8);
    name[sizeof(name) - 1] = '\0';
    assert_write_fails(box, name, "y", AL_ERR_EXECUTION, "File name too long");
    assert_int_equal(faccessat(box->dir->fd, "ws/new", F_OK, 0), -1);
}

static void reports_a_workspace_that_was_removed(void **state)
{
    struct box *box = *state;

    box_write(box, "a", "x");
    assert_int_equal(unlinkat(box->dir->fd, "ws/a", 0), 0);
    assert_int_equal(unlinkat(box->dir->fd, "ws", AT_REMOVEDIR), 0);
    assert_write_fails(box, "a", "x", AL_ERR_EXECUTION, "was removed");
    assert_write_fails(box, "d/a", "x", AL_ERR_EXECUTION, "was removed");
}

/* The number of a process that has ended. */
static pid_t ended_process(void)
{
    const pid_t pid = fork();

    if (pid == 0)
        _exit(0);
    assert_true(pid > 0);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    return pid;
}

/* As if it was last written two minutes ago. */
static void make_old(const struct box *box, const char *name)
{
    const struct timespec past = { .tv_sec = time(NULL) - 120 }, times[] = { past, past };

    assert_int_equal(utimensat(box->dir->fd, name, times, 0), 0);
}

static void write_long_ago(const struct box *box, const char *name)
{
    write_plainly(box, name);
    make_old(box, name);
}

static void sweeps_what_killed_processes_left(void **state)
{
    struct box *box = *state;
    const long dead = (long)ended_process(), alive = (long)getpid();
    al_auto(al_freep) char *left = al_asprintf("ws/d/.airlock-%ld-0", dead);
    al_auto(al_freep) char *link = al_asprintf("ws/d/.airlock-%ld-4", dead);
    al_auto(al_freep) char *young = al_asprintf("ws/.airlock-%ld-1", dead);
    al_auto(al_freep) char *used = al_asprintf("ws/.airlock-%ld-2", alive);
    al_auto(al_freep) char *other = al_asprintf("ws/.airlock-%ld-x", dead);
    al_auto(al_freep) char *list = al_asprintf("%s d/a", other + strlen("ws/"));
    al_auto(al_freep) char *dir = al_asprintf("ws/.airlock-%ld-3", dead);
    al_auto(al_freep) char *file = al_asprintf("%s/a", dir);

    box_write(box, "d/a", "text");
    write_long_ago(box, left);
    write_long_ago(box, link);
    write_long_ago(box, used);
    write_long_ago(box, other);
    write_plainly(box, young);
    tmpdir_mkdir(box->dir, dir);
    assert_list(box, "", NULL, list);
    assert_file(box, left, NULL);
    assert_file(box, link, NULL);
    assert_file(box, young, "canary");
    assert_file(box, used, "canary");
    assert_file(box, other, "canary");
    assert_true(S_ISDIR(mode_of(box, dir)));
    write_long_ago(box, young);
    assert_list(box, "", NULL, list);
    assert_file(box, young, NULL);
    write_plainly(box, file);
    make_old(box, dir);
    assert_list(box, "", NULL, list);
    assert_file(box, file, "canary"); /* nobody makes directories of this name */
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, setup_directory, box_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(is_the_directory_it_names),
        TEST(keeps_its_files_for_the_next_one),
        TEST(follows_no_directory_that_is_a_link),
        TEST(follows_no_file_that_is_a_link),
        TEST(reads_the_target_of_a_link),
        TEST(leaves_the_other_name_of_a_file_as_it_is),
        TEST(names_what_is_no_file),
        TEST(leaves_git_directories_out),
        TEST(makes_no_git_directory_of_another_name),
        TEST(keeps_permissions),
        TEST(leaves_no_file_beside),
        TEST(sweeps_what_killed_processes_left),
        TEST(leaves_no_directory_of_a_write_that_fails),
        TEST(reports_a_workspace_that_was_removed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
