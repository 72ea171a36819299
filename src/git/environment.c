// SPDX-License-Identifier: Apache-2.0
#include "git/environment.h"

#include <stdlib.h>

#include "base/fs.h"
#include "git/command.h"
#include "git/layer.h"
#include "git/location.h"
#include "git/overrides.h"
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
        al_env_add(env, "HOME", git->home ? git->home : "/nonexistent");
        if (git->config_home)
            al_env_add(env, "XDG_CONFIG_HOME", git->config_home);
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
