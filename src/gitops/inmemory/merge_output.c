// SPDX-License-Identifier: Apache-2.0
#include "gitops/inmemory/merge_output.h"

#include <stdlib.h>
#include <string.h>

#include "util/sorted.h"

#define CONFLICT "CONFLICT"

void al_merged_clear(struct al_merged *merged)
{
    free(merged->tree);
    for (size_t i = 0; i < merged->count; i++) {
        free(merged->conflicts[i].path);
        free(merged->conflicts[i].kind);
    }
    free(merged->conflicts);
    al_str_clear(&merged->messages);
    *merged = AL_MERGED_INIT;
}

void al_merged_paths(const struct al_merged *merged, struct al_strv *ret_paths)
{
    for (size_t i = 0; i < merged->count; i++)
        al_strv_add(ret_paths, merged->conflicts[i].path);
}

/* Fields that end with NUL each. */
struct fields {
    const char *at, *end;
};

static const char *next_field(struct fields *fields)
{
    const char *field = fields->at;
    const char *nul = memchr(field, '\0', (size_t)(fields->end - field));

    if (!nul)
        return NULL;
    fields->at = nul + 1;
    return field;
}

/* A path with the type of a conflict that a message names. */
struct note {
    const char *path;
    const char *type;
    size_t number; /* in the output */
};

/* While it is parsed.  The paths of entries come in the order of their bytes. */
struct parsing {
    struct al_merged *merged;
    size_t room;
    struct note *notes;
    size_t nnotes, notes_room;
};

static struct al_merge_conflict *add_conflict(struct parsing *parsing, const char *path)
{
    struct al_merged *merged = parsing->merged;

    if (merged->count == parsing->room) {
        parsing->room = parsing->room ? 2 * parsing->room : 16;
        merged->conflicts =
            al_reallocarray(merged->conflicts, parsing->room, sizeof(*merged->conflicts));
    }
    merged->conflicts[merged->count] =
        (struct al_merge_conflict){ .path = al_strdup(path), .kind = al_strdup("") };
    return &merged->conflicts[merged->count++];
}

static bool is_mode(const char *text)
{
    return strspn(text, "01234567") == 6 && text[6] == ' ';
}

/* "<mode> SP <oid> SP <stage> TAB <path>" */
static bool take_entry(struct parsing *parsing, const char *field, bool sha256)
{
    const size_t digits = 2 * al_oid_bytes(sha256);
    const struct al_merged *merged = parsing->merged;
    struct al_merge_conflict *conflict;
    struct al_merge_side *side;
    struct al_oid oid;
    const char *rest;

    if (!is_mode(field) || !al_oid_parse(field + 7, sha256, &oid))
        return false;
    rest = field + 7 + digits;
    if (rest[0] != ' ' || rest[1] < '1' || rest[1] > '3' || rest[2] != '\t' || !rest[3])
        return false;
    conflict = merged->count ? &merged->conflicts[merged->count - 1] : NULL;
    if (!conflict || strcmp(conflict->path, rest + 3) != 0)
        conflict = add_conflict(parsing, rest + 3);
    side = &conflict->sides[rest[1] - '1'];
    memcpy(side->mode, field, 6);
    memcpy(side->oid, field + 7, digits);
    return true;
}

static void add_note(struct parsing *parsing, const char *path, const char *type)
{
    if (parsing->nnotes == parsing->notes_room) {
        parsing->notes_room = parsing->notes_room ? 2 * parsing->notes_room : 16;
        parsing->notes =
            al_reallocarray(parsing->notes, parsing->notes_room, sizeof(*parsing->notes));
    }
    parsing->notes[parsing->nnotes] = (struct note){ path, type, parsing->nnotes };
    parsing->nnotes++;
}

/* "<number of paths>" NUL <path> NUL ... <type> NUL <message> NUL */
static bool take_message(struct parsing *parsing, const char *number, struct fields *fields)
{
    const size_t first = parsing->nnotes;
    const char *type, *message;
    size_t count = 0;

    if (!*number || strlen(number) > 6 || strspn(number, "0123456789") != strlen(number))
        return false;
    for (const char *digit = number; *digit; digit++)
        count = 10 * count + (size_t)(*digit - '0');
    for (size_t i = 0; i < count; i++) {
        const char *path = next_field(fields);

        if (!path)
            return false;
        add_note(parsing, path, NULL);
    }
    type = next_field(fields);
    message = type ? next_field(fields) : NULL;
    if (!message)
        return false;
    if (!al_starts_with(type, CONFLICT))
        parsing->nnotes = first;
    for (size_t i = first; i < parsing->nnotes; i++)
        parsing->notes[i].type = type;
    al_str_adds(&parsing->merged->messages, message);
    if (*message && !al_ends_with(message, "\n"))
        al_str_addc(&parsing->merged->messages, '\n');
    return true;
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const struct al_merge_conflict *)a)->path,
                  ((const struct al_merge_conflict *)b)->path);
}

static int by_note(const void *a, const void *b)
{
    const struct note *one = a, *other = b;
    const int order = strcmp(one->path, other->path);

    if (order)
        return order;
    return one->number < other->number ? -1 : one->number > other->number;
}

/* "CONFLICT (modify/delete)" is the kind "modify/delete". */
static void add_kind(struct al_merge_conflict *conflict, const char *type)
{
    const char *open = strchr(type, '('), *close = open ? strrchr(open, ')') : NULL;
    al_auto(al_freep) char *kind =
        close ? al_strndup(open + 1, (size_t)(close - open - 1)) : al_strdup(type);
    char *all;

    if (strstr(conflict->kind, kind))
        return;
    all = *conflict->kind ? al_asprintf("%s, %s", conflict->kind, kind) : al_strdup(kind);
    free(conflict->kind);
    conflict->kind = all;
}

/* Sort the paths.  The entries of one may have come apart from each other. */
static void sort_conflicts(struct al_merged *merged)
{
    struct al_merge_conflict *items = merged->conflicts;
    size_t kept = 0;

    if (merged->count)
        qsort(items, merged->count, sizeof(*items), by_path);
    for (size_t i = 1; i < merged->count; i++) {
        if (strcmp(items[kept].path, items[i].path) != 0) {
            items[++kept] = items[i];
            continue;
        }
        for (size_t side = 0; side < AL_SIDES; side++)
            if (*items[i].sides[side].mode)
                items[kept].sides[side] = items[i].sides[side];
        free(items[i].path);
        free(items[i].kind);
    }
    if (merged->count)
        merged->count = kept + 1;
}

/* Give each path its kinds.  A path that only messages name is added. */
static void apply_notes(struct parsing *parsing)
{
    struct al_merged *merged = parsing->merged;
    size_t listed;

    sort_conflicts(merged);
    if (parsing->nnotes)
        qsort(parsing->notes, parsing->nnotes, sizeof(*parsing->notes), by_note);
    listed = merged->count;
    for (size_t i = 0; i < parsing->nnotes; i++) {
        const struct note *note = &parsing->notes[i];
        const size_t at =
            al_sorted_find(merged->conflicts, listed, sizeof(*merged->conflicts), note->path);
        struct al_merge_conflict *last =
            merged->count > listed ? &merged->conflicts[merged->count - 1] : NULL;

        if (at != SIZE_MAX)
            add_kind(&merged->conflicts[at], note->type);
        else if (last && !strcmp(last->path, note->path))
            add_kind(last, note->type);
        else
            add_kind(add_conflict(parsing, note->path), note->type);
    }
    if (merged->count > listed)
        sort_conflicts(merged);
}

static bool parse(struct parsing *parsing, struct fields *fields, bool sha256)
{
    const char *field = next_field(fields);
    struct al_oid oid;

    if (!field || !al_oid_parse(field, sha256, &oid) || field[2 * al_oid_bytes(sha256)])
        return false;
    parsing->merged->tree = al_strdup(field);
    while ((field = next_field(fields)) && *field)
        if (!take_entry(parsing, field, sha256))
            return false;
    while (field && (field = next_field(fields)))
        if (!take_message(parsing, field, fields))
            return false;
    return fields->at == fields->end;
}

bool al_merge_output_parse(const char *data, size_t len, bool sha256, struct al_merged *ret_merged)
{
    struct al_merged merged = AL_MERGED_INIT;
    struct parsing parsing = { .merged = &merged };
    struct fields fields = { data, data + len };
    const bool good = len && parse(&parsing, &fields, sha256);

    if (good)
        apply_notes(&parsing);
    free(parsing.notes);
    if (!good) {
        al_merged_clear(&merged);
        return false;
    }
    *ret_merged = merged;
    return true;
}
