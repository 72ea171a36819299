// SPDX-License-Identifier: Apache-2.0
#include "gitops/porcelain.h"

#include <stdlib.h>

#define BRANCH_HEAD "# branch.head "

/* Keep a name if there is room for it; what a list item costs in JSON counts too. */
static bool keep(struct al_strv *list, const char *name, size_t *room)
{
    size_t cost = strlen(name) + 3;

    if (cost > *room)
        return false;
    *room -= cost;
    al_strv_add(list, name);
    return true;
}

/* What follows `n` spaces; NULL when there are fewer. */
static const char *after_spaces(const char *text, int n)
{
    while (n-- > 0) {
        text = strchr(text, ' ');
        if (!text)
            return NULL;
        text++;
    }
    return text;
}

void al_worktree_clear(struct al_worktree *status)
{
    free(status->branch);
    al_strv_clear(&status->staged);
    al_strv_clear(&status->modified);
    al_strv_clear(&status->untracked);
    *status = AL_WORKTREE_INIT;
}

/* "1 XY …", "2 XY …": X is the index against HEAD, Y the working tree against the index. */
static bool take_change(struct al_status_reader *reader, const char *record)
{
    const char *name = after_spaces(record, *record == '2' ? 9 : 8);
    bool fits = true;

    reader->skip = *record == '2';
    if (!name || strcspn(record, " ") != 1 || strlen(record) < 4)
        return true;
    if (record[2] != '.')
        fits = keep(&reader->to->staged, name, &reader->room);
    if (fits && record[3] != '.')
        fits = keep(&reader->to->modified, name, &reader->room);
    return fits;
}

static bool take_record(struct al_status_reader *reader, const char *record)
{
    struct al_worktree *to = reader->to;
    const char *name;

    switch (*record) {
    case '1':
    case '2':
        return take_change(reader, record);
    case 'u':
        name = after_spaces(record, 10);
        return !name || keep(&to->modified, name, &reader->room);
    case '?':
        name = after_spaces(record, 1);
        return !name || keep(&to->untracked, name, &reader->room);
    default:
        if (al_starts_with(record, BRANCH_HEAD)) {
            free(to->branch);
            to->branch = al_strdup(record + strlen(BRANCH_HEAD));
        }
        return true;
    }
}

static bool take_status(void *payload, char *const *fields)
{
    struct al_status_reader *reader = payload;

    if (reader->skip) {
        reader->skip = false;
        return true;
    }
    if (take_record(reader, fields[0]))
        return true;
    reader->to->truncated = true;
    return false;
}

void al_status_reader_init(struct al_status_reader *reader, struct al_worktree *to,
                           size_t max_bytes)
{
    *reader = (struct al_status_reader){
        .records = AL_RECORDS_INIT(1, take_status, reader),
        .to = to,
        .room = max_bytes,
    };
}
