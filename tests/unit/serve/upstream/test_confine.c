// SPDX-License-Identifier: Apache-2.0
/* serve/upstream/profile.c: what a server can reach.  Each attack is first made by the same server
 * without confinement, so that a refusal is known to come from it. */
#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "tests/unit/serve/upstream/lib.h"

/* What a call with one argument gives to an unconfined server and to a confined one. */
static void assert_attack(struct world *open, struct world *confined, const char *tool,
                          const char *name, const char *value, const char *unconfined,
                          const char *refused)
{
    al_auto(al_freep) char *arguments = *value == '[' || (*value >= '0' && *value <= '9')
                                            ? al_asprintf("{\"%s\":%s}", name, value)
                                            : al_asprintf("{\"%s\":\"%s\"}", name, value);

    assert_gives(open, tool, arguments, unconfined);
    assert_gives(confined, tool, arguments, refused);
}

static struct world start_world(bool confine)
{
    struct world world = world_new("legacy", "");

    world.settings.confine = confine;
    return world;
}

static void start_ok(struct world *world)
{
    struct al_error err = AL_ERROR_INIT;

    if (start_fake(world, &err) < 0)
        fail_msg("%s", err.message);
}

static void files_outside_are_out_of_reach(void **state)
{
    struct world open = start_world(false), confined = start_world(true);
    struct tmpdir *outside = tmpdir_new();
    al_auto(al_freep) char *secret = tmpdir_path(outside, "secret");
    al_auto(al_freep) char *canary = tmpdir_path(outside, "canary");
    al_auto(al_freep) char *others = al_asprintf("/proc/%d/status", getpid());
    char *text;

    (void)state;
    tmpdir_write(outside, "secret", "s");
    tmpdir_symlink(confined.root, outside->path, "link");
    tmpdir_symlink(open.root, outside->path, "link");
    start_ok(&open);
    start_ok(&confined);
    assert_attack(&open, &confined, "read", "path", secret, "s", "PermissionError");
    assert_attack(&open, &confined, "read", "path", "/etc/passwd", "r", "PermissionError");
    assert_attack(&open, &confined, "read", "path", others, "N", "PermissionError");
    assert_attack(&open, &confined, "read", "path", "/proc/self/status", "N", "N");
    assert_attack(&open, &confined, "run", "argv", "[\"cat\",\"/proc/self/comm\"]", "cat",
                  "done"); /* what it starts has nothing of its own */
    assert_attack(&open, &confined, "write", "path", canary, "done", "PermissionError");
    text = tmpdir_read(outside, "canary");
    assert_string_equal(text, "canary"); /* of the open one */
    free(text);
    assert_int_equal(unlink(canary), 0);
    assert_gives(&confined, "write", "{\"path\":\"link/canary\"}", "PermissionError");
    assert_null(tmpdir_read(outside, "canary"));
    assert_gives(&open, "write", "{\"path\":\"link/canary\"}", "done");
    world_clear(&open);
    world_clear(&confined);
    tmpdir_free(outside);
}

static void the_root_and_the_scratch_directory_are_its_own(void **state)
{
    struct world world = start_world(true);
    char *text;

    (void)state;
    start_ok(&world);
    assert_gives(&world, "write", "{\"path\":\"new\"}", "done");
    text = tmpdir_read(world.root, "new");
    assert_string_equal(text, "canary");
    free(text);
    assert_gives(&world, "read", "{\"path\":\"new\"}", "c");
    al_auto(al_freep) char *scratch = al_asprintf("{\"path\":\"%s/tmp/new\"}", world.scratch_dir);
    assert_gives(&world, "write", scratch, "done");
    assert_gives(&world, "run", "{\"argv\":[\"echo\",\"hi\"]}", "hi");
    world_clear(&world);
}

static void what_is_listed_is_allowed(void **state)
{
    struct world listed = start_world(true), bare = start_world(true);
    struct tmpdir *outside = tmpdir_new();
    al_auto(al_freep) char *file = tmpdir_path(outside, "r/file");
    al_auto(al_freep) char *only_read = tmpdir_path(outside, "r");
    al_auto(al_freep) char *written = tmpdir_path(outside, "w");
    al_auto(al_freep) char *new_file = tmpdir_path(outside, "w/new");
    al_auto(al_freep) char *programs = tmpdir_path(outside, "x");
    al_auto(al_freep) char *program = tmpdir_path(outside, "x/program");
    al_auto(al_freep) char *other = tmpdir_path(outside, "r/program");
    al_auto(al_freep) char *run = al_asprintf("[\"%s\"]", program);
    al_auto(al_freep) char *run_other = al_asprintf("{\"argv\":[\"%s\"]}", other);
    al_auto(al_freep) char *write_read = al_asprintf("{\"path\":\"%s\"}", file);

    (void)state;
    tmpdir_write(outside, "r/file", "f");
    tmpdir_write(outside, "r/program", "#!/bin/sh\necho ran\n");
    tmpdir_write(outside, "x/program", "#!/bin/sh\necho ran\n");
    tmpdir_mkdir(outside, "w");
    assert_int_equal(chmod(program, 0755), 0);
    assert_int_equal(chmod(other, 0755), 0);
    al_strv_add(&listed.read, only_read);
    al_strv_add(&listed.write, written);
    al_strv_add(&listed.exec, programs);
    al_strv_add(&listed.read, "/nonexistent/directory"); /* no reason not to start */
    start_ok(&listed);
    start_ok(&bare);
    assert_attack(&listed, &bare, "read", "path", file, "f", "PermissionError");
    assert_attack(&listed, &bare, "write", "path", new_file, "done", "PermissionError");
    assert_attack(&listed, &bare, "run", "argv", run, "ran", "PermissionError");
    assert_gives(&listed, "write", write_read, "PermissionError");
    assert_gives(&listed, "run", run_other, "PermissionError");
    world_clear(&listed);
    world_clear(&bare);
    tmpdir_free(outside);
}

/* A file in the root that the agent wrote is not executed. */
static void programs_of_the_root_do_not_run(void **state)
{
    struct world open = start_world(false), confined = start_world(true);
    struct world *const both[] = { &open, &confined };

    (void)state;
    for (size_t i = 0; i < COUNT(both); i++) {
        al_auto(al_freep) char *path = tmpdir_path(both[i]->root, "program");

        tmpdir_write(both[i]->root, "program", "#!/bin/sh\necho ran\n");
        assert_int_equal(chmod(path, 0755), 0);
        start_ok(both[i]);
    }
    assert_attack(&open, &confined, "run", "argv", "[\"./program\"]", "ran", "PermissionError");
    world_clear(&open);
    world_clear(&confined);
}

static int listen_tcp(char *port, size_t room)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t len = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_int_equal(bind(fd, (struct sockaddr *)&address, len), 0);
    assert_int_equal(listen(fd, 8), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &len), 0);
    (void)snprintf(port, room, "%d", ntohs(address.sin_port));
    return fd;
}

static int listen_unix(const char *path)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_true(strlen(path) < sizeof(address.sun_path));
    memcpy(address.sun_path, path, strlen(path) + 1);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(listen(fd, 8), 0);
    return fd;
}

static void the_network_has_to_be_allowed(void **state)
{
    struct world open = start_world(false), confined = start_world(true),
                 network = start_world(true);
    al_auto(al_freep) char *path = tmpdir_path(confined.root, "socket");
    char port[16];
    int tcp = listen_tcp(port, sizeof(port)), local = listen_unix(path);

    (void)state;
    network.settings.network = true;
    start_ok(&open);
    start_ok(&confined);
    start_ok(&network);
    assert_attack(&open, &confined, "connect", "port", port, "done", "PermissionError");
    assert_attack(&open, &confined, "connect", "path", path, "done", "PermissionError");
    assert_attack(&network, &confined, "connect", "port", port, "done", "PermissionError");
    assert_attack(&open, &network, "connect", "path", path, "done", "PermissionError");
    world_clear(&open);
    world_clear(&confined);
    world_clear(&network);
    al_close(tcp);
    al_close(local);
}

/* The value of a variable that the server sees; NULL: none. */
static char *variable(struct world *world, const char *name)
{
    struct al_upstream_call call = { .timeout_ms = LONG_MS };
    json_t *result = NULL, *all;
    char *value;

    assert_int_equal(call_with(world, &call, "environment", "{}", &result, NULL), 0);
    all = json_loads(text_of(result), 0, NULL);
    value = al_strdup(al_json_get_string(all, name));
    json_decref(all);
    json_decref(result);
    return value;
}

static void assert_variable(struct world *world, const char *name, const char *wanted)
{
    al_auto(al_freep) char *value = variable(world, name);

    if (wanted && value)
        assert_string_equal(value, wanted);
    else if (wanted || value)
        fail_msg("%s is %s", name, value ? value : "not set");
}

static void the_environment_is_small(void **state)
{
    static const char *const ours[] = { "HOME=/their/home",     "LANG=C.UTF-8", "SECRET_TOKEN=x",
                                        "SSH_AUTH_SOCK=/tmp/s", "TZ=UTC",       NULL };
    struct world open = start_world(false), confined = start_world(true);
    al_auto(al_freep) char *home = al_asprintf("%s/home", confined.scratch_dir);
    al_auto(al_freep) char *path = al_asprintf("/usr/bin::relative:%s:/bin", confined.root->path);

    (void)state;
    open.settings.environ_ = confined.settings.environ_ = (char *const *)ours;
    confined.settings.path_list = path;
    al_strv_adds(&confined.env, "MINE=1", "TZ=Europe/Berlin", NULL);
    start_ok(&open);
    start_ok(&confined);
    assert_variable(&open, "HOME", "/their/home");
    assert_variable(&open, "TZ", "UTC");
    assert_variable(&confined, "HOME", home);
    assert_variable(&confined, "TZ", "Europe/Berlin");
    assert_variable(&confined, "MINE", "1");
    assert_variable(&confined, "LANG", "C.UTF-8");
    assert_variable(&confined, "PATH", "/usr/bin:/bin"); /* nothing where an agent can write */
    assert_variable(&confined, "SSH_AUTH_SOCK", NULL);
    assert_variable(&confined, "SECRET_TOKEN", NULL);
    assert_variable(&open, "SECRET_TOKEN", NULL);
    assert_variable(&confined, "cwd", confined.root->path);
    world_clear(&open);
    world_clear(&confined);
}

static void resources_are_limited(void **state)
{
    struct world open = start_world(false), confined = start_world(true);

    (void)state;
    start_ok(&open);
    start_ok(&confined);
    assert_gives(&open, "limits", "{}", "[0, 1024, true]");
    assert_gives(&confined, "limits", "{}", "[0, 1024, true]");
    world_clear(&open);
    world_clear(&confined);
}

/* An agent could replace it, and would decide what runs without confinement. */
static void a_program_inside_a_root_is_only_run_confined(void **state)
{
    struct world open = start_world(false), confined = start_world(true);
    struct world *const both[] = { &open, &confined };
    struct al_error err = AL_ERROR_INIT;

    (void)state;
    for (size_t i = 0; i < COUNT(both); i++) {
        char *path = tmpdir_path(both[i]->root, "server");

        tmpdir_write(both[i]->root, "server",
                     "#!/bin/sh\nexec /usr/bin/python3 -B " FAKE_SERVER " legacy\n");
        assert_int_equal(chmod(path, 0755), 0);
        al_strv_clear(&both[i]->command);
        al_strv_take(&both[i]->command, path);
    }
    assert_int_equal(start_fake(&open, &err), AL_ERR_EXECUTION);
    assert_non_null(strstr(err.message,
                           "'server' lies in a root, where an agent can replace it; it "
                           "runs only with 'confine = true'"));
    al_error_clear(&err);
    start_ok(&confined);
    world_clear(&open);
    world_clear(&confined);
}

static int set_up(void **state)
{
    if (al_confine_abi() < 4)
        puts("# this kernel cannot refuse connections");
    return set_up_proc(state);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_outside_are_out_of_reach),
        cmocka_unit_test(the_root_and_the_scratch_directory_are_its_own),
        cmocka_unit_test(what_is_listed_is_allowed),
        cmocka_unit_test(programs_of_the_root_do_not_run),
        cmocka_unit_test(the_network_has_to_be_allowed),
        cmocka_unit_test(the_environment_is_small),
        cmocka_unit_test(resources_are_limited),
        cmocka_unit_test(a_program_inside_a_root_is_only_run_confined),
    };

    return cmocka_run_group_tests_name("upstream/confine", tests, set_up, NULL);
}
