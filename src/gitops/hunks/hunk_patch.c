// SPDX-License-Identifier: Apache-2.0
/* Build the patch of chosen hunks. */
#include "gitops/hunks/hunk_apply.h"
#include "gitops/hunks/patch_text.h"

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
    return al_patch_begins(line, "old mode ") || al_patch_begins(line, "new mode ");
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
    struct al_patch_ranges ranges;
    struct al_patch_at head;

    if (!al_patch_at(&patch->list->text, item->block, &head) || !al_patch_ranges(&head, &ranges))
        return;
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
