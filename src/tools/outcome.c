// SPDX-License-Identifier: Apache-2.0
#include "tools/private.h"

#include <ctype.h>

#include "git/plumbing/filters.h"
#include "verbs/preview/diff_excerpt.h"
#include "verbs/replay/along.h"
#include "verbs/sequencer/conflict_hunks.h"

int al_everyday_check_idle(struct al_call *call, struct al_error *err)
{
    const enum al_operation_state state = al_git_operation_state(al_call_repo(call));
    int r;

    if (state == AL_IN_PROGRESS_NONE)
        return al_git_check_no_conflicts(al_call_repo(call), err);
    r = al_error_set_code(err, AL_ERR_EXECUTION, AL_CODE_OPERATION_FAILED, "%s %s is in progress",
                          state == AL_IN_PROGRESS_AM ? "An" : "A", al_operation_state_noun(state));
    return al_error_about(r, err, AL_SUBJECT_IN_PROGRESS, NULL);
}

int al_merged_answer(struct al_call *call, const char *name, const struct al_merge_outcome *outcome,
                     struct al_result *result, struct al_error *err)
{
    int r = 0;

    if (outcome->conflicted) {
        al_place_addf(&result->text, "The merge of %s stopped at conflicts.\n", name);
        return al_outcome_stopped(call, result, err);
    }
    if (outcome->up_to_date) {
        al_place_addf(&result->text, "Nothing to merge: the branch has %s already.\n", name);
    } else {
        al_place_addf(&result->text, "%s %s: ", outcome->fast_forward ? "Moved on to" : "Merged",
                      name);
        r = al_outcome_add_commit(call, "", "HEAD", "\n", &result->text, err);
        (void)al_shortstat_add_numbers(outcome->text.buf, &result->text);
        al_outcome_add_skipped(call, al_merge_hooks(outcome), !outcome->fast_forward,
                               &result->text);
    }
    return r;
}

/* More files than this are counted, not listed. */
#define LISTED_MAX 20

/* Of the files that are shown, and of the names of those that are not. */
#define SHOWN_BYTES (AL_ANSWER_DEFAULT_BYTES - 2000u)
#define LEFT_BYTES  800u

static int add_sides(struct al_call *call, struct al_str *out, struct al_error *err)
{
    const struct al_repo *repo = al_call_repo(call);
    al_auto(al_operation_sides_clear) struct al_operation_sides sides = AL_OPERATION_SIDES_INIT;
    size_t at = out->len;
    int r = al_git_operation_sides(repo, &sides, err);

    if (r < 0)
        return r;
    al_state_add_operation(repo, out);
    if (out->len == at)
        al_str_adds(out, "Nothing is in progress");
    out->buf[at] = (char)(toupper)((unsigned char)out->buf[at]);
    al_place_addf(out, ": ours is %s, theirs is %s.\n", sides.ours, sides.theirs);
    return 0;
}

/* The kind of a side that is no text file: "symbolic link", "submodule at a1b2c3d". */
static void add_side(const struct al_side *side, struct al_str *out)
{
    if (!side->oid)
        al_str_adds(out, "no file");
    else if (al_side_is_submodule(side))
        al_str_addf(out, "submodule at %.*s", AL_SHORT_ID, side->oid);
    else if (al_side_is_link(side))
        al_str_addf(out, "symbolic link %.*s", AL_SHORT_ID, side->oid);
    else
        al_str_addf(out, "file %.*s%s", AL_SHORT_ID, side->oid,
                    side->mode & 0111u ? ", executable" : "");
}

static void add_both(const struct al_conflict *conflict, const char *what, struct al_str *out)
{
    al_str_addf(out, "%s; ours: ", what);
    add_side(&conflict->sides[AL_STAGE_OURS], out);
    al_str_adds(out, "; theirs: ");
    add_side(&conflict->sides[AL_STAGE_THEIRS], out);
    al_str_adds(out, "; take ours or theirs takes all of that side");
}

/* The kind of a conflict in which one side has no file, or neither; NULL: both have it. */
static const char *one_sided(const struct al_conflict *conflict)
{
    bool base = conflict->sides[AL_STAGE_BASE].oid, ours = conflict->sides[AL_STAGE_OURS].oid,
         theirs = conflict->sides[AL_STAGE_THEIRS].oid;

    if (ours && theirs)
        return NULL;
    if (!ours && !theirs)
        return "gone in both, renamed differently: take ours or theirs removes it";
    if (!base)
        return ours ? "only in ours, perhaps by a rename: take ours keeps it, theirs removes it"
                    : "only in theirs, perhaps by a rename: take theirs keeps it, ours removes it";
    return ours ? "changed in ours, deleted in theirs: take ours keeps it, theirs deletes it"
                : "deleted in ours, changed in theirs: take theirs keeps it, ours deletes it";
}

/* Say what is in conflict, apart from the hunks. */
static void describe(const struct al_conflict_file *file, struct al_str *out)
{
    const struct al_side *sides = file->conflict->sides;
    const char *kind = one_sided(file->conflict);

    if (kind)
        al_str_adds(out, kind);
    else if (al_side_is_submodule(&sides[AL_STAGE_OURS]) ||
             al_side_is_submodule(&sides[AL_STAGE_THEIRS]))
        add_both(file->conflict, "submodule", out);
    else if (al_side_is_link(&sides[AL_STAGE_OURS]) || al_side_is_link(&sides[AL_STAGE_THEIRS]))
        add_both(file->conflict, "symbolic link", out);
    else if (!file->on_disk || file->is_large)
        add_both(file->conflict, "not on disk, or too large for hunks", out);
    else if (!file->is_text)
        add_both(file->conflict, "binary", out);
    else if (!file->blocks.count && file->is_unmerged)
        add_both(file->conflict,
                 "not merged as text, by its attributes; on disk is ours, unless somebody has "
                 "changed it since",
                 out);
    else if (!file->blocks.count)
        al_str_adds(out, "no hunks are left: take disk when the file is as it should be");
    if (file->blocks.count)
        al_str_addf(out, "%s%s", kind ? ", with " : "",
                    al_counted(file->blocks.count, "hunk", "hunks").text);
    if (!kind && file->is_text && sides[AL_STAGE_OURS].mode != sides[AL_STAGE_THEIRS].mode)
        add_both(file->conflict, ", and its mode", out);
    if (!kind && file->blocks.count && !sides[AL_STAGE_BASE].oid)
        al_str_adds(out, ", added on both sides");
}

static void add_side_lines(const char *marker, const char *name, const struct al_bytes *lines,
                           struct al_str *out)
{
    al_str_addf(out, "%s%s%s\n", marker, *name ? " " : "", name);
    al_str_add(out, lines->data, lines->len);
    if (lines->len && lines->data[lines->len - 1] != '\n')
        al_str_addc(out, '\n');
}

static int add_file(struct al_call *call, const struct al_conflict *conflict, struct al_str *out,
                    struct al_error *err)
{
    const struct al_repo *repo = al_call_repo(call);
    al_auto(al_conflict_file_clear) struct al_conflict_file file = AL_CONFLICT_FILE_INIT;
    int r = al_git_conflict_files(repo, conflict, 1, &file, err);

    if (r == 0)
        r = al_git_conflict_hunks(repo, &file, err);
    if (r < 0)
        return r;
    al_place_add(repo, conflict->path, out);
    al_str_adds(out, ": ");
    describe(&file, out);
    al_str_addc(out, '\n');
    for (size_t i = 0; i < file.blocks.count; i++) {
        const struct al_conflict_hunk *hunk = &file.hunks[i];

        al_str_addf(out, "hunk %s, line %zu\n", hunk->id, file.blocks.items[i].line);
        add_side_lines("<<<<<<<", "ours", &hunk->sides[AL_STAGE_OURS], out);
        if (hunk->has_base)
            add_side_lines("|||||||", "base", &hunk->sides[AL_STAGE_BASE], out);
        add_side_lines("=======", "", &hunk->sides[AL_STAGE_THEIRS], out);
        al_str_adds(out, ">>>>>>> theirs\n");
    }
    return 0;
}

int al_outcome_add_conflicts(struct al_call *call, const struct al_conflicts *conflicts,
                             struct al_str *out, struct al_error *err)
{
    const size_t count = conflicts->count < LISTED_MAX ? conflicts->count : LISTED_MAX;
    struct al_conflict_file files[LISTED_MAX];
    int r = al_git_conflict_files(al_call_repo(call), conflicts->items, count, files, err);
    for (size_t i = 0; i < count; i++) {
        al_str_adds(out, i ? ", " : "");
        if (r == 0) {
            al_auto(al_str_clear) struct al_str what = AL_STR_INIT;

            describe(&files[i], &what); /* the ways out are what git_conflicts says */
            al_place_add(al_call_repo(call), files[i].conflict->path, out);
            al_str_addf(out, " (%.*s)", (int)strcspn(what.buf, ":;"), what.buf);
        }
        al_conflict_file_clear(&files[i]);
    }
    if (conflicts->count > count)
        al_str_addf(out, " and %zu more", conflicts->count - count);
    return r;
}

/* Add the files that fit, in whole; the first one is added in any case, as far as it goes. */
static int add_files(struct al_call *call, const struct al_conflicts *conflicts,
                     const struct al_strv *paths, struct al_str *text, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv left = AL_STRV_INIT;
    size_t shown = 0;
    int r = 0;

    for (size_t i = 0; r == 0 && i < conflicts->count; i++) {
        al_auto(al_str_clear) struct al_str file = AL_STR_INIT;

        if (paths && !al_strv_contains(paths, conflicts->items[i].path))
            continue;
        if (!left.count)
            r = add_file(call, &conflicts->items[i], &file, err);
        if (left.count || (shown && text->len + file.len > SHOWN_BYTES))
            al_strv_take(&left, al_place(al_call_repo(call), conflicts->items[i].path));
        else
            al_str_add(text, file.buf, file.len);
        shown++;
    }
    if (r == 0 && left.count) {
        al_str_addf(text, "-- %s not shown: ", al_counted(left.count, "file", "files").text);
        al_answer_add_items(&left, LEFT_BYTES, text);
        al_str_adds(text, " -- resolve these first, or name others with paths\n");
    }
    return r;
}

/* Make the text of a result safe, and cut it at a line. */
static void end_shown(struct al_result *result)
{
    struct al_str *text = &result->text;
    al_auto(al_str_clear) struct al_str safe = AL_STR_INIT;

    if (text->len > SHOWN_BYTES + LEFT_BYTES) {
        const char *end = memrchr(text->buf, '\n', SHOWN_BYTES);

        al_str_truncate(text, end ? (size_t)(end - text->buf) + 1 : SHOWN_BYTES);
        al_str_adds(text, "-- the rest is not shown: resolve these hunks first\n");
        result->truncated = true;
    }
    al_text_sanitize(text->buf, text->len, &safe);
    al_answer_text(&safe, result);
}

int al_outcome_show(struct al_call *call, const struct al_conflicts *conflicts,
                    const struct al_strv *paths, struct al_result *result, struct al_error *err)
{
    struct al_str *text = &result->text;
    enum al_operation_state state = al_git_operation_state(al_call_repo(call));
    al_auto(al_freep) char *bisected = al_git_bisected(al_call_repo(call));
    int r = 0;

    if (!conflicts->count && state == AL_IN_PROGRESS_NONE) {
        al_str_adds(text, bisected ? "No conflicts, and a bisect is in progress: " AL_BISECT_NEXT
                                     ".\n"
                                   : "No conflicts, and nothing is in progress.\n");
    } else {
        r = add_sides(call, text, err);
        if (r == 0 && !conflicts->count)
            al_str_adds(text,
                        "No conflicts are left: git_conflicts with action continue continues.\n");
        else if (r == 0)
            r = add_files(call, conflicts, paths, text, err);
    }
    if (r == 0)
        end_shown(result);
    return r;
}

int al_outcome_stopped(struct al_call *call, struct al_result *result, struct al_error *err)
{
    al_auto(al_conflicts_clear) struct al_conflicts conflicts = AL_CONFLICTS_INIT;
    int r = al_git_conflicts(al_call_repo(call), &conflicts, err);

    if (r == 0)
        r = al_outcome_show(call, &conflicts, NULL, result, err);
    if (r < 0)
        return r;
    if (conflicts.count && al_git_operation_state(al_call_repo(call)) == AL_IN_PROGRESS_NONE)
        al_str_adds(&result->text, "\ngit_conflicts resolves them; git_commit commits then.\n");
    else if (conflicts.count)
        al_str_adds(&result->text, "\ngit_conflicts resolves them, and continues.\n");
    al_state_add_waiting(call, &result->text);
    al_operation_note_begun(al_call_repo(call), al_call_session(call)->number);
    return 0;
}

void al_outcome_add_places(const struct al_repo *repo, const struct al_strv *files,
                           size_t max_bytes, struct al_str *out)
{
    al_auto(al_strv_clear) struct al_strv shown = AL_STRV_INIT;

    for (size_t i = 0; i < files->count; i++)
        al_strv_take(&shown, al_place(repo, files->items[i]));
    al_answer_add_items(&shown, max_bytes, out);
}

void al_outcome_add_gone(struct al_call *call, const struct al_strv *files, const char *title,
                         struct al_str *text)
{
    al_auto(al_strv_clear) struct al_strv still = AL_STRV_INIT, gone = AL_STRV_INIT;
    bool staged;

    if (files->count)
        (void)al_uncommitted_files(al_call_repo(call), &still, &staged, NULL);
    for (size_t i = 0; i < files->count; i++)
        if (!al_strv_contains(&still, files->items[i]))
            al_strv_add(&gone, files->items[i]);
    if (!gone.count)
        return;
    al_str_adds(text, title);
    al_outcome_add_places(al_call_repo(call), &gone, LEFT_BYTES, text);
    al_str_adds(text, ". git_undo goes back to before that.\n");
}

void al_outcome_add_skipped(struct al_call *call, const char *hooks, bool commits,
                            struct al_str *text)
{
    al_auto(al_str_clear) struct al_str lines = AL_STR_INIT;

    al_git_skipped_hooks(al_call_repo(call), hooks, &lines);
    if (commits)
        al_git_skipped_signature(al_call_repo(call), &lines);
    if (lines.len)
        al_str_addf(text, "%s\n", lines.buf);
}

void al_resolved_words(const struct al_call *call, const char *name, struct al_strv *ret_words)
{
    const char *resolved = al_call_resolved(call, name);
    al_auto(al_freep) char *words = resolved ? al_strdup(resolved) : NULL;

    al_strv_split(ret_words, words, " ");
}

void al_outcome_add_list(const char *title, const struct al_strv *items, size_t max_bytes,
                         struct al_str *out)
{
    if (!items->count)
        return;
    al_str_adds(out, title);
    al_answer_add_items(items, max_bytes, out);
    al_str_addc(out, '\n');
}

void al_outcome_add_message(struct al_call *call, const char *message, struct al_str *out)
{
    al_str_adds(out, "The message:\n");
    al_text_add_indented(out, message, al_call_budget(call)->in_full);
}

int al_outcome_add_commit(struct al_call *call, const char *before, const char *rev,
                          const char *after, struct al_str *out, struct al_error *err)
{
    const struct al_commits_shown one = {
        .words = (const char *const[]){ "-1", "--no-walk", "--end-of-options", rev, NULL },
        .format = "%h %s",
    };
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;
    int r = al_git_commits_list(al_call_repo(call), &one, &line, err);

    al_str_trim_end(&line);
    al_str_addf(out, "%s%s%s", before, line.len ? line.buf : rev, after);
    return r;
}
