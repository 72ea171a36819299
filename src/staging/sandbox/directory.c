// SPDX-License-Identifier: Apache-2.0
/*
 * Files in a directory.  Every file is reached from the descriptor of the directory without
 * following a link.  A file is replaced by a rename, so that a reader sees the old bytes or the new
 * ones, and a hard link elsewhere keeps the old ones.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/fs.h"
#include "guard/gitdir.h"
#include "guard/nofollow.h"
#include "guard/root.h"
#include "guard/text.h"
#include "staging/sandbox/backend.h"

/* A temporary file stays while its process lives, which may be one of another process namespace. */
#define TEMP_OLD_S 60

#define TRIES      3

/* The state of the backend. */
struct directory {
    int fd;        /* O_PATH | O_DIRECTORY */
    int64_t grown; /* bytes that writes added, less those of removed files; by the sandbox's lock */
};

static void directory_free(void *state)
{
    struct directory *directory = state;

    al_close(directory->fd);
    free(directory);
}

/* --- Failures --- */

#define IS_SPECIAL " is no regular file but a fifo, a socket or a device"

/* The failure to open or use `path`, for an errno. */
static int fail(int errno_value, const char *path, struct al_error *err)
{
    al_auto(al_freep) char *after = NULL;

    switch (errno_value) {
    case ENOENT:
    case ENOTDIR:
        return al_sandbox_missing(path, err);
    case ELOOP:
        return al_sandbox_is_link(path, err);
    case ENXIO:
        return al_sandbox_fail(path, IS_SPECIAL, err);
    default:
        after = al_asprintf(" cannot be used: %s", strerrordesc_np(errno_value));
        return al_sandbox_fail(path, after, err);
    }
}

/* The same for a file that was to be created, with its directories: ENOENT means that the whole
 * directory of the sandbox is gone. */
static int write_fail(int errno_value, const char *path, struct al_error *err)
{
    if (errno_value == EEXIST)
        return al_sandbox_fail(path, " was created meanwhile by somebody else; try again", err);
    if (errno_value == ENOTDIR)
        return al_sandbox_fail(path, " cannot be: a part of it is a file and no directory", err);
    if (errno_value != ENOENT)
        return fail(errno_value, path, err);
    return al_error_set(err, AL_ERR_EXECUTION,
                        "the directory of the sandbox was removed; restart airlock");
}

/* Only regular files are read and replaced. */
static int check_type(mode_t mode, const char *path, struct al_error *err)
{
    if (S_ISREG(mode))
        return 0;
    if (S_ISDIR(mode))
        return al_sandbox_fail(path, AL_SANDBOX_IS_DIRECTORY, err);
    if (S_ISLNK(mode))
        return al_sandbox_is_link(path, err);
    return al_sandbox_fail(path, IS_SPECIAL, err);
}

/* --- Reading --- */

/* Read at most `max` bytes from `offset` on.  0 or -errno. */
static int read_part(int fd, uint64_t offset, size_t max, struct al_str *out)
{
    if (offset > INT64_MAX)
        return 0;
    while (out->len < max) {
        size_t want = max - out->len < 1u << 16 ? max - out->len : 1u << 16;
        ssize_t n;

        al_str_reserve(out, want);
        n = pread(fd, out->buf + out->len, want, (off_t)(offset + out->len));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        if (n == 0)
            break;
        out->len += (size_t)n;
        out->buf[out->len] = '\0';
    }
    return 0;
}

static int directory_read(struct al_sandbox *sandbox, const char *path, uint64_t offset, size_t max,
                          struct al_str *ret, uint64_t *ret_size, struct al_error *err)
{
    const struct directory *directory = sandbox->state;
    al_auto(al_closep) int fd = al_nofollow_open(directory->fd, path, O_RDONLY);
    struct stat st;
    int r;

    if (fd < 0)
        return fail(-fd, path, err);
    r = fstat(fd, &st) < 0 ? fail(errno, path, err) : check_type(st.st_mode, path, err);
    if (r < 0)
        return r;
    r = read_part(fd, offset, max, ret);
    if (r < 0)
        return fail(-r, path, err);
    *ret_size = (uint64_t)st.st_size;
    if (ret->len && *ret_size < offset + ret->len) /* it grew */
        *ret_size = offset + ret->len;
    return 0;
}

static int directory_read_link(struct al_sandbox *sandbox, const char *path,
                               struct al_str *ret_target, struct al_error *err)
{
    struct directory *directory = sandbox->state;
    al_auto(al_closep) int fd = al_nofollow_open(directory->fd, path, O_PATH | O_NOFOLLOW);
    char target[PATH_MAX];
    ssize_t n;

    if (fd < 0)
        return fail(-fd, path, err);
    n = readlinkat(fd, "", target, sizeof(target));
    if (n < 0) /* ENOENT: not a link */
        return fail(errno, path, err);
    al_str_add(ret_target, target, (size_t)n);
    return 0;
}

/* --- The ids of files --- */

/* The id of a link's target.  0 or -errno; -EAGAIN: it changed. */
static int hash_link(int fd, const struct stat *st, bool sha256, struct al_oid *ret_oid)
{
    char target[PATH_MAX];
    ssize_t n = readlinkat(fd, "", target, sizeof(target));

    if (n < 0)
        return -errno;
    if (n != st->st_size)
        return -EAGAIN;
    al_oid_of(sha256, AL_OBJECT_BLOB, target, (size_t)n, ret_oid);
    return 0;
}

static unsigned mode_of(mode_t mode)
{
    if (S_ISLNK(mode))
        return AL_SANDBOX_MODE_LINK;
    return mode & S_IXUSR ? AL_SANDBOX_MODE_EXECUTABLE : AL_SANDBOX_MODE_FILE;
}

/* Hash a file as it is now.  0 or -errno; -EAGAIN: it changed. */
static int hash_file(const struct directory *directory, bool sha256, struct al_sandbox_file *file)
{
    const bool link = file->mode == AL_SANDBOX_MODE_LINK;
    al_auto(al_closep) int fd =
        al_nofollow_open(directory->fd, file->path, link ? O_PATH | O_NOFOLLOW : O_RDONLY);
    struct al_file_id before, after;
    struct stat st;
    int r;

    if (fd < 0)
        return fd;
    if (fstat(fd, &st) < 0)
        return -errno;
    if (link ? !S_ISLNK(st.st_mode) : !S_ISREG(st.st_mode))
        return -ENOENT; /* another file has its name */
    before = al_file_id_from(&st);
    file->mode = mode_of(st.st_mode);
    file->size = (uint64_t)st.st_size;
    r = link ? hash_link(fd, &st, sha256, &file->oid)
             : al_oid_of_file(fd, file->size, sha256, &file->oid);
    if (r == 0 && fstat(fd, &st) < 0)
        return -errno;
    after = al_file_id_from(&st);
    return r == 0 && !al_file_id_equal(&before, &after) ? -EAGAIN : r;
}

/* Test whether a file, as fstatat() found it, is in this version. */
static bool is_version(const struct al_sandbox *sandbox, const char *path, const struct stat *st,
                       const struct al_sandbox_version *version)
{
    struct al_sandbox_file now = { .path = (char *)(uintptr_t)path, .mode = mode_of(st->st_mode) };

    return hash_file(sandbox->state, sandbox->sha256, &now) == 0 && now.mode == version->mode &&
           al_oid_equal(&now.oid, &version->oid);
}

/* --- Changing --- */

/* Enter a directory, and create it if it is missing.  A descriptor, -errno, or -EPERM where it
 * would become a part of a git directory.  `*made`: it is new, so it is neither a git directory nor
 * in one. */
static int enter(int fd, const char *name, bool follows, bool *made)
{
    const int flags = O_PATH | O_DIRECTORY | O_CLOEXEC;
    int next = follows ? openat(fd, name, flags) : al_nofollow_open(fd, name, flags);

    *made = false;
    if (follows && next < 0)
        next = -errno;
    if (next != -ENOENT)
        return next;
    if (al_gitdir_contains(fd, name))
        return -EPERM;
    *made = mkdirat(fd, name, 0777) == 0;
    if (!*made && errno != EEXIST)
        return -errno;
    return al_nofollow_open(fd, name, flags);
}

/* Open the parent of a file that is to be created or replaced, and create missing directories.
 * Refused: a place inside a git directory of any name, and one where a part of a git directory
 * would be created.  `ret_st`: of the file of this name; st_mode is 0 when there is none. */
static int open_parent(int fd, const char *path, int *ret_fd, const char **ret_name,
                       struct stat *ret_st, struct al_error *err)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    al_auto(al_freep) char *parents = al_strndup(path, slash ? (size_t)(slash - path) : 0);
    al_auto(al_closep) int at = al_nofollow_open(fd, "", O_PATH | O_DIRECTORY);
    char *save = NULL;
    bool made = false;

    for (char *part = strtok_r(parents, "/", &save); part && at >= 0;
         part = strtok_r(NULL, "/", &save)) {
        int next = enter(at, part, false, &made);

        al_close(at);
        at = next;
    }
    if (at == -EPERM || (at >= 0 && !made && al_gitdir_contains(at, name)))
        return al_gitdir_refuse(path, err);
    if (at < 0)
        return write_fail(-at, path, err);
    if (fstatat(at, name, ret_st, AT_SYMLINK_NOFOLLOW) < 0) {
        if (errno != ENOENT)
            return fail(errno, path, err);
        ret_st->st_mode = 0;
    }
    *ret_fd = al_take_fd(&at);
    *ret_name = name;
    return 0;
}

/* The size of a file that counts towards max_bytes; st_mode is 0 when there is none. */
static int64_t cost_of(const char *path, const struct stat *st)
{
    return st->st_mode ? (int64_t)(AL_SANDBOX_FILE_BYTES + strlen(path)) + st->st_size : 0;
}

/* Files that were there before, or were imported, are not counted: reading them all would be slow,
 * and they are not what an agent can fill the disk with. */
static int check_room(const struct al_sandbox *sandbox, int64_t grown, struct al_error *err)
{
    return grown <= (int64_t)sandbox->max_bytes ? 0
                                                : al_sandbox_full(sandbox, (uint64_t)grown, err);
}

/* Create a link beside its name and rename it.  0 or -errno. */
static int replace_by_link(int parent, const char *name, const char *target)
{
    al_auto(al_freep) char *temp_name = al_fs_temp_name();

    if (symlinkat(target, parent, temp_name) < 0)
        return -errno;
    if (renameat(parent, temp_name, parent, name) < 0) {
        int r = -errno;

        (void)unlinkat(parent, temp_name, 0);
        return r;
    }
    return 0;
}

/* Whether a file may be replaced by this one; st_mode is 0 when there is none. */
static int check_put(const struct al_sandbox *sandbox, const struct al_sandbox_file *file,
                     const struct stat *st, struct al_error *err)
{
    const struct al_sandbox_version *over = file->over;
    int r = 0;

    if (st->st_mode && over && !over->mode)
        return write_fail(EEXIST, file->path, err);
    if (st->st_mode && !(file->mode && S_ISLNK(st->st_mode)))
        r = check_type(st->st_mode, file->path, err);
    if (r == 0 && over && over->mode && !(st->st_mode && is_version(sandbox, file->path, st, over)))
        r = al_sandbox_fail(file->path, AL_SANDBOX_CHANGED, err);
    return r;
}

/* Give the content its name.  0 or -errno. */
static int set_content(const struct al_sandbox_file *file, int parent, const char *name,
                       const struct stat *st, const struct al_str *content)
{
    bool replaces = st->st_mode || !file->over;
    mode_t mode = st->st_mode ? st->st_mode & 0777 : 0666;

    if (file->mode == AL_SANDBOX_MODE_LINK) {
        if (!content->len || strlen(content->buf) != content->len)
            return -EINVAL;
        if (replaces)
            return replace_by_link(parent, name, content->buf);
        return symlinkat(content->buf, parent, name) < 0 ? -errno : 0;
    }
    if (file->mode)
        mode = file->mode == AL_SANDBOX_MODE_EXECUTABLE ? 0777 : 0666;
    return al_fs_write_atomic(parent, name, content->buf, content->len, mode, replaces);
}

static int directory_put(struct al_sandbox *sandbox, const struct al_sandbox_file *file,
                         const struct al_str *content, struct al_error *err)
{
    struct directory *directory = sandbox->state;
    const struct stat written = { .st_mode = S_IFREG, .st_size = (off_t)content->len };
    al_auto(al_closep) int parent = -1;
    int64_t grown = directory->grown;
    const char *name = NULL;
    struct stat st;
    int r = open_parent(directory->fd, file->path, &parent, &name, &st, err);

    if (r == 0)
        r = check_put(sandbox, file, &st, err);
    if (r == 0 && !file->mode) {
        grown += cost_of(file->path, &written) - cost_of(file->path, &st);
        r = check_room(sandbox, grown, err);
    }
    if (r == 0) {
        r = set_content(file, parent, name, &st, content);
        r = r < 0 ? write_fail(-r, file->path, err) : 0;
    }
    if (r < 0)
        al_nofollow_remove_parents(directory->fd, file->path);
    else
        directory->grown = grown;
    return r;
}

static int directory_remove(struct al_sandbox *sandbox, const char *path,
                            const struct al_sandbox_version *over, struct al_error *err)
{
    struct directory *directory = sandbox->state;
    const char *name = NULL;
    al_auto(al_closep) int parent = al_nofollow_open_parent(directory->fd, path, false, &name);
    struct stat st;
    int r;

    if (parent < 0)
        return fail(-parent, path, err);
    if (fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return fail(errno, path, err);
    r = S_ISLNK(st.st_mode) ? 0 : check_type(st.st_mode, path, err);
    if (r == 0 && over && !is_version(sandbox, path, &st, over))
        r = al_sandbox_fail(path, AL_SANDBOX_CHANGED, err);
    if (r < 0)
        return r;
    if (unlinkat(parent, name, 0) < 0)
        return fail(errno, path, err);
    directory->grown -= cost_of(path, &st);
    al_nofollow_remove_parents(directory->fd, path);
    return 0;
}

/* --- Finding the files --- */

/* A scan that runs. */
struct walk {
    int fd;
    struct al_strv dirs; /* to be read; grows at the end */
    struct al_sandbox_files found;
};

/* Remove the temporary file of a process that was killed while it wrote. */
static void sweep(int dir_fd, const char *name, const struct stat *st)
{
    if (st->st_uid != geteuid() || st->st_mtim.tv_sec + TEMP_OLD_S >= time(NULL) ||
        kill(al_fs_temp_owner(name), 0) == 0 || errno != ESRCH)
        return;
    if (S_ISREG(st->st_mode) || S_ISLNK(st->st_mode))
        (void)unlinkat(dir_fd, name, 0);
}

static int add_entry(struct walk *walk, const char *dir, int dir_fd, const char *name,
                     struct al_error *err)
{
    al_auto(al_freep) char *path = *dir ? al_asprintf("%s/%s", dir, name) : al_strdup(name);
    struct stat st;

    if (!strcmp(name, ".") || !strcmp(name, "..") || al_path_has_dot_git(name) ||
        strlen(path) >= PATH_MAX - sizeof(AL_SANDBOX_ROOT) ||
        fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return 0;
    if (al_fs_temp_owner(name)) {
        sweep(dir_fd, name, &st);
        return 0;
    }
    if (S_ISDIR(st.st_mode))
        al_strv_add(&walk->dirs, path);
    else if (S_ISREG(st.st_mode) || S_ISLNK(st.st_mode))
        al_sandbox_files_add(
            &walk->found,
            &(struct al_sandbox_file){ .path = al_take(&path), .mode = mode_of(st.st_mode) });
    /* The first directory is the one that is scanned. */
    if (walk->found.count > AL_SANDBOX_FILES_MAX || walk->dirs.count > AL_SANDBOX_FILES_MAX + 1)
        return al_sandbox_too_many(err);
    return 0;
}

static bool is_gone(int errno_value)
{
    return errno_value == ENOENT || errno_value == ELOOP || errno_value == ENOTDIR;
}

static int list_fail(int fd, const char *path, int errno_value, struct al_error *err)
{
    al_auto(al_closep) int file = errno_value == ENOTDIR ? al_nofollow_open(fd, path, O_PATH) : -1;

    if (file >= 0)
        return al_sandbox_fail(path, AL_SANDBOX_IS_FILE, err);
    return fail(errno_value, path, err);
}

/* Read one directory.  The first one has to be there. */
static int read_directory(struct walk *walk, size_t number, struct al_error *err)
{
    al_auto(al_freep) char *path = al_strdup(walk->dirs.items[number]);
    int fd = al_nofollow_open(walk->fd, path, O_RDONLY | O_DIRECTORY);
    al_auto(al_closedirp) DIR *dir = fd < 0 ? NULL : al_fs_list(fd);
    int r = 0;

    if (!dir && number && is_gone(fd < 0 ? -fd : errno))
        return 0;
    if (!dir)
        return list_fail(walk->fd, path, fd < 0 ? -fd : errno, err);
    for (struct dirent *entry; r == 0 && (entry = readdir(dir));)
        r = add_entry(walk, path, fd, entry->d_name, err);
    return r;
}

/*
 * Find the regular files and the symbolic links below `dir`.  Other types of files are left out,
 * and so is what has a name that a file system takes for `.git`, or one of airlock's temporary
 * files; those that a killed process left are removed.  A directory that is removed or replaced
 * meanwhile is left out too.
 */
static int scan_directory(int fd, const char *dir, struct al_sandbox_files *ret,
                          struct al_error *err)
{
    struct walk walk = { .fd = fd, .dirs = AL_STRV_INIT };
    int r = 0;

    al_strv_add(&walk.dirs, dir);
    for (size_t i = 0; i < walk.dirs.count && r == 0; i++)
        r = read_directory(&walk, i, err);
    al_strv_clear(&walk.dirs);
    if (r < 0) {
        al_sandbox_files_clear(&walk.found);
        return r;
    }
    al_sandbox_files_sort(&walk.found);
    *ret = walk.found;
    return 0;
}

/* --- A list --- */

/* Get the id of a file.  `*gone`: there is no such file any more. */
static int identify(struct al_sandbox *sandbox, struct al_sandbox_file *file, bool *gone,
                    struct al_error *err)
{
    int r = -EAGAIN;

    for (int i = 0; i < TRIES && r == -EAGAIN; i++)
        r = hash_file(sandbox->state, sandbox->sha256, file);
    *gone = is_gone(-r);
    if (r == 0 || *gone)
        return 0;
    if (r == -EAGAIN)
        return al_sandbox_fail(file->path,
                               " changes while it is read; try again when nobody writes it", err);
    return fail(-r, file->path, err);
}

/* Files that are gone once their ids are asked for are dropped. */
static int directory_list(struct al_sandbox *sandbox, const char *dir, bool with_ids,
                          struct al_sandbox_files *ret_files, struct al_error *err)
{
    const struct directory *directory = sandbox->state;
    size_t kept = 0;
    int r = scan_directory(directory->fd, dir, ret_files, err);

    for (size_t i = 0; i < ret_files->count; i++) {
        struct al_sandbox_file file = ret_files->items[i];
        bool gone = false;

        if (r == 0 && with_ids)
            r = identify(sandbox, &file, &gone, err);
        if (gone)
            free(file.path);
        else
            ret_files->items[kept++] = file;
    }
    ret_files->count = kept;
    return r;
}

/* --- Opening the directory --- */

static int refuse(struct al_error *err, const char *path, const char *why)
{
    al_auto(al_freep) char *safe = al_text_sanitize_line(path);

    return al_error_set(err, AL_ERR_BAD_ARGS, "staging.path: '%s' %s", safe, why);
}

/* Whether an agent may have made the entries of a directory. */
static bool is_in_root(int fd, const struct al_roots *roots)
{
    al_auto(al_freep) char *path = al_fs_fd_path(fd);

    return roots && path && al_roots_find(roots, path);
}

/* Open the directory of a sandbox, and create it if it is missing.  Links are followed, but not
 * inside a root.  The caller frees its canonical path. */
static int open_directory(const char *path, const struct al_roots *roots, int *ret_fd,
                          char **ret_dir, struct al_error *err)
{
    al_auto(al_freep) char *parts = al_strdup(path);
    al_auto(al_closep) int fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    al_auto(al_freep) char *dir = NULL;
    char *save = NULL;

    for (char *part = strtok_r(parts, "/", &save); part && fd >= 0;
         part = strtok_r(NULL, "/", &save)) {
        bool made;
        int next = enter(fd, part, !is_in_root(fd, roots), &made);

        al_close(fd);
        fd = next;
    }
    if (fd == -ELOOP || (fd == -EXDEV && roots))
        return refuse(err, path, "has a '..' or a symbolic link inside a root; name it without");
    if (fd < 0 && fd != -EPERM)
        return refuse(err, path, strerrordesc_np(-fd));
    if (fd == -EPERM || al_gitdir_contains(fd, NULL))
        return refuse(err, path, "is inside a git directory; name another directory");
    dir = al_fs_fd_path(fd);
    if (!dir)
        return refuse(err, path, "has no path; name an existing directory");
    *ret_dir = al_take(&dir);
    *ret_fd = al_take_fd(&fd);
    return 0;
}

int al_sandbox_directory_init(struct al_sandbox *sandbox, const struct al_sandbox_options *options,
                              struct al_error *err)
{
    static const struct al_sandbox_backend backend = {
        .free = directory_free,
        .read = directory_read,
        .read_link = directory_read_link,
        .put = directory_put,
        .remove = directory_remove,
        .list = directory_list,
    };
    struct directory *directory;
    int fd = -1, r = open_directory(options->path, options->roots, &fd, &sandbox->dir, err);

    if (r < 0)
        return r;
    directory = al_calloc(1, sizeof(*directory));
    directory->fd = fd;
    sandbox->state = directory;
    sandbox->backend = &backend;
    return 0;
}
