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

#include "git/run.h"
#include "git/vet/vet.h"
#include "guard/text.h"
#include "staging/push/private.h"
#include "staging/staged.h"
#include "verbs/preview/diff_excerpt.h"
#include "verbs/preview/verify_objects.h"

#define TYPE_MASK    0170000u
#define TYPE_LINK    0120000u
#define TYPE_GITLINK 0160000u

/* Ordinary files that are listed; the others are all listed. */
#ifndef AL_PUSH_LISTED_MAX /* tests compile with a smaller limit */
#define AL_PUSH_LISTED_MAX 200
#endif

/* A new ordinary file is nothing special, though its mode changes from none. */
static bool comes_first(const struct al_change *change)
{
    const bool is_new = change->status == 'A' && change->new_mode == 0100644;

    return al_excerpt_remark(change->path) || (change->old_mode != change->new_mode && !is_new);
}

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

static bool is_ignored(const struct al_strv *ignored, const char *path)
{
    return al_strv_contains(ignored, path);
}

/* A file that the user should not miss. */
static bool is_marked(const struct al_push *push, const struct al_strv *ignored,
                      const struct al_change *change)
{
    return comes_first(change) || replaces_unseen(push, change) ||
           al_excerpt_changes_line_ends(change) || is_ignored(ignored, change->path) ||
           al_strv_contains_sorted(&push->lfs, change->path);
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

static void add_file(const struct al_push *push, const struct al_change *change,
                     const struct al_strv *ignored, struct al_str *out)
{
    al_auto(al_freep) char *path = al_text_sanitize_shown_line(change->path);
    const char mark = change->status == 'A' ? '+' : change->status == 'D' ? '-' : 'M';

    al_str_addf(out, "  %c %s", mark, path);
    add_size(push, change, out);
    add_remarks(push, change, is_ignored(ignored, change->path), out);
    al_str_addc(out, '\n');
}

/* Deletions, then what else a user should not miss, then the ordinary files. */
enum rank { DELETED, MARKED, ORDINARY, RANKS };

static enum rank rank_of(const struct al_push *push, const struct al_strv *ignored,
                         const struct al_change *change)
{
    if (change->status == 'D')
        return DELETED;
    return is_marked(push, ignored, change) ? MARKED : ORDINARY;
}

static void add_files(const struct al_push *push, const struct al_diff_raw *changes,
                      const struct al_strv *ignored, bool in_full, struct al_str *out)
{
    size_t ordinary = 0;

    al_str_adds(out, "Files:\n");
    for (int rank = DELETED; rank < RANKS; rank++)
        for (size_t i = 0; i < changes->count; i++) {
            if (rank_of(push, ignored, &changes->items[i]) != (enum rank)rank)
                continue;
            if (rank != ORDINARY || in_full || ordinary++ < AL_PUSH_LISTED_MAX)
                add_file(push, &changes->items[i], ignored, out);
        }
    if (ordinary > AL_PUSH_LISTED_MAX)
        al_str_addf(out, "  … and %zu more files\n", ordinary - AL_PUSH_LISTED_MAX);
}

static void add_other_bases(const struct al_push *push, struct al_str *out)
{
    if (!push->other.count)
        return;
    al_str_adds(out, "Note:   the branch has another version than these files were changed from; "
                     "see that the diff undoes nothing: ");
    al_push_add_other(push, out);
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
    al_auto(al_freep) char *line = al_strndup(message, first);
    al_auto(al_freep) char *title = al_text_join_shown_lines(line);
    al_auto(al_freep) char *branch = al_text_sanitize_shown_line(push->ref + strlen(AL_HEADS));
    al_auto(al_freep) char *author = al_text_join_shown_lines(push->author);

    al_str_addf(out, "Target: %s (branch: %s%s)\n", push->shown, branch,
                *push->head ? "" : ", new branch");
    al_str_addf(out, "Commit: %.*s \"%s\"\n", AL_STAGED_SHORT_ID, push->staged.id, title);
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
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_nul_records_clear) struct al_nul_records records =
        AL_NUL_RECORDS_INIT(1, al_nul_records_list, ret_paths);
    al_auto(al_str_clear) struct al_str names = AL_STR_INIT;

    for (size_t i = 0; i < push->staged.count; i++) {
        const struct al_sandbox_file *file = &push->staged.files[i];

        if (file->operation == AL_STAGED_CREATE)
            al_str_add(&names, file->path, strlen(file->path) + 1);
    }
    if (!names.len || al_location_is_bare(&push->repo->at))
        return 0;
    al_git_command_feed(&command, &names);
    al_strv_adds(&command.argv, "git", "check-ignore", "--no-index", "-z", "--stdin", NULL);
    return al_push_read_records(push, &command, &records);
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
