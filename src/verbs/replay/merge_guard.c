// SPDX-License-Identifier: Apache-2.0
#include "verbs/replay/merge_guard.h"

#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "git/command.h"
#include "git/plumbing/batch.h"
#include "git/plumbing/index_scan.h"
#include "git/plumbing/revision.h"
#include "git/plumbing/snapshot.h"
#include "git/refs.h"
#include "git/run.h"
#include "verbs/inmemory/inmemory.h"
#include "verbs/porcelain/stash.h"
#include "verbs/preview/affected_files.h"
#include "verbs/replay/along.h"
#include "verbs/replay/work.h"
#include "verbs/sequencer/overwrite.h"

/** A merge that git made in memory. */
struct guarded {
    struct al_inmemory *memory;
    char
        *ours; /* the commit or the tree that the working tree goes from; NULL: there is no merge */
    struct al_stash_commits entry; /* of a stash entry */
    struct al_merged merged;
};

#define GUARDED_INIT ((struct guarded){ .entry = AL_STASH_COMMITS_INIT, .merged = AL_MERGED_INIT })

static void guarded_clear(struct guarded *guarded)
{
    al_merged_clear(&guarded->merged);
    free(guarded->ours);
    al_stash_commits_clear(&guarded->entry);
    al_inmemory_free(guarded->memory);
}

/* git reads the attributes of the working tree, as the index has it. */
static int open_memory(const struct al_repo *repo, struct guarded *guarded, struct al_error *err)
{
    int r = al_inmemory_open(repo, &guarded->memory, err);

    if (r == 0 && !al_repo_index_facts(&repo->at).attributes)
        al_inmemory_without_attributes(guarded->memory);
    return r;
}

static int merge_commit(const struct al_repo *repo, const char *theirs, struct guarded *guarded,
                        struct al_error *err)
{
    al_auto(al_freep) char *head = al_ref_head(&repo->at);
    int r;

    r = open_memory(repo, guarded, err);
    if (r == 0 && *head)
        r = al_inmemory_merge(guarded->memory, head, theirs, &guarded->merged, err);
    else if (r == 0)
        guarded->merged.tree = al_strdup(theirs);
    guarded->ours = *head ? al_take(&head) : al_strdup(al_git_empty_tree(repo));
    return r;
}

/* git merges the entry into what is staged, on the commit that it was made on. */
static int merge_entry(const struct al_repo *repo, const char *word, struct guarded *guarded,
                       struct al_error *err)
{
    const struct al_strv *of_entry = &guarded->entry.trees;
    const char *trees[AL_STAGES];
    int r = al_git_read_stash_commits(repo, word, &guarded->entry, err);

    if (r == 0 && of_entry->count > 1)
        r = open_memory(repo, guarded, err);
    if (r < 0 || !guarded->memory)
        return r;
    r = al_inmemory_index_tree(guarded->memory, NULL, &guarded->ours, err);
    if (r == AL_ERR_EXECUTION && err) { /* with conflicts it has no tree, and git refuses it */
        al_error_clear(err);
        return 0;
    }
    if (r < 0)
        return r;
    trees[AL_STAGE_BASE] = of_entry->items[1];
    trees[AL_STAGE_OURS] = guarded->ours;
    trees[AL_STAGE_THEIRS] = of_entry->items[0];
    return al_inmemory_merge_trees(guarded->memory, trees, &guarded->merged, err);
}

/* The name that a file in the way of a directory gets is another one when git merges in the working
 * tree. */
static bool add_names(const struct al_repo *repo, const struct al_strv *names, struct al_strv *out)
{
    bool all = true;

    for (size_t i = 0; i < names->count; i++) {
        al_strv_take(out, al_fs_join(repo->at.top, names->items[i]));
        all &= !al_overwrite_moved_away(names->items[i]);
    }
    return all;
}

int al_merge_guard_files(const struct al_repo *repo, const char *theirs, bool *ret_known,
                         struct al_strv *out, struct al_error *err)
{
    al_auto(guarded_clear) struct guarded guarded = GUARDED_INIT;
    int r;

    *ret_known = al_git_index_tells(repo);
    if (!*ret_known)
        return 0;
    r = merge_commit(repo, theirs, &guarded, err);
    /* Files that the merge changes, or with local changes: a failed one applies them again. */
    if (r == 0)
        r = al_git_reset_files(al_inmemory_repo(guarded.memory), guarded.merged.tree, NULL, false,
                               ret_known, out, err);
    for (size_t i = 0; r == 0 && i < out->count; i++)
        *ret_known &= !al_overwrite_moved_away(out->items[i]);
    return r;
}

/* List what an entry changes: each of its commits has the first parent of the entry, but for the
 * one of untracked files, which has none.
 *
 * @param[out] ret_staged  What differs between that parent and the index. */
static int list_entry(const struct al_repo *repo, const char *entry, struct al_strv *names,
                      struct al_strv *ret_staged, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command staged = AL_GIT_COMMAND_INIT;
    al_auto(al_git_command_clear) struct al_git_command log = AL_GIT_COMMAND_INIT;
    al_auto(al_nul_records_clear) struct al_nul_records first =
        AL_NUL_RECORDS_INIT(1, al_nul_records_list, ret_staged);
    al_auto(al_nul_records_clear) struct al_nul_records second =
        AL_NUL_RECORDS_INIT(1, al_nul_records_list, names);

    al_strv_adds(&staged.argv, "git", "diff-index", "--cached", "-z", "--name-only", "--no-renames",
                 "--ignore-submodules=dirty", NULL);
    al_strv_addf(&staged.argv, "%s^1", entry);
    al_strv_add(&staged.argv, "--");
    al_strv_adds(&log.argv, "git", "log", "--no-walk=unsorted", "--ignore-missing", "-z",
                 "--format=", "--name-only", "--no-renames", "--diff-merges=first-parent", "--root",
                 "--ignore-submodules=dirty", entry, NULL);
    al_strv_addf(&log.argv, "%s^2", entry);
    al_strv_addf(&log.argv, "%s^3", entry);
    al_strv_add(&log.argv, "--");
    return al_git_read_both(&repo->at, &staged, (struct al_sink){ al_nul_records_add, &first },
                            &log, (struct al_sink){ al_nul_records_add, &second }, err);
}

int al_merge_guard_entry_files(const struct al_repo *repo, const char *entry, bool *ret_known,
                               struct al_strv *out, struct al_error *err)
{
    al_auto(guarded_clear) struct guarded guarded = GUARDED_INIT;
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT, staged = AL_STRV_INIT;
    int r = 0;

    *ret_known = al_git_index_tells(repo) && list_entry(repo, entry, &names, &staged, NULL) == 0;
    /* git writes what the entry has where nothing else is staged. */
    if (*ret_known && staged.count) {
        r = merge_entry(repo, entry, &guarded, err);
        *ret_known = r == 0 && guarded.ours;
    }
    if (*ret_known && staged.count)
        r = al_git_list_changed(al_inmemory_repo(guarded.memory), guarded.ours, guarded.merged.tree,
                                &names, err);
    *ret_known = r == 0 && *ret_known && add_names(repo, &names, out);
    return r;
}

static int check(const struct guarded *guarded, struct al_error *err)
{
    return guarded->ours ? al_overwrite_check(al_inmemory_repo(guarded->memory), guarded->ours,
                                              guarded->merged.tree, err)
                         : 0;
}

int al_merge_guard_check_entry(const struct al_repo *repo, const char *entry, struct al_error *err)
{
    al_auto(guarded_clear) struct guarded guarded = GUARDED_INIT;
    int r = merge_entry(repo, entry, &guarded, err);

    return r < 0 ? r : check(&guarded, err);
}

static int check_merge(const struct al_repo *repo, const struct al_merge_options *options,
                       struct al_error *err)
{
    al_auto(guarded_clear) struct guarded guarded = GUARDED_INIT;
    al_auto(al_freep) char *theirs = NULL;
    int r =
        al_git_resolve_commit(repo, options->oid ? options->oid : options->commit, &theirs, err);

    if (r == 0)
        r = merge_commit(repo, theirs, &guarded, err);
    return r < 0 ? r : check(&guarded, err);
}

/* The message that git-merge(1) would have. */
static int default_message(const struct al_repo *repo, const char *name, const char *oid,
                           struct al_str *ret_message, struct al_error *err)
{
    static const char *const kinds[][2] = { { "refs/heads/", "branch" },
                                            { "refs/remotes/", "remote-tracking branch" },
                                            { "refs/tags/", "tag" } };
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;

    for (size_t i = 0; i < AL_COUNT(kinds) && !line.len; i++) {
        al_auto(al_freep) char *ref = al_asprintf("%s%s", kinds[i][0], name);

        if (al_ref_exists(&repo->at, ref))
            al_str_addf(&line, "%s\t\t%s '%s' of .\n", oid, kinds[i][1], name);
    }
    if (!line.len)
        al_str_addf(&line, "%s\t\tcommit '%s'\n", oid, name);
    al_git_command_feed(&command, &line);
    al_strv_adds(&command.argv, "git", "fmt-merge-msg", "--file=-", NULL);
    return al_git_read(&repo->at, &command, al_git_sink(ret_message), err);
}

/* The commit that a merge in memory makes; it comes into the repository. */
static int commit_merged(const struct al_repo *repo, const struct al_merge_options *options,
                         struct guarded *guarded, const char *theirs, char **ret_oid,
                         struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv parents = AL_STRV_INIT;
    al_auto(al_str_clear) struct al_str message = AL_STR_INIT;
    const char *given = options->squash && !options->message ? "squash" : options->message;
    int r = 0;

    if (given)
        al_str_addf(&message, "%s%s", given, al_ends_with(given, "\n") ? "" : "\n");
    else
        r = default_message(repo, options->commit, theirs, &message, err);
    if (r < 0)
        return r;
    al_strv_add(&parents, guarded->ours);
    if (!options->squash)
        al_strv_add(&parents, theirs);
    r = al_inmemory_commit(guarded->memory,
                           &(struct al_new_commit){ .tree = guarded->merged.tree,
                                                    .parents = &parents,
                                                    .message = message.buf },
                           ret_oid, err);
    return r < 0 ? r : al_inmemory_accept(guarded->memory, *ret_oid, err);
}

static int add_shortstat(const struct al_repo *repo, const char *from, const char *to,
                         struct al_str *out, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;

    al_strv_adds(&command.argv, "git", "diff", "--shortstat", "--no-ext-diff", "--no-textconv",
                 from, to, "--", NULL);
    return al_git_read(&repo->at, &command, al_git_sink(out), err);
}

/* Merge in memory, and move there with the uncommitted changes.  Not done: git's own merge is the
 * way, since there are none and it is no squash, or it has nothing to do, or stops. */
static int merge_in_memory(struct al_repo *repo, const struct al_merge_options *options,
                           struct al_merge_outcome *outcome, bool *ret_done, struct al_error *err)
{
    al_auto(guarded_clear) struct guarded guarded = GUARDED_INIT;
    al_auto(al_freep) char *head = al_ref_head(&repo->at);
    al_auto(al_freep) char *theirs = NULL;
    al_auto(al_freep) char *base = NULL;
    al_auto(al_freep) char *to = NULL;
    al_auto(al_freep) char *reflog = NULL, *tree = NULL;
    al_auto(al_strv_clear) struct al_strv files = AL_STRV_INIT;
    const bool squash = options->squash;
    bool staged, forwards;
    int r = al_uncommitted_files(repo, &files, &staged, err);

    if (r < 0 || !*head || (!files.count && !squash))
        return r;
    r = al_git_merge_check(repo, options, err);
    if (r == 0)
        r = al_git_resolve_commit(repo, options->oid ? options->oid : options->commit, &theirs,
                                  err);
    if (r == 0)
        r = al_git_merge_base(repo, head, theirs, &base, err);
    if (r < 0 || (!squash && (!base || !strcmp(base, theirs))))
        return r;
    forwards = !squash && !strcmp(base, head) && !options->no_ff;
    r = forwards ? 0 : merge_commit(repo, theirs, &guarded, err);
    if (r == 0 && guarded.merged.conflicted) {
        r = check(&guarded, err);
        return r < 0 ? r
                     : al_uncommitted_set_aside(repo, al_inmemory_repo(guarded.memory), head,
                                                guarded.merged.tree, err);
    }
    if (r == 0 && squash)
        r = al_inmemory_tree(guarded.memory, head, &tree, err);
    outcome->up_to_date = *ret_done = r == 0 && tree && !strcmp(tree, guarded.merged.tree);
    if (r == 0 && !forwards && !*ret_done)
        r = commit_merged(repo, options, &guarded, theirs, &to, err);
    if (r < 0 || *ret_done)
        return r;
    if (forwards)
        to = al_strdup(theirs);
    reflog = al_asprintf("merge %s: %s", options->commit,
                         squash     ? "squash"
                         : forwards ? "Fast-forward"
                                    : "Merge made by the 'ort' strategy.");
    r = al_git_advance(repo,
                       &(struct al_advance){ .from = head,
                                             .to = to,
                                             .reflog = reflog,
                                             .keeps_head = squash && !options->message,
                                             .sets_orig_head = !squash },
                       err);
    if (r == 0 && !squash)
        r = add_shortstat(repo, head, to, &outcome->text, err);
    outcome->fast_forward = forwards;
    *ret_done = true;
    return r;
}

int al_merge_guard_run(struct al_repo *repo, const struct al_merge_options *options,
                       size_t max_bytes, struct al_merge_outcome *ret_outcome, struct al_error *err)
{
    bool done = false;
    int along = options->goes_along ? merge_in_memory(repo, options, ret_outcome, &done, err) : 0;
    int r;

    if (along < 0 || done)
        return along;
    r = options->files ? al_overwrite_check_files(repo, options->files, err)
                       : check_merge(repo, options, err);
    return r < 0 ? r : al_git_merge(repo, options, max_bytes, ret_outcome, err);
}
