// SPDX-License-Identifier: Apache-2.0
#include "staging/heads.h"

#include <stdlib.h>

#include "util/mem.h"

void al_heads_clear(struct al_heads *heads)
{
    for (size_t i = 0; i < heads->count; i++) {
        free(heads->items[i].target);
        free(heads->items[i].branch);
        free(heads->items[i].commit);
    }
    free(heads->items);
    *heads = (struct al_heads){ .items = NULL };
}

void al_heads_copy(const struct al_heads *from, struct al_heads *ret_heads)
{
    *ret_heads = (struct al_heads){ .items = NULL };
    for (size_t i = 0; i < from->count; i++)
        al_heads_set(ret_heads, from->items[i].target, from->items[i].branch,
                     from->items[i].commit);
}

static struct al_head *find(const struct al_heads *heads, const char *target, const char *branch)
{
    for (size_t i = 0; i < heads->count; i++)
        if (!strcmp(heads->items[i].target, target) && !strcmp(heads->items[i].branch, branch))
            return &heads->items[i];
    return NULL;
}

const char *al_heads_find(const struct al_heads *heads, const char *target, const char *branch)
{
    const struct al_head *head = find(heads, target, branch);

    return head ? head->commit : NULL;
}

bool al_heads_differ(const struct al_heads *heads, const struct al_heads *others)
{
    for (size_t i = 0; i < heads->count; i++) {
        const struct al_head *head = &heads->items[i];
        const char *other = al_heads_find(others, head->target, head->branch);

        if (other && strcmp(other, head->commit) != 0)
            return true;
    }
    return false;
}

void al_heads_set(struct al_heads *heads, const char *target, const char *branch,
                  const char *commit)
{
    struct al_head *head = find(heads, target, branch);
    char *copy = al_strdup(commit); /* `commit` may be the one that is replaced */

    if (!head) {
        heads->items = al_reallocarray(heads->items, heads->count + 1, sizeof(*heads->items));
        head = &heads->items[heads->count++];
        *head = (struct al_head){ .target = al_strdup(target), .branch = al_strdup(branch) };
    }
    free(head->commit);
    head->commit = copy;
}

json_t *al_heads_to_json(const struct al_heads *heads)
{
    json_t *array = al_json_array();

    for (size_t i = 0; i < heads->count; i++) {
        json_t *object = al_json_object();

        al_json_set(object, "target", al_json_string(heads->items[i].target));
        al_json_set(object, "branch", al_json_string(heads->items[i].branch));
        al_json_set(object, "head", al_json_string(heads->items[i].commit));
        al_json_append(array, object);
    }
    return array;
}

void al_heads_from_json(const json_t *array, struct al_heads *ret_heads)
{
    const json_t *object;
    size_t i;

    *ret_heads = (struct al_heads){ .items = NULL };
    json_array_foreach(array, i, object)
    {
        const char *target = al_json_get_string(object, "target");
        const char *branch = al_json_get_string(object, "branch");
        const char *commit = al_json_get_string(object, "head");

        if (target && branch && commit)
            al_heads_set(ret_heads, target, branch, commit);
    }
}
