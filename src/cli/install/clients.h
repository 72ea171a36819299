// SPDX-License-Identifier: Apache-2.0
/* The MCP clients that airlock can be installed in: their files, and how they write a server. */
#ifndef AL_CLI_INSTALL_CLIENTS_H
#define AL_CLI_INSTALL_CLIENTS_H

#include <stddef.h>

#include "cli/install/settings_text.h"

/** The name of airlock's entry. */
#define AL_CLIENT_ENTRY "airlock"

/** The language of a settings file. */
enum al_client_format { AL_CLIENT_JSON, AL_CLIENT_TOML };

struct al_client {
    const char *name;         /**< as in `airlock install NAME` */
    const char *title;        /**< as the client calls itself */
    const char *project_file; /**< below the working tree; NULL: the client has only the user's */
    const char *user_file;    /**< below the home directory */
    enum al_client_format format;
    const char *path[3]; /**< names that lead to airlock's entry in JSON; NULL ends them */
    /** The entry for a command of a program and its arguments.  A new reference. */
    json_t *(*make)(const struct al_strv *command);
    /** Add the command of an entry to `ret`.  False: it has none. */
    bool (*read)(const json_t *entry, struct al_strv *ret);
    const char *project_rules, *user_rules; /**< files of --with-rules; NULL: not supported */
};

/** All of them, in the order of their names. */
const struct al_client *al_clients(size_t *ret_count);

/** The client of this name; NULL: there is none, and *ret_nearest is a similar name or NULL. */
const struct al_client *al_client_find(const char *name, const char **ret_nearest);

/** The entry of airlock in a client's settings.  A new reference; NULL: there is none. */
json_t *al_client_get(const struct al_client *client, const struct al_settings_text *settings);

/** Set the entry.  0 or AL_ERR_BAD_ARGS. */
int al_client_put(const struct al_client *client, struct al_settings_text *settings,
                  const json_t *entry, struct al_error *err);

/** Remove the entry, if there is one.  0 or AL_ERR_BAD_ARGS. */
int al_client_remove(const struct al_client *client, struct al_settings_text *settings,
                     struct al_error *err);

/** A list of strings, from one of them on.  A new reference. */
json_t *al_client_list(const struct al_strv *command, size_t first);

/** Append the strings of a list.  False: it is none, or has something else. */
bool al_client_strings(const json_t *list, struct al_strv *ret);

#endif
