// SPDX-License-Identifier: Apache-2.0
/* The common part of the backends. */
#include "staging/sandbox/sandbox.h"

#include <stdlib.h>

#include "base/lock.h"
#include "base/sorted.h"
#include "guard/text.h"
#include "staging/sandbox/backend.h"

int al_sandbox_new(const struct al_sandbox_options *options, struct al_sandbox **ret_sandbox,
                   struct al_error *err)
{
    struct al_sandbox *sandbox = al_calloc(1, sizeof(*sandbox));
    int r;

    (void)pthread_mutex_init(&sandbox->lock, NULL);
    sandbox->max_bytes = options->max_bytes;
    sandbox->sha256 = options->sha256;
    sandbox->allow_symlinks = options->allow_symlinks;
    r = options->in_directory ? al_sandbox_directory_init(sandbox, options, err)
                              : al_sandbox_memory_init(sandbox, err);
    if (r < 0) {
        al_sandbox_free(sandbox);
        return r;
    }
    *ret_sandbox = sandbox;
    return 0;
}

void al_sandbox_free(struct al_sandbox *sandbox)
{
    if (!sandbox)
        return;
    if (sandbox->backend)
        sandbox->backend->free(sandbox->state);
    (void)pthread_mutex_destroy(&sandbox->lock);
    free(sandbox->dir);
    free(sandbox);
}

const char *al_sandbox_dir(const struct al_sandbox *sandbox)
{
    return sandbox->dir;
}

bool al_sandbox_allows_symlinks(const struct al_sandbox *sandbox)
{
    return sandbox->allow_symlinks;
}

void al_sandbox_set_source(struct al_sandbox *sandbox, const struct al_blob_source *source)
{
    sandbox->source = *source;
}

int al_sandbox_read(struct al_sandbox *sandbox, const char *path, uint64_t offset, size_t max,
                    struct al_str *ret, uint64_t *ret_size, struct al_error *err)
{
    uint64_t size = 0;
    int r;

    al_str_reset(ret);
    if (!*path)
        return al_sandbox_fail(path, AL_SANDBOX_IS_DIRECTORY, err);
    r = sandbox->backend->read(sandbox, path, offset, max, ret, &size, err);
    if (r == 0 && ret_size)
        *ret_size = size;
    return r;
}

int al_sandbox_read_link(struct al_sandbox *sandbox, const char *path, struct al_str *ret_target,
                         struct al_error *err)
{
    al_str_reset(ret_target);
    if (!sandbox->backend->read_link)
        return al_sandbox_is_link(path, err);
    return sandbox->backend->read_link(sandbox, path, ret_target, err);
}

bool al_sandbox_version_equal(const struct al_sandbox_version *a,
                              const struct al_sandbox_version *b)
{
    return a->mode == b->mode && (!a->mode || al_oid_equal(&a->oid, &b->oid));
}

int al_sandbox_full(const struct al_sandbox *sandbox, uint64_t used, struct al_error *err)
{
    return al_error_set(err, AL_ERR_EXECUTION,
                        "the sandbox is full: it would hold %llu of %llu bytes; delete files or "
                        "raise staging.max_bytes",
                        (unsigned long long)used, (unsigned long long)sandbox->max_bytes);
}

/* --- Changing --- */

/* Under the lock, no directory disappears while a file is written into it. */
static int put(struct al_sandbox *sandbox, const struct al_sandbox_file *file,
               const struct al_str *content, struct al_error *err)
{
    al_hold(&sandbox->lock);
    return sandbox->backend->put(sandbox, file, content, err);
}

/* Too large for the sandbox as a whole, whatever it holds. */
static int check_size(const struct al_sandbox *sandbox, const char *path, size_t len,
                      struct al_error *err)
{
    al_auto(al_freep) char *after = NULL;

    if (len <= sandbox->max_bytes)
        return 0;
    after = al_asprintf(" would have %zu bytes, and the sandbox takes %llu; write less or raise "
                        "staging.max_bytes",
                        len, (unsigned long long)sandbox->max_bytes);
    return al_sandbox_fail(path, after, err);
}

int al_sandbox_write(struct al_sandbox *sandbox, const char *path, const void *data, size_t len,
                     struct al_error *err)
{
    al_auto(al_str_clear) struct al_str content = AL_STR_INIT;
    const struct al_sandbox_file file = { .path = (char *)(uintptr_t)path };
    int r = *path ? check_size(sandbox, path, len, err)
                  : al_sandbox_fail(path, AL_SANDBOX_IS_DIRECTORY, err);

    if (r < 0)
        return r;
    al_str_add(&content, data, len);
    return put(sandbox, &file, &content, err);
}

int al_sandbox_remove(struct al_sandbox *sandbox, const char *path,
                      const struct al_sandbox_version *over, struct al_error *err)
{
    if (!*path)
        return al_sandbox_fail(path, AL_SANDBOX_IS_DIRECTORY, err);
    al_hold(&sandbox->lock);
    return sandbox->backend->remove(sandbox, path, over, err);
}

/* Files whose content arrives. */
struct arriving {
    struct al_sandbox *sandbox;
    const struct al_sandbox_file **files; /* in the order of the objects */
    struct al_str content;                /* so far, of one */
};

static int take(void *payload, size_t which, const char *data, size_t len, bool last,
                struct al_error *err)
{
    struct arriving *arriving = payload;
    const struct al_sandbox_file *file = arriving->files[which];
    int r;

    if (len > arriving->sandbox->max_bytes - arriving->content.len)
        return al_sandbox_fail(file->path, " is larger than staging.max_bytes", err);
    al_str_add(&arriving->content, data, len);
    if (!last)
        return 0;
    r = put(arriving->sandbox, file, &arriving->content, err);
    al_str_reset(&arriving->content);
    return r;
}

static int check_import(const struct al_sandbox_file *file, struct al_error *err)
{
    int r = al_sandbox_check_stored(file->path, err);

    if (r < 0 || file->mode == AL_SANDBOX_MODE_FILE || file->mode == AL_SANDBOX_MODE_EXECUTABLE ||
        file->mode == AL_SANDBOX_MODE_LINK)
        return r;
    return al_sandbox_fail(file->path, " has a mode that no file of a tree has", err);
}

int al_sandbox_import(struct al_sandbox *sandbox, const struct al_sandbox_file *files, size_t count,
                      struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv oids = AL_STRV_INIT;
    struct arriving arriving = { .sandbox = sandbox, .content = AL_STR_INIT };
    int r = 0;

    arriving.files = al_calloc(count + 1, sizeof(*arriving.files));
    for (size_t i = 0; i < count && r == 0; i++)
        r = check_import(&files[i], err);
    for (size_t i = 0; i < count && r == 0; i++) {
        char text[AL_OID_TEXT];

        if (files[i].content || sandbox->backend->reads_later) {
            r = put(sandbox, &files[i], files[i].content, err);
            continue;
        }
        al_oid_text(&files[i].oid, sandbox->sha256, text);
        arriving.files[oids.count] = &files[i];
        al_strv_add(&oids, text);
    }
    if (r == 0 && oids.count)
        r = sandbox->source.read(sandbox->source.payload, (const char *const *)oids.items,
                                 oids.count, take, &arriving, err);
    al_str_clear(&arriving.content);
    free(arriving.files);
    return r;
}

/* --- Listing --- */

void al_sandbox_files_clear(struct al_sandbox_files *files)
{
    for (size_t i = 0; i < files->count; i++)
        free(files->items[i].path);
    free(files->items);
    *files = AL_SANDBOX_FILES_INIT;
}

void al_sandbox_files_add(struct al_sandbox_files *files, const struct al_sandbox_file *file)
{
    files->items = al_grow(files->items, files->count, sizeof(*files->items));
    files->items[files->count++] = *file;
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const struct al_sandbox_file *)a)->path,
                  ((const struct al_sandbox_file *)b)->path);
}

void al_sandbox_files_sort(struct al_sandbox_files *files)
{
    if (files->count)
        qsort(files->items, files->count, sizeof(*files->items), by_path);
}

struct al_sandbox_version al_sandbox_files_find(const struct al_sandbox_files *files,
                                                const char *path)
{
    const size_t at = al_sorted_find(files->items, files->count, sizeof(*files->items), path);

    return at == SIZE_MAX
               ? (struct al_sandbox_version){ .mode = 0 }
               : (struct al_sandbox_version){ files->items[at].mode, files->items[at].oid };
}

static int list(struct al_sandbox *sandbox, const char *dir, bool with_ids,
                struct al_sandbox_files *ret_files, struct al_error *err)
{
    struct al_sandbox_files files = AL_SANDBOX_FILES_INIT;
    int r;

    al_hold(&sandbox->lock);
    r = sandbox->backend->list(sandbox, dir, with_ids, &files, err);
    if (r < 0)
        al_sandbox_files_clear(&files);
    else
        *ret_files = files;
    return r;
}

int al_sandbox_list(struct al_sandbox *sandbox, const char *dir, const struct al_strv *globs,
                    struct al_strv *ret_paths, struct al_error *err)
{
    struct al_sandbox_files all = AL_SANDBOX_FILES_INIT;
    size_t skip = *dir ? strlen(dir) + 1 : 0;
    int r = list(sandbox, dir, false, &all, err);

    for (size_t i = 0; i < all.count; i++) {
        bool wanted = !globs || !globs->count;

        for (size_t g = 0; globs && g < globs->count && !wanted; g++)
            wanted = al_sandbox_match(globs->items[g], all.items[i].path + skip);
        if (wanted)
            al_strv_add(ret_paths, all.items[i].path);
    }
    al_sandbox_files_clear(&all);
    return r;
}

int al_sandbox_snapshot(struct al_sandbox *sandbox, struct al_sandbox_files *ret_files,
                        struct al_error *err)
{
    return list(sandbox, "", true, ret_files, err);
}
