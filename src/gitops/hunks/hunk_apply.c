// SPDX-License-Identifier: Apache-2.0
#include "gitops/hunks/hunk_apply.h"

#include <stdlib.h>

#include "gitops/command.h"
#include "gitops/diff/hunks.h"
#include "gitops/refs.h"
#include "gitops/run.h"
#include "guard/text.h"

/* So many ids are listed in an error. */
#define LISTED_MAX 40

#define KEPT_BYTES (64u * 1024u)

void al_hunk_choice_clear(struct al_hunk_choice *choice)
{
    free(choice->chosen);
    *choice = (struct al_hunk_choice){ .list = NULL };
}

/* "a.c: 3fa9c1d2 +2 -1, …": the ids that there are, by file. */
static char *list_ids(const struct al_hunk_list *list)
{
    struct al_str out = AL_STR_INIT;

    for (size_t i = 0; i < list->count && i < LISTED_MAX; i++) {
        const struct al_hunk_item *item = &list->items[i];
        al_auto(al_freep) char *safe = al_text_sanitize_line(list->files[item->file].path);

        if (!i || item->file != list->items[i - 1].file)
            al_str_addf(&out, "%s%s: %s", i ? "; " : "", safe, item->id);
        else
            al_str_addf(&out, ", %s", item->id);
    }
    if (list->count > LISTED_MAX)
        al_str_addf(&out, " and %zu more", list->count - LISTED_MAX);
    return al_str_detach(&out);
}

/* Eight hex digits; equal hunks of a file have a number behind: 3fa9c1d2-2. */
static bool is_id(const char *word)
{
    const size_t len = strcspn(word, "-");

    return len == AL_HUNK_ID_DIGITS && al_is_oid(word, len);
}

static int not_there(const struct al_hunk_list *list, const char *id, struct al_error *err)
{
    static const char *const sides[] = { "unstaged", "staged", "commit's" };
    const char *which = sides[list->side];
    al_auto(al_freep) char *safe = al_text_sanitize_line(id);
    al_auto(al_freep) char *ids = list_ids(list);

    if (!is_id(id))
        (void)al_error_set(err, AL_ERR_BAD_ARGS, "'%s' is no id of a hunk, as 3fa9c1d2 is", safe);
    else if (!list->count)
        (void)al_error_set(err, AL_ERR_BAD_ARGS,
                           "hunk %s is not there any more: there are no %s changes", safe, which);
    else
        (void)al_error_set(err, AL_ERR_BAD_ARGS,
                           "hunk %s is not there any more; the %s hunks are: %s", safe, which, ids);
    return al_error_about(AL_ERR_BAD_ARGS, err, AL_SUBJECT_HUNK, NULL);
}

int al_hunks_choose(const struct al_hunk_list *list, const struct al_strv *ids,
                    struct al_hunk_choice *ret_choice, struct al_error *err)
{
    al_auto(al_hunk_choice_clear) struct al_hunk_choice choice = {
        .list = list, .chosen = al_calloc(list->count, sizeof(bool))
    };

    for (size_t i = 0; i < ids->count; i++) {
        const struct al_hunk_item *item = al_hunk_find(list, ids->items[i]);

        if (!item)
            return not_there(list, ids->items[i], err);
        choice.count += !choice.chosen[item - list->items];
        choice.chosen[item - list->items] = true;
    }
    *ret_choice = choice;
    choice = (struct al_hunk_choice){ .list = NULL };
    return 0;
}

void al_hunk_choice_paths(const struct al_hunk_choice *choice, struct al_strv *out)
{
    const struct al_hunk_list *list = choice->list;
    size_t last = SIZE_MAX;

    for (size_t i = 0; i < list->count; i++) {
        if (!choice->chosen[i] || list->items[i].file == last)
            continue;
        last = list->items[i].file;
        al_strv_add(out, list->files[last].path);
    }
}

/* --- The patch --- */

/** A patch that is being built. */
struct patch {
    const struct al_hunk_choice *choice;
    const struct al_hunk_list *list;
    bool reverse;
    int64_t moved; /* lines that the chosen hunks of this file have added so far */
    struct al_str *out;
};

static void add_line(const struct patch *patch, const struct al_patch_at *line)
{
    al_str_add(patch->out, patch->list->text.buf + line->at, line->next - line->at);
}

static size_t count_chosen(const struct patch *patch, const struct al_hunk_file *file,
                           bool has_lines)
{
    size_t count = 0;

    for (size_t i = file->first; i < file->first + file->count; i++)
        count +=
            patch->choice->chosen[i] && (patch->list->items[i].kind == AL_HUNK_LINES) == has_lines;
    return count;
}

static bool is_mode_line(const struct al_patch_at *line)
{
    return al_hunks_begins(line->text, line->len, "old mode ") ||
           al_hunks_begins(line->text, line->len, "new mode ");
}

/* Add git's header: the modes only if that hunk is chosen, the other lines only with lines. */
static void add_header(const struct patch *patch, const struct al_hunk_file *file, bool mode,
                       bool lines)
{
    struct al_patch_at line;

    for (size_t at = file->begin; at < file->body; at = line.next) {
        if (!al_patch_at(&patch->list->text, at, &line))
            return;
        if (at == file->begin || (is_mode_line(&line) ? mode : lines))
            add_line(patch, &line);
    }
}

/** The lines of a block, with those of hunks that are not chosen as they are in the file that the
 * patch is for. */
struct body {
    struct al_str text;
    int64_t old_lines, new_lines;
    bool last_kept; /* the last line, so a remark about it is too */
};

static void add_body_line(const struct patch *patch, const struct al_hunk_item *item,
                          const struct al_patch_at *line, struct body *body)
{
    const char *bytes = patch->list->text.buf + line->at;
    const size_t len = line->next - line->at;
    char kind = line->len ? *line->text : ' ';

    if (kind == '\\') {
        if (body->last_kept)
            al_str_add(&body->text, bytes, len);
        return;
    }
    body->last_kept = true;
    if ((kind == '+' || kind == '-') && !patch->choice->chosen[item - patch->list->items]) {
        body->last_kept = kind == (patch->reverse ? '+' : '-');
        kind = ' ';
    }
    if (!body->last_kept)
        return;
    al_str_addc(&body->text, kind);
    al_str_add(&body->text, bytes + 1, len - 1);
    body->old_lines += kind != '+';
    body->new_lines += kind != '-';
}

/* Read a block from its line "@@" to `end`; `item` is its first hunk. */
static void read_body(const struct patch *patch, const struct al_hunk_item *item, size_t end,
                      struct body *body)
{
    const struct al_hunk_item *last = patch->list->items + patch->list->count;
    struct al_patch_at line;
    size_t at;

    if (!al_patch_at(&patch->list->text, item->block, &line))
        return;
    for (at = line.next; at < end && al_patch_at(&patch->list->text, at, &line); at = line.next) {
        while (item + 1 < last && item->end <= at)
            item++;
        add_body_line(patch, item, &line, body);
    }
}

static void add_block(struct patch *patch, const struct al_hunk_item *item, size_t end)
{
    struct body body = { .text = AL_STR_INIT };
    struct al_patch_ranges ranges = { .old_start = item->block_old, .new_start = item->block_new };

    read_body(patch, item, end, &body);
    if (patch->reverse)
        ranges.old_start = ranges.new_start - patch->moved;
    else
        ranges.new_start = ranges.old_start + patch->moved;
    ranges.old_lines = body.old_lines;
    ranges.new_lines = body.new_lines;
    al_str_adds(patch->out, "@@ ");
    al_patch_add_ranges(&ranges, patch->out);
    al_str_adds(patch->out, " @@\n");
    al_str_add(patch->out, body.text.buf, body.text.len);
    patch->moved += body.new_lines - body.old_lines;
    al_str_clear(&body.text);
}

/* Add the blocks that have a chosen hunk. */
static void add_blocks(struct patch *patch, const struct al_hunk_file *file)
{
    const struct al_hunk_item *items = patch->list->items;
    const size_t end = file->first + file->count;
    size_t next;

    for (size_t i = file->first; i < end; i = next) {
        size_t chosen = 0;

        for (next = i; next < end && items[next].block == items[i].block; next++)
            chosen += patch->choice->chosen[next];
        if (chosen && items[i].kind == AL_HUNK_LINES)
            add_block(patch, &items[i], next < end ? items[next].block : file->end);
    }
}

static void add_file(struct patch *patch, const struct al_hunk_file *file)
{
    const bool lines = count_chosen(patch, file, true), other = count_chosen(patch, file, false);

    if (!lines && !other)
        return;
    if (other && patch->list->items[file->first].kind != AL_HUNK_MODE) {
        al_str_add(patch->out, patch->list->text.buf + file->begin, file->end - file->begin);
        return;
    }
    patch->moved = 0;
    add_header(patch, file, other, lines);
    if (lines)
        add_blocks(patch, file);
}

void al_hunk_choice_patch(const struct al_hunk_choice *choice, bool reverse, struct al_str *out)
{
    struct patch patch = { .choice = choice, .list = choice->list, .reverse = reverse, .out = out };

    for (size_t i = 0; i < choice->list->nfiles; i++)
        add_file(&patch, &choice->list->files[i]);
}

/* --- Apply it --- */

int al_git_apply_hunks(struct al_repo *repo, const struct al_hunk_choice *choice,
                       enum al_hunk_apply how, const char *index, struct al_run_limits *budget,
                       struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    al_auto(al_str_clear) struct al_str patch = AL_STR_INIT;

    if (!choice->count)
        return 0;
    al_hunk_choice_patch(choice, how != AL_HUNKS_STAGE, &patch);
    command.class = AL_GIT_WRITE;
    command.index = index;
    command.input = patch.buf;
    command.input_len = patch.len;
    /* Paths of the patch are from the top. */
    al_strv_adds(&command.argv, "git", "-C", repo->at.top, "apply", "-p1", "--whitespace=nowarn",
                 "--no-ignore-whitespace", NULL);
    if (how != AL_HUNKS_STAGE)
        al_strv_add(&command.argv, "--reverse");
    if (how != AL_HUNKS_DISCARD)
        al_strv_add(&command.argv, "--cached");
    al_strv_add(&command.argv, "-");
    return al_git_run(&repo->at, &command,
                      &(struct al_git_run){ .max_bytes = KEPT_BYTES,
                                            .checked = true,
                                            .waits_for_lock = how != AL_HUNKS_DISCARD && !index },
                      budget, &output, err);
}
