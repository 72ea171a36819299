// SPDX-License-Identifier: Apache-2.0
/* The sandbox of a session. */
#include <stdlib.h>
#include <string.h>

#include "cli/environment.h"
#include "cli/setup.h"
#include "gitops/repo/repo.h"
#include "gitops/vet/vet.h"
#include "guard/text.h"
#include "sandbox/sandbox.h"
#include "staging/pull/apply.h"
#include "staging/settings.h"
#include "staging/staging.h"
#include "util/fs.h"

/* The first question to a repository must not keep a server from starting. */
#define LOOK_MS 5000u

/* Another process may be clearing up the store. */
#define LOCK_MS 60000u

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

static int refuse(const char *dir, const char *why, const char *other, struct al_error *err)
{
    al_auto(al_freep) char *safe = al_text_sanitize_line(dir);
    al_auto(al_freep) char *safe_other = al_text_sanitize_line(other);

    return al_error_set(err, AL_ERR_BAD_ARGS,
                        "staging.path: '%s' %s '%s'; name a directory of its own", safe, why,
                        safe_other);
}

/* An agent writes whatever it wants into the directory, so that must not hold what is the user's.
 */
static int check_apart(const char *dir, const char *other, bool may_be_inside, struct al_error *err)
{
    al_auto(al_freep) char *real = other ? realpath(other, NULL) : NULL;
    const char *name = real ? real : other;

    if (other && al_fs_beneath(dir, name))
        return refuse(dir, "is or contains", name, err);
    if (other && !may_be_inside && al_fs_beneath(name, dir))
        return refuse(dir, "is inside airlock's own", name, err);
    return 0;
}

static int check_place(const struct al_setup *setup, const char *dir, struct al_error *err)
{
    const char *config_home = al_environment_get("XDG_CONFIG_HOME");
    al_auto(al_freep) char *config_dir = config_home   ? al_fs_join(config_home, "airlock")
                                         : setup->home ? al_fs_join(setup->home, ".config/airlock")
                                                       : NULL;
    int r = check_apart(dir, setup->home, true, err);

    for (size_t i = 0; i < setup->roots.count && r == 0; i++)
        r = check_apart(dir, setup->roots.items[i].path, true, err);
    if (r == 0)
        r = check_apart(dir, setup->config.file, true, err);
    if (r == 0)
        r = check_apart(dir, setup->worker.file, true, err);
    if (r == 0)
        r = check_apart(dir, setup->journal_file, true, err);
    if (r == 0)
        r = check_apart(dir, config_dir, false, err);
    if (r == 0)
        r = check_apart(dir, setup->state_dir, false, err);
    return r == 0 ? check_apart(dir, setup->fallback_dir, false, err) : r;
}

/* The directory as the user configured it; "~/" is the home directory. */
static char *path_of(const struct al_setup *setup)
{
    const char *path = setup->config.staging.path;

    if (!path)
        path = AL_STAGING_PATH_DEFAULT;
    if (setup->home && al_starts_with(path, "~/"))
        return al_fs_join(setup->home, path + 2);
    return al_environment_absolute(path);
}

static int make_sandbox(const struct al_setup *setup, struct al_session *session,
                        struct al_error *err)
{
    const struct al_config *config = &setup->config;
    al_auto(al_freep) char *absolute = path_of(setup);
    int r;

    r = al_sandbox_new(
        &(struct al_sandbox_options){
            .in_directory = config->staging.backend == AL_STAGING_DIRECTORY,
            .path = absolute,
            .max_bytes = config->staging.max_bytes,
            .sha256 = is_sha256(setup),
            .allow_symlinks = config->staging.allow_symlinks,
            .roots = &setup->roots,
        },
        &session->sandbox, err);
    if (r == 0 && al_sandbox_dir(session->sandbox))
        r = check_place(setup, al_sandbox_dir(session->sandbox), err);
    return r;
}

static int make_staging(const struct al_setup *setup, bool must_exist, struct al_session *session,
                        struct al_error *err)
{
    const struct al_config *config = &setup->config;
    const char *base_url = config->staging.github_base_url;
    const struct al_staging_settings *settings = setup->session.staging_settings;
    struct al_run_limits limits = { .left_ms = LOCK_MS, .exit_code = -1 };

    return al_staging_new(
        &(struct al_staging_options){
            .state_dir = setup->fallback_dir ? setup->fallback_dir : setup->state_dir,
            .git = setup->session.git,
            .roots = &setup->roots,
            .sha256 = is_sha256(setup),
            .sandbox = session->sandbox,
            .max_bytes = config->staging.max_bytes,
            .author = config->staging.author,
            .github_base_url = base_url ? base_url : AL_GITHUB_BASE_URL_DEFAULT,
            .worker = setup->worker.name,
            .default_target = settings && settings->has_target ? &settings->target : NULL,
            .must_exist = must_exist,
            .recover = al_pull_recover,
        },
        &limits, &session->staging, err);
}

int al_setup_staging(struct al_setup *setup, bool must_exist, struct al_error *err)
{
    return make_staging(setup, must_exist, &setup->session, err);
}

int al_setup_sandbox(const struct al_setup *setup, struct al_session *session, struct al_error *err)
{
    bool stages = offers(setup, "staging");
    int r;

    if (!stages && !offers(setup, "files"))
        return 0;
    r = make_sandbox(setup, session, err);
    return r == 0 && stages ? make_staging(setup, false, session, err) : r;
}
