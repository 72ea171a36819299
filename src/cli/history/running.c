// SPDX-License-Identifier: Apache-2.0
#include "cli/history/running.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/table.h"
#include "cli/tty.h"
#include "history/journal.h"
#include "util/fs.h"
#include "util/json.h"
#include "util/log.h"

/* The running calls that the query selects. */
struct calls {
    const struct al_query *query;
    json_t *items;
};

/* Add a call without the members that are known only at its end. */
static void add(void *payload, long pid, const json_t *call)
{
    static const char *const ends[] = { "seq", "result", "outcome", "duration_ms", "prev" };
    struct calls *calls = payload;
    json_t *item;

    if (!al_query_matches_call(calls->query, call))
        return;
    item = json_pack("{s:I}", "pid", (json_int_t)pid);
    (void)json_object_update(item, (json_t *)call);
    for (size_t i = 0; i < AL_COUNT(ends); i++)
        (void)json_object_del(item, ends[i]);
    al_json_append(calls->items, item);
}

/* Compare by start time, oldest first. */
static int compare(const void *a, const void *b)
{
    const char *one = al_json_get_string(*(json_t *const *)a, "time");
    const char *two = al_json_get_string(*(json_t *const *)b, "time");

    return strcmp(one ? one : "", two ? two : "");
}

static void print(const json_t *items, bool json, struct al_str *out)
{
    size_t count = json_array_size(items);
    al_auto(al_freep) json_t **order = al_calloc(count + 1, sizeof(json_t *));
    struct al_table table = AL_TABLE_INIT(al_table_terminal_width(), al_tty_colours(STDOUT_FILENO));

    table.running = true;
    table.common_dir = al_strdup(""); /* show the column, with absolute paths */
    for (size_t i = 0; i < count; i++)
        order[i] = json_array_get(items, i);
    for (size_t i = 0; i < count; i++)
        table.with_agents |= al_json_get_string(order[i], "agent") != NULL;
    qsort(order, count, sizeof(json_t *), compare);
    for (size_t i = 0; i < count; i++) {
        if (json) {
            al_json_dump(order[i], true, out);
            al_str_addc(out, '\n');
        } else {
            al_table_add(&table, order[i]);
        }
    }
    al_table_flush(&table, out);
    al_table_clear(&table);
}

int al_show_running(const struct al_query *query, const char *journal_file)
{
    al_auto(al_json_decrefp) json_t *items = al_json_array();
    al_auto(al_str_clear) struct al_str out = AL_STR_INIT;
    struct calls calls = { query, items };
    int r = al_journal_running(journal_file, add, &calls);

    if (r < 0) {
        al_log_note("cannot read the running calls beside '%s': %s", journal_file,
                    strerrordesc_np(-r));
        return AL_EXIT_FAILED;
    }
    if (query->tool && !json_array_size(items) && !al_query_tool_exists(query->tool))
        return al_query_unknown_tool(query->tool);
    if (!json_array_size(items) && !query->json)
        al_str_adds(&out, "no calls are running\n");
    print(items, query->json, &out);
    (void)al_write_all(STDOUT_FILENO, out.buf, out.len);
    return AL_EXIT_OK;
}
