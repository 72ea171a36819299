// SPDX-License-Identifier: Apache-2.0
#include "gitops/worktree/list.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gitops/nul_records.h"
#include "gitops/plumbing/revision.h"
#include "gitops/reading/worktree_state.h"
#include "gitops/run.h"
#include "gitops/worktree/beside.h"
#include "gitops/worktree/find.h"
#include "guard/text.h"

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

int al_worktree_list(const struct al_repo *repo, struct al_run_limits *budget,
                     struct al_worktrees *ret_worktrees, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_CONTENT_INIT;
    al_auto(al_worktrees_clear) struct al_worktrees worktrees = AL_WORKTREES_INIT;
    al_auto(al_nul_records_clear) struct al_nul_records records =
        AL_NUL_RECORDS_INIT(1, take_line, &worktrees);
    int r;

    al_strv_adds(&command.argv, "git", "worktree", "list", "--porcelain", "-z", NULL);
    r = al_git_read_records(&repo->at, &command, &records, budget, err);
    if (r < 0)
        return r;
    *ret_worktrees = worktrees;
    worktrees = AL_WORKTREES_INIT;
    return 0;
}

/* Whether airlock made it, so that a tool can remove it. */
static bool is_ours(const struct al_repo *repo, const struct al_worktree_entry *entry)
{
    al_auto(al_worktree_record_clear) struct al_worktree_record record = AL_WORKTREE_RECORD_INIT;

    return al_worktree_record_read(repo->at.git, repo->at.common_dir, strrchr(entry->path, '/') + 1,
                                   &record) == 0 &&
           record.path && !strcmp(record.path, entry->path);
}

static int is_held(const struct al_repo *repo, const struct al_worktree_entry *entry,
                   struct al_error *err)
{
    al_auto(al_freep) char *branch = al_text_sanitize_line(entry->branch);
    al_auto(al_freep) char *path = al_text_sanitize_line(entry->path);
    int r = al_error_set(err, AL_ERR_EXECUTION, "'%s' is checked out in the worktree '%s'%s",
                         branch, path, entry->is_gone ? ", whose files are gone" : "");

    if (err)
        err->remedy =
            !entry->is_gone ? "Work on it there, or switch that worktree to another branch first."
            : is_ours(repo, entry) ? "git_worktree with action remove removes what is left of it."
            : entry->locked
                ? "It is locked, perhaps for a disk that comes back; if not, a user can "
                  "free the branch with 'git worktree unlock', then 'git worktree prune'."
                : "A user can free the branch with 'git worktree prune'.";
    return r;
}

int al_worktree_check_free(const struct al_repo *repo, const char *branch, bool is_ok_here,
                           struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_worktrees_clear) struct al_worktrees worktrees = AL_WORKTREES_INIT;
    int r = al_worktree_list(repo, budget, &worktrees, err);

    for (size_t i = 0; r == 0 && i < worktrees.count; i++) {
        const struct al_worktree_entry *entry = &worktrees.items[i];

        if (entry->branch && !entry->is_bare && !strcmp(entry->branch, branch) &&
            !(is_ok_here && !strcmp(entry->path, repo->at.top)))
            r = is_held(repo, entry, err);
    }
    return r;
}

/* --- What is in them --- */

static int count(const struct al_repo *repo, struct al_run_limits *budget,
                 struct al_worktree_counts *ret_counts, struct al_error *err)
{
    al_auto(al_worktree_state_clear) struct al_worktree_state state = AL_WORKTREE_STATE_INIT;
    int r = al_git_read_worktree_state(repo, "normal", NULL, NULL, budget, &state, err);

    if (r == 0)
        *ret_counts = (struct al_worktree_counts){ .known = true,
                                                   .staged = state.staged,
                                                   .modified = state.unstaged,
                                                   .untracked = state.untracked,
                                                   .conflicts = state.conflicts };
    return r;
}

/* Only the end of the call's time ends the list. */
static int unless_over(int r)
{
    return r == AL_ERR_TIMEOUT || r == AL_ERR_CANCELLED ? r : 0;
}

int al_worktree_look(const struct al_repo *repo, const char *default_branch,
                     struct al_run_limits *budget, struct al_worktree_entry *entry,
                     struct al_error *err)
{
    al_auto(al_worktree_beside_clear) struct al_worktree_beside beside = AL_WORKTREE_BESIDE_INIT;
    int r = 0;

    if (entry->head && default_branch) {
        r = al_git_count_apart(repo, default_branch, entry->head, budget, &entry->behind,
                               &entry->ahead, err);
        entry->is_compared = r == 0;
        r = unless_over(r);
    }
    if (r < 0 || entry->is_bare || entry->is_gone)
        return r;
    if (!strcmp(entry->path, repo->at.top))
        return unless_over(count(repo, budget, &entry->counts, err));
    r = al_worktree_open_beside(repo, entry->path, NULL, budget, &beside, err);
    if (r == 0)
        r = count(beside.repo, budget, &entry->counts, err);
    return unless_over(r);
}

static bool take_ignored(void *payload, char *const *fields)
{
    struct al_strv *names = payload;

    al_strv_add(names, fields[0]);
    return names->count < AL_WORKTREE_IGNORED_MAX;
}

int al_worktree_list_files(const struct al_repo *repo, const char *top,
                           enum al_worktree_files files, struct al_run_limits *budget,
                           struct al_strv *ret_names, struct al_error *err)
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
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_CONTENT_INIT;
    al_auto(al_nul_records_clear) struct al_nul_records records =
        AL_NUL_RECORDS_INIT(1, take_ignored, ret_names);
    int r = al_worktree_open_beside(repo, top, NULL, budget, &beside, err);

    if (r < 0)
        return r;
    for (size_t i = 0; words[files][i]; i++)
        al_strv_add(&command.argv, words[files][i]);
    return al_git_read_records(&beside.repo->at, &command, &records, budget, err);
}
