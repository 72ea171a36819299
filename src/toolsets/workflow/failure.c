// SPDX-License-Identifier: Apache-2.0
#include "toolsets/workflow/failure.h"

#include <string.h>

#include "answer/failure.h"

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
    switch (err->status) {
    case AL_ERR_EXECUTION:
    case AL_ERR_NOT_FOUND:
    case AL_ERR_AGAIN:
        if (err->code == AL_CODE_NONE)
            err->code = AL_CODE_OPERATION_FAILED;
        break;
    case AL_ERR_BAD_ARGS:
    case AL_ERR_SANDBOX:
    case AL_ERR_TIMEOUT:
        break;
    case AL_OK:
    case AL_ERR_CANCELLED:
    case AL_ERR_APPROVAL_REQUIRED: /* these have a remedy of their own */
    case AL_ERR_APPROVAL_DENIED:
    case AL_ERR_NOT_GRANTED:
        return;
    }
    if (err->message)
        al_failure_fold(err);
    if (!err->remedy)
        err->remedy = remedy_of(err);
}
