// SPDX-License-Identifier: Apache-2.0
#include "git/plumbing/cat_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "git/refs.h"

/* Words of a request may be paths in a tree. */
#define HEADER_MAX_BYTES (64u * 1024u)

static const char missing[] = " missing";

void al_cat_file_clear(struct al_cat_file *reader)
{
    al_str_clear(&reader->line);
}

static void begin_hash(struct al_cat_file *reader, const char *oid, const char *type,
                       unsigned long long bytes)
{
    al_auto(al_freep) char *header = al_asprintf("%s %llu", type, bytes);
    const bool sha256 = strlen(oid) == 2 * al_oid_bytes(true);

    if (!reader->verifies)
        return;
    (void)snprintf(reader->id, sizeof(reader->id), "%s", oid);
    al_hash_init(&reader->hash, sha256);
    al_hash_add(&reader->hash, header, strlen(header) + 1);
}

/* Pass on a piece of an object, unless it is the last one and the object is not what it says. */
static bool add(struct al_cat_file *reader, const char *data, size_t len, bool last)
{
    char text[AL_OID_TEXT];

    if (reader->verifies)
        al_hash_add(&reader->hash, data, len);
    if (reader->verifies && last) {
        al_hash_text(&reader->hash, text);
        reader->mismatch = strcmp(text, reader->id) != 0;
    }
    return !reader->mismatch && reader->add(reader->payload, data, len, last);
}

/* "<oid> <type> <size>" or "<word> missing". */
static bool take_header(struct al_cat_file *reader)
{
    char *line = reader->line.buf, *type = strchr(line, ' '), *size = strrchr(line, ' '), *rest;
    unsigned long long bytes;

    if (al_ends_with(line, missing)) {
        al_str_truncate(&reader->line, reader->line.len - strlen(missing));
        return !reader->begin || reader->begin(reader->payload, line, NULL, 0);
    }
    if (!type || size == type || !al_is_oid(line, (size_t)(type - line)) || size[1] < '0' ||
        size[1] > '9')
        return false;
    bytes = strtoull(size + 1, &rest, 10);
    if (*rest || bytes > UINT64_MAX / 2)
        return false;
    *type = *size = '\0';
    reader->left = bytes + 1;
    begin_hash(reader, line, type + 1, bytes);
    return (!reader->begin || reader->begin(reader->payload, line, type + 1, bytes)) &&
           (bytes || add(reader, "", 0, true));
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
    reader->broken = !add(reader, data, piece, reader->left == 1);
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
