// SPDX-License-Identifier: Apache-2.0
/*
 * Text from a repository made safe for people and models, and cut exactly.
 *
 * Removed: terminal control sequences as a whole (ECMA-48 CSI, OSC, DCS, SOS, PM, APC, the 8-bit
 * C1 forms, two-character escapes) and every other control character but tab and newline; a CR
 * directly before LF stays, any other CR goes.  Shown: bidi controls and invisible characters as
 * <U+202E>.  Replaced: bytes that are not UTF-8, by U+FFFD.
 *
 * Where a person decides by the text, nothing may be missing from it: with `show_controls` nothing
 * is removed, and control characters are shown in the same way, <U+001B>[2J.
 */
#ifndef AL_GUARD_TEXT_H
#define AL_GUARD_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/str.h"

/** The marker at the end of a cut text; it counts towards the cap. */
#define AL_TEXT_MARKER "\n\n... [output truncated]"

/** What stands between git's output and its standard error. */
#define AL_TEXT_STDERR "\n\n[stderr]\n"

/**
 * A streaming sanitizer: bytes go in as they come (split anywhere), safe text collects in `out`.
 * Sequences that began in one piece and end in a later one are handled.
 */
struct al_text {
    struct al_str out;
    size_t max_bytes;      /**< once `out` is longer than this, nothing more is taken */
    bool show_controls;    /**< show control characters instead of removing them */
    int state;             /**< where in a control sequence we are; private */
    unsigned char held[4]; /**< an unfinished UTF-8 character or a CR; private */
    size_t nheld;
};

/** `max_bytes` is the number of safe bytes wanted; one character more is kept, so that "exactly
 * the cap" and "more than the cap" can be told apart. */
#define AL_TEXT_INIT(max) ((struct al_text){ .out = AL_STR_INIT, .max_bytes = (max) })

void al_text_clear(struct al_text *text);

/** Feed bytes.  Returns false once more than max_bytes of safe text is there (a sink's answer). */
bool al_text_add(struct al_text *text, const char *data, size_t len);

/** End of input: what was held back is decided (an unfinished character becomes U+FFFD). */
void al_text_end(struct al_text *text);

/** Sanitize a whole string at once, appending to `out`. */
void al_text_clean(const char *data, size_t len, struct al_str *out);

/** The same for one line of ours: newlines and tabs become spaces too.  Caller frees. */
char *al_text_sanitize_line(const char *data);

/** The same where a person decides by the text: nothing is removed, control characters are shown.
 */
char *al_text_sanitize_shown_line(const char *data);

/** Sanitize a whole text where a person decides by it, appending to `out`: nothing is removed. */
void al_text_show(const char *data, size_t len, struct al_str *out);

/** Append JSON with every character that nobody sees, or that a terminal obeys, as its \u escape:
 * the same value, safe to show. */
void al_text_escape_json(const char *json, size_t len, struct al_str *out);

/** Append text as it stands between the quotes of a JSON literal, with the same escapes; bytes that
 * are not UTF-8 become U+FFFD. */
void al_text_escape(const char *text, size_t len, struct al_str *out);

/**
 * Cut `text` to `max_bytes`, marker included, at a character boundary, when it is longer.  Below
 * the marker's own length the text is the marker alone.
 * @return true when it was cut.
 */
bool al_text_truncate(struct al_str *text, size_t max_bytes);

/** "a.c, b.c..." : the items, made safe and nothing removed, at most `max_items`, then "..." for
 * the rest. */
void al_text_add_list(struct al_str *out, const struct al_strv *items, size_t max_items);

/**
 * A diff as shown when asking: at most 200 lines or 16 KiB, then "… N more lines", and every
 * control character shown.  `more` says
 * that `diff` itself was cut when it was read; the count is then "at least".
 */
void al_text_add_excerpt(struct al_str *out, const char *diff, size_t len, bool more);

/**
 * The parts of such an excerpt, for who counts lines that are not at hand: the whole lines at the
 * beginning of `text` that are shown, and the line about those that are left.  A first line that is
 * too long by itself is cut.
 *
 * @return how many whole lines were added.
 */
size_t al_text_add_head(struct al_str *out, const char *data, size_t len);
void al_text_add_remaining(struct al_str *out, uint64_t left, bool more);

/** A text of an agent's as shown when asking, within the same bounds or in full: every line is
 * indented, so that none can pose as what stands around it. */
void al_text_add_indented(struct al_str *out, const char *text, bool in_full);

#endif
