// SPDX-License-Identifier: Apache-2.0
#include "gitops/reading/log_reader.h"

static bool take_files(void *payload, const struct al_changed_files *files)
{
    struct al_log_reader *reader = payload;

    return !reader->to->take_files || reader->to->take_files(reader->to->patch.payload, files);
}

static bool take_file(void *payload, const struct al_patch_file *file)
{
    struct al_log_reader *reader = payload;

    return !reader->to->patch.take_file ||
           reader->to->patch.take_file(reader->to->patch.payload, file);
}

static bool take_hunk(void *payload, const char *part, size_t len, bool is_first)
{
    struct al_log_reader *reader = payload;

    return !reader->to->patch.take_hunk ||
           reader->to->patch.take_hunk(reader->to->patch.payload, part, len, is_first);
}

static void begin_changes(struct al_log_reader *reader)
{
    const struct al_patch_taker taker = { take_file, take_hunk, reader };

    al_change_reader_init(&reader->changes, take_files, &taker);
    if (reader->query->patch && !reader->query->no_walk)
        reader->changes.in_patch = reader->changes.has_told = true;
    reader->has_changes = true;
    reader->record_begins = true;
    reader->state = AL_LOG_CHANGES;
}

static void end_changes(struct al_log_reader *reader)
{
    if (!reader->has_changes)
        return;
    if (!reader->stopped)
        reader->stopped = !al_change_reader_end(&reader->changes);
    al_change_reader_clear(&reader->changes);
    reader->has_changes = false;
}

void al_log_reader_init(struct al_log_reader *reader, const struct al_log_query *query,
                        const struct al_log_taker *to)
{
    *reader = (struct al_log_reader){ .query = query, .to = to };
    for (size_t i = 0; i < AL_LOG_FIELDS; i++)
        reader->fields[i] = AL_STR_INIT;
}

void al_log_reader_clear(struct al_log_reader *reader)
{
    if (reader->has_changes)
        al_change_reader_clear(&reader->changes);
    for (size_t i = 0; i < AL_LOG_FIELDS; i++)
        al_str_clear(&reader->fields[i]);
}

static bool is_short(const struct al_log_reader *reader)
{
    return !reader->query->stat && !reader->query->patch && !reader->query->no_walk;
}

static void end_header(struct al_log_reader *reader)
{
    struct al_str *fields = reader->fields;
    struct al_logged commit;

    al_str_trim_end(&fields[5]);
    commit = (struct al_logged){ .hash = fields[0].buf,
                                 .date = fields[1].buf,
                                 .author = fields[2].buf,
                                 .decorations = fields[3].buf,
                                 .parents = fields[4].buf,
                                 .message = fields[5].buf };
    reader->stopped = !reader->to->take_commit(reader->to->patch.payload, &commit);
    reader->state = is_short(reader) ? AL_LOG_BEFORE : AL_LOG_ENDED;
}

static void begin_header(struct al_log_reader *reader)
{
    for (size_t i = 0; i < AL_LOG_FIELDS; i++)
        al_str_reset(&reader->fields[i]);
    reader->at = 0;
    reader->state = AL_LOG_HEADER;
}

/* Each of the functions below reads some bytes, and returns how many. */

static size_t read_field(struct al_log_reader *reader, const char *data, size_t len)
{
    const char *end = memchr(data, '\0', len);
    size_t piece = end ? (size_t)(end - data) : len;

    al_str_add(&reader->fields[reader->at], data, piece);
    if (end && ++reader->at == AL_LOG_FIELDS)
        end_header(reader);
    return piece + (end != NULL);
}

static size_t read_before(struct al_log_reader *reader, const char *data)
{
    if (*data == '\0')
        begin_header(reader);
    else if (*data == '\n')
        begin_changes(reader);
    return 1;
}

/* One record or line of the changes, or a part of one. */
static size_t read_changes(struct al_log_reader *reader, const char *data, size_t len)
{
    bool lines = reader->changes.in_patch;
    const char *end;

    if (reader->query->no_walk) {
        reader->stopped = !al_change_reader_add(&reader->changes, data, len);
        return len;
    }
    if (reader->record_begins && *data == '\0') {
        end_changes(reader);
        begin_header(reader);
        return 1;
    }
    end = memchr(data, lines ? '\n' : '\0', len);
    if (end)
        len = (size_t)(end - data) + 1;
    reader->record_begins = end != NULL;
    reader->stopped = !al_change_reader_add(&reader->changes, data, len);
    return len;
}

bool al_log_reader_add(void *payload, const char *data, size_t len)
{
    struct al_log_reader *reader = payload;

    while (len && !reader->stopped) {
        size_t read = 1;

        switch (reader->state) {
        case AL_LOG_BEFORE:
            read = read_before(reader, data);
            break;
        case AL_LOG_HEADER:
            read = read_field(reader, data, len);
            break;
        case AL_LOG_ENDED:
            reader->state = AL_LOG_BEFORE;
            break;
        case AL_LOG_CHANGES:
            read = read_changes(reader, data, len);
            break;
        }
        data += read;
        len -= read;
    }
    return !reader->stopped;
}

void al_log_reader_end(struct al_log_reader *reader)
{
    end_changes(reader);
}
