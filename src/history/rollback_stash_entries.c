// SPDX-License-Identifier: Apache-2.0
#include "history/rollback_stash_entries.h"

#include <stdlib.h>
#include <string.h>

#include "gitops/plumbing/stash_owners.h"
#include "history/rollback_plan.h"
#include "history/store.h"
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

bool al_stash_log_has(const struct al_str *log, const char *line)
{
    const char *entry = strchr(line, ' ');

    return entry && log->len && strstr(log->buf, entry);
}

bool al_stash_line_is_others(const struct al_stash_owners *owners, const char *line)
{
    const char *id = strchr(line, ' ');
    al_auto(al_freep) char *oid = id ? al_strndup(id + 1, strcspn(id + 1, " ")) : NULL;

    return oid && al_stash_is_others(owners, oid);
}

char *al_stash_log_newest(const struct al_str *log)
{
    size_t at = log->len;
    const char *id;

    while (at > 0 && log->buf[at - 1] == '\n')
        at--;
    if (!at)
        return NULL;
    while (at > 0 && log->buf[at - 1] != '\n')
        at--;
    id = strchr(log->buf + at, ' ');
    return id ? al_strndup(id + 1, strcspn(id + 1, " ")) : NULL;
}

/* Append the lines of one log that belong to other worktrees and that another log does not have. */
static bool add_others(const struct al_stash_owners *owners, const struct al_str *now,
                       struct al_str *log)
{
    const size_t digits = now->len ? strcspn(now->buf, " ") : 0, len = log->len;
    al_auto(al_freep) char *lines = al_strndup(now->len ? now->buf : "", now->len);
    char *save = NULL;

    for (char *line = strtok_r(lines, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        al_auto(al_freep) char *newest = NULL;

        if (al_stash_log_has(log, line) || !al_stash_line_is_others(owners, line))
            continue;
        newest = al_stash_log_newest(log);
        if (newest)
            al_str_adds(log, newest);
        for (size_t i = 0; !newest && i < digits; i++)
            al_str_addc(log, '0');
        al_str_addf(log, "%s\n", strchr(line, ' '));
    }
    return log->len > len;
}

static struct al_difference *find_change(struct al_differences *changes, enum al_part part,
                                         const char *name)
{
    for (size_t i = 0; i < changes->count; i++)
        if (changes->items[i].part == part && (!name || !strcmp(changes->items[i].name, name)))
            return &changes->items[i];
    return NULL;
}

static void drop_change(struct al_differences *changes, struct al_difference *change)
{
    size_t at = (size_t)(change - changes->items);

    free(change->name);
    free(change->from);
    free(change->to);
    changes->count--;
    memmove(change, change + 1, (changes->count - at) * sizeof(*change));
}

/* Let refs/stash name the newest entry of a log. */
static void move_ref(struct al_differences *changes, const struct al_str *now,
                     const struct al_str *log)
{
    struct al_difference *ref = find_change(changes, AL_PART_REF, "refs/stash");

    if (!ref) {
        changes->items =
            al_reallocarray(changes->items, changes->count + 1, sizeof(*changes->items));
        ref = &changes->items[changes->count++];
        *ref = (struct al_difference){ .part = AL_PART_REF,
                                       .name = al_strdup("refs/stash"),
                                       .from = al_stash_log_newest(now) };
    }
    free(ref->to);
    ref->to = al_stash_log_newest(log);
    if (ref->from && ref->to && !strcmp(ref->from, ref->to))
        drop_change(changes, ref);
    if (changes->count)
        qsort(changes->items, changes->count, sizeof(*changes->items), al_difference_order);
}

static int write_log(struct al_pending_checkpoint *pending, const struct al_str *log,
                     struct al_difference *change, struct al_run_limits *budget,
                     struct al_error *err)
{
    char oid[AL_OID_TEXT];
    int r = al_pending_checkpoint_blob(pending, log, budget, oid, err);

    if (r < 0)
        return r;
    free(change->to);
    change->to = al_strdup(oid);
    change->to_mode = change->from_mode;
    return 0;
}

int al_rollback_keep_stash_entries(struct al_store *store, struct al_pending_checkpoint *pending,
                                   struct al_differences *changes, struct al_run_limits *budget,
                                   struct al_error *err)
{
    struct al_difference *change = find_change(changes, AL_PART_STASH, NULL);
    al_auto(al_stash_owners_clear) struct al_stash_owners owners = AL_STASH_OWNERS_INIT;
    struct al_str texts[2] = { AL_STR_INIT, AL_STR_INIT };
    int r = 0;

    al_stash_owners_read(store->repo, &owners);
    if (change && change->from && owners.is_shared)
        r = al_checkpoint_read(store, (const char *const[]){ change->from, change->to },
                               change->to ? 2 : 1, al_rollback_add_bytes, texts, budget, err);
    if (r == 0 && add_others(&owners, &texts[0], &texts[1])) {
        bool is_same =
            texts[0].len == texts[1].len && !memcmp(texts[0].buf, texts[1].buf, texts[0].len);

        if (is_same)
            drop_change(changes, change);
        else
            r = write_log(pending, &texts[1], change, budget, err);
        if (r == 0)
            move_ref(changes, &texts[0], &texts[1]);
    }
    al_str_clear(&texts[0]);
    al_str_clear(&texts[1]);
    return r;
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
