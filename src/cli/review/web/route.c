// SPDX-License-Identifier: Apache-2.0
#include "cli/review/web/route.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/review/web/form.h"
#include "review/queue.h"
#include "util/str.h"

/* "3f2a9c10" */
static bool is_question_id(const char *text)
{
    return strlen(text) == AL_REVIEW_ID_CHARS &&
           strspn(text, "0123456789abcdef") == AL_REVIEW_ID_CHARS;
}

#define UUID_CHARS 36

static bool is_uuid(const char *text)
{
    return strlen(text) == UUID_CHARS && strspn(text, "0123456789abcdef-") == UUID_CHARS;
}

/* "12", "12/rollback" */
static bool find_execution(const char *text, struct al_route *route)
{
    const size_t len = strcspn(text, "/");
    al_auto(al_freep) char *number = al_asprintf("%.*s", (int)len, text);

    *route = (struct al_route){ .kind = AL_ROUTE_EXECUTION };
    if (!strcmp(text + len, "/rollback"))
        *route = (struct al_route){ .kind = AL_ROUTE_ROLLBACK, .posts = true };
    else if (text[len])
        return false;
    return al_web_number(number, &route->seq);
}

bool al_route_find(const char *path, struct al_route *ret_route)
{
    static const struct {
        const char *path;
        struct al_route route;
    } fixed[] = {
        { "/review", { .kind = AL_ROUTE_OVERVIEW } },
        { "/review/", { .kind = AL_ROUTE_OVERVIEW } },
        { "/review/live", { .kind = AL_ROUTE_LIVE } },
        { "/review/events", { .kind = AL_ROUTE_EVENTS } },
        { "/review/style.css", { .kind = AL_ROUTE_STYLE, .is_open = true } },
        { "/review/script.js", { .kind = AL_ROUTE_SCRIPT, .is_open = true } },
    };
    static const char execution[] = "/review/execution/", staged[] = "/review/staged/",
                      below[] = "/review/";

    for (size_t i = 0; i < AL_COUNT(fixed); i++)
        if (!strcmp(fixed[i].path, path)) {
            *ret_route = fixed[i].route;
            return true;
        }
    if (al_starts_with(path, execution))
        return find_execution(path + strlen(execution), ret_route);
    if (al_starts_with(path, staged)) {
        *ret_route = (struct al_route){ .kind = AL_ROUTE_STAGED, .id = path + strlen(staged) };
        return is_uuid(ret_route->id);
    }
    if (!al_starts_with(path, below))
        return false;
    *ret_route =
        (struct al_route){ .kind = AL_ROUTE_QUESTION, .id = path + strlen(below), .posts = true };
    return is_question_id(ret_route->id);
}
