// SPDX-License-Identifier: Apache-2.0
/* Files in memory: one sorted list.  A file that came from a store is only its id and mode until it
 * is written. */
#include <stdlib.h>

#include "base/sorted.h"
#include "guard/text.h"
#include "staging/sandbox/backend.h"

/* One file. */
struct entry {
    char *path;
    char *data; /* NULL: in the store */
    uint64_t size;
    struct al_oid oid;
    unsigned mode;
    bool has_oid;
};

/* The files, sorted by path. */
struct memory {
    struct entry *items;
    size_t count;
    uint64_t used; /* the sum of cost_of() */
};

static void memory_free(void *state)
{
    struct memory *memory = state;

    for (size_t i = 0; i < memory->count; i++) {
        free(memory->items[i].path);
        free(memory->items[i].data);
    }
    free(memory->items);
    free(memory);
}

/* --- The list --- */

static size_t lower_bound(const struct memory *memory, const char *path)
{
    return al_sorted_lower_bound(memory->items, memory->count, sizeof(*memory->items), path);
}

static struct entry *find(const struct memory *memory, const char *path)
{
    size_t at = al_sorted_find(memory->items, memory->count, sizeof(*memory->items), path);

    return at == SIZE_MAX ? NULL : &memory->items[at];
}

static struct entry *insert(struct memory *memory, const char *path)
{
    size_t at = lower_bound(memory, path);

    memory->items = al_grow(memory->items, memory->count, sizeof(*memory->items));
    memmove(&memory->items[at + 1], &memory->items[at],
            (memory->count++ - at) * sizeof(*memory->items));
    memory->items[at] = (struct entry){ .path = al_strdup(path), .mode = AL_SANDBOX_MODE_FILE };
    return &memory->items[at];
}

/* The bytes that a file counts towards max_bytes. */
static uint64_t cost_of(const char *path, uint64_t size)
{
    return AL_SANDBOX_FILE_BYTES + strlen(path) + size;
}

static uint64_t cost_of_entry(const struct entry *entry)
{
    return cost_of(entry->path, entry->data ? entry->size : 0);
}

static const struct al_oid *oid_of(const struct al_sandbox *sandbox, struct entry *entry)
{
    if (!entry->has_oid)
        al_oid_of(sandbox->sha256, AL_OBJECT_BLOB, entry->data, (size_t)entry->size, &entry->oid);
    entry->has_oid = true;
    return &entry->oid;
}

static bool has_directory(const struct memory *memory, const char *path)
{
    al_auto(al_freep) char *prefix = al_asprintf("%s/", path);
    size_t at = lower_bound(memory, prefix);

    return at < memory->count && al_starts_with(memory->items[at].path, prefix);
}

/* Why there is no file of this name. */
static int missing(const struct memory *memory, const char *path, struct al_error *err)
{
    return has_directory(memory, path) ? al_sandbox_fail(path, AL_SANDBOX_IS_DIRECTORY, err)
                                       : al_sandbox_missing(path, err);
}

/* --- Reading --- */

static int take(void *payload, size_t which, const char *data, size_t len, bool last,
                struct al_error *err)
{
    (void)which;
    (void)last;
    (void)err;
    al_str_add(payload, data, len);
    return 0;
}

static void add_part(const char *data, uint64_t size, uint64_t offset, size_t max,
                     struct al_str *out)
{
    uint64_t left = offset < size ? size - offset : 0;

    al_str_add(out, data + (left ? offset : 0), left < max ? (size_t)left : max);
}

static int memory_read(struct al_sandbox *sandbox, const char *path, uint64_t offset, size_t max,
                       struct al_str *ret, uint64_t *ret_size, struct al_error *err)
{
    al_auto(al_str_clear) struct al_str stored = AL_STR_INIT;
    char text[AL_OID_TEXT] = "";
    const char *oids[] = { text };
    const struct entry *entry;
    int r = 0;

    (void)pthread_mutex_lock(&sandbox->lock);
    entry = find(sandbox->state, path);
    if (!entry) {
        r = missing(sandbox->state, path, err);
    } else if (entry->mode == AL_SANDBOX_MODE_LINK) {
        r = al_sandbox_is_link(path, err);
    } else if (entry->data) {
        *ret_size = entry->size;
        add_part(entry->data, entry->size, offset, max, ret);
    } else {
        al_oid_text(&entry->oid, sandbox->sha256, text);
    }
    (void)pthread_mutex_unlock(&sandbox->lock);
    if (!*text)
        return r;
    /* The lock is not held: the store starts git. */
    r = sandbox->source.read(sandbox->source.payload, oids, 1, take, &stored, err);
    *ret_size = stored.len;
    if (r == 0)
        add_part(stored.buf, stored.len, offset, max, ret);
    return r;
}

/* --- Changing --- */

/* A file must not be above or below another one. */
static int check_place(const struct memory *memory, const char *path, struct al_error *err)
{
    for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
        al_auto(al_freep) char *above = al_strndup(path, (size_t)(slash - path));
        al_auto(al_freep) char *safe = NULL;
        al_auto(al_freep) char *after = NULL;

        if (!find(memory, above))
            continue;
        safe = al_text_sanitize_line(above);
        after =
            al_asprintf(" cannot be: '%s/%s' is a file and no directory", AL_SANDBOX_ROOT, safe);
        return al_sandbox_fail(path, after, err);
    }
    return has_directory(memory, path) ? al_sandbox_fail(path, AL_SANDBOX_IS_DIRECTORY, err) : 0;
}

static int check_version(const struct al_sandbox *sandbox, struct entry *entry, const char *path,
                         const struct al_sandbox_version *over, struct al_error *err)
{
    struct al_sandbox_version now = { .mode = 0 };

    if (over && entry)
        now = (struct al_sandbox_version){ entry->mode, *oid_of(sandbox, entry) };
    return !over || al_sandbox_version_equal(&now, over)
               ? 0
               : al_sandbox_fail(path, AL_SANDBOX_CHANGED, err);
}

static int check_put(const struct al_sandbox *sandbox, const struct al_sandbox_file *file,
                     struct entry *entry, uint64_t used, struct al_error *err)
{
    const struct memory *memory = sandbox->state;
    int r = check_version(sandbox, entry, file->path, file->over, err);

    if (r == 0 && !entry)
        r = check_place(memory, file->path, err);
    if (r == 0 && entry && !file->mode && entry->mode == AL_SANDBOX_MODE_LINK)
        r = al_sandbox_is_link(file->path, err);
    if (r == 0 && !entry && memory->count >= AL_SANDBOX_FILES_MAX)
        r = al_sandbox_too_many(err);
    return r == 0 && used > sandbox->max_bytes ? al_sandbox_full(sandbox, used, err) : r;
}

static int memory_put(struct al_sandbox *sandbox, const struct al_sandbox_file *file,
                      const struct al_str *content, struct al_error *err)
{
    struct memory *memory = sandbox->state;
    struct entry *entry = find(memory, file->path);
    size_t len = content ? content->len : 0;
    uint64_t used = memory->used + cost_of(file->path, len) - (entry ? cost_of_entry(entry) : 0);
    int r = check_put(sandbox, file, entry, used, err);

    if (r < 0)
        return r;
    if (!entry)
        entry = insert(memory, file->path);
    free(entry->data);
    entry->data = content ? al_malloc(len) : NULL;
    if (len)
        memcpy(entry->data, content->buf, len);
    entry->size = len;
    entry->has_oid = !content;
    entry->oid = file->oid;
    if (file->mode)
        entry->mode = file->mode;
    memory->used = used;
    return 0;
}

static int memory_remove(struct al_sandbox *sandbox, const char *path,
                         const struct al_sandbox_version *over, struct al_error *err)
{
    struct memory *memory = sandbox->state;
    struct entry *entry = find(memory, path);
    int r = entry ? check_version(sandbox, entry, path, over, err) : missing(memory, path, err);

    if (r < 0)
        return r;
    memory->used -= cost_of_entry(entry);
    free(entry->path);
    free(entry->data);
    memory->count--;
    memmove(entry, entry + 1, (size_t)(&memory->items[memory->count] - entry) * sizeof(*entry));
    return 0;
}

/* --- Listing --- */

static int memory_list(struct al_sandbox *sandbox, const char *dir, bool with_ids,
                       struct al_sandbox_files *ret_files, struct al_error *err)
{
    const struct memory *memory = sandbox->state;
    al_auto(al_freep) char *prefix = *dir ? al_asprintf("%s/", dir) : al_strdup("");

    if (find(memory, dir))
        return al_sandbox_fail(dir, AL_SANDBOX_IS_FILE, err);
    if (*dir && !has_directory(memory, dir))
        return al_sandbox_missing(dir, err);
    ret_files->items = al_calloc(memory->count, sizeof(*ret_files->items));
    for (size_t i = lower_bound(memory, prefix);
         i < memory->count && al_starts_with(memory->items[i].path, prefix); i++) {
        struct entry *entry = &memory->items[i];
        struct al_sandbox_file file = { .path = al_strdup(entry->path),
                                        .mode = entry->mode,
                                        .size = entry->size };

        if (with_ids)
            file.oid = *oid_of(sandbox, entry);
        ret_files->items[ret_files->count++] = file;
    }
    return 0;
}

int al_sandbox_memory_init(struct al_sandbox *sandbox, struct al_error *err)
{
    static const struct al_sandbox_backend backend = {
        .free = memory_free,
        .read = memory_read,
        .put = memory_put,
        .remove = memory_remove,
        .list = memory_list,
        .reads_later = true,
    };

    (void)err;
    sandbox->state = al_calloc(1, sizeof(struct memory));
    sandbox->backend = &backend;
    return 0;
}
