// SPDX-License-Identifier: Apache-2.0
/* serve/http/server.h: starting, listening, draining, stopping; nothing stays behind. */
#include "http_lab.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "serve/http/private.h"
#include "tests/lib/assert.h"
#include "tests/lib/tmpdir.h"

#define HOST "Host: localhost\r\n"
#define GET  "GET /echo HTTP/1.1\r\n" HOST "\r\n"

static int ask(const struct lab *lab, size_t listener)
{
    int fd = lab_connect(lab, listener);
    int status;

    lab_say(fd, GET);
    status = lab_response(fd, NULL);
    close(fd);
    return status;
}

static struct al_http_listener listener(const char *address)
{
    struct al_http_listener listener = { .tls = false };

    assert_int_equal(al_http_address_parse(address, &listener.address, NULL), 0);
    return listener;
}

static struct al_http_listener socket_in(const struct tmpdir *dir, const char *name)
{
    al_auto(al_str_clear) struct al_str address = AL_STR_INIT;

    al_str_addf(&address, "unix:%s/%s", dir->path, name);
    return listener(address.buf);
}

static void nothing_stays_behind(void **state)
{
    struct lab lab;
    size_t threads, descriptors;

    (void)state;
    lab_start(&lab, NULL, NULL, 0);
    assert_int_equal(ask(&lab, 0), 200);
    lab_stop(&lab); /* the library has what it keeps */
    threads = lab_threads();
    descriptors = lab_descriptors();
    for (int i = 0; i < 50; i++) {
        int idle, partial, waiting, streaming;
        struct al_http_exchange *held;

        lab_start(&lab, NULL, NULL, 0);
        idle = lab_connect(&lab, 0);
        partial = lab_connect(&lab, 0);
        lab_say(partial, "POST /echo HTTP/1.1\r\n" HOST "Content-Length: 5\r\n\r\nhel");
        waiting = lab_connect(&lab, 0);
        lab_say(waiting, "GET /wait HTTP/1.1\r\n" HOST "\r\n");
        al_http_unref(lab_held(&lab));
        streaming = lab_connect(&lab, 0);
        lab_say(streaming, "GET /wait HTTP/1.1\r\n" HOST "\r\n");
        held = lab_held(&lab);
        al_http_begin_stream(held, 200, NULL, 0);
        al_http_send(held, "x", 1);
        assert_int_equal(lab_threads(), threads + 1);
        lab_stop(&lab);
        al_http_unref(held);
        close(idle);
        close(partial);
        close(waiting);
        close(streaming);
    }
    assert_int_equal(lab_threads(), threads);
    assert_int_equal(lab_descriptors(), descriptors);
}

static void drains(void **state)
{
    struct lab lab;
    struct al_http_exchange *held;
    struct al_http_address address;
    int idle, waiting, fd;

    (void)state;
    lab_start(&lab, NULL, NULL, 0);
    address = *al_http_server_address(lab.server, 0);
    idle = lab_connect(&lab, 0);
    waiting = lab_connect(&lab, 0);
    lab_say(waiting, "GET /wait HTTP/1.1\r\n" HOST "\r\n");
    held = lab_held(&lab);
    assert_false(al_http_server_drain(lab.server, 0));
    assert_true(lab_closed(idle));
    close(idle);
    fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fd, (const struct sockaddr *)&address.socket, address.socket_len), -1);
    close(fd);
    assert_false(al_http_server_drain(lab.server, 1));
    al_http_answer(held, 200, NULL, 0, "done", 4);
    assert_int_equal(lab_response(waiting, NULL), 200);
    assert_non_null(strstr(lab_head.buf, "Connection: close\r\n"));
    assert_true(lab_closed(waiting));
    close(waiting);
    assert_true(al_http_server_drain(lab.server, 60 * 1000));
    al_http_unref(held);
    lab_stop(&lab);
}

static void listens_at_several_addresses(void **state)
{
    struct tmpdir *dir = tmpdir_new();
    const struct al_http_listener listeners[] = { listener("127.0.0.1:0"), listener("127.0.0.1:0"),
                                                  listener("[::1]:0"), socket_in(dir, "s") };
    struct lab lab;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    (void)state;
    lab_start(&lab, NULL, listeners, COUNT(listeners));
    for (size_t i = 0; i < COUNT(listeners); i++) {
        int fd = lab_connect(&lab, i);
        struct al_http_exchange *held;

        lab_say(fd, "GET /wait HTTP/1.1\r\n" HOST "\r\n");
        held = lab_held(&lab);
        assert_int_equal(al_http_request(held)->listener, i);
        assert_false(al_http_request(held)->tls);
        al_str_addf(&text, "%s;", al_http_request(held)->peer);
        al_http_answer(held, 200, NULL, 0, NULL, 0);
        assert_int_equal(lab_response(fd, NULL), 200);
        al_http_unref(held);
        close(fd);
    }
    assert_string_equal(text.buf, "127.0.0.1;127.0.0.1;::1;;");
    assert_int_not_equal(al_http_server_address(lab.server, 0)->port, 0);
    assert_int_not_equal(al_http_server_address(lab.server, 0)->port,
                         al_http_server_address(lab.server, 1)->port);
    lab_stop(&lab);
    tmpdir_free(dir);
}

/* The message of a server that cannot be started. */
static char *start_error(const struct al_http_options *options, int status)
{
    struct al_http_server *server = NULL;
    struct al_error err = AL_ERROR_INIT;

    assert_int_equal(al_http_server_new(options, &server, &err), status);
    assert_null(server);
    return err.message;
}

static void check_error(const struct al_http_listener *listeners, size_t count,
                        const char *expected)
{
    const struct al_http_options options = { .listeners = listeners, .listener_count = count };
    al_auto(al_freep) char *message = start_error(&options, AL_ERR_EXECUTION);

    if (!strstr(message, expected))
        fail_msg("%s", message);
}

static void unix_sockets(void **state)
{
    struct tmpdir *dir = tmpdir_new();
    const struct al_http_listener here = socket_in(dir, "s");
    const struct al_http_listener two[] = { socket_in(dir, "first"), here };
    struct lab lab;
    struct stat st;
    size_t threads, descriptors;
    int dead = socket(AF_UNIX, SOCK_STREAM, 0);

    (void)state;
    assert_int_equal(
        bind(dead, (const struct sockaddr *)&here.address.socket, here.address.socket_len), 0);
    listen(dead, 1);
    threads = lab_threads();
    descriptors = lab_descriptors();
    check_error(&here, 1, "another server listens");
    assert_int_equal(lstat(here.address.host, &st), 0);
    /* the first address is given back when the second one fails */
    check_error(two, COUNT(two), "another server listens");
    assert_int_equal(lstat(two[0].address.host, &st), -1);
    assert_int_equal(lab_threads(), threads);
    assert_int_equal(lab_descriptors(), descriptors);
    close(dead);
    lab_start(&lab, NULL, &here, 1);
    assert_int_equal(lstat(here.address.host, &st), 0);
    assert_int_equal(st.st_mode, S_IFSOCK | 0600);
    assert_int_equal(ask(&lab, 0), 200);
    check_error(&here, 1, "another server listens");
    assert_int_equal(ask(&lab, 0), 200);
    lab_stop(&lab);
    assert_int_equal(lstat(here.address.host, &st), -1);
    tmpdir_free(dir);
}

static void other_files_are_left_alone(void **state)
{
    struct tmpdir *dir = tmpdir_new();
    const struct al_http_listener here = socket_in(dir, "s");
    const struct al_http_listener nowhere = socket_in(dir, "missing/s");
    al_auto(al_freep) char *text = NULL;
    struct lab lab;
    struct stat st;

    (void)state;
    check_error(&nowhere, 1, "cannot make the socket");
    tmpdir_write(dir, "s", "mine");
    check_error(&here, 1, "is no socket");
    text = tmpdir_read(dir, "s");
    assert_string_equal(text, "mine");
    assert_int_equal(unlink(here.address.host), 0);
    tmpdir_symlink(dir, "elsewhere", "s");
    check_error(&here, 1, "is no socket");
    assert_int_equal(lstat(here.address.host, &st), 0);
    assert_int_equal(unlink(here.address.host), 0);
    /* what replaced the socket meanwhile is not removed with it */
    lab_start(&lab, NULL, &here, 1);
    assert_int_equal(unlink(here.address.host), 0);
    tmpdir_write(dir, "s", "mine");
    lab_stop(&lab);
    assert_int_equal(lstat(here.address.host, &st), 0);
    tmpdir_free(dir);
}

static void errors_say_what_to_do(void **state)
{
    struct tmpdir *dir = tmpdir_new();
    struct al_http_listener secure = listener("127.0.0.1:0");
    struct al_http_listener taken = listener("127.0.0.1:0");
    struct al_error err = AL_ERROR_INIT;
    const struct al_http_library *library = NULL;
    al_auto(al_freep) char *path = tmpdir_path(dir, "pem");
    al_auto(al_freep) char *unreadable = NULL;
    al_auto(al_freep) char *readable = NULL;
    al_auto(al_freep) char *unusable = NULL;
    struct al_http_options options = { .listeners = &secure,
                                       .listener_count = 1,
                                       .tls = { path, path } };
    struct lab lab;

    (void)state;
    lab_start(&lab, NULL, NULL, 0);
    taken.address = *al_http_server_address(lab.server, 0);
    check_error(&taken, 1, "cannot listen on 127.0.0.1:");
    lab_stop(&lab);
    secure.tls = true;
    unreadable = start_error(&options, AL_ERR_BAD_ARGS);
    assert_non_null(strstr(unreadable, "cannot read the certificate"));
    tmpdir_write(dir, "pem", "no certificate\n");
    assert_int_equal(chmod(path, 0604), 0);
    readable = start_error(&options, AL_ERR_BAD_ARGS);
    assert_non_null(strstr(readable, "other users have rights to the TLS key (mode 0604)"));
    assert_int_equal(chmod(path, 0600), 0);
    unusable = start_error(&options, AL_ERR_BAD_ARGS);
    assert_non_null(strstr(unusable, "cannot be used"));
    assert_int_equal(al_http_library_load("libmicrohttpd.so.0", &library, &err), AL_ERR_NOT_FOUND);
    assert_non_null(strstr(err.message, "install libmicrohttpd12"));
    al_error_clear(&err);
    assert_int_equal(al_http_library_load("libc.so.6", &library, &err), AL_ERR_NOT_FOUND);
    assert_non_null(strstr(err.message, "too old"));
    al_error_clear(&err);
    assert_int_equal(al_http_library_load(NULL, &library, &err), 0);
    tmpdir_free(dir);
}

static size_t resident_kb(void)
{
    FILE *file = fopen("/proc/self/status", "r");
    char line[256];
    size_t kb = 0;

    assert_non_null(file);
    while (fgets(line, sizeof(line), file))
        if (al_starts_with(line, "VmRSS:"))
            kb = strtoul(line + strlen("VmRSS:"), NULL, 10);
    fclose(file);
    return kb;
}

/* Connections cost memory, and no thread.  The clients are in this process too. */
static void many_connections(void **state)
{
    enum { MANY = 500 };
    struct rlimit limit;
    struct lab lab;
    int fds[MANY];
    size_t threads, before, idle, used;

    (void)state;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    lab_start(&lab, NULL, NULL, 0);
    assert_int_equal(ask(&lab, 0), 200);
    threads = lab_threads();
    before = resident_kb();
    for (int i = 0; i < MANY; i++)
        fds[i] = lab_connect(&lab, 0);
    assert_int_equal(ask(&lab, 0), 200);
    idle = resident_kb();
    for (int i = 0; i < MANY; i++)
        lab_say(fds[i], GET);
    for (int i = 0; i < MANY; i++)
        assert_int_equal(lab_response(fds[i], NULL), 200);
    used = resident_kb();
    assert_int_equal(lab_threads(), threads);
    print_message("# %d connections: %zu KB unused, %zu KB after a request each\n", MANY,
                  idle - before, used - before);
    for (int i = 0; i < MANY; i++)
        close(fds[i]);
    lab_stop(&lab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_stays_behind),
        cmocka_unit_test(drains),
        cmocka_unit_test(listens_at_several_addresses),
        cmocka_unit_test(unix_sockets),
        cmocka_unit_test(other_files_are_left_alone),
        cmocka_unit_test(errors_say_what_to_do),
        cmocka_unit_test(many_connections),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
