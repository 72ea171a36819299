// SPDX-License-Identifier: Apache-2.0
#include "gitops/preview/excerpt_reader.h"

#include "gitops/diff/diff_raw.h"
#include "gitops/run.h"

/* More than an excerpt shows, so that a binary file at the front does not crowd out the rest. */
#define KEPT_MAX_BYTES (256u * 1024u)
/* Reading, and with it the count of lines, ends here. */
#define READ_MAX_BYTES AL_GIT_IN_FULL_MAX_BYTES
/* The first word of a file's section in a patch. The section of a conflicted file may begin with
 * '*' instead. */
#define SECTION "diff "
/* The number in its section of the first line of content: the hunk's header comes before. */
#define FIRST_LINE 2

void al_excerpt_reader_clear(struct al_excerpt_reader *reader)
{
    al_diff_raw_clear(&reader->changes);
    al_str_clear(&reader->patch);
    al_str_clear(&reader->start);
    *reader = AL_EXCERPT_READER_INIT;
}

static struct al_change *current(struct al_excerpt_reader *reader)
{
    struct al_diff_raw *changes = &reader->changes;

    return reader->has_section && reader->change < changes->count ? &changes->items[reader->change]
                                                                  : NULL;
}

/*
 * Whether both sides are binary, or the only side there is.  Binary means a NUL byte, as for git: a
 * comment of control characters must not hide a script.  A text that becomes binary is shown, and a
 * new file that begins with "#!": a shell runs these in spite of a NUL byte.
 */
static bool is_binary(const struct al_excerpt_reader *reader, const struct al_change *change)
{
    if (change->status == 'A')
        return reader->new_side.nul && !reader->new_side.script;
    if (change->status == 'D')
        return reader->old_side.nul;
    return reader->new_side.nul && reader->old_side.nul;
}

static void end_section(struct al_excerpt_reader *reader)
{
    static const char words[] = "(binary content, not shown)\n";
    struct al_change *change = current(reader);

    if (!change)
        return;
    if (is_binary(reader, change)) {
        change->binary = true;
        reader->lines -= reader->section_lines;
        if (reader->hunks_at < reader->patch.len) {
            al_str_truncate(&reader->patch, reader->hunks_at);
            al_str_adds(&reader->patch, words);
            reader->lines++;
            reader->is_full = false;
        }
    }
    change->patch_end = reader->is_full || change->binary ? SIZE_MAX : reader->patch.len;
}

/* Begin the next section. A type change has two sections: the removed file, then the added one. */
static void begin_section(struct al_excerpt_reader *reader)
{
    struct al_change *change = current(reader);

    end_section(reader);
    if (reader->has_section && !(change && change->status == 'T' && reader->sections == 1)) {
        reader->change++;
        reader->sections = 0;
    }
    reader->has_section = true;
    reader->sections++;
    reader->in_hunk = false;
    reader->old_side = reader->new_side = (struct al_excerpt_side){ .nul = false };
    reader->section_lines = 0;
    reader->hunks_at = SIZE_MAX;
}

/* Handle the start of a line. Content always has ' ', '+' or '-' in front; every other line is a
 * header. */
static void begin_line(struct al_excerpt_reader *reader, const char *start)
{
    struct al_change *change;
    const char first = *start, before = reader->first;

    reader->first = first;
    if (al_starts_with(start, SECTION) || first == '*')
        begin_section(reader);
    if (first == '@' && !reader->in_hunk) {
        reader->in_hunk = true;
        reader->hunks_at = reader->patch.len;
    }
    reader->lines++;
    change = current(reader);
    if (!reader->in_hunk || !change)
        return;
    reader->section_lines++;
    reader->new_side.script |= reader->section_lines == FIRST_LINE && al_starts_with(start, "+#!");
    change->added += first == '+';
    change->deleted += first == '-';
    if (first == '\\') { /* "\ No newline at end of file" */
        change->open_added |= before == '+';
        change->open_deleted |= before == '-';
    }
}

static void keep(struct al_excerpt_reader *reader, const char *data, size_t len)
{
    const size_t most = reader->in_full ? READ_MAX_BYTES : KEPT_MAX_BYTES;
    size_t room;

    if (reader->is_full)
        return;
    /* The remark that replaces binary content may be longer than that content was. */
    room = reader->patch.len < most ? most - reader->patch.len : 0;
    reader->is_full = len > room;
    al_str_add(&reader->patch, data, len < room ? len : room);
}

/* Count the line if it ends with CR LF. */
static void count_crlf(struct al_excerpt_reader *reader, const char *data, size_t len)
{
    struct al_change *change = current(reader);
    const bool ends = data[len - 1] == '\n';
    const bool has_cr = len > (size_t)ends ? data[len - 1 - ends] == '\r' : reader->after_cr;

    reader->after_cr = has_cr && !ends;
    if (!ends || !has_cr || !reader->in_hunk || !change)
        return;
    change->crlf_added += reader->first == '+';
    change->crlf_deleted += reader->first == '-';
}

static void add_to_side(struct al_excerpt_side *side, const char *data, size_t len)
{
    side->nul = side->nul || memchr(data, '\0', len);
}

static void add_piece(struct al_excerpt_reader *reader, const char *data, size_t len)
{
    count_crlf(reader, data, len);
    if (reader->in_hunk && reader->first != '+')
        add_to_side(&reader->old_side, data, len);
    if (reader->in_hunk && reader->first != '-')
        add_to_side(&reader->new_side, data, len);
    keep(reader, data, len);
    reader->in_line = data[len - 1] != '\n';
}

/* Collect enough of a line to classify it, or all of it. Returns the number of bytes used. */
static size_t add_beginning(struct al_excerpt_reader *reader, const char *data, size_t len)
{
    size_t wanted = strlen(SECTION) - reader->start.len;
    size_t room = len < wanted ? len : wanted;
    const char *eol = memchr(data, '\n', room);
    size_t taken = eol ? (size_t)(eol - data) + 1 : room;

    al_str_add(&reader->start, data, taken);
    if (eol || taken == wanted) {
        begin_line(reader, reader->start.buf);
        add_piece(reader, reader->start.buf, reader->start.len);
        al_str_reset(&reader->start);
    }
    return taken;
}

static void add_patch(struct al_excerpt_reader *reader, const char *data, size_t len)
{
    while (len) {
        const char *eol = memchr(data, '\n', len);
        size_t taken = eol ? (size_t)(eol - data) + 1 : len;

        if (reader->in_line)
            add_piece(reader, data, taken);
        else
            taken = add_beginning(reader, data, len);
        data += taken;
        len -= taken;
    }
}

bool al_excerpt_reader_add(void *payload, const char *data, size_t len)
{
    struct al_excerpt_reader *reader = payload;

    reader->bytes += len;
    reader->changes.all = reader->in_full; /* READ_MAX_BYTES limits them */
    while (len && !reader->in_patch) {
        const char *end = memchr(data, '\0', len);
        size_t piece = end ? (size_t)(end - data) + 1 : len;

        if (*data == '\0' && al_diff_raw_at_end(&reader->changes))
            reader->in_patch = true;
        else if (!al_diff_raw_add(&reader->changes, data, piece))
            return false;
        data += piece;
        len -= piece;
    }
    add_patch(reader, data, len);
    reader->more = reader->bytes > READ_MAX_BYTES;
    return !reader->more;
}

void al_excerpt_reader_end(struct al_excerpt_reader *reader)
{
    struct al_diff_raw *changes = &reader->changes;
    size_t last = reader->has_section ? reader->change + 1 : 0;

    end_section(reader);
    if (reader->more || last == changes->total)
        return;
    /* The patch does not match the list of files, so its line counts belong to none of them. */
    for (size_t i = 0; i < changes->count; i++)
        changes->items[i].patch_end = SIZE_MAX;
}
