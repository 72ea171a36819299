// SPDX-License-Identifier: Apache-2.0
#include "journal/left.h"

#include "journal/chain.h"
#include "journal/history.h"
#include "journal/lines.h"
#include "util/json.h"
#include "util/log.h"

static bool same(const json_t *a, const json_t *b, const char *name)
{
    return json_equal(json_object_get(a, name), json_object_get(b, name)) != 0;
}

/* The number in its conversation tells a call from one that was the same in the same millisecond;
 * earlier versions gave none. */
static bool same_call(const json_t *line, const json_t *note)
{
    return same(line, note, "conversation_id") && same(line, note, "time") &&
           same(line, note, "tool") && same(line, note, "input") &&
           (!json_object_get(note, "id") || same(line, note, "id"));
}

/* Whether a file of the log has the line of this call. */
static bool has_line(int fd, const json_t *note)
{
    al_auto(al_lines_clear) struct al_lines lines = AL_LINES_INIT(fd, 0);
    const char *conversation = al_json_get_string(note, "conversation_id");
    const char *text;
    size_t len;

    while (al_lines_next(&lines, &text, &len) > 0) {
        al_auto(al_json_decrefp) json_t *line = NULL;

        if (!memmem(text, len, conversation, strlen(conversation)))
            continue;
        line = json_loadb(text, len, JSON_ALLOW_NUL, NULL);
        if (same_call(line, note))
            return true;
    }
    return false;
}

/* It would be one of the last lines: a file may have been begun after it, two may not. */
static bool is_recorded(const struct al_chain *chain, const json_t *note)
{
    al_auto(al_history_clear) struct al_history history = AL_HISTORY_INIT;
    size_t count =
        al_history_open(al_chain_file(chain), NULL, &history) < 0 ? 0 : al_history_count(&history);

    for (size_t i = count > 2 ? count - 2 : 0; i < count; i++) {
        al_auto(al_closep) int fd = al_history_file(&history, i);

        if (fd >= 0 && has_line(fd, note))
            return true;
    }
    return false;
}

/* Later lines know more; the last may be cut short by the end of its process. */
static json_t *last_line(const char *text, size_t len)
{
    const char *end = memrchr(text, '\n', len);
    const char *before = end ? memrchr(text, '\n', (size_t)(end - text)) : NULL;
    const char *line = before ? before + 1 : text;

    return end ? json_loadb(line, (size_t)(end - line), JSON_ALLOW_NUL, NULL) : NULL;
}

int al_left_record(void *context, const char *text, size_t len)
{
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    al_auto(al_json_decrefp) json_t *note = last_line(text, len);
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;
    struct al_chain *chain = context;
    int r;

    /* Not even one line: its process died before the call began. */
    if (!al_json_get_string(note, "conversation_id") || is_recorded(chain, note))
        return 0;
    al_json_dump(note, true, &line);
    r = al_chain_append(chain, &line, &err);
    if (r < 0)
        al_log_warn("the record of a call that was interrupted stays open: %s", err.message);
    return r;
}
