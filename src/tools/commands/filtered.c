// SPDX-License-Identifier: Apache-2.0
/* No filter runs here: what is staged would be the content that one hides, or was to replace. */
#include <fcntl.h>
#include <sys/stat.h>

#include "git/plumbing/batch.h"
#include "git/plumbing/filters.h"
#include "tools/commands/commands.h"

/* The files that a line stages. */
struct staging {
    struct al_strv of; /* options of git ls-files(1); none: nothing is */
    bool names;        /* only below its operands, from `first` on */
    size_t first;
};

static void add_others(const struct al_shell_words *words, const char *all, struct al_strv *of)
{
    al_strv_add(of, "--others");
    if (!al_shell_words_have(words, all, false))
        al_strv_add(of, "--exclude-standard");
}

static void find_staging(const struct al_shell_words *words, struct staging *ret)
{
    static const char *const elsewhere =
        " apply branch clear drop export import list pop show store ";
    const char *verb = words->others.count ? words->others.items[0] : "";
    const bool adds = al_shell_words_are(words, "add", NULL),
               sets = al_shell_words_are(words, "update-index", NULL);

    ret->names = words->operands.count;
    if (adds && !al_shell_words_are(words, "add", " -n --dry-run -N --intent-to-add --refresh ")) {
        al_strv_add(&ret->of, al_shell_words_are(words, "add", " --renormalize ") ? "--cached"
                                                                                  : "--modified");
        if (!al_shell_words_are(words, "add", " -u --update --renormalize "))
            add_others(words, " -f --force ", &ret->of);
    } else if (sets &&
               (al_shell_words_are(words, "update-index", " --stdin -g --again ") ||
                (words->operands.count &&
                 !al_shell_words_are(words, "update-index",
                                     " --assume-unchanged --no-assume-unchanged --skip-worktree "
                                     "--no-skip-worktree --fsmonitor-valid --no-fsmonitor-valid "
                                     "--force-remove ")))) {
        ret->names &= !al_shell_words_are(words, "update-index", " --stdin -g --again ");
        al_strv_adds(&ret->of, "--modified", "--others", NULL);
    } else if (al_shell_words_are(words, "commit", " -a --all --pathspec-from-file ") ||
               (al_shell_words_are(words, "commit", NULL) && words->operands.count)) {
        ret->names &= !al_shell_words_are(words, "commit", " -a --all --pathspec-from-file ");
        al_strv_add(&ret->of, "--modified");
    } else if (al_shell_words_are(words, "stash", NULL) && !al_shell_words_list(elsewhere, verb)) {
        ret->first = !strcmp(verb, "push");
        ret->names =
            words->operands.count > ret->first && !al_shell_words_list(" save create ", verb);
        al_strv_add(&ret->of, "--modified");
        if (al_shell_words_are(words, "stash", " -u --include-untracked -a --all "))
            add_others(words, " -a --all ", &ret->of);
    }
    ret->names &= !al_shell_words_have(words, " --pathspec-from-file ", false);
}

static int list_staged(const struct al_repo *repo, const struct al_shell_words *words,
                       const struct staging *staging, struct al_strv *ret_paths,
                       struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;

    al_strv_add(&command.argv, "git");
    al_strv_add_all(&command.argv, &words->globals);
    al_strv_adds(&command.argv, "ls-files", "-z", "--full-name", NULL);
    al_strv_add_all(&command.argv, &staging->of);
    al_strv_add(&command.argv, "--");
    for (size_t i = staging->first; staging->names && i < words->operands.count; i++)
        al_strv_add(&command.argv, words->operands.items[i]);
    if (!staging->names)
        al_strv_add(&command.argv, ":/");
    return al_git_list_paths(repo, &command, ret_paths, err);
}

int al_shell_check_filters(const struct al_repo *repo, const struct al_shell_words *words,
                           struct al_error *err)
{
    struct staging staging = { .of = AL_STRV_INIT };
    al_auto(al_strv_clear) struct al_strv paths = AL_STRV_INIT, files = AL_STRV_INIT;
    al_auto(al_closep) int top_fd = -1;
    struct stat st;
    int r = 0;

    if (repo->vetting->filters.count && !al_location_is_bare(&repo->at))
        find_staging(words, &staging);
    if (staging.of.count && list_staged(repo, words, &staging, &paths, NULL) < 0) {
        staging.names = false; /* perhaps git does not take a path */
        r = list_staged(repo, words, &staging, &paths, err);
    }
    al_strv_clear(&staging.of);
    if (r == 0 && paths.count)
        r = al_location_open_top(&repo->at, &top_fd, err);
    for (size_t i = 0; r == 0 && i < paths.count; i++)
        if (fstatat(top_fd, paths.items[i], &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode))
            al_strv_add(&files, paths.items[i]);
    return r < 0 || !files.count ? r : al_git_check_filters(repo, &files, NULL, err);
}
