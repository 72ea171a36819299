// SPDX-License-Identifier: Apache-2.0
/* Files in memory: one sorted list.  A file that came from a store is only its id and mode until it
 * is written. */
#include <stdlib.h>

#include "sandbox/memory_list.h"

static void memory_free(void *state)
{
    struct al_memory_list *memory = state;

    for (size_t i = 0; i < memory->count; i++)
        al_memory_file_free(memory->items[i]);
    free(memory->items);
    free(memory);
}

/* Why there is no file of this name. */
static int missing(const struct al_memory_list *memory, const char *path, struct al_error *err)
{
    return al_memory_list_has_directory(memory, path) ? al_sandbox_is_directory(path, err)
                                                      : al_sandbox_missing(path, err);
}

/* Reading a part of an object that arrives in pieces. */

/** The part that is wanted. */
struct part {
    uint64_t skip; /* before it */
    size_t left;
    struct al_str *out;
    uint64_t total; /* bytes seen */
};

static int take_part(void *payload, size_t which, const char *data, size_t len, bool last,
                     struct al_error *err)
{
    struct part *part = payload;
    size_t skip = part->skip < len ? (size_t)part->skip : len;
    size_t want = len - skip < part->left ? len - skip : part->left;

    (void)which;
    (void)last;
    (void)err;
    part->skip -= skip;
    part->total += len;
    part->left -= want;
    al_str_add(part->out, data + skip, want);
    return 0;
}

static void remember_size(struct al_sandbox *sandbox, const char *path, const struct al_oid *oid,
                          uint64_t size)
{
    struct al_memory_file *entry;

    (void)pthread_mutex_lock(&sandbox->lock);
    entry = al_memory_list_find(sandbox->state, path);
    if (entry && entry->has_oid && al_oid_equal(&entry->oid, oid)) {
        entry->size = size;
        entry->has_size = true;
    }
    (void)pthread_mutex_unlock(&sandbox->lock);
}

/* The lock is not held: the store starts git. */
static int read_stored(struct al_sandbox *sandbox, const char *path, const struct al_oid *oid,
                       struct part *part, struct al_error *err)
{
    char text[AL_OID_TEXT];
    const char *oids[] = { text };
    int r;

    if (!sandbox->source.read)
        return al_sandbox_fail(err, AL_ERR_EXECUTION, path, "", " cannot be read: it has no store");
    al_oid_text(oid, sandbox->sha256, text);
    r = sandbox->source.read(sandbox->source.payload, oids, 1, take_part, part, err);
    if (r == 0)
        remember_size(sandbox, path, oid, part->total);
    return r;
}

static int memory_read(struct al_sandbox *sandbox, const char *path, uint64_t offset, size_t max,
                       struct al_str *ret, uint64_t *ret_size, struct al_error *err)
{
    struct part part = { .skip = offset, .left = max, .out = ret };
    struct al_oid oid = { .bytes = { 0 } };
    const struct al_memory_file *entry;
    bool stored = false;
    int r = 0;

    (void)pthread_mutex_lock(&sandbox->lock);
    entry = al_memory_list_find(sandbox->state, path);
    if (!entry) {
        r = missing(sandbox->state, path, err);
    } else if (entry->mode == AL_SANDBOX_MODE_LINK) {
        r = al_sandbox_is_link(path, err);
    } else if (entry->data) {
        r = take_part(&part, 0, entry->data, (size_t)entry->size, true, err);
    } else {
        stored = true;
        oid = entry->oid;
    }
    (void)pthread_mutex_unlock(&sandbox->lock);
    if (r == 0 && stored)
        r = read_stored(sandbox, path, &oid, &part, err);
    *ret_size = part.total;
    return r;
}

static void set_data(struct al_memory_file *entry, const void *data, size_t len)
{
    free(entry->data);
    entry->data = al_malloc(len);
    if (len)
        memcpy(entry->data, data, len);
    entry->size = len;
    entry->has_size = true;
    entry->has_oid = false;
}

static int write_locked(struct al_sandbox *sandbox, const char *path, const void *data, size_t len,
                        struct al_error *err)
{
    struct al_memory_list *memory = sandbox->state;
    struct al_memory_file *entry = al_memory_list_find(memory, path);
    uint64_t used = memory->used + len;
    int r = entry ? 0 : al_memory_list_check_place(memory, path, err);

    if (r < 0)
        return r;
    if (entry && entry->mode == AL_SANDBOX_MODE_LINK)
        return al_sandbox_is_link(path, err);
    if (entry)
        used -= entry->data ? entry->size : 0;
    else
        used += AL_SANDBOX_FILE_BYTES + strlen(path);
    r = al_memory_list_check_room(sandbox, used, memory->count + !entry, err);
    if (r < 0)
        return r;
    if (!entry) {
        entry = al_calloc(1, sizeof(*entry));
        entry->path = al_strdup(path);
        entry->mode = AL_SANDBOX_MODE_FILE;
        al_memory_list_insert(memory, entry);
    }
    set_data(entry, data, len);
    memory->used = used;
    return 0;
}

static int memory_write(struct al_sandbox *sandbox, const char *path, const void *data, size_t len,
                        struct al_error *err)
{
    int r;

    (void)pthread_mutex_lock(&sandbox->lock);
    r = write_locked(sandbox, path, data, len, err);
    (void)pthread_mutex_unlock(&sandbox->lock);
    return r;
}

static int remove_locked(struct al_sandbox *sandbox, const char *path,
                         const struct al_sandbox_version *version, struct al_error *err)
{
    struct al_memory_list *memory = sandbox->state;
    size_t at = al_memory_list_lower_bound(memory, path);

    if (!al_memory_list_find(memory, path))
        return missing(memory, path, err);
    if (version && !al_memory_file_is(memory->items[at], version, sandbox->sha256))
        return al_sandbox_changed(path, err);
    memory->used -= al_memory_file_cost(memory->items[at]);
    al_memory_file_free(memory->items[at]);
    memory->count--;
    memmove(&memory->items[at], &memory->items[at + 1],
            (memory->count - at) * sizeof(struct al_memory_file *));
    return 0;
}

static int memory_remove(struct al_sandbox *sandbox, const char *path,
                         const struct al_sandbox_version *version, struct al_error *err)
{
    int r;

    (void)pthread_mutex_lock(&sandbox->lock);
    r = remove_locked(sandbox, path, version, err);
    (void)pthread_mutex_unlock(&sandbox->lock);
    return r;
}

static int list_locked(const struct al_memory_list *memory, const char *dir,
                       struct al_strv *ret_paths, struct al_error *err)
{
    al_auto(al_freep) char *prefix = *dir ? al_asprintf("%s/", dir) : al_strdup("");

    if (al_memory_list_find(memory, dir))
        return al_sandbox_fail(err, AL_ERR_EXECUTION, dir, "", " is a file; name a directory");
    if (*dir && !al_memory_list_has_directory(memory, dir))
        return al_sandbox_missing(dir, err);
    for (size_t i = al_memory_list_lower_bound(memory, prefix);
         i < memory->count && al_starts_with(memory->items[i]->path, prefix); i++)
        al_strv_add(ret_paths, memory->items[i]->path);
    return 0;
}

static int memory_list(struct al_sandbox *sandbox, const char *dir, struct al_strv *ret_paths,
                       struct al_error *err)
{
    int r;

    (void)pthread_mutex_lock(&sandbox->lock);
    r = list_locked(sandbox->state, dir, ret_paths, err);
    (void)pthread_mutex_unlock(&sandbox->lock);
    return r;
}

static int memory_snapshot(struct al_sandbox *sandbox, struct al_sandbox_files *ret,
                           struct al_error *err)
{
    struct al_memory_list *memory = sandbox->state;

    (void)err;
    (void)pthread_mutex_lock(&sandbox->lock);
    ret->items = al_calloc(memory->count, sizeof(*ret->items));
    for (; ret->count < memory->count; ret->count++) {
        struct al_memory_file *entry = memory->items[ret->count];

        if (!entry->has_oid)
            al_oid_of(sandbox->sha256, AL_OBJECT_BLOB, entry->data, (size_t)entry->size,
                      &entry->oid);
        entry->has_oid = true;
        ret->items[ret->count] = (struct al_sandbox_file){
            .path = al_strdup(entry->path),
            .mode = entry->mode,
            .oid = entry->oid,
            .size = entry->size,
            .has_size = entry->has_size,
        };
    }
    (void)pthread_mutex_unlock(&sandbox->lock);
    return 0;
}

int al_sandbox_memory_init(struct al_sandbox *sandbox, struct al_error *err)
{
    static const struct al_sandbox_backend backend = {
        .free = memory_free,
        .read = memory_read,
        .write = memory_write,
        .remove = memory_remove,
        .list = memory_list,
        .snapshot = memory_snapshot,
        .import = al_memory_import,
    };

    (void)err;
    sandbox->state = al_calloc(1, sizeof(struct al_memory_list));
    sandbox->backend = &backend;
    return 0;
}
