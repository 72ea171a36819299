// SPDX-License-Identifier: Apache-2.0
#include "cli/serve/http_check.h"

#include "http/address.h"
#include "http/server.h"

/* Options that mean nothing to a server on standard input and output. */
static int check_alone(const struct al_options *options, struct al_error *err)
{
    const struct {
        const char *name;
        bool is_given;
    } given[] = {
        { "--token-file", options->token_file != NULL }, { "--no-token", options->no_token },
        { "--tls-cert", options->tls_cert != NULL },     { "--tls-key", options->tls_key != NULL },
        { "--behind-proxy", options->behind_proxy },
    };

    for (size_t i = 0; i < AL_COUNT(given); i++)
        if (given[i].is_given)
            return al_error_set(err, AL_ERR_BAD_ARGS,
                                "%s is for a server over HTTP; add --http ADDR:PORT",
                                given[i].name);
    return 0;
}

static int check_place(const struct al_config *config, const char *place, struct al_error *err)
{
    struct al_http_address address;
    int r = al_http_address_parse(place, &address, err);

    if (r < 0 || address.loopback)
        return r;
    if (config->serve.no_token)
        return al_error_set(err, AL_ERR_BAD_ARGS,
                            "--no-token is for loopback addresses and Unix sockets only, and '%s' "
                            "is neither; name a --token-file",
                            place);
    if (!config->serve.tls_cert && !config->serve.behind_proxy)
        return al_error_set(err, AL_ERR_BAD_ARGS,
                            "other machines reach '%s', where tokens could be read on their way; "
                            "add --tls-cert and --tls-key, or --behind-proxy if a proxy does TLS",
                            place);
    return 0;
}

int al_http_check(const struct al_options *options, const struct al_config *config,
                  struct al_error *err)
{
    int r = 0;

    if (!config->serve.http.count)
        return check_alone(options, err);
    if (config->serve.no_token && config->serve.token_file)
        return al_error_set(
            err, AL_ERR_BAD_ARGS,
            "a token file and --no-token exclude each other; leave one of them out");
    if (!config->serve.tls_cert != !config->serve.tls_key)
        return al_error_set(err, AL_ERR_BAD_ARGS, "TLS needs both --tls-cert and --tls-key");
    for (size_t i = 0; r == 0 && i < config->serve.http.count; i++)
        r = check_place(config, config->serve.http.items[i], err);
    return r;
}

int al_http_check_tls(const struct al_config *config, struct al_error *err)
{
    const struct al_http_tls tls = { .cert_path = config->serve.tls_cert,
                                     .key_path = config->serve.tls_key };

    return al_http_tls_check(&tls, err);
}
