// SPDX-License-Identifier: Apache-2.0
#include "gitops/worktree/remove.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gitops/layer.h"
#include "gitops/location.h"
#include "gitops/plumbing/rollback_plumbing.h"
#include "gitops/refs.h"
#include "gitops/run.h"
#include "gitops/worktree/list.h"
#include "guard/nofollow.h"
#include "guard/root.h"
#include "guard/text.h"
#include "util/fs.h"

/* --- Branch --- */

#define OUTPUT_MAX_BYTES (64u << 10)
#define UNMAKE_MS        10000

/* The message of the entry with which the branch begins. */
static char *message_of(const char *name, const struct al_worktree_record *record)
{
    return al_asprintf("airlock: made with worktree %s (%s)", name, record->tree);
}

int al_worktree_make_branch(const struct al_repo *repo, const char *name,
                            const struct al_worktree_record *record, struct al_run_limits *budget,
                            struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_str_clear) struct al_str input = AL_STR_INIT;
    al_auto(al_freep) char *message = message_of(name, record);

    al_str_addf(&input, "option no-deref\ncreate %s %s\n", record->branch, record->branch_oid);
    command.input = input.buf;
    command.input_len = input.len;
    al_strv_adds(&command.argv, "git", "update-ref", "--create-reflog", "-m", message, "--stdin",
                 NULL);
    return al_git_write(&repo->at, &command, 0, budget, err);
}

/* Whether the last entry of the reflog is the one with which the branch began. */
static bool is_as_made(const struct al_repo *repo, const char *name,
                       const struct al_worktree_record *record, struct al_run_limits *budget)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_CONTENT_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    al_auto(al_freep) char *message = message_of(name, record);

    al_strv_adds(&command.argv, "git", "log", "--walk-reflogs", "--max-count=1",
                 "--no-show-signature", "--format=%gs", record->branch, "--", NULL);
    if (al_git_run(&repo->at, &command, &(struct al_git_run){ .max_bytes = OUTPUT_MAX_BYTES },
                   budget, &output, NULL) < 0)
        return false;
    al_str_trim_end(&output.out.out);
    return !strcmp(output.out.out.buf, message);
}

/* Delete it again, unless nobody can tell that it was made for this record, or somebody has moved
 * it or has it checked out.  Errors are ignored. */
static void worktree_unmake_branch(const struct al_repo *repo, const char *name,
                                   const struct al_worktree_record *record)
{
    struct al_run_limits budget = { .left_ms = UNMAKE_MS, .exit_code = -1 };
    const struct al_ref_move move = { record->branch, record->branch_oid, NULL };
    al_auto(al_freep) char *now = NULL;

    if (!record->branch || !record->branch_oid || !record->tree ||
        !is_as_made(repo, name, record, &budget))
        return;
    now = al_ref_oid(&repo->at, record->branch);
    if (!strcmp(now, record->branch_oid) &&
        al_worktree_check_free(repo, record->branch + strlen("refs/heads/"), false, &budget,
                               NULL) == 0)
        (void)al_git_move_refs(repo, &move, 1, &budget, NULL);
}

/* --- Remove --- */

int al_worktree_check_removable(const struct al_worktree_place *place,
                                const struct al_worktree_found *found, const char *name,
                                struct al_error *err)
{
    al_auto(al_freep) char *dir = al_text_sanitize_line(place->dir);
    al_auto(al_freep) char *reason = found->locked ? al_text_join_lines(found->locked) : NULL;
    int r;

    if (!found->id) {
        r = al_error_set(err, AL_ERR_EXECUTION, "There is no worktree '%s' below '%s'", name, dir);
        if (err) {
            err->reason = "not_found";
            err->remedy = "git_worktree with action list shows those there are.";
        }
        return r;
    }
    if (!reason && found->has_top && !found->is_whole) {
        r = al_error_set(err, AL_ERR_EXECUTION,
                         "What is at '%s/%s' does not belong to the worktree '%s': its .git file "
                         "and the administrative directory do not name each other",
                         dir, name, name);
        if (err)
            err->remedy = "'git worktree repair' mends that; or move the directory away, and "
                          "remove the worktree then.";
        return r;
    }
    if (!reason)
        return 0;
    r = al_error_set(err, AL_ERR_EXECUTION, "The worktree '%s' is locked%s%s", name,
                     *reason ? ": " : "", reason);
    if (err)
        err->remedy = "git_worktree with action unlock unlocks it.";
    return r;
}

/* Remove a tree below an open directory, whose path an agent could change. */
static int remove_below(int dir_fd, const char *name)
{
    al_auto(al_freep) char *path = al_asprintf("/proc/self/fd/%d/%s", dir_fd, name);
    struct stat st;

    al_fs_remove_tree(path);
    if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
        return -ENOTEMPTY;
    return errno == ENOENT ? 0 : -errno;
}

/* git removes worktrees/ with the last one, too.  `id`: NULL if there is no directory any more. */
static int remove_admin(const struct al_repo *repo, const char *id)
{
    al_auto(al_closep) int common_fd = -1;
    al_auto(al_closep) int fd = -1;
    int r;

    if (al_location_open_common_dir(&repo->at, &common_fd, NULL) < 0)
        return -ENOENT;
    fd = al_nofollow_open(common_fd, "worktrees", O_PATH | O_DIRECTORY);
    if (fd < 0)
        return fd == -ENOENT && !id ? 0 : fd;
    r = id ? remove_below(fd, id) : 0;
    if (r == 0)
        (void)unlinkat(common_fd, "worktrees", AT_REMOVEDIR);
    return r;
}

static int remove_both(const struct al_repo *repo, const struct al_worktree_place *place,
                       const struct al_worktree_found *found, const char *name)
{
    int r = found->has_top ? remove_below(place->fd, name) : 0;

    return r < 0 ? r : remove_admin(repo, found->id);
}

void al_worktree_forget(const struct al_repo *repo, const char *name)
{
    al_worktree_record_move(repo, name, NULL);
    if (repo->at.git->growing)
        al_roots_release_gone(repo->at.git->growing);
}

/* Whether the directory is still the one that was made; somebody may have made another one. */
static bool is_the_one(const struct al_worktree_place *place, const char *name,
                       const struct al_worktree_record *record)
{
    al_auto(al_closep) int fd = al_nofollow_open(place->fd, name, O_PATH | O_DIRECTORY);
    al_auto(al_freep) char *tree = fd < 0 ? NULL : al_worktree_tree_id(fd);

    return tree && record->tree && !strcmp(tree, record->tree);
}

void al_worktree_discard(const struct al_repo *repo, const struct al_worktree_place *place,
                         const char *name, const struct al_worktree_record *record)
{
    al_auto(al_worktree_found_clear) struct al_worktree_found found = AL_WORKTREE_FOUND_INIT;
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;

    if (al_worktree_find(repo, place, name, &found, &err) < 0)
        return;
    if (found.has_top && !is_the_one(place, name, record)) {
        al_worktree_record_move(repo, name, NULL);
        return;
    }
    if (remove_both(repo, place, &found, name) < 0)
        return; /* the record stays, so that the next one tries again */
    worktree_unmake_branch(repo, name, record);
    al_worktree_forget(repo, name);
}

bool al_worktree_discard_unfinished(const struct al_repo *repo,
                                    const struct al_worktree_place *place)
{
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;
    bool found = false;

    al_worktree_record_names(repo->at.git, repo->at.common_dir, &names);
    for (size_t i = 0; i < names.count; i++) {
        al_auto(al_worktree_record_clear) struct al_worktree_record record =
            AL_WORKTREE_RECORD_INIT;
        const char *name = names.items[i];
        al_auto(al_freep) char *top = place ? al_fs_join(place->dir, name) : NULL;

        if (al_worktree_check_name("name", name, NULL) < 0 ||
            al_worktree_record_read(repo->at.git, repo->at.common_dir, name, &record) < 0 ||
            !record.making)
            continue;
        found = true;
        if (top && !strcmp(record.path, top))
            al_worktree_discard(repo, place, name, &record);
    }
    return found;
}

/* --- Lock --- */

static int open_admin(const struct al_repo *repo, const char *id, int *ret_fd, struct al_error *err)
{
    al_auto(al_closep) int common_fd = -1;
    al_auto(al_freep) char *path = al_fs_join("worktrees", id);
    int r = al_location_open_common_dir(&repo->at, &common_fd, err);

    if (r < 0)
        return r;
    *ret_fd = al_nofollow_open(common_fd, path, O_RDONLY | O_DIRECTORY);
    return *ret_fd < 0 ? al_error_errno(err, -*ret_fd, "cannot open the administrative directory")
                       : 0;
}

int al_worktree_set_lock(const struct al_repo *repo, const struct al_worktree_found *found,
                         const char *name, bool locks, const char *reason, struct al_error *err)
{
    al_auto(al_freep) char *text = al_asprintf("%s%s", reason ? reason : "", reason ? "\n" : "");
    al_auto(al_freep) char *why = found->locked ? al_text_join_lines(found->locked) : NULL;
    al_auto(al_closep) int fd = -1;
    int r;

    if (locks && why)
        return al_error_set(err, AL_ERR_EXECUTION, "The worktree '%s' is locked already%s%s", name,
                            *why ? ": " : "", why);
    if (!locks && !why)
        return al_error_set(err, AL_ERR_EXECUTION, "The worktree '%s' is not locked", name);
    r = open_admin(repo, found->id, &fd, err);
    if (r < 0)
        return r;
    if (locks)
        r = al_fs_write_atomic(fd, "locked", text, strlen(text), 0644, false);
    else
        r = unlinkat(fd, "locked", 0) < 0 ? -errno : 0;
    return r < 0
               ? al_error_errno(err, -r, "cannot %slock the worktree '%s'", locks ? "" : "un", name)
               : 0;
}
