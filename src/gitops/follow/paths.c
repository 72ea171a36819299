// SPDX-License-Identifier: Apache-2.0
#include "gitops/follow/paths.h"

#include <errno.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "gitops/nul_records.h"
#include "gitops/plumbing/revision.h"
#include "gitops/run.h"
#include "util/fs.h"
#include "util/sorted.h"

#define MESSAGE_BYTES (64u * 1024u)

void al_follow_paths_clear(struct al_follow_paths *paths)
{
    for (size_t i = 0; i < paths->count; i++)
        free(paths->items[i].name);
    free(paths->items);
    *paths = (struct al_follow_paths){ .items = NULL };
}

/* A submodule is a directory with files that no commit of the target has. */
static bool replaces_submodule(const char *record)
{
    return al_starts_with(record, ":160000 100") || al_starts_with(record, ":160000 120");
}

/* One record of a raw diff: ":<old mode> <new mode> <old id> <new id> <status>" and the path. */
static bool take_change(void *payload, char *const *fields)
{
    struct al_follow_paths *paths = payload;
    struct al_follow_path *path;
    const char *oid;

    if (paths->count == paths->room) {
        paths->room = paths->room ? 2 * paths->room : 64;
        paths->items = al_reallocarray(paths->items, paths->room, sizeof(*paths->items));
    }
    path = &paths->items[paths->count];
    *path = (struct al_follow_path){ .name = NULL };
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
    return strcmp(((const struct al_follow_path *)a)->name,
                  ((const struct al_follow_path *)b)->name);
}

struct al_follow_path *al_follow_paths_find(const struct al_follow_paths *paths, const char *name)
{
    const size_t at = al_sorted_find(paths->items, paths->count, sizeof(*paths->items), name);

    return at == SIZE_MAX ? NULL : &paths->items[at];
}

/* Whether `name` is in the directory `dir`. */
static bool is_in(const char *name, const char *dir)
{
    const size_t len = strlen(dir);

    return !strncmp(name, dir, len) && name[len] == '/';
}

/* A path that does not differ was added by the user when a new path is above or beneath
 * it.  The index cannot have both. */
static bool take_entry_changed(void *payload, char *const *fields)
{
    struct al_follow_paths *paths = payload;
    struct al_follow_path *path = al_follow_paths_find(paths, fields[0]);

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
    struct al_follow_path *path = al_follow_paths_find(payload, fields[0]);

    if (path)
        path->file_changed = true;
    return true;
}

int al_follow_read(const struct al_follow *with, const char *const *words,
                   struct al_follow_paths *paths, bool (*take)(void *, char *const *),
                   size_t nfields, struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_nul_records_clear) struct al_nul_records records =
        AL_NUL_RECORDS_INIT(nfields, take, paths);

    al_strv_adds(&command.argv, "git", "-c", AL_NO_COMMIT_GRAPH, NULL);
    for (; *words; words++)
        al_strv_add(&command.argv, *words);
    return al_git_read_records(&with->repo->at, &command, &records, budget, err);
}

int al_follow_run(const struct al_follow *with, struct al_git_command *command,
                  struct al_run_limits *budget, struct al_str *out, struct al_error *err)
{
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    int r;

    command->class = AL_GIT_WRITE;
    r = al_git_run(&with->repo->at, command,
                   &(struct al_git_run){ .max_bytes = MESSAGE_BYTES, .checked = true }, budget,
                   &output, err);
    if (r == 0 && out)
        al_str_adds(out, output.out.out.buf);
    return r;
}

/* A file whose stat differs from its entry may have the same content. */
static int refresh(const struct al_follow *with, struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };

    command.class = AL_GIT_WRITE;
    al_strv_adds(&command.argv, "git", "update-index", "-q", "--ignore-submodules", "--refresh",
                 NULL);
    return al_git_run(&with->repo->at, &command, &(struct al_git_run){ .max_bytes = MESSAGE_BYTES },
                      budget, &output, err); /* exits with 1 when files have changed */
}

bool al_follow_path_is_deleted(const struct al_follow_path *path)
{
    return !strcmp(path->mode, "000000");
}

/* `path` cannot follow unless `other`, which is above or beneath it, is deleted; NULL: it does
 * not differ. */
static void wait_for(struct al_follow_path *path, const struct al_follow_path *other)
{
    if (!other || !al_follow_path_is_deleted(other) || other->entry_changed || other->file_changed)
        path->file_changed = true;
    if (other && other->entry_changed)
        path->entry_changed = true;
}

/* A file or link where a directory would come. */
static void look_above(const struct al_follow *with, const struct al_follow_paths *paths,
                       struct al_follow_path *path)
{
    for (const char *slash = strchr(path->name, '/'); slash; slash = strchr(slash + 1, '/')) {
        al_auto(al_freep) char *name = al_strndup(path->name, (size_t)(slash - path->name));
        al_auto(al_freep) char *file = al_fs_join(with->repo->at.top, name);
        struct stat st;

        if (lstat(file, &st) < 0)
            return;
        if (!S_ISDIR(st.st_mode)) {
            wait_for(path, al_follow_paths_find(paths, name));
            return;
        }
    }
}

/* A directory where a file would come: git would delete what is ignored in it. */
static void look_beneath(const struct al_follow *with, const struct al_follow_paths *paths,
                         struct al_follow_path *path)
{
    al_auto(al_freep) char *dir = al_fs_join(with->repo->at.top, path->name);
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
        wait_for(path,
                 al_follow_paths_find(paths, entry->fts_path + strlen(dir) - strlen(path->name)));
    }
    if (errno != 0) /* the walk was not to the end */
        path->file_changed = true;
    (void)fts_close(walk);
}

/* A new path has no entry; a file there is one that the user made. */
static void find_untracked(const struct al_follow *with, struct al_follow_paths *paths)
{
    for (size_t i = 0; i < paths->count; i++) {
        struct al_follow_path *path = &paths->items[i];
        al_auto(al_freep) char *file = al_fs_join(with->repo->at.top, path->name);
        struct stat st;

        if (!path->is_new)
            continue;
        look_above(with, paths, path);
        if (lstat(file, &st) < 0)
            continue;
        if (S_ISDIR(st.st_mode))
            look_beneath(with, paths, path);
        else
            path->file_changed = true;
    }
}

int al_follow_look(const struct al_follow *with, const char *commit, struct al_follow_paths *paths,
                   struct al_run_limits *budget, struct al_error *err)
{
    const char *const changes[] = { "diff-tree",    "-r",       "-z",   "--raw", "--no-abbrev",
                                    "--no-renames", with->from, commit, "--",    NULL };
    /* Changes inside a submodule are its own; git would run there to find them. */
    const char *const entries[] = { "diff-index",  "--cached",     "-z",
                                    "--name-only", "--no-renames", "--ignore-submodules=dirty",
                                    with->from,    "--",           NULL };
    const char *const files[] = { "diff-files", "-z", "--name-only", "--ignore-submodules=dirty",
                                  "--",         NULL };
    /* In place of the files' stat data, this compares their content where those differ. */
    const char *const contents[] = { "diff",
                                     "-z",
                                     "--name-only",
                                     "--no-renames",
                                     "--no-ext-diff",
                                     "--no-textconv",
                                     "--ignore-submodules=dirty",
                                     "--",
                                     NULL };
    int r = with->only_looks ? 0 : refresh(with, budget, err);

    if (r == 0)
        r = al_follow_read(with, changes, paths, take_change, 2, budget, err);
    if (r < 0)
        return r;
    qsort(paths->items, paths->count, sizeof(*paths->items), compare_paths);
    r = al_follow_read(with, entries, paths, take_entry_changed, 1, budget, err);
    if (r == 0)
        r = al_follow_read(with, with->only_looks ? contents : files, paths, take_file_changed, 1,
                           budget, err);
    find_untracked(with, paths);
    return r < 0 ? r : al_follow_look_at_marks(with, paths, budget, err);
}
