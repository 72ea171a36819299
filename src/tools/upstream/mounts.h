// SPDX-License-Identifier: Apache-2.0
/*
 * Mounted tools: those of other MCP servers, which come and go while a session runs.
 *
 * The registry of native tools never changes.  Mounted tools are in lists: each is made of what the
 * servers have when it is asked for, and never changes.  A user of a tool of a list keeps the
 * list.  serve/mcp and cli ask for it, and find a tool in it by name.
 *
 * Threads: every function may be called from any thread.
 */
#ifndef AL_TOOLS_UPSTREAM_MOUNTS_H
#define AL_TOOLS_UPSTREAM_MOUNTS_H

#include "call/registry.h"
#include "serve/upstream/upstream.h"

struct al_mounts;
struct al_result;

/** The beginning of every name of a mounted tool: "mcp__NAME__tool". */
#define AL_MOUNTS_PREFIX "mcp__"

/** The longest name of a tool: clients and models refuse longer ones. */
#define AL_MOUNTS_NAME_MAX_BYTES 64

/** The tools that were mounted at one time, by server in the order of their names. */
struct al_mounted_list {
    struct al_listed_tool *items;
    size_t count;
};

/** Start every server that is not started, and wait until the tools of all are known or cannot be,
 * for `wait_ms` at most.  `mounts` may be NULL. */
void al_mounts_await(struct al_mounts *mounts, uint32_t wait_ms, struct al_cancel *cancel);

/** A list of what there is now, for al_mounted_list_free().  Starts nothing and never waits long.
 * NULL for NULL. */
const struct al_mounted_list *al_mounts_list(const struct al_mounts *mounts);
void al_mounted_list_free(const struct al_mounted_list *list);

/** Test whether a name is that of a tool of a configured server, which may not be started and need
 * not have the tool.  False without mounts. */
bool al_mounts_claims(const struct al_mounts *mounts, const char *name);

/**
 * Find a tool by its name.  Starts the server of the name, and no other, and waits for its list.
 *
 * @param[out] ret_list  For al_mounted_list_free(), while *ret_tool is used.
 * @return 0; AL_ERR_NOT_FOUND: the server has no such tool, or it is not mounted; AL_ERR_EXECUTION,
 *         AL_ERR_SANDBOX, AL_ERR_TIMEOUT: why its tools are not known; AL_ERR_CANCELLED.
 */
int al_mounts_find(struct al_mounts *mounts, const char *name, struct al_cancel *cancel,
                   const struct al_mounted_list **ret_list, const struct al_listed_tool **ret_tool,
                   struct al_error *err);

/** Test whether a mounted tool takes the place of the native tool of this name (`prefer_mcp`).
 * False without mounts. */
bool al_mounts_replaces(struct al_mounts *mounts, const char *native);

/** Have `changed` called after every change of the list, on a thread of a server.  It must not
 * block and not call a function of this header.  NULL: no longer; when this returns, it is not
 * running. */
void al_mounts_watch(struct al_mounts *mounts, void (*changed)(void *payload), void *payload);

/* --- The tools of other MCP servers as a session is given them --- */

/** One configured server.  Borrowed while al_upstream_mounts_new() runs. */
struct al_mount_options {
    struct al_upstream_settings settings; /**< without `on_tools` and `payload` */
    bool limits_tools;                    /**< false: every tool is mounted */
    const struct al_strv *tools;          /**< the server's names of the tools that are mounted */
};

/** Make the mounts of a session.  Starts nothing.
 *
 * @param options     The servers, sorted by name.
 * @param native      The native tools of the session.  Borrowed.
 * @param prefer_mcp  False: a tool with the name of a native one is left out.
 * Ownership: al_upstream_mounts_free().
 */
struct al_mounts *al_upstream_mounts_new(const struct al_mount_options *options, size_t noptions,
                                         const struct al_registry *native, bool prefer_mcp);

/** End all servers, and wait until they are gone.  After the last call; NULL is fine. */
void al_upstream_mounts_free(struct al_mounts *mounts);

/** The number of servers, and each of them.  Borrowed. */
size_t al_upstream_mounts_count(const struct al_mounts *mounts);
struct al_upstream *al_upstream_mounts_server(const struct al_mounts *mounts, size_t which);

/** Append a line for each tool that is not mounted because its name does not fit: "SERVER: 'tool'
 * is too long …"; and for each tool that the configuration names and the server does not have.
 *
 * @param found           From al_mounts_list() of these mounts.
 * @param ret_collisions  A line for each server that has tools with the names of native ones:
 *                        "SERVER: git_status, git_log".
 */
void al_upstream_mounts_left_out(const struct al_mounts *mounts,
                                 const struct al_mounted_list *found, struct al_strv *ret_lines,
                                 struct al_strv *ret_collisions);

/* --- The parts of a mounted tool --- */

/*
 * A name is "mcp__SERVER__tool", within what every client and every model accepts: 64 letters,
 * digits, '_' and '-'.  A tool whose name does not fit is left out, since any other name for it
 * would have to be guessed.  The configuration makes sure that SERVER ends at the first "__".
 */

/** The length of SERVER in a name of the form "mcp__SERVER__tool"; 0: the name has another form.
 * SERVER begins after AL_MOUNTS_PREFIX. */
size_t al_mounted_server(const char *name);

/** Why the name of a tool does not fit: one line of safe text that begins with it.  NULL: it fits.
 * Caller frees. */
char *al_mounted_refusal(const char *server, const char *tool);

/**
 * The parameters of elicitation/create as they are passed on.
 *
 * @param params  As the server sent them.
 * @return an object, whose reference the caller owns; NULL: not a form with a message and a schema.
 */
json_t *al_question_params(const json_t *params, const char *server, const char *tool);

/**
 * Fill `out` from a result: content, text, structured, meta, truncated.
 *
 * @param result     A result with the array `content`.
 * @param max_bytes  For all content together, and once more for the structured content.
 * @param server     The server's name, for messages.
 * @param has_schema The tool has an output schema, so its structured content cannot be left out.
 * @return 0; AL_ERR_EXECUTION: the server says that the tool failed, with `out` filled all the
 * same; or the structured content is too large to be left out, with nothing filled.
 */
int al_upstream_take_result(const json_t *result, size_t max_bytes, const char *server,
                            bool has_schema, struct al_result *out, struct al_error *err);

#endif
