// SPDX-License-Identifier: Apache-2.0
/*
 * A push writes no file into a git directory, whatever its name, and makes none: git would run what
 * its configuration and its hooks say as soon as the user works below it.
 *
 * Source: gitrepository-layout(5), git-config(1) safe.bareRepository.
 */
#include <fcntl.h>
#include <stdlib.h>

#include "gitops/command.h"
#include "gitops/nul_records.h"
#include "guard/gitdir.h"
#include "guard/path.h"
#include "staging/push/private.h"
#include "util/fs.h"

/* What makes a directory a git directory: HEAD with objects and refs, or HEAD with commondir. */
static const char *const parts[] = { "head", "objects", "refs", "commondir" };
enum { HEAD = 1, OBJECTS = 2, REFS = 4, COMMONDIR = 8 };

/* The bit of a component; 0: another name. */
static unsigned part_of(const char *name, size_t len)
{
    for (size_t i = 0; i < AL_COUNT(parts); i++)
        if (al_fold_is(name, len, parts[i]))
            return 1u << i;
    return 0;
}

static bool is_whole(unsigned found)
{
    return (found & HEAD) &&
           ((found & COMMONDIR) || (found & (OBJECTS | REFS)) == (OBJECTS | REFS));
}

/* A part in a directory. */
struct part {
    char *dir;     /* folded, with the '/' at the end; "": the top */
    unsigned bits; /* of the part */
};

/* Paths in the order of their bytes, so a directory comes once.  But two that differ in case alone
 * or the like are one directory where file systems ignore that (guard/fold.h). */
struct walk {
    const struct al_staged *staged;
    struct al_str path; /* the one that came last */
    struct part *parts;
    size_t count, room;
};

static void walk_clear(struct walk *walk)
{
    for (size_t i = 0; i < walk->count; i++)
        free(walk->parts[i].dir);
    free(walk->parts);
    walk->parts = NULL;
    al_str_clear(&walk->path);
}

static void add_part(struct walk *walk, const char *path, size_t dir_len, unsigned bit)
{
    if (walk->count == walk->room) {
        walk->room = walk->room ? 2 * walk->room : 16;
        walk->parts = al_reallocarray(walk->parts, walk->room, sizeof(*walk->parts));
    }
    walk->parts[walk->count++] = (struct part){ al_fold_path(path, dir_len), bit };
}

/* How many bytes two paths have in common at their beginning. */
static size_t common(const char *one, const char *other)
{
    size_t len = 0;

    while (one[len] && one[len] == other[len])
        len++;
    return len;
}

/* The next path.  The directories that it has in common with the last one were seen. */
static void see(struct walk *walk, const char *path)
{
    const size_t same = common(path, walk->path.buf);

    for (size_t at = 0, len; path[at]; at += len + (path[at + len] == '/')) {
        unsigned bit;

        len = strcspn(path + at, "/");
        bit = at + len < same ? 0 : part_of(path + at, len);
        if (bit)
            add_part(walk, path, at, bit);
    }
    al_str_reset(&walk->path);
    al_str_adds(&walk->path, path);
}

static int by_dir(const void *a, const void *b)
{
    return strcmp(((const struct part *)a)->dir, ((const struct part *)b)->dir);
}

/* A file that the push brings below a directory; NULL: none. */
static const char *find_below(const struct al_staged *staged, const char *dir)
{
    for (size_t i = 0; i < staged->count; i++) {
        const char *path = staged->files[i].path;
        al_auto(al_freep) char *folded = al_fold_path(path, strlen(path));

        if (staged->files[i].operation != AL_STAGED_DELETE && al_starts_with(folded, dir))
            return path;
    }
    return NULL;
}

/* After the last path. */
static int finish(struct walk *walk, struct al_error *err)
{
    if (walk->count)
        qsort(walk->parts, walk->count, sizeof(*walk->parts), by_dir);
    for (size_t i = 0; i < walk->count;) {
        const char *dir = walk->parts[i].dir, *file;
        unsigned found = 0;

        for (; i < walk->count && !strcmp(walk->parts[i].dir, dir); i++)
            found |= walk->parts[i].bits;
        file = is_whole(found) ? find_below(walk->staged, dir) : NULL;
        if (file)
            return al_gitdir_refuse(file, err);
    }
    return 0;
}

/* "<path>" NUL */
static bool take_path(void *payload, char *const *fields)
{
    see(payload, fields[0]);
    return true;
}

int al_push_check_tree(const struct al_push *push, const struct al_push_dir *dir,
                       struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(walk_clear) struct walk walk = { .staged = &push->staged, .path = AL_STR_INIT };
    al_auto(al_nul_records_clear) struct al_nul_records records =
        AL_NUL_RECORDS_INIT(1, take_path, &walk);
    int r;

    al_strv_adds(&command.argv, "git", "ls-files", "-z", "--cached", NULL);
    r = al_push_git_sink(dir, &command, (struct al_sink){ al_nul_records_add, &records }, budget,
                         err);
    return r < 0 ? r : finish(&walk, err);
}

/* Whether the files of the push alone make a git directory. */
static int check_files(const struct al_push *push, struct al_error *err)
{
    al_auto(walk_clear) struct walk walk = { .staged = &push->staged, .path = AL_STR_INIT };

    for (size_t i = 0; i < push->staged.count; i++) {
        const struct al_staged_file *file = &push->staged.files[i];

        if (file->operation != AL_STAGED_DELETE)
            see(&walk, file->path);
    }
    return finish(&walk, err);
}

/* Whether the file would lie in a git directory of the working tree, or make one of a directory. */
static bool lies_in_one(const struct al_push *push, const char *path)
{
    al_auto(al_freep) char *dir = al_fs_join(push->repo->at.top, path);
    const size_t top = strlen(push->repo->at.top);
    char *slash;

    while ((slash = strrchr(dir, '/')) && (size_t)(slash - dir) >= top) {
        al_auto(al_closep) int fd = -1;

        *slash = '\0';
        fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (fd >= 0)
            return al_gitdir_contains(fd, slash + 1);
    }
    return false;
}

/* Test whether two paths have the same directory. */
static bool has_same_dir(const char *one, const char *other)
{
    const char *slash = strrchr(one, '/');
    const size_t len = slash ? (size_t)(slash - one) + 1 : 0;

    return !strncmp(one, other, len) && !strchr(other + len, '/');
}

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

int al_push_check_gitdirs(const struct al_push *push, struct al_error *err)
{
    const char *last = NULL; /* the last file whose directory was looked at */

    if (al_location_is_bare(&push->repo->at))
        return check_files(push, err);
    for (size_t i = 0; i < push->staged.count; i++) {
        const struct al_staged_file *file = &push->staged.files[i];

        /* Another file of that directory differs only by its name. */
        if (file->operation == AL_STAGED_DELETE ||
            (last && has_same_dir(last, file->path) && !al_gitdir_has_part(name_of(file->path))))
            continue;
        if (lies_in_one(push, file->path))
            return al_gitdir_refuse(file->path, err);
        last = file->path;
    }
    return check_files(push, err);
}
