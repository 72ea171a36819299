// SPDX-License-Identifier: Apache-2.0
#include "checkpoint/collect.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gitops/command.h"
#include "gitops/deadline.h"
#include "gitops/plumbing/blocking_files.h"
#include "gitops/plumbing/ls_files.h"
#include "gitops/vet/vet.h"
#include "guard/gitdir.h"
#include "guard/nofollow.h"
#include "guard/root.h"
#include "util/fs.h"

#define MODE_GITLINK 0160000u

/* The first git gets this part of the time; then blocking files are looked for. */
#define FIRST_TRY_PART 4

/** The state of one collection. */
struct collector {
    const struct al_repo *repo;
    int top_fd;
    const struct al_strv *include_ignored;
    struct al_deadline *deadline;
    struct al_file_list tracked, untracked; /* both in git's order, which is strcmp()'s */
    struct al_strv nested;                  /* directories to walk into, without a final '/' */
    struct al_oid *unmerged;
    size_t nunmerged, unmerged_capacity;
    bool digests;
    /* git gets 1/time_part of the time that is left. */
    unsigned time_part;
    struct al_hash entries;
    int status;
    struct al_error *err;
};

void al_collected_files_clear(struct al_collected_files *collected)
{
    al_file_list_clear(&collected->names);
    free(collected->unmerged);
    *collected = AL_COLLECTED_FILES_INIT;
}

/* Whether a path could be a file below the top: no component is empty, '.',
 * '..' or too long. */
static bool is_plain(const char *path)
{
    size_t total = 0;

    for (;;) {
        size_t len = strcspn(path, "/");

        total += len + 1;
        if (len == 0 || len > NAME_MAX || total > PATH_MAX || (len == 1 && path[0] == '.') ||
            (len == 2 && path[0] == '.' && path[1] == '.'))
            return false;
        if (!path[len])
            return true;
        path += len + 1;
    }
}

static bool lies_in_dir(const char *top, const char *dir, const char *path)
{
    size_t top_len = strlen(top), len;

    if (strncmp(top, dir, top_len) != 0 || dir[top_len] != '/')
        return false;
    dir += top_len + 1;
    len = strlen(dir);
    return !strncmp(path, dir, len) && (path[len] == '/' || !path[len]);
}

/* The git directory is not part of the working tree, whatever an index says. */
static bool is_in_git_dir(const struct al_repo *repo, const char *path)
{
    if (path[0] == '.' || path[0] == 'g' || path[0] == 'G' || (unsigned char)path[0] >= 0x80) {
        al_auto(al_freep) char *first = al_strndup(path, strcspn(path, "/"));

        if (al_path_has_dot_git(first))
            return true;
    }
    return lies_in_dir(repo->at.top, repo->at.git_dir, path) ||
           lies_in_dir(repo->at.top, repo->at.common_dir, path);
}

static bool fail(struct collector *c, int status)
{
    c->status = status;
    return false;
}

/* Check that one more name of `len` bytes fits. */
static bool has_room(struct collector *c, size_t len)
{
    if (c->tracked.count + c->untracked.count + c->nested.count >= AL_CHECKPOINT_FILES_MAX)
        return fail(c, al_error_set(c->err, AL_ERR_EXECUTION,
                                    "the working tree has more than %u files that are not ignored",
                                    AL_CHECKPOINT_FILES_MAX));
    if (c->tracked.text.len + c->untracked.text.len + len + 1 > AL_CHECKPOINT_NAMES_BYTES)
        return fail(c, al_error_set(c->err, AL_ERR_EXECUTION,
                                    "the names of the files in the working tree have more than %u "
                                    "bytes",
                                    AL_CHECKPOINT_NAMES_BYTES));
    return true;
}

/* The new name; NULL when it does not fit. */
static struct al_file_name *add_checked(struct collector *c, struct al_file_list *names,
                                        const char *path)
{
    size_t len = strlen(path);

    return has_room(c, len) ? al_file_list_add(names, path, len) : NULL;
}

static bool add_nested(struct collector *c, const char *path)
{
    if (!has_room(c, 0))
        return false;
    al_strv_add(&c->nested, path);
    return true;
}

static void add_unmerged(struct collector *c, const struct al_oid *oid)
{
    if (c->nunmerged == c->unmerged_capacity) {
        c->unmerged_capacity = c->unmerged_capacity ? 2 * c->unmerged_capacity : 16;
        c->unmerged = al_reallocarray(c->unmerged, c->unmerged_capacity, sizeof(*c->unmerged));
    }
    c->unmerged[c->nunmerged++] = *oid;
}

/* A skip-worktree entry has no file.  Its object stays in the repository, as committed objects do.
 */
static bool add_index_entry(struct collector *c, const struct al_listed *listed)
{
    bool absent = listed->tag == 'S' || listed->tag == 's';
    struct al_oid oid;
    struct al_file_name *name;

    if (c->digests) {
        al_hash_add(&c->entries, listed->entry, listed->entry_len);
        al_hash_add(&c->entries, listed->path, strlen(listed->path) + 1);
    }
    if (!is_plain(listed->path) || is_in_git_dir(c->repo, listed->path) ||
        !al_oid_parse(listed->oid, c->repo->vetting->is_sha256, &oid))
        return true;
    /* A gitlink's path may be a directory on the disk, or anything else. */
    if (listed->mode == MODE_GITLINK && !add_nested(c, listed->path))
        return false;
    name = c->tracked.count ? &c->tracked.items[c->tracked.count - 1] : NULL;
    if (!name || strcmp(al_file_list_path(&c->tracked, name), listed->path) != 0)
        name = add_checked(c, &c->tracked, listed->path);
    if (!name || listed->mode == MODE_GITLINK)
        return name != NULL;
    if (listed->stage) {
        add_unmerged(c, &oid);
    } else if (!absent) {
        name->in_index = true;
        name->oid = oid;
    }
    return true;
}

static bool add_listed(void *payload, const struct al_listed *listed)
{
    struct collector *c = payload;
    size_t len = strlen(listed->path);

    if (listed->tag != '?')
        return add_index_entry(c, listed);
    if (len > 1 && listed->path[len - 1] == '/') {
        al_auto(al_freep) char *dir = al_strndup(listed->path, len - 1);

        return !is_plain(dir) || is_in_git_dir(c->repo, dir) || add_nested(c, dir);
    }
    return !is_plain(listed->path) || is_in_git_dir(c->repo, listed->path) ||
           add_checked(c, &c->untracked, listed->path);
}

bool al_collect_includes(const struct al_strv *include_ignored, const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;

    for (size_t i = 0; include_ignored && i < include_ignored->count; i++) {
        const char *glob = include_ignored->items[i];

        /* As in .gitignore, a glob without '/' matches the last component only. */
        if (fnmatch(glob, strchr(glob, '/') ? path : name, 0) == 0)
            return true;
    }
    return false;
}

static bool add_ignored(void *payload, const struct al_listed *listed)
{
    const struct collector *c = payload;

    return !al_collect_includes(c->include_ignored, listed->path) || add_listed(payload, listed);
}

static int walk_dir(struct collector *c, const char *path, int depth);

static int add_dir_entry(struct collector *c, const char *dir, int dir_fd,
                         const struct dirent *entry, int depth)
{
    al_auto(al_freep) char *path = al_fs_join(dir, entry->d_name);
    unsigned char type = entry->d_type;
    int r;

    if (type == DT_UNKNOWN) {
        struct stat st;

        if (fstatat(dir_fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
            return 0;
        type = (unsigned char)IFTODT(st.st_mode);
    }
    if ((type == DT_REG || type == DT_LNK) && is_plain(path) &&
        !add_checked(c, &c->untracked, path))
        return c->status;
    r = al_deadline_step(c->deadline, c->err);
    return r == 0 && type == DT_DIR ? walk_dir(c, path, depth + 1) : r;
}

/* Add everything below a directory.  A path that cannot be opened as one is a file or a link, or is
 * unreadable. */
static int walk_dir(struct collector *c, const char *path, int depth)
{
    al_auto(al_closedirp) DIR *dir =
        al_fs_list(al_nofollow_open(c->top_fd, path, O_RDONLY | O_DIRECTORY));
    struct dirent *entry;
    int r = 0;

    if (!dir)
        return 0;
    if (depth > AL_FILE_LIST_DEPTH_MAX)
        r = al_error_set(c->err, AL_ERR_EXECUTION,
                         "a nested repository has more than %d levels of directories",
                         AL_FILE_LIST_DEPTH_MAX);
    while (r == 0 && (entry = readdir(dir)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            r = add_dir_entry(c, path, dirfd(dir), entry, depth);
    return r;
}

/* Merge both lists, sorted and without duplicates.  A tracked name wins over an untracked one. */
static void merge(struct collector *c, struct al_file_list *into)
{
    struct al_file_list *a = &c->tracked, *b = &c->untracked;
    size_t i = 0, k = 0;

    while (i < a->count || k < b->count) {
        const struct al_file_list *from = a;
        int order = i == a->count   ? 1
                    : k == b->count ? -1
                                    : strcmp(al_file_list_path(a, &a->items[i]),
                                             al_file_list_path(b, &b->items[k]));
        const struct al_file_name *name = order <= 0 ? &a->items[i++] : &b->items[k];
        const char *path;
        struct al_file_name *added;

        if (order > 0)
            from = b;
        if (order >= 0)
            k++;
        path = al_file_list_path(from, name);
        if (into->count && !strcmp(al_file_list_path(into, &into->items[into->count - 1]), path))
            continue;
        added = al_file_list_add(into, path, strlen(path));
        added->in_index = name->in_index;
        added->oid = name->oid;
    }
}

static int list_files(struct collector *c, bool ignored)
{
    struct al_run_limits budget;
    int r;

    al_deadline_sync(c->deadline);
    budget = *c->deadline->budget;
    budget.left_ms = budget.left_ms / c->time_part + 1;
    r = al_git_list_files(c->repo, c->top_fd, ignored, ignored ? add_ignored : add_listed, c,
                          &budget, c->err);
    c->deadline->budget->exit_code = budget.exit_code;
    return c->status < 0 ? c->status : r;
}

static int collect(struct collector *c, struct al_collected_files *collected)
{
    int r = list_files(c, false);

    if (r == 0 && c->include_ignored && c->include_ignored->count)
        r = list_files(c, true);
    for (size_t i = 0; i < c->nested.count && r == 0; i++)
        r = walk_dir(c, c->nested.items[i], 0);
    if (r < 0)
        return r;
    al_file_list_sort(&c->tracked);
    al_file_list_sort(&c->untracked);
    if (c->untracked.count) {
        merge(c, &collected->names);
    } else {
        collected->names = c->tracked;
        c->tracked = AL_FILE_LIST_INIT;
    }
    al_hash_end(&c->entries, &collected->entries);
    collected->unmerged = al_take(&c->unmerged);
    collected->nunmerged = c->nunmerged;
    return 0;
}

static void collector_clear(struct collector *c)
{
    al_file_list_clear(&c->tracked);
    al_file_list_clear(&c->untracked);
    al_strv_clear(&c->nested);
    free(c->unmerged);
}

static int try_collect(const struct collector *request, unsigned time_part,
                       struct al_collected_files *collected)
{
    al_auto(collector_clear) struct collector c = *request;
    int r;

    c.time_part = time_part;
    *collected = AL_COLLECTED_FILES_INIT;
    al_hash_init(&c.entries, true);
    r = collect(&c, collected);
    if (r < 0)
        al_collected_files_clear(collected);
    return r;
}

/* A git that took long may be waiting for a fifo or the like, which never ends. */
static int fail_if_blocked(const struct collector *request)
{
    al_auto(al_freep) char *blocker = al_git_find_blocking_file(request->repo);
    int r = al_deadline_check(request->deadline, request->err);

    return r == 0 && blocker ? al_error_set(request->err, AL_ERR_EXECUTION, "%s", blocker) : r;
}

int al_collect_files(const struct al_repo *repo, int top_fd, const struct al_strv *include_ignored,
                     bool digests, struct al_deadline *deadline,
                     struct al_collected_files *ret_collected, struct al_error *err)
{
    const struct collector request = {
        .repo = repo,
        .top_fd = top_fd,
        .include_ignored = include_ignored,
        .digests = digests,
        .deadline = deadline,
        .tracked = AL_FILE_LIST_INIT,
        .untracked = AL_FILE_LIST_INIT,
        .err = err,
    };
    int r = try_collect(&request, FIRST_TRY_PART, ret_collected);

    if (r != AL_ERR_TIMEOUT)
        return r;
    r = fail_if_blocked(&request);
    if (r < 0)
        return r;
    if (err)
        al_error_clear(err);
    return try_collect(&request, 1, ret_collected);
}
