// SPDX-License-Identifier: Apache-2.0
#include "bench/server.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fs.h"
#include "bench/stats.h"

extern char **environ;

static void send_line(struct server *server, const struct al_str *line)
{
    if (al_write_all(server->in, line->buf, line->len) < 0)
        give_up("the server has gone away");
}

/* The next line is left at the front of server->read; gives its length without the newline. */
static size_t receive_line(struct server *server, size_t *seen)
{
    for (;;) {
        char *end = memchr(server->read.buf + *seen, '\n', server->read.len - *seen);
        ssize_t n;

        if (end)
            return (size_t)(end - server->read.buf);
        *seen = server->read.len;
        al_str_reserve(&server->read, 65536);
        n = read(server->out, server->read.buf + server->read.len, 65536);
        if (n <= 0)
            give_up("the server closed its output");
        server->read.len += (size_t)n;
        server->read.buf[server->read.len] = '\0';
    }
}

static void drop_line(struct server *server, size_t len)
{
    size_t rest = server->read.len - len - 1;

    memmove(server->read.buf, server->read.buf + len + 1, rest);
    al_str_truncate(&server->read, rest);
}

size_t server_receive(struct server *server)
{
    size_t seen = 0;
    size_t len = receive_line(server, &seen);

    server->read.buf[len] = '\0';
    if (strstr(server->read.buf, "\"isError\":true") || strstr(server->read.buf, "\"error\":{"))
        give_up("a call failed: %.300s", server->read.buf);
    drop_line(server, len);
    return len;
}

void server_send(struct server *server, const char *tool, const char *arguments)
{
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;

    al_str_addf(&line,
                "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/call\","
                "\"params\":{\"name\":\"%s\",\"arguments\":%s}}\n",
                server->next_id++, tool, arguments);
    send_line(server, &line);
}

static void spawn(struct server *server, const char *airlock, const char *const *roots,
                  const char *toolset, const char *const *options)
{
    al_auto(al_strv_clear) struct al_strv argv = AL_STRV_INIT;
    posix_spawn_file_actions_t actions;
    int in[2], out[2];

    al_strv_adds(&argv, airlock, "serve", "--toolset", toolset, NULL);
    for (; *options; options++)
        al_strv_add(&argv, *options);
    for (; *roots; roots++)
        al_strv_adds(&argv, "--root", *roots, NULL);
    if (pipe2(in, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC) < 0)
        give_up("pipe: %s", strerror(errno));
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in[0], 0);
    posix_spawn_file_actions_adddup2(&actions, out[1], 1);
    if (posix_spawn(&server->pid, airlock, &actions, NULL, argv.items, environ) != 0)
        give_up("%s cannot be started", airlock);
    posix_spawn_file_actions_destroy(&actions);
    close(in[0]);
    close(out[1]);
    server->in = in[1];
    server->out = out[0];
}

void server_start(struct server *server, const char *airlock, const char *const *roots,
                  const char *toolset)
{
    static const char *const none[] = { NULL };

    server_start_with(server, airlock, roots, toolset, none);
}

void server_start_with(struct server *server, const char *airlock, const char *const *roots,
                       const char *toolset, const char *const *options)
{
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;

    *server = (struct server){ .next_id = 1, .read = AL_STR_INIT };
    spawn(server, airlock, roots, toolset, options);
    al_str_adds(&line, "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{"
                       "\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},"
                       "\"clientInfo\":{\"name\":\"bench\",\"version\":\"1\"}}}\n");
    send_line(server, &line);
    server_receive(server);
    al_str_reset(&line);
    al_str_adds(&line, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n");
    send_line(server, &line);
}

void server_stop(struct server *server)
{
    close(server->in);
    while (waitpid(server->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    close(server->out);
    al_str_clear(&server->read);
}

long server_memory_kib(const struct server *server, const char *field)
{
    al_auto(al_freep) char *path = al_asprintf("/proc/%d/status", (int)server->pid);
    FILE *status = fopen(path, "re");
    char line[256];
    long kib = -1;

    if (!status)
        give_up("%s cannot be read", path);
    while (fgets(line, sizeof(line), status))
        if (al_starts_with(line, field) && line[strlen(field)] == ':')
            kib = strtol(line + strlen(field) + 1, NULL, 10);
    fclose(status);
    return kib;
}
