// SPDX-License-Identifier: Apache-2.0
/* A rollback's locks: git's are never touched, and those that a killed rollback left are
 * recognised.
 */
#include "history/rollback_private.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "git/git_lock.h"
#include "tests/lib/assert.h"
#include "tests/lib/tmpdir.h"

static int setup(void **state)
{
    *state = tmpdir_new();
    return 0;
}

static int teardown(void **state)
{
    tmpdir_free(*state);
    return 0;
}

#define LOCK_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

#define TOKEN           "0123456789abcdef"

static bool is_there(const struct tmpdir *dir, const char *name)
{
    return faccessat(dir->fd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Whether a rollback that does not live any more left it. */
static bool is_left(const struct tmpdir *dir, const char *name, char token[AL_LOCK_TOKEN])
{
    struct al_lockfile lock = AL_LOCKFILE_INIT;
    bool is = al_lockfile_take_over(&lock, dir->fd, name, token);

    al_lockfile_leave(&lock);
    return is;
}

static void is_taken_once(void **state)
{
    const struct tmpdir *dir = *state;
    struct al_lockfile one = AL_LOCKFILE_INIT, two = AL_LOCKFILE_INIT;
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;

    assert_int_equal(al_lockfile_acquire(&one, dir->fd, "index.lock", TOKEN, &err), 0);
    assert_int_equal(al_lockfile_acquire(&two, dir->fd, "index.lock", TOKEN, &err),
                     AL_ERR_EXECUTION);
    assert_int_equal(err.code, AL_CODE_LOCK_TIMEOUT);
    al_lockfile_release(&two); /* this one was never held */
    assert_true(is_there(dir, "index.lock"));
    al_lockfile_release(&one);
    assert_false(is_there(dir, "index.lock"));
    assert_int_equal(al_lockfile_acquire(&two, dir->fd, "index.lock", TOKEN, &err), 0);
    al_lockfile_release(&two);
}

static void knows_what_a_rollback_left(void **state)
{
    const struct tmpdir *dir = *state;
    struct al_lockfile lock = AL_LOCKFILE_INIT;
    char token[AL_LOCK_TOKEN] = "";

    assert_int_equal(al_lockfile_acquire(&lock, dir->fd, "index.lock", TOKEN, NULL), 0);
    al_lockfile_leave(&lock); /* as if killed */
    assert_true(is_left(dir, "index.lock", token));
    assert_string_equal(token, TOKEN);
    assert_true(is_there(dir, "index.lock")); /* looking at a lock does not remove it */
}

/* Another one may have another state directory. */
static void leaves_that_of_a_living_rollback_alone(void **state)
{
    const struct tmpdir *dir = *state;
    struct al_lockfile lock = AL_LOCKFILE_INIT, other = AL_LOCKFILE_INIT;
    char token[AL_LOCK_TOKEN] = "";

    assert_int_equal(al_lockfile_acquire(&lock, dir->fd, "config.lock", TOKEN, NULL), 0);
    assert_false(is_left(dir, "config.lock", token));
    assert_true(is_there(dir, "config.lock"));
    assert_false(al_lockfile_take_over(&other, dir->fd, "config.lock", token));
    al_lockfile_leave(&lock);
    assert_true(al_lockfile_take_over(&other, dir->fd, "config.lock", token));
    assert_false(is_left(dir, "config.lock", token));
    al_lockfile_release(&other);
    assert_false(is_there(dir, "config.lock"));
}

/* However long a rollback takes, its lock is no stale one. */
static void is_not_stale_while_it_is_held(void **state)
{
    const struct tmpdir *dir = *state;
    struct al_location at = {
        .top = dir->path, .git_dir = dir->path, .common_dir = dir->path, .is_own = true
    };
    const struct timespec old[2] = { { .tv_sec = 1 }, { .tv_sec = 1 } };
    struct al_lockfile lock = AL_LOCKFILE_INIT;
    struct stat st;

    assert_int_equal(al_lockfile_acquire(&lock, dir->fd, "index.lock", TOKEN, NULL), 0);
    assert_int_equal(utimensat(dir->fd, "index.lock", old, 0), 0);
    assert_int_equal(fstatat(dir->fd, "index.lock", &st, AT_SYMLINK_NOFOLLOW), 0);
    assert_false(al_git_lock_is_stale(&at, &st));
    al_lockfile_leave(&lock);
    assert_true(al_git_lock_is_stale(&at, &st));
}

static void leaves_every_other_lock_alone(void **state)
{
    static const char *const texts[] = {
        "",
        "DIRC",
        "airlock rollback",
        "airlock rollback \n",
        "airlock rollback 0123456789abcde\n",
        "airlock rollback 0123456789abcdef",
        "airlock rollback 0123456789abcdef\n\n",
        "airlock rollback 0123456789abcdeg\n",
        "airlock rollback 0123456789ABCDEF\n",
        "Airlock rollback 0123456789abcdef\n",
    };
    struct tmpdir *dir = *state;
    char token[AL_LOCK_TOKEN] = "";

    for (size_t i = 0; i < COUNT(texts); i++) {
        tmpdir_write(dir, "index.lock", texts[i]);
        assert_false(is_left(dir, "index.lock", token));
        assert_true(is_there(dir, "index.lock"));
    }
    tmpdir_write(dir, "real", "airlock rollback " TOKEN "\n");
    assert_int_equal(unlinkat(dir->fd, "index.lock", 0), 0);
    assert_int_equal(symlinkat("real", dir->fd, "index.lock"), 0);
    assert_false(is_left(dir, "index.lock", token));
    assert_true(is_there(dir, "index.lock"));
    assert_false(is_left(dir, "none.lock", token));
    assert_string_equal(token, "");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        LOCK_TEST(is_taken_once),
        LOCK_TEST(knows_what_a_rollback_left),
        LOCK_TEST(leaves_that_of_a_living_rollback_alone),
        LOCK_TEST(is_not_stale_while_it_is_held),
        LOCK_TEST(leaves_every_other_lock_alone),
    };

    return cmocka_run_group_tests_name("rollback/lockfile", tests, NULL, NULL);
}
