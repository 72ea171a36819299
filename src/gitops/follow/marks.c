// SPDX-License-Identifier: Apache-2.0
/* The marks of index entries: assume-unchanged and skip-worktree. */
#include <ctype.h>
#include <string.h>
#include <sys/stat.h>

#include "gitops/follow/paths.h"
#include "gitops/preview/unseen_changes.h"
#include "util/fs.h"

/* "<tag> SP <path>".  The tag is a small letter for assume-unchanged, and S for skip-worktree. */
static bool take_mark(void *payload, char *const *fields)
{
    const char tag = fields[0][0];
    struct al_follow_path *path =
        tag && fields[0][1] == ' ' ? al_follow_paths_find(payload, fields[0] + 2) : NULL;

    if (!path)
        return true;
    path->assumes_unchanged = islower((unsigned char)tag) != 0;
    path->skips_worktree = tag == 'S' || tag == 's';
    return true;
}

/* The files of marked entries that differ from their entries. */
static int find_changed(const struct al_follow *with, struct al_follow_paths *paths,
                        const struct al_str *words, struct al_run_limits *budget,
                        struct al_error *err)
{
    al_auto(al_unseen_changes_clear) struct al_unseen_changes unseen = AL_UNSEEN_CHANGES_INIT;
    const struct al_buffer known = { .data = NULL };
    int r = al_git_find_unseen_changes(with->repo, words, &known, budget, &unseen, err);

    for (size_t at = 0; r == 0 && at < unseen.names.len; at += strlen(unseen.names.data + at) + 1) {
        struct al_follow_path *path = al_follow_paths_find(paths, unseen.names.data + at);

        if (path)
            path->file_changed = true;
    }
    return r;
}

static void find_missing(const struct al_follow *with, struct al_follow_path *path)
{
    al_auto(al_freep) char *file = al_fs_join(with->repo->at.top, path->name);
    struct stat st;

    if (path->skips_worktree && lstat(file, &st) < 0)
        path->is_missing = path->file_changed = true;
}

int al_follow_look_at_marks(const struct al_follow *with, struct al_follow_paths *paths,
                            struct al_run_limits *budget, struct al_error *err)
{
    const char *const entries[] = { "-C", with->repo->at.top, "ls-files", "-v", "-z", NULL };
    al_auto(al_str_clear) struct al_str words = AL_STR_INIT;
    int r = al_follow_read(with, entries, paths, take_mark, 1, budget, err);

    for (size_t i = 0; i < paths->count && r == 0; i++) {
        struct al_follow_path *path = &paths->items[i];

        if (!path->assumes_unchanged && !path->skips_worktree)
            continue;
        al_str_addf(&words, ":(top,literal)%s", path->name);
        al_str_addc(&words, '\0');
        find_missing(with, path);
    }
    return r < 0 || !words.len ? r : find_changed(with, paths, &words, budget, err);
}

static int mark(const struct al_follow *with, const char *option, const struct al_str *names,
                struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;

    if (!names->len)
        return 0;
    command.input = names->buf;
    command.input_len = names->len;
    al_strv_adds(&command.argv, "git", "-C", with->repo->at.top, "update-index", option, "-z",
                 "--stdin", NULL);
    return al_follow_run(with, &command, budget, NULL, err);
}

int al_follow_restore_marks(const struct al_follow *with, const struct al_follow_paths *paths,
                            struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_str_clear) struct al_str assumed = AL_STR_INIT;
    al_auto(al_str_clear) struct al_str skipped = AL_STR_INIT;
    int r;

    for (size_t i = 0; i < paths->count; i++) {
        const struct al_follow_path *path = &paths->items[i];
        const size_t len = strlen(path->name) + 1;

        if (path->entry_changed || al_follow_path_is_deleted(path))
            continue;
        if (path->assumes_unchanged)
            al_str_add(&assumed, path->name, len);
        if (path->skips_worktree)
            al_str_add(&skipped, path->name, len);
    }
    r = mark(with, "--assume-unchanged", &assumed, budget, err);
    return r < 0 ? r : mark(with, "--skip-worktree", &skipped, budget, err);
}
