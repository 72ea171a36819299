// SPDX-License-Identifier: Apache-2.0
/* The tests of tests/tables/self_check.c share a sound tool and the comparison of a fault. */
#ifndef TESTS_UNIT_TOOL_CHECK_LIB_H
#define TESTS_UNIT_TOOL_CHECK_LIB_H

#include "call/call.h"
#include "call/tool.h"
#include "tests/lib/assert.h"
#include "tests/tables/self_check.h"

struct args {
    bool flag, other;
    struct al_opt_int n, timeout_ms;
    const char *text, *working_dir;
    struct al_strv list;
    int choice;
};

static inline int execute(struct al_call *call, struct al_result *result, struct al_error *err)
{
    (void)call;
    (void)result;
    (void)err;
    return 0;
}

static inline void summarize(const struct al_call *call, struct al_str *out)
{
    (void)call;
    (void)out;
}

static const struct al_operation reads[] = {
    { .name = "list", .effects = AL_READS, .execute = execute },
};

static inline struct al_tool sound_tool(void)
{
    return (struct al_tool){
        .name = "sample_tool-1",
        .title = "Sample",
        .about = "Does nothing.",
        .args_size = sizeof(struct args),
        .operations = reads,
        .noperations = COUNT(reads),
        .working_dir_offset = offsetof(struct args, working_dir),
    };
}

/* Expect a fault; NULL: the table is sound. */
static inline void finds(const struct al_tool *tool, const char *expected)
{
    al_auto(al_freep) char *fault = al_tool_self_check(tool);

    if (!expected && fault)
        fail_msg("sound, but: %s", fault);
    if (!expected)
        return;
    assert_non_null(fault);
    assert_string_equal(fault, expected);
}

#endif
