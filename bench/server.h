// SPDX-License-Identifier: Apache-2.0
/* An MCP client of a real `airlock serve`, over two pipes. */
#ifndef BENCH_SERVER_H
#define BENCH_SERVER_H

#include <stddef.h>
#include <sys/types.h>

#include "base/str.h"

struct server {
    pid_t pid;
    int in, out;
    int next_id;
    struct al_str read; /**< bytes that arrived and were not parsed yet */
};

/** Start it with these roots (NULL-terminated) and one toolset, and wait until `initialize` is
 * answered. */
void server_start(struct server *server, const char *airlock, const char *const *roots,
                  const char *toolset);

/** The same with more options (NULL-terminated). */
void server_start_with(struct server *server, const char *airlock, const char *const *roots,
                       const char *toolset, const char *const *options);

/** Close its input, wait for its end. */
void server_stop(struct server *server);

/** Ask for a tool call; `arguments` is a JSON object. */
void server_send(struct server *server, const char *tool, const char *arguments);

/** Wait for one answer; gives its length.  A failed call ends the benchmark. */
size_t server_receive(struct server *server);

/** A field of /proc/<pid>/status in KiB ("VmRSS", "VmHWM"). */
long server_memory_kib(const struct server *server, const char *field);

#endif
