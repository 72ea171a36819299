// SPDX-License-Identifier: Apache-2.0
#include "gitops/preview/sides.h"

#include <string.h>

#include "gitops/plumbing/merge_base.h"
#include "gitops/plumbing/tree_diff.h"
#include "gitops/refs.h"
#include "gitops/vet/vet.h"

#define TYPE_MASK   0170000u
#define CHANGES_MAX 4096u /* more are left to git */

static bool take_change(void *payload, const struct al_tree_change *change)
{
    struct al_side *side = payload;
    char status = 'M';

    if (!change->old_mode)
        status = 'A';
    else if (!change->new_mode)
        status = 'D';
    else if ((change->old_mode & TYPE_MASK) != (change->new_mode & TYPE_MASK))
        status = 'T';
    al_side_add(side, status, change->old_mode, change->new_mode, change->path);
    return side->count < CHANGES_MAX;
}

/* Sort the changes; two of one path are left to git. */
static bool finish(struct al_side *side)
{
    al_side_sort(side);
    for (size_t i = 1; i < side->count; i++)
        if (!strcmp(side->items[i - 1].path, side->items[i].path))
            return false;
    return true;
}

static bool done(bool good, struct al_side *side)
{
    if (!good)
        al_side_clear(side);
    return good;
}

static bool diff_commits(struct al_object_reader *reader, const char *old, const char *now,
                         struct al_side *side)
{
    struct al_oid trees[2];

    return al_object_reader_commit(reader, old, &trees[0], NULL) &&
           al_object_reader_commit(reader, now, &trees[1], NULL) &&
           al_tree_diff(reader, &trees[0], &trees[1], take_change, side);
}

bool al_side_of_commit(const struct al_repo *repo, const char *head, const char *target,
                       struct al_side *ret_side)
{
    al_auto(al_object_reader_clear) struct al_object_reader reader = AL_OBJECT_READER_INIT;
    al_auto(al_freep) char *base = NULL;

    if (!al_object_reader_open(&reader, &repo->at, repo->vetting->is_sha256))
        return false;
    base = al_merge_base(&reader, head, target);
    return base &&
           done(diff_commits(&reader, base, target, ret_side) && finish(ret_side), ret_side);
}

bool al_side_between(const struct al_repo *repo, const char *from, const char *to,
                     struct al_side *ret_side)
{
    al_auto(al_object_reader_clear) struct al_object_reader reader = AL_OBJECT_READER_INIT;

    return al_object_reader_open(&reader, &repo->at, repo->vetting->is_sha256) &&
           done(diff_commits(&reader, from, to, ret_side) && finish(ret_side), ret_side);
}

/* The commit of an entry; NULL when only git can tell. */
static char *commit_of(const struct al_repo *repo, const char *entry)
{
    struct al_oid oid;

    if (!strcmp(entry, "stash@{0}"))
        return al_ref_oid(&repo->at, "refs/stash");
    return strlen(entry) == 2 * al_oid_bytes(repo->vetting->is_sha256) &&
                   al_oid_parse(entry, repo->vetting->is_sha256, &oid)
               ? al_strdup(entry)
               : NULL;
}

/* An entry has two parents, or three: the third one has the untracked files. */
static bool read_entry(struct al_object_reader *reader, const char *commit, struct al_side *side)
{
    al_auto(al_strv_clear) struct al_strv parents = AL_STRV_INIT;
    struct al_oid now, base, untracked;

    return al_object_reader_commit(reader, commit, &now, &parents) &&
           (parents.count == 2 || parents.count == 3) &&
           al_object_reader_commit(reader, parents.items[0], &base, NULL) &&
           al_tree_diff(reader, &base, &now, take_change, side) &&
           (parents.count == 2 ||
            (al_object_reader_commit(reader, parents.items[2], &untracked, NULL) &&
             al_tree_diff(reader, NULL, &untracked, take_change, side))) &&
           finish(side);
}

bool al_side_of_stash(const struct al_repo *repo, const char *entry, struct al_side *ret_side)
{
    al_auto(al_object_reader_clear) struct al_object_reader reader = AL_OBJECT_READER_INIT;
    al_auto(al_freep) char *commit = commit_of(repo, entry);

    return commit && *commit &&
           al_object_reader_open(&reader, &repo->at, repo->vetting->is_sha256) &&
           done(read_entry(&reader, commit, ret_side), ret_side);
}
