// SPDX-License-Identifier: Apache-2.0
/* git_branch: list branches, create, rename or delete them. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "answer/answer.h"
#include "answer/place.h"
#include "gitops/command.h"
#include "gitops/git_lock.h"
#include "gitops/plumbing/heads.h"
#include "gitops/plumbing/revision.h"
#include "gitops/porcelain/branch.h"
#include "gitops/reading/read_refs.h"
#include "gitops/refs.h"
#include "gitops/run.h"
#include "guard/arg.h"
#include "tool/call.h"
#include "tool/resolved.h"
#include "toolsets/everyday/everyday.h"
#include "toolsets/everyday/outcome.h"
#include "toolsets/everyday/status_facts.h"
#include "util/error.h"
#include "util/str.h"

/* Branches whose problem is told. */
#define TOLD_MAX 10

struct problems {
    struct al_str message; /* "'a' is the current branch; there is no branch 'b'" */
    const char *remedy;    /* NULL: there are different ones */
    size_t count;
};

static void problems_clear(struct problems *problems)
{
    al_str_clear(&problems->message);
}

/* A branch of which `message` is true cannot go. */
al_printf(3, 4) static void tell(struct problems *problems, const char *remedy, const char *fmt,
                                 ...)
{
    va_list args;

    if (problems->count++ >= TOLD_MAX)
        return;
    if (problems->count == 1)
        problems->remedy = remedy;
    else if (problems->remedy && strcmp(problems->remedy, remedy) != 0)
        problems->remedy = NULL;
    if (problems->message.len)
        al_str_adds(&problems->message, "; ");
    va_start(args, fmt);
    al_str_addv(&problems->message, fmt, args);
    va_end(args);
}

static const char *force_remedy(const struct al_call *call)
{
    return al_call_session(call)->checkpoints
               ? "With force it goes all the same; git_undo brings it back."
               : "With force it goes all the same, and nothing brings it back.";
}

static const char *short_name(const char *ref)
{
    static const char *const prefixes[] = { "refs/heads/", "refs/remotes/" };

    for (size_t i = 0; i < AL_COUNT(prefixes); i++)
        if (al_starts_with(ref, prefixes[i]))
            return ref + strlen(prefixes[i]);
    return ref;
}

/* git deletes a branch that its upstream has, or, if it has none, HEAD. */
static int look_at_commits(struct al_call *call, const char *name, const struct al_strv *current,
                           struct problems *problems, struct al_error *err)
{
    al_auto(al_branch_unmerged_clear) struct al_branch_unmerged unmerged = { .ahead = 0 };
    const char *here = current->count ? current->items[0] : "HEAD";
    const char *target;
    int r = al_git_branch_unmerged(al_call_repo(call), name, al_call_budget(call), &unmerged, err);

    if (r < 0 || !unmerged.ahead)
        return r;
    target = strcmp(unmerged.target, "HEAD") != 0 ? short_name(unmerged.target) : here;
    if (unmerged.is_in_head)
        tell(problems, force_remedy(call), "'%s' is merged into %s, but %" PRIu64 " ahead of %s",
             name, here, unmerged.ahead, target);
    else
        tell(problems, force_remedy(call),
             "'%s' is not merged: %" PRIu64 " of its commits %s not in %s", name, unmerged.ahead,
             unmerged.ahead == 1 ? "is" : "are", target);
    return 0;
}

static int look_at(struct al_call *call, const char *name, bool force, struct problems *problems,
                   struct al_error *err)
{
    const struct al_repo *repo = al_call_repo(call);
    al_auto(al_freep) char *ref = al_asprintf("refs/heads/%s", name);
    al_auto(al_strv_clear) struct al_strv current = AL_STRV_INIT;
    bool elsewhere = false;
    int r;

    al_ref_head_branches(&repo->at, &current);
    if (!al_ref_exists(&repo->at, ref)) {
        tell(problems, "git_branch lists the branches there are.", "There is no branch '%s'", name);
        return 0;
    }
    if (al_strv_contains(&current, name)) {
        tell(problems, "git_switch to another branch first.", "'%s' is the current branch", name);
        return 0;
    }
    r = al_git_is_checked_out_elsewhere(repo, ref, al_call_budget(call), &elsewhere, err);
    if (r == 0 && elsewhere)
        tell(problems, "git_status shows the working trees; it can go when none has it.",
             "'%s' is checked out in another working tree", name);
    else if (r == 0 && !force)
        r = look_at_commits(call, name, &current, problems, err);
    return r;
}

/* Check that git would delete these branches, before the first one goes. */
static int branch_delete_check(struct al_call *call, const struct al_strv *names, bool force,
                               struct al_error *err)
{
    al_auto(problems_clear) struct problems problems = { .message = AL_STR_INIT };
    int r = 0;

    for (size_t i = 0; i < names->count && r == 0; i++)
        r = look_at(call, names->items[i], force, &problems, err);
    if (r < 0 || !problems.count)
        return r;
    if (problems.count > TOLD_MAX)
        al_str_addf(&problems.message, "; and %zu more", problems.count - TOLD_MAX);
    return al_failure_set(err,
                          problems.remedy ? problems.remedy
                                          : "Nothing was deleted; git_branch lists the branches.",
                          "%s", problems.message.buf);
}

/* More branches are only counted. */
#define LISTED_MAX 200

/* A listing while it is written. */
struct showing {
    const struct al_repo *repo;
    struct al_str text;
    struct al_strv merged; /* names merged into the default branch */
    const char *base;      /* the default branch; NULL: none */
    size_t listed, left;
    bool in_remotes;
};

static bool take_merged(void *payload, const struct al_listed_ref *ref)
{
    struct showing *showing = payload;

    al_strv_add(&showing->merged, ref->name);
    return true;
}

static void add_facts(const struct showing *showing, const struct al_listed_ref *ref,
                      struct al_str *out)
{
    if (*ref->upstream) {
        al_str_adds(out, *ref->track ? ", " : ", even with ");
        if (*ref->track) {
            al_str_adds(out, ref->track);
            al_str_adds(out, " of ");
        }
        al_place_add_name(ref->upstream, out);
    }
    if (!ref->is_remote && showing->base && strcmp(ref->name, showing->base) != 0)
        al_str_addf(out, ", %s",
                    al_strv_contains(&showing->merged, ref->name) ? "merged" : "not merged");
    if (*ref->worktree && !ref->is_current) {
        al_str_adds(out, ", in ");
        al_place_add_name(ref->worktree, out);
    }
}

/* "* main a1b2c3d 2026-02-07 subject (ahead 3 of origin/main)" */
static bool take_branch(void *payload, const struct al_listed_ref *ref)
{
    struct showing *showing = payload;
    struct al_str *out = &showing->text;
    al_auto(al_str_clear) struct al_str facts = AL_STR_INIT;

    if (showing->listed++ >= LISTED_MAX) {
        showing->left++;
        return true;
    }
    if (ref->is_remote && !showing->in_remotes) {
        showing->in_remotes = true;
        al_str_adds(out, "remote-tracking:\n");
    }
    al_str_adds(out, ref->is_current ? "* " : "  ");
    al_place_add_name(ref->name, out);
    al_str_addf(out, " %s %s  ", ref->hash, ref->date);
    al_place_add_name(ref->subject, out);
    add_facts(showing, ref, &facts);
    if (facts.len)
        al_str_addf(out, " (%s)", facts.buf + strlen(", "));
    al_str_addc(out, '\n');
    return true;
}

static int show_all(struct al_call *call, const struct al_refs_query *query,
                    struct showing *showing, struct al_error *err)
{
    const struct al_refs_query merged = { .merged_into = showing->base };
    int r = 0;

    if (showing->base)
        r = al_git_read_refs(showing->repo, &merged, take_merged, showing, al_call_budget(call),
                             err);
    if (r == 0)
        r = al_git_read_refs(showing->repo, query, take_branch, showing, al_call_budget(call), err);
    return r;
}

/* The default branch, if it is a local one with commits. */
static char *merge_base_branch(const struct al_repo *repo)
{
    al_auto(al_freep) char *branch = al_default_branch(repo);
    al_auto(al_freep) char *ref = branch ? al_asprintf("refs/heads/%s", branch) : NULL;

    return ref && al_ref_exists(&repo->at, ref) ? al_take(&branch) : NULL;
}

/* Who names a branch that is not there may want to make it. */
static void tell_none(const struct al_refs_query *query, struct al_str *text)
{
    const bool is_name = query->pattern && !strpbrk(query->pattern, "*?[\\");
    al_auto(al_freep) char *safe = is_name ? al_text_sanitize_line(query->pattern) : NULL;

    if (is_name && !query->contains && !query->merged_into)
        al_str_addf(text, "No branch is called '%s'; action create makes one.\n", safe);
    else
        al_str_adds(text, "No branches match.\n");
}

/* List branches: with upstream, ahead and behind, last commit, whether they are merged into the
 * default branch, and which working tree has them. */
static int list_branches(struct al_call *call, const struct al_refs_query *query,
                         struct al_result *result, struct al_error *err)
{
    struct showing showing = { .repo = al_call_repo(call), .text = AL_STR_INIT };
    al_auto(al_freep) char *base = merge_base_branch(showing.repo);
    int r;

    showing.base = base;
    r = show_all(call, query, &showing, err);
    if (r == 0) {
        if (!showing.listed)
            tell_none(query, &showing.text);
        if (showing.left) {
            al_str_adds(&showing.text, "-- ");
            al_answer_add_count(showing.left, &showing.text);
            al_str_adds(&showing.text, " more, older ones: name takes a glob\n");
        }
        al_answer_text(&showing.text, result);
    }
    al_str_clear(&showing.text);
    al_strv_clear(&showing.merged);
    return r;
}

#define OUTPUT_BYTES (64u * 1024u)

enum action { LIST, CREATE, RENAME, DELETE };

struct branch_args {
    int action; /* enum action */
    const char *name, *new_name, *from, *merged_into, *contains;
    struct al_strv names;
    bool force;
    AL_EVERYDAY_FIELDS;
};

static const struct al_choice actions[] = {
    { "list", LIST }, { "create", CREATE }, { "rename", RENAME }, { "delete", DELETE }, { NULL, 0 },
};

#define REVISION_ROW(field, about)                                                                 \
    AL_STRING(struct branch_args, field, about, .flags = AL_PARAM_NAME | AL_PARAM_NO_DESCRIPTION,  \
              .max_bytes = AL_EVERYDAY_REF_MAX_BYTES)

static const struct al_param params[] = {
    AL_CHOICE(struct branch_args, action, "What to do.", .choices = actions, .default_int = LIST,
              .flags = AL_PARAM_NO_DESCRIPTION),
    AL_STRING(struct branch_args, name, "A glob for list.",
              .flags = AL_PARAM_BRANCH | AL_PARAM_DELETED_BRANCH,
              .max_bytes = AL_EVERYDAY_REF_MAX_BYTES),
    AL_STRINGS(struct branch_args, names, "Several to delete.",
               .flags = AL_PARAM_BRANCH | AL_PARAM_DELETED_BRANCH, .max = AL_EVERYDAY_PATHS_MAX,
               .max_bytes = AL_EVERYDAY_REF_MAX_BYTES),
    AL_STRING(struct branch_args, new_name, "For rename.",
              .flags = AL_PARAM_BRANCH | AL_PARAM_NO_DESCRIPTION,
              .max_bytes = AL_EVERYDAY_REF_MAX_BYTES),
    REVISION_ROW(from, "Where a created branch begins."),
    REVISION_ROW(merged_into, "List: only what this commit contains."),
    AL_BOOL(struct branch_args, force, "Delete what is not merged.", .flags = 0),
    REVISION_ROW(contains, "List: only what contains this commit."),
    AL_EVERYDAY_WORKING_DIR_ROW(struct branch_args),
};

static int action_of(const void *p)
{
    return ((const struct branch_args *)p)->action;
}

AL_WHEN(is_list, struct branch_args, args->action == LIST)
AL_WHEN(is_create, struct branch_args, args->action == CREATE)
AL_WHEN(is_rename, struct branch_args, args->action == RENAME)

static bool is_delete(const void *p)
{
    return action_of(p) == DELETE;
}

/* Refuse an argument that the action does not have. */
static int check_fits(const struct branch_args *args, struct al_error *err)
{
    const struct {
        bool given;
        const char *name;
        unsigned actions;
    } known[] = {
        { args->name != NULL, "name", 1u << LIST | 1u << CREATE | 1u << RENAME | 1u << DELETE },
        { args->names.count > 0, "names", 1u << DELETE },
        { args->new_name != NULL, "new_name", 1u << RENAME },
        { args->from != NULL, "from", 1u << CREATE },
        { args->merged_into != NULL, "merged_into", 1u << LIST },
        { args->contains != NULL, "contains", 1u << LIST },
        { args->force, "force", 1u << DELETE },
    };

    for (size_t i = 0; i < AL_COUNT(known); i++)
        if (known[i].given && !(known[i].actions & 1u << args->action))
            return al_failure_bad_args(err, "Leave it out, or give the action that has it.",
                                       "%s has no meaning for action %s", known[i].name,
                                       actions[args->action].name);
    return 0;
}

static int check_names(const struct branch_args *args, struct al_error *err)
{
    int r = 0;

    if (args->name && args->action == LIST)
        r = *args->name == '-' || !*args->name
                ? al_failure_bad_args(err, "Give a glob like feature/*.", "name is no glob")
                : 0;
    else if (args->name)
        r = al_arg_check_branch("name", args->name, err);
    for (size_t i = 0; i < args->names.count && r == 0; i++)
        r = al_arg_check_branch("names", args->names.items[i], err);
    if (r == 0 && args->new_name)
        r = al_arg_check_branch("new_name", args->new_name, err);
    if (r == 0 && args->from)
        r = al_arg_check_revision("from", args->from, err);
    if (r == 0 && args->merged_into)
        r = al_arg_check_revision("merged_into", args->merged_into, err);
    if (r == 0 && args->contains)
        r = al_arg_check_revision("contains", args->contains, err);
    return r;
}

static int check(const void *p, struct al_error *err)
{
    const struct branch_args *args = p;
    int r = check_fits(args, err);

    if (r < 0)
        return r;
    if (args->action == CREATE && !args->name)
        return al_failure_bad_args(err, "Give name.", "create needs the name of the branch");
    if (args->action == RENAME && !args->new_name)
        return al_failure_bad_args(err, "Give new_name, and name unless it is the current branch.",
                                   "rename needs new_name");
    if (args->action == DELETE && !args->name == !args->names.count)
        return al_failure_bad_args(err, "Give name for one branch, names for several.",
                                   "delete needs either name or names");
    return check_names(args, err);
}

/* The commit that a branch begins at is part of what is approved. */
static int resolve(struct al_call *call, const void *p, struct al_resolved *out,
                   struct al_error *err)
{
    const struct branch_args *args = p;
    al_auto(al_freep) char *oid = NULL;
    int r = args->action == CREATE
                ? al_git_resolve_commit(al_call_repo(call), args->from ? args->from : "HEAD",
                                        al_call_budget(call), &oid, err)
                : 0;

    if (r == 0 && oid)
        al_resolved_add(out, AL_RESOLVED_COMMIT, oid);
    return r;
}

static int list(struct al_call *call, const void *p, struct al_result *result, struct al_error *err)
{
    const struct branch_args *args = p;
    const struct al_refs_query query = { .remotes = true,
                                         .pattern = args->name,
                                         .merged_into = args->merged_into,
                                         .contains = args->contains };

    return list_branches(call, &query, result, err);
}

static int create(struct al_call *call, const void *p, struct al_result *result,
                  struct al_error *err)
{
    const struct branch_args *args = p;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    int r = al_git_branch_create_from(al_call_repo(call), args->name, args->from,
                                      al_call_resolved(call, AL_RESOLVED_COMMIT),
                                      al_call_budget(call), err);

    if (r < 0)
        return r;
    al_str_addf(&text, "Created branch %s; git_switch changes to it.\n", args->name);
    al_answer_done(call, &text, result);
    return 0;
}

/* The branch to rename: the current one unless it is named.  NULL: HEAD is on none. */
static char *renamed_branch(const struct al_call *call, const struct branch_args *args)
{
    al_auto(al_strv_clear) struct al_strv refs = AL_STRV_INIT;

    if (args->name)
        return al_strdup(args->name);
    al_ref_follow_head(&al_call_repo(call)->at, &refs);
    return refs.count && al_starts_with(refs.items[0], "refs/heads/")
               ? al_strdup(refs.items[0] + strlen("refs/heads/"))
               : NULL;
}

static int rename_branch(struct al_call *call, const void *p, struct al_result *result,
                         struct al_error *err)
{
    const struct branch_args *args = p;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    al_auto(al_freep) char *name = renamed_branch(call, args);
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    int r;

    if (!name)
        return al_failure_bad_args(err, "Give name.", "HEAD is on no branch");
    r = al_git_branch_rename(al_call_repo(call), name, args->new_name, OUTPUT_BYTES,
                             al_call_budget(call), &output, err);
    if (r < 0)
        return r;
    al_str_addf(&text, "Renamed branch %s to %s.\n", name, args->new_name);
    al_answer_done(call, &text, result);
    return 0;
}

/* The branches to delete. */
static void add_deleted(const struct branch_args *args, struct al_strv *out)
{
    if (args->name)
        al_strv_add(out, args->name);
    for (size_t i = 0; i < args->names.count; i++)
        al_strv_add(out, args->names.items[i]);
}

static int authorize(struct al_call *call, const void *p, struct al_error *err)
{
    const struct branch_args *args = p;
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;

    if (args->action != DELETE)
        return 0;
    add_deleted(args, &names);
    return branch_delete_check(call, &names, args->force, err);
}

static int delete_one(struct al_call *call, const char *name, bool force, struct al_str *text,
                      struct al_error *err)
{
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    al_auto(al_freep) char *ref = al_asprintf("refs/heads/%s", name);
    al_auto(al_freep) char *oid = al_ref_oid(&al_call_repo(call)->at, ref);
    int r = al_git_branch_delete(al_call_repo(call), name, force, OUTPUT_BYTES,
                                 al_call_budget(call), &output, err);

    if (r == 0)
        al_str_addf(text, "Deleted branch %s, was at %.8s.\n", name, oid);
    return r;
}

static int remove_branches(struct al_call *call, const void *p, struct al_result *result,
                           struct al_error *err)
{
    const struct branch_args *args = p;
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    int r = 0;

    add_deleted(args, &names);
    for (size_t i = 0; i < names.count && r == 0; i++)
        r = delete_one(call, names.items[i], args->force, &text, err);
    if (r < 0)
        return r;
    al_answer_done(call, &text, result);
    return 0;
}

static int affected_files(struct al_call *call, const void *p, struct al_strv *out,
                          struct al_error *err)
{
    const struct branch_args *args = p;

    (void)err;
    if (args->name && (args->action == DELETE || args->action == RENAME))
        al_git_branch_files(al_call_repo(call), args->name, out);
    for (size_t i = 0; i < args->names.count; i++)
        al_git_branch_files(al_call_repo(call), args->names.items[i], out);
    return 0;
}

static int show_created(struct al_call *call, const struct branch_args *args, struct al_str *out,
                        struct al_error *err)
{
    int r = al_git_branch_create_check(al_call_repo(call), args->name, err);

    if (r < 0)
        return r;
    al_str_adds(out, "At ");
    r = al_outcome_add_commit(call, al_call_resolved(call, AL_RESOLVED_COMMIT), out, err);
    al_str_addc(out, '\n');
    return r;
}

static int preview(struct al_call *call, const struct al_operation *op, const void *p,
                   struct al_str *out, struct al_error *err)
{
    const struct branch_args *args = p;
    al_auto(al_freep) char *renamed = NULL;
    int r = 0;

    (void)op;
    if (args->action == CREATE)
        return show_created(call, args, out, err);
    if (args->action == RENAME) {
        renamed = renamed_branch(call, args);
        return renamed
                   ? al_git_branch_rename_check(al_call_repo(call), renamed, args->new_name, err)
                   : 0;
    }
    if (args->name)
        r = al_git_branch_preview(al_call_repo(call), args->name, al_call_budget(call), out, err);
    for (size_t i = 0; i < args->names.count && r == 0; i++)
        r = al_git_branch_preview(al_call_repo(call), args->names.items[i], al_call_budget(call),
                                  out, err);
    return r;
}

static const struct al_operation operations[] = {
    { "list", is_list, AL_READS, list, AL_ASKS_NEVER },
    { "create", is_create, AL_WRITES_REFS | AL_WRITES_CONFIG, create, AL_ASKS_NEVER },
    { "rename", is_rename, AL_WRITES_REFS | AL_WRITES_CONFIG, rename_branch, AL_ASKS_UNLESS_SAVED },
    { "delete", NULL, AL_WRITES_REFS | AL_WRITES_CONFIG | AL_DISCARDS_WORK, remove_branches,
      AL_ASKS_UNLESS_SAVED },
};

/* A reference that goes may be packed, and its upstream is in the configuration. */
static unsigned git_locks(const struct al_operation *operation)
{
    return !strcmp(operation->name, "create") ? 0 : AL_LOCK_CONFIG | AL_LOCK_PACKED_REFS;
}

static void summarize(const struct al_operation *op, const void *p, struct al_str *out)
{
    const struct branch_args *args = p;

    (void)op;
    if (args->action == LIST)
        al_str_adds(out, "List branches");
    else if (args->action == CREATE)
        al_str_addf(out, "Create branch '%s'", args->name);
    else if (args->action == RENAME)
        al_str_addf(out, "Rename branch '%s' to '%s'", args->name ? args->name : "HEAD",
                    args->new_name);
    else if (args->name)
        al_str_addf(out, "Delete branch '%s'", args->name);
    else
        al_str_addf(out, "Delete %zu branches", args->names.count);
}

const struct al_tool al_tool_everyday_branch = {
    .name = "git_branch",
    .title = "Branches",
    .about = "List branches, or create, rename or delete some.",
    AL_TOOL_ROWS(params, operations),
    AL_EVERYDAY_TOOL(struct branch_args),
    .deletes_branch = is_delete,
    .check = check,
    .resolve = resolve,
    .authorize = authorize,
    .affected_files = affected_files,
    .preview = preview,
    .git_locks = git_locks,
    .summarize = summarize,
};
