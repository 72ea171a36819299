// SPDX-License-Identifier: Apache-2.0
/* For pull.c: the words by which an agent names the files to pull, relative to the top of the
 * repository: a file, a directory or a pattern. */
#ifndef AL_STAGING_PULL_CHOOSE_H
#define AL_STAGING_PULL_CHOOSE_H

#include <stdbool.h>
#include <stddef.h>

#include "staging/pull/plan.h"
#include "util/error.h"
#include "util/str.h"

/** One word. */
struct al_pull_word {
    char *given, *path; /**< as the agent wrote it; without what only says where it begins */
    bool is_whole;      /**< as a pattern it goes by the whole path */
};

/** The words.  Zero-initialised, there are none. */
struct al_pull_words {
    struct al_pull_word *items;
    size_t count;
};

/** @return 0; AL_ERR_BAD_ARGS or AL_ERR_SANDBOX for a malformed path. */
int al_pull_words_parse(const struct al_strv *given, struct al_pull_words *ret_words,
                        struct al_error *err);
void al_pull_words_clear(struct al_pull_words *words);

/** Test whether a word may stand for this file.  It does not if the word is a pattern and also the
 * name of another file or directory, which al_pull_choose() knows. */
bool al_pull_words_may_mean(const struct al_pull_words *words, const char *path);

/**
 * Choose the files that the words stand for.
 *
 * @param plan   Has all files that a word may stand for.
 * @param where  The branch, for messages.
 * @return 0; AL_ERR_EXECUTION with the reason "not_found" naming a word that stands for nothing.
 */
int al_pull_choose(struct al_pull_plan *plan, const struct al_pull_words *words, const char *where,
                   struct al_error *err);

#endif
