// SPDX-License-Identifier: Apache-2.0
/* Write a diff into patch files. */
#ifndef AL_GIT_DIFF_PATCH_FILES_H
#define AL_GIT_DIFF_PATCH_FILES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/str.h"
#include "git/command.h"
#include "git/diff/diff.h"
#include "git/repo/repo.h"

/** Decides whether existing files may be replaced. `check` is called once, with the names of all of
 * them, after every patch is complete. A negative status aborts the writing. */
struct al_replacing {
    int (*check)(void *payload, const struct al_strv *names, struct al_error *err);
    void *payload;
};

/**
 * Write one patch file per changed path into the directory `dir_fd`: none when git fails or
 * something is in the way.  More than AL_PATCHES_MAX paths are refused.
 *
 * @param replacing  Asked about regular files that have the name of a patch; NULL: none may be
 *                   replaced.  Anything else with such a name is refused.
 * @param[out] ret_names  The file names.
 */
int al_git_write_patches(const struct al_repo *repo, const struct al_diff_options *options,
                         int dir_fd, const struct al_replacing *replacing,
                         struct al_run_limits *budget, struct al_strv *ret_names,
                         struct al_error *err);

/* --- Patch split --- */

/*
 * Split the output of `git diff --raw -p -z` into one patch per changed path, while git runs, and
 * choose a file name for each.
 *
 * The output has a pair of NUL-terminated records for each path, then an empty record, then the
 * patches in the same order.  Each patch begins with a line "diff --git ".  No line of a patch body
 * can begin like that: body lines begin with ' ', '+', '-', '\', '@' or, in binary patches, contain
 * no blank.
 *
 * Source: git-diff(1), "Raw output format" and "Generating patch text with -p".
 */

/** More changed paths than this are refused. */
#define AL_PATCHES_MAX 10000

struct al_patch_split {
    void *payload;
    /** Called when patch `number` (from 0) begins. Return false to stop reading, which stops
     * git. */
    bool (*begin)(void *payload, size_t number);
    /** Called with the next bytes of the current patch. Return false to stop reading. */
    bool (*add)(void *payload, const char *data, size_t len);

    struct al_strv
        names;    /**< file names, in the order of the patches: all different, without '/' */
    size_t begun; /**< number of patches begun */

    /* Private. */
    void *taken;           /* search tree of the names */
    struct al_strv status; /* status letter of each path */
    struct al_str record;  /* the raw record being read */
    bool in_patches;
    size_t matched;       /* bytes of the header seen at the start of the current line */
    bool line_started;    /* the current line begins no patch */
    size_t headers_left;  /* git prints a type change as two patches */
    bool too_many_paths;  /* more than AL_PATCHES_MAX */
    bool record_too_long; /* one of them exceeds its limit */
    bool name_too_long;   /* one of the names exceeds its limit */
    bool unlisted_patch;  /* a patch came that was not listed */
};

#define AL_PATCH_SPLIT_INIT(begin_fn, add_fn, data)                                                \
    ((struct al_patch_split){                                                                      \
        .payload = (data), .begin = (begin_fn), .add = (add_fn), .record = AL_STR_INIT })

void al_patch_split_clear(struct al_patch_split *splitter);

/** Sink function: parse the next bytes, split anywhere. `payload` is the splitter. */
bool al_patch_split_add(void *payload, const char *data, size_t len);

/** Check the limits on the number of paths and on name lengths. Returns 0 or AL_ERR_EXECUTION. */
int al_patch_split_check_limits(const struct al_patch_split *splitter, struct al_error *err);

/** Check that each listed path had its patch, and no other path had one. Returns 0 or
 * AL_ERR_EXECUTION. */
int al_patch_split_check_count(const struct al_patch_split *splitter, struct al_error *err);

#endif
