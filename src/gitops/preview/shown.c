// SPDX-License-Identifier: Apache-2.0
#include "gitops/preview/shown.h"

#include "gitops/diff/diff_raw.h"
#include "gitops/excerpt.h"

/* More than is shown, so that a binary file in front does not push the rest away. */
#define KEPT_MAX_BYTES (256u * 1024u)
/* Lines are counted up to here. */
#define READ_MAX_BYTES AL_GIT_IN_FULL_MAX_BYTES
/* How the part of a patch begins that is about one file; or with '*', about one in conflict. */
#define SECTION "diff "

void al_shown_clear(struct al_shown *shown)
{
    al_diff_raw_clear(&shown->changes);
    al_str_clear(&shown->patch);
    al_str_clear(&shown->start);
    *shown = AL_SHOWN_INIT;
}

static struct al_change *current(struct al_shown *shown)
{
    struct al_diff_raw *changes = &shown->changes;

    return shown->began && shown->change < changes->count ? &changes->items[shown->change] : NULL;
}

/*
 * Bytes that are no text on either side, or on the only one there is.  A text that becomes binary
 * is shown: one NUL must not hide the rest of a script.
 */
static bool is_binary(const struct al_shown *shown, const struct al_change *change)
{
    if (change->status == 'A')
        return shown->nul_new;
    if (change->status == 'D')
        return shown->nul_old;
    return shown->nul_new && shown->nul_old;
}

static void end_section(struct al_shown *shown)
{
    static const char words[] = "(binary content, not shown)\n";
    struct al_change *change = current(shown);

    if (!change)
        return;
    if (is_binary(shown, change)) {
        change->binary = true;
        shown->lines -= shown->section_lines;
        if (shown->hunks_at < shown->patch.len) {
            al_str_truncate(&shown->patch, shown->hunks_at);
            al_str_adds(&shown->patch, words);
            shown->lines++;
            shown->is_cut = false;
        }
    }
    change->patch_end = shown->is_cut || change->binary ? SIZE_MAX : shown->patch.len;
}

/* A change of the type has two sections, the file that goes and the one that comes. */
static void begin_section(struct al_shown *shown)
{
    struct al_change *change = current(shown);

    end_section(shown);
    if (shown->began && !(change && change->status == 'T' && shown->sections == 1)) {
        shown->change++;
        shown->sections = 0;
    }
    shown->began = true;
    shown->sections++;
    shown->in_hunk = shown->nul_old = shown->nul_new = false;
    shown->section_lines = 0;
    shown->hunks_at = SIZE_MAX;
}

/* Content always has a character in front: what has none is about it. */
static void begin_line(struct al_shown *shown, const char *start)
{
    struct al_change *change;
    char first = *start;

    shown->first = first;
    if (al_starts_with(start, SECTION) || first == '*')
        begin_section(shown);
    if (first == '@' && !shown->in_hunk) {
        shown->in_hunk = true;
        shown->hunks_at = shown->patch.len;
    }
    shown->lines++;
    change = current(shown);
    if (!shown->in_hunk || !change)
        return;
    shown->section_lines++;
    change->added += first == '+';
    change->deleted += first == '-';
}

static void keep(struct al_shown *shown, const char *data, size_t len)
{
    const size_t most = shown->in_full ? READ_MAX_BYTES : KEPT_MAX_BYTES;
    size_t room;

    if (shown->is_cut)
        return;
    /* Words of ours in the place of binary content may have taken more than there was. */
    room = shown->patch.len < most ? most - shown->patch.len : 0;
    shown->is_cut = len > room;
    al_str_add(&shown->patch, data, len < room ? len : room);
}

static void add_piece(struct al_shown *shown, const char *data, size_t len)
{
    if (shown->in_hunk && memchr(data, '\0', len)) {
        shown->nul_old |= shown->first != '+';
        shown->nul_new |= shown->first != '-';
    }
    keep(shown, data, len);
    shown->in_line = data[len - 1] != '\n';
}

/* Enough of a line to know it by, or all of it; returns what it took. */
static size_t add_beginning(struct al_shown *shown, const char *data, size_t len)
{
    size_t wanted = strlen(SECTION) - shown->start.len;
    size_t room = len < wanted ? len : wanted;
    const char *eol = memchr(data, '\n', room);
    size_t taken = eol ? (size_t)(eol - data) + 1 : room;

    al_str_add(&shown->start, data, taken);
    if (eol || taken == wanted) {
        begin_line(shown, shown->start.buf);
        add_piece(shown, shown->start.buf, shown->start.len);
        al_str_reset(&shown->start);
    }
    return taken;
}

static void add_patch(struct al_shown *shown, const char *data, size_t len)
{
    while (len) {
        const char *eol = memchr(data, '\n', len);
        size_t taken = eol ? (size_t)(eol - data) + 1 : len;

        if (shown->in_line)
            add_piece(shown, data, taken);
        else
            taken = add_beginning(shown, data, len);
        data += taken;
        len -= taken;
    }
}

bool al_shown_add(void *payload, const char *data, size_t len)
{
    struct al_shown *shown = payload;

    shown->bytes += len;
    while (len && !shown->in_patch) {
        const char *end = memchr(data, '\0', len);
        size_t piece = end ? (size_t)(end - data) + 1 : len;

        if (*data == '\0' && al_diff_raw_at_end(&shown->changes))
            shown->in_patch = true;
        else if (!al_diff_raw_add(&shown->changes, data, piece))
            return false;
        data += piece;
        len -= piece;
    }
    add_patch(shown, data, len);
    shown->more = shown->bytes > READ_MAX_BYTES;
    return !shown->more;
}

void al_shown_end(struct al_shown *shown)
{
    struct al_diff_raw *changes = &shown->changes;
    size_t last = shown->began ? shown->change + 1 : 0;

    end_section(shown);
    if (shown->more || last == changes->total)
        return;
    /* A patch that is not the list's: its numbers are nobody's. */
    for (size_t i = 0; i < changes->count; i++)
        changes->items[i].patch_end = SIZE_MAX;
}
