// SPDX-License-Identifier: Apache-2.0
/*
 * The part of a savepoint in the working tree.
 *
 * A restore removes only files that git wrote, not files that another process created meanwhile.
 * git wrote a file if an incoming commit has its name, or if the object store has its content,
 * since git writes files from nowhere else.  So nothing is removed that cannot be recovered.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gitops/command.h"
#include "gitops/diff/cat_file.h"
#include "gitops/failure.h"
#include "gitops/location.h"
#include "gitops/nul_records.h"
#include "gitops/run.h"
#include "gitops/sequencer/overwrite.h"
#include "gitops/sequencer/savepoint.h"
#include "guard/nofollow.h"
#include "history/rescue.h"
#include "util/fs.h"

static const char too_many[] =
    "Too many changed and untracked files to be put back if this were interrupted; do this one "
    "with git itself";

/* Run a command that lists names. */
static int list(const struct al_repo *repo, struct al_git_command *command, struct al_sink sink,
                struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    int r =
        al_git_run(&repo->at, command, &(struct al_git_run){ .sink = sink }, budget, &output, err);

    if (r < 0)
        return r;
    if (output.stopped)
        return al_error_set(err, AL_ERR_EXECUTION, "%s", too_many);
    return output.exit_code != 0 ? al_git_failed(&output, err) : 0;
}

/* Run `ls-files` with these options (ending with NULL) on `index`; NULL: the repository's index. */
static int list_files(const struct al_repo *repo, const char *index, const char *const *options,
                      struct al_run_limits *budget, struct al_buffer *names, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;

    command.index = index;
    al_strv_adds(&command.argv, "git", "-C", repo->at.top, "ls-files", "-z", NULL);
    for (; *options; options++)
        al_strv_add(&command.argv, *options);
    return list(repo, &command, al_buffer_sink(names), budget, err);
}

/* List the names that `commit` has and the saved commit has not, one record each. */
static int list_added(const struct al_repo *repo, const struct al_savepoint *savepoint,
                      const char *commit, struct al_nul_records *records,
                      struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;

    if (*savepoint->commit)
        al_strv_adds(&command.argv, "git", "diff", "--name-only", "-z", "--no-renames",
                     "--diff-filter=A", "--no-ext-diff", "--no-textconv",
                     "--ignore-submodules=dirty", savepoint->commit, commit, "--", NULL);
    else
        al_strv_adds(&command.argv, "git", "ls-tree", "-r", "-z", "--name-only", "--full-tree",
                     commit, NULL);
    return list(repo, &command, (struct al_sink){ al_nul_records_add, records }, budget, err);
}

struct preexisting_check {
    int top;
    struct al_buffer *preexisting;
};

static bool add_preexisting(void *payload, char *const *fields)
{
    const struct preexisting_check *preexisting_check = payload;
    al_auto(al_freep) char *found = al_overwrite_find(preexisting_check->top, fields[0]);

    return !found || al_buffer_sink(preexisting_check->preexisting)
                         .add(preexisting_check->preexisting, found, strlen(found) + 1);
}

int al_savepoint_take_tree(const struct al_repo *repo, struct al_run_limits *budget,
                           struct al_savepoint *savepoint, struct al_error *err)
{
    static const char *const dirty[] = { "--modified", "--others", "--exclude-standard", NULL };
    al_auto(al_closep) int top = -1;
    struct preexisting_check preexisting_check = { .preexisting = &savepoint->preexisting };
    al_auto(al_nul_records_clear) struct al_nul_records records =
        AL_NUL_RECORDS_INIT(1, add_preexisting, &preexisting_check);
    int r = al_location_open_top(&repo->at, &top, err);

    preexisting_check.top = top;
    if (r == 0)
        r = list_files(repo, NULL, dirty, budget, &savepoint->dirty, err);
    for (size_t i = 0; r == 0 && i < savepoint->incoming.count; i++)
        r = list_added(repo, savepoint, savepoint->incoming.items[i], &records, budget, err);
    return r;
}

/* A directory whose files are all tracked is replaced by a file, which a restore removes. */
static void forget_directories(int top_fd, struct al_buffer *names)
{
    size_t kept = 0;

    for (size_t at = 0; at < names->len;) {
        size_t len = strlen(names->data + at) + 1;
        struct stat st;

        if (fstatat(top_fd, names->data + at, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
            !S_ISDIR(st.st_mode)) {
            memmove(names->data + kept, names->data + at, len);
            kept += len;
        }
        at += len;
    }
    names->len = kept;
}

int al_savepoint_check_no_overwrite(const struct al_repo *repo, struct al_savepoint *savepoint,
                                    struct al_run_limits *budget, struct al_error *err)
{
    struct al_buffer *names = &savepoint->preexisting;
    al_auto(al_strv_clear) struct al_strv found = AL_STRV_INIT;
    al_auto(al_closep) int top_fd = -1;
    int r;

    for (size_t at = 0; at < names->len; at += strlen(names->data + at) + 1)
        al_strv_add(&found, names->data + at);
    if (!found.count)
        return 0;
    r = al_overwrite_check(repo, &found, budget, err);
    if (r == 0)
        r = al_location_open_top(&repo->at, &top_fd, err);
    if (r == 0)
        forget_directories(top_fd, names);
    return r;
}

/* Sorted names for lookups; they point into the buffer. */
struct names {
    const char **items;
    size_t count;
};

static void names_clear(struct names *names)
{
    free(names->items);
}

static int compare(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static struct names names_of(const struct al_buffer *buffer)
{
    struct names names = { .items = NULL };

    for (size_t at = 0; at < buffer->len; at += strlen(buffer->data + at) + 1)
        names.count++;
    names.items = al_calloc(names.count, sizeof(*names.items));
    names.count = 0;
    for (size_t at = 0; at < buffer->len; at += strlen(buffer->data + at) + 1)
        names.items[names.count++] = buffer->data + at;
    qsort(names.items, names.count, sizeof(*names.items), compare);
    return names;
}

static bool has(const struct names *names, const char *name)
{
    return names->count &&
           bsearch(&name, names->items, names->count, sizeof(*names->items), compare);
}

struct removing {
    int top;
    const char *path; /* of the top */
    const struct al_watch *watch;
    const struct names *dirty, *preexisting;
};

/* Remove a file or a link that did not exist before, and its directories if they are empty now. */
static bool remove_added(void *payload, char *const *fields)
{
    const struct removing *removing = payload;
    const char *path = fields[0], *name;
    al_auto(al_freep) char *whole = al_fs_join(removing->path, path);
    al_auto(al_closep) int parent = -1;

    if (has(removing->dirty, path) || has(removing->preexisting, path))
        return true;
    parent = al_nofollow_open_parent(removing->top, path, false, &name);
    if (parent >= 0 && al_rescue_unlink(removing->watch, parent, name, whole) == 0)
        al_nofollow_remove_parents(removing->top, path);
    return true;
}

/* The object ids that git would give the content of these files, one a line. */
static int hash_files(const struct al_repo *repo, const struct al_strv *paths,
                      struct al_run_limits *budget, struct al_buffer *oids, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_str_clear) struct al_str input = AL_STR_INIT;

    for (size_t i = 0; i < paths->count; i++)
        al_str_addf(&input, "%s\n", paths->items[i]);
    command.input = input.buf;
    command.input_len = input.len;
    al_strv_adds(&command.argv, "git", "-C", repo->at.top, "hash-object", "--stdin-paths", NULL);
    return list(repo, &command, al_buffer_sink(oids), budget, err);
}

/* Remove those of the files whose content is in the object store. */
static int remove_stored(const struct al_repo *repo, const struct al_strv *paths,
                         struct al_run_limits *budget, struct removing *removing,
                         struct al_error *err)
{
    struct al_buffer oids = { .max_bytes = AL_SAVEPOINT_NAMES_BYTES };
    al_auto(al_freep) struct al_blob *blobs = al_calloc(paths->count, sizeof(*blobs));
    size_t count = 0;
    char *save = NULL;
    int r = hash_files(repo, paths, budget, &oids, err);

    for (char *oid = oids.data ? strtok_r(oids.data, "\n", &save) : NULL;
         r == 0 && oid && count < paths->count; oid = strtok_r(NULL, "\n", &save), count++)
        blobs[count] = (struct al_blob){ .oid = oid, .group = count };
    if (r == 0)
        r = al_git_cat_file(repo, blobs, count, 0, budget, err);
    for (size_t i = 0; r == 0 && i < count; i++)
        if (blobs[i].exists)
            (void)remove_added(removing, &paths->items[i]);
    if (r == 0)
        al_cat_file_clear(blobs, count);
    al_buffer_clear(&oids);
    return r;
}

/* Whether the path is a regular file whose name hash-object reads unchanged. */
static bool is_hashable(int top, const char *path)
{
    struct stat st;

    return *path != '"' && !strchr(path, '\n') &&
           fstatat(top, path, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode);
}

/* Remove untracked files that git wrote.  `only` are the files that may be meant, sorted; NULL:
 * any.
 */
static int remove_untracked(const struct al_repo *repo, const char *index,
                            const struct al_strv *only, struct al_run_limits *budget,
                            struct removing *removing, struct al_error *err)
{
    static const char *const untracked[] = { "--others", "--exclude-standard", NULL };
    struct al_buffer found = { .max_bytes = AL_SAVEPOINT_NAMES_BYTES };
    al_auto(al_strv_clear) struct al_strv paths = AL_STRV_INIT;
    int r = list_files(repo, index, untracked, budget, &found, err);

    for (size_t at = 0; r == 0 && at < found.len; at += strlen(found.data + at) + 1) {
        const char *path = found.data + at;

        if (!has(removing->dirty, path) && !has(removing->preexisting, path) &&
            (!only || al_strv_contains_sorted(only, path)) && is_hashable(removing->top, path))
            al_strv_add(&paths, path);
    }
    if (r == 0 && paths.count)
        r = remove_stored(repo, &paths, budget, removing, err);
    al_buffer_clear(&found);
    return r;
}

/* List the names that differ between the saved commit and an index; NULL: the repository's. */
static int list_staged(const struct al_repo *repo, const struct al_savepoint *savepoint,
                       const char *index, struct al_run_limits *budget, struct al_buffer *names,
                       struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;

    command.index = index;
    al_strv_adds(&command.argv, "git", "diff-index", "--cached", "-z", "--name-only",
                 "--no-renames", "--ignore-submodules=dirty", savepoint->commit, "--", NULL);
    return list(repo, &command, al_buffer_sink(names), budget, err);
}

/*
 * Add the files that the command has written although nobody expected it: another program moved the
 * branch between the look at it and the command, which then had other commits to merge.  The index
 * has changes of theirs that it had not before.  Git overwrites no local changes of such files.
 */
static int add_unexpected(const struct al_repo *repo, const struct al_savepoint *savepoint,
                          const char *index, struct al_run_limits *budget, struct al_strv *written,
                          struct al_error *err)
{
    struct al_buffer before = { .max_bytes = AL_SAVEPOINT_NAMES_BYTES };
    struct al_buffer after = { .max_bytes = AL_SAVEPOINT_NAMES_BYTES };
    int r = list_staged(repo, savepoint, index, budget, &before, err);

    if (r == 0)
        r = list_staged(repo, savepoint, NULL, budget, &after, err);
    if (r == 0) {
        al_auto(names_clear) struct names known = names_of(&before);

        for (size_t at = 0; at < after.len; at += strlen(after.data + at) + 1)
            if (!has(&known, after.data + at))
                al_strv_add(written, after.data + at);
    }
    al_buffer_clear(&before);
    al_buffer_clear(&after);
    return r;
}

/* The files that the command may have written, sorted; none with `any_file`. */
static int list_written(const struct al_repo *repo, const struct al_savepoint *savepoint,
                        const char *index, struct al_run_limits *budget, struct al_strv *ret,
                        struct al_error *err)
{
    int r = 0;

    if (savepoint->any_file)
        return 0;
    for (size_t i = 0; i < savepoint->written.count; i++)
        al_strv_add(ret, savepoint->written.items[i]);
    if (*savepoint->commit && savepoint->index >= 0)
        r = add_unexpected(repo, savepoint, index, budget, ret, err);
    al_strv_sort(ret);
    return r;
}

/* Rewrite every other file as the index has it. */
static int write_changed(const struct al_repo *repo, const struct al_savepoint *savepoint,
                         const char *index, const struct al_strv *written,
                         const struct names *dirty, struct al_run_limits *budget,
                         struct al_error *err)
{
    static const char *const modified[] = { "--modified", NULL };
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    al_auto(al_str_clear) struct al_str input = AL_STR_INIT;
    struct al_buffer found = { .max_bytes = AL_SAVEPOINT_NAMES_BYTES };
    int r = list_files(repo, index, modified, budget, &found, err);

    for (size_t at = 0; r == 0 && at < found.len; at += strlen(found.data + at) + 1)
        if (!has(dirty, found.data + at) &&
            (savepoint->any_file || al_strv_contains_sorted(written, found.data + at)))
            al_str_add(&input, found.data + at, strlen(found.data + at) + 1);
    al_buffer_clear(&found);
    if (r < 0 || !input.len)
        return r;
    command.class = AL_GIT_WRITE;
    command.index = index;
    command.input = input.buf;
    command.input_len = input.len;
    al_strv_adds(&command.argv, "git", "-C", repo->at.top, "checkout-index", "--force", "-z",
                 "--stdin", NULL);
    return al_git_run(&repo->at, &command, &(struct al_git_run){ .max_bytes = 0, .checked = true },
                      budget, &output, err);
}

static void remove_file(char **path)
{
    if (*path)
        (void)unlink(*path);
    free(*path);
}

int al_savepoint_restore_tree(const struct al_repo *repo, const struct al_savepoint *savepoint,
                              struct al_run_limits *budget, struct al_error *err)
{
    al_auto(names_clear) struct names dirty = names_of(&savepoint->dirty);
    al_auto(names_clear) struct names preexisting = names_of(&savepoint->preexisting);
    struct removing removing = { .path = repo->at.top,
                                 .watch = savepoint->watch,
                                 .dirty = &dirty,
                                 .preexisting = &preexisting };
    al_auto(al_nul_records_clear) struct al_nul_records records =
        AL_NUL_RECORDS_INIT(1, remove_added, &removing);
    al_auto(al_strv_clear) struct al_strv written = AL_STRV_INIT;
    al_auto(al_closep) int top = -1;
    al_auto(remove_file) char *index = NULL;
    int r = al_location_open_top(&repo->at, &top, err);

    removing.top = top;
    if (r == 0)
        r = al_savepoint_write_index(repo, savepoint, &index, err);
    if (r == 0)
        r = list_written(repo, savepoint, index, budget, &written, err);
    for (size_t i = 0; r == 0 && i < savepoint->incoming.count; i++)
        r = list_added(repo, savepoint, savepoint->incoming.items[i], &records, budget, err);
    if (r == 0)
        r = remove_untracked(repo, index, savepoint->any_file ? NULL : &written, budget, &removing,
                             err);
    if (r == 0)
        r = write_changed(repo, savepoint, index, &written, &dirty, budget, err);
    return r;
}
