// SPDX-License-Identifier: Apache-2.0
/* No filter runs here: what is staged would be the content that one hides, or was to replace. */
#include <fcntl.h>
#include <sys/stat.h>

#include "git/plumbing/batch.h"
#include "git/plumbing/filters.h"
#include "tools/commands/commands.h"

#define NAMED "--modified", "--others"
#define NEW   NAMED, "--exclude-standard"

/* The files that a line stages: the first row that applies counts. */
static const struct staging {
    struct al_shell_words_form form;
    const char *of[4]; /* options of git ls-files(1); none: nothing is */
    bool all;          /* whatever its words are */
} rows[] = {
    { { "add", " -n --dry-run -N --intent-to-add --refresh " }, { NULL } },
    { { "add", " --renormalize " }, { "--cached" } },
    { { "add", " -u --update " }, { "--modified" } },
    { { "add", " -f --force " }, { NAMED } },
    { { "add" }, { NEW } },
    { { "update-index", " --stdin -g --again " }, { NAMED }, true },
    { { "update-index", " --assume-unchanged --no-assume-unchanged --skip-worktree "
                        "--no-skip-worktree --fsmonitor-valid --no-fsmonitor-valid "
                        "--force-remove " },
      { NULL } },
    { { "update-index", .is_bare = true }, { NULL } },
    { { "update-index" }, { NAMED } },
    { { "commit", " -a --all --pathspec-from-file " }, { "--modified" }, true },
    { { "commit", .is_bare = true }, { NULL } },
    { { "commit" }, { "--modified" } },
    { { "stash", .verbs = " apply branch clear drop export import list pop show store " },
      { NULL } },
    { { "stash", " -a --all " }, { NAMED } },
    { { "stash", " -u --include-untracked " }, { NEW } },
    { { "stash", .verbs = " save create " }, { "--modified" }, true },
    { { "stash" }, { "--modified" } },
};

static int list_staged(const struct al_repo *repo, const struct al_shell_words *words,
                       const struct staging *row, bool all, struct al_strv *ret_paths,
                       struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    static const struct al_shell_words_form pushes = { "stash", .verbs = " push save create " };
    const size_t first = al_shell_words_match(words, &pushes);

    al_strv_add(&command.argv, "git");
    al_strv_add_all(&command.argv, &words->globals);
    al_strv_adds(&command.argv, "ls-files", "-z", "--full-name", NULL);
    for (size_t i = 0; i < AL_COUNT(row->of) && row->of[i]; i++)
        al_strv_add(&command.argv, row->of[i]);
    al_strv_add(&command.argv, "--");
    if (all || row->all || words->operands.count <= first ||
        al_shell_words_have(words, " --pathspec-from-file ", false))
        al_strv_add(&command.argv, ":/");
    else
        for (size_t i = first; i < words->operands.count; i++)
            al_strv_add(&command.argv, words->operands.items[i]);
    return al_git_list_paths(repo, &command, ret_paths, err);
}

int al_shell_check_filters(const struct al_repo *repo, const struct al_shell_words *words,
                           struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv paths = AL_STRV_INIT, files = AL_STRV_INIT;
    al_auto(al_closep) int top_fd = -1;
    const struct staging *row = rows;
    struct stat st;
    int r;

    if (!repo->vetting->filters.count || al_location_is_bare(&repo->at))
        return 0;
    while (row < rows + AL_COUNT(rows) && !al_shell_words_match(words, &row->form))
        row++;
    if (row == rows + AL_COUNT(rows) || !row->of[0])
        return 0;
    r = list_staged(repo, words, row, false, &paths, NULL);
    if (r < 0) /* perhaps git does not take a path */
        r = list_staged(repo, words, row, true, &paths, err);
    if (r == 0)
        r = al_location_open_top(&repo->at, &top_fd, err);
    for (size_t i = 0; r == 0 && i < paths.count; i++)
        if (fstatat(top_fd, paths.items[i], &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode))
            al_strv_add(&files, paths.items[i]);
    return r < 0 || !files.count ? r : al_git_check_filters(repo, &files, NULL, err);
}
