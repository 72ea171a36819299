// SPDX-License-Identifier: Apache-2.0
/*
 * The text of the approval: target, commit and files, then the diff of the target's branch.
 *
 * git reads the diff from the store and from the target, whose objects may be forged, also one with
 * the id of a staged file.  So everything that was shown is read again and compared with its id.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>

#include "git/command.h"
#include "git/plumbing/snapshot.h"
#include "git/run.h"
#include "git/vet/vet.h"
#include "guard/text.h"
#include "staging/base.h"
#include "staging/push/private.h"
#include "staging/staged.h"
#include "staging/store.h"
#include "verbs/preview/diff_excerpt.h"
#include "verbs/preview/verify_objects.h"

/*
 * Facts that a user should know about files of a push.
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

/* The state while the changes of the staged commit are read. */
struct before {
    struct al_push *push;
    struct al_base origin; /* what the sandbox last saw of the branch */
};

/* The branch has the file, and neither in the version that it was changed from nor in the one that
 * it was changed to; and it is not that the sandbox saw the former there. */
static bool take_change(void *payload, const struct al_change *change)
{
    const struct before *before = payload;
    struct al_push *push = before->push;
    const size_t which = al_push_find_file(push, change->path);
    struct al_sandbox_version old = { .mode = change->old_mode }, new, seen;

    if (which == SIZE_MAX || !push->theirs[which].mode || !old.mode ||
        !al_oid_parse(change->old_oid, push->staging->options.sha256, &old.oid))
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
    al_text_add_list(&line, &push->other, OTHER_NAMED);
    al_strv_add(notes, line.buf);
}

/* --- The question --- */

#define TYPE_MASK    0170000u
#define TYPE_LINK    0120000u
#define TYPE_GITLINK 0160000u

/* Ordinary files that are listed; the others are all listed. */
#ifndef AL_PUSH_LISTED_MAX /* tests compile with a smaller limit */
#define AL_PUSH_LISTED_MAX 200
#endif

/* The staged file of this path; NULL: none, as where a file makes way for a directory. */
static const struct al_sandbox_file *find_staged(const struct al_push *push, const char *path)
{
    const size_t which = al_push_find_file(push, path);

    return which == SIZE_MAX ? NULL : &push->staged.files[which];
}

/* The agent made a new file, and the target has one of that name. */
static bool replaces_unseen(const struct al_push *push, const struct al_change *change)
{
    const struct al_sandbox_file *file = find_staged(push, change->path);

    return file && file->operation == AL_STAGED_CREATE &&
           (change->status == 'M' || change->status == 'T');
}

static void add_size(const struct al_push *push, const struct al_change *change, struct al_str *out)
{
    const struct al_sandbox_file *file = find_staged(push, change->path);

    if (!file || file->operation == AL_STAGED_DELETE)
        return;
    al_str_adds(out, " (");
    if (change->binary)
        al_str_addf(out, "binary, %" PRIu64 " byte%s", file->size, file->size == 1 ? "" : "s");
    else
        al_size_add(out, file->size);
    al_str_addc(out, ')');
}

static void add_remarks(const struct al_push *push, const struct al_change *change, bool ignored,
                        struct al_str *out)
{
    const bool is_lfs = al_strv_contains_sorted(&push->lfs, change->path);
    const char *remark = al_excerpt_remark(change->path);
    const unsigned type = change->new_mode & TYPE_MASK;

    if (change->status == 'D' && (change->old_mode & TYPE_MASK) == TYPE_GITLINK)
        al_str_adds(out, ", a submodule");
    if (change->old_mode && change->new_mode && change->old_mode != change->new_mode)
        al_str_addf(out, ", mode %06o to %06o", change->old_mode, change->new_mode);
    else if (change->status == 'A' && type == TYPE_LINK)
        al_str_adds(out, ", a link");
    else if (change->status == 'A' && change->new_mode & 0111)
        al_str_adds(out, ", executable");
    if (replaces_unseen(push, change))
        al_str_adds(out, ", replaces a file the agent never pulled");
    if (al_excerpt_changes_line_ends(change))
        al_str_adds(out, ", line ends change");
    if (remark)
        al_str_addf(out, ", %s", remark);
    if (ignored)
        al_str_adds(out, ", ignored by the target");
    if (is_lfs)
        al_str_adds(out, ", kept with git-lfs there: its content goes into the repository itself");
}

/* Deletions, then what else a user should not miss, then the ordinary files. */
enum rank { DELETED, MARKED, ORDINARY, RANKS };

/* Add a file to those of its rank, which are texts. */
static void add_file(const struct al_push *push, const struct al_change *change,
                     const struct al_strv *ignored, struct al_strv ranks[RANKS])
{
    al_auto(al_freep) char *path = al_text_sanitize_shown_line(change->path);
    const char mark = change->status == 'A' ? '+' : change->status == 'D' ? '-' : 'M';
    al_auto(al_str_clear) struct al_str size = AL_STR_INIT, remarks = AL_STR_INIT;

    add_size(push, change, &size);
    add_remarks(push, change, al_strv_contains(ignored, change->path), &remarks);
    al_strv_addf(&ranks[mark == '-'   ? DELETED
                        : remarks.len ? MARKED
                                      : ORDINARY],
                 "  %c %s%s%s\n", mark, path, size.buf, remarks.buf);
}

static void add_files(const struct al_push *push, const struct al_diff_raw *changes,
                      const struct al_strv *ignored, bool in_full, struct al_str *out)
{
    struct al_strv ranks[RANKS] = { AL_STRV_INIT, AL_STRV_INIT, AL_STRV_INIT };

    for (size_t i = 0; i < changes->count; i++)
        add_file(push, &changes->items[i], ignored, ranks);
    al_str_adds(out, "Files:\n");
    for (int rank = DELETED; rank < RANKS; rank++) {
        const size_t count = ranks[rank].count;
        const size_t shown =
            rank == ORDINARY && !in_full && count > AL_PUSH_LISTED_MAX ? AL_PUSH_LISTED_MAX : count;

        for (size_t i = 0; i < shown; i++)
            al_str_adds(out, ranks[rank].items[i]);
        if (shown < count)
            al_str_addf(out, "  … and %zu more files\n", count - shown);
        al_strv_clear(&ranks[rank]);
    }
}

static void add_other_bases(const struct al_push *push, struct al_str *out)
{
    if (!push->other.count)
        return;
    al_str_adds(out, "Note:   the branch has another version than these files were changed from; "
                     "see that the diff undoes nothing: ");
    al_text_add_list(out, &push->other, OTHER_NAMED);
    al_str_addc(out, '\n');
}

/* The target names another working tree than the one that has the branch checked out. */
static void add_worktree(const struct al_push *push, struct al_str *out)
{
    al_auto(al_freep) char *top = al_text_sanitize_shown_line(push->repo->at.top);

    if (push->repo->asked_top)
        al_str_addf(out, "Note:   the files of the working tree '%s' are brought along\n", top);
}

static void add_head(const struct al_push *push, struct al_str *out)
{
    const char *message = push->staged.message;
    const size_t first = strcspn(message, "\n");
    al_auto(al_freep) char *title = al_staged_title(&push->staged);
    al_auto(al_freep) char *branch = al_text_sanitize_shown_line(push->ref + strlen(AL_HEADS));
    al_auto(al_freep) char *author = al_text_join_shown_lines(push->author);

    al_str_addf(out, "Target: %s (branch: %s%s)\n", push->shown, branch,
                *push->head ? "" : ", new branch");
    al_str_addf(out, "Commit: %s\n", title);
    if (message[first + strspn(message + first, "\n")])
        al_text_add_indented(out, message + first + strspn(message + first, "\n"), true);
    al_str_addf(out, "Author: %s\n", author);
    if (push->parent_moved)
        al_str_adds(out, "Note:   the target has new commits since these files were pulled; see "
                         "that the diff undoes nothing\n");
    add_other_bases(push, out);
    add_worktree(push, out);
    al_str_addc(out, '\n');
}

/* The diff from the target's commit to the new one. */
static int read_diff(const struct al_push *push, const char *commit,
                     struct al_excerpt_reader *reader)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    int r;

    al_strv_adds(&command.argv, "git", "-c", "core.quotePath=false", "diff-tree", "-r", "--raw",
                 "-z", "--no-abbrev", "--patch", "--text", "--no-renames", "--no-ext-diff",
                 "--no-textconv", "--no-color", "--submodule=short", "-U3", NULL);
    al_strv_adds(&command.argv, al_push_from(push), commit, NULL);
    r = al_push_git_sink(push, &command, (struct al_sink){ al_excerpt_reader_add, reader });
    if (r < 0)
        return r;
    al_excerpt_reader_end(reader);
    if (reader->changes.broken)
        return al_error_set(push->err, AL_ERR_EXECUTION, "git diff-tree did not list what changes");
    if (reader->changes.count < reader->changes.total)
        return al_error_set(push->err, AL_ERR_EXECUTION,
                            "The push changes %zu files, more than the %d that a user can be "
                            "asked about at once; stage fewer",
                            reader->changes.total, AL_DIFF_RAW_MAX);
    return 0;
}

static int verify(const struct al_push *push, const char *commit, const struct al_diff_raw *changes,
                  bool *ret_complete)
{
    al_auto(al_str_clear) struct al_str words = AL_STR_INIT;
    int r;

    al_str_addf(&words, "%s\n%s^{tree}\n", commit, commit);
    al_diff_raw_add_objects(changes, &words);
    r = al_git_verify_objects(&push->dir.bare, &words, ret_complete, push->err);
    return r == 0 && *push->parent
               ? al_git_verify_tree(push->repo, push->parent, ret_complete, push->err)
               : r;
}

/* The files that the target ignores among those that are new.  Nothing for a bare target. */
static int find_ignored(const struct al_push *push, struct al_strv *ret_paths)
{
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;

    for (size_t i = 0; i < push->staged.count; i++) {
        const struct al_sandbox_file *file = &push->staged.files[i];

        if (file->operation == AL_STAGED_CREATE)
            al_strv_add(&names, file->path);
    }
    return al_location_is_bare(&push->repo->at)
               ? 0
               : al_git_ignored_paths(push->repo, 0, &names, ret_paths, push->err);
}

static int show(const struct al_push *push, const char *commit, struct al_str *out,
                size_t *ret_framed)
{
    const size_t before = out->len;
    al_auto(al_excerpt_reader_clear) struct al_excerpt_reader reader = AL_EXCERPT_READER_INIT;
    al_auto(al_strv_clear) struct al_strv ignored = AL_STRV_INIT;
    bool complete = true;
    int r;

    reader.in_full = push->repo->at.budget->in_full;
    r = read_diff(push, commit, &reader);
    if (r == 0)
        r = verify(push, commit, &reader.changes, &complete);
    if (r == 0)
        r = find_ignored(push, &ignored);
    if (r < 0)
        return r;
    add_head(push, out);
    add_files(push, &reader.changes, &ignored, push->repo->at.budget->in_full, out);
    *ret_framed = out->len - before;
    al_str_addc(out, '\n');
    if (al_excerpt_write_patch(&reader, out))
        al_str_addf(out, "All that is staged, in a terminal: airlock staging diff %.*s\n",
                    AL_STAGED_SHORT_ID, push->staged.id);
    if (!complete)
        al_str_adds(out, "This is more than airlock checks: a forged object of the target may be "
                         "shown as another.\n");
    return 0;
}

int al_push_preview(struct al_push *push, struct al_str *out, size_t *ret_framed, char **ret_commit,
                    struct al_error *err)
{
    al_auto(al_freep) char *commit = NULL;
    int r;

    push->err = err;
    r = al_push_dir_make(push);
    if (r == 0)
        r = al_push_build(push, &commit);
    if (r == 0)
        r = show(push, commit, out, ret_framed);
    if (r == 0)
        *ret_commit = al_take(&commit);
    al_push_dir_remove(push);
    return r;
}
