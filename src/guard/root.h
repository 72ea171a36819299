// SPDX-License-Identifier: Apache-2.0
/*
 * The allowed roots.  Each root is opened once; guard/path.h resolves paths below its descriptor.
 *
 * A root may be a linked worktree, or another working tree whose git directory lies elsewhere. That
 * git directory then belongs to the root as a git directory only: git's children use it, and no
 * path of an agent leads into it.  The choice was made when airlock started.
 */
#ifndef AL_GUARD_ROOT_H
#define AL_GUARD_ROOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/str.h"

/** Identifies a file that is there. */
struct al_file_key {
    dev_t dev;
    ino_t ino;
};

struct al_root {
    char *path; /**< canonical and absolute, without a trailing '/' */
    int fd;     /**< O_PATH | O_DIRECTORY */
    dev_t dev;
    ino_t ino;
    bool is_git_dir;           /**< a git directory outside the roots */
    bool is_bare;              /**< it was a bare repository itself when airlock started */
    bool is_admitted;          /**< by al_roots_admit(); private */
    _Atomic uint64_t released; /**< in which epoch; 0: it is a root.  Private */
    struct al_file_key top; /**< of a git directory: the only working tree that may use it directly;
                               zeros for the common directory of linked worktrees */
};

struct al_root_use;

struct al_roots {
    struct al_root *items;       /**< those that al_root_is_released() names are none any more */
    _Atomic size_t count;        /**< grows while others read; see al_roots_admit() */
    size_t room;                 /**< items that there is memory for; private */
    bool allow_absolute;         /**< absolute paths are accepted; they still have to be inside */
    const struct al_roots *also; /**< another list, which belongs to this one; NULL: none */
    struct al_roots *parts;      /**< see al_roots_parts(); private */
    struct al_root_use *use;     /**< NULL unless it grows; private */
};

#define AL_ROOTS_INIT ((struct al_roots){ .allow_absolute = true })

void al_roots_clear(struct al_roots *roots);

/** Move a list with what belongs to it. */
void al_roots_move(struct al_roots *to, struct al_roots *from);

/**
 * Add a root.  A directory that is a root already is not added again; a root
 * inside another root is fine.
 *
 * @param path       From the user: relative to the current directory, links followed.
 * @param forbidden  Paths that a root may not contain: airlock's configuration, journal and state.
 *                   A path that does not exist is compared by its nearest existing parent.
 * @param home       The home directory, which may not itself be a root.  NULL skips the check.
 * @return 0; AL_ERR_BAD_ARGS with one line that says what to do instead (also for "/");
 *         AL_ERR_EXECUTION if openat2(2) is missing (Linux before 5.6).
 */
int al_roots_add(struct al_roots *roots, const char *path, const struct al_strv *forbidden,
                 const char *home, struct al_error *err);

/**
 * Check that no root contains a file of the user's, or a link on the way to it: an agent could
 * change either.
 *
 * @param what  What the file is, for the message: "worker file".
 * @return 0, or AL_ERR_BAD_ARGS with one line that says what to do instead.
 */
int al_roots_exclude(const struct al_roots *roots, const char *path, const char *what,
                     struct al_error *err);

/**
 * Add the git directory of a root that lies outside all roots: the common directory of a linked
 * worktree, else the git directory itself.  A root may not be named this way.
 *
 * @param path  As al_roots_add(); `forbidden` and `home` too.
 * @param top   The root that has this git directory; NULL for the common directory of a linked
 *              worktree, which is no git directory of its own.
 * @return as al_roots_add().
 */
int al_roots_add_git_dir(struct al_roots *roots, const char *path, const struct al_root *top,
                         const struct al_strv *forbidden, const char *home, struct al_error *err);

/**
 * Make room for roots that are added later by al_roots_admit(): `items` does not move any more.
 * Call it once all other roots are there, before a second thread uses them.
 */
void al_roots_reserve(struct al_roots *roots, size_t more);

/**
 * Add a root while other threads use the roots: a linked worktree that airlock has made.  Its
 * common directory belongs to the roots already.  A root that was removed, and made again under its
 * old path, takes the old one's place.  So does a new one the place of one that was released, once
 * everybody has left who may still hold that.
 *
 * @param path  Canonical.
 * @param fd    The directory that the caller has checked.  It has to be the one at `path`, so that
 *              nothing that is put into its place becomes a root.
 * @return as al_roots_add(); AL_ERR_EXECUTION when there is no room left.
 * Threads: safe.
 */
int al_roots_admit(struct al_roots *roots, const char *path, int fd,
                   const struct al_strv *forbidden, const char *home, struct al_error *err);

/** Append "The roots: /a, /b." as safe text; without git directories outside of them. */
void al_roots_add_names(const struct al_roots *roots, struct al_str *out);

/**
 * Release the admitted roots whose directories are gone: nobody finds them any more.  A directory
 * that comes back has to be admitted again.  NULL: there are none.
 *
 * Threads: safe.
 */
void al_roots_release_gone(struct al_roots *roots);

/**
 * A holder of a root of a list that grows enters before it looks for one and leaves when it holds
 * none any more: no root that was found in between becomes another one.
 *
 * @return what al_roots_leave() takes.
 * Threads: safe.
 */
uint64_t al_roots_enter(const struct al_roots *roots);
void al_roots_leave(const struct al_roots *roots, uint64_t entered);

/** Whether an item of a list is no root any more: it is passed over. */
static inline bool al_root_is_released(const struct al_root *root)
{
    return root->released != 0;
}

/** The git directories that belong to the roots, and `also` these: where the parts of a repository
 * may lie.  Never for a path of an agent.  Borrowed. */
const struct al_roots *al_roots_parts(const struct al_roots *roots);

/** The root that contains an absolute canonical path, the innermost one; NULL when none does. */
const struct al_root *al_roots_find(const struct al_roots *roots, const char *abs);

#endif
