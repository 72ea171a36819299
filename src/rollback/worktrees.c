// SPDX-License-Identifier: Apache-2.0
#include "rollback/worktrees.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "guard/text.h"
#include "util/fs.h"
#include "util/str.h"

#define HEAD_MAX_BYTES 4096u

/* The search for changes in what one other worktree has checked out. */
struct search {
    const struct al_differences *changes;
    struct al_error *err;
};

static bool moves(const struct al_differences *changes, const char *branch)
{
    for (size_t i = 0; i < changes->count; i++) {
        if (changes->items[i].part == AL_PART_REF && !strcmp(changes->items[i].name, branch))
            return true;
    }
    return false;
}

/* Refuse if `<dir_fd>/<path>` is the HEAD of a worktree on one of the branches.  A worktree without
 * a readable HEAD has no branch checked out. */
static int check_head(const struct search *search, int dir_fd, const char *path, const char *where)
{
    static const char prefix[] = "ref: ";
    al_auto(al_str_clear) struct al_str head = AL_STR_INIT;
    al_auto(al_freep) char *branch = NULL;
    al_auto(al_freep) char *place = NULL;

    if (al_fs_read(dir_fd, path, HEAD_MAX_BYTES, &head) < 0 || !al_starts_with(head.buf, prefix))
        return 0;
    al_str_trim_end(&head);
    if (!moves(search->changes, head.buf + strlen(prefix)))
        return 0;
    branch = al_text_sanitize_line(head.buf + strlen(prefix));
    place = al_text_sanitize_line(where);
    return al_error_set(search->err, AL_ERR_EXECUTION,
                        "the rollback would move '%s', which %s has checked out; roll back there, "
                        "or switch it to another branch first",
                        branch, place);
}

static int check_linked(const struct search *search, int common_fd, const char *own)
{
    int fd = openat(common_fd, "worktrees", O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    const struct dirent *entry;
    int r = 0;

    while (dir && r == 0 && (entry = readdir(dir))) {
        al_auto(al_freep) char *path = al_asprintf("worktrees/%s/HEAD", entry->d_name);
        al_auto(al_freep) char *where = al_asprintf("the worktree '%s'", entry->d_name);

        if (entry->d_name[0] != '.' && strcmp(entry->d_name, own) != 0)
            r = check_head(search, common_fd, path, where);
    }
    if (dir)
        (void)closedir(dir);
    else
        al_close(fd);
    return r;
}

int al_rollback_check_worktrees(const struct al_location *at, const struct al_differences *changes,
                                struct al_error *err)
{
    const struct search search = { .changes = changes, .err = err };
    bool linked = strcmp(at->git_dir, at->common_dir) != 0;
    const char *slash = strrchr(at->git_dir, '/');
    al_auto(al_closep) int fd = -1;
    int r = al_location_open_common_dir(at, &fd, err);

    if (r < 0)
        return r;
    /* The HEAD of a bare repository, which has no index, is nobody's working tree. */
    if (linked && faccessat(fd, "index", F_OK, AT_SYMLINK_NOFOLLOW) == 0)
        r = check_head(&search, fd, "HEAD", "the main working tree");
    return r < 0 ? r : check_linked(&search, fd, linked && slash ? slash + 1 : "");
}
