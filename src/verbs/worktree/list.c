// SPDX-License-Identifier: Apache-2.0
#include "verbs/worktree/list.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "git/command.h"
#include "git/layer.h"
#include "git/location.h"
#include "git/oid.h"
#include "git/plumbing/revision.h"
#include "git/reading/worktree_state.h"
#include "git/repo/git.h"
#include "git/run.h"
#include "guard/nofollow.h"
#include "guard/text.h"
#include "verbs/worktree/find.h"

static void entry_clear(struct al_worktree_entry *entry)
{
    free(entry->path);
    free(entry->head);
    free(entry->branch);
    free(entry->locked);
}

void al_worktrees_clear(struct al_worktrees *worktrees)
{
    for (size_t i = 0; i < worktrees->count; i++)
        entry_clear(&worktrees->items[i]);
    free(worktrees->items);
    *worktrees = AL_WORKTREES_INIT;
}

/* The rest of a line that begins with a word; NULL: it does not. */
static const char *value_of(const char *line, const char *word)
{
    size_t len = strlen(word);

    if (strncmp(line, word, len) != 0)
        return NULL;
    return line[len] == ' ' ? line + len + 1 : line[len] ? NULL : "";
}

static void set(char **field, const char *value)
{
    free(*field);
    *field = al_strdup(value);
}

/* One line of `git worktree list --porcelain`; the first of each worktree is its path. */
static bool take_line(void *payload, char *const *fields)
{
    struct al_worktrees *worktrees = payload;
    const char *line = fields[0], *value = value_of(line, "worktree");
    struct al_worktree_entry *entry;

    if (value) {
        worktrees->items =
            al_reallocarray(worktrees->items, worktrees->count + 1, sizeof(*worktrees->items));
        worktrees->items[worktrees->count++] =
            (struct al_worktree_entry){ .path = al_strdup(value) };
        return true;
    }
    if (!worktrees->count)
        return true;
    entry = &worktrees->items[worktrees->count - 1];
    if ((value = value_of(line, "HEAD")) && strspn(value, "0") != strlen(value))
        set(&entry->head, value);
    else if ((value = value_of(line, "branch")))
        set(&entry->branch, al_starts_with(value, "refs/heads/") ? value + 11 : value);
    else if ((value = value_of(line, "locked"))) {
        set(&entry->locked, value);
        entry->is_gone = access(entry->path, F_OK) != 0; /* of those git does not say so */
    } else if (value_of(line, "bare"))
        entry->is_bare = true;
    else if (value_of(line, "prunable"))
        entry->is_gone = true;
    return true;
}

int al_worktree_list(const struct al_repo *repo, struct al_worktrees *ret_worktrees,
                     struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;

    al_strv_adds(&command.argv, "git", "worktree", "list", "--porcelain", "-z", NULL);
    return al_git_read_records(&repo->at, &command, 1, take_line, ret_worktrees, err);
}

static int is_held(const struct al_repo *repo, const struct al_worktree_entry *entry,
                   struct al_error *err)
{
    al_auto(al_freep) char *branch = al_text_sanitize_line(entry->branch);
    al_auto(al_freep) char *path = al_text_sanitize_line(entry->path);
    const char *remedy =
        !entry->is_gone
            ? "Call from that worktree, or switch that worktree to another branch first."
        : al_worktree_is_recorded(repo, entry->path)
            ? "git_worktree with action remove removes what is left of it."
        : entry->locked
            ? "It is locked, perhaps for a disk that comes back; if not, a user can free "
              "the branch with 'git worktree unlock', then 'git worktree prune'."
            : "A user can free the branch with 'git worktree prune'.";

    return al_error_remedy(al_error_set(err, AL_ERR_EXECUTION,
                                        "'%s' is checked out in the worktree '%s'%s", branch, path,
                                        entry->is_gone ? ", whose files are gone" : ""),
                           err, remedy);
}

int al_worktree_check_free(const struct al_repo *repo, const char *branch, bool is_ok_here,
                           struct al_error *err)
{
    al_auto(al_worktrees_clear) struct al_worktrees worktrees = AL_WORKTREES_INIT;
    int r = al_worktree_list(repo, &worktrees, err);

    for (size_t i = 0; r == 0 && i < worktrees.count; i++) {
        const struct al_worktree_entry *entry = &worktrees.items[i];

        if (entry->branch && !entry->is_bare && !strcmp(entry->branch, branch) &&
            !(is_ok_here && !strcmp(entry->path, repo->at.top)))
            r = is_held(repo, entry, err);
    }
    return r;
}

/* --- What is in them --- */

static int count(const struct al_repo *repo, struct al_worktree_counts *ret_counts,
                 struct al_error *err)
{
    al_auto(al_worktree_state_clear) struct al_worktree_state state = AL_WORKTREE_STATE_INIT;
    int r = al_git_read_worktree_state(repo, "normal", NULL, NULL, &state, err);

    if (r == 0)
        *ret_counts = (struct al_worktree_counts){ .known = true,
                                                   .staged = state.staged,
                                                   .modified = state.unstaged,
                                                   .untracked = state.untracked,
                                                   .conflicts = state.conflicts };
    return r;
}

static bool is_over(int r)
{
    return r == AL_ERR_TIMEOUT || r == AL_ERR_CANCELLED;
}

/* Only the end of the call's time ends the list. */
static int unless_over(int r)
{
    return is_over(r) ? r : 0;
}

int al_worktree_look(const struct al_repo *repo, const char *default_branch,
                     struct al_worktree_entry *entry, struct al_error *err)
{
    al_auto(al_worktree_beside_clear) struct al_worktree_beside beside = AL_WORKTREE_BESIDE_INIT;
    int r = 0;

    if (entry->head && default_branch) {
        r = al_git_count_apart(repo, default_branch, entry->head, &entry->behind, &entry->ahead,
                               err);
        entry->is_compared = r == 0;
        r = unless_over(r);
    }
    if (r < 0 || entry->is_bare || entry->is_gone)
        return r;
    if (!strcmp(entry->path, repo->at.top))
        return unless_over(count(repo, &entry->counts, err));
    r = al_worktree_open_beside(repo, entry->path, NULL, &beside, err);
    if (r == 0)
        r = count(beside.repo, &entry->counts, err);
    return unless_over(r);
}

static bool take_ignored(void *payload, char *const *fields)
{
    struct al_strv *names = payload;

    al_strv_add(names, fields[0]);
    return names->count < AL_WORKTREE_IGNORED_MAX;
}

int al_worktree_list_files(const struct al_repo *repo, const char *top,
                           enum al_worktree_files files, struct al_strv *ret_names,
                           struct al_error *err)
{
    static const char *const words[][8] = {
        [AL_WORKTREE_CHANGED] = { "git", "ls-files", "-z", "--modified" },
        [AL_WORKTREE_STAGED] = { "git", "diff-index", "-z", "--cached", "--name-only", "HEAD",
                                 "--" },
        [AL_WORKTREE_UNTRACKED] = { "git", "ls-files", "-z", "--others", "--exclude-standard",
                                    "--directory", "--no-empty-directory" },
        [AL_WORKTREE_IGNORED] = { "git", "ls-files", "-z", "--others", "--ignored",
                                  "--exclude-standard", "--directory" },
    };
    al_auto(al_worktree_beside_clear) struct al_worktree_beside beside = AL_WORKTREE_BESIDE_INIT;
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    int r = al_worktree_open_beside(repo, top, NULL, &beside, err);

    if (r < 0)
        return r;
    for (size_t i = 0; words[files][i]; i++)
        al_strv_add(&command.argv, words[files][i]);
    return al_git_read_records(&beside.repo->at, &command, 1, take_ignored, ret_names, err);
}

/* --- Beside --- */

#define DEPTH_MAX 128

void al_worktree_beside_clear(struct al_worktree_beside *beside)
{
    al_repo_free(beside->repo);
    al_git_free(beside->git);
    al_roots_clear(&beside->roots);
    *beside = AL_WORKTREE_BESIDE_INIT;
}

/* The git directory of a main working tree is its own; that of linked ones is the common directory.
 */
static int add_common_dir(const struct al_repo *repo, const char *top, struct al_roots *roots,
                          struct al_error *err)
{
    const char *common_dir = repo->at.common_dir;
    bool own = !strcmp(repo->at.git_dir, common_dir) && !strcmp(repo->at.top, top);

    if (al_roots_find(roots, common_dir))
        return 0;
    return al_roots_add_git_dir(roots, common_dir, own ? &roots->items[0] : NULL,
                                &repo->at.git->forbidden, repo->at.git->options.home, err);
}

/* Whether the roots are what was named.  A root is opened by its path, and a link could have come
 * into its place since it was looked at. */
static int check_paths(const struct al_roots *roots, const char *top, const char *also,
                       struct al_error *err)
{
    if (!al_roots_find(roots, top) || (also && !al_roots_find(roots, also)))
        return al_error_set(err, AL_ERR_SANDBOX,
                            "Path outside sandbox: a worktree was replaced by a link");
    return 0;
}

/* Move what was opened to the caller. */
static int hand_over(struct al_worktree_beside *beside, struct al_worktree_beside *ret_beside)
{
    /* The structs that were moved point to one another. */
    *ret_beside = *beside;
    al_roots_move(&ret_beside->roots, &beside->roots);
    ret_beside->git->roots = &ret_beside->roots;
    *beside = AL_WORKTREE_BESIDE_INIT;
    return 0;
}

int al_worktree_open_beside(const struct al_repo *repo, const char *top, const char *also,
                            struct al_worktree_beside *ret_beside, struct al_error *err)
{
    al_auto(al_worktree_beside_clear) struct al_worktree_beside beside = AL_WORKTREE_BESIDE_INIT;
    const struct al_git *git = repo->at.git;
    al_auto(al_freep) char *git_dir = al_git_dir_of_worktree(top, repo->at.common_dir);
    int r;

    beside.roots.allow_absolute = true;
    if (strcmp(top, repo->at.top) != 0 && !git_dir)
        return al_error_set(err, AL_ERR_SANDBOX,
                            "Path outside sandbox: it is no working tree of this repository");
    r = al_roots_add(&beside.roots, top, &git->forbidden, git->options.home, err);
    if (r == 0 && also)
        r = al_roots_add(&beside.roots, also, &git->forbidden, git->options.home, err);
    if (r == 0)
        r = check_paths(&beside.roots, top, also, err);
    if (r == 0)
        r = add_common_dir(repo, top, &beside.roots, err);
    if (r == 0)
        r = al_git_new_beside(git, &beside.roots, &beside.git, err);
    if (r == 0)
        r = al_repo_open(beside.git, beside.roots.items[0].path, ".", repo->at.budget, &beside.repo,
                         err);
    if (r == 0 && strcmp(beside.repo->at.common_dir, repo->at.common_dir) != 0)
        r = al_error_set(err, AL_ERR_SANDBOX,
                         "Path outside sandbox: it belongs to another repository");
    return r < 0 ? r : hand_over(&beside, ret_beside);
}

int al_worktree_open_submodule(const struct al_repo *repo, const char *top, const char *git_dir,
                               struct al_worktree_beside *ret_beside, struct al_error *err)
{
    al_auto(al_worktree_beside_clear) struct al_worktree_beside beside = AL_WORKTREE_BESIDE_INIT;
    const struct al_git *git = repo->at.git;
    const char *first = top ? top : git_dir;
    int r;

    beside.roots.allow_absolute = true;
    r = al_roots_add(&beside.roots, first, &git->forbidden, git->options.home, err);
    if (r == 0)
        r = check_paths(&beside.roots, first, NULL, err);
    if (r == 0 && top && !al_fs_beneath(top, git_dir))
        r = al_roots_add_git_dir(&beside.roots, git_dir, &beside.roots.items[0], &git->forbidden,
                                 git->options.home, err);
    if (r == 0)
        r = al_git_new_beside(git, &beside.roots, &beside.git, err);
    if (r == 0)
        r = al_repo_open_at(beside.git, first, ".", repo->at.budget, &beside.repo, err);
    if (r == 0 && strcmp(beside.repo->at.git_dir, git_dir) != 0)
        r = al_error_set(err, AL_ERR_SANDBOX, "Path outside sandbox: a submodule was replaced");
    return r < 0 ? r : hand_over(&beside, ret_beside);
}

/* --- The work in it --- */

struct work {
    struct al_str facts;
    int top_fd;
};

/* git writes indexes and locks when it only looks. */
static bool is_noise(const char *name)
{
    return !strcmp(name, ".") || !strcmp(name, "..") || !strcmp(name, "index") ||
           al_ends_with(name, ".lock");
}

/* The stat of a file, or of all files in a directory. */
static void add_tree(struct work *work, int dir_fd, const char *name, int depth)
{
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;
    al_auto(al_closedirp) DIR *dir = NULL;
    const struct dirent *entry;
    struct stat st;
    int64_t facts[4];

    al_str_add(&work->facts, name, strlen(name) + 1);
    if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return;
    facts[0] = st.st_mode;
    facts[1] = S_ISDIR(st.st_mode) ? 0 : st.st_size;
    facts[2] = S_ISDIR(st.st_mode) ? 0 : st.st_mtim.tv_sec;
    facts[3] = S_ISDIR(st.st_mode) ? 0 : st.st_mtim.tv_nsec;
    al_str_add(&work->facts, (const char *)facts, sizeof(facts));
    if (!S_ISDIR(st.st_mode) || depth > DEPTH_MAX)
        return;
    dir = al_fs_list(al_nofollow_open(dir_fd, name, O_RDONLY | O_DIRECTORY));
    while (dir && (entry = readdir(dir)))
        if (!is_noise(entry->d_name))
            al_strv_add(&names, entry->d_name);
    al_strv_sort(&names);
    for (size_t i = 0; i < names.count; i++)
        add_tree(work, dirfd(dir), names.items[i], depth + 1);
}

/* "<tag> <mode> <id> <stage> TAB <path>" of each entry of the index, and of each that is changed
 * ("C"); "? <path>" of what is untracked.  No program runs in a submodule: all files there count.
 */
static bool take_file(void *payload, char *const *fields)
{
    struct work *work = payload;
    const char *line = fields[0], *tab = *line == '?' ? line + 1 : strchr(line, '\t');

    al_str_add(&work->facts, line, strlen(line) + 1);
    if (tab && (*line != 'H' || al_starts_with(line + 2, "160000 ")))
        add_tree(work, work->top_fd, tab + 1, 0);
    return true;
}

static int add_work(struct work *work, const struct al_repo *repo, struct al_error *err)
{
    static const char *const own[] = { "HEAD",         "logs",
                                       "MERGE_HEAD",   "REVERT_HEAD",
                                       "rebase-merge", "CHERRY_PICK_HEAD",
                                       "refs",         "rebase-apply",
                                       "modules",      "AIRLOCK_AUTOSTASH" };
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_closep) int git_fd = -1;
    int r = al_location_open_git_dir(&repo->at, &git_fd, err);

    if (r == 0)
        r = al_location_open_top(&repo->at, &work->top_fd, err);
    if (r < 0)
        return r;
    for (size_t i = 0; i < AL_COUNT(own); i++)
        add_tree(work, git_fd, own[i], 0);
    al_strv_adds(&command.argv, "git", "ls-files", "-z", "-t", "--stage", "--cached", "--modified",
                 "--others", "--exclude-standard", NULL);
    command.lists_untracked = true;
    return al_git_read_records(&repo->at, &command, 1, take_file, work, err);
}

int al_worktree_digest(const struct al_repo *repo, const struct al_worktree_found *found,
                       struct al_str *ret_text, struct al_error *err)
{
    al_auto(al_worktree_beside_clear) struct al_worktree_beside beside = AL_WORKTREE_BESIDE_INIT;
    al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;
    struct work work = { .facts = AL_STR_INIT, .top_fd = -1 };
    char text[AL_OID_TEXT] = "-";
    struct al_oid oid;
    int r = found->is_whole ? al_worktree_open_beside(repo, found->top, NULL, &beside, &why)
                            : AL_ERR_NOT_FOUND;

    if (r == 0)
        r = add_work(&work, beside.repo, &why);
    if (r == 0) {
        al_oid_of(true, AL_OBJECT_BLOB, work.facts.buf, work.facts.len, &oid);
        al_oid_text(&oid, true, text);
    }
    al_str_adds(ret_text, text);
    al_str_clear(&work.facts);
    al_close(work.top_fd);
    return is_over(r) ? al_error_set(err, (enum al_status)r, "%s", why.message) : 0;
}

/* --- What only it reached --- */

static int run(const struct al_repo *repo, struct al_git_command *command, const struct al_str *in,
               struct al_str *ret_out, struct al_error *err)
{
    if (in)
        al_git_command_feed(command, in);
    return al_git_read(&repo->at, command, al_git_sink(ret_out), err);
}

/* The objects that HEAD, its log, the states of operations and its own references reach, as far as
 * they are there, and no reference of the others.  Nor the branch: others may delete it. */
static int list_objects(const struct al_repo *repo, const char *branch, struct al_str *ret_objects,
                        struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command log = AL_GIT_COMMAND_INIT;
    al_auto(al_git_command_clear) struct al_git_command list = AL_GIT_COMMAND_INIT;
    al_auto(al_str_clear) struct al_str commits = AL_STR_INIT;
    int r;

    al_strv_adds(&log.argv, "git", "rev-list", "--walk-reflogs", "HEAD", "--", NULL);
    r = run(repo, &log, NULL, &commits, NULL); /* HEAD may be unborn */
    if (is_over(r))
        return al_error_set(err, (enum al_status)r, "Timed out or cancelled");
    al_strv_adds(&list.argv, "git", "rev-list", "--objects", "--missing=allow-promisor",
                 "--ignore-missing", "--single-worktree", "--indexed-objects", "--stdin", "HEAD",
                 "ORIG_HEAD", "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "REBASE_HEAD",
                 "AUTO_MERGE", "AIRLOCK_AUTOSTASH", "BISECT_HEAD", "--glob=refs/worktree",
                 "--glob=refs/bisect", "--glob=refs/rewritten", "--not",
                 "--exclude=refs/worktree/*", "--exclude=refs/bisect/*",
                 "--exclude=refs/rewritten/*", NULL);
    if (branch)
        al_strv_addf(&list.argv, "--exclude=%s", branch);
    al_strv_add(&list.argv, "--glob=refs/*");
    return run(repo, &list, &commits, ret_objects, err);
}

int al_worktree_pack(const struct al_repo *repo, const char *top, const char *branch, int dir_fd,
                     const char *name, struct al_error *err)
{
    al_auto(al_worktree_beside_clear) struct al_worktree_beside beside = AL_WORKTREE_BESIDE_INIT;
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_str_clear) struct al_str objects = AL_STR_INIT;
    al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;
    al_auto(al_freep) char *dir = al_fs_fd_path(dir_fd);
    int r = al_worktree_open_beside(repo, top, NULL, &beside, &why);

    if (r == 0)
        r = list_objects(beside.repo, branch, &objects, &why);
    command.class = AL_GIT_WRITE;
    al_strv_adds(&command.argv, "git", "pack-objects", "-q", "--non-empty", NULL);
    al_strv_take(&command.argv, al_fs_join(dir ? dir : "", name));
    if (r == 0 && dir && objects.len)
        r = run(beside.repo, &command, &objects, NULL, &why);
    return is_over(r) ? al_error_set(err, (enum al_status)r, "%s", why.message) : 0;
}
