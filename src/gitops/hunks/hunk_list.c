// SPDX-License-Identifier: Apache-2.0
/* Parse a patch into files and hunks, and name the hunks. */
#include "gitops/hunks/hunk_list.h"

#include <stdio.h>
#include <stdlib.h>

#include "gitops/diff/hunks.h"
#include "gitops/hunks/patch_text.h"
#include "gitops/oid.h"

#define MODE_SUBMODULE 0160000u

/** Where the parser is in a block, which begins with a line "@@". */
struct block {
    size_t at;
    int64_t old_at, new_at;     /* the numbers of the next lines */
    int64_t old_left, new_left; /* lines that the header counts and that have not come yet */
    struct al_patch_at before;  /* the unchanged line before this one; its `next` is 0: none */
    struct al_hunk_item *run;   /* the hunk that this line may go on with; NULL: none */
};

void al_hunk_list_clear(struct al_hunk_list *list)
{
    for (size_t i = 0; i < list->nfiles; i++)
        free(list->files[i].path);
    free(list->files);
    free(list->items);
    al_str_clear(&list->text);
    *list = AL_HUNK_LIST_INIT;
}

/* Arrays double when their count is a power of two. */
static void *grown(void *items, size_t count, size_t size)
{
    return count & (count - 1) ? items : al_reallocarray(items, count ? 2 * count : 1, size);
}

static struct al_hunk_file *last_file(const struct al_hunk_list *list)
{
    return &list->files[list->nfiles - 1];
}

static struct al_hunk_item *add_item(struct al_hunk_list *list, enum al_hunk_kind kind)
{
    struct al_hunk_item *item;

    list->items = grown(list->items, list->count, sizeof(*list->items));
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
    const struct al_hunk_file *file = &list->files[item->file];
    const char side[] = { list->side == AL_HUNKS_STAGED ? 'S' : 'U', '\0' };
    char text[AL_OID_TEXT];
    struct al_hash hash;
    struct al_oid oid;

    al_hash_init(&hash, true);
    al_hash_add(&hash, file->path, strlen(file->path) + 1);
    al_hash_add(&hash, list->text.buf + begin, end - begin);
    al_hash_end(&hash, &oid);
    memcpy(&item->content, oid.bytes, sizeof(item->content));

    al_hash_init(&hash, true);
    al_hash_add(&hash, file->path, strlen(file->path) + 1);
    al_hash_add(&hash, side, sizeof(side));
    al_hash_add(&hash, list->text.buf + begin, end - begin);
    al_hash_end(&hash, &oid);
    al_oid_text(&oid, true, text);
    snprintf(item->id, sizeof(item->id), "%.*s", AL_HUNK_ID_DIGITS, text);
}

/* The header line of a file names it twice, "diff --git a/x b/x": no rename is detected, so both
 * names are the same and equally long. */
static char *name_of(const struct al_patch_at *line)
{
    static const char git[] = "diff --git ", unmerged[] = "* Unmerged path ";
    const char *first = strchr(line->text + strlen("diff --"), ' ') + 1;
    size_t len = line->len - (size_t)(first - line->text);
    bool twice = al_patch_begins(line, git);

    if (al_patch_begins(line, unmerged)) {
        first = line->text + strlen(unmerged);
        len = line->len - strlen(unmerged);
    }
    if (twice)
        len = len / 2;
    if (len && *first == '"') {
        al_auto(al_freep) char *name = al_hunks_unquote(first + 1, len - 1);

        return al_strdup(name + (twice && strlen(name) > 2 ? 2 : 0));
    }
    return twice && len > 2 ? al_strndup(first + 2, len - 2) : al_strndup(first, len);
}

static void begin_file(struct al_hunk_list *list, const struct al_patch_at *line)
{
    struct al_hunk_file *file;

    list->files = grown(list->files, list->nfiles, sizeof(*list->files));
    file = &list->files[list->nfiles++];
    *file = (struct al_hunk_file){ .path = name_of(line),
                                   .status = al_patch_begins(line, "diff --git ") ? 'M' : 'U',
                                   .begin = line->at,
                                   .first = list->count };
}

static unsigned octal(const char *digits)
{
    unsigned value = 0;

    for (int i = 0; i < 6 && digits[i] >= '0' && digits[i] <= '7'; i++)
        value = value * 8 + (unsigned)(digits[i] - '0');
    return value;
}

static unsigned mode_on(const struct al_patch_at *line, const char *word)
{
    return octal(line->text + strlen(word));
}

/* "index <id>..<id> <mode>": the mode is there when it has not changed. */
static void read_index_line(struct al_hunk_file *file, const struct al_patch_at *line)
{
    const char *mode = memrchr(line->text, ' ', line->len);

    if (mode - line->text > (ptrdiff_t)strlen("index"))
        file->old_mode = file->new_mode = octal(mode + 1);
}

static void read_header_line(struct al_hunk_file *file, const struct al_patch_at *line)
{
    if (al_patch_begins(line, "old mode ")) {
        file->old_mode = mode_on(line, "old mode ");
    } else if (al_patch_begins(line, "new mode ")) {
        file->new_mode = mode_on(line, "new mode ");
    } else if (al_patch_begins(line, "new file mode ")) {
        file->status = 'A';
        file->new_mode = mode_on(line, "new file mode ");
    } else if (al_patch_begins(line, "deleted file mode ")) {
        file->status = 'D';
        file->old_mode = mode_on(line, "deleted file mode ");
    } else if (al_patch_begins(line, "index ")) {
        read_index_line(file, line);
    }
}

/* Read the lines between the one that names the file and its first hunk, and return where they
 * end. */
static size_t read_header(struct al_hunk_list *list, size_t at)
{
    struct al_hunk_file *file = last_file(list);
    struct al_patch_at line;

    while (al_patch_at(&list->text, at, &line) && !al_patch_begins_file(&line) &&
           !al_patch_begins(&line, "@@ ")) {
        file->is_binary =
            al_patch_begins(&line, "Binary files ") || al_patch_begins(&line, "GIT binary patch");
        if (file->is_binary)
            break;
        read_header_line(file, &line);
        at = line.next;
    }
    return at;
}

static bool read_block_header(const struct al_patch_at *line, struct block *ret)
{
    struct al_patch_ranges ranges;

    if (!al_patch_ranges(line, &ranges))
        return false;
    *ret = (struct block){ .at = line->at,
                           .old_at = ranges.old_start,
                           .new_at = ranges.new_start,
                           .old_left = ranges.old_lines,
                           .new_left = ranges.new_lines };
    return true;
}

static void end_run(struct al_hunk_list *list, struct block *block, const struct al_patch_at *after)
{
    struct al_hunk_item *run = block->run;

    if (!run)
        return;
    name_item(list, run, block->before.next ? block->before.at : run->begin,
              after ? after->next : run->end);
    block->run = NULL;
}

static void add_changed_line(struct al_hunk_list *list, struct block *block,
                             const struct al_patch_at *line)
{
    const bool added = *line->text == '+';

    if (!block->run) {
        block->run = add_item(list, AL_HUNK_LINES);
        block->run->block = block->at;
        block->run->begin = line->at;
        block->run->old_start = block->old_at;
        block->run->new_start = block->new_at;
    }
    block->run->end = line->next;
    block->run->new_lines += added;
    block->run->old_lines += !added;
    block->new_at += added;
    block->old_at += !added;
    block->new_left -= added;
    block->old_left -= !added;
    *(added ? &last_file(list)->added : &last_file(list)->deleted) += 1;
}

/* An unchanged line ends the hunk before it, and may be the one before the next hunk. */
static void add_context_line(struct al_hunk_list *list, struct block *block,
                             const struct al_patch_at *line)
{
    end_run(list, block, line);
    block->before = *line;
    block->old_at++;
    block->new_at++;
    block->old_left--;
    block->new_left--;
}

/* "\ No newline at end of file" belongs to the line before it. */
static void add_remark(struct block *block, const struct al_patch_at *line)
{
    if (block->run)
        block->run->end = line->next;
    else
        block->before.next = line->next;
}

static size_t read_block(struct al_hunk_list *list, const struct al_patch_at *head)
{
    size_t at = head->next;
    struct block block;
    struct al_patch_at line;

    if (!read_block_header(head, &block))
        return at;
    while (al_patch_at(&list->text, at, &line)) {
        const char kind = line.len ? *line.text : ' ';

        if (kind != '\\' && block.old_left <= 0 && block.new_left <= 0)
            break;
        if (kind == '+' || kind == '-')
            add_changed_line(list, &block, &line);
        else if (kind == '\\')
            add_remark(&block, &line);
        else
            add_context_line(list, &block, &line);
        at = line.next;
    }
    end_run(list, &block, NULL);
    return at;
}

/* A change without lines of its own, or one that only makes sense as a whole. */
static void add_whole(struct al_hunk_list *list, enum al_hunk_kind kind)
{
    struct al_hunk_file *file = last_file(list);
    struct al_patch_at head;

    if (al_patch_at(&list->text, file->begin, &head))
        name_item(list, add_item(list, kind), head.next, file->body);
}

static void add_mode(struct al_hunk_list *list)
{
    const struct al_hunk_file *file = last_file(list);
    struct al_patch_at head, old_mode, new_mode;

    if (al_patch_at(&list->text, file->begin, &head) &&
        al_patch_at(&list->text, head.next, &old_mode) &&
        al_patch_at(&list->text, old_mode.next, &new_mode))
        name_item(list, add_item(list, AL_HUNK_MODE), old_mode.at, new_mode.next);
}

/* Add what the header alone says, and return whether hunks of lines may follow. */
static bool add_from_header(struct al_hunk_list *list)
{
    const struct al_hunk_file *file = last_file(list);

    if (file->status == 'U')
        return false;
    if (file->old_mode == MODE_SUBMODULE || file->new_mode == MODE_SUBMODULE) {
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

/* Skip to the next file. */
static size_t skip_file(const struct al_hunk_list *list, size_t at)
{
    struct al_patch_at line;

    while (al_patch_at(&list->text, at, &line) && !al_patch_begins_file(&line))
        at = line.next;
    return at;
}

static size_t read_file(struct al_hunk_list *list, const struct al_patch_at *head)
{
    size_t at;
    bool has_lines;
    struct al_patch_at line;

    begin_file(list, head);
    at = read_header(list, head->next);
    last_file(list)->body = at;
    has_lines = add_from_header(list);
    while (has_lines && al_patch_at(&list->text, at, &line) && al_patch_begins(&line, "@@ "))
        at = read_block(list, &line);
    at = skip_file(list, at);
    last_file(list)->end = at;
    if (has_lines && !last_file(list)->count)
        add_whole(list, AL_HUNK_EMPTY);
    return at;
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

void al_hunk_list_parse(struct al_hunk_list *list)
{
    size_t at = skip_file(list, 0);
    struct al_patch_at line;

    while (al_patch_at(&list->text, at, &line)) {
        at = read_file(list, &line);
        join_type_change(list);
    }
    if (list->truncated && list->nfiles) {
        struct al_hunk_file *cut = last_file(list);

        list->count = cut->first;
        free(cut->path);
        list->nfiles--;
    }
}
