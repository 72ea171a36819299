// SPDX-License-Identifier: Apache-2.0
#include "gitops/preview/commits.h"

#include <sys/stat.h>

#include "gitops/excerpt.h"
#include "gitops/plumbing/revision.h"
#include "gitops/preview/verify_objects.h"
#include "gitops/run.h"
#include "util/fs.h"

#define LIST_MAX_BYTES (64u * 1024u)

static bool is_shallow(const struct al_repo *repo)
{
    al_auto(al_freep) char *path = al_fs_join(repo->at.common_dir, "shallow");
    struct stat st;

    return lstat(path, &st) == 0;
}

static int list(const struct al_repo *repo, const struct al_commits_shown *shown,
                struct al_run_limits *budget, struct al_git_output *ret_output,
                struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;

    command.show_controls = true;
    al_strv_adds(&command.argv, "git", "-c", AL_NO_COMMIT_GRAPH, "log", "--no-decorate",
                 "--no-show-signature", "--no-color", NULL);
    al_strv_addf(&command.argv, "--format=%s", shown->format);
    for (const char *const *word = shown->words; *word; word++)
        al_strv_add(&command.argv, *word);
    al_strv_add(&command.argv, "--");
    return al_git_run(
        &repo->at, &command,
        &(struct al_git_run){ .max_bytes = al_git_excerpt_bytes(budget, LIST_MAX_BYTES),
                              .checked = true },
        budget, ret_output, err);
}

int al_git_commits_excerpt(const struct al_repo *repo, const struct al_commits_shown *shown,
                           struct al_run_limits *budget, struct al_str *out, bool *ret_any,
                           struct al_error *err)
{
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    bool all = true;
    int r = al_git_verify_commits(repo, shown->words, budget, &all, err);

    if (r == 0)
        r = list(repo, shown, budget, &output, err);
    if (r < 0)
        return r;
    *ret_any = output.out.out.len > 0;
    if (!*ret_any)
        return 0;
    if (!all)
        al_str_adds(out, "There are too many commits to verify all of them.\n");
    al_str_addf(out, "%s\n", shown->title);
    al_git_add_excerpt(budget, output.out.out.buf, output.out.out.len, output.stopped, out);
    if (is_shallow(repo))
        al_str_adds(out, "The repository is shallow (.git/shallow): commits beyond its boundary "
                         "are not listed.\n");
    return 0;
}
