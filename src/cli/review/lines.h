// SPDX-License-Identifier: Apache-2.0
/*
 * A text of a question or an execution, cut into lines of which each has a kind: statistics and a
 * diff among other text.  For whoever shows it with colours.
 *
 *     struct al_review_cutter cutter = AL_REVIEW_CUTTER_INIT(text, len);
 *     struct al_review_line line;
 *
 *     while (al_review_cutter_next(&cutter, &line)) ...
 *
 * - Lines of a hunk are counted as its header says, so a removed line "-- x" is no file header.
 * - The kind is a matter of colour only: a text can contain whatever looks like a diff.
 * - The text is not made safe here.
 */
#ifndef AL_CLI_REVIEW_LINES_H
#define AL_CLI_REVIEW_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** A longer line comes in pieces of at most this many bytes, so that none is slow to show. */
#define AL_REVIEW_PIECE_MAX_BYTES 4096

enum al_review_line_kind {
    AL_LINE_NOTE,    /**< anything else */
    AL_LINE_STAT,    /**< " a.txt | 2 +-", " 1 file changed, 1 insertion(+)" */
    AL_LINE_FILE,    /**< "diff --git a/x b/x", with which a file begins */
    AL_LINE_META,    /**< "index ...", "--- a/x", "new file mode ...", up to the first hunk */
    AL_LINE_HUNK,    /**< "@@ -1,2 +1,3 @@" */
    AL_LINE_ADDED,   /**< "+..." in a hunk */
    AL_LINE_REMOVED, /**< "-..." in a hunk */
    AL_LINE_CONTEXT, /**< " ..." in a hunk, and "\ No newline at end of file" */
};

/** A line, or a piece of one, without its line end.  Borrowed from the text. */
struct al_review_line {
    const char *text;
    size_t len;
    enum al_review_line_kind kind;
    bool continues; /**< a further piece of the line before */
};

/** Where a text is cut next.  The members are private. */
struct al_review_cutter {
    const char *at, *end;
    const char *line_end;          /* of the line whose pieces are given out; NULL: none is */
    enum al_review_line_kind kind; /* of that line */
    bool in_file;                  /* between a file's first line and its first hunk */
    unsigned nparents;             /* of the hunk; 2 and more: a combined diff; 0: in no hunk */
    uint64_t old_left, new_left;   /* lines of the hunk that are still to come */
};

#define AL_REVIEW_CUTTER_INIT(data, nbytes)                                                        \
    ((struct al_review_cutter){ .at = (data), .end = (data) + (nbytes) })

/** The next line, or the next piece of one.  False: the text is at its end.  Pieces end between two
 * characters if the text is UTF-8. */
bool al_review_cutter_next(struct al_review_cutter *cutter, struct al_review_line *ret_line);

#endif
