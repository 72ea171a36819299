// SPDX-License-Identifier: Apache-2.0
/* Show a hunk to a reader. */
#include "gitops/hunks/hunk_list.h"
#include "gitops/hunks/patch_text.h"

/** The part of the text that shows a hunk. */
struct shown {
    size_t begin, end;
    struct al_patch_ranges ranges;
    const char *heading; /* after "@@ … @@"; NULL: another hunk of the block has it */
    size_t heading_len;
};

static const struct al_hunk_item *neighbour(const struct al_hunk_list *list,
                                            const struct al_hunk_item *item, int by)
{
    const size_t at = (size_t)(item - list->items);

    if ((by < 0 && !at) || (by > 0 && at + 1 == list->count))
        return NULL;
    return item[by].kind == AL_HUNK_LINES && item[by].block == item->block &&
                   item[by].file == item->file
               ? &item[by]
               : NULL;
}

/* Count the unchanged lines from `at` to `end`. */
static size_t count_lines(const struct al_hunk_list *list, size_t at, size_t end)
{
    struct al_patch_at line;
    size_t count = 0;

    while (at < end && al_patch_at(&list->text, at, &line)) {
        count += !line.len || *line.text != '\\';
        at = line.next;
    }
    return count;
}

static size_t skip_lines(const struct al_hunk_list *list, size_t at, size_t count)
{
    struct al_patch_at line;

    while (count-- && al_patch_at(&list->text, at, &line))
        at = line.next;
    return at;
}

/* The end of the unchanged lines after a hunk: the next hunk of its block, or the block's end. */
static size_t end_of_context(const struct al_hunk_list *list, const struct al_hunk_item *item)
{
    const struct al_hunk_item *next = neighbour(list, item, 1);
    struct al_patch_at line;
    size_t at = item->end;

    if (next)
        return next->begin;
    while (at < list->files[item->file].end && al_patch_at(&list->text, at, &line) &&
           (!line.len || *line.text == ' ' || *line.text == '\\'))
        at = line.next;
    return at;
}

/* The lines between two hunks are shown after the first one; what is too many, before the second.
 */
static void find_before(const struct al_hunk_list *list, const struct al_hunk_item *item,
                        size_t context, struct shown *shown)
{
    const struct al_hunk_item *previous = neighbour(list, item, -1);
    struct al_patch_at head;
    size_t begin, lines;

    if (previous) {
        lines = count_lines(list, previous->end, item->begin);
        begin = skip_lines(list, previous->end, lines < context ? lines : context);
    } else {
        (void)al_patch_at(&list->text, item->block, &head);
        begin = head.next;
        shown->heading = memmem(head.text + 2, head.len - 2, "@@", 2);
        shown->heading_len = (size_t)(head.text + head.len - shown->heading);
    }
    lines = count_lines(list, begin, item->begin);
    shown->begin = skip_lines(list, begin, lines > context ? lines - context : 0);
    lines = lines > context ? context : lines;
    shown->ranges.old_start = item->old_start - (int64_t)lines;
    shown->ranges.new_start = item->new_start - (int64_t)lines;
    shown->ranges.old_lines = item->old_lines + (int64_t)lines;
    shown->ranges.new_lines = item->new_lines + (int64_t)lines;
}

static void find_after(const struct al_hunk_list *list, const struct al_hunk_item *item,
                       size_t context, struct shown *shown)
{
    const size_t end = end_of_context(list, item);
    size_t lines = count_lines(list, item->end, end);

    shown->end = end;
    if (lines > context) {
        lines = context;
        shown->end = skip_lines(list, item->end, lines);
    }
    shown->ranges.old_lines += (int64_t)lines;
    shown->ranges.new_lines += (int64_t)lines;
}

static void show_lines(const struct al_hunk_list *list, const struct al_hunk_item *item,
                       size_t context, struct al_str *out)
{
    struct shown shown = { .heading = NULL };

    find_before(list, item, context, &shown);
    find_after(list, item, context, &shown);
    al_str_addf(out, "@@ %s ", item->id);
    al_patch_add_ranges(&shown.ranges, out);
    al_str_addc(out, ' ');
    al_str_add(out, shown.heading ? shown.heading : "@@", shown.heading ? shown.heading_len : 2);
    al_str_addc(out, '\n');
    al_str_add(out, list->text.buf + shown.begin, shown.end - shown.begin);
    if (shown.end > shown.begin && list->text.buf[shown.end - 1] != '\n')
        al_str_addc(out, '\n');
}

void al_hunk_show(const struct al_hunk_list *list, const struct al_hunk_item *item, size_t context,
                  struct al_str *out)
{
    const struct al_hunk_file *file = &list->files[item->file];

    switch (item->kind) {
    case AL_HUNK_LINES:
        show_lines(list, item, context, out);
        break;
    case AL_HUNK_MODE:
        al_str_addf(out, "@@ %s mode %06o -> %06o\n", item->id, file->old_mode, file->new_mode);
        break;
    case AL_HUNK_BINARY:
        al_str_addf(out, "@@ %s binary file%s\n", item->id,
                    file->status == 'A'   ? ", new"
                    : file->status == 'D' ? ", deleted"
                                          : "");
        break;
    case AL_HUNK_TYPE:
        al_str_addf(out, "@@ %s type %06o -> %06o\n", item->id, file->old_mode, file->new_mode);
        break;
    case AL_HUNK_SUBMODULE:
        al_str_addf(out, "@@ %s submodule at another commit\n", item->id);
        break;
    case AL_HUNK_EMPTY:
        al_str_addf(out, "@@ %s empty file, %s\n", item->id,
                    file->status == 'D' ? "deleted" : "new");
        break;
    }
}
