// SPDX-License-Identifier: Apache-2.0
#include "tools/words.h"

#include <string.h>

bool al_shell_words_list(const char *list, const char *word)
{
    const size_t len = strlen(word);

    for (const char *at = strchr(word, ' ') ? NULL : list; len && at && (at = strstr(at, word));
         at++)
        if (at > list && at[-1] == ' ' && at[len] == ' ')
            return true;
    return false;
}
