// SPDX-License-Identifier: Apache-2.0
#include "gitops/worktree/submodules.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gitops/locate.h"
#include "gitops/nul_records.h"
#include "gitops/plumbing/revision.h"
#include "gitops/plumbing/rollback_plumbing.h"
#include "gitops/refs.h"
#include "gitops/run.h"
#include "gitops/worktree/beside.h"
#include "guard/nofollow.h"
#include "guard/text.h"
#include "util/fs.h"

#define DEPTH_MAX 16

static char *child(const struct al_worktree_submodule *submodule, bool of_dir)
{
    return al_asprintf("%s/", of_dir ? submodule->dir : submodule->path);
}

/* --- Making them --- */

static bool is_same_dir(const char *a, const char *b)
{
    struct stat one, other;

    return stat(a, &one) == 0 && stat(b, &other) == 0 && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino;
}

/* Whether it is initialised in the working tree that is there: its `.git` file names the repository
 * that it has to have.  A reason: it is, but not so; NULL with *ret_is false: it is not. */
static const char *find_initialised(const struct al_repo *from,
                                    const struct al_worktree_submodule *submodule, bool *ret_is)
{
    al_auto(al_closep) int top_fd = -1;
    al_auto(al_closep) int fd = -1;
    al_auto(al_freep) char *source = al_worktree_submodule_source(from, submodule->dir);
    al_auto(al_freep) char *top = al_fs_join(from->at.top, submodule->path);
    al_auto(al_freep) char *named = NULL;
    struct stat st;

    *ret_is = false;
    if (al_location_open_top(&from->at, &top_fd, NULL) < 0)
        return NULL;
    fd = al_nofollow_open(top_fd, submodule->path, O_PATH | O_DIRECTORY);
    if (fd < 0 || fstatat(fd, ".git", &st, AT_SYMLINK_NOFOLLOW) < 0)
        return NULL;
    if (!S_ISREG(st.st_mode))
        return "its git directory is in its working tree; 'git submodule absorbgitdirs' moves it";
    named = al_git_read_pointer(fd, ".git", "gitdir: ", top);
    if (!named || !source || !is_same_dir(named, source))
        return "its .git file does not name the repository below modules/ that its name means";
    *ret_is = true;
    return NULL;
}

static void add_missing(struct al_worktree_submodules_made *made,
                        const struct al_worktree_submodule *submodule, const char *reason)
{
    al_auto(al_freep) char *path = al_text_sanitize_line(submodule->path);

    al_strv_addf(&made->missing, "'%s': %s", path, reason);
}

/* Only the end of the call's time ends the making. */
static bool is_over(int r)
{
    return r == AL_ERR_TIMEOUT || r == AL_ERR_CANCELLED;
}

/* Make one, and list the submodules that it has. */
static int make_next(const struct al_worktree_half *half, size_t at, size_t *files_left,
                     struct al_run_limits *budget, struct al_worktree_submodules *list,
                     struct al_worktree_submodules_made *made, struct al_error *err)
{
    const struct al_worktree_submodule *submodule = &list->items[at];
    al_auto(al_worktree_beside_clear) struct al_worktree_beside beside = AL_WORKTREE_BESIDE_INIT;
    al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;
    al_auto(al_freep) char *path = child(submodule, false);
    al_auto(al_freep) char *dir = child(submodule, true);
    bool is_initialised;
    const char *reason = find_initialised(half->repo, submodule, &is_initialised);
    int r;

    if (!is_initialised) {
        if (reason)
            add_missing(made, submodule, reason);
        return 0;
    }
    r = al_worktree_make_submodule(half, submodule, files_left, budget, &why);
    if (is_over(r))
        return al_error_set(err, r, "%s", why.message);
    if (r < 0) {
        add_missing(made, submodule, why.message);
        return 0;
    }
    made->count++;
    r = al_worktree_open_made(half, submodule, budget, &beside, err);
    return r < 0 ? r
                 : al_worktree_list_submodules(beside.repo, path, dir, budget, list, &made->missing,
                                               err);
}

int al_worktree_make_submodules(const struct al_worktree_half *half, struct al_run_limits *budget,
                                struct al_worktree_submodules_made *made, struct al_error *err)
{
    al_auto(al_worktree_beside_clear) struct al_worktree_beside beside = AL_WORKTREE_BESIDE_INIT;
    al_auto(al_worktree_submodules_clear) struct al_worktree_submodules list =
        AL_WORKTREE_SUBMODULES_INIT;
    size_t files_left = AL_WORKTREE_SUBMODULE_FILES_MAX;
    int r = al_worktree_open_beside(half->repo, half->top, NULL, budget, &beside, err);

    if (r == 0)
        r = al_worktree_list_submodules(beside.repo, "", "", budget, &list, &made->missing, err);
    for (size_t i = 0; i < list.count && r == 0; i++)
        r = make_next(half, i, &files_left, budget, &list, made, err);
    return r;
}

/* --- Reading them --- */

/* The number of repositories in a directory, and in theirs. */
static size_t count_repositories(int dir_fd, const char *path, int depth)
{
    al_auto(al_closep) int fd = al_nofollow_open(dir_fd, path, O_RDONLY | O_DIRECTORY);
    al_auto(al_closedirp) DIR *dir = fd < 0 ? NULL : al_fs_list_at(fd);
    const struct dirent *entry;
    struct stat st;
    size_t count = 0;

    if (fd < 0)
        return 0;
    if (fstatat(fd, "HEAD", &st, AT_SYMLINK_NOFOLLOW) == 0)
        return 1 + count_repositories(fd, "modules", depth + 1);
    if (depth > DEPTH_MAX)
        return AL_WORKTREE_SUBMODULES_MAX + 1;
    while (dir && (entry = readdir(dir)) && count <= AL_WORKTREE_SUBMODULES_MAX)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            count += count_repositories(fd, entry->d_name, depth + 1);
    return count;
}

static bool has_repository(int git_fd, const char *dir)
{
    al_auto(al_closep) int fd = al_nofollow_open(git_fd, dir, O_PATH | O_DIRECTORY);
    struct stat st;

    return fd >= 0 && fstatat(fd, "HEAD", &st, AT_SYMLINK_NOFOLLOW) == 0;
}

static bool take_ref(void *payload, char *const *fields)
{
    struct al_str *text = payload;

    al_str_addf(text, "%s\n", fields[0] + (fields[0][0] == '\n')); /* git ends the line before */
    return true;
}

static int read_one(const struct al_worktree_half *half, struct al_worktree_submodule *submodule,
                    struct al_run_limits *budget, struct al_worktree_beside *beside,
                    struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_CONTENT_INIT;
    struct al_str text = AL_STR_INIT;
    al_auto(al_nul_records_clear) struct al_nul_records records =
        AL_NUL_RECORDS_INIT(1, take_ref, &text);
    int r = al_worktree_open_made(half, submodule, budget, beside, err);

    if (r < 0)
        return r;
    free(submodule->head);
    submodule->head = al_ref_read_head(&beside->repo->at);
    if (!submodule->head)
        return al_error_set(err, AL_ERR_EXECUTION, "HEAD of a submodule cannot be read");
    al_strv_adds(&command.argv, "git", "for-each-ref", "--format=%(objectname) %(refname)%00",
                 NULL);
    r = al_git_read_records(&beside->repo->at, &command, &records, budget, err);
    submodule->refs = al_str_detach(&text);
    return r;
}

static bool is_listed(const struct al_worktree_submodules *list, const char *dir)
{
    for (size_t i = 0; i < list->count; i++)
        if (!strcmp(list->items[i].dir, dir))
            return true;
    return false;
}

/* A repository that is not listed, from the git directory.  Caller frees; NULL: none was found. */
static char *find_unlisted(int git_fd, const char *path, const struct al_worktree_submodules *list,
                           int depth)
{
    al_auto(al_closep) int fd = al_nofollow_open(git_fd, path, O_RDONLY | O_DIRECTORY);
    al_auto(al_closedirp) DIR *dir = fd < 0 ? NULL : al_fs_list_at(fd);
    const bool is_repository = fd >= 0 && faccessat(fd, "HEAD", F_OK, AT_SYMLINK_NOFOLLOW) == 0;
    const struct dirent *entry;
    char *found = NULL;

    if (is_repository && !is_listed(list, path))
        return al_strdup(path);
    while (dir && !found && depth < DEPTH_MAX && (entry = readdir(dir))) {
        al_auto(al_freep) char *below = al_fs_join(path, entry->d_name);

        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
            (!is_repository || !strcmp(entry->d_name, "modules")))
            found = find_unlisted(git_fd, below, list, depth + 1);
    }
    return found;
}

/* Git leaves it there when a branch is checked out that has no such submodule. */
static int unknown_repository(int git_fd, const struct al_worktree_submodules *list,
                              struct al_error *err)
{
    al_auto(al_freep) char *dir = find_unlisted(git_fd, "modules", list, 0);
    al_auto(al_freep) char *name = dir ? al_text_sanitize_line(dir + strlen("modules/")) : NULL;

    return al_error_set(err, AL_ERR_EXECUTION,
                        "it has the repository of the submodule '%s', which its index and "
                        ".gitmodules do not name",
                        name ? name : "?");
}

/* Keep those that have a repository, and read them. */
static int read_listed(const struct al_worktree_half *half, int git_fd,
                       struct al_run_limits *budget, struct al_worktree_submodules *list,
                       struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv refused = AL_STRV_INIT;
    size_t kept = 0;
    int r = 0;

    for (size_t i = 0; i < list->count && r == 0; i++) {
        al_auto(al_worktree_beside_clear) struct al_worktree_beside beside =
            AL_WORKTREE_BESIDE_INIT;
        struct al_worktree_submodule submodule = list->items[i];
        al_auto(al_freep) char *path = child(&submodule, false);
        al_auto(al_freep) char *dir = child(&submodule, true);

        list->items[i] = (struct al_worktree_submodule){ .path = NULL };
        if (!has_repository(git_fd, submodule.dir)) {
            al_worktree_submodule_clear(&submodule);
            continue;
        }
        r = read_one(half, &submodule, budget, &beside, err);
        list->items[kept++] = submodule;
        if (r == 0)
            r = al_worktree_list_submodules(beside.repo, path, dir, budget, list, &refused, err);
    }
    list->count = r < 0 ? list->count : kept;
    return r;
}

int al_worktree_read_submodules(const struct al_worktree_half *half, struct al_run_limits *budget,
                                struct al_worktree_submodules *ret_list, struct al_error *err)
{
    al_auto(al_worktree_beside_clear) struct al_worktree_beside beside = AL_WORKTREE_BESIDE_INIT;
    al_auto(al_worktree_submodules_clear) struct al_worktree_submodules list =
        AL_WORKTREE_SUBMODULES_INIT;
    al_auto(al_strv_clear) struct al_strv refused = AL_STRV_INIT;
    al_auto(al_closep) int git_fd =
        open(half->git_dir, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    size_t count = git_fd < 0 ? 0 : count_repositories(git_fd, "modules", 0);
    int r;

    *ret_list = AL_WORKTREE_SUBMODULES_INIT;
    if (!count)
        return 0;
    r = al_worktree_open_beside(half->repo, half->top, NULL, budget, &beside, err);
    if (r == 0)
        r = al_worktree_list_submodules(beside.repo, "", "", budget, &list, &refused, err);
    if (r == 0)
        r = read_listed(half, git_fd, budget, &list, err);
    if (r == 0 && list.count != count)
        r = unknown_repository(git_fd, &list, err);
    if (r < 0)
        return r;
    *ret_list = list;
    list = AL_WORKTREE_SUBMODULES_INIT;
    return 0;
}
