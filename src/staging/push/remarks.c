// SPDX-License-Identifier: Apache-2.0
/*
 * What a user should know about files of a push.
 *
 * airlock runs no filters, so the content of files that the target keeps with git-lfs goes into the
 * repository itself.
 *
 * The parent of a staged commit has the version that a file was changed from.  It may have been
 * pulled from another branch; the push then replaces a version that the agent did not see.  After a
 * push of our own the branch may have another version as well, since line ends were converted; what
 * the sandbox last saw of the branch tells.
 *
 * Source: git-check-attr(1), git-lfs-spec "The Pointer".
 */
#include <stdint.h>
#include <stdlib.h>

#include "git/command.h"
#include "git/run.h"
#include "guard/text.h"
#include "staging/base.h"
#include "staging/push/private.h"

#define LFS_NAMED   20 /* files of git-lfs that a result names */
#define OTHER_NAMED 5  /* files with another base that a question or a result names */

/* --- git-lfs --- */

/* The files that git-lfs keeps. */
struct filtered {
    struct al_push *push;
    size_t next; /* the staged file that comes next */
};

/* "<path>" NUL "filter" NUL "<value>" NUL, in the order of the request. */
static bool take_filter(void *payload, char *const *fields)
{
    struct filtered *filtered = payload;
    struct al_push *push = filtered->push;
    size_t *next = &filtered->next;

    while (*next < push->staged.count && strcmp(push->staged.files[*next].path, fields[0]) != 0)
        (*next)++;
    if (*next < push->staged.count && !strcmp(fields[2], "lfs") && !push->is_pointer[*next])
        al_strv_add(&push->lfs, fields[0]);
    return true;
}

/* By the attributes of the commit that was built. */
static int find_lfs(struct al_push *push)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    struct filtered filtered = { .push = push };
    al_auto(al_nul_records_clear) struct al_nul_records records =
        AL_NUL_RECORDS_INIT(3, take_filter, &filtered);
    al_auto(al_str_clear) struct al_str names = AL_STR_INIT;

    for (size_t i = 0; i < push->staged.count; i++)
        if (push->staged.files[i].operation != AL_STAGED_DELETE)
            al_str_add(&names, push->staged.files[i].path, strlen(push->staged.files[i].path) + 1);
    if (!names.len)
        return 0;
    al_git_command_feed(&command, &names);
    al_strv_adds(&command.argv, "git", "check-attr", "--cached", "-z", "--stdin", "filter", NULL);
    return al_push_git_sink(push, &command, (struct al_sink){ al_nul_records_add, &records });
}

/* --- Another base --- */

/* While the changes of the staged commit are read. */
struct before {
    struct al_push *push;
    struct al_base origin; /* what the sandbox last saw of the branch */
};

/* The branch has the file, and neither in the version that it was changed from nor in the one that
 * it was changed to; and it is not that the sandbox saw the former there. */
static bool take_change(void *payload, const struct al_bare_change *change)
{
    const struct before *before = payload;
    struct al_push *push = before->push;
    const size_t which = al_push_find_file(push, change->path);
    struct al_sandbox_version old = { .mode = change->old_mode }, new, seen;

    if (which == SIZE_MAX || !push->theirs[which].mode || !old.mode ||
        !al_oid_parse(change->old_oid, al_staging_is_sha256(push->staging), &old.oid))
        return true;
    new.mode = push->staged.files[which].mode;
    new.oid = push->staged.files[which].oid;
    seen = al_sandbox_files_find(&before->origin.files, change->path);
    if (!al_sandbox_version_equal(&push->theirs[which], &old) &&
        !al_sandbox_version_equal(&push->theirs[which], &new) &&
        !al_sandbox_version_equal(&seen, &old))
        al_strv_add(&push->other, change->path);
    return true;
}

static int find_other(struct al_push *push)
{
    struct before before = { .push = push };
    al_auto(al_str_clear) struct al_str message = AL_STR_INIT;
    al_auto(al_freep) char *name = NULL;
    int r = 0;

    if (push->parent_ref) {
        name = al_origin_name(push->staged.sandbox, push->key, push->parent_ref);
        r = al_base_load(push->staging, name, push->repo->at.budget, &before.origin, push->err);
    }
    if (r == 0)
        r = al_bare_read_commit(&push->dir.bare, push->commit, &message, take_change, &before,
                                push->err);
    al_base_clear(&before.origin);
    return r;
}

int al_push_find_remarks(struct al_push *push)
{
    bool any = false;
    int r;

    al_strv_clear(&push->lfs);
    al_strv_clear(&push->other);
    r = find_lfs(push);
    for (size_t i = 0; i < push->staged.count; i++) /* a new file was changed from nothing */
        any |= push->staged.files[i].operation != AL_STAGED_CREATE && push->theirs[i].mode;
    return r == 0 && any ? find_other(push) : r;
}

void al_push_add_other(const struct al_push *push, struct al_str *out)
{
    al_text_add_list(out, &push->other, OTHER_NAMED);
}

void al_push_note_remarks(const struct al_push *push, struct al_strv *notes)
{
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;

    for (size_t i = 0; i < push->lfs.count && i < LFS_NAMED; i++) {
        al_auto(al_freep) char *path = al_text_sanitize_line(push->lfs.items[i]);

        al_strv_addf(notes,
                     "%s: the target keeps it with git-lfs, and its content went into the "
                     "repository itself",
                     path);
    }
    if (push->lfs.count > LFS_NAMED)
        al_strv_addf(notes, "… and %zu more files that the target keeps with git-lfs",
                     push->lfs.count - LFS_NAMED);
    if (!push->other.count)
        return;
    al_str_adds(&line, "The branch had another version than these files were changed from: ");
    al_push_add_other(push, &line);
    al_strv_add(notes, line.buf);
}
