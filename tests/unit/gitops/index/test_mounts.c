// SPDX-License-Identifier: Apache-2.0
/* gitops/index/mounts.h: what is mounted below a directory is known, also when it changes. */
#include "gitops/index/mounts.h"

#include <sched.h>
#include <stdio.h>
#include <sys/mount.h>

#include "tests/lib/assert.h"
#include "tests/lib/tmpdir.h"
#include "util/mem.h"
#include "util/str.h"
#include <unistd.h>

static bool has_own_mounts; /* this process may mount without anybody else seeing it */

static void knows_what_is_mounted(void **state)
{
    struct tmpdir *dir = tmpdir_new();

    (void)state;
    assert_true(al_mounts_serial() != 0);
    assert_true(al_mounts_below("/"));
    assert_false(al_mounts_below(dir->path));
    assert_false(al_mounts_below("/proc/self/no/such/directory"));
    tmpdir_free(dir);
}

static void notices_a_mount(void **state)
{
    struct tmpdir *dir = tmpdir_new();
    al_auto(al_freep) char *point = tmpdir_path(dir, "with space\tand\\more");
    uint64_t before, mounted;

    (void)state;
    if (!has_own_mounts) {
        tmpdir_free(dir);
        skip();
    }
    tmpdir_mkdir(dir, "with space\tand\\more");
    tmpdir_mkdir(dir, "with");
    before = al_mounts_serial();
    assert_int_equal(al_mounts_serial(), before);
    assert_int_equal(mount("none", point, "tmpfs", 0, NULL), 0);
    mounted = al_mounts_serial();
    assert_int_not_equal(mounted, before);
    assert_true(al_mounts_below(dir->path));
    assert_false(al_mounts_below(point)); /* the top itself may be a mount point */
    assert_int_equal(al_file_times_of(point), AL_TIMES_OF_DIRS);
    assert_int_equal(umount(point), 0);
    assert_int_not_equal(al_mounts_serial(), mounted);
    assert_false(al_mounts_below(dir->path));
    tmpdir_free(dir);
}

static void knows_few_file_systems(void **state)
{
    (void)state;
    assert_int_equal(al_file_times_of("/proc"), AL_TIMES_UNKNOWN);
    assert_int_equal(al_file_times_of("/sys"), AL_TIMES_UNKNOWN);
    assert_int_equal(al_file_times_of("/no/such/directory"), AL_TIMES_UNKNOWN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(knows_what_is_mounted),
        cmocka_unit_test(notices_a_mount),
        cmocka_unit_test(knows_few_file_systems),
    };

    has_own_mounts = (unshare(CLONE_NEWNS) == 0 || unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0) &&
                     mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
