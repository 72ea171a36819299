// SPDX-License-Identifier: Apache-2.0
/* Whether a checkpoint has some files as they are now, so that replacing them loses nothing. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gitops/deadline.h"
#include "gitops/oid.h"
#include "history/store.h"

#define CHUNK_BYTES (64u * 1024u)

static const struct al_saved_file *find(const struct al_saved_files *files, const char *path)
{
    size_t low = 0, high = files->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(files->items[middle].path, path);

        if (order == 0)
            return &files->items[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* Hash what a descriptor reads, as a blob of `size` bytes.  False when the file has another size or
 * cannot be read, or when the time is over. */
static bool hash_file(int fd, uint64_t size, bool sha256, struct al_deadline *deadline,
                      struct al_oid *ret_oid)
{
    al_auto(al_freep) char *chunk = al_malloc(CHUNK_BYTES);
    struct al_hash hash;
    uint64_t got = 0;
    ssize_t n;

    al_hash_init_object(&hash, sha256, AL_OBJECT_BLOB, size);
    while ((n = read(fd, chunk, CHUNK_BYTES)) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 || got + (uint64_t)n > size || al_deadline_step(deadline, NULL) < 0)
            return false;
        got += (uint64_t)n;
        al_hash_add(&hash, chunk, (size_t)n);
    }
    al_hash_end(&hash, ret_oid);
    return got == size;
}

static bool is_saved_as_is(const struct al_saved_file *file, int dir_fd, const char *name,
                           bool sha256, struct al_deadline *deadline)
{
    al_auto(al_closep) int fd =
        openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    struct al_oid oid;
    struct stat st;
    char text[AL_OID_TEXT];

    if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) ||
        !hash_file(fd, (uint64_t)st.st_size, sha256, deadline, &oid))
        return false;
    al_oid_text(&oid, sha256, text);
    return !strcmp(text, file->oid);
}

int al_checkpoint_contains(struct al_store *store, const char *id, int dir_fd, const char *dir,
                           const struct al_strv *names, struct al_run_limits *budget,
                           const char **ret_missing, struct al_error *err)
{
    al_auto(al_saved_files_clear) struct al_saved_files files = { .items = NULL };
    const char *missing = NULL;
    struct al_deadline deadline;
    int r = al_checkpoint_files_in(store, id, dir, budget, &files, err);

    if (r < 0)
        return r;
    deadline = al_deadline_begin(budget);
    for (size_t i = 0; r == 0 && !missing && i < names->count; i++) {
        const char *name = names->items[i];
        const struct al_saved_file *file = find(&files, name);

        if (!file || !S_ISREG(file->mode) ||
            !is_saved_as_is(file, dir_fd, name, store->sha256, &deadline))
            missing = name;
        r = al_deadline_check(&deadline, err);
    }
    al_deadline_sync(&deadline);
    if (r == 0)
        *ret_missing = missing;
    return r;
}

bool al_store_is_sha256(const struct al_store *store)
{
    return store->sha256;
}

int al_store_has_blobs(struct al_store *store, const struct al_oid *oids, size_t count,
                       struct al_run_limits *budget, bool *ret_has, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv asked = AL_STRV_INIT;
    al_auto(al_str_clear) struct al_str lines = AL_STR_INIT;
    struct al_oid_set found = { .slots = NULL };
    struct al_oid oid;
    char text[AL_OID_TEXT];
    int r;

    for (size_t i = 0; i < count; i++) {
        ret_has[i] = false;
        if (al_oid_is_none(&oids[i]))
            continue;
        al_oid_text(&oids[i], store->sha256, text);
        al_strv_add(&asked, text);
    }
    r = al_bare_existing(&store->bare, &asked, true, &lines, budget, err);
    for (const char *at = lines.buf; r == 0 && *at; at = strchr(at, '\n') + 1)
        if (al_oid_parse(at, store->sha256, &oid))
            (void)al_oid_set_add(&found, &oid);
    for (size_t i = 0; r == 0 && i < count; i++)
        ret_has[i] |= al_oid_set_has(&found, &oids[i]);
    al_oid_set_clear(&found);
    return r;
}
