// SPDX-License-Identifier: Apache-2.0
/*
 * What `git diff --raw -p -z` prints, taken apart as it arrives: the patch of each changed path,
 * and the name of a file for it.
 *
 * First comes a NUL-terminated pair of records per path, then an empty record, then the patches in
 * the same order.  Each patch begins with a line "diff --git "; no line of its body can, since
 * those begin with ' ', '+', '-', '\', '@' or, in binary patches, hold no blank.
 *
 * Source: git-diff(1), "Raw output format" and "Generating patch text with -p".
 */
#ifndef AL_GITOPS_DIFF_PATCH_SPLIT_H
#define AL_GITOPS_DIFF_PATCH_SPLIT_H

#include <stdbool.h>
#include <stddef.h>

#include "util/error.h"
#include "util/str.h"

/** More changed paths than this are refused. */
#define AL_PATCHES_MAX 10000

struct al_patch_split {
    void *payload;
    /** The patch of that number (from 0) begins.  false ends the reading (and stops git). */
    bool (*begin)(void *payload, size_t number);
    /** Some bytes of it; the same. */
    bool (*add)(void *payload, const char *data, size_t len);

    struct al_strv names; /**< of the files, in the order of the patches: no two alike, no '/' */
    size_t begun;         /**< patches that began */

    /* Private. */
    void *taken;           /* tree of the names, to be looked up */
    struct al_strv status; /* the status letter of each path */
    struct al_str record;  /* raw record being read */
    bool in_patches;
    size_t matched;       /* bytes of the header seen at the start of the current line */
    bool line_started;    /* this line is not the start of a patch */
    size_t headers_left;  /* a type change is shown as two patches */
    bool too_many_paths;  /* paths */
    bool record_too_long; /* a record */
    bool name_too_long;   /* a file name */
    bool unlisted_patch;  /* a patch that was not listed */
};

#define AL_PATCH_SPLIT_INIT(begin_fn, add_fn, data)                                                \
    ((struct al_patch_split){                                                                      \
        .payload = (data), .begin = (begin_fn), .add = (add_fn), .record = AL_STR_INIT })

void al_patch_split_clear(struct al_patch_split *splitter);

/** Feed bytes, split anywhere.  The form of a sink; `payload` is the splitter. */
bool al_patch_split_add(void *payload, const char *data, size_t len);

/** Whether what came kept the limits: paths, and the length of a name.  AL_ERR_EXECUTION if not. */
int al_patch_split_check_limits(const struct al_patch_split *splitter, struct al_error *err);

/** Whether each path that was listed had its patch, and no other.  AL_ERR_EXECUTION if not. */
int al_patch_split_check_count(const struct al_patch_split *splitter, struct al_error *err);

#endif
