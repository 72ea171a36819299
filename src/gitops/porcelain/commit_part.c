// SPDX-License-Identifier: Apache-2.0
#include "gitops/porcelain/commit_part.h"

#include <stdlib.h>

#include "gitops/diff/diff.h"
#include "gitops/failure.h"
#include "gitops/plumbing/batch.h"
#include "gitops/plumbing/scratch_index.h"
#include "gitops/porcelain/add.h"
#include "gitops/run.h"

#define KEPT_BYTES (64u * 1024u)

void al_commit_indexes_clear(struct al_commit_indexes *indexes)
{
    al_scratch_index_removep(&indexes->commit);
    al_scratch_index_removep(&indexes->after);
    *indexes = (struct al_commit_indexes){ .commit = NULL };
}

static int add(struct al_repo *repo, const struct al_add_options *options,
               struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };

    return al_git_add(repo, options, KEPT_BYTES, budget, &output, err);
}

/* List what an index has staged; `paths`: NULL, all. */
static int list_staged(struct al_repo *repo, const char *index, const struct al_strv *paths,
                       struct al_run_limits *budget, struct al_buffer *ret_list,
                       struct al_error *err)
{
    const struct al_diff_options options = { .cached = true, .unified = -1, .paths = paths };
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_CONTENT_INIT;
    int r;

    command.index = index;
    al_strv_adds(&command.argv, "git", "diff", "--name-only", "--no-renames", "--no-relative", "-z",
                 NULL);
    r = al_git_diff_add_args(repo, &options, budget, &command.argv, err);
    return r < 0 ? r : al_git_list_paths(repo, &command, budget, ret_list, err);
}

/* Unstage these paths in an index. */
static int unstage(struct al_repo *repo, const char *index, const struct al_strv *paths,
                   struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    al_auto(al_str_clear) struct al_str list = AL_STR_INIT;

    if (!paths->count)
        return 0;
    for (size_t i = 0; i < paths->count; i++) {
        al_str_addf(&list, ":(top,literal)%s", paths->items[i]);
        al_str_add(&list, "", 1);
    }
    command.class = AL_GIT_WRITE;
    command.index = index;
    command.input = list.buf;
    command.input_len = list.len;
    al_strv_adds(&command.argv, "git", "reset", "-q", "--pathspec-from-file=-",
                 "--pathspec-file-nul", NULL);
    return al_git_run(&repo->at, &command,
                      &(struct al_git_run){ .max_bytes = KEPT_BYTES, .checked = true }, budget,
                      &output, err);
}

/* What is staged outside the paths is not committed. */
static int choose_paths(struct al_repo *repo, const struct al_strv *paths,
                        struct al_run_limits *budget, struct al_commit_indexes *indexes,
                        struct al_error *err)
{
    const struct al_add_options options = { .mode = AL_ADD_PATHS,
                                            .paths = paths,
                                            .index = indexes->after };
    struct al_buffer all = { .max_bytes = AL_PATH_LIST_MAX_BYTES };
    struct al_buffer chosen = { .max_bytes = AL_PATH_LIST_MAX_BYTES };
    al_auto(al_strv_clear) struct al_strv keep = AL_STRV_INIT, others = AL_STRV_INIT;
    int r = add(repo, &options, budget, err);

    if (r == 0)
        r = list_staged(repo, indexes->after, NULL, budget, &all, err);
    if (r == 0)
        r = list_staged(repo, indexes->after, paths, budget, &chosen, err);
    for (size_t at = 0; r == 0 && at < chosen.len; at += strlen(chosen.data + at) + 1)
        al_strv_add(&keep, chosen.data + at);
    al_strv_sort(&keep);
    for (size_t at = 0; r == 0 && at < all.len; at += strlen(all.data + at) + 1)
        if (!al_strv_contains_sorted(&keep, all.data + at))
            al_strv_add(&others, all.data + at);
    al_buffer_clear(&all);
    al_buffer_clear(&chosen);
    if (r == 0)
        r = al_scratch_index_make(repo, indexes->after, &indexes->commit, err);
    return r < 0 ? r : unstage(repo, indexes->commit, &others, budget, err);
}

/** The hunks of both sides and the ones that are chosen of each. */
struct sides {
    struct al_hunk_list staged, unstaged;
    struct al_hunk_choice stage, keep; /* unstaged ones to stage, staged ones to commit */
};

static void clear_sides(struct sides *sides)
{
    al_hunk_choice_clear(&sides->stage);
    al_hunk_choice_clear(&sides->keep);
    al_hunk_list_clear(&sides->staged);
    al_hunk_list_clear(&sides->unstaged);
}

/* Choose each id on the side that has it. */
static int choose_sides(struct al_repo *repo, const struct al_strv *ids,
                        struct al_run_limits *budget, struct sides *sides, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv staged = AL_STRV_INIT, unstaged = AL_STRV_INIT;
    int r = al_git_read_both_hunks(repo, &(struct al_hunk_query){ .binary = true }, budget,
                                   &sides->staged, &sides->unstaged, err);

    for (size_t i = 0; r == 0 && i < ids->count; i++)
        al_strv_add(al_hunk_find(&sides->staged, ids->items[i]) ? &staged : &unstaged,
                    ids->items[i]);
    if (r == 0)
        r = al_hunks_choose(&sides->unstaged, &unstaged, &sides->stage, err);
    return r < 0 ? r : al_hunks_choose(&sides->staged, &staged, &sides->keep, err);
}

/* The same staged hunk in a later list: HEAD, which both lists begin at, has it at this place. */
static const struct al_hunk_item *find_again(const struct al_hunk_list *later,
                                             const struct al_hunk_list *list,
                                             const struct al_hunk_item *item)
{
    for (size_t i = 0; i < later->count; i++)
        if (later->items[i].content == item->content &&
            later->items[i].old_start == item->old_start &&
            !strcmp(later->files[later->items[i].file].path, list->files[item->file].path))
            return &later->items[i];
    return NULL;
}

static int not_apart(const struct al_hunk_item *item, struct al_error *err)
{
    return al_error_set(err, AL_ERR_EXECUTION,
                        "staged hunk %s, which is not chosen, is in the same lines as a hunk that "
                        "is chosen: choose it too, or unstage it with git_restore first",
                        item->id);
}

/* Take the staged hunks that are not chosen out of the commit. */
static int leave_others(struct al_repo *repo, const struct sides *sides, const char *index,
                        struct al_run_limits *budget, struct al_error *err)
{
    const struct al_hunk_query query = { .side = AL_HUNKS_STAGED, .binary = true, .index = index };
    al_auto(al_hunk_list_clear) struct al_hunk_list later = AL_HUNK_LIST_INIT;
    al_auto(al_hunk_choice_clear) struct al_hunk_choice others = { .list = &later };
    int r;

    if (sides->keep.count == sides->staged.count)
        return 0;
    r = al_git_read_hunks(repo, &query, budget, &later, err);
    if (r < 0)
        return r;
    others.chosen = al_calloc(later.count, sizeof(bool));
    for (size_t i = 0; i < sides->staged.count; i++) {
        const struct al_hunk_item *item = &sides->staged.items[i], *again;

        if (sides->keep.chosen[i])
            continue;
        again = find_again(&later, &sides->staged, item);
        if (!again)
            return not_apart(item, err);
        others.chosen[again - later.items] = true;
        others.count++;
    }
    return al_git_apply_hunks(repo, &others, AL_HUNKS_UNSTAGE, index, budget, err);
}

static int choose_hunks(struct al_repo *repo, const struct al_strv *ids,
                        struct al_run_limits *budget, struct al_commit_indexes *indexes,
                        struct al_error *err)
{
    struct sides sides = { .staged = AL_HUNK_LIST_INIT, .unstaged = AL_HUNK_LIST_INIT };
    int r = choose_sides(repo, ids, budget, &sides, err);

    if (r == 0)
        r = al_git_apply_hunks(repo, &sides.stage, AL_HUNKS_STAGE, indexes->after, budget, err);
    if (r == 0)
        r = al_scratch_index_make(repo, indexes->after, &indexes->commit, err);
    if (r == 0)
        r = leave_others(repo, &sides, indexes->commit, budget, err);
    clear_sides(&sides);
    return r;
}

static int choose_all(struct al_repo *repo, const struct al_strv *without,
                      struct al_run_limits *budget, struct al_commit_indexes *indexes,
                      struct al_error *err)
{
    const struct al_add_options options = { .mode = AL_ADD_ALL,
                                            .without = without,
                                            .index = indexes->after };
    int r = add(repo, &options, budget, err);

    return r < 0 ? r : al_scratch_index_make(repo, indexes->after, &indexes->commit, err);
}

int al_git_choose_commit(struct al_repo *repo, const struct al_commit_part *part,
                         struct al_run_limits *budget, struct al_commit_indexes *ret_indexes,
                         struct al_error *err)
{
    int r = al_scratch_index_make(repo, NULL, &ret_indexes->after, err);

    if (r == 0 && part->paths)
        r = choose_paths(repo, part->paths, budget, ret_indexes, err);
    else if (r == 0 && part->hunks)
        r = choose_hunks(repo, part->hunks, budget, ret_indexes, err);
    else if (r == 0)
        r = choose_all(repo, part->without, budget, ret_indexes, err);
    if (r < 0)
        al_commit_indexes_clear(ret_indexes);
    return r;
}
