// SPDX-License-Identifier: Apache-2.0
#include "gitops/sequencer/conflict_numbers.h"

#include <stdlib.h>
#include <string.h>

#include "gitops/oid.h"
#include "util/mem.h"

/* How far a conflict is looked for by what is next to it, and how much of that is compared. */
#define TRIED_MAX   16
#define CONTEXT_MAX 512

/* One conflict of either text. */
struct item {
    struct al_oid digest; /* of ours and theirs */
    size_t index;
    bool is_made;
};

/** The conflicts of one text. */
struct side {
    const struct al_conflict_text *of;
    size_t count;
    size_t *classes; /* equal conflicts of both texts have one class */
    size_t *ranks;   /* which of the equal ones of this text, from 1 */
};

struct search {
    struct side disk, made;
    size_t next, end; /* those of git's that are left to choose from */
};

static void side_init(struct side *side, const struct al_conflict_text *of)
{
    *side = (struct side){ .of = of, .count = of->blocks->count };
    side->classes = al_calloc(side->count + 1, sizeof(*side->classes));
    side->ranks = al_calloc(side->count + 1, sizeof(*side->ranks));
}

static void search_clear(struct search *search)
{
    free(search->disk.classes);
    free(search->disk.ranks);
    free(search->made.classes);
    free(search->made.ranks);
}

/* --- Equal conflicts --- */

static void add_items(const struct side *side, bool is_made, struct item *items)
{
    for (size_t i = 0; i < side->count; i++) {
        const struct al_conflict_block *block = &side->of->blocks->items[i];
        struct al_hash hash;

        items[i] = (struct item){ .index = i, .is_made = is_made };
        al_hash_init(&hash, true);
        for (size_t k = AL_STAGE_OURS; k <= AL_STAGE_THEIRS; k++) {
            uint64_t len = block->sides[k].len;

            al_hash_add(&hash, &len, sizeof(len));
            al_hash_add(&hash, block->sides[k].data, block->sides[k].len);
        }
        al_hash_end(&hash, &items[i].digest);
    }
}

static int by_digest(const void *a, const void *b)
{
    const struct item *one = a, *two = b;
    int order = memcmp(&one->digest, &two->digest, sizeof(one->digest));

    if (order)
        return order;
    if (one->is_made != two->is_made)
        return one->is_made ? -1 : 1;
    return one->index < two->index ? -1 : one->index > two->index;
}

static void find_equal(struct search *search)
{
    size_t count = search->made.count + search->disk.count, class = 0;
    size_t ranks[2] = { 0, 0 }; /* of git's and of the others */
    struct item *items = al_calloc(count + 1, sizeof(*items));

    add_items(&search->made, true, items);
    add_items(&search->disk, false, items + search->made.count);
    qsort(items, count, sizeof(*items), by_digest);
    for (size_t i = 0; i < count; i++) {
        const struct item *item = &items[i];
        struct side *side = item->is_made ? &search->made : &search->disk;

        if (i && !al_oid_equal(&item->digest, &items[i - 1].digest)) {
            class ++;
            ranks[0] = ranks[1] = 0;
        }
        side->classes[item->index] = class;
        side->ranks[item->index] = ++ranks[item->is_made];
    }
    free(items);
}

/* --- The text between them --- */

/* The text before a conflict, back to the one before it.  The last one is behind all. */
static struct al_bytes gap(const struct side *side, size_t i)
{
    const struct al_conflict_block *blocks = side->of->blocks->items;
    size_t start = i ? blocks[i - 1].end : 0;
    size_t end = i < side->count ? blocks[i].start : side->of->text->len;

    return (struct al_bytes){ side->of->text->buf + start, end - start };
}

static bool is_equal(struct al_bytes a, struct al_bytes b)
{
    return a.len == b.len && !memcmp(a.data, b.data, a.len);
}

static bool begins_with(struct al_bytes text, struct al_bytes begin)
{
    return begin.len <= text.len && (!begin.len || !memcmp(text.data, begin.data, begin.len));
}

static struct al_bytes behind(struct al_bytes text, size_t len)
{
    return (struct al_bytes){ text.data + len, text.len - len };
}

/* Skip a resolution and the text that git made behind it.  Whoever takes a side takes all of it. */
static bool skip_resolved(struct al_bytes *text, const struct al_conflict_block *resolved,
                          struct al_bytes next)
{
    const char *found;

    for (size_t k = AL_STAGE_OURS; k <= AL_STAGE_THEIRS; k++) {
        if (begins_with(*text, resolved->sides[k]) &&
            begins_with(behind(*text, resolved->sides[k].len), next)) {
            *text = behind(*text, resolved->sides[k].len + next.len);
            return true;
        }
    }
    found = memmem(text->data, text->len, next.data, next.len);
    if (!found)
        return false;
    *text = behind(*text, (size_t)(found - text->data) + next.len);
    return true;
}

/* The conflict of git's up to which the text is as git made it, or the number of all. */
static size_t find_by_text(const struct search *search, size_t i)
{
    struct al_bytes left = gap(&search->disk, i), begin = gap(&search->made, search->next);
    size_t at = search->next;

    if (at >= search->end || !begins_with(left, begin))
        return search->made.count;
    left = behind(left, begin.len);
    while (left.len) {
        if (at + 1 >= search->end ||
            !skip_resolved(&left, &search->made.of->blocks->items[at], gap(&search->made, at + 1)))
            return search->made.count;
        at++;
    }
    return search->made.classes[at] == search->disk.classes[i] ? at : search->made.count;
}

/* How many bytes before two conflicts are equal, and behind them. */
static size_t common_context(const struct al_conflict_text *a, size_t in_a,
                             const struct al_conflict_text *b, size_t in_b)
{
    const struct al_conflict_block *one = &a->blocks->items[in_a], *two = &b->blocks->items[in_b];
    size_t before = 0, after = 0;

    while (before < CONTEXT_MAX && before < one->start && before < two->start &&
           a->text->buf[one->start - before - 1] == b->text->buf[two->start - before - 1])
        before++;
    while (after < CONTEXT_MAX && one->end + after < a->text->len &&
           two->end + after < b->text->len &&
           a->text->buf[one->end + after] == b->text->buf[two->end + after])
        after++;
    return before + after;
}

/* The conflict of git's that has most in common with one, or the number of all. */
static size_t find_by_context(const struct search *search, size_t i)
{
    size_t found = search->made.count, most = 0, tried = 0;

    for (size_t k = search->next; k < search->end && tried < TRIED_MAX; k++) {
        size_t common;

        if (search->made.classes[k] != search->disk.classes[i])
            continue;
        tried++;
        common = common_context(search->disk.of, i, search->made.of, k) + 1;
        if (common > most) {
            most = common;
            found = k;
        }
    }
    return found;
}

/* --- Numbering --- */

static bool is_same(const struct search *search, size_t i, size_t k)
{
    return search->disk.classes[i] == search->made.classes[k];
}

/* The number of conflicts at the beginning that are as git made them. */
static size_t count_first(const struct search *search)
{
    size_t i = 0;

    while (i < search->disk.count && i < search->made.count && is_same(search, i, i) &&
           is_equal(gap(&search->disk, i), gap(&search->made, i)))
        i++;
    return i;
}

/* The same at the end, without those. */
static size_t count_last(const struct search *search, size_t first)
{
    size_t n = 0, disk = search->disk.count, made = search->made.count;

    while (n + first < disk && n + first < made && is_same(search, disk - n - 1, made - n - 1) &&
           is_equal(gap(&search->disk, disk - n), gap(&search->made, made - n)))
        n++;
    return n;
}

void al_conflict_number(const struct al_conflict_text *disk, const struct al_conflict_text *made,
                        size_t *ret_numbers)
{
    al_auto(search_clear) struct search search = { .next = 0 };
    size_t first, last;

    side_init(&search.disk, disk);
    side_init(&search.made, made);
    find_equal(&search);
    first = count_first(&search);
    last = count_last(&search, first);
    search.next = first;
    search.end = search.made.count - last;
    for (size_t i = 0; i < search.disk.count; i++) {
        size_t found = i;

        if (i >= search.disk.count - last) {
            found = search.made.count - (search.disk.count - i);
        } else if (i >= first) {
            found = find_by_text(&search, i);
            if (found == search.made.count)
                found = find_by_context(&search, i);
            if (found < search.made.count)
                search.next = found + 1;
        }
        ret_numbers[i] =
            found < search.made.count ? search.made.ranks[found] : search.disk.ranks[i];
    }
}
