// SPDX-License-Identifier: Apache-2.0
#include "gitops/nul_records.h"

#include "gitops/run.h"

/* Paths are at most PATH_MAX; a longer field is cut and matches nothing. */
#define FIELD_MAX_BYTES (64u * 1024u)

void al_nul_records_clear(struct al_nul_records *records)
{
    for (size_t i = 0; i < AL_RECORD_FIELDS_MAX; i++)
        al_str_clear(&records->field[i]);
}

static bool record_done(struct al_nul_records *records)
{
    char *fields[AL_RECORD_FIELDS_MAX];
    bool more;

    for (size_t i = 0; i < records->nfields; i++)
        fields[i] = records->field[i].buf;
    more = records->take(records->payload, fields);
    for (size_t i = 0; i < records->nfields; i++)
        al_str_reset(&records->field[i]);
    records->at = 0;
    return more;
}

bool al_nul_records_add(void *payload, const char *data, size_t len)
{
    struct al_nul_records *records = payload;

    while (len) {
        struct al_str *field = &records->field[records->at];
        const char *end = memchr(data, '\0', len);
        size_t piece = end ? (size_t)(end - data) : len;
        size_t room = field->len < FIELD_MAX_BYTES ? FIELD_MAX_BYTES - field->len : 0;

        al_str_add(field, data, piece < room ? piece : room);
        if (!end)
            return true;
        if (++records->at == records->nfields && !record_done(records))
            return false;
        data += piece + 1;
        len -= piece + 1;
    }
    return true;
}

int al_git_read_records(const struct al_location *at, const struct al_git_command *command,
                        struct al_nul_records *records, struct al_run_limits *budget,
                        struct al_error *err)
{
    return al_git_read(at, command, (struct al_sink){ al_nul_records_add, records }, budget, err);
}

static bool count_record(void *payload, char *const *fields)
{
    (void)fields;
    ++*(uint64_t *)payload;
    return true;
}

int al_git_count_records(const struct al_location *at, const struct al_git_command *command,
                         struct al_run_limits *budget, uint64_t *ret_count, struct al_error *err)
{
    uint64_t count = 0;
    al_auto(al_nul_records_clear) struct al_nul_records records =
        AL_NUL_RECORDS_INIT(1, count_record, &count);
    int r = al_git_read_records(at, command, &records, budget, err);

    if (r == 0)
        *ret_count = count;
    return r;
}
