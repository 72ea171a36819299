// SPDX-License-Identifier: Apache-2.0
/* The sandbox of a session. */
#include <string.h>

#include "cli/environment.h"
#include "cli/setup.h"
#include "gitops/repo/repo.h"
#include "gitops/vet/vet.h"
#include "sandbox/sandbox.h"

/* The first question to a repository must not keep a server from starting. */
#define LOOK_MS 5000u

/* Only if a tool of the sandbox is offered. */
static bool is_needed(const struct al_setup *setup)
{
    for (size_t i = 0; i < setup->registry.count; i++) {
        const char *toolset = setup->registry.items[i].toolset->name;

        if (!strcmp(toolset, "files") || !strcmp(toolset, "staging"))
            return true;
    }
    return false;
}

/* The format of object ids is that of the repository at the first root, since most files come from
 * there or go there. */
static bool is_sha256(const struct al_setup *setup)
{
    struct al_run_limits limits = { .left_ms = LOOK_MS, .exit_code = -1 };
    al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;
    struct al_repo *repo = NULL;
    bool sha256 = al_repo_open(setup->session.git, setup->roots.items[0].path, ".", &limits, &repo,
                               &why) == 0 &&
                  repo->vetting->is_sha256;

    al_repo_free(repo);
    return sha256;
}

int al_setup_sandbox(struct al_setup *setup, struct al_error *err)
{
    const struct al_config *config = &setup->config;
    const char *path = config->staging.path ? config->staging.path : AL_STAGING_PATH_DEFAULT;
    al_auto(al_freep) char *absolute = al_environment_absolute(path);

    if (!is_needed(setup))
        return 0;
    return al_sandbox_new(
        &(struct al_sandbox_options){
            .in_directory = config->staging.backend == AL_STAGING_DIRECTORY,
            .path = absolute,
            .max_bytes = config->staging.max_bytes,
            .sha256 = is_sha256(setup),
            .allow_symlinks = config->staging.allow_symlinks,
            .roots = &setup->roots,
        },
        &setup->session.sandbox, err);
}
