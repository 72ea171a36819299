// SPDX-License-Identifier: Apache-2.0
/* git_conflicts: show conflicts hunk by hunk, resolve them, and go on with what stopped there. */

#include "base/utf8.h"
#include "git/refs.h"
#include "tools/private.h"
#include "verbs/message/commit_message.h"
#include "verbs/porcelain/commit.h"
#include "verbs/porcelain/resume.h"
#include "verbs/preview/affected_files.h"
#include "verbs/replay/along.h"
#include "verbs/replay/work.h"
#include "verbs/sequencer/conflict_hunks.h"
#include "verbs/sequencer/resolve.h"

#define ID_MAX_BYTES           32
#define HUNK_CONTENT_MAX_BYTES (1u << 20)

/* The ids that an error repeats. */
#define IDS_MAX_BYTES 400

struct hunk_arg {
    bool given;
    const char *id, *take, *content;
};

static const struct al_param members[] = {
    AL_STRING(struct hunk_arg, id, NULL, .flags = AL_PARAM_REQUIRED, .min_bytes = 1,
              .max_bytes = ID_MAX_BYTES),
    AL_STRING(struct hunk_arg, take, NULL, .pattern = "^(ours|theirs|both)$", .max_bytes = 6,
              .bad_message =
                  "take of a hunk is ours, theirs or both; for any other text leave take out "
                  "and give content"),
    AL_STRING(struct hunk_arg, content, NULL, .max_bytes = HUNK_CONTENT_MAX_BYTES),
};

/* The members of an item, for AL_OBJECTS(). */
static const struct al_object hunk_choices_row = { members, AL_COUNT(members),
                                                   sizeof(struct hunk_arg) };

static const struct hunk_arg *at(const struct al_objects *choices, size_t i)
{
    return (const struct hunk_arg *)choices->items + i;
}

/* The actions of git_conflicts. */
enum al_conflicts_action {
    AL_CONFLICTS_SHOW,
    AL_CONFLICTS_RESOLVE,
    AL_CONFLICTS_CONTINUE,
    AL_CONFLICTS_ABORT,
    AL_CONFLICTS_SKIP,
};

/* Its arguments. */
struct al_conflicts_args {
    int action;
    const char *path, *take, *content;
    struct al_strv paths;
    struct al_objects hunks;
    bool goes_on;
    const char *working_dir;
};

/* The result of the arguments of a resolution: an entry for each file. */
struct resolutions {
    struct al_resolve_options *options;
    size_t count;
    struct al_strv texts; /* that the options borrow */
    struct al_str told;   /* "1 of 2 hunks of a.c, b.c": the first ones */
};

static void resolutions_free(void *data)
{
    struct resolutions *all = data;

    free(all->options);
    al_strv_clear(&all->texts);
    al_str_clear(&all->told);
    free(all);
}

static bool takes(const struct al_conflicts_args *args, const char *what)
{
    return args->take && !strcmp(args->take, what);
}

/* Append the files in conflict that a word names: one, a directory, or a glob. */
static int add_named(struct al_call *call, const char *param, const char *word,
                     const struct al_conflicts *conflicts, struct al_strv *out,
                     struct al_error *err)
{
    const struct al_repo *repo = al_call_repo(call);
    al_auto(al_strv_clear) struct al_strv files = AL_STRV_INIT;
    struct al_strv words = { .items = (char *[]){ (char *)(uintptr_t)word, NULL }, .count = 1 };
    al_auto(al_freep) char *path = NULL, *shown = NULL;
    const size_t before = out->count;
    int r = al_place_from_argument(repo, param, word, &path, err);

    if (r == 0 && al_conflicts_find(conflicts, path))
        al_strv_add(&files, path);
    else if (r == 0)
        r = al_git_rewritten_files(repo, &words, &files, err);
    for (size_t i = 0; r == 0 && i < files.count; i++) {
        const char *name = files.items[i];

        name = *name == '/' ? al_location_worktree_name(&repo->at, name) : name;
        if (name && al_conflicts_find(conflicts, name) && !al_strv_contains(out, name))
            al_strv_add(out, name);
    }
    if (r < 0 || out->count > before)
        return r;
    shown = al_place(repo, path);
    return al_failure_set(err,
                          conflicts->count ? "git_conflicts names the files that are in conflict."
                                           : "Nothing is in conflict; git_status shows the state.",
                          "'%s' is not in conflict", shown);
}

/* The files that a call is about: those that it names, or all. */
static int find_files(struct al_call *call, const struct al_conflicts_args *args,
                      const struct al_conflicts *conflicts, struct al_strv *out,
                      struct al_error *err)
{
    int r = args->path ? add_named(call, "path", args->path, conflicts, out, err) : 0;

    for (size_t i = 0; r == 0 && i < args->paths.count; i++)
        r = add_named(call, "paths", args->paths.items[i], conflicts, out, err);
    if (!args->path && !args->paths.count)
        al_conflicts_add_paths(conflicts, out);
    return r;
}

#define NAMED_MAX 20

/* @param part  What is said before the path: "1 of 2 hunks of ". */
static void add_entry(struct al_call *call, const char *path, enum al_resolution how,
                      const char *content, const char *part)
{
    struct resolutions *all = al_call_tool_data(call);
    struct al_resolve_options *options = &all->options[all->count++];

    if (all->count <= NAMED_MAX) {
        al_str_addf(&all->told, "%s%s", all->told.len ? ", " : "", part);
        al_place_add(al_call_repo(call), path, &all->told);
    }
    al_strv_add(&all->texts, path);
    options->path = all->texts.items[all->texts.count - 1];
    options->how = how;
    if (!content)
        return;
    al_strv_add(&all->texts, content);
    options->content = all->texts.items[all->texts.count - 1];
}

/* The choice of the arguments for one hunk; `given` is false: none. */
static int choose(struct al_call *call, const struct al_conflicts_args *args,
                  const struct al_conflict_file *file, size_t hunk, bool *used,
                  struct al_hunk_resolution *ret_choice, struct al_error *err)
{
    const bool both = takes(args, "both");
    bool has_markers;
    int r = 0;

    *ret_choice = (struct al_hunk_resolution){ .given = both, .both = both };
    for (size_t i = 0; i < args->hunks.count; i++) {
        const struct hunk_arg *arg = at(&args->hunks, i);

        if (strcmp(file->hunks[hunk].id, arg->id) != 0)
            continue;
        if (used[i])
            return al_failure_bad_args(err, "Name its file with path.",
                                       "hunk %s is in more than one file", arg->id);
        used[i] = true;
        *ret_choice = (struct al_hunk_resolution){ true, arg->content, AL_STAGE_OURS, false };
        if (arg->take && !strcmp(arg->take, "theirs"))
            ret_choice->side = AL_STAGE_THEIRS;
        ret_choice->both = arg->take && !strcmp(arg->take, "both");
        /* A resolved hunk has no markers, although the file may keep those of others. */
        r = al_git_has_markers(al_call_repo(call), file, arg->content, &has_markers, err);
        if (r < 0 || !has_markers)
            return r;
        return al_failure_bad_args(err,
                                   "Give only the lines that the hunk becomes, without those that "
                                   "begin with <<<<<<<, ||||||| or >>>>>>>.",
                                   "content of hunks[%zu] has conflict markers", i);
    }
    return r;
}

/* Resolve the chosen hunks of a file, which is the next entry if there are any.  AL_ERR_BAD_ARGS
 * for content that has conflict markers. */
static int settle(struct al_call *call, const struct al_conflicts_args *args,
                  const struct al_conflict *conflict, bool *used, struct al_strv *ids,
                  struct al_error *err)
{
    al_auto(al_conflict_file_clear) struct al_conflict_file file = AL_CONFLICT_FILE_INIT;
    al_auto(al_freep) struct al_hunk_resolution *chosen = NULL;
    al_auto(al_str_clear) struct al_str content = AL_STR_INIT, part = AL_STR_INIT;
    al_auto(al_freep) char *shown = al_place(al_call_repo(call), conflict->path);
    size_t resolved = 0;
    int r = al_git_conflict_files(al_call_repo(call), conflict, 1, &file, err);

    if (r == 0 && args->take &&
        (!conflict->sides[AL_STAGE_OURS].oid || !conflict->sides[AL_STAGE_THEIRS].oid ||
         !file.blocks.count))
        r = al_failure_bad_args(err, "Take ours, theirs or disk for this file.",
                                "'%s' has no hunks of which both sides can be taken", shown);
    if (r == 0)
        r = al_git_conflict_hunks(al_call_repo(call), &file, err);
    if (r < 0)
        return r;
    chosen = al_calloc(file.blocks.count + 1, sizeof(*chosen));
    for (size_t i = 0; r == 0 && i < file.blocks.count; i++) {
        al_strv_add(ids, file.hunks[i].id);
        r = choose(call, args, &file, i, used, &chosen[i], err);
        resolved += chosen[i].given;
    }
    if (r < 0 || !resolved)
        return r;
    al_conflict_file_settle(&file, chosen, &content);
    if (resolved < file.blocks.count)
        al_str_addf(&part, "%zu of %zu hunks of ", resolved, file.blocks.count);
    add_entry(call, conflict->path, part.len ? AL_RESOLVE_PARTLY : AL_RESOLVE_CONTENT, content.buf,
              part.buf);
    return 0;
}

/* Fail if a hunk is in none of the files. */
static int check_used(const struct al_conflicts_args *args, const bool *used,
                      const struct al_strv *ids, struct al_error *err)
{
    for (size_t i = 0; i < args->hunks.count; i++) {
        al_auto(al_freep) char *shown = al_text_sanitize_line(at(&args->hunks, i)->id);
        al_auto(al_str_clear) struct al_str list = AL_STR_INIT;

        if (used[i])
            continue;
        al_answer_add_items(ids, IDS_MAX_BYTES, &list);
        return al_failure_bad_args(err, "git_conflicts shows the hunks that are left.",
                                   "hunk %s is not there any more; %s%s", shown,
                                   ids->count ? "there are " : "no hunk is left", list.buf);
    }
    return 0;
}

/* Look at the files and the arguments, and keep what follows from them as the call's tool data. */
static int plan(struct al_call *call, const struct al_conflicts_args *args, struct al_error *err)
{
    struct resolutions *all = al_calloc(1, sizeof(*all));
    const bool by_hunks = args->hunks.count || takes(args, "both");
    const enum al_resolution how = args->content           ? AL_RESOLVE_CONTENT
                                   : takes(args, "ours")   ? AL_RESOLVE_OURS
                                   : takes(args, "theirs") ? AL_RESOLVE_THEIRS
                                                           : AL_RESOLVE_DISK;
    al_auto(al_conflicts_clear) struct al_conflicts conflicts = AL_CONFLICTS_INIT;
    al_auto(al_strv_clear) struct al_strv files = AL_STRV_INIT, ids = AL_STRV_INIT;
    al_auto(al_freep) bool *used = al_calloc(args->hunks.count + 1, sizeof(*used));
    int r = al_git_conflicts(al_call_repo(call), &conflicts, err);

    if (r == 0)
        r = find_files(call, args, &conflicts, &files, err);
    if (r == 0 && !files.count)
        r = al_failure_set(err, "git_status shows the state.", "Nothing is in conflict");
    *all = (struct resolutions){ .options = al_calloc(files.count + 1, sizeof(*all->options)),
                                 .told = AL_STR_INIT };
    al_call_set_tool_data(call, all, resolutions_free);
    for (size_t i = 0; r == 0 && i < files.count; i++) {
        if (by_hunks)
            r = settle(call, args, al_conflicts_find(&conflicts, files.items[i]), used, &ids, err);
        else
            add_entry(call, files.items[i], how, args->content, "");
    }
    return r < 0 ? r : check_used(args, used, &ids, err);
}

/* The call may have waited for its turn, so what there is to do is found once more. */
static int resolve(struct al_call *call, struct al_result *result, struct al_error *err)
{
    const struct resolutions *all;
    int r = plan(call, al_call_args(call), err);

    if (r < 0)
        return r;
    all = al_call_tool_data(call);
    r = al_git_resolve(al_call_repo(call), all->options, all->count, err);
    if (r < 0)
        return r;
    al_str_addf(&result->text, "Resolved %s", all->told.buf);
    if (all->count > NAMED_MAX)
        al_str_addf(&result->text, " and %zu more", all->count - NAMED_MAX);
    al_str_adds(&result->text, ".\n");
    return 0;
}

#define FOLLOWERS_BYTES 400u
#define UNSTAGED_BYTES  800u

/* The id of the commit at which it stopped; "" if it cannot be told.  Caller frees. */
static char *stopped_commit(const struct al_repo *repo)
{
    static const char *const heads[] = { "REBASE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD" };
    const bool rebases = al_git_operation_state(repo) == AL_IN_PROGRESS_REBASE;
    char *oid = NULL;

    for (size_t i = rebases ? 0 : 1; !oid && i < AL_COUNT(heads); i++)
        oid = al_operation_oid(repo, heads[i]);
    return oid ? oid : al_strdup("");
}

/* Append which commit is left out, and the changes that are lost with it. */
static int skip_preview(struct al_call *call, struct al_str *out, struct al_error *err)
{
    const struct al_repo *repo = al_call_repo(call);
    const struct al_diff_options lost = { .stat = true, .unified = -1, .from_ref = "HEAD" };
    al_auto(al_freep) char *oid = stopped_commit(repo);
    int r = 0;

    al_str_addf(out, "A %s is in progress.", al_operation_state_noun(al_git_operation_state(repo)));
    if (*oid)
        r = al_outcome_add_commit(call, " This commit is left out:\n  ", oid, "\n", out, err);
    else
        al_str_adds(out, " The commit at which it stopped is left out.\n");
    return r < 0 ? r : al_git_loss_excerpt(repo, &lost, "These changes are lost:", out, err);
}

/* The commit at which it stopped, if nothing of it is left: a rebase leaves it out, the others
 * cannot go on.  NULL: it is something else.  Caller frees. */
static char *emptied_commit(struct al_call *call)
{
    const struct al_repo *repo = al_call_repo(call);
    al_auto(al_freep) char *oid = stopped_commit(repo);
    uint64_t staged = 1;

    if (*oid)
        (void)al_git_count_staged(repo, &staged, NULL);
    return staged ? NULL : al_take(&oid);
}

#define CONTENT_MAX_BYTES (4u << 20)
#define HUNKS_MAX         1000
#define PATHS_MAX         1000

/* Whether this session has begun what is in progress. */
static bool is_begun_here(const struct al_call *call)
{
    return al_operation_begun(al_call_repo(call), al_call_session(call)->number) == AL_BEGUN_HERE;
}

/* Another session of this server is at work there, and would find it gone. */
static bool is_of_others(struct al_call *call)
{
    return al_operation_begun(al_call_repo(call), al_call_session(call)->number) ==
           AL_BEGUN_ELSEWHERE;
}

static const struct al_choice actions[] = {
    { "show", AL_CONFLICTS_SHOW },         { "resolve", AL_CONFLICTS_RESOLVE },
    { "continue", AL_CONFLICTS_CONTINUE }, { "abort", AL_CONFLICTS_ABORT },
    { "skip", AL_CONFLICTS_SKIP },         { NULL, 0 },
};

static const struct al_param params[] = {
    AL_CHOICE(struct al_conflicts_args, action, NULL, .choices = actions),
    AL_STRING(struct al_conflicts_args, path, NULL, .flags = AL_PARAM_PATH, .min_bytes = 1,
              .actions = "show resolve"),
    AL_PATHS_ROW(struct al_conflicts_args, .max = PATHS_MAX, .actions = "show resolve"),
    AL_STRING(struct al_conflicts_args, take,
              "ours, theirs: whole files; both: by hunk; disk: as it is; of path, paths or all.",
              .pattern = "^(ours|theirs|both|disk)$", .max_bytes = 6,
              .bad_message = "take is ours, theirs, both or disk", .actions = "resolve"),
    AL_STRING(struct al_conflicts_args, content, "The whole file.", .max_bytes = CONTENT_MAX_BYTES,
              .actions = "resolve"),
    AL_OBJECTS(struct al_conflicts_args, hunks, "Of any files.", hunk_choices_row, .min = 1,
               .max = HUNKS_MAX, .actions = "resolve"),
    AL_BOOL_AS(struct al_conflicts_args, goes_on, "continue", "Resolve, then continue.",
               .flags = AL_PARAM_EVERY_PATH, .actions = "resolve"),
    AL_WORKING_DIR_ROW(struct al_conflicts_args),
};

static int check(void *p, struct al_error *err)
{
    const struct al_conflicts_args *args = p;
    int ways = (args->take != NULL) + (args->content != NULL) + (args->hunks.count > 0);

    if (args->path && args->paths.count)
        return al_error_set(err, AL_ERR_BAD_ARGS, "path and paths cannot be given together");
    if (args->action == AL_CONFLICTS_RESOLVE && (ways != 1 || (args->content && !args->path)))
        return al_error_set(err, AL_ERR_BAD_ARGS,
                            "resolve takes one of take (ours, theirs, both, disk), content and "
                            "hunks (action show has their ids), and content takes path");
    for (size_t i = 0; i < args->hunks.count; i++) {
        const struct hunk_arg *hunk = at(&args->hunks, i);

        if ((hunk->take != NULL) + (hunk->content != NULL) != 1)
            return al_error_set(err, AL_ERR_BAD_ARGS, "hunks[%zu] takes one of take and content",
                                i);
        for (size_t k = 0; k < i; k++)
            if (!strcmp(at(&args->hunks, k)->id, hunk->id))
                return al_error_set(err, AL_ERR_BAD_ARGS, "hunks[%zu] and hunks[%zu] are one hunk",
                                    k, i);
    }
    return 0;
}

/* The remedies are those of a session with this tool. */
static int nothing_in_progress(struct al_call *call, const char *word, struct al_error *err)
{
    al_auto(al_conflicts_clear) struct al_conflicts conflicts = AL_CONFLICTS_INIT;
    al_auto(al_freep) char *waiting = al_operation_oid(al_call_repo(call), AL_WAITING_CHANGES);
    al_auto(al_freep) char *bisected = al_git_bisected(al_call_repo(call));
    int r = al_git_conflicts(al_call_repo(call), &conflicts, err);

    if (r < 0)
        return r;
    return al_failure_set(
        err,
        conflicts.count ? "What was applied is no operation: git_conflicts with action resolve "
                          "settles its conflicts, git_undo undoes it; a stash entry is still there."
        : waiting       ? "git_conflicts with action continue restores what waits."
        : bisected      ? "A bisect is: " AL_BISECT_NEXT "."
                        : "There are no conflicts either, so there is nothing to do.",
        "There is nothing to %s: no merge, rebase, cherry-pick or revert is in progress", word);
}

static int unresolved(struct al_call *call, struct al_error *err)
{
    al_auto(al_conflicts_clear) struct al_conflicts conflicts = AL_CONFLICTS_INIT;
    al_auto(al_str_clear) struct al_str list = AL_STR_INIT;
    int r = al_git_conflicts(al_call_repo(call), &conflicts, err);

    if (r == 0 && conflicts.count)
        r = al_outcome_add_conflicts(call, &conflicts, &list, err);
    if (r < 0 || !conflicts.count)
        return r;
    r = al_failure_set(err, "Settle them with git_conflicts and action resolve, then continue.",
                       "There are conflicts left: %s", list.buf);
    if (err) {
        err->code = AL_CODE_CONFLICT;
        err->reason = "conflict";
    }
    return r;
}

/* A cherry-pick or a revert whose stopped commit has nothing left. */
static int emptied(struct al_call *call, struct al_error *err)
{
    enum al_operation_state state = al_git_operation_state(al_call_repo(call));
    al_auto(al_freep) char *oid = NULL;

    if (state != AL_IN_PROGRESS_CHERRY_PICK && state != AL_IN_PROGRESS_REVERT)
        return 0;
    oid = emptied_commit(call);
    return !oid
               ? 0
               : al_failure_set(err,
                                "git_conflicts with action skip leaves this commit out and goes "
                                "on; action abort gives all of it up.",
                                "Nothing of commit %.8s is left, so the %s cannot continue with it",
                                oid, al_operation_state_noun(state));
}

/* Fail, naming them, while files have unstaged changes and a rebase is in progress: git does not go
 * on then, and says of it that conflicts are left. */
static int check_unstaged(struct al_call *call, struct al_error *err)
{
    const struct al_repo *repo = al_call_repo(call);
    al_auto(al_strv_clear) struct al_strv files = AL_STRV_INIT;
    al_auto(al_str_clear) struct al_str names = AL_STR_INIT;
    int r = al_git_operation_state(repo) != AL_IN_PROGRESS_REBASE
                ? 0
                : al_git_changed_meanwhile(repo, NULL, &files, err);

    if (r < 0 || !files.count)
        return r;
    al_outcome_add_places(repo, &files, UNSTAGED_BYTES, &names);
    return al_failure_set(
        err,
        "git_add puts them into the commit that stopped, git_restore takes them "
        "back, git_stash with paths puts them aside; then continue.",
        "%s %s changes that are not staged, over which a rebase does not continue", names.buf,
        files.count == 1 ? "has" : "have");
}

static int authorize_continue(struct al_call *call, struct al_error *err)
{
    const struct al_repo *repo = al_call_repo(call);
    al_auto(al_str_clear) struct al_str unused = AL_STR_INIT;
    int r = unresolved(call, err);

    if (r < 0 || al_git_operation_state(repo) == AL_IN_PROGRESS_NONE)
        return r; /* what waits is brought back */
    r = check_unstaged(call, err);
    if (r == 0)
        r = emptied(call, err);
    if (r == 0 && al_git_resumable(repo) != AL_IN_PROGRESS_NONE)
        return al_git_resume_check(repo, err);
    return r < 0 ? r : al_git_commit_preview(repo, &unused, err);
}

/* The needs of an operation that is to go on, whatever is in conflict. */
static int check_can_go_on(struct al_call *call, const char *word, struct al_error *err)
{
    const enum al_operation_state state = al_git_operation_state(al_call_repo(call));
    al_auto(al_freep) char *waiting = al_operation_oid(al_call_repo(call), AL_WAITING_CHANGES);

    if (state == AL_IN_PROGRESS_NONE && (!waiting || strcmp(word, "continue") != 0))
        return nothing_in_progress(call, word, err);
    if (state == AL_IN_PROGRESS_AM)
        return al_failure_set(err, "Only a user can, with git am itself; action abort aborts it.",
                              "An application of patches (git am) cannot be continued here");
    return 0;
}

static int authorize(struct al_call *call, struct al_error *err)
{
    const struct al_conflicts_args *args = al_call_args(call);
    const struct al_repo *repo = al_call_repo(call);
    const enum al_operation_state state = al_git_operation_state(repo);
    const struct resolutions *all;
    int r = args->goes_on ? check_can_go_on(call, "continue", err) : 0;

    if (r == 0 && args->action == AL_CONFLICTS_RESOLVE)
        r = plan(call, args, err);
    all = al_call_tool_data(call);
    if (args->action == AL_CONFLICTS_RESOLVE)
        return r < 0 ? r : al_git_resolve_check(repo, all->options, all->count, err);
    if (args->action == AL_CONFLICTS_SHOW)
        return 0;
    if (args->action == AL_CONFLICTS_ABORT)
        return state == AL_IN_PROGRESS_NONE ? nothing_in_progress(call, "abort", err)
                                            : al_git_abort_check(repo, err);
    r = check_can_go_on(call, args->action == AL_CONFLICTS_SKIP ? "skip" : "continue", err);
    if (r < 0)
        return r;
    if (state == AL_IN_PROGRESS_MERGE && args->action == AL_CONFLICTS_SKIP)
        return al_failure_set(err,
                              "Settle the conflicts and continue, or give the merge up with "
                              "action abort.",
                              "A merge has no commit to skip");
    return args->action == AL_CONFLICTS_SKIP ? al_git_skip_check(repo, err)
                                             : authorize_continue(call, err);
}

static int affected_files(struct al_call *call, struct al_strv *out, struct al_error *err)
{
    const struct al_conflicts_args *args = al_call_args(call);
    const struct resolutions *all = al_call_tool_data(call);

    for (size_t i = 0; args->action == AL_CONFLICTS_RESOLVE && i < all->count; i++)
        al_git_resolve_affected_files(al_call_repo(call), &all->options[i], out);
    return args->action == AL_CONFLICTS_ABORT || args->action == AL_CONFLICTS_SKIP
               ? al_git_abort_affected_files(al_call_repo(call), out, err)
               : 0;
}

static int preview(struct al_call *call, struct al_str *out, struct al_error *err)
{
    const struct al_conflicts_args *args = al_call_args(call);
    struct al_repo *repo = al_call_repo(call);

    if (args->action >= AL_CONFLICTS_CONTINUE && is_of_others(call))
        al_str_adds(out, "Another session has begun it.\n");
    if (args->action == AL_CONFLICTS_RESOLVE) {
        const struct resolutions *all = al_call_tool_data(call);

        if (args->goes_on)
            al_git_show_unsigned(repo, out);
        return al_git_resolve_preview(repo, all->options, all->count, out, err);
    }
    if (args->action == AL_CONFLICTS_SKIP)
        return skip_preview(call, out, err);
    if (args->action == AL_CONFLICTS_ABORT)
        return al_git_abort_preview(repo, out, err);
    if (args->action == AL_CONFLICTS_SHOW)
        return 0;
    if (al_git_operation_state(repo) == AL_IN_PROGRESS_NONE)
        return 0;
    al_git_show_unsigned(repo, out);
    if (al_git_resumable(repo) != AL_IN_PROGRESS_NONE)
        return al_git_resume_preview(repo, out, err);
    return al_git_commit_preview(repo, out, err);
}

static int show(struct al_call *call, struct al_result *result, struct al_error *err)
{
    const struct al_conflicts_args *args = al_call_args(call);
    const struct al_repo *repo = al_call_repo(call);
    al_auto(al_conflicts_clear) struct al_conflicts conflicts = AL_CONFLICTS_INIT;
    al_auto(al_strv_clear) struct al_strv files = AL_STRV_INIT;
    int r = al_git_conflicts(repo, &conflicts, err);

    if (r == 0)
        r = find_files(call, args, &conflicts, &files, err);
    return r < 0 ? r : al_outcome_show(call, &conflicts, &files, result, err);
}

/* Conclude a merge with the message that git has prepared. */
static int conclude_merge(struct al_call *call, struct al_error *err)
{
    struct al_repo *repo = al_call_repo(call);
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    al_auto(al_freep) char *message = al_git_prepared_message(repo);
    struct al_commit_options options = { .message = NULL };
    int r = 0;

    if (!message || !al_utf8_valid(message, strlen(message))) {
        free(al_take(&message));
        r = al_git_suggest_message(repo, &message, NULL, err);
    }
    options.message = message;
    return r < 0 ? r : al_git_commit(repo, &options, al_call_max_bytes(call), &output, err);
}

/* Bring back what waited, when nothing is in progress any more. */
static int bring_back(struct al_call *call, struct al_result *result, struct al_error *err)
{
    struct al_repo *repo = al_call_repo(call);
    al_auto(al_freep) char *saved = al_operation_oid(repo, AL_WAITING_CHANGES);
    al_auto(al_freep) char *why = NULL;
    int r;

    if (!saved || al_git_operation_state(repo) != AL_IN_PROGRESS_NONE)
        return 0;
    r = al_call_return_commit(call, saved, err);
    if (r == AL_ERR_EXECUTION)
        r = al_failure_set(err,
                           "A user can remove that file; airlock rollback has the files as "
                           "they were before the call that stopped.",
                           "The commit that " AL_WAITING_CHANGES
                           " in the git directory names is gone");
    if (r == 0)
        r = al_uncommitted_bring_back(repo, saved, al_call_agent(call), &why, err);
    if (r < 0)
        return r;
    if (why)
        al_str_addf(&result->text,
                    "%s. They are a stash entry now: git_stash with action pop brings them back.\n",
                    why);
    else
        al_str_adds(&result->text, "The uncommitted changes that waited are back.\n");
    return 0;
}

/* The result of an operation that went on, or was skipped on, to its end or to its next stop.
 * `left_out`: the commit that was, "" if it cannot be told; NULL: none. */
static int went_on(struct al_call *call, enum al_operation_state state, const char *left_out,
                   const struct al_merge_outcome *outcome, struct al_result *result,
                   struct al_error *err)
{
    struct al_str *text = &result->text;
    static const char committed[] =
        "pre-commit prepare-commit-msg commit-msg post-commit post-merge post-rewrite";
    const char *name = al_operation_state_name(state);

    if (left_out && !*left_out)
        al_str_adds(text, "Left one commit out. ");
    else if (left_out)
        (void)al_outcome_add_commit(call, "Left out ", left_out, ". ", text, NULL);
    if (outcome->conflicted || outcome->in_progress) {
        al_str_addf(text, "The %s went on and stopped again.\n", name);
        return al_outcome_stopped(call, result, err);
    }
    al_str_addf(text, "The %s is done: ", name);
    if (al_outcome_add_commit(call, "", "HEAD", "\n", text, err) < 0)
        return AL_ERR_EXECUTION;
    al_outcome_add_skipped(call, committed, true, text);
    return 0;
}

/* Say where the other branches are now that a stopped rebase moves when it is done.  git leaves one
 * that somebody else has moved.
 *
 * @param oids  Of their commits before. */
static void add_followers(const struct al_repo *repo, const struct al_strv *followers,
                          const struct al_strv *oids, struct al_str *text)
{
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;

    for (size_t i = 0; i < followers->count; i++) {
        al_auto(al_freep) char *now = al_ref_oid(&repo->at, followers->items[i]);
        al_auto(al_str_clear) struct al_str name = AL_STR_INIT;
        const bool stays = !strcmp(now, oids->items[i]);

        al_place_add_name(followers->items[i] + strlen("refs/heads/"), &name);
        al_strv_addf(&names,
                     !*now   ? "%s is gone"
                     : stays ? "%s stays at %.8s"
                             : "%s to %.8s",
                     name.buf, now);
    }
    al_outcome_add_list("Moved along: ", &names, FOLLOWERS_BYTES, text);
}

static int go_on(struct al_call *call, struct al_result *result, struct al_error *err)
{
    const struct al_conflicts_args *args = al_call_args(call);
    struct al_repo *repo = al_call_repo(call);
    enum al_operation_state state = al_git_operation_state(repo);
    bool begun_here = is_begun_here(call);
    al_auto(al_merge_outcome_clear) struct al_merge_outcome outcome = AL_MERGE_INIT;
    al_auto(al_freep) char *left_out =
        args->action == AL_CONFLICTS_SKIP ? stopped_commit(repo) : emptied_commit(call);
    al_auto(al_strv_clear) struct al_strv followers = AL_STRV_INIT, oids = AL_STRV_INIT;
    int r;

    if (state == AL_IN_PROGRESS_NONE)
        return bring_back(call, result, err);
    al_ref_followers(&repo->at, &followers);
    for (size_t i = 0; i < followers.count; i++)
        al_strv_take(&oids, al_ref_oid(&repo->at, followers.items[i]));
    r = state == AL_IN_PROGRESS_MERGE
            ? 0
            : al_going_on_check(repo, args->action == AL_CONFLICTS_SKIP, err);
    if (r < 0)
        return r;
    if (args->action == AL_CONFLICTS_SKIP)
        r = al_git_skip(repo, al_call_max_bytes(call), &outcome, err);
    else if (state == AL_IN_PROGRESS_MERGE)
        r = conclude_merge(call, err);
    else
        r = al_git_resume(repo, NULL, NULL, al_call_max_bytes(call), &outcome, err);
    if (r < 0 && err && err->code == AL_CODE_NO_STAGED_CHANGES)
        err->remedy = "git_conflicts with action abort gives all of it up; then begin again "
                      "without that commit.";
    if (r < 0)
        return r;
    if (!begun_here)
        al_str_addf(&result->text, "This session had not begun the %s.\n",
                    al_operation_state_noun(state));
    if (args->action != AL_CONFLICTS_SKIP && left_out)
        al_str_adds(&result->text, "One commit changed nothing here. ");
    r = went_on(call, state, left_out, &outcome, result, err);
    if (al_git_operation_state(repo) == AL_IN_PROGRESS_NONE)
        add_followers(repo, &followers, &oids, &result->text);
    return r < 0 ? r : bring_back(call, result, err);
}

/* Resolved files stay so, although the operation cannot go on before the others are. */
static int resolve_and_go_on(struct al_call *call, struct al_result *result, struct al_error *err)
{
    al_auto(al_conflicts_clear) struct al_conflicts left = AL_CONFLICTS_INIT;
    al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;
    int r = resolve(call, result, err);

    if (r == 0)
        r = al_git_conflicts(al_call_repo(call), &left, err);
    if (r == 0 && left.count) {
        al_str_adds(&result->text, "It did not continue: in conflict are still ");
        r = al_outcome_add_conflicts(call, &left, &result->text, err);
        al_str_adds(&result->text, ".\n");
        return r;
    }
    if (r == 0 && check_unstaged(call, &why) < 0) {
        al_str_addf(&result->text, "It did not continue: %s. %s\n", why.message, why.remedy);
        return 0;
    }
    if (r == 0)
        r = authorize_continue(call, err);
    return r < 0 ? r : go_on(call, result, err);
}

static int give_up(struct al_call *call, struct al_result *result, struct al_error *err)
{
    enum al_operation_state aborted = AL_IN_PROGRESS_NONE;
    bool begun_here = is_begun_here(call);
    al_auto(al_strv_clear) struct al_strv meanwhile = AL_STRV_INIT;
    al_auto(al_freep) char *merged = al_operation_oid(al_call_repo(call), "MERGE_HEAD");
    al_auto(al_freep) char *at = merged ? al_take(&merged) : stopped_commit(al_call_repo(call));
    int r;

    (void)al_git_changed_meanwhile(al_call_repo(call), *at ? at : NULL, &meanwhile, NULL);
    r = al_git_abort(al_call_repo(call), &aborted, err);
    if (err && (r == AL_ERR_TIMEOUT || r == AL_ERR_CANCELLED))
        err->remedy = "It may be aborted in part; git_undo restores what was before.";
    if (r == 0)
        al_str_addf(&result->text, "Aborted the %s%s.\n", al_operation_state_noun(aborted),
                    begun_here ? "" : ", which this session had not begun");
    if (r == 0)
        al_outcome_add_gone(call, &meanwhile,
                            "Changes made meanwhile are gone with it: ", &result->text);
    return r < 0 ? r : bring_back(call, result, err);
}

AL_WHEN(resolves, struct al_conflicts_args, args->action == AL_CONFLICTS_RESOLVE && !args->goes_on)
AL_WHEN(resolves_and_goes_on, struct al_conflicts_args, args->goes_on)

#define WRITES (AL_WRITES_INDEX | AL_WRITES_WORKTREE | AL_WRITES_REFS)

static const struct al_operation operations[] = {
    { "show", NULL, AL_READS, show, AL_ASKS_NEVER },
    { "resolve", resolves, AL_WRITES_INDEX | AL_WRITES_WORKTREE | AL_DISCARDS_WORK, resolve,
      AL_ASKS_UNLESS_SAVED },
    { "continue", NULL, WRITES, go_on, AL_ASKS_UNLESS_SAVED },
    { "resolve_and_continue", resolves_and_goes_on, WRITES | AL_DISCARDS_WORK, resolve_and_go_on,
      AL_ASKS_UNLESS_SAVED },
    { "skip", NULL, WRITES | AL_DISCARDS_WORK, go_on, AL_ASKS_UNLESS_SAVED },
    { "abort", NULL, WRITES | AL_DISCARDS_WORK, give_up, AL_ASKS_UNLESS_SAVED },
};

static const char of_others[] = "for an operation that another session has begun";

static const struct al_stricter stricter[] = {
    { "continue", is_of_others, of_others, 0 },
    { "resolve_and_continue", is_of_others, of_others, 0 },
    { "skip", is_of_others, of_others, 0 },
    { "abort", is_of_others, of_others, 0 },
};

const struct al_tool al_tool_everyday_conflicts = {
    .name = "git_conflicts",
    .title = "Conflicts",
    .about =
        "Show conflicts hunk by hunk, resolve them, then continue, skip or abort what stopped.",
    AL_TOOL_ROWS(params, operations),
    AL_EVERYDAY_TOOL(struct al_conflicts_args),
    AL_TOOL_STRICTER(stricter),
    .moves_branch = true,
    .check = check,
    .authorize = authorize,
    .affected_files = affected_files,
    .preview = preview,
    .summary = "[action=show?Show conflicts][action=continue?Continue what is in progress]"
               "[action=abort?Abort what is in progress]"
               "[action=skip?Leave out the commit that stopped, and continue]"
               "[action=resolve?Resolve [path?the conflict in {path}][!path?[paths?{paths}]"
               "[!paths?[take?all conflicts that are left][!take?conflicts]]]"
               "[take? with {take}][hunks?, {#hunks hunk}][content? with new content]"
               "[continue?, and continue]]",
};
