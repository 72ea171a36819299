// SPDX-License-Identifier: Apache-2.0
/* A command line of the toolset `shell` on its way: parsed, checked by rules, planned, run. */
#ifndef AL_TOOLS_SHELL_PRIVATE_H
#define AL_TOOLS_SHELL_PRIVATE_H

#include "git/repo/repo.h"
#include "guard/redirect.h"
#include "guard/text.h"
#include "proc/proc.h"
#include "tools/shell/shell.h"

/** One session's shell: set by al_shell_new(), then constant. */
struct al_shell {
    struct al_shell_options options;
    enum al_isolation isolation; /**< never AL_ISOLATION_AUTO */
    char *firejail;              /**< path of firejail; NULL unless AL_ISOLATION_FIREJAIL */
    char *work_dir;              /**< <state>/shell, the only directory outside the root that
                                      programs may write */
    struct al_strv env;          /**< environment of every program but go */
    struct al_strv go_env;       /**< environment of go */
};

#define AL_SHELL_STAGES_MAX 16
#define AL_SHELL_WORDS_MAX  2000

/** Standard input, output and error: indices below. */
#define AL_SHELL_STREAMS 3

/*
 * Rules for commands and their arguments, as data: a new rule is a new row with a test.
 *
 * The rules give an error message.  The enforcement is the kernel's: a program that only reads may
 * not write, and no program may start another.
 */

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

/* --- A command line: parsed, then checked and ready to run --- */

/** One command of the pipeline. */
struct al_shell_step {
    struct al_strv given;          /**< the words without their quotes, at least one: the command */
    struct al_strv patterns;       /**< each word as a pattern for al_glob_expand(); "": it has no
                                      pattern characters */
    char *files[AL_SHELL_STREAMS]; /**< that the streams lead to; NULL: not redirected */
    bool appends[AL_SHELL_STREAMS];
    bool join; /**< 2>&1 */

    /* Set by al_shell_plan(). */
    enum al_shell_kind kind;
    struct al_strv words;                    /**< those that the patterns stand for */
    struct al_redirect to[AL_SHELL_STREAMS]; /**< `files`, resolved */
};

/** A pipeline.  A call makes its plan once, so that exactly what was checked is run. */
struct al_shell_plan {
    struct al_shell_step steps[AL_SHELL_STAGES_MAX];
    size_t nsteps; /**< at least one */
};

void al_shell_plan_clear(struct al_shell_plan *plan);

/**
 * Parse a line: a pipeline of commands with words, quotes, patterns and redirects.  All other shell
 * syntax is refused by name.  The words are those of bash for every accepted line.
 *
 * @param ret_plan  Release with al_shell_plan_clear().  Empty after an error.
 * @return 0, or AL_ERR_BAD_ARGS naming the unsupported syntax.
 */
int al_shell_parse(const char *command, struct al_shell_plan *ret_plan, struct al_error *err);

/**
 * Plan a command line: parse it, check it, and expand its patterns.
 *
 * Every command has to be on the whitelist.  The rules are checked before and after expansion.
 * Redirects have to stay below the first root; the plan holds their directories open.
 *
 * @return 0, AL_ERR_BAD_ARGS or AL_ERR_SANDBOX.
 */
int al_shell_plan(const struct al_shell *shell, const char *command, struct al_shell_plan *ret_plan,
                  struct al_error *err);

/** Check a command's words, the command first.  AL_ERR_SANDBOX when they would make go write
 * outside `root`; 0 for every other command. */
int al_shell_check_outputs(const struct al_root *root, const struct al_strv *words,
                           struct al_error *err);

#endif
