// SPDX-License-Identifier: Apache-2.0
#include "history/recover.h"

#include "history/history.h"
#include "history/lines.h"
#include "history/open_scan.h"
#include "util/log.h"

static bool same_member(const json_t *a, const json_t *b, const char *name)
{
    return json_equal(json_object_get(a, name), json_object_get(b, name)) != 0;
}

/* Earlier versions did not number calls. */
static bool same_call(const json_t *line, const json_t *call)
{
    if (!same_member(line, call, "conversation_id"))
        return false;
    if (json_object_get(call, "id"))
        return same_member(line, call, "id");
    return same_member(line, call, "time") && same_member(line, call, "tool") &&
           same_member(line, call, "input");
}

/* Whether the text has the session id of one of the calls. */
static bool may_have_line(json_t *calls, const char *text, size_t len)
{
    const char *key, *before = "";
    const json_t *call;

    json_object_foreach(calls, key, call)
    {
        const char *session = al_json_get_string(call, "conversation_id");

        if (strcmp(session, before) != 0 && memmem(text, len, session, strlen(session)))
            return true;
        before = session;
    }
    return false;
}

/* Remove the calls whose line is in this file of the log. */
static void drop_recorded(json_t *calls, int fd)
{
    al_auto(al_lines_clear) struct al_lines lines = AL_LINES_INIT(fd, 0);
    const char *text, *key;
    json_t *call;
    size_t len;
    void *next;

    while (json_object_size(calls) && al_lines_next(&lines, &text, &len) > 0) {
        al_auto(al_json_decrefp) json_t *line = NULL;

        if (!may_have_line(calls, text, len))
            continue;
        line = json_loadb(text, len, JSON_ALLOW_NUL, NULL);
        json_object_foreach_safe(calls, next, key, call)
        {
            if (same_call(line, call))
                (void)json_object_del(calls, key);
        }
    }
}

/* Only the last two files of the log are searched: at most one file can have been begun after the
 * lines of these calls. */
static void drop_all_recorded(const struct al_chain *chain, json_t *calls)
{
    al_auto(al_history_clear) struct al_history history = AL_HISTORY_INIT;
    size_t count =
        al_history_open(al_chain_file(chain), NULL, &history) < 0 ? 0 : al_history_count(&history);

    for (size_t i = count > 2 ? count - 2 : 0; i < count; i++) {
        al_auto(al_closep) int fd = al_history_file(&history, i);

        if (fd >= 0)
            drop_recorded(calls, fd);
    }
}

/* The lines are on the disk before the open record is removed, since they may have the only mention
 * of a checkpoint.  A process that died may not have synchronised those that it wrote, either. */
static int append(struct al_chain *chain, json_t *calls, struct al_error *err)
{
    const json_t *call;
    const char *key;
    int r = 0;

    json_object_foreach(calls, key, call)
    {
        al_auto(al_str_clear) struct al_str line = AL_STR_INIT;

        al_json_dump(call, true, &line);
        if (r == 0)
            r = al_chain_append(chain, &line, err);
    }
    return r == 0 ? al_chain_sync(chain, err) : r;
}

/* A record without a session id is not that of a call. */
static void drop_invalid(json_t *calls)
{
    json_t *call;
    const char *key;
    void *next;

    json_object_foreach_safe(calls, next, key, call)
    {
        if (!al_json_get_string(call, "conversation_id"))
            (void)json_object_del(calls, key);
    }
}

static int recover(void *payload, long pid, json_t *calls)
{
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    struct al_chain *chain = payload;
    int r;

    drop_invalid(calls);
    drop_all_recorded(chain, calls);
    r = append(chain, calls, &err);
    if (r < 0)
        al_log_warn("the record of a call that was interrupted stays open (process %ld): %s", pid,
                    err.message);
    return r;
}

void al_journal_recover(struct al_chain *chain, int open_fd)
{
    al_open_scan_dead(open_fd, recover, chain);
}
