// SPDX-License-Identifier: Apache-2.0
#include "gitops/preview/untracked_overwritten.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gitops/command.h"
#include "gitops/failure.h"
#include "gitops/location.h"
#include "gitops/plumbing/batch.h"
#include "gitops/plumbing/filters.h"
#include "gitops/plumbing/heads.h"
#include "gitops/repo/repo.h"
#include "util/fs.h"

/* Whether a file of this name would overwrite something: the same path, or a file where the path
 * needs a directory. */
static bool is_taken(int top_fd, const char *name)
{
    struct stat st;

    return fstatat(top_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 || errno == ENOTDIR ||
           errno == ELOOP;
}

static int list_for_target(const struct al_repo *repo, const char *target,
                           const struct al_str *words, int top_fd, struct al_run_limits *budget,
                           struct al_strv *out, struct al_error *err)
{
    const char *const deleted[] = { "--cached", "--no-relative", "--diff-filter=D", target, NULL };
    struct al_buffer list = { .max_bytes = AL_PATH_LIST_MAX_BYTES };
    int r = al_batch_list_diff(repo, deleted, words, budget, &list, err);

    for (size_t at = 0; r == 0 && at < list.len; at += strlen(list.data + at) + 1)
        if (is_taken(top_fd, list.data + at))
            al_strv_take(out, al_fs_join(repo->at.top, list.data + at));
    al_buffer_clear(&list);
    return r;
}

/* List for each remote-tracking branch of this name. */
static int list_for_remotes(const struct al_repo *repo, const char *branch,
                            const struct al_str *words, int top_fd, struct al_run_limits *budget,
                            struct al_strv *out, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv refs = AL_STRV_INIT;
    int r = al_git_remote_branches(repo, branch, budget, &refs, err);

    for (size_t i = 0; r == 0 && i < refs.count; i++)
        r = list_for_target(repo, refs.items[i], words, top_fd, budget, out, err);
    return r;
}

int al_git_untracked_overwritten(const struct al_repo *repo, const char *target,
                                 const struct al_strv *paths, struct al_run_limits *budget,
                                 struct al_strv *out, struct al_error *err)
{
    static const char everywhere[] = ":/";
    al_auto(al_error_clear) struct al_error complaint = AL_ERROR_INIT;
    al_auto(al_str_clear) struct al_str words = AL_STR_INIT;
    al_auto(al_closep) int top_fd = -1;
    int r = al_location_open_top(&repo->at, &top_fd, err);

    if (r == 0 && paths && paths->count)
        r = al_repo_pathspecs(repo, paths, budget, &words, err);
    else
        al_str_add(&words, everywhere, sizeof(everywhere));
    if (r < 0)
        return r;
    r = list_for_target(repo, target, &words, top_fd, budget, out, &complaint);
    if (al_git_exited_with_error(r, budget) && !strcmp(target, "HEAD"))
        return 0; /* unborn branch */
    if (al_git_exited_with_error(r, budget))
        return list_for_remotes(repo, target, &words, top_fd, budget, out, err);
    if (r < 0 && err) {
        *err = complaint;
        complaint = AL_ERROR_INIT;
    }
    return r;
}
