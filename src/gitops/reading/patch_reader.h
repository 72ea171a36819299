// SPDX-License-Identifier: Apache-2.0
/*
 * A patch as a series of files and hunks, read while git prints it.
 *
 * git's header lines become facts.  File content cannot pass for a header: a hunk ends where the
 * line counts in its header say (gitops/diff/hunks.h).
 *
 * Source: git-diff(1) "GENERATING PATCH TEXT WITH -P".
 */
#ifndef AL_GITOPS_READING_PATCH_READER_H
#define AL_GITOPS_READING_PATCH_READER_H

#include <stdbool.h>
#include <stddef.h>

#include "gitops/diff/hunks.h"
#include "util/str.h"

/** A longer hunk is passed on in parts of about this many bytes, cut between lines. */
#define AL_PATCH_PART_BYTES (128u * 1024u)

/** A file of a patch.  Valid only while it is passed on. */
struct al_patch_file {
    const char *path;     /**< raw bytes, relative to the top */
    const char *old_path; /**< of a rename or a copy; NULL */
    bool is_new, is_deleted, is_copy, is_binary, is_unmerged;
    unsigned old_mode, mode; /**< when the mode changes, or the file is new or deleted; else 0 */
};

/** Gets the parts of a patch.  Either function ends the reading with false. */
struct al_patch_taker {
    bool (*take_file)(void *payload, const struct al_patch_file *file);
    /** @param part  Whole lines.  The first part of a hunk begins with its "@@" line.
     *  @param is_first  This is the first part of a hunk. */
    bool (*take_hunk)(void *payload, const char *part, size_t len, bool is_first);
    void *payload;
};

/** The reader.  Must not be moved after al_patch_reader_init(). */
struct al_patch_reader {
    struct al_patch_taker to;
    struct al_hunks hunks;
    struct al_str part;     /* lines of the hunk that were not passed on */
    bool is_first;          /* `part` begins a hunk */
    bool in_file, has_told; /* a file has begun; it was passed on */
    bool stopped;
    struct al_patch_file file;
    char *names[2]; /* old, new */
};

void al_patch_reader_init(struct al_patch_reader *reader, const struct al_patch_taker *to);
void al_patch_reader_clear(struct al_patch_reader *reader);

/** Sink function: parse the next bytes, split anywhere.  `payload` is the reader. */
bool al_patch_reader_add(void *payload, const char *data, size_t len);

/** The end of a patch: pass on what was read.  Another patch may follow. */
bool al_patch_reader_end(struct al_patch_reader *reader);

#endif
