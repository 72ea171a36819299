// SPDX-License-Identifier: Apache-2.0
#include "toolsets/workflow/results.h"

#include <string.h>

#include "answer/failure.h"
#include "gitops/plumbing/skipped.h"
#include "gitops/refs.h"
#include "gitops/repo/repo.h"
#include "guard/gitdir.h"
#include "guard/path.h"
#include "guard/root.h"
#include "guard/text.h"
#include "proc/proc.h"
#include "tool/call.h"
#include "util/fs.h"

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
    rest = al_fs_beneath(repo->at.top, path.abs);
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

static const struct {
    enum al_code code;
    const char *remedy;
} remedies[] = {
    { AL_CODE_NOT_INITIALIZED, "Give cwd a directory inside a git repository." },
    { AL_CODE_SNAPSHOT_DISABLED,
      "The user can turn checkpoints on, or set on_snapshot_failure to warn, in [journal] of the "
      "configuration." },
    { AL_CODE_PROTECTED_PATH, "Name files of the working tree; .git is git's own." },
    { AL_CODE_OPERATION_FAILED, "See git_status for the state of the repository, then try again." },
    { AL_CODE_LOCK_TIMEOUT,
      "Another git is at work there: try again later, or remove the lock when no git runs." },
    { AL_CODE_CONFLICT,
      "Resolve the conflicts first: git_conflict_info shows them, git_resolve_conflict resolves a "
      "file." },
    { AL_CODE_DIRTY_WORKDIR,
      "Commit these changes with git_commit, or put them aside with git_stash, first." },
    { AL_CODE_BRANCH_EXISTS, "Choose another name, or use the branch that is there." },
    { AL_CODE_BRANCH_NOT_FOUND, "See git_branch with action list for the branches there are." },
    { AL_CODE_REMOTE_ERROR,
      "See git_remote with action list for the remotes there are, and whether the URL is right." },
    { AL_CODE_TIMEOUT,
      "Ask for less at once, or have timeout_ms raised in [tools.git] of the configuration." },
    { AL_CODE_NO_STAGED_CHANGES,
      "Commit every change with all: true; git_status shows whether there is one." },
    { AL_CODE_STASH_EMPTY, "There is nothing to bring back; action push makes an entry." },
};

static const char *remedy_of(const struct al_error *err)
{
    if (err->message && strstr(err->message, "untracked working tree files would be overwritten"))
        return "Move or remove these files first.";
    for (size_t i = 0; i < AL_COUNT(remedies); i++)
        if (remedies[i].code == err->code)
            return remedies[i].remedy;
    return err->status == AL_ERR_SANDBOX
               ? "Use a repository and paths inside the allowed roots."
               : "Nothing was done; call again with arguments as the input schema has them.";
}

void al_workflow_complete_error(struct al_call *call, struct al_error *err)
{
    (void)call;
    if (!al_failure_begin(err))
        return;
    if (err->code == AL_CODE_NONE && err->status != AL_ERR_BAD_ARGS &&
        err->status != AL_ERR_SANDBOX && err->status != AL_ERR_TIMEOUT)
        err->code = AL_CODE_OPERATION_FAILED;
    if (!err->remedy)
        err->remedy = remedy_of(err);
}

bool al_workflow_fits(size_t *room, size_t bytes)
{
    const bool fits = bytes <= *room;

    *room -= fits ? bytes : 0;
    return fits;
}

json_t *al_workflow_strings(const struct al_strv *items)
{
    json_t *array = al_json_array();

    for (size_t i = 0; i < items->count; i++)
        al_json_append(array, al_json_name(items->items[i]));
    return array;
}

json_t *al_workflow_names(const struct al_buffer *names, size_t max_bytes, bool *ret_truncated)
{
    json_t *array = al_json_array();
    bool truncated = false;

    for (size_t at = 0, len; at < names->len && !truncated; at += len + 1) {
        len = strlen(names->data + at);
        truncated = at + len == names->len || /* cut in the middle */
                    !al_workflow_fits(&max_bytes, len + AL_WORKFLOW_NAME_COSTS);
        if (!truncated)
            al_json_append(array, al_json_name(names->data + at));
    }
    *ret_truncated = truncated;
    return array;
}

void al_workflow_skipped(struct al_call *call, const char *const *hooks, bool commits,
                         struct al_result *result)
{
    al_auto(al_str_clear) struct al_str not_run = AL_STR_INIT, unsigned_one = AL_STR_INIT;

    al_git_skipped_hooks(al_call_repo(call), hooks, &not_run);
    if (not_run.len)
        al_result_note(result, not_run.buf);
    if (commits)
        al_git_skipped_signature(al_call_repo(call), &unsigned_one);
    if (unsigned_one.len)
        al_result_note(result, unsigned_one.buf);
}

char *al_workflow_current_branch(struct al_call *call)
{
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;

    al_ref_head_branches(&al_call_repo(call)->at, &names);
    return al_strdup(names.items[0]);
}
