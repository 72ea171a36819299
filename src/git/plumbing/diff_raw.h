// SPDX-License-Identifier: Apache-2.0
/*
 * The list of changed files, parsed from `git diff --raw --numstat -z` while git runs, or from
 * `--numstat -z` alone: paths and lines.
 *
 * Source: git-diff(1) "RAW OUTPUT FORMAT", "--numstat".
 */
#ifndef AL_GIT_PLUMBING_DIFF_RAW_H
#define AL_GIT_PLUMBING_DIFF_RAW_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"
#include "git/command.h"
#include "git/repo/repo.h"

/** The file mode of a submodule. */
#define AL_TYPE_GITLINK 0160000u

/** Changed files beyond this number are counted but not stored, unless `all` is set. */
#ifndef AL_DIFF_RAW_MAX /* tests compile with a smaller limit */
#define AL_DIFF_RAW_MAX 5000
#endif

/** One changed file. */
struct al_change {
    char status;       /**< 'A' added, 'M' modified, 'D' deleted, 'R' renamed, 'T' type changed */
    bool same_content; /**< only the name or the mode changed */
    bool binary;
    unsigned old_mode, new_mode;
    char *path,
        *old_path; /**< bytes as git has them; `old_path` is NULL unless renamed or copied */
    char *old_oid, *new_oid; /**< full ids; all zeros where there is no file, or no object yet */
    uint64_t added, deleted; /**< lines */
    /** Set by struct al_excerpt_reader: the lines among them that end with CR LF, and whether one
     * is the end of a file without a newline. */
    uint64_t crlf_added, crlf_deleted;
    bool open_added, open_deleted;
    size_t
        patch_end; /**< set by struct al_excerpt_reader: where the file's part of the patch ends */
};

struct al_diff_raw {
    struct al_change *items;
    size_t count;
    size_t total;            /**< all changes, including those not stored */
    uint64_t added, deleted; /**< lines of those that are stored */
    bool all;                /**< store every change: whoever sets it limits what is read */
    bool in_patch;           /**< the list was read, or none comes: the patch follows */
    struct al_str *message;  /**< gets the first field, of --format=%B%x00; NULL: there is none */

    /* Parser state. */
    struct al_nul_records records;
    struct al_change reading;
    int state;
    size_t counted; /* changes whose line counts were read */
    bool broken;
};

#define AL_DIFF_RAW_INIT ((struct al_diff_raw){ .records = AL_NUL_RECORDS_INIT(1, NULL, NULL) })

void al_diff_raw_clear(struct al_diff_raw *changes);

/** Run a command that prints such a list, and read it. */
int al_git_list_changes(const struct al_location *at, const struct al_git_command *command,
                        struct al_diff_raw *changes, struct al_error *err);

/** Sink function: parse the next bytes, split anywhere. `payload` is the reader. */
bool al_diff_raw_add(void *payload, const char *data, size_t len);

/** Parse the next bytes of a list that a patch may follow: git prints a NUL between them.  Returns
 * how many are not of the patch. */
size_t al_diff_raw_add_list(struct al_diff_raw *changes, const char *data, size_t len);

/** List the staged changes, against HEAD or, on an unborn branch, against the empty tree. */
int al_git_staged_changes(const struct al_repo *repo, struct al_diff_raw *changes,
                          struct al_error *err);

/** Append the ids of the content of both sides, one a line; a submodule has none. */
void al_diff_raw_add_objects(const struct al_diff_raw *changes, struct al_str *words);

/** The octal digits that a text begins with: the mode of a file.  Something else follows them. */
unsigned al_diff_mode(const char *text);

/** Append the blobs of entries that HEAD's commit does not have in the same place: all of them
 * when there is no commit yet. */
int al_git_staged_objects(const struct al_repo *repo, struct al_strv *ret_oids,
                          struct al_error *err);

#endif
