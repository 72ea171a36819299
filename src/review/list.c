// SPDX-License-Identifier: Apache-2.0
#include "review/list.h"

#include <stdlib.h>
#include <string.h>

#include "review/queue.h"

static void clear_item(struct al_review_waiting *item)
{
    json_decref(item->entry);
    free(item->always);
}

void al_review_list_clear(struct al_review_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        clear_item(&list->items[i]);
    free(list->items);
    *list = AL_REVIEW_LIST_INIT;
}

/* Whether an entry has its members.  The process is one of this user, and may be of another
 * version. */
static bool is_entry(const json_t *entry)
{
    static const char *const members[] = { "id",      "time", "repository", "tool",    "operation",
                                           "summary", "risk", "text",       "deadline" };
    const char *id = al_json_get_string(entry, "id");

    for (size_t i = 0; i < AL_COUNT(members); i++)
        if (!al_json_get_string(entry, members[i]))
            return false;
    return strlen(id) == AL_REVIEW_ID_CHARS && !id[strspn(id, "0123456789abcdef")];
}

/* Oldest first; the times have equal lengths. */
static int compare(const json_t *one, const json_t *two)
{
    const int by_time = strcmp(al_json_get_string(one, "time"), al_json_get_string(two, "time"));

    return by_time ? by_time : strcmp(al_json_get_string(one, "id"), al_json_get_string(two, "id"));
}

bool al_review_list_add(struct al_review_list *list, pid_t pid, const json_t *line, size_t len)
{
    json_t *entry = json_object_get(line, "entry");
    size_t at = list->count;

    if (!is_entry(entry) || al_review_list_find(list, al_json_get_string(entry, "id")))
        return false;
    list->items = al_reallocarray(list->items, list->count + 1, sizeof(*list->items));
    while (at > 0 && compare(list->items[at - 1].entry, entry) > 0)
        at--;
    memmove(&list->items[at + 1], &list->items[at], (list->count - at) * sizeof(*list->items));
    list->items[at] = (struct al_review_waiting){
        .pid = pid,
        .entry = json_incref(entry),
        .always = al_strdup(al_json_get_string(line, "always")),
        .len = len,
    };
    list->count++;
    return true;
}

bool al_review_list_remove(struct al_review_list *list, pid_t pid, const char *id)
{
    size_t kept = 0;
    bool found;

    for (size_t i = 0; i < list->count; i++) {
        struct al_review_waiting *item = &list->items[i];

        if (item->pid == pid && (!id || !strcmp(al_json_get_string(item->entry, "id"), id)))
            clear_item(item);
        else
            list->items[kept++] = *item;
    }
    found = kept < list->count;
    list->count = kept;
    return found;
}

const struct al_review_waiting *al_review_list_find(const struct al_review_list *list,
                                                    const char *id)
{
    for (size_t i = 0; i < list->count; i++)
        if (!strcmp(al_json_get_string(list->items[i].entry, "id"), id))
            return &list->items[i];
    return NULL;
}
