// SPDX-License-Identifier: Apache-2.0
/* airlock doctor: what the configuration says of a server over HTTP.  No server is started. */
#include <stdlib.h>

#include "cli/environment.h"
#include "cli/inspect/doctor.h"
#include "cli/serve/http_check.h"
#include "cli/serve/warn.h"
#include "config/tokens.h"

static char *join(const struct al_strv *words)
{
    struct al_str text = AL_STR_INIT;

    for (size_t i = 0; i < words->count; i++)
        al_str_addf(&text, "%s%s", i ? ", " : "", words->items[i]);
    return al_str_detach(&text);
}

static void check_places(struct al_findings *findings, const struct al_setup *setup,
                         const struct al_options *options)
{
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    al_auto(al_freep) char *places = join(&setup->config.serve.http);

    if (!setup->config.serve.http.count)
        return;
    if (al_http_check(options, &setup->config, &err) < 0)
        al_finding_add(findings, "serve", AL_MISSING, err.message,
                       "Correct [serve] in the configuration; airlock serve does not start.");
    else
        al_finding_add(findings, "serve", AL_FINE, places, "");
}

/* The tokens themselves are not shown. */
static void check_tokens(struct al_findings *findings, const struct al_setup *setup)
{
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    al_auto(al_tokens_clear) struct al_tokens tokens = AL_TOKENS_INIT;
    al_auto(al_freep) char *path = NULL;
    al_auto(al_freep) char *state = NULL;
    int r;

    if (!setup->config.serve.token_file) {
        if (setup->config.serve.http.count)
            al_finding_add(findings, "tokens", AL_FINE,
                           setup->config.serve.no_token ? "none: everybody may come in"
                                                        : "one is made at each start",
                           "");
        return;
    }
    path = al_environment_absolute(setup->config.serve.token_file);
    r = al_roots_exclude(al_roots_parts(&setup->roots), path, "token file", &err);
    if (r == 0)
        r = al_tokens_read(path, &setup->config.grants, &tokens, &err);
    state = r < 0
                ? NULL
                : al_asprintf("%zu token%s (%s)", tokens.count, tokens.count == 1 ? "" : "s", path);
    al_finding_add(findings, "tokens", r < 0 ? AL_MISSING : AL_FINE, r < 0 ? err.message : state,
                   "Correct the token file; airlock serve --http does not start with it.");
}

static void check_tls(struct al_findings *findings, const struct al_setup *setup)
{
    const char *cert = setup->config.serve.tls_cert, *key = setup->config.serve.tls_key;
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    al_auto(al_freep) char *state = NULL;
    int r;

    if (!cert || !key) /* one of them alone is a finding about the places */
        return;
    r = al_roots_exclude(al_roots_parts(&setup->roots), key, "TLS key", &err);
    if (r == 0)
        r = al_http_check_tls(&setup->config, &err);
    state = al_asprintf("%s, %s", cert, key);
    al_finding_add(findings, "tls", r < 0 ? AL_MISSING : AL_FINE, r < 0 ? err.message : state,
                   "Correct the files, or serve.tls_cert and serve.tls_key.");
}

/* Their syntax is checked as the configuration is read. */
static void check_hosts(struct al_findings *findings, const struct al_setup *setup)
{
    al_auto(al_freep) char *hosts = join(&setup->config.serve.hosts);

    if (al_serve_lacks_hosts(&setup->config))
        al_finding_add(findings, "hosts", AL_WARNING, "none",
                       "List the names that clients use in [serve] hosts; others than localhost "
                       "and loopback addresses get 403.");
    else if (setup->config.serve.hosts.count)
        al_finding_add(findings, "hosts", AL_FINE, hosts, "");
}

void al_doctor_serve(struct al_findings *findings, const struct al_setup *setup,
                     const struct al_options *options)
{
    check_places(findings, setup, options);
    check_tokens(findings, setup);
    check_tls(findings, setup);
    check_hosts(findings, setup);
}
