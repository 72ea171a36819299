// SPDX-License-Identifier: Apache-2.0
#include "gitops/plumbing/heads.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gitops/refs.h"
#include "guard/nofollow.h"
#include "util/fs.h"

#define FILE_MAX_BYTES 8192u

static const char dot_git[] = "/.git";

/* The content of a file without the line end.  Caller frees; NULL: there is none. */
static char *read_line(int git_dir, const char *name)
{
    al_auto(al_closep) int fd = al_nofollow_open(git_dir, name, O_RDONLY);
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    if (fd < 0 || al_fs_read_fd(fd, FILE_MAX_BYTES, &text) < 0 || !text.len)
        return NULL;
    al_str_trim_end(&text);
    return al_str_detach(&text);
}

/* HEAD may also be a symbolic link to its branch, an old form of it. */
static char *read_head(int git_dir)
{
    char target[PATH_MAX];
    const ssize_t len = readlinkat(git_dir, "HEAD", target, sizeof(target));

    return len < 0 ? read_line(git_dir, "HEAD") : al_asprintf("ref: %.*s", (int)len, target);
}

/* The working tree that a git directory says it belongs to.  Caller frees. */
static char *find_top(const struct al_location *at, int git_dir, const char *name)
{
    char *text = name ? read_line(git_dir, "gitdir") : al_strdup(at->common_dir);

    if (text && text[0] == '/' && al_ends_with(text, dot_git)) {
        text[strlen(text) - strlen(dot_git)] = '\0';
        return text;
    }
    free(text);
    return NULL;
}

static bool is_own(const struct al_location *at, const char *name)
{
    const bool is_linked = strcmp(at->git_dir, at->common_dir) != 0;

    return name ? is_linked && !strcmp(strrchr(at->git_dir, '/') + 1, name) : !is_linked;
}

static bool take_one(const struct al_location *at, int git_dir, const char *name, al_head_fn *take,
                     void *payload)
{
    static const char ref[] = "ref:";
    al_auto(al_freep) char *head = read_head(git_dir);
    al_auto(al_freep) char *top = find_top(at, git_dir, name);
    const bool on_branch = head && al_starts_with(head, ref);
    const char *value = on_branch ? head + strlen(ref) : head;
    struct stat st;

    return take(payload,
                &(struct al_head){
                    .name = name,
                    .top = top,
                    .git_dir_fd = git_dir,
                    .is_own = is_own(at, name),
                    .has_index = fstatat(git_dir, "index", &st, AT_SYMLINK_NOFOLLOW) == 0,
                    .branch = on_branch ? value + strspn(value, " \t") : NULL,
                    .oid = value && !on_branch && al_is_oid(value, strlen(value)) ? value : NULL,
                });
}

int al_git_each_head(const struct al_location *at, al_head_fn *take, void *payload,
                     struct al_error *err)
{
    al_auto(al_closep) int common_fd = -1;
    al_auto(al_closedirp) DIR *dir = NULL;
    const struct dirent *entry;
    int r = al_location_open_common_dir(at, &common_fd, err);
    bool more;

    if (r < 0)
        return r;
    more = take_one(at, common_fd, NULL, take, payload);
    dir = al_fs_list(al_nofollow_open(common_fd, "worktrees", O_RDONLY | O_DIRECTORY));
    while (dir && more && (entry = readdir(dir))) {
        al_auto(al_closep) int git_dir =
            entry->d_name[0] == '.'
                ? -1
                : al_nofollow_open(dirfd(dir), entry->d_name, O_PATH | O_DIRECTORY);

        if (git_dir >= 0)
            more = take_one(at, git_dir, entry->d_name, take, payload);
    }
    return 0;
}
