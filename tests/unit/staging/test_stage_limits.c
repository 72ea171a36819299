// SPDX-License-Identifier: Apache-2.0
/* staging/stage.h: the limits of a staged commit and of the store.  Compiled with small ones. */
#include <sys/random.h>

#include "tests/unit/staging/lib.h"

static void limits_the_number_of_files(void **state)
{
    static const char *const names[] = { "a", "b", "c", "d", "e" };
    struct stager *s = *state;

    for (size_t i = 0; i < 3; i++)
        put(s, names[i], "1\n");
    stage(s, "/workspace", "3 of 4");
    for (size_t i = 0; i < 4; i++)
        put(s, names[i], "2\n");
    stage(s, "/workspace", "4 of 4");
    for (size_t i = 0; i < 5; i++)
        put(s, names[i], "3\n");
    assert_not_staged(s, "/workspace",
                      "5 files are more than the 4 of one staged commit; stage fewer at a time");
    stage(s, "/workspace/a /workspace/b", "fewer");
}

static void limits_the_number_of_staged_commits(void **state)
{
    static const char *const texts[] = { "1", "2", "3", "4" };
    struct stager *s = *state;

    for (size_t i = 0; i < 3; i++) {
        put(s, "a", texts[i]);
        stage(s, "/workspace", texts[i]);
    }
    put(s, "a", texts[3]);
    assert_not_staged(s, "/workspace", "there are 3 staged commits; push or discard some first");
    open_session(s); /* those of other sandboxes count as well */
    put(s, "a", texts[3]);
    assert_not_staged(s, "/workspace", "there are 3 staged commits; push or discard some first");
    {
        al_auto(al_staged_list_clear) struct al_staged_list list = { .items = NULL };

        must(s, al_staged_list(s->staging, BUDGET, &list, &s->w->err));
        must(s, al_staged_discard(s->staging, &list.items[0], BUDGET, &s->w->err));
    }
    stage(s, "/workspace", "4");
    assert_staged(s, "2,3,4");
}

#define MAX_BYTES 20000u

static void put_noise(struct stager *s, const char *path)
{
    char noise[MAX_BYTES];

    assert_int_equal(getrandom(noise, sizeof(noise), 0), sizeof(noise));
    must(s, al_sandbox_write(s->sandbox, path, noise, sizeof(noise), &s->w->err));
}

static uint64_t bytes_of(struct stager *s)
{
    uint64_t bytes;

    (void)count_packs_of(s, &bytes);
    return bytes;
}

/* An agent cannot fill the disk with what it discards. */
static void the_store_does_not_grow_without_end(void **state)
{
    struct stager *s = *state;

    s->options.max_bytes = MAX_BYTES;
    open_session(s);
    put_noise(s, "kept");
    stage(s, "/workspace", "kept");
    for (int i = 0; i < 20; i++) {
        put_noise(s, "a");
        stage(s, "/workspace/a", "x");
        must(s, al_staged_discard(s->staging, &s->last, BUDGET, &s->w->err));
        assert_true(bytes_of(s) <= (AL_STAGE_STORE_FACTOR + 2) * MAX_BYTES);
    }
    assert_staged(s, "kept");
    assert_whole(s);
}

static void what_is_pulled_does_not_count(void **state)
{
    struct stager *s = *state;
    char noise[MAX_BYTES + 1] = "";

    s->options.max_bytes = MAX_BYTES;
    open_session(s);
    for (int i = 0; i < 10; i++) {
        al_auto(al_freep) char *name = al_asprintf("pulled-%d", i);

        assert_int_equal(getrandom(noise, MAX_BYTES, 0), MAX_BYTES);
        for (size_t at = 0; at < MAX_BYTES; at++)
            noise[at] = noise[at] ? noise[at] : 'x';
        pull(s, name, 0100644, noise);
    }
    put(s, "a", "1\n");
    stage(s, "/workspace/a", "x");
    put(s, "a", "2\n");
    stage(s, "/workspace/a", "y");
    assert_whole(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STAGER_TEST(limits_the_number_of_files),
        STAGER_TEST(limits_the_number_of_staged_commits),
        STAGER_TEST(the_store_does_not_grow_without_end),
        STAGER_TEST(what_is_pulled_does_not_count),
    };

    gitops_begin();
    return cmocka_run_group_tests_name("staging/stage_limits", tests, NULL, NULL);
}
