// SPDX-License-Identifier: Apache-2.0
#include "toolsets/toolsets.h"

#include "toolsets/files/files.h"
#include "toolsets/git/git.h"
#include "toolsets/readonly/readonly.h"
#include "toolsets/shell/shell.h"
#include "toolsets/staging/staging.h"
#include "toolsets/workflow/workflow.h"

const struct al_toolset *const al_toolsets[] = {
    &al_toolset_git,
    &al_toolset_workflow,
    &al_toolset_readonly,
    &al_toolset_shell,
    &al_toolset_files,
    &al_toolset_staging,
    NULL,
};
