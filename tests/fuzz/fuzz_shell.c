// SPDX-License-Identifier: Apache-2.0
/*
 * Command lines: every line is parsed or refused, and a parsed line has the same words when they
 * are quoted and parsed again.
 */
#include <stdlib.h>

#include "fuzz.h"
#include "guard/glob.h"
#include "guard/text.h"
#include "tools/shell/private.h"

static void quote_step(const struct al_shell_step *step, struct al_str *out)
{
    for (size_t i = 0; i < step->given.count; i++) {
        al_text_add_quoted(step->given.items[i], out);
        al_str_addc(out, ' ');
    }
    for (size_t i = 0; i < AL_SHELL_STREAMS; i++) {
        static const char *const signs[] = { " <", " >", " 2>" };

        if (!step->files[i])
            continue;
        al_str_addf(out, "%s%s", signs[i], step->appends[i] ? ">" : "");
        al_text_add_quoted(step->files[i], out);
    }
    al_str_adds(out, step->join ? " 2>&1" : "");
}

static bool same(const char *one, const char *two)
{
    return one ? two && !strcmp(one, two) : !two;
}

static void compare(const struct al_shell_step *one, const struct al_shell_step *two)
{
    fuzz_require(one->given.count == two->given.count);
    for (size_t i = 0; i < one->given.count; i++) {
        fuzz_require(same(one->given.items[i], two->given.items[i]));
        fuzz_require(!*two->patterns.items[i]);
    }
    fuzz_require(one->join == two->join);
    for (size_t i = 0; i < AL_SHELL_STREAMS; i++)
        fuzz_require(same(one->files[i], two->files[i]) && one->appends[i] == two->appends[i]);
}

/* The directory does not exist, so nothing matches and the whole pattern is read. */
static void expand_nowhere(const char *pattern)
{
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    struct al_glob_cost cost = AL_GLOB_COST_INIT;

    if (al_glob_expand(-1, pattern, &cost, &names, &err) < 0)
        fuzz_require(err.message && fuzz_is_safe_line(err.message));
    fuzz_require(!names.count);
}

static void check_words(const struct al_shell_step *step)
{
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    int r;

    for (size_t i = 0; i < step->given.count; i++) {
        const char *pattern = step->patterns.items[i];

        if (*pattern) {
            al_auto(al_freep) char *literal = al_glob_literal(pattern);

            fuzz_require(!strcmp(literal, step->given.items[i]));
            (void)al_glob_match(pattern, step->given.items[i]);
            expand_nowhere(pattern);
        }
    }
    r = al_shell_check_words(&step->given, &err);
    fuzz_require(r == 0 || (err.message && fuzz_is_safe_line(err.message)));
}

static void understood(const struct al_shell_plan *line)
{
    al_auto(al_shell_plan_clear) struct al_shell_plan again = { .nsteps = 0 };
    al_auto(al_str_clear) struct al_str quoted = AL_STR_INIT;

    fuzz_require(line->nsteps >= 1 && line->nsteps <= AL_SHELL_STAGES_MAX);
    for (size_t i = 0; i < line->nsteps; i++) {
        fuzz_require(line->steps[i].given.count >= 1);
        check_words(&line->steps[i]);
        al_str_adds(&quoted, i ? " | " : "");
        quote_step(&line->steps[i], &quoted);
    }
    fuzz_require(al_shell_parse(quoted.buf, &again, NULL) == 0);
    fuzz_require(again.nsteps == line->nsteps);
    for (size_t i = 0; i < line->nsteps; i++)
        compare(&line->steps[i], &again.steps[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = { .data = (const char *)data, .len = size };
    al_auto(al_freep) char *command = fuzz_string(&input);
    al_auto(al_shell_plan_clear) struct al_shell_plan line = { .nsteps = 0 };
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;

    if (al_shell_parse(command, &line, &err) == 0)
        understood(&line);
    else
        fuzz_require(err.message && fuzz_is_safe_line(err.message) && !line.nsteps);
    return 0;
}
