// SPDX-License-Identifier: Apache-2.0
#include "git/command.h"

#include "git/run.h"
#include "guard/text.h"

void al_git_command_clear(struct al_git_command *command)
{
    al_strv_clear(&command->argv);
}

void al_git_command_feed(struct al_git_command *command, const struct al_str *input)
{
    command->input = input->buf;
    command->input_len = input->len;
}

bool al_git_class_writes(enum al_git_class class)
{
    return class != AL_GIT_CONFIG && class != AL_GIT_READ;
}

bool al_git_class_connects(enum al_git_class class)
{
    return class == AL_GIT_TCP || class == AL_GIT_HTTP || class == AL_GIT_SSH;
}

/* --- Records --- */

/* Above any message of a commit; a longer field is cut. */
#define FIELD_MAX_BYTES (16u << 20)

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
                        size_t nfields, al_record_fn take, void *payload, struct al_error *err)
{
    al_auto(al_nul_records_clear) struct al_nul_records records =
        AL_NUL_RECORDS_INIT(nfields, take, payload);

    return al_git_read(at, command, (struct al_sink){ al_nul_records_add, &records }, err);
}

int al_git_find_records(const struct al_location *at, const struct al_git_command *command,
                        size_t nfields, al_record_fn take, void *payload, struct al_error *err)
{
    al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;
    int r = al_git_read_records(at, command, nfields, take, payload, &why);

    return r == AL_ERR_EXECUTION && at->budget->exit_code == 1 ? 0 : al_error_pass(r, &why, err);
}

bool al_nul_records_list(void *strv, char *const *fields)
{
    al_strv_add(strv, fields[0]);
    return true;
}

/* --- Progress --- */

/* Longer than any progress line; a longer line is passed on in pieces. */
#define LINE_MAX_BYTES 1024

/* Titles of git's own counters.  Other counters come from hooks and are passed on. */
static const char *const titles[] = {
    "Enumerating objects", "Counting objects",    "Compressing objects", "Writing objects",
    "Receiving objects",   "Unpacking objects",   "Resolving deltas",    "Checking connectivity",
    "Finding sources",     "Removing duplicates", "Updating files",      "Indexing objects",
};

/* "Counting objects:  50% (1/2)", "Enumerating objects: 5, done." */
static bool is_counter(const char *line)
{
    for (size_t i = 0; i < AL_COUNT(titles); i++) {
        const char *rest = al_starts_with(line, titles[i]) ? line + strlen(titles[i]) : "";

        if (*rest == ':')
            return strspn(rest + 1 + strspn(rest + 1, " "), "0123456789") > 0;
    }
    return false;
}

bool al_is_progress(const char *line)
{
    if (al_starts_with(line, "remote: "))
        line += strlen("remote: ");
    return is_counter(line) || al_starts_with(line, "Total ") ||
           al_starts_with(line, "Delta compression using up to ");
}

/* Handle a complete line; `end` is the byte that ended it, or 0. */
static void take_line(struct al_progress_filter *filter, char end)
{
    struct al_str *line = &filter->line;

    if (line->len && al_is_progress(line->buf)) {
        al_auto(al_freep) char *shown = al_text_join_lines(line->buf);

        for (size_t len = strlen(shown); len && shown[len - 1] == ' '; len--)
            shown[len - 1] = '\0';
        filter->to->report(filter->to->payload, shown);
    } else {
        if (end)
            al_str_addc(line, end);
        if (!filter->full && line->len)
            filter->full = !filter->rest.add(filter->rest.payload, line->buf, line->len);
    }
    al_str_reset(line);
}

bool al_progress_filter_add(void *payload, const char *data, size_t len)
{
    struct al_progress_filter *filter = payload;

    for (size_t i = 0; i < len; i++) {
        if (data[i] == '\r' || data[i] == '\n')
            take_line(filter, data[i]);
        else
            al_str_addc(&filter->line, data[i]);
        if (filter->line.len == LINE_MAX_BYTES)
            take_line(filter, 0);
    }
    return true; /* progress is still reported when the sink is full */
}

void al_progress_filter_end(struct al_progress_filter *filter)
{
    take_line(filter, 0);
    al_str_clear(&filter->line);
}
