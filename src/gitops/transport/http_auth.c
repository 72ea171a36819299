// SPDX-License-Identifier: Apache-2.0
#include "gitops/transport/http_auth.h"

#include <errno.h>

#include "gitops/command.h"
#include "gitops/layer.h"
#include "gitops/repo/known_remotes.h"
#include "gitops/repo/remotes.h"
#include "gitops/run.h"
#include "gitops/transport/credential.h"
#include "gitops/transport/github_token.h"
#include "gitops/transport/network.h"
#include "guard/credential_hosts.h"
#include "guard/github.h"

static bool says(const struct al_git_output *output, const char *words)
{
    return strstr(output->err.out.buf, words);
}

static bool asks_for_credentials(const struct al_git_output *output)
{
    return output->exit_code != 0 && (says(output, "fatal: could not read Username for '") ||
                                      says(output, "fatal: could not read Password for '"));
}

static bool was_refused(const struct al_git_output *output)
{
    return output->exit_code != 0 && says(output, "fatal: Authentication failed for '");
}

static int refused(const struct al_network *network, struct al_error *err)
{
    return al_remote_error(err,
                           "The user can put the right ones into their credential helper, or sign "
                           "in there once with git.",
                           "%s does not accept the credentials it was given", network->url.origin);
}

static int run_with(const struct al_network_job *job, const char *user, const char *password,
                    struct al_git_output *ret_output, struct al_error *err)
{
    al_auto(al_closep) int answers = al_credential_answers(&job->network->url, user, password);

    if (answers < 0)
        return al_error_errno(err, errno, "cannot hand over the credentials");
    return al_network_run_once(job, answers, ret_output, err);
}

/* An agent can choose addresses, and a helper without a host would give its token to each of them.
 * So helpers are asked only for the hosts that the user listed, and for addresses that are the
 * user's own over https. */
static bool may_have_credentials(const struct al_network *network)
{
    const struct al_repo *repo = network->repo;

    if (al_credential_hosts_match(&repo->at.git->credential_hosts, &network->url))
        return true;
    return !strcmp(network->url.protocol, "https") &&
           !al_remote_address_is_new(repo, network->remote->name, network->address, AL_FETCHES);
}

static int withheld(const struct al_network *network, struct al_error *err)
{
    if (strcmp(network->url.protocol, "https") != 0)
        return al_remote_error(
            err,
            "Use https; or the user can list the server with its scheme and port "
            "in credential_hosts of [tools.git]: [\"http://host:port\"].",
            "%s asks for a user and a password, and gets none over plain http",
            network->url.origin);
    return al_remote_error(err,
                           "The user can list the host in credential_hosts of [tools.git] in the "
                           "configuration of airlock.",
                           "%s asks for a user and a password, and gets none: this address was "
                           "added or changed in this session, and the user did not agree to it",
                           network->url.origin);
}

/* The server asked: run again with the credentials of the user's helpers. */
static int run_with_helpers(const struct al_network_job *job, struct al_git_output *ret_output,
                            struct al_error *err)
{
    al_auto(al_credential_clear) struct al_credential credential = AL_CREDENTIAL_INIT;
    const struct al_network *network = job->network;
    struct al_git *git = network->repo->at.git;
    bool found, right;
    int r;

    if (!may_have_credentials(network))
        return withheld(network, err);
    r = al_credential_fill(git, &network->url, job->budget, &credential, &found, err);

    if (r < 0)
        return r;
    if (!found)
        return al_remote_error(err,
                               "The user can set up a credential helper, or sign in there once "
                               "with git; airlock never prompts.",
                               "%s asks for a user and a password, and no credential helper has "
                               "them",
                               network->url.origin);
    r = run_with(job, credential.user, credential.password, ret_output, err);
    if (r < 0)
        return r;
    right = !was_refused(ret_output) && !asks_for_credentials(ret_output);
    al_credential_report(git, &credential, right, job->budget);
    if (right)
        return 0;
    al_git_output_clear(ret_output);
    return refused(network, err);
}

/* The server asked: run again with the token for GitHub. */
static int run_with_token(const struct al_network_job *job, struct al_git_output *ret_output,
                          struct al_error *err)
{
    al_auto(al_credential_clear) struct al_credential credential = AL_CREDENTIAL_INIT;
    const struct al_network *network = job->network;
    int r;

    if (!al_github_is_safe(&network->url))
        return withheld(network, err);
    r = al_github_token(network->repo->at.git, &network->url, job->budget, &credential, err);
    if (r == 0)
        r = run_with(job, credential.user, credential.password, ret_output, err);
    if (r < 0 || (!asks_for_credentials(ret_output) && !was_refused(ret_output)))
        return r;
    al_git_output_clear(ret_output);
    return al_remote_error(err,
                           "The token may be expired or revoked: set another GITHUB_TOKEN and "
                           "restart airlock, or run `gh auth login`.",
                           "%s does not accept the token it was given", network->url.origin);
}

/* Without credentials first, so that what is public needs no token. */
static int run_for_github(const struct al_network_job *job, struct al_git_output *ret_output,
                          struct al_error *err)
{
    struct al_git_output output;
    int r;

    if (job->network->was_asked)
        return run_with_token(job, ret_output, err);
    r = al_network_run_once(job, -1, &output, err);
    if (r < 0)
        return r;
    if (!asks_for_credentials(&output)) {
        *ret_output = output;
        return 0;
    }
    al_git_output_clear(&output);
    job->network->was_asked = true;
    return run_with_token(job, ret_output, err);
}

int al_network_run_http(const struct al_network_job *job, struct al_git_output *ret_output,
                        struct al_error *err)
{
    const struct al_url *url = &job->network->url;
    struct al_git_output output;
    int r;

    if (job->network->uses_github_token)
        return run_for_github(job, ret_output, err);
    r = url->password ? run_with(job, url->user, url->password, &output, err)
                      : al_network_run_once(job, -1, &output, err);
    if (r < 0)
        return r;
    if (!asks_for_credentials(&output) && !was_refused(&output)) {
        *ret_output = output;
        return 0;
    }
    al_git_output_clear(&output);
    if (url->password)
        return refused(job->network, err);
    return run_with_helpers(job, ret_output, err);
}
