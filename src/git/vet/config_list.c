// SPDX-License-Identifier: Apache-2.0
#include "git/vet/config_list.h"

#include <string.h>
#include <strings.h>

#define TOKEN_MAX_BYTES (64u * 1024u)

void al_config_list_clear(struct al_config_list *list)
{
    for (size_t i = 0; i < AL_COUNT(list->token); i++)
        al_str_clear(&list->token[i]);
}

static void entry_done(struct al_config_list *list)
{
    struct al_str *pair = &list->token[2];
    char *value = strchr(pair->buf, '\n');
    const char *scope = list->token[0].buf;
    const char *origin = list->token[1].buf;

    if (value)
        *value++ = '\0';
    list->take(list->payload,
               &(struct al_config_entry){
                   .of_repository = !strcmp(scope, "local") || !strcmp(scope, "worktree"),
                   .origin = al_starts_with(origin, "file:") ? origin + 5 : NULL,
                   .key = pair->buf,
                   .value = value ? value : "true",
               });
}

/* A longer value is cut; no key of interest has one. */
static void add_piece(struct al_str *token, const char *data, size_t len)
{
    size_t room = token->len < TOKEN_MAX_BYTES ? TOKEN_MAX_BYTES - token->len : 0;

    al_str_add(token, data, len < room ? len : room);
}

bool al_config_list_add(void *payload, const char *data, size_t len)
{
    struct al_config_list *list = payload;

    while (len) {
        const char *end = memchr(data, '\0', len);
        size_t piece = end ? (size_t)(end - data) : len;

        add_piece(&list->token[list->at], data, piece);
        if (!end)
            return true;
        if (++list->at == AL_COUNT(list->token)) {
            entry_done(list);
            for (size_t i = 0; i < AL_COUNT(list->token); i++)
                al_str_reset(&list->token[i]);
            list->at = 0;
        }
        data += piece + 1;
        len -= piece + 1;
    }
    return true;
}

bool al_git_is_true(const char *value)
{
    static const char *const no[] = { "false", "no", "off" };

    for (size_t i = 0; i < AL_COUNT(no); i++)
        if (!strcasecmp(value, no[i]))
            return false;
    return value[strspn(value, "0")] != '\0';
}
