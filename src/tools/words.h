// SPDX-License-Identifier: Apache-2.0
/* Lists of words. */
#ifndef AL_TOOLS_WORDS_H
#define AL_TOOLS_WORDS_H

#include <stdbool.h>

/** Test whether a list has a word, between spaces.  One with a space in it is in none. */
bool al_shell_words_list(const char *list, const char *word);

#endif
