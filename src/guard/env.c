// SPDX-License-Identifier: Apache-2.0
#include "guard/env.h"

#include <ctype.h>
#include <fnmatch.h>
#include <string.h>

#include "guard/text.h"

/* Patterns of names; case does not count. */
static const char *const secrets[] = {
    "AWS_*", "ANTHROPIC_*", "OPENAI_*", "*_KEY", "*_TOKEN", "*_SECRET", "*_PASSWORD",
};

/* Variables that control git, the dynamic loader or libraries, or make a child load code, start a
 * program, or read another configuration. */
static const char *const steering[] = {
    "GIT_*", "LD_*",    "SSH_ASKPASS*", "GLIBC_*",         "OPENSSL_*", "BASH_ENV",
    "ENV",   "IFS",     "EDITOR",       "VISUAL",          "PAGER",     "LESSOPEN",
    "SHELL", "LOCPATH", "GCONV_PATH",   "XDG_CONFIG_HOME",
};

/* Variables that airlock sets for a child itself.  The order in the list would decide which of two
 * values wins. */
static const char *const set_by_airlock[] = {
    "PATH",     "HOME",   "LC_ALL",  "TERM",        "TMPDIR",      "GOCACHE",
    "GOTMPDIR", "GOPATH", "GOPROXY", "GOTOOLCHAIN", "CGO_ENABLED",
};

static bool is_one_of(const char *name, const char *const *patterns, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (fnmatch(patterns[i], name, FNM_CASEFOLD) == 0)
            return true;
    return false;
}

bool al_env_is_secret(const char *name)
{
    return is_one_of(name, secrets, AL_COUNT(secrets));
}

bool al_env_is_name(const char *name)
{
    if (!isalpha((unsigned char)*name) && *name != '_')
        return false;
    for (; *name; name++)
        if (!isalnum((unsigned char)*name) && *name != '_')
            return false;
    return true;
}

/* Why a variable may not be passed on, or NULL. */
static const char *refusal(const char *name)
{
    if (!al_env_is_name(name))
        return "is not a variable name (letters, digits and '_', no digit first)";
    if (al_env_is_secret(name))
        return "looks like a secret and never reaches a child";
    if (is_one_of(name, steering, AL_COUNT(steering)))
        return "could change what git runs";
    if (is_one_of(name, set_by_airlock, AL_COUNT(set_by_airlock)))
        return "is set by airlock itself";
    return NULL;
}

int al_env_check_allowed(const char *name, struct al_error *err)
{
    const char *why = refusal(name);

    if (!why)
        return 0;
    al_auto(al_freep) char *shown = al_text_sanitize_line(name);
    return al_error_set(err, AL_ERR_BAD_ARGS, "'%s' %s", shown, why);
}

/* The value of a "NAME=value" entry if its name is `name`, else NULL. */
static const char *value_of(const char *entry, const char *name)
{
    size_t len = strlen(name);

    return !strncmp(entry, name, len) && entry[len] == '=' ? entry + len + 1 : NULL;
}

/* The first entry of a variable; NULL: there is none. */
static const char *entry_of(char *const *environ_, const char *name)
{
    while (*environ_ && !value_of(*environ_, name))
        environ_++;
    return *environ_;
}

void al_env_add_allowed(struct al_strv *env, const struct al_strv *allow, char *const *environ_)
{
    for (size_t i = 0; i < allow->count; i++) {
        const char *name = allow->items[i], *entry = entry_of(environ_, name);

        if (entry && !refusal(name) && !al_env_get(env, name))
            al_strv_add(env, entry);
    }
}

void al_env_add_network(struct al_strv *env, char *const *environ_)
{
    static const char *const names[] = {
        "SSH_AUTH_SOCK", "http_proxy",   "https_proxy",    "HTTPS_PROXY",
        "all_proxy",     "ALL_PROXY",    "no_proxy",       "NO_PROXY",
        "SSL_CERT_FILE", "SSL_CERT_DIR", "GIT_SSL_CAINFO", "GIT_SSL_CAPATH",
    };

    for (size_t i = 0; i < AL_COUNT(names); i++) {
        const char *entry = entry_of(environ_, names[i]);

        if (entry)
            al_strv_add(env, entry);
    }
}

const char *al_env_get(const struct al_strv *env, const char *name)
{
    for (size_t i = 0; i < env->count; i++) {
        const char *value = value_of(env->items[i], name);

        if (value)
            return value;
    }
    return NULL;
}

void al_env_add(struct al_strv *env, const char *name, const char *value)
{
    al_strv_addf(env, "%s=%s", name, value);
}
