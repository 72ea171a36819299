// SPDX-License-Identifier: Apache-2.0
/*
 * Configuration that a repository must not decide.
 *
 * Handed over as GIT_CONFIG_KEY_n/GIT_CONFIG_VALUE_n, never as `-c`: a driver named "a=b" cannot be
 * written there.  The last value wins, and these come last.
 */
#include <fnmatch.h>

#include "gitops/vet.h"

struct override {
    const char *key, *value;
};

static const struct override fixed[] = {
    /* programs git would start */
    { "core.fsmonitor", "false" },
    { "core.hooksPath", "/dev/null" },
    { "core.pager", "cat" },
    { "core.editor", ":" },
    { "sequence.editor", ":" },
    { "core.sshCommand", "ssh" },
    { "core.askPass", "" },
    { "core.alternateRefsCommand", ":" },
    { "credential.helper", "" },
    { "interactive.diffFilter", "" },
    { "gpg.program", "/bin/false" },
    { "gpg.openpgp.program", "/bin/false" },
    { "gpg.x509.program", "/bin/false" },
    { "gpg.ssh.program", "/bin/false" },
    { "gpg.ssh.defaultKeyCommand", "" },
    { "gpg.format", "openpgp" },
    { "commit.gpgSign", "false" },
    { "tag.gpgSign", "false" },
    { "tag.forceSignAnnotated", "false" },
    { "push.gpgSign", "false" },
    { "log.showSignature", "false" },
    { "merge.verifySignatures", "false" },
    { "merge.default", "text" },
    { "help.autocorrect", "0" },
    { "gc.auto", "0" },
    { "gc.autoDetach", "false" },
    { "maintenance.auto", "false" },
    { "receive.autogc", "false" },
    { "trailer.ifmissing", "doNothing" },
    /* submodules, where git would go on in another repository */
    { "diff.submodule", "short" },
    { "diff.ignoreSubmodules", "dirty" },
    { "status.submoduleSummary", "false" },
    { "submodule.recurse", "false" },
    { "fetch.recurseSubmodules", "false" },
    { "push.recurseSubmodules", "no" },
    { "safe.bareRepository", "explicit" },
    /* files outside that git would read or write */
    { "commit.template", "" },
    { "mailmap.file", "/dev/null" },
    { "mailmap.blob", "" },
    { "diff.orderFile", "/dev/null" },
    { "format.signatureFile", "" },
    { "http.cookieFile", "" },
    { "http.saveCookies", "false" },
    { "http.sslVerify", "true" },
    { "fetch.fsckObjects", "false" },
    { "fetch.fsck.skipList", "/dev/null" },
    { "fsck.skipList", "/dev/null" },
    { "pull.rebase", "false" },
    { "protocol.allow", "never" },
    { "protocol.ext.allow", "never" },
    /* answers that must mean what they say */
    { "format.pretty", "medium" },
    { "i18n.logOutputEncoding", "UTF-8" },
    { "color.ui", "false" },
    { "color.status", "false" },
    { "color.diff", "false" },
    { "color.branch", "false" },
    { "color.advice", "false" },
    { "column.ui", "never" },
    { "column.status", "never" },
    { "column.branch", "never" },
    { "log.date", "default" },
    { "status.short", "false" },
    { "status.showUntrackedFiles", "normal" },
    { "diff.noprefix", "false" },
    { "diff.mnemonicPrefix", "false" },
    /* an identity is configured or there is none: never one made up from the host's name */
    { "user.useConfigOnly", "true" },
};

/* Keys with a name of the repository's choosing; '*' stands for it.  NULL ends a row. */
static const struct driver {
    const char *pattern, *value;
    const char *also, *also_value; /* a further name below the same subsection */
} drivers[] = {
    { "filter.*.clean", "", "required", "false" },
    { "filter.*.smudge", "", "required", "false" },
    { "filter.*.process", "", "required", "false" },
    { "filter.*.required", "false", NULL, NULL },
    { "diff.*.command", "", NULL, NULL },
    { "diff.*.textconv", "", NULL, NULL },
    { "merge.*.driver", "false", NULL, NULL },
    { "remote.*.uploadpack", "git-upload-pack", NULL, NULL },
    { "remote.*.receivepack", "git-receive-pack", NULL, NULL },
    { "remote.*.vcs", "", NULL, NULL },
    { "remote.*.proxy", "", NULL, NULL },
    { "credential.*.helper", "", NULL, NULL },
    { "submodule.*.update", "none", NULL, NULL },
    { "submodule.*.ignore", "dirty", NULL, NULL },
    { "trailer.*.command", ":", NULL, NULL },
    { "trailer.*.cmd", ":", NULL, NULL },
    { "pager.*", "false", NULL, NULL },
    { "branch.*.mergeoptions", "", NULL, NULL },
    { "branch.*.rebase", "false", NULL, NULL },
    { "gpg.*.program", "/bin/false", NULL, NULL },
    { "hook.*.command", "", NULL, NULL },
    { "pretty.*", "", NULL, NULL },
    { "alias.*", "", NULL, NULL },
    { "difftool.*.cmd", "false", NULL, NULL },
    { "difftool.*.path", "false", NULL, NULL },
    { "mergetool.*.cmd", "false", NULL, NULL },
    { "mergetool.*.path", "false", NULL, NULL },
    { "browser.*.cmd", "false", NULL, NULL },
    { "browser.*.path", "false", NULL, NULL },
    { "man.*.cmd", "false", NULL, NULL },
    { "man.*.path", "false", NULL, NULL },
    { "guitool.*.cmd", "false", NULL, NULL },
    { "guitool.*.path", "false", NULL, NULL },
};

void al_overrides_add_static(struct al_strv *pairs, const char *excludes, const char *attributes)
{
    for (size_t i = 0; i < AL_COUNT(fixed); i++)
        al_strv_adds(pairs, fixed[i].key, fixed[i].value, NULL);
    al_strv_adds(pairs, "core.excludesFile", excludes, "core.attributesFile", attributes, NULL);
}

bool al_overrides_add_driver(struct al_strv *pairs, const char *key)
{
    for (size_t i = 0; i < AL_COUNT(drivers); i++) {
        const struct driver *driver = &drivers[i];
        const char *name = strrchr(key, '.');

        /* Most keys differ in the section: fnmatch(3) would be slow on a huge configuration. */
        if (!name || strncmp(driver->pattern, key, strcspn(driver->pattern, "*")) != 0 ||
            fnmatch(driver->pattern, key, 0) != 0)
            continue;
        al_strv_adds(pairs, key, driver->value, NULL);
        if (driver->also) {
            al_strv_addf(pairs, "%.*s.%s", (int)(name - key), key, driver->also);
            al_strv_add(pairs, driver->also_value);
        }
        return true;
    }
    return false;
}
