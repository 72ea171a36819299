// SPDX-License-Identifier: Apache-2.0
/*
 * The output of `--numstat -z -p` or `--raw -z -p`: the changed files, then the patch.
 *
 * Source: git-diff(1) "OTHER DIFF FORMATS", "--numstat".
 */
#ifndef AL_GIT_READING_CHANGE_READER_H
#define AL_GIT_READING_CHANGE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "git/diff/diff.h"
#include "git/diff/hunks.h"
#include "git/plumbing/diff_raw.h"
#include "git/repo/repo.h"

/* --- Change reader --- */

/** Names of this size in all are stored; more files are an error of the reading. */
#define AL_CHANGED_NAMES_MAX_BYTES (64u << 20)

/** A longer hunk is passed on in parts of about this many bytes, cut between lines. */
#define AL_PATCH_PART_BYTES (128u * 1024u)

/** Gets the parts of a patch, as a series of files and hunks, while git prints it.  Either function
 * ends the reading with false, and may be NULL. */
struct al_patch_taker {
    /** Valid only during the call. */
    bool (*take_file)(void *payload, const struct al_patch_file *file);
    /** @param part  Whole lines.  The first part of a hunk begins with its "@@" line.
     *  @param is_first  This is the first part of a hunk. */
    bool (*take_hunk)(void *payload, const char *part, size_t len, bool is_first);
    void *payload;
};

/** The reader.  Must not be moved after al_change_reader_init(). */
struct al_change_reader {
    struct al_diff_raw files;
    /** Called once, before the first part of the patch or at the end.  False ends the reading. */
    bool (*take_files)(void *payload, const struct al_diff_raw *files);
    struct al_patch_taker to;
    struct al_hunks hunks; /**< another taker of lines may come in place of `to` */
    bool lists_files;      /**< `take_files` is still to be called */

    /* Private. */
    size_t bytes;       /* of names */
    struct al_str part; /* lines of the hunk that were not passed on */
    bool is_first;      /* `part` begins a hunk */
    bool has_told;      /* the file was passed on */
    bool stopped;
};

/** Set up the reader.  `take_files` and the functions of `to` get the payload of `to`. */
void al_change_reader_init(struct al_change_reader *reader,
                           bool (*take_files)(void *payload, const struct al_diff_raw *files),
                           const struct al_patch_taker *to);
void al_change_reader_clear(struct al_change_reader *reader);

/** Sink function: parse the next bytes, split anywhere.  `payload` is the reader. */
bool al_change_reader_add(void *payload, const char *data, size_t len);

/** The end of the output. */
bool al_change_reader_end(struct al_change_reader *reader);

/* --- Read changes --- */

/* Run `git diff` or `git log` for the changed files and the patch. */

/**
 * Run `git diff`.  One git child.
 *
 * @param options  `name_only`, `stat` and `show_controls` are ignored.
 * @param patch    The patch is wanted too.
 * @param reader   Gets the output, with its end.
 * @return 0, also when the reader has stopped; git's failure.
 */
int al_git_read_changes(const struct al_repo *repo, const struct al_diff_options *options,
                        bool patch, struct al_change_reader *reader, struct al_error *err);

/** Append the options of every patch that struct al_change_reader reads. */
void al_git_add_patch_options(struct al_strv *argv);

/** Append "2 files changed, +3 -0" of a diffstat, which says that in English.  False: it does not.
 */
bool al_shortstat_add_numbers(const char *diffstat, struct al_str *out);

#endif
