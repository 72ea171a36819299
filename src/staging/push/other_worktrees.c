// SPDX-License-Identifier: Apache-2.0
/*
 * Branches that a working tree of the target uses: git itself does not move them from elsewhere.
 *
 *   HEAD                                          checked out, also a branch without commits
 *   rebase-merge/head-name, rebase-apply/head-name, rebase-merge/update-refs
 *                                                 being rebased; HEAD is detached meanwhile
 *   BISECT_LOG with BISECT_START                  being bisected; likewise
 *
 * Source: gitrepository-layout(5), git-worktree(1), git-branch(1) "--force", git-rebase(1)
 * "--update-refs", git-bisect(1).
 */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "guard/nofollow.h"
#include "staging/push/private.h"
#include "util/fs.h"

#define FILE_MAX_BYTES (1u << 20)

/* How a working tree uses the branch. */
enum use { UNUSED, CHECKED_OUT, REBASED, BISECTED };

/* Read a file of a git directory; false: there is none. */
static bool read_file(int git_dir, const char *name, struct al_str *ret_text)
{
    al_auto(al_closep) int fd = al_nofollow_open(git_dir, name, O_RDONLY);

    if (fd < 0 || al_fs_read_fd(fd, FILE_MAX_BYTES, ret_text) < 0)
        return false;
    al_str_trim_end(ret_text);
    return true;
}

/* Whether a file has this line, alone or among others. */
static bool has_line(int git_dir, const char *name, const char *line)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    const size_t len = strlen(line);

    if (!read_file(git_dir, name, &text))
        return false;
    for (const char *at = text.buf; *at;) {
        const size_t this = strcspn(at, "\n");

        if (this == len && !strncmp(at, line, len))
            return true;
        at += this + (at[this] == '\n');
    }
    return false;
}

static bool has_file(int git_dir, const char *name)
{
    struct stat st;

    return fstatat(git_dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

/* What happens to the branch beside HEAD. */
static enum use use_in_operation(int git_dir, const char *ref)
{
    static const char *const rebased[] = { "rebase-merge/head-name", "rebase-apply/head-name",
                                           "rebase-merge/update-refs" };

    for (size_t i = 0; i < AL_COUNT(rebased); i++)
        if (has_line(git_dir, rebased[i], ref))
            return REBASED;
    if (has_file(git_dir, "BISECT_LOG") &&
        (has_line(git_dir, "BISECT_START", ref + strlen(AL_HEADS)) ||
         has_line(git_dir, "BISECT_START", ref)))
        return BISECTED;
    return UNUSED;
}

/* HEAD may also be a symbolic link, an old form of it. */
static bool has_head(int git_dir, const char *ref)
{
    al_auto(al_freep) char *line = al_asprintf("ref: %s", ref);
    char target[PATH_MAX];
    const ssize_t len = readlinkat(git_dir, "HEAD", target, sizeof(target));

    if (len >= 0)
        return (size_t)len == strlen(ref) && !memcmp(target, ref, (size_t)len);
    return has_line(git_dir, "HEAD", line);
}

static enum use use_in(int git_dir, const char *ref)
{
    return has_head(git_dir, ref) ? CHECKED_OUT : use_in_operation(git_dir, ref);
}

/* The HEAD of a bare repository, which has no index, is nobody's working tree. */
static enum use use_in_main(const struct al_push *push, int common_dir)
{
    const struct al_location *at = &push->repo->at;

    if (!strcmp(at->git_dir, at->common_dir) || !has_file(common_dir, "index"))
        return UNUSED;
    return use_in(common_dir, push->ref);
}

/* The use in linked working trees except the target itself. */
static enum use use_in_linked(const struct al_push *push, int common_dir)
{
    const struct al_location *at = &push->repo->at;
    const bool is_linked = strcmp(at->git_dir, at->common_dir) != 0;
    const char *own = is_linked ? strrchr(at->git_dir, '/') + 1 : "";
    al_auto(al_closedirp) DIR *dir =
        al_fs_list(al_nofollow_open(common_dir, "worktrees", O_RDONLY | O_DIRECTORY));
    enum use use = UNUSED;
    const struct dirent *entry;

    while (dir && use == UNUSED && (entry = readdir(dir))) {
        al_auto(al_freep) char *name = al_asprintf("worktrees/%s", entry->d_name);
        al_auto(al_closep) int git_dir = -1;

        if (entry->d_name[0] == '.' || !strcmp(entry->d_name, own))
            continue;
        git_dir = al_nofollow_open(common_dir, name, O_PATH | O_DIRECTORY);
        if (git_dir >= 0)
            use = use_in(git_dir, push->ref);
    }
    return use;
}

static const char *describe_others(enum use use)
{
    switch (use) {
    case UNUSED:
        return NULL;
    case CHECKED_OUT:
        return "Another working tree of the target has this branch checked out";
    case REBASED:
        return "Another working tree of the target rebases this branch; the user has to complete "
               "or abort the rebase first";
    case BISECTED:
        return "Another working tree of the target bisects this branch; the user has to end that "
               "with git bisect reset first";
    }
    return NULL;
}

static const char *describe_own(enum use use)
{
    switch (use) {
    case UNUSED:
    case CHECKED_OUT:
        return NULL;
    case REBASED:
        return "A rebase of this branch is in progress in the target; the user has to complete or "
               "abort it first";
    case BISECTED:
        return "A bisection of this branch is in progress in the target; the user has to end it "
               "with git bisect reset first";
    }
    return NULL;
}

int al_push_find_other_worktree(const struct al_push *push, char **ret_refusal,
                                struct al_error *err)
{
    al_auto(al_closep) int common_dir = -1;
    al_auto(al_closep) int git_dir = -1;
    const char *why = NULL;
    enum use use;
    int r = al_location_open_common_dir(&push->repo->at, &common_dir, err);

    if (r == 0)
        r = al_location_open_git_dir(&push->repo->at, &git_dir, err);
    if (r < 0)
        return r;
    if (!al_location_is_bare(&push->repo->at))
        why = describe_own(use_in_operation(git_dir, push->ref));
    use = use_in_main(push, common_dir);
    if (use == UNUSED)
        use = use_in_linked(push, common_dir);
    if (!why)
        why = describe_others(use);
    if (why)
        *ret_refusal = al_strdup(why);
    return 0;
}
