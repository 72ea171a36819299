// SPDX-License-Identifier: Apache-2.0
/*
 * Resolving paths that come from an agent or a repository.
 *
 * In this file -EXDEV means "outside, or unknown".  The kernel returns it for a path that leaves a
 * root; every failure that may concern something outside becomes -EXDEV too.
 */
#include "guard/path.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/utf8.h"
#include "guard/gitdir.h"
#include "guard/nofollow.h"
#include "guard/text.h"

/* The stand-in for every name with characters that do not fold to ASCII. */
#define OTHER "\x80"

/* --- One character --- */

static const struct {
    uint32_t c;
    const char *ascii;
} folded[] = {
    { 0x00df, "ss" },  { 0x0130, "i" },  { 0x0131, "i" },  { 0x017f, "s" },  { 0x1e9e, "ss" },
    { 0x212a, "k" },   { 0xfb00, "ff" }, { 0xfb01, "fi" }, { 0xfb02, "fl" }, { 0xfb03, "ffi" },
    { 0xfb04, "ffl" }, { 0xfb05, "st" }, { 0xfb06, "st" },
};

/* Separators and interlinear annotations are invisible, but a folded name keeps them. */
static bool is_ignored(uint32_t c)
{
    return al_utf8_is_invisible(c) && c != 0x2028 && c != 0x2029 && (c < 0xfff9 || c > 0xfffb);
}

/* NULL: it does not fold to ASCII. */
static const char *find_folded(uint32_t c)
{
    if (is_ignored(c))
        return "";
    for (size_t i = 0; i < AL_COUNT(folded); i++)
        if (c == folded[i].c)
            return folded[i].ascii;
    return NULL;
}

/* --- Names --- */

/* Append a component. */
static void add_name(const char *name, size_t len, struct al_str *out)
{
    const size_t before = out->len;

    for (size_t at = 0; at < len;) {
        uint32_t c;
        const int n = al_utf8_next(name + at, len - at, &c);
        const char *ascii = n > 0 && c >= 0x80 ? find_folded(c) : NULL;

        if (n <= 0 || (c >= 0x80 && !ascii)) {
            al_str_truncate(out, before);
            al_str_adds(out, OTHER);
            return;
        }
        if (ascii)
            al_str_adds(out, ascii);
        else
            al_str_addc(out, (char)(c >= 'A' && c <= 'Z' ? c + 'a' - 'A' : c));
        at += (size_t)n;
    }
}

char *al_fold_path(const char *path, size_t len)
{
    struct al_str out = AL_STR_INIT;

    for (size_t at = 0; at < len;) {
        const char *slash = memchr(path + at, '/', len - at);
        const size_t end = slash ? (size_t)(slash - path) : len;

        add_name(path + at, end - at, &out);
        if (slash)
            al_str_addc(&out, '/');
        at = end + 1;
    }
    return al_str_detach(&out);
}

static bool is_ascii(const char *name, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)name[i] >= 0x80)
            return false;
    return true;
}

bool al_fold_is(const char *name, size_t len, const char *ascii)
{
    al_auto(al_str_clear) struct al_str out = AL_STR_INIT;

    if (is_ascii(name, len))
        return len == strlen(ascii) && !strncasecmp(name, ascii, len);
    add_name(name, len, &out);
    return !strcmp(out.buf, ascii);
}

#define DIRECTLY   (RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS)
#define IN_GIT_DIR (-ENOTUNIQ) /* an error that no file system returns for a directory */

void al_path_clear(struct al_path *path)
{
    free(path->abs);
    al_close(path->fd);
    *path = AL_PATH_INIT;
}

static const char *below_root(const struct al_root *root, const char *abs)
{
    size_t len = strlen(root->path);

    return abs[len] ? abs + len + 1 : ".";
}

const char *al_path_rel(const struct al_path *path)
{
    return below_root(path->root, path->abs);
}

static int outside(const char *given, struct al_error *err)
{
    al_auto(al_freep) char *safe = al_text_sanitize_line(given);

    return al_error_set(err, AL_ERR_SANDBOX, "Path outside sandbox: %s", safe);
}

/* Refuse a path and say why. */
static int refuse_form(const char *given, const char *remedy, struct al_error *err)
{
    return al_error_remedy(outside(given, err), err, remedy);
}

static int explain(int r, const char *given, struct al_error *err)
{
    al_auto(al_freep) char *safe = NULL;

    switch (-r) {
    case EXDEV:
    case ELOOP:
        return outside(given, err);
    case ENOSYS:
        return al_beneath_missing(err);
    case ENAMETOOLONG:
        return al_error_set(err, AL_ERR_BAD_ARGS, "path is too long");
    default:
        safe = al_text_sanitize_line(given);
        return al_error_errno(err, -r, "cannot use '%s'", safe);
    }
}

static bool is_absence(int r)
{
    return r == -ENOENT || r == -ENOTDIR;
}

/* The kernel appends " (deleted)" to the path of a removed file; but a name may end like that too.
 */
static bool has_vanished(const char *abs, const struct stat *st)
{
    struct stat named;

    return al_ends_with(abs, " (deleted)") &&
           (lstat(abs, &named) < 0 || st->st_ino != named.st_ino || st->st_dev != named.st_dev);
}

/* Set the result.  `abs` and `fd` are taken over. */
static void set(struct al_path *ret_path, const struct al_root *root, char *abs, int fd,
                mode_t mode)
{
    al_path_clear(ret_path);
    *ret_path = (struct al_path){ .root = root, .abs = abs, .fd = fd, .mode = mode };
}

/* Set the result to `fd`, a descriptor below a root, which is taken over. */
static int set_opened(const struct al_roots *roots, int fd, struct al_path *ret_path)
{
    al_auto(al_path_clear) struct al_path path = { .fd = fd };
    struct stat st;

    if (fstat(fd, &st) < 0)
        return -errno;
    path.abs = al_fs_fd_path(fd);
    path.root = path.abs ? al_roots_find(roots, path.abs) : NULL;
    if (!path.root)
        return -EXDEV;
    if (has_vanished(path.abs, &st))
        return -ENOENT;
    set(ret_path, path.root, al_take(&path.abs), al_take_fd(&path.fd), st.st_mode);
    return 0;
}

/* Open a path below a root if it contains no link.  Such a path is canonical already, so the kernel
 * need not be asked for its name.  -ELOOP if there is a link. */
static int open_directly(const struct al_root *root, const char *path, struct al_path *ret_path)
{
    al_auto(al_closep) int fd = al_beneath_open(root->fd, below_root(root, path), O_PATH, DIRECTLY);
    struct stat st;

    if (fd < 0)
        return fd;
    if (fstat(fd, &st) < 0)
        return -errno;
    set(ret_path, root, al_strdup(path), al_take_fd(&fd), st.st_mode);
    return 0;
}

static bool is_same(int a, int b)
{
    struct stat one, two;

    return fstat(a, &one) == 0 && fstat(b, &two) == 0 && one.st_dev == two.st_dev &&
           one.st_ino == two.st_ino;
}

/* Open a path that contains links or begins outside.  Its target has to be inside a
 * root, and is opened again from that root.  -ENOENT and -ENOTDIR do not tell where the path leads.
 */
static int open_by_end(const struct al_roots *roots, const char *path, int flags, int *ret_fd,
                       char **ret_abs)
{
    al_auto(al_closep) int fd = al_beneath_open(AT_FDCWD, path, O_PATH, 0);
    al_auto(al_closep) int again = -1;
    al_auto(al_freep) char *abs = NULL;
    const struct al_root *root;

    if (fd < 0)
        return is_absence(fd) || fd == -ENOSYS ? fd : -EXDEV;
    abs = al_fs_fd_path(fd);
    root = abs ? al_roots_find(roots, abs) : NULL;
    if (!root)
        return -EXDEV;
    again = al_beneath_open(root->fd, below_root(root, abs), flags, DIRECTLY);
    if (again < 0)
        return again == -ENOENT ? -EXDEV : again; /* it existed a moment ago */
    if (!is_same(fd, again))
        return -EXDEV;
    *ret_fd = al_take_fd(&again);
    *ret_abs = al_take(&abs);
    return 0;
}

/* Resolve a path that does not exist.  The place where it would be has to be inside a root, and so
 * does every existing part of the path. */
static int resolve_missing(const struct al_roots *roots, const char *path, struct al_path *ret_path)
{
    al_auto(al_freep) char *abs = NULL;
    al_auto(al_freep) char *parent = NULL;
    const struct al_root *root;
    int fd;

    if (al_beneath_trace(path, &abs, NULL) < 0)
        return -EXDEV;
    root = al_roots_find(roots, abs);
    if (!root)
        return -EXDEV;
    fd = al_beneath_open(root->fd, below_root(root, abs), O_PATH, DIRECTLY);
    if (fd >= 0)
        return set_opened(roots, fd, ret_path); /* it was created meanwhile */
    parent = al_strdup(abs);
    while (is_absence(fd) && strlen(parent) > strlen(root->path)) {
        *strrchr(parent, '/') = '\0';
        fd = al_beneath_open(root->fd, below_root(root, parent), O_PATH, DIRECTLY);
    }
    if (fd < 0)
        return -EXDEV;
    al_close(fd);
    al_path_clear(ret_path);
    ret_path->root = root;
    ret_path->abs = al_take(&abs);
    return 0;
}

static int resolve(const struct al_roots *roots, const struct al_root *root, const char *path,
                   struct al_path *ret_path)
{
    al_auto(al_freep) char *abs = NULL;
    int r = root ? open_directly(root, path, ret_path) : -EXDEV, fd;

    if (r == -ELOOP || r == -EXDEV) {
        r = open_by_end(roots, path, O_PATH, &fd, &abs);
        r = r < 0 ? r : set_opened(roots, fd, ret_path);
    }
    return is_absence(r) ? resolve_missing(roots, path, ret_path) : r;
}

/* A root is the directory that was opened at the start, not another directory or link now at its
 * path. */
static int check_root(const struct al_root *root, const char *given, struct al_error *err)
{
    al_auto(al_freep) char *safe = NULL;
    struct stat st;
    bool there = stat(root->path, &st) == 0;

    if (there && st.st_dev == root->dev && st.st_ino == root->ino &&
        faccessat(root->fd, ".", R_OK | X_OK, AT_EACCESS) == 0)
        return 0;
    there = there && (st.st_dev != root->dev || st.st_ino != root->ino);
    safe = al_text_sanitize_line(strcmp(given, ".") != 0 ? given : root->path);
    (void)al_error_set(err, AL_ERR_EXECUTION, "No such directory: %s%s", safe,
                       there ? " (the root was replaced by another directory; start airlock again)"
                             : "");
    return al_error_about(AL_ERR_EXECUTION, err, AL_SUBJECT_DIRECTORY, NULL);
}

int al_path_resolve(const struct al_roots *roots, const char *base, const char *given,
                    struct al_path *ret_path, struct al_error *err)
{
    al_auto(al_freep) char *path = NULL;
    const struct al_root *root;
    int r;

    if (!*given)
        return al_error_set(err, AL_ERR_BAD_ARGS, "path is empty");
    if (strlen(given) >= PATH_MAX)
        return explain(-ENAMETOOLONG, given, err);
    if (al_path_goes_up(given))
        return refuse_form(given,
                           "A path must not contain '..', even one that stays inside: give it from "
                           "the working directory downwards, or in full.",
                           err);
    if (*given == '/' && !roots->allow_absolute)
        return refuse_form(given, "The configuration allows no absolute paths.", err);
    path = al_beneath_join(base, given);
    root = al_roots_find(roots, path);
    r = root ? check_root(root, given, err) : 0;
    if (r < 0)
        return r;
    if (strlen(path) >= PATH_MAX)
        return explain(root ? -ENAMETOOLONG : -EXDEV, given, err);
    r = resolve(roots, root, path, ret_path);
    if (r == -EXDEV && root)
        return refuse_form(
            given, "A link in it leads out of the allowed roots, or cannot be followed.", err);
    return r < 0 ? explain(r, given, err) : 0;
}

int al_roots_open(const struct al_roots *roots, const char *abs, int flags, int *ret_fd,
                  char **ret_abs, struct al_error *err)
{
    al_auto(al_path_clear) struct al_path path = AL_PATH_INIT;
    int r = -EXDEV;

    if (!(flags & O_PATH))
        flags |= O_NONBLOCK | O_NOCTTY; /* the file may be a fifo or a terminal */
    if (*abs == '/')
        r = open_by_end(roots, abs, flags, ret_fd, ret_abs);
    if (is_absence(r) && resolve_missing(roots, abs, &path) < 0)
        r = -EXDEV;
    if (r == -ENOENT) {
        al_auto(al_freep) char *safe = al_text_sanitize_line(abs);

        return al_error_set(err, AL_ERR_NOT_FOUND, "No such file or directory: %s", safe);
    }
    return r < 0 ? explain(r, abs, err) : 0;
}

/* Create and enter one directory after the other.  `rel` is canonical, so a link on the way is new
 * and refused.  IN_GIT_DIR for a directory in a git directory, or one that would become a part of a
 * git directory. */
static int make_below(int root_fd, char *rel, int *ret_fd)
{
    al_auto(al_closep) int at = al_beneath_open(root_fd, ".", O_PATH | O_DIRECTORY, DIRECTLY);
    bool made = false;
    char *save = NULL;

    if (at < 0)
        return at;
    for (char *name = strtok_r(rel, "/", &save); name; name = strtok_r(NULL, "/", &save)) {
        int next = al_beneath_open(at, name, O_PATH | O_DIRECTORY, DIRECTLY);

        if (next == -ENOENT && (made ? al_gitdir_is(at, name) : al_gitdir_contains(at, name)))
            return IN_GIT_DIR;
        if (next == -ENOENT) {
            if (mkdirat(at, name, 0750) < 0 && errno != EEXIST)
                return -errno;
            made = true;
            next = al_beneath_open(at, name, O_PATH | O_DIRECTORY, DIRECTLY);
        }
        if (next < 0)
            return next;
        al_close(at);
        at = next;
    }
    if (!made && al_gitdir_contains(at, NULL))
        return IN_GIT_DIR;
    *ret_fd = al_take_fd(&at);
    return 0;
}

int al_path_mkdirs(struct al_path *path, const char *given, struct al_error *err)
{
    al_auto(al_freep) char *rel = al_strdup(al_path_rel(path));
    struct stat st;
    int fd = -1, r;

    if (al_path_has_dot_git(rel) || al_path_has_dot_git(given))
        return al_path_refuse_dot_git(given, err);
    r = make_below(path->root->fd, rel, &fd);
    if (r == IN_GIT_DIR)
        return al_gitdir_refuse(given, err);
    if (r == 0 && fstat(fd, &st) < 0) {
        r = -errno;
        al_close(fd);
    }
    if (r < 0)
        return explain(r, given, err);
    al_close(path->fd);
    path->fd = fd;
    path->mode = st.st_mode;
    return 0;
}
