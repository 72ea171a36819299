// SPDX-License-Identifier: Apache-2.0
#include "toolsets/workflow/results.h"

#include "gitops/nul_records.h"
#include "gitops/plumbing/skipped.h"
#include "gitops/porcelain/parse.h"
#include "gitops/refs.h"
#include "gitops/repo/repo.h"
#include "gitops/repo/signature.h"
#include "proc/proc.h"
#include "tool/call.h"

json_t *al_workflow_strings(const struct al_strv *items)
{
    json_t *array = al_json_array();

    for (size_t i = 0; i < items->count; i++)
        al_json_append(array, al_json_name(items->items[i]));
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
