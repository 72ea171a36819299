// SPDX-License-Identifier: Apache-2.0
/* The toolset `staging`: from the sandbox to a repository, by way of staged commits. */
#ifndef AL_TOOLSETS_STAGING_STAGING_H
#define AL_TOOLSETS_STAGING_STAGING_H

#include "tool/registry.h"
#include "tool/tool.h"

/** Read the settings of a worker file; see al_toolset.configure. */
int al_toolset_staging_configure(const struct al_toolset_context *context, struct al_error *err);

/** The tools; each has a file of its own. */
extern const struct al_tool al_tool_staging_status;
extern const struct al_tool al_tool_staging_stage;
extern const struct al_tool al_tool_staging_diff;
extern const struct al_tool al_tool_staging_push;
extern const struct al_tool al_tool_staging_discard;
extern const struct al_tool al_tool_staging_pull;
extern const struct al_tool al_tool_staging_merge;
extern const struct al_tool al_tool_staging_branches;

/* Limits of arguments.  They are enforced but not printed in schemas. */
#define AL_STAGING_PATH_MAX_BYTES    4096
#define AL_STAGING_PATHS_MAX         1000
#define AL_STAGING_MESSAGE_MAX_BYTES 65536
#define AL_STAGING_ID_MAX_BYTES      256

/** JSON Schema of a StagedCommit. */
#define AL_STAGED_COMMIT_SCHEMA                                                                    \
    AL_JSON({                                                                                      \
        "type" : "object",                                                                         \
        "properties" : {                                                                           \
            "id" : { "type" : "string" },                                                          \
            "message" : { "type" : "string" },                                                     \
            "files" : {                                                                            \
                "type" : "array",                                                                  \
                "items" : {                                                                        \
                    "type" : "object",                                                             \
                    "properties" : {                                                               \
                        "sandboxPath" : { "type" : "string" },                                     \
                        "operation" :                                                              \
                            { "type" : "string", "enum" : [ "create", "update", "delete" ] },      \
                        "contentHash" : { "type" : "string" },                                     \
                        "size" : { "type" : "integer" }                                            \
                    },                                                                             \
                    "required" : [ "sandboxPath", "operation", "contentHash", "size" ]             \
                }                                                                                  \
            },                                                                                     \
            "createdAt" : { "type" : "string" }                                                    \
        },                                                                                         \
        "required" : [ "id", "message", "files", "createdAt" ]                                     \
    })

#endif
