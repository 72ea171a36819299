// SPDX-License-Identifier: Apache-2.0
/*
 * After a push moved the branch that the target has checked out: index and files follow.
 *
 *   a changed path                          its index entry    its file
 *
 *   as the old commit has it                follows            follows
 *   entry as the old commit, file changed   follows            stays
 *   entry changed                           stays              stays
 *
 * git does it with a merge of two trees, which changes no file that is not as its entry says.  The
 * second tree has the paths of the first row; the entries of the second row are set afterwards.
 *
 * Source: git-read-tree(1) "Two Tree Merge".
 */
#include <errno.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gitops/nul_records.h"
#include "gitops/plumbing/revision.h"
#include "gitops/private_dir.h"
#include "gitops/run.h"
#include "guard/text.h"
#include "staging/push/private.h"
#include "util/fs.h"

#define MESSAGE_BYTES (64u * 1024u)
#define NAMED_MAX     20

/** A path that the push changes. */
struct path {
    char *name;
    char mode[7], oid[AL_OID_TEXT]; /* in the new commit; mode "000000": deleted */
    bool is_new;                    /* the old commit has no file there */
    bool entry_changed, file_changed;
};

struct paths {
    struct path *items;
    size_t count, room;
};

/* The commit that the working tree was on; the empty tree for a branch without commits. */
static const char *old_of(const struct al_push *push)
{
    return *push->head ? push->head : al_push_empty_tree(push);
}

static void paths_clear(struct paths *paths)
{
    for (size_t i = 0; i < paths->count; i++)
        free(paths->items[i].name);
    free(paths->items);
}

/* A submodule is a directory with files that no commit of the target has. */
static bool replaces_submodule(const char *record)
{
    return al_starts_with(record, ":160000 100") || al_starts_with(record, ":160000 120");
}

/* One record of a raw diff: ":<old mode> <new mode> <old id> <new id> <status>" and the path. */
static bool take_change(void *payload, char *const *fields)
{
    struct paths *paths = payload;
    struct path *path;
    const char *oid;

    if (paths->count == paths->room) {
        paths->room = paths->room ? 2 * paths->room : 64;
        paths->items = al_reallocarray(paths->items, paths->room, sizeof(*paths->items));
    }
    path = &paths->items[paths->count];
    *path = (struct path){ .name = NULL };
    if (strlen(fields[0]) < sizeof(":100644 100644 ") - 1)
        return false;
    memcpy(path->mode, fields[0] + strlen(":100644 "), 6);
    oid = strchr(fields[0] + strlen(":100644 100644 "), ' ');
    if (!oid || strcspn(oid + 1, " ") >= sizeof(path->oid))
        return false;
    memcpy(path->oid, oid + 1, strcspn(oid + 1, " "));
    path->is_new = al_starts_with(fields[0], ":000000") || replaces_submodule(fields[0]);
    path->name = al_strdup(fields[1]);
    paths->count++;
    return true;
}

static int compare_paths(const void *a, const void *b)
{
    return strcmp(((const struct path *)a)->name, ((const struct path *)b)->name);
}

static struct path *find(const struct paths *paths, const char *name)
{
    const struct path key = { .name = (char *)name };

    return paths->count ? bsearch(&key, paths->items, paths->count, sizeof(key), compare_paths)
                        : NULL;
}

/* Whether `name` is in the directory `dir`. */
static bool is_in(const char *name, const char *dir)
{
    const size_t len = strlen(dir);

    return !strncmp(name, dir, len) && name[len] == '/';
}

/* A path that the push does not change was added by the user when a new path is above or beneath
 * it.  The index cannot have both. */
static bool take_entry_changed(void *payload, char *const *fields)
{
    struct paths *paths = payload;
    struct path *path = find(paths, fields[0]);

    if (path) {
        path->entry_changed = true;
        return true;
    }
    for (path = paths->items; path < paths->items + paths->count; path++)
        if (path->is_new && (is_in(path->name, fields[0]) || is_in(fields[0], path->name)))
            path->entry_changed = true;
    return true;
}

static bool take_file_changed(void *payload, char *const *fields)
{
    struct path *path = find(payload, fields[0]);

    if (path)
        path->file_changed = true;
    return true;
}

static int read_names(const struct al_push *push, const char *const *words, struct paths *paths,
                      bool (*take)(void *, char *const *), size_t nfields,
                      struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_nul_records_clear) struct al_nul_records records =
        AL_NUL_RECORDS_INIT(nfields, take, paths);

    al_strv_adds(&command.argv, "git", "-c", AL_NO_COMMIT_GRAPH, NULL);
    for (; *words; words++)
        al_strv_add(&command.argv, *words);
    return al_git_read_records(&push->repo->at, &command, &records, budget, err);
}

static int run(const struct al_push *push, struct al_git_command *command,
               struct al_run_limits *budget, struct al_str *out, struct al_error *err)
{
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    int r;

    command->class = AL_GIT_WRITE;
    r = al_git_run(&push->repo->at, command,
                   &(struct al_git_run){ .max_bytes = MESSAGE_BYTES, .checked = true }, budget,
                   &output, err);
    if (r == 0 && out)
        al_str_adds(out, output.out.out.buf);
    return r;
}

/* A file whose stat differs from its entry may have the same content. */
static int refresh(const struct al_push *push, struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };

    command.class = AL_GIT_WRITE;
    al_strv_adds(&command.argv, "git", "update-index", "-q", "--ignore-submodules", "--refresh",
                 NULL);
    return al_git_run(&push->repo->at, &command, &(struct al_git_run){ .max_bytes = MESSAGE_BYTES },
                      budget, &output, err); /* exits with 1 when files have changed */
}

static bool is_deleted(const struct path *path)
{
    return !strcmp(path->mode, "000000");
}

/* `path` cannot follow unless `other`, which is above or beneath it, is deleted by the push; NULL:
 * the push does not change it. */
static void wait_for(struct path *path, const struct path *other)
{
    if (!other || !is_deleted(other) || other->entry_changed || other->file_changed)
        path->file_changed = true;
    if (other && other->entry_changed)
        path->entry_changed = true;
}

/* A file or link where a directory would come. */
static void look_above(const struct al_push *push, const struct paths *paths, struct path *path)
{
    for (const char *slash = strchr(path->name, '/'); slash; slash = strchr(slash + 1, '/')) {
        al_auto(al_freep) char *name = al_strndup(path->name, (size_t)(slash - path->name));
        al_auto(al_freep) char *file = al_fs_join(push->repo->at.top, name);
        struct stat st;

        if (lstat(file, &st) < 0)
            return;
        if (!S_ISDIR(st.st_mode)) {
            wait_for(path, find(paths, name));
            return;
        }
    }
}

/* A directory where a file would come: git would delete what is ignored in it. */
static void look_beneath(const struct al_push *push, const struct paths *paths, struct path *path)
{
    al_auto(al_freep) char *dir = al_fs_join(push->repo->at.top, path->name);
    char *const roots[] = { dir, NULL };
    FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    FTSENT *entry;

    if (!walk) {
        path->file_changed = true;
        return;
    }
    errno = 0;
    while (!path->file_changed && (entry = fts_read(walk))) {
        if (entry->fts_info == FTS_D || entry->fts_info == FTS_DP)
            continue;
        wait_for(path, find(paths, entry->fts_path + strlen(dir) - strlen(path->name)));
    }
    if (errno != 0) /* the walk was not to the end */
        path->file_changed = true;
    (void)fts_close(walk);
}

/* A new path has no entry; a file there is one that the user made. */
static void find_untracked(const struct al_push *push, struct paths *paths)
{
    for (size_t i = 0; i < paths->count; i++) {
        struct path *path = &paths->items[i];
        al_auto(al_freep) char *file = al_fs_join(push->repo->at.top, path->name);
        struct stat st;

        if (!path->is_new)
            continue;
        look_above(push, paths, path);
        if (lstat(file, &st) < 0)
            continue;
        if (S_ISDIR(st.st_mode))
            look_beneath(push, paths, path);
        else
            path->file_changed = true;
    }
}

static int look(const struct al_push *push, const char *commit, struct paths *paths,
                struct al_run_limits *budget, struct al_error *err)
{
    const char *const changes[] = { "diff-tree",    "-r",         "-z",   "--raw", "--no-abbrev",
                                    "--no-renames", old_of(push), commit, "--",    NULL };
    /* Changes inside a submodule are its own; git would run there to find them. */
    const char *const entries[] = { "diff-index",  "--cached",     "-z",
                                    "--name-only", "--no-renames", "--ignore-submodules=dirty",
                                    old_of(push),  "--",           NULL };
    const char *const files[] = { "diff-files", "-z", "--name-only", "--ignore-submodules=dirty",
                                  "--",         NULL };
    int r = refresh(push, budget, err);

    if (r == 0)
        r = read_names(push, changes, paths, take_change, 2, budget, err);
    if (r < 0)
        return r;
    qsort(paths->items, paths->count, sizeof(*paths->items), compare_paths);
    r = read_names(push, entries, paths, take_entry_changed, 1, budget, err);
    if (r == 0)
        r = read_names(push, files, paths, take_file_changed, 1, budget, err);
    find_untracked(push, paths);
    return r;
}

/* "<mode> SP <oid> TAB <path>" NUL for paths whose files follow (`whole`), or only their entries.
 */
static size_t add_entries(const struct paths *paths, bool whole, struct al_str *out)
{
    size_t count = 0;

    for (size_t i = 0; i < paths->count; i++) {
        const struct path *path = &paths->items[i];

        if (path->entry_changed || path->file_changed == whole)
            continue;
        al_str_addf(out, "%s %s\t%s", is_deleted(path) ? "0" : path->mode, path->oid, path->name);
        al_str_addc(out, '\0');
        count++;
    }
    return count;
}

static int set_entries(const struct al_push *push, const struct al_str *entries, const char *index,
                       struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;

    command.index = index;
    command.input = entries->buf;
    command.input_len = entries->len;
    al_strv_adds(&command.argv, "git", "update-index", "-z", "--index-info", NULL);
    return run(push, &command, budget, NULL, err);
}

/* The tree of the old commit with the paths whose files follow. */
static int make_tree(const struct al_push *push, const struct al_str *entries,
                     struct al_run_limits *budget, struct al_str *ret_tree, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command read = AL_GIT_COMMAND_INIT;
    al_auto(al_git_command_clear) struct al_git_command write = AL_GIT_COMMAND_INIT;
    al_auto(al_freep) char *index = al_git_private_name(push->repo->at.git, "push");
    int r;

    read.index = write.index = index;
    al_strv_adds(&read.argv, "git", "read-tree", old_of(push), NULL);
    al_strv_adds(&write.argv, "git", "write-tree", "--missing-ok", NULL);
    r = run(push, &read, budget, NULL, err);
    if (r == 0 && entries->len)
        r = set_entries(push, entries, index, budget, err);
    if (r == 0)
        r = run(push, &write, budget, ret_tree, err);
    (void)unlink(index);
    al_str_trim_end(ret_tree);
    return r;
}

static int merge_trees(const struct al_push *push, const char *to, struct al_run_limits *budget,
                       struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;

    al_strv_adds(&command.argv, "git", "read-tree", "-m", "-u", old_of(push), to, NULL);
    return run(push, &command, budget, NULL, err);
}

static void name_those_left(const struct al_push *push, const struct paths *paths,
                            struct al_strv *notes)
{
    al_auto(al_strv_clear) struct al_strv left = AL_STRV_INIT;
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;

    for (size_t i = 0; i < paths->count; i++)
        if (paths->items[i].entry_changed || paths->items[i].file_changed)
            al_strv_add(&left, paths->items[i].name);
    if (!left.count)
        return;
    al_str_addf(&line, "Changed in the working tree of %s and left as they are: ", push->shown);
    al_text_add_list(&line, &left, NAMED_MAX);
    al_strv_add(notes, line.buf);
}

/* git found a file in the way that was not there a moment ago: the entries alone follow, so that
 * the next commit does not undo the push. */
static void leave_all(struct paths *paths)
{
    for (size_t i = 0; i < paths->count; i++)
        paths->items[i].file_changed = true;
}

int al_push_worktree(const struct al_push *push, const char *commit, struct al_run_limits *budget,
                     struct al_strv *notes, struct al_error *err)
{
    al_auto(paths_clear) struct paths paths = { .items = NULL };
    al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;
    al_auto(al_str_clear) struct al_str follow = AL_STR_INIT;
    al_auto(al_str_clear) struct al_str entries = AL_STR_INIT;
    al_auto(al_str_clear) struct al_str tree = AL_STR_INIT;
    int r;

    r = look(push, commit, &paths, budget, err);
    if (r < 0)
        return r;
    if (add_entries(&paths, true, &follow) == paths.count) {
        al_str_adds(&tree, commit);
    } else {
        r = make_tree(push, &follow, budget, &tree, err);
        if (r < 0)
            return r;
    }
    if (merge_trees(push, tree.buf, budget, &why) < 0) {
        al_strv_addf(notes, "git would not change the files in %s: %s", push->shown, why.message);
        leave_all(&paths);
    }
    if (add_entries(&paths, false, &entries))
        r = set_entries(push, &entries, NULL, budget, err);
    if (r == 0)
        name_those_left(push, &paths, notes);
    return r;
}
