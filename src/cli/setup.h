// SPDX-License-Identifier: Apache-2.0
/*
 * A session made from the options and the configuration file.
 *
 * Call in this order, as far as the command needs it; al_setup_clear() follows in every case, also
 * after a failure:
 *
 *   al_setup_config()   configuration, home, state directory, journal file; creates nothing
 *   al_setup_tools()    the worker file, the tools of the chosen toolsets
 *   al_setup_git()      the roots and the git program; needs al_setup_config() only
 *   al_setup_session()  everything else: journal, git layer, checkpoints, shell
 */
#ifndef AL_CLI_SETUP_H
#define AL_CLI_SETUP_H

#include <stdbool.h>

#include "base/error.h"
#include "call/call.h"
#include "call/registry.h"
#include "cli/config/config.h"
#include "cli/config/worker.h"
#include "cli/options.h"
#include "guard/root.h"
#include "history/checkpoint.h"
#include "tools/upstream/mounts.h"

struct al_review_server;

/** Everything that a session needs.  All strings are owned. */
struct al_setup {
    struct al_config config;
    struct al_worker worker;                             /**< of --worker; after al_setup_tools() */
    char *home, *state_dir, *journal_file, *git_program; /**< absolute paths; NULL: unknown */
    char *agent;        /**< of the session; NULL: the client's name; after al_setup_tools() */
    char *servers_dir;  /**< for the files of other MCP servers; NULL: there are none */
    char *options;      /**< for session.options */
    char *fallback_dir; /**< replaces the state directory when that is not writable; else NULL */
    struct al_roots roots;
    struct al_registry registry; /**< the tools of the chosen ones */
    struct al_checkpoint_settings checkpoints;
    struct al_session session;
    struct al_review_server *review_server; /**< of session.review; NULL: it has no other doors */
    bool review_listens;                    /**< it has its socket, or could not get it */
    const struct al_mounted_list *mounted;  /**< that a command uses; NULL: none */
    bool asks_client; /**< a client can be asked questions of other MCP servers: `serve` alone */
    const char *client_session; /**< id of the client's session that this process belongs to,
                                     borrowed; NULL: none; after al_setup_session() */
    bool serves_shell;   /**< before al_setup_tools(): `airlock git` and its like: standard error is
                            git's, and says nothing of this machine, which airlock doctor does */
    bool many_agents;    /**< `session` is what all agents share, and no agent's own */
    bool auto_pulls;     /**< auto_pull of the worker file happens: in `serve` and `call` alone */
    bool named_toolsets; /**< --toolset is given, which takes precedence over the worker file */
};

/** The variables with the session that a command in a client's shell belongs to, and the client, if
 * that is known by it.  NULL ends them. */
extern const struct al_shell_session {
    const char *variable, *client;
} al_shell_sessions[];

/** Read the configuration, apply the options and find home, state directory and journal file.
 * Creates nothing.  Returns 0 or AL_ERR_BAD_ARGS. */
int al_setup_config(struct al_setup *setup, const struct al_options *options, struct al_error *err);

/** Read the configuration and apply the options, as al_setup_config() does.  Release `config` with
 * al_config_clear(), also after a failure. */
int al_setup_read_config(const struct al_setup *setup, const struct al_options *options,
                         struct al_config *config, struct al_error *err);

/** Read the worker file, and register the tools of the chosen toolsets.  Call al_setup_config()
 * first.  The name of an error is the option that says the same as what is wrong: "--worker". */
int al_setup_tools(struct al_setup *setup, struct al_error *err);

/** Choose what limits an agent: the grant of this name (NULL: none), and with a worker file that
 * one's too.  Of al_setup_tools() for the session itself. */
int al_setup_choose_grant(const struct al_setup *setup, struct al_config *config, const char *name,
                          const struct al_grant **ret_grant, struct al_error *err);

/** An agent's name: one that the user chose comes before the names of what limits it.  NULL: the
 * client's.  Caller frees. */
char *al_setup_agent_name(const struct al_setup *setup, const struct al_config *config,
                          const char *chosen, const char *grant);

/** Open the roots and find the git program outside of them.  Call al_setup_config() first.  The
 * program is searched for even when a root cannot be used, which is AL_ERR_BAD_ARGS. */
int al_setup_git(struct al_setup *setup, struct al_error *err);

/** Open the session: roots, journal, git layer, checkpoints, shell.  Call al_setup_tools() first.
 * AL_ERR_BAD_ARGS means that the user has to correct an option or the configuration (exit code 2).
 */
int al_setup_session(struct al_setup *setup, struct al_error *err);

/**
 * Make what an agent has for itself: its sandbox, its staging and its shell, if a tool of them is
 * offered.  Part of al_setup_session(), unless there are many agents; then call it for each, after
 * that.
 *
 * @param session  The session of the agent, with its grant.  Clear it with al_setup_clear_agent(),
 *                 also after a failure.
 */
int al_setup_agent(const struct al_setup *setup, struct al_session *session, struct al_error *err);

/** Release what al_setup_agent() made. */
void al_setup_clear_agent(struct al_session *session);

/** Prepare a session for one call alone: an "always" can outlive it in a client's session only. */
void al_setup_one_call(struct al_setup *setup);

/** The file of what the user always allows in a client's session, in all its processes.  Caller
 * frees; NULL: there is no session. */
char *al_setup_always_file(const struct al_setup *setup, const char *session);

/** The file with the sessions that a client was in so far, a line for each.  Caller frees. */
char *al_setup_client_file(const struct al_setup *setup, pid_t client);

/** Open the staging, for a session without a tool of it.  Call al_setup_session() first.
 * AL_ERR_NOT_FOUND with `must_exist` when nothing was ever staged. */
int al_setup_staging(const struct al_setup *setup, struct al_session *session, bool must_exist,
                     struct al_error *err);

/** Settle which git directories outside of these roots belong to them; part of al_setup_git(). */
int al_setup_git_dirs(const struct al_setup *setup, struct al_roots *roots, struct al_error *err);

/** Refuse a worker file inside a root, and narrow the roots to those it names; part of
 * al_setup_session(). */
int al_setup_worker_roots(struct al_setup *setup, struct al_error *err);

/** The first of these places, or of some others, that a path contains or is, or of airlock's own
 * directories that it lies in.  NULL: none.  Caller frees. */
char *al_setup_overlap(const struct al_setup *setup, const struct al_strv *others, const char *path,
                       bool *ret_contains);

/** The directory of airlock's sockets in a login session; NULL: there is no such session.  Caller
 * frees. */
char *al_setup_runtime_dir(void);

/** The possible directories of the sockets of `airlock review`, in the order of preference. */
void al_setup_review_dirs(const struct al_setup *setup, struct al_strv *ret_dirs);

/** Make the queue of questions (session.review).  After al_setup_session(), and before
 * al_signals_handle(), whose thread serves its socket. */
void al_setup_review(struct al_setup *setup);

/** Make the queue's socket, unless there is one.  A failure is a warning: the questions are asked
 * all the same. */
void al_setup_review_listen(struct al_setup *setup);

/** Make the socket, if a review lives that attaches to every process, and let questions wait for
 * it: a command that nobody can be asked by needs that. */
void al_setup_review_await(struct al_setup *setup);

/** Make what mounts the tools of other MCP servers, and start none of them; part of
 * al_setup_session(). */
int al_setup_upstream(struct al_setup *setup, struct al_error *err);

/** Test whether a session with this grant may use other MCP servers: they can use everything below
 * the roots.  NULL: everything is granted. */
bool al_setup_may_mount(const struct al_setup *setup, const struct al_grant *grant);

/** End the servers; part of al_setup_clear(). */
void al_setup_clear_upstream(struct al_setup *setup);

/** Start every server, wait for its tools, and list them.  NULL without a server.  Borrowed until
 * this is called again.  After al_setup_session(). */
const struct al_mounted_list *al_setup_mounted(struct al_setup *setup);

/** Find a tool of another server, for a name that al_mounts_claims().  Starts this server alone.
 * Borrowed. */
int al_setup_find_mounted(struct al_setup *setup, const char *name,
                          const struct al_listed_tool **ret_tool, struct al_error *err);

/** Release the session and everything else; signals leave it alone from then on. */
void al_setup_clear(struct al_setup *setup);

#endif
