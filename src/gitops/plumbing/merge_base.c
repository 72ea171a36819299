// SPDX-License-Identifier: Apache-2.0
/*
 * Commits are visited from both ends, the younger ones first, until all that are left to visit are
 * ancestors of one that both ends reach.  The dates only make this short: a commit that is reached
 * again from another side is visited again, so dates that are wrong change no answer.
 *
 * Source: paint_down_to_common() of git's commit-reach.c.
 */
#include "gitops/plumbing/merge_base.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define FROM_ONE   1u
#define FROM_OTHER 2u
#define FROM_BOTH  (FROM_ONE | FROM_OTHER)
#define BELOW      4u /* an ancestor of a commit that both ends reach */

struct visited {
    struct al_oid oid;
    struct al_strv parents;
    int64_t date;
    unsigned flags;
    bool waits; /* to be visited */
};

struct walk {
    struct al_object_reader *reader;
    struct visited items[AL_MERGE_BASE_COMMITS_MAX];
    size_t count;
};

static void walk_freep(struct walk **walk)
{
    for (size_t i = 0; i < (*walk)->count; i++)
        al_strv_clear(&(*walk)->items[i].parents);
    free(*walk);
}

/* The committer's date; 0 when there is none. */
static int64_t date_of(const struct al_loose_object *object)
{
    static const char field[] = "\ncommitter ";
    const char *end = object->data + object->len;
    const char *at = memmem(object->data, object->len, field, sizeof(field) - 1);
    const char *line_end = at ? memchr(at + 1, '\n', (size_t)(end - at - 1)) : NULL;
    int64_t date = 0;

    if (!line_end)
        return 0;
    at = memrchr(at, '>', (size_t)(line_end - at));
    for (at = at ? at + 1 : line_end; at < line_end && *at == ' ';)
        at++;
    for (; at < line_end && *at >= '0' && *at <= '9' && date < INT64_MAX / 16; at++)
        date = 10 * date + (*at - '0');
    return date;
}

static struct visited *read_commit(struct walk *walk, const struct al_oid *oid)
{
    al_auto(al_loose_object_clear) struct al_loose_object object = { .data = NULL };
    struct visited *commit = &walk->items[walk->count];
    struct al_oid tree;

    if (walk->count == AL_MERGE_BASE_COMMITS_MAX ||
        !al_object_reader_get(walk->reader, oid, AL_OBJECT_COMMIT, &object))
        return NULL;
    *commit = (struct visited){ .oid = *oid, .parents = AL_STRV_INIT, .date = date_of(&object) };
    walk->count++;
    return al_loose_object_parse_commit(&object, walk->reader->sha256, &tree, &commit->parents)
               ? commit
               : NULL;
}

/* Reach a commit; false when it cannot be read. */
static bool reach(struct walk *walk, const char *text, unsigned flags)
{
    struct visited *commit = NULL;
    struct al_oid oid;

    if (!al_oid_parse(text, walk->reader->sha256, &oid))
        return false;
    for (size_t i = 0; !commit && i < walk->count; i++)
        if (!memcmp(&walk->items[i].oid, &oid, sizeof(oid)))
            commit = &walk->items[i];
    if (!commit)
        commit = read_commit(walk, &oid);
    if (!commit)
        return false;
    if ((commit->flags & flags) != flags)
        commit->waits = true;
    commit->flags |= flags;
    return true;
}

/* The youngest that waits; NULL when those that wait are all below a common one. */
static struct visited *next(struct walk *walk)
{
    struct visited *youngest = NULL;
    bool any = false;

    for (size_t i = 0; i < walk->count; i++) {
        struct visited *commit = &walk->items[i];

        if (!commit->waits)
            continue;
        any |= !(commit->flags & BELOW);
        if (!youngest || commit->date > youngest->date)
            youngest = commit;
    }
    return any ? youngest : NULL;
}

static bool visit_all(struct walk *walk)
{
    for (struct visited *commit = next(walk); commit;) {
        struct visited *following;
        unsigned flags = commit->flags;

        commit->waits = false;
        following = next(walk);
        if ((flags & FROM_BOTH) == FROM_BOTH)
            flags |= BELOW;
        if (!following && (flags & BELOW)) /* its parents need not be there */
            return true;
        for (size_t i = 0; i < commit->parents.count; i++)
            if (!reach(walk, commit->parents.items[i], flags))
                return false;
        commit = next(walk);
    }
    return true;
}

/* The history is not what the commits say: git takes some for having other parents or none. */
static bool is_cut(int common_fd)
{
    static const char *const names[] = { "shallow", "info/grafts" };
    struct stat st;

    for (size_t i = 0; i < AL_COUNT(names); i++)
        if (fstatat(common_fd, names[i], &st, AT_SYMLINK_NOFOLLOW) == 0)
            return true;
    return false;
}

char *al_merge_base(struct al_object_reader *reader, const char *one, const char *other)
{
    al_auto(walk_freep) struct walk *walk = al_calloc(1, sizeof(*walk));
    const struct visited *found = NULL;
    char text[AL_OID_TEXT];

    walk->reader = reader;
    if (is_cut(reader->common_fd) || !reach(walk, one, FROM_ONE) ||
        !reach(walk, other, FROM_OTHER) || !visit_all(walk))
        return NULL;
    for (size_t i = 0; i < walk->count; i++) {
        const struct visited *commit = &walk->items[i];

        if ((commit->flags & FROM_BOTH) != FROM_BOTH || (commit->flags & BELOW))
            continue;
        if (found)
            return NULL;
        found = commit;
    }
    if (!found)
        return NULL;
    al_oid_text(&found->oid, reader->sha256, text);
    return al_strdup(text);
}
