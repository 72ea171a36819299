// SPDX-License-Identifier: Apache-2.0
/*
 * serve/upstream/call.c, serve/upstream/tools.c: the first byte decides about the era and
 * whether the rest is a list of tools, or lines of a server while two calls and a request of the
 * link's own wait. Whatever comes, a call has at most one end, and what is offered is in order.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/jsonrpc.h"
#include "serve/upstream/private.h"
#include "tests/fuzz/fuzz.h"

static void check_tool(const json_t *tool)
{
    const char *name = al_json_get_string(tool, "name");
    const char *title = al_json_get_string(tool, "title");
    const char *description = al_json_get_string(tool, "description");
    const json_t *output_schema = json_object_get(tool, "outputSchema");
    const json_t *annotations = json_object_get(tool, "annotations");

    fuzz_require(name && *name && strlen(name) <= AL_UPSTREAM_NAME_MAX_BYTES);
    fuzz_require(!title || strlen(title) <= AL_UPSTREAM_TITLE_MAX_BYTES);
    fuzz_require(!title || fuzz_is_safe_line(title));
    fuzz_require(!description || (strlen(description) <= AL_UPSTREAM_DESCRIPTION_MAX_BYTES &&
                                  fuzz_is_safe(description, strlen(description))));
    fuzz_require(!annotations || json_is_object(annotations));
    /* making the texts safe may lengthen them, but breaks nothing else */
    fuzz_require(json_is_object(json_object_get(tool, "inputSchema")));
    fuzz_require(!output_schema || json_is_object(output_schema));
}

static void fuzz_list(const struct fuzz_input *input)
{
    struct al_upstream_list list = { .tools = al_json_array() };
    json_t *page = json_loadb(input->data, input->len, 0, NULL), *tool;
    size_t i;

    if (al_upstream_list_add(&list, page))
        (void)al_upstream_list_add(&list, page); /* each of them is there twice */
    json_decref(page);
    fuzz_require(json_array_size(list.tools) <= AL_UPSTREAM_TOOLS_MAX);
    fuzz_require((list.nleft_out == 0) == (list.left_out == NULL));
    json_array_foreach(list.tools, i, tool)
    {
        check_tool(tool);
        fuzz_require(al_upstream_tools_find(list.tools, al_json_get_string(tool, "name")) == tool);
    }
    al_upstream_list_clear(&list);
}

static struct al_upstream *open_server(int fd)
{
    const struct al_strv none = AL_STRV_INIT;
    const struct al_upstream_settings settings = { .name = "fuzz",
                                                   .command = &none,
                                                   .path_list = "",
                                                   .scratch_dir = "/nonexistent",
                                                   .elicitation = true,
                                                   .sampling = true };
    struct al_upstream *server = al_upstream_new(&settings);

    fuzz_require(al_message_writer_init(&server->out, fd, NULL) == 0);
    server->is_open = true;
    server->last_id = 3;
    return server;
}

static void feed_lines(struct al_upstream_link *link, struct fuzz_input input)
{
    while (input.len) {
        const char *end = memchr(input.data, '\n', input.len);
        const size_t len = end ? (size_t)(end - input.data) : input.len;
        const size_t used = len + (end != NULL);

        al_auto(al_freep) char *line = al_strndup(input.data, len);

        if (len % 7 == 6)
            al_upstream_take_unreadable(link, line, len, "too much");
        else
            al_upstream_take_line(link, line, len);
        input.data += used;
        input.len -= used;
    }
}

static void check_wait(const struct al_upstream_wait *wait, unsigned long id)
{
    size_t questions = 0;

    for (const struct al_upstream_question *at = wait->questions; at; at = at->next)
        questions++;
    fuzz_require(questions == wait->nquestions && questions <= AL_UPSTREAM_QUESTIONS_MAX);
    fuzz_require(wait->answered ? wait->id == 0 : wait->id == id);
    fuzz_require(!wait->result || wait->answered);
}

static void fuzz_lines(const struct fuzz_input *input, const char *revision)
{
    const int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
    struct al_upstream *server = open_server(fd);
    struct al_upstream_link link = { .server = server, .revision = al_revision_find(revision) };
    struct al_upstream_wait own = AL_UPSTREAM_WAIT_INIT, waits[2];

    own.id = 3;
    own.is_own = own.is_large = true;
    server->waits = &own;
    for (unsigned long i = 0; i < AL_COUNT(waits); i++) {
        fuzz_require(al_upstream_wait_begin(server, &waits[i], NULL) == 0);
        waits[i].id = i + 1;
        waits[i].asks = true;
    }
    feed_lines(&link, *input);
    for (unsigned long i = 0; i < AL_COUNT(waits); i++) {
        check_wait(&waits[i], i + 1);
        al_upstream_wait_end(server, &waits[i], "");
    }
    check_wait(&own, 3);
    al_upstream_wait_end(server, &own, NULL);
    free(link.garbage);
    server->is_open = false;
    al_message_writer_clear(&server->out);
    al_upstream_free(server);
    al_close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = { (const char *)data, size };
    const uint8_t kind = fuzz_byte(&input);

    if (kind % 4 <= 1) {
        fuzz_list(&input);
    } else {
        fuzz_lines(&input, kind % 4 == 2 ? "2025-11-25" : "2026-07-28");
    }
    return 0;
}
