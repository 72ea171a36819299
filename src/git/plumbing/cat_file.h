// SPDX-License-Identifier: Apache-2.0
/*
 * Reader of the output of `git cat-file --batch`: objects, in the order of the request.  git does
 * not check an id when it reads an object, so a forged file below objects/ would be taken for the
 * object.
 *
 * Source: git-cat-file(1) "BATCH OUTPUT".
 */
#ifndef AL_GIT_PLUMBING_CAT_FILE_H
#define AL_GIT_PLUMBING_CAT_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "git/oid.h"

/** The reader.  Set up with AL_CAT_FILE_INIT().  Either function ends the reading with false. */
struct al_cat_file {
    /** Called with each object: its id, and "blob" or the like.  `type` is NULL for a word that
     * names none, which is the word then.  May be NULL. */
    bool (*begin)(void *payload, const char *oid, const char *type, uint64_t size);
    /** Gets its bytes in pieces, at least one; `last` is set with the final one. */
    bool (*add)(void *payload, const char *data, size_t len, bool last);
    void *payload;
    bool
        verifies; /**< an object whose hash is not its id ends the reading, before its last piece */
    bool mismatch;        /**< there was one */
    char id[AL_OID_TEXT]; /**< of the object that is read, or was read last; with `verifies` */

    /* Private. */
    struct al_hash hash; /* of that object so far */
    struct al_str line;  /* the header being read */
    uint64_t left;       /* bytes left of the object, with the newline after it */
    bool broken;
};

#define AL_CAT_FILE_INIT(begin_fn, add_fn, data)                                                   \
    ((struct al_cat_file){                                                                         \
        .begin = (begin_fn), .add = (add_fn), .payload = (data), .line = AL_STR_INIT })

void al_cat_file_clear(struct al_cat_file *reader);

/** Sink function: parse the next bytes, split anywhere.  `payload` is the reader. */
bool al_cat_file_add(void *payload, const char *data, size_t len);

/** Test whether the input so far is whole objects. */
bool al_cat_file_is_whole(const struct al_cat_file *reader);

#endif
