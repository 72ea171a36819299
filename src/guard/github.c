// SPDX-License-Identifier: Apache-2.0
#include "guard/github.h"

#include <stddef.h>
#include <string.h>

#include "guard/text.h"
#include "util/str.h"

#define OWNER_MAX_BYTES 39
#define NAME_MAX_BYTES  100

#define LETTERS         "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS          "0123456789"

static bool is_owner(const char *text, size_t len)
{
    return len > 0 && len <= OWNER_MAX_BYTES && *text != '-' &&
           strspn(text, LETTERS DIGITS "-_") == len;
}

static bool is_name(const char *text)
{
    const size_t len = strlen(text);

    return len > 0 && len <= NAME_MAX_BYTES && *text != '-' &&
           strspn(text, LETTERS DIGITS "-_.") == len && strcmp(text, ".") != 0 &&
           strcmp(text, "..") != 0 && !al_ends_with(text, ".git");
}

int al_github_check_repo(const char *param, const char *repo, struct al_error *err)
{
    const size_t owner = strcspn(repo, "/");
    al_auto(al_freep) char *word = NULL;

    if (repo[owner] && is_owner(repo, owner) && is_name(repo + owner + 1))
        return 0;
    word = al_text_sanitize_line(repo);
    return al_error_set(err, AL_ERR_BAD_ARGS,
                        "%s must be 'owner/name' as in the address of the repository on GitHub, "
                        "without .git: '%s'",
                        param, word);
}

char *al_github_address(const char *base, const char *repo)
{
    size_t len = strlen(base);

    while (len && base[len - 1] == '/')
        len--;
    return al_asprintf("%.*s/%s.git", (int)len, base, repo);
}

bool al_github_is_safe(const struct al_url *url)
{
    static const char *const loopback[] = { "localhost", "127.0.0.1", "::1" };

    if (strcmp(url->protocol, "http") != 0)
        return !strcmp(url->protocol, "https");
    for (size_t i = 0; i < AL_COUNT(loopback); i++)
        if (!strcmp(url->host, loopback[i]))
            return true;
    return false;
}
