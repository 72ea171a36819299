// SPDX-License-Identifier: Apache-2.0
#include "config/serve.h"

#include "http/address.h"

void al_serve_limits_init(struct al_serve_limits *limits)
{
    *limits = (struct al_serve_limits){
        .max_body = AL_SERVE_BODY_DEFAULT,
        .max_headers = AL_SERVE_HEADERS_DEFAULT,
        .connections = AL_SERVE_CONNECTIONS_DEFAULT,
        .connections_per_token = AL_SERVE_CONNECTIONS_PER_TOKEN_DEFAULT,
        .calls = AL_SERVE_CALLS_DEFAULT,
        .calls_per_token = AL_SERVE_CALLS_PER_TOKEN_DEFAULT,
        .sessions_per_token = AL_SERVE_SESSIONS_PER_TOKEN_DEFAULT,
        .request_s = AL_SERVE_REQUEST_S_DEFAULT,
        .stall_s = AL_SERVE_STALL_S_DEFAULT,
        .idle_s = AL_SERVE_IDLE_S_DEFAULT,
        .drain_s = AL_SERVE_DRAIN_S_DEFAULT,
    };
}

int al_serve_check_place(const char *place, struct al_error *err)
{
    struct al_http_address address;

    return al_http_address_parse(place, &address, err);
}
