// SPDX-License-Identifier: Apache-2.0
#include "cli/review/screen/list.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "util/json.h"

/* What a list is made with. */
struct filler {
    struct al_screen_list *list;
    const char *filter;
    const char *heading; /* due before the next entry; NULL: none */
};

void al_screen_list_clear(struct al_screen_list *list)
{
    free(list->rows);
    *list = AL_SCREEN_LIST_INIT;
}

static struct al_screen_row *append(struct al_screen_list *list)
{
    if (list->count == list->capacity) {
        list->capacity = list->capacity ? 2 * list->capacity : 64;
        list->rows = al_reallocarray(list->rows, list->capacity, sizeof(*list->rows));
    }
    return &list->rows[list->count++];
}

static bool has(const char *text, const char *wanted)
{
    return text && strcasestr(text, wanted);
}

static void add(struct filler *filler, const struct al_screen_row *row, const char *tool)
{
    const char *wanted = filler->filter;

    if (*wanted && !has(row->repository, wanted) && !has(row->agent, wanted) &&
        !has(row->text, wanted) && !has(tool, wanted) && !has(row->key, wanted))
        return;
    if (filler->heading)
        *append(filler->list) = (struct al_screen_row){ .text = filler->heading, .mark = ' ' };
    filler->heading = NULL;
    *append(filler->list) = *row;
}

static void add_questions(struct filler *filler, const struct al_review_list *questions)
{
    filler->heading = "Waiting for an answer";
    for (size_t i = 0; i < questions->count; i++) {
        const json_t *entry = questions->items[i].entry;
        const char *id = al_json_get_string(entry, "id");
        struct al_screen_row row = {
            .kind = AL_ENTRY_QUESTION,
            .time = al_json_get_string(entry, "time"),
            .repository = al_json_get_string(entry, "repository"),
            .agent = al_json_get_string(entry, "agent"),
            .text = al_json_get_string(entry, "summary"),
            .mark = '?',
            .question = &questions->items[i],
        };

        (void)snprintf(row.key, sizeof(row.key), "%s", id ? id : "");
        add(filler, &row, al_json_get_string(entry, "tool"));
    }
}

static char mark_of(const char *outcome)
{
    if (!strcmp(outcome, "ok") || !strcmp(outcome, "dry_run") || !*outcome)
        return ' ';
    return !strcmp(outcome, "refused") || !strcmp(outcome, "declined") ? 'x' : '!';
}

static void add_call(struct filler *filler, const struct al_overview_call *call)
{
    struct al_screen_row row = {
        .kind = call->seq ? AL_ENTRY_EXECUTION : AL_ENTRY_RUNNING,
        .time = call->time,
        .repository = call->repository,
        .agent = call->agent,
        .text = *call->summary ? call->summary : call->tool,
        .mark = mark_of(call->outcome),
        .call = call,
    };

    if (call->seq)
        (void)snprintf(row.key, sizeof(row.key), "%" PRIu64, call->seq);
    else
        (void)snprintf(row.key, sizeof(row.key), "%ld %s", call->pid, call->time);
    add(filler, &row, call->tool);
}

static void add_staged(struct filler *filler, const struct al_overview_staged *staged)
{
    struct al_screen_row row = {
        .kind = AL_ENTRY_STAGED,
        .time = staged->time,
        .repository = staged->worker,
        .text = staged->title,
        .mark = ' ',
        .staged = staged,
    };

    (void)snprintf(row.key, sizeof(row.key), "%s", staged->id);
    add(filler, &row, "staged");
}

void al_screen_list_fill(struct al_screen_list *list, const struct al_review_list *questions,
                         const struct al_overview *overview, const char *filter, bool only_changes)
{
    struct filler filler = { .list = list, .filter = filter };

    list->count = list->nrunning = 0;
    list->nwaiting = questions->count;
    add_questions(&filler, questions);
    filler.heading = "Running";
    for (size_t i = 0; i < overview->nrunning; i++) {
        if (overview->running[i].waits)
            continue;
        add_call(&filler, &overview->running[i]);
        list->nrunning++;
    }
    filler.heading = "Staged commits";
    for (size_t i = 0; i < overview->nstaged; i++)
        add_staged(&filler, &overview->staged[i]);
    filler.heading = only_changes ? "Lately (without what only read)" : "Lately";
    for (size_t i = 0; i < overview->nexecutions; i++)
        if (!only_changes || overview->executions[i].changes)
            add_call(&filler, &overview->executions[i]);
}

size_t al_screen_list_find(const struct al_screen_list *list, enum al_screen_kind kind,
                           const char *key)
{
    for (size_t i = 0; i < list->count && kind != AL_ENTRY_NONE; i++)
        if (list->rows[i].kind == kind && !strcmp(list->rows[i].key, key))
            return i;
    return SIZE_MAX;
}

/* The entry after `row`, or before it. */
static size_t next_entry(const struct al_screen_list *list, size_t row, bool down)
{
    for (size_t at = row; down ? ++at < list->count : at-- > 0;)
        if (list->rows[at].kind != AL_ENTRY_NONE)
            return at;
    return SIZE_MAX;
}

size_t al_screen_list_step(const struct al_screen_list *list, size_t row, bool is_gone, int by)
{
    const bool down = by > 0;
    size_t at = row < list->count ? row : list->count, found = SIZE_MAX;

    if (is_gone && down && at > 0)
        at--; /* what is at its place counts as the next */
    if (is_gone && down && row == 0 && list->count && list->rows[0].kind != AL_ENTRY_NONE)
        return 0;
    for (long left = labs((long)by); left > 0; left--) {
        const size_t next = next_entry(list, at, down);

        if (next == SIZE_MAX)
            break;
        at = found = next;
    }
    if (found == SIZE_MAX && is_gone)
        found = next_entry(list, at, !down);
    return found;
}

size_t al_screen_list_first_question(const struct al_screen_list *list, const char *but)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->rows[i].kind == AL_ENTRY_QUESTION &&
            (!but || strcmp(list->rows[i].key, but) != 0))
            return i;
    return SIZE_MAX;
}

void al_screen_time(const char *iso, char ret_text[8])
{
    struct tm then = { .tm_isdst = 0 }, today;
    const time_t now = time(NULL);
    time_t when;

    (void)snprintf(ret_text, 8, "     ");
    if (!iso || !strptime(iso, "%Y-%m-%dT%H:%M:%S", &then))
        return;
    when = timegm(&then);
    if (!localtime_r(&when, &then) || !localtime_r(&now, &today))
        return;
    if (then.tm_year == today.tm_year && then.tm_yday == today.tm_yday)
        (void)strftime(ret_text, 8, "%H:%M", &then);
    else
        (void)strftime(ret_text, 8, "%m-%d", &then);
}
