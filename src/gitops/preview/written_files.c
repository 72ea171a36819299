// SPDX-License-Identifier: Apache-2.0
#include "gitops/preview/written_files.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "gitops/command.h"
#include "gitops/plumbing/batch.h"
#include "gitops/plumbing/index_facts.h"
#include "gitops/refs.h"
#include "util/fs.h"

/* A list that git could not make, or that is too long, is not known. */
static int not_known(int r, struct al_error *err)
{
    if (r != AL_ERR_EXECUTION)
        return r;
    if (err)
        al_error_clear(err);
    return 0;
}

/* Whether a file is in the git directory. */
static bool has(const struct al_repo *repo, const char *name)
{
    al_auto(al_freep) char *path = al_fs_join(repo->at.git_dir, name);

    return access(path, F_OK) == 0;
}

/* Patterns of a sparse checkout may have changed since git last looked at them.  It would then
 * write and remove files that no tree says. */
bool al_git_index_tells(const struct al_repo *repo)
{
    al_auto(al_freep) char *head = al_ref_head(&repo->at);

    return *head && has(repo, "index") && !has(repo, "info/sparse-checkout") &&
           !al_repo_may_have_marks(&repo->at);
}

static void add_files(const struct al_repo *repo, const struct al_buffer *list, struct al_strv *out)
{
    for (size_t at = 0; at < list->len; at += strlen(list->data + at) + 1)
        al_strv_take(out, al_fs_join(repo->at.top, list->data + at));
}

/* Run a command that lists paths, and append them. */
static int list(const struct al_repo *repo, const struct al_git_command *command,
                struct al_run_limits *budget, bool *ret_known, struct al_strv *out,
                struct al_error *err)
{
    struct al_buffer found = { .max_bytes = AL_PATH_LIST_MAX_BYTES };
    int r = al_git_list_paths(repo, command, budget, &found, err);

    *ret_known = r == 0;
    if (r == 0)
        add_files(repo, &found, out);
    al_buffer_clear(&found);
    return not_known(r, err);
}

int al_git_switched_files(const struct al_repo *repo, const char *target,
                          struct al_run_limits *budget, bool *ret_known, struct al_strv *out,
                          struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_freep) char *head = al_ref_head(&repo->at);

    *ret_known = al_git_index_tells(repo);
    if (!*ret_known || !strcmp(head, target))
        return 0;
    al_strv_adds(&command.argv, "git", "diff-tree", "-r", "-z", "--name-only", "--no-renames", head,
                 target, NULL);
    return list(repo, &command, budget, ret_known, out, err);
}

static int add_untracked(const struct al_repo *repo, struct al_run_limits *budget, bool *ret_known,
                         struct al_strv *out, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;

    al_strv_adds(&command.argv, "git", "-C", repo->at.top, "ls-files", "-z", "--others",
                 "--exclude-standard", NULL);
    return list(repo, &command, budget, ret_known, out, err);
}

/* What differs between a tree and the index, or between the index and the files. */
static int add_differing(const struct al_repo *repo, const char *target,
                         const struct al_strv *paths, struct al_run_limits *budget, bool *ret_known,
                         struct al_strv *out, struct al_error *err)
{
    static const char everywhere[] = ":/";
    const char *const command[] = { "git",          "diff-index", "-z", "--name-only",
                                    "--no-renames", target,       "--", NULL };
    struct al_buffer found = { .max_bytes = AL_PATH_LIST_MAX_BYTES };
    al_auto(al_str_clear) struct al_str words = AL_STR_INIT;
    int r = 0;

    if (paths && paths->count)
        r = al_repo_pathspecs(repo, paths, budget, &words, err);
    else
        al_str_add(&words, everywhere, sizeof(everywhere));
    if (r == 0)
        r = al_batch_list(repo, command, &words, budget, &found, err);
    *ret_known = r == 0;
    if (r == 0)
        add_files(repo, &found, out);
    al_buffer_clear(&found);
    return not_known(r, err);
}

int al_git_reset_files(const struct al_repo *repo, const char *target, const struct al_strv *paths,
                       bool untracked, struct al_run_limits *budget, bool *ret_known,
                       struct al_strv *out, struct al_error *err)
{
    int r = 0;

    *ret_known = al_git_index_tells(repo);
    if (*ret_known)
        r = add_differing(repo, target, paths, budget, ret_known, out, err);
    return r == 0 && *ret_known && untracked ? add_untracked(repo, budget, ret_known, out, err) : r;
}
