// SPDX-License-Identifier: Apache-2.0
/*
 * Merging two commits, or two trees with a base.
 *
 * git merge-tree takes commits and finds their base by itself; an option for another base came only
 * with 2.40.  So a given base becomes a commit without parents, and both sides become commits with
 * that parent.  They stay among the new objects and are never brought to the repository.
 */
#include <stdlib.h>

#include "gitops/inmemory/private.h"
#include "gitops/plumbing/batch.h"
#include "gitops/plumbing/filters.h"
#include "gitops/plumbing/revision.h"
#include "gitops/vet/vet.h"

static int merge_tree(const struct al_inmemory *memory, const char *ours, const char *theirs,
                      struct al_run_limits *budget, struct al_merged *ret_merged,
                      struct al_error *err)
{
    struct al_merged merged = AL_MERGED_INIT;
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    struct al_buffer out = { .max_bytes = 0 };
    int exit_code = -1, r;

    al_strv_add(&command.argv, "git");
    if (al_git_has_filters(memory->real)) /* a filter would have to run */
        al_strv_adds(&command.argv, "-c", "merge.renormalize=false", NULL);
    al_strv_adds(&command.argv, "merge-tree", "--write-tree", "-z", "--no-messages", ours, theirs,
                 NULL);
    r = al_inmemory_git(memory, &command, budget, &out, &exit_code, err);
    if (r == 0 &&
        !al_merge_output_parse(out.data, out.len, memory->real->vetting->is_sha256, &merged))
        r = al_error_set(err, AL_ERR_EXECUTION, "git merge-tree did not say what was asked");
    al_buffer_clear(&out);
    if (r < 0)
        return r;
    merged.conflicted = exit_code == 1;
    *ret_merged = merged;
    return 0;
}

int al_inmemory_tree(const struct al_inmemory *memory, const char *oid,
                     struct al_run_limits *budget, char **ret_tree, struct al_error *err)
{
    char *tree = NULL;
    int r = al_git_find_object(&memory->view, oid, "tree", budget, &tree, err);

    if (r < 0)
        return r;
    if (tree) {
        *ret_tree = tree;
        return 0;
    }
    r = al_error_set(err, AL_ERR_EXECUTION, "%s is neither a commit nor a tree", oid);
    if (err)
        err->remedy = "The clone may lack it; a user can fetch the rest of the history with 'git "
                      "fetch --unshallow'.";
    return r;
}

/* Refuse a path that either side changed and that goes through a merge driver, by the attributes of
 * either side. */
static int check_drivers(const struct al_inmemory *memory, const char *base, const char *ours,
                         const char *theirs, struct al_run_limits *budget, struct al_error *err)
{
    const char *const sides[] = { ours, theirs };
    int r = 0;

    if (!memory->real->vetting->merge_drivers.count)
        return 0;
    for (size_t i = 0; r == 0 && i < AL_COUNT(sides); i++) {
        struct al_buffer list = { .max_bytes = AL_PATH_LIST_MAX_BYTES };

        r = al_git_list_changed(&memory->view, base, sides[i], budget, &list, err);
        for (size_t j = 0; r == 0 && j < AL_COUNT(sides); j++)
            r = al_git_check_merge_drivers(&memory->view, &list, sides[j], budget, err);
        al_buffer_clear(&list);
    }
    return r;
}

/* Any of several bases does: a path that differs between the sides differs from it on one side. */
static int find_base(const struct al_inmemory *memory, const char *ours, const char *theirs,
                     struct al_run_limits *budget, char **ret_base, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;

    al_strv_adds(&command.argv, "git", "-c", AL_NO_COMMIT_GRAPH, "merge-base", ours, theirs, NULL);
    return al_git_run_word(&memory->view, &command, budget, ret_base, err);
}

int al_inmemory_merge(struct al_inmemory *memory, const char *ours, const char *theirs,
                      struct al_run_limits *budget, struct al_merged *ret_merged,
                      struct al_error *err)
{
    al_auto(al_freep) char *base = NULL;
    int r = al_inmemory_set_attributes(memory, ours, budget, err);

    if (r == 0 && memory->real->vetting->merge_drivers.count)
        r = find_base(memory, ours, theirs, budget, &base, err);
    if (r == 0 && base)
        r = check_drivers(memory, base, ours, theirs, budget, err);
    al_inmemory_add_bound(memory, ours);
    al_inmemory_add_bound(memory, theirs);
    return r < 0 ? r : merge_tree(memory, ours, theirs, budget, ret_merged, err);
}

/* A commit that stands for a tree.  The message keeps the sides apart if their trees are the same.
 */
static int stand_in(struct al_inmemory *memory, const char *tree, const char *parent,
                    const char *message, char ret_oid[AL_OID_TEXT], struct al_error *err)
{
    static const char who[] = "airlock <airlock@localhost> 0 +0000";
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    al_str_addf(&text, "tree %s\n", tree);
    if (parent)
        al_str_addf(&text, "parent %s\n", parent);
    al_str_addf(&text, "author %s\ncommitter %s\n\n%s\n", who, who, message);
    return al_inmemory_write(memory, AL_OBJECT_COMMIT, text.buf, text.len, ret_oid, err);
}

int al_inmemory_merge_trees(struct al_inmemory *memory, const char *const trees[AL_SIDES],
                            struct al_run_limits *budget, struct al_merged *ret_merged,
                            struct al_error *err)
{
    char base[AL_OID_TEXT], ours[AL_OID_TEXT], theirs[AL_OID_TEXT];
    int r = al_inmemory_set_attributes(memory, trees[AL_SIDE_OURS], budget, err);

    if (r == 0)
        r = check_drivers(memory, trees[AL_SIDE_BASE], trees[AL_SIDE_OURS], trees[AL_SIDE_THEIRS],
                          budget, err);
    if (r == 0)
        r = stand_in(memory, trees[AL_SIDE_BASE], NULL, "base", base, err);
    if (r == 0)
        r = stand_in(memory, trees[AL_SIDE_OURS], base, "ours", ours, err);
    if (r == 0)
        r = stand_in(memory, trees[AL_SIDE_THEIRS], base, "theirs", theirs, err);
    return r < 0 ? r : merge_tree(memory, ours, theirs, budget, ret_merged, err);
}
