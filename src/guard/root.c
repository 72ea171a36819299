// SPDX-License-Identifier: Apache-2.0
#include "guard/root.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/lock.h"
#include "base/mem.h"
#include "guard/nofollow.h"
#include "guard/text.h"

/* The threads of the epoch in which a root was released may still hold it. */
struct al_root_use {
    uint64_t epoch;
    size_t inside[2]; /* of the present epoch and of the last one, by the lowest bit */
};

/* Admissions, releases, and who is inside. */
static pthread_mutex_t changing = PTHREAD_MUTEX_INITIALIZER;

/* Two epochs are enough for whatever was released.  Caller holds the lock. */
static void advance(struct al_root_use *use)
{
    for (int i = 0; i < 2 && !use->inside[(use->epoch + 1) & 1]; i++)
        use->epoch++;
}

uint64_t al_roots_enter(const struct al_roots *roots)
{
    struct al_root_use *use = roots->use;

    if (!use)
        return 0;
    al_hold(&changing);
    advance(use);
    use->inside[use->epoch & 1]++;
    return use->epoch;
}

void al_roots_leave(const struct al_roots *roots, uint64_t entered)
{
    if (!roots->use)
        return;
    al_hold(&changing);
    roots->use->inside[entered & 1]--;
}

/* Whether everybody has left who was there when it was released.  Caller holds the lock. */
static bool is_free(const struct al_roots *roots, const struct al_root *root)
{
    advance(roots->use);
    return al_root_is_released(root) && roots->use->epoch >= root->released + 2;
}

static void root_clear(struct al_root *root)
{
    free(root->path);
    al_close(root->fd);
    *root = (struct al_root){ .fd = -1 };
}

void al_roots_clear(struct al_roots *roots)
{
    if (roots->parts)
        al_roots_clear(roots->parts);
    free(roots->parts);
    for (size_t i = 0; i < roots->count; i++)
        root_clear(&roots->items[i]);
    free(roots->items);
    free(roots->use);
    *roots = AL_ROOTS_INIT;
}

void al_roots_move(struct al_roots *to, struct al_roots *from)
{
    *to = *from;
    if (to->parts)
        to->parts->also = to;
    *from = AL_ROOTS_INIT;
}

const struct al_root *al_roots_find(const struct al_roots *roots, const char *abs)
{
    const struct al_root *found = roots->also ? al_roots_find(roots->also, abs) : NULL;

    for (size_t i = 0; i < roots->count; i++) {
        const struct al_root *root = &roots->items[i];

        if (!al_root_is_released(root) && al_fs_beneath(root->path, abs) &&
            (!found || strlen(root->path) > strlen(found->path)))
            found = root;
    }
    return found;
}

static int refuse(struct al_error *err, const char *given, const char *why)
{
    al_auto(al_freep) char *safe = al_text_sanitize_line(given);

    return al_error_set(err, AL_ERR_BAD_ARGS, "root '%s' %s", safe, why);
}

static int open_root(const char *given, struct al_root *ret_root, struct al_error *err)
{
    struct stat st;

    ret_root->fd = al_beneath_open(AT_FDCWD, given, O_PATH | O_DIRECTORY, 0);
    if (ret_root->fd == -ENOSYS)
        return al_beneath_missing(err);
    if (ret_root->fd < 0) {
        al_auto(al_freep) char *why = al_asprintf("cannot be used: %s; name an existing directory",
                                                  strerrordesc_np(-ret_root->fd));

        return refuse(err, given, why);
    }
    ret_root->path = al_fs_fd_path(ret_root->fd);
    if (fstat(ret_root->fd, &st) < 0 || !ret_root->path)
        return refuse(err, given, "cannot be used: it has no path; name an existing directory");
    ret_root->dev = st.st_dev;
    ret_root->ino = st.st_ino;
    if (stat(ret_root->path, &st) < 0 || st.st_dev != ret_root->dev || st.st_ino != ret_root->ino)
        return refuse(err, given, "was removed or moved; name an existing directory");
    return 0;
}

static bool is_same_directory(const struct al_root *root, const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && st.st_dev == root->dev && st.st_ino == root->ino;
}

/* Compare device and inode, not names: a bind mount gives a directory a second name. */
static bool contains(const struct al_root *root, const char *path)
{
    al_auto(al_freep) char *at = al_strdup(path);
    char *slash;

    for (;;) {
        if (is_same_directory(root, *at ? at : "/"))
            return true;
        slash = strrchr(at, '/');
        if (!slash)
            return false;
        *slash = '\0';
    }
}

/* The place that a path leads to, and every link on the way: changing a link would change which
 * file is used.  0 or -errno. */
static int list_places(const char *given, struct al_strv *ret_places)
{
    al_auto(al_freep) char *cwd = getcwd(NULL, 0);
    al_auto(al_freep) char *path = NULL;
    char *end;
    int r;

    if (given[0] != '/' && !cwd)
        return -ENOENT;
    path = al_fs_join(cwd ? cwd : "/", given);
    r = al_beneath_trace(path, &end, ret_places);
    if (r == 0)
        al_strv_take(ret_places, end);
    return r;
}

static bool contains_any(const struct al_root *root, const struct al_strv *places)
{
    for (size_t i = 0; i < places->count; i++)
        if (contains(root, places->items[i]))
            return true;
    return false;
}

static int check_forbidden(const struct al_root *root, const char *given, const char *forbidden,
                           struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv places = AL_STRV_INIT;
    al_auto(al_freep) char *safe = al_text_sanitize_line(forbidden);
    al_auto(al_freep) char *why = NULL;
    int r = list_places(forbidden, &places);

    if (r < 0) {
        why = al_asprintf("cannot be judged: '%s': %s", safe, strerrordesc_np(-r));
        return refuse(err, given, why);
    }
    if (!contains_any(root, &places))
        return 0;
    why = al_asprintf("contains airlock's own '%s'; name a directory that does not", safe);
    return refuse(err, given, why);
}

int al_roots_exclude(const struct al_roots *roots, const char *path, const char *what,
                     struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv places = AL_STRV_INIT;
    al_auto(al_freep) char *safe = al_text_sanitize_line(path);
    int r = list_places(path, &places);

    if (r < 0)
        return al_error_set(err, AL_ERR_BAD_ARGS, "%s: cannot judge where the %s lies: %s", safe,
                            what, strerrordesc_np(-r));
    for (size_t i = 0; i < roots->count; i++)
        if (contains_any(&roots->items[i], &places))
            return al_error_set(err, AL_ERR_BAD_ARGS,
                                "%s: the %s lies in the root '%s', where an agent could change "
                                "it; move it out of every root",
                                safe, what, roots->items[i].path);
    return roots->also ? al_roots_exclude(roots->also, path, what, err) : 0;
}

static int check_root(const struct al_root *root, const char *given,
                      const struct al_strv *forbidden, const char *home, struct al_error *err)
{
    if (is_same_directory(root, "/"))
        return refuse(err, given, "is the whole machine; name a project's directory");
    if (home && is_same_directory(root, home))
        return refuse(err, given, "is the home directory; name a project's directory in it");
    for (size_t i = 0; forbidden && i < forbidden->count; i++) {
        int r = check_forbidden(root, given, forbidden->items[i], err);

        if (r < 0)
            return r;
    }
    return 0;
}

static bool has_root(const struct al_roots *roots, const char *path)
{
    for (size_t i = 0; i < roots->count; i++)
        if (!strcmp(roots->items[i].path, path))
            return true;
    return false;
}

/* `root` is moved.  The count is changed last: others may be reading. */
static void append(struct al_roots *roots, struct al_root *root)
{
    if (roots->count == roots->room) {
        roots->room = roots->count + 1;
        roots->items = al_reallocarray(roots->items, roots->room, sizeof(*roots->items));
    }
    roots->items[roots->count] = *root;
    roots->count++;
    *root = (struct al_root){ .fd = -1 };
}

/* Open a directory that may become a root.  `ret_root` is cleared by the caller, also on failure.
 */
static int open_checked(const char *path, const struct al_strv *forbidden, const char *home,
                        struct al_root *ret_root, struct al_error *err)
{
    int r = open_root(path, ret_root, err);

    return r < 0 ? r : check_root(ret_root, path, forbidden, home, err);
}

int al_roots_add(struct al_roots *roots, const char *path, const struct al_strv *forbidden,
                 const char *home, struct al_error *err)
{
    al_auto(root_clear) struct al_root root = { .fd = -1 };
    int r = open_checked(path, forbidden, home, &root, err);

    if (r < 0)
        return r;
    if (has_root(roots, root.path))
        return 0;
    append(roots, &root);
    return 0;
}

int al_roots_add_git_dir(struct al_roots *roots, const char *path, const struct al_root *top,
                         const struct al_strv *forbidden, const char *home, struct al_error *err)
{
    al_auto(root_clear) struct al_root root = { .fd = -1 };
    int r = open_checked(path, forbidden, home, &root, err);

    if (r < 0)
        return r;
    root.is_git_dir = true;
    if (top)
        root.top = (struct al_file_key){ .dev = top->dev, .ino = top->ino };
    if (!roots->parts) {
        roots->parts = al_calloc(1, sizeof(*roots->parts));
        roots->parts->allow_absolute = true;
        roots->parts->also = roots;
    }
    append(roots->parts, &root);
    return 0;
}

void al_roots_reserve(struct al_roots *roots, size_t more)
{
    roots->use = al_calloc(1, sizeof(*roots->use));
    roots->use->epoch = 1;
    roots->room = roots->count + more;
    roots->items = al_reallocarray(roots->items, roots->room, sizeof(*roots->items));
}

/* An item of the roots becomes another directory.  The number of the descriptor stays, since others
 * may be about to use it. */
static bool become(struct al_root *old, struct al_root *root)
{
    if ((old->dev != root->dev || old->ino != root->ino) && dup3(root->fd, old->fd, O_CLOEXEC) < 0)
        return false;
    if (strcmp(old->path, root->path) != 0) {
        free(old->path);
        old->path = al_take(&root->path);
    }
    old->dev = root->dev;
    old->ino = root->ino;
    old->released = 0;
    return true;
}

/* Whether a root is the directory that was checked, by its own path.  Another one may have come
 * into its place meanwhile, or a link. */
static bool is_still(const struct al_root *root, const char *path, int fd)
{
    struct stat st;

    return !strcmp(root->path, path) && fstat(fd, &st) == 0 && st.st_dev == root->dev &&
           st.st_ino == root->ino;
}

/* One root of a path is enough: a worktree that is made again is another directory.  Else one that
 * was released and that nobody holds.  NULL: there is none. */
static struct al_root *find_place(const struct al_roots *roots, const char *path)
{
    struct al_root *free_one = NULL;

    for (size_t i = 0; i < roots->count; i++) {
        struct al_root *root = &roots->items[i];

        if (!strcmp(root->path, path))
            return root;
        if (!free_one && is_free(roots, root))
            free_one = root;
    }
    return free_one;
}

/* Caller holds the lock. */
static bool take_in(struct al_roots *roots, struct al_root *root)
{
    struct al_root *place = find_place(roots, root->path);

    if (place)
        return become(place, root);
    if (roots->count == roots->room)
        return false;
    root->is_admitted = true;
    append(roots, root);
    return true;
}

void al_roots_add_names(const struct al_roots *roots, struct al_str *out)
{
    const char *before = "The roots: ";

    for (size_t i = 0; i < roots->count; i++) {
        al_auto(al_freep) char *path = al_text_sanitize_line(roots->items[i].path);

        if (roots->items[i].is_git_dir || al_root_is_released(&roots->items[i]))
            continue;
        al_str_addf(out, "%s%s", before, path);
        before = ", ";
    }
    al_str_addc(out, '.');
}

void al_roots_release_gone(struct al_roots *roots)
{
    struct stat st;

    al_hold(&changing);
    for (size_t i = 0; roots && i < roots->count; i++) {
        struct al_root *root = &roots->items[i];

        if (root->is_admitted && !al_root_is_released(root) && lstat(root->path, &st) < 0 &&
            (errno == ENOENT || errno == ENOTDIR))
            root->released = roots->use->epoch;
    }
}

int al_roots_admit(struct al_roots *roots, const char *path, int fd,
                   const struct al_strv *forbidden, const char *home, struct al_error *err)
{
    al_auto(root_clear) struct al_root root = { .fd = -1 };
    int r = open_checked(path, forbidden, home, &root, err);

    if (r == 0 && !is_still(&root, path, fd))
        r = refuse(err, path, "was replaced by another directory or a link");
    if (r < 0)
        return r;
    al_roots_release_gone(roots);
    al_hold(&changing);
    return roots->use && take_in(roots, &root)
               ? 0
               : al_error_set(err, AL_ERR_EXECUTION,
                              "this session has no room for one more root; remove a worktree, or "
                              "start a new session");
}

const struct al_roots *al_roots_parts(const struct al_roots *roots)
{
    return roots->parts ? roots->parts : roots;
}
