// SPDX-License-Identifier: Apache-2.0
#include "gitops/reading/grep_reader.h"

#include <string.h>

/** Of a longer line, this much is passed on. */
#define LINE_MAX_BYTES (1u << 20)

/* A record is "path NUL number NUL column NUL text" for a match, the same without the column for a
 * line around one, and "--" between them. */
enum { PATH, NUMBER, REST };

#define SEPARATOR "--\n"

void al_grep_reader_clear(struct al_grep_reader *reader)
{
    for (int i = PATH; i <= REST; i++)
        al_str_clear(&reader->fields[i]);
}

static bool is_number(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (text[i] < '0' || text[i] > '9')
            return false;
    return len > 0;
}

/* The path of a record, behind a separator and the revision. */
static const char *path_of(const struct al_grep_reader *reader)
{
    const struct al_str *field = &reader->fields[PATH];
    const size_t prefix = reader->query->rev ? strlen(reader->query->rev) + 1 : 0;
    const char *path = field->buf;

    if (reader->query->context > 0 && al_starts_with(path, SEPARATOR))
        path += strlen(SEPARATOR);
    return strlen(path) > prefix ? path + prefix : path;
}

static bool end_record(struct al_grep_reader *reader)
{
    const struct al_str *rest = &reader->fields[REST];
    const char *end = memchr(rest->buf, '\0', rest->len);
    struct al_grep_line line = { .path = path_of(reader),
                                 .line = reader->fields[NUMBER].buf,
                                 .text = rest->buf,
                                 .len = rest->len,
                                 .is_match = reader->query->files_only };
    bool more;

    if (end && is_number(rest->buf, (size_t)(end - rest->buf))) { /* the column */
        line.is_match = true;
        line.text = end + 1;
        line.len = rest->len - (size_t)(line.text - rest->buf);
    }
    more = reader->take(reader->payload, &line);
    for (int i = PATH; i <= REST; i++)
        al_str_reset(&reader->fields[i]);
    reader->at = PATH;
    return more;
}

bool al_grep_reader_add(void *payload, const char *data, size_t len)
{
    struct al_grep_reader *reader = payload;

    while (len) {
        const char ends = reader->at == REST ? '\n' : '\0';
        const char *end = memchr(data, ends, len);
        size_t piece = end ? (size_t)(end - data) : len;
        struct al_str *field = &reader->fields[reader->at];

        if (field->len < LINE_MAX_BYTES)
            al_str_add(field, data, piece);
        data += piece + (end != NULL);
        len -= piece + (end != NULL);
        if (!end)
            continue;
        if (reader->at < REST && !reader->query->files_only)
            reader->at++;
        else if (!end_record(reader))
            return false;
    }
    return true;
}
