// SPDX-License-Identifier: Apache-2.0
#include "toolsets/git/restored.h"

#include "gitops/run.h"
#include "tool/call.h"

void al_git_shape_restored(const struct al_call *call, const struct al_strv *paths, bool unstaged,
                           struct al_git_output *output, struct al_result *result)
{
    al_str_reset(&output->out.out);
    al_str_addf(&output->out.out, "Restored %zu file(s)", paths->count);
    if (unstaged)
        al_str_adds(&output->out.out, "\nStaged changes were unstaged and discarded");
    al_call_shape_text(call, output, "", result);
}
