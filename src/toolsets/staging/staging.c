// SPDX-License-Identifier: Apache-2.0
#include "toolsets/staging/staging.h"

static const struct al_tool *const tools[] = {
    &al_tool_staging_status,
    &al_tool_staging_stage,
    &al_tool_staging_diff,
    &al_tool_staging_discard,
    NULL,
};

const struct al_toolset al_toolset_staging = {
    .name = "staging",
    .about = "the sandbox's changes: stage them, and push what the user approves",
    .tools = tools,
};
