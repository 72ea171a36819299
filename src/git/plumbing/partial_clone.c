// SPDX-License-Identifier: Apache-2.0
#include "git/plumbing/partial_clone.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>

#include "base/fs.h"
#include "git/command.h"
#include "git/failure.h"
#include "git/plumbing/bare.h"
#include "git/plumbing/batch.h"
#include "git/plumbing/diff_raw.h"
#include "git/repo/repo.h"
#include "guard/text.h"

bool al_repo_is_partial(const struct al_repo *repo)
{
    al_auto(al_freep) char *packs = al_fs_join(repo->at.common_dir, "objects/pack");
    al_auto(al_closedirp) DIR *dir =
        al_fs_list(open(packs, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
    const struct dirent *entry;

    while (dir && (entry = readdir(dir)))
        if (al_ends_with(entry->d_name, ".promisor"))
            return true;
    return false;
}

static int list_batch(const struct al_repo *repo, const char *from, const struct al_str *words,
                      size_t *at, struct al_diff_raw *needed, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;

    al_strv_adds(&command.argv, "git", "diff", "--raw", "-z", "--no-abbrev", "--no-renames",
                 "--no-ext-diff", "--no-textconv", "--ignore-submodules=all", NULL);
    if (from)
        al_strv_add(&command.argv, from);
    al_strv_add(&command.argv, "--");
    if (words->len)
        (void)al_batch_add(&command.argv, words, at);
    return al_git_list_changes(&repo->at, &command, needed, err);
}

static int refuse(const struct al_diff_raw *needed, const char *oid, struct al_error *err)
{
    al_auto(al_freep) char *word = NULL;
    const char *path = "";

    for (size_t i = 0; i < needed->count && !*path; i++)
        if (!strcmp(needed->items[i].old_oid, oid))
            path = needed->items[i].path;
    word = al_text_sanitize_line(path);
    return al_error_remedy(
        al_error_set(err, AL_ERR_EXECUTION,
                     "The content of '%s' was not downloaded, so nothing was done", word),
        err, al_not_downloaded);
}

int al_git_check_downloaded(const struct al_repo *repo, const char *from,
                            const struct al_strv *paths, struct al_error *err)
{
    al_auto(al_diff_raw_clear) struct al_diff_raw needed = AL_DIFF_RAW_INIT;
    al_auto(al_strv_clear) struct al_strv oids = AL_STRV_INIT;
    al_auto(al_strv_clear) struct al_strv missing = AL_STRV_INIT;
    al_auto(al_str_clear) struct al_str words = AL_STR_INIT;
    size_t at = 0;
    int r;

    if (!al_repo_is_partial(repo))
        return 0;
    needed.all = true;
    r = al_repo_pathspecs(repo, paths, &words, err);
    do {
        if (r == 0)
            r = list_batch(repo, from, &words, &at, &needed, err);
    } while (r == 0 && at < words.len);
    /* The old side would be written; a deletion and a gitlink have no content. */
    for (size_t i = 0; r == 0 && i < needed.count; i++)
        if (needed.items[i].old_mode && needed.items[i].old_mode != AL_TYPE_GITLINK)
            al_strv_add(&oids, needed.items[i].old_oid);
    if (r == 0)
        r = al_git_find_objects(&repo->at, &oids, false, NULL, &missing, err);
    return r == 0 && missing.count ? refuse(&needed, missing.items[0], err) : r;
}
