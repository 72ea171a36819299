// SPDX-License-Identifier: Apache-2.0
/* The tests of call/rows.c share a tool with a parameter of each kind. */
#ifndef TESTS_UNIT_TOOL_DECODE_LIB_H
#define TESTS_UNIT_TOOL_DECODE_LIB_H

#include "call/tool.h"
#include "tests/lib/assert.h"

struct sample_args {
    bool verbose, quiet;
    struct al_opt_int lines, depth, offset, max_bytes, timeout_ms;
    const char *message, *kind, *commit, *working_dir;
    struct al_strv paths;
    int action;
};

enum { PUSH, POP };

static const struct al_choice actions[] = { { "push", PUSH }, { "pop", POP }, { NULL, 0 } };

static const struct al_param rows[] = {
    AL_BOOL(struct sample_args, verbose, "Say more.", .default_int = 1),
    AL_BOOL(struct sample_args, quiet, "Say less.", .default_int = 0),
    AL_INT(struct sample_args, lines, "Lines.", .min = 1, .max = 10),
    AL_INT(struct sample_args, depth, "Depth.", .flags = AL_PARAM_HAS_DEFAULT, .default_int = 3,
           .max = 9, .bad_message = "depth is one digit"),
    AL_INT(struct sample_args, offset, "Offset.", .min = -5, .max = INT64_C(1) << 53),
    AL_INT(struct sample_args, max_bytes, "Cap.", .flags = AL_PARAM_MAX_BYTES, .min = 1,
           .max = 5000000),
    AL_INT(struct sample_args, timeout_ms, "Deadline.", .flags = AL_PARAM_TIMEOUT, .min = 100,
           .max = 600000),
    AL_STRING(struct sample_args, message, "Message.", .min_bytes = 1, .max_bytes = 8),
    AL_STRING(struct sample_args, kind, "Kind.", .pattern = "^[a-z]+$", .max_bytes = 16,
              .bad_message = "kind must be lowercase letters only"),
    AL_STRING(struct sample_args, commit, "Commit.", .flags = AL_PARAM_HAS_DEFAULT,
              .default_str = "HEAD", .max_bytes = 64, .pattern = "^[A-Za-z0-9]*$"),
    AL_STRING(struct sample_args, working_dir, "Where.", .max_bytes = 64),
    AL_STRINGS(struct sample_args, paths, "Files.", .min = 1, .max = 3, .max_bytes = 4,
               .bad_message = "paths must contain at least one element"),
    AL_CHOICE(struct sample_args, action, "Action.", .choices = actions, .default_int = POP),
};

static inline int check_sample(void *p, struct al_error *err)
{
    const struct sample_args *args = p;

    if (args->verbose && args->quiet)
        return al_error_set(err, AL_ERR_BAD_ARGS, "verbose and quiet are mutually exclusive");
    return 0;
}

static const struct al_tool sample = {
    .name = "sample",
    .params = rows,
    .nparams = AL_COUNT(rows),
    .args_size = sizeof(struct sample_args),
    .check = check_sample,
};

static const struct al_tool_defaults defaults = { .timeout_ms = 20000, .max_bytes = 7000 };

/* The input and the output of a test. */
struct decoded {
    json_t *json;
    struct sample_args args;
    struct al_error err;
};

static inline int decode_tool(struct decoded *d, const struct al_tool *tool, const char *text)
{
    *d = (struct decoded){ .err = AL_ERROR_INIT };
    d->json = json_loads(text, JSON_ALLOW_NUL | JSON_DECODE_ANY, NULL);
    assert_non_null(d->json);
    return al_tool_decode(tool, d->json, &defaults, &d->args, &d->err);
}

static inline void release(struct decoded *d)
{
    al_tool_args_clear(&sample, &d->args);
    al_error_clear(&d->err);
    json_decref(d->json);
}

static inline void accepts(const char *text, struct decoded *d)
{
    int r = decode_tool(d, &sample, text);

    if (r < 0)
        fail_msg("%s: %s", text, d->err.message);
}

static inline void says(const char *text, const char *message)
{
    struct decoded d;
    static const struct sample_args nothing;

    assert_int_equal(decode_tool(&d, &sample, text), AL_ERR_BAD_ARGS);
    assert_int_equal(d.err.status, AL_ERR_BAD_ARGS);
    assert_string_equal(d.err.message, message);
    assert_memory_equal(&d.args, &nothing, sizeof(nothing)); /* nothing left to release */
    release(&d);
}

#endif
