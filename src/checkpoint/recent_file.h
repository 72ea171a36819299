// SPDX-License-Identifier: Apache-2.0
/* The form of the file `recent2`, see checkpoint/recent.h. */
#ifndef AL_CHECKPOINT_RECENT_FILE_H
#define AL_CHECKPOINT_RECENT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gitops/oid.h"
#include "odb/pack_image.h"
#include "util/boot_id.h"
#include "util/str.h"

#define AL_RECENT_NAME            "recent2"
#define AL_RECENT_OLD_NAME        "recent" /* of the format 1, see checkpoint/recent_old.h */
#define AL_RECENT_FORMAT          2u

#define AL_RECENT_HEAD_BYTES      512u
#define AL_RECENT_PUBLISHED_AT    256u /* in the head */
#define AL_RECENT_PUBLISHED_BYTES 24u

/** The head of the file. */
struct al_recent_head {
    unsigned format; /* AL_RECENT_FORMAT, or 1 */
    uint64_t nonce;
    char boot[AL_BOOT_ID_BYTES + 1];
};

/** Parse a head; false when it is not whole or is that of another object format.  A head of the
 * format 1 is parsed as well. */
bool al_recent_head_parse(const void *bytes, bool sha256, struct al_recent_head *ret_head);
void al_recent_head_format(const struct al_recent_head *head, bool sha256,
                           char ret_bytes[AL_RECENT_HEAD_BYTES]);

/** Test whether bytes are the head of a format that only a newer airlock reads. */
bool al_recent_head_is_newer(const void *bytes);

/** The offset up to which the records of a head's file are packs and references as well.  0: none
 * is. */
uint64_t al_recent_published_parse(const void *head_bytes, uint64_t nonce);

/** The bytes that say so, which are at AL_RECENT_PUBLISHED_AT. */
void al_recent_published_format(uint64_t nonce, uint64_t end,
                                char ret_bytes[AL_RECENT_PUBLISHED_BYTES]);

/** A record: a checkpoint, or a pack that is kept.  The bytes are borrowed from the file's. */
struct al_recent_record {
    const char *reference;
    struct al_oid commit;
    const char *pack, *index;
    size_t pack_len, index_len;
};

/**
 * Read the record at an offset.
 *
 * @param check  Compare its checksum.  Without, only a record that a killed process has not
 *               completed, which is the last one, can be taken for whole.
 * @return The offset after the record; 0 when there is none.
 */
size_t al_recent_record_at(const char *bytes, size_t len, size_t at, uint64_t nonce, bool check,
                           struct al_recent_record *ret_record);

/** The name in place of a reference in a record whose pack is kept, see checkpoint/kept.h: the
 * fragile tips in the pack are in it.  Caller frees. */
char *al_recent_kept_name(const struct al_strv *tips);

/** Append the tips in such a name.  False: it is the name of a reference. */
bool al_recent_kept_tips(const char *name, struct al_strv *ret_tips);

/** Append the bytes of a record. */
void al_recent_record_format(const struct al_recent_record *record, uint64_t nonce,
                             struct al_str *out);

#endif
