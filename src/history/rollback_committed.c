// SPDX-License-Identifier: Apache-2.0
#include "history/rollback_committed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "gitops/oid.h"
#include "gitops/plumbing/index_scan.h"
#include "gitops/plumbing/rollback_plumbing.h"
#include "guard/text.h"
#include "history/store.h"
#include "util/fs.h"

/* As git: longer chains of symbolic references are an error. */
#define SYMBOLIC_MAX 5

/* --- The commits --- */

static const char *find_ref(const struct al_saved_state *state, const char *name)
{
    for (size_t i = 0; i < state->nrefs; i++)
        if (!strcmp(state->refs[i].name, name))
            return state->refs[i].value;
    return NULL;
}

/* The value that a reference has after the rollback; NULL: none. */
static const char *value_after(const struct al_restore *restore, const char *name)
{
    const struct al_difference key = { .part = AL_PART_REF, .name = (char *)(uintptr_t)name };
    const struct al_differences *changes = restore->changes;
    const struct al_difference *change =
        changes->count
            ? bsearch(&key, changes->items, changes->count, sizeof(key), al_difference_order)
            : NULL;

    return change ? change->to : find_ref(restore->from, name);
}

static void commit_after(const struct al_restore *restore, char ret_commit[AL_OID_TEXT])
{
    const char *value = restore->to->head;

    for (int i = 0; value && i < SYMBOLIC_MAX && al_starts_with(value, "ref: "); i++)
        value = value_after(restore, value + strlen("ref: "));
    (void)snprintf(ret_commit, AL_OID_TEXT, "%s",
                   value && !al_starts_with(value, "ref: ") ? value : AL_COMMIT_NONE);
}

/* The commit that HEAD led to in a checkpoint; "": the checkpoint does not tell. */
static void commit_then(const struct al_saved_state *state, char ret_commit[AL_OID_TEXT])
{
    const char *value = state->head;

    ret_commit[0] = '\0';
    for (int i = 0; value && i < SYMBOLIC_MAX && al_starts_with(value, "ref: "); i++)
        value = find_ref(state, value + strlen("ref: "));
    if (state->commit[0] || state->without & AL_PARTS_REFS)
        memcpy(ret_commit, state->commit, AL_OID_TEXT);
    else
        (void)snprintf(ret_commit, AL_OID_TEXT, "%s",
                       value && !al_starts_with(value, "ref: ") ? value : AL_COMMIT_NONE);
}

static void treeish_of(const struct al_store *store, const char *commit,
                       char ret_treeish[AL_OID_TEXT])
{
    struct al_oid none;

    (void)snprintf(ret_treeish, AL_OID_TEXT, "%s", commit);
    if (strcmp(commit, AL_COMMIT_NONE) != 0)
        return;
    al_oid_of(store->sha256, AL_OBJECT_TREE, "", 0, &none);
    al_oid_text(&none, store->sha256, ret_treeish);
}

/* --- The entries --- */

struct entry {
    char *name;
    struct al_oid oid;
    uint32_t mode;
    unsigned stage;
    bool name_only;
};

struct entries {
    struct entry *items; /* in the order of the index: by name, then by stage */
    size_t count, capacity;
    size_t oid_bytes;
};

static void entries_clear(struct entries *entries)
{
    for (size_t i = 0; i < entries->count; i++)
        free(entries->items[i].name);
    free(entries->items);
}

static bool add_entry(void *payload, const struct al_index_entry *entry)
{
    struct entries *entries = payload;
    struct entry *added;

    if (entries->count == entries->capacity) {
        entries->capacity = entries->capacity ? 2 * entries->capacity : 64;
        entries->items =
            al_reallocarray(entries->items, entries->capacity, sizeof(*entries->items));
    }
    added = &entries->items[entries->count++];
    *added = (struct entry){ .name = al_strdup(entry->name),
                             .mode = entry->mode,
                             .stage = entry->stage,
                             .name_only = entry->intent_to_add };
    memcpy(added->oid.bytes, entry->oid, entries->oid_bytes);
    return true;
}

/* False: some entries are elsewhere, or stand for directories. */
static bool read_entries(const struct al_saved_state *state, bool sha256,
                         struct entries *ret_entries)
{
    al_auto(al_closep) int fd = memfd_create("index", MFD_CLOEXEC);

    ret_entries->oid_bytes = al_oid_bytes(sha256);
    if (!state->has_index)
        return true;
    return fd >= 0 && al_write_all(fd, state->index.buf, state->index.len) == 0 &&
           al_index_read(fd, ret_entries->oid_bytes, add_entry, ret_entries) == AL_INDEX_WHOLE;
}

static int order(const struct entry *a, const struct entry *b)
{
    int by_name = strcmp(a->name, b->name);

    return by_name ? by_name : (int)a->stage - (int)b->stage;
}

static bool is_same(const struct entry *a, const struct entry *b)
{
    return al_oid_equal(&a->oid, &b->oid) && a->mode == b->mode && a->name_only == b->name_only;
}

/* Append the names of the entries that differ, sorted; each may be there more than once. */
static void compare(const struct entries *a, const struct entries *b, struct al_strv *ret_names)
{
    size_t i = 0, k = 0;

    while (i < a->count || k < b->count) {
        int which = i == a->count ? 1 : k == b->count ? -1 : order(&a->items[i], &b->items[k]);

        if (which != 0 || !is_same(&a->items[i], &b->items[k]))
            al_strv_add(ret_names, which > 0 ? b->items[k].name : a->items[i].name);
        i += which <= 0;
        k += which >= 0;
    }
}

/* Append those of `committed` whose entries the way back changes. */
static void add_changed(const struct al_restore *restore, const struct al_strv *committed,
                        struct al_strv *ret_files)
{
    al_auto(entries_clear) struct entries now = { .items = NULL }, then = { .items = NULL };
    al_auto(al_strv_clear) struct al_strv changed = AL_STRV_INIT;
    bool sha256 = restore->store->sha256;
    bool known =
        read_entries(restore->from, sha256, &now) && read_entries(restore->to, sha256, &then);

    if (known)
        compare(&now, &then, &changed);
    for (size_t i = 0; i < committed->count; i++)
        if (!known || al_strv_contains_sorted(&changed, committed->items[i]))
            al_strv_take(ret_files, al_text_sanitize_line(committed->items[i]));
}

/* --- Both together --- */

int al_committed_since(struct al_store *store, const struct al_repo *repo,
                       const struct al_way_back *way, const struct al_restore *restore,
                       struct al_strv *ret_committed, struct al_error *err)
{
    al_auto(al_saved_state_clear) struct al_saved_state state = { .index = AL_STR_INIT };
    al_auto(al_strv_clear) struct al_strv committed = AL_STRV_INIT;
    al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;
    char then[AL_OID_TEXT] = "", after[AL_OID_TEXT], from[AL_OID_TEXT], to[AL_OID_TEXT];
    int r;

    if (!way->staged_of[0])
        return 0;
    r = al_checkpoint_state(store, way->staged_of, restore->budget, &state, err);
    if (r < 0)
        return r;
    commit_then(&state, then);
    commit_after(restore, after);
    if (!then[0] || !strcmp(then, after))
        return 0;
    treeish_of(store, then, from);
    treeish_of(store, after, to);
    r = al_git_changed_files(repo, from, to, restore->budget, &committed, &why);
    if (r == AL_ERR_TIMEOUT || r == AL_ERR_CANCELLED)
        return al_error_set(err, r, "%s", why.message);
    if (r < 0) /* a commit that was amended, and is gone */
        al_strv_add(ret_committed, "the index (what is staged)");
    else
        add_changed(restore, &committed, ret_committed);
    return 0;
}

int al_committed_check(const struct al_strv *committed, struct al_error *err)
{
    if (!committed->count)
        return 0;
    return al_error_set(err, AL_ERR_APPROVAL_REQUIRED,
                        "what was staged has been committed since, so going back would stage the "
                        "opposite of that commit; --force rolls back all the same");
}
