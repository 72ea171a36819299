// SPDX-License-Identifier: Apache-2.0
/* A server of fake_server.py and a root for it to work in. */
#ifndef TESTS_UNIT_UPSTREAM_LIB_H
#define TESTS_UNIT_UPSTREAM_LIB_H

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "guard/root.h"
#include "proc/cancel.h"
#include "proc/proc.h"
#include "proc/reaper.h"
#include "serve/upstream/private.h"
#include "tests/lib/assert.h"
#include "tests/lib/tmpdir.h"

#define LONG_MS 120000u /* the time for what happens by itself; no test waits this long */

/* The lists may be changed before world_start(). */
struct world {
    struct tmpdir *root, *scratch;
    struct al_roots roots;
    struct al_strv command, env, read, write, exec;
    char *scratch_dir;
    struct al_upstream_settings settings;
    struct al_upstream *server;
    int changed_fd; /* an eventfd that counts the lists of tools */
};

static inline void on_tools(void *payload)
{
    const struct world *world = payload;
    const uint64_t one = 1;

    assert_int_equal(write(world->changed_fd, &one, sizeof(one)), sizeof(one));
}

extern char **environ;

/* A server that is confined, and can read its own source. */
static inline struct world world_new(const char *era, const char *start)
{
    struct world world = { .root = tmpdir_new(), .scratch = tmpdir_new(), .changed_fd = -1 };

    world.roots = AL_ROOTS_INIT;
    assert_int_equal(al_roots_add(&world.roots, world.root->path, NULL, NULL, NULL), 0);
    al_strv_adds(&world.command, "/usr/bin/python3", "-B", FAKE_SERVER, era, start, NULL);
    al_strv_add(&world.read, FAKE_DIR);
    world.scratch_dir = tmpdir_path(world.scratch, "mcp/fake");
    world.settings = (struct al_upstream_settings){
        .name = "fake",
        .confine = true,
        .timeout_ms = LONG_MS,
        .path_list = "/usr/bin:/bin",
        .environ_ = environ,
        .elicitation = true,
        .sampling = true,
    };
    return world;
}

/* The server is made here, since it points into `world`. */
static inline void world_make(struct world *world)
{
    world->settings.command = &world->command;
    world->settings.env = &world->env;
    world->settings.read = &world->read;
    world->settings.write = &world->write;
    world->settings.exec = &world->exec;
    world->settings.roots = &world->roots;
    world->settings.scratch_dir = world->scratch_dir;
    world->server = al_upstream_new(&world->settings);
}

static inline void world_clear(struct world *world)
{
    al_upstream_free(world->server);
    al_strv_clear(&world->command);
    al_strv_clear(&world->env);
    al_strv_clear(&world->read);
    al_strv_clear(&world->write);
    al_strv_clear(&world->exec);
    al_roots_clear(&world->roots);
    free(world->scratch_dir);
    tmpdir_free(world->root);
    tmpdir_free(world->scratch);
    al_closep(&world->changed_fd);
}

/* Start it, and wait for its tools.  0 or the status, with *err. */
static inline int start_fake(struct world *world, struct al_error *err)
{
    json_t *tools = NULL;
    int r;

    if (!world->server)
        world_make(world);
    r = al_upstream_tools(world->server, LONG_MS, NULL, &tools, err);
    json_decref(tools);
    return r;
}

/* A call with arguments as JSON. */
static inline int call_with(struct world *world, struct al_upstream_call *call, const char *tool,
                            const char *arguments, json_t **ret_result, struct al_error *err)
{
    json_t *value = json_loads(arguments, 0, NULL);
    int r;

    assert_non_null(value);
    call->tool = tool;
    call->arguments = value;
    r = al_upstream_call(world->server, call, ret_result, err);
    json_decref(value);
    return r;
}

/* The first text of a result. */
static inline const char *text_of(const json_t *result)
{
    const json_t *content = json_object_get(result, "content");

    return al_json_get_string(json_array_get(content, 0), "text");
}

/* Call a tool, which must give this text. */
static inline void assert_gives(struct world *world, const char *tool, const char *arguments,
                                const char *wanted)
{
    struct al_upstream_call call = { .timeout_ms = LONG_MS };
    struct al_error err = AL_ERROR_INIT;
    json_t *result = NULL;
    int r = call_with(world, &call, tool, arguments, &result, &err);

    if (r < 0)
        fail_msg("%s: %s", tool, err.message);
    assert_string_equal(text_of(result), wanted);
    json_decref(result);
}

/* Call a tool, which must fail, and compare the message: up to its end, or to a '*' in `wanted`. */
static inline void assert_fails_with(struct world *world, struct al_upstream_call *call,
                                     const char *tool, const char *arguments, int status,
                                     const char *wanted)
{
    const size_t len = strcspn(wanted, "*");
    struct al_error err = AL_ERROR_INIT;
    json_t *result = NULL;
    int r = call_with(world, call, tool, arguments, &result, &err);

    if (r == 0)
        fail_msg("%s gave a result", tool);
    if (strncmp(err.message, wanted, len) != 0 || (!wanted[len] && err.message[len]))
        fail_msg("%s: '%s'", tool, err.message);
    assert_int_equal(r, status);
    assert_int_equal(err.status, status);
    al_error_clear(&err);
}

static inline void assert_fails(struct world *world, const char *tool, const char *arguments,
                                int status, const char *wanted)
{
    struct al_upstream_call call = { .timeout_ms = LONG_MS };

    assert_fails_with(world, &call, tool, arguments, status, wanted);
}

/* Fails unless every process that was started is gone. */
static inline void assert_no_children(void)
{
    struct al_pids pids = { .items = NULL };

    al_pids_add_scanned(&pids, getpid());
    assert_int_equal(pids.count, 0);
    al_pids_clear(&pids);
}

static inline int set_up_proc(void **state)
{
    (void)state;
    return al_proc_init(NULL, NULL);
}

#endif
