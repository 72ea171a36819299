// SPDX-License-Identifier: Apache-2.0
#include "tools/shell/explain.h"

#include <string.h>

#include "guard/path.h"
#include "guard/root.h"
#include "tools/shell/state.h"
#include "tools/words.h"

#define DENIED    "Permission denied"
#define NAMED_MAX 5

bool al_shell_found_nothing(const struct al_shell_plan *plan, int exit_code)
{
    const struct al_shell_step *last = &plan->steps[plan->nsteps - 1];

    return exit_code == 1 && al_shell_words_list(" grep egrep fgrep rg ", last->words.items[0]);
}

/* Whether the errors mention an argument that is a path outside the roots.  System files that every
 * program may read do not count. */
static bool was_refused(const struct al_shell *shell, const char *word, const char *errors)
{
    static const char *const readable[] = { "/usr/", "/bin/", "/lib/", "/lib64/", "/dev/" };
    const struct al_roots *roots = shell->options.roots;
    al_auto(al_path_clear) struct al_path path = AL_PATH_INIT;

    if (!*word || *word == '-' || !strstr(errors, word))
        return false;
    for (size_t i = 0; i < AL_COUNT(readable); i++)
        if (al_starts_with(word, readable[i]))
            return false;
    return al_path_resolve(roots, roots->items[0].path, word, &path, NULL) == AL_ERR_SANDBOX;
}

void al_shell_add_refused(const struct al_shell *shell, const struct al_shell_plan *plan,
                          struct al_text *errors)
{
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;

    if (shell->isolation != AL_ISOLATION_LANDLOCK || !strstr(errors->out.buf, DENIED))
        return;
    for (size_t i = 0; i < plan->nsteps; i++) {
        const struct al_strv *words = &plan->steps[i].words;

        for (size_t k = 1; k < words->count; k++)
            if (!al_strv_contains(&names, words->items[k]) &&
                was_refused(shell, words->items[k], errors->out.buf))
                al_strv_add(&names, words->items[k]);
    }
    if (!names.count)
        return;
    al_str_adds(&line, "airlock: outside the allowed roots, so no command may read it: ");
    al_text_add_list(&line, &names, NAMED_MAX);
    al_str_addc(&line, '\n');
    (void)al_text_add(errors, line.buf, line.len);
}
