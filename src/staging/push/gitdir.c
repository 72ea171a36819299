// SPDX-License-Identifier: Apache-2.0
/*
 * A push writes no file into a git directory, whatever its name, and makes none: git would run what
 * its configuration and its hooks say as soon as the user works below it.
 *
 * Source: gitrepository-layout(5), git-config(1) safe.bareRepository.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <strings.h>

#include "gitops/command.h"
#include "gitops/nul_records.h"
#include "guard/gitdir.h"
#include "staging/push/private.h"
#include "util/fs.h"

/* What makes a directory a git directory: HEAD with objects and refs, or HEAD with commondir. */
static const char *const parts[] = { "HEAD", "objects", "refs", "commondir" };
enum { HEAD = 1, OBJECTS = 2, REFS = 4, COMMONDIR = 8 };

/* The bit of a component; 0: another name. */
static unsigned part_of(const char *name, size_t len)
{
    for (size_t i = 0; i < AL_COUNT(parts); i++)
        if (strlen(parts[i]) == len && !strncasecmp(parts[i], name, len))
            return 1u << i;
    return 0;
}

static bool is_whole(unsigned found)
{
    return (found & HEAD) &&
           ((found & COMMONDIR) || (found & (OBJECTS | REFS)) == (OBJECTS | REFS));
}

/* A directory of the path that came last. */
struct level {
    size_t len;       /* of its name with the '/' at the end; 0: the top */
    unsigned found;   /* its parts */
    const char *file; /* of the push, below it; NULL: none; borrowed */
};

/* Paths in the order of their bytes, so the files of a directory come one after another. */
struct walk {
    const struct al_staged *staged;
    size_t next;        /* the staged file that is due */
    struct al_str path; /* the one that came last */
    struct level *levels;
    size_t depth, room;
    const char *refused; /* a file of the push in a git directory; NULL: none; borrowed */
};

static void walk_clear(struct walk *walk)
{
    al_str_clear(&walk->path);
    free(walk->levels);
    walk->levels = NULL;
}

static void enter(struct walk *walk, size_t len)
{
    if (walk->depth == walk->room) {
        walk->room = walk->room ? 2 * walk->room : 16;
        walk->levels = al_reallocarray(walk->levels, walk->room, sizeof(*walk->levels));
    }
    walk->levels[walk->depth++] = (struct level){ .len = len };
}

/* All files of the directory were seen. */
static void leave(struct walk *walk)
{
    const struct level *left = &walk->levels[--walk->depth];

    if (!walk->refused && left->file && is_whole(left->found))
        walk->refused = left->file;
    if (walk->depth && !walk->levels[walk->depth - 1].file)
        walk->levels[walk->depth - 1].file = left->file;
}

/* How many bytes two paths have in common at their beginning. */
static size_t common(const char *one, const char *other)
{
    size_t len = 0;

    while (one[len] && one[len] == other[len])
        len++;
    return len;
}

/* The next path; `file` is the same path, if the push brings it, and NULL otherwise. */
static void see(struct walk *walk, const char *path, const char *file)
{
    const size_t same = common(path, walk->path.buf);
    size_t at, len;

    if (!walk->depth)
        enter(walk, 0);
    while (walk->levels[walk->depth - 1].len > same)
        leave(walk);
    at = walk->levels[walk->depth - 1].len;
    for (;;) {
        len = strcspn(path + at, "/");
        walk->levels[walk->depth - 1].found |= part_of(path + at, len);
        if (!path[at + len])
            break;
        at += len + 1;
        enter(walk, at);
    }
    if (file)
        walk->levels[walk->depth - 1].file = file;
    al_str_reset(&walk->path);
    al_str_adds(&walk->path, path);
}

/* After the last path. */
static int finish(struct walk *walk, struct al_error *err)
{
    while (walk->depth)
        leave(walk);
    return walk->refused ? al_gitdir_refuse(walk->refused, err) : 0;
}

/* "<path>" NUL, in the order of the staged files. */
static bool take_path(void *payload, char *const *fields)
{
    struct walk *walk = payload;
    const struct al_staged *staged = walk->staged;
    const char *file = NULL;

    while (walk->next < staged->count && strcmp(staged->files[walk->next].path, fields[0]) < 0)
        walk->next++;
    if (walk->next < staged->count && !strcmp(staged->files[walk->next].path, fields[0]))
        file = staged->files[walk->next].path;
    see(walk, fields[0], file);
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
            see(&walk, file->path, file->path);
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

int al_push_check_gitdirs(const struct al_push *push, struct al_error *err)
{
    if (al_location_is_bare(&push->repo->at))
        return check_files(push, err);
    for (size_t i = 0; i < push->staged.count; i++) {
        const struct al_staged_file *file = &push->staged.files[i];

        if (file->operation != AL_STAGED_DELETE && lies_in_one(push, file->path))
            return al_gitdir_refuse(file->path, err);
    }
    return check_files(push, err);
}
