// SPDX-License-Identifier: Apache-2.0
#include "config/mcp_server.h"

#include <stdlib.h>
#include <string.h>

static void server_clear(struct al_mcp_server *server)
{
    free(server->name);
    al_strv_clear(&server->command);
    al_strv_clear(&server->env);
    al_strv_clear(&server->tools);
    al_strv_clear(&server->allow.read);
    al_strv_clear(&server->allow.write);
    al_strv_clear(&server->allow.exec);
}

void al_mcp_servers_clear(struct al_mcp_servers *servers)
{
    for (size_t i = 0; i < servers->count; i++)
        server_clear(&servers->items[i]);
    free(servers->items);
    *servers = (struct al_mcp_servers){ .items = NULL };
}

static struct al_strv copy_of(const struct al_strv *strings)
{
    struct al_strv copy = AL_STRV_INIT;

    for (size_t i = 0; i < strings->count; i++)
        al_strv_add(&copy, strings->items[i]);
    return copy;
}

void al_mcp_servers_copy(struct al_mcp_servers *to, const struct al_mcp_servers *from)
{
    to->items = from->count ? al_calloc(from->count, sizeof(*to->items)) : NULL;
    to->count = from->count;
    for (size_t i = 0; i < from->count; i++) {
        const struct al_mcp_server *server = &from->items[i];
        struct al_mcp_server *copy = &to->items[i];

        *copy = *server;
        copy->name = al_strdup(server->name);
        copy->command = copy_of(&server->command);
        copy->env = copy_of(&server->env);
        copy->tools = copy_of(&server->tools);
        copy->allow.read = copy_of(&server->allow.read);
        copy->allow.write = copy_of(&server->allow.write);
        copy->allow.exec = copy_of(&server->allow.exec);
    }
}
