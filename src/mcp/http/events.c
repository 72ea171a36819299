// SPDX-License-Identifier: Apache-2.0
#include "mcp/http/events.h"

#include <limits.h>

void al_event_add_text(struct al_str *out, const char *id, const char *message, size_t len)
{
    if (id)
        al_str_addf(out, "id: %s\n", id);
    al_str_adds(out, "event: message\ndata: ");
    al_str_add(out, message, len);
    al_str_adds(out, "\n\n");
}

/* Milliseconds that a client waits before it resumes a stream. */
#define RETRY_MS 1000

void al_event_add_first(struct al_str *out, const char *id)
{
    al_str_addf(out, "id: %s\nretry: %d\ndata:\n\n", id, RETRY_MS);
}

char *al_event_make_id(unsigned long stream, unsigned long event)
{
    return al_asprintf("%lu-%lu", stream, event);
}

/* Read digits up to `end`; *at is moved behind it. */
static bool read_number(const char **at, char end, unsigned long *ret_number)
{
    const char *text = *at;
    unsigned long number = 0;

    while (*text >= '0' && *text <= '9' && number < ULONG_MAX / 10 - 1)
        number = 10 * number + (unsigned long)(*text++ - '0');
    if (text == *at || *text != end)
        return false;
    *ret_number = number;
    *at = text + (end != '\0');
    return true;
}

bool al_event_read_id(const char *id, unsigned long *ret_stream, unsigned long *ret_event)
{
    return read_number(&id, '-', ret_stream) && read_number(&id, '\0', ret_event);
}

static struct al_str *slot(struct al_events *events, unsigned long number)
{
    return &events->items[number % AL_EVENTS_MAX];
}

void al_events_clear(struct al_events *events)
{
    for (size_t i = 0; i < AL_EVENTS_MAX; i++)
        al_str_clear(&events->items[i]);
}

void al_events_forget_oldest(struct al_events *events)
{
    struct al_str *oldest = slot(events, events->last - events->count + 1);

    events->bytes -= oldest->len;
    al_str_clear(oldest);
    events->count--;
}

void al_events_push(struct al_events *events, struct al_str *event)
{
    while (events->count &&
           (events->count == AL_EVENTS_MAX || events->bytes + event->len > AL_EVENTS_MAX_BYTES))
        al_events_forget_oldest(events);
    events->last++;
    events->count++;
    events->bytes += event->len;
    *slot(events, events->last) = *event;
    *event = AL_STR_INIT;
}

bool al_events_has_after(const struct al_events *events, unsigned long number)
{
    return number <= events->last && events->last - number <= events->count;
}

const struct al_str *al_events_get(const struct al_events *events, unsigned long number)
{
    return &events->items[number % AL_EVENTS_MAX];
}
