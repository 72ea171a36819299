// SPDX-License-Identifier: Apache-2.0
/*
 * libmicrohttpd, loaded at run time: a server on stdio never needs it, and starts as fast as
 * before.
 *
 * The library stays loaded, because GnuTLS, which it brings along, cannot be unloaded safely.
 */
#ifndef AL_HTTP_LIBRARY_H
#define AL_HTTP_LIBRARY_H

#include <microhttpd.h>
#include <stdbool.h>

#include "util/error.h"

/** The functions of the library that are used here; each is MHD_<name>(). */
struct al_http_library {
    __typeof__(&MHD_start_daemon) start_daemon;
    __typeof__(&MHD_stop_daemon) stop_daemon;
    __typeof__(&MHD_run) run;
    __typeof__(&MHD_get_timeout) get_timeout;
    __typeof__(&MHD_get_daemon_info) get_daemon_info;
    __typeof__(&MHD_add_connection) add_connection;
    __typeof__(&MHD_get_connection_info) get_connection_info;
    __typeof__(&MHD_get_connection_values_n) get_connection_values_n;
    __typeof__(&MHD_suspend_connection) suspend_connection;
    __typeof__(&MHD_resume_connection) resume_connection;
    __typeof__(&MHD_create_response_from_buffer) create_response_from_buffer;
    __typeof__(&MHD_create_response_from_callback) create_response_from_callback;
    __typeof__(&MHD_add_response_header) add_response_header;
    __typeof__(&MHD_queue_response) queue_response;
    __typeof__(&MHD_destroy_response) destroy_response;
    __typeof__(&MHD_get_version) get_version;
    /** The library is 1.0 or newer, and refuses unusual requests when it is told to. */
    bool strict;
};

/** Load the library once.  `soname` is NULL but in tests.  0 or AL_ERR_NOT_FOUND.  Threads: any. */
int al_http_library_load(const char *soname, const struct al_http_library **ret,
                         struct al_error *err);

#endif
