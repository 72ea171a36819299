// SPDX-License-Identifier: Apache-2.0
#include "git/plumbing/rollback_plumbing.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/log.h"
#include "git/command.h"
#include "git/oid.h"
#include "git/plumbing/scratch_index.h"
#include "git/refs.h"
#include "git/run.h"
#include "git/vet/vet.h"
#include "guard/nofollow.h"

int al_git_put_entries(const struct al_repo *repo, int top_fd, const char *index_path,
                       const struct al_entry_lines *entries, size_t count, struct al_error *err)
{
    static const char *const options[] = { "--index-info", "--skip-worktree",
                                           "--assume-unchanged" };
    struct al_str inputs[] = { AL_STR_INIT, AL_STR_INIT, AL_STR_INIT };
    const int digits = (int)(2 * al_oid_bytes(repo->vetting->is_sha256));
    int r = 0;

    for (size_t i = 0; i < count; i++) {
        const char *path = entries[i].path;
        const size_t bytes = strlen(path) + 1;

        al_str_addf(&inputs[0], "0 %0*d\t", digits, 0);
        al_str_add(&inputs[0], path, bytes);
        for (const char *line = entries[i].lines; line && *line; line = strchr(line, '\n') + 1) {
            al_str_addf(&inputs[0], "%.*s\t", (int)strcspn(line + 4, "\n"), line + 4);
            al_str_add(&inputs[0], path, bytes);
            for (size_t k = 1; k < AL_COUNT(options); k++)
                if (line[k - 1] != '-')
                    al_str_add(&inputs[k], path, bytes);
        }
    }
    for (size_t i = 0; i < AL_COUNT(options); i++) {
        if (r == 0)
            r = al_index_update(repo, top_fd, index_path, options[i], &inputs[i], err);
        al_str_clear(&inputs[i]);
    }
    return r;
}

int al_git_store_pack(const struct al_repo *repo, int dir_fd, const char *name,
                      struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_closep) int fd = al_nofollow_open(dir_fd, name, O_RDONLY);

    if (fd < 0)
        return al_error_errno(err, -fd, "cannot read '%s'", name);
    command.in_fd = fd;
    al_strv_adds(&command.argv, "git", "index-pack", "--stdin", NULL);
    return al_git_write(&repo->at, &command, 0, err);
}

/* References. */

static bool is_symbolic(const char *value)
{
    return value && al_starts_with(value, "ref: ");
}

/* Whether a deleted reference makes room for another one: "a" and "a/b" cannot exist together, so
 * git has to delete the old one first. */
static bool makes_room(const struct al_ref_move *moves, size_t nmoves, const char *gone)
{
    for (size_t i = 0; i < nmoves; i++)
        if (moves[i].to && !moves[i].from &&
            (al_fs_beneath(moves[i].name, gone) || al_fs_beneath(gone, moves[i].name)))
            return true;
    return false;
}

/* One transaction: the deletions that make room for others, or the remaining moves. */
static int move_some(const struct al_repo *repo, const struct al_ref_move *moves, size_t nmoves,
                     bool room, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_str_clear) struct al_str input = AL_STR_INIT;

    for (size_t i = 0; i < nmoves; i++) {
        const struct al_ref_move *move = &moves[i];

        if (is_symbolic(move->from) || is_symbolic(move->to) ||
            room != (!move->to && makes_room(moves, nmoves, move->name)))
            continue;
        al_str_addf(&input, "option no-deref%c%s %s%c", '\0',
                    move->to ? move->from ? "update" : "create" : "delete", move->name, '\0');
        if (move->to)
            al_str_addf(&input, "%s%c", move->to, '\0');
        if (move->from || !move->to)
            al_str_addf(&input, "%s%c", move->from ? move->from : "", '\0');
    }
    if (!input.len)
        return 0;
    al_git_command_feed(&command, &input);
    al_strv_adds(&command.argv, "git", "update-ref", "-m", "airlock: rollback", "-z", "--stdin",
                 NULL);
    return al_git_write(&repo->at, &command, 0, err);
}

/* @param to  NULL: delete it. */
static int set_symbolic(const struct al_repo *repo, const char *name, const char *to,
                        struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;

    al_strv_adds(&command.argv, "git", "symbolic-ref", to ? "--" : "--delete", name, to, NULL);
    return al_git_write(&repo->at, &command, 0, err);
}

static int move_symbolic(const struct al_repo *repo, const struct al_ref_move *move,
                         struct al_error *err)
{
    const struct al_ref_move gone = { .name = move->name, .from = move->from };
    const struct al_ref_move made = { .name = move->name, .to = move->to };
    int r = 0;

    if (is_symbolic(move->from))
        r = set_symbolic(repo, move->name, NULL, err);
    else if (move->from)
        r = move_some(repo, &gone, 1, false, err);
    if (r < 0 || !move->to)
        return r;
    return is_symbolic(move->to) ? set_symbolic(repo, move->name, move->to + strlen("ref: "), err)
                                 : move_some(repo, &made, 1, false, err);
}

int al_git_move_refs(const struct al_repo *repo, const struct al_ref_move *moves, size_t nmoves,
                     struct al_error *err)
{
    int r = move_some(repo, moves, nmoves, true, err);

    if (r == 0)
        r = move_some(repo, moves, nmoves, false, err);
    for (size_t i = 0; i < nmoves && r == 0; i++)
        if (is_symbolic(moves[i].from) || is_symbolic(moves[i].to))
            r = move_symbolic(repo, &moves[i], err);
    return r;
}

/* Ignored files. */

int al_git_ignored_paths(const struct al_repo *repo, int top_fd, const struct al_strv *paths,
                         struct al_strv *ret_ignored, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_str_clear) struct al_str input = AL_STR_INIT;

    if (!paths->count)
        return 0;
    for (size_t i = 0; i < paths->count; i++)
        al_str_add(&input, paths->items[i], strlen(paths->items[i]) + 1);
    al_git_command_feed(&command, &input);
    command.cwd_fd = top_fd;
    al_strv_adds(&command.argv, "git", "check-ignore", "-z", "--stdin", "--no-index", NULL);
    return al_git_find_records(&repo->at, &command, 1, al_nul_records_list, ret_ignored, err);
}

/* --- What git cannot read --- */

struct damage {
    const struct al_repo *repo;
    bool put_aside;
};

/* git needs a HEAD. */
static int make_head(const struct al_repo *repo)
{
    static const char unborn[] = "ref: refs/heads/main\n";
    al_auto(al_closep) int fd = open(repo->at.git_dir, O_PATH | O_DIRECTORY | O_CLOEXEC);

    return fd < 0 ? -errno : al_fs_write_atomic(fd, "HEAD", unborn, strlen(unborn), 0666, true);
}

/* A file of a directory cannot be read.  Its name has no slashes where it goes, since what a branch
 * side left there must not be in the way of one side/one. */
static int take_damaged(const struct damage *damage, const char *dir, const char *name,
                        struct al_error *err)
{
    al_auto(al_freep) char *safe = al_text_sanitize_line(name), *from = al_fs_join(dir, name);
    al_auto(al_freep) char *parent = al_fs_join(damage->repo->at.common_dir, "airlock/damaged");
    al_auto(al_freep) char *to = al_fs_join(parent, name);
    int r;

    if (!damage->put_aside)
        return al_error_set(err, AL_ERR_EXECUTION,
                            "git cannot read '%s' of the git directory; 'airlock rollback --force' "
                            "moves it away, and brings back what it was",
                            safe);
    for (char *slash = to + strlen(parent) + 1; (slash = strchr(slash, '/'));)
        *slash = ':';
    r = al_fs_mkdirs(parent, 0700);
    if (r == 0 && rename(from, to) < 0)
        r = -errno;
    if (r == 0 && !strcmp(name, "HEAD"))
        r = make_head(damage->repo);
    if (r < 0)
        return al_error_errno(err, -r, "cannot move '%s' away", safe);
    al_log_warn("git cannot read '%s' of the git directory: it is in '%s' now", safe, parent);
    return 0;
}

/* Ask git something that needs this file, after all others that it needs are in order.  NULL: git
 * says itself what is wrong. */
static int check(const struct damage *damage, const char *dir, const char *file,
                 const char *const *words, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    int r;

    for (size_t i = 0; words[i]; i++)
        al_strv_add(&command.argv, words[i]);
    r = al_git_run(&damage->repo->at, &command,
                   &(struct al_git_run){ .sink = al_git_sink(NULL), .checked = !file }, &output,
                   err);
    if (r < 0 || output.exit_code <= 0)
        return r;
    r = take_damaged(damage, dir, file, err);
    return r < 0 ? r : check(damage, dir, file, words, err); /* without it */
}

/* Whether it has neither an id nor another reference's name.  "HEAD": a git of old has a symbolic
 * link there. */
static bool is_broken(const struct al_repo *repo, const char *name)
{
    const bool is_head = !strcmp(name, "HEAD");
    al_auto(al_freep) char *line =
        is_head ? al_ref_read_head(&repo->at) : al_ref_read_loose(&repo->at, name);
    al_auto(al_freep) char *value = line ? al_ref_value(line, repo->vetting->is_sha256) : NULL;

    return line && !(value && value[strspn(value, "0")]);
}

int al_git_check_damage(const struct al_repo *repo, const struct al_strv *refs, bool looks,
                        bool put_aside, struct al_error *err)
{
    static const char *const open_it[] = { "git", "rev-parse", "--git-dir", NULL };
    static const char *const list[] = { "git", "for-each-ref", "--format=%(refname)", NULL };
    static const char *const unmerged[] = { "git",      "-c",         "index.threads=1",
                                            "ls-files", "--unmerged", NULL };
    const struct damage damage = { repo, put_aside };
    const char *git_dir = repo->at.git_dir, *common_dir = repo->at.common_dir;
    const char *head = is_broken(repo, "HEAD") ? "HEAD" : NULL;
    int r;

    looks |= head != NULL;
    for (size_t i = 0; i < refs->count && !looks; i++)
        looks = is_broken(repo, refs->items[i]);
    if (!looks)
        return 0;
    r = check(&damage, git_dir, head, open_it, err);
    if (r == 0)
        r = check(&damage, common_dir, al_ref_is_stored(&repo->at, "HEAD") ? NULL : "packed-refs",
                  list, err);
    for (size_t i = 0; r == 0 && i < refs->count; i++)
        if (is_broken(repo, refs->items[i]))
            r = take_damaged(&damage, common_dir, refs->items[i], err);
    return r < 0 ? r : check(&damage, git_dir, "index", unmerged, err);
}
