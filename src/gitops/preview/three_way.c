// SPDX-License-Identifier: Apache-2.0
#include "gitops/preview/three_way.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "gitops/nul_records.h"
#include "gitops/oid.h"
#include "gitops/plumbing/index_facts.h"
#include "gitops/plumbing/index_places.h"
#include "gitops/vet/vet.h"
#include "util/fs.h"

#define TYPE_MASK    0170000u
#define TYPE_REGULAR 0100000u
#define TYPE_GITLINK 0160000u

/* The bound is not worth more time than a look at the whole tree takes. */
#define STEPS_MAX 1000000u

void al_side_clear(struct al_side *side)
{
    for (size_t i = 0; i < side->count; i++)
        free(side->items[i].path);
    free(side->items);
    *side = AL_SIDE_INIT;
}

void al_side_add(struct al_side *side, char status, unsigned old_mode, unsigned new_mode,
                 const char *path)
{
    if (side->count == side->capacity) {
        side->capacity = side->capacity ? 2 * side->capacity : 64;
        side->items = al_reallocarray(side->items, side->capacity, sizeof(*side->items));
    }
    side->items[side->count++] = (struct al_side_change){
        .path = al_strdup(path), .status = status, .old_mode = old_mode, .new_mode = new_mode
    };
}

static int by_path(const void *a, const void *b)
{
    const struct al_side_change *one = a, *two = b;

    return strcmp(one->path, two->path);
}

void al_side_sort(struct al_side *side)
{
    if (side->count)
        qsort(side->items, side->count, sizeof(*side->items), by_path);
}

/* A mode in octal digits. */
static unsigned mode_of(const char *text)
{
    unsigned mode = 0;

    for (; *text >= '0' && *text <= '7' && mode <= 0777777; text++)
        mode = 8 * mode + (unsigned)(*text - '0');
    return mode;
}

/* ":<old mode> SP <new mode> SP <old oid> SP <new oid> SP <status>", and the path. */
static bool add_record(void *payload, char *const *fields)
{
    const char *space = strchr(fields[0], ' '), *status = strrchr(fields[0], ' ');

    if (fields[0][0] != ':' || !space)
        return false;
    al_side_add(payload, status[1], mode_of(fields[0] + 1), mode_of(space + 1), fields[1]);
    return true;
}

int al_side_read(const struct al_repo *repo, const struct al_git_command *command,
                 struct al_run_limits *budget, struct al_side *ret_side, struct al_error *err)
{
    al_auto(al_nul_records_clear) struct al_nul_records records =
        AL_NUL_RECORDS_INIT(2, add_record, ret_side);
    int r = al_git_read_records(&repo->at, command, &records, budget, err);

    if (r == 0)
        al_side_sort(ret_side);
    return r;
}

/** The sides of a merge, and this side's files. */
struct merge {
    const struct al_side *theirs, *ours;
    struct al_side index; /* the entries; only path and new_mode are set */
    size_t steps;
};

static void merge_clear(struct merge *merge)
{
    al_side_clear(&merge->index);
}

static bool add_entry(void *payload, const struct al_index_entry *entry)
{
    if (entry->stage)
        return false; /* git refuses to merge */
    al_side_add(payload, 'A', 0, entry->mode, entry->name);
    return true;
}

/* The entries that matter to a change: at its path, and below and above it.  Where a file is added
 * or deleted, a directory may be renamed: everything in its directory of the top. */
static char *place_of(const struct al_side_change *change)
{
    const bool moves = change->status == 'A' || change->status == 'D';

    return al_strndup(change->path, moves ? strcspn(change->path, "/") : strlen(change->path));
}

/* Read the entries that matter; no others do, unless they have a conflict. */
static bool read_index(const struct al_repo *repo, const struct al_side *theirs,
                       struct al_side *ret_index)
{
    al_auto(al_freep) char *path = al_fs_join(repo->at.git_dir, "index");
    al_auto(al_closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    al_auto(al_strv_clear) struct al_strv places = AL_STRV_INIT;

    for (size_t i = 0; i < theirs->count; i++) {
        al_auto(al_freep) char *place = place_of(&theirs->items[i]);

        if (!places.count || strcmp(place, places.items[places.count - 1]) != 0)
            al_strv_take(&places, al_take(&place));
    }
    return fd >= 0 && !al_repo_may_have_conflicts(&repo->at) &&
           al_index_read_near(fd, al_oid_bytes(repo->vetting->is_sha256), &places, add_entry,
                              ret_index) == AL_INDEX_WHOLE;
}

/* The first change whose path is not before this one. */
static size_t lower_bound(const struct al_side *side, const char *path, size_t len)
{
    size_t low = 0, high = side->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strncmp(side->items[middle].path, path, len);

        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static const struct al_side_change *find(const struct al_side *side, const char *path)
{
    const struct al_side_change key = { .path = (char *)(uintptr_t)path };

    return side->count ? bsearch(&key, side->items, side->count, sizeof(key), by_path) : NULL;
}

/* The length of the next directory of a path, with its slash; 0 at the end. */
static size_t next_directory(const char *path, size_t len)
{
    const char *slash = strchr(path + len, '/');

    return slash ? (size_t)(slash - path) + 1 : 0;
}

/* Whether the side has a change with one of these letters below a directory, "dir/". */
static bool has_below(struct merge *merge, const struct al_side *side, const char *dir, size_t len,
                      const char *letters)
{
    for (size_t i = lower_bound(side, dir, len);
         i < side->count && !strncmp(side->items[i].path, dir, len); i++) {
        merge->steps++;
        if (strchr(letters, side->items[i].status))
            return true;
    }
    return false;
}

/* Whether a file is where the path needs a directory, or a directory where it needs a file. */
static bool meets_directory(struct merge *merge, const struct al_side *side, const char *path)
{
    al_auto(al_freep) char *below = al_asprintf("%s/", path);

    for (size_t len = next_directory(path, 0); len; len = next_directory(path, len)) {
        al_auto(al_freep) char *dir = al_strndup(path, len - 1);

        if (find(side, dir))
            return true;
    }
    return has_below(merge, side, below, strlen(below), "AMDT");
}

static bool is_regular(unsigned mode)
{
    return !mode || (mode & TYPE_MASK) == TYPE_REGULAR;
}

/* A path that only one side changed just takes its new type. */
static enum al_bound check_type(const struct merge *merge, const struct al_side_change *change)
{
    const struct al_side_change *entry = find(&merge->index, change->path);
    bool regular = is_regular(change->old_mode) && is_regular(change->new_mode);

    if ((change->old_mode & TYPE_MASK) == TYPE_GITLINK ||
        (change->new_mode & TYPE_MASK) == TYPE_GITLINK)
        return AL_BOUND_UNKNOWN;
    if (regular && (!entry || is_regular(entry->new_mode)))
        return AL_BOUND_KNOWN;
    if (!entry && change->status == 'A')
        return AL_BOUND_KNOWN;
    if (!entry || change->status == 'A')
        return AL_BOUND_UNKNOWN;
    if (!merge->ours)
        return AL_BOUND_NEEDS_OURS;
    return find(merge->ours, change->path) ? AL_BOUND_UNKNOWN : AL_BOUND_KNOWN;
}

static enum al_bound worse(enum al_bound a, enum al_bound b)
{
    return a > b ? a : b;
}

/* Whether this side may have renamed a directory that the other side adds a file to. */
static enum al_bound check_added(struct merge *merge, const char *path)
{
    for (size_t len = next_directory(path, 0); len; len = next_directory(path, len)) {
        if (has_below(merge, &merge->index, path, len, "A"))
            continue;
        if (!merge->ours)
            return AL_BOUND_NEEDS_OURS;
        if (has_below(merge, merge->ours, path, len, "D"))
            return AL_BOUND_UNKNOWN;
    }
    return AL_BOUND_KNOWN;
}

/* Whether the other side has nothing in a directory of this side any more. */
static bool is_gone(struct merge *merge, const char *dir, size_t len)
{
    const struct al_side *index = &merge->index;

    if (has_below(merge, merge->theirs, dir, len, "AMT"))
        return false;
    for (size_t i = lower_bound(index, dir, len);
         i < index->count && !strncmp(index->items[i].path, dir, len); i++) {
        const struct al_side_change *ours = find(merge->ours, index->items[i].path);

        merge->steps++;
        if ((!ours || ours->status != 'A') && !find(merge->theirs, index->items[i].path))
            return false;
    }
    return true;
}

/* Whether the other side may have renamed a directory that this side added a file to. */
static enum al_bound check_deleted(struct merge *merge, const char *path)
{
    for (size_t len = next_directory(path, 0); len; len = next_directory(path, len))
        if (has_below(merge, merge->ours, path, len, "A") && is_gone(merge, path, len))
            return AL_BOUND_UNKNOWN;
    return AL_BOUND_KNOWN;
}

static enum al_bound check_change(struct merge *merge, const struct al_side_change *change)
{
    enum al_bound bound = check_type(merge, change);

    if (meets_directory(merge, &merge->index, change->path) ||
        meets_directory(merge, merge->theirs, change->path))
        return AL_BOUND_UNKNOWN;
    if (change->status == 'A')
        bound = worse(bound, check_added(merge, change->path));
    else if (!merge->ours && (change->status == 'D' || !find(&merge->index, change->path)))
        bound = worse(bound, AL_BOUND_NEEDS_OURS); /* one of the sides may have renamed it */
    else if (merge->ours && change->status == 'D')
        bound = worse(bound, check_deleted(merge, change->path));
    return merge->steps > STEPS_MAX ? AL_BOUND_UNKNOWN : bound;
}

/* Whether the other side changed a file that this side may have renamed. */
static bool may_follow_rename(const struct merge *merge)
{
    for (size_t i = 0; merge->ours && i < merge->ours->count; i++)
        if (merge->ours->items[i].status == 'D' && find(merge->theirs, merge->ours->items[i].path))
            return true;
    return false;
}

static void add_names(const struct al_side *side, bool only_added, struct al_strv *out)
{
    for (size_t i = 0; i < side->count; i++)
        if (!only_added || side->items[i].status == 'A')
            al_strv_add(out, side->items[i].path);
}

enum al_bound al_three_way_bound(const struct al_repo *repo, const struct al_side *theirs,
                                 const struct al_side *ours, struct al_strv *out)
{
    al_auto(merge_clear) struct merge merge = { .theirs = theirs, .ours = ours };
    enum al_bound bound = AL_BOUND_KNOWN;

    if (!read_index(repo, theirs, &merge.index))
        return AL_BOUND_UNKNOWN;
    for (size_t i = 0; i < theirs->count && bound != AL_BOUND_UNKNOWN; i++)
        bound = worse(bound, check_change(&merge, &theirs->items[i]));
    if (bound != AL_BOUND_KNOWN)
        return bound;
    add_names(theirs, false, out);
    if (may_follow_rename(&merge))
        add_names(ours, true, out);
    return bound;
}
