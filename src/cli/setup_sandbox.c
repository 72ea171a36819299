// SPDX-License-Identifier: Apache-2.0
/* The sandbox of a session. */
#include <string.h>

#include "cli/environment.h"
#include "cli/setup.h"
#include "gitops/repo/repo.h"
#include "gitops/vet/vet.h"
#include "sandbox/sandbox.h"
#include "staging/staging.h"

/* The first question to a repository must not keep a server from starting. */
#define LOOK_MS 5000u

/* Whether a tool of the toolset is offered. */
static bool offers(const struct al_setup *setup, const char *toolset)
{
    for (size_t i = 0; i < setup->registry.count; i++)
        if (!strcmp(setup->registry.items[i].toolset->name, toolset))
            return true;
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

static int make_sandbox(struct al_setup *setup, bool sha256, struct al_error *err)
{
    const struct al_config *config = &setup->config;
    const char *path = config->staging.path ? config->staging.path : AL_STAGING_PATH_DEFAULT;
    al_auto(al_freep) char *absolute = al_environment_absolute(path);

    return al_sandbox_new(
        &(struct al_sandbox_options){
            .in_directory = config->staging.backend == AL_STAGING_DIRECTORY,
            .path = absolute,
            .max_bytes = config->staging.max_bytes,
            .sha256 = sha256,
            .allow_symlinks = config->staging.allow_symlinks,
            .roots = &setup->roots,
        },
        &setup->session.sandbox, err);
}

int al_setup_staging(struct al_setup *setup, bool must_exist, struct al_error *err)
{
    const struct al_config *config = &setup->config;
    const char *base_url = config->staging.github_base_url;
    struct al_run_limits limits = { .left_ms = LOOK_MS, .exit_code = -1 };

    return al_staging_new(
        &(struct al_staging_options){
            .state_dir = setup->fallback_dir ? setup->fallback_dir : setup->state_dir,
            .git = setup->session.git,
            .roots = &setup->roots,
            .sha256 = is_sha256(setup),
            .sandbox = setup->session.sandbox,
            .max_bytes = config->staging.max_bytes,
            .author = config->staging.author,
            .github_base_url = base_url ? base_url : AL_GITHUB_BASE_URL_DEFAULT,
            .must_exist = must_exist,
        },
        &limits, &setup->session.staging, err);
}

int al_setup_sandbox(struct al_setup *setup, struct al_error *err)
{
    bool stages = offers(setup, "staging");
    int r;

    if (!stages && !offers(setup, "files"))
        return 0;
    r = make_sandbox(setup, is_sha256(setup), err);
    return r == 0 && stages ? al_setup_staging(setup, false, err) : r;
}
