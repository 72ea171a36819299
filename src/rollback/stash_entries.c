// SPDX-License-Identifier: Apache-2.0
#include "rollback/stash_entries.h"

#include <stdlib.h>
#include <string.h>

#include "checkpoint/store.h"
#include "gitops/plumbing/stash_owners.h"
#include "rollback/plan.h"
#include "util/str.h"

int al_rollback_add_bytes(void *payload, size_t which, const char *data, size_t len, bool last,
                          struct al_error *err)
{
    struct al_str *texts = payload;

    (void)last;
    (void)err;
    al_str_add(&texts[which], data, len);
    return 0;
}

/* The ids of the entries of a log, newest first. */
static void list_ids(char *log, struct al_strv *ret_ids)
{
    al_auto(al_strv_clear) struct al_strv lines = AL_STRV_INIT;
    char *save = NULL;

    for (char *line = strtok_r(log, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
        al_strv_add(&lines, line);
    for (size_t i = lines.count; i > 0; i--) {
        const char *id = strchr(lines.items[i - 1], ' ');

        id = id ? id + 1 : "";
        al_strv_take(ret_ids, al_strndup(id, strcspn(id, " ")));
    }
}

static void compare(const struct al_stash_owners *owners, struct al_str texts[2],
                    struct al_strv *lost)
{
    al_auto(al_strv_clear) struct al_strv from = AL_STRV_INIT;
    al_auto(al_strv_clear) struct al_strv to = AL_STRV_INIT;

    if (texts[0].len)
        list_ids(texts[0].buf, &from);
    if (texts[1].len)
        list_ids(texts[1].buf, &to);
    for (size_t i = 0; i < from.count; i++) {
        al_auto(al_freep) char *whose = NULL;

        if (al_strv_contains(&to, from.items[i]) || al_stash_is_own(owners, from.items[i]))
            continue;
        whose = al_stash_owner_words(owners, from.items[i]);
        al_strv_addf(lost, "stash@{%zu} (%s)", i, whose);
    }
}

int al_rollback_find_stash_entries(struct al_store *store, const struct al_differences *changes,
                                   struct al_run_limits *budget, struct al_strv *lost,
                                   struct al_error *err)
{
    al_auto(al_stash_owners_clear) struct al_stash_owners owners = AL_STASH_OWNERS_INIT;
    struct al_str texts[2] = { AL_STR_INIT, AL_STR_INIT };
    int r = 0;

    al_stash_owners_read(store->repo, &owners);
    for (size_t i = 0; owners.is_shared && r == 0 && i < changes->count; i++) {
        const struct al_difference *change = &changes->items[i];
        const char *const oids[] = { change->from, change->to };
        al_auto(al_freep) char *words = al_difference_words(change);

        /* If the whole stash is lost, it says enough. */
        if (change->part != AL_PART_STASH || !change->from || al_strv_contains(lost, words))
            continue;
        r = al_checkpoint_read(store, oids, change->to ? 2 : 1, al_rollback_add_bytes, texts,
                               budget, err);
        if (r == 0)
            compare(&owners, texts, lost);
    }
    al_str_clear(&texts[0]);
    al_str_clear(&texts[1]);
    return r;
}
