// SPDX-License-Identifier: Apache-2.0
/*
 * Rules for commands and their arguments, as data: a new rule is a new row with a test.
 *
 * The rules give an error message.  The enforcement is the kernel's: a program that only reads may
 * not write, and no program may start another.
 */
#ifndef AL_TOOLS_SHELL_RULES_H
#define AL_TOOLS_SHELL_RULES_H

#include "base/error.h"
#include "base/str.h"

/** The ways to run a command. */
enum al_shell_kind {
    AL_SHELL_ECHO, /**< builtin */
    AL_SHELL_PWD,
    AL_SHELL_READER, /**< a program that may not write */
    AL_SHELL_GIT,    /**< git through the git layer, read-only */
    AL_SHELL_GO,     /**< go, with the rights of a compiler */
    AL_SHELL_OTHER,  /**< any other whitelisted program: may write below the root */
};

/** The way a command is run, by its name. */
enum al_shell_kind al_shell_kind_of(const char *command);

/** Check that a command is on the whitelist.  AL_ERR_SANDBOX: "Command 'rm' not in whitelist". */
int al_shell_check_command(const struct al_strv *whitelist, const char *word, struct al_error *err);

/**
 * Check a command's words.
 *
 * @param words  The command first.
 * @return 0, or AL_ERR_SANDBOX naming the argument and its effect.
 */
int al_shell_check_words(const struct al_strv *words, struct al_error *err);

#endif
