// SPDX-License-Identifier: Apache-2.0
/* The MCP clients that airlock can be installed in: their files, and how they write a server. */
#ifndef AL_CLI_INSTALL_CLIENTS_H
#define AL_CLI_INSTALL_CLIENTS_H

#include <stddef.h>

#include "cli/install/settings.h"

/** The name of airlock's entry. */
#define AL_CLIENT_ENTRY "airlock"
#define AL_CLIENT_TABLE "mcp_servers." AL_CLIENT_ENTRY

/** The meaning of an event of a client's hooks. */
enum al_event {
    AL_EVENT_NONE,
    AL_EVENT_START,  /**< a session begins */
    AL_EVENT_BEFORE, /**< before a tool */
    AL_EVENT_AFTER,  /**< after it */
    AL_EVENT_CLOSE,  /**< no tool of this agent of the session runs any more */
    AL_EVENT_END,    /**< no tool of the session does */
    AL_EVENT_ADD,    /**< a worktree is wanted, and its path is the answer */
    AL_EVENT_REMOVE, /**< it is not wanted any more */
};

/** The hooks of a client. */
struct al_client_hooks {
    struct al_client_event {
        const char *name;
        enum al_event event;
    } events[14];      /**< up to one without a name */
    const char *file;  /**< the settings that name hooks, below the working tree or the home */
    bool has_rules;    /**< they have rules about tools too, for --with-rules */
    const char *tools; /**< those that can change files, as the client's pattern: "Bash|Write" */
    int timeout;       /**< in the client's unit; airlock ends long before it, but for a worktree,
                            which has the client's own limit */
    const char *env_table; /**< of the client's TOML, with the environment of its shell; or NULL */
    bool rewrites;         /**< the answer may have another input of the tool */
    bool needs_trust;      /**< the client runs none before its user trusts it */
    bool shares_session;   /**< its MCP servers are in its session, so that git_undo finds these */
    bool denies_plainly;   /**< a decision stands at the top of the answer */
};

struct al_client {
    const char *name;         /**< as in `airlock install NAME` */
    const char *title;        /**< as the client calls itself */
    const char *project_file; /**< below the working tree; NULL: the client has only the user's */
    const char *user_file;    /**< below the home directory */
    bool is_toml;             /**< the files have a table [mcp_servers.airlock] */
    const char *path[3];      /**< names that lead to airlock's entry in JSON; NULL ends them */
    const char *first, *more; /**< members of the entry before and after the command; may be NULL */
    bool one_list;            /**< the command and its arguments are one list */
    const char *root;         /**< the client's own variable for the project's directory, or NULL */
    const struct al_client_hooks *hooks; /**< NULL: it has none that airlock knows */
};

/** All of them, in the order of their names. */
const struct al_client *al_clients(size_t *ret_count);

/** The client of this name; NULL: there is none, and *ret_nearest is a similar name or NULL. */
const struct al_client *al_client_find(const char *name, const char **ret_nearest);

/** The directory with the link that makes airlock this shell's git; NULL: there is none.  Caller
 * frees.
 *
 * @param may_come  Or it can be made: a package may come without, as one from npm does. */
char *al_client_shim(bool may_come);

/** Make the link, unless it is there. */
int al_client_make_shim(const char *dir, struct al_error *err);

/** The program of a hook of these settings, if it is airlock's command for this client; NULL: it is
 * another hook.  Caller frees. */
char *al_client_hook_program(const struct al_client *client, const json_t *hook);

#endif
