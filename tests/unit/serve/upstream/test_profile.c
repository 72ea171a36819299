// SPDX-License-Identifier: Apache-2.0
/* serve/upstream/profile.c: which program a command names, what comes with it, and that a server
 * which cannot be confined does not run. */
#include <sys/stat.h>

#include "proc/confine.h"
#include "tests/unit/serve/upstream/lib.h"

int __real_al_confine_abi(void);
int __wrap_al_confine_abi(void);

static bool no_landlock;

int __wrap_al_confine_abi(void)
{
    return no_landlock ? 0 : __real_al_confine_abi();
}

/* A server that leaves a mark when it is started: in its working directory, the root. */
#define SCRIPT "#!/bin/sh\n: > started\nexec /usr/bin/python3 -B " FAKE_SERVER " legacy\n"

static void add_program(struct tmpdir *dir, const char *name)
{
    char *path = tmpdir_path(dir, name);

    tmpdir_write(dir, name, SCRIPT);
    assert_int_equal(chmod(path, 0755), 0);
    free(path);
}

static void set_command(struct world *world, const char *program)
{
    al_strv_clear(&world->command);
    al_strv_add(&world->command, program);
}

static bool was_started(const struct world *world)
{
    al_auto(al_freep) char *text = tmpdir_read(world->root, "started");

    return text != NULL;
}

static void assert_refused(struct world *world, int status, const char *wanted)
{
    struct al_error err = AL_ERROR_INIT;

    assert_int_equal(start_fake(world, &err), status);
    if (strncmp(err.message, wanted, strlen(wanted)) != 0)
        fail_msg("%s", err.message);
    assert_false(was_started(world));
    al_error_clear(&err);
    world_clear(world);
}

static void without_landlock_nothing_confined_runs(void **state)
{
    struct tmpdir *programs = tmpdir_new();
    al_auto(al_freep) char *program = tmpdir_path(programs, "server");
    struct world confined = world_new("legacy", "well"), open = world_new("legacy", "well");

    (void)state;
    add_program(programs, "server");
    set_command(&confined, program);
    set_command(&open, program);
    open.settings.confine = false;
    no_landlock = true;
    assert_int_equal(start_fake(&open, NULL), 0);
    assert_true(was_started(&open));
    assert_refused(&confined, AL_ERR_SANDBOX,
                   "MCP server 'fake': cannot be confined: this kernel has no Landlock; 'confine = "
                   "false' runs it all the same");
    no_landlock = false;
    world_clear(&open);
    tmpdir_free(programs);
}

static void programs_are_named_or_have_a_whole_path(void **state)
{
    static const struct {
        const char *command, *wanted;
    } rows[] = {
        { "bin/server", "MCP server 'fake': 'bin/server' is neither a name nor an absolute path" },
        { "./server", "MCP server 'fake': './server' is neither a name nor an absolute path" },
        { "no-such-server", "MCP server 'fake': there is no program 'no-such-server'" },
        { "/nonexistent/server", "MCP server 'fake': there is no program '/nonexistent/server'" },
        { "/etc/passwd", "MCP server 'fake': there is no program '/etc/passwd'" },
        { "/usr/bin", "MCP server 'fake': there is no program '/usr/bin'" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct world world = world_new("legacy", "well");

        set_command(&world, rows[i].command);
        assert_refused(&world, AL_ERR_EXECUTION, rows[i].wanted);
    }
}

static void a_name_is_looked_up_outside_the_roots(void **state)
{
    struct tmpdir *programs = tmpdir_new();
    struct world inside = world_new("legacy", "well"), outside = world_new("legacy", "well");
    al_auto(al_freep) char *with_root =
        al_asprintf("%s/bin:%s/bin:/usr/bin", inside.root->path, programs->path);

    (void)state;
    add_program(inside.root, "bin/only-in-root");
    add_program(programs, "bin/some-server");
    inside.settings.path_list = outside.settings.path_list = with_root;
    set_command(&outside, "some-server");
    assert_int_equal(start_fake(&outside, NULL), 0);
    assert_true(was_started(&outside));
    set_command(&inside, "only-in-root");
    assert_refused(&inside, AL_ERR_EXECUTION,
                   "MCP server 'fake': there is no program 'only-in-root'");
    world_clear(&outside);
    tmpdir_free(programs);
}

/* What a server at this place reads of the files around it. */
static void assert_reads(const char *place, const char *const *readable, const char *const * not )
{
    struct tmpdir *home = tmpdir_new();
    al_auto(al_freep) char *program = tmpdir_path(home, place);
    struct world world = world_new("legacy", "well");

    add_program(home, place);
    for (const char *const *file = readable; *file; file++)
        tmpdir_write(home, *file, "y");
    for (const char *const *file = not ; *file; file++)
        tmpdir_write(home, *file, "n");
    set_command(&world, program);
    assert_int_equal(start_fake(&world, NULL), 0);
    for (const char *const *file = readable; *file; file++) {
        al_auto(al_freep) char *arguments = al_asprintf("{\"path\":\"%s/%s\"}", home->path, *file);

        assert_gives(&world, "read", arguments, "y");
    }
    for (const char *const *file = not ; *file; file++) {
        al_auto(al_freep) char *arguments = al_asprintf("{\"path\":\"%s/%s\"}", home->path, *file);

        assert_gives(&world, "read", arguments, "PermissionError");
    }
    world_clear(&world);
    tmpdir_free(home);
}

static void a_program_brings_its_installation_and_no_home(void **state)
{
    static const char *const none[] = { NULL };
    static const char *const home[] = { ".ssh/id", "notes", "other/file", NULL };
    static const char *const installed[] = { "venv/bin/other", "venv/lib/module", "venv/pyvenv.cfg",
                                             NULL };
    static const char *const beside[] = { "venv/etc/secret", "venv/share/keys", "notes", NULL };
    static const char *const modules[] = { "p/node_modules/x/index.js", NULL };
    static const char *const project[] = { "p/secret", "notes", NULL };

    (void)state;
    assert_reads("server", none, home);
    assert_reads("tools/server", none, home);
    assert_reads(".bin/server", none, home);
    assert_reads("venv/bin/server", installed, beside);
    assert_reads("p/node_modules/.bin/server", modules, project);
}

/* A program in a root brings its installation, which an agent can replace by links. */
static void links_in_a_root_widen_nothing(void **state)
{
    struct tmpdir *home = tmpdir_new();
    struct world world = world_new("legacy", "well");
    al_auto(al_freep) char *program = tmpdir_path(world.root, "venv/bin/server");
    al_auto(al_freep) char *secret = tmpdir_path(home, "lib/secret");
    al_auto(al_freep) char *arguments = al_asprintf("{\"path\":\"%s\"}", secret);

    (void)state;
    add_program(world.root, "venv/bin/server");
    tmpdir_write(home, "lib/secret", "s");
    tmpdir_symlink(world.root, secret, "venv/pyvenv.cfg");
    tmpdir_symlink(world.root, home->path, "venv/lib");
    tmpdir_symlink(world.root, home->path, "allowed");
    al_strv_addf(&world.read, "%s/allowed", world.root->path);
    set_command(&world, program);
    assert_int_equal(start_fake(&world, NULL), 0);
    assert_gives(&world, "read", arguments, "PermissionError");
    world_clear(&world);
    tmpdir_free(home);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(links_in_a_root_widen_nothing),
        cmocka_unit_test(without_landlock_nothing_confined_runs),
        cmocka_unit_test(programs_are_named_or_have_a_whole_path),
        cmocka_unit_test(a_name_is_looked_up_outside_the_roots),
        cmocka_unit_test(a_program_brings_its_installation_and_no_home),
    };

    return cmocka_run_group_tests_name("upstream/profile", tests, set_up_proc, NULL);
}
