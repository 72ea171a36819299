// SPDX-License-Identifier: Apache-2.0
/*
 * The changes of a diff as a list of files and hunks, each hunk with an id of its content.
 *
 * A hunk is a run of removed and added lines without an unchanged line between them, so it is never
 * part of another hunk, however many lines of context a diff shows.  A change that has no lines, or
 * that only makes sense as a whole, is one hunk as well: a new mode, a binary file, another type, a
 * submodule, an empty file.
 *
 * The id is the first eight hexadecimal digits of the SHA-256 of
 *
 *     path NUL side NUL line…      each line as the patch has it, with its first column and newline
 *
 * where the lines are those of the hunk and, if there is one, the unchanged line on either side.
 * So an id stays the same while other hunks are staged, discarded or edited.  Equal hunks of a file
 * are counted in file order, `-2` for the second one; those of the other side count too, so a hunk
 * keeps its number when an equal one is staged or unstaged.
 *
 * Renames are not detected: a renamed file is one that was deleted and one that is new.
 *
 * Source: git-diff(1) "GENERATING PATCH TEXT WITH -P", git-apply(1).
 */
#ifndef AL_GIT_HUNKS_HUNK_LIST_H
#define AL_GIT_HUNKS_HUNK_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"
#include "git/command.h"
#include "git/repo/repo.h"

/** Larger diffs cannot be chosen from. */
#define AL_HUNKS_MAX_BYTES (64u << 20)

/** Unchanged lines on either side that are read; a reader may be shown fewer. */
#define AL_HUNKS_CONTEXT 3

/** The hexadecimal digits of an id, without its number. */
#define AL_HUNK_ID_DIGITS 8

/** Room for an id with its number and its NUL. */
#define AL_HUNK_ID_TEXT 32

/** The two states that a diff is between. */
enum al_hunk_side {
    AL_HUNKS_UNSTAGED, /**< from the index to the working tree */
    AL_HUNKS_STAGED,   /**< from HEAD to the index */
    AL_HUNKS_COMMITTED /**< from one tree to another */
};

/** The kind of a hunk. */
enum al_hunk_kind {
    AL_HUNK_LINES,
    AL_HUNK_MODE,      /**< the mode alone; the file may have hunks of lines beside it */
    AL_HUNK_BINARY,    /**< the content of a binary file, with its mode */
    AL_HUNK_TYPE,      /**< a file has become a link, or the other way round */
    AL_HUNK_SUBMODULE, /**< another commit of a submodule */
    AL_HUNK_EMPTY,     /**< an empty file that is new or deleted */
};

/** One hunk.  Offsets are of the text of the list. */
struct al_hunk_item {
    char id[AL_HUNK_ID_TEXT];
    enum al_hunk_kind kind;
    size_t file;       /**< its file, an index of `files` */
    size_t begin, end; /**< its removed and added lines; empty if the kind has none */
    size_t block;      /**< where the "@@" line of git's hunk begins that these lines are in */
    int64_t old_start; /**< the number of its first removed line; without one, of the line that
                          follows */
    int64_t old_lines; /**< how many it removes */
    int64_t new_start, new_lines; /**< the same for the lines it adds */
    uint64_t content;             /* equal for equal hunks of either side; private */
};

/** One changed file. */
struct al_hunk_file {
    char *path;  /**< relative to the top, as git has it */
    char status; /**< 'A' new, 'D' deleted, 'M' modified, 'T' another type, 'U' in conflict: such
                    a file has no hunks */
    unsigned old_mode, new_mode; /**< 0: the file is not there */
    bool is_binary;
    size_t begin, body, end; /**< its part of the text; from `body` on git's hunks */
    size_t first, count;     /**< its hunks, indexes of `items` */
    uint64_t added, deleted; /**< lines */
};

/** A diff.  Set up with AL_HUNK_LIST_INIT. */
struct al_hunk_list {
    enum al_hunk_side side;
    struct al_str text; /**< the patch, exactly as git printed it */
    struct al_hunk_file *files;
    size_t nfiles;
    struct al_hunk_item *items;
    size_t count;
    bool truncated; /**< the diff is longer than the limit; the file in which it was cut is left out
                     */
};

#define AL_HUNK_LIST_INIT ((struct al_hunk_list){ .text = AL_STR_INIT })

void al_hunk_list_clear(struct al_hunk_list *list);

/** The staged hunks and the others.  Set up with AL_HUNK_SIDES_INIT. */
struct al_hunk_sides {
    struct al_hunk_list staged, unstaged;
};

#define AL_HUNK_SIDES_INIT                                                                         \
    ((struct al_hunk_sides){ .staged = AL_HUNK_LIST_INIT, .unstaged = AL_HUNK_LIST_INIT })

void al_hunk_sides_clear(struct al_hunk_sides *sides);

/** The diff to read. */
struct al_hunk_query {
    enum al_hunk_side side;
    const struct al_strv *paths; /**< as the agent wrote them; NULL: all */
    const char *index;           /**< the index file; NULL: the repository's own.  Borrowed */
    const char *from, *to;       /**< of AL_HUNKS_COMMITTED: ids of trees or commits */
    bool binary;                 /**< binary changes are in the text, so that they can be applied */
};

/**
 * Read the hunks of a diff, on the repository's own index.  Two git children: the second one reads
 * the other side, whose equal hunks count.
 *
 * @param[out] ret_list  The caller clears it.
 * @return 0, or git's failure.
 */
int al_git_read_hunks(const struct al_repo *repo, const struct al_hunk_query *query,
                      struct al_hunk_list *ret_list, struct al_error *err);

/** The same for all changes of both sides, binary ones in the text, with as many children. */
int al_git_read_both_hunks(const struct al_repo *repo, struct al_hunk_sides *ret_sides,
                           struct al_error *err);

/** Find a hunk by its id; NULL: there is none.  Borrowed. */
const struct al_hunk_item *al_hunk_find(const struct al_hunk_list *list, const char *id);

/**
 * Append a hunk to `out` for a reader: `@@ <id> -<start>,<lines> +<start>,<lines> @@ <heading>`,
 * the unchanged lines before it, its lines, and those after it.  At most `context` unchanged lines
 * are on either side, and one that is between two hunks is shown once.  The bytes are the file's:
 * the caller makes them safe.  Hunks without lines are one line in words: `@@ <id> mode 100644 ->
 * 100755`.
 */
void al_hunk_show(const struct al_hunk_list *list, const struct al_hunk_item *item, size_t context,
                  struct al_str *out);

/* The lines of the text. */

/* The parser, declared here for tests and the fuzzer. */

/** Parse `list->text` into files and hunks, without the numbers of equal hunks. */
void al_hunk_list_parse(struct al_hunk_list *list);

/** Number the equal hunks.  `other` has the hunks of the other side, parsed; NULL: none. */
void al_hunk_list_number(struct al_hunk_list *list, const struct al_hunk_list *other);

/** Hunks that were chosen from a list. */
struct al_hunk_choice {
    const struct al_hunk_list *list;
    bool *chosen; /**< one for each item of the list */
    size_t count; /**< how many are chosen */
};

void al_hunk_choice_clear(struct al_hunk_choice *choice);

/**
 * Choose hunks by their ids.  An id given twice counts once.
 *
 * @param ids  As the agent wrote them, upper case accepted.
 * @return 0; AL_ERR_BAD_ARGS "hunk 3fa9c1d2 is not there any more", with the ids that are, when one
 *         is not in the list.
 */
int al_hunks_choose(const struct al_hunk_list *list, const struct al_strv *ids,
                    struct al_hunk_choice *ret_choice, struct al_error *err);

/** Append the paths of the files that have a chosen hunk, relative to the top, in file order. */
void al_hunk_choice_paths(const struct al_hunk_choice *choice, struct al_strv *out);

/** The way hunks are applied. */
enum al_hunk_apply {
    AL_HUNKS_STAGE,   /**< unstaged ones, to the index */
    AL_HUNKS_UNSTAGE, /**< staged ones, out of the index */
    AL_HUNKS_DISCARD, /**< unstaged ones, out of the working tree */
};

/**
 * Apply chosen hunks with `git apply`: all of them or none.
 *
 * @param index  The index file to change; NULL: the repository's own.
 * @return 0, or git's failure; nothing is changed then.
 */
int al_git_apply_hunks(struct al_repo *repo, const struct al_hunk_choice *choice,
                       enum al_hunk_apply how, const char *index, struct al_error *err);

#endif
