// SPDX-License-Identifier: Apache-2.0
#include "checkpoint/index_same.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "util/mem.h"

#define PIECES_MIN      128u /* fewer are hashed before a thread has started */
#define PIECE_MAX_BYTES (128u * 1024)
/* So many pieces in a row that differ are not where they were, and neither are the others. */
#define DIFFERING_MAX 2u

struct al_index_same {
    int fd;
    bool sha256;
    const struct al_index_pieces *before;
    uint64_t *offsets;
    atomic_bool *same;
    atomic_bool ends;
    pthread_t thread;
    bool is_running;
};

static bool is_same(const struct al_index_same *same, size_t i, unsigned char *buffer)
{
    const struct al_index_piece *piece = &same->before->items[i];
    struct al_oid oid;

    if (piece->bytes > PIECE_MAX_BYTES ||
        pread(same->fd, buffer, piece->bytes, (off_t)same->offsets[i]) != (ssize_t)piece->bytes)
        return false;
    al_oid_of(same->sha256, AL_OBJECT_BLOB, buffer, piece->bytes, &oid);
    return al_oid_equal(&oid, &piece->oid);
}

static void *look(void *payload)
{
    struct al_index_same *same = payload;
    al_auto(al_freep) unsigned char *buffer = al_malloc(PIECE_MAX_BYTES);
    unsigned differing = 0;

    for (size_t i = same->before->count / 2; i < same->before->count; i++) {
        if (atomic_load(&same->ends) || differing == DIFFERING_MAX)
            break;
        if (is_same(same, i, buffer)) {
            atomic_store(&same->same[i], true);
            differing = 0;
        } else {
            differing++;
        }
    }
    return NULL;
}

struct al_index_same *al_index_same_begin(int fd, const struct al_index_pieces *before, bool sha256)
{
    struct al_index_same *same;
    uint64_t offset = AL_INDEX_HEADER_BYTES;

    if (!before || before->count < PIECES_MIN)
        return NULL;
    same = al_calloc(1, sizeof(*same));
    same->fd = fd;
    same->sha256 = sha256;
    same->before = before;
    same->offsets = al_calloc(before->count, sizeof(*same->offsets));
    same->same = al_calloc(before->count, sizeof(*same->same));
    for (size_t i = 0; i < before->count; i++) {
        same->offsets[i] = offset;
        offset += before->items[i].bytes;
    }
    /* The thread inherits its creator's seccomp filter, if any.  It only reads the file. */
    same->is_running = pthread_create(&same->thread, NULL, look, same) == 0;
    return same;
}

bool al_index_same_has(const struct al_index_same *same, size_t i, uint64_t offset)
{
    return same && same->offsets[i] == offset && atomic_load(&same->same[i]);
}

void al_index_same_free(struct al_index_same *same)
{
    if (!same)
        return;
    atomic_store(&same->ends, true);
    if (same->is_running)
        (void)pthread_join(same->thread, NULL);
    free(same->offsets);
    free(same->same);
    free(same);
}
