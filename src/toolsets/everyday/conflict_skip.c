// SPDX-License-Identifier: Apache-2.0
#include "toolsets/everyday/conflict_skip.h"

#include <stdlib.h>

#include "gitops/command.h"
#include "gitops/diff/diff.h"
#include "gitops/preview/affected_files.h"
#include "gitops/preview/diff_excerpt.h"
#include "gitops/run.h"
#include "gitops/sequencer/operation_sides.h"
#include "gitops/sequencer/operation_state.h"
#include "toolsets/everyday/outcome.h"

#define OUTPUT_BYTES 4096u

char *al_stopped_commit(const struct al_repo *repo)
{
    static const char *const heads[] = { "REBASE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD" };
    const bool rebases = al_git_operation_state(repo) == AL_IN_PROGRESS_REBASE;
    char *oid = NULL;

    for (size_t i = rebases ? 0 : 1; !oid && i < AL_COUNT(heads); i++)
        oid = al_operation_oid(repo, heads[i]);
    return oid ? oid : al_strdup("");
}

int al_skip_preview(struct al_call *call, struct al_str *out, struct al_error *err)
{
    const struct al_repo *repo = al_call_repo(call);
    const struct al_diff_options lost = { .stat = true, .unified = -1, .from_ref = "HEAD" };
    al_auto(al_freep) char *oid = al_stopped_commit(repo);
    al_auto(al_str_clear) struct al_str excerpt = AL_STR_INIT;
    int r = al_git_diff_excerpt(repo, &lost, al_call_budget(call), &excerpt, err);

    if (r == 0)
        r = al_git_unseen_changes_excerpt(repo, NULL, al_call_budget(call), &excerpt, err);
    if (r < 0)
        return r;
    al_str_addf(out, "A %s is in progress.", al_operation_state_noun(al_git_operation_state(repo)));
    if (*oid) {
        al_str_adds(out, " This commit is left out:\n  ");
        r = al_outcome_add_commit(call, oid, out, err);
    } else {
        al_str_adds(out, " The commit at which it stopped is left out.");
    }
    al_str_addc(out, '\n');
    if (excerpt.len)
        al_str_addf(out, "These changes are lost:\n%s", excerpt.buf);
    return r;
}

char *al_emptied_commit(struct al_call *call)
{
    const struct al_repo *repo = al_call_repo(call);
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_CONTENT_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    al_auto(al_freep) char *oid = al_stopped_commit(repo);

    if (!*oid)
        return NULL;
    al_strv_adds(&command.argv, "git", "diff-index", "--cached", "--quiet", "HEAD", "--", NULL);
    if (al_git_run(&repo->at, &command, &(struct al_git_run){ .max_bytes = OUTPUT_BYTES },
                   al_call_budget(call), &output, NULL) < 0 ||
        output.exit_code != 0)
        return NULL;
    return al_take(&oid);
}
