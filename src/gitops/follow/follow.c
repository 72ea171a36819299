// SPDX-License-Identifier: Apache-2.0
#include "gitops/follow/follow.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gitops/follow/paths.h"
#include "gitops/private_dir.h"
#include "guard/text.h"

#define NAMED_MAX 20
#define TRIES_MAX 20 /* each leaves out at least one path more */

/* "<mode> SP <oid> TAB <path>" NUL for paths whose files follow (`whole`), or only their entries.
 */
static size_t add_entries(const struct al_follow_paths *paths, bool whole, struct al_str *out)
{
    size_t count = 0;

    for (size_t i = 0; i < paths->count; i++) {
        const struct al_follow_path *path = &paths->items[i];

        if (path->entry_changed || path->file_changed == whole)
            continue;
        al_str_addf(out, "%s %s\t%s", al_follow_path_is_deleted(path) ? "0" : path->mode, path->oid,
                    path->name);
        al_str_addc(out, '\0');
        count++;
    }
    return count;
}

static int set_entries(const struct al_follow *with, const struct al_str *entries,
                       const char *index, struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;

    command.index = index;
    command.input = entries->buf;
    command.input_len = entries->len;
    al_strv_adds(&command.argv, "git", "update-index", "-z", "--index-info", NULL);
    return al_follow_run(with, &command, budget, NULL, err);
}

/* The tree of the old commit with the paths whose files follow. */
static int make_tree(const struct al_follow *with, const struct al_str *entries,
                     struct al_run_limits *budget, struct al_str *ret_tree, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command read = AL_GIT_COMMAND_INIT;
    al_auto(al_git_command_clear) struct al_git_command write = AL_GIT_COMMAND_INIT;
    al_auto(al_freep) char *index = al_git_private_name(with->repo->at.git, "follow");
    int r;

    read.index = write.index = index;
    al_strv_adds(&read.argv, "git", "read-tree", with->from, NULL);
    al_strv_adds(&write.argv, "git", "write-tree", "--missing-ok", NULL);
    r = al_follow_run(with, &read, budget, NULL, err);
    if (r == 0 && entries->len)
        r = set_entries(with, entries, index, budget, err);
    if (r == 0)
        r = al_follow_run(with, &write, budget, ret_tree, err);
    (void)unlink(index);
    al_str_trim_end(ret_tree);
    return r;
}

static int merge_trees(const struct al_follow *with, const char *to, struct al_run_limits *budget,
                       struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;

    al_strv_adds(&command.argv, "git", "read-tree", "-m", "-u", with->from, to, NULL);
    return al_follow_run(with, &command, budget, NULL, err);
}

/* git names the file that it would overwrite, which was not there or not changed a moment ago. */
static void add_refused(const struct al_follow_paths *paths, const char *message,
                        struct al_strv *refused)
{
    for (size_t i = 0; i < paths->count; i++) {
        al_auto(al_freep) char *safe = al_text_sanitize_line(paths->items[i].name);
        al_auto(al_freep) char *quoted = al_asprintf("'%s'", safe);

        if (strstr(message, quoted))
            al_strv_add(refused, paths->items[i].name);
    }
}

static void leave(struct al_follow_paths *paths, const struct al_strv *names)
{
    for (size_t i = 0; i < names->count; i++) {
        struct al_follow_path *path = al_follow_paths_find(paths, names->items[i]);

        if (path)
            path->file_changed = true;
    }
}

static void leave_all(struct al_follow_paths *paths)
{
    for (size_t i = 0; i < paths->count; i++)
        paths->items[i].file_changed = true;
}

/* Bring along what the user has not changed.  `ret_why` is set when git would not. */
static int bring(const struct al_follow *with, const char *commit,
                 const struct al_follow_paths *paths, struct al_run_limits *budget,
                 struct al_error *ret_why, struct al_error *err)
{
    al_auto(al_str_clear) struct al_str follow = AL_STR_INIT;
    al_auto(al_str_clear) struct al_str tree = AL_STR_INIT;
    int r = 0;

    if (add_entries(paths, true, &follow) == paths->count)
        al_str_adds(&tree, commit);
    else
        r = make_tree(with, &follow, budget, &tree, err);
    if (r == 0)
        (void)merge_trees(with, tree.buf, budget, ret_why);
    return r;
}

/* A file may get in the way after it was looked for.  Then all is looked at again; whatever git
 * refuses is left out, one path after the other. */
static int follow(const struct al_follow *with, const char *commit, struct al_follow_paths *paths,
                  struct al_run_limits *budget, struct al_strv *notes, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv refused = AL_STRV_INIT;
    al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;
    size_t before = SIZE_MAX;

    for (int i = 0; i < TRIES_MAX; i++) {
        al_auto(al_str_clear) struct al_str entries = AL_STR_INIT;
        size_t count;
        int r;

        al_follow_paths_clear(paths);
        r = al_follow_look(with, commit, paths, budget, err);
        if (r < 0)
            return r;
        leave(paths, &refused);
        count = add_entries(paths, true, &entries);
        if (count >= before)
            break;
        before = count;
        al_error_clear(&why);
        r = bring(with, commit, paths, budget, &why, err);
        if (r < 0 || !why.message)
            return r;
        add_refused(paths, why.message, &refused);
    }
    al_strv_addf(notes, "git would not change the files in %s: %s", with->shown, why.message);
    leave_all(paths);
    return 0;
}

/* The paths that the user has changed. */
static void list_changed(const struct al_follow_paths *paths, struct al_strv *out)
{
    for (size_t i = 0; i < paths->count; i++) {
        const struct al_follow_path *path = &paths->items[i];

        if (path->entry_changed || (path->file_changed && !path->is_missing))
            al_strv_add(out, path->name);
    }
}

static void name_those_left(const struct al_follow *with, const struct al_follow_paths *paths,
                            struct al_strv *notes)
{
    al_auto(al_strv_clear) struct al_strv left = AL_STRV_INIT;
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;

    list_changed(paths, &left);
    if (!left.count)
        return;
    al_str_addf(&line, "Changed in the working tree of %s and left as they are: ", with->shown);
    al_text_add_list(&line, &left, NAMED_MAX);
    al_strv_add(notes, line.buf);
}

/* The entries of files that stay follow, so that the next commit does not undo it. */
static int finish(const struct al_follow *with, const struct al_follow_paths *paths,
                  struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_str_clear) struct al_str entries = AL_STR_INIT;
    int r = 0;

    if (add_entries(paths, false, &entries))
        r = set_entries(with, &entries, NULL, budget, err);
    return r < 0 ? r : al_follow_restore_marks(with, paths, budget, err);
}

int al_follow_partly(const struct al_follow *with, const char *to, struct al_run_limits *budget,
                     struct al_strv *notes, struct al_error *err)
{
    al_auto(al_follow_paths_clear) struct al_follow_paths paths = { .items = NULL };
    int r = follow(with, to, &paths, budget, notes, err);

    if (r == 0)
        r = finish(with, &paths, budget, err);
    if (r == 0)
        name_those_left(with, &paths, notes);
    return r;
}

int al_follow_find_changed(const struct al_follow *with, const char *to,
                           struct al_run_limits *budget, struct al_strv *ret_paths,
                           struct al_error *err)
{
    al_auto(al_follow_paths_clear) struct al_follow_paths paths = { .items = NULL };
    int r = al_follow_look(with, to, &paths, budget, err);

    if (r == 0)
        list_changed(&paths, ret_paths);
    return r;
}

int al_follow_refuse(const struct al_follow *with, const struct al_strv *paths,
                     struct al_error *err)
{
    al_auto(al_str_clear) struct al_str list = AL_STR_INIT;

    al_text_add_list(&list, paths, NAMED_MAX);
    return al_error_set_code(err, AL_ERR_EXECUTION, AL_CODE_DIRTY_WORKDIR,
                             "The working tree %s has changes of its own in %s, and nothing was "
                             "done; commit or stash them there first",
                             with->shown, list.buf);
}

int al_follow_wholly(const struct al_follow *with, const char *to, struct al_run_limits *budget,
                     struct al_error *err)
{
    al_auto(al_follow_paths_clear) struct al_follow_paths paths = { .items = NULL };
    al_auto(al_strv_clear) struct al_strv changed = AL_STRV_INIT;
    al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;
    int r = al_follow_look(with, to, &paths, budget, err);

    if (r < 0)
        return r;
    list_changed(&paths, &changed);
    if (changed.count)
        return al_follow_refuse(with, &changed, err);
    r = bring(with, to, &paths, budget, &why, err);
    if (r == 0 && why.message)
        r = al_error_set(err, why.status, "git would not change the files in %s: %s", with->shown,
                         why.message);
    return r < 0 ? r : finish(with, &paths, budget, err);
}
