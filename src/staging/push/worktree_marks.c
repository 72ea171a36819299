// SPDX-License-Identifier: Apache-2.0
/* The marks of index entries: assume-unchanged and skip-worktree. */
#include <ctype.h>
#include <string.h>
#include <sys/stat.h>

#include "gitops/preview/unseen_changes.h"
#include "staging/push/private.h"
#include "staging/push/worktree_paths.h"
#include "util/fs.h"

/* "<tag> SP <path>".  The tag is a small letter for assume-unchanged, and S for skip-worktree. */
static bool take_mark(void *payload, char *const *fields)
{
    const char tag = fields[0][0];
    struct al_worktree_path *path =
        tag && fields[0][1] == ' ' ? al_worktree_paths_find(payload, fields[0] + 2) : NULL;

    if (!path)
        return true;
    path->assumes_unchanged = islower((unsigned char)tag) != 0;
    path->skips_worktree = tag == 'S' || tag == 's';
    return true;
}

/* The files of marked entries that differ from their entries. */
static int find_changed(const struct al_push *push, struct al_worktree_paths *paths,
                        const struct al_str *words, struct al_run_limits *budget,
                        struct al_error *err)
{
    al_auto(al_unseen_changes_clear) struct al_unseen_changes unseen = AL_UNSEEN_CHANGES_INIT;
    const struct al_buffer known = { .data = NULL };
    int r = al_git_find_unseen_changes(push->repo, words, &known, budget, &unseen, err);

    for (size_t at = 0; r == 0 && at < unseen.names.len; at += strlen(unseen.names.data + at) + 1) {
        struct al_worktree_path *path = al_worktree_paths_find(paths, unseen.names.data + at);

        if (path)
            path->file_changed = true;
    }
    return r;
}

static void find_missing(const struct al_push *push, struct al_worktree_path *path)
{
    al_auto(al_freep) char *file = al_fs_join(push->repo->at.top, path->name);
    struct stat st;

    if (path->skips_worktree && lstat(file, &st) < 0)
        path->is_missing = path->file_changed = true;
}

int al_worktree_marks_look(const struct al_push *push, struct al_worktree_paths *paths,
                           struct al_run_limits *budget, struct al_error *err)
{
    const char *const entries[] = { "-C", push->repo->at.top, "ls-files", "-v", "-z", NULL };
    al_auto(al_str_clear) struct al_str words = AL_STR_INIT;
    int r = al_push_worktree_read(push, entries, paths, take_mark, 1, budget, err);

    for (size_t i = 0; i < paths->count && r == 0; i++) {
        struct al_worktree_path *path = &paths->items[i];

        if (!path->assumes_unchanged && !path->skips_worktree)
            continue;
        al_str_addf(&words, ":(top,literal)%s", path->name);
        al_str_addc(&words, '\0');
        find_missing(push, path);
    }
    return r < 0 || !words.len ? r : find_changed(push, paths, &words, budget, err);
}

static int mark(const struct al_push *push, const char *option, const struct al_str *names,
                struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;

    if (!names->len)
        return 0;
    command.input = names->buf;
    command.input_len = names->len;
    al_strv_adds(&command.argv, "git", "-C", push->repo->at.top, "update-index", option, "-z",
                 "--stdin", NULL);
    return al_push_worktree_run(push, &command, budget, NULL, err);
}

int al_worktree_marks_restore(const struct al_push *push, const struct al_worktree_paths *paths,
                              struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_str_clear) struct al_str assumed = AL_STR_INIT;
    al_auto(al_str_clear) struct al_str skipped = AL_STR_INIT;
    int r;

    for (size_t i = 0; i < paths->count; i++) {
        const struct al_worktree_path *path = &paths->items[i];
        const size_t len = strlen(path->name) + 1;

        if (path->entry_changed || al_worktree_path_is_deleted(path))
            continue;
        if (path->assumes_unchanged)
            al_str_add(&assumed, path->name, len);
        if (path->skips_worktree)
            al_str_add(&skipped, path->name, len);
    }
    r = mark(push, "--assume-unchanged", &assumed, budget, err);
    return r < 0 ? r : mark(push, "--skip-worktree", &skipped, budget, err);
}
