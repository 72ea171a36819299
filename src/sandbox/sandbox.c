// SPDX-License-Identifier: Apache-2.0
/* The common part of the backends. */
#include "sandbox/sandbox.h"

#include <stdlib.h>

#include "guard/text.h"
#include "sandbox/backend.h"
#include "sandbox/match.h"

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
        return al_sandbox_is_directory(path, err);
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

int al_sandbox_full(const struct al_sandbox *sandbox, uint64_t used, struct al_error *err)
{
    return al_error_set(err, AL_ERR_EXECUTION,
                        "the sandbox is full: it would hold %llu of %llu bytes; delete files or "
                        "raise staging.max_bytes",
                        (unsigned long long)used, (unsigned long long)sandbox->max_bytes);
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
    return al_sandbox_fail(err, AL_ERR_EXECUTION, path, "", after);
}

int al_sandbox_write(struct al_sandbox *sandbox, const char *path, const void *data, size_t len,
                     struct al_error *err)
{
    int r = *path ? check_size(sandbox, path, len, err) : al_sandbox_is_directory(path, err);

    return r < 0 ? r : sandbox->backend->write(sandbox, path, data, len, err);
}

int al_sandbox_remove(struct al_sandbox *sandbox, const char *path, struct al_error *err)
{
    if (!*path)
        return al_sandbox_is_directory(path, err);
    return sandbox->backend->remove(sandbox, path, NULL, err);
}

int al_sandbox_remove_version(struct al_sandbox *sandbox, const char *path,
                              const struct al_sandbox_version *version, struct al_error *err)
{
    if (!*path)
        return al_sandbox_is_directory(path, err);
    return sandbox->backend->remove(sandbox, path, version, err);
}

int al_sandbox_list(struct al_sandbox *sandbox, const char *dir, const struct al_strv *globs,
                    struct al_strv *ret_paths, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv all = AL_STRV_INIT;
    size_t skip = *dir ? strlen(dir) + 1 : 0;
    int r = sandbox->backend->list(sandbox, dir, &all, err);

    for (size_t i = 0; r == 0 && i < all.count; i++) {
        bool wanted = !globs || !globs->count;

        for (size_t g = 0; globs && g < globs->count && !wanted; g++)
            wanted = al_sandbox_match(globs->items[g], all.items[i] + skip);
        if (wanted)
            al_strv_add(ret_paths, all.items[i]);
    }
    return r;
}

void al_sandbox_files_clear(struct al_sandbox_files *files)
{
    for (size_t i = 0; i < files->count; i++)
        free(files->items[i].path);
    free(files->items);
    *files = AL_SANDBOX_FILES_INIT;
}

int al_sandbox_snapshot(struct al_sandbox *sandbox, struct al_sandbox_files *ret_files,
                        struct al_error *err)
{
    struct al_sandbox_files files = AL_SANDBOX_FILES_INIT;
    int r = sandbox->backend->snapshot(sandbox, &files, err);

    if (r < 0)
        al_sandbox_files_clear(&files);
    else
        *ret_files = files;
    return r;
}

static bool is_mode(unsigned mode)
{
    return mode == AL_SANDBOX_MODE_FILE || mode == AL_SANDBOX_MODE_EXECUTABLE ||
           mode == AL_SANDBOX_MODE_LINK;
}

int al_sandbox_import(struct al_sandbox *sandbox, const struct al_sandbox_file *files, size_t count,
                      const struct al_blob_source *source, struct al_error *err)
{
    int r = 0;

    for (size_t i = 0; i < count && r == 0; i++) {
        r = al_sandbox_check_stored(files[i].path, err);
        if (r == 0 && !is_mode(files[i].mode))
            r = al_sandbox_fail(err, AL_ERR_EXECUTION, files[i].path, "",
                                " has a mode that no file of a tree has");
    }
    return r < 0 ? r : sandbox->backend->import(sandbox, files, count, source, err);
}
