// SPDX-License-Identifier: Apache-2.0
/* upstream/handshake.c: servers of both eras are recognised, whatever they do with what they do not
 * know. */
#include "tests/unit/serve/upstream/lib.h"

/* What a server is found to speak. */
static void assert_speaks(const char *era, const char *start, const char *revision,
                          unsigned nstarts)
{
    struct world world = world_new(era, start);
    struct al_upstream_state state;
    struct al_error err = AL_ERROR_INIT;

    if (start_fake(&world, &err) < 0)
        fail_msg("%s %s: %s", era, start, err.message);
    al_upstream_get_state(world.server, &state);
    assert_int_equal(state.phase, AL_UPSTREAM_READY);
    assert_string_equal(state.revision->name, revision);
    assert_int_equal(world.server->nstarts, nstarts);
    assert_null(state.problem);
    al_upstream_state_clear(&state);
    assert_gives(&world, "echo", "{\"a\":1}", "{\"a\": 1}");
    world_clear(&world);
    assert_no_children();
}

static void both_eras_are_spoken(void **state)
{
    (void)state;
    assert_speaks("legacy", "", "2025-11-25", 1);
    assert_speaks("legacy", "old", "2024-11-05", 1);
    assert_speaks("modern", "", "2026-07-28", 1);
    assert_speaks("both", "", "2026-07-28", 1);
    assert_speaks("modern", "by_error", "2026-07-28", 1);
    assert_speaks("modern", "says_legacy", "2025-11-25", 1);
}

static void a_server_that_does_not_know_the_probe_is_legacy(void **state)
{
    (void)state;
    assert_speaks("legacy", "silent_when_probed", "2025-11-25", 1);
    assert_speaks("legacy", "exit_when_probed", "2025-11-25", 2);
}

static void talk_before_the_first_message_is_skipped(void **state)
{
    (void)state;
    assert_speaks("legacy", "talk", "2025-11-25", 1);
    assert_speaks("modern", "stderr", "2026-07-28", 1);
}

static void assert_does_not_start(const char *era, const char *start, const char *wanted)
{
    struct world world = world_new(era, start);
    struct al_error err = AL_ERROR_INIT;
    const size_t len = strcspn(wanted, "*");

    assert_int_equal(start_fake(&world, &err), AL_ERR_EXECUTION);
    if (strncmp(err.message, wanted, len) != 0)
        fail_msg("%s", err.message);
    al_error_clear(&err);
    world_clear(&world);
    assert_no_children();
}

static void other_revisions_are_refused(void **state)
{
    (void)state;
    assert_does_not_start("legacy", "unknown",
                          "MCP server 'fake' speaks revision '1999-01-01' of "
                          "MCP, which airlock does not; it is started*");
    assert_does_not_start("legacy", "modern_answer",
                          "MCP server 'fake' speaks revision "
                          "'2026-07-28' of MCP, which*");
    assert_does_not_start("legacy", "no_version", "MCP server 'fake' speaks revision '' of MCP,*");
    assert_does_not_start("modern", "only_newer",
                          "MCP server 'fake' answered initialize with error "
                          "-32601: Method not found*");
}

static void a_server_without_tools_has_none(void **state)
{
    struct world world = world_new("legacy", "no_tools");
    struct al_upstream_state seen;

    (void)state;
    assert_int_equal(start_fake(&world, NULL), 0);
    al_upstream_get_state(world.server, &seen);
    assert_int_equal(seen.ntools, 0);
    assert_string_equal(seen.program, "fake 1.0"); /* made safe */
    al_upstream_state_clear(&seen);
    world_clear(&world);
}

static void only_what_the_client_offers_is_declared(void **state)
{
    struct world with = world_new("legacy", ""), without = world_new("legacy", "");

    (void)state;
    without.settings.elicitation = false;
    assert_int_equal(start_fake(&with, NULL), 0);
    assert_int_equal(start_fake(&without, NULL), 0);
    assert_gives(&with, "notes", "{}", "elicitation");
    assert_gives(&without, "notes", "{}", "silent");
    world_clear(&with);
    world_clear(&without);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_eras_are_spoken),
        cmocka_unit_test(a_server_that_does_not_know_the_probe_is_legacy),
        cmocka_unit_test(talk_before_the_first_message_is_skipped),
        cmocka_unit_test(other_revisions_are_refused),
        cmocka_unit_test(a_server_without_tools_has_none),
        cmocka_unit_test(only_what_the_client_offers_is_declared),
    };

    return cmocka_run_group_tests_name("upstream/handshake", tests, set_up_proc, NULL);
}
