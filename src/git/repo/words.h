// SPDX-License-Identifier: Apache-2.0
/* The words that somebody gives git in a shell, run by git itself under airlock's confinement. The
 * words allowed are decided by tools/commands/words.c. */
#ifndef AL_GIT_REPO_WORDS_H
#define AL_GIT_REPO_WORDS_H

#include <stdbool.h>

#include "base/error.h"
#include "base/str.h"
#include "git/command.h"
#include "git/repo/repo.h"

/** The options of git itself, and a command with its words.  Borrowed. */
struct al_git_words {
    const struct al_strv *globals, *words; /**< `words` begins with the command */
    enum al_git_class class;
    const char *prefix;   /**< what `git submodule` puts before the paths that it prints, with a '/'
                             at its end; NULL: nothing */
    bool starts_children; /**< see struct al_git_command */
    bool finds_itself;
    bool
        shows_patches; /**< it takes --no-ext-diff and --no-textconv, which no setting stands for */
    const struct al_git_shell *shell;
};

/**
 * Run git in the working directory of a repository.  A command that is a shell script of git's,
 * around a helper of its name, is run as that one.
 *
 * @param repo           NULL: in the current directory, which is in no repository.
 * @param[out] ret_code  As a shell has it: 128 and the number of the signal that ended git.
 * @return 0, whatever git exits with; else as al_git_run().
 */
int al_git_run_words(struct al_git *git, const struct al_repo *repo,
                     const struct al_git_words *words, struct al_run_limits *budget, int *ret_code,
                     struct al_error *err);

/** The value of a setting, for the repository or the user; NULL: there is none.  Caller frees. */
char *al_git_setting(const struct al_repo *repo, const char *key);

#endif
