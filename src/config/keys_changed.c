// SPDX-License-Identifier: Apache-2.0
#include "config/keys_changed.h"

#include <string.h>

#include "config/keys.h"

static bool is_same_text(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

static bool are_same_strings(const struct al_strv *a, const struct al_strv *b)
{
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++)
        if (strcmp(a->items[i], b->items[i]) != 0)
            return false;
    return true;
}

static bool is_same_server(const struct al_mcp_server *a, const struct al_mcp_server *b)
{
    return !strcmp(a->name, b->name) && are_same_strings(&a->command, &b->command) &&
           are_same_strings(&a->env, &b->env) && a->limits_tools == b->limits_tools &&
           are_same_strings(&a->tools, &b->tools) && a->confine == b->confine &&
           a->timeout_ms == b->timeout_ms && are_same_strings(&a->allow.read, &b->allow.read) &&
           are_same_strings(&a->allow.write, &b->allow.write) &&
           are_same_strings(&a->allow.exec, &b->allow.exec) && a->allow.network == b->allow.network;
}

static bool are_same_servers(const struct al_mcp_servers *a, const struct al_mcp_servers *b)
{
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++)
        if (!is_same_server(&a->items[i], &b->items[i]))
            return false;
    return true;
}

static bool is_same(const struct al_key *key, const void *a, const void *b)
{
    switch (key->kind) {
    case AL_KEY_BOOL:
        return *(const bool *)a == *(const bool *)b;
    case AL_KEY_UINT32:
        return *(const uint32_t *)a == *(const uint32_t *)b;
    case AL_KEY_UINT64:
        return *(const uint64_t *)a == *(const uint64_t *)b;
    case AL_KEY_CHOICE:
        return *(const unsigned *)a == *(const unsigned *)b;
    case AL_KEY_STRING:
    case AL_KEY_ABS_FILE:
    case AL_KEY_FILE:
        return is_same_text(*(char *const *)a, *(char *const *)b);
    case AL_KEY_STRINGS:
        return are_same_strings(a, b);
    case AL_KEY_SERVERS:
        return are_same_servers(a, b);
    case AL_KEY_GRANTS:
    case AL_KEY_RULES:
    case AL_KEY_RULE_STRING:
    case AL_KEY_RULE_DECISION:
        break;
    }
    return true;
}

void al_keys_changed(const struct al_config *before, const struct al_config *after,
                     struct al_strv *ret_names)
{
    const struct al_key *key;

    for (size_t i = 0; (key = al_key_at(i)); i++)
        if (!is_same(key, (const char *)before + key->offset, (const char *)after + key->offset))
            al_strv_add(ret_names, key->path);
}
