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

static void quote_stage(const struct al_shell_stage *stage, struct al_str *out)
{
    const struct al_shell_redirects *to = &stage->redirects;

    for (size_t i = 0; i < stage->nwords; i++) {
        al_text_add_quoted(stage->words[i].text, out);
        al_str_addc(out, ' ');
    }
    for (size_t i = 0; i < AL_SHELL_STREAMS; i++) {
        static const char *const signs[] = { " <", " >", " 2>" };

        if (!to->files[i])
            continue;
        al_str_addf(out, "%s%s", signs[i], to->appends[i] ? ">" : "");
        al_text_add_quoted(to->files[i], out);
    }
    al_str_adds(out, to->join ? " 2>&1" : "");
}

static bool same(const char *one, const char *two)
{
    return one ? two && !strcmp(one, two) : !two;
}

static void compare(const struct al_shell_stage *one, const struct al_shell_stage *two)
{
    const struct al_shell_redirects *a = &one->redirects, *b = &two->redirects;

    fuzz_require(one->nwords == two->nwords);
    for (size_t i = 0; i < one->nwords; i++) {
        fuzz_require(same(one->words[i].text, two->words[i].text));
        fuzz_require(!two->words[i].pattern);
    }
    fuzz_require(a->join == b->join);
    for (size_t i = 0; i < AL_SHELL_STREAMS; i++)
        fuzz_require(same(a->files[i], b->files[i]) && a->appends[i] == b->appends[i]);
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

static void check_words(const struct al_shell_stage *stage)
{
    al_auto(al_strv_clear) struct al_strv words = AL_STRV_INIT;
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    int r;

    for (size_t i = 0; i < stage->nwords; i++) {
        const struct al_shell_word *word = &stage->words[i];

        al_strv_add(&words, word->text);
        if (word->pattern) {
            al_auto(al_freep) char *literal = al_glob_literal(word->pattern);

            fuzz_require(!strcmp(literal, word->text));
            (void)al_glob_match(word->pattern, word->text);
            expand_nowhere(word->pattern);
        }
    }
    r = al_shell_check_words(&words, &err);
    fuzz_require(r == 0 || (err.message && fuzz_is_safe_line(err.message)));
}

static void understood(const struct al_shell_pipeline *line)
{
    al_auto(al_shell_pipeline_clear) struct al_shell_pipeline again = AL_SHELL_PIPELINE_INIT;
    al_auto(al_str_clear) struct al_str quoted = AL_STR_INIT;

    fuzz_require(line->nstages >= 1 && line->nstages <= AL_SHELL_STAGES_MAX);
    for (size_t i = 0; i < line->nstages; i++) {
        fuzz_require(line->stages[i].nwords >= 1);
        check_words(&line->stages[i]);
        al_str_adds(&quoted, i ? " | " : "");
        quote_stage(&line->stages[i], &quoted);
    }
    fuzz_require(al_shell_parse(quoted.buf, &again, NULL) == 0);
    fuzz_require(again.nstages == line->nstages);
    for (size_t i = 0; i < line->nstages; i++)
        compare(&line->stages[i], &again.stages[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = { .data = (const char *)data, .len = size };
    al_auto(al_freep) char *command = fuzz_string(&input);
    al_auto(al_shell_pipeline_clear) struct al_shell_pipeline line = AL_SHELL_PIPELINE_INIT;
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;

    if (al_shell_parse(command, &line, &err) == 0)
        understood(&line);
    else
        fuzz_require(err.message && fuzz_is_safe_line(err.message) && !line.nstages);
    return 0;
}
