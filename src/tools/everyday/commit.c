// SPDX-License-Identifier: Apache-2.0
/* git_commit: commit what is staged, or exactly some files or hunks; amend. */

#include "git/command.h"
#include "git/failure.h"
#include "git/plumbing/filters.h"
#include "git/plumbing/index_scan.h"
#include "git/plumbing/revision.h"
#include "git/reading/read_log.h"
#include "git/refs.h"
#include "tools/private.h"
#include "verbs/porcelain/resume.h"
#include "verbs/preview/affected_files.h"
#include "verbs/preview/diff_excerpt.h"
#include "verbs/preview/verify_objects.h"
#include "verbs/replay/series.h"

/* A longer message is taken to be another one. */
#define MESSAGE_MAX_BYTES (1u << 20)

/* Test whether an amend of what is staged would leave the last commit as it is, except for its
 * date: nothing is staged, and the message is the same. */
static int amend_changes_nothing(struct al_call *call, const char *message, bool *ret_nothing,
                                 struct al_error *err)
{
    const struct al_repo *repo = al_call_repo(call);
    al_auto(al_str_clear) struct al_str wanted = AL_STR_INIT;
    al_auto(al_freep) char *old = NULL;
    uint64_t staged = 0;
    int r = al_git_count_staged(repo, &staged, err);

    *ret_nothing = r == 0 && !staged && !message;
    if (r < 0 || staged || !message)
        return r;
    r = al_git_read_message(repo, MESSAGE_MAX_BYTES, &old, err);
    if (r < 0)
        return r;
    al_str_adds(&wanted, message);
    al_str_trim_end(&wanted);
    *ret_nothing = !strcmp(wanted.buf, old);
    return 0;
}

static int show(struct al_call *call, struct al_repo *repo, const char *index, struct al_str *out,
                struct al_error *err)
{
    const struct al_diff_options options = { .unified = -1, .cached = true, .index = index };
    int r = al_git_expect_commit(repo, index, &al_call_plan(call)->expected, NULL, err);

    return r < 0 ? r : al_git_diff_excerpt(repo, &options, out, err);
}

/* One commit of a series. */
struct item_arg {
    bool given;
    const char *message, *into;
    struct al_strv hunks, paths;
};

static const struct al_param members[] = {
    AL_STRING(struct item_arg, message, NULL, .min_bytes = 1),
    AL_STRINGS(struct item_arg, hunks, NULL, .max = AL_CHOSEN_IDS_MAX,
               .max_bytes = AL_HUNK_ID_TEXT),
    AL_STRINGS(struct item_arg, paths, NULL, .flags = AL_PARAM_PATH),
    AL_STRING(struct item_arg, into, NULL, .flags = AL_PARAM_NAME, .min_bytes = 1,
              .check = al_arg_check_revision),
};

/* The members of an item, for AL_OBJECTS(). */
static const struct al_object items_row = { members, AL_COUNT(members), sizeof(struct item_arg) };

struct commit_args {
    const char *message;
    struct al_strv paths, hunks;
    bool all, amend, allow_empty;
    const char *author, *into, *branch;
    struct al_objects commits;
    const char *working_dir;
};

#define COMMITS_MAX 100

static const struct al_param params[] = {
    AL_STRING(struct commit_args, message, "With amend: default, the old one."),
    AL_STRINGS(struct commit_args, paths, "Commit just these; what else is staged stays.",
               .flags = AL_PARAM_PATH),
    AL_STRINGS(struct commit_args, hunks, "Commit just these, by id.", .max = AL_CHOSEN_IDS_MAX,
               .max_bytes = AL_HUNK_ID_TEXT, .flags = AL_PARAM_EVERY_PATH),
    AL_BOOL(struct commit_args, all, "Every change, new files too.", .flags = AL_PARAM_EVERY_PATH),
    AL_BOOL(struct commit_args, amend, NULL),
    AL_STRING(struct commit_args, into, "Put it into this commit of the branch.",
              .flags = AL_PARAM_NAME, .min_bytes = 1, .check = al_arg_check_revision),
    AL_STRING(struct commit_args, branch, "Make it, and commit there.", .flags = AL_PARAM_BRANCH,
              .min_bytes = 1, .check = al_arg_check_branch),
    AL_OBJECTS(struct commit_args, commits, "Several at once, in order; all or none.", items_row,
               .min = 1, .max = COMMITS_MAX, .flags = AL_PARAM_EVERY_PATH),
    AL_STRING(struct commit_args, author, "Name <address>.", .max_bytes = 1024),
    AL_BOOL(struct commit_args, allow_empty, NULL),
    AL_WORKING_DIR_ROW(struct commit_args),
};

static bool chooses(const struct commit_args *args)
{
    return args->all || args->paths.count || args->hunks.count;
}

static const struct item_arg *at(const struct al_objects *items, size_t i)
{
    return (const struct item_arg *)items->items + i;
}

/* One of the commits; a call without a list of them has one. */
static struct item_arg item_of(const struct commit_args *args, size_t i)
{
    return args->commits.count ? *at(&args->commits, i)
                               : (struct item_arg){ .message = args->message,
                                                    .into = args->into,
                                                    .hunks = args->hunks,
                                                    .paths = args->paths };
}

static size_t count_items(const struct commit_args *args)
{
    return args->commits.count ? args->commits.count : 1;
}

static int check_item(const struct item_arg *item, size_t i, struct al_error *err)
{
    if (!item->message && !item->into)
        return al_failure_bad_args(err, "Only one with into does without.",
                                   "commits[%zu].message is required", i);
    if (item->message && !item->message[strspn(item->message, " \t\r\n\v\f")])
        return al_failure_bad_args(err, "Say what the commit does.",
                                   "commits[%zu].message is empty", i);
    if (!item->hunks.count && !item->paths.count && !(item->into && item->message))
        return al_failure_bad_args(err, "git_diff with hunks shows what can be named.",
                                   "commits[%zu] names nothing: give hunks or paths", i);
    return 0;
}

/* Two commits cannot have the same hunk. */
static int check_twice(const struct al_objects *items, size_t i, struct al_error *err)
{
    for (size_t h = 0; h < at(items, i)->hunks.count; h++)
        for (size_t k = 0; k < i; k++)
            for (size_t g = 0; g < at(items, k)->hunks.count; g++)
                if (!strcasecmp(at(items, i)->hunks.items[h], at(items, k)->hunks.items[g]))
                    return al_failure_bad_args(err, "A hunk goes into one commit.",
                                               "hunk %s is in commits[%zu] and commits[%zu]",
                                               at(items, k)->hunks.items[g], k, i);
    return 0;
}

/* The needs of a series, a new branch and an earlier commit alone. */
static int check_series(const struct commit_args *args, struct al_error *err)
{
    int r = 0;

    if (args->commits.count && (args->message || args->paths.count || args->hunks.count ||
                                args->all || args->amend || args->into))
        return al_failure_bad_args(err, "Each item says what it has: message, hunks, paths, into.",
                                   "commits goes with branch and author only");
    if (args->amend && args->into)
        return al_failure_bad_args(err, "Leave out amend: into HEAD changes the last commit.",
                                   "amend and into exclude each other");
    if (args->amend && args->branch)
        return al_failure_bad_args(err, "git_switch with create makes a branch.",
                                   "amend replaces the last commit of the current branch");
    if (args->into && (args->author || args->branch || args->allow_empty))
        return al_failure_bad_args(err, "Leave it out.",
                                   "into goes into a commit that is there, with its author");
    for (size_t i = 0; r == 0 && i < args->commits.count; i++) {
        r = check_item(at(&args->commits, i), i, err);
        if (r == 0)
            r = check_twice(&args->commits, i, err);
    }
    return r;
}

static int check(void *p, struct al_error *err)
{
    const struct commit_args *args = p;
    const char *mail = args->author ? strchr(args->author, '<') : NULL;
    int r = check_series(args, err);

    if (r < 0)
        return r;
    if (!args->message && !args->amend && !args->into && !args->commits.count)
        return al_failure_bad_args(err, "Only amend and into do without: they keep the old one.",
                                   "message is required");
    if (args->message && !args->message[strspn(args->message, " \t\r\n\v\f")])
        return al_failure_bad_args(err, "Say what the commit does.", "message is empty");
    if (args->all && (args->paths.count || args->hunks.count))
        return al_failure_bad_args(err, "all commits every change.",
                                   "all cannot be given together with paths or hunks");
    if (args->author &&
        (!mail || mail == args->author || !strchr(mail, '>') || strpbrk(args->author, "\r\n")))
        return al_failure_bad_args(err, "For example: Jane Roe <jane@example.org>.",
                                   "author: a name and an address in <> are needed");
    return 0;
}

static const char heads[] = "refs/heads/";

/* The full name of the branch to make; NULL: none is named, or the current one.  Caller frees. */
static char *new_branch(const struct al_call *call, const struct commit_args *args)
{
    al_auto(al_freep) char *name = args->branch ? al_asprintf("%s%s", heads, args->branch) : NULL;
    al_auto(al_strv_clear) struct al_strv refs = AL_STRV_INIT;

    if (!name || !al_call_repo(call)) /* without a repository the call fails later */
        return NULL;
    al_ref_follow_head(&al_call_repo(call)->at, &refs);
    return !al_strv_contains(&refs, name) ? al_take(&name) : NULL;
}

static bool makes_branch(const struct al_call *call, const void *p)
{
    al_auto(al_freep) char *branch = new_branch(call, p);

    return branch != NULL;
}

static bool goes_into(const struct al_call *call, const void *p)
{
    const struct commit_args *args = p;
    bool into = false;

    (void)call;
    for (size_t i = 0; i < count_items(args); i++)
        into |= item_of(args, i).into != NULL;
    return into;
}

AL_WHEN(is_amend, struct commit_args, args->amend)

/* Whether the commits are made in memory: git commit makes one that is simply on top. */
static bool is_series(const struct al_call *call, const struct commit_args *args)
{
    return args->commits.count || goes_into(call, args) || makes_branch(call, args);
}

/* A resolved value: a word for each item, the id of what it goes into, or "-".  Words mean what
 * they mean before the call. */
#define RESOLVED_INTO "into"

static int resolve(struct al_call *call, struct al_error *err)
{
    const struct commit_args *args = al_call_args(call);
    al_auto(al_freep) char *head = al_ref_head(&al_call_repo(call)->at);
    al_auto(al_freep) char *branch = new_branch(call, args);
    al_auto(al_str_clear) struct al_str intos = AL_STR_INIT;
    int r = 0;

    if (*head)
        al_call_resolve(call, AL_RESOLVED_COMMIT, head);
    if (branch)
        al_call_resolve(call, AL_RESOLVED_BRANCH, branch);
    for (size_t i = 0; r == 0 && i < count_items(args); i++) {
        const char *into = item_of(args, i).into;
        al_auto(al_freep) char *oid = NULL;

        if (into)
            r = al_git_resolve_commit(al_call_repo(call), into, &oid, err);
        al_str_addf(&intos, "%s ", oid ? oid : "-");
    }
    if (goes_into(call, args))
        al_call_resolve(call, RESOLVED_INTO, intos.buf);
    return r;
}

static bool is_commit_pushed(struct al_call *call, const char *oid)
{
    bool pushed = true;

    (void)al_git_has_pushed(al_call_repo(call), oid, NULL, &pushed, NULL);
    return pushed;
}

/* Whether a commit that is replaced is pushed.  One that cannot be told counts as pushed. */
static bool is_pushed(struct al_call *call)
{
    const struct commit_args *args = al_call_args(call);
    const char *head = al_call_resolved(call, AL_RESOLVED_COMMIT);
    bool pushed = args->amend && head && is_commit_pushed(call, head);
    al_auto(al_strv_clear) struct al_strv intos = AL_STRV_INIT;

    al_resolved_words(call, RESOLVED_INTO, &intos);
    for (size_t i = 0; i < intos.count; i++)
        pushed |= strcmp(intos.items[i], "-") != 0 && is_commit_pushed(call, intos.items[i]);
    return pushed;
}

/* The parts of a series.  Set up with SERIES_INIT. */
struct commit_series {
    struct al_series series;
    struct al_series_item *items;
    struct al_named *named;
    struct al_hunk_sides sides; /* what the hunks are chosen from */
    size_t count;
    struct al_strv intos, without;
    bool passed_over; /* by git: see struct al_add_options */
    char *branch, *head;
};

#define SERIES_INIT ((struct commit_series){ .sides = AL_HUNK_SIDES_INIT, .without = AL_STRV_INIT })

static void commit_series_clear(struct commit_series *all)
{
    for (size_t i = 0; i < all->count; i++)
        al_named_clear(&all->named[i]);
    free(all->items);
    free(all->named);
    al_hunk_sides_clear(&all->sides);
    al_strv_clear(&all->intos);
    al_strv_clear(&all->without);
    free(all->branch);
    free(all->head);
}

static int build_item(struct al_call *call, const struct commit_args *args, size_t i,
                      struct commit_series *all, struct al_error *err)
{
    const struct item_arg item = item_of(args, i);
    struct al_named *named = &all->named[i];
    struct al_series_item *to = &all->items[i];
    uint64_t staged = 1;
    int r = al_named_sort(call, &all->sides, &item.hunks, &item.paths, named, err);

    if (r == 0 && args->into && !chooses(args))
        r = al_git_count_staged(al_call_repo(call), &staged, err);
    if (r == 0 && !staged && !item.message)
        r = al_failure_set(err, "hunks, paths or all choose changes; message alone rewords.",
                           "Nothing is staged that could go into %.8s", all->intos.items[i]);
    to->message = item.message;
    to->into = item.into ? all->intos.items[i] : NULL;
    to->part = (struct al_commit_part){ .paths = named->paths.count ? &named->paths : NULL,
                                        .hunks = named->hunks.count ? &named->hunks : NULL,
                                        .sides = &all->sides,
                                        .passed_over = &all->passed_over,
                                        .without = args->all ? &all->without : NULL };
    to->changes = args->commits.count ? item.hunks.count || item.paths.count : staged > 0;
    return r;
}

/* Fail if a hunk is of a file that an item before has as a whole. */
static int check_claimed(struct al_call *call, const struct commit_series *all, size_t k,
                         struct al_error *err)
{
    const struct al_hunk_list *const lists[] = { &all->sides.staged, &all->sides.unstaged };
    const struct al_strv *paths = &all->named[k].paths;
    al_auto(al_strv_clear) struct al_strv files = AL_STRV_INIT, staged = AL_STRV_INIT;
    struct al_repo *repo = al_call_repo(call);
    int r = al_git_affected_files(repo, paths, true, &files, err);

    if (r == 0)
        r = al_git_list_staged(repo, NULL, paths, &staged, err);
    for (size_t i = k + 1; r == 0 && i < all->count; i++)
        for (size_t h = 0; h < 2 * all->named[i].hunks.count; h++) {
            const char *id = all->named[i].hunks.items[h / 2];
            const struct al_hunk_item *hunk = al_hunk_find(lists[h % 2], id);
            const char *name = hunk ? lists[h % 2]->files[hunk->file].path : "";
            al_auto(al_freep) char *path = al_fs_join(repo->at.top, name);

            if (al_strv_contains(&files, path) || al_strv_contains(&staged, name))
                return al_failure_bad_args(err, "Name the hunk before the whole file.",
                                           "hunk %s of commits[%zu] is in commits[%zu] already, "
                                           "which has the whole file",
                                           id, i, k);
        }
    return r;
}

/* The hunks and paths that all items name. */
static void name_all(const struct commit_args *args, struct al_named *out)
{
    for (size_t i = 0; i < count_items(args); i++) {
        const struct item_arg item = item_of(args, i);

        al_strv_add_all(&out->hunks, &item.hunks);
        al_strv_add_all(&out->paths, &item.paths);
    }
}

/* Resolve what the arguments name; one that is no list of commits is a series of one.
 *
 * @param lock  Taken before the hunks are read, and after HEAD is: who moves the branch behind it
 *              could not take the index along.  NULL: the index is only read.
 * @param line  What is left out of `all`. */
static int build(struct al_call *call, const struct commit_args *args, struct al_index_lock *lock,
                 struct commit_series *all, struct al_str *line, struct al_error *err)
{
    al_auto(al_named_clear) struct al_named named = { .hunks = AL_STRV_INIT };
    int r = args->all ? al_leave_out(call, NULL, &all->without, line, err) : 0;

    if (r == 0 && args->all)
        r = al_leave_filtered(call, &all->without, err);
    name_all(args, &named);
    all->count = count_items(args);
    /* HEAD before anything is chosen; a call that replaces a commit replaces the one that the
     * decision was about. */
    all->head = al_call_tool_data(call) ? al_strdup(al_call_tool_data(call))
                                        : al_ref_head(&al_call_repo(call)->at);
    if (r == 0 && lock)
        r = al_index_lock_take(al_call_repo(call), lock, err);
    if (r == 0 && named.hunks.count)
        r = al_git_read_both_hunks(al_call_repo(call), &all->sides, err);
    all->items = al_calloc(all->count, sizeof(*all->items));
    all->named = al_calloc(all->count, sizeof(*all->named));
    al_resolved_words(call, RESOLVED_INTO, &all->intos);
    all->branch = new_branch(call, args);
    for (size_t i = 0; r == 0 && i < all->count; i++)
        r = build_item(call, args, i, all, err);
    all->series = (struct al_series){ .items = all->items,
                                      .count = all->count,
                                      .head = all->head,
                                      .author = args->author,
                                      .branch = all->branch,
                                      .allow_empty = args->allow_empty || args->amend };
    for (size_t k = 0; r == 0 && named.hunks.count && k + 1 < all->count; k++)
        if (all->named[k].paths.count)
            r = check_claimed(call, all, k, err);
    return r;
}

static int affected_files(struct al_call *call, struct al_strv *out, struct al_error *err)
{
    const struct commit_args *args = al_call_args(call);
    al_auto(al_named_clear) struct al_named all = { .hunks = AL_STRV_INIT };
    al_auto(al_named_clear) struct al_named named = { .hunks = AL_STRV_INIT };
    int r;

    name_all(args, &all);
    r = al_named_sort(call, NULL, &all.hunks, &all.paths, &named, err);
    if (r < 0 || (!args->all && !named.paths.count))
        return r;
    return al_git_affected_files(al_call_repo(call), args->all ? NULL : &named.paths, true, out,
                                 err);
}

/* git_conflicts concludes what stopped; a merge is concluded by a commit of everything staged. */
static int check_operation(struct al_call *call, const struct commit_args *args,
                           struct al_error *err)
{
    const struct al_repo *repo = al_call_repo(call);
    al_auto(al_strv_clear) struct al_strv merging = AL_STRV_INIT;
    const enum al_operation_state state = al_git_resumable(repo);
    int r = al_git_check_no_conflicts(repo, err);

    if (r < 0)
        return r;
    if (state != AL_IN_PROGRESS_NONE)
        return al_failure_set(err,
                              "git_conflicts with action continue makes this commit and continues.",
                              "A %s is in progress", al_operation_state_name(state));
    if (al_git_has_autostash(repo))
        return al_failure_set(err, "git_conflicts with action continue concludes the merge.",
                              "A merge is in progress that put changes aside, which come back "
                              "when it ends");
    al_operation_heads(repo, "MERGE_HEAD", &merging);
    if (!merging.count ||
        (!args->paths.count && !args->hunks.count && !args->amend && !is_series(call, args)))
        return r;
    return al_failure_set(err,
                          "Stage what belongs to the merge and commit it with a message alone; "
                          "git_conflicts with action abort gives the merge up.",
                          "A merge is in progress: its commit has everything that is staged");
}

static int authorize(struct al_call *call, struct al_error *err)
{
    const struct commit_args *args = al_call_args(call);
    const char *head = al_call_resolved(call, AL_RESOLVED_COMMIT);
    const struct al_repo *repo = al_call_repo(call);
    al_auto(al_str_clear) struct al_str words = AL_STR_INIT;
    al_auto(al_named_clear) struct al_named all = { .hunks = AL_STRV_INIT };
    al_auto(al_freep) char *branch = new_branch(call, args);
    const struct al_strv *files;
    int r;

    if ((args->amend || goes_into(call, args)) && head)
        al_call_set_tool_data(call, al_strdup(head), free);
    if (args->all || args->paths.count || args->hunks.count || args->commits.count)
        al_call_plan(call)->loses_staged = true;
    name_all(args, &all);
    r = al_repo_pathspecs(repo, &all.paths, &words, err);
    if (r == 0 && branch && al_ref_exists(&repo->at, branch))
        r = al_failure_bad_args(err, "git_switch goes to it; branch makes a new one.",
                                "branch: %s is there already", args->branch);
    if (r == 0)
        r = check_operation(call, args, err);
    if (r == 0 && !repo->vetting->has_identity)
        r = al_git_no_identity(err);
    if (r == 0 && args->amend && !head)
        r = al_failure_set(err, "git_commit without amend makes the first commit.",
                           "There is no commit to amend yet");
    if (r < 0 || (!all.paths.count && !repo->vetting->filters.count))
        return r;
    r = al_call_affected_files(call, &files, err);
    if (r == 0)
        r = al_git_add_check(repo, &all.paths, true, files, err);
    if (r == 0 && args->all)
        return al_leave_filtered(call, NULL, err);
    return r < 0 ? r : al_git_check_files(repo, files, err);
}

/* Say what is left out of a commit that has nothing without it. */
static int only_left_out(const struct al_str *line, int r, struct al_error *err)
{
    return line->len && err && err->code == AL_CODE_NO_STAGED_CHANGES
               ? al_failure_set(err, "Name them in paths to commit them.", "nothing to commit. %s",
                                line->buf)
               : r;
}

/* Show the change of all commits together, above it each of a list by its message and what it goes
 * into.  They are made in memory, beside the repository, which gets no object. */
static int show_made(struct al_call *call, const struct commit_args *args, struct al_str *out,
                     struct al_error *err)
{
    al_auto(al_series_made_clear) struct al_series_made made = { .memory = NULL };
    al_auto(commit_series_clear) struct commit_series all = SERIES_INIT;
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;
    struct al_run_limits *budget = al_call_budget(call);
    struct al_repo view;
    int r = build(call, args, NULL, &all, &line, err);

    if (r == 0)
        r = al_series_make(al_call_repo(call), &all.series, &made, err);
    if (r < 0)
        return only_left_out(&line, r, err);
    if (line.len)
        al_str_addf(out, "%s\n", line.buf);
    for (size_t i = 0; i < args->commits.count; i++) {
        if (all.items[i].into)
            al_str_addf(out, "Into %.8s:\n", all.items[i].into);
        if (all.items[i].message)
            al_text_add_indented(out, all.items[i].message, budget->in_full);
    }
    if (!made.indexes.commit)
        return 0;
    view = *al_inmemory_repo(made.memory);
    /* Choosing writes objects aside, and git gives one that exists already a new time.  Only what
     * is read from here on must stay as it is. */
    if (budget->stable_read) {
        al_stable_read_wait(budget, 1);
        al_stable_read_begin(budget->stable_read);
    }
    return show(call, &view, made.indexes.commit, out, err);
}

static const char hooks[] = "pre-commit prepare-commit-msg commit-msg post-commit post-rewrite";

static int preview(struct al_call *call, struct al_str *out, struct al_error *err)
{
    const struct commit_args *args = al_call_args(call);

    al_git_show_skipped(al_call_repo(call), hooks, out);
    if (args->message)
        al_outcome_add_message(call, args->message, out);
    if (args->author)
        al_place_addf(out, "Author: %s\n", args->author);
    if ((args->amend || goes_into(call, args)) && is_pushed(call))
        al_str_adds(out, "A remote-tracking branch has the commit that is replaced.\n");
    return chooses(args) || is_series(call, args) ? show_made(call, args, out, err)
                                                  : show(call, al_call_repo(call), NULL, out, err);
}

/* The branch must not have moved to another commit since it was decided whether the user is asked.
 */
static int check_head(struct al_call *call, struct al_error *err)
{
    const char *decided = al_call_tool_data(call);
    const char *head = al_call_resolved(call, AL_RESOLVED_COMMIT);

    if (!decided || (head && !strcmp(decided, head)))
        return 0;
    return al_failure_set(err, "git_log shows the branch as it is now.",
                          "The branch moved while this was decided; nothing was done");
}

/* `index`: NULL, the repository's own. */
static int make_commit(struct al_call *call, const struct commit_args *args, const char *index,
                       const char *head, struct al_git_output *ret_output, struct al_error *err)
{
    const struct al_commit_options options = {
        .message = args->message,
        .amend = args->amend,
        .allow_empty = args->allow_empty,
        .author = args->author,
        .index = index,
        .head = head,
        .expected = al_call_plan(call)->expected,
    };

    return al_git_commit(al_call_repo(call), &options, al_call_max_bytes(call), ret_output, err);
}

/* "1a2b3c4d Subject", and "3 files changed, +10 -2". */
static int add_commit(struct al_call *call, const char *rev, struct al_str *out,
                      struct al_error *err)
{
    const struct al_commits_shown commit = {
        .words =
            (const char *const[]){ "-1", "--no-walk", "-m", "--first-parent", "--no-ext-diff",
                                   "--no-textconv", "--shortstat", "--end-of-options", rev, NULL },
        .format = "%h %s",
    };
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    int r = al_git_commits_list(al_call_repo(call), &commit, &text, err);

    al_str_addf(out, "%.*s\n", (int)strcspn(text.buf, "\n"), text.buf);
    if (!al_shortstat_add_numbers(text.buf, out))
        al_str_adds(out, "No file changed: an empty commit\n");
    return r;
}

/* The same as git-commit(1) has said it: "[main 1a2b3c4] Subject".  It tells no files of a merge.
 */
static int add_made(struct al_call *call, const char *said, struct al_str *out,
                    struct al_error *err)
{
    al_auto(al_freep) char *head = al_ref_head(&al_call_repo(call)->at);
    al_auto(al_freep) char *id = al_asprintf(" %.4s", head); /* no branch has a blank */
    al_auto(al_str_clear) struct al_str numbers = AL_STR_INIT;
    const char *subject = strstr(said, id);

    subject = subject ? strstr(subject, "] ") : NULL;
    if (!subject || !al_shortstat_add_numbers(subject, &numbers))
        return add_commit(call, "HEAD", out, err);
    subject += strlen("] ");
    al_str_addf(out, "%.*s %.*s\n%s", AL_SHORT_ID, head, (int)strcspn(subject, "\n"), subject,
                numbers.buf);
    return 0;
}

/* Make the commit on a copy of the index, and put the index that is left into place.  Nobody else
 * writes the index meanwhile. */
static int commit_part(struct al_call *call, const struct commit_args *args, struct al_str *line,
                       bool *ret_passed_over, struct al_git_output *ret_output,
                       struct al_error *err)
{
    al_auto(al_index_lock_release) struct al_index_lock lock = AL_INDEX_LOCK_INIT;
    al_auto(al_commit_indexes_clear) struct al_commit_indexes indexes = { .commit = NULL };
    al_auto(commit_series_clear) struct commit_series all = SERIES_INIT;
    int r = build(call, args, &lock, &all, line, err);

    if (r == 0)
        r = al_git_choose_commit(al_call_repo(call), &all.items[0].part, &indexes, err);
    *ret_passed_over = all.passed_over;
    if (r == 0)
        r = al_index_lock_write(&lock, indexes.after, err);
    if (r == 0)
        r = make_commit(call, args, indexes.commit, all.head, ret_output, err);
    return r < 0 ? r : al_index_lock_install(&lock, err);
}

static int add_series(struct al_call *call, const struct commit_series *all,
                      const struct al_series_made *made, struct al_str *out, struct al_error *err)
{
    if (all->branch)
        al_place_addf(out, "On the new branch %s\n", all->branch + strlen(heads));
    for (size_t i = 0; i < all->count; i++) {
        const char *into = all->items[i].into;
        int r = add_commit(call, made->commits.items[i], out, err);

        if (r < 0)
            return r;
        if (into)
            al_str_addf(out, "  was %.8s%s\n", into, all->items[i].changes ? "" : ", reworded");
    }
    if (made->replayed > 1) {
        al_str_addf(out, "%s replayed after it",
                    al_counted(made->replayed - 1, "commit", "commits").text);
        if (made->dropped)
            al_str_addf(out, ", %zu of them dropped as empty", made->dropped);
        al_str_addc(out, '\n');
    }
    return 0;
}

/* Make commits in memory, and then move the branch and put the index that is left into place.  The
 * working tree stays as it is. */
static int make_series(struct al_call *call, const struct commit_args *args, struct al_str *text,
                       struct al_str *line, struct al_error *err)
{
    struct al_repo *repo = al_call_repo(call);
    al_auto(al_index_lock_release) struct al_index_lock lock = AL_INDEX_LOCK_INIT;
    al_auto(al_series_made_clear) struct al_series_made made = { .memory = NULL };
    al_auto(commit_series_clear) struct commit_series all = SERIES_INIT;
    int r = build(call, args, &lock, &all, line, err);

    if (r == 0)
        r = al_series_make(repo, &all.series, &made, err);
    if (r == 0 && made.indexes.commit && al_call_plan(call)->expected)
        r = al_git_check_expected(al_inmemory_repo(made.memory), made.indexes.commit,
                                  al_call_plan(call)->expected, err);
    if (r == 0 && made.indexes.after)
        r = al_index_lock_write(&lock, made.indexes.after, err);
    if (r == 0)
        r = al_series_do(repo, &all.series, &made, err);
    if (r == 0 && made.indexes.after)
        r = al_index_lock_install(&lock, err);
    return r < 0 ? r : add_series(call, &all, &made, text, err);
}

/* Say which of the named files have a change that git has passed over. */
static void tell_passed_over(struct al_call *call, const struct commit_args *args, bool passed_over,
                             struct al_str *out)
{
    al_auto(al_strv_clear) struct al_strv left = AL_STRV_INIT;
    const struct al_strv *files;

    if (args->all && al_leave_filtered(call, &left, NULL) == 0 && left.count) {
        al_str_adds(out, "Not committed, since airlock runs no filter; a user can commit them with "
                         "git itself: ");
        al_chosen_add_names(call, &left, out);
        al_str_addc(out, '\n');
    }
    if (!passed_over && (!args->paths.count || al_call_affected_files(call, &files, NULL) < 0 ||
                         files->count >= args->paths.count))
        return;
    if (al_git_overwritten_files(al_call_repo(call), &args->paths, true, &left, NULL) < 0)
        return;
    al_left_out_add_passed_over(call, "Not committed", &left, out);
    al_str_adds(out, left.count ? "\n" : "");
}

static int execute(struct al_call *call, struct al_result *result, struct al_error *err)
{
    const struct commit_args *args = al_call_args(call);
    const char *before = al_call_resolved(call, AL_RESOLVED_COMMIT);
    al_auto(al_str_clear) struct al_str left_out = AL_STR_INIT, passed = AL_STR_INIT;
    bool nothing = false, passed_over = false;
    int r = check_head(call, err);

    if (r == 0 && args->amend && !args->author && !chooses(args))
        r = amend_changes_nothing(call, args->message, &nothing, err);
    if (r == 0 && nothing) {
        al_str_adds(&result->text,
                    "Nothing to amend: nothing is staged, and the message stays the same; "
                    "paths, hunks or all choose changes\n");
        return 0;
    }
    if (r == 0 && is_series(call, args)) {
        r = make_series(call, args, &result->text, &left_out, err);
    } else if (r == 0) {
        al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };

        r = chooses(args) ? commit_part(call, args, &left_out, &passed_over, &output, err)
                          : make_commit(call, args, NULL, al_call_tool_data(call), &output, err);
        if (r == 0 && args->amend)
            al_str_addf(&result->text, "Amended %.*s: ", AL_SHORT_ID, before);
        if (r == 0)
            r = add_made(call, output.out.out.buf, &result->text, err);
    }
    tell_passed_over(call, args, passed_over, &passed);
    if (r < 0 && passed.len && err && err->code == AL_CODE_NO_STAGED_CHANGES)
        return al_error_set(err, AL_ERR_EXECUTION, "nothing to commit. %.*s", (int)passed.len - 1,
                            passed.buf);
    if (r < 0)
        return only_left_out(&left_out, r, err);
    al_str_adds(&result->text, passed.buf);
    if (left_out.len)
        al_str_addf(&result->text, "%s; name them in paths to commit them\n", left_out.buf);
    al_outcome_add_skipped(call, hooks, true, &result->text);
    al_state_add_waiting(call, &result->text); /* it may have concluded a merge */
    return 0;
}

#define COMMITS (AL_WRITES_INDEX | AL_WRITES_REFS)

static const struct al_operation operations[] = {
    { "amend", is_amend, COMMITS | AL_REWRITES_HISTORY, execute, AL_ASKS_UNLESS_SAVED },
    { "branch", makes_branch, COMMITS, execute, AL_ASKS_UNLESS_SAVED,
      AL_MOVES_HEAD | AL_MOVES_NEW },
    { "into", goes_into, COMMITS | AL_REWRITES_HISTORY, execute, AL_ASKS_UNLESS_SAVED },
    { "commit", NULL, COMMITS, execute, AL_ASKS_UNLESS_SAVED },
};

static const struct al_stricter stricter[] = {
    { "amend", is_pushed, "for a commit that a remote-tracking branch has", 0 },
    { "into", is_pushed, "for a commit that a remote-tracking branch has", 0 },
};

/* A commit that names nothing is of the staged files. */
static int policy_paths(struct al_call *call, struct al_strv *out, struct al_error *err)
{
    return al_git_list_staged(al_call_repo(call), NULL, NULL, out, err);
}

const struct al_tool al_tool_everyday_commit = {
    .name = "git_commit",
    .title = "Commit",
    .about = "Commit what is staged, or exactly some files, hunks or everything; amend.",
    AL_TOOL_ROWS(params, operations),
    AL_EVERYDAY_TOOL(struct commit_args),
    .complete_error = al_everyday_complete_error,
    AL_TOOL_STRICTER(stricter),
    .moves_branch = true,
    .check = check,
    .resolve = resolve,
    .authorize = authorize,
    .policy_paths = policy_paths,
    .affected_files = affected_files,
    .preview = preview,
    .moves = AL_MOVES_BRANCH, /* the working tree stays as it is, whatever is replayed */
    .keeps_staged = true,
    .summary = "[amend?Amend the last commit][!amend?Commit][commits? {#commits} times]"
               "[into? into {into}][branch? on branch {branch}][all? with every change]"
               "[hunks? {#hunks hunk}][paths? {paths}][message?: {^message}]",
};
