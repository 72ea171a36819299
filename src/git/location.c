// SPDX-License-Identifier: Apache-2.0
#include "git/location.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "git/layer.h"
#include "git/refs.h"
#include "guard/nofollow.h"
#include "guard/path.h"
#include "guard/root.h"
#include "guard/text.h"

void al_location_set_own(struct al_location *at, const char *dir)
{
    at->is_own = true;
    at->dir = al_strdup(dir);
    at->top = al_strdup(dir);
    at->git_dir = al_strdup(dir);
    at->common_dir = al_strdup(dir);
}

void al_location_clear(struct al_location *at)
{
    al_close(at->dir_fd);
    free(at->dir);
    free(at->top);
    free(at->git_dir);
    free(at->common_dir);
    *at = AL_LOCATION_INIT;
}

bool al_location_is_linked(const struct al_location *at)
{
    return strcmp(at->git_dir, at->common_dir) != 0;
}

bool al_location_is_same(const char *one, const char *other)
{
    struct stat a, b;

    return stat(one, &a) == 0 && stat(other, &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

bool al_location_is_bare(const struct al_location *at)
{
    return !strcmp(at->top, at->git_dir);
}

char *al_location_dir_name(const char *common_dir)
{
    struct stat st;

    return stat(common_dir, &st) < 0 ? NULL
                                     : al_asprintf("%llx-%llx", (unsigned long long)st.st_dev,
                                                   (unsigned long long)st.st_ino);
}

/* Open it relative to the descriptor of its root. */
static int open_part(const struct al_location *at, const char *path, int *ret_fd,
                     struct al_error *err)
{
    const struct al_root *root =
        at->is_own ? NULL : al_roots_find(al_roots_parts(at->git->roots), path);
    int fd = -ENOENT;

    if (at->is_own)
        fd = al_nofollow_open(at->dir_fd, "", O_PATH | O_DIRECTORY);
    else if (root)
        fd = al_nofollow_open(root->fd, path + strlen(root->path) + (strcmp(root->path, path) != 0),
                              O_PATH | O_DIRECTORY);
    if (fd < 0)
        return al_error_errno(err, -fd, "cannot open the repository");
    *ret_fd = fd;
    return 0;
}

int al_location_open_top(const struct al_location *at, int *ret_fd, struct al_error *err)
{
    return open_part(at, at->top, ret_fd, err);
}

int al_location_open_git_dir(const struct al_location *at, int *ret_fd, struct al_error *err)
{
    return open_part(at, at->git_dir, ret_fd, err);
}

int al_location_open_common_dir(const struct al_location *at, int *ret_fd, struct al_error *err)
{
    return open_part(at, at->common_dir, ret_fd, err);
}

int al_location_open_all(const struct al_location *at, int *ret_top_fd, int *ret_git_fd,
                         int *ret_common_fd, struct al_error *err)
{
    int r = al_location_open_top(at, ret_top_fd, err);

    if (r == 0)
        r = al_location_open_git_dir(at, ret_git_fd, err);
    return r < 0 ? r : al_location_open_common_dir(at, ret_common_fd, err);
}

int al_location_make_bare(struct al_location *at, struct al_error *err)
{
    int fd = -1;
    int r = al_location_open_git_dir(at, &fd, err);

    if (r < 0)
        return r;
    al_closep(&at->dir_fd);
    at->dir_fd = fd;
    free(at->dir);
    free(at->top);
    at->dir = al_strdup(at->git_dir);
    at->top = al_strdup(at->git_dir);
    at->is_said_bare = true;
    return 0;
}

/* Like git: under sudo, root may also use the files of the user who called sudo. */
bool al_location_is_own(const struct stat *st)
{
    const uid_t own = geteuid();
    const char *sudo;

    if (st->st_uid == own)
        return true;
    sudo = own == 0 ? secure_getenv("SUDO_UID") : NULL;
    return sudo && strtoul(sudo, NULL, 10) == st->st_uid;
}

static bool owned(const char *path)
{
    struct stat st;

    return lstat(path, &st) == 0 && al_location_is_own(&st);
}

bool al_location_is_owned(const struct al_location *at)
{
    al_auto(al_freep) char *dot_git = al_fs_join(at->top, ".git");

    return owned(at->top) && (al_location_is_bare(at) || owned(dot_git)) && owned(at->git_dir) &&
           owned(at->common_dir);
}

const char *al_location_worktree_name(const struct al_location *at, const char *file)
{
    if (al_fs_beneath(at->top, at->common_dir) && al_fs_beneath(at->common_dir, file))
        return NULL;
    return al_fs_beneath(at->top, file);
}

/* --- Finding a repository --- */

/* Whether the git directory of a location belongs to its working tree.  True for a `.git` that is a
 * directory and for a bare repository. */
static bool is_git_dir_of(const struct al_location *at);

/* --- Alternates --- */

/*
 * Object stores that a repository borrows objects from.
 *
 * Source: gitrepository-layout(5) "objects/info/alternates".
 */

#define ALTERNATES_MAX_BYTES (64u * 1024u)
#define STORES_MAX           64

/* The stores found so far; each is read once, so that they cannot fan out. */
struct stores {
    const struct al_roots *roots;
    struct al_strv dirs;
};

/* Remember the store that a line of info/alternates names. */
static bool add_store(struct stores *stores, const char *objects, const char *line)
{
    al_auto(al_freep) char *path = NULL;
    al_auto(al_freep) char *abs = NULL;
    al_auto(al_closep) int fd = -1;
    int r;

    if (!*line || *line == '#')
        return true;
    if (*line == '"') /* a quoted path: rare, and not worth an unquoting of our own */
        return false;
    path = al_fs_join(objects, line);
    r = al_roots_open(al_roots_parts(stores->roots), path, O_PATH | O_DIRECTORY, &fd, &abs, NULL);
    if (r == AL_ERR_SANDBOX)
        return false;
    if (r == 0 && !al_strv_contains(&stores->dirs, abs))
        al_strv_take(&stores->dirs, al_take(&abs));
    return stores->dirs.count <= STORES_MAX;
}

static bool read_alternates(struct stores *stores, const char *objects)
{
    al_auto(al_freep) char *path = al_fs_join(objects, "info/alternates");
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    char *save = NULL, *line;
    int r = al_fs_read(AT_FDCWD, path, ALTERNATES_MAX_BYTES, &text);

    if (r == -ENOENT || r == -ENOTDIR)
        return true;
    if (r < 0)
        return false;
    for (line = strtok_r(text.buf, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
        if (!add_store(stores, objects, line))
            return false;
    return true;
}

/*
 * Test whether every store that git would read objects from lies in the roots: the alternates of
 * `objects`, and theirs.  A store that does not exist is skipped, as git skips it.  False also for
 * an alternates file that cannot be read, a quoted path, and more than 64 stores.
 */
static bool alternates_are_inside(const struct al_roots *roots, const char *objects)
{
    struct stores stores = { .roots = roots };
    bool inside = true;

    al_strv_add(&stores.dirs, objects);
    for (size_t i = 0; i < stores.dirs.count && inside; i++) {
        al_auto(al_freep) char *store = al_strdup(stores.dirs.items[i]);

        inside = read_alternates(&stores, store);
    }
    al_strv_clear(&stores.dirs);
    return inside;
}

/* --- Locate --- */

#define POINTER_MAX_BYTES 4096u

/** The parts of a repository that may lie outside the roots, or in FORGED be somebody else's. */
enum part { TOP, GIT_DIR, FORGED, COMMON_DIR, OBJECTS, ALTERNATE };

/* An error may say which part lies outside, but neither where it is, nor what is in it, nor whether
 * another git directory exists. */
static const char *const outside_remedies[] = {
    [TOP] = "The top of the working tree lies above the allowed roots; the user can start airlock "
            "with --root <top of the working tree>.",
    [GIT_DIR] = "Its git directory, which .git names, lies outside the allowed roots. The user can "
                "start airlock with --root <top of this working tree>; after a move 'git worktree "
                "repair' is needed as well; a separate git directory has to be listed in "
                "tools.sandbox.git_dirs.",
    [FORGED] = "Its .git file names a git directory that does not name this working tree; after a "
               "move, 'git worktree repair' mends that.",
    [COMMON_DIR] = "It is a linked worktree, and the common directory of its repository lies "
                   "outside the allowed roots. The user can start airlock with --root <top of "
                   "this working tree>.",
    [OBJECTS] = "Its object store lies outside the allowed roots; the user can start airlock with "
                "one more --root that holds it.",
    [ALTERNATE] = "It borrows objects (objects/info/alternates) from a store outside the allowed "
                  "roots; the user can start airlock with one more --root that holds it, or make "
                  "the repository whole with 'git repack -a -d'.",
};

static const char dangling[] = "Its .git is a file that names no git directory; 'git worktree "
                               "repair', or a new clone, mends it.";

const char al_git_bare_remedy[] = "It is a bare repository, which has no working tree: tools that "
                                  "read its history work; for the others use a clone of it.";

static const char said_bare_remedy[] =
    "core.bare is set in its configuration, so there is no working tree here, for git either. Its "
    "history can be read; for the others use a linked worktree of it as working directory. If this "
    "is to be a working tree, the user can run 'git config core.bare false'.";

const char *al_git_bare_remedy_of(const struct al_location *at)
{
    return at && at->is_said_bare ? said_bare_remedy : al_git_bare_remedy;
}

static int outside(const char *given, enum part part, struct al_error *err)
{
    al_auto(al_freep) char *word = al_text_sanitize_line(given);
    return al_error_remedy(al_error_set(err, AL_ERR_SANDBOX, "Path outside sandbox: %s", word), err,
                           outside_remedies[part]);
}

static int not_a_repository(const char *given, struct al_error *err)
{
    al_auto(al_freep) char *word = al_text_sanitize_line(given);

    return al_error_set_code(err, AL_ERR_EXECUTION, AL_CODE_NOT_INITIALIZED,
                             "Not a git repository: %s", word);
}

/* `.git` is a file that names no git directory. */
static int dangling_gitfile(const char *given, struct al_error *err)
{
    return al_error_remedy(not_a_repository(given, err), err, dangling);
}

/* Whether git takes it for a git directory: it has HEAD, an object store and refs
 * (gitrepository-layout(5)). */
static bool is_git_dir(int fd)
{
    struct stat st;
    bool linked = fstatat(fd, "commondir", &st, 0) == 0;

    if (fstatat(fd, "HEAD", &st, AT_SYMLINK_NOFOLLOW) < 0)
        return false;
    return linked || (fstatat(fd, "objects", &st, 0) == 0 && fstatat(fd, "refs", &st, 0) == 0);
}

bool al_git_is_bare_dir(const char *dir)
{
    al_auto(al_closep) int fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);

    return fd >= 0 && is_git_dir(fd);
}

char *al_git_read_pointer(int dir_fd, const char *name, const char *prefix, const char *base)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    if (al_fs_read(dir_fd, name, POINTER_MAX_BYTES, &text) < 0 || !al_starts_with(text.buf, prefix))
        return NULL;
    al_str_trim_end(&text);
    if (strlen(text.buf) != text.len || text.len == strlen(prefix))
        return NULL;
    return al_fs_join(base, text.buf + strlen(prefix));
}

int al_git_each_linked(const struct al_location *at, al_linked_fn *take, void *payload,
                       struct al_error *err)
{
    static const char dot_git[] = "/.git";
    al_auto(al_closep) int common_fd = -1;
    al_auto(al_closedirp) DIR *dir = NULL;
    const struct dirent *entry;
    bool more = true;
    int r = al_location_open_common_dir(at, &common_fd, err);

    if (r < 0)
        return r;
    dir = al_fs_list(al_nofollow_open(common_fd, "worktrees", O_RDONLY | O_DIRECTORY));
    while (dir && more && (entry = readdir(dir))) {
        const char *name = entry->d_name;
        al_auto(al_freep) char *base = al_asprintf("%s/worktrees/%s", at->common_dir, name);
        al_auto(al_closep) int fd =
            name[0] == '.' ? -1 : al_nofollow_open(dirfd(dir), name, O_PATH | O_DIRECTORY);
        al_auto(al_freep) char *top = fd < 0 ? NULL : al_git_read_pointer(fd, "gitdir", "", base);
        const bool is_told = top && al_ends_with(top, dot_git);
        al_auto(al_freep) char *plain = NULL;

        if (is_told)
            top[strlen(top) - strlen(dot_git)] = '\0';
        /* since git 2.48 it may be relative to the administrative directory */
        if (is_told && !al_path_is_plain(top + 1) && al_beneath_trace(top, &plain, NULL) == 0) {
            free(top);
            top = al_take(&plain);
        }
        if (fd >= 0)
            more = take(payload, name, fd, is_told ? top : NULL);
    }
    return 0;
}

/* Open a directory that the repository names as one of its parts; it must lie inside the roots. */
static int open_named(const struct al_roots *roots, const char *path, const char *given,
                      enum part part, char **ret_abs, int *ret_fd, struct al_error *err)
{
    const struct al_roots *places = part == TOP ? roots : al_roots_parts(roots);
    int r = al_roots_open(places, path, O_PATH | O_DIRECTORY, ret_fd, ret_abs, NULL);

    if (r == AL_ERR_SANDBOX)
        return outside(given, part, err);
    return r < 0 ? not_a_repository(given, err) : 0;
}

/* Look for `<dir>/.git`, a directory or a file that names one, and set at->top, which says that it
 * was found, and at->git_dir. */
static int find_dot_git(struct al_location *at, const struct al_roots *roots, const char *dir,
                        int dir_fd, const char *given, struct al_error *err)
{
    al_auto(al_freep) char *path = NULL;
    al_auto(al_freep) char *abs = NULL;
    al_auto(al_closep) int fd = -1;
    struct stat st;
    int r;

    if (fstatat(dir_fd, ".git", &st, AT_SYMLINK_NOFOLLOW) < 0)
        return 0;
    if (S_ISREG(st.st_mode)) {
        path = al_git_read_pointer(dir_fd, ".git", "gitdir: ", dir);
        if (!path)
            return dangling_gitfile(given, err);
    } else if (S_ISDIR(st.st_mode) || S_ISLNK(st.st_mode)) {
        path = al_fs_join(dir, ".git");
    } else {
        return not_a_repository(given, err);
    }
    r = open_named(roots, path, given, GIT_DIR, &abs, &fd, err);
    if (r == AL_ERR_EXECUTION && S_ISREG(st.st_mode))
        return dangling_gitfile(given, err);
    if (r < 0)
        return r;
    if (!is_git_dir(fd))
        return S_ISREG(st.st_mode) ? dangling_gitfile(given, err) : 0;
    at->top = al_strdup(dir);
    at->git_dir = al_take(&abs);
    return 0;
}

/* A repository above the root is refused and not described. */
static bool is_repository_above(const char *root)
{
    al_auto(al_freep) char *dir = al_strdup(root);
    char *slash;

    while ((slash = strrchr(dir, '/'))) {
        struct stat st;
        al_auto(al_freep) char *dot_git = NULL;

        slash[slash == dir ? 1 : 0] = '\0';
        dot_git = al_fs_join(dir, ".git");
        if (lstat(dot_git, &st) == 0)
            return true;
        if (slash == dir)
            return false;
    }
    return false;
}

#define CONFIG_MAX_BYTES 65536u

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

/* Whether a directory is a bare repository as git makes one: it says so itself. */
static bool is_bare(int fd)
{
    al_auto(al_str_clear) struct al_str config = AL_STR_INIT;
    al_auto(al_freep) char *value = NULL;
    struct stat st;

    if (fstatat(fd, ".git", &st, AT_SYMLINK_NOFOLLOW) == 0 ||
        fstatat(fd, "commondir", &st, AT_SYMLINK_NOFOLLOW) == 0 || !is_git_dir(fd) ||
        fstat(fd, &st) < 0 || !al_location_is_own(&st) ||
        al_fs_read(fd, "config", CONFIG_MAX_BYTES, &config) < 0)
        return false;
    value = core_value(config.buf, "bare");
    return value && !strcmp(value, "true");
}

/* A root does not become one while airlock runs. */
static bool may_be_bare(const struct al_location *at)
{
    return at->root->is_bare || strcmp(at->dir, at->root->path) != 0;
}

void al_git_list_below(int dir_fd, struct al_strv *out)
{
    al_auto(al_closedirp) DIR *dir = al_fs_list_at(dir_fd);
    const struct dirent *entry;
    struct stat st;

    while (dir && (entry = readdir(dir))) {
        al_auto(al_closep) int fd =
            openat(dir_fd, entry->d_name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

        if (fd >= 0 && entry->d_name[0] != '.' &&
            (fstatat(fd, ".git", &st, AT_SYMLINK_NOFOLLOW) == 0 || is_bare(fd)))
            al_strv_add(out, entry->d_name);
    }
    al_strv_sort(out);
}

static int find_git_dir(struct al_location *at, const struct al_roots *roots, const char *given,
                        struct al_error *err)
{
    al_auto(al_freep) char *dir = al_strdup(at->dir);
    bool bare = false;
    int r;

    for (;;) {
        al_auto(al_freep) char *abs = NULL;
        al_auto(al_closep) int fd = -1;
        char *slash;

        r = open_named(roots, dir, given, TOP, &abs, &fd, err);
        if (r == 0)
            r = find_dot_git(at, roots, dir, fd, given, err);
        if (r < 0 || at->top)
            return r;
        bare |= is_git_dir(fd);
        slash = strrchr(dir, '/');
        if (!strcmp(dir, at->root->path) || !slash || slash == dir)
            break;
        *slash = '\0';
    }
    if (is_repository_above(at->root->path))
        return outside(given, TOP, err);
    if (bare && may_be_bare(at) && is_bare(at->dir_fd)) {
        at->top = al_strdup(at->dir);
        at->git_dir = al_strdup(at->dir);
        return 0;
    }
    r = not_a_repository(strcmp(given, ".") != 0 ? given : at->dir, err);
    if (bare && err)
        err->remedy = al_git_bare_remedy;
    return r;
}

static int find_common_dir(struct al_location *at, const struct al_roots *roots, const char *given,
                           struct al_error *err)
{
    al_auto(al_freep) char *path = NULL;
    al_auto(al_freep) char *abs = NULL;
    al_auto(al_closep) int git_fd = -1, fd = -1;
    struct stat st;
    int r;

    r = open_named(roots, at->git_dir, given, GIT_DIR, &abs, &git_fd, err);
    if (r < 0)
        return r;
    if (fstatat(git_fd, "commondir", &st, AT_SYMLINK_NOFOLLOW) < 0) {
        at->common_dir = al_strdup(at->git_dir);
        return 0;
    }
    path = al_git_read_pointer(git_fd, "commondir", "", at->git_dir);
    if (!path)
        return not_a_repository(given, err);
    free(al_take(&abs));
    r = open_named(roots, path, given, COMMON_DIR, &abs, &fd, err);
    if (r == 0)
        at->common_dir = al_take(&abs);
    return r;
}

/* HEAD may be a symbolic link to a ref, an old form, but not one that leads outside. */
static int check_head(const struct al_location *at, const struct al_roots *roots, const char *given,
                      struct al_error *err)
{
    al_auto(al_freep) char *path = al_fs_join(at->git_dir, "HEAD");
    al_auto(al_freep) char *abs = NULL;
    al_auto(al_closep) int fd = -1;
    int r = al_roots_open(al_roots_parts(roots), path, O_PATH, &fd, &abs, NULL);

    return r == AL_ERR_SANDBOX ? outside(given, GIT_DIR, err) : 0;
}

/* Find the common directory and check every part, given the git directory. */
static int find_parts(struct al_location *at, const struct al_roots *roots, const char *given,
                      struct al_error *err)
{
    al_auto(al_freep) char *path = NULL;
    al_auto(al_freep) char *objects = NULL;
    al_auto(al_closep) int fd = -1;
    int r;

    r = find_common_dir(at, roots, given, err);
    if (r == 0 && !is_git_dir_of(at))
        r = outside(given, FORGED, err);
    if (r == 0)
        r = check_head(at, roots, given, err);
    if (r < 0)
        return r;
    path = al_fs_join(at->common_dir, "objects");
    r = open_named(roots, path, given, OBJECTS, &objects, &fd, err);
    if (r < 0)
        return r;
    return alternates_are_inside(roots, objects) ? 0 : outside(given, ALTERNATE, err);
}

int al_location_find(struct al_location *at, const struct al_roots *roots, const char *given,
                     struct al_error *err)
{
    int r = find_git_dir(at, roots, given, err);
    return r < 0 ? r : find_parts(at, roots, given, err);
}

int al_location_find_at(struct al_location *at, const struct al_roots *roots, const char *given,
                        struct al_error *err)
{
    al_auto(al_freep) char *inner = NULL;
    struct stat st;
    int r = find_dot_git(at, roots, at->dir, at->dir_fd, given, err);

    if (r < 0)
        return r;
    if (!at->top) {
        if (!is_git_dir(at->dir_fd))
            return not_a_repository(given, err);
        at->top = al_strdup(at->dir);
        at->git_dir = al_strdup(at->dir);
    }
    /* git's servers look for `.git` in the directory they are given before they take it for a bare
     * repository.  So a git directory that contains a `.git` would mean another one to them. */
    inner = al_fs_join(at->git_dir, ".git");
    return lstat(inner, &st) == 0 ? not_a_repository(given, err)
                                  : find_parts(at, roots, given, err);
}

/* --- Git directories --- */

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

/* The directory that a `.git` file names; NULL when it cannot be opened. */
static char *named_by_dot_git(int dir_fd, const char *dir)
{
    al_auto(al_freep) char *named = al_git_read_pointer(dir_fd, ".git", "gitdir: ", dir);

    return named ? canonical(named) : NULL;
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
    for (size_t i = 0; listed && i < listed->count; i++)
        if (al_location_is_same(listed->items[i], git_dir))
            return true;
    return false;
}

/* Read what the `.git` file of a root names; false when there is no such file, or it names nothing.
 */
static bool read_pointers(const struct al_root *root, struct pointed *ret_pointed)
{
    al_auto(al_freep) char *common = NULL;
    al_auto(al_closep) int fd = -1;

    if (fstatat(root->fd, ".git", &ret_pointed->file, AT_SYMLINK_NOFOLLOW) < 0 ||
        !is_own_file(&ret_pointed->file))
        return false;
    ret_pointed->git_dir = named_by_dot_git(root->fd, root->path);
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

int al_git_dirs_settle(struct al_roots *roots, const struct al_git_dirs_options *options,
                       struct al_error *err)
{
    int r = 0;

    for (size_t i = 0; i < roots->count && r == 0; i++) {
        roots->items[i].is_bare = is_bare(roots->items[i].fd);
        r = settle_root(roots, i, options, err);
    }
    return r;
}

char *al_git_dir_of_worktree(const char *top, const char *common_dir)
{
    al_auto(al_closep) int fd = open(top, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    al_auto(al_freep) char *git_dir = NULL;
    struct stat file;

    if (fd < 0 || fstatat(fd, ".git", &file, AT_SYMLINK_NOFOLLOW) < 0)
        return NULL;
    if (S_ISDIR(file.st_mode)) {
        git_dir = al_fs_join(top, ".git");
        return is_at(&file, common_dir) && !strcmp(git_dir, common_dir) ? al_take(&git_dir) : NULL;
    }
    git_dir = is_own_file(&file) ? named_by_dot_git(fd, top) : NULL;
    return git_dir && (!strcmp(git_dir, common_dir) || names_back(git_dir, common_dir, &file))
               ? al_take(&git_dir)
               : NULL;
}

static bool is_git_dir_of(const struct al_location *at)
{
    const struct al_root *part = al_roots_find(al_roots_parts(at->git->roots), at->common_dir);
    al_auto(al_freep) char *dot_git = al_fs_join(at->top, ".git");
    struct stat file, top;

    if (lstat(dot_git, &file) < 0 || !S_ISREG(file.st_mode)) /* `.git` is a directory, or bare */
        return !part || !part->is_git_dir;
    if (al_location_is_linked(at))
        return is_own_file(&file) && is_own_dir(at->common_dir) &&
               names_back(at->git_dir, at->common_dir, &file);
    if (!part || !part->is_git_dir)
        return true;
    return is_own_file(&file) && !strcmp(part->path, at->git_dir) && lstat(at->top, &top) == 0 &&
           top.st_dev == part->top.dev && top.st_ino == part->top.ino;
}

/* --- Repositories inside the working tree of another one --- */

/* Find it as another one is found; AL_ERR_NOT_FOUND when `top` has no `.git`. */
static int find_nested(const struct al_location *at, const char *top,
                       struct al_location *ret_nested)
{
    const struct al_roots *roots = at->git->roots;
    struct stat st;
    int r;

    *ret_nested = AL_LOCATION_INIT;
    ret_nested->git = at->git;
    r = al_roots_open(roots, top, O_PATH | O_DIRECTORY, &ret_nested->dir_fd, &ret_nested->dir,
                      NULL);
    if (r == 0)
        r = find_dot_git(ret_nested, roots, top, ret_nested->dir_fd, "", NULL);
    if (r < 0 || ret_nested->top)
        return r;
    return fstatat(ret_nested->dir_fd, ".git", &st, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT
               ? AL_ERR_NOT_FOUND
               : AL_ERR_EXECUTION;
}

int al_git_nested_dir(const struct al_location *at, const char *top, char **ret_git_dir)
{
    al_auto(al_location_clear) struct al_location nested;
    int r = find_nested(at, top, &nested);

    if (r == 0)
        r = find_common_dir(&nested, at->git->roots, "", NULL);
    if (r == 0)
        *ret_git_dir = al_take(&nested.git_dir);
    return r;
}

char *al_git_nested_head(const struct al_location *at, const char *path)
{
    al_auto(al_location_clear) struct al_location nested;
    al_auto(al_freep) char *top = al_fs_join(at->dir, path);

    if (find_nested(at, top, &nested) < 0)
        return NULL;
    /* References outside the roots are not read; HEAD itself may still hold the commit. */
    if (find_common_dir(&nested, at->git->roots, "", NULL) < 0)
        nested.common_dir = al_strdup(nested.git_dir);
    return al_ref_head(&nested);
}
