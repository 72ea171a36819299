// SPDX-License-Identifier: Apache-2.0
/*
 * The parser for command lines.
 *
 * A command line is a pipeline of commands with words, quotes, patterns and redirects.  All other
 * shell syntax is refused by name (unsupported.h).  For every accepted line the words are those of
 * bash.
 */
#ifndef AL_TOOLS_SHELL_PARSE_H
#define AL_TOOLS_SHELL_PARSE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/str.h"

#define AL_SHELL_STAGES_MAX 16
#define AL_SHELL_WORDS_MAX  2000

struct al_shell_word {
    char *text;    /**< the word without its quotes */
    char *pattern; /**< the word as a pattern for al_glob_expand(); NULL: it has no pattern
                      characters */
};

/** Standard input, output and error: indices below. */
#define AL_SHELL_STREAMS 3

/** Where the streams of a command lead. */
struct al_shell_redirects {
    char *files[AL_SHELL_STREAMS]; /**< names as given; NULL: not redirected */
    bool appends[AL_SHELL_STREAMS];
    bool join; /**< 2>&1 */
};

struct al_shell_stage {
    struct al_shell_word *words; /**< at least one: the command */
    size_t nwords;
    struct al_shell_redirects redirects;
};

struct al_shell_pipeline {
    struct al_shell_stage *stages; /**< at least one */
    size_t nstages;
};

#define AL_SHELL_PIPELINE_INIT ((struct al_shell_pipeline){ .stages = NULL })

void al_shell_pipeline_clear(struct al_shell_pipeline *pipeline);

/**
 * Parse a line.
 *
 * @param ret_pipeline  Release with al_shell_pipeline_clear().  Empty after an error.
 * @return 0, or AL_ERR_BAD_ARGS naming the unsupported syntax.
 */
int al_shell_parse(const char *command, struct al_shell_pipeline *ret_pipeline,
                   struct al_error *err);

#endif
