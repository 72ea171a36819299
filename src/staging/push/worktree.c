// SPDX-License-Identifier: Apache-2.0
/*
 * After a push moved the branch that the target has checked out: index and files follow.
 *
 *   a changed path                          its index entry    its file
 *
 *   as the old commit has it                follows            follows
 *   entry as the old commit, file changed   follows            stays
 *   entry changed                           stays              stays
 *
 * git does it with a merge of two trees, which changes no file that is not as its entry says.  The
 * second tree has the paths of the first row; the entries of the second row are set afterwards.
 *
 * Source: git-read-tree(1) "Two Tree Merge".
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gitops/private_dir.h"
#include "guard/text.h"
#include "staging/push/private.h"
#include "staging/push/worktree_paths.h"

#define NAMED_MAX 20
#define TRIES_MAX 20 /* each leaves out at least one path more */

/* "<mode> SP <oid> TAB <path>" NUL for paths whose files follow (`whole`), or only their entries.
 */
static size_t add_entries(const struct al_worktree_paths *paths, bool whole, struct al_str *out)
{
    size_t count = 0;

    for (size_t i = 0; i < paths->count; i++) {
        const struct al_worktree_path *path = &paths->items[i];

        if (path->entry_changed || path->file_changed == whole)
            continue;
        al_str_addf(out, "%s %s\t%s", al_worktree_path_is_deleted(path) ? "0" : path->mode,
                    path->oid, path->name);
        al_str_addc(out, '\0');
        count++;
    }
    return count;
}

static int set_entries(const struct al_push *push, const struct al_str *entries, const char *index,
                       struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;

    command.index = index;
    command.input = entries->buf;
    command.input_len = entries->len;
    al_strv_adds(&command.argv, "git", "update-index", "-z", "--index-info", NULL);
    return al_push_worktree_run(push, &command, budget, NULL, err);
}

/* The tree of the old commit with the paths whose files follow. */
static int make_tree(const struct al_push *push, const struct al_str *entries,
                     struct al_run_limits *budget, struct al_str *ret_tree, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command read = AL_GIT_COMMAND_INIT;
    al_auto(al_git_command_clear) struct al_git_command write = AL_GIT_COMMAND_INIT;
    al_auto(al_freep) char *index = al_git_private_name(push->repo->at.git, "push");
    int r;

    read.index = write.index = index;
    al_strv_adds(&read.argv, "git", "read-tree", al_push_old(push), NULL);
    al_strv_adds(&write.argv, "git", "write-tree", "--missing-ok", NULL);
    r = al_push_worktree_run(push, &read, budget, NULL, err);
    if (r == 0 && entries->len)
        r = set_entries(push, entries, index, budget, err);
    if (r == 0)
        r = al_push_worktree_run(push, &write, budget, ret_tree, err);
    (void)unlink(index);
    al_str_trim_end(ret_tree);
    return r;
}

static int merge_trees(const struct al_push *push, const char *to, struct al_run_limits *budget,
                       struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;

    al_strv_adds(&command.argv, "git", "read-tree", "-m", "-u", al_push_old(push), to, NULL);
    return al_push_worktree_run(push, &command, budget, NULL, err);
}

/* git names the file that it would overwrite, which was not there or not changed a moment ago. */
static void add_refused(const struct al_worktree_paths *paths, const char *message,
                        struct al_strv *refused)
{
    for (size_t i = 0; i < paths->count; i++) {
        al_auto(al_freep) char *safe = al_text_sanitize_line(paths->items[i].name);
        al_auto(al_freep) char *quoted = al_asprintf("'%s'", safe);

        if (strstr(message, quoted))
            al_strv_add(refused, paths->items[i].name);
    }
}

static void leave(struct al_worktree_paths *paths, const struct al_strv *names)
{
    for (size_t i = 0; i < names->count; i++) {
        struct al_worktree_path *path = al_worktree_paths_find(paths, names->items[i]);

        if (path)
            path->file_changed = true;
    }
}

static void leave_all(struct al_worktree_paths *paths)
{
    for (size_t i = 0; i < paths->count; i++)
        paths->items[i].file_changed = true;
}

/* Bring along what the user has not changed.  `ret_why` is set when git would not. */
static int bring(const struct al_push *push, const char *commit,
                 const struct al_worktree_paths *paths, struct al_run_limits *budget,
                 struct al_error *ret_why, struct al_error *err)
{
    al_auto(al_str_clear) struct al_str follow = AL_STR_INIT;
    al_auto(al_str_clear) struct al_str tree = AL_STR_INIT;
    int r = 0;

    if (add_entries(paths, true, &follow) == paths->count)
        al_str_adds(&tree, commit);
    else
        r = make_tree(push, &follow, budget, &tree, err);
    if (r == 0)
        (void)merge_trees(push, tree.buf, budget, ret_why);
    return r;
}

/* A file may get in the way after it was looked for.  Then all is looked at again; whatever git
 * refuses is left out, one path after the other. */
static int follow(const struct al_push *push, const char *commit, struct al_worktree_paths *paths,
                  struct al_run_limits *budget, struct al_strv *notes, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv refused = AL_STRV_INIT;
    al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;
    size_t before = SIZE_MAX;

    for (int i = 0; i < TRIES_MAX; i++) {
        al_auto(al_str_clear) struct al_str entries = AL_STR_INIT;
        size_t count;
        int r;

        al_worktree_paths_clear(paths);
        r = al_worktree_paths_look(push, commit, paths, budget, err);
        if (r < 0)
            return r;
        leave(paths, &refused);
        count = add_entries(paths, true, &entries);
        if (count >= before)
            break;
        before = count;
        al_error_clear(&why);
        r = bring(push, commit, paths, budget, &why, err);
        if (r < 0 || !why.message)
            return r;
        add_refused(paths, why.message, &refused);
    }
    al_strv_addf(notes, "git would not change the files in %s: %s", push->shown, why.message);
    leave_all(paths);
    return 0;
}

static void name_those_left(const struct al_push *push, const struct al_worktree_paths *paths,
                            struct al_strv *notes)
{
    al_auto(al_strv_clear) struct al_strv left = AL_STRV_INIT;
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;

    for (size_t i = 0; i < paths->count; i++) {
        const struct al_worktree_path *path = &paths->items[i];

        if (path->entry_changed || (path->file_changed && !path->is_missing))
            al_strv_add(&left, path->name);
    }
    if (!left.count)
        return;
    al_str_addf(&line, "Changed in the working tree of %s and left as they are: ", push->shown);
    al_text_add_list(&line, &left, NAMED_MAX);
    al_strv_add(notes, line.buf);
}

int al_push_worktree(const struct al_push *push, const char *commit, struct al_run_limits *budget,
                     struct al_strv *notes, struct al_error *err)
{
    al_auto(al_worktree_paths_clear) struct al_worktree_paths paths = { .items = NULL };
    al_auto(al_str_clear) struct al_str entries = AL_STR_INIT;
    int r = follow(push, commit, &paths, budget, notes, err);

    /* The entries of files that stay follow, so that the next commit does not undo the push. */
    if (r == 0 && add_entries(&paths, false, &entries))
        r = set_entries(push, &entries, NULL, budget, err);
    if (r == 0)
        r = al_worktree_marks_restore(push, &paths, budget, err);
    if (r == 0)
        name_those_left(push, &paths, notes);
    return r;
}
