// SPDX-License-Identifier: Apache-2.0
#include "verbs/follow/follow.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/sorted.h"
#include "git/oid.h"
#include "git/plumbing/diff_raw.h"
#include "git/plumbing/index_scan.h"
#include "git/plumbing/revision.h"
#include "git/repo/git.h"
#include "git/run.h"
#include "guard/nofollow.h"
#include "guard/text.h"
#include "verbs/preview/affected_files.h"
#include "verbs/sequencer/overwrite.h"

/* --- Paths --- */

/* A path that differs between the commits. */
struct follow_path {
    char *name;
    unsigned mode; /* in the new commit; 0: deleted */
    char oid[AL_OID_TEXT];
    bool is_new;        /* the old commit has no file there */
    bool entry_changed; /* the entry stays as it is, and so does the file */
    bool file_changed;  /* the file stays as it is */
    bool is_missing;    /* skip-worktree, and there is no file: none is written */
    bool assumes_unchanged, skips_worktree; /* the marks of the entry */
};

/* The paths, sorted by name.  Zero-initialised, there are none. */
struct follow_paths {
    struct follow_path *items;
    size_t count;
};

static void follow_paths_clear(struct follow_paths *paths)
{
    for (size_t i = 0; i < paths->count; i++)
        free(paths->items[i].name);
    free(paths->items);
    *paths = (struct follow_paths){ .items = NULL };
}

/* A submodule that is replaced is a directory with files that no commit of the target has. */
static void take_changes(const struct al_diff_raw *changes, struct follow_paths *paths)
{
    paths->items = al_calloc(changes->count, sizeof(*paths->items));
    for (size_t i = 0; i < changes->count; i++) {
        const struct al_change *change = &changes->items[i];
        struct follow_path *path = &paths->items[paths->count++];

        path->name = al_strdup(change->path);
        path->mode = change->new_mode;
        (void)snprintf(path->oid, sizeof(path->oid), "%s", change->new_oid);
        path->is_new = !change->old_mode || (change->old_mode == AL_TYPE_GITLINK && path->mode &&
                                             path->mode != AL_TYPE_GITLINK);
    }
}

static int compare_paths(const void *a, const void *b)
{
    return strcmp(((const struct follow_path *)a)->name, ((const struct follow_path *)b)->name);
}

/* The path of this name; NULL: it does not differ. */
static struct follow_path *follow_paths_find(const struct follow_paths *paths, const char *name)
{
    const size_t at = al_sorted_find(paths->items, paths->count, sizeof(*paths->items), name);

    return at == SIZE_MAX ? NULL : &paths->items[at];
}

/* Whether a path is another one, or one of them is a directory that the other is in. */
static bool meet(const char *one, const char *other)
{
    return al_fs_beneath(one, other) || al_fs_beneath(other, one);
}

/* A path that does not differ was added by the user when a new path is above or beneath
 * it.  The index cannot have both. */
static bool take_entry_changed(void *payload, char *const *fields)
{
    struct follow_paths *paths = payload;
    struct follow_path *path = follow_paths_find(paths, fields[0]);

    if (path) {
        path->entry_changed = true;
        return true;
    }
    for (path = paths->items; path < paths->items + paths->count; path++)
        if (path->is_new && meet(path->name, fields[0]))
            path->entry_changed = true;
    return true;
}

static bool take_file_changed(void *payload, char *const *fields)
{
    struct follow_path *path = follow_paths_find(payload, fields[0]);

    if (path)
        path->file_changed = true;
    return true;
}

/* Read what a git in the working tree prints: one field a record, ended by NUL. */
static int follow_read(const struct al_follow *with, const char *const *words,
                       struct follow_paths *paths, bool (*take)(void *, char *const *),
                       struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;

    al_strv_adds(&command.argv, "git", "-c", AL_NO_COMMIT_GRAPH, NULL);
    for (; *words; words++)
        al_strv_add(&command.argv, *words);
    return al_git_read_records(&with->repo->at, &command, 1, take, paths, err);
}

/* A new path cannot follow where something is that the user made, or that stays. */
static int find_untracked(const struct al_follow *with, struct follow_paths *paths,
                          struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv new = AL_STRV_INIT, lost = AL_STRV_INIT;
    int r;

    for (size_t i = 0; i < paths->count; i++) {
        al_auto(al_freep) char *nested =
            al_asprintf("%s/%s/.git", with->repo->at.top, paths->items[i].name);

        if (paths->items[i].is_new)
            al_strv_add(&new, paths->items[i].name);
        if (paths->items[i].is_new && access(nested, F_OK) == 0) /* a submodule that is replaced */
            paths->items[i].file_changed = true;
    }
    r = al_overwrite_list(with->repo, &new, &lost, err);
    for (size_t i = 0; i < paths->count; i++)
        if (paths->items[i].entry_changed || paths->items[i].file_changed)
            al_strv_add(&lost, paths->items[i].name);
    for (size_t i = 0; lost.count && i < paths->count; i++)
        for (size_t k = 0; paths->items[i].is_new && k < lost.count; k++) {
            const struct follow_path *other;

            if (!meet(paths->items[i].name, lost.items[k]))
                continue;
            other = follow_paths_find(paths, lost.items[k]);
            paths->items[i].file_changed = true;
            paths->items[i].entry_changed |= other && other->entry_changed;
        }
    return r;
}

/* --- Marks --- */

/*
 * An index entry can be marked: assume-unchanged, or skip-worktree.  git does not look at the files
 * of such entries, and forgets the marks when an entry is set.
 *
 * Source: git-update-index(1) "USING “ASSUME UNCHANGED” BIT", "SKIP-WORKTREE BIT".
 */

/* "<tag> SP <path>".  The tag is a small letter for assume-unchanged, and S for skip-worktree. */
static bool take_mark(void *payload, char *const *fields)
{
    const char tag = fields[0][0];
    struct follow_path *path =
        tag && fields[0][1] == ' ' ? follow_paths_find(payload, fields[0] + 2) : NULL;

    if (!path)
        return true;
    path->assumes_unchanged = islower((unsigned char)tag) != 0;
    path->skips_worktree = tag == 'S' || tag == 's';
    return true;
}

/* The files of marked entries that differ from their entries. */
static int find_changed(const struct al_follow *with, struct follow_paths *paths,
                        const struct al_str *words, struct al_error *err)
{
    al_auto(al_unseen_changes_clear) struct al_unseen_changes unseen = AL_UNSEEN_CHANGES_INIT;
    const struct al_strv known = AL_STRV_INIT;
    int r = al_git_find_unseen_changes(with->repo, words, &known, &unseen, err);

    for (size_t i = 0; r == 0 && i < unseen.names.count; i++) {
        struct follow_path *path = follow_paths_find(paths, unseen.names.items[i]);

        if (path)
            path->file_changed = true;
    }
    return r;
}

static void find_missing(const struct al_follow *with, struct follow_path *path)
{
    al_auto(al_freep) char *file = al_fs_join(with->repo->at.top, path->name);
    struct stat st;

    if (path->skips_worktree && lstat(file, &st) < 0)
        path->is_missing = path->file_changed = true;
}

/* Find the marks, and the changes of files that git does not look at because of them. */
static int follow_look_at_marks(const struct al_follow *with, struct follow_paths *paths,
                                struct al_error *err)
{
    const char *const entries[] = { "-C", with->repo->at.top, "ls-files", "-v", "-z", NULL };
    al_auto(al_str_clear) struct al_str words = AL_STR_INIT;
    int r = follow_read(with, entries, paths, take_mark, err);

    for (size_t i = 0; i < paths->count && r == 0; i++) {
        struct follow_path *path = &paths->items[i];

        if (!path->assumes_unchanged && !path->skips_worktree)
            continue;
        al_str_addf(&words, ":(top,literal)%s", path->name);
        al_str_addc(&words, '\0');
        find_missing(with, path);
    }
    return r < 0 || !words.len ? r : find_changed(with, paths, &words, err);
}

/* Mark the entries again that were marked before. */
static int follow_restore_marks(const struct al_follow *with, const struct follow_paths *paths,
                                struct al_error *err)
{
    al_auto(al_str_clear) struct al_str assumed = AL_STR_INIT;
    al_auto(al_str_clear) struct al_str skipped = AL_STR_INIT;
    int r;

    for (size_t i = 0; i < paths->count; i++) {
        const struct follow_path *path = &paths->items[i];
        const size_t len = strlen(path->name) + 1;

        if (path->entry_changed || !path->mode) /* the new commit does not have it */
            continue;
        if (path->assumes_unchanged)
            al_str_add(&assumed, path->name, len);
        if (path->skips_worktree)
            al_str_add(&skipped, path->name, len);
    }
    r = al_index_update(with->repo, 0, NULL, "--assume-unchanged", &assumed, err);
    return r < 0 ? r : al_index_update(with->repo, 0, NULL, "--skip-worktree", &skipped, err);
}

static int read_changes(const struct al_follow *with, const char *commit,
                        struct follow_paths *paths, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_diff_raw_clear) struct al_diff_raw changes = AL_DIFF_RAW_INIT;
    int r;

    changes.all = true;
    al_strv_adds(&command.argv, "git", "-c", AL_NO_COMMIT_GRAPH, "diff-tree", "-r", "-z", "--raw",
                 "--no-abbrev", "--no-renames", with->from, commit, "--", NULL);
    r = al_git_list_changes(&with->repo->at, &command, &changes, err);
    if (r == 0)
        take_changes(&changes, paths);
    return r;
}

/* Look which paths a commit changes, and which of them the user has changed.  To look again, clear
 * `paths` first. */
static int follow_look(const struct al_follow *with, const char *commit, struct follow_paths *paths,
                       struct al_error *err)
{
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
    int r = with->only_looks ? 0 : al_git_refresh_index(&with->repo->at, err);

    if (r == 0)
        r = read_changes(with, commit, paths, err);
    if (r < 0)
        return r;
    qsort(paths->items, paths->count, sizeof(*paths->items), compare_paths);
    r = follow_read(with, entries, paths, take_entry_changed, err);
    if (r == 0)
        r = follow_read(with, with->only_looks ? contents : files, paths, take_file_changed, err);
    if (r == 0)
        r = find_untracked(with, paths, err);
    return r < 0 ? r : follow_look_at_marks(with, paths, err);
}

/* --- Follow --- */

#define NAMED_MAX 20
#define TRIES_MAX 3

/* "<mode> SP <oid> TAB <path>" NUL for paths whose files follow (`whole`), or only their entries.
 */
static size_t add_entries(const struct follow_paths *paths, bool whole, struct al_str *out)
{
    size_t count = 0;

    for (size_t i = 0; i < paths->count; i++) {
        const struct follow_path *path = &paths->items[i];

        if (path->entry_changed || path->file_changed == whole)
            continue;
        al_str_addf(out, "%o %s\t%s", path->mode, path->oid, path->name);
        al_str_addc(out, '\0');
        count++;
    }
    return count;
}

/* The tree of the old commit with the paths whose files follow. */
static int make_tree(const struct al_follow *with, const struct al_str *entries, char **ret_tree,
                     struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command write = AL_GIT_COMMAND_INIT;
    al_auto(al_freep) char *index = al_git_private_name(with->repo->at.git, "follow");
    int r = al_index_read_tree(with->repo, index, (const char *const[]){ with->from, NULL }, err);

    write.index = index;
    write.class = AL_GIT_WRITE;
    al_strv_adds(&write.argv, "git", "write-tree", "--missing-ok", NULL);
    if (r == 0)
        r = al_index_update(with->repo, 0, index, "--index-info", entries, err);
    if (r == 0)
        r = al_git_run_word(with->repo, &write, ret_tree, err);
    (void)unlink(index);
    return r == 0 && !*ret_tree
               ? al_error_set(err, AL_ERR_EXECUTION, "git cannot write what follows as a tree")
               : r;
}

/* Bring along what the user has not changed.  `ret_why` is set when git would not. */
static int bring(const struct al_follow *with, const char *commit, const struct follow_paths *paths,
                 struct al_error *ret_why, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_str_clear) struct al_str follow = AL_STR_INIT;
    al_auto(al_freep) char *tree = NULL;
    int r = 0;

    if (add_entries(paths, true, &follow) == paths->count)
        tree = al_strdup(commit);
    else
        r = make_tree(with, &follow, &tree, err);
    if (r < 0)
        return r;
    al_strv_adds(&command.argv, "git", "read-tree", "-m", "-u", with->from, tree, NULL);
    (void)al_git_write(&with->repo->at, &command, 0, ret_why);
    return 0;
}

/* A file may get in the way after it was looked for.  Then all is looked at again. */
static int follow(const struct al_follow *with, const char *commit, struct follow_paths *paths,
                  struct al_strv *notes, struct al_error *err)
{
    al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;

    for (int i = 0; i < TRIES_MAX; i++) {
        int r;

        follow_paths_clear(paths);
        r = follow_look(with, commit, paths, err);
        if (r < 0)
            return r;
        al_error_clear(&why);
        r = bring(with, commit, paths, &why, err);
        if (r < 0 || !why.message)
            return r;
    }
    al_strv_addf(notes, "git would not change the files in %s: %s", with->shown, why.message);
    for (size_t i = 0; i < paths->count; i++)
        paths->items[i].file_changed = true;
    return 0;
}

/* The paths that the user has changed. */
static void list_changed(const struct follow_paths *paths, struct al_strv *out)
{
    for (size_t i = 0; i < paths->count; i++) {
        const struct follow_path *path = &paths->items[i];

        if (path->entry_changed || (path->file_changed && !path->is_missing))
            al_strv_add(out, path->name);
    }
}

static void name_those_left(const struct al_follow *with, const struct follow_paths *paths,
                            struct al_strv *notes)
{
    al_auto(al_strv_clear) struct al_strv left = AL_STRV_INIT;
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;

    list_changed(paths, &left);
    if (!left.count)
        return;
    al_str_addf(&line, "Changed in the working tree of %s and left as they are: ", with->shown);
    al_text_add_list(&line, &left, NAMED_MAX);
    al_strv_add(notes, line.buf);
}

/* The entries of files that stay follow, so that the next commit does not undo it. */
static int finish(const struct al_follow *with, const struct follow_paths *paths,
                  struct al_error *err)
{
    al_auto(al_str_clear) struct al_str entries = AL_STR_INIT;
    int r;

    (void)add_entries(paths, false, &entries);
    r = al_index_update(with->repo, 0, NULL, "--index-info", &entries, err);
    return r < 0 ? r : follow_restore_marks(with, paths, err);
}

int al_follow_partly(const struct al_follow *with, const char *to, struct al_strv *notes,
                     struct al_error *err)
{
    al_auto(follow_paths_clear) struct follow_paths paths = { .items = NULL };
    int r = follow(with, to, &paths, notes, err);

    if (r == 0)
        r = finish(with, &paths, err);
    if (r == 0)
        name_those_left(with, &paths, notes);
    return r;
}

int al_follow_find_changed(const struct al_follow *with, const char *to, struct al_strv *ret_paths,
                           struct al_error *err)
{
    al_auto(follow_paths_clear) struct follow_paths paths = { .items = NULL };
    int r = follow_look(with, to, &paths, err);

    if (r == 0)
        list_changed(&paths, ret_paths);
    return r;
}

int al_follow_refuse(const struct al_follow *with, const struct al_strv *paths,
                     struct al_error *err)
{
    al_auto(al_str_clear) struct al_str list = AL_STR_INIT;

    al_text_add_list(&list, paths, NAMED_MAX);
    return al_error_set_code(err, AL_ERR_EXECUTION, AL_CODE_DIRTY_WORKDIR,
                             "The working tree %s has changes of its own in %s, and nothing was "
                             "done; commit or stash them there first",
                             with->shown, list.buf);
}

int al_follow_wholly(const struct al_follow *with, const char *to, struct al_error *err)
{
    al_auto(follow_paths_clear) struct follow_paths paths = { .items = NULL };
    al_auto(al_strv_clear) struct al_strv changed = AL_STRV_INIT;
    al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;
    int r = follow_look(with, to, &paths, err);

    if (r < 0)
        return r;
    list_changed(&paths, &changed);
    if (changed.count)
        return al_follow_refuse(with, &changed, err);
    r = bring(with, to, &paths, &why, err);
    if (r == 0 && why.message)
        r = al_error_set(err, why.status, "git would not change the files in %s: %s", with->shown,
                         why.message);
    return r < 0 ? r : finish(with, &paths, err);
}

/* --- Branch use --- */

#define HEADS          "refs/heads/"
#define FILE_MAX_BYTES (1u << 20)

/* Read a file of a git directory; false: there is none. */
static bool read_file(int git_dir, const char *name, struct al_str *ret_text)
{
    al_auto(al_closep) int fd = al_nofollow_open(git_dir, name, O_RDONLY);

    if (fd < 0 || al_fs_read_fd(fd, FILE_MAX_BYTES, ret_text) < 0)
        return false;
    al_str_trim_end(ret_text);
    return true;
}

/* Whether a file has this line, alone or among others. */
static bool has_line(int git_dir, const char *name, const char *line)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    al_auto(al_strv_clear) struct al_strv lines = AL_STRV_INIT;

    if (read_file(git_dir, name, &text))
        al_strv_split(&lines, text.buf, "\n");
    return al_strv_contains(&lines, line);
}

/* The rest that happens to the branch, beside HEAD. */
static enum al_branch_use use_in_operation(int git_dir, const char *ref)
{
    static const char *const rebased[] = { "rebase-merge/head-name", "rebase-apply/head-name",
                                           "rebase-merge/update-refs" };
    struct stat st;

    for (size_t i = 0; i < AL_COUNT(rebased); i++)
        if (has_line(git_dir, rebased[i], ref))
            return AL_BRANCH_REBASED;
    if (fstatat(git_dir, "BISECT_LOG", &st, AT_SYMLINK_NOFOLLOW) == 0 &&
        (has_line(git_dir, "BISECT_START", ref + strlen(HEADS)) ||
         has_line(git_dir, "BISECT_START", ref)))
        return AL_BRANCH_BISECTED;
    return AL_BRANCH_UNUSED;
}

void al_branch_users_clear(struct al_branch_users *users)
{
    for (size_t i = 0; i < users->count; i++) {
        free(users->items[i].name);
        free(users->items[i].top);
    }
    free(users->items);
    *users = (struct al_branch_users){ .items = NULL };
}

/* The search through the working trees. */
struct search {
    const struct al_location *at;
    const char *ref;
    struct al_branch_users users;
};

/* The HEAD of a bare repository, which has no index, is nobody's working tree. */
static bool take_head(void *payload, const struct al_head *head)
{
    struct search *search = payload;
    struct al_branch_users *users = &search->users;
    enum al_branch_use use = use_in_operation(head->git_dir_fd, search->ref);

    if (!head->name && (head->is_own ? al_location_is_bare(search->at) : !head->has_index))
        return true;
    if (use == AL_BRANCH_UNUSED && head->branch && !strcmp(head->branch, search->ref))
        use = AL_BRANCH_CHECKED_OUT;
    if (use == AL_BRANCH_UNUSED)
        return true;
    users->items = al_reallocarray(users->items, users->count + 1, sizeof(*users->items));
    users->items[users->count++] = (struct al_branch_user){ .use = use,
                                                            .is_own = head->is_own,
                                                            .name = al_strdup(head->name),
                                                            .top = al_strdup(head->top) };
    return true;
}

static int by_place(const void *a, const void *b)
{
    const struct al_branch_user *one = a, *other = b;

    if (one->is_own != other->is_own)
        return one->is_own ? -1 : 1;
    if (!one->name || !other->name)
        return one->name ? 1 : other->name ? -1 : 0;
    return strcmp(one->name, other->name);
}

int al_branch_find_users(const struct al_repo *repo, const char *ref,
                         struct al_branch_users *ret_users, struct al_error *err)
{
    struct search search = { .at = &repo->at, .ref = ref };
    int r = al_git_each_head(&repo->at, take_head, &search, err);

    if (r < 0)
        return r;
    if (search.users.count)
        qsort(search.users.items, search.users.count, sizeof(*search.users.items), by_place);
    *ret_users = search.users;
    return 0;
}

/* --- User --- */

/* Opening the working tree that uses a branch. */

static int outside(const char *top, struct al_error *err)
{
    al_auto(al_freep) char *word = al_text_sanitize_line(top);

    return al_error_set(err, AL_ERR_SANDBOX,
                        "The branch is checked out in '%s', which is outside of the roots, so that "
                        "working tree cannot be brought along; the user can add it with --root",
                        word);
}

static int gone(const struct al_branch_user *user, struct al_error *err)
{
    al_auto(al_freep) char *word = al_text_sanitize_line(user->top ? user->top : user->name);

    return al_error_set(err, AL_ERR_EXECUTION,
                        "The branch is checked out in the working tree '%s', which is not where "
                        "git says that it is; the user can look with git worktree list",
                        word);
}

/* The path may lead to another repository by now. */
static bool is_meant(const struct al_repo *repo, const struct al_branch_user *user,
                     const struct al_repo *opened)
{
    al_auto(al_freep) char *below = user->name ? al_asprintf("worktrees/%s", user->name) : NULL;
    al_auto(al_freep) char *git_dir =
        below ? al_fs_join(repo->at.common_dir, below) : al_strdup(repo->at.common_dir);

    return !strcmp(opened->at.common_dir, repo->at.common_dir) &&
           !strcmp(opened->at.git_dir, git_dir);
}

int al_branch_open_user(const struct al_repo *repo, const struct al_branch_user *user,
                        struct al_repo **ret_repo, struct al_error *err)
{
    al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;
    struct al_repo *opened = NULL;
    int r;

    if (!user->top)
        return gone(user, err);
    r = al_repo_open_at(repo->at.git, repo->at.common_dir, user->top, repo->at.budget, &opened,
                        &why);
    if (r == AL_ERR_SANDBOX)
        return outside(user->top, err);
    if (r == AL_ERR_EXECUTION || (r == 0 && !is_meant(repo, user, opened))) {
        al_repo_free(opened);
        return gone(user, err);
    }
    r = al_error_pass(r, &why, err);
    if (r == 0)
        *ret_repo = opened;
    return r;
}
