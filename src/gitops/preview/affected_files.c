// SPDX-License-Identifier: Apache-2.0
#include "gitops/preview/affected_files.h"

#include <stdlib.h>
#include <unistd.h>

#include "gitops/diff/diff.h"
#include "gitops/location.h"
#include "gitops/plumbing/batch.h"
#include "gitops/preview/diff_excerpt.h"
#include "gitops/preview/unseen_changes.h"
#include "gitops/repo/repo.h"
#include "gitops/run.h"
#include "guard/text.h"
#include "util/fs.h"

static int resolve_paths(const struct al_repo *repo, const struct al_strv *paths,
                         struct al_run_limits *budget, struct al_str *words, struct al_error *err)
{
    static const char everywhere[] = ":/";

    if (paths)
        return al_repo_pathspecs(repo, paths, budget, words, err);
    al_str_add(words, everywhere, sizeof(everywhere));
    return 0;
}

/* List the files whose content differs from the index and, with `untracked`, the untracked files
 * that are not ignored. */
static int list_dirty(const struct al_repo *repo, const struct al_str *words, bool untracked,
                      struct al_run_limits *budget, struct al_buffer *ret_list,
                      struct al_error *err)
{
    static const char *const modified[] = { "git",        "ls-files", "-z", "--full-name",
                                            "--modified", "--",       NULL };
    static const char *const with_new[] = {
        "git",      "ls-files",           "-z", "--full-name", "--modified",
        "--others", "--exclude-standard", "--", NULL
    };

    return al_batch_list(repo, untracked ? with_new : modified, words, budget, ret_list, err);
}

static void add_files(const struct al_repo *repo, const struct al_buffer *list, struct al_strv *out)
{
    for (size_t at = 0; at < list->len; at += strlen(list->data + at) + 1)
        al_strv_take(out, al_fs_join(repo->at.top, list->data + at));
}

int al_git_affected_files(const struct al_repo *repo, const struct al_strv *paths, bool untracked,
                          struct al_run_limits *budget, struct al_strv *out, struct al_error *err)
{
    al_auto(al_str_clear) struct al_str words = AL_STR_INIT;
    struct al_buffer list = { .max_bytes = AL_PATH_LIST_MAX_BYTES };
    int r = resolve_paths(repo, paths, budget, &words, err);

    if (r == 0)
        r = list_dirty(repo, &words, untracked, budget, &list, err);
    if (r == 0)
        add_files(repo, &list, out);
    al_buffer_clear(&list);
    return r;
}

/* List the changed files that git sees in `list`, and those it does not see in `unseen`. */
static int find_overwritten(const struct al_repo *repo, const struct al_strv *paths, bool untracked,
                            struct al_run_limits *budget, struct al_buffer *list,
                            struct al_unseen_changes *unseen, struct al_error *err)
{
    al_auto(al_str_clear) struct al_str words = AL_STR_INIT;
    int r = resolve_paths(repo, paths, budget, &words, err);

    if (r == 0)
        r = list_dirty(repo, &words, untracked, budget, list, err);
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
    static const char *const dirty[] = {
        "git", "diff-files", "-z", "--name-only", "--ignore-submodules=dirty", "--", NULL
    };
    al_auto(al_str_clear) struct al_str words = AL_STR_INIT;
    struct al_buffer list = { .max_bytes = AL_PATH_LIST_MAX_BYTES };
    int r = resolve_paths(repo, paths, budget, &words, err);

    if (r == 0)
        r = al_batch_list(repo, dirty, &words, budget, &list, err);
    if (r == 0)
        add_files(repo, &list, out);
    al_buffer_clear(&list);
    return r;
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
