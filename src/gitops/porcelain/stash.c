// SPDX-License-Identifier: Apache-2.0
#include "gitops/porcelain/stash.h"

#include <inttypes.h>
#include <stdlib.h>

#include "gitops/command.h"
#include "gitops/failure.h"
#include "gitops/nul_records.h"
#include "gitops/plumbing/batch.h"
#include "gitops/plumbing/filters.h"
#include "gitops/plumbing/partial_clone.h"
#include "gitops/plumbing/stash_owners.h"
#include "gitops/porcelain/parse.h"
#include "gitops/porcelain/stash_drop.h"
#include "gitops/refs.h"
#include "gitops/run.h"
#include "gitops/vet/vet.h"

static int stash_empty(struct al_error *err)
{
    int r =
        al_error_set_code(err, AL_ERR_EXECUTION, AL_CODE_STASH_EMPTY, "No stash entries found.");

    if (err)
        err->reason = "not_found";
    return r;
}

char *al_git_stash_entry(const struct al_stash_options *options)
{
    return options->entries ? al_strdup(options->entries)
                            : al_asprintf("stash@{%" PRId64 "}", options->index);
}

/* Move the id from the beginning of each line to its end, as whose the entry is. */
static void name_owners(const struct al_stash_owners *owners, struct al_str *text)
{
    struct al_str named = AL_STR_INIT;

    for (const char *line = text->buf; text->len && *line;) {
        size_t len = strcspn(line, "\n"), id_len = strcspn(line, " \n");
        al_auto(al_freep) char *id = al_strndup(line, id_len);
        al_auto(al_freep) char *words = al_stash_owner_words(owners, id);

        if (id_len < len)
            al_str_addf(&named, "%.*s (%s)\n", (int)(len - id_len - 1), line + id_len + 1, words);
        line += len + (line[len] == '\n');
    }
    al_str_clear(text);
    *text = named;
}

int al_git_stash_list(const struct al_repo *repo, size_t max_bytes, struct al_run_limits *budget,
                      struct al_git_output *ret_output, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_stash_owners_clear) struct al_stash_owners owners = AL_STASH_OWNERS_INIT;
    int r;

    if (!al_ref_exists(&repo->at, "refs/stash")) {
        *ret_output = (struct al_git_output){
            .out = AL_TEXT_INIT(0),
            .err = AL_TEXT_INIT(0),
        };
        return 0;
    }
    /* Run what `git stash list` runs, without the child process it starts. */
    al_stash_owners_read(repo, &owners);
    al_strv_adds(&command.argv, "git", "log",
                 owners.is_shared ? "--format=%H %gd: %gs" : "--format=%gd: %gs", "-g",
                 "--first-parent", "-m", "refs/stash", "--", NULL);
    r = al_git_run(&repo->at, &command,
                   &(struct al_git_run){ .max_bytes = max_bytes, .checked = true }, budget,
                   ret_output, err);
    if (r == 0 && owners.is_shared)
        name_owners(&owners, &ret_output->out.out);
    return r;
}

int al_git_read_stashes(const struct al_repo *repo, size_t max_bytes, struct al_run_limits *budget,
                        struct al_stashes *ret_stashes, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_stashes_clear) struct al_stashes stashes = AL_STASHES_INIT;
    struct al_stashes_reader reader;
    int r;

    *ret_stashes = AL_STASHES_INIT;
    if (!al_ref_exists(&repo->at, "refs/stash"))
        return 0;
    al_strv_adds(&command.argv, "git", "log", "-z", AL_STASHES_FORMAT, "-g", "--no-patch",
                 "--no-show-signature", "refs/stash", "--", NULL);
    al_stashes_reader_init(&reader, &stashes, max_bytes);
    r = al_git_read_records(&repo->at, &command, &reader.records, budget, err);
    al_nul_records_clear(&reader.records);
    if (r < 0)
        return r;
    *ret_stashes = stashes;
    stashes = AL_STASHES_INIT;
    return 0;
}

int al_git_count_stashes(const struct al_repo *repo, struct al_run_limits *budget,
                         uint64_t *ret_count, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;

    *ret_count = 0;
    if (!al_ref_exists(&repo->at, "refs/stash"))
        return 0;
    al_strv_adds(&command.argv, "git", "log", "-z", "--format=%h", "-g", "--no-patch",
                 "--no-show-signature", "refs/stash", "--", NULL);
    return al_git_count_records(&repo->at, &command, budget, ret_count, err);
}

int al_git_stash_show(const struct al_repo *repo, const struct al_stash_options *options,
                      size_t max_bytes, struct al_run_limits *budget,
                      struct al_git_output *ret_output, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;

    if (!al_ref_exists(&repo->at, "refs/stash"))
        return stash_empty(err);
    al_strv_adds(&command.argv, "git", "stash", "show", NULL);
    al_strv_take(&command.argv, al_git_stash_entry(options));
    return al_git_run(&repo->at, &command,
                      &(struct al_git_run){ .max_bytes = max_bytes, .checked = true }, budget,
                      ret_output, err);
}

/* List the untracked files that a push would stash, or that an entry has in its third parent. */
static int list_untracked(const struct al_repo *repo, const struct al_stash_options *options,
                          const char *entry, struct al_run_limits *budget, struct al_buffer *list,
                          struct al_error *err)
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
    r = al_git_list_paths(repo, &command, budget, list, err);
    return al_git_exited_with_error(r, budget) ? 0 : r; /* most entries have no third parent */
}

/* Check the filters and merge drivers that content would pass, by the attributes of the files and
 * of the commit that git resets to or applies. */
static int check_programs(const struct al_repo *repo, const struct al_stash_options *options,
                          const char *tree, const struct al_buffer *list,
                          struct al_run_limits *budget, struct al_error *err)
{
    int r = al_git_check_filters(repo, list, NULL, budget, err);

    if (r == 0)
        r = al_git_check_filters(repo, list, tree, budget, err);
    if (r == 0 && options->action != AL_STASH_PUSH)
        r = al_git_check_merge_drivers(repo, list, NULL, budget, err);
    return r;
}

int al_git_stash_check(const struct al_repo *repo, const struct al_stash_options *options,
                       struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_freep) char *entry = al_git_stash_entry(options);
    al_auto(al_freep) char *parent = al_asprintf("%s^", entry);
    struct al_buffer list = { .max_bytes = AL_PATH_LIST_MAX_BYTES };
    bool pushes = options->action == AL_STASH_PUSH;
    bool applies = options->action == AL_STASH_POP || options->action == AL_STASH_APPLY;
    al_auto(al_error_clear) struct al_error complaint = AL_ERROR_INIT;
    int r;

    if (!pushes && !al_ref_exists(&repo->at, "refs/stash"))
        return options->action == AL_STASH_CLEAR ? 0 : stash_empty(err);
    if (!pushes && !applies)
        return 0;
    if (!repo->vetting->filters.count && !(applies && repo->vetting->merge_drivers.count))
        return 0;
    r = al_git_list_changed(repo, pushes ? "HEAD" : parent, pushes ? NULL : entry, budget, &list,
                            &complaint);
    if (r == 0)
        r = list_untracked(repo, options, entry, budget, &list, &complaint);
    if (r == 0)
        r = check_programs(repo, options, pushes ? "HEAD" : entry, &list, budget, err);
    else if (al_git_exited_with_error(r, budget))
        r = 0; /* git itself reports a missing entry or an unborn branch */
    else if (err && complaint.message) {
        *err = complaint;
        complaint = AL_ERROR_INIT;
    }
    al_buffer_clear(&list);
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
        al_strv_take(argv, al_git_stash_entry(options));
    }
}

static int run(struct al_repo *repo, const struct al_stash_options *options, size_t max_bytes,
               bool checked, struct al_run_limits *budget, struct al_git_output *ret_output,
               struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_str_clear) struct al_str list = AL_STR_INIT;
    int r = options->paths ? al_repo_pathspecs(repo, options->paths, budget, &list, err) : 0;

    if (r < 0)
        return r;
    command.input = options->paths ? list.buf : NULL;
    command.input_len = list.len;
    command.class = AL_GIT_WRITE;
    command.starts_children = true; /* git stash runs git reset, git clean and git apply */
    add_words(&command.argv, options);
    return al_git_run(
        &repo->at, &command,
        &(struct al_git_run){ .max_bytes = max_bytes, .waits_for_lock = true, .checked = checked },
        budget, ret_output, err);
}

/* Record whose the entry is that a push has made.  A push that failed says nothing, and its entry,
 * if there is one, is nobody's. */
static void record_push(const struct al_repo *repo, const struct al_strv *before, const char *agent,
                        const struct al_git_output *output)
{
    static const char saved[] = "Saved working directory and index state ";
    const char *said = output->out.out.buf;
    al_auto(al_freep) char *oid = NULL;

    if (al_starts_with(said, "No local changes to save")) {
        al_stash_owners_add(repo, NULL, agent);
    } else if (al_starts_with(said, saved)) {
        oid = al_git_stash_find_new(repo, before, said + strlen(saved));
        if (oid)
            al_stash_owners_add(repo, oid, agent);
    }
}

static int push(struct al_repo *repo, const struct al_stash_options *options, size_t max_bytes,
                struct al_run_limits *budget, struct al_git_output *ret_output,
                struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv before = AL_STRV_INIT;
    /* A push restores the files from HEAD after it has created its entry. */
    int r = al_git_check_downloaded(repo, "HEAD", NULL, budget, err);

    if (r < 0)
        return r;
    al_git_stash_entries(repo, &before);
    r = run(repo, options, max_bytes, true, budget, ret_output, err);
    if (r == 0)
        record_push(repo, &before, options->agent, ret_output);
    return r;
}

/* Drop the entries one by one; one that is gone already is no error. */
static int drop_each(struct al_repo *repo, const char *entries, struct al_run_limits *budget,
                     struct al_git_output *ret_output, struct al_error *err)
{
    al_auto(al_freep) char *ids = al_strdup(entries);
    char *save = NULL;
    int r = 0;

    *ret_output = (struct al_git_output){ .out = AL_TEXT_INIT(0), .err = AL_TEXT_INIT(0) };
    for (char *oid = strtok_r(ids, " ", &save); r == 0 && oid; oid = strtok_r(NULL, " ", &save)) {
        al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
        int64_t index;

        if (al_git_stash_find(repo, oid, &index))
            r = al_git_stash_drop(repo, oid, budget, &output, err);
    }
    return r;
}

/* Apply the entry by its id and then drop it, as git does for an index, and say what git says. */
static int pop_entry(struct al_repo *repo, const char *entry, size_t max_bytes,
                     struct al_run_limits *budget, struct al_git_output *ret_output,
                     struct al_error *err)
{
    static const char kept[] = "The stash entry is kept in case you need it again.\n";
    const struct al_stash_options apply = { .action = AL_STASH_APPLY, .entries = entry };
    al_auto(al_git_output_clear) struct al_git_output dropped = { .exit_code = -1 };
    al_auto(al_git_output_clear) struct al_git_output applied = { .exit_code = -1 };
    int r = run(repo, &apply, max_bytes, false, budget, &applied, err);

    if (r < 0)
        return r;
    if (!al_git_wrote_all_files(&applied)) {
        al_str_adds(&applied.out.out, kept);
        return al_git_failed(&applied, err);
    }
    r = al_git_stash_drop(repo, entry, budget, &dropped, err);
    if (r < 0)
        return r;
    al_str_add(&applied.out.out, dropped.out.out.buf, dropped.out.out.len);
    *ret_output = applied;
    applied = (struct al_git_output){ .exit_code = -1 };
    return 0;
}

/* The id of the entry that a drop by index names now.  Another git may push before git would drop
 * it, and it is another one's index then.  A pop by index is left to git, which has the same race:
 * a child more would take half as long again.  NULL: git says what is wrong with it.  Caller frees.
 */
static char *entry_at(const struct al_repo *repo, const struct al_stash_options *options)
{
    al_auto(al_strv_clear) struct al_strv oids = AL_STRV_INIT;

    if (options->action != AL_STASH_DROP)
        return NULL;
    al_git_stash_entries(repo, &oids);
    return options->index >= 0 && (uint64_t)options->index < oids.count
               ? al_strdup(oids.items[options->index])
               : NULL;
}

int al_git_stash(struct al_repo *repo, const struct al_stash_options *options, size_t max_bytes,
                 struct al_run_limits *budget, struct al_git_output *ret_output,
                 struct al_error *err)
{
    al_auto(al_freep) char *entry = options->entries ? NULL : entry_at(repo, options);
    const char *entries = entry ? entry : options->entries;
    int r;

    if (options->action == AL_STASH_PUSH)
        r = push(repo, options, max_bytes, budget, ret_output, err);
    else if (options->action == AL_STASH_CLEAR && entries)
        r = drop_each(repo, entries, budget, ret_output, err);
    else if (options->action == AL_STASH_DROP && entries)
        r = al_git_stash_drop(repo, entries, budget, ret_output, err);
    else if (options->action == AL_STASH_POP && entries)
        r = pop_entry(repo, entries, max_bytes, budget, ret_output, err);
    else
        r = run(repo, options, max_bytes, true, budget, ret_output, err);
    if (r == AL_ERR_EXECUTION && err && strstr(err->message, "CONFLICT")) {
        err->code = AL_CODE_CONFLICT;
        err->reason = "conflict";
    }
    return r;
}
