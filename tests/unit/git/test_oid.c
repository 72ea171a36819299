// SPDX-License-Identifier: Apache-2.0
/* git/oid.h: the ids that a process notes. */
#include <string.h>

#include "git/oid.h"
#include "tests/lib/assert.h"

static struct al_oid numbered(size_t number)
{
    struct al_oid oid = { .bytes = { 1 } };

    memcpy(oid.bytes + 1, &number, sizeof(number));
    return oid;
}

/* Whether the first id is still noted once `count` are. */
static bool keeps_first(size_t count)
{
    struct al_noted noted = AL_NOTED_INIT;
    const struct al_oid first = numbered(0), last = numbered(count - 1);
    bool found;

    for (size_t i = 0; i < count; i++) {
        const struct al_oid oid = numbered(i);

        al_noted_add(&noted, &oid);
        al_noted_add(&noted, &oid); /* takes no more room */
    }
    found = al_noted_has(&noted, &first);
    assert_true(al_noted_has(&noted, &last));
    pthread_mutex_destroy(&noted.lock);
    return found;
}

static void forgets_the_oldest_behind_the_limit(void **state)
{
    (void)state;
    assert_true(keeps_first(AL_NOTED_MAX - 1));
    assert_true(keeps_first(AL_NOTED_MAX));
    assert_false(keeps_first(AL_NOTED_MAX + 1));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(forgets_the_oldest_behind_the_limit),
    };

    return cmocka_run_group_tests_name("git/oid", tests, NULL, NULL);
}
