// SPDX-License-Identifier: Apache-2.0
/* What airlock takes from an upstream server.  A line and the values in it are bounded as for
 * clients (wire/reader.h, wire/jsonrpc.h). */
#ifndef AL_UPSTREAM_LIMITS_H
#define AL_UPSTREAM_LIMITS_H

#include <stddef.h>

/** Tools of one server; the rest are left out. */
#ifndef AL_UPSTREAM_TOOLS_MAX
#define AL_UPSTREAM_TOOLS_MAX 1000u
#endif

/** Pages and bytes of one tools/list; a longer list is an error. */
#define AL_UPSTREAM_PAGES_MAX 200u
#ifndef AL_UPSTREAM_LIST_MAX_BYTES
#define AL_UPSTREAM_LIST_MAX_BYTES (16u * 1024u * 1024u)
#endif

/** Bytes of a tool's name: the limit of MCP. */
#define AL_UPSTREAM_NAME_MAX_BYTES 128u

/** Bytes of a title and of a description, which are cut. */
#define AL_UPSTREAM_TITLE_MAX_BYTES       256u
#define AL_UPSTREAM_DESCRIPTION_MAX_BYTES 4096u

/** Bytes and levels of brackets of a schema or of annotations. */
#define AL_UPSTREAM_SCHEMA_MAX_BYTES (64u * 1024u)
#define AL_UPSTREAM_SCHEMA_MAX_DEPTH 32

/** Levels of brackets in a result or a question: a thread that runs a call has a small stack. */
#define AL_UPSTREAM_RESULT_MAX_DEPTH 64

/** Calls of one server in flight. */
#define AL_UPSTREAM_CALLS_MAX 128u

/** Questions of one call that wait, and rounds of questions in results. */
#define AL_UPSTREAM_QUESTIONS_MAX 16u
#define AL_UPSTREAM_ROUNDS_MAX    8u

/** Messages within a period that nobody asked for: notifications, requests, answers to nothing,
 * lines that are no message.  A server that sends more is ended. */
#define AL_UPSTREAM_USELESS_MAX       100000u
#define AL_UPSTREAM_USELESS_PERIOD_MS 60000

/** Bytes of standard error that are read within a period.  A server that writes more waits for the
 * next one. */
#ifndef AL_UPSTREAM_ERRORS_MAX_BYTES
#define AL_UPSTREAM_ERRORS_MAX_BYTES (1024u * 1024u)
#define AL_UPSTREAM_ERRORS_PERIOD_MS 1000
#endif

/** Bytes of a text of the server's inside a message of airlock's. */
#define AL_UPSTREAM_QUOTED_MAX_BYTES 300u

/** The answer to server/discover is awaited this long before initialize is sent too: a server of
 * the older era may not answer what it does not know. */
#ifndef AL_UPSTREAM_PROBE_MS
#define AL_UPSTREAM_PROBE_MS 1000
#endif

/** The least time between two readings of the list of tools. */
#ifndef AL_UPSTREAM_RELIST_MS
#define AL_UPSTREAM_RELIST_MS 1000
#endif

/** The time from the end of its input until a server gets SIGTERM, and from there to SIGKILL. */
#ifndef AL_UPSTREAM_EOF_MS
#define AL_UPSTREAM_EOF_MS 500
#endif
#define AL_UPSTREAM_TERM_MS 500

/** The time from the end of its output until a process has to have ended. */
#ifndef AL_UPSTREAM_EXIT_MS
#define AL_UPSTREAM_EXIT_MS 2000
#endif

/** The time to read what the pipes of a process that has ended still hold. */
#define AL_UPSTREAM_REST_MS 1000

/** The wait before a server is started again: doubled up to the second value with each failure. */
#ifndef AL_UPSTREAM_BACKOFF_FIRST_MS
#define AL_UPSTREAM_BACKOFF_FIRST_MS 1000
#endif
#define AL_UPSTREAM_BACKOFF_MAX_MS 60000

/** A call waits for a server that is started again within this time. */
#define AL_UPSTREAM_PATIENCE_MS 4000

#endif
