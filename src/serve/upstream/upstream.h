// SPDX-License-Identifier: Apache-2.0
/*
 * An upstream MCP server: another program that speaks MCP on its standard input and output, and
 * whose tools airlock offers beside its own.  airlock is its client.
 *
 *   phase     what happens                                         a call
 *   idle      the server was not started yet                       starts it, and waits
 *   starting  its process runs; handshake and tools/list           waits until its own deadline
 *   ready     its tools are known                                  is sent
 *   waiting   it ended or could not start; it is started again     waits if that is soon, else
 * fails after 1, 2, 4 ... 60 seconds ended     al_upstream_end() was called fails
 *
 * Every server has a thread of its own, so a server that is slow, hangs or floods delays no other.
 * Its messages are bounded (serve/upstream/private.h): too much, or something that is no MCP, costs
 * the call concerned, or the process, and never airlock.
 *
 * Threads: every function may be called from any thread, except al_upstream_free().
 * Source: MCP 2024-11-05 to 2025-11-25 and 2026-07-28, from the side of the client.
 */
#ifndef AL_SERVE_UPSTREAM_UPSTREAM_H
#define AL_SERVE_UPSTREAM_UPSTREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/json.h"
#include "base/protocol_version.h"
#include "base/str.h"

struct al_cancel;
struct al_roots;

/** One `[mcp.servers.NAME]`.  All of it but `scratch_dir`, which is copied, outlives the server. */
struct al_upstream_settings {
    const char *name;
    const struct al_strv
        *command;              /**< program and arguments.  A name is looked up in `path_list` */
    const struct al_strv *env; /**< the user's "NAME=value", which replace those of airlock */
    bool confine;
    /** `[mcp.servers.NAME.allow]`: absolute paths.  Paths that are missing when the server starts
     * are skipped. */
    const struct al_strv *read, *write, *exec;
    bool network;
    uint32_t timeout_ms; /**< bounds start with the first list, each later list, and each call */

    const struct al_roots *roots; /**< the first one is the working directory; borrowed */
    const char *path_list;        /**< airlock's PATH */
    char *const *environ_;        /**< airlock's environment, of which the server gets a few */
    const char *scratch_dir;      /**< absolute: made at the first start, removed at the end */

    bool is_brief;   /**< for one call: a failure does not say when the server is started again */
    bool is_airlock; /**< airlock itself is tried: nobody is warned that it is not confined */
    bool elicitation, sampling; /**< what the client can be asked for, see al_upstream_ask_fn */

    /** The list of tools was read for the first time or has changed.  Runs on the server's thread:
     * must not block, and must not call a function of this header.  May be NULL. */
    void (*on_tools)(void *payload);
    void *payload;
};

struct al_upstream;

/** Never NULL, and starts nothing.  Free it with al_upstream_free(). */
struct al_upstream *al_upstream_new(const struct al_upstream_settings *settings);

/** Start the server unless it was started already.  Returns at once: call it for several servers,
 * and they start in parallel. */
void al_upstream_start(struct al_upstream *server);

/** Begin to end the server: its input is closed, and it is killed if it goes on.  Calls in flight
 * fail.  Returns at once: call it for several servers before al_upstream_free(). */
void al_upstream_end(struct al_upstream *server);

/** End the server, and wait until it and all that it has started are gone.  After the last call has
 * returned.  NULL is fine. */
void al_upstream_free(struct al_upstream *server);

/** The name of the settings.  Borrowed. */
const char *al_upstream_name(const struct al_upstream *server);

/**
 * The newest list of tools: an array that never changes, since a newer list is another one.
 *
 *   name           1 to 128 characters of [A-Za-z0-9_.-], unique
 *   title          one line; may be missing, as all that follow but inputSchema
 *   description
 *   inputSchema    an object whose `type` is "object"
 *   outputSchema   the same
 *   annotations    an object
 *
 * All text is safe.  Tools with other names or with an impossible input schema are left out. Starts
 * the server if nobody has, and waits for its first list.  A `wait_ms` also waits for the new list
 * of a server that has just said that it has changed.
 *
 * @param wait_ms  The longest wait; 0 asks for what is there.
 * @param cancel   May be NULL.
 * @return 0 with *ret_tools, whose reference the caller owns: also while the server is starting
 * again, from the time before.  AL_ERR_TIMEOUT: none yet, and it is still starting.
 *         AL_ERR_EXECUTION, AL_ERR_SANDBOX: why it could not start.  AL_ERR_CANCELLED.
 */
int al_upstream_tools(struct al_upstream *server, uint32_t wait_ms, struct al_cancel *cancel,
                      json_t **ret_tools, struct al_error *err);

/** The tool of this name; NULL: there is none.  Borrowed from `tools`. */
const json_t *al_upstream_tools_find(const json_t *tools, const char *name);

/** The progress of a call. */
struct al_upstream_progress {
    double progress;
    double total;        /**< negative: unknown */
    const char *message; /**< one safe line; NULL: none */
};

/**
 * A question of the server to the client that made the call.  Blocks until it is answered or
 * `cancel` fires, which it also does when the server no longer wants an answer.
 *
 * @param method  "elicitation/create" or "sampling/createMessage".
 * @param params  An object, of the server's making: neither text nor schema is checked.  Borrowed.
 * @return 0 with *ret_result, the client's result, whose reference the caller of this function
 * owns; NULL: the client gave none, and the server is told so.  A failure ends the call with this
 *         error.
 */
typedef int (*al_upstream_ask_fn)(void *payload, const char *method, const json_t *params,
                                  struct al_cancel *cancel, json_t **ret_result,
                                  struct al_error *err);

/** A call of a tool.  Borrowed for the duration of al_upstream_call(). */
struct al_upstream_call {
    const char *tool;
    /** The tool that was approved: a server that defines it otherwise when the call is sent,
     * perhaps since it was started again, is not asked.  NULL: any definition will do. */
    const json_t *definition;
    const json_t *arguments;  /**< an object; NULL: {} */
    uint32_t timeout_ms;      /**< 0: that of the settings.  Time spent in `ask` does not count */
    struct al_cancel *cancel; /**< may be NULL */

    /** Both run on the thread of the call, and may be NULL. */
    void (*progress)(void *payload, const struct al_upstream_progress *progress);
    al_upstream_ask_fn ask;
    void *payload;
};

/**
 * Call a tool, starting the server if needed, and wait for the result.
 *
 * @param[out] ret_result  The result object as the server sent it, within the limits and with a
 *                         `content` that is an array of objects, but not made safe and not cut.  An
 *                         `isError` result is a success here.  Caller owns the reference.
 * @return 0, or a negative enum al_status, with one line that names the server:
 *         AL_ERR_EXECUTION  it could not be started, ended meanwhile, answered with an error (which
 *                           the line has) or with something that is no result
 *         AL_ERR_SANDBOX    it could not be confined, so it was not started
 *         AL_ERR_TIMEOUT    no answer in time; the server was told to cancel
 *         AL_ERR_CANCELLED  `cancel` fired; the server was told to cancel
 *         any error of `ask`
 */
int al_upstream_call(struct al_upstream *server, const struct al_upstream_call *call,
                     json_t **ret_result, struct al_error *err);

/** See the table above. */
enum al_upstream_phase {
    AL_UPSTREAM_IDLE,
    AL_UPSTREAM_STARTING,
    AL_UPSTREAM_READY,
    AL_UPSTREAM_WAITING,
    AL_UPSTREAM_ENDED,
};

/** The state of a server that `airlock doctor` tells. */
struct al_upstream_state {
    enum al_upstream_phase phase;
    bool confined;
    const struct al_revision *revision; /**< of the last start that was ready; NULL: none yet */
    char *program; /**< "name version", as the server calls itself, safe; NULL */
    size_t ntools;
    size_t nleft_out; /**< tools left out: names, schemas, too many */
    char *left_out;   /**< why the first of them was left out, one line; NULL */
    char *problem;    /**< the last failure, one line; NULL: none since it was ready */
};

/** Fill *ret_state, for al_upstream_state_clear(). */
void al_upstream_get_state(struct al_upstream *server, struct al_upstream_state *ret_state);
void al_upstream_state_clear(struct al_upstream_state *state);

#endif
