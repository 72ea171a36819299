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
#include "gitops/vet.h"
#include "guard/nofollow.h"
#include "guard/root.h"
#include "util/fs.h"

#define MODE_GITLINK 0160000u
#define PATIENCE     4 /* after this part of its time, what git may wait for is looked for */

/** Names on their way, and where they come from. */
struct gathering {
    const struct al_repo *repo;
    int top_fd;
    const struct al_strv *include_ignored;
    struct al_deadline *watch;
    struct al_file_list tracked, others; /* each in git's order, which is ours */
    struct al_strv nested;               /* directories to walk into, without '/' */
    struct al_oid *staged;
    size_t nstaged, staged_capacity;
    bool digests;
    unsigned share; /* of the time that is left a git may take one part of so many */
    struct al_hash entries;
    int status;
    struct al_error *err;
};

void al_gathered_clear(struct al_gathered *gathered)
{
    al_file_list_clear(&gathered->names);
    free(gathered->staged);
    *gathered = AL_GATHERED_INIT;
}

/* A path that could be a file's below the top: no empty component, no '.', no '..'. */
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

/* The repository's own parts are no files of its working tree, whatever an index says. */
static bool is_of_git(const struct al_repo *repo, const char *path)
{
    if (path[0] == '.' || path[0] == 'g' || path[0] == 'G' || (unsigned char)path[0] >= 0x80) {
        al_auto(al_freep) char *first = al_strndup(path, strcspn(path, "/"));

        if (al_path_has_dot_git(first))
            return true;
    }
    return lies_in_dir(repo->at.top, repo->at.git_dir, path) ||
           lies_in_dir(repo->at.top, repo->at.common_dir, path);
}

static bool fail(struct gathering *g, int status)
{
    g->status = status;
    return false;
}

/* For one more name of so many bytes. */
static bool has_room(struct gathering *g, size_t len)
{
    if (g->tracked.count + g->others.count + g->nested.count >= AL_CHECKPOINT_FILES_MAX)
        return fail(g, al_error_set(g->err, AL_ERR_EXECUTION,
                                    "the working tree has more than %u files that are not ignored",
                                    AL_CHECKPOINT_FILES_MAX));
    if (g->tracked.text.len + g->others.text.len + len + 1 > AL_CHECKPOINT_NAMES_BYTES)
        return fail(g, al_error_set(g->err, AL_ERR_EXECUTION,
                                    "the names of the files in the working tree have more than %u "
                                    "bytes",
                                    AL_CHECKPOINT_NAMES_BYTES));
    return true;
}

/* The new name; NULL where there is no room for it. */
static struct al_name *keep(struct gathering *g, struct al_file_list *names, const char *path)
{
    size_t len = strlen(path);

    return has_room(g, len) ? al_file_list_add(names, path, len) : NULL;
}

static bool add_nested(struct gathering *g, const char *path)
{
    if (!has_room(g, 0))
        return false;
    al_strv_add(&g->nested, path);
    return true;
}

static void add_staged(struct gathering *g, const struct al_oid *oid)
{
    if (g->nstaged == g->staged_capacity) {
        g->staged_capacity = g->staged_capacity ? 2 * g->staged_capacity : 16;
        g->staged = al_reallocarray(g->staged, g->staged_capacity, sizeof(*g->staged));
    }
    g->staged[g->nstaged++] = *oid;
}

/* An entry that is not to be on the disk keeps its object in the repository, as what is committed
 * does. */
static bool take_entry(struct gathering *g, const struct al_listed *listed)
{
    bool absent = listed->tag == 'S' || listed->tag == 's';
    struct al_oid oid;
    struct al_name *name;

    if (g->digests) {
        al_hash_add(&g->entries, listed->entry, listed->entry_len);
        al_hash_add(&g->entries, listed->path, strlen(listed->path) + 1);
    }
    if (!is_plain(listed->path) || is_of_git(g->repo, listed->path) ||
        !al_oid_parse(listed->oid, g->repo->vetting->is_sha256, &oid))
        return true;
    /* On the disk it may be a directory, or anything else. */
    if (listed->mode == MODE_GITLINK && !add_nested(g, listed->path))
        return false;
    name = g->tracked.count ? &g->tracked.items[g->tracked.count - 1] : NULL;
    if (!name || strcmp(al_file_list_path(&g->tracked, name), listed->path) != 0)
        name = keep(g, &g->tracked, listed->path);
    if (!name || listed->mode == MODE_GITLINK)
        return name != NULL;
    if (listed->stage) {
        add_staged(g, &oid);
    } else if (!absent) {
        name->in_index = true;
        name->oid = oid;
    }
    return true;
}

static bool take_listed(void *payload, const struct al_listed *listed)
{
    struct gathering *g = payload;
    size_t len = strlen(listed->path);

    if (listed->tag != '?')
        return take_entry(g, listed);
    if (len > 1 && listed->path[len - 1] == '/') {
        al_auto(al_freep) char *dir = al_strndup(listed->path, len - 1);

        return !is_plain(dir) || is_of_git(g->repo, dir) || add_nested(g, dir);
    }
    return !is_plain(listed->path) || is_of_git(g->repo, listed->path) ||
           keep(g, &g->others, listed->path);
}

static bool take_ignored(void *payload, const struct al_listed *listed)
{
    struct gathering *g = payload;
    const char *slash = strrchr(listed->path, '/');
    const char *name = slash ? slash + 1 : listed->path;

    for (size_t i = 0; i < g->include_ignored->count; i++) {
        const char *glob = g->include_ignored->items[i];

        /* As in .gitignore, a glob without '/' is about names and not about paths. */
        if (fnmatch(glob, strchr(glob, '/') ? listed->path : name, 0) == 0)
            return take_listed(payload, listed);
    }
    return true;
}

static int walk(struct gathering *g, const char *path, int depth);

static int take_found(struct gathering *g, const char *dir, int dir_fd, const struct dirent *entry,
                      int depth)
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
    if ((type == DT_REG || type == DT_LNK) && is_plain(path) && !keep(g, &g->others, path))
        return g->status;
    r = al_deadline_step(g->watch, g->err);
    return r == 0 && type == DT_DIR ? walk(g, path, depth + 1) : r;
}

/* Everything below a directory.  What cannot be opened is a file's, a link's or nobody's. */
static int walk(struct gathering *g, const char *path, int depth)
{
    al_auto(al_closedirp) DIR *dir =
        al_fs_list(al_nofollow_open(g->top_fd, path, O_RDONLY | O_DIRECTORY));
    struct dirent *entry;
    int r = 0;

    if (!dir)
        return 0;
    if (depth > AL_FILE_LIST_DEPTH_MAX)
        r = al_error_set(g->err, AL_ERR_EXECUTION,
                         "a nested repository has more than %d levels of directories",
                         AL_FILE_LIST_DEPTH_MAX);
    while (r == 0 && (entry = readdir(dir)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            r = take_found(g, path, dirfd(dir), entry, depth);
    return r;
}

/* Both lists as one, in order and without doubles; the index's word is the one that stays. */
static void merge(struct gathering *g, struct al_file_list *into)
{
    struct al_file_list *a = &g->tracked, *b = &g->others;
    size_t i = 0, k = 0;

    while (i < a->count || k < b->count) {
        const struct al_file_list *from = a;
        int order = i == a->count   ? 1
                    : k == b->count ? -1
                                    : strcmp(al_file_list_path(a, &a->items[i]),
                                             al_file_list_path(b, &b->items[k]));
        const struct al_name *name = order <= 0 ? &a->items[i++] : &b->items[k];
        const char *path;
        struct al_name *added;

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

static int list(struct gathering *g, bool ignored)
{
    struct al_run_limits budget;
    int r;

    al_deadline_sync(g->watch);
    budget = *g->watch->budget;
    budget.left_ms = budget.left_ms / g->share + 1;
    r = al_git_list_files(g->repo, g->top_fd, ignored, ignored ? take_ignored : take_listed, g,
                          &budget, g->err);
    g->watch->budget->exit_code = budget.exit_code;
    return g->status < 0 ? g->status : r;
}

static int gather(struct gathering *g, struct al_gathered *gathered)
{
    int r = list(g, false);

    if (r == 0 && g->include_ignored && g->include_ignored->count)
        r = list(g, true);
    for (size_t i = 0; i < g->nested.count && r == 0; i++)
        r = walk(g, g->nested.items[i], 0);
    if (r < 0)
        return r;
    al_file_list_sort(&g->tracked);
    al_file_list_sort(&g->others);
    if (g->others.count) {
        merge(g, &gathered->names);
    } else {
        gathered->names = g->tracked;
        g->tracked = AL_FILE_LIST_INIT;
    }
    al_hash_end(&g->entries, &gathered->entries);
    gathered->staged = al_take(&g->staged);
    gathered->nstaged = g->nstaged;
    return 0;
}

static void gathering_clear(struct gathering *g)
{
    al_file_list_clear(&g->tracked);
    al_file_list_clear(&g->others);
    al_strv_clear(&g->nested);
    free(g->staged);
}

static int try_gather(const struct gathering *wanted, unsigned share, struct al_gathered *gathered)
{
    al_auto(gathering_clear) struct gathering g = *wanted;
    int r;

    g.share = share;
    *gathered = AL_GATHERED_INIT;
    al_hash_init(&g.entries, true);
    r = gather(&g, gathered);
    if (r < 0)
        al_gathered_clear(gathered);
    return r;
}

/* When git has taken long, it may be waiting for what is no file and never ends. */
static int look_for_wait(const struct gathering *wanted)
{
    al_auto(al_freep) char *wait = al_git_find_blocking_file(wanted->repo);
    int r = al_deadline_check(wanted->watch, wanted->err);

    return r == 0 && wait ? al_error_set(wanted->err, AL_ERR_EXECUTION, "%s", wait) : r;
}

int al_gather_names(const struct al_repo *repo, int top_fd, const struct al_strv *include_ignored,
                    bool digests, struct al_deadline *watch, struct al_gathered *ret_gathered,
                    struct al_error *err)
{
    const struct gathering wanted = {
        .repo = repo,
        .top_fd = top_fd,
        .include_ignored = include_ignored,
        .digests = digests,
        .watch = watch,
        .tracked = AL_FILE_LIST_INIT,
        .others = AL_FILE_LIST_INIT,
        .err = err,
    };
    int r = try_gather(&wanted, PATIENCE, ret_gathered);

    if (r != AL_ERR_TIMEOUT)
        return r;
    r = look_for_wait(&wanted);
    if (r < 0)
        return r;
    if (err)
        al_error_clear(err);
    return try_gather(&wanted, 1, ret_gathered);
}
