// SPDX-License-Identifier: Apache-2.0
/* Run `git diff`, and build its arguments. */
#ifndef AL_GIT_DIFF_DIFF_H
#define AL_GIT_DIFF_DIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "git/plumbing/diff_raw.h"
#include "git/repo/repo.h"
#include "git/run.h"

/** Options of a diff. */
struct al_diff_options {
    bool cached, name_only, stat;
    bool not_deleted;   /**< leave out files that the newer side does not have */
    bool show_controls; /**< make control characters visible, since a user decides by the output */
    int64_t unified;    /**< lines of context, -1: git's default */
    const char *from_ref, *to_ref;
    const struct al_strv *paths; /**< paths as the agent wrote them; NULL: all */
    const char *index; /**< index file to compare with; NULL: the repository's own; borrowed */
};

/** Run `git diff` and capture at most `max_bytes` of its output. A non-zero exit code is an
 * error. */
int al_git_diff(const struct al_repo *repo, const struct al_diff_options *options, size_t max_bytes,
                struct al_git_output *ret_output, struct al_error *err);

/** Append all arguments of a diff except the paths: context, safety flags, revisions, "--". */
void al_git_diff_add_options(const struct al_diff_options *options, struct al_strv *argv);

/** Append the arguments as al_git_diff_add_options() does, then the resolved pathspecs. Returns
 * AL_ERR_BAD_ARGS when they do not fit on one command line. */
int al_git_diff_add_args(const struct al_repo *repo, const struct al_diff_options *options,
                         struct al_strv *argv, struct al_error *err);

struct al_hunks;

/**
 * Run `git diff`, keep at most `max_bytes` of the patch, and parse them into `hunks`.  `name_only`
 * and `stat` of the options are ignored.
 *
 * `hunks->files` counts the files of the whole diff: when the patch was cut, a second git child
 * counts them.
 */
int al_git_read_diff(const struct al_repo *repo, const struct al_diff_options *options,
                     size_t max_bytes, struct al_hunks *hunks, struct al_str *ret_text,
                     bool *ret_truncated, struct al_error *err);

/* --- Ci files --- */

/* Files that tell another machine what to run (continuous integration). */

/** Test whether a file of this path, relative to the top, runs in CI. */
bool al_path_runs_in_ci(const char *path);

/* --- Patches --- */

/*
 * The one reader of patches as `git diff` prints them, including the combined diff of a conflict:
 * lines, with the files and hunks that they belong to.  It reads while git still prints.
 *
 * File content cannot pass for a header: a hunk ends where the line counts in its header say.
 *
 * Source: git-diff(1) "GENERATING PATCH TEXT WITH -P", "COMBINED DIFF FORMAT".
 */

/** A file of a patch, as its header says.  Names are raw bytes, relative to the top. */
struct al_patch_file {
    char *path;
    char *old_path; /**< of a rename or a copy; NULL */
    bool is_new, is_deleted, is_copy, is_binary, is_unmerged;
    unsigned old_mode, mode; /**< 0: there is no such side, or the header does not say */
};

/** The header of a hunk. Valid only during the call it is passed to. */
struct al_hunk {
    const char *file; /**< its path */
    int64_t old_start, old_lines, new_start, new_lines;
    const char *header; /**< section heading, e.g. "int main(void)"; not NUL-terminated */
    size_t header_len;
};

/** One line of a patch. It may contain any bytes. */
struct al_patch_line {
    const char *text; /**< without its newline; not NUL-terminated */
    size_t len;
    bool ended;                 /**< a newline ended it; only the last line may lack one */
    const struct al_hunk *head; /**< the hunk that this line begins; NULL: none */
    bool continues;   /**< the line before, of which a part was passed on; see al_hunks.in_parts */
    bool in_hunk;     /**< the line belongs to the current hunk; `text` includes the first column */
    bool begins_file; /**< the file of the parser is the one before, for the last time */
};

/** The parser. Set up with AL_HUNKS_INIT(). */
struct al_hunks {
    void (*take)(void *payload, const struct al_patch_line *line);
    void *payload;
    bool cuts_lines;           /**< a line of more than 4 MiB is cut */
    bool in_parts;             /**< a line of more than 64 KiB is passed on in parts, each of which
                                  is not ended but the last */
    size_t files;              /**< files in the patch; complete after al_hunks_end() */
    struct al_patch_file file; /**< what was read of the current file; no path: there is none yet */

    /* Private. */
    struct al_hunk hunk;
    int parents; /* parents of the current hunk; 0: outside a hunk */
    int64_t old_left, new_left;
    bool continues;             /* a part of the line was passed on */
    struct al_str partial_line; /* the line that is read */
};

#define AL_HUNKS_INIT(fn, data)                                                                    \
    ((struct al_hunks){ .take = (fn), .payload = (data), .partial_line = AL_STR_INIT })

void al_hunks_clear(struct al_hunks *hunks);

/** The name prefixes that the parser expects. Pass them to git as --src-prefix and --dst-prefix. */
#define AL_HUNKS_OLD_PREFIX "a/"
#define AL_HUNKS_NEW_PREFIX "b/"

/** Parse the next bytes, split anywhere. Calls `take` for each complete line. */
void al_hunks_add(struct al_hunks *hunks, const char *data, size_t len);

/** Test whether a line begins with these words. */
bool al_hunks_begins(const char *line, size_t len, const char *words);

/** End of input. */
void al_hunks_end(struct al_hunks *hunks);

/* --- Changed files and their patch --- */

/*
 * The output of `--numstat -z -p` or `--raw -z -p`: the changed files, then the patch.
 *
 * Source: git-diff(1) "OTHER DIFF FORMATS", "--numstat".
 */

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
