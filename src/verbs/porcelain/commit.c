// SPDX-License-Identifier: Apache-2.0
#include "verbs/porcelain/commit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "git/command.h"
#include "git/diff/diff.h"
#include "git/failure.h"
#include "git/git_lock.h"
#include "git/hunks/hunk_list.h"
#include "git/oid.h"
#include "git/plumbing/batch.h"
#include "git/plumbing/index_scan.h"
#include "git/plumbing/revision.h"
#include "git/plumbing/scratch_index.h"
#include "git/private_dir.h"
#include "git/refs.h"
#include "git/repo/repo.h"
#include "git/run.h"
#include "git/vet/vet.h"
#include "guard/nofollow.h"
#include "guard/text.h"
#include "verbs/porcelain/resume.h"
#include "verbs/preview/diff_excerpt.h"
#include "verbs/sequencer/merge.h"
#include "verbs/sequencer/operation_state.h"

/* --- Commit aside --- */

/*
 * A commit that is made aside, and then becomes HEAD if HEAD is still where it was.
 *
 * `git commit` takes for the parent whatever HEAD is at when it starts, while the index it commits
 * was chosen before: a commit that somebody made in between would be reverted.  So git commits in a
 * git directory of our own, which has the HEAD that the index was chosen for and shares everything
 * else with the repository.  HEAD itself is then moved by compare-and-swap.
 *
 * Source: git-worktree(1) "DETAILS" (commondir, refs/worktree), git-update-ref(1).
 */

/* Zero-initialised there is none. */
struct commit_aside {
    const struct al_repo *repo; /* borrowed */
    struct al_location at;      /* where git commits; borrows from `repo` */
    char *dir;                  /* its git directory; private */
    char *head;                 /* private */
};

#define BRANCH          "refs/worktree/airlock"
#define NO_BRANCH       "refs/heads/.invalid" /* what git says in a file where HEAD is in none */
#define STATE_MAX_BYTES (16u << 20)
#define LOG_MAX_BYTES   (1u << 20)
#define REASON_BYTES    1000
#define KEPT_BYTES      (64u * 1024u)

/* What a merge, a squash or `--no-commit` has left for the commit that concludes it. */
static const char *const states[] = { "MERGE_HEAD", "MERGE_MODE", "MERGE_MSG",
                                      "SQUASH_MSG", "MERGE_RR",   "AUTO_MERGE" };

static void remove_dir(char **path)
{
    if (*path)
        al_fs_remove_tree(*path);
    free(*path);
}

static int write_file(int dir, const char *name, const char *text, size_t len)
{
    al_auto(al_closep) int fd =
        openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);

    return fd < 0 ? -errno : al_write_all(fd, text, len);
}

static int write_line(int dir, const char *name, const char *line)
{
    al_auto(al_freep) char *text = al_asprintf("%s\n", line);

    return write_file(dir, name, text, strlen(text));
}

static int copy_states(int from, int to)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < AL_COUNT(states); i++) {
        al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
        al_auto(al_closep) int fd = al_nofollow_open(from, states[i], O_RDONLY);

        r = fd < 0 ? fd : al_fs_read_fd(fd, STATE_MAX_BYTES, &text);
        r = r == -ENOENT ? 0 : r < 0 ? r : write_file(to, states[i], text.buf, text.len);
    }
    return r;
}

/* The configuration of this working tree, and what a split index consists of. */
static int link_parts(const struct al_repo *repo, int from, int to)
{
    al_auto(al_closedirp) DIR *dir = al_fs_list(openat(from, ".", O_RDONLY | O_DIRECTORY));
    const struct dirent *entry;
    int r = dir ? 0 : -EIO;

    while (r == 0 && (entry = readdir(dir))) {
        al_auto(al_freep) char *path = NULL;

        if (strcmp(entry->d_name, "config.worktree") != 0 &&
            !al_starts_with(entry->d_name, "sharedindex."))
            continue;
        path = al_fs_join(repo->at.git_dir, entry->d_name);
        r = symlinkat(path, to, entry->d_name) < 0 ? -errno : 0;
    }
    return r;
}

static int fill(const struct al_repo *repo, const char *head, int from, int to)
{
    int r = mkdirat(to, "refs", 0700) < 0 || mkdirat(to, "refs/worktree", 0700) < 0 ? -errno : 0;

    if (r == 0)
        r = write_line(to, "commondir", repo->at.common_dir);
    if (r == 0 && al_ref_is_stored(&repo->at, BRANCH)) {
        r = mkdirat(to, "reftable", 0700) < 0 ? -errno : write_line(to, "HEAD", "ref: " NO_BRANCH);
    } else if (r == 0) {
        r = write_line(to, "HEAD", "ref: " BRANCH);
        if (r == 0 && *head)
            r = write_line(to, BRANCH, head);
    }
    if (r == 0)
        r = copy_states(from, to);
    return r < 0 ? r : link_parts(repo, from, to);
}

/* Make the directory.  Starts no process.
 *
 * @param head  The commit that HEAD is at; "" on an unborn branch.
 */
static int commit_aside_open(const struct al_repo *repo, const char *head,
                             struct commit_aside *ret_aside, struct al_error *err)
{
    al_auto(remove_dir) char *path = al_git_private_name(repo->at.git, "commit");
    al_auto(al_closep) int from = -1, to = -1;
    int r = al_location_open_git_dir(&repo->at, &from, err);

    if (r < 0)
        return r;
    if (mkdir(path, 0700) == 0)
        to = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    r = to < 0 ? -errno : fill(repo, head, from, to);
    if (r < 0)
        return al_error_errno(err, -r, "cannot prepare the commit");
    ret_aside->repo = repo;
    ret_aside->head = al_strdup(head);
    ret_aside->at = repo->at;
    ret_aside->at.git_dir = ret_aside->dir = al_take(&path);
    return 0;
}

/* The same where references are in no files. */
static int store_head(const struct commit_aside *aside, struct al_run_limits *budget,
                      struct al_error *err)
{
    static const char *const words[][3] = { { "symbolic-ref", "HEAD", BRANCH },
                                            { "update-ref", BRANCH, NULL } };
    int r = 0;

    for (size_t i = 0; r == 0 && i < (*aside->head ? 2 : 1); i++) {
        al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
        al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };

        command.class = AL_GIT_WRITE;
        al_strv_adds(&command.argv, "git", words[i][0], words[i][1],
                     words[i][2] ? words[i][2] : aside->head, NULL);
        r = al_git_run(&aside->at, &command,
                       &(struct al_git_run){ .max_bytes = KEPT_BYTES, .checked = true }, budget,
                       &output, err);
    }
    return r;
}

static void commit_aside_clear(struct commit_aside *aside)
{
    remove_dir(&aside->dir);
    free(aside->head);
    *aside = (struct commit_aside){ .dir = NULL };
}

/* What git says of the commit where the log is in no file: "<old>" is left out. */
static int ask_log(const struct commit_aside *aside, struct al_run_limits *budget,
                   struct al_str *ret_text)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    int r;

    al_strv_adds(&command.argv, "git", "log", "--walk-reflogs", "--max-count=1",
                 "--no-show-signature", "--format= %H %x09%gs", "HEAD", "--", NULL);
    r = al_git_run(&aside->at, &command, &(struct al_git_run){ .max_bytes = KEPT_BYTES }, budget,
                   &output, NULL);
    al_str_adds(ret_text, output.out.out.buf);
    return r < 0 || output.exit_code != 0 ? -EIO : 0;
}

/* git's own line about the commit in the log of HEAD: "<old> <new> <who> <when>\t<reason>". */
static int read_log(const struct commit_aside *aside, struct al_run_limits *budget,
                    char **ret_commit, char **ret_reason)
{
    al_auto(al_freep) char *path = al_fs_join(aside->dir, "logs/HEAD");
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    const char *commit, *reason;
    size_t len;
    int r = al_ref_is_stored(&aside->at, "HEAD") ? ask_log(aside, budget, &text)
                                                 : al_fs_read(AT_FDCWD, path, LOG_MAX_BYTES, &text);

    if (r < 0)
        return r;
    al_str_trim_end(&text);
    commit = strchr(text.buf, ' ');
    reason = strchr(text.buf, '\t');
    len = commit ? strcspn(commit + 1, " ") : 0;
    if (!reason || !al_is_oid(commit + 1, len))
        return -EINVAL;
    *ret_commit = al_strndup(commit + 1, len);
    *ret_reason = al_strndup(reason + 1, strnlen(reason + 1, REASON_BYTES));
    return 0;
}

/* What git has removed for the commit. */
static void remove_states(const struct commit_aside *aside)
{
    al_auto(al_closep) int git_dir = -1;

    if (al_location_open_git_dir(&aside->repo->at, &git_dir, NULL) < 0)
        return;
    for (size_t i = 0; i < AL_COUNT(states); i++) {
        al_auto(al_freep) char *path = al_fs_join(aside->dir, states[i]);

        if (access(path, F_OK) < 0)
            (void)unlinkat(git_dir, states[i], 0);
    }
}

static bool head_is(const struct commit_aside *aside, const char *commit)
{
    al_auto(al_freep) char *now = al_ref_head(&aside->repo->at);

    return !strcmp(now, commit);
}

static int not_moved(const struct commit_aside *aside, const struct al_git_output *output,
                     struct al_error *err)
{

    if (head_is(aside, aside->head))
        return al_git_failed(output, err);
    return al_error_remedy(
        al_error_set_code(err, AL_ERR_EXECUTION, AL_CODE_CONFLICT,
                          "The branch moved while the commit was made; nothing was committed"),
        err, "git_log shows the branch as it is now.");
}

/*
 * Move HEAD to the commit that git made, and remove what a merge had left for it.
 *
 * @return 0; AL_ERR_EXECUTION with AL_CODE_CONFLICT when HEAD is not at `head` any more, and then
 *         nothing was changed.
 */
static int commit_aside_accept(struct commit_aside *aside, struct al_run_limits *budget,
                               struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    al_auto(al_freep) char *commit = NULL, *reason = NULL;
    int r = read_log(aside, budget, &commit, &reason);

    if (r < 0)
        return al_error_errno(err, -r, "cannot read the new commit");
    command.class = AL_GIT_WRITE;
    /* An empty old value: there must be no branch yet. */
    al_strv_adds(&command.argv, "git", "update-ref", "-m", reason, "HEAD", commit, aside->head,
                 NULL);
    r = al_git_run(&aside->repo->at, &command, &(struct al_git_run){ .max_bytes = KEPT_BYTES },
                   budget, &output, err);
    if (r < 0 && head_is(aside, commit)) { /* it was stopped too late */
        al_error_clear(err);
        r = 0;
    } else if (r == 0 && output.exit_code != 0) {
        r = not_moved(aside, &output, err);
    }
    if (r == 0)
        remove_states(aside);
    return r;
}

/* Put the name of the branch into what git said of the commit. */
static void commit_aside_name_branch(const struct commit_aside *aside, struct al_str *said)
{
    static const char ours[] = "[" BRANCH;
    al_auto(al_strv_clear) struct al_strv refs = AL_STRV_INIT;
    al_auto(al_str_clear) struct al_str whole = AL_STR_INIT;
    const char *name = "detached HEAD";

    if (!al_starts_with(said->buf, ours))
        return;
    al_ref_follow_head(&aside->repo->at, &refs);
    if (refs.count)
        name = refs.items[refs.count - 1];
    if (al_starts_with(name, "refs/heads/"))
        name += strlen("refs/heads/");
    al_str_addf(&whole, "[%s%s", name, said->buf + strlen(ours));
    al_str_reset(said);
    al_str_add(said, whole.buf, whole.len);
}

/* --- Run --- */

#define LOCK_ATTEMPTS_MAX 16

static int nothing_to_commit(struct al_error *err)
{
    return al_error_set_code(err, AL_ERR_EXECUTION, AL_CODE_NO_STAGED_CHANGES, "nothing to commit");
}

int al_git_commit_preview(const struct al_repo *repo, struct al_run_limits *budget,
                          struct al_str *out, struct al_error *err)
{
    static const struct al_diff_options staged = { .cached = true, .unified = -1 };
    al_auto(al_str_clear) struct al_str diff = AL_STR_INIT;
    al_auto(al_strv_clear) struct al_strv merged = AL_STRV_INIT;
    int r = al_git_diff_excerpt(repo, &staged, budget, &diff, err);

    if (r < 0)
        return r;
    /* A merge that was resolved to our side has nothing staged and still needs a commit. */
    al_operation_heads(repo, "MERGE_HEAD", &merged);
    if (!diff.len && !merged.count)
        return nothing_to_commit(err);
    if (!repo->vetting->has_identity)
        return al_git_no_identity(err);
    r = al_git_operation_excerpt(repo, budget, out, err);
    if (r == 0)
        al_str_add(out, diff.buf, diff.len);
    return r;
}

static void add_options(const struct al_commit_options *options, struct al_strv *argv)
{
    if (options->amend)
        al_strv_add(argv, "--amend");
    if (options->allow_empty)
        al_strv_add(argv, "--allow-empty");
    if (options->author)
        al_strv_addf(argv, "--author=%s", options->author);
    if (options->message)
        al_strv_adds(argv, "-F", "-", NULL);
    else
        al_strv_add(argv, "--no-edit");
}

/* Run it as al_git_run() does with `waits_for_lock`; the lock is that of the repository, wherever
 * git runs. */
static int run_waiting(const struct al_repo *repo, const struct al_location *at,
                       const struct al_git_command *command, size_t max_bytes,
                       struct al_run_limits *budget, struct al_git_output *output,
                       struct al_error *err)
{
    const struct al_git_run options = { .max_bytes = max_bytes };
    int r = al_git_run(at, command, &options, budget, output, err);

    for (int attempt = 1; r == 0 && attempt < LOCK_ATTEMPTS_MAX &&
                          al_git_failed_on_lock(&repo->at, AL_LOCK_INDEX, output);
         attempt++) {
        r = al_git_lock_wait(&repo->at, AL_LOCK_INDEX, budget, err);
        al_git_output_clear(output);
        if (r == 0)
            r = al_git_run(at, command, &options, budget, output, err);
    }
    return r;
}

/* Run `git commit` at this place. */
static int run_at(const struct al_repo *repo, const struct al_location *at,
                  const struct al_commit_options *options, size_t max_bytes,
                  struct al_run_limits *budget, struct al_git_output *ret_output,
                  struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    int r;

    command.class = AL_GIT_WRITE;
    command.starts_children = al_git_has_autostash(repo);
    command.index = options->index;
    command.input = options->message;
    command.input_len = options->message ? strlen(options->message) : 0;
    /* The log tells what was made aside.  An index that is split would get a part there. */
    al_strv_adds(&command.argv, "git", "-c", "core.logAllRefUpdates=always", "-c",
                 "core.splitIndex=false", "commit", "--no-verify", "--no-gpg-sign", NULL);
    add_options(options, &command.argv);
    r = run_waiting(repo, at, &command, max_bytes, budget, &output, err);
    if (r < 0)
        return r;
    /* With nothing to commit git prints the reason on standard output. It exits with the same code
     * on errors, but prints those on standard error. */
    if (output.exit_code == 1 && output.out.out.len)
        return nothing_to_commit(err);
    if (output.exit_code != 0 && !repo->vetting->has_identity)
        return al_git_no_identity(err);
    if (output.exit_code != 0)
        return al_git_failed(&output, err);
    *ret_output = output;
    output = (struct al_git_output){ .exit_code = -1 };
    return 0;
}

/* --- Expected commit --- */

/*
 * Another process can replace the index in the milliseconds between airlock's last check and git
 * reading it.  So the commit is compared with the expected one.
 */

static bool hash(void *payload, const char *data, size_t len)
{
    al_hash_add(payload, data, len);
    return true;
}

/* Digest of the differing files with their ids and modes. `to` NULL: compare with the index, the
 * repository's own if `index` is NULL. */
static int digest_changes(const struct al_repo *repo, const char *from, const char *to,
                          const char *index, struct al_run_limits *budget,
                          char ret_hex[AL_OID_TEXT], struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    struct al_hash sum;
    int r;

    command.index = index;
    al_hash_init(&sum, true);
    al_strv_adds(&command.argv, "git", "diff", "--raw", "-z", "--no-abbrev", "--no-renames",
                 "--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty", NULL);
    if (!to)
        al_strv_add(&command.argv, "--cached");
    al_strv_add(&command.argv, *from ? from : al_git_empty_tree(repo));
    if (to)
        al_strv_add(&command.argv, to);
    al_strv_add(&command.argv, "--");
    r = al_git_run(&repo->at, &command, &(struct al_git_run){ .sink = { hash, &sum } }, budget,
                   &output, err);
    if (r == 0 && output.exit_code != 0)
        r = al_git_failed(&output, err);
    al_hash_text(&sum, ret_hex);
    return r;
}

int al_git_expect_commit(const struct al_repo *repo, const char *index,
                         struct al_run_limits *budget, char **ret_expected, struct al_error *err)
{
    al_auto(al_freep) char *head = al_ref_head(&repo->at);
    al_auto(al_strv_clear) struct al_strv merged = AL_STRV_INIT;
    al_auto(al_str_clear) struct al_str expected = AL_STR_INIT;
    char changes[AL_OID_TEXT];
    int r = digest_changes(repo, head, NULL, index, budget, changes, err);

    if (r < 0)
        return r;
    al_str_addf(&expected, "%s %s", changes, head);
    al_operation_heads(repo, "MERGE_HEAD", &merged);
    for (size_t i = 0; i < merged.count; i++)
        al_str_addf(&expected, " %s", merged.items[i]);
    *ret_expected = al_str_detach(&expected);
    return 0;
}

int al_git_check_expected(const struct al_repo *repo, const char *index, const char *expected,
                          struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_freep) char *now = NULL;
    int r = al_git_expect_commit(repo, index, budget, &now, err);

    if (r < 0 || !strcmp(now, expected))
        return r;
    r = al_error_set(err, AL_ERR_EXECUTION,
                     "The commit differs from what was shown, since another program changed a file "
                     "or the index meanwhile; nothing was committed");
    if (err)
        err->remedy = "git_commit again shows the change as it is now.";
    return r;
}

/* Compare HEAD's commit, which was just made, with the expected one.  git leaves out a parent that
 * another one contains. */
static int check_commit(const struct al_repo *repo, const char *expected, const char *from,
                        struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_freep) char *commit = al_ref_head(&repo->at);
    al_auto(al_strv_clear) struct al_strv parents = AL_STRV_INIT;
    char changes[AL_OID_TEXT];
    bool is_expected;
    int r = digest_changes(repo, from, commit, NULL, budget, changes, err);

    if (r == 0)
        r = al_git_read_parents(repo, commit, budget, &parents, err);
    if (r < 0)
        return r;
    is_expected = al_starts_with(expected, changes);
    for (size_t i = 0; i < parents.count; i++)
        is_expected &= strstr(expected + strlen(changes), parents.items[i]) != NULL;
    return is_expected ? 0
                       : al_error_set(err, AL_ERR_EXECUTION,
                                      "The commit differs from what was shown, since another "
                                      "process changed the index meanwhile");
}

/* --- Commit --- */

/* git itself concludes what has more to it than a commit. */
static bool is_part_of_more(const struct al_repo *repo)
{
    return al_git_has_autostash(repo) || al_git_resumable(repo) != AL_IN_PROGRESS_NONE;
}

/* It does so with the index as it is, so what it made is looked at afterwards: the call puts back
 * what is another commit. */
static int commit_and_check(struct al_repo *repo, const struct al_commit_options *options,
                            size_t max_bytes, struct al_run_limits *budget,
                            struct al_git_output *output, struct al_error *err)
{
    al_auto(al_freep) char *head = al_ref_head(&repo->at);
    int r = run_at(repo, &repo->at, options, max_bytes, budget, output, err);

    return r == 0 && options->expected ? check_commit(repo, options->expected, head, budget, err)
                                       : r;
}

/* Nobody can change the copy of the index that is compared and committed. */
static int check_and_commit(struct al_repo *repo, const struct al_commit_options *options,
                            size_t max_bytes, struct al_run_limits *budget,
                            struct al_git_output *output, struct al_error *err)
{
    al_auto(commit_aside_clear) struct commit_aside aside = { .dir = NULL };
    al_auto(al_freep) char *head = options->head ? NULL : al_ref_head(&repo->at);
    al_auto(al_freep) char *index = al_fs_join(repo->at.git_dir, "index");
    al_auto(al_scratch_index_removep) char *copy = NULL;
    struct al_commit_options own = *options;
    int r = 0;

    if (options->expected && !options->index)
        r = al_scratch_index_make(repo, NULL, &copy, err);
    if (!options->index)
        own.index = copy ? copy : index;
    if (r == 0 && options->expected)
        r = al_git_check_expected(repo, own.index, options->expected, budget, err);
    if (r == 0)
        r = commit_aside_open(repo, head ? head : options->head, &aside, err);
    if (r == 0 && al_ref_is_stored(&aside.at, "HEAD"))
        r = store_head(&aside, budget, err);
    if (r == 0)
        r = run_at(repo, &aside.at, &own, max_bytes, budget, output, err);
    if (r == 0)
        r = commit_aside_accept(&aside, budget, err);
    if (r == 0)
        commit_aside_name_branch(&aside, &output->out.out);
    return r;
}

int al_git_commit(struct al_repo *repo, const struct al_commit_options *options, size_t max_bytes,
                  struct al_run_limits *budget, struct al_git_output *ret_output,
                  struct al_error *err)
{
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    int r = (is_part_of_more(repo) ? commit_and_check : check_and_commit)(repo, options, max_bytes,
                                                                          budget, &output, err);

    if (r < 0)
        return r;
    *ret_output = output;
    output = (struct al_git_output){ .exit_code = -1 };
    return 0;
}

/* --- Commit part --- */

void al_commit_indexes_clear(struct al_commit_indexes *indexes)
{
    al_scratch_index_removep(&indexes->commit);
    al_scratch_index_removep(&indexes->after);
    *indexes = (struct al_commit_indexes){ .commit = NULL };
}

static int add(struct al_repo *repo, const struct al_add_options *options,
               struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };

    return al_git_add(repo, options, KEPT_BYTES, budget, &output, err);
}

int al_git_list_staged(const struct al_repo *repo, const char *index, const struct al_strv *paths,
                       struct al_run_limits *budget, struct al_strv *ret_names,
                       struct al_error *err)
{
    const struct al_diff_options options = { .cached = true, .unified = -1, .paths = paths };
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    int r;

    command.index = index;
    al_strv_adds(&command.argv, "git", "diff", "--name-only", "--no-renames", "--no-relative", "-z",
                 NULL);
    r = al_git_diff_add_args(repo, &options, budget, &command.argv, err);
    return r < 0 ? r : al_git_list_paths(repo, &command, budget, ret_names, err);
}

/* Unstage these paths in an index. */
static int unstage(struct al_repo *repo, const char *index, const struct al_strv *paths,
                   struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_str_clear) struct al_str list = AL_STR_INIT;

    if (!paths->count)
        return 0;
    for (size_t i = 0; i < paths->count; i++) {
        al_str_addf(&list, ":(top,literal)%s", paths->items[i]);
        al_str_add(&list, "", 1);
    }
    command.index = index;
    al_git_command_feed(&command, &list);
    al_strv_adds(&command.argv, "git", "reset", "-q", "--pathspec-from-file=-",
                 "--pathspec-file-nul", NULL);
    return al_git_write(&repo->at, &command, 0, budget, err);
}

/** The hunks that are chosen of each side. */
struct chosen {
    struct al_hunk_choice stage, keep; /* unstaged ones to stage, staged ones to commit */
};

static void clear_chosen(struct chosen *chosen)
{
    al_hunk_choice_clear(&chosen->stage);
    al_hunk_choice_clear(&chosen->keep);
}

/* Choose each id on the side that has it. */
static int choose_hunks(const struct al_commit_part *part, struct chosen *chosen,
                        struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv staged = AL_STRV_INIT, unstaged = AL_STRV_INIT;
    int r;

    for (size_t i = 0; i < part->hunks->count; i++) {
        const char *id = part->hunks->items[i];

        al_strv_add(al_hunk_find(&part->sides->staged, id) ? &staged : &unstaged, id);
    }
    r = al_hunks_choose(&part->sides->unstaged, &unstaged, &chosen->stage, err);
    return r < 0 ? r : al_hunks_choose(&part->sides->staged, &staged, &chosen->keep, err);
}

/* The same staged hunk in a later list: HEAD, which both lists begin at, has it at this place. */
static const struct al_hunk_item *find_again(const struct al_hunk_list *later,
                                             const struct al_hunk_list *list,
                                             const struct al_hunk_item *item)
{
    for (size_t i = 0; i < later->count; i++)
        if (later->items[i].content == item->content &&
            later->items[i].old_start == item->old_start &&
            !strcmp(later->files[later->items[i].file].path, list->files[item->file].path))
            return &later->items[i];
    return NULL;
}

static int not_apart(const struct al_hunk_item *item, struct al_error *err)
{
    return al_error_set(err, AL_ERR_EXECUTION,
                        "staged hunk %s, which is not chosen, is in the same lines as a hunk that "
                        "is chosen: choose it too, or unstage it with git_restore first",
                        item->id);
}

/* Stage the paths. */
static int stage_paths(struct al_repo *repo, const struct al_commit_part *part, const char *index,
                       struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv there = AL_STRV_INIT, none = AL_STRV_INIT;
    const struct al_strv *paths = part->paths;
    const struct al_add_options options = {
        .mode = AL_ADD_PATHS, .paths = &there, .index = index, .passed_over = part->passed_over
    };

    /* git does not add what is gone from the index as well: that is staged already. */
    for (size_t i = 0; i < paths->count; i++) {
        const struct al_strv path = { .items = &paths->items[i], .count = 1 };

        if (al_git_add_check(repo, &path, false, &none, budget, NULL) == 0)
            al_strv_add(&there, paths->items[i]);
    }
    return there.count ? add(repo, &options, budget, err) : 0;
}

/* The file has a chosen hunk, of either side. */
static bool has_chosen(const struct chosen *chosen, const char *path)
{
    al_auto(al_strv_clear) struct al_strv files = AL_STRV_INIT;

    al_hunk_choice_paths(&chosen->stage, &files);
    al_hunk_choice_paths(&chosen->keep, &files);
    return al_strv_contains(&files, path);
}

/* Whether a staged hunk is not chosen, of a file that has a chosen one. */
static bool is_left(const struct chosen *chosen, const struct al_strv *whole, size_t i)
{
    const struct al_hunk_list *staged = chosen->keep.list;
    const char *path = staged->files[staged->items[i].file].path;

    return !chosen->keep.chosen[i] && !al_strv_contains_sorted(whole, path) &&
           has_chosen(chosen, path);
}

/* Take those hunks out of the commit.
 *
 * @param whole  Files that are committed as they are. */
static int leave_hunks(struct al_repo *repo, const struct chosen *chosen,
                       const struct al_strv *whole, const char *index, struct al_run_limits *budget,
                       struct al_error *err)
{
    const struct al_hunk_list *staged = chosen->keep.list;
    const struct al_hunk_query query = { .side = AL_HUNKS_STAGED, .binary = true, .index = index };
    al_auto(al_hunk_list_clear) struct al_hunk_list later = AL_HUNK_LIST_INIT;
    al_auto(al_hunk_choice_clear) struct al_hunk_choice others = { .list = &later };
    bool any = false;
    int r;

    for (size_t i = 0; i < staged->count && !any; i++)
        any = is_left(chosen, whole, i);
    if (!any)
        return 0;
    r = al_git_read_hunks(repo, &query, budget, &later, err);
    if (r < 0)
        return r;
    others.chosen = al_calloc(later.count, sizeof(bool));
    for (size_t i = 0; i < staged->count; i++) {
        const struct al_hunk_item *item = &staged->items[i], *again;

        if (!is_left(chosen, whole, i))
            continue;
        again = find_again(&later, staged, item);
        if (!again)
            return not_apart(item, err);
        others.chosen[again - later.items] = true;
        others.count++;
    }
    return others.count ? al_git_apply_hunks(repo, &others, AL_HUNKS_UNSTAGE, index, budget, err)
                        : 0;
}

/* List the files that were staged before, and maybe those that are staged now. */
static int list_others(struct al_repo *repo, const struct al_commit_part *part, const char *index,
                       struct al_run_limits *budget, struct al_strv *out, struct al_error *err)
{
    const struct al_hunk_list *staged = part->hunks ? &part->sides->staged : NULL;

    if (!staged || staged->truncated)
        return al_git_list_staged(repo, index, NULL, budget, out, err);
    for (size_t i = 0; i < staged->nfiles; i++)
        al_strv_add(out, staged->files[i].path);
    return 0;
}

/* What is staged and not named is not committed. */
static int leave_others(struct al_repo *repo, const struct al_commit_part *part,
                        const struct chosen *chosen, const char *index,
                        struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv staged = AL_STRV_INIT, whole = AL_STRV_INIT,
                                          others = AL_STRV_INIT;
    int r = list_others(repo, part, index, budget, &staged, err);

    if (r == 0 && part->paths)
        r = al_git_list_staged(repo, index, part->paths, budget, &whole, err);
    al_strv_sort(&whole);
    for (size_t i = 0; i < staged.count; i++)
        if (!al_strv_contains_sorted(&whole, staged.items[i]) &&
            !has_chosen(chosen, staged.items[i]))
            al_strv_add(&others, staged.items[i]);
    if (r == 0 && part->hunks)
        r = leave_hunks(repo, chosen, &whole, index, budget, err);
    return r < 0 ? r : unstage(repo, index, &others, budget, err);
}

static int choose_named(struct al_repo *repo, const struct al_commit_part *part,
                        struct al_run_limits *budget, struct al_commit_indexes *indexes,
                        struct al_error *err)
{
    const struct al_hunk_list none = AL_HUNK_LIST_INIT;
    al_auto(clear_chosen) struct chosen chosen = { { .list = &none }, { .list = &none } };
    int r = part->hunks ? choose_hunks(part, &chosen, err) : 0;

    if (r == 0)
        r = al_git_apply_hunks(repo, &chosen.stage, AL_HUNKS_STAGE, indexes->after, budget, err);
    if (r == 0 && part->paths)
        r = stage_paths(repo, part, indexes->after, budget, err);
    if (r == 0)
        r = al_scratch_index_make(repo, indexes->after, &indexes->commit, err);
    if (r == 0)
        r = leave_others(repo, part, &chosen, indexes->commit, budget, err);
    return r;
}

static int choose_all(struct al_repo *repo, const struct al_strv *without,
                      struct al_run_limits *budget, struct al_commit_indexes *indexes,
                      struct al_error *err)
{
    const struct al_add_options options = { .mode = AL_ADD_ALL,
                                            .without = without,
                                            .index = indexes->after };
    int r = add(repo, &options, budget, err);

    return r < 0 ? r : al_scratch_index_make(repo, indexes->after, &indexes->commit, err);
}

int al_git_choose_commit(struct al_repo *repo, const struct al_commit_part *part,
                         struct al_run_limits *budget, struct al_commit_indexes *ret_indexes,
                         struct al_error *err)
{
    int r = al_scratch_index_make(repo, NULL, &ret_indexes->after, err);

    if (r == 0 && (part->paths || part->hunks))
        r = choose_named(repo, part, budget, ret_indexes, err);
    else if (r == 0 && part->without)
        r = choose_all(repo, part->without, budget, ret_indexes, err);
    else if (r == 0)
        r = al_scratch_index_make(repo, ret_indexes->after, &ret_indexes->commit, err);
    if (r < 0)
        al_commit_indexes_clear(ret_indexes);
    return r;
}

/* --- Add --- */

/* Append pathspecs for everything, or what is in the list, except `without`. */
static void add_exclusions(const struct al_add_options *options, struct al_str *list)
{
    static const char everywhere[] = ":/";

    if (!options->without || !options->without->count)
        return;
    if (!list->len)
        al_str_add(list, everywhere, sizeof(everywhere));
    for (size_t i = 0; i < options->without->count; i++) {
        al_str_addf(list, ":(top,exclude,literal)%s", options->without->items[i]);
        al_str_add(list, "", 1);
    }
}

int al_git_add(struct al_repo *repo, const struct al_add_options *options, size_t max_bytes,
               struct al_run_limits *budget, struct al_git_output *ret_output, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_str_clear) struct al_str list = AL_STR_INIT;
    struct al_git_run run = { .max_bytes = max_bytes, .waits_for_lock = true };
    int r;

    run.checked = !options->passed_over;
    command.class = AL_GIT_WRITE;
    command.starts_children = al_repo_index_facts(&repo->at).gitlinks;
    command.index = options->index;
    al_strv_adds(&command.argv, "git", "add", NULL);
    if (options->mode == AL_ADD_ALL) {
        al_strv_add(&command.argv, "-A");
    } else if (options->mode == AL_ADD_UPDATE) {
        al_strv_add(&command.argv, "-u");
    }
    if (options->mode == AL_ADD_PATHS || options->limited) {
        r = al_repo_pathspecs(repo, options->paths, budget, &list, err);
        if (r < 0)
            return r;
    }
    add_exclusions(options, &list);
    if (list.len) {
        al_strv_adds(&command.argv, "--pathspec-from-file=-", "--pathspec-file-nul", NULL);
        al_git_command_feed(&command, &list);
    }
    r = al_git_run(&repo->at, &command, &run, budget, ret_output, err);
    if (r < 0 || run.checked || al_git_wrote_all_files(ret_output))
        return r;
    *options->passed_over = ret_output->exit_code == 1;
    return *options->passed_over ? 0 : al_git_failed(ret_output, err);
}

/* Whether one of the files is `path`, or is below it. */
static bool has_below(const struct al_strv *files, const char *path)
{
    const size_t len = strlen(path);
    bool found = false;

    for (size_t i = 0; i < files->count && !found; i++)
        found = al_starts_with(files->items[i], path) &&
                (!files->items[i][len] || files->items[i][len] == '/');
    return found;
}

static int check_path(const struct al_repo *repo, const char *given, bool or_head,
                      const struct al_strv *affected, struct al_run_limits *budget,
                      struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    al_auto(al_freep) char *path = NULL, *head = al_ref_head(&repo->at);
    al_auto(al_freep) char *safe = al_text_sanitize_line(given);
    struct stat st;
    int r = al_repo_file(repo, "paths", given, &path, err);

    /* A pattern may match what only git can list. */
    if (r < 0 || fstatat(repo->at.dir_fd, path, &st, AT_SYMLINK_NOFOLLOW) == 0 || path[0] == ':' ||
        strpbrk(path, "*?[\\") || has_below(affected, path))
        return r;
    /* Only an entry that git does not want in the working tree is left. */
    al_strv_adds(&command.argv, "git", "ls-files", "-z", NULL);
    if (or_head && *head)
        al_strv_add(&command.argv, "--with-tree=HEAD");
    al_strv_add(&command.argv, "--");
    al_strv_addf(&command.argv, ":(literal)%s", path);
    r = al_git_run(&repo->at, &command, &(struct al_git_run){ .max_bytes = 1 }, budget, &output,
                   err);
    if (r < 0 || !al_git_read_well(&output) || output.out.out.len)
        return r;
    return al_git_would_fail(err, "fatal: pathspec '%s' did not match any files", safe);
}

int al_git_add_check(const struct al_repo *repo, const struct al_strv *paths, bool or_head,
                     const struct al_strv *affected, struct al_run_limits *budget,
                     struct al_error *err)
{
    int r = 0;

    for (size_t i = 0; i < paths->count && r == 0; i++)
        r = check_path(repo, paths->items[i], or_head, affected, budget, err);
    return r;
}

int al_git_count_staged(const struct al_repo *repo, struct al_run_limits *budget,
                        uint64_t *ret_count, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;
    int r;

    al_strv_adds(&command.argv, "git", "diff", "--cached", "--name-only", "-z", "--no-ext-diff",
                 "--no-textconv", "--ignore-submodules=dirty", "--", NULL);
    r = al_git_list_paths(repo, &command, budget, &names, err);
    if (r == 0)
        *ret_count = names.count;
    return r;
}
