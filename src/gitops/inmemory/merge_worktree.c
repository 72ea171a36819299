// SPDX-License-Identifier: Apache-2.0
/*
 * Merging with a git older than 2.38, which has no `git merge-tree --write-tree`.
 *
 * `git merge` itself merges, in a scratch working tree.  Its git directory is like that of a linked
 * worktree: HEAD, the index and the state of the merge are here, below airlock's own directory, and
 * configuration and references are read from the repository, which does not know of it and which
 * git cannot write.  New objects go where those of merge-tree go.
 *
 * The working tree is sparse: it has nothing but .gitattributes files, since git reads attributes
 * there, and the files that conflict.  git itself makes them; hooks, filters and drivers are
 * overridden as always.
 *
 * Source: git-merge(1), git-sparse-checkout(1), gitrepository-layout(5) "commondir".
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gitops/failure.h"
#include "gitops/inmemory/merge_worktree_output.h"
#include "gitops/inmemory/private.h"
#include "gitops/plumbing/filters.h"
#include "gitops/run.h"
#include "gitops/vet/vet.h"
#include "util/fs.h"

#define OID_MAX_BYTES 128u

struct al_merge_worktree {
    char *dir, *git_dir, *top;
    int git_fd, top_fd;
    char *tree; /* the index and the working tree have it; NULL: they have to be made anew */
};

void al_merge_worktree_free(struct al_merge_worktree *worktree)
{
    if (!worktree)
        return;
    al_close(worktree->git_fd);
    al_close(worktree->top_fd);
    free(worktree->dir);
    free(worktree->git_dir);
    free(worktree->top);
    free(worktree->tree);
    free(worktree);
}

static struct al_merge_worktree *new_worktree(const struct al_inmemory *memory)
{
    struct al_merge_worktree *worktree = al_calloc(1, sizeof(*worktree));

    worktree->dir = al_fs_join(memory->dir, "worktree");
    worktree->git_dir = al_fs_join(worktree->dir, "git");
    worktree->top = al_fs_join(worktree->dir, "top");
    worktree->git_fd = worktree->top_fd = -1;
    return worktree;
}

static int open_new_dir(const char *path, int *ret_fd)
{
    if (mkdir(path, 0700) < 0)
        return -errno;
    *ret_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    return *ret_fd < 0 ? -errno : 0;
}

static int write_file(const struct al_merge_worktree *worktree, const char *name, const char *text)
{
    al_auto(al_closep) int fd =
        openat(worktree->git_fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);

    return fd < 0 ? -errno : al_write_all(fd, text, strlen(text));
}

/* Only .gitattributes files belong to the working tree. */
static int make_files(const struct al_merge_worktree *worktree, const char *common_dir)
{
    al_auto(al_freep) char *common = al_asprintf("%s\n", common_dir);
    int r = mkdirat(worktree->git_fd, "info", 0700) < 0 ? -errno : 0;

    if (r == 0)
        r = write_file(worktree, "info/sparse-checkout", ".gitattributes\n");
    return r < 0 ? r : write_file(worktree, "commondir", common);
}

/* Conflicts leave files of all kinds behind, so everything is made anew after one. */
static int make_anew(struct al_merge_worktree *worktree, const char *common_dir)
{
    int r;

    al_close(al_take_fd(&worktree->git_fd));
    al_close(al_take_fd(&worktree->top_fd));
    al_fs_remove_tree(worktree->dir);
    r = mkdir(worktree->dir, 0700) < 0 ? -errno : 0;
    if (r == 0)
        r = open_new_dir(worktree->git_dir, &worktree->git_fd);
    if (r == 0)
        r = open_new_dir(worktree->top, &worktree->top_fd);
    return r < 0 ? r : make_files(worktree, common_dir);
}

/* HEAD is our side, and no merge is in progress. */
static int begin(const struct al_merge_worktree *worktree, const char *ours)
{
    static const char *const state[] = { "MERGE_HEAD", "MERGE_MODE", "MERGE_MSG", "AUTO_MERGE" };
    al_auto(al_freep) char *head = al_asprintf("%s\n", ours);

    for (size_t i = 0; i < AL_COUNT(state); i++)
        if (unlinkat(worktree->git_fd, state[i], 0) < 0 && errno != ENOENT)
            return -errno;
    return write_file(worktree, "HEAD", head);
}

/* The words that all commands begin with. */
static void add_words(struct al_git_command *command)
{
    al_strv_adds(&command->argv, "git", "-c", "core.sparseCheckout=true", "-c",
                 "core.sparseCheckoutCone=false", "-c", "index.sparse=false", NULL);
}

/* Run a command in the scratch working tree.  Standard output is kept as it is. */
static int run(const struct al_inmemory *memory, struct al_git_command *command,
               struct al_run_limits *budget, struct al_buffer *ret_out,
               struct al_git_output *ret_output, struct al_error *err)
{
    const struct al_merge_worktree *worktree = memory->worktree;
    struct al_location at = memory->view.at;
    int r;

    at.git_dir = worktree->git_dir;
    at.git_fd = -1;
    at.uses_absolute_paths = true;
    command->class = AL_GIT_SCRATCH;
    command->cwd_fd = worktree->top_fd;
    command->work_tree = worktree->top;
    ret_out->max_bytes = AL_INMEMORY_OUTPUT_MAX_BYTES;
    r = al_git_run(&at, command, &(struct al_git_run){ .sink = al_buffer_sink(ret_out) }, budget,
                   ret_output, err);
    if (r == 0 && ret_out->total > ret_out->len)
        r = al_error_set(err, AL_ERR_EXECUTION, "git has more to say than fits in %zu MiB",
                         ret_out->max_bytes >> 20);
    return r;
}

static int run_well(const struct al_inmemory *memory, struct al_git_command *command,
                    struct al_run_limits *budget, struct al_buffer *ret_out, struct al_error *err)
{
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    int r = run(memory, command, budget, ret_out, &output, err);

    return r == 0 && output.exit_code != 0 ? al_git_failed(&output, err) : r;
}

static int read_tree(const struct al_inmemory *memory, const char *tree,
                     struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    struct al_buffer out = { .max_bytes = 0 };
    int r;

    add_words(&command);
    al_strv_adds(&command.argv, "read-tree", "--reset", "-u", tree, NULL);
    r = run_well(memory, &command, budget, &out, err);
    al_buffer_clear(&out);
    return r;
}

static int list_unmerged(const struct al_inmemory *memory, struct al_run_limits *budget,
                         struct al_buffer *ret_list, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;

    add_words(&command);
    al_strv_adds(&command.argv, "ls-files", "-u", "-z", NULL);
    return run_well(memory, &command, budget, ret_list, err);
}

static char *first_line(const char *text)
{
    return al_strndup(text ? text : "", text ? strcspn(text, "\n") : 0);
}

static int write_tree(const struct al_inmemory *memory, struct al_run_limits *budget,
                      char **ret_tree, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    struct al_buffer out = { .max_bytes = 0 };
    int r;

    add_words(&command);
    al_strv_adds(&command.argv, "write-tree", "--missing-ok", NULL);
    r = run_well(memory, &command, budget, &out, err);
    if (r == 0)
        *ret_tree = first_line(out.data);
    al_buffer_clear(&out);
    return r;
}

/* The tree that git merged.  There is no file where nothing was to be merged.  Caller frees. */
static int merged_tree(const struct al_inmemory *memory, struct al_run_limits *budget,
                       char **ret_tree, struct al_error *err)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    int r = al_fs_read(memory->worktree->git_fd, "AUTO_MERGE", OID_MAX_BYTES, &text);

    if (r == -ENOENT)
        return write_tree(memory, budget, ret_tree, err);
    if (r < 0)
        return al_error_errno(err, -r, "cannot read what git merged");
    *ret_tree = first_line(text.buf);
    return 0;
}

/* An identity is needed, but nothing is committed. */
static void add_merge(const struct al_inmemory *memory, const char *theirs,
                      struct al_git_command *command)
{
    add_words(command);
    al_strv_adds(&command->argv, "-c", "user.name=airlock", "-c", "user.email=airlock@localhost",
                 "-c", "rerere.enabled=false", NULL);
    if (al_git_has_filters(memory->real)) /* a filter would have to run */
        al_strv_adds(&command->argv, "-c", "merge.renormalize=false", NULL);
    al_strv_adds(&command->argv, "merge", "--no-ff", "--no-commit", "--no-edit", "--no-stat",
                 "--no-log", "--no-autostash", "--no-verify-signatures", "--no-rerere-autoupdate",
                 "-m", "merge", "-s", "ort", theirs, NULL);
}

/* Give the outcome the form of merge-tree's, and read that. */
static int take_conflicts(const struct al_inmemory *memory, struct al_worktree_merge *merge,
                          struct al_run_limits *budget, struct al_merged *ret_merged,
                          struct al_error *err)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    struct al_buffer list = { .max_bytes = 0 };
    int r = list_unmerged(memory, budget, &list, err);

    merge->unmerged = list.data ? list.data : "";
    merge->unmerged_len = list.len;
    if (r == 0)
        al_worktree_merge_output(merge, &text);
    if (r == 0 &&
        !al_merge_output_parse(text.buf, text.len, memory->real->vetting->is_sha256, ret_merged))
        r = al_error_set(err, AL_ERR_EXECUTION, "git merge did not say what was asked");
    al_buffer_clear(&list);
    return r;
}

static int merge_here(const struct al_inmemory *memory, const char *ours, const char *theirs,
                      struct al_run_limits *budget, struct al_merged *ret_merged,
                      struct al_error *err)
{
    struct al_merge_worktree *worktree = memory->worktree;
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    al_auto(al_str_clear) struct al_str said = AL_STR_INIT;
    al_auto(al_freep) char *tree = NULL;
    struct al_buffer out = { .max_bytes = 0 };
    int r;

    add_merge(memory, theirs, &command);
    r = run(memory, &command, budget, &out, &output, err);
    if (r == 0 && output.err.out.len)
        al_str_add(&said, output.err.out.buf, output.err.out.len);
    if (r == 0 && out.len)
        al_str_add(&said, out.data, out.len);
    al_buffer_clear(&out);
    if (r == 0 && output.exit_code != 0 &&
        (output.exit_code != 1 || faccessat(worktree->git_fd, "AUTO_MERGE", F_OK, 0) < 0))
        r = al_git_failed(&output, err);
    if (r == 0)
        r = merged_tree(memory, budget, &tree, err);
    if (r < 0)
        return r;
    if (output.exit_code == 0) {
        worktree->tree = al_strdup(tree);
        ret_merged->tree = al_take(&tree);
        return 0;
    }
    r = take_conflicts(
        memory,
        &(struct al_worktree_merge){ .tree = tree, .ours = ours, .theirs = theirs, .said = &said },
        budget, ret_merged, err);
    ret_merged->conflicted = true;
    return r;
}

int al_merge_in_worktree(struct al_inmemory *memory, const char *ours, const char *theirs,
                         struct al_run_limits *budget, struct al_merged *ret_merged,
                         struct al_error *err)
{
    struct al_merge_worktree *worktree = memory->worktree ? memory->worktree : new_worktree(memory);
    al_auto(al_freep) char *tree = NULL;
    struct al_merged merged = AL_MERGED_INIT;
    int r = al_inmemory_tree(memory, ours, budget, &tree, err), failed = 0;

    memory->worktree = worktree;
    if (r < 0)
        return r;
    if (!worktree->tree)
        failed = make_anew(worktree, memory->real->at.common_dir);
    if (failed == 0)
        failed = begin(worktree, ours);
    if (failed < 0)
        return al_error_errno(err, -failed, "cannot use the private directory '%s'", worktree->dir);
    if (!worktree->tree || strcmp(worktree->tree, tree) != 0) {
        free(al_take(&worktree->tree));
        r = read_tree(memory, tree, budget, err);
    }
    if (r < 0)
        return r;
    free(al_take(&worktree->tree));
    r = merge_here(memory, ours, theirs, budget, &merged, err);
    if (r == 0)
        *ret_merged = merged;
    return r;
}
