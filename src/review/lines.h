// SPDX-License-Identifier: Apache-2.0
/*
 * A text of a question or an execution, cut into lines of which each has a kind: a diff among other
 * text.  The kinds are for whoever shows it with colours.
 *
 * The kind is a matter of colour only: a text can contain whatever looks like a diff.  The text is
 * not made safe here.
 */
#ifndef AL_REVIEW_LINES_H
#define AL_REVIEW_LINES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

/** A longer line comes in pieces of at most this many bytes, so that none is slow to show. */
#define AL_REVIEW_LINE_MAX 1024

enum al_review_line_kind {
    AL_LINE_NOTE,    /**< anything else, unchanged lines of a hunk too */
    AL_LINE_FILE,    /**< "diff --git a/x b/x", with which a file begins */
    AL_LINE_META,    /**< "index ...", "--- a/x", "new file mode ...", up to the first hunk */
    AL_LINE_HUNK,    /**< "@@ -1,2 +1,3 @@" */
    AL_LINE_ADDED,   /**< "+..." in a hunk */
    AL_LINE_REMOVED, /**< "-..." in a hunk */
    AL_LINE_TITLE,   /**< not of a text: what the entry is called */
    AL_LINE_FACT,    /**< not of a text: what is known of the entry */
};

/** A line, or a piece of one, without its line end.  Borrowed from the text. */
struct al_review_line {
    const char *text;
    size_t len;
    enum al_review_line_kind kind;
    bool continues; /**< a further piece of the line before */
};

/** Cut a text.  Returns how many lines and pieces there are.  Pieces end between two characters if
 * the text is UTF-8.  Caller frees *ret_lines. */
size_t al_review_cut(const char *text, size_t len, struct al_review_line **ret_lines);

/** Append a text for markup: for an element, or an attribute in quotes. */
void al_review_add_escaped(const char *text, size_t len, struct al_str *out);

#endif
