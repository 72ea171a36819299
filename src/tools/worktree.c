// SPDX-License-Identifier: Apache-2.0
/* git_worktree: list, add, remove, lock and unlock linked worktrees. */
#include <fcntl.h>
#include <inttypes.h>

#include "git/plumbing/revision.h"
#include "history/worktree.h"
#include "tools/private.h"
#include "verbs/worktree/add.h"
#include "verbs/worktree/list.h"

/* git_worktree, action list: the worktrees of the repository, who is in them and what is in them.
 */

#define SHORT_OID 8

/* The parts of a list. */
struct view {
    struct al_call *call;
    struct al_worktree_place place;
    struct al_worktrees worktrees;
    char *default_branch; /* full name; NULL: none */
    char **last_calls;    /* one for each; NULL: there is none */
};

static void view_clear(struct view *view)
{
    for (size_t i = 0; view->last_calls && i < view->worktrees.count; i++)
        free(view->last_calls[i]);
    free(view->last_calls);
    free(view->default_branch);
    al_worktrees_clear(&view->worktrees);
    al_worktree_place_clear(&view->place);
}

static void add_count(struct al_str *out, size_t count, const char *what, bool *ret_any)
{
    if (!count)
        return;
    al_str_addf(out, "%s%zu %s", *ret_any ? ", " : "; ", count, what);
    *ret_any = true;
}

static void add_counts(const struct al_worktree_entry *entry, struct al_str *out)
{
    const struct al_worktree_counts *counts = &entry->counts;
    bool any = false;

    if (entry->is_bare)
        return;
    if (entry->is_gone)
        al_str_adds(out, "; its files are gone");
    else if (!counts->known)
        al_str_adds(out, "; cannot be looked at");
    add_count(out, counts->conflicts, counts->conflicts == 1 ? "conflict" : "conflicts", &any);
    add_count(out, counts->staged, "staged", &any);
    add_count(out, counts->modified, "modified", &any);
    add_count(out, counts->untracked, "untracked", &any);
    if (counts->known && !any)
        al_str_adds(out, "; clean");
}

static void add_branch(const struct view *view, const struct al_worktree_entry *entry,
                       struct al_str *out)
{
    const char *base = view->default_branch ? view->default_branch + strlen("refs/heads/") : NULL;
    al_auto(al_freep) char *safe_base = base ? al_text_sanitize_line(base) : NULL;
    al_auto(al_freep) char *branch = entry->branch ? al_text_sanitize_line(entry->branch) : NULL;

    al_str_addf(out, "  %s", entry->is_bare ? "bare" : branch ? branch : "detached");
    if (entry->head)
        al_str_addf(out, " %.*s", SHORT_OID, entry->head);
    else if (!entry->is_bare)
        al_str_adds(out, " without commits");
    if (!entry->is_compared || !(entry->ahead + entry->behind))
        return;
    al_str_adds(out, ", ");
    if (entry->ahead)
        al_str_addf(out, "%zu ahead%s", entry->ahead, entry->behind ? " and " : " of");
    if (entry->behind)
        al_str_addf(out, "%zu behind", entry->behind);
    al_str_addf(out, " %s", safe_base);
}

static void add_people(const struct view *view, size_t i, const char *name, struct al_str *out)
{
    const struct al_location *at = &al_call_repo(view->call)->at;
    const struct al_worktree_entry *entry = &view->worktrees.items[i];
    al_auto(al_worktree_record_clear) struct al_worktree_record record = AL_WORKTREE_RECORD_INIT;
    al_auto(al_closep) int fd = open(entry->path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    al_auto(al_freep) char *tree = al_fs_dir_id(fd);

    if (entry->locked) {
        al_auto(al_freep) char *reason = al_text_join_lines(entry->locked);

        al_str_addf(out, "; locked%s%s", *reason ? ": " : "", reason);
    }
    /* Somebody may have made another one since airlock made one of this name. */
    if (name && al_worktree_record_read(at->git, at->common_dir, name, &record) == 0 &&
        record.agent && tree && record.tree && !strcmp(tree, record.tree))
        al_place_addf(out, "; made by agent %s", record.agent);
    if (view->last_calls[i])
        al_str_addf(out, "; last call: %s", view->last_calls[i]);
}

static void add_tree_line(const struct view *view, size_t i, struct al_str *out)
{
    const struct al_worktree_entry *entry = &view->worktrees.items[i];
    const struct al_location *at = &al_call_repo(view->call)->at;
    const char *below = al_fs_beneath(view->place.dir, entry->path);
    /* Worktrees that airlock made have a name; others have a path only. */
    const char *name = below && *below && !strchr(below, '/') ? below : NULL;

    al_place_addf(out, "%s%s  %s",
                  name     ? name
                  : i == 0 ? "(main)"
                           : "(elsewhere)",
                  !strcmp(entry->path, at->top) ? " (this one)" : "", entry->path);
    add_branch(view, entry, out);
    add_counts(entry, out);
    add_people(view, i, name, out);
    al_str_addc(out, '\n');
}

/* Lines are left out as a whole. */
static void add_lines(const struct view *view, struct al_result *result)
{
    const size_t max_bytes = al_call_max_bytes(view->call), count = view->worktrees.count;

    al_str_addf(&result->text, "%zu worktree%s\n", count, count == 1 ? "" : "s");
    for (size_t i = 0; i < count; i++) {
        al_auto(al_str_clear) struct al_str line = AL_STR_INIT;

        add_tree_line(view, i, &line);
        if (result->text.len + line.len > max_bytes) {
            result->truncated = true;
            break;
        }
        al_str_add(&result->text, line.buf, line.len);
    }
    al_str_trim_end(&result->text);
}

static int list(struct al_call *call, struct al_result *result, struct al_error *err)
{
    al_auto(view_clear) struct view view = { .call = call, .place = AL_WORKTREE_PLACE_INIT };
    const struct al_repo *repo = al_call_repo(call);
    al_auto(al_freep) const char **tops = NULL;
    int r = al_worktree_place_find(repo, false, &view.place, err);

    if (r == 0)
        r = al_worktree_list(repo, &view.worktrees, err);
    tops = al_calloc(view.worktrees.count + 1, sizeof(*tops));
    view.default_branch = al_git_default_branch(repo);
    for (size_t i = 0; r == 0 && i < view.worktrees.count; i++) {
        tops[i] = view.worktrees.items[i].path;
        r = al_worktree_look(repo, view.default_branch, &view.worktrees.items[i], err);
    }
    if (r < 0)
        return r;
    view.last_calls = al_calloc(view.worktrees.count + 1, sizeof(*view.last_calls));
    al_call_last_in(call, tops, view.worktrees.count, view.last_calls);
    add_lines(&view, result);
    return 0;
}

#define NAMES_BYTES 1000u /* of one line */

int al_worktree_add_loss(struct al_call *call, const char *top, struct al_str *out,
                         struct al_error *err)
{
    static const struct {
        enum al_worktree_files files;
        const char *kind;
    } kinds[] = {
        { AL_WORKTREE_CHANGED, "changed" },
        { AL_WORKTREE_STAGED, "staged" },
        { AL_WORKTREE_UNTRACKED, "untracked" },
        { AL_WORKTREE_IGNORED, "ignored" },
    };
    int r = 0;

    for (size_t i = 0; r == 0 && i < AL_COUNT(kinds); i++) {
        al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT, safe = AL_STRV_INIT;
        al_auto(al_freep) char *title = NULL;

        r = al_worktree_list_files(al_call_repo(call), top, kinds[i].files, &names, err);
        for (size_t k = 0; r == 0 && k < names.count; k++)
            al_strv_take(&safe, al_text_sanitize_line(names.items[k]));
        title = al_asprintf("  %s%s: ", kinds[i].kind,
                            safe.count >= AL_WORKTREE_IGNORED_MAX ? ", at least" : "");
        al_outcome_add_list(title, &safe, NAMES_BYTES, out);
    }
    return r;
}

#define NAME_MAX_BYTES   64
#define REASON_MAX_BYTES 1024
#define MISSING_SHOWN    20

enum action { LIST, ADD, REMOVE, LOCK, UNLOCK };

struct worktree_args {
    int action; /* enum action */
    const char *name, *branch, *from, *reason;
    bool create;
    const char *working_dir;
};

static const struct al_choice actions[] = {
    { "list", LIST }, { "add", ADD },       { "remove", REMOVE },
    { "lock", LOCK }, { "unlock", UNLOCK }, { NULL, 0 },
};

static const struct al_param params[] = {
    AL_CHOICE(struct worktree_args, action, NULL, .choices = actions, .default_int = LIST),
    AL_STRING(struct worktree_args, name, "One path component.", .flags = AL_PARAM_NAME,
              .max_bytes = NAME_MAX_BYTES, .check = al_worktree_check_name,
              .actions = "add remove lock unlock"),
    AL_STRING(struct worktree_args, branch,
              "With add: the branch; default: a new one of this name.", .flags = AL_PARAM_BRANCH,
              .check = al_arg_check_branch, .actions = "add"),
    AL_BOOL(struct worktree_args, create, "With add: make the branch.", .actions = "add"),
    AL_STRING(struct worktree_args, from, "Where the new branch begins; default: HEAD.",
              .flags = AL_PARAM_NAME, .check = al_arg_check_revision, .actions = "add"),
    AL_STRING(struct worktree_args, reason, "Lock it, and why.", .max_bytes = REASON_MAX_BYTES,
              .actions = "add lock"),
    AL_WORKING_DIR_ROW(struct worktree_args),
};

static int check(void *p, struct al_error *err)
{
    struct worktree_args *args = p;
    int r = 0;

    if (args->action == LIST)
        return 0;
    if (!args->name)
        return al_error_set(err, AL_ERR_BAD_ARGS, "name: required with action %s",
                            actions[args->action].name);
    if (args->action == ADD && !args->branch)
        r = al_arg_check_branch("name", args->name, err);
    if (r == 0 && args->from && args->branch && !args->create)
        r = al_error_set(err, AL_ERR_BAD_ARGS,
                         "from: needs create, since branch names one that "
                         "exists");
    if (r == 0 && args->reason && strpbrk(args->reason, "\r\n"))
        r = al_error_set(err, AL_ERR_BAD_ARGS, "reason: must be one line");
    if (args->action == ADD && !args->branch) { /* rules see the branch that will be made */
        args->branch = args->name;
        args->create = true;
    }
    return r;
}

#define LOSS "loss" /* a resolved value: what a removal takes along, as the question has it */

/* The worktree that an action other than add is about. */
static int find(struct al_call *call, const char *name, struct al_worktree_place *place,
                struct al_worktree_found *found, struct al_error *err)
{
    const struct al_repo *repo = al_call_repo(call);
    int r = al_worktree_place_find(repo, false, place, err);

    return r < 0 ? r : al_worktree_find(repo, place, name, found, err);
}

/* A loss that cannot be told keeps nobody from removing it. */
static int resolve_loss(struct al_call *call, const char *name, struct al_error *err)
{
    al_auto(al_worktree_place_clear) struct al_worktree_place place = AL_WORKTREE_PLACE_INIT;
    al_auto(al_worktree_found_clear) struct al_worktree_found found = AL_WORKTREE_FOUND_INIT;
    al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;
    al_auto(al_str_clear) struct al_str loss = AL_STR_INIT;
    int r = al_call_is_saved(call) ? 0 : find(call, name, &place, &found, &why);

    if (r == 0 && found.is_whole)
        r = al_worktree_add_loss(call, found.top, &loss, &why);
    if (r == AL_ERR_TIMEOUT || r == AL_ERR_CANCELLED)
        return al_error_set(err, (enum al_status)r, "%s", why.message);
    if (r < 0)
        al_str_adds(&loss, "  what it has cannot be told\n");
    al_call_resolve(call, LOSS, loss.buf);
    return 0;
}

static int resolve(struct al_call *call, struct al_error *err)
{
    const struct worktree_args *args = al_call_args(call);

    if (args->action == REMOVE)
        return resolve_loss(call, args->name, err);
    return args->action == ADD && args->create ? al_resolve_commit(call, args->from, err) : 0;
}

static struct al_worktree_add_options add_options(const struct al_call *call,
                                                  const struct worktree_args *args)
{
    return (struct al_worktree_add_options){
        .name = args->name,
        .branch = args->branch,
        .start = al_call_resolved(call, AL_RESOLVED_COMMIT),
        .locks = args->reason,
        .reason = args->reason && *args->reason ? args->reason : NULL,
        .agent = al_call_agent(call),
    };
}

static int check_remove(struct al_call *call, const char *name,
                        const struct al_worktree_place *place,
                        const struct al_worktree_found *found, struct al_error *err)
{
    al_auto(al_freep) char *running = al_call_running_in(call, found->top);
    const bool is_lost = found->is_whole && !al_call_is_saved(call);
    al_auto(al_freep) char *modules = is_lost ? al_fs_join(found->git_dir, "modules") : NULL;
    struct stat st;
    int r = al_worktree_check_removable(place, found, name, err);

    if (r < 0)
        return r;
    if (!strcmp(found->top, al_call_repo(call)->at.top))
        return al_error_set(err, AL_ERR_EXECUTION,
                            "This call runs in the worktree '%s'; remove it from another one",
                            name);
    if (running)
        return al_error_set(err, AL_ERR_EXECUTION,
                            "A call runs in the worktree '%s': %s; try again when it has ended",
                            name, running);
    if (!modules || lstat(modules, &st) < 0)
        return 0;
    /* The advice is git's, which asks for --force. */
    return al_failure_set(err, "A user can remove it with 'git worktree remove --force'.",
                          "The worktree '%s' has repositories of submodules, and without "
                          "checkpoints they would be gone for good",
                          name);
}

static int authorize_add(struct al_call *call, const struct worktree_args *args,
                         struct al_error *err)
{
    al_auto(al_worktree_place_clear) struct al_worktree_place place = AL_WORKTREE_PLACE_INIT;
    const struct al_worktree_add_options options = add_options(call, args);
    al_auto(al_freep) char *top = NULL;
    int r = al_worktree_place_find(al_call_repo(call), false, &place, err);

    if (r < 0)
        return r;
    top = al_fs_join(place.dir, args->name);
    r = al_grant_check_tree(al_call_session(call)->grant, top, true, err);
    /* Leftovers of a killed airlock go under the lock, and everything is checked there again. */
    return r < 0 || al_worktree_discard_unfinished(al_call_repo(call), NULL)
               ? r
               : al_worktree_check_add(al_call_repo(call), &place, &options, err);
}

static int authorize(struct al_call *call, struct al_error *err)
{
    const struct worktree_args *args = al_call_args(call);
    al_auto(al_worktree_place_clear) struct al_worktree_place place = AL_WORKTREE_PLACE_INIT;
    al_auto(al_worktree_found_clear) struct al_worktree_found found = AL_WORKTREE_FOUND_INIT;
    int r;

    if (args->action == LIST)
        return 0;
    al_call_plan(call)->worktree = args->name;
    al_call_plan(call)->only_locks = args->action == LOCK || args->action == UNLOCK;
    al_worktree_tidy(al_call_repo(call), true, NULL);
    if (args->action == ADD)
        return authorize_add(call, args, err);
    r = find(call, args->name, &place, &found, err);
    if (r == 0)
        r = al_grant_check_tree(al_call_session(call)->grant, found.top, true, err);
    if (r == 0 && args->action == REMOVE)
        return check_remove(call, args->name, &place, &found, err);
    return r < 0 || found.id ? r : al_worktree_check_removable(&place, &found, args->name, err);
}

static void add_copies(const struct al_worktree_copies *copies, struct al_str *out)
{
    if (copies->bytes > AL_WORKTREE_COPIES_MAX_BYTES)
        al_str_addf(out,
                    "\nThe files that .worktreeinclude names have %" PRIu64
                    " bytes, more than 100 MB: none was copied.",
                    copies->bytes);
    else if (copies->copied)
        al_str_addf(out, "\nCopied %zu ignored file%s that .worktreeinclude names.", copies->copied,
                    copies->copied == 1 ? "" : "s");
    if (copies->links)
        al_str_addf(out, "\n%zu link%s not copied.", copies->links,
                    copies->links == 1 ? " was" : "s were");
}

/* Those that are not there are named: a build in the worktree would miss them. */
static void add_submodules(const struct al_worktree_submodules_made *made, struct al_str *out)
{
    if (made->count)
        al_str_addf(out, "\nMade %zu submodule%s from what is here.", made->count,
                    made->count == 1 ? "" : "s");
    if (made->missing.count)
        al_str_adds(out, "\nNot made, since airlock follows no address for it:");
    for (size_t i = 0; i < made->missing.count && i < MISSING_SHOWN; i++)
        al_str_addf(out, "\n  %s", made->missing.items[i]);
    if (made->missing.count > MISSING_SHOWN)
        al_str_addf(out, "\n  and %zu more", made->missing.count - MISSING_SHOWN);
}

static int add(struct al_call *call, struct al_result *result, struct al_error *err)
{
    const struct worktree_args *args = al_call_args(call);
    const struct al_worktree_add_options options = add_options(call, args);
    al_auto(al_worktree_added_clear) struct al_worktree_added added = { .top = NULL };
    int r = al_worktree_add(al_call_repo(call), &options, &added, err);

    if (r < 0)
        return r;
    al_place_addf(&result->text, "Made the worktree '%s' at %s, on the %sbranch '%s'%s%.8s.%s",
                  args->name, added.top, options.start ? "new " : "", args->branch,
                  options.start ? " at " : "", options.start ? options.start : "",
                  options.locks ? " It is locked." : "");
    add_submodules(&added.submodules, &result->text);
    add_copies(&added.copies, &result->text);
    al_str_addc(&result->text, '\n');
    return 0;
}

static int remove_worktree(struct al_call *call, struct al_result *result, struct al_error *err)
{
    const struct worktree_args *args = al_call_args(call);
    al_auto(al_worktree_place_clear) struct al_worktree_place place = AL_WORKTREE_PLACE_INIT;
    al_auto(al_worktree_found_clear) struct al_worktree_found found = AL_WORKTREE_FOUND_INIT;
    const bool saved = al_call_is_saved(call);
    int r = find(call, args->name, &place, &found, err);

    if (r == 0)
        r = check_remove(call, args->name, &place, &found, err);
    if (r == 0)
        r = al_worktree_put_aside(al_call_repo(call), &place, &found, args->name, saved, err);
    if (r < 0)
        return r;
    al_str_addf(&result->text, "Removed the worktree '%s'. Its branch stays.%s", args->name,
                saved ? " git_undo, or a user with 'airlock rollback', brings it back whole, "
                        "ignored files included."
                      : " What was not committed is gone for good: there is no checkpoint.");
    al_str_addc(&result->text, '\n');
    return 0;
}

static int set_lock(struct al_call *call, struct al_result *result, struct al_error *err)
{
    const struct worktree_args *args = al_call_args(call);
    al_auto(al_worktree_place_clear) struct al_worktree_place place = AL_WORKTREE_PLACE_INIT;
    al_auto(al_worktree_found_clear) struct al_worktree_found found = AL_WORKTREE_FOUND_INIT;
    bool locks = args->action == LOCK;
    int r = find(call, args->name, &place, &found, err);

    if (r == 0 && !found.id)
        r = al_worktree_check_removable(&place, &found, args->name, err);
    if (r == 0)
        r = al_worktree_set_lock(al_call_repo(call), &found, args->name, locks, args->reason, err);
    if (r == 0)
        al_str_addf(&result->text, "%s the worktree '%s'.\n", locks ? "Locked" : "Unlocked",
                    args->name);
    return r;
}

static const struct al_operation operations[] = {
    { "list", NULL, AL_READS, list, AL_ASKS_NEVER },
    { "add", NULL, AL_WRITES_REFS, add, AL_ASKS_NEVER },
    { "lock", NULL, AL_WRITES_REFS, set_lock, AL_ASKS_NEVER },
    { "unlock", NULL, AL_WRITES_REFS, set_lock, AL_ASKS_UNLESS_SAVED },
    { "remove", NULL, AL_WRITES_REFS | AL_DISCARDS_WORK, remove_worktree, AL_ASKS_UNLESS_SAVED },
};

static int preview(struct al_call *call, struct al_str *out, struct al_error *err)
{
    const char *loss = al_call_resolved(call, LOSS);

    (void)err;
    if (loss && *loss)
        al_str_addf(out, "Gone for good, since there is no checkpoint:\n%s", loss);
    return 0;
}

const struct al_tool al_tool_git_worktree = {
    .name = "git_worktree",
    .title = "Worktrees",
    .about = "Linked worktrees, one for each agent: list, add, remove (airlock rollback brings it "
             "back whole), lock or unlock.",
    AL_TOOL_ROWS(params, operations),
    AL_EVERYDAY_TOOL(struct worktree_args),
    .check = check,
    .resolve = resolve,
    .authorize = authorize,
    .preview = preview,
    .moves = AL_MOVES_NAMED, /* only the branch that an add makes */
    .summary =
        "[action=list?List worktrees][action=add?Make][action=remove?Remove][action=lock?Lock]"
        "[action=unlock?Unlock][!action=list? the worktree {name}]"
        "[action=add? on the [create?new ]branch {branch}][from? from {from}]",
};
