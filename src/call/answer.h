// SPDX-License-Identifier: Apache-2.0
/*
 * A text answer within a budget, made of units that are not cut: files, hunks, commits, lines.
 *
 *     struct al_pages answer = AL_PAGES_INIT;   (al_auto(al_pages_clear))
 *
 *     r = al_pages_begin(&answer, call, &args->page, err);
 *     while (there is another unit && al_pages_add(&answer, unit, len))
 *         ;
 *     r = al_pages_end(&answer, "4 of 23 files not shown: src/a.c +120 -3, …", result, err);
 *
 * A call with a cursor adds the same units again, from the first one.  Those before the cursor are
 * only digested and compared with what they were; the answer then goes on exactly there.
 *
 * A unit that is larger than a whole page is cut between its lines, and a line that is larger than
 * a page inside.
 *
 * The last line of a page that is not the last one has a cursor.  It names the argument that shows
 * more where no call comes after.
 *
 * An answer without pages, of a tool that changes something, ends with al_answer_done().
 */
#ifndef AL_CALL_ANSWER_H
#define AL_CALL_ANSWER_H

#include <nettle/sha2.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/json.h"
#include "base/str.h"
#include "call/call.h"
#include "git/reading/worktree_state.h"
#include "git/repo/repo.h"

/** A place in an answer. */
struct al_cursor_place {
    uint64_t part;                      /**< see al_pages_begin_part() */
    uint64_t unit;                      /**< units of that part before it */
    uint64_t offset;                    /**< bytes of its unit before it */
    uint8_t before[SHA256_DIGEST_SIZE]; /**< of all the bytes of the part before it */
};

#define AL_ANSWER_DEFAULT_BYTES 30000
#define AL_ANSWER_MIN_BYTES     1000
#define AL_ANSWER_MAX_BYTES     200000

/** The arguments of a tool whose answer has pages.  A member of its args struct, named `page`. */
struct al_page {
    struct al_opt_int max_bytes;
    const char *cursor; /**< NULL: from the beginning */
};

/** The rows of these arguments.  `T` is the tool's args struct. */
#define AL_PAGE_ROWS(T)                                                                            \
    AL_INT_AS(T, page.max_bytes, "max_bytes", NULL, .flags = AL_PARAM_HAS_DEFAULT,                 \
              .min = AL_ANSWER_MIN_BYTES, .max = AL_ANSWER_MAX_BYTES,                              \
              .default_int = AL_ANSWER_DEFAULT_BYTES),                                             \
        AL_STRING_AS(T, page.cursor, "cursor", NULL, .flags = AL_PARAM_NAME, .max_bytes = 128)

struct al_pages {
    struct al_call *call;
    struct al_str text; /**< of this page, safe */
    bool full;          /**< the page has no room for the next unit */
    bool moved;         /**< what is before the cursor is not what it was */
    uint64_t part;      /**< at first the part in which a page with a cursor begins */

    /* Private. */
    size_t max_bytes, base; /* `base`: where the page begins, after the lines about itself */
    const char *stopped;    /* by al_pages_stop(): there would be room */
    struct al_cursor_place from, next;
    uint64_t at;              /* units added */
    struct sha256_ctx passed; /* digest of the units before `at` */
    bool cut_in_line;
};

/** The advice of al_pages_stop() at max_count. */
#define AL_PAGES_LARGER_COUNT "a larger max_count shows more"

#define AL_PAGES_INIT         ((struct al_pages){ .text = AL_STR_INIT })

void al_pages_clear(struct al_pages *pages);

/** Begin an answer.
 *
 * @return 0; AL_ERR_BAD_ARGS for a cursor that is not of this session.
 */
int al_pages_begin(struct al_pages *pages, struct al_call *call, const struct al_page *page,
                   struct al_error *err);

/**
 * Add a unit: whole lines, each with its newline.
 *
 * @param unit  Any bytes; made safe here.  Names in it come from al_place_add() and
 *              al_place_add_name().
 * @return false: the page is full (this unit is not shown, or not wholly), or the cursor is stale;
 *         nothing more is taken, and git can be stopped.
 */
bool al_pages_add(struct al_pages *pages, const char *unit, size_t len);
bool al_pages_adds(struct al_pages *pages, const char *unit);
bool al_pages_addf(struct al_pages *pages, const char *fmt, ...) al_printf(2, 3);

/** Add a line above the unit that is added next, if the page goes on with it: what the unit belongs
 * to, which an earlier page said. */
void al_pages_lead(struct al_pages *pages, const char *line);

/** End the page here although there is room: for a tool whose max_count is reached.
 *
 * @param more  What shows more in one call: a constant. */
void al_pages_stop(struct al_pages *pages, const char *more);

/**
 * Begin a part of an answer that is too much work to be made again: a cursor of what is added from
 * here on counts from here, and a call with it need not add what was before.
 *
 * @param part  Any number but 0, which is the beginning.
 * @param id    What comes before: if it has changed, the cursor is stale.
 */
void al_pages_begin_part(struct al_pages *pages, uint64_t part, const char *id, size_t len);

/** Test whether the unit that is added next would be shown, or digested only: for a tool that can
 * save work for units before the cursor. */
bool al_pages_shows(const struct al_pages *pages);

/**
 * End an answer, and make it the result.
 *
 * @param left  What is not shown, safe text, with numbers and without the cursor; "" if the tool
 *              cannot tell.  Not used when everything is shown.
 * @return 0; AL_ERR_BAD_ARGS when the repository has changed since the cursor.
 */
int al_pages_end(struct al_pages *pages, const char *left, struct al_result *result,
                 struct al_error *err);

/** Stage 7 of a tool of AL_WORDS_EVERYDAY that has changed something and has written what happened
 * to the text of the result, lines with their newlines: make it safe, cut it at
 * AL_ANSWER_DEFAULT_BYTES, and append the line of where one is now.  One git
 * child. */
void al_answer_done(struct al_call *call, struct al_result *result);

/**
 * The result of a tool that changed nothing and has no pages: the text alone.
 *
 * @param text  Safe text; it becomes the result as it is.  Taken over, empty afterwards.
 */
void al_answer_text(struct al_str *text, struct al_result *result);

/** A number with separators and its noun, for a line that is written: "1 file", "1,204 files".
 * NULL for the nouns: the number alone. */
struct al_counted {
    char text[64];
};
struct al_counted al_counted(uint64_t count, const char *one, const char *many);

/** Append what is left, "12 more commits", or "more than 1,000 more commits" where no more than
 * `max` were counted. */
void al_answer_add_more(uint64_t count, uint64_t max, const char *one, const char *many,
                        struct al_str *out);

/** Append the items of a list until `max_bytes` of it are written, then "… and 12 more". */
void al_answer_add_items(const struct al_strv *items, size_t max_bytes, struct al_str *out);

/** The same for a list of `total` items of which only the first ones are known. */
void al_answer_add_items_of(const struct al_strv *items, size_t total, size_t max_bytes,
                            struct al_str *out);

/** Append a new cursor of this call to `out`. */
void al_cursor_add(const struct al_call *call, const struct al_cursor_place *place,
                   struct al_str *out);

/** The place that a cursor names.
 *
 * @return 0; AL_ERR_BAD_ARGS for a cursor that is not of this session or was forgotten.
 */
int al_cursor_find(const struct al_session *session, const char *cursor,
                   struct al_cursor_place *ret_place, struct al_error *err);

/**
 * The `expand` of struct al_tool: the arguments that a call with a cursor goes on with, which are
 * those of the call the cursor comes from.  Beside the cursor, `max_bytes` may be another one;
 * anything else that is given has to be as it was.
 *
 * @param[out] ret_arguments  NULL: there is no cursor.  The caller owns the reference.
 */
int al_cursor_expand(const struct al_session *session, const struct al_tool *tool,
                     const json_t *given, json_t **ret_arguments, struct al_error *err);

/** Append a line where a plain text that found nothing looks like a regular expression. */
void al_answer_add_plain(const char *param, const char *text, struct al_str *out);

/*
 * Paths as the agent reads and writes them: relative to its working_dir, in results as in
 * arguments.
 *
 * Names are never quoted.  Control characters, newlines among them, are shown as <U+000A>.
 *
 * Arguments: a tool with `is_everyday` gets "../x" as the absolute path it means and
 * "<U+000A>" as the character, before any other stage looks at it (call/targets.c).
 */

/** Append a path of the repository: "x", "dir/x", "../x".
 *
 * @param path  Raw bytes, relative to the top of the working tree.
 */
void al_place_add(const struct al_repo *repo, const char *path, struct al_str *out);

/** The same as al_place_add(), in a string that the caller frees. */
char *al_place(const struct al_repo *repo, const char *path);

/** Append a name that is no path: of a branch, an author, a subject.  Visible like a path. */
void al_place_add_name(const char *name, struct al_str *out);

/** Append a line, or a part of one, with such names in it.  Only a newline at the end of `fmt` is
 * one. */
void al_place_addf(struct al_str *out, const char *fmt, ...) al_printf(2, 3);

/** The reverse, for a path that the agent gave: relative to the top of the working tree, raw bytes.
 * Caller frees.
 *
 * @param given  As from the arguments of a call; "" and "." are the working directory.
 * @return 0, with "" for the top itself; AL_ERR_BAD_ARGS or AL_ERR_SANDBOX as al_repo_file().
 */
int al_place_from_argument(const struct al_repo *repo, const char *param, const char *given,
                           char **ret_path, struct al_error *err);

/* The line that ends every result of a tool that changed something: branch, upstream, changes. */

/** Append "main 3 ahead of origin/main", "detached at a1b2c3d", "main, no commits yet".  A branch
 * that follows none is compared with the one that it was pushed to, which becomes its upstream. */
void al_state_add_branch(struct al_call *call, struct al_worktree_state *state, struct al_str *out);

/** Append "rebase 2/5", "merge", …; nothing when no operation is in progress. */
void al_state_add_operation(const struct al_repo *repo, struct al_str *out);

/** Append the line that says how many files' uncommitted changes wait, and for what; nothing when
 * there are none. */
void al_state_add_waiting(struct al_call *call, struct al_str *out);

/** The abbreviated form of an object id, as every answer shows it: 8 digits.  Not ended by NUL. */
#define AL_SHORT_ID 8

/* Long lists of files, collapsed by directory: "node_modules/: 1,204 files". */

/**
 * Show a list of paths in at most about `max_lines` lines: small directories file by file, large
 * ones with their number.
 *
 * @param paths  Sorted by their bytes (al_strv_sort()).
 * @param take   Called for each line: for a file with count 1, for a directory with its path, which
 *               ends with '/', and the number of files below it.  `index` is that of the (first)
 *               path in the list.  The path "" with a count are further files of one directory,
 *               which is that of the file at `index`.
 */
void al_collapse(const struct al_strv *paths, size_t max_lines,
                 void (*take)(void *payload, const char *path, size_t count, size_t index),
                 void *payload);

#endif
