// SPDX-License-Identifier: Apache-2.0
/* What the library calls: from a request's first line to the end of its response.  For the room
 * only. */
#ifndef AL_HTTP_REQUEST_H
#define AL_HTTP_REQUEST_H

#include <microhttpd.h>

/** The target, before the library takes it apart (MHD_OPTION_URI_LOG_CALLBACK). */
void *al_http_on_target(void *server, const char *target, struct MHD_Connection *library);

/** Leaves percent signs as they are (MHD_OPTION_UNESCAPE_CALLBACK). */
size_t al_http_on_unescape(void *server, struct MHD_Connection *library, char *text);

/** The headers, each piece of the body, the end of the request, and again when a connection was
 * resumed (MHD_AccessHandlerCallback). */
enum MHD_Result al_http_on_request(void *server, struct MHD_Connection *library, const char *url,
                                   const char *method, const char *version, const char *upload,
                                   size_t *upload_len, void **context);

/** The response is out or lost (MHD_OPTION_NOTIFY_COMPLETED). */
void al_http_on_completed(void *argument, struct MHD_Connection *library, void **context,
                          enum MHD_RequestTerminationCode code);

/** A connection began or was closed (MHD_OPTION_NOTIFY_CONNECTION). */
void al_http_on_connection(void *argument, struct MHD_Connection *library, void **context,
                           enum MHD_ConnectionNotificationCode code);

#endif
