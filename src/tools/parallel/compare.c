// SPDX-License-Identifier: Apache-2.0
/* git_compare: how branches would combine.  Nothing is touched. */
#include "verbs/landing/landing.h"

#include "guard/text.h"
#include "tools/private.h"

#define FILES_SHOWN_BYTES 400u

struct compare_args {
    struct al_strv branches;
    const char *into;
    const char *working_dir;
};

static const struct al_param params[] = {
    AL_STRINGS(struct compare_args, branches,
               "Default: those that worktrees have checked out, else all that are not in into.",
               .flags = AL_PARAM_NAME, .max = AL_COMPARE_BRANCHES_MAX,
               .check = al_landing_check_name),
    AL_STRING(struct compare_args, into, "What they land in; default: the default branch.",
              .flags = AL_PARAM_NAME, .check = al_landing_check_name),
    AL_WORKING_DIR_ROW(struct compare_args),
};

static int check(void *p, struct al_error *err)
{
    const struct compare_args *args = p;
    int r = 0;

    for (size_t i = 0; r == 0 && i < args->branches.count; i++) {
        for (size_t j = 0; r == 0 && j < i; j++)
            if (!strcmp(args->branches.items[i], args->branches.items[j]))
                r = al_error_set(err, AL_ERR_BAD_ARGS, "branches has a name twice");
        if (r == 0 && args->into && !strcmp(args->into, args->branches.items[i]))
            r = al_error_set(err, AL_ERR_BAD_ARGS, "branches has the branch that into names");
    }
    return r;
}

static void add_branch(const struct al_repo *repo, const struct al_compared *compared,
                       struct al_str *out)
{
    al_place_addf(out, "%s at %.*s: ", al_named_branch_name(&compared->branch), AL_SHORT_ID,
                  compared->branch.oid);
    if (!compared->base) {
        al_str_adds(out, "unrelated history\n");
        return;
    }
    al_str_addf(out, "%zu ahead, %zu behind, base %.*s, %s%s", compared->ahead, compared->behind,
                AL_SHORT_ID, compared->base,
                al_counted(compared->files.count, "file", "files").text,
                compared->files.count ? ": " : "");
    al_outcome_add_places(repo, &compared->files, FILES_SHOWN_BYTES, out);
    al_str_addc(out, '\n');
}

static void add_clash(const struct al_repo *repo, const struct al_branch_comparison *comparison,
                      const struct al_clash *clash, struct al_str *out)
{
    const struct al_named_branch *other = clash->other == AL_COMPARE_INTO
                                              ? &comparison->into
                                              : &comparison->branches[clash->other].branch;

    al_place_addf(out, "  %s and %s",
                  al_named_branch_name(&comparison->branches[clash->one].branch),
                  al_named_branch_name(other));
    if (clash->conflicts.count) {
        al_str_adds(out, ": ");
        al_outcome_add_places(repo, &clash->conflicts, FILES_SHOWN_BYTES, out);
    } else {
        al_str_adds(out, ": unrelated histories");
    }
    al_str_addc(out, '\n');
}

static void write_answer(const struct al_repo *repo, const struct al_branch_comparison *comparison,
                         size_t more, struct al_str *out)
{
    al_place_addf(out, "%s to land in %s at %.*s\n",
                  al_counted(comparison->count, "branch", "branches").text,
                  al_named_branch_name(&comparison->into), AL_SHORT_ID, comparison->into.oid);
    if (more)
        al_str_addf(out, "%zu more are left out; name them with branches\n", more);
    for (size_t i = 0; i < comparison->count; i++)
        add_branch(repo, &comparison->branches[i], out);
    if (comparison->count)
        al_str_adds(out, comparison->nclashes ? "Conflicts:\n" : "No conflicts.\n");
    for (size_t i = 0; i < comparison->nclashes; i++)
        add_clash(repo, comparison, &comparison->clashes[i], out);
    if (comparison->count > 1)
        al_str_adds(out, "Suggested order: ");
    for (size_t i = 0; comparison->count > 1 && i < comparison->count; i++) {
        al_str_adds(out, i ? ", " : "");
        al_place_add_name(al_named_branch_name(&comparison->branches[comparison->order[i]].branch),
                          out);
    }
}

static int execute(struct al_call *call, struct al_result *result, struct al_error *err)
{
    const struct compare_args *args = al_call_args(call);
    const struct al_repo *repo = al_call_repo(call);
    al_auto(al_branch_comparison_clear) struct al_branch_comparison comparison = { .branches =
                                                                                       NULL };
    al_auto(al_freep) char *into = args->into ? al_strdup(args->into) : NULL;
    al_auto(al_strv_clear) struct al_strv found = AL_STRV_INIT;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    al_auto(al_str_clear) struct al_str safe = AL_STR_INIT;
    size_t more = 0;
    al_auto(al_named_branch_clear) struct al_named_branch target = { .ref = NULL };
    int r = into ? al_landing_find(repo, into, &target, err) : al_landing_default(repo, &into, err);

    if (r == 0 && !args->branches.count)
        r = al_landing_candidates(repo, into, &found, &more, err);
    if (r == 0)
        r = al_landing_compare(repo, into, args->branches.count ? &args->branches : &found,
                               &comparison, err);
    if (r < 0)
        return r;
    write_answer(repo, &comparison, more, &text);
    al_text_sanitize(text.buf, text.len, &safe);
    result->truncated = al_text_truncate(&safe, AL_ANSWER_DEFAULT_BYTES);
    al_answer_text(&safe, result);
    return 0;
}

const struct al_tool al_tool_parallel_compare = {
    .name = "git_compare",
    .title = "Compare branches",
    .about = "Show how branches would combine, and in which order to land them. Nothing is "
             "touched.",
    AL_TOOL_ONE(params, "compare", NULL, AL_READS, execute, AL_ASKS_NEVER),
    AL_PARALLEL_TOOL(struct compare_args),
    .check = check,
};
