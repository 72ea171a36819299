// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>

#include "upstream/limits.h"
#include "upstream/link.h"
#include "upstream/tools.h"

/* Read one page. */
static int read_page(struct al_upstream_link *link, const char *cursor, int64_t deadline_ms,
                     struct al_upstream_request *request, char **ret_problem)
{
    al_auto(al_json_decrefp) json_t *params = al_json_object();
    al_auto(al_json_decrefp) json_t *full = NULL;
    int r;

    if (cursor)
        al_json_set(params, "cursor", al_json_string(cursor));
    full = al_upstream_params(link->server, link->revision, params, 0, true);
    al_upstream_link_ask(link, request, "tools/list", full);
    request->is_large = true;
    r = al_upstream_link_await(link, request, NULL, deadline_ms);
    if (r == AL_ERR_TIMEOUT)
        return al_upstream_link_late(link, "tools/list", ret_problem);
    if (r == 0 && !request->result) {
        *ret_problem =
            al_asprintf("answered tools/list with error %d: %s", request->code, request->message);
        r = AL_ERR_EXECUTION;
    }
    return r;
}

/* Read all pages. */
static int read_pages(struct al_upstream_link *link, int64_t deadline_ms,
                      struct al_upstream_list *list, char **ret_problem)
{
    al_auto(al_freep) char *cursor = NULL;
    size_t bytes = 0;

    for (unsigned page = 0; page < AL_UPSTREAM_PAGES_MAX; page++) {
        struct al_upstream_request request = AL_UPSTREAM_REQUEST_INIT;
        int r = read_page(link, cursor, deadline_ms, &request, ret_problem);

        free(al_take(&cursor));
        bytes += request.bytes;
        if (r == 0 && !al_upstream_list_add(list, request.result)) {
            *ret_problem = al_strdup("answered tools/list with something that is no list of tools");
            r = AL_ERR_EXECUTION;
        }
        if (r == 0)
            cursor = al_strdup(al_json_get_string(request.result, "nextCursor"));
        al_upstream_link_forget(link, &request);
        if (r < 0)
            return r;
        if (bytes > AL_UPSTREAM_LIST_MAX_BYTES)
            break;
        if (!cursor)
            return 0;
    }
    *ret_problem = al_strdup("has a list of tools that is too long");
    return AL_ERR_EXECUTION;
}

/* Make the list the server's, unless it is the same: a list stays one object until it changes.
 * True: it is another one. */
static bool publish(const struct al_upstream_link *link, struct al_upstream_list *list)
{
    struct al_upstream *server = link->server;
    const struct al_upstream_tools *spare = al_upstream_list_finish(list);
    bool differs;

    (void)pthread_mutex_lock(&server->lock);
    differs = !al_upstream_tools_equal(server->tools, spare);
    if (differs) {
        const struct al_upstream_tools *old = server->tools;

        server->tools = spare;
        spare = old;
    }
    server->nleft_out = list->nleft_out;
    free(server->left_out);
    server->left_out = al_take(&list->left_out);
    server->list_is_old = link->list_changed; /* it may have changed while it was read */
    al_upstream_signal_all(server);
    (void)pthread_mutex_unlock(&server->lock);
    al_upstream_tools_unref(spare);
    return differs;
}

int al_upstream_read_tools(struct al_upstream_link *link, int64_t deadline_ms, bool *ret_differs,
                           char **ret_problem)
{
    al_auto(al_upstream_list_clear) struct al_upstream_list list = AL_UPSTREAM_LIST_INIT;
    int r = link->has_tools ? read_pages(link, deadline_ms, &list, ret_problem) : 0;

    if (r == 0)
        *ret_differs = publish(link, &list);
    return r;
}
