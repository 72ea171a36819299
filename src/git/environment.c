// SPDX-License-Identifier: Apache-2.0
#include "git/environment.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/mem.h"
#include "git/command.h"
#include "git/layer.h"
#include "git/location.h"
#include "guard/env.h"

void al_git_quote(struct al_str *out, const char *text)
{
    al_str_addc(out, '"');
    for (const char *at = text; *at; at++) {
        if (*at == '"' || *at == '\\')
            al_str_addc(out, '\\');
        if (*at == '\n')
            al_str_adds(out, "\\n");
        else
            al_str_addc(out, *at);
    }
    al_str_addc(out, '"');
}

/* The variable is a list separated by ':'; a path with a ':' in it has to be quoted. */
char *al_git_alternates(const struct al_strv *dirs)
{
    struct al_str entry = AL_STR_INIT;

    al_str_adds(&entry, "GIT_ALTERNATE_OBJECT_DIRECTORIES=");
    for (size_t i = 0; i < dirs->count; i++) {
        if (i)
            al_str_addc(&entry, ':');
        al_git_quote(&entry, dirs->items[i]);
    }
    return al_str_detach(&entry);
}

/* A variable that the link or the shell sets replaces ours: of a name that occurs twice some
 * programs read the first entry and others the last. */
static bool is_replaced(const struct al_git_command *command, const char *entry)
{
    al_auto(al_freep) char *name = NULL;

    if (!command->shell && (!command->link || !command->link->env))
        return false;
    name = al_strndup(entry, strcspn(entry, "="));
    return (command->shell && command->shell->tells_programs &&
            (al_ends_with(name, "_EDITOR") || al_ends_with(name, "_PAGER"))) ||
           (command->shell && al_env_get(command->shell->env, name)) ||
           (command->link && command->link->env && al_env_get(command->link->env, name));
}

/* GIT_TEXTDOMAINDIR spares git the search for translations of C.UTF-8, which do not exist.  zlib
 * takes 268 KB for each object that git writes; without the two thresholds (mallopt(3)) glibc gives
 * them back to the kernel each time, and 20,000 objects take 2.6 s instead of 0.2 s. */
static void add_base(struct al_strv *env, const struct al_git_command *command)
{
    static const char *const base[] = {
        "PATH=/usr/bin:/bin",
        "LC_ALL=C.UTF-8",
        "GIT_TEXTDOMAINDIR=/nonexistent",
        "MALLOC_MMAP_THRESHOLD_=1073741824",
        "MALLOC_TRIM_THRESHOLD_=1073741824",
        "TERM=dumb",
        "GIT_TERMINAL_PROMPT=0",
        "GIT_ASKPASS=",
        "SSH_ASKPASS=",
        "GIT_EDITOR=:",
        "GIT_SEQUENCE_EDITOR=:",
        "GIT_PAGER=cat",
        "GIT_MERGE_AUTOEDIT=no",
        "GIT_SSH_VARIANT=ssh",
        "GIT_PROXY_COMMAND=",
        "GIT_PROTOCOL_FROM_USER=0",
        "GIT_NO_LAZY_FETCH=1",
        "GIT_NO_REPLACE_OBJECTS=1",
        "GIT_GRAFT_FILE=/nonexistent",
        "GIT_ATTR_NOSYSTEM=1",
    };

    for (size_t i = 0; i < AL_COUNT(base); i++)
        if (!is_replaced(command, base[i]))
            al_strv_add(env, base[i]);
    if (command->link)
        al_env_add(env, "GIT_ALLOW_PROTOCOL", command->link->protocol);
    else
        al_strv_add(env, "GIT_ALLOW_PROTOCOL=none");
}

/* The overrides of the repository come first and those of the command last: the last value of a key
 * wins.  A shell's command goes without those of harmless keys, which are there since airlock reads
 * the output, or gives a command the meaning that it documents. */
static void add_overrides(struct al_strv *env, const struct al_strv *of_repository,
                          const struct al_git_command *command)
{
    al_auto(al_strv_clear) struct al_strv pairs = AL_STRV_INIT;

    for (size_t i = 0; i < of_repository->count; i += 2)
        if (!command->shell || !al_config_key_is_harmless(of_repository->items[i]))
            al_strv_adds(&pairs, of_repository->items[i], of_repository->items[i + 1], NULL);
    if (al_git_class_writes(command->class))
        al_overrides_add_writing(&pairs);
    if (!command->quotes_names)
        al_strv_adds(&pairs, "core.quotepath", "false", NULL);
    if (command->link)
        al_strv_add_all(&pairs, command->link->config);
    if (command->shell)
        al_strv_add_all(&pairs, command->shell->config);
    if (command->lists_untracked)
        al_strv_adds(&pairs, "core.untrackedcache", "false", NULL);
    for (size_t i = 0; i < pairs.count; i += 2) {
        al_strv_addf(env, "GIT_CONFIG_KEY_%zu=%s", i / 2, pairs.items[i]);
        al_strv_addf(env, "GIT_CONFIG_VALUE_%zu=%s", i / 2, pairs.items[i + 1]);
    }
    al_strv_addf(env, "GIT_CONFIG_COUNT=%zu", pairs.count / 2);
}

/* GIT_DIR and its relatives. */
static void add_repository(struct al_strv *env, const struct al_location *at,
                           const struct al_git_command *command)
{
    if (command->finds_itself)
        return;
    al_env_add(env, "GIT_DIR", at->git_dir);
    if (command->work_tree)
        al_env_add(env, "GIT_WORK_TREE", command->work_tree);
    else if (!al_location_is_bare(at))
        al_env_add(env, "GIT_WORK_TREE", at->top);
    if (command->index)
        al_env_add(env, "GIT_INDEX_FILE", command->index);
}

/* Objects that are borrowed: git writes none there. */
static void add_objects(struct al_strv *env, const struct al_location *at,
                        const struct al_git_command *command)
{
    al_auto(al_strv_clear) struct al_strv lenders = AL_STRV_INIT;
    al_auto(al_freep) char *shallow = NULL;

    if (at->objects) {
        al_env_add(env, "GIT_OBJECT_DIRECTORY", at->objects);
        al_strv_take(&lenders, al_fs_join(at->common_dir, "objects"));
    }
    if (command->borrows && at->lender) {
        shallow = al_fs_join(at->lender->common_dir, "shallow");
        al_env_add(env, "GIT_SHALLOW_FILE", shallow);
        al_strv_take(&lenders, al_fs_join(at->lender->common_dir, "objects"));
        if (at->held)
            al_strv_add(&lenders, at->held);
    }
    if (lenders.count)
        al_strv_take(env, al_git_alternates(&lenders));
}

/* `git config --list` reads the user's own files; every other command reads our copy. */
static void add_configuration(struct al_strv *env, const struct al_location *at,
                              const struct al_git_command *command)
{
    const struct al_git_config *with = at->config;
    const struct al_git *git = at->git;

    if (command->class == AL_GIT_CONFIG) {
        al_env_add(env, "HOME", git->options.home ? git->options.home : "/nonexistent");
        if (git->options.config_home)
            al_env_add(env, "XDG_CONFIG_HOME", git->options.config_home);
        return;
    }
    al_env_add(env, "HOME", git->private_dir);
    al_strv_add(env, "GIT_CONFIG_NOSYSTEM=1");
    al_env_add(env, "GIT_CONFIG_GLOBAL", command->shell ? with->for_shell : with->global);
    add_overrides(env, &with->overrides, command);
}

void al_git_command_env(struct al_strv *env, const struct al_location *at,
                        const struct al_git_command *command)
{
    const struct al_git *git = at->git;
    al_auto(al_freep) char *tmp =
        at->is_own ? al_strdup(at->dir) : al_fs_join(git->private_dir, "tmp");

    add_base(env, command);
    if (command->link && command->link->env)
        al_strv_add_all(env, command->link->env);
    if (command->shell)
        al_strv_add_all(env, command->shell->env);
    add_configuration(env, at, command);
    al_env_add(env, "TMPDIR", tmp);
    if (at->git_dir) /* else git says itself that there is no repository */
        al_env_add(env, "GIT_CEILING_DIRECTORIES", git->ceiling);
    else if (command->shell && command->shell->ceilings)
        al_env_add(env, "GIT_CEILING_DIRECTORIES", command->shell->ceilings);
    add_repository(env, at, command);
    add_objects(env, at, command);
    if (!al_git_class_writes(command->class))
        al_strv_add(env, "GIT_OPTIONAL_LOCKS=0");
    if (command->buffered)
        al_strv_add(env, "GIT_FLUSH=0");
    al_strv_add_all(env, &git->env_allowed);
}

/* --- Overrides --- */

/*
 * Overrides are passed as GIT_CONFIG_KEY_n/GIT_CONFIG_VALUE_n, not as `-c`, which cannot express a
 * driver named "a=b".  The last value of a key wins, and the overrides come last.
 *
 * git goes through all of them each time it reads its configuration, and searches the environment
 * for each, so their cost grows with the square of their number (measured: 90 pairs add 0.8 ms to a
 * call, 3 pairs add 0.03 ms).  Therefore a key is overridden only when the repository sets it, or
 * when git's own default is wrong for us.
 */

/* Passed when the repository sets the key.  Keys are in lower case, as git lists them; '*' stands
 * for a name that the repository chooses, and such a key is a driver's. */
static const struct override {
    const char *pattern, *value; /* NULL: the key stays as it is */
} table[] = {
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
    /* drivers */
    { "filter.*.clean", "" },
    { "filter.*.smudge", "" },
    { "filter.*.process", "" },
    { "filter.*.required", "false" },
    { "diff.*.command", "" },
    { "diff.*.textconv", "" },
    { "diff.*.binary", "auto" }, /* by the content */
    { "diff.*.xfuncname", "^[[:alpha:]_$]" },
    { "diff.*.funcname", "^[[:alpha:]_$]" },
    { "merge.*.driver", "false" },
    { "remote.*.uploadpack", "git-upload-pack" },
    { "remote.*.receivepack", "git-receive-pack" },
    { "remote.*.vcs", "" },
    { "remote.*.proxy", "" },
    { "credential.*.helper", "" },
    { "submodule.*.update", "none" },
    { "submodule.*.ignore", "dirty" },
    { "trailer.*.command", ":" },
    { "trailer.*.cmd", ":" },
    { "pager.*", "false" },
    { "branch.*.mergeoptions", "" },
    { "branch.*.rebase", "false" },
    { "gpg.*.program", "/bin/false" },
    /* an empty command would make every call fail that has the event */
    { "hook.*.command", NULL },
    { "hook.*.event", NULL },
    { "pretty.*", "medium" },
    { "alias.*", "" },
    { "difftool.*.cmd", "false" },
    { "difftool.*.path", "false" },
    { "mergetool.*.cmd", "false" },
    { "mergetool.*.path", "false" },
    { "browser.*.cmd", "false" },
    { "browser.*.path", "false" },
    { "man.*.cmd", "false" },
    { "man.*.path", "false" },
    { "guitool.*.cmd", "false" },
    { "guitool.*.path", "false" },
};

/* Variables that become false in a subsection of which another key is set. */
static const struct override switches[] = { { "filter.", "required" }, { "hook.", "enabled" } };

/* Settings of what is shown, who commits, and how a command works. */
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

static bool is_of(const struct override *row, const char *key)
{
    const size_t section = strcspn(row->pattern, "*");

    /* Compare the section first: fnmatch(3) is slow on a huge configuration. */
    return row->pattern[section]
               ? !strncmp(row->pattern, key, section) && fnmatch(row->pattern, key, 0) == 0
               : !strcmp(row->pattern, key);
}

bool al_overrides_add_for(struct al_strv *pairs, const char *key)
{
    const struct override *row = table;
    bool is_new;

    while (row < table + AL_COUNT(table) && !is_of(row, key))
        row++;
    if (row == table + AL_COUNT(table))
        return false;
    is_new = row->value && add_once(pairs, key, row->value);
    for (size_t i = 0; i < AL_COUNT(switches); i++)
        if (al_starts_with(row->pattern, switches[i].pattern)) {
            const int stem = (int)(strrchr(key, '.') - key);
            al_auto(al_freep) char *also = al_asprintf("%.*s.%s", stem, key, switches[i].value);

            is_new |= add_once(pairs, also, "false");
        }
    return is_new && strchr(row->pattern, '*');
}
