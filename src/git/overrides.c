// SPDX-License-Identifier: Apache-2.0
/*
 * Overrides are passed as GIT_CONFIG_KEY_n/GIT_CONFIG_VALUE_n, not as `-c`, which cannot express a
 * driver named "a=b".  The last value of a key wins, and the overrides come last.
 *
 * git goes through all of them each time it reads its configuration, and searches the environment
 * for each, so their cost grows with the square of their number (measured: 90 pairs add 0.8 ms to a
 * call, 3 pairs add 0.03 ms).  Therefore a key is overridden only when the repository sets it, or
 * when git's own default is wrong for us.
 */
#include "git/overrides.h"

#include <fnmatch.h>
#include <string.h>

#include "base/mem.h"

/* Passed when the repository sets the key.  Keys are in lower case, as git lists them. */
static const struct {
    const char *key, *value;
} fixed[] = {
    /* programs git would start */
    { "core.fsmonitor", "" }, /* before git 2.36 "false" is a program */
    { "core.pager", "cat" },
    { "core.editor", ":" },
    { "sequence.editor", ":" },
    { "core.sshcommand", "ssh" },
    { "core.askpass", "" },
    { "core.alternaterefscommand", ":" },
    { "credential.helper", "" },
    { "interactive.difffilter", "" },
    { "gpg.program", "/bin/false" },
    { "gpg.openpgp.program", "/bin/false" },
    { "gpg.x509.program", "/bin/false" },
    { "gpg.ssh.program", "/bin/false" },
    { "gpg.ssh.defaultkeycommand", "" },
    { "gpg.format", "openpgp" },
    { "commit.gpgsign", "false" },
    { "tag.gpgsign", "false" },
    { "tag.forcesignannotated", "false" },
    { "push.gpgsign", "false" },
    { "log.showsignature", "false" },
    { "merge.verifysignatures", "false" },
    { "merge.default", "text" },
    { "checkout.workers", "1" },
    { "help.autocorrect", "0" },
    { "gc.autodetach", "false" },
    { "receive.autogc", "false" },
    { "trailer.ifmissing", "doNothing" },
    /* submodules, where git would run in another repository */
    { "diff.submodule", "short" },
    { "status.submodulesummary", "false" },
    { "submodule.recurse", "false" },
    { "fetch.recursesubmodules", "false" },
    { "push.recursesubmodules", "no" },
    { "safe.barerepository", "explicit" },
    /* files outside that git would read or write */
    { "commit.template", "" },
    { "mailmap.file", "/dev/null" },
    { "mailmap.blob", "" },
    { "diff.orderfile", "/dev/null" },
    { "format.signaturefile", "" },
    { "http.cookiefile", "" },
    { "http.savecookies", "false" },
    { "http.sslverify", "true" },
    { "fetch.fsckobjects", "false" },
    { "fetch.fsck.skiplist", "/dev/null" },
    { "fsck.skiplist", "/dev/null" },
    { "pull.rebase", "false" },
    { "rebase.updaterefs", "false" },     /* no rule sees the branches that would move */
    { "rebase.instructionformat", "%s" }, /* "%n" would begin a line with a command of its own */
    { "protocol.allow", "never" },
    { "protocol.ext.allow", "never" },
    /* settings that change the form or meaning of output that airlock reads */
    { "format.pretty", "medium" },
    { "commit.cleanup", "whitespace" },
    { "i18n.logoutputencoding", "UTF-8" },
    { "i18n.commitencoding",
      "UTF-8" }, /* the encoding of messages, and the default of the key above */
    { "color.ui", "false" },
    { "color.status", "false" },
    { "color.diff", "false" },
    { "color.branch", "false" },
    { "color.advice", "false" },
    { "column.ui", "never" },
    { "column.status", "never" },
    { "column.branch", "never" },
    { "log.date", "default" },
    { "advice.detachedhead", "true" },
    { "status.short", "false" },
    { "status.showuntrackedfiles", "normal" },
    { "diff.relative", "false" },
    { "diff.noprefix", "false" },
    { "diff.mnemonicprefix", "false" },
    { "diff.suppressblankempty", "false" },
    { "core.bigfilethreshold", "512m" }, /* larger files count as binary */
};

/* Keys with a name that the repository chooses; '*' stands for it. */
static const struct driver {
    const char *pattern, *value;   /* NULL: the key stays as it is */
    const char *also, *also_value; /* another variable of the same subsection */
} drivers[] = {
    { "filter.*.clean", "", "required", "false" },
    { "filter.*.smudge", "", "required", "false" },
    { "filter.*.process", "", "required", "false" },
    { "filter.*.required", "false", NULL, NULL },
    { "diff.*.command", "", NULL, NULL },
    { "diff.*.textconv", "", NULL, NULL },
    { "diff.*.binary", "auto", NULL, NULL }, /* by the content */
    { "diff.*.xfuncname", "^[[:alpha:]_$]", NULL, NULL },
    { "diff.*.funcname", "^[[:alpha:]_$]", NULL, NULL },
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
    /* an empty command would make every call fail that has the event */
    { "hook.*.command", NULL, "enabled", "false" },
    { "hook.*.event", NULL, "enabled", "false" },
    { "pretty.*", "medium", NULL, NULL },
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

/* What changes what is shown, who commits, and how a command works. */
static const char harmless[] =
    "advice.* apply.* author.* blame.blankboundary blame.coloring blame.date blame.show* "
    "branch.autosetup* branch.sort branch.*.description branch.*.rebase "
    "checkout.defaultremote checkout.guess clean.requireforce color.* column.* "
    "commit.cleanup commit.status commit.verbose committer.* core.abbrev core.autocrlf "
    "core.commentchar core.eol core.quotepath core.safecrlf core.whitespace "
    "diff.algorithm diff.autorefreshindex diff.colormoved* diff.context diff.dirstat "
    "diff.indentheuristic diff.interhunkcontext diff.mnemonicprefix diff.noprefix "
    "diff.relative diff.rename* diff.stat* diff.suppressblankempty diff.wordregex "
    "diff.wserrorhighlight fetch.prune* fetch.output format.pretty grep.*number "
    "grep.column grep.extendedregexp grep.fullname grep.patterntype i18n.* "
    "init.defaultbranch log.abbrevcommit log.date log.decorate log.diffmerges "
    "log.excludedecoration log.follow log.graphcolors log.initialdecorationset "
    "log.mailmap log.showroot merge.branchdesc merge.conflictstyle "
    "merge.directoryrenames merge.ff merge.log merge.rename* merge.stat pretty.* pull.ff "
    "pull.rebase push.default push.followtags push.autosetupremote "
    "rebase.abbreviatecommands rebase.autosquash rebase.autostash "
    "rebase.missingcommitscheck rebase.stat rerere.autoupdate rerere.enabled "
    "showbranch.* stash.* status.aheadbehind status.branch status.displaycommentprefix "
    "status.rename* status.relativepaths status.short status.show* tag.sort user.email "
    "user.name versionsort.*";

bool al_config_key_is_harmless(const char *key)
{
    al_auto(al_freep) char *patterns = al_strdup(harmless);
    char *save = NULL;

    for (char *at = strtok_r(patterns, " ", &save); at; at = strtok_r(NULL, " ", &save))
        if (fnmatch(at, key, FNM_CASEFOLD) == 0)
            return true;
    return false;
}

/* git's default is wrong for us. */
void al_overrides_add_always(struct al_strv *pairs, const char *excludes, const char *attributes)
{
    al_strv_adds(pairs, "core.hookspath", "/dev/null", "diff.ignoresubmodules", "dirty",
                 "core.excludesfile", excludes, "core.attributesfile", attributes, NULL);
}

/* The same for commands that write: no identity is made up from the host's name, and a merge finds
 * its base by what the commits say. */
void al_overrides_add_writing(struct al_strv *pairs)
{
    al_strv_adds(pairs, "gc.auto", "0", "maintenance.auto", "false", "user.useconfigonly", "true",
                 "core.commitgraph", "false", "gc.writecommitgraph", "false", NULL);
}

/* A key that is set many times needs one override. */
static bool add_once(struct al_strv *pairs, const char *key, const char *value)
{
    for (size_t i = 0; i < pairs->count; i += 2)
        if (!strcmp(pairs->items[i], key))
            return false;
    al_strv_adds(pairs, key, value, NULL);
    return true;
}

static bool is_driver(const struct driver *driver, const char *key)
{
    /* Compare the section first: fnmatch(3) is slow on a huge configuration. */
    return strncmp(driver->pattern, key, strcspn(driver->pattern, "*")) == 0 &&
           fnmatch(driver->pattern, key, 0) == 0;
}

static bool add_driver(struct al_strv *pairs, const struct driver *driver, const char *key)
{
    bool is_new = driver->value && add_once(pairs, key, driver->value);

    if (driver->also) {
        const char *name = strrchr(key, '.');
        al_auto(al_freep) char *also = al_asprintf("%.*s.%s", (int)(name - key), key, driver->also);

        is_new |= add_once(pairs, also, driver->also_value);
    }
    return is_new;
}

bool al_overrides_add_for(struct al_strv *pairs, const char *key)
{
    for (size_t i = 0; i < AL_COUNT(fixed); i++) {
        if (!strcmp(fixed[i].key, key)) {
            (void)add_once(pairs, key, fixed[i].value);
            return false;
        }
    }
    for (size_t i = 0; i < AL_COUNT(drivers); i++)
        if (is_driver(&drivers[i], key))
            return add_driver(pairs, &drivers[i], key);
    return false;
}
