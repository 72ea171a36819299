// SPDX-License-Identifier: Apache-2.0
/*
 * Which commands there are and what their arguments may not be: data, so that a new trap is a new
 * row with a test.
 *
 * The rules say no in words.  The kernel says no anyway: a program that only reads is not allowed
 * to write, and none may start another.
 */
#ifndef AL_TOOLSETS_SHELL_RULES_H
#define AL_TOOLSETS_SHELL_RULES_H

#include <stdbool.h>

#include "util/error.h"
#include "util/str.h"

/** How a command is carried out. */
enum al_shell_kind {
    AL_SHELL_ECHO, /**< by ourselves */
    AL_SHELL_PWD,
    AL_SHELL_READER, /**< a program that has no reason to write a file */
    AL_SHELL_GIT,    /**< through the git layer, reading */
    AL_SHELL_GO,     /**< with a compiler's needs */
    AL_SHELL_OTHER,  /**< one the person put on the whitelist: may write below the root */
};

/** How a command of this name is carried out. */
enum al_shell_kind al_shell_kind_of(const char *command);

/** AL_ERR_SANDBOX "Command 'rm' not in whitelist" unless the word is in the list. */
int al_shell_check_command(const struct al_strv *whitelist, const char *word, struct al_error *err);

/**
 * Check a command's final words.
 *
 * @param words  The command first.
 * @return 0, or AL_ERR_SANDBOX naming the argument and what it would do.
 */
int al_shell_check_words(const struct al_strv *words, struct al_error *err);

#endif
