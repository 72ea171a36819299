// SPDX-License-Identifier: Apache-2.0
#include "verbs/porcelain/stash.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "git/command.h"
#include "git/diff/diff.h"
#include "git/failure.h"
#include "git/git_lock.h"
#include "git/plumbing/batch.h"
#include "git/plumbing/filters.h"
#include "git/plumbing/revision.h"
#include "git/plumbing/stash_owners.h"
#include "git/refs.h"
#include "git/run.h"
#include "git/vet/vet.h"
#include "verbs/preview/affected_files.h"
#include "verbs/preview/diff_excerpt.h"

#define OUTPUT_MAX_BYTES (64u << 10)

/* The number of times that other gits may change the stash just then. */
#define ATTEMPTS_MAX 16

/* --- Drop --- */

/* git says "Dropped stash@{1} (<id>)".  Caller frees. */
static char *dropped_id(const struct al_git_output *output)
{
    const char *at = strrchr(output->out.out.buf, '(');
    const size_t len = at ? strcspn(at + 1, ")") : 0;

    return at && al_is_oid(at + 1, len) ? al_strndup(at + 1, len) : NULL;
}

int al_git_stash_store(const struct al_repo *repo, const char *message, const char *oid,
                       struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;

    al_strv_adds(&command.argv, "git", "stash", "store", "-q", "-m", message, oid, NULL);
    command.starts_children = true; /* git update-ref */
    return al_git_write(&repo->at, &command, 0, err);
}

/* It is the newest one again, as it was: only a push changes the indexes. */
static int put_back(struct al_repo *repo, const char *oid, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command show = AL_GIT_COMMAND_INIT;
    al_auto(al_git_output_clear) struct al_git_output said = { .exit_code = -1 };
    int r;

    al_strv_adds(&show.argv, "git", "log", "-1", "--no-walk", "--format=%s", oid, "--", NULL);
    r = al_git_run_checked(&repo->at, &show, OUTPUT_MAX_BYTES, &said, err);
    if (r < 0)
        return r;
    al_str_trim_end(&said.out.out);
    return al_git_stash_store(repo, said.out.out.buf, oid, err);
}

static size_t count_of(const struct al_strv *oids, const char *oid)
{
    size_t count = 0;

    for (size_t i = 0; i < oids->count; i++)
        count += !strcmp(oids->items[i], oid);
    return count;
}

/* Put back the entries that are no longer there. */
static int put_back_missing(struct al_repo *repo, const struct al_strv *before,
                            const struct al_strv *now, struct al_error *err)
{
    int r = 0;

    for (size_t i = before->count; r == 0 && i > 0; i--)
        if (!al_strv_contains(now, before->items[i - 1]))
            r = put_back(repo, before->items[i - 1], err);
    return r;
}

/* git names the entry of an index and then drops what has that index.  Another git may push before
 * either: so it is looked at what is gone, and another entry comes back. */
static int drop(struct al_repo *repo, const char *oid, struct al_git_output *ret_output,
                struct al_error *err)
{
    int64_t index;
    int r = 0;

    for (int i = 0; r == 0 && i < ATTEMPTS_MAX; i++) {
        al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
        al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
        al_auto(al_strv_clear) struct al_strv before = AL_STRV_INIT, now = AL_STRV_INIT;
        al_auto(al_freep) char *dropped = NULL;

        al_git_stash_entries(repo, &before);
        if (!al_git_stash_find(repo, oid, &index))
            return al_error_reason(al_error_set_code(err, AL_ERR_EXECUTION, AL_CODE_STASH_EMPTY,
                                                     "The stash entry is no longer there"),
                                   err, "not_found");
        al_strv_adds(&command.argv, "git", "stash", "drop", NULL);
        al_strv_addf(&command.argv, "stash@{%" PRId64 "}", index);
        command.class = AL_GIT_WRITE;
        command.starts_children = true; /* git reflog and git update-ref */
        r = al_git_run_checked(&repo->at, &command, OUTPUT_MAX_BYTES, &output, err);
        dropped = r == 0 ? dropped_id(&output) : NULL;
        al_git_stash_entries(repo, &now);
        if (r == 0 &&
            count_of(&now, oid) >= count_of(&before, oid)) { /* a commit can be there twice */
            if (dropped && !al_strv_contains(&before, dropped))
                al_strv_add(&before, dropped); /* pushed since */
            r = put_back_missing(repo, &before, &now, err);
            continue;
        }
        if (r == 0) {
            *ret_output = output;
            output = (struct al_git_output){ .exit_code = -1 };
            return 0;
        }
    }
    return r < 0 ? r
                 : al_error_set(err, AL_ERR_EXECUTION,
                                "Another git keeps changing the stash, and the entry was not "
                                "dropped");
}

/* --- Read an entry --- */

void al_stash_commits_clear(struct al_stash_commits *commits)
{
    al_strv_clear(&commits->parents);
    al_strv_clear(&commits->trees);
}

/* "<tree> <parents>" of the entry, and of its first two parents. */
static bool take_commit(void *payload, char *const *fields)
{
    struct al_stash_commits *commits = payload;
    const size_t len = strcspn(fields[0], " ");

    if (!commits->trees.count)
        al_strv_split(&commits->parents, fields[0] + len, " ");
    al_strv_take(&commits->trees, al_strndup(fields[0], len));
    return true;
}

int al_git_read_stash_commits(const struct al_repo *repo, const char *entry,
                              struct al_stash_commits *commits, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;

    al_strv_adds(&command.argv, "git", "log", "--no-walk=unsorted", "--ignore-missing", "-z",
                 "--format=%T %P", "--no-show-signature", "--no-notes", "--no-decorate",
                 "--no-color", "--no-patch", entry, NULL);
    al_strv_addf(&command.argv, "%s^1", entry);
    al_strv_addf(&command.argv, "%s^2", entry);
    al_strv_add(&command.argv, "--");
    return al_git_read_records(&repo->at, &command, 1, take_commit, commits, err);
}

/* --- Read the entries --- */

#define NO_BRANCH "(no branch)"
/* Bytes that JSON adds to an entry. */
#define ENTRY_COSTS 96

/** The entries while git lists them. */
struct reading {
    struct al_stashes *to;
    const struct al_stash_owners *owners;
    size_t room; /* bytes that entries may have yet */
};

void al_stashes_clear(struct al_stashes *stashes)
{
    for (size_t i = 0; i < stashes->count; i++) {
        free(stashes->items[i].oid);
        free(stashes->items[i].subject);
        free(stashes->items[i].message);
        free(stashes->items[i].branch);
        free(stashes->items[i].date);
        free(stashes->items[i].whose);
    }
    free(stashes->items);
    *stashes = AL_STASHES_INIT;
}

/* Parse "WIP on main: 1a2b3c4 subject" or "On main: message". Branch names contain no colon. */
static void split_subject(const char *subject, struct al_stash_entry *entry)
{
    const char *name = subject, *colon;

    if (al_starts_with(name, "WIP "))
        name += 4;
    if (!al_starts_with(name, "On ") && !al_starts_with(name, "on "))
        name = NULL;
    colon = name ? strchr(name, ':') : NULL;
    if (!colon || colon[1] != ' ') {
        entry->message = al_strdup(subject);
        return;
    }
    name += 3;
    if (strncmp(name, NO_BRANCH ":", strlen(NO_BRANCH) + 1) != 0)
        entry->branch = al_strndup(name, (size_t)(colon - name));
    entry->message = al_strdup(colon + 2);
}

static bool take_stash(void *payload, char *const *fields)
{
    struct reading *reading = payload;
    struct al_stashes *to = reading->to;
    struct al_stash_entry entry = { .message = NULL };
    size_t bytes = ENTRY_COSTS + strlen(fields[1]) + strlen(fields[2]);

    to->truncated = bytes > reading->room;
    if (to->truncated)
        return false;
    reading->room -= bytes;
    entry.oid = al_strdup(fields[0]);
    entry.subject = al_strdup(fields[1]);
    split_subject(fields[1], &entry);
    entry.date = al_strdup(fields[2]);
    if (reading->owners->is_shared)
        entry.whose = al_stash_owner_words(reading->owners, fields[0]);
    to->items = al_reallocarray(to->items, to->count + 1, sizeof(*to->items));
    to->items[to->count++] = entry;
    return true;
}

int al_git_read_stashes(const struct al_repo *repo, size_t max_bytes,
                        struct al_stashes *ret_stashes, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_stash_owners_clear) struct al_stash_owners owners = AL_STASH_OWNERS_INIT;
    struct reading reading = { .to = ret_stashes, .owners = &owners, .room = max_bytes };

    if (!al_ref_exists(&repo->at, "refs/stash"))
        return 0;
    al_stash_owners_read(repo, &owners);
    al_strv_adds(&command.argv, "git", "log", "-z", "--format=%H%x00%gs%x00%cI", "-g", "--no-patch",
                 "--no-show-signature", "refs/stash", "--", NULL);
    return al_git_read_records(&repo->at, &command, 3, take_stash, &reading, err);
}

void al_stashes_add_lines(const struct al_stashes *stashes, struct al_str *out)
{
    for (size_t i = 0; i < stashes->count; i++) {
        const struct al_stash_entry *entry = &stashes->items[i];

        al_str_addf(out, "stash@{%zu}: %s", i, entry->subject);
        if (entry->whose)
            al_str_addf(out, " (%s)", entry->whose);
        al_str_addc(out, '\n');
    }
}

int al_git_stash_show(const struct al_repo *repo, const struct al_stash_options *options,
                      size_t max_bytes, struct al_git_output *ret_output, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;

    al_strv_adds(&command.argv, "git", "stash", "show", NULL);
    if (options->patch)
        al_strv_adds(&command.argv, "--stat", "--patch", "--find-renames", "--no-ext-diff",
                     "--no-textconv", "--no-relative", NULL);
    if (options->include_untracked)
        al_strv_add(&command.argv, "--only-untracked");
    al_strv_add(&command.argv, options->entries);
    return al_git_run_checked(&repo->at, &command, max_bytes, ret_output, err);
}

/* List the untracked files that a push would stash, or that an entry has in its third parent. */
static int list_untracked(const struct al_repo *repo, const struct al_stash_options *options,
                          const char *entry, struct al_strv *list, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    int r;

    if (options->action == AL_STASH_PUSH) {
        if (!options->include_untracked)
            return 0;
        al_strv_adds(&command.argv, "git", "-C", repo->at.top, "ls-files", "-z", "--others",
                     "--exclude-standard", NULL);
    } else {
        al_strv_adds(&command.argv, "git", "ls-tree", "-r", "-z", "--name-only", "--full-tree",
                     NULL);
        al_strv_addf(&command.argv, "%s^3", entry);
    }
    r = al_git_list_paths(repo, &command, list, err);
    return al_git_exited_with_error(r, repo->at.budget) ? 0
                                                        : r; /* most entries have no third parent */
}

/* Check the filters and merge drivers that content would pass, by the attributes of the files and
 * of the commit that git resets to or applies. */
static int check_programs(const struct al_repo *repo, const struct al_stash_options *options,
                          const char *tree, const struct al_strv *list, struct al_error *err)
{
    int r = al_git_check_filters(repo, list, NULL, err);

    if (r == 0)
        r = al_git_check_filters(repo, list, tree, err);
    if (r == 0 && options->action != AL_STASH_PUSH)
        r = al_git_check_merge_drivers(repo, list, NULL, err);
    return r;
}

int al_git_stash_check(const struct al_repo *repo, const struct al_stash_options *options,
                       struct al_error *err)
{
    const char *entry = options->entries;
    al_auto(al_freep) char *parent = entry ? al_asprintf("%s^", entry) : NULL;
    al_auto(al_strv_clear) struct al_strv list = AL_STRV_INIT;
    bool pushes = options->action == AL_STASH_PUSH;
    bool applies = options->action == AL_STASH_POP || options->action == AL_STASH_APPLY;
    al_auto(al_error_clear) struct al_error complaint = AL_ERROR_INIT;
    int r;

    if (!pushes && !applies)
        return 0;
    if (!repo->vetting->filters.count && !(applies && repo->vetting->merge_drivers.count))
        return 0;
    r = al_git_list_changed(repo, pushes ? "HEAD" : parent, pushes ? NULL : entry, &list,
                            &complaint);
    if (r == 0)
        r = list_untracked(repo, options, entry, &list, &complaint);
    if (r == 0)
        r = check_programs(repo, options, pushes ? "HEAD" : entry, &list, err);
    else if (al_git_exited_with_error(r, repo->at.budget))
        r = 0; /* git itself reports a missing entry or an unborn branch */
    else
        r = al_error_pass(r, &complaint, err);
    return r;
}

static void add_words(struct al_strv *argv, const struct al_stash_options *options)
{
    static const char *const verbs[] = { "push", "pop", "apply", "drop", "clear" };

    al_strv_adds(argv, "git", "stash", verbs[options->action], NULL);
    if (options->action == AL_STASH_PUSH) {
        if (options->include_untracked)
            al_strv_add(argv, "--include-untracked");
        if (options->message)
            al_strv_addf(argv, "--message=%s", options->message);
        if (options->paths)
            al_strv_adds(argv, "--pathspec-from-file=-", "--pathspec-file-nul", NULL);
    } else if (options->action != AL_STASH_CLEAR) {
        if (options->keeps_staged)
            al_strv_add(argv, "--index");
        al_strv_add(argv, options->entries);
    }
}

static int run(struct al_repo *repo, const struct al_stash_options *options, size_t max_bytes,
               bool checked, struct al_git_output *ret_output, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_str_clear) struct al_str list = AL_STR_INIT;
    int r = al_repo_pathspecs(repo, options->paths, &list, err);

    if (r < 0)
        return r;
    command.input = options->paths ? list.buf : NULL;
    command.input_len = list.len;
    command.class = AL_GIT_WRITE;
    command.starts_children = true; /* git stash runs git reset, git clean and git apply */
    add_words(&command.argv, options);
    return al_git_run(
        &repo->at, &command,
        &(struct al_git_run){ .max_bytes = max_bytes, .locks = AL_LOCK_INDEX, .checked = checked },
        ret_output, err);
}

/* The entries that the index has otherwise than a commit. */
static int list_staged(const struct al_repo *repo, const char *commit, struct al_strv *list,
                       struct al_error *err)
{
    const char *const options[] = { "--cached", "--ignore-submodules=dirty", commit, NULL };
    al_auto(al_str_clear) struct al_str all = AL_STR_INIT;

    al_str_add(&all, ":/", sizeof(":/"));
    return al_batch_list_diff(repo, options, &all, list, err);
}

/* `two` is sorted. */
static bool have_common(const struct al_strv *one, const struct al_strv *two)
{
    for (size_t i = 0; i < one->count; i++)
        if (al_strv_contains_sorted(two, one->items[i]))
            return true;
    return false;
}

int al_git_stash_keeps_staged(const struct al_repo *repo, const char *entry, bool *ret_has,
                              bool *ret_keeps, struct al_error *err)
{
    al_auto(al_freep) char *base = al_asprintf("%s^1", entry);
    al_auto(al_freep) char *index = al_asprintf("%s^2", entry);
    al_auto(al_strv_clear) struct al_strv theirs = AL_STRV_INIT, ours = AL_STRV_INIT,
                                          since = AL_STRV_INIT;
    int r = al_git_list_changed(repo, base, index, &theirs, err);

    if (r == 0 && theirs.count)
        r = list_staged(repo, "HEAD", &ours, err);
    if (r == 0 && theirs.count && !ours.count)
        r = list_staged(repo, base, &since, err);
    *ret_has = theirs.count;
    *ret_keeps = r == 0 && theirs.count && !ours.count && !have_common(&theirs, &since);
    return r;
}

/* Record whose the entry is that a push has made, or that it made none.  One that cannot be told
 * from that of another git is nobody's. */
static void record_push(const struct al_repo *repo, const struct al_strv *before,
                        const struct al_str *said, const char *agent)
{
    al_auto(al_freep) char *oid = NULL;
    const size_t count = al_git_stash_find_new(repo, before, said, &oid);

    if (oid || count == 0)
        al_stash_owners_add(repo, oid, agent);
}

static int push(struct al_repo *repo, const struct al_stash_options *options, size_t max_bytes,
                struct al_git_output *ret_output, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv before = AL_STRV_INIT;
    /* A push restores the files from HEAD after it has created its entry. */
    int r = al_git_check_downloaded(repo, "HEAD", NULL, err);

    if (r < 0)
        return r;
    al_git_stash_entries(repo, &before);
    r = run(repo, options, max_bytes, true, ret_output, err);
    if (r == 0)
        record_push(repo, &before, &ret_output->out.out, options->agent);
    return r;
}

/* Drop the entries one by one; one that is gone already is no error. */
static int drop_each(struct al_repo *repo, const char *entries, struct al_git_output *ret_output,
                     struct al_error *err)
{
    al_auto(al_freep) char *ids = al_strdup(entries);
    char *save = NULL;
    int r = 0;

    *ret_output = (struct al_git_output){ .out = AL_TEXT_INIT(0), .err = AL_TEXT_INIT(0) };
    for (char *oid = strtok_r(ids, " ", &save); r == 0 && oid; oid = strtok_r(NULL, " ", &save)) {
        al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
        int64_t index;

        if (al_git_stash_find(repo, oid, &index))
            r = drop(repo, oid, &output, err);
    }
    return r;
}

/* Apply the entry by its id and then drop it, as git does for an index, and say what git says. */
static int pop_entry(struct al_repo *repo, const char *entry, bool keeps_staged, size_t max_bytes,
                     struct al_git_output *ret_output, struct al_error *err)
{
    static const char kept[] = "The stash entry is kept in case you need it again.\n";
    const struct al_stash_options apply = { .action = AL_STASH_APPLY,
                                            .entries = entry,
                                            .keeps_staged = keeps_staged };
    al_auto(al_git_output_clear) struct al_git_output dropped = { .exit_code = -1 };
    int r = run(repo, &apply, max_bytes, false, ret_output, err);

    if (r < 0)
        return r;
    if (!al_git_wrote_all_files(ret_output)) {
        al_str_adds(&ret_output->out.out, kept);
        return al_git_failed(ret_output, err);
    }
    r = drop(repo, entry, &dropped, err);
    if (r < 0)
        return r;
    al_str_add(&ret_output->out.out, dropped.out.out.buf, dropped.out.out.len);
    return 0;
}

int al_git_stash(struct al_repo *repo, const struct al_stash_options *options, size_t max_bytes,
                 struct al_git_output *ret_output, struct al_error *err)
{
    const char *entries = options->entries;

    if (options->action == AL_STASH_PUSH)
        return push(repo, options, max_bytes, ret_output, err);
    if (options->action == AL_STASH_CLEAR && entries)
        return drop_each(repo, entries, ret_output, err);
    if (options->action == AL_STASH_DROP)
        return drop(repo, entries, ret_output, err);
    if (options->action == AL_STASH_POP)
        return pop_entry(repo, entries, options->keeps_staged, max_bytes, ret_output, err);
    return run(repo, options, max_bytes, true, ret_output, err);
}

/* --- Preview --- */

/*
 * The preview of a stash command for an approval.
 *
 * A stash entry is a commit.  Its first parent is the commit it was made on, the second has the
 * staged changes, and the third, which only some entries have, the untracked files.  All of them
 * matter, so the existence of an entry is never derived from one of these diffs.
 *
 * Source: git-stash(1) "DISCUSSION".
 */

/* Limits on what the preview of a clear shows beyond the list: number of entries, and bytes. */
#define ENTRIES_MAX       10
#define ENTRIES_MAX_BYTES (16u * 1024u)

static int preview_push(const struct al_repo *repo, const struct al_strv *files, struct al_str *out,
                        struct al_error *err)
{
    static const struct al_diff_options staged = { .cached = true, .unified = -1 };
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    int r;

    al_git_files_excerpt(repo, files, "Changes to these files are stashed, staged ones too:", out);
    r = al_git_loss_excerpt(repo, &staged, "This is staged, and stashed:", out, err);
    if (r == 0)
        r = al_git_unseen_changes_excerpt(repo, NULL, &text, err);
    if (r == 0 && text.len)
        al_str_addf(out, "This is not stashed, and may be lost:\n%s", text.buf);
    return r;
}

/* Append one diff of an entry, below its title. */
static int add_part(const struct al_repo *repo, const char *from, const char *to, const char *title,
                    struct al_str *out, struct al_error *err)
{
    const struct al_diff_options change = { .from_ref = from, .to_ref = to, .unified = -1 };
    al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    int r = al_git_diff_excerpt(repo, &change, &text, &why);

    if (al_git_exited_with_error(r, repo->at.budget)) {
        al_str_addf(out, "%s(git cannot show it)\n", title);
        return 0;
    }
    r = al_error_pass(r, &why, err);
    if (r == 0 && text.len)
        al_str_addf(out, "%s%s", title, text.buf);
    return r;
}

/* Whether the staged content differs from the files as they were on disk. */
static bool has_own_index(const struct al_stash_commits *commits)
{
    char *const *trees = commits->trees.items;

    return commits->trees.count == 3 && strcmp(trees[2], trees[1]) != 0 &&
           strcmp(trees[2], trees[0]) != 0;
}

/* Append everything in an entry. The staged content is shown if the action does not restore it. */
static int add_entry(const struct al_repo *repo, const char *entry, enum al_stash_action action,
                     struct al_str *out, struct al_error *err)
{
    al_auto(al_stash_commits_clear) struct al_stash_commits commits = AL_STASH_COMMITS_INIT;
    char *const *parents;
    size_t before = out->len;
    int r = al_git_read_stash_commits(repo, entry, &commits, err);

    parents = commits.parents.items;
    if (r == 0 && commits.parents.count)
        r = add_part(repo, parents[0], entry, "", out, err);
    if (r == 0 && action != AL_STASH_APPLY && has_own_index(&commits))
        r = add_part(repo, parents[0], parents[1],
                     action == AL_STASH_POP ? "This was staged, and comes back only as above:\n"
                                            : "This was staged:\n",
                     out, err);
    if (r == 0 && commits.parents.count > 2)
        r = add_part(repo, al_git_empty_tree(repo), parents[2], "Untracked files:\n", out, err);
    if (r == 0 && out->len == before)
        al_str_adds(out, "(it has no changes)\n");
    return r;
}

/* Append the content of the first entries; `all`: these are all there are, by index. */
static int add_entries(const struct al_repo *repo, const struct al_strv *ids, bool all,
                       struct al_str *out, struct al_error *err)
{
    const size_t begin = out->len;
    size_t i = 0;
    int r = 0;

    for (; r == 0 && i < ids->count && i < ENTRIES_MAX && out->len - begin < ENTRIES_MAX_BYTES;
         i++) {
        int64_t index = (int64_t)i;

        if (!all)
            (void)al_git_stash_find(repo, ids->items[i], &index);
        al_str_addf(out, "In stash@{%" PRId64 "}:\n", index);
        r = add_entry(repo, ids->items[i], AL_STASH_CLEAR, out, err);
    }
    if (i < ids->count && all)
        al_str_addf(out, "What is in the entries from stash@{%zu} on is not shown.\n", i);
    else if (i < ids->count)
        al_str_adds(out, "What is in the other entries is not shown.\n");
    return r;
}

/* Append the entries of this working tree. */
static int preview_clear_own(const struct al_repo *repo, const char *entries, struct al_str *out,
                             struct al_error *err)
{
    al_auto(al_freep) char *words = al_strdup(entries);
    al_auto(al_strv_clear) struct al_strv ids = AL_STRV_INIT;

    al_strv_split(&ids, words, " ");
    if (!ids.count)
        return 0;
    al_str_addf(out, "This is lost, %zu entr%s of this worktree:\n", ids.count,
                ids.count == 1 ? "y" : "ies");
    return add_entries(repo, &ids, false, out, err);
}

/* Append the list of entries, then the content of the first ones. */
static int preview_clear(const struct al_repo *repo, struct al_str *out, struct al_error *err)
{
    al_auto(al_stashes_clear) struct al_stashes stashes = AL_STASHES_INIT;
    al_auto(al_str_clear) struct al_str lines = AL_STR_INIT;
    al_auto(al_strv_clear) struct al_strv ids = AL_STRV_INIT;
    int r = al_git_read_stashes(
        repo, al_git_excerpt_bytes(repo->at.budget, AL_GIT_EXCERPT_MAX_BYTES), &stashes, err);

    if (r < 0)
        return r;
    al_stashes_add_lines(&stashes, &lines);
    al_git_stash_entries(repo, &ids);
    al_str_adds(out, "This is lost:\n");
    al_git_add_excerpt(repo->at.budget, lines.buf, lines.len, stashes.truncated, out);
    if (!ids.count) /* there is no reflog; git deletes the commit that refs/stash points to */
        al_strv_add(&ids, "refs/stash");
    return add_entries(repo, &ids, true, out, err);
}

int al_git_stash_preview(const struct al_repo *repo, const struct al_stash_options *options,
                         const struct al_strv *files, struct al_str *out, bool *ret_any,
                         struct al_error *err)
{
    const size_t before = out->len;
    int r;

    if (options->action == AL_STASH_PUSH) {
        r = preview_push(repo, files, out, err);
    } else if (options->action == AL_STASH_CLEAR) {
        r = options->entries ? preview_clear_own(repo, options->entries, out, err)
            : al_ref_exists(&repo->at, "refs/stash") ? preview_clear(repo, out, err)
                                                     : 0;
    } else {
        if (options->action == AL_STASH_DROP)
            al_str_adds(out, "This is lost:\n");
        r = add_entry(repo, options->entries, options->action, out, err);
    }
    *ret_any = out->len > before;
    return r;
}
