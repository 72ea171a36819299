// SPDX-License-Identifier: Apache-2.0
#include "gitops/porcelain/restore.h"

#include "gitops/command.h"
#include "gitops/git_lock.h"
#include "gitops/plumbing/batch.h"
#include "gitops/plumbing/filters.h"
#include "gitops/plumbing/partial_clone.h"
#include "gitops/plumbing/revision.h"
#include "gitops/refs.h"
#include "gitops/repo/repo.h"
#include "gitops/run.h"
#include "gitops/vet/vet.h"

int al_git_restore_check(const struct al_repo *repo, const struct al_strv *paths,
                         struct al_run_limits *budget, struct al_error *err)
{
    static const char *const tracked[] = { "git", "ls-files", "-z", "--full-name", "--", NULL };
    al_auto(al_str_clear) struct al_str words = AL_STR_INIT;
    struct al_buffer list = { .max_bytes = AL_PATH_LIST_MAX_BYTES };
    int r;

    if (!repo->vetting->filters.count)
        return 0;
    r = al_repo_pathspecs(repo, paths, budget, &words, err);
    if (r == 0)
        r = al_batch_list(repo, tracked, &words, budget, &list, err);
    if (r == 0)
        r = al_git_check_filters(repo, &list, NULL, budget, err);
    al_buffer_clear(&list);
    return r;
}

int al_git_has_staged(const struct al_repo *repo, const struct al_strv *paths,
                      struct al_run_limits *budget, bool *ret_staged, struct al_error *err)
{
    static const char *const staged[] = { "--cached", "--ignore-submodules=dirty", NULL };
    al_auto(al_str_clear) struct al_str words = AL_STR_INIT;
    struct al_buffer list = { .max_bytes = AL_PATH_LIST_MAX_BYTES };
    int r = al_repo_pathspecs(repo, paths, budget, &words, err);

    if (r == 0)
        r = al_batch_list_diff(repo, staged, &words, budget, &list, err);
    *ret_staged = list.len > 0;
    al_buffer_clear(&list);
    return r;
}

static int run_on_paths(struct al_repo *repo, struct al_git_command *command,
                        const struct al_strv *paths, size_t max_bytes, struct al_run_limits *budget,
                        struct al_git_output *ret_output, struct al_error *err)
{
    al_auto(al_str_clear) struct al_str list = AL_STR_INIT;
    int r = al_repo_pathspecs(repo, paths, budget, &list, err);

    if (r < 0)
        return r;
    command->class = AL_GIT_WRITE;
    command->input = list.buf;
    command->input_len = list.len;
    al_strv_adds(&command->argv, "--no-recurse-submodules", "--pathspec-from-file=-",
                 "--pathspec-file-nul", NULL);
    return al_git_run(
        &repo->at, command,
        &(struct al_git_run){ .max_bytes = max_bytes, .waits_for_lock = true, .checked = true },
        budget, ret_output, err);
}

int al_git_restore(struct al_repo *repo, const struct al_restore_options *options, size_t max_bytes,
                   struct al_run_limits *budget, struct al_git_output *ret_output,
                   struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    /* Before the first commit git would ask for HEAD. */
    const bool unborn = !options->source && !options->worktree && al_ref_is_unborn(&repo->at);
    const char *source = unborn ? al_git_empty_tree(repo) : options->source;

    if (options->worktree) {
        const char *head = options->staged ? "HEAD" : NULL;
        int r = al_git_check_downloaded(repo, source ? source : head, options->paths, budget, err);

        if (r < 0)
            return r;
    }
    al_strv_adds(&command.argv, "git", "restore", NULL);
    if (options->staged)
        al_strv_add(&command.argv, "--staged");
    if (options->worktree)
        al_strv_add(&command.argv, "--worktree");
    if (source)
        al_strv_addf(&command.argv, "--source=%s", source);
    return run_on_paths(repo, &command, options->paths, max_bytes, budget, ret_output, err);
}

int al_git_checkout_paths(struct al_repo *repo, const struct al_strv *paths, size_t max_bytes,
                          struct al_run_limits *budget, struct al_git_output *ret_output,
                          struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    int r = al_git_check_downloaded(repo, NULL, paths, budget, err);

    if (r < 0)
        return r;
    al_strv_adds(&command.argv, "git", "checkout", NULL);
    return run_on_paths(repo, &command, paths, max_bytes, budget, ret_output, err);
}

/* --- Reset --- */

int al_git_reset_check(const struct al_repo *repo, const char *oid, enum al_reset_mode mode,
                       struct al_run_limits *budget, struct al_error *err)
{
    int r;

    if (mode != AL_RESET_KEEP && mode != AL_RESET_HARD)
        return 0;
    r = al_git_check_filters_between(repo, oid, NULL, budget, err);
    return r < 0 ? r : al_git_check_downloaded(repo, oid, NULL, budget, err);
}

int al_git_reset(struct al_repo *repo, const char *oid, enum al_reset_mode mode,
                 struct al_run_limits *budget, struct al_error *err)
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
    return al_git_write(&repo->at, &command, AL_LOCK_INDEX, budget, err);
}
