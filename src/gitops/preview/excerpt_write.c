// SPDX-License-Identifier: Apache-2.0
/* Write the excerpt of a diff: the list of files, then as much of the patch as fits. */
#include <inttypes.h>
#include <stdlib.h>

#include "gitops/diff/diff.h"
#include "gitops/preview/excerpt_reader.h"
#include "guard/text.h"

#define LISTED_MAX     200
#define LIST_MAX_BYTES ((size_t)16 * 1024)
#define TYPE_MASK      0170000u

static const struct status_name {
    char status;
    const char *word;
} status_names[] = {
    { 'D', "deleted" }, { 'T', "another type" }, { 'U', "in conflict" }, { 'A', "added" },
    { 'R', "renamed" }, { 'C', "copied" },       { 'M', "modified" },
};

static const char *name_of(char status)
{
    for (size_t i = 0; i < AL_COUNT(status_names); i++)
        if (status_names[i].status == status)
            return status_names[i].word;
    return "changed";
}

static bool has_new_mode(const struct al_change *change)
{
    return change->old_mode && change->new_mode && change->old_mode != change->new_mode;
}

/* Sort rank: what is lost or changes its type comes first. */
static int rank_of(const struct al_change *change)
{
    if (change->status == 'D')
        return 0;
    if (has_new_mode(change))
        return 1;
    if (change->status == 'U')
        return 2;
    return change->status == 'A' ? 3 : 4;
}

static int compare(const void *a, const void *b)
{
    const struct al_change *const *one = a, *const *two = b;
    int ranks = rank_of(*one) - rank_of(*two);

    if (ranks)
        return ranks;
    return *one < *two ? -1 : *one > *two; /* otherwise keep git's order */
}

const char *al_excerpt_remark(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

    if (!strcmp(name, ".gitattributes"))
        return "says how git treats files";
    if (!strcmp(name, ".gitmodules"))
        return "says where submodules come from";
    return al_path_runs_in_ci(path) ? "runs in CI" : NULL;
}

bool al_excerpt_changes_line_ends(const struct al_change *change)
{
    const bool crlf_new = change->crlf_added > 0, crlf_old = change->crlf_deleted > 0;
    const bool lf_new = change->added > change->crlf_added + change->open_added;
    const bool lf_old = change->deleted > change->crlf_deleted + change->open_deleted;

    if (change->status != 'M' || change->binary || !(crlf_new || lf_new) || !(crlf_old || lf_old))
        return false;
    return crlf_new != crlf_old || lf_new != lf_old;
}

/* Append one line of the list. The name comes last, so that no part of it can pose as a number. */
static void add_file(const struct al_change *change, struct al_str *out)
{
    al_auto(al_freep) char *path = al_text_sanitize_shown_line(change->path);
    al_auto(al_freep) char *old =
        change->old_path ? al_text_sanitize_shown_line(change->old_path) : NULL;
    const char *remark = al_excerpt_remark(change->path);

    al_str_adds(out, "  ");
    if (change->binary)
        al_str_adds(out, "binary");
    else
        al_str_addf(out, "+%" PRIu64 " -%" PRIu64, change->added, change->deleted);
    al_str_addf(out, "  %s", name_of(change->status));
    if (has_new_mode(change))
        al_str_addf(out, ", mode %06o to %06o", change->old_mode, change->new_mode);
    if (change->status == 'A' && (change->new_mode & TYPE_MASK) == 0120000)
        al_str_adds(out, ", a link");
    if (change->status == 'A' && (change->new_mode & TYPE_MASK) == 0100000 &&
        change->new_mode & 0111)
        al_str_adds(out, ", executable");
    if (al_excerpt_changes_line_ends(change))
        al_str_adds(out, ", line ends change");
    if (remark)
        al_str_addf(out, ", %s", remark);
    al_str_addf(out, ": %s%s%s\n", old ? old : "", old ? " => " : "", path);
}

static void add_list(const struct al_diff_raw *changes, bool in_full, struct al_str *out)
{
    const struct al_change **sorted = al_reallocarray(NULL, changes->count, sizeof(*sorted));
    const size_t start = out->len;
    size_t listed = 0;

    for (size_t i = 0; i < changes->count; i++)
        sorted[i] = &changes->items[i];
    qsort(sorted, changes->count, sizeof(*sorted), compare);
    while (listed < changes->count &&
           (in_full || (listed < LISTED_MAX && out->len - start < LIST_MAX_BYTES)))
        add_file(sorted[listed++], out);
    free(sorted);
    if (listed < changes->total)
        al_str_addf(out, "  … and %zu more file%s\n", changes->total - listed,
                    changes->total - listed == 1 ? "" : "s");
}

/* Offset of the end of line number `lines`. */
static size_t end_of(const struct al_str *patch, size_t lines)
{
    size_t at = 0;

    while (lines-- && at < patch->len) {
        const char *eol = memchr(patch->buf + at, '\n', patch->len - at);

        at = eol ? (size_t)(eol - patch->buf) + 1 : patch->len;
    }
    return at;
}

static void add_heading(const struct al_diff_raw *changes, size_t end, bool more,
                        struct al_str *out)
{
    size_t hidden = changes->total - changes->count;
    uint64_t added = 0, deleted = 0;

    for (size_t i = 0; i < changes->count; i++) {
        const struct al_change *change = &changes->items[i];

        hidden += change->patch_end == 0 || change->patch_end > end;
        added += change->added;
        deleted += change->deleted;
    }
    al_str_addf(out, "%zu file%s, %s+%" PRIu64 " -%" PRIu64, changes->total,
                changes->total == 1 ? "" : "s",
                more || changes->count < changes->total ? "at least " : "", added, deleted);
    if (hidden)
        al_str_addf(out, ", of which %zu %s not shown in full", hidden, hidden == 1 ? "is" : "are");
    al_str_adds(out, ":\n");
}

static void write_in_full(struct al_excerpt_reader *reader, struct al_str *out)
{
    add_heading(&reader->changes, reader->patch.len, reader->more, out);
    add_list(&reader->changes, true, out);
    al_text_sanitize_shown(reader->patch.buf, reader->patch.len, out);
    if (out->buf[out->len - 1] != '\n')
        al_str_addc(out, '\n');
    al_text_add_remaining(out, 0, reader->more);
}

bool al_excerpt_write_patch(const struct al_excerpt_reader *reader, struct al_str *out)
{
    const struct al_str *patch = &reader->patch;
    uint64_t left = 0;

    if (reader->in_full) {
        al_text_sanitize_shown(patch->buf, patch->len, out);
        if (out->len && out->buf[out->len - 1] != '\n')
            al_str_addc(out, '\n');
    } else if (patch->len) {
        left = reader->lines - al_text_add_head(out, patch->buf, patch->len);
    }
    al_text_add_remaining(out, left, reader->more);
    return left || reader->more;
}

void al_excerpt_write(struct al_excerpt_reader *reader, struct al_str *out)
{
    al_auto(al_str_clear) struct al_str head = AL_STR_INIT;
    size_t lines;

    if (!reader->changes.total)
        return;
    if (reader->in_full) {
        write_in_full(reader, out);
        return;
    }
    lines = al_text_add_head(&head, reader->patch.buf, reader->patch.len);
    add_heading(&reader->changes, end_of(&reader->patch, lines), reader->more, out);
    add_list(&reader->changes, false, out);
    al_str_add(out, head.buf, head.len);
    al_text_add_remaining(out, reader->lines - lines, reader->more);
}
