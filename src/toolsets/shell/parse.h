// SPDX-License-Identifier: Apache-2.0
/*
 * A command line as this toolset understands it: commands joined by pipes, made of words, quotes
 * and patterns, with redirects.  What else a shell would do with a line is refused by name.
 *
 * Words come out as bash makes them, so that what was understood and what bash would do are the
 * same wherever a line is accepted.
 */
#ifndef AL_TOOLSETS_SHELL_PARSE_H
#define AL_TOOLSETS_SHELL_PARSE_H

#include <stdbool.h>
#include <stddef.h>

#include "util/error.h"
#include "util/str.h"

#define AL_SHELL_STAGES_MAX 16
#define AL_SHELL_WORDS_MAX  2000

struct al_shell_word {
    char *text;    /**< without its quotes */
    char *pattern; /**< the same for al_glob_expand(), NULL when nothing in it is a pattern */
};

/** Standard input, output and error, as far as they are redirected. */
struct al_shell_redirects {
    char *in, *out, *err; /**< names as given, NULL: not redirected */
    bool append_out, append_err;
    bool join; /**< 2>&1 */
};

struct al_shell_stage {
    struct al_shell_word *words; /**< the command first; at least that */
    size_t nwords;
    struct al_shell_redirects redirects;
};

struct al_shell_line {
    struct al_shell_stage *stages; /**< at least one */
    size_t nstages;
};

#define AL_SHELL_LINE_INIT ((struct al_shell_line){ .stages = NULL })

void al_shell_line_clear(struct al_shell_line *line);

/**
 * Take a line apart.
 *
 * @return 0, or AL_ERR_BAD_ARGS naming what is not understood; *ret_line is then empty.
 */
int al_shell_parse(const char *command, struct al_shell_line *ret_line, struct al_error *err);

/** Append a word so that bash reads it as exactly this. */
void al_shell_quote(const char *word, struct al_str *out);

#endif
