// SPDX-License-Identifier: Apache-2.0
#include "verbs/worktree/add.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/log.h"
#include "git/failure.h"
#include "git/layer.h"
#include "git/location.h"
#include "git/plumbing/filters.h"
#include "git/plumbing/revision.h"
#include "git/plumbing/snapshot.h"
#include "git/refs.h"
#include "git/repo/repo.h"
#include "git/run.h"
#include "guard/nofollow.h"
#include "guard/root.h"
#include "guard/text.h"
#include "verbs/worktree/find.h"
#include "verbs/worktree/list.h"

/* Make a worktree a root of this session, unless it lies in one.  It was made from here, and `fd`
 * is its directory. */
static int worktree_admit(const struct al_repo *repo, const char *top, int fd, struct al_error *err)
{
    struct al_git *git = repo->at.git;
    const struct al_root *root = al_roots_find(git->roots, top); /* of an earlier one of its name */

    if (!git->options.growing || (root && strcmp(root->path, top) != 0))
        return 0;
    return al_roots_admit(git->options.growing, top, fd, &git->forbidden, git->options.home, err);
}

/* --- Copies --- */

#define INCLUDE_FILE ".worktreeinclude"

/* A copy while it is made. */
struct copy {
    const struct al_repo *repo;
    const char *skip;
    int from_fd, to_fd;
    struct al_strv paths; /* relative to the top */
};

static void copy_clear(struct copy *copy)
{
    al_close(copy->from_fd);
    al_strv_clear(&copy->paths);
}

/* A directory is a repository of its own, such as a linked worktree. */
static bool take_path(void *payload, char *const *fields)
{
    struct copy *copy = payload;
    al_auto(al_freep) char *abs = al_fs_join(copy->repo->at.top, fields[0]);

    if (!al_ends_with(fields[0], "/") && !al_fs_beneath(copy->skip, abs))
        al_strv_add(&copy->paths, fields[0]);
    return true;
}

/* List the untracked files that the include file names, and keep those that git ignores. */
static int list(struct copy *copy, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    struct al_strv ignored = AL_STRV_INIT;
    int r;

    command.cwd_fd = copy->from_fd;
    al_strv_adds(&command.argv, "git", "ls-files", "-z", "--others", "--ignored",
                 "--exclude-from=" INCLUDE_FILE, NULL);
    r = al_git_read_records(&copy->repo->at, &command, 1, take_path, copy, err);
    if (r == 0 && copy->paths.count)
        r = al_git_ignored_paths(copy->repo, copy->from_fd, &copy->paths, &ignored, err);
    al_strv_clear(&copy->paths);
    copy->paths = ignored;
    return r;
}

/* Open a file to copy; -1 for what is none, and for a link on the way. */
static int open_source(const struct copy *copy, const char *path, struct stat *ret_st)
{
    int fd = al_nofollow_open(copy->from_fd, path, O_RDONLY);

    if (fd >= 0 && fstat(fd, ret_st) == 0 && S_ISREG(ret_st->st_mode))
        return fd;
    al_close(fd);
    return -1;
}

/* Leave out what cannot be copied, and add the sizes up. */
static void measure(struct copy *copy, struct al_worktree_copies *copies)
{
    struct al_strv kept = AL_STRV_INIT;

    for (size_t i = 0; i < copy->paths.count; i++) {
        const char *path = copy->paths.items[i];
        struct stat st;
        al_auto(al_closep) int fd = open_source(copy, path, &st);

        if (fd < 0) {
            copies->links +=
                fstatat(copy->from_fd, path, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode);
            continue;
        }
        copies->bytes += (uint64_t)st.st_size;
        al_strv_add(&kept, path);
    }
    al_strv_clear(&copy->paths);
    copy->paths = kept;
}

/* 0, also for a file that is gone by now or has been in the worktree before; or -errno. */
static int copy_file(const struct copy *copy, const char *path, bool *ret_copied)
{
    struct stat st;
    const char *name;
    al_auto(al_closep) int from_fd = open_source(copy, path, &st);
    al_auto(al_closep) int parent_fd = -1;
    al_auto(al_closep) int to_fd = -1;
    int r;

    *ret_copied = false;
    if (from_fd < 0)
        return 0;
    parent_fd = al_nofollow_open_parent(copy->to_fd, path, true, &name);
    if (parent_fd < 0)
        return parent_fd == -ENOTDIR || parent_fd == -ELOOP ? 0 : parent_fd;
    to_fd = openat(parent_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (to_fd < 0)
        return errno == EEXIST ? 0 : -errno;
    r = al_fs_copy(from_fd, to_fd, AL_WORKTREE_COPIES_MAX_BYTES);
    if (r == 0 && fchmod(to_fd, st.st_mode & 0777) < 0)
        r = -errno;
    *ret_copied = r == 0;
    return r;
}

static int copy_all(const struct copy *copy, struct al_worktree_copies *copies,
                    struct al_error *err)
{
    for (size_t i = 0; i < copy->paths.count; i++) {
        bool copied;
        int r = copy_file(copy, copy->paths.items[i], &copied);

        if (r < 0) {
            al_auto(al_freep) char *safe = al_text_sanitize_line(copy->paths.items[i]);

            return al_error_errno(err, -r, "cannot copy '%s' into the worktree", safe);
        }
        copies->copied += copied;
        if (al_cancel_fired(copy->repo->at.budget->cancel))
            return al_error_set(err, AL_ERR_CANCELLED, "Cancelled");
    }
    return 0;
}

/*
 * Copy the files.
 *
 * @param skip  A directory whose files are never copied, canonical: where worktrees are made.
 * @param to_fd The top of the new worktree.
 */
static int worktree_copy_ignored(const struct al_repo *repo, const char *skip, int to_fd,
                                 struct al_worktree_copies *ret_copies, struct al_error *err)
{
    al_auto(copy_clear) struct copy copy = {
        .repo = repo, .skip = skip, .from_fd = -1, .to_fd = to_fd
    };
    struct stat st;
    int r = al_location_open_top(&repo->at, &copy.from_fd, err);

    *ret_copies = (struct al_worktree_copies){ .copied = 0 };
    if (r < 0 || fstatat(copy.from_fd, INCLUDE_FILE, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
        !S_ISREG(st.st_mode))
        return r;
    r = list(&copy, err);
    if (r < 0)
        return r;
    measure(&copy, ret_copies);
    return ret_copies->bytes > AL_WORKTREE_COPIES_MAX_BYTES ? 0 : copy_all(&copy, ret_copies, err);
}

/* --- Branch --- */

#define OUTPUT_MAX_BYTES (64u << 10)
#define UNMAKE_MS        10000

/* The message of the entry with which the branch begins. */
static char *message_of(const char *name, const struct al_worktree_record *record)
{
    return al_asprintf("airlock: made with worktree %s (%s)", name, record->tree);
}

/* Make the branch of a record.  An error if there is one of that name. */
static int make_branch(const struct al_repo *repo, const char *name,
                       const struct al_worktree_record *record, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_str_clear) struct al_str input = AL_STR_INIT;
    al_auto(al_freep) char *message = message_of(name, record);

    al_str_addf(&input, "option no-deref\ncreate %s %s\n", record->branch, record->branch_oid);
    al_git_command_feed(&command, &input);
    al_strv_adds(&command.argv, "git", "update-ref", "--create-reflog", "-m", message, "--stdin",
                 NULL);
    return al_git_write(&repo->at, &command, 0, err);
}

/* Whether the last entry of the reflog is the one with which the branch began. */
static bool is_as_made(const struct al_repo *repo, const char *name,
                       const struct al_worktree_record *record)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    al_auto(al_freep) char *message = message_of(name, record);

    al_strv_adds(&command.argv, "git", "log", "--walk-reflogs", "--max-count=1",
                 "--no-show-signature", "--format=%gs", record->branch, "--", NULL);
    if (al_git_run(&repo->at, &command, &(struct al_git_run){ .max_bytes = OUTPUT_MAX_BYTES },
                   &output, NULL) < 0)
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
    struct al_repo own = *repo;
    const struct al_ref_move move = { record->branch, record->branch_oid, NULL };
    al_auto(al_freep) char *now = NULL;

    own.at.budget = &budget;
    if (!record->branch || !record->branch_oid || !record->tree || !is_as_made(&own, name, record))
        return;
    now = al_ref_oid(&repo->at, record->branch);
    if (!strcmp(now, record->branch_oid) &&
        al_worktree_check_free(&own, record->branch + strlen("refs/heads/"), false, NULL) == 0)
        (void)al_git_move_refs(&own, &move, 1, NULL);
}

/* --- Remove --- */

int al_worktree_check_removable(const struct al_worktree_place *place,
                                const struct al_worktree_found *found, const char *name,
                                struct al_error *err)
{
    al_auto(al_freep) char *dir = al_text_sanitize_line(place->dir);
    al_auto(al_freep) char *reason = found->locked ? al_text_join_lines(found->locked) : NULL;

    if (!found->id)
        return al_error_remedy(
            al_error_reason(al_error_set(err, AL_ERR_EXECUTION,
                                         "There is no worktree '%s' below '%s'", name, dir),
                            err, "not_found"),
            err, "git_worktree with action list shows those there are.");
    if (!reason && found->has_top && !found->is_whole) {
        return al_error_remedy(
            al_error_set(err, AL_ERR_EXECUTION,
                         "What is at '%s/%s' does not belong to the worktree '%s': its .git file "
                         "and the administrative directory do not name each other",
                         dir, name, name),
            err,
            "'git worktree repair' mends that; or move the directory away, and "
            "remove the worktree then.");
    }
    if (!reason)
        return 0;
    return al_error_remedy(al_error_set(err, AL_ERR_EXECUTION, "The worktree '%s' is locked%s%s",
                                        name, *reason ? ": " : "", reason),
                           err, "git_worktree with action unlock unlocks it.");
}

/* Remove a tree below an open directory, whose path an agent could change. */
static int remove_below(int dir_fd, const char *name)
{
    struct stat st;

    al_fs_remove_tree_at(dir_fd, name);
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

void al_worktree_forget(const struct al_repo *repo, const char *name)
{
    al_worktree_record_move(repo, name, NULL);
    al_roots_release_gone(repo->at.git->options.growing);
}

/* Whether the directory is still the one that was made; somebody may have made another one. */
static bool is_the_one(const struct al_worktree_place *place, const char *name,
                       const struct al_worktree_record *record)
{
    al_auto(al_closep) int fd = al_nofollow_open(place->fd, name, O_PATH | O_DIRECTORY);
    al_auto(al_freep) char *tree = al_fs_dir_id(fd);

    return tree && record->tree && !strcmp(tree, record->tree);
}

/* Remove what an `add` left behind. */
static void discard_made(const struct al_repo *repo, const struct al_worktree_place *place,
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
    if ((found.has_top && remove_below(place->fd, name) < 0) || remove_admin(repo, found.id) < 0)
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
            discard_made(repo, place, name, &record);
    }
    return found;
}

/* --- Add --- */

/* --- Checks --- */

static int exists_already(const struct al_worktree_place *place, const char *name,
                          struct al_error *err)
{
    al_auto(al_freep) char *dir = al_text_sanitize_line(place->dir);

    return al_error_remedy(al_error_set(err, AL_ERR_EXECUTION,
                                        "'%s' exists already in '%s'; choose another name", name,
                                        dir),
                           err, "git_worktree with action list shows the worktrees there are.");
}

static int check_name_is_free(const struct al_repo *repo, const struct al_worktree_place *place,
                              const char *name, struct al_error *err)
{
    al_auto(al_worktree_found_clear) struct al_worktree_found found = AL_WORKTREE_FOUND_INIT;
    int r = al_worktree_find(repo, place, name, &found, err);

    if (r < 0)
        return r;
    if (!found.id && found.has_top && place->fd >= 0) {
        al_auto(al_closep) int fd = al_nofollow_open(place->fd, name, O_RDONLY | O_DIRECTORY);

        return fd >= 0 && al_fs_is_empty_dir(fd) ? 0 : exists_already(place, name, err);
    }
    if (found.id && !found.has_top) {
        return al_error_remedy(
            al_error_set(err, AL_ERR_EXECUTION,
                         "There is a worktree '%s' whose files are gone; remove it first", name),
            err, "git_worktree with action remove removes what is left.");
    }
    return found.id || found.has_top ? exists_already(place, name, err) : 0;
}

static int check_room(const struct al_repo *repo, const struct al_worktree_place *place,
                      struct al_error *err)
{
    const unsigned max = repo->at.git->options.worktrees_max;
    size_t count;
    int r = al_worktree_count(repo, place, &count, err);

    if (r < 0 || count < max)
        return r;
    return al_error_set(err, AL_ERR_EXECUTION,
                        "There are %zu worktrees already, and worktrees.max is %u; remove one "
                        "first, with action remove",
                        count, max);
}

static int check_branch(const struct al_repo *repo, const struct al_worktree_add_options *options,
                        struct al_error *err)
{
    al_auto(al_freep) char *ref = al_asprintf("refs/heads/%s", options->branch);
    al_auto(al_freep) char *safe = al_text_sanitize_line(options->branch);
    bool exists = al_ref_exists(&repo->at, ref);

    if (options->start && exists)
        return al_error_remedy(
            al_error_set_code(err, AL_ERR_EXECUTION, AL_CODE_BRANCH_EXISTS,
                              "A branch named '%s' exists already", safe),
            err, "branch without create checks that one out; another name makes a new one.");
    if (!options->start && !exists)
        return al_error_about(al_error_set_code(err, AL_ERR_EXECUTION, AL_CODE_BRANCH_NOT_FOUND,
                                                "There is no branch '%s'; create makes one", safe),
                              err, AL_SUBJECT_BRANCH, safe);
    return options->start ? 0 : al_worktree_check_free(repo, options->branch, false, err);
}

int al_worktree_check_add(const struct al_repo *repo, const struct al_worktree_place *place,
                          const struct al_worktree_add_options *options, struct al_error *err)
{
    al_auto(al_freep) char *ref = al_asprintf("refs/heads/%s", options->branch);
    const char *commit = options->start ? options->start : ref;
    int r = check_name_is_free(repo, place, options->name, err);

    if (r == 0)
        r = check_room(repo, place, err);
    if (r == 0)
        r = check_branch(repo, options, err);
    if (r == 0)
        r = al_git_check_downloaded(repo, commit, NULL, err);
    return r < 0 ? r : al_git_check_filters_between(repo, al_git_empty_tree(repo), commit, err);
}

/* --- Making it --- */

void al_worktree_added_clear(struct al_worktree_added *added)
{
    free(added->top);
    al_strv_clear(&added->submodules.missing);
    *added = (struct al_worktree_added){ .top = NULL };
}

/* A worktree while it is made. */
struct making {
    const struct al_repo *repo;
    const struct al_worktree_add_options *options;
    struct al_worktree_place place;
    struct al_worktree_record record;
    struct al_worktree_added added;
    bool began; /* what is there is ours to remove */
};

static void making_clear(struct making *making)
{
    al_worktree_place_clear(&making->place);
    al_worktree_record_clear(&making->record);
    al_worktree_added_clear(&making->added);
}

/* An empty directory is what an add leaves that was killed before its first record. */
static int make_dir(struct making *making, struct al_error *err)
{
    const char *name = making->options->name;
    al_auto(al_closep) int fd = -1;

    if (mkdirat(making->place.fd, name, 0777) < 0 && errno != EEXIST)
        return al_error_errno(err, errno, "cannot make the worktree '%s'", name);
    fd = al_nofollow_open(making->place.fd, name, O_RDONLY | O_DIRECTORY);
    if (fd < 0 || !al_fs_is_empty_dir(fd))
        return exists_already(&making->place, name, err);
    making->record.tree = al_fs_dir_id(fd);
    return making->record.tree ? 0 : exists_already(&making->place, name, err);
}

static int run_git(struct making *making, struct al_error *err)
{
    al_auto(al_worktree_beside_clear) struct al_worktree_beside beside = AL_WORKTREE_BESIDE_INIT;
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    const struct al_worktree_add_options *options = making->options;
    int r = al_worktree_open_beside(making->repo, making->repo->at.top, making->record.path,
                                    &beside, err);

    if (r < 0)
        return r;
    command.class = AL_GIT_WRITE;
    command.starts_children = true;
    al_strv_adds(&command.argv, "git", "worktree", "add", "--no-guess-remote", NULL);
    if (options->locks)
        al_strv_add(&command.argv, "--lock");
    if (options->locks && options->reason)
        al_strv_addf(&command.argv, "--reason=%s", options->reason);
    al_strv_adds(&command.argv, "--", making->record.path, options->branch, NULL);
    r = al_git_run(&beside.repo->at, &command,
                   &(struct al_git_run){ .max_bytes = OUTPUT_MAX_BYTES }, &output, err);
    return r == 0 && !al_git_wrote_all_files(&output) ? al_git_failed(&output, err) : r;
}

/* The new worktree is what was asked for, and nobody has put something else in its place. */
static int check_made(struct making *making, int *ret_top_fd, char **ret_git_dir,
                      struct al_error *err)
{
    al_auto(al_worktree_found_clear) struct al_worktree_found found = AL_WORKTREE_FOUND_INIT;
    const char *name = making->options->name;
    al_auto(al_freep) char *tree = NULL;
    int r = al_worktree_find(making->repo, &making->place, name, &found, err);

    if (r < 0)
        return r;
    *ret_top_fd = al_nofollow_open(making->place.fd, name, O_PATH | O_DIRECTORY);
    tree = al_fs_dir_id(*ret_top_fd);
    if (!found.is_whole || !tree || strcmp(tree, making->record.tree) != 0)
        return al_error_set(err, AL_ERR_EXECUTION,
                            "The worktree '%s' was changed while it was made", name);
    *ret_git_dir = al_take(&found.git_dir);
    return 0;
}

static int fill(struct making *making, struct al_error *err)
{
    al_auto(al_closep) int top_fd = -1;
    al_auto(al_freep) char *git_dir = NULL;
    int r = run_git(making, err);

    if (r == 0)
        r = check_made(making, &top_fd, &git_dir, err);
    if (r == 0)
        r = al_worktree_make_submodules(&(struct al_worktree_half){ .repo = making->repo,
                                                                    .top = making->record.path,
                                                                    .git_dir = git_dir },
                                        &making->added.submodules, err);
    if (r == 0)
        r = worktree_copy_ignored(making->repo, making->place.dir, top_fd, &making->added.copies,
                                  err);
    return r;
}

static int write_record(struct making *making, bool is_made, struct al_error *err)
{
    making->record.making = !is_made;
    return al_worktree_record_write(making->repo, making->options->name, &making->record, err);
}

/* The path has the directory that was made: a link in its place is no root. */
static int admit(const struct making *making, struct al_error *err)
{
    al_auto(al_closep) int fd =
        al_nofollow_open(making->place.fd, making->options->name, O_PATH | O_DIRECTORY);

    return fd < 0 ? al_error_errno(err, -fd, "the new worktree was replaced")
                  : worktree_admit(making->repo, making->record.path, fd, err);
}

static int make(struct making *making, struct al_error *err)
{
    int r = make_dir(making, err);

    if (r < 0)
        return r;
    making->began = true;
    r = write_record(making, false, err);
    if (r == 0 && making->record.branch)
        r = make_branch(making->repo, making->options->name, &making->record, err);
    if (r == 0)
        r = fill(making, err);
    if (r == 0)
        r = admit(making, err);
    return r < 0 ? r : write_record(making, true, err);
}

/* Nothing is removed that was not made here. */
static void discard(struct making *making)
{
    if (making->began)
        discard_made(making->repo, &making->place, making->options->name, &making->record);
    if (making->place.made && unlinkat(making->place.fd, ".gitignore", 0) == 0)
        (void)rmdir(making->place.dir);
}

int al_worktree_add(const struct al_repo *repo, const struct al_worktree_add_options *options,
                    struct al_worktree_added *ret_added, struct al_error *err)
{
    al_auto(making_clear) struct making making = { .repo = repo,
                                                   .options = options,
                                                   .place = AL_WORKTREE_PLACE_INIT };
    int r = al_worktree_place_find(repo, true, &making.place, err);

    if (r < 0)
        return r;
    al_worktree_discard_unfinished(repo, &making.place);
    r = al_worktree_check_add(repo, &making.place, options, err);
    making.record.path = al_fs_join(making.place.dir, options->name);
    making.record.from = al_strdup(repo->at.top);
    making.record.agent = al_strdup(options->agent);
    if (options->start) {
        making.record.branch = al_asprintf("refs/heads/%s", options->branch);
        making.record.branch_oid = al_strdup(options->start);
    }
    if (r == 0)
        r = make(&making, err);
    if (r < 0) {
        discard(&making);
        return r;
    }
    making.added.top = al_strdup(making.record.path);
    *ret_added = making.added;
    making.added = (struct al_worktree_added){ .top = NULL };
    return 0;
}

/* --- Roots --- */

/* Open the worktree of a record, made in the working tree `repo`.  -1: it is not that one. */
static int open_recorded(const struct al_repo *repo, const struct al_worktree_place *place,
                         const char *name, const struct al_worktree_record *record)
{
    al_auto(al_worktree_found_clear) struct al_worktree_found found = AL_WORKTREE_FOUND_INIT;
    al_auto(al_freep) char *tree = NULL;
    al_auto(al_closep) int fd = -1;

    if (record->making || !record->tree || strcmp(record->from, repo->at.top) != 0 ||
        al_worktree_find(repo, place, name, &found, NULL) < 0 || !found.is_whole ||
        strcmp(found.top, record->path) != 0)
        return -1;
    fd = al_nofollow_open(place->fd, name, O_PATH | O_DIRECTORY);
    tree = al_fs_dir_id(fd);
    return tree && !strcmp(tree, record->tree) ? al_take_fd(&fd) : -1;
}

/* Whether a worktree is a root already, or lies in one. */
static bool is_root(const struct al_repo *repo, const char *top)
{
    const struct al_root *root = al_roots_find(repo->at.git->roots, top);
    struct stat st;

    return root && (strcmp(root->path, top) != 0 ||
                    (lstat(top, &st) == 0 && st.st_dev == root->dev && st.st_ino == root->ino));
}

/* The number of roots that are new. */
static size_t admit_from(const struct al_repo *repo)
{
    size_t count = 0;
    al_auto(al_worktree_place_clear) struct al_worktree_place place = AL_WORKTREE_PLACE_INIT;
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;

    al_worktree_record_names(repo->at.git, repo->at.common_dir, &names);
    if (!names.count || al_worktree_place_find(repo, false, &place, NULL) < 0 || place.fd < 0)
        return 0;
    for (size_t i = 0; i < names.count; i++) {
        al_auto(al_worktree_record_clear) struct al_worktree_record record =
            AL_WORKTREE_RECORD_INIT;
        al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
        al_auto(al_closep) int fd = -1;
        const char *name = names.items[i];

        if (al_worktree_check_name("name", name, NULL) == 0 &&
            al_worktree_record_read(repo->at.git, repo->at.common_dir, name, &record) == 0)
            fd = open_recorded(repo, &place, name, &record);
        if (fd >= 0 && !is_root(repo, record.path)) {
            if (worktree_admit(repo, record.path, fd, &err) < 0)
                al_log_warn("the worktree '%s' is no root: %s", name, err.message);
            else
                count++;
        }
    }
    return count;
}

bool al_worktree_admit_recorded(struct al_git *git)
{
    const size_t count = git->roots->count; /* not those that are added here */

    size_t admitted = 0;

    if (!git->options.growing || access(git->records_dir, F_OK) < 0)
        return false;
    for (size_t i = 0; i < count; i++) {
        const struct al_root *root = &git->roots->items[i];
        struct al_repo repo = { .at = AL_LOCATION_INIT };

        if (al_root_is_released(root))
            continue;
        repo.at.git = git;
        repo.at.root = root;
        repo.at.dir = al_strdup(root->path);
        repo.at.dir_fd = openat(root->fd, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (repo.at.dir_fd >= 0 && al_location_find(&repo.at, git->roots, ".", NULL) == 0 &&
            !strcmp(repo.at.top, root->path))
            admitted += admit_from(&repo);
        al_location_clear(&repo.at);
    }
    return admitted;
}

/* --- Lock --- */

int al_worktree_set_lock(const struct al_repo *repo, const struct al_worktree_found *found,
                         const char *name, bool locks, const char *reason, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_freep) char *why = found->locked ? al_text_join_lines(found->locked) : NULL;

    if (locks && why)
        return al_error_set(err, AL_ERR_EXECUTION, "The worktree '%s' is locked already%s%s", name,
                            *why ? ": " : "", why);
    if (!locks && !why)
        return al_error_set(err, AL_ERR_EXECUTION, "The worktree '%s' is not locked", name);
    al_strv_adds(&command.argv, "git", "worktree", locks ? "lock" : "unlock", NULL);
    if (reason)
        al_strv_addf(&command.argv, "--reason=%s", reason);
    al_strv_adds(&command.argv, "--", found->top, NULL);
    return al_git_write(&repo->at, &command, 0, err);
}
