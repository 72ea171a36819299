// SPDX-License-Identifier: Apache-2.0
#include "gitops/plumbing/tree_diff.h"

#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

#define TYPE_MASK      0170000u
#define TYPE_TREE      0040000u
#define TYPE_FILE      0100000u
#define PATH_MAX_BYTES 4096u

/** Two directories to compare; an id of zeros stands for none. */
struct pair {
    char *prefix; /* with a slash at its end, or "" */
    struct al_oid oids[2];
};

/** The directories that were not compared yet, and who gets the changes. */
struct work {
    struct al_object_reader *reader;
    struct pair *pairs;
    size_t count, capacity;
    al_tree_change_fn give;
    void *payload;
};

static void work_clear(struct work *work)
{
    for (size_t i = 0; i < work->count; i++)
        free(work->pairs[i].prefix);
    free(work->pairs);
}

/** The entries of a tree, by their names. */
struct entries {
    struct al_loose_object tree;
    struct al_tree_item *items;
    size_t count;
};

static void entries_clear(struct entries *entries)
{
    al_loose_object_clear(&entries->tree);
    free(entries->items);
}

static void push(struct work *work, char *prefix, const struct al_oid *old,
                 const struct al_oid *now)
{
    static const struct al_oid none = { .bytes = { 0 } };

    if (work->count == work->capacity) {
        work->capacity = work->capacity ? 2 * work->capacity : 16;
        work->pairs = al_reallocarray(work->pairs, work->capacity, sizeof(*work->pairs));
    }
    work->pairs[work->count++] =
        (struct pair){ .prefix = prefix, .oids = { old ? *old : none, now ? *now : none } };
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct al_tree_item *)a)->name, ((const struct al_tree_item *)b)->name);
}

/* Git knows two modes of a file. */
static unsigned canonical(unsigned mode)
{
    if ((mode & TYPE_MASK) != TYPE_FILE)
        return mode & TYPE_MASK;
    return mode & 0100 ? 0100755 : 0100644;
}

/* Whether an entry comes after another in git's order, in which a directory ends with a slash. */
static bool is_sorted(const struct al_tree_item *one, const struct al_tree_item *next)
{
    const char *a = one->name, *b = next->name;
    int end_a, end_b;

    while (*a && *a == *b) {
        a++;
        b++;
    }
    end_a = *a || one->mode != TYPE_TREE ? (unsigned char)*a : '/';
    end_b = *b || next->mode != TYPE_TREE ? (unsigned char)*b : '/';
    return end_a < end_b;
}

/* Git pairs the entries of two trees by their order: it tells something else of a tree that has
 * another one. */
static bool read_entries(struct al_object_reader *reader, const struct al_oid *oid,
                         struct entries *ret)
{
    const char *at, *end;
    size_t capacity = 0;
    struct al_tree_item item;

    if (al_oid_is_none(oid))
        return true;
    if (!al_object_reader_get(reader, oid, AL_OBJECT_TREE, &ret->tree))
        return false;
    at = ret->tree.data;
    end = at + ret->tree.len;
    while (al_tree_item_next(&at, end, reader->sha256, &item)) {
        if (ret->count == capacity) {
            capacity = capacity ? 2 * capacity : 32;
            ret->items = al_reallocarray(ret->items, capacity, sizeof(*ret->items));
        }
        item.mode = canonical(item.mode);
        if (ret->count && !is_sorted(&ret->items[ret->count - 1], &item))
            return false;
        ret->items[ret->count++] = item;
    }
    if (ret->count)
        qsort(ret->items, ret->count, sizeof(*ret->items), by_name);
    for (size_t i = 1; i < ret->count; i++)
        if (!strcmp(ret->items[i - 1].name, ret->items[i].name))
            return false;
    return at != NULL;
}

static bool is_tree(const struct al_tree_item *item)
{
    return item && item->mode == TYPE_TREE;
}

/* Compare two entries with one name; NULL: there is none. */
static bool compare(struct work *work, const char *prefix, const struct al_tree_item *old,
                    const struct al_tree_item *now)
{
    const char *name = old ? old->name : now->name;
    const struct al_tree_item *old_file = is_tree(old) ? NULL : old;
    const struct al_tree_item *new_file = is_tree(now) ? NULL : now;
    struct al_tree_change change = { .old_mode = 0 };
    al_auto(al_freep) char *path = NULL;

    if (old && now && old->mode == now->mode && al_oid_equal(&old->oid, &now->oid))
        return true;
    path = al_asprintf("%s%s", prefix, name);
    if (strlen(path) > PATH_MAX_BYTES)
        return false;
    if (is_tree(old) || is_tree(now))
        push(work, al_asprintf("%s/", path), is_tree(old) ? &old->oid : NULL,
             is_tree(now) ? &now->oid : NULL);
    if (!old_file && !new_file)
        return true;
    change.path = path;
    if (old_file) {
        change.old_mode = old_file->mode;
        change.old_oid = old_file->oid;
    }
    if (new_file) {
        change.new_mode = new_file->mode;
        change.new_oid = new_file->oid;
    }
    return work->give(work->payload, &change);
}

static bool compare_pair(struct work *work, const struct pair *pair)
{
    al_auto(entries_clear) struct entries old = { .count = 0 };
    al_auto(entries_clear) struct entries now = { .count = 0 };
    size_t i = 0, k = 0;

    if (!read_entries(work->reader, &pair->oids[0], &old) ||
        !read_entries(work->reader, &pair->oids[1], &now))
        return false;
    while (i < old.count || k < now.count) {
        int order = i == old.count   ? 1
                    : k == now.count ? -1
                                     : strcmp(old.items[i].name, now.items[k].name);
        const struct al_tree_item *one = order <= 0 ? &old.items[i++] : NULL;
        const struct al_tree_item *other = order >= 0 ? &now.items[k++] : NULL;

        if (!compare(work, pair->prefix, one, other))
            return false;
    }
    return true;
}

/* Give a pair of directories without the slash at the end. */
static bool give_pair(const struct work *work, const struct pair *pair)
{
    al_auto(al_freep) char *path = al_strdup(pair->prefix);
    const struct al_tree_change change = {
        .path = path,
        .old_mode = al_oid_is_none(&pair->oids[0]) ? 0 : TYPE_TREE,
        .new_mode = al_oid_is_none(&pair->oids[1]) ? 0 : TYPE_TREE,
        .old_oid = pair->oids[0],
        .new_oid = pair->oids[1],
    };

    if (*path)
        path[strlen(path) - 1] = '\0';
    return work->give(work->payload, &change);
}

static bool diff(struct work *work, bool trees, const struct al_oid *old, const struct al_oid *now)
{
    bool good = true;

    if (old && now && al_oid_equal(old, now))
        return true;
    push(work, al_strdup(""), old, now);
    while (good && work->count) {
        struct pair pair = work->pairs[--work->count];

        good = (!trees || give_pair(work, &pair)) && compare_pair(work, &pair);
        free(pair.prefix);
    }
    return good;
}

bool al_tree_diff(struct al_object_reader *reader, const struct al_oid *old,
                  const struct al_oid *now, al_tree_change_fn give, void *payload)
{
    al_auto(work_clear) struct work work = { .reader = reader, .give = give, .payload = payload };

    return diff(&work, false, old, now);
}

bool al_tree_diff_with_trees(struct al_object_reader *reader, const struct al_oid *old,
                             const struct al_oid *now, al_tree_change_fn give, void *payload)
{
    al_auto(work_clear) struct work work = { .reader = reader, .give = give, .payload = payload };

    return diff(&work, true, old, now);
}
