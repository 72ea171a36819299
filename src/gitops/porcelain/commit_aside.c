// SPDX-License-Identifier: Apache-2.0
#include "gitops/porcelain/commit_aside.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gitops/failure.h"
#include "gitops/private_dir.h"
#include "gitops/refs.h"
#include "guard/nofollow.h"
#include "util/fs.h"

#define BRANCH          "refs/worktree/airlock"
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
    if (r == 0)
        r = write_line(to, "HEAD", "ref: " BRANCH);
    if (r == 0 && *head)
        r = write_line(to, BRANCH, head);
    if (r == 0)
        r = copy_states(from, to);
    return r < 0 ? r : link_parts(repo, from, to);
}

int al_commit_aside_open(const struct al_repo *repo, const char *head,
                         struct al_commit_aside *ret_aside, struct al_error *err)
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
    ret_aside->at.git_fd = -1;
    return 0;
}

void al_commit_aside_clear(struct al_commit_aside *aside)
{
    remove_dir(&aside->dir);
    free(aside->head);
    *aside = (struct al_commit_aside){ .dir = NULL };
}

/* git's own line about the commit in the log of HEAD: "<old> <new> <who> <when>\t<reason>". */
static int read_log(const struct al_commit_aside *aside, char **ret_commit, char **ret_reason)
{
    al_auto(al_freep) char *path = al_fs_join(aside->dir, "logs/HEAD");
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    const char *commit, *reason;
    size_t len;
    int r = al_fs_read(AT_FDCWD, path, LOG_MAX_BYTES, &text);

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
static void remove_states(const struct al_commit_aside *aside)
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

static bool head_is(const struct al_commit_aside *aside, const char *commit)
{
    al_auto(al_freep) char *now = al_ref_head(&aside->repo->at);

    return !strcmp(now, commit);
}

static int not_moved(const struct al_commit_aside *aside, const struct al_git_output *output,
                     struct al_error *err)
{
    int r;

    if (head_is(aside, aside->head))
        return al_git_failed(output, err);
    r = al_error_set_code(err, AL_ERR_EXECUTION, AL_CODE_CONFLICT,
                          "The branch moved while the commit was made; nothing was committed");
    if (err)
        err->remedy = "git_log shows the branch as it is now.";
    return r;
}

int al_commit_aside_accept(struct al_commit_aside *aside, struct al_run_limits *budget,
                           struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    al_auto(al_freep) char *commit = NULL, *reason = NULL;
    int r = read_log(aside, &commit, &reason);

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

void al_commit_aside_name_branch(const struct al_commit_aside *aside, struct al_str *said)
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
