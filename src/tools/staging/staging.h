// SPDX-License-Identifier: Apache-2.0
/* The toolset `staging`: from the sandbox to a repository, by way of staged commits. */
#ifndef AL_TOOLS_STAGING_STAGING_H
#define AL_TOOLS_STAGING_STAGING_H

#include "call/registry.h"
#include "call/tool.h"

/** The tools, of the sandbox's changes and staged commits. */
extern const struct al_tool al_tool_staging_status, al_tool_staging_stage, al_tool_staging_diff,
    al_tool_staging_discard;

/** Those with a target. */
extern const struct al_tool al_tool_staging_push, al_tool_staging_pull, al_tool_staging_branches,
    al_tool_staging_merge;

/* Limits of arguments.  They are enforced but not printed in schemas. */
#define AL_STAGING_PATH_MAX_BYTES 4096
#define AL_STAGING_PATHS_MAX      1000

#endif
