// SPDX-License-Identifier: Apache-2.0
#include "serve/command/warn.h"

#include <string.h>

#include "base/log.h"
#include "guard/root.h"
#include "guard/text.h"
#include "serve/http/address.h"
#include "serve/http/server.h"

/* Options that mean nothing to a server on standard input and output. */
static int check_alone(const struct al_options *options, struct al_error *err)
{
    static const char *const names[] = { "--token-file", "--no-token", "--tls-cert", "--tls-key",
                                         "--behind-proxy" };

    for (size_t i = 0; i < AL_COUNT(names); i++)
        if (al_option(options, names[i]))
            return al_error_set(err, AL_ERR_BAD_ARGS,
                                "%s is for a server over HTTP; add --http ADDR:PORT", names[i]);
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

void al_warn_of_grant(const struct al_setup *setup, const struct al_grant *grant)
{
    const struct al_roots *roots = &setup->roots;
    al_auto(al_str_clear) struct al_str names = AL_STR_INIT;

    for (size_t i = 0; i < roots->count; i++) {
        al_auto(al_freep) char *safe = al_text_sanitize_line(roots->items[i].path);

        if (al_grant_reaches(grant, roots->items[i].path))
            return;
        al_str_addf(&names, "%s%s", names.len ? ", " : "", safe);
    }
    if (names.len)
        al_log_warn("the grant '%s' covers no root (%s), so each of its calls will be refused; "
                    "correct grants.%s.fs or the roots",
                    grant->name, names.buf, grant->name);
}

static bool is_wildcard(const char *place)
{
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    struct al_http_address address;

    return al_http_address_parse(place, &address, &err) == 0 &&
           (!strcmp(address.host, "0.0.0.0") || !strcmp(address.host, "::"));
}

bool al_serve_lacks_hosts(const struct al_config *config)
{
    bool is_reached = config->serve.behind_proxy;

    for (size_t i = 0; i < config->serve.http.count; i++)
        is_reached = is_reached || is_wildcard(config->serve.http.items[i]);
    return is_reached && !config->serve.hosts.count;
}
