// SPDX-License-Identifier: Apache-2.0
/* Object ids, by SHA-1 or SHA-256, and how they are computed. */
#ifndef AL_GIT_OID_H
#define AL_GIT_OID_H

#include <nettle/sha1.h>
#include <nettle/sha2.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

#define AL_OID_MAX_BYTES 32

/** The size of an object id as text, with its NUL: 64 digits for SHA-256. */
#define AL_OID_TEXT 65

/** An id.  The bytes after a SHA-1 are zero, so that ids compare as a whole. */
struct al_oid {
    uint8_t bytes[AL_OID_MAX_BYTES];
};

/** The number of bytes of an id: 20 or 32. */
size_t al_oid_bytes(bool sha256);

/** Convert an id to hex. */
void al_oid_text(const struct al_oid *oid, bool sha256, char ret_text[AL_OID_TEXT]);

/** Parse hex digits; false unless exactly one id is there and the next character is no hex digit.
 */
bool al_oid_parse(const char *text, bool sha256, struct al_oid *ret_oid);

/** Test whether two ids are equal, and whether an id is all zeros. */
bool al_oid_equal(const struct al_oid *a, const struct al_oid *b);
bool al_oid_is_none(const struct al_oid *oid);

#define AL_NOTED_MAX 1024

/** The last ids that were noted in this process; the oldest of more is forgotten.  Threads: any. */
struct al_noted {
    pthread_mutex_t lock;
    struct al_oid ids[AL_NOTED_MAX];
    size_t next;
};

#define AL_NOTED_INIT                                                                              \
    {                                                                                              \
        .lock = PTHREAD_MUTEX_INITIALIZER                                                          \
    }

/** Whether an id is one of them. */
bool al_noted_has(struct al_noted *noted, const struct al_oid *id);

/** Note an id, once. */
void al_noted_add(struct al_noted *noted, const struct al_oid *id);

/** A hash that is being computed. */
struct al_hash {
    bool sha256;
    union {
        struct sha1_ctx sha1;
        struct sha256_ctx sha256;
    } ctx;
};

void al_hash_init(struct al_hash *hash, bool sha256);
/** Add bytes; then get the id at the end. */
void al_hash_add(struct al_hash *hash, const void *data, size_t len);
void al_hash_end(struct al_hash *hash, struct al_oid *ret_oid);
/** The same, as text. */
void al_hash_text(struct al_hash *hash, char ret_text[AL_OID_TEXT]);

/** The types of objects. */
enum al_object_type {
    AL_OBJECT_NONE,
    AL_OBJECT_COMMIT,
    AL_OBJECT_TREE,
    AL_OBJECT_BLOB,
    AL_OBJECT_TAG,
};

/** git's word for each type; "" for AL_OBJECT_NONE. */
extern const char *const al_object_types[AL_OBJECT_TAG + 1];

/** Begin the id of an object: the hash starts with its type and size. */
void al_hash_init_object(struct al_hash *hash, bool sha256, enum al_object_type type,
                         uint64_t size);

/** The id of an object that is in memory. */
void al_oid_of(bool sha256, enum al_object_type type, const void *data, size_t len,
               struct al_oid *ret_oid);

/** The id of a file's content, which has this size.  0 or -errno; -EAGAIN: it has another size. */
int al_oid_of_file(int fd, uint64_t size, bool sha256, struct al_oid *ret_oid);

/** Append the words of a text that are ids, but for those that are all zeros.
 * @param most  Stop when there are so many. */
void al_oids_in(const char *text, bool sha256, size_t most, struct al_strv *ids);

/** A set of ids.  Zero-initialised, it is empty. */
struct al_oid_set {
    struct al_oid *slots;
    size_t count, capacity;
};

void al_oid_set_clear(struct al_oid_set *set);
/** Add an id; false when it was in the set already. */
bool al_oid_set_add(struct al_oid_set *set, const struct al_oid *oid);
bool al_oid_set_has(const struct al_oid_set *set, const struct al_oid *oid);

/** The id of a blob, as hex.  Caller frees. */
char *al_git_blob_id(bool sha256, const void *data, size_t len);

#endif
