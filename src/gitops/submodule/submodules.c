// SPDX-License-Identifier: Apache-2.0
#include "gitops/submodule/submodules.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "gitops/command.h"
#include "gitops/environment.h"
#include "gitops/location.h"
#include "gitops/nul_records.h"
#include "gitops/plumbing/index_scan.h"
#include "gitops/plumbing/nested.h"
#include "gitops/refs.h"
#include "gitops/run.h"
#include "gitops/submodule/files.h"
#include "gitops/submodule/scan.h"
#include "gitops/submodule/untracked.h"
#include "gitops/vet/vet.h"
#include "guard/nofollow.h"
#include "guard/text.h"
#include "util/clock.h"
#include "util/fs.h"

#define TYPE_GITLINK      0160000u
#define NAMED_MAX         20

#define PLAIN_INDEXES_MAX 16
#define RACY_NS           20000000

static const char outside[] = "its git directory lies outside the allowed roots";
static const char no_git_dir[] = "its .git leads to no git directory";
static const char no_index[] = "its index cannot be read";
static const char no_commit[] = "its commit cannot be read";
static const char too_many_submodules[] = "there are too many submodules";

/** Working trees to scan: the submodules of the repository, then those found in them. */
struct queue {
    struct al_strv paths; /* paths from the top */
    size_t owners;        /* this many paths at the front are the repository's own submodules */
    const char *within;
};

void al_submodules_clear(struct al_submodules *submodules)
{
    for (size_t i = 0; i < submodules->count; i++)
        free(submodules->items[i].name);
    free(submodules->items);
    *submodules = AL_SUBMODULES_INIT;
}

static bool is_within(const char *name, const char *within)
{
    size_t len = within ? strlen(within) : 0;

    return !len || (!strncmp(name, within, len) && (!name[len] || name[len] == '/'));
}

/* Conflicts are reported by git itself; a skip-worktree entry need not be there. */
static bool take_gitlink(void *payload, const struct al_index_entry *entry)
{
    struct queue *queue = payload;

    if ((entry->mode & 0170000u) != TYPE_GITLINK || entry->stage || entry->skip_worktree ||
        !is_within(entry->name, queue->within))
        return true;
    al_strv_add(&queue->paths, entry->name);
    return true;
}

/* "<mode> <oid> <stage> TAB <path>" */
static bool take_listed(void *payload, char *const *fields)
{
    struct queue *queue = payload;
    const char *tab = strchr(fields[0], '\t');

    if (tab && al_starts_with(fields[0], "160000 ") && tab[-1] == '0' &&
        is_within(tab + 1, queue->within))
        al_strv_add(&queue->paths, tab + 1);
    return true;
}

/* For a split index, whose entries are in two files: ask git. */
static void list_gitlinks(const struct al_repo *repo, struct queue *queue,
                          struct al_run_limits *budget)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_CONTENT_INIT;
    al_auto(al_nul_records_clear) struct al_nul_records records =
        AL_NUL_RECORDS_INIT(1, take_listed, queue);

    al_strv_clear(&queue->paths);
    al_strv_adds(&command.argv, "git", "-C", repo->at.top, "ls-files", "--stage", "-z", NULL);
    if (al_git_read_records(&repo->at, &command, &records, budget, NULL) < 0)
        al_strv_clear(&queue->paths);
}

/* Indexes without a gitlink, so that a status of an unchanged index does not read it again. */
static struct {
    pthread_mutex_t lock; /* guards what follows */
    struct al_file_id ids[PLAIN_INDEXES_MAX];
    size_t next;
} plain_indexes = { .lock = PTHREAD_MUTEX_INITIALIZER };

static bool is_known_plain(const struct al_file_id *id)
{
    bool known = false;

    (void)pthread_mutex_lock(&plain_indexes.lock);
    for (size_t i = 0; !known && i < PLAIN_INDEXES_MAX; i++)
        known = al_file_id_equal(&plain_indexes.ids[i], id);
    (void)pthread_mutex_unlock(&plain_indexes.lock);
    return known && id->exists;
}

/* File times tick coarsely: an index that changed in the last 20 ms may change again unseen. */
static void remember_plain(const struct al_file_id *id)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_REALTIME, &now);
    if ((int64_t)now.tv_sec * 1000000000 + now.tv_nsec - id->ctime_ns < RACY_NS)
        return;
    (void)pthread_mutex_lock(&plain_indexes.lock);
    plain_indexes.ids[plain_indexes.next] = *id;
    plain_indexes.next = (plain_indexes.next + 1) % PLAIN_INDEXES_MAX;
    (void)pthread_mutex_unlock(&plain_indexes.lock);
}

static void find_gitlinks(const struct al_repo *repo, struct queue *queue,
                          struct al_run_limits *budget)
{
    al_auto(al_freep) char *path = al_fs_join(repo->at.git_dir, "index");
    al_auto(al_closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    enum al_index_end end;
    struct al_file_id id;
    struct stat st;

    if (fd < 0 || fstat(fd, &st) < 0)
        return;
    id = al_file_id_from(&st);
    if (is_known_plain(&id))
        return;
    end = al_index_read(fd, repo->vetting->is_sha256 ? 32 : 20, take_gitlink, queue);
    if (end == AL_INDEX_SPLIT || end == AL_INDEX_NOT_UNDERSTOOD)
        list_gitlinks(repo, queue, budget);
    /* A search within one path says nothing about the rest of the index. */
    if (end == AL_INDEX_WHOLE && !queue->paths.count && (!queue->within || !*queue->within))
        remember_plain(&id);
    queue->owners = queue->paths.count;
}

/* Whether there is an object store without alternates, which might lead anywhere. */
static bool has_store(int common)
{
    al_auto(al_closep) int fd = al_nofollow_open(common, "objects", O_PATH | O_DIRECTORY);
    al_auto(al_closep) int other = fd < 0 ? -1 : al_nofollow_open(fd, "info/alternates", O_PATH);

    return fd >= 0 && other == -ENOENT;
}

/* Compare the index with the commit by a git of the repository around it, to which only the index,
 * the commit and the objects come from the submodule. */
static void scan_staged(struct al_submodule_scan *scan, const char *index, const char *common_dir,
                        const char *head, struct al_run_limits *budget)
{
    const int64_t began_ms = al_clock_ms();
    const int64_t left_ms = scan->bounds->deadline_ms - began_ms;
    struct al_run_limits limits = *budget;
    uint32_t ran_ms;
    int r;
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_CONTENT_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    al_auto(al_strv_clear) struct al_strv env = AL_STRV_INIT;
    al_auto(al_strv_clear) struct al_strv objects = AL_STRV_INIT;
    const struct al_git_link link = { .protocol = "none", .env = &env };

    if (!al_is_oid(head, strlen(head)) || !has_store(scan->common)) {
        scan->unseen = no_commit;
        return;
    }
    if (left_ms <= 0) {
        scan->unseen = al_scan_too_long;
        return;
    }
    if (left_ms < (int64_t)limits.left_ms)
        limits.left_ms = (uint32_t)left_ms;
    al_strv_take(&objects, al_fs_join(common_dir, "objects"));
    al_strv_take(&env, al_git_alternates(&objects));
    command.index = index;
    command.link = &link;
    al_strv_adds(&command.argv, "git", "diff-index", "--cached", "--quiet", "--no-ext-diff",
                 "--no-textconv", "--ignore-submodules=dirty", head, "--", NULL);
    r = al_git_run(&scan->repo->at, &command, &(struct al_git_run){ .max_bytes = 0 }, &limits,
                   &output, NULL);
    ran_ms = (uint32_t)(al_clock_ms() - began_ms);
    budget->left_ms = ran_ms < budget->left_ms ? budget->left_ms - ran_ms : 1;
    if (r == AL_ERR_TIMEOUT)
        scan->unseen = al_scan_too_long;
    else if (r < 0 || (output.exit_code != 0 && output.exit_code != 1))
        scan->unseen = no_commit;
    else if (output.exit_code == 1)
        scan->content |= AL_MODIFIED_CONTENT;
}

static void scan_repository(struct al_submodule_scan *scan, const char *git_dir,
                            const char *common_dir, struct al_run_limits *budget)
{
    const struct al_location nested = { .git = scan->repo->at.git,
                                        .git_dir = (char *)git_dir,
                                        .common_dir = (char *)common_dir,
                                        .git_fd = -1 };
    al_auto(al_freep) char *index = al_fs_join(git_dir, "index");
    al_auto(al_closep) int fd = open(index, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    al_auto(al_closep) int common = open(common_dir, O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    al_auto(al_freep) char *head = al_ref_head(&nested);

    if (fd < 0 || common < 0) {
        scan->unseen = no_index;
        return;
    }
    scan->common = common;
    al_scan_files(scan, fd);
    if (!scan->unseen && !(scan->content & AL_MODIFIED_CONTENT))
        scan_staged(scan, index, common_dir, head, budget);
    if (!scan->unseen && !scan->bounds->no_untracked)
        al_scan_untracked(scan);
}

/* A directory without a `.git` is a submodule that is not checked out. */
static void scan_submodule(struct al_submodule_scan *scan, struct al_run_limits *budget)
{
    al_auto(al_freep) char *top = al_fs_join(scan->repo->at.top, scan->path);
    al_auto(al_freep) char *git_dir = NULL;
    al_auto(al_freep) char *common_dir = NULL;
    int r = al_git_nested_dirs(&scan->repo->at, top, &git_dir, &common_dir);

    if (r == 0)
        scan_repository(scan, git_dir, common_dir, budget);
    else if (r != AL_ERR_NOT_FOUND)
        scan->unseen = r == AL_ERR_SANDBOX ? outside : no_git_dir;
}

/* Add the result of a scan to the submodule `name`, which the scanned one is or lies in. */
static void keep(struct al_submodules *to, const char *name, const struct al_submodule_scan *scan)
{
    struct al_submodule *item = NULL;

    if (!scan->content && !scan->unseen)
        return;
    for (size_t i = 0; i < to->count; i++)
        if (!strcmp(to->items[i].name, name))
            item = &to->items[i];
    if (!item) {
        to->items = al_reallocarray(to->items, to->count + 1, sizeof(*to->items));
        item = &to->items[to->count++];
        *item = (struct al_submodule){ .name = al_strdup(name) };
    }
    item->content |= scan->content;
    item->unseen = item->unseen ? item->unseen : scan->unseen;
}

/* The repository's own submodule that a path is or lies in. */
static const char *owner_of(const struct queue *queue, const char *path)
{
    for (size_t i = 0; i < queue->owners; i++)
        if (is_within(path, queue->paths.items[i]))
            return queue->paths.items[i];
    return path;
}

static void scan_next(const struct al_repo *repo, int top, struct queue *queue, size_t number,
                      struct al_scan_bounds *bounds, struct al_run_limits *budget,
                      struct al_submodules *to)
{
    al_auto(al_freep) char *path = al_strdup(queue->paths.items[number]);
    al_auto(al_closep) int fd = al_nofollow_open(top, path, O_PATH | O_DIRECTORY);
    struct al_submodule_scan scan = { .repo = repo,
                                      .bounds = bounds,
                                      .path = path,
                                      .top = fd,
                                      .common = -1,
                                      .nested = &queue->paths };

    if (fd < 0)
        return; /* git itself reports that it is gone or no directory */
    if (number >= AL_SUBMODULES_MAX)
        scan.unseen = too_many_submodules;
    else if (al_scan_has_time(&scan))
        scan_submodule(&scan, budget);
    keep(to, owner_of(queue, path), &scan);
    al_strv_clear(&scan.names);
}

void al_git_scan_submodules(const struct al_repo *repo, const char *within, bool untracked,
                            struct al_run_limits *budget, struct al_submodules *ret_submodules)
{
    struct queue queue = { .within = within };
    struct al_submodules found = AL_SUBMODULES_INIT;
    struct al_scan_bounds bounds = {
        .entries = AL_SUBMODULE_ENTRIES_MAX,
        .listed = AL_SUBMODULE_ENTRIES_MAX,
        .bytes = AL_SUBMODULE_HASHED_MAX,
        .deadline_ms = al_clock_ms() + AL_SUBMODULE_TIME_MAX_MS,
        .no_untracked = !untracked,
    };
    int top = -1;

    find_gitlinks(repo, &queue, budget);
    if (queue.owners && al_location_open_top(&repo->at, &top, NULL) == 0)
        for (size_t i = 0; i < queue.paths.count; i++)
            scan_next(repo, top, &queue, i, &bounds, budget, &found);
    al_close(top);
    al_strv_clear(&queue.paths);
    *ret_submodules = found;
}

static void add_one(const struct al_submodule *submodule, struct al_str *out)
{
    static const char *const words[] = {
        [AL_MODIFIED_CONTENT] = "modified content",
        [AL_UNTRACKED_CONTENT] = "untracked content",
        [AL_MODIFIED_CONTENT | AL_UNTRACKED_CONTENT] = "modified content, untracked content",
    };
    al_auto(al_freep) char *name = al_text_sanitize_shown_line(submodule->name);

    al_str_addf(out, "%s (", name);
    if (submodule->content)
        al_str_adds(out, words[submodule->content]);
    if (submodule->unseen)
        al_str_addf(out, "%s: %s", submodule->content ? ", not looked at in full" : "not looked at",
                    submodule->unseen);
    al_str_addc(out, ')');
}

void al_submodules_add_line(const struct al_submodules *submodules, struct al_str *out)
{
    if (!submodules->count)
        return;
    if (out->len)
        al_str_addc(out, '\n');
    al_str_adds(out, "airlock: inside submodules: ");
    for (size_t i = 0; i < submodules->count && i < NAMED_MAX; i++) {
        al_str_adds(out, i ? ", " : "");
        add_one(&submodules->items[i], out);
    }
    if (submodules->count > NAMED_MAX)
        al_str_addf(out, ", and %zu more", submodules->count - NAMED_MAX);
}
