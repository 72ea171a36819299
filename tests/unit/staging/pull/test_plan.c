// SPDX-License-Identifier: Apache-2.0
/* The decision of a pull about a file, for every combination of three versions. */
#include "staging/pull/private.h"

#include <string.h>

#include "git/oid.h"
#include "staging/sandbox/sandbox.h"

#include "tests/lib/assert.h"

/* A version: missing, or one of three contents with one of two modes. */
enum { NONE, FIRST, SECOND, THIRD, FIRST_EXECUTABLE, VERSIONS };

static struct al_oid oid_of(int version)
{
    struct al_oid oid = { { 0 } };

    oid.bytes[0] = (uint8_t)(version == FIRST_EXECUTABLE ? FIRST : version);
    return oid;
}

static unsigned mode_of(int version)
{
    return version == FIRST_EXECUTABLE ? AL_SANDBOX_MODE_EXECUTABLE : AL_SANDBOX_MODE_FILE;
}

/* The lists of a pull of one file. */
struct lists {
    char path[2];
    struct al_sandbox_file theirs;
    struct al_sandbox_file ours;
    struct al_pull pull;
};

static void decide(struct lists *lists, int base, int ours, int theirs)
{
    struct al_sandbox_file known = { .path = (char *)"f",
                                     .mode = mode_of(base),
                                     .oid = oid_of(base) };
    const struct al_sandbox_files one = { &known, 1 };

    *lists = (struct lists){ .path = "f" };
    lists->theirs = (struct al_sandbox_file){ .path = lists->path,
                                              .mode = mode_of(theirs),
                                              .oid = oid_of(theirs) };
    lists->ours =
        (struct al_sandbox_file){ .path = lists->path, .mode = mode_of(ours), .oid = oid_of(ours) };
    lists->pull.commit.files = (struct al_sandbox_files){ &lists->theirs, theirs != NONE };
    lists->pull.files = (struct al_sandbox_files){ &lists->ours, ours != NONE };
    if (base != NONE) {
        al_base_change(&lists->pull.base, &one);
        al_base_change(&lists->pull.origin, &one);
    }
    al_pull_list(&lists->pull);
    for (size_t i = 0; i < lists->pull.count; i++)
        lists->pull.items[i].chosen = true;
    al_pull_decide(&lists->pull);
    al_pull_check_places(&lists->pull);
}

static void clear(struct lists *lists)
{
    lists->pull.commit.files = lists->pull.files = AL_SANDBOX_FILES_INIT; /* not allocated */
    al_pull_clear(&lists->pull);
}

static bool takes_theirs(const struct al_pull_item *item)
{
    return item->changes && al_sandbox_version_equal(&item->result, &item->theirs);
}

/* The rules of three-way merging, whatever the versions are. */
static void check_item(const struct al_pull_item *item)
{
    bool ours_is_new = !al_sandbox_version_equal(&item->ours, &item->base);
    bool theirs_is_new = !al_sandbox_version_equal(&item->theirs, &item->base);

    if (al_sandbox_version_equal(&item->ours, &item->theirs))
        assert_true(!item->changes && !item->merges && !item->conflict && item->is_settled);
    else if (!ours_is_new)
        assert_true(takes_theirs(item) && !item->conflict && item->is_settled);
    else if (!theirs_is_new)
        assert_true(!item->changes && !item->merges && !item->conflict);
    else if (item->ours.mode) /* the sandbox's content is never replaced without a word */
        assert_true(item->merges || item->conflict ||
                    al_oid_equal(&item->result.oid, &item->ours.oid) ||
                    al_oid_equal(&item->ours.oid, &item->base.oid));
    else
        assert_true(takes_theirs(item) && item->conflict);
}

static void every_combination_keeps_the_rules(void **state)
{
    (void)state;
    for (int base = NONE; base < VERSIONS; base++)
        for (int ours = NONE; ours < VERSIONS; ours++)
            for (int theirs = NONE; theirs < VERSIONS; theirs++) {
                struct lists lists;

                decide(&lists, base, ours, theirs);
                assert_int_equal(lists.pull.count, base != NONE || theirs != NONE);
                for (size_t i = 0; i < lists.pull.count; i++)
                    check_item(&lists.pull.items[i]);
                clear(&lists);
            }
}

static void content_and_mode_are_merged_apart(void **state)
{
    struct lists lists;
    const struct al_pull_item *item;

    (void)state;
    decide(&lists, FIRST, SECOND, FIRST_EXECUTABLE);
    item = &lists.pull.items[0];
    assert_true(item->changes && !item->merges && !item->conflict);
    assert_int_equal(item->result.mode, AL_SANDBOX_MODE_EXECUTABLE);
    assert_int_equal(item->result.oid.bytes[0], SECOND);
    clear(&lists);
}

static void a_file_that_was_never_pulled_is_not_removed(void **state)
{
    struct lists lists;

    (void)state;
    decide(&lists, FIRST, FIRST, NONE);
    assert_true(lists.pull.items[0].changes);
    assert_int_equal(lists.pull.items[0].result.mode, 0);
    clear(&lists);
    decide(&lists, NONE, FIRST, NONE);
    assert_int_equal(lists.pull.count, 0);
    clear(&lists);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_combination_keeps_the_rules),
        cmocka_unit_test(content_and_mode_are_merged_apart),
        cmocka_unit_test(a_file_that_was_never_pulled_is_not_removed),
    };

    return cmocka_run_group_tests_name("staging/pull_plan", tests, NULL, NULL);
}
