// SPDX-License-Identifier: Apache-2.0
#include "call/missing_paths.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "call/failure.h"
#include "call/place.h"
#include "git/command.h"
#include "git/plumbing/batch.h"
#include "guard/nofollow.h"

/** More paths are not looked at. */
#define LOOKED_AT_MAX 20
/** Lines of an answer. */
#define TOLD_MAX 3

/** One path, and the nearest name that was seen. */
struct wanted {
    char *path;      /* relative to the top */
    bool is_on_disk; /* as something */
    bool is_found;   /* in what the call looks at */
    size_t inside;   /* the length of the working tree below the top that it lies in; 0: none */
    char *near;
    size_t edits;    /* from `path` to `near` */
    char *same_name; /* a file of this name elsewhere */
};

struct search {
    struct wanted *wanted;
    size_t count;
    bool lacks; /* one of them is not on disk */
};

static void search_clear(struct search *search)
{
    for (size_t i = 0; i < search->count; i++) {
        free(search->wanted[i].path);
        free(search->wanted[i].near);
        free(search->wanted[i].same_name);
    }
    free(search->wanted);
}

static size_t components(const char *path)
{
    size_t count = 1;

    for (; *path; path++)
        count += *path == '/';
    return count;
}

/* The length of the first `count` components. */
static size_t length_of(const char *path, size_t count)
{
    size_t len = strcspn(path, "/");

    while (--count && path[len])
        len += 1 + strcspn(path + len + 1, "/");
    return len;
}

/* The offset of the first component that two paths have in different forms. */
static size_t common_len(const char *a, const char *b)
{
    size_t common = 0;

    for (size_t i = 0; a[i] && a[i] == b[i]; i++)
        if (a[i] == '/')
            common = i + 1;
    return common;
}

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* A name of as many components, two letters of which are exchanged even if it is short, or a
 * directory above it, may be what was meant. */
static void offer_near(struct wanted *wanted, const char *name)
{
    const size_t len = length_of(name, components(wanted->path));
    const size_t own = strlen(wanted->path);
    al_auto(al_freep) char *candidate = NULL;
    size_t common, edits;

    if ((len > own ? len - own : own - len) > AL_NEAREST_MAX_EDITS)
        return;
    candidate = al_strndup(name, len);
    common = common_len(wanted->path, candidate);
    edits = al_edit_distance(wanted->path + common, candidate + common);
    if (edits > AL_NEAREST_MAX_EDITS || edits * 2 > own - common + (own - common > 2) ||
        (wanted->near && edits >= wanted->edits))
        return;
    free(wanted->near);
    wanted->near = al_take(&candidate);
    wanted->edits = edits;
}

static void offer(struct search *search, const char *name)
{
    for (size_t i = 0; i < search->count; i++) {
        struct wanted *wanted = &search->wanted[i];
        const size_t len = strlen(wanted->path);

        if (wanted->is_found)
            continue;
        if (!len || (al_starts_with(name, wanted->path) && (!name[len] || name[len] == '/')))
            wanted->is_found = true;
        else
            offer_near(wanted, name);
        if (!wanted->same_name && !strcmp(base_of(name), base_of(wanted->path)))
            wanted->same_name = al_strdup(name);
    }
}

static bool take_listed(void *payload, char *const *fields)
{
    offer(payload, fields[0]);
    return true;
}

/* The length of the part of a path that is a working tree of its own: a submodule, a clone or a
 * linked worktree.  0: none is. */
static size_t find_inside(int top_fd, const char *path)
{
    for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
        al_auto(al_freep) char *git = al_asprintf("%.*s/.git", (int)(slash - path), path);
        al_auto(al_closep) int fd = al_nofollow_open(top_fd, git, O_PATH);

        if (fd >= 0)
            return (size_t)(slash - path);
    }
    return 0;
}

/* The paths of the call.  A path outside of the roots or the repository is not looked for. */
static void read_paths(const struct al_repo *repo, const struct al_strv *paths, int top_fd,
                       struct search *search)
{
    search->wanted = al_calloc(paths->count + 1, sizeof(*search->wanted));
    for (size_t i = 0; i < paths->count && search->count < LOOKED_AT_MAX; i++) {
        struct wanted *wanted = &search->wanted[search->count];
        al_auto(al_closep) int fd = -1;

        /* A pathspec with a glob or magic may match several names. */
        if (paths->items[i][0] == ':' || strpbrk(paths->items[i], "*?[\\") ||
            al_place_from_argument(repo, "paths", paths->items[i], &wanted->path, NULL) < 0)
            continue;
        fd = al_nofollow_open(top_fd, wanted->path, O_PATH | O_NOFOLLOW);
        wanted->is_on_disk = fd >= 0;
        search->lacks |= fd < 0;
        wanted->inside = find_inside(top_fd, wanted->path);
        search->count++;
    }
}

static bool all_found(const struct search *search)
{
    for (size_t i = 0; i < search->count; i++)
        if (!search->wanted[i].is_found)
            return false;
    return true;
}

/* A file of a submodule is not in the index; what is above it is. */
static void find_tracked(struct al_call *call, struct search *search)
{
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;
    al_auto(al_strv_clear) struct al_strv files = AL_STRV_INIT;

    for (size_t i = 0; i < search->count; i++)
        al_strv_add(&names, search->wanted[i].path);
    if (al_repo_tracked_files(al_call_repo(call), &names, &files, NULL) < 0)
        search->count = 0; /* nothing is told */
    for (size_t i = 0; i < files.count; i++)
        offer(search, files.items[i]);
}

static void search_worktree(struct al_call *call, const struct al_path_scope *scope, int top_fd,
                            struct search *search)
{
    if (!search->lacks) {
        if (!scope->untracked)
            find_tracked(call, search);
    } else if (al_git_list_files(al_call_repo(call), top_fd, take_listed, search, NULL) < 0) {
        search->count = 0;
    }
    for (size_t i = 0; i < search->count; i++)
        search->wanted[i].is_found |=
            scope->untracked && search->wanted[i].is_on_disk && !search->wanted[i].inside;
}

static void search_tree(struct al_call *call, const char *rev, struct search *search)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_strv_clear) struct al_strv list = AL_STRV_INIT;

    al_strv_adds(&command.argv, "git", "ls-tree", "-r", "-z", "--name-only", "--full-tree",
                 "--end-of-options", rev, NULL);
    if (al_git_list_paths(al_call_repo(call), &command, &list, NULL) < 0)
        search->count = 0;
    for (size_t i = 0; i < list.count; i++)
        offer(search, list.items[i]);
}

/* A side of a range that is left out is HEAD. */
static void search_revision(struct al_call *call, const char *rev, struct search *search)
{
    const char *dots = strstr(rev, "..");
    al_auto(al_freep) char *left = dots ? al_strndup(rev, (size_t)(dots - rev)) : NULL;
    const char *right = dots ? dots + strspn(dots, ".") : rev;

    if (left)
        search_tree(call, *left ? left : "HEAD", search);
    search_tree(call, *right ? right : "HEAD", search);
}

static void add_where(const struct al_path_scope *scope, struct al_str *out)
{
    al_str_adds(out, " in ");
    if (scope->rev)
        al_place_add_name(scope->rev, out);
    if (scope->worktree)
        al_str_addf(out, "%sthe working tree", scope->rev ? " or " : "");
}

static void add_line(struct al_call *call, const struct wanted *wanted,
                     const struct al_path_scope *scope, struct al_str *out)
{
    const struct al_repo *repo = al_call_repo(call);
    const char *meant = wanted->near ? wanted->near : wanted->same_name;
    al_auto(al_freep) char *shown = al_place(repo, wanted->path);

    if (wanted->inside) {
        al_auto(al_freep) char *dir =
            al_asprintf("%s/%.*s", repo->at.top, (int)wanted->inside, wanted->path);

        al_place_addf(out, "'%s' is in another working tree, with working_dir '%s'\n", shown, dir);
        return;
    }
    if (wanted->is_on_disk && scope->worktree) {
        al_str_addf(out, "'%s' is not tracked\n", shown);
        return;
    }
    al_str_addf(out, "There is no '%s'", shown);
    add_where(scope, out);
    if (meant) {
        al_str_adds(out, "; did you mean '");
        al_place_add(repo, meant, out);
        al_str_adds(out, "'?");
    }
    al_str_addc(out, '\n');
}

static const char names[] = "git_status has the names; paths are relative to working_dir.";

static const char *remedy_for(const struct wanted *wanted, const struct al_path_scope *scope)
{
    return wanted->inside       ? "Call again with that working_dir; paths are relative to it."
           : !scope->worktree   ? "git_show with the path of a directory lists what is in it; "
                                  "git_log with paths and "
                                  "follow tells what became of a file."
           : wanted->is_on_disk ? "git_add tracks it."
                                : names;
}

const char *al_missing_paths_add(struct al_call *call, const struct al_strv *paths,
                                 const struct al_path_scope *scope, struct al_str *out)
{
    const struct al_repo *repo = al_call_repo(call);
    al_auto(search_clear) struct search search = { .count = 0 };
    al_auto(al_closep) int top_fd = -1;
    size_t told = 0;
    const char *remedy = names;

    if (!repo || al_location_is_bare(&repo->at) ||
        al_location_open_top(&repo->at, &top_fd, NULL) < 0)
        return NULL;
    read_paths(repo, paths, top_fd, &search);
    if (search.count && scope->worktree)
        search_worktree(call, scope, top_fd, &search);
    if (scope->rev && !all_found(&search))
        search_revision(call, scope->rev, &search);
    for (size_t i = 0; i < search.count; i++) {
        if (search.wanted[i].is_found || told++ >= TOLD_MAX)
            continue;
        add_line(call, &search.wanted[i], scope, out);
        remedy = remedy_for(&search.wanted[i], scope);
    }
    return remedy;
}

void al_missing_paths_end(struct al_call *call, const struct al_strv *paths, const char *rev,
                          struct al_pages *pages)
{
    const struct al_path_scope scope = { .rev = rev, .worktree = true, .untracked = true };
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    if (paths->count < 2 || pages->full || pages->moved)
        return;
    al_missing_paths_add(call, paths, &scope, &text);
    if (text.len)
        (void)al_pages_adds(pages, text.buf);
}

int al_missing_path_fail(struct al_call *call, const char *path, const char *rev,
                         struct al_error *err)
{
    const struct al_path_scope scope = { .rev = rev };
    al_auto(al_strv_clear) struct al_strv paths = AL_STRV_INIT;
    al_auto(al_str_clear) struct al_str message = AL_STR_INIT;
    const char *remedy;

    al_strv_add(&paths, path);
    remedy = al_missing_paths_add(call, &paths, &scope, &message);
    if (!message.len) {
        al_str_addf(&message, "There is no file '%s'", path);
        add_where(&scope, &message);
    }
    al_str_trim_end(&message);
    return al_failure_bad_args(err, remedy, "%s", message.buf);
}
