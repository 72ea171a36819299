// SPDX-License-Identifier: Apache-2.0
#include "staging/store.h"

#include "base/sorted.h"
#include "staging/sandbox/sandbox.h"

struct al_range al_choose_range(const struct al_choosing *from, const char *dir)
{
    al_auto(al_freep) char *first = al_asprintf("%s/", dir);
    al_auto(al_freep) char *behind = al_asprintf("%s0", dir); /* '0' follows '/' */

    if (!*dir)
        return (struct al_range){ 0, from->count };
    return (struct al_range){
        al_sorted_lower_bound(from->items, from->count, from->item_bytes, first),
        al_sorted_lower_bound(from->items, from->count, from->item_bytes, behind)
    };
}

bool al_choose_path(const struct al_choosing *from, const char *path, bool may_be_file)
{
    size_t at =
        may_be_file ? al_sorted_find(from->items, from->count, from->item_bytes, path) : SIZE_MAX;
    struct al_range range =
        at == SIZE_MAX ? al_choose_range(from, path) : (struct al_range){ at, at + 1 };

    for (size_t i = range.begin; from->chosen && i < range.end; i++)
        from->chosen[i] = true;
    return range.begin < range.end;
}

static bool matches(const char *pattern, bool is_whole, const char *path)
{
    al_auto(al_freep) char *below = NULL;
    al_auto(al_freep) char *whole = NULL;

    if (!is_whole)
        return al_sandbox_match(pattern, path);
    /* A directory in front makes a pattern without a '/' stand for files of the top alone. */
    below = al_asprintf("workspace/%s", pattern);
    whole = al_asprintf("workspace/%s", path);
    return al_sandbox_match(below, whole);
}

int al_choose_matching(const struct al_choosing *from, const char *pattern, bool is_whole,
                       bool *ret_any, struct al_error *err)
{
    int r = 0;

    *ret_any = false;
    for (size_t i = 0; i < from->count && r == 0; i++) {
        const char *const *path = (const void *)((const char *)from->items + i * from->item_bytes);

        r = al_deadline_step(from->deadline, err);
        if (!matches(pattern, is_whole, *path))
            continue;
        *ret_any = true;
        if (from->chosen)
            from->chosen[i] = true;
    }
    return r;
}

bool al_choose_is_pattern(const char *word)
{
    return strpbrk(word, "*?[") != NULL;
}
