// SPDX-License-Identifier: Apache-2.0
/* git_tag: list tags, create or delete one. */

#include "git/git_lock.h"
#include "git/reading/read_object.h"
#include "git/refs.h"
#include "tools/private.h"
#include "verbs/porcelain/branch.h"

enum action { LIST, CREATE, DELETE };

struct tag_args {
    int action; /* enum action */
    struct al_tag_options options;
    const char *pattern;
    const char *working_dir;
};

static const struct al_choice actions[] = {
    { "list", LIST },
    { "create", CREATE },
    { "delete", DELETE },
    { NULL, 0 },
};

static const struct al_param params[] = {
    AL_CHOICE(struct tag_args, action, NULL, .choices = actions, .default_int = LIST),
    AL_STRING_IN(struct tag_args, options, name, NULL,
                 .flags = AL_PARAM_NAME | AL_PARAM_DELETED_TAG),
    AL_STRING_IN(struct tag_args, options, rev, NULL, .flags = AL_PARAM_NAME,
                 .check = al_arg_check_revision, .actions = "create"),
    AL_STRING_IN(struct tag_args, options, message, "Makes it annotated.", .min_bytes = 1,
                 .actions = "create"),
    AL_STRING(struct tag_args, pattern, NULL, .min_bytes = 1, .max_bytes = AL_PARAM_NAME_MAX_BYTES,
              .actions = "list"),
    AL_WORKING_DIR_ROW(struct tag_args),
};

/* The rules for the name of a tag are those for a branch. */
static int check(void *p, struct al_error *err)
{
    const struct tag_args *args = p;
    if (args->options.name && args->action == LIST)
        return al_failure_bad_args(err,
                                   "Give action create to make the tag, delete to remove it; "
                                   "pattern is what list takes.",
                                   "name has no meaning for action list");
    if (args->action == LIST)
        return 0;
    if (!args->options.name)
        return al_failure_bad_args(err, "Give name.", "%s needs the name of the tag",
                                   actions[args->action].name);
    return al_arg_check_branch("name", args->options.name, err);
}

/* The commit to tag is part of what is approved. */
static int resolve(struct al_call *call, struct al_error *err)
{
    const struct tag_args *args = al_call_args(call);
    al_auto(al_freep) char *ref = NULL, *oid = NULL;

    if (args->action == DELETE) { /* it may change during approval */
        ref = al_asprintf("refs/tags/%s", args->options.name);
        oid = al_ref_oid(&al_call_repo(call)->at, ref);
        al_call_resolve(call, "old", oid);
    }
    return args->action == CREATE ? al_resolve_commit(call, args->options.rev, err) : 0;
}

static int authorize(struct al_call *call, struct al_error *err)
{
    const struct tag_args *args = al_call_args(call);

    if (args->action == DELETE && !al_has_ref(call, "refs/tags/", args->options.name))
        return al_error_reason(
            al_error_about(al_failure_set(err, "git_tag lists the tags there are.",
                                          "There is no tag '%s'", args->options.name),
                           err, AL_SUBJECT_TAG, args->options.name),
            err, "not_found");
    if (args->action == CREATE && al_has_ref(call, "refs/tags/", args->options.name))
        return al_failure_set(
            err, "Choose another name, or delete that tag first: git_tag with action delete.",
            "There is a tag '%s' already", args->options.name);
    return 0;
}

static int preview(struct al_call *call, struct al_str *out, struct al_error *err)
{
    const struct tag_args *args = al_call_args(call);
    const char *oid = al_call_resolved(call, AL_RESOLVED_COMMIT);
    int r;

    if (args->action != CREATE || !oid)
        return 0;
    r = al_outcome_add_commit(call, "At ", oid, "\n", out, err);
    if (r == 0 && args->options.message)
        al_outcome_add_message(call, args->options.message, out);
    return r;
}

static int list(struct al_call *call, struct al_result *result, struct al_error *err)
{
    const struct tag_args *args = al_call_args(call);

    return al_show_refs(call, &(struct al_refs_query){ .tags = true, .pattern = args->pattern },
                        result, err);
}

static int create(struct al_call *call, struct al_result *result, struct al_error *err)
{
    const struct tag_args *args = al_call_args(call);
    const char *oid = al_call_resolved(call, AL_RESOLVED_COMMIT);
    struct al_tag_options options = args->options;
    int r;

    options.rev = oid;
    r = al_git_tag_create(al_call_repo(call), &options, err);
    if (r == 0)
        al_str_addf(&result->text, "Created %stag %s at %.8s; git_push with tag sends it.\n",
                    args->options.message ? "annotated " : "", args->options.name, oid);
    return r;
}

static int remove_tag(struct al_call *call, struct al_result *result, struct al_error *err)
{
    const struct tag_args *args = al_call_args(call);
    int r = al_git_tag_delete(al_call_repo(call), args->options.name, err);

    if (r == 0)
        al_str_addf(&result->text, "Deleted tag %s, was %.8s.\n", args->options.name,
                    al_call_resolved(call, "old"));
    return r;
}

static const struct al_operation operations[] = {
    { "list", NULL, AL_READS, list, AL_ASKS_NEVER },
    { "create", NULL, AL_WRITES_REFS, create, AL_ASKS_NEVER },
    { "delete", NULL, AL_WRITES_REFS | AL_DISCARDS_WORK, remove_tag, AL_ASKS_UNLESS_SAVED,
      .locks = AL_LOCK_PACKED_REFS, .deletes = true },
};

const struct al_tool al_tool_everyday_tag = {
    .name = "git_tag",
    .title = "Tags",
    .about = "List tags, newest first, or create or delete one.",
    AL_TOOL_ROWS(params, operations),
    AL_EVERYDAY_TOOL(struct tag_args),
    .check = check,
    .resolve = resolve,
    .authorize = authorize,
    .preview = preview,
    .summary = "[action=list?List tags][action=create?Create][action=delete?Delete]"
               "[!action=list? tag '{name}']",
};
