// SPDX-License-Identifier: Apache-2.0
#include "toolsets/toolsets.h"

#include <stdlib.h>

#include "toolsets/everyday/everyday.h"
#include "toolsets/files/files.h"
#include "toolsets/git/git.h"
#include "toolsets/parallel/parallel.h"
#include "toolsets/readonly/readonly.h"
#include "toolsets/shell/shell.h"
#include "toolsets/staging/staging.h"
#include "toolsets/workflow/workflow.h"

void al_toolsets_register(struct al_toolset_registry *registry)
{
    static int (*const registrations[])(struct al_toolset_registry *, struct al_error *) = {
        al_toolset_git_register,      al_toolset_workflow_register, al_toolset_readonly_register,
        al_toolset_shell_register,    al_toolset_files_register,    al_toolset_staging_register,
        al_toolset_everyday_register, al_toolset_parallel_register,
    };

    for (size_t i = 0; i < AL_COUNT(registrations); i++)
        if (registrations[i](registry, NULL) < 0)
            abort();
}
