// SPDX-License-Identifier: Apache-2.0
/*
 * The output of `--numstat -z -p`: the changed files with their numbers, then the patch.
 *
 * Source: git-diff(1) "OTHER DIFF FORMATS", "--numstat".
 */
#ifndef AL_GITOPS_READING_CHANGE_READER_H
#define AL_GITOPS_READING_CHANGE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gitops/reading/patch_reader.h"
#include "util/str.h"

/** Names of this size in all are stored; more files are an error of the reading. */
#define AL_CHANGED_NAMES_MAX_BYTES (64u << 20)

/** The numbers of one file. */
struct al_changed_file {
    char *path, *old_path; /**< raw bytes, relative to the top; `old_path` NULL unless renamed */
    uint64_t added, deleted;
    bool is_binary;
};

/** All files of a change. */
struct al_changed_files {
    struct al_changed_file *items;
    size_t count, allocated, bytes;
    uint64_t added, deleted; /**< in all */
};

#define AL_CHANGED_FILES_INIT ((struct al_changed_files){ .items = NULL })

/** The reader.  Must not be moved after al_change_reader_init(). */
struct al_change_reader {
    struct al_changed_files files;
    /** Called once, before the first part of the patch or at the end.  False ends the reading. */
    bool (*take_files)(void *payload, const struct al_changed_files *files);
    void *payload;
    struct al_patch_reader patch;

    /* Private. */
    struct al_str record;
    int names_left; /* names of a rename that follow */
    bool in_patch, has_told, stopped;
};

/** Set up the reader.  `take_files` and the functions of `to` get the payload of `to`. */
void al_change_reader_init(struct al_change_reader *reader,
                           bool (*take_files)(void *payload, const struct al_changed_files *files),
                           const struct al_patch_taker *to);
void al_change_reader_clear(struct al_change_reader *reader);

/** Sink function: parse the next bytes, split anywhere.  `payload` is the reader. */
bool al_change_reader_add(void *payload, const char *data, size_t len);

/** The end of the output. */
bool al_change_reader_end(struct al_change_reader *reader);

#endif
