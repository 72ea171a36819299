// SPDX-License-Identifier: Apache-2.0
#include "gitops/preview/written_files.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "gitops/command.h"
#include "gitops/failure.h"
#include "gitops/location.h"
#include "gitops/plumbing/batch.h"
#include "gitops/plumbing/index_diff.h"
#include "gitops/plumbing/index_facts.h"
#include "gitops/plumbing/revision.h"
#include "gitops/plumbing/tree_diff.h"
#include "gitops/preview/sides.h"
#include "gitops/preview/three_way.h"
#include "gitops/refs.h"
#include "gitops/vet/vet.h"
#include "util/fs.h"

/* More changes are left to git. */
#define CHANGES_MAX 4096u

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
static bool is_plain(const struct al_repo *repo)
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

/** Where the paths of changes go. */
struct changed_paths {
    const struct al_repo *repo;
    struct al_strv paths;
};

static bool add_path(void *payload, const struct al_tree_change *change)
{
    struct changed_paths *changed = payload;

    al_strv_take(&changed->paths, al_fs_join(changed->repo->at.top, change->path));
    return changed->paths.count < CHANGES_MAX;
}

/* List what differs between two commits without git; false when it cannot be told so. */
static bool compare_commits(const struct al_repo *repo, const char *old, const char *now,
                            struct al_strv *out)
{
    al_auto(al_object_reader_clear) struct al_object_reader reader = AL_OBJECT_READER_INIT;
    struct changed_paths changed = { .repo = repo, .paths = AL_STRV_INIT };
    struct al_oid trees[2];
    bool good = al_object_reader_open(&reader, &repo->at, repo->vetting->is_sha256) &&
                al_object_reader_commit(&reader, old, &trees[0], NULL) &&
                al_object_reader_commit(&reader, now, &trees[1], NULL) &&
                al_tree_diff(&reader, &trees[0], &trees[1], add_path, &changed);

    for (size_t i = 0; good && i < changed.paths.count; i++)
        al_strv_add(out, changed.paths.items[i]);
    al_strv_clear(&changed.paths);
    return good;
}

int al_git_switched_files(const struct al_repo *repo, const char *target,
                          struct al_run_limits *budget, bool *ret_known, struct al_strv *out,
                          struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_freep) char *head = al_ref_head(&repo->at);

    *ret_known = is_plain(repo);
    if (!*ret_known || !strcmp(head, target) || compare_commits(repo, head, target, out))
        return 0;
    al_strv_adds(&command.argv, "git", "diff-tree", "-r", "-z", "--name-only", "--no-renames", head,
                 target, NULL);
    return list(repo, &command, budget, ret_known, out, err);
}

/* `git reset --hard` removes the files of entries of which only the name was staged. */
static bool add_name_only(void *payload, const struct al_index_entry *entry)
{
    if (entry->intent_to_add)
        al_strv_add(payload, entry->name);
    return true;
}

/* False: the index is not understood. */
static bool add_names_only(const struct al_repo *repo, struct al_strv *out)
{
    al_auto(al_freep) char *path = al_fs_join(repo->at.git_dir, "index");
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;
    al_auto(al_closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    size_t oid_bytes = repo->vetting->is_sha256 ? 32 : 20;

    if (!al_repo_may_have_names_only(&repo->at))
        return true;
    if (fd < 0 || al_index_read(fd, oid_bytes, add_name_only, &names) != AL_INDEX_WHOLE)
        return false;
    for (size_t i = 0; i < names.count; i++)
        al_strv_take(out, al_fs_join(repo->at.top, names.items[i]));
    return true;
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

/* The same for all paths and a commit, without git; false when it cannot be told so. */
static bool compare_index(const struct al_repo *repo, const char *target,
                          struct al_run_limits *budget, struct al_strv *out)
{
    al_auto(al_freep) char *commit =
        !strcmp(target, "HEAD") ? al_ref_head(&repo->at) : al_strdup(target);
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;

    if (!al_index_diff(repo, commit, budget, &names))
        return false;
    for (size_t i = 0; i < names.count; i++)
        al_strv_take(out, al_fs_join(repo->at.top, names.items[i]));
    return true;
}

int al_git_reset_files(const struct al_repo *repo, const char *target, const struct al_strv *paths,
                       bool untracked, struct al_run_limits *budget, bool *ret_known,
                       struct al_strv *out, struct al_error *err)
{
    bool all = !paths || !paths->count;
    int r = 0;

    *ret_known = is_plain(repo) && add_names_only(repo, out);
    if (*ret_known && !(all && compare_index(repo, target, budget, out)))
        r = add_differing(repo, target, paths, budget, ret_known, out, err);
    return r == 0 && *ret_known && untracked ? add_untracked(repo, budget, ret_known, out, err) : r;
}

/** How to list the changes of the two sides of a three-way merge. */
struct sides {
    const struct al_git_command *theirs, *ours;
    struct al_side *read; /* their changes, taken over, if they were read without git; NULL */
    bool renames;         /* what is known holds when files were renamed, too */
};

static bool has_status(const struct al_side *side, char status)
{
    for (size_t i = 0; i < side->count; i++)
        if (side->items[i].status == status)
            return true;
    return false;
}

/* List the files that the three-way merge writes.  This side is only listed if that is needed. */
static int bound(const struct al_repo *repo, const struct sides *sides,
                 struct al_run_limits *budget, bool *ret_known, struct al_strv *out,
                 struct al_error *err)
{
    al_auto(al_side_clear) struct al_side theirs = sides->read ? *sides->read : AL_SIDE_INIT;
    al_auto(al_side_clear) struct al_side ours = AL_SIDE_INIT;
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;
    enum al_bound bound = AL_BOUND_UNKNOWN;
    int r = sides->read ? 0 : al_side_read(repo, sides->theirs, budget, &theirs, err);

    *ret_known = false;
    if (r == 0 && (sides->renames || !has_status(&theirs, 'A') || !has_status(&theirs, 'D')))
        bound = al_three_way_bound(repo, &theirs, NULL, &names);
    if (r == 0 && bound == AL_BOUND_NEEDS_OURS) {
        r = al_side_read(repo, sides->ours, budget, &ours, err);
        if (r == 0)
            bound = al_three_way_bound(repo, &theirs, &ours, &names);
    }
    /* A renamed file of this side may get another name when it has changes. */
    if (!sides->renames && names.count > theirs.count)
        bound = AL_BOUND_UNKNOWN;
    *ret_known = r == 0 && bound == AL_BOUND_KNOWN;
    for (size_t i = 0; *ret_known && i < names.count; i++)
        al_strv_take(out, al_fs_join(repo->at.top, names.items[i]));
    return not_known(r, err);
}

int al_git_merged_files(const struct al_repo *repo, const char *target,
                        struct al_run_limits *budget, bool *ret_known, struct al_strv *out,
                        struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command theirs = AL_GIT_COMMAND_INIT;
    al_auto(al_git_command_clear) struct al_git_command ours = AL_GIT_COMMAND_INIT;
    struct sides sides = { .theirs = &theirs, .ours = &ours, .renames = true };
    struct al_side read = AL_SIDE_INIT;
    al_auto(al_freep) char *head = al_ref_head(&repo->at);
    int r = 0;

    *ret_known = is_plain(repo);
    al_strv_adds(&theirs.argv, "git", "-c", AL_NO_COMMIT_GRAPH, "diff-tree", "-r", "-z", "--raw",
                 "--no-renames", "--merge-base", head, target, NULL);
    al_strv_adds(&ours.argv, "git", "-c", AL_NO_COMMIT_GRAPH, "diff-tree", "-r", "-z", "--raw",
                 "--no-renames", "--merge-base", target, head, NULL);
    sides.read = *ret_known && al_side_of_commit(repo, head, target, &read) ? &read : NULL;
    if (*ret_known)
        r = bound(repo, &sides, budget, ret_known, out, err);
    return r == 0 && *ret_known
               ? al_git_reset_files(repo, head, NULL, false, budget, ret_known, out, err)
               : r;
}

/* The third tree of an entry, with the untracked files, is shown with the second one. */
int al_git_applied_files(const struct al_repo *repo, const char *entry,
                         struct al_run_limits *budget, bool *ret_known, struct al_strv *out,
                         struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command theirs = AL_GIT_COMMAND_INIT;
    al_auto(al_git_command_clear) struct al_git_command ours = AL_GIT_COMMAND_INIT;
    struct sides sides = { .theirs = &theirs, .ours = &ours };
    struct al_side read = AL_SIDE_INIT;

    *ret_known = is_plain(repo);
    al_strv_adds(&theirs.argv, "git", "stash", "show", "--include-untracked", "-z", "--raw",
                 "--no-renames", entry, NULL);
    al_strv_adds(&ours.argv, "git", "diff-index", "--cached", "-z", "--raw", "--no-renames", NULL);
    al_strv_addf(&ours.argv, "%s^", entry);
    al_strv_add(&ours.argv, "--");
    sides.read = *ret_known && al_side_of_stash(repo, entry, &read) ? &read : NULL;
    return *ret_known ? bound(repo, &sides, budget, ret_known, out, err) : 0;
}
