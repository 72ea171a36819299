// SPDX-License-Identifier: Apache-2.0
#include "gitops/preview/affected_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gitops/diff/diff.h"
#include "gitops/failure.h"
#include "gitops/location.h"
#include "gitops/plumbing/batch.h"
#include "gitops/plumbing/filters.h"
#include "gitops/plumbing/heads.h"
#include "gitops/plumbing/index_facts.h"
#include "gitops/preview/diff_excerpt.h"
#include "gitops/preview/unseen_changes.h"
#include "gitops/refs.h"
#include "gitops/run.h"
#include "guard/text.h"
#include "util/fs.h"

static int resolve_paths(const struct al_repo *repo, const struct al_strv *paths,
                         struct al_run_limits *budget, struct al_str *words, struct al_error *err)
{
    static const char everywhere[] = ":/";

    if (paths && paths->count)
        return al_repo_pathspecs(repo, paths, budget, words, err);
    al_str_add(words, everywhere, sizeof(everywhere));
    return 0;
}

static void add_files(const struct al_repo *repo, const struct al_buffer *list, struct al_strv *out)
{
    for (size_t at = 0; at < list->len; at += strlen(list->data + at) + 1)
        al_strv_take(out, al_fs_join(repo->at.top, list->data + at));
}

/* Append what a command lists for these paths. */
static int add_listed(const struct al_repo *repo, const char *const *command,
                      const struct al_strv *paths, struct al_run_limits *budget,
                      struct al_strv *out, struct al_error *err)
{
    al_auto(al_str_clear) struct al_str words = AL_STR_INIT;
    struct al_buffer list = { .max_bytes = AL_PATH_LIST_MAX_BYTES };
    int r = resolve_paths(repo, paths, budget, &words, err);

    if (r == 0)
        r = al_batch_list(repo, command, &words, budget, &list, err);
    if (r == 0)
        add_files(repo, &list, out);
    al_buffer_clear(&list);
    return r;
}

/* Lists the files whose content differs from the index and, with `untracked`, the untracked files
 * that are not ignored. */
static const char *const *dirty(bool untracked)
{
    static const char *const modified[] = { "git",        "ls-files", "-z", "--full-name",
                                            "--modified", "--",       NULL };
    static const char *const with_new[] = {
        "git",      "ls-files",           "-z", "--full-name", "--modified",
        "--others", "--exclude-standard", "--", NULL
    };

    return untracked ? with_new : modified;
}

int al_git_affected_files(const struct al_repo *repo, const struct al_strv *paths, bool untracked,
                          struct al_run_limits *budget, struct al_strv *out, struct al_error *err)
{
    return add_listed(repo, dirty(untracked), paths, budget, out, err);
}

/* List the changed files that git sees in `list`, and those it does not see in `unseen`. */
static int find_overwritten(const struct al_repo *repo, const struct al_strv *paths, bool untracked,
                            struct al_run_limits *budget, struct al_buffer *list,
                            struct al_unseen_changes *unseen, struct al_error *err)
{
    al_auto(al_str_clear) struct al_str words = AL_STR_INIT;
    int r = resolve_paths(repo, paths, budget, &words, err);

    if (r == 0)
        r = al_batch_list(repo, dirty(untracked), &words, budget, list, err);
    return r == 0 ? al_git_find_unseen_changes(repo, &words, list, budget, unseen, err) : r;
}

int al_git_overwritten_files(const struct al_repo *repo, const struct al_strv *paths,
                             bool untracked, struct al_run_limits *budget, struct al_strv *out,
                             struct al_error *err)
{
    al_auto(al_unseen_changes_clear) struct al_unseen_changes unseen = AL_UNSEEN_CHANGES_INIT;
    struct al_buffer list = { .max_bytes = AL_PATH_LIST_MAX_BYTES };
    int r = find_overwritten(repo, paths, untracked, budget, &list, &unseen, err);

    if (r == 0) {
        add_files(repo, &list, out);
        add_files(repo, &unseen.names, out);
    }
    al_buffer_clear(&list);
    return r;
}

int al_git_rewritten_files(const struct al_repo *repo, const struct al_strv *paths,
                           struct al_run_limits *budget, struct al_strv *out, struct al_error *err)
{
    static const char *const differing[] = {
        "git", "diff-files", "-z", "--name-only", "--ignore-submodules=dirty", "--", NULL
    };

    return add_listed(repo, differing, paths, budget, out, err);
}

int al_git_unseen_changes_excerpt(const struct al_repo *repo, const struct al_strv *paths,
                                  struct al_run_limits *budget, struct al_str *out,
                                  struct al_error *err)
{
    al_auto(al_unseen_changes_clear) struct al_unseen_changes unseen = AL_UNSEEN_CHANGES_INIT;
    struct al_buffer list = { .max_bytes = AL_PATH_LIST_MAX_BYTES };
    struct al_diff_options change = { .unified = -1 };
    int r = find_overwritten(repo, paths, false, budget, &list, &unseen, err);

    al_buffer_clear(&list);
    if (r < 0 || !unseen.names.len)
        return r;
    al_str_adds(out, "The index says that these files are not changed, and they are:\n");
    change.index = unseen.index;
    return al_git_diff_excerpt(repo, &change, budget, out, err);
}

void al_git_files_excerpt(const struct al_repo *repo, const struct al_strv *files,
                          const char *title, const struct al_run_limits *budget, struct al_str *out)
{
    al_auto(al_str_clear) struct al_str lines = AL_STR_INIT;

    for (size_t i = 0; i < files->count; i++) {
        const char *below = al_location_worktree_name(&repo->at, files->items[i]);
        al_auto(al_freep) char *name = below ? al_text_sanitize_shown_line(below) : NULL;

        if (name)
            al_str_addf(&lines, "  %s\n", name);
    }
    if (!lines.len)
        return;
    al_str_addf(out, "%s\n", title);
    al_git_add_excerpt(budget, lines.buf, lines.len, false, out);
}

/* --- Untracked files in the way --- */

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
    al_auto(al_error_clear) struct al_error complaint = AL_ERROR_INIT;
    al_auto(al_str_clear) struct al_str words = AL_STR_INIT;
    al_auto(al_closep) int top_fd = -1;
    int r = al_location_open_top(&repo->at, &top_fd, err);

    if (r == 0)
        r = resolve_paths(repo, paths, budget, &words, err);
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

/* --- What git can write --- */

/* Whether a file is in the git directory. */
static bool has(const struct al_repo *repo, const char *name)
{
    al_auto(al_freep) char *path = al_fs_join(repo->at.git_dir, name);

    return access(path, F_OK) == 0;
}

/* Patterns of a sparse checkout may have changed since git last looked at them.  It would then
 * write and remove files that no tree says. */
bool al_git_index_tells(const struct al_repo *repo)
{
    al_auto(al_freep) char *head = al_ref_head(&repo->at);

    return *head && has(repo, "index") && !has(repo, "info/sparse-checkout") &&
           !al_repo_index_facts(&repo->at).marks;
}

int al_git_switched_files(const struct al_repo *repo, const char *target,
                          struct al_run_limits *budget, bool *ret_known, struct al_strv *out,
                          struct al_error *err)
{
    struct al_buffer list = { .max_bytes = AL_PATH_LIST_MAX_BYTES };
    al_auto(al_freep) char *head = al_ref_head(&repo->at);
    int r = 0;

    *ret_known = al_git_index_tells(repo);
    if (*ret_known && strcmp(head, target) != 0)
        r = al_git_list_changed(repo, head, target, budget, &list, err);
    if (r == 0)
        add_files(repo, &list, out);
    al_buffer_clear(&list);
    return r;
}

int al_git_reset_files(const struct al_repo *repo, const char *target, const struct al_strv *paths,
                       bool untracked, struct al_run_limits *budget, bool *ret_known,
                       struct al_strv *out, struct al_error *err)
{
    const char *const differing[] = { "git",          "diff-index", "-z", "--name-only",
                                      "--no-renames", target,       "--", NULL };
    static const char *const others[] = { "git",      "ls-files",           "-z", "--full-name",
                                          "--others", "--exclude-standard", "--", NULL };
    int r = 0;

    *ret_known = al_git_index_tells(repo);
    if (*ret_known)
        r = add_listed(repo, differing, paths, budget, out, err);
    return r == 0 && *ret_known && untracked ? add_listed(repo, others, NULL, budget, out, err) : r;
}
