// SPDX-License-Identifier: Apache-2.0
#include "verbs/porcelain/checkout.h"

#include <stdlib.h>

#include "git/command.h"
#include "git/git_lock.h"
#include "git/plumbing/batch.h"
#include "git/plumbing/filters.h"
#include "git/plumbing/revision.h"
#include "git/refs.h"
#include "git/repo/repo.h"
#include "git/run.h"
#include "git/vet/vet.h"

int al_git_checkout(struct al_repo *repo, const struct al_checkout_options *options,
                    size_t max_bytes, struct al_git_output *ret_output, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    const char *target = options->branch ? options->branch : options->commit;
    int r = 0;

    if (options->force && !options->create)
        r = al_git_check_downloaded(repo, target, NULL, err);
    if (r < 0)
        return r;
    command.class = AL_GIT_WRITE;
    al_strv_adds(&command.argv, "git", "checkout", NULL);
    if (options->force)
        al_strv_add(&command.argv, "--force");
    if (options->create && options->from) {
        al_strv_adds(&command.argv, "--no-recurse-submodules", "--no-overwrite-ignore", NULL);
        if (al_starts_with(options->from, "refs/remotes/"))
            al_strv_add(&command.argv, "--track"); /* whatever branch.autoSetupMerge says */
        al_strv_adds(&command.argv, "-b", options->create, options->from, "--", NULL);
    } else if (options->create) /* with any further option git would rewrite the index */
        al_strv_adds(&command.argv, "-b", options->create, NULL);
    else if (options->branch)
        al_strv_adds(&command.argv, "--no-recurse-submodules", "--no-overwrite-ignore",
                     options->branch, "--", NULL);
    else
        al_strv_adds(&command.argv, "--no-recurse-submodules", "--no-overwrite-ignore",
                     "--no-guess", options->commit, "--", NULL);
    return al_git_run(
        &repo->at, &command,
        &(struct al_git_run){ .max_bytes = max_bytes, .locks = AL_LOCK_INDEX, .checked = true },
        ret_output, err);
}

static int name_branch(const struct al_repo *repo, const char *word, char **ret_branch,
                       struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_freep) char *ref = al_asprintf("refs/heads/%s", word);
    al_auto(al_freep) char *name = NULL;
    al_auto(al_freep) char *other = NULL;
    int r;

    if (al_ref_exists(&repo->at, ref)) {
        *ret_branch = al_take(&ref);
        return 0;
    }
    if (!strstr(word, "@{"))
        return 0;
    /* "@{-1}" and "main@{upstream}" may be branches; checkout resolves them in the same way. */
    al_strv_adds(&command.argv, "git", "check-ref-format", "--branch", word, NULL);
    r = al_git_run_word(repo, &command, &name, err);
    if (r < 0 || !name)
        return r;
    other = al_asprintf("refs/heads/%s", name);
    if (al_ref_exists(&repo->at, other))
        *ret_branch = al_take(&other);
    return 0;
}

/* List the remote-tracking branches that git would create `name` from, each with its commit. */
static int list_remote_branches(const struct al_repo *repo, const char *name, char **ret_guess,
                                struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv refs = AL_STRV_INIT;
    struct al_str guess = AL_STR_INIT;
    int r = al_git_remote_branches(repo, name, &refs, err);

    for (size_t i = 0; r == 0 && i < refs.count; i++) {
        al_auto(al_freep) char *oid = al_ref_oid(&repo->at, refs.items[i]);

        al_str_addf(&guess, "%s %s\n", refs.items[i], oid);
    }
    if (r == 0)
        *ret_guess = al_str_detach(&guess);
    al_str_clear(&guess);
    return r;
}

void al_checkout_target_clear(struct al_checkout_target *target)
{
    free(target->branch);
    free(target->oid);
    free(target->guess);
}

int al_git_resolve_checkout(const struct al_repo *repo, const char *word,
                            struct al_checkout_target *ret_target, struct al_error *err)
{
    int r = name_branch(repo, word, &ret_target->branch, err);

    if (r == 0 && ret_target->branch)
        ret_target->oid = al_ref_oid(&repo->at, ret_target->branch);
    else if (r == 0)
        r = al_git_find_object(repo, word, "commit", &ret_target->oid, err);
    if (r == 0 && !ret_target->oid)
        r = list_remote_branches(repo, word, &ret_target->guess, err);
    return r;
}

/* --- Checkout from --- */

/* Restore files from a commit, in the index and the working tree. */

/* Report git's complaint about a missing commit as a missing branch. */
static int about_target(int r, struct al_error *err)
{
    if (r == AL_ERR_EXECUTION && err && err->code == AL_CODE_NONE && err->reason)
        err->code = AL_CODE_BRANCH_NOT_FOUND;
    return r;
}

/* List the files that differ from the commit and exist in it. */
static int list_files(const struct al_repo *repo, const struct al_checkout_from *from,
                      struct al_strv *list, struct al_error *err)
{
    const char *const present[] = { "--diff-filter=a", "--ignore-submodules=dirty", from->target,
                                    NULL };
    al_auto(al_str_clear) struct al_str specs = AL_STR_INIT;
    int r = al_repo_pathspecs(repo, from->paths, &specs, err);

    return r < 0 ? r : about_target(al_batch_list_diff(repo, present, &specs, list, err), err);
}

int al_git_checkout_from_check(const struct al_repo *repo, const struct al_checkout_from *from,
                               struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv list = AL_STRV_INIT;
    int r = list_files(repo, from, &list, err);

    /* Two sets of attributes may apply to a file: the present ones, and those of the commit. */
    if (r == 0)
        r = al_git_check_filters(repo, &list, NULL, err);
    return r < 0 ? r : al_git_check_filters(repo, &list, from->target, err);
}

int al_git_checkout_from(struct al_repo *repo, const struct al_checkout_from *from,
                         struct al_strv *ret_files, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_str_clear) struct al_str specs = AL_STR_INIT;
    int r = list_files(repo, from, ret_files, err);

    if (r == 0)
        r = al_git_check_downloaded(repo, from->target, from->paths, err);
    if (r == 0)
        r = al_repo_pathspecs(repo, from->paths, &specs, err);
    if (r < 0)
        return r;
    al_git_command_feed(&command, &specs);
    al_strv_adds(&command.argv, "git", "checkout", "--no-guess", "--no-recurse-submodules", NULL);
    if (from->force)
        al_strv_add(&command.argv, "--force");
    al_strv_adds(&command.argv, "--pathspec-from-file=-", "--pathspec-file-nul", from->target, "--",
                 NULL);
    return al_git_write(&repo->at, &command, AL_LOCK_INDEX, err);
}

/* --- Restore, and reset --- */

int al_git_restore_check(const struct al_repo *repo, const struct al_strv *paths,
                         struct al_error *err)
{
    static const char *const tracked[] = { "git", "ls-files", "-z", "--full-name", "--", NULL };
    al_auto(al_str_clear) struct al_str words = AL_STR_INIT;
    al_auto(al_strv_clear) struct al_strv list = AL_STRV_INIT;
    int r;

    if (!repo->vetting->filters.count)
        return 0;
    r = al_repo_pathspecs(repo, paths, &words, err);
    if (r == 0)
        r = al_batch_list(repo, tracked, &words, &list, err);
    return r < 0 ? r : al_git_check_filters(repo, &list, NULL, err);
}

int al_git_has_staged(const struct al_repo *repo, const struct al_strv *paths, bool *ret_staged,
                      struct al_error *err)
{
    static const char *const staged[] = { "--cached", "--ignore-submodules=dirty", NULL };
    al_auto(al_str_clear) struct al_str words = AL_STR_INIT;
    al_auto(al_strv_clear) struct al_strv list = AL_STRV_INIT;
    int r = al_repo_pathspecs(repo, paths, &words, err);

    if (r == 0)
        r = al_batch_list_diff(repo, staged, &words, &list, err);
    *ret_staged = list.count > 0;
    return r;
}

int al_git_restore(struct al_repo *repo, const struct al_restore_options *options, size_t max_bytes,
                   struct al_git_output *ret_output, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    /* Before the first commit git would ask for HEAD. */
    const bool unborn = !options->source && !options->worktree && al_ref_is_unborn(&repo->at);
    const char *source = unborn ? al_git_empty_tree(repo) : options->source;
    const char *head = options->staged ? "HEAD" : NULL;
    al_auto(al_str_clear) struct al_str list = AL_STR_INIT;
    int r = 0;

    if (options->worktree)
        r = al_git_check_downloaded(repo, source ? source : head, options->paths, err);
    if (r == 0)
        r = al_repo_pathspecs(repo, options->paths, &list, err);
    if (r < 0)
        return r;
    command.class = AL_GIT_WRITE;
    al_git_command_feed(&command, &list);
    al_strv_adds(&command.argv, "git", "restore", NULL);
    if (options->staged)
        al_strv_add(&command.argv, "--staged");
    if (options->worktree)
        al_strv_add(&command.argv, "--worktree");
    if (source)
        al_strv_addf(&command.argv, "--source=%s", source);
    al_strv_adds(&command.argv, "--no-recurse-submodules", "--pathspec-from-file=-",
                 "--pathspec-file-nul", NULL);
    return al_git_run(
        &repo->at, &command,
        &(struct al_git_run){ .max_bytes = max_bytes, .locks = AL_LOCK_INDEX, .checked = true },
        ret_output, err);
}

/* --- Reset --- */

int al_git_reset_check(const struct al_repo *repo, const char *oid, enum al_reset_mode mode,
                       struct al_error *err)
{
    int r;

    if (mode != AL_RESET_KEEP && mode != AL_RESET_HARD)
        return 0;
    r = al_git_check_filters_between(repo, oid, NULL, err);
    return r < 0 ? r : al_git_check_downloaded(repo, oid, NULL, err);
}

int al_git_reset(struct al_repo *repo, const char *oid, enum al_reset_mode mode,
                 struct al_error *err)
{
    static const char *const words[] = {
        [AL_RESET_MIXED] = "--mixed",
        [AL_RESET_SOFT] = "--soft",
        [AL_RESET_KEEP] = "--keep",
        [AL_RESET_HARD] = "--hard",
    };
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;

    al_strv_adds(&command.argv, "git", "reset", "-q", "--no-recurse-submodules", words[mode], oid,
                 "--", NULL);
    return al_git_write(&repo->at, &command, AL_LOCK_INDEX, err);
}
