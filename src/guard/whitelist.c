// SPDX-License-Identifier: Apache-2.0
#include "guard/whitelist.h"

#include <string.h>

#include "guard/text.h"

const char *const al_whitelist_standard[] = {
    "ls", "cat", "grep", "find", "head", "tail", "wc", "echo", "pwd", "date", "git", "go", NULL,
};

/* Never on a whitelist: commands that change files or the user, download, or run a command line. */
static const char *const never[] = {
    "rm",   "mv",  "cp",  "chmod", "chown", "sudo", "su",   "curl", "wget", "bash",   "sh",
    "dash", "zsh", "ksh", "fish",  "csh",   "tcsh", "eval", "exec", "doas", "pkexec",
};

int al_whitelist_check(const char *name, struct al_error *err)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.+-";
    al_auto(al_freep) char *safe = al_text_sanitize_line(name);

    if (!*name || name[strspn(name, letters)] || strchr("-.", *name))
        return al_error_set(err, AL_ERR_BAD_ARGS, "'%s' is no name of a command", safe);
    for (size_t i = 0; i < AL_COUNT(never); i++)
        if (!strcmp(never[i], name))
            return al_error_set(err, AL_ERR_BAD_ARGS, "'%s' is always refused", safe);
    return 0;
}
