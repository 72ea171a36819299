// SPDX-License-Identifier: Apache-2.0
#include "gitops/git_dir.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "gitops/layer.h"
#include "gitops/locate.h"
#include "guard/root.h"
#include "util/fs.h"

#define CONFIG_MAX_BYTES 65536u

/* A working tree with a `.git` file, and what the file names. */
struct pointed {
    char *git_dir, *common_dir; /* canonical; equal unless this is a linked worktree */
    struct stat file;           /* of the `.git` file */
};

static void pointed_clear(struct pointed *pointed)
{
    free(pointed->git_dir);
    free(pointed->common_dir);
}

/* The canonical path of a directory; NULL when it cannot be opened. */
static char *canonical(const char *path)
{
    al_auto(al_closep) int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);

    return fd < 0 ? NULL : al_fs_fd_path(fd);
}

static bool is_own_file(const struct stat *st)
{
    return S_ISREG(st->st_mode) && st->st_nlink == 1 && al_location_is_own(st);
}

static bool is_own_dir(const char *path)
{
    struct stat st;

    return lstat(path, &st) == 0 && S_ISDIR(st.st_mode) && al_location_is_own(&st);
}

/* Compare a file by device and inode with the file at a path. */
static bool is_at(const struct stat *file, const char *path)
{
    struct stat st;

    return lstat(path, &st) == 0 && st.st_dev == file->st_dev && st.st_ino == file->st_ino;
}

/* `gitdir` of a linked worktree names the `.git` file. */
static bool names_back(const char *git_dir, const char *common_dir, const struct stat *dot_git)
{
    al_auto(al_freep) char *worktrees = al_fs_join(common_dir, "worktrees");
    const char *below = al_fs_beneath(worktrees, git_dir);
    al_auto(al_closep) int fd = open(git_dir, O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    al_auto(al_freep) char *named = NULL;

    if (!below || !*below || strchr(below, '/') || fd < 0)
        return false;
    named = al_git_read_pointer(fd, "gitdir", "", git_dir);
    return named && is_at(dot_git, named);
}

/* The value of `key` in section [core], as git itself writes it: one key a line, unquoted.  NULL
 * when the file says it in any other way. */
static char *core_value(const char *config, const char *key)
{
    bool in_core = false;

    for (const char *line = config; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        const char *at = line + strspn(line, " \t");
        size_t len = strcspn(at, "\n");

        if (*at == '[') {
            in_core = len == 6 && !strncmp(at, "[core]", 6);
            continue;
        }
        if (!in_core || strncmp(at, key, strlen(key)) != 0)
            continue;
        at += strlen(key);
        if (strncmp(at, " = ", 3) != 0)
            continue;
        at += 3;
        len = strcspn(at, "\n");
        return memchr(at, '"', len) || memchr(at, '\\', len) || memchr(at, '#', len)
                   ? NULL
                   : al_strndup(at, len);
    }
    return NULL;
}

/* A submodule's git directory names its working tree. */
static bool names_top(const char *git_dir, const struct al_root *top)
{
    al_auto(al_closep) int fd = open(git_dir, O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    al_auto(al_str_clear) struct al_str config = AL_STR_INIT;
    al_auto(al_freep) char *value = NULL;
    al_auto(al_freep) char *path = NULL;
    struct stat st;

    if (fd < 0 || al_fs_read(fd, "config", CONFIG_MAX_BYTES, &config) < 0)
        return false;
    value = core_value(config.buf, "worktree");
    path = value ? al_fs_join(git_dir, value) : NULL;
    return path && stat(path, &st) == 0 && st.st_dev == top->dev && st.st_ino == top->ino;
}

static bool is_listed(const struct al_strv *listed, const char *git_dir)
{
    struct stat st;

    if (stat(git_dir, &st) < 0)
        return false;
    for (size_t i = 0; listed && i < listed->count; i++) {
        struct stat other;

        if (stat(listed->items[i], &other) == 0 && other.st_dev == st.st_dev &&
            other.st_ino == st.st_ino)
            return true;
    }
    return false;
}

/* Read what the `.git` file of a root names; false when there is no such file, or it names nothing.
 */
static bool read_pointers(const struct al_root *root, struct pointed *ret_pointed)
{
    al_auto(al_freep) char *named = NULL;
    al_auto(al_freep) char *common = NULL;
    al_auto(al_closep) int fd = -1;

    if (fstatat(root->fd, ".git", &ret_pointed->file, AT_SYMLINK_NOFOLLOW) < 0 ||
        !is_own_file(&ret_pointed->file))
        return false;
    named = al_git_read_pointer(root->fd, ".git", "gitdir: ", root->path);
    ret_pointed->git_dir = named ? canonical(named) : NULL;
    if (!ret_pointed->git_dir || !al_git_is_bare_dir(ret_pointed->git_dir))
        return false;
    fd = open(ret_pointed->git_dir, O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    common = fd < 0 ? NULL : al_git_read_pointer(fd, "commondir", "", ret_pointed->git_dir);
    ret_pointed->common_dir = common ? canonical(common) : al_strdup(ret_pointed->git_dir);
    return ret_pointed->common_dir && al_git_is_bare_dir(ret_pointed->common_dir) &&
           is_own_dir(ret_pointed->git_dir) && is_own_dir(ret_pointed->common_dir);
}

static int settle_root(struct al_roots *roots, size_t at, const struct al_git_dirs_options *options,
                       struct al_error *err)
{
    al_auto(pointed_clear) struct pointed pointed = { .git_dir = NULL };
    const struct al_root *root = &roots->items[at];
    bool linked;

    if (!read_pointers(root, &pointed) || al_roots_find(roots, pointed.common_dir))
        return 0;
    linked = strcmp(pointed.git_dir, pointed.common_dir) != 0;
    if (linked ? !names_back(pointed.git_dir, pointed.common_dir, &pointed.file)
               : !names_top(pointed.git_dir, root) && !is_listed(options->listed, pointed.git_dir))
        return 0;
    return al_roots_add_git_dir(roots, pointed.common_dir, linked ? NULL : root, options->forbidden,
                                options->home, err);
}

/* A root that is itself a bare repository of the user's, as git makes one.  A directory that is
 * made to look like one later, or below a root, is never one. */
static bool is_bare(const struct al_root *root)
{
    al_auto(al_str_clear) struct al_str config = AL_STR_INIT;
    al_auto(al_freep) char *value = NULL;
    struct stat st;

    if (fstatat(root->fd, ".git", &st, AT_SYMLINK_NOFOLLOW) == 0 ||
        fstatat(root->fd, "commondir", &st, AT_SYMLINK_NOFOLLOW) == 0 ||
        !al_git_is_bare_dir(root->path) || !is_own_dir(root->path) ||
        al_fs_read(root->fd, "config", CONFIG_MAX_BYTES, &config) < 0)
        return false;
    value = core_value(config.buf, "bare");
    return value && !strcmp(value, "true");
}

int al_git_dirs_settle(struct al_roots *roots, const struct al_git_dirs_options *options,
                       struct al_error *err)
{
    int r = 0;

    for (size_t i = 0; i < roots->count && r == 0; i++) {
        roots->items[i].is_bare = is_bare(&roots->items[i]);
        r = settle_root(roots, i, options, err);
    }
    return r;
}

bool al_git_dir_is_worktree(const char *top, const char *common_dir)
{
    al_auto(al_closep) int fd = open(top, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    al_auto(al_freep) char *named = NULL;
    al_auto(al_freep) char *git_dir = NULL;
    struct stat file;

    if (fd < 0 || fstatat(fd, ".git", &file, AT_SYMLINK_NOFOLLOW) < 0)
        return false;
    if (S_ISDIR(file.st_mode)) {
        al_auto(al_freep) char *own = al_fs_join(top, ".git");

        return is_at(&file, common_dir) && !strcmp(own, common_dir);
    }
    named = is_own_file(&file) ? al_git_read_pointer(fd, ".git", "gitdir: ", top) : NULL;
    git_dir = named ? canonical(named) : NULL;
    return git_dir && (!strcmp(git_dir, common_dir) || names_back(git_dir, common_dir, &file));
}

bool al_git_dir_belongs(const struct al_location *at)
{
    const struct al_root *part = al_roots_find(al_roots_parts(at->git->roots), at->common_dir);
    al_auto(al_freep) char *dot_git = al_fs_join(at->top, ".git");
    struct stat file, top;

    if (lstat(dot_git, &file) < 0 || !S_ISREG(file.st_mode)) /* `.git` is a directory, or bare */
        return !part || !part->is_git_dir;
    if (strcmp(at->git_dir, at->common_dir) != 0)
        return is_own_file(&file) && is_own_dir(at->common_dir) &&
               names_back(at->git_dir, at->common_dir, &file);
    if (!part || !part->is_git_dir)
        return true;
    return is_own_file(&file) && !strcmp(part->path, at->git_dir) && lstat(at->top, &top) == 0 &&
           top.st_dev == part->top.dev && top.st_ino == part->top.ino;
}
