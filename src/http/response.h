// SPDX-License-Identifier: Apache-2.0
/* From an exchange's answer to the library's response.  For the room only. */
#ifndef AL_HTTP_RESPONSE_H
#define AL_HTTP_RESPONSE_H

#include <microhttpd.h>

#include "http/exchange.h"

/** Hand the library the response of an exchange whose answer is due. */
enum MHD_Result al_http_respond(struct al_http_exchange *exchange);

#endif
