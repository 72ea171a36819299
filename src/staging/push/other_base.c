// SPDX-License-Identifier: Apache-2.0
/*
 * Files that an agent changed from another version than the branch has.
 *
 * The parent of a staged commit has the version that a file was changed from.  It may have been
 * pulled from another branch; the push then replaces a version that the agent did not see.  After a
 * push of our own the branch may have another version as well, since line ends were converted; what
 * the sandbox last saw of the branch tells.
 */
#include <stdint.h>
#include <stdlib.h>

#include "gitops/plumbing/bare.h"
#include "guard/text.h"
#include "staging/base.h"
#include "staging/origins.h"
#include "staging/push/private.h"
#include "util/sorted.h"

size_t al_push_find_file(const struct al_push *push, const char *path)
{
    const struct al_staged_file *files = push->staged.files;

    return al_sorted_find(files, push->staged.count, sizeof(*files), path);
}

/* What the files were changed from. */
struct before {
    const struct al_push *push;
    struct al_push_version *versions; /* in the order of the staged files */
};

static bool take_change(void *payload, const struct al_bare_change *change)
{
    struct before *before = payload;
    const size_t which = al_push_find_file(before->push, change->path);
    struct al_push_version version = { .mode = change->old_mode };

    if (which != SIZE_MAX && version.mode &&
        al_oid_parse(change->old_oid, al_staging_is_sha256(before->push->staging), &version.oid))
        before->versions[which] = version;
    return true;
}

static bool is_same(const struct al_push_version *a, unsigned mode, const struct al_oid *oid)
{
    return a->mode == mode && al_oid_equal(&a->oid, oid);
}

/* The branch has the file, and neither in the version that it was changed from nor in the one that
 * it was changed to. */
static bool is_other(const struct before *before, size_t which)
{
    const struct al_push_version *theirs = &before->push->theirs[which];
    const struct al_push_version *old = &before->versions[which];
    const struct al_staged_file *file = &before->push->staged.files[which];

    return theirs->mode && old->mode && !is_same(theirs, old->mode, &old->oid) &&
           !is_same(theirs, file->mode, &file->oid);
}

static int leave_out_seen(const struct before *before, bool *other, struct al_run_limits *budget,
                          struct al_error *err)
{
    const struct al_push *push = before->push;
    const struct al_branch_name branch = { push->key, push->parent_ref };
    al_auto(al_base_clear) struct al_base origin = { .items = NULL };
    int r;

    if (!push->parent_ref)
        return 0;
    r = al_origin_load(push->staging, push->staged.sandbox, &branch, budget, &origin, err);
    for (size_t i = 0; i < push->staged.count && r == 0; i++) {
        const struct al_base_file *seen =
            other[i] ? al_base_find(&origin, push->staged.files[i].path) : NULL;

        if (seen && is_same(&before->versions[i], seen->mode, &seen->oid))
            other[i] = false;
    }
    return r;
}

static int find(struct before *before, const struct al_push_dir *dir, struct al_run_limits *budget,
                struct al_strv *ret_paths, struct al_error *err)
{
    const struct al_push *push = before->push;
    al_auto(al_freep) bool *other = al_calloc(push->staged.count + 1, sizeof(*other));
    bool any = false;
    al_auto(al_str_clear) struct al_str message = AL_STR_INIT;
    int r =
        al_bare_read_commit(&dir->bare, push->commit, &message, take_change, before, budget, err);

    for (size_t i = 0; i < push->staged.count && r == 0; i++) {
        other[i] = is_other(before, i);
        any |= other[i];
    }
    if (any)
        r = leave_out_seen(before, other, budget, err);
    for (size_t i = 0; i < push->staged.count && r == 0; i++)
        if (other[i])
            al_strv_add(ret_paths, push->staged.files[i].path);
    return r;
}

int al_push_find_other_bases(const struct al_push *push, const struct al_push_dir *dir,
                             struct al_run_limits *budget, struct al_strv *ret_paths,
                             struct al_error *err)
{
    struct before before = { .push = push };
    bool any = false;
    int r = 0;

    for (size_t i = 0; i < push->staged.count; i++) /* a new file was changed from nothing */
        any |= push->staged.files[i].operation != AL_STAGED_CREATE && push->theirs[i].mode;
    before.versions = al_calloc(push->staged.count + 1, sizeof(*before.versions));
    if (any)
        r = find(&before, dir, budget, ret_paths, err);
    free(before.versions);
    return r;
}

void al_push_note_other_bases(const struct al_push *push, struct al_strv *notes)
{
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;

    if (!push->other.count)
        return;
    al_str_adds(&line, "The branch had another version than these files were changed from: ");
    al_text_add_list(&line, &push->other, AL_PUSH_OTHER_NAMED);
    al_strv_add(notes, line.buf);
}
