// SPDX-License-Identifier: Apache-2.0
/* Read a diff from git, parse it into files and hunks, name the hunks, and show them. */
#include "git/hunks/hunk_list.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "git/command.h"
#include "git/diff/diff.h"
#include "git/git_lock.h"
#include "git/oid.h"
#include "git/plumbing/diff_raw.h"
#include "git/refs.h"
#include "git/run.h"
#include "guard/text.h"

/* One line of a patch. */
struct patch_at {
    const char *text; /* borrowed; not NUL-terminated */
    size_t len;       /* without its newline */
    size_t at;        /* where it begins */
    size_t next;      /* where the next one begins */
};

/** The parser: the text of a list, line by line. */
struct parser {
    struct al_hunk_list *list;
    struct al_hunks lines;
    size_t at;                   /* where the next line begins */
    bool in_header, takes_lines; /* of the last file; its hunks of lines are wanted */
    size_t block;                /* where the "@@" line begins */
    int64_t old_at, new_at;      /* the numbers of the next lines */
    struct patch_at before;      /* the unchanged line before this one; its `next` is 0: none */
    struct al_hunk_item *run;    /* the hunk that this line may go on with; NULL: none */
};

/* Read the line that begins at `at`; false at the end. */
static bool patch_at(const struct al_str *text, size_t at, struct patch_at *ret_line)
{
    const char *newline;

    if (at >= text->len)
        return false;
    newline = memchr(text->buf + at, '\n', text->len - at);
    *ret_line = (struct patch_at){ .text = text->buf + at, .at = at };
    ret_line->len = newline ? (size_t)(newline - ret_line->text) : text->len - at;
    ret_line->next = at + ret_line->len + (newline != NULL);
    return true;
}

void al_hunk_list_clear(struct al_hunk_list *list)
{
    for (size_t i = 0; i < list->nfiles; i++)
        free(list->files[i].path);
    free(list->files);
    free(list->items);
    al_str_clear(&list->text);
    *list = AL_HUNK_LIST_INIT;
}

void al_hunk_sides_clear(struct al_hunk_sides *sides)
{
    al_hunk_list_clear(&sides->staged);
    al_hunk_list_clear(&sides->unstaged);
}

static struct al_hunk_file *last_file(const struct al_hunk_list *list)
{
    return &list->files[list->nfiles - 1];
}

static struct al_hunk_item *add_item(struct al_hunk_list *list, enum al_hunk_kind kind)
{
    struct al_hunk_item *item;

    list->items = al_grow(list->items, list->count, sizeof(*list->items));
    item = &list->items[list->count++];
    *item = (struct al_hunk_item){ .kind = kind, .file = list->nfiles - 1 };
    last_file(list)->count++;
    return item;
}

/* The first digits of the hash over path, side and bytes are the id; without the side, they tell
 * which hunks of both sides are equal. */
static void name_item(const struct al_hunk_list *list, struct al_hunk_item *item, size_t begin,
                      size_t end)
{
    const char *path = list->files[item->file].path, side[] = { "USC"[list->side], '\0' };
    char text[AL_OID_TEXT];
    struct al_hash hash;
    struct al_oid oid;

    for (int with_side = 0; with_side <= 1; with_side++) {
        al_hash_init(&hash, true);
        al_hash_add(&hash, path, strlen(path) + 1);
        al_hash_add(&hash, side, with_side ? sizeof(side) : 0);
        al_hash_add(&hash, list->text.buf + begin, end - begin);
        al_hash_end(&hash, &oid);
        if (!with_side)
            memcpy(&item->content, oid.bytes, sizeof(item->content));
    }
    al_oid_text(&oid, true, text);
    snprintf(item->id, sizeof(item->id), "%.*s", AL_HUNK_ID_DIGITS, text);
}

static void take_facts(struct al_hunk_file *file, const struct al_patch_file *read)
{
    file->path = al_strdup(read->path);
    file->status = read->is_unmerged ? 'U' : read->is_new ? 'A' : read->is_deleted ? 'D' : 'M';
    file->old_mode = read->old_mode;
    file->new_mode = read->mode;
    file->is_binary = read->is_binary;
}

static void end_run(struct parser *parser, const struct patch_at *after)
{
    struct al_hunk_item *run = parser->run;

    if (!run)
        return;
    name_item(parser->list, run, parser->before.next ? parser->before.at : run->begin,
              after ? after->next : run->end);
    parser->run = NULL;
}

static void begin_block(struct parser *parser, const struct al_hunk *head,
                        const struct patch_at *line)
{
    parser->block = line->at;
    parser->old_at = head->old_start + !head->old_lines;
    parser->new_at = head->new_start + !head->new_lines;
    parser->before.next = 0;
}

static void add_changed_line(struct parser *parser, const struct patch_at *line)
{
    struct al_hunk_file *file = last_file(parser->list);
    const bool added = *line->text == '+';

    if (!parser->run) {
        parser->run = add_item(parser->list, AL_HUNK_LINES);
        parser->run->block = parser->block;
        parser->run->begin = line->at;
        parser->run->old_start = parser->old_at;
        parser->run->new_start = parser->new_at;
    }
    parser->run->end = line->next;
    parser->run->new_lines += added;
    parser->run->old_lines += !added;
    parser->new_at += added;
    parser->old_at += !added;
    *(added ? &file->added : &file->deleted) += 1;
}

/* An unchanged line ends the hunk before it, and may be the one before the next hunk. */
static void add_context_line(struct parser *parser, const struct patch_at *line)
{
    end_run(parser, line);
    parser->before = *line;
    parser->old_at++;
    parser->new_at++;
}

/* "\\ No newline at end of file" belongs to the line before it. */
static void add_remark(struct parser *parser, const struct patch_at *line)
{
    if (parser->run)
        parser->run->end = line->next;
    else
        parser->before.next = line->next;
}

static void add_body_line(struct parser *parser, const struct patch_at *line)
{
    const char kind = line->len ? *line->text : ' ';

    if (kind == '+' || kind == '-')
        add_changed_line(parser, line);
    else if (kind == '\\')
        add_remark(parser, line);
    else
        add_context_line(parser, line);
}

/* A change without lines of its own, or one that only makes sense as a whole. */
static void add_whole(struct al_hunk_list *list, enum al_hunk_kind kind)
{
    struct al_hunk_file *file = last_file(list);
    struct patch_at head;

    if (patch_at(&list->text, file->begin, &head))
        name_item(list, add_item(list, kind), head.next, file->body);
}

static void add_mode(struct al_hunk_list *list)
{
    const struct al_hunk_file *file = last_file(list);
    struct patch_at head, old_mode, new_mode;

    if (patch_at(&list->text, file->begin, &head) && patch_at(&list->text, head.next, &old_mode) &&
        patch_at(&list->text, old_mode.next, &new_mode))
        name_item(list, add_item(list, AL_HUNK_MODE), old_mode.at, new_mode.next);
}

/* Add what the header alone says, and return whether hunks of lines may follow. */
static bool add_from_header(struct al_hunk_list *list)
{
    const struct al_hunk_file *file = last_file(list);

    if (file->status == 'U')
        return false;
    if (file->old_mode == AL_TYPE_GITLINK || file->new_mode == AL_TYPE_GITLINK) {
        add_whole(list, AL_HUNK_SUBMODULE);
        return false;
    }
    if (file->is_binary) {
        add_whole(list, AL_HUNK_BINARY);
        return false;
    }
    if (file->status == 'M' && file->old_mode != file->new_mode)
        add_mode(list);
    return true;
}

/* git prints a change of type as a deleted and a new file: make it one hunk. */
static void join_type_change(struct al_hunk_list *list)
{
    struct al_hunk_file *new = last_file(list), *old = new - 1;

    if (list->nfiles < 2 || old->status != 'D' || new->status != 'A' ||
        strcmp(old->path, new->path) != 0)
        return;
    old->status = 'T';
    old->new_mode = new->new_mode;
    old->added += new->added;
    old->end = new->end;
    old->count = 0;
    list->count = old->first;
    free(new->path);
    list->nfiles--;
    name_item(list, add_item(list, AL_HUNK_TYPE), old->begin, old->end);
}

/* The header of the last file ends where this line begins. */
static void end_header(struct parser *parser, size_t at)
{
    if (!parser->in_header)
        return;
    parser->in_header = false;
    take_facts(last_file(parser->list), &parser->lines.file);
    last_file(parser->list)->body = at;
    parser->takes_lines = add_from_header(parser->list);
}

static void end_file(struct parser *parser, size_t at)
{
    if (!parser->list->nfiles)
        return;
    end_run(parser, NULL);
    end_header(parser, at);
    last_file(parser->list)->end = at;
    if (parser->takes_lines && !last_file(parser->list)->count)
        add_whole(parser->list, AL_HUNK_EMPTY);
    join_type_change(parser->list);
}

static void take_line(void *payload, const struct al_patch_line *read)
{
    struct parser *parser = payload;
    struct al_hunk_list *list = parser->list;
    struct patch_at line;

    if (!patch_at(&list->text, parser->at, &line))
        return;
    parser->at = line.next;
    if (read->begins_file) {
        end_file(parser, line.at);
        parser->in_header = true;
        list->files = al_grow(list->files, list->nfiles, sizeof(*list->files));
        list->files[list->nfiles++] =
            (struct al_hunk_file){ .begin = line.at, .first = list->count };
    } else if (read->in_hunk) {
        if (parser->takes_lines)
            add_body_line(parser, &line);
    } else if (read->head) {
        end_run(parser, NULL);
        end_header(parser, line.at);
        begin_block(parser, read->head, &line);
    } else if (parser->lines.file.is_binary) {
        end_header(parser, line.at);
    }
}

void al_hunk_list_parse(struct al_hunk_list *list)
{
    struct parser parser = { .list = list };

    parser.lines = AL_HUNKS_INIT(take_line, &parser);
    al_hunks_add(&parser.lines, list->text.buf, list->text.len);
    al_hunks_end(&parser.lines);
    end_file(&parser, list->text.len);
    al_hunks_clear(&parser.lines);
    if (list->truncated && list->nfiles) {
        struct al_hunk_file *cut = last_file(list);

        list->count = cut->first;
        free(cut->path);
        list->nfiles--;
    }
}

/* --- Number equal hunks --- */

/* The place of a hunk in the index, which both sides have. */
static int64_t place_of(const struct al_hunk_list *list, const struct al_hunk_item *item)
{
    return list->side == AL_HUNKS_STAGED ? item->new_start : item->old_start;
}

/* Count the equal hunks of the other side before this one. */
static size_t count_other(const struct al_hunk_list *list, const struct al_hunk_item *item,
                          const struct al_hunk_list *other)
{
    size_t equal = 0;

    for (size_t i = 0; other && i < other->count; i++)
        equal += other->items[i].content == item->content &&
                 place_of(other, &other->items[i]) <= place_of(list, item);
    return equal;
}

static int compare(const void *one, const void *two)
{
    const struct al_hunk_item *const *a = one, *const *b = two;
    const int order = strcmp((*a)->id, (*b)->id);

    return order ? order : (*a < *b ? -1 : 1);
}

void al_hunk_list_number(struct al_hunk_list *list, const struct al_hunk_list *other)
{
    al_auto(al_freep) struct al_hunk_item **sorted = al_calloc(list->count, sizeof(*sorted));
    al_auto(al_freep) size_t *numbers = al_calloc(list->count, sizeof(*numbers));

    for (size_t i = 0; i < list->count; i++)
        sorted[i] = &list->items[i];
    if (list->count)
        qsort(sorted, list->count, sizeof(struct al_hunk_item *), compare);
    for (size_t i = 0, equal = 0; i < list->count; i++) {
        equal = i && !strcmp(sorted[i]->id, sorted[i - 1]->id) ? equal + 1 : 0;
        numbers[i] = 1 + equal + count_other(list, sorted[i], other);
    }
    for (size_t i = 0; i < list->count; i++)
        if (numbers[i] > 1)
            snprintf(sorted[i]->id + AL_HUNK_ID_DIGITS, AL_HUNK_ID_TEXT - AL_HUNK_ID_DIGITS, "-%zu",
                     numbers[i]);
}

const struct al_hunk_item *al_hunk_find(const struct al_hunk_list *list, const char *id)
{
    for (size_t i = 0; i < list->count; i++)
        if (!strcasecmp(list->items[i].id, id))
            return &list->items[i];
    return NULL;
}

/* --- Read a diff --- */

/* Every setting that changes a patch is given, so that the same change is always the same patch. */
static void add_options(const struct al_hunk_query *query, struct al_strv *argv)
{
    al_strv_adds(argv, "git", "diff", "--src-prefix=" AL_HUNKS_OLD_PREFIX,
                 "--dst-prefix=" AL_HUNKS_NEW_PREFIX, "--no-renames", "--no-relative",
                 "--full-index", "--diff-algorithm=myers", "--indent-heuristic",
                 "--inter-hunk-context=0", "--no-color", "--submodule=short", NULL);
    if (query->binary)
        al_strv_add(argv, "--binary");
}

static int read_side(const struct al_repo *repo, const struct al_hunk_query *query,
                     enum al_hunk_side side, struct al_hunk_list *ret_list, struct al_error *err)
{
    const struct al_diff_options options = { .cached = side == AL_HUNKS_STAGED,
                                             .unified = AL_HUNKS_CONTEXT,
                                             .from_ref = query->from,
                                             .to_ref = query->to,
                                             .paths = query->paths };
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_buffer_clear) struct al_buffer patch = AL_BUFFER_INIT(AL_HUNKS_MAX_BYTES);
    int r;

    ret_list->side = side;
    add_options(query, &command.argv);
    command.index = query->index;
    command.quotes_names = false;
    r = al_git_diff_add_args(repo, &options, &command.argv, err);
    if (r == 0)
        r = al_git_read(&repo->at, &command, al_buffer_sink(&patch), err);
    if (r < 0)
        return r;
    ret_list->truncated = patch.total > patch.text.len;
    ret_list->text = patch.text;
    patch.text = AL_STR_INIT;
    al_hunk_list_parse(ret_list);
    return 0;
}

int al_git_read_hunks(const struct al_repo *repo, const struct al_hunk_query *query,
                      struct al_hunk_list *ret_list, struct al_error *err)
{
    const enum al_hunk_side other_side =
        query->side == AL_HUNKS_STAGED ? AL_HUNKS_UNSTAGED : AL_HUNKS_STAGED;
    al_auto(al_hunk_list_clear) struct al_hunk_list other = AL_HUNK_LIST_INIT;
    int r = read_side(repo, query, query->side, ret_list, err);

    if (r == 0 && ret_list->count && !query->index && !query->from)
        r = read_side(repo, query, other_side, &other, err);
    if (r == 0)
        al_hunk_list_number(ret_list, &other);
    return r;
}

int al_git_read_both_hunks(const struct al_repo *repo, struct al_hunk_sides *ret_sides,
                           struct al_error *err)
{
    const struct al_hunk_query query = { .binary = true };
    int r = read_side(repo, &query, AL_HUNKS_STAGED, &ret_sides->staged, err);

    if (r == 0)
        r = read_side(repo, &query, AL_HUNKS_UNSTAGED, &ret_sides->unstaged, err);
    if (r < 0)
        return r;
    al_hunk_list_number(&ret_sides->staged, &ret_sides->unstaged);
    al_hunk_list_number(&ret_sides->unstaged, &ret_sides->staged);
    return 0;
}

/* --- Show a hunk --- */

/** The part of the text that shows a hunk, and the numbers of "@@ -1,2 +3,4 @@".  A side without
 * lines starts with the line that would follow, where git names the line before. */
struct shown {
    size_t begin, end;
    int64_t old_start, old_lines, new_start, new_lines;
    const char *heading; /* after "@@ … @@"; NULL: another hunk of the block has it */
    size_t heading_len;
};

/* Append "-1,2 +3,4" as git writes it. */
static void add_ranges(const struct shown *shown, struct al_str *out)
{
    al_str_addf(out, "-%" PRId64 ",%" PRId64 " +%" PRId64 ",%" PRId64,
                shown->old_start - !shown->old_lines, shown->old_lines,
                shown->new_start - !shown->new_lines, shown->new_lines);
}

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
    struct patch_at line;
    size_t count = 0;

    while (at < end && patch_at(&list->text, at, &line)) {
        count += !line.len || *line.text != '\\';
        at = line.next;
    }
    return count;
}

static size_t skip_lines(const struct al_hunk_list *list, size_t at, size_t count)
{
    struct patch_at line;

    while (count-- && patch_at(&list->text, at, &line))
        at = line.next;
    return at;
}

/* The end of the unchanged lines after a hunk: the next hunk of its block, or the block's end. */
static size_t end_of_context(const struct al_hunk_list *list, const struct al_hunk_item *item)
{
    const struct al_hunk_item *next = neighbour(list, item, 1);
    struct patch_at line;
    size_t at = item->end;

    if (next)
        return next->begin;
    while (at < list->files[item->file].end && patch_at(&list->text, at, &line) &&
           (!line.len || *line.text == ' ' || *line.text == '\\'))
        at = line.next;
    return at;
}

/* The lines between two hunks are shown after the first one; what is too many, before the second.
 * `alone`: the first one is not shown. */
static void find_before(const struct al_hunk_list *list, const struct al_hunk_item *item,
                        size_t context, bool alone, struct shown *shown)
{
    const struct al_hunk_item *previous = neighbour(list, item, -1);
    struct patch_at head = { .text = NULL };
    size_t begin, lines;

    if (previous) {
        lines = alone ? 0 : count_lines(list, previous->end, item->begin);
        begin = skip_lines(list, previous->end, lines < context ? lines : context);
    } else {
        (void)patch_at(&list->text, item->block, &head);
        begin = head.next;
        shown->heading = memmem(head.text + 2, head.len - 2, "@@", 2);
        shown->heading_len = (size_t)(head.text + head.len - shown->heading);
    }
    lines = count_lines(list, begin, item->begin);
    shown->begin = skip_lines(list, begin, lines > context ? lines - context : 0);
    lines = lines > context ? context : lines;
    shown->old_start = item->old_start - (int64_t)lines;
    shown->new_start = item->new_start - (int64_t)lines;
    shown->old_lines = item->old_lines + (int64_t)lines;
    shown->new_lines = item->new_lines + (int64_t)lines;
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
    shown->old_lines += (int64_t)lines;
    shown->new_lines += (int64_t)lines;
}

static void show_lines(const struct al_hunk_list *list, const struct al_hunk_item *item,
                       size_t context, struct al_str *out)
{
    struct shown shown = { .heading = NULL };

    find_before(list, item, context, false, &shown);
    find_after(list, item, context, &shown);
    al_str_addf(out, "@@ %s ", item->id);
    add_ranges(&shown, out);
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
    case AL_HUNK_TYPE:
        al_str_addf(out, "@@ %s %s %06o -> %06o\n", item->id,
                    item->kind == AL_HUNK_MODE ? "mode" : "type", file->old_mode, file->new_mode);
        break;
    case AL_HUNK_BINARY:
        al_str_addf(out, "@@ %s binary file%s\n", item->id,
                    file->status == 'A'   ? ", new"
                    : file->status == 'D' ? ", deleted"
                                          : "");
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

/* --- Apply --- */

/* So many ids are listed in an error. */
#define LISTED_MAX 40

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

static int not_there(const struct al_hunk_list *list, const char *id, struct al_error *err)
{
    static const char *const sides[] = { "unstaged", "staged", "commit's" };
    const char *which = sides[list->side];
    const size_t digits = strcspn(id, "-"); /* equal hunks of a file have a number behind */
    al_auto(al_freep) char *safe = al_text_sanitize_line(id);
    al_auto(al_freep) char *ids = list_ids(list);

    if (digits != AL_HUNK_ID_DIGITS || !al_is_oid(id, digits))
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
    *ret_choice =
        (struct al_hunk_choice){ .list = list, .chosen = al_calloc(list->count, sizeof(bool)) };
    for (size_t i = 0; i < ids->count; i++) {
        const struct al_hunk_item *item = al_hunk_find(list, ids->items[i]);

        if (!item)
            return not_there(list, ids->items[i], err);
        ret_choice->count += !ret_choice->chosen[item - list->items];
        ret_choice->chosen[item - list->items] = true;
    }
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

/** A patch that is being built, or with `reverse` one for `git apply -R`. */
struct patch {
    const struct al_hunk_choice *choice;
    const struct al_hunk_list *list;
    bool reverse;
    int64_t moved; /* lines that the chosen hunks of this file have added so far */
    struct al_str *out;
};

static bool is_mode_line(const struct patch_at *line)
{
    return al_hunks_begins(line->text, line->len, "old mode ") ||
           al_hunks_begins(line->text, line->len, "new mode ");
}

/* Add git's header: the modes only if that hunk is chosen, the other lines only with lines. */
static void add_header(const struct patch *patch, const struct al_hunk_file *file, bool mode,
                       bool lines)
{
    struct patch_at line;

    for (size_t at = file->begin; at < file->body; at = line.next) {
        if (!patch_at(&patch->list->text, at, &line))
            return;
        if (at == file->begin || (is_mode_line(&line) ? mode : lines))
            al_str_add(patch->out, patch->list->text.buf + at, line.next - at);
    }
}

/* Add a hunk with the unchanged lines around it, which that of a hunk next to it may have as well.
 */
static void add_hunk(struct patch *patch, const struct al_hunk_item *item)
{
    struct shown shown = { .heading = NULL };

    find_before(patch->list, item, AL_HUNKS_CONTEXT, true, &shown);
    find_after(patch->list, item, AL_HUNKS_CONTEXT, &shown);
    /* The hunk is there in the file after the hunks before it, on both sides: git looks for line 1
     * of the old one nowhere but at the beginning. */
    shown.old_start = shown.new_start =
        patch->reverse ? shown.new_start - patch->moved : shown.old_start + patch->moved;
    al_str_adds(patch->out, "@@ ");
    add_ranges(&shown, patch->out);
    al_str_adds(patch->out, " @@\n");
    al_str_add(patch->out, patch->list->text.buf + shown.begin, shown.end - shown.begin);
    patch->moved += item->new_lines - item->old_lines;
}

static void add_file(struct patch *patch, const struct al_hunk_file *file)
{
    const struct al_hunk_item *items = patch->list->items;
    bool lines = false, other = false;

    for (size_t i = file->first; i < file->first + file->count; i++) {
        lines |= patch->choice->chosen[i] && items[i].kind == AL_HUNK_LINES;
        other |= patch->choice->chosen[i] && items[i].kind != AL_HUNK_LINES;
    }
    if (!lines && !other)
        return;
    if (other && items[file->first].kind != AL_HUNK_MODE) {
        al_str_add(patch->out, patch->list->text.buf + file->begin, file->end - file->begin);
        return;
    }
    patch->moved = 0;
    add_header(patch, file, other, lines);
    for (size_t i = file->first; i < file->first + file->count; i++)
        if (patch->choice->chosen[i] && items[i].kind == AL_HUNK_LINES)
            add_hunk(patch, &items[i]);
}

/* --- Apply it --- */

int al_git_apply_hunks(struct al_repo *repo, const struct al_hunk_choice *choice,
                       enum al_hunk_apply how, const char *index, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    struct patch patch = {
        .choice = choice, .list = choice->list, .reverse = how != AL_HUNKS_STAGE, .out = &text
    };

    if (!choice->count)
        return 0;
    for (size_t i = 0; i < choice->list->nfiles; i++)
        add_file(&patch, &choice->list->files[i]);
    command.index = index;
    al_git_command_feed(&command, &text);
    /* Paths of the patch are from the top. */
    al_strv_adds(&command.argv, "git", "-C", repo->at.top, "apply", "-p1", "--whitespace=nowarn",
                 "--no-ignore-whitespace", "--allow-overlap", NULL);
    if (how != AL_HUNKS_STAGE)
        al_strv_add(&command.argv, "--reverse");
    if (how != AL_HUNKS_DISCARD)
        al_strv_add(&command.argv, "--cached");
    al_strv_add(&command.argv, "-");
    return al_git_write(&repo->at, &command, how != AL_HUNKS_DISCARD ? AL_LOCK_INDEX : 0, err);
}
