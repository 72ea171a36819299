// SPDX-License-Identifier: Apache-2.0
#include "toolsets/workflow/workflow.h"

#include "gitops/nul_records.h"
#include "gitops/plumbing/skipped.h"
#include "gitops/porcelain/parse.h"
#include "gitops/refs.h"
#include "gitops/repo/repo.h"
#include "gitops/repo/signature.h"
#include "guard/root.h"
#include "guard/text.h"
#include "proc/proc.h"
#include "tool/call.h"
#include "util/fs.h"

static const struct al_tool *const tools[] = {
    &al_tool_workflow_status,
    &al_tool_workflow_diff,
    &al_tool_workflow_log,
    &al_tool_workflow_commit,
    &al_tool_workflow_branch,
    &al_tool_workflow_checkout,
    &al_tool_workflow_merge,
    &al_tool_workflow_conflict_info,
    &al_tool_workflow_resolve_conflict,
    &al_tool_workflow_stash,
    &al_tool_workflow_fetch,
    &al_tool_workflow_pull,
    &al_tool_workflow_push,
    &al_tool_workflow_remote,
    &al_tool_workflow_generate_pr,
    NULL,
};

const struct al_toolset al_toolset_workflow = {
    .name = "workflow",
    .about = "git with structured results and error codes",
    .tools = tools,
};

json_t *al_workflow_strings(const struct al_strv *items)
{
    json_t *array = al_json_array();

    for (size_t i = 0; i < items->count; i++)
        al_json_append(array, al_json_string(items->items[i]));
    return array;
}

json_t *al_workflow_names(const struct al_buffer *names, size_t max_bytes, bool *ret_truncated)
{
    al_auto(al_strv_clear) struct al_strv list = AL_STRV_INIT;
    struct al_file_list_reader reader;

    al_file_list_reader_init(&reader, &list, max_bytes);
    (void)al_nul_records_add(&reader.records, names->data, names->len);
    al_nul_records_clear(&reader.records);
    *ret_truncated = reader.truncated;
    return al_workflow_strings(&list);
}

int al_workflow_check_path(struct al_call *call, const char *param, const char *given,
                           struct al_error *err)
{
    const struct al_repo *repo = al_call_repo(call);
    al_auto(al_path_clear) struct al_path path = AL_PATH_INIT;
    al_auto(al_freep) char *word = NULL;
    const char *rest;
    int r = al_path_resolve(al_call_session(call)->roots, repo->at.dir, given, &path, err);

    if (r < 0)
        return r;
    rest = al_fs_below(repo->at.top, path.abs);
    if ((rest && al_path_has_dot_git(rest)) || (*given != '/' && al_path_has_dot_git(given))) {
        word = al_text_sanitize_line(given);
        return al_error_set_code(err, AL_ERR_SANDBOX, AL_CODE_PROTECTED_PATH, "Protected path: %s",
                                 word);
    }
    return al_repo_file(repo, param, given, &word, err);
}

int al_workflow_check_paths(struct al_call *call, const char *param, const struct al_strv *given,
                            struct al_error *err)
{
    int r = 0;

    for (size_t i = 0; i < given->count && r == 0; i++)
        r = al_workflow_check_path(call, param, given->items[i], err);
    return r;
}

void al_workflow_skipped_hooks(struct al_call *call, const char *const *hooks,
                               struct al_result *result)
{
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;

    al_git_skipped_hooks(al_call_repo(call), hooks, &line);
    if (line.len)
        al_result_note(result, line.buf);
}

void al_workflow_skipped_signature(struct al_call *call, struct al_result *result)
{
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;

    al_git_skipped_signature(al_call_repo(call), &line);
    if (line.len)
        al_result_note(result, line.buf);
}

char *al_workflow_current_branch(struct al_call *call)
{
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;

    al_ref_head_branches(&al_call_repo(call)->at, &names);
    return al_strdup(names.items[0]);
}
