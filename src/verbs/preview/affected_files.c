// SPDX-License-Identifier: Apache-2.0
#include "verbs/preview/affected_files.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "git/command.h"
#include "git/failure.h"
#include "git/location.h"
#include "git/oid.h"
#include "git/plumbing/batch.h"
#include "git/plumbing/index_scan.h"
#include "git/refs.h"
#include "git/repo/git.h"
#include "git/run.h"
#include "git/vet/vet.h"
#include "guard/nofollow.h"
#include "guard/text.h"
#include "verbs/preview/diff_excerpt.h"

/* --- Unseen changes --- */

/* Only entries with a mark in the index are checked where there are more than this. */
#define UNSEEN_ENTRIES_MAX 5000

/* Bytes read of one file, and of all unmarked files together. */
#define FILE_MAX_BYTES  (64u << 20)
#define FILES_MAX_BYTES (256u << 20)

void al_unseen_changes_clear(struct al_unseen_changes *unseen)
{
    if (unseen->index)
        (void)unlink(unseen->index);
    free(unseen->index);
    al_strv_clear(&unseen->names);
    *unseen = AL_UNSEEN_CHANGES_INIT;
}

/** A search. `lines` collects the suspect entries for an index of their own. */
struct search {
    const struct al_repo *repo;
    const struct al_strv *known;
    int top;
    size_t entries;
    uint64_t bytes;
    struct al_str lines; /* input of update-index --index-info */
};

static char *link_oid(struct search *search, const char *path)
{
    const char *name;
    char target[PATH_MAX];
    al_auto(al_closep) int dir = al_nofollow_open_parent(search->top, path, false, &name);
    ssize_t len = dir < 0 ? -1 : readlinkat(dir, name, target, sizeof(target));

    return len < 0 ? NULL : al_git_blob_id(search->repo->vetting->is_sha256, target, (size_t)len);
}

/* The object id of a file's content on disk; "" when it is too large to read, NULL when there is no
 * file. */
static char *worktree_oid(struct search *search, const char *path, bool marked)
{
    al_auto(al_closep) int fd = al_nofollow_open(search->top, path, O_RDONLY);
    al_auto(al_str_clear) struct al_str content = AL_STR_INIT;
    struct stat st;

    if (fd < 0)
        return link_oid(search, path);
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        return NULL;
    search->bytes += (uint64_t)st.st_size;
    if (st.st_size > FILE_MAX_BYTES || (!marked && search->bytes > FILES_MAX_BYTES) ||
        al_fs_read_fd(fd, FILE_MAX_BYTES, &content) < 0)
        return al_strdup("");
    return al_git_blob_id(search->repo->vetting->is_sha256, content.buf, content.len);
}

/* Parse "<tag> <mode> <oid> <stage> TAB <path>" and compare the entry with the file. */
static bool take_entry(void *payload, char *const *fields)
{
    struct search *search = payload;
    const char *entry = fields[0], *tab = strchr(entry, '\t');
    const char *mode = strchr(entry, ' '), *oid = mode ? strchr(mode + 1, ' ') : NULL;
    bool marked = islower((unsigned char)*entry) || *entry == 'S';
    al_auto(al_freep) char *id = NULL;

    if (!tab || !oid || tab < oid || tab[-1] != '0' || al_starts_with(mode, " 160000"))
        return true; /* git does see a conflict; a gitlink is another repository */
    if (!marked && ++search->entries > UNSEEN_ENTRIES_MAX)
        return true;
    id = worktree_oid(search, tab + 1, marked);
    if (!id || (!*id && !marked) || (*id && al_starts_with(oid + 1, id)))
        return true;
    if (!al_strv_contains_sorted(search->known, tab + 1))
        al_str_add(&search->lines, mode + 1, strlen(mode + 1) + 1);
    return true;
}

static int read_entries(const struct al_str *words, struct search *search, struct al_error *err)
{
    size_t at = 0;
    int r = 0;

    while (r == 0 && at < words->len) {
        al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;

        al_strv_adds(&command.argv, "git", "ls-files", "--stage", "-v", "-f", "-z", "--full-name",
                     "--", NULL);
        (void)al_batch_add(&command.argv, words, &at);
        r = al_git_read_records(&search->repo->at, &command, 1, take_entry, search, err);
    }
    return r;
}

/* Content with another id may still be what git would store, after line ending conversion. git
 * decides: in an index without stat data it can only compare content. */
static int compare_in_git(const struct search *search, struct al_unseen_changes *unseen,
                          struct al_error *err)
{
    const struct al_repo *repo = search->repo;
    al_auto(al_git_command_clear) struct al_git_command list = AL_GIT_COMMAND_INIT;
    int r;

    unseen->index = al_git_private_name(repo->at.git, "index");
    list.index = unseen->index;
    al_strv_adds(&list.argv, "git", "-C", repo->at.top, "ls-files", "-z", "--modified", NULL);
    r = al_index_update(repo, 0, unseen->index, "--index-info", &search->lines, err);
    return r < 0 ? r : al_git_list_paths(repo, &list, &unseen->names, err);
}

int al_git_find_unseen_changes(const struct al_repo *repo, const struct al_str *words,
                               const struct al_strv *known, struct al_unseen_changes *unseen,
                               struct al_error *err)
{
    struct search search = { .repo = repo, .known = known, .top = -1, .lines = AL_STR_INIT };
    int r = al_location_open_top(&repo->at, &search.top, err);

    if (r == 0)
        r = read_entries(words, &search, err);
    if (r == 0 && search.lines.len)
        r = compare_in_git(&search, unseen, err);
    if (search.top >= 0)
        (void)close(search.top);
    al_str_clear(&search.lines);
    return r;
}

/* --- Affected files --- */

static int resolve_paths(const struct al_repo *repo, const struct al_strv *paths,
                         struct al_str *words, struct al_error *err)
{
    static const char everywhere[] = ":/";

    if (paths && paths->count)
        return al_repo_pathspecs(repo, paths, words, err);
    al_str_add(words, everywhere, sizeof(everywhere));
    return 0;
}

static void add_files(const struct al_repo *repo, const struct al_strv *list, struct al_strv *out)
{
    for (size_t i = 0; i < list->count; i++)
        al_strv_take(out, al_fs_join(repo->at.top, list->items[i]));
}

/* Append what a command lists for these paths. */
static int add_listed(const struct al_repo *repo, const char *const *command,
                      const struct al_strv *paths, struct al_strv *out, struct al_error *err)
{
    al_auto(al_str_clear) struct al_str words = AL_STR_INIT;
    al_auto(al_strv_clear) struct al_strv list = AL_STRV_INIT;
    int r = resolve_paths(repo, paths, &words, err);

    if (r == 0)
        r = al_batch_list(repo, command, &words, &list, err);
    if (r == 0)
        add_files(repo, &list, out);
    return r;
}

/* The files that `git ls-files` lists: those whose content differs from the index, untracked files
 * that are not ignored, or both. */
static const char *const modified[] = { "git",        "ls-files", "-z", "--full-name",
                                        "--modified", "--",       NULL };
static const char *const others[] = { "git",      "ls-files",           "-z", "--full-name",
                                      "--others", "--exclude-standard", "--", NULL };
static const char *const dirty[] = {
    "git",      "ls-files",           "-z", "--full-name", "--modified",
    "--others", "--exclude-standard", "--", NULL
};

int al_git_untracked_files(const struct al_repo *repo, const struct al_strv *paths,
                           struct al_strv *out, struct al_error *err)
{
    return add_listed(repo, others, paths, out, err);
}

int al_git_affected_files(const struct al_repo *repo, const struct al_strv *paths, bool untracked,
                          struct al_strv *out, struct al_error *err)
{
    return add_listed(repo, untracked ? dirty : modified, paths, out, err);
}

/* List the changed files that git sees in `list`, and those it does not see in `unseen`. */
static int find_overwritten(const struct al_repo *repo, const struct al_strv *paths, bool untracked,
                            struct al_strv *list, struct al_unseen_changes *unseen,
                            struct al_error *err)
{
    al_auto(al_str_clear) struct al_str words = AL_STR_INIT;
    int r = resolve_paths(repo, paths, &words, err);

    if (r == 0)
        r = al_batch_list(repo, untracked ? dirty : modified, &words, list, err);
    return r == 0 ? al_git_find_unseen_changes(repo, &words, list, unseen, err) : r;
}

int al_git_overwritten_files(const struct al_repo *repo, const struct al_strv *paths,
                             bool untracked, struct al_strv *out, struct al_error *err)
{
    al_auto(al_unseen_changes_clear) struct al_unseen_changes unseen = AL_UNSEEN_CHANGES_INIT;
    al_auto(al_strv_clear) struct al_strv list = AL_STRV_INIT;
    int r = find_overwritten(repo, paths, untracked, &list, &unseen, err);

    if (r == 0) {
        add_files(repo, &list, out);
        add_files(repo, &unseen.names, out);
    }
    return r;
}

int al_git_rewritten_files(const struct al_repo *repo, const struct al_strv *paths,
                           struct al_strv *out, struct al_error *err)
{
    static const char *const differing[] = {
        "git", "diff-files", "-z", "--name-only", "--ignore-submodules=dirty", "--", NULL
    };

    return add_listed(repo, differing, paths, out, err);
}

int al_git_unseen_changes_excerpt(const struct al_repo *repo, const struct al_strv *paths,
                                  struct al_str *out, struct al_error *err)
{
    al_auto(al_unseen_changes_clear) struct al_unseen_changes unseen = AL_UNSEEN_CHANGES_INIT;
    al_auto(al_strv_clear) struct al_strv list = AL_STRV_INIT;
    struct al_diff_options change = { .unified = -1 };
    int r = find_overwritten(repo, paths, false, &list, &unseen, err);

    if (r < 0 || !unseen.names.count)
        return r;
    al_str_adds(out, "The index says that these files are not changed, and they are:\n");
    change.index = unseen.index;
    return al_git_diff_excerpt(repo, &change, out, err);
}

int al_git_loss_excerpt(const struct al_repo *repo, const struct al_diff_options *options,
                        const char *title, struct al_str *out, struct al_error *err)
{
    al_auto(al_str_clear) struct al_str loss = AL_STR_INIT;
    int r = al_git_diff_excerpt(repo, options, &loss, err);

    if (r == 0 && !options->cached)
        r = al_git_unseen_changes_excerpt(repo, options->paths, &loss, err);
    if (r == 0 && loss.len)
        al_str_addf(out, "%s\n%s", title, loss.buf);
    return r;
}

#define UNTRACKED_SHOWN_MAX 50u

int al_git_untracked_excerpt(const struct al_repo *repo, const char *commit,
                             const struct al_strv *paths, struct al_str *out, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv files = AL_STRV_INIT;
    struct stat st;
    int r = al_git_untracked_overwritten(repo, commit, paths, &files, err);

    if (r < 0 || !files.count)
        return r;
    al_str_adds(out, "Untracked, and written over:\n");
    for (size_t i = 0; i < files.count && i < UNTRACKED_SHOWN_MAX; i++) {
        const char *below = al_fs_beneath(repo->at.top, files.items[i]);
        al_auto(al_freep) char *name = al_text_sanitize_line(below ? below : files.items[i]);

        al_str_addf(out, "  %s", name);
        if (lstat(files.items[i], &st) == 0 && S_ISREG(st.st_mode))
            al_str_addf(out, " (%jd byte%s)", (intmax_t)st.st_size, st.st_size == 1 ? "" : "s");
        else if (lstat(files.items[i], &st) == 0 && S_ISDIR(st.st_mode))
            al_str_adds(out, "/ and everything in it");
        al_str_addc(out, '\n');
    }
    if (files.count > UNTRACKED_SHOWN_MAX)
        al_str_addf(out, "  and %zu more\n", files.count - UNTRACKED_SHOWN_MAX);
    return 0;
}

void al_git_files_excerpt(const struct al_repo *repo, const struct al_strv *files,
                          const char *title, struct al_str *out)
{
    al_auto(al_str_clear) struct al_str lines = AL_STR_INIT;

    for (size_t i = 0; i < files->count; i++) {
        const char *below = al_location_worktree_name(&repo->at, files->items[i]);
        al_auto(al_freep) char *name = below ? al_text_sanitize_shown_line(below) : NULL;

        if (name)
            al_str_addf(&lines, "  %s\n", name);
    }
    if (!lines.len)
        return;
    al_str_addf(out, "%s\n", title);
    al_git_add_excerpt(repo->at.budget, lines.buf, lines.len, false, out);
}

/* --- Untracked files in the way --- */

/* Whether a file of this name would overwrite something: the same path, or a file where the path
 * needs a directory. */
static bool is_taken(int top_fd, const char *name)
{
    struct stat st;

    return fstatat(top_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 || errno == ENOTDIR ||
           errno == ELOOP;
}

static int list_for_target(const struct al_repo *repo, const char *target,
                           const struct al_str *words, int top_fd, struct al_strv *out,
                           struct al_error *err)
{
    const char *const deleted[] = { "--cached", "--no-relative", "--diff-filter=D", target, NULL };
    al_auto(al_strv_clear) struct al_strv list = AL_STRV_INIT;
    int r = al_batch_list_diff(repo, deleted, words, &list, err);

    for (size_t i = 0; r == 0 && i < list.count; i++)
        if (is_taken(top_fd, list.items[i]))
            al_strv_take(out, al_fs_join(repo->at.top, list.items[i]));
    return r;
}

int al_git_untracked_overwritten(const struct al_repo *repo, const char *target,
                                 const struct al_strv *paths, struct al_strv *out,
                                 struct al_error *err)
{
    al_auto(al_error_clear) struct al_error complaint = AL_ERROR_INIT;
    al_auto(al_str_clear) struct al_str words = AL_STR_INIT;
    al_auto(al_closep) int top_fd = -1;
    int r = al_location_open_top(&repo->at, &top_fd, err);

    if (r == 0)
        r = resolve_paths(repo, paths, &words, err);
    if (r < 0)
        return r;
    r = list_for_target(repo, target, &words, top_fd, out, &complaint);
    return al_git_exited_with_error(r, repo->at.budget) ? 0 : al_error_pass(r, &complaint, err);
}

/* --- What git can write --- */

/* Whether a file is in the git directory. */
static bool has(const struct al_repo *repo, const char *name)
{
    al_auto(al_freep) char *path = al_fs_join(repo->at.git_dir, name);

    return access(path, F_OK) == 0;
}

/* Patterns of a sparse checkout may have changed since git last looked at them.  It would then
 * write and remove files that no tree says. */
bool al_git_index_tells(const struct al_repo *repo)
{
    al_auto(al_freep) char *head = al_ref_head(&repo->at);

    return *head && has(repo, "index") && !has(repo, "info/sparse-checkout") &&
           !al_repo_index_facts(&repo->at).marks;
}

int al_git_switched_files(const struct al_repo *repo, const char *target, bool *ret_known,
                          struct al_strv *out, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv list = AL_STRV_INIT;
    al_auto(al_freep) char *head = al_ref_head(&repo->at);
    int r = 0;

    *ret_known = al_git_index_tells(repo);
    if (*ret_known && strcmp(head, target) != 0)
        r = al_git_list_changed(repo, head, target, &list, err);
    if (r == 0)
        add_files(repo, &list, out);
    return r;
}

int al_git_reset_files(const struct al_repo *repo, const char *target, const struct al_strv *paths,
                       bool untracked, bool *ret_known, struct al_strv *out, struct al_error *err)
{
    const char *const differing[] = { "git",          "diff-index", "-z", "--name-only",
                                      "--no-renames", target,       "--", NULL };
    int r = 0;

    *ret_known = al_git_index_tells(repo);
    if (*ret_known)
        r = add_listed(repo, differing, paths, out, err);
    return r == 0 && *ret_known && untracked ? add_listed(repo, others, NULL, out, err) : r;
}
