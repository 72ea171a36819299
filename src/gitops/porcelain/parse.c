// SPDX-License-Identifier: Apache-2.0
#include "gitops/porcelain/parse.h"

#include <stdlib.h>

#include "gitops/nul_records.h"

#define BRANCH_HEAD "# branch.head "
#define HEADS       "refs/heads/"
#define REMOTES     "refs/remotes/"
#define NO_BRANCH   "(no branch)"

/* Bytes that JSON adds to a name in a list, and to an object of a few members. */
#define NAME_COSTS   3
#define OBJECT_COSTS 96

/* Subtract `cost` from `room`. Returns false when it does not fit. */
static bool afford(size_t *room, size_t cost)
{
    if (cost > *room)
        return false;
    *room -= cost;
    return true;
}

static bool afford_object(size_t *room, char *const *fields, size_t nfields)
{
    size_t cost = OBJECT_COSTS;

    for (size_t i = 0; i < nfields; i++)
        cost += strlen(fields[i]);
    return afford(room, cost);
}

/* The text after `n` spaces; NULL when there are fewer. */
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
    free(al_take(&status->branch));
}

static bool take_change(struct al_status_reader *reader, enum al_status_change change,
                        const char *name)
{
    if (!afford(&reader->room, strlen(name) + NAME_COSTS))
        return false;
    reader->to->take(reader->to->payload, change, name);
    return true;
}

/* Parse "1 XY ..." or "2 XY ...". X compares the index with HEAD, Y the working tree with the
 * index. */
static bool take_tracked(struct al_status_reader *reader, const char *record)
{
    const char *name = after_spaces(record, *record == '2' ? 9 : 8);
    bool fits = true;

    reader->skip = *record == '2';
    if (!name || strcspn(record, " ") != 1 || strlen(record) < 4)
        return true;
    if (record[2] != '.')
        fits = take_change(reader, AL_STAGED, name);
    if (fits && record[3] != '.')
        fits = take_change(reader, AL_MODIFIED, name);
    return fits;
}

static bool take_record(struct al_status_reader *reader, const char *record)
{
    struct al_worktree *to = reader->to;
    const char *name;

    switch (*record) {
    case '1':
    case '2':
        return take_tracked(reader, record);
    case 'u':
        to->conflicts++;
        name = after_spaces(record, 10);
        return !name || take_change(reader, AL_MODIFIED, name);
    case '?':
        name = after_spaces(record, 1);
        return !name || take_change(reader, AL_UNTRACKED, name);
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
        .records = AL_NUL_RECORDS_INIT(1, take_status, reader),
        .to = to,
        .room = max_bytes,
    };
}

static bool take_commit(void *payload, char *const *fields)
{
    struct al_commits_reader *reader = payload;
    struct al_commits *to = reader->to;

    to->truncated = to->count == reader->limit || !afford_object(&reader->room, fields, 4);
    if (to->truncated)
        return false;
    to->count++;
    to->take(to->payload, &(struct al_log_entry){ fields[0], fields[1], fields[2], fields[3] });
    return true;
}

void al_commits_reader_init(struct al_commits_reader *reader, struct al_commits *to, size_t limit,
                            size_t max_bytes)
{
    *reader = (struct al_commits_reader){
        .records = AL_NUL_RECORDS_INIT(4, take_commit, reader),
        .to = to,
        .limit = limit,
        .room = max_bytes,
    };
}

void al_branches_clear(struct al_branches *branches)
{
    for (size_t i = 0; i < branches->count; i++) {
        free(branches->items[i].name);
        free(branches->items[i].hash);
        free(branches->items[i].upstream);
    }
    free(branches->items);
    *branches = AL_BRANCHES_INIT;
}

/* The short name of a branch; the full name for any other reference. */
static const char *short_name(const char *ref)
{
    static const char *const kinds[] = { HEADS, REMOTES };

    for (size_t i = 0; i < AL_COUNT(kinds); i++)
        if (al_starts_with(ref, kinds[i]))
            return ref + strlen(kinds[i]);
    return ref;
}

/* Each record but the first begins with the newline that ends the previous line. */
static bool take_branch(void *payload, char *const *fields)
{
    struct al_branches_reader *reader = payload;
    struct al_branches *to = reader->to;
    const char *mark = fields[0] + (*fields[0] == '\n');
    const char *ref = *mark ? mark + 1 : mark;
    bool remote = al_starts_with(ref, REMOTES);

    if (!*ref || (remote && *fields[3]))
        return true;
    to->truncated = !afford_object(&reader->room, fields, 3);
    if (to->truncated)
        return false;
    to->items = al_reallocarray(to->items, to->count + 1, sizeof(*to->items));
    to->items[to->count++] = (struct al_branch){
        .name = al_strdup(short_name(ref)),
        .hash = al_strdup(fields[1]),
        .upstream = *fields[2] ? al_strdup(short_name(fields[2])) : NULL,
        .current = *mark == '*',
        .remote = remote,
    };
    return true;
}

void al_branches_reader_init(struct al_branches_reader *reader, struct al_branches *to,
                             size_t max_bytes)
{
    *reader = (struct al_branches_reader){
        .records = AL_NUL_RECORDS_INIT(4, take_branch, reader),
        .to = to,
        .room = max_bytes,
    };
}

void al_stashes_clear(struct al_stashes *stashes)
{
    for (size_t i = 0; i < stashes->count; i++) {
        free(stashes->items[i].message);
        free(stashes->items[i].branch);
        free(stashes->items[i].date);
    }
    free(stashes->items);
    *stashes = AL_STASHES_INIT;
}

/* Parse "WIP on main: 1a2b3c4 subject" or "On main: message". Branch names contain no colon. */
static void split_subject(const char *subject, struct al_stash_entry *entry)
{
    const char *name = subject, *colon;

    if (al_starts_with(name, "WIP "))
        name += 4;
    if (!al_starts_with(name, "On ") && !al_starts_with(name, "on "))
        name = NULL;
    colon = name ? strchr(name, ':') : NULL;
    if (!colon || colon[1] != ' ') {
        entry->message = al_strdup(subject);
        return;
    }
    name += 3;
    if (strncmp(name, NO_BRANCH ":", strlen(NO_BRANCH) + 1) != 0)
        entry->branch = al_strndup(name, (size_t)(colon - name));
    entry->message = al_strdup(colon + 2);
}

static bool take_stash(void *payload, char *const *fields)
{
    struct al_stashes_reader *reader = payload;
    struct al_stashes *to = reader->to;
    struct al_stash_entry entry = { .message = NULL };

    to->truncated = !afford_object(&reader->room, fields, 2);
    if (to->truncated)
        return false;
    split_subject(fields[0], &entry);
    entry.date = al_strdup(fields[1]);
    to->items = al_reallocarray(to->items, to->count + 1, sizeof(*to->items));
    to->items[to->count++] = entry;
    return true;
}

void al_stashes_reader_init(struct al_stashes_reader *reader, struct al_stashes *to,
                            size_t max_bytes)
{
    *reader = (struct al_stashes_reader){
        .records = AL_NUL_RECORDS_INIT(2, take_stash, reader),
        .to = to,
        .room = max_bytes,
    };
}

static bool take_name(void *payload, char *const *fields)
{
    struct al_file_list_reader *reader = payload;

    reader->truncated = !afford(&reader->room, strlen(fields[0]) + NAME_COSTS);
    if (!reader->truncated)
        al_strv_add(reader->to, fields[0]);
    return !reader->truncated;
}

void al_file_list_reader_init(struct al_file_list_reader *reader, struct al_strv *to,
                              size_t max_bytes)
{
    *reader = (struct al_file_list_reader){
        .records = AL_NUL_RECORDS_INIT(1, take_name, reader),
        .to = to,
        .room = max_bytes,
    };
}
