// SPDX-License-Identifier: Apache-2.0
/* guard/effects.h: the declared effects decide risk, hints and approval. */
#include "guard/effects.h"

#include "tests/lib/assert.h"

static void every_effect_has_the_name_rules_use(void **state)
{
    static const char *const names[] = {
        "reads",          "writes_index",     "writes_worktree", "discards_work",
        "writes_refs",    "rewrites_history", "writes_config",   "uses_network",
        "leaves_machine", "runs_program",     "writes_files",
    };

    (void)state;
    assert_int_equal(COUNT(names), AL_EFFECT_COUNT);
    for (unsigned i = 0; i < AL_EFFECT_COUNT; i++)
        assert_string_equal(al_effect_name(i), names[i]);
}

/* The meaning of each effect alone.  A set of effects means what any member means, except that
 * read_only and idempotent need every member. */
static const struct fact {
    enum al_effects effect;
    const char *risk;
    bool changes_repository, has_side_effects, destructive, idempotent, open_world;
} facts[] = {
    { AL_READS, "low", false, false, false, true, false },
    { AL_WRITES_INDEX, "medium", true, true, false, true, false },
    { AL_WRITES_WORKTREE, "medium", true, true, false, true, false },
    { AL_DISCARDS_WORK, "high", true, true, true, true, false },
    { AL_WRITES_REFS, "medium", true, true, false, false, false },
    { AL_REWRITES_HISTORY, "high", true, true, true, false, false },
    { AL_WRITES_CONFIG, "medium", true, true, false, false, false },
    { AL_USES_NETWORK, "medium", false, true, false, true, true },
    { AL_LEAVES_MACHINE, "medium", false, true, true, false, true },
    { AL_RUNS_PROGRAM, "medium", false, true, false, false, false },
    { AL_WRITES_FILES, "low", false, true, false, true, false },
};

static int rank(const char *risk)
{
    return !strcmp(risk, "low") ? 0 : !strcmp(risk, "medium") ? 1 : 2;
}

/* To look something up over a network changes nothing. */
static bool is_read_only(const struct fact *fact)
{
    return !fact->has_side_effects || fact->effect == AL_USES_NETWORK;
}

static void each_effect_means_what_the_table_says(void **state)
{
    (void)state;
    assert_int_equal(COUNT(facts), AL_EFFECT_COUNT);
    for (size_t i = 0; i < COUNT(facts); i++) {
        const struct fact *f = &facts[i];

        assert_string_equal(al_effects_risk(f->effect), f->risk);
        assert_int_equal(al_effects_change_repository(f->effect), f->changes_repository);
        assert_int_equal(al_effects_have_side_effects(f->effect), f->has_side_effects);
        assert_int_equal(al_effects_read_only(f->effect), is_read_only(f));
        assert_int_equal(al_effects_destructive(f->effect), f->destructive);
        assert_int_equal(al_effects_idempotent(f->effect), f->idempotent);
        assert_int_equal(al_effects_open_world(f->effect), f->open_world);
    }
}

static void a_pair_is_as_dangerous_as_its_worse_half(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(facts); i++) {
        for (size_t k = 0; k < COUNT(facts); k++) {
            const struct fact *a = &facts[i], *b = &facts[k];
            unsigned both = (unsigned)a->effect | (unsigned)b->effect;
            int worse = rank(a->risk) > rank(b->risk) ? rank(a->risk) : rank(b->risk);

            assert_int_equal(rank(al_effects_risk(both)), worse);
            assert_int_equal(al_effects_change_repository(both),
                             a->changes_repository || b->changes_repository);
            assert_int_equal(al_effects_read_only(both), is_read_only(a) && is_read_only(b));
            assert_int_equal(al_effects_destructive(both), a->destructive || b->destructive);
            assert_int_equal(al_effects_idempotent(both), a->idempotent && b->idempotent);
            assert_int_equal(al_effects_open_world(both), a->open_world || b->open_world);
        }
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_effect_has_the_name_rules_use),
        cmocka_unit_test(each_effect_means_what_the_table_says),
        cmocka_unit_test(a_pair_is_as_dangerous_as_its_worse_half),
    };

    return cmocka_run_group_tests_name("guard/effects", tests, NULL, NULL);
}
