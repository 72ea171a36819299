// SPDX-License-Identifier: Apache-2.0
/* Files that go is told to write lie below the working directory, in every spelling of the option.
 */
#include <unistd.h>

#include "guard/root.h"
#include "tests/lib/assert.h"
#include "tests/lib/tmpdir.h"
#include "tools/shell/private.h"

static struct tmpdir *dir, *outside;
static struct al_root root;

static int setup(void **state)
{
    (void)state;
    dir = tmpdir_new();
    outside = tmpdir_new();
    tmpdir_mkdir(dir, "sub");
    tmpdir_write(dir, "meta/HEAD", "");
    tmpdir_write(dir, "meta/objects/x", "");
    tmpdir_write(dir, "meta/refs/x", "");
    tmpdir_write(dir, "meta/hooks/x", "");
    tmpdir_symlink(dir, outside->path, "out");
    tmpdir_symlink(dir, "../x", "up");
    tmpdir_symlink(dir, "sub", "in");
    tmpdir_symlink(dir, "sub/new", "new");
    root = (struct al_root){ .path = dir->path, .fd = dir->fd };
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    tmpdir_free(dir);
    tmpdir_free(outside);
    return 0;
}

/* Split at single blanks. */
static int check(const char *line)
{
    al_auto(al_strv_clear) struct al_strv words = AL_STRV_INIT;
    al_auto(al_freep) char *copy = al_strdup(line);
    char *at = copy;

    print_message("# %s\n", line);
    for (char *blank; (blank = strchr(at, ' ')); at = blank + 1) {
        *blank = '\0';
        al_strv_add(&words, at);
    }
    al_strv_add(&words, at);
    return al_shell_check_outputs(&root, &words, NULL);
}

static void every_option_and_every_spelling(void **state)
{
    static const char *const good[] = { "x",    "sub/x", "./x",       "sub/../x", "none/x",
                                        "in/x", "new",   "/dev/null", "..x",      "sub/" };
    static const char *const bad[] = { "../x", "sub/../../x", "none/../../x", "/tmp/x",
                                       "/",    "..",          "out",          "out/x",
                                       "up",   "meta/config", "meta/hooks/x", "/dev/null/../x" };
    static const char *const options[] = {
        "build -o",
        "build --o",
        "test -o",
        "test -coverprofile",
        "test -cpuprofile",
        "test -memprofile",
        "test -blockprofile",
        "test -mutexprofile",
        "test -trace",
        "test --trace",
        "test -outputdir",
        "test -test.trace",
        "test --test.cpuprofile",
        "mod vendor -o",
        "run -modfile",
        "build -pkgdir",
        "test . -args -test.outputdir",
    };

    (void)state;
    for (size_t i = 0; i < COUNT(options); i++) {
        for (size_t k = 0; k < COUNT(good) + COUNT(bad); k++) {
            const char *value = k < COUNT(good) ? good[k] : bad[k - COUNT(good)];
            al_auto(al_freep) char *apart = al_asprintf("go %s %s .", options[i], value);
            al_auto(al_freep) char *joined = al_asprintf("go %s=%s .", options[i], value);
            int wanted = k < COUNT(good) ? 0 : AL_ERR_SANDBOX;

            assert_int_equal(check(apart), wanted);
            assert_int_equal(check(joined), wanted);
        }
    }
}

static void an_absolute_name_may_lie_inside(void **state)
{
    al_auto(al_freep) char *inside = al_asprintf("go build -o %s/x", dir->path);
    al_auto(al_freep) char *itself = al_asprintf("go test -outputdir %s", dir->path);
    al_auto(al_freep) char *slash = al_asprintf("go test -outputdir=%s/", dir->path);
    al_auto(al_freep) char *climbs = al_asprintf("go build -o %s/../x", dir->path);
    al_auto(al_freep) char *beside = al_asprintf("go build -o %sx/y", dir->path);
    al_auto(al_freep) char *away = al_asprintf("go build -o=%s/x", outside->path);

    (void)state;
    assert_int_equal(check(inside), 0);
    assert_int_equal(check(itself), 0);
    assert_int_equal(check(slash), 0);
    assert_int_equal(check(climbs), AL_ERR_SANDBOX);
    assert_int_equal(check(beside), AL_ERR_SANDBOX);
    assert_int_equal(check(away), AL_ERR_SANDBOX);
}

static void options_inside_options(void **state)
{
    static const char *const bad[] = {
        "go build -ldflags=-o=../x",
        "go build -ldflags -o=../x",
        "go build -gcflags=all=-o=../x",
        "go build --gcflags=-N\t-cpuprofile=../x",
        "go build -asmflags='-o'\t'../x'",
        "go test -test.run=x -ldflags=-s\t-o\t/tmp/x",
        "go build -gcflags=./...=-asmhdr=../x",
    };
    static const char *const good[] = {
        "go build -ldflags=-s\t-w", "go build -gcflags=all=-N\t-l", "go build -ldflags -X=a=../x",
        "go build -ldflags=-o=x",   "go build -gcflags=",
    };

    (void)state;
    for (size_t i = 0; i < COUNT(bad); i++)
        assert_int_equal(check(bad[i]), AL_ERR_SANDBOX);
    for (size_t i = 0; i < COUNT(good); i++)
        assert_int_equal(check(good[i]), 0);
}

static void what_is_read_may_be_named(void **state)
{
    static const char *const good[] = { "go build ../x", "go test -run ../x",
                                        "go build -o",   "go mod edit -json go.mod",
                                        "go mod tidy",   "ls -o ../x",
                                        "grep -o ../x",  "go build -tags o ../x" };

    (void)state;
    for (size_t i = 0; i < COUNT(good); i++)
        assert_int_equal(check(good[i]), 0);
    assert_int_equal(check("go mod edit -json ../go.mod"), AL_ERR_SANDBOX);
    assert_int_equal(check("go mod edit out/go.mod"), AL_ERR_SANDBOX);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_option_and_every_spelling),
        cmocka_unit_test(an_absolute_name_may_lie_inside),
        cmocka_unit_test(options_inside_options),
        cmocka_unit_test(what_is_read_may_be_named),
    };

    return cmocka_run_group_tests_name("toolsets/outputs", tests, setup, teardown);
}
