// SPDX-License-Identifier: Apache-2.0
/* The part of a vetting that is about other repositories: configured remotes, and the right to name
 * their addresses.
 */
#include "gitops/vet/vet_remotes.h"

#include <stdlib.h>

/* http.* settings that a repository may have: they redirect nothing, or each command overrides
 * them. */
static const char *const harmless[] = {
    "postbuffer",      "lowspeedlimit",  "lowspeedtime",  "version",           "maxrequests",
    "minsessions",     "maxretries",     "useragent",     "sslverify",         "proxy",
    "cookiefile",      "savecookies",    "extraheader",   "emptyauth",         "delegation",
    "followredirects", "curloptresolve", "keepaliveidle", "keepaliveinterval",
};

static bool is_harmless(const char *variable)
{
    for (size_t i = 0; i < AL_COUNT(harmless); i++)
        if (!strcmp(harmless[i], variable))
            return true;
    return false;
}

/* Whether a key decides where git connects, or whom git trusts there. */
static bool leads_elsewhere(const char *key)
{
    const char *variable = strrchr(key, '.');

    if (!variable)
        return false;
    if (al_starts_with(key, "url."))
        return !strcmp(variable, ".insteadof") || !strcmp(variable, ".pushinsteadof");
    if (!strcmp(key, "fetch.bundleuri"))
        return true; /* newer gits: objects from one more address */
    return al_starts_with(key, "http.") && !is_harmless(variable + 1);
}

static void note_rewrite(struct al_vetting *vetting, const struct al_config_entry *entry)
{
    const char *base = entry->key + strlen("url."), *last = strrchr(entry->key, '.');

    if (last < base || (strcmp(last, ".insteadof") != 0 && strcmp(last, ".pushinsteadof") != 0))
        return;
    al_strv_take(&vetting->rewrites, al_strndup(base, (size_t)(last - base)));
    al_strv_adds(&vetting->rewrites, last + 1, entry->value, NULL);
}

void al_vetting_note_remote(struct al_vetting *vetting, const struct al_config_entry *entry)
{
    bool about = al_starts_with(entry->key, "remote.") ||
                 (al_starts_with(entry->key, "branch.") &&
                  (al_ends_with(entry->key, ".remote") || al_ends_with(entry->key, ".merge")));

    /* One more than the limit, so that the caller can tell that there were more. */
    if (about && vetting->remotes.count / 2 <= AL_REMOTE_VALUES_MAX)
        al_strv_adds(&vetting->remotes, entry->key, entry->value, NULL);
    if (entry->of_repository) {
        if (!vetting->refused_key && leads_elsewhere(entry->key))
            vetting->refused_key = al_strdup(entry->key);
    } else if (al_starts_with(entry->key, "url.")) {
        note_rewrite(vetting, entry);
    } else if (!strcmp(entry->key, "http.proxy")) {
        free(vetting->proxy);
        vetting->proxy = al_strdup(entry->value);
    }
}
