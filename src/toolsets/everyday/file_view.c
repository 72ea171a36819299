// SPDX-License-Identifier: Apache-2.0
#include "toolsets/everyday/file_view.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "answer/failure.h"
#include "answer/place.h"

/** A file with a NUL in this many bytes at its beginning is binary, as for git. */
#define BINARY_BYTES 8000u
/** Lines are added in units of about this size. */
#define UNIT_BYTES 2048u

#define GITLINK    0160000u

/** A file while it is shown. */
struct viewing {
    struct al_pages *pages;
    const struct al_lines *lines;
    const struct al_object_info *info;
    struct al_str unit; /* lines that were not added yet */
    uint64_t line;      /* the number of the line that is read */
    uint64_t read;      /* bytes */
    bool in_line, is_binary;
};

static bool is_wanted(const struct viewing *viewing)
{
    return viewing->line >= viewing->lines->first && viewing->line <= viewing->lines->last;
}

static bool flush(struct viewing *viewing)
{
    bool more =
        !viewing->unit.len || al_pages_add(viewing->pages, viewing->unit.buf, viewing->unit.len);

    al_str_reset(&viewing->unit);
    return more;
}

/* Add a part of a line, or its end. */
static bool add_piece(struct viewing *viewing, const char *data, size_t len, bool ends)
{
    if (is_wanted(viewing)) {
        if (!viewing->in_line && viewing->lines->is_numbered)
            al_str_addf(&viewing->unit, "%" PRIu64 "\t", viewing->line);
        al_str_add(&viewing->unit, data, len);
        if (ends)
            al_str_addc(&viewing->unit, '\n');
    }
    viewing->in_line = !ends;
    viewing->line += ends;
    return !ends || viewing->unit.len < UNIT_BYTES || flush(viewing);
}

static bool take_bytes(void *payload, const char *data, size_t len)
{
    struct viewing *viewing = payload;

    if (!viewing->read && memchr(data, '\0', len < BINARY_BYTES ? len : BINARY_BYTES)) {
        viewing->is_binary = true;
        return false;
    }
    viewing->read += len;
    while (len) {
        const char *end = memchr(data, '\n', len);
        size_t piece = end ? (size_t)(end - data) : len;

        if (!add_piece(viewing, data, piece, end != NULL) || viewing->line > viewing->lines->last)
            return false;
        data += piece + (end != NULL);
        len -= piece + (end != NULL);
    }
    return true;
}

static void add_left(const struct viewing *viewing, struct al_str *out)
{
    al_str_adds(out, "the file has ");
    al_answer_add_counted(viewing->info->bytes, "byte", "bytes", out);
    if (viewing->lines->is_numbered)
        al_str_addf(out, ", and the lines from about %" PRIu64 " on are not shown", viewing->line);
}

static int show_file(struct al_call *call, struct viewing *viewing, struct al_result *result,
                     struct al_error *err)
{
    al_auto(al_str_clear) struct al_str left = AL_STR_INIT;
    int r = al_git_read_object(al_call_repo(call), viewing->info,
                               (struct al_sink){ take_bytes, viewing }, al_call_budget(call), err);

    if (r < 0)
        return r;
    if (viewing->in_line && viewing->unit.len)
        al_str_adds(&viewing->unit, "\n\\ No newline at end of file\n");
    (void)flush(viewing);
    if (viewing->is_binary) {
        al_str_adds(&left, "Binary file, ");
        al_answer_add_counted(viewing->info->bytes, "byte.\n", "bytes.\n", &left);
    } else if (!viewing->info->bytes) {
        al_str_adds(&left, "Empty file.\n");
    } else if (viewing->line - !viewing->in_line < viewing->lines->first) {
        return al_failure_bad_args(err, "Give lines that the file has.",
                                   "lines: the file has only %" PRIu64,
                                   viewing->line - !viewing->in_line);
    }
    if (left.len)
        (void)al_pages_add(viewing->pages, left.buf, left.len);
    al_str_reset(&left);
    add_left(viewing, &left);
    return al_pages_end(viewing->pages, left.buf, result, err);
}

static bool take_entry(void *payload, const struct al_tree_entry *entry)
{
    struct al_pages *pages = payload;
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;

    al_place_add_name(entry->name, &line);
    if (S_ISDIR(entry->mode)) {
        al_str_addc(&line, '/');
    } else if (entry->mode == GITLINK) {
        al_str_adds(&line, " (submodule)");
    } else {
        if (S_ISLNK(entry->mode))
            al_str_adds(&line, " (symbolic link)");
        else if (entry->mode & 0111)
            al_str_adds(&line, " (executable)");
        if (entry->bytes) {
            al_str_addc(&line, ' ');
            al_answer_add_count(entry->bytes, &line);
        }
    }
    al_str_addc(&line, '\n');
    return al_pages_add(pages, line.buf, line.len);
}

int al_file_view(struct al_call *call, const struct al_object_info *info,
                 const struct al_lines *lines, struct al_pages *pages, struct al_result *result,
                 struct al_error *err)
{
    struct viewing viewing = {
        .pages = pages, .lines = lines, .info = info, .unit = AL_STR_INIT, .line = 1
    };
    int r;

    if (info->type == AL_OBJECT_BLOB) {
        r = show_file(call, &viewing, result, err);
        al_str_clear(&viewing.unit);
        return r;
    }
    if (info->type != AL_OBJECT_TREE)
        return al_failure_bad_args(err, "Give rev alone for a commit.",
                                   "path: there is a submodule, whose files are not in here");
    r = al_git_read_tree(al_call_repo(call), info, take_entry, pages, al_call_budget(call), err);
    if (r < 0)
        return r;
    if (!pages->at)
        (void)al_pages_adds(pages, "Empty directory.\n");
    return al_pages_end(pages, "more entries", result, err);
}

/* "tagger Lee <mail> 1700000000 +0100" */
static void add_tagger(const char *line, struct al_str *out)
{
    const char *mail = strchr(line, '>');
    al_auto(al_freep) char *who = mail ? al_strndup(line, (size_t)(mail - line) + 1) : NULL;
    time_t when = mail ? (time_t)strtoull(mail + 1, NULL, 10) : 0;
    struct tm day;
    char date[32];

    if (!who || !gmtime_r(&when, &day) || !strftime(date, sizeof(date), "%Y-%m-%d", &day))
        return;
    al_str_addf(out, " %s ", date);
    al_place_add_name(who, out);
}

void al_file_view_add_tag(const char *text, size_t len, struct al_str *out)
{
    al_auto(al_freep) char *copy = al_strndup(text, len);
    char *body = strstr(copy, "\n\n"), *save = NULL;
    al_auto(al_str_clear) struct al_str message = AL_STR_INIT;

    al_str_adds(out, "tag");
    if (body) {
        *body = '\0';
        al_str_adds(&message, body + 2);
        al_str_trim_end(&message);
    }
    for (char *line = strtok_r(copy, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        if (al_starts_with(line, "tag ")) {
            al_str_addc(out, ' ');
            al_place_add_name(line + strlen("tag "), out);
        } else if (al_starts_with(line, "tagger ")) {
            add_tagger(line + strlen("tagger "), out);
        }
    }
    al_str_addf(out, "\n\n%s\n\n", message.buf);
}
