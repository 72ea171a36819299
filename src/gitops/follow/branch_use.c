// SPDX-License-Identifier: Apache-2.0
#include "gitops/follow/branch_use.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "guard/nofollow.h"
#include "util/fs.h"

#define HEADS          "refs/heads/"
#define FILE_MAX_BYTES (1u << 20)

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
static enum al_branch_use use_in_operation(int git_dir, const char *ref)
{
    static const char *const rebased[] = { "rebase-merge/head-name", "rebase-apply/head-name",
                                           "rebase-merge/update-refs" };

    for (size_t i = 0; i < AL_COUNT(rebased); i++)
        if (has_line(git_dir, rebased[i], ref))
            return AL_BRANCH_REBASED;
    if (has_file(git_dir, "BISECT_LOG") &&
        (has_line(git_dir, "BISECT_START", ref + strlen(HEADS)) ||
         has_line(git_dir, "BISECT_START", ref)))
        return AL_BRANCH_BISECTED;
    return AL_BRANCH_UNUSED;
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

static enum al_branch_use use_in(int git_dir, const char *ref)
{
    const enum al_branch_use use = use_in_operation(git_dir, ref);

    return use == AL_BRANCH_UNUSED && has_head(git_dir, ref) ? AL_BRANCH_CHECKED_OUT : use;
}

void al_branch_users_clear(struct al_branch_users *users)
{
    for (size_t i = 0; i < users->count; i++) {
        free(users->items[i].name);
        free(users->items[i].top);
    }
    free(users->items);
    *users = (struct al_branch_users){ .items = NULL };
}

/* The working tree that a git directory belongs to.  Caller frees. */
static char *find_top(const struct al_location *at, int git_dir, const char *name)
{
    static const char dot_git[] = "/.git";
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    if (!name)
        al_str_adds(&text, at->common_dir);
    else if (!read_file(git_dir, "gitdir", &text))
        return NULL;
    if (!al_ends_with(text.buf, dot_git) || text.buf[0] != '/')
        return NULL;
    al_str_truncate(&text, text.len - strlen(dot_git));
    return al_str_detach(&text);
}

static void add_user(struct al_branch_users *users, const struct al_location *at, int git_dir,
                     const char *name, enum al_branch_use use)
{
    const char *own = strcmp(at->git_dir, at->common_dir) ? strrchr(at->git_dir, '/') + 1 : NULL;

    if (use == AL_BRANCH_UNUSED)
        return;
    users->items = al_reallocarray(users->items, users->count + 1, sizeof(*users->items));
    users->items[users->count++] = (struct al_branch_user){
        .use = use,
        .is_own = name && own ? !strcmp(name, own) : name == own,
        .name = al_strdup(name),
        .top = find_top(at, git_dir, name),
    };
}

/* The HEAD of a bare repository, which has no index, is nobody's working tree. */
static void add_main(const struct al_location *at, int common_dir, const char *ref,
                     struct al_branch_users *users)
{
    const bool is_own = !strcmp(at->git_dir, at->common_dir);

    if (is_own ? !al_location_is_bare(at) : has_file(common_dir, "index"))
        add_user(users, at, common_dir, NULL, use_in(common_dir, ref));
}

static void add_linked(const struct al_location *at, int common_dir, const char *ref,
                       struct al_branch_users *users)
{
    al_auto(al_closedirp) DIR *dir =
        al_fs_list(al_nofollow_open(common_dir, "worktrees", O_RDONLY | O_DIRECTORY));
    const struct dirent *entry;

    while (dir && (entry = readdir(dir))) {
        al_auto(al_freep) char *name = al_asprintf("worktrees/%s", entry->d_name);
        al_auto(al_closep) int git_dir = -1;

        if (entry->d_name[0] == '.')
            continue;
        git_dir = al_nofollow_open(common_dir, name, O_PATH | O_DIRECTORY);
        if (git_dir >= 0)
            add_user(users, at, git_dir, entry->d_name, use_in(git_dir, ref));
    }
}

static int by_place(const void *a, const void *b)
{
    const struct al_branch_user *one = a, *other = b;

    if (one->is_own != other->is_own)
        return one->is_own ? -1 : 1;
    if (!one->name || !other->name)
        return one->name ? 1 : other->name ? -1 : 0;
    return strcmp(one->name, other->name);
}

int al_branch_find_users(const struct al_repo *repo, const char *ref,
                         struct al_branch_users *ret_users, struct al_error *err)
{
    al_auto(al_closep) int common_dir = -1;
    struct al_branch_users users = { .items = NULL };
    int r = al_location_open_common_dir(&repo->at, &common_dir, err);

    if (r < 0)
        return r;
    add_main(&repo->at, common_dir, ref, &users);
    add_linked(&repo->at, common_dir, ref, &users);
    if (users.count)
        qsort(users.items, users.count, sizeof(*users.items), by_place);
    *ret_users = users;
    return 0;
}
