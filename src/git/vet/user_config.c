// SPDX-License-Identifier: Apache-2.0
#include "git/vet/user_config.h"

#include <fnmatch.h>
#include <string.h>

#include "git/environment.h"

bool al_user_config_wants(const char *key)
{
    static const char *const wanted[] = {
        "user.name",      "user.email",      "author.name",        "author.email",
        "committer.name", "committer.email", "init.defaultbranch", "core.autocrlf",
        "core.quotepath", "http.proxy",      "http.sslcainfo",     "url.*.insteadof",
        "safe.directory",
    };

    for (size_t i = 0; i < AL_COUNT(wanted); i++)
        if (fnmatch(wanted[i], key, 0) == 0)
            return true;
    return false;
}

void al_user_config_add(struct al_str *out, const char *key, const char *value)
{
    const char *first = strchr(key, '.');
    const char *last = strrchr(key, '.');

    if (!first)
        return;
    al_str_addc(out, '[');
    al_str_add(out, key, (size_t)(first - key));
    if (first != last) {
        al_auto(al_freep) char *name = al_strndup(first + 1, (size_t)(last - first - 1));

        al_str_addc(out, ' ');
        al_git_quote(out, name);
    }
    al_str_addf(out, "]\n\t%s = ", last + 1);
    al_git_quote(out, value);
    al_str_addc(out, '\n');
}
