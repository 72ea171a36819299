// SPDX-License-Identifier: Apache-2.0
#include "verbs/submodule/submodules.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/fs.h"
#include "git/command.h"
#include "git/location.h"
#include "git/plumbing/filters.h"
#include "git/plumbing/index_scan.h"
#include "git/reading/worktree_state.h"
#include "guard/nofollow.h"
#include "guard/text.h"
#include "verbs/worktree/list.h"

#define NAMED_MAX 20

static const char outside[] = "its git directory lies outside the allowed roots";
static const char no_git_dir[] = "its .git leads to no git directory";
static const char no_index[] = "its index cannot be read";
static const char no_commit[] = "its commit cannot be read";
static const char too_many[] = "there are too many submodules";
static const char too_long[] = "it takes too long";

/** Working trees to look at: the submodules of the repository, then those found in them. */
struct queue {
    struct al_strv paths; /* paths from the top */
    size_t owners;        /* this many paths at the front are the repository's own submodules */
    const char *within;
    const char *prefix; /* the submodule whose index is read, "" or with a final '/' */
};

/** One of them. */
struct scan {
    const struct al_repo *repo; /* the repository around all of them */
    const char *path;
    bool untracked; /* untracked files count */
    struct queue *queue;
    struct al_strv modified; /* files that differ from the index, as far as git can say */
    size_t looked_at;        /* submodules that are checked out */
    unsigned content;        /* enum al_submodule_content */
    const char *unseen;
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
    return !within || !*within || al_fs_beneath(within, name);
}

/* --- The submodules of an index --- */

/* "<tag> <mode> <oid> <stage> TAB <path>".  Conflicts are reported by git itself; an entry that is
 * skipped in the working tree (S) need not be there. */
static bool take_listed(void *payload, char *const *fields)
{
    struct queue *queue = payload;
    const char *tab = strchr(fields[0], '\t');

    if (tab && al_starts_with(fields[0], "H 160000 ") && tab[-1] == '0' &&
        is_within(tab + 1, queue->within))
        al_strv_addf(&queue->paths, "%s%s", queue->prefix, tab + 1);
    return true;
}

static void find_gitlinks(const struct al_repo *repo, struct queue *queue)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;

    if (!al_repo_index_facts(&repo->at).gitlinks)
        return;
    al_strv_adds(&command.argv, "git", "-C", repo->at.top, "ls-files", "-t", "--stage", "-z", NULL);
    (void)al_git_read_records(&repo->at, &command, 1, take_listed, queue, NULL);
}

/* --- One submodule --- */

static bool take_file(void *payload, const struct al_file_state *file)
{
    struct scan *scan = payload;

    if (file->kind == '?')
        scan->content |= AL_UNTRACKED_CONTENT;
    else if (file->staged == '.' && file->unstaged == 'M')
        al_strv_add(&scan->modified, file->path);
    else
        scan->content |= AL_MODIFIED_CONTENT;
    return true;
}

static int read_status(struct scan *scan, const struct al_repo *submodule)
{
    al_auto(al_worktree_state_clear) struct al_worktree_state state = AL_WORKTREE_STATE_INIT;

    return al_git_read_worktree_state(submodule, scan->untracked ? "normal" : "no", take_file, scan,
                                      &state, NULL);
}

/* git did not run the filters, without which nobody knows whether such a file has changed. */
static void judge_modified(struct scan *scan, const struct al_repo *submodule)
{
    al_auto(al_strv_clear) struct al_strv files = AL_STRV_INIT;

    if (!scan->modified.count || scan->content & AL_MODIFIED_CONTENT)
        return;
    for (size_t i = 0; i < scan->modified.count; i++)
        al_strv_take(&files, al_fs_join(submodule->at.top, scan->modified.items[i]));
    if (al_git_check_files(submodule, &files, NULL) < 0)
        scan->unseen = "what its files are is for a filter to say";
    else
        scan->content |= AL_MODIFIED_CONTENT;
}

static bool has_index(const char *git_dir)
{
    al_auto(al_freep) char *path = al_fs_join(git_dir, "index");
    struct stat st;

    return lstat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0;
}

static void scan_repository(struct scan *scan, const char *top, const char *git_dir)
{
    al_auto(al_worktree_beside_clear) struct al_worktree_beside beside = AL_WORKTREE_BESIDE_INIT;
    al_auto(al_freep) char *prefix = al_asprintf("%s/", scan->path);
    int r = al_worktree_open_submodule(scan->repo, top, git_dir, &beside, NULL);

    if (r == 0)
        r = has_index(git_dir) ? read_status(scan, beside.repo) : AL_ERR_EXECUTION;
    if (r < 0) {
        scan->unseen = r == AL_ERR_TIMEOUT ? too_long : beside.repo ? no_index : no_commit;
        return;
    }
    judge_modified(scan, beside.repo);
    scan->queue->prefix = prefix;
    scan->queue->within = NULL;
    find_gitlinks(beside.repo, scan->queue);
}

/* A directory without a `.git` is a submodule that is not checked out. */
static void scan_submodule(struct scan *scan)
{
    al_auto(al_freep) char *top = al_fs_join(scan->repo->at.top, scan->path);
    al_auto(al_freep) char *git_dir = NULL;
    int r = al_git_nested_dir(&scan->repo->at, top, &git_dir);

    if (r == AL_ERR_NOT_FOUND)
        return;
    if (++scan->looked_at > AL_SUBMODULES_MAX)
        scan->unseen = too_many;
    else if (!scan->repo->at.budget->left_ms)
        scan->unseen = too_long;
    else if (r == 0)
        scan_repository(scan, top, git_dir);
    else
        scan->unseen = r == AL_ERR_SANDBOX ? outside : no_git_dir;
}

/* --- All of them --- */

/* Add the result of a scan to the submodule `name`, which the scanned one is or lies in. */
static void keep(struct al_submodules *to, const char *name, const struct scan *scan)
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

static void scan_next(struct scan *scan, int top, size_t number, struct al_submodules *to)
{
    al_auto(al_freep) char *path = al_strdup(scan->queue->paths.items[number]);
    al_auto(al_closep) int fd = al_nofollow_open(top, path, O_PATH | O_DIRECTORY);

    if (fd < 0)
        return; /* git itself reports that it is gone or no directory */
    scan->path = path;
    scan->content = 0;
    scan->unseen = NULL;
    scan_submodule(scan);
    keep(to, owner_of(scan->queue, path), scan);
    al_strv_clear(&scan->modified);
}

void al_git_scan_submodules(const struct al_repo *repo, const char *within, bool untracked,
                            struct al_submodules *ret_submodules)
{
    struct queue queue = { .within = within, .prefix = "" };
    const int64_t began_ms = al_clock_ms();
    struct al_run_limits limits = *repo->at.budget;
    struct al_repo own = *repo;
    struct scan scan = {
        .repo = &own,
        .untracked = untracked,
        .queue = &queue,
    };
    uint32_t took_ms;
    int top = -1;

    *ret_submodules = AL_SUBMODULES_INIT;
    own.at.budget = &limits;
    find_gitlinks(&own, &queue); /* its time is a part of that below */
    queue.owners = queue.paths.count;
    if (limits.left_ms > AL_SUBMODULE_TIME_MAX_MS)
        limits.left_ms = AL_SUBMODULE_TIME_MAX_MS;
    if (queue.owners && al_location_open_top(&repo->at, &top, NULL) == 0)
        for (size_t i = 0; i < queue.paths.count; i++)
            scan_next(&scan, top, i, ret_submodules);
    al_close(top);
    al_strv_clear(&queue.paths);
    took_ms = (uint32_t)(al_clock_ms() - began_ms);
    repo->at.budget->left_ms =
        took_ms < repo->at.budget->left_ms ? repo->at.budget->left_ms - took_ms : 1;
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
