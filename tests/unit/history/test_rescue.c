// SPDX-License-Identifier: Apache-2.0
/* Files that a watched program takes out of a working tree: dropped if known, else kept. */
#include "history/rescue.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "git/oid.h"
#include "history/store.h"
#include "proc/proc.h"
#include "tests/lib/assert.h"

static char *top, *git_dir;
static struct al_location at;
static struct al_store store;

static void put(const char *name, const char *text)
{
    al_auto(al_freep) char *path = al_fs_join(top, name);
    al_auto(al_closep) int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

    assert_int_equal(al_write_all(fd, text, strlen(text)), 0);
}

static void assert_text(const char *path, const char *text)
{
    al_auto(al_str_clear) struct al_str got = AL_STR_INIT;
    al_auto(al_freep) char *whole = al_fs_join(top, path);

    assert_int_equal(al_fs_read(AT_FDCWD, whole, 4096, &got), 0);
    assert_string_equal(got.buf, text);
}

static bool exists(const char *name)
{
    al_auto(al_freep) char *path = al_fs_join(top, name);

    return access(path, F_OK) == 0;
}

/* The store has what reads "known". */
int __wrap_al_store_has_blobs(struct al_store *store, const struct al_oid *oids, size_t count,
                              bool *ret_has, struct al_error *err);

int __wrap_al_store_has_blobs(struct al_store *any, const struct al_oid *oids, size_t count,
                              bool *ret_has, struct al_error *err)
{
    struct al_oid known;

    (void)any;
    (void)err;
    al_oid_of(false, AL_OBJECT_BLOB, "known", 5, &known);
    for (size_t i = 0; i < count; i++)
        ret_has[i] = al_oid_equal(&oids[i], &known);
    return 0;
}

/* Run a shell script under a watch; what stays aside goes to `ret_kept`. */
static void run(const char *script, struct al_strv *ret_kept)
{
    const struct al_confinement none = { .ruleset_fd = 0 };
    const char *argv[] = { "sh", "-c", script, NULL }, *envp[] = { "PATH=/usr/bin:/bin", NULL };
    struct al_rescue *rescue = NULL;
    struct al_proc_result result;

    assert_int_equal(al_rescue_begin(&at, false, &rescue, NULL), 0);
    assert_int_equal(al_proc_run(&(struct al_proc_spec){ .program = "/bin/sh",
                                                         .argv = argv,
                                                         .envp = envp,
                                                         .cwd_fd = at.dir_fd,
                                                         .sandbox = &none,
                                                         .watch = al_rescue_watch(rescue),
                                                         .timeout_ms = 20000 },
                                 &result, NULL),
                     0);
    assert_int_equal(result.exit_code, 0);
    assert_int_equal(al_rescue_end(rescue, &store, ret_kept, NULL), 0);
    al_rescue_free(rescue);
}

/* "<name>: <place>" */
static const char *place_of(const char *kept)
{
    return strstr(kept, ": ") + 2;
}

static void assert_kept(const char *script, const char *name, const char *text)
{
    al_auto(al_strv_clear) struct al_strv kept = AL_STRV_INIT;

    run(script, &kept);
    assert_int_equal(kept.count, name != NULL);
    if (name) {
        assert_true(al_starts_with(kept.items[0], name));
        assert_text(place_of(kept.items[0]), text);
    }
}

static void removes(void **state)
{
    (void)state;
    put("a", "known");
    assert_kept("rm a", NULL, NULL);
    assert_false(exists("a"));
    put("a", "new");
    assert_kept("rm a", "a", "new");
    assert_false(exists("a"));
    put("d/a", "new");
    assert_kept("cd d && rm a", "d/a", "new");
    put("d/a", "new");
    assert_kept("rm \"$PWD/d/a\"", "d/a", "new");
}

static void renames_over(void **state)
{
    (void)state;
    put("a", "old");
    put("b", "new");
    assert_kept("mv b a", "a", "old");
    assert_text("a", "new");
    assert_false(exists("b"));
    put("b", "known");
    assert_kept("mv a b", NULL, NULL);
    assert_text("b", "new");
    assert_kept("mv b c", NULL, NULL); /* onto nothing */
    assert_text("c", "new");
}

static void truncates(void **state)
{
    struct stat st;
    al_auto(al_freep) char *path = al_fs_join(top, "a");

    (void)state;
    put("a", "old");
    assert_int_equal(chmod(path, 0750), 0);
    assert_kept("printf new > a", "a", "old");
    assert_text("a", "new");
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0750);
    assert_kept("printf x > made && printf y >> made", NULL, NULL);
    assert_text("made", "xy");
}

static void leaves_the_git_directory(void **state)
{
    (void)state;
    put(".git/lock", "anything");
    assert_kept("rm .git/lock", NULL, NULL);
    assert_false(exists(".git/lock"));
}

static void keeps_what_is_no_file(void **state)
{
    al_auto(al_strv_clear) struct al_strv kept = AL_STRV_INIT;

    (void)state;
    run("mkfifo pipe && ln -s somewhere link && rm pipe link", &kept);
    assert_int_equal(kept.count, 2);
}

/* Somebody writes into a file that the store has, and goes on when it is gone. */
static void keeps_what_is_open(void **state)
{
    al_auto(al_strv_clear) struct al_strv kept = AL_STRV_INIT;
    al_auto(al_freep) char *path = al_fs_join(top, "a");
    al_auto(al_closep) int fd = -1;
    char *remark;

    (void)state;
    put("a", "known");
    fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    run("rm a", &kept);
    assert_int_equal(kept.count, 1);
    remark = strstr(kept.items[0], " (still being written)");
    assert_non_null(remark);
    *remark = '\0';
    assert_int_equal(al_write_all(fd, " more", 5), 0);
    assert_text(place_of(kept.items[0]), "known more");
}

/* In the place of a file that was just removed, somebody has saved another one. */
static void takes_a_newcomer(void **state)
{
    struct al_rescue *rescue = NULL;
    al_auto(al_strv_clear) struct al_strv kept = AL_STRV_INIT;
    struct al_watch_answer answer = { .is_done = false };
    al_auto(al_freep) char *path = al_fs_join(top, "a");
    const struct al_watch *watch;

    (void)state;
    put("a", "known");
    assert_int_equal(al_rescue_begin(&at, false, &rescue, NULL), 0);
    watch = al_rescue_watch(rescue);
    watch->decide(watch->payload, &(struct al_watch_event){ .kind = AL_WATCH_REMOVE, .path = path },
                  &answer);
    assert_true(answer.is_done);
    put("a", "saved");
    answer = (struct al_watch_answer){ .is_done = false };
    watch->decide(watch->payload,
                  &(struct al_watch_event){ .kind = AL_WATCH_CREATE,
                                            .path = path,
                                            .flags = O_WRONLY | O_CREAT | O_EXCL,
                                            .mode = 0644 },
                  &answer);
    assert_true(answer.fd > 0);
    watch->given(watch->payload, getpid(), -1);
    assert_int_equal(al_rescue_end(rescue, &store, &kept, NULL), 0);
    assert_int_equal(kept.count, 1);
    assert_text(place_of(kept.items[0]), "saved");
    assert_text("a", "");
    al_rescue_free(rescue);
}

static int set_up(void **state)
{
    char pattern[] = "/tmp/airlock-rescue-XXXXXX";

    (void)state;
    top = al_strdup(mkdtemp(pattern));
    git_dir = al_fs_join(top, ".git");
    assert_int_equal(mkdir(git_dir, 0700), 0);
    at = AL_LOCATION_INIT;
    at.is_own = true; /* all its directories are `dir_fd` */
    at.dir = at.top = top;
    at.git_dir = at.common_dir = git_dir;
    at.dir_fd = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(at.dir_fd >= 0);
    assert_int_equal(mkdirat(at.dir_fd, "d", 0755), 0);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    al_fs_remove_tree(top);
    al_close(at.dir_fd);
    free(top);
    free(git_dir);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(removes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(renames_over, set_up, tear_down),
        cmocka_unit_test_setup_teardown(truncates, set_up, tear_down),
        cmocka_unit_test_setup_teardown(leaves_the_git_directory, set_up, tear_down),
        cmocka_unit_test_setup_teardown(keeps_what_is_no_file, set_up, tear_down),
        cmocka_unit_test_setup_teardown(keeps_what_is_open, set_up, tear_down),
        cmocka_unit_test_setup_teardown(takes_a_newcomer, set_up, tear_down),
    };

    if (al_proc_init(NULL, NULL) < 0)
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
