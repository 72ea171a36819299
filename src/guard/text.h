// SPDX-License-Identifier: Apache-2.0
/*
 * Text from a repository, made safe for users and models, and cut at exact lengths.
 *
 * - Removed: whole terminal control sequences (ECMA-48 CSI, OSC, DCS, SOS, PM, APC, the 8-bit C1
 *   forms, two-character escapes) and every control character but tab and newline.  A CR directly
 *   before LF stays; any other CR is removed.
 * - Shown as <U+202E>: bidi controls and invisible characters.
 * - Replaced by U+FFFD: bytes that are not UTF-8.
 *
 * A text that a user decides by must not lack anything.  `show_controls` removes nothing: control
 * characters are shown in the same way, <U+001B>[2J.
 */
#ifndef AL_GUARD_TEXT_H
#define AL_GUARD_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

/** The marker at the end of a cut text.  It counts towards the cap. */
#define AL_TEXT_MARKER "\n\n... [output truncated]"

/** The separator between git's output and its standard error. */
#define AL_TEXT_STDERR "\n\n[stderr]\n"

/** A streaming sanitizer.  Bytes go in in pieces of any size, and safe text collects in `out`.  A
 * sequence may begin in one piece and end in a later one. */
struct al_text {
    struct al_str out;
    size_t max_bytes;      /**< once `out` is longer, no more input is accepted */
    bool show_controls;    /**< show control characters instead of removing them */
    bool show_bytes;       /**< show bytes that are not UTF-8 as <E9> instead of replacing them */
    int state;             /**< private: the position in a control sequence */
    unsigned char held[4]; /**< private: an incomplete UTF-8 character, or a CR */
    size_t nheld;
};

/** A sanitizer for `max` bytes of safe text.  One character more is kept, to tell "exactly the cap"
 * from "more than the cap". */
#define AL_TEXT_INIT(max) ((struct al_text){ .out = AL_STR_INIT, .max_bytes = (max) })

void al_text_clear(struct al_text *text);

/**
 * Feed bytes.
 * @return false once there are more than max_bytes of safe text, which stops a sink.
 */
bool al_text_add(struct al_text *text, const char *data, size_t len);

/** End of input: an incomplete character becomes U+FFFD. */
void al_text_end(struct al_text *text);

/** Append a whole text to `out`, sanitized. */
void al_text_sanitize(const char *data, size_t len, struct al_str *out);

/** A name, a path or a word, sanitized as one line: newlines, tabs and CRs in it are shown as
 * <U+000A>, bytes that are not UTF-8 as <E9>.  Caller frees. */
char *al_text_sanitize_line(const char *data);

/** The same for a user who decides by it, or for a model that repeats it: nothing is removed, every
 * control character is shown.  Caller frees. */
char *al_text_sanitize_shown_line(const char *data);
void al_text_add_shown_line(const char *data, struct al_str *out);

/** A text of several lines, such as a message, joined to one: newlines and tabs become spaces.
 * Caller frees. */
char *al_text_join_lines(const char *data);

/** The same for a user who decides by it: nothing is removed, control characters are shown.  Caller
 * frees. */
char *al_text_join_shown_lines(const char *data);

/** Append a whole text to `out`, for a user who decides by it: nothing is removed, control
 * characters are shown. */
void al_text_sanitize_shown(const char *data, size_t len, struct al_str *out);

/** Append a word as a shell takes it, in single quotes. */
void al_text_add_quoted(const char *word, struct al_str *out);

/** Append a blank and a word as a shell takes it, in quotes if it needs them. */
void al_text_add_word(const char *word, struct al_str *out);

/**
 * Cut `text` to `max_bytes` at a character boundary if it is longer.  The marker counts; below the
 * marker's own length the text becomes just the marker.
 * @return true when the text was cut.
 */
bool al_text_truncate(struct al_str *text, size_t max_bytes);

/** Append "a.c, b.c...": at most `max_items` items, safe with nothing removed, and "..." for the
 * rest. */
void al_text_add_list(struct al_str *out, const struct al_strv *items, size_t max_items);

/**
 * Append a diff as shown in a question: at most 200 lines or 16 KiB, then "… N more lines".
 * Control characters are shown.
 *
 * @param more  `diff` was itself cut when it was read; the count is then "at least".
 */
void al_text_add_excerpt(struct al_str *out, const char *diff, size_t len, bool more);

/**
 * The two parts of an excerpt, for a caller whose lines are not all in memory.  al_text_add_head()
 * appends the whole lines at the beginning that are shown; a first line that is too long is cut.
 * al_text_add_remaining() appends the line about the lines that are left.
 *
 * @return how many whole lines were added.
 */
size_t al_text_add_head(struct al_str *out, const char *data, size_t len);
void al_text_add_remaining(struct al_str *out, uint64_t left, bool more);

/** Append a text of the agent's as shown in a question, as an excerpt or in full.  Every line is
 * indented, so no line can pass for one of airlock's. */
void al_text_add_indented(struct al_str *out, const char *text, bool in_full);

/**
 * Read a name with characters shown as <U+000A>.
 *
 * Only what would be shown so is read: control characters and invisible ones.  So no "/", "." or
 * NUL comes of it.
 *
 * @return the name; NULL if it has nothing of the kind.  Caller frees.
 */
char *al_shown_name_read(const char *shown);

#endif
