// SPDX-License-Identifier: Apache-2.0
#include "gitops/preview/diff_excerpt.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gitops/command.h"
#include "gitops/diff/diff.h"
#include "gitops/failure.h"
#include "gitops/plumbing/batch.h"
#include "gitops/preview/excerpt_reader.h"
#include "gitops/preview/verify_objects.h"
#include "gitops/private_dir.h"
#include "gitops/refs.h"
#include "gitops/run.h"
#include "util/fs.h"

#define TYPE_MASK    0170000u
#define TYPE_GITLINK 0160000u

/*
 * Add the arguments of a diff that a user decides by.  Content is compared as text and with git's
 * default context, whatever attributes, diff drivers or the configuration say.  A conflicted file
 * is compared with our side, since git prints no patch next to a raw list for a comparison with all
 * sides.
 */
static void add_words(const struct al_diff_options *options, struct al_strv *argv)
{
    al_strv_adds(argv, "git", "diff", "--raw", "-z", "--no-abbrev", "--patch", "--text",
                 "--find-renames", "--no-relative", "--submodule=short", "--no-color",
                 "--diff-algorithm=default", "--inter-hunk-context=0", NULL);
    if (options->unified < 0)
        al_strv_add(argv, "-U3");
    if (!options->cached && !options->from_ref)
        al_strv_add(argv, "--ours");
    al_git_diff_add_options(options, argv);
}

/*
 * An empty directory used as the working tree of a diff between objects.  Where a file matches its
 * index entry, git may read the file instead of the object; and whoever writes the index decides
 * what its entries look like.
 */
struct empty_worktree {
    char *path;
    int fd;
};

static void empty_worktree_clear(struct empty_worktree *empty_worktree)
{
    if (empty_worktree->fd >= 0)
        (void)close(empty_worktree->fd);
    if (empty_worktree->path)
        al_fs_remove_tree(empty_worktree->path);
    free(empty_worktree->path);
}

static int use_empty_worktree(const struct al_repo *repo, struct empty_worktree *empty_worktree,
                              struct al_git_command *command, struct al_error *err)
{
    const char *below = al_fs_beneath(repo->at.top, repo->at.dir);
    al_auto(al_freep) char *dir = NULL;

    empty_worktree->path = al_git_private_name(repo->at.git, "nowhere");
    dir =
        below && *below ? al_fs_join(empty_worktree->path, below) : al_strdup(empty_worktree->path);
    if (al_fs_mkdirs(dir, 0700) == 0) /* git takes paths relative to the working directory */
        empty_worktree->fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (empty_worktree->fd < 0)
        return al_error_set(err, AL_ERR_EXECUTION, "Cannot make a directory in airlock's state: %s",
                            strerror(errno));
    command->work_tree = empty_worktree->path;
    command->cwd_fd = empty_worktree->fd;
    return 0;
}

/* Rewrite absolute pathspecs below the real working tree to name the empty one. */
static void move_pathspecs(const struct al_repo *repo, const struct empty_worktree *empty_worktree,
                           size_t from, struct al_strv *argv)
{
    static const char literal[] = ":(literal)";

    for (size_t i = from; empty_worktree->path && i < argv->count; i++) {
        const char *word = argv->items[i];
        const char *magic = al_starts_with(word, literal) ? literal : "";
        const char *below =
            word[strlen(magic)] == '/' ? al_fs_beneath(repo->at.top, word + strlen(magic)) : NULL;
        char *moved = below ? al_asprintf("%s%s/%s", magic, empty_worktree->path, below) : NULL;

        if (moved) {
            free(argv->items[i]);
            argv->items[i] = moved;
        }
    }
}

/* Run the diff for as many paths as one command line takes, from *at on. */
static int add_diff(const struct al_repo *repo, const struct al_diff_options *options,
                    const struct al_str *words, size_t *at, struct al_run_limits *budget,
                    struct al_excerpt_reader *reader, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_CONTENT_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    al_auto(empty_worktree_clear) struct empty_worktree empty_worktree = { .fd = -1 };
    bool reads_files = !options->cached && !options->to_ref;
    size_t from;
    int r = 0;

    if (!reads_files)
        r = use_empty_worktree(repo, &empty_worktree, &command, err);
    if (r < 0)
        return r;
    command.index = options->index;
    add_words(options, &command.argv);
    from = command.argv.count;
    (void)al_batch_add(&command.argv, words, at);
    move_pathspecs(repo, &empty_worktree, from, &command.argv);
    reader->in_patch = reader->in_line = false;
    r = al_git_run(&repo->at, &command,
                   &(struct al_git_run){ .sink = { al_excerpt_reader_add, reader } }, budget,
                   &output, err);
    if (r == 0 && reader->changes.broken)
        r = al_error_set(err, AL_ERR_EXECUTION, "git diff did not list what changed");
    else if (r == 0 && !output.stopped && output.exit_code != 0)
        r = al_git_failed(&output, err);
    return r;
}

static void add_object(const char *oid, unsigned mode, struct al_str *words)
{
    if (mode && (mode & TYPE_MASK) != TYPE_GITLINK && oid[strspn(oid, "0")])
        al_str_addf(words, "%s\n", oid);
}

/* Verify the objects that were shown: the content of both sides, and the trees that list the
 * files. */
static int verify_shown(const struct al_repo *repo, const struct al_diff_options *options,
                        const struct al_diff_raw *changes, struct al_run_limits *budget,
                        bool *ret_complete, struct al_error *err)
{
    const char *const trees[] = { options->from_ref, options->to_ref };
    al_auto(al_str_clear) struct al_str words = AL_STR_INIT;
    al_auto(al_freep) char *head = NULL;
    int r = 0;

    *ret_complete = changes->count == changes->total;
    for (size_t i = 0; i < changes->count; i++) {
        const struct al_change *change = &changes->items[i];

        add_object(change->old_oid, change->old_mode, &words);
        add_object(change->new_oid, change->new_mode, &words);
    }
    if (options->cached && !options->from_ref)
        head = al_ref_head(&repo->at);
    if (head && *head)
        r = al_git_verify_tree(repo, head, budget, ret_complete, err);
    for (size_t i = 0; r == 0 && i < AL_COUNT(trees); i++)
        if (trees[i])
            r = al_git_verify_tree(repo, trees[i], budget, ret_complete, err);
    return r == 0 ? al_git_verify_objects(repo, &words, budget, ret_complete, err) : r;
}

int al_git_diff_excerpt(const struct al_repo *repo, const struct al_diff_options *options,
                        struct al_run_limits *budget, struct al_str *out, struct al_error *err)
{
    al_auto(al_str_clear) struct al_str words = AL_STR_INIT;
    al_auto(al_excerpt_reader_clear) struct al_excerpt_reader reader = AL_EXCERPT_READER_INIT;
    size_t at = 0;
    bool all = true;
    int r = al_git_diff_resolve(repo, options, budget, &words, err);

    reader.in_full = budget->in_full;
    do {
        if (r == 0)
            r = add_diff(repo, options, &words, &at, budget, &reader, err);
    } while (r == 0 && at < words.len && !reader.more);
    if (r < 0)
        return r;
    al_excerpt_reader_end(&reader);
    r = verify_shown(repo, options, &reader.changes, budget, &all, err);
    if (r < 0)
        return r;
    al_excerpt_write(&reader, out);
    if (!all)
        al_str_adds(out, "This is more than airlock checks: a forged object of the repository may "
                         "be shown as another.\n");
    return 0;
}
