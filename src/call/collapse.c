// SPDX-License-Identifier: Apache-2.0
#include "call/collapse.h"

/** A directory is opened while this many lines are left for what is in it. */
#define LINES_MIN 3

struct group {
    size_t first, count;
    size_t len; /* of the path with its '/'; 0: a file */
};

struct collapse {
    const struct al_strv *paths;
    void (*take)(void *payload, const char *path, size_t count, size_t index);
    void *payload;
};

static size_t component_len(const char *path, size_t from)
{
    const char *slash = strchr(path + from, '/');

    return slash && slash[1] ? (size_t)(slash - path) + 1 : 0;
}

/* The group at `first`: a file, or all paths in one directory below `prefix_len` bytes. */
static struct group group_at(const struct al_strv *paths, size_t first, size_t end,
                             size_t prefix_len)
{
    struct group group = { .first = first, .count = 1 };
    const char *path = paths->items[first];

    group.len = component_len(path, prefix_len);
    while (group.len && first + group.count < end &&
           !strncmp(paths->items[first + group.count], path, group.len))
        group.count++;
    return group;
}

static size_t count_groups(const struct al_strv *paths, size_t first, size_t end, size_t prefix_len)
{
    size_t count = 0;

    for (size_t at = first; at < end; count++)
        at += group_at(paths, at, end, prefix_len).count;
    return count;
}

static void take_files(const struct collapse *to, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++)
        to->take(to->payload, to->paths->items[i], 1, i);
}

static void take_directory(const struct collapse *to, const struct group *group)
{
    al_auto(al_freep) char *path = al_strndup(to->paths->items[group->first], group->len);

    to->take(to->payload, path, group->count, group->first);
}

static void walk(const struct collapse *to, size_t first, size_t end, size_t prefix_len,
                 size_t max_lines);

/* Show a directory: its files if there is room, else what is in it collapsed, else its number.
 * Returns the lines it may have taken. */
static size_t take_group(const struct collapse *to, const struct group *group, size_t share)
{
    if (group->count <= share || !group->len) {
        take_files(to, group->first, group->first + group->count);
        return group->count;
    }
    if (share < LINES_MIN ||
        count_groups(to->paths, group->first, group->first + group->count, group->len) > share) {
        take_directory(to, group);
        return 1;
    }
    walk(to, group->first, group->first + group->count, group->len, share);
    return share;
}

/* Each group has one line; what is left is shared by the groups in their order. */
static void walk(const struct collapse *to, size_t first, size_t end, size_t prefix_len,
                 size_t max_lines)
{
    size_t groups = count_groups(to->paths, first, end, prefix_len);
    size_t lines = max_lines;

    for (size_t at = first; at < end && groups; groups--) {
        struct group group = group_at(to->paths, at, end, prefix_len);
        size_t share = lines > groups ? lines - groups + 1 : 1, used;

        if (lines <= 1 && groups > 1) { /* too many even so */
            to->take(to->payload, "", end - at, at);
            return;
        }
        used = take_group(to, &group, groups > 1 && group.count > share / 2 ? share / 2 : share);
        lines -= used < lines ? used : lines;
        at += group.count;
    }
}

void al_collapse(const struct al_strv *paths, size_t max_lines,
                 void (*take)(void *payload, const char *path, size_t count, size_t index),
                 void *payload)
{
    const struct collapse to = { .paths = paths, .take = take, .payload = payload };

    if (paths->count <= max_lines)
        take_files(&to, 0, paths->count);
    else
        walk(&to, 0, paths->count, 0, max_lines);
}
