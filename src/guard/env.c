// SPDX-License-Identifier: Apache-2.0
#include "guard/env.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "guard/text.h"

static const char *const secret_prefixes[] = { "AWS_", "ANTHROPIC_", "OPENAI_" };
static const char *const secret_suffixes[] = { "_KEY", "_TOKEN", "_SECRET", "_PASSWORD" };

/* Prefixes of variables that control git, the dynamic loader, or libraries. */
static const char *const reserved_prefixes[] = { "GIT_", "LD_", "SSH_ASKPASS", "GLIBC_",
                                                 "OPENSSL_" };

/* Variables that airlock sets for a child itself.  The order in the list would decide which of two
 * values wins. */
static const char *const set_by_airlock[] = {
    "PATH",     "HOME",   "LC_ALL",  "TERM",        "TMPDIR",      "GOCACHE",
    "GOTMPDIR", "GOPATH", "GOPROXY", "GOTOOLCHAIN", "CGO_ENABLED",
};

/* Variables that make a child load code, start a program, or read another configuration. */
static const char *const steering[] = {
    "BASH_ENV", "ENV",   "IFS",     "EDITOR",     "VISUAL",          "PAGER",
    "LESSOPEN", "SHELL", "LOCPATH", "GCONV_PATH", "XDG_CONFIG_HOME",
};

static bool has_prefix(const char *name, const char *prefix)
{
    return !strncasecmp(name, prefix, strlen(prefix));
}

static bool has_suffix(const char *name, const char *suffix)
{
    size_t len = strlen(name), tail = strlen(suffix);

    return len >= tail && !strcasecmp(name + len - tail, suffix);
}

static bool is_one_of(const char *name, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!strcasecmp(name, names[i]))
            return true;
    return false;
}

bool al_env_is_secret(const char *name)
{
    for (size_t i = 0; i < AL_COUNT(secret_prefixes); i++)
        if (has_prefix(name, secret_prefixes[i]))
            return true;
    for (size_t i = 0; i < AL_COUNT(secret_suffixes); i++)
        if (has_suffix(name, secret_suffixes[i]))
            return true;
    return false;
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
    for (size_t i = 0; i < AL_COUNT(reserved_prefixes); i++)
        if (has_prefix(name, reserved_prefixes[i]))
            return "could change what git runs";
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
