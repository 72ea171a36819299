// SPDX-License-Identifier: Apache-2.0
/* A pack and its index, made byte by byte.  What is made is valid unless a test says otherwise. */
#ifndef TESTS_LIB_PACK_FILE_H
#define TESTS_LIB_PACK_FILE_H

#include "gitops/oid.h"
#include "tests/lib/tmpdir.h"
#include "util/str.h"

#define PACK_ENTRIES 80u
#define PACK_OFS     6u
#define PACK_REF     7u
#define IDX_FANOUT   8u
#define IDX_IDS      1032u

struct pack_entry {
    struct al_oid oid;
    uint64_t offset;
};

struct pack_file {
    struct al_str pack, idx;
    struct pack_entry entries[PACK_ENTRIES];
    size_t count;
};

#define PACK_FILE_INIT ((struct pack_file){ .pack = AL_STR_INIT, .idx = AL_STR_INIT })

void pack_file_clear(struct pack_file *file);

/* Begin an object of a type and size, whose content has this id (NULL: it gets none). */
void pack_begin(struct pack_file *file, const struct al_oid *oid, unsigned type, size_t size);

/* The distance to the base of a PACK_OFS, in one byte. */
void pack_back(struct pack_file *file, unsigned distance);

/* The compressed bytes. */
void pack_data(struct pack_file *file, const void *data, size_t len);

/* A whole blob; its id is that of the content. */
void pack_blob(struct pack_file *file, const char *text);

/* Make the index of what is in the pack (ids of SHA-1), and write both. */
void pack_index(struct pack_file *file);
void pack_write(const struct pack_file *file, struct tmpdir *dir);

/* Write a pack of the blobs PACK_TEXT and "other". */
#define PACK_TEXT "0123456789"
void pack_write_two(struct pack_file *file, struct tmpdir *dir);

/* The id of a blob; it is overwritten by the next call. */
const struct al_oid *pack_id_of(const char *text);

/* Whether the blob with this content is found by gitops/plumbing/packed_object.h.  It is that, or
 * none. */
bool pack_reads(struct tmpdir *dir, const char *text);
bool pack_reads_up_to(struct tmpdir *dir, const char *text, size_t max_bytes);

/* Put a number into an index. */
void pack_put(struct al_str *bytes, size_t at, uint32_t value);

#endif
