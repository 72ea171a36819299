// SPDX-License-Identifier: Apache-2.0
#include "git/plumbing/cat_file.h"

#include <stdlib.h>

#include "git/refs.h"

/* Words of a request may be paths in a tree. */
#define HEADER_MAX_BYTES (64u * 1024u)

static const char missing[] = " missing";

void al_cat_file_clear(struct al_cat_file *reader)
{
    al_str_clear(&reader->line);
}

/* "<oid> <type> <size>" or "<word> missing". */
static bool take_header(struct al_cat_file *reader)
{
    char *line = reader->line.buf, *type = strchr(line, ' '), *size = strrchr(line, ' '), *rest;
    unsigned long long bytes;

    if (al_ends_with(line, missing)) {
        al_str_truncate(&reader->line, reader->line.len - strlen(missing));
        return reader->begin(reader->payload, line, NULL, 0);
    }
    if (!type || size == type || !al_is_oid(line, (size_t)(type - line)) || size[1] < '0' ||
        size[1] > '9')
        return false;
    bytes = strtoull(size + 1, &rest, 10);
    if (*rest || bytes > UINT64_MAX / 2)
        return false;
    *type = *size = '\0';
    reader->left = bytes + 1;
    return reader->begin(reader->payload, line, type + 1, bytes) &&
           (bytes || reader->add(reader->payload, "", 0, true));
}

static size_t take_line(struct al_cat_file *reader, const char *data, size_t len)
{
    const char *end = memchr(data, '\n', len);
    const size_t piece = end ? (size_t)(end - data) : len;

    al_str_add(&reader->line, data, piece);
    reader->broken = reader->line.len > HEADER_MAX_BYTES;
    if (!end || reader->broken)
        return piece;
    reader->broken = !take_header(reader);
    al_str_reset(&reader->line);
    return piece + 1;
}

static size_t take_content(struct al_cat_file *reader, const char *data, size_t len)
{
    const size_t piece = reader->left - 1 < len ? (size_t)(reader->left - 1) : len;

    if (!piece) { /* the newline after the object */
        reader->left = 0;
        reader->broken = *data != '\n';
        return 1;
    }
    reader->left -= piece;
    reader->broken = !reader->add(reader->payload, data, piece, reader->left == 1);
    return piece;
}

bool al_cat_file_add(void *payload, const char *data, size_t len)
{
    struct al_cat_file *reader = payload;

    while (len && !reader->broken) {
        const size_t taken =
            reader->left ? take_content(reader, data, len) : take_line(reader, data, len);

        data += taken;
        len -= taken;
    }
    return !reader->broken;
}

bool al_cat_file_is_whole(const struct al_cat_file *reader)
{
    return !reader->broken && !reader->left && !reader->line.len;
}
