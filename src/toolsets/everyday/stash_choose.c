// SPDX-License-Identifier: Apache-2.0
#include "toolsets/everyday/stash_choose.h"

#include <string.h>
#include <strings.h>

#include "answer/failure.h"
#include "gitops/plumbing/stash_owners.h"

#define DIGITS_MAX 6u

static int no_entry(struct al_error *err, const char *message)
{
    int r = al_failure_set(err, "git_stash with action list shows the entries there are.", "%s",
                           message);

    if (err) {
        err->code = AL_CODE_STASH_EMPTY;
        err->reason = "not_found";
    }
    return r;
}

bool al_stash_is_number(const char *id, size_t *ret_number)
{
    static const char before[] = "stash@{";
    const char *at = id + sizeof(before) - 1;
    size_t digits = 0;

    *ret_number = 0;
    if (!al_starts_with(id, before))
        return false;
    for (; *at >= '0' && *at <= '9' && digits <= DIGITS_MAX; at++, digits++)
        *ret_number = *ret_number * 10 + (size_t)(*at - '0');
    return digits && digits <= DIGITS_MAX && !strcmp(at, "}");
}

/* The entry of a number, of all working trees as git numbers them. */
static int find_numbered(const struct al_strv *entries, size_t number, const char **ret_entry,
                         struct al_error *err)
{
    al_auto(al_freep) char *missing = al_asprintf("No stash entry stash@{%zu}", number);

    if (number >= entries->count)
        return no_entry(err, missing);
    *ret_entry = entries->items[number];
    return 0;
}

/* The entry whose id begins so. */
static int find_named(const struct al_strv *entries, const char *id, const char **ret_entry,
                      struct al_error *err)
{
    al_auto(al_freep) char *missing = al_asprintf("No stash entry %s", id);

    *ret_entry = NULL;
    for (size_t i = 0; i < entries->count; i++) {
        if (strncasecmp(entries->items[i], id, strlen(id)) != 0)
            continue;
        if (*ret_entry)
            return al_failure_bad_args(err, "Give more digits of it.",
                                       "id: %s names more than one entry", id);
        *ret_entry = entries->items[i];
    }
    return *ret_entry ? 0 : no_entry(err, missing);
}

static int find_newest(const struct al_stash_owners *owners, const struct al_strv *entries,
                       bool pops, const char **ret_entry, struct al_error *err)
{
    *ret_entry = NULL;
    if (pops && owners->is_shared && owners->pushed_nothing)
        return no_entry(err, "The last push in this worktree saved nothing, so there is nothing "
                             "to pop");
    for (size_t i = 0; i < entries->count && !*ret_entry; i++)
        if (!owners->is_shared || al_stash_is_own(owners, entries->items[i]))
            *ret_entry = entries->items[i];
    if (*ret_entry)
        return 0;
    return no_entry(err, owners->is_shared ? "This worktree has no stash entry"
                                           : "There is no stash entry");
}

int al_stash_choose(struct al_call *call, const char *id, bool pops, struct al_resolved *out,
                    struct al_error *err)
{
    al_auto(al_stash_owners_clear) struct al_stash_owners owners = AL_STASH_OWNERS_INIT;
    al_auto(al_strv_clear) struct al_strv entries = AL_STRV_INIT;
    al_auto(al_freep) char *whose = NULL;
    const char *entry = NULL;
    size_t number;
    int r;

    al_stash_owners_read(al_call_repo(call), &owners);
    al_git_stash_entries(al_call_repo(call), &entries);
    if (id && al_stash_is_number(id, &number))
        r = find_numbered(&entries, number, &entry, err);
    else
        r = id ? find_named(&entries, id, &entry, err)
               : find_newest(&owners, &entries, pops, &entry, err);
    if (r < 0)
        return r;
    whose = al_stash_owner_words(&owners, entry);
    al_resolved_add(out, AL_STASH_ENTRY, entry);
    al_resolved_add(out, AL_STASH_WHOSE, owners.is_shared ? whose : "this worktree");
    return 0;
}
