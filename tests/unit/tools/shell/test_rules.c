// SPDX-License-Identifier: Apache-2.0
/* Each refused argument, and similar arguments that are accepted. */
#include "tools/shell/private.h"

#include "git/readonly/readonly_commands.h"
#include "tests/lib/assert.h"

static int check(const char *line)
{
    al_auto(al_strv_clear) struct al_strv words = AL_STRV_INIT;
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    int r;

    while (*line) {
        size_t len = strcspn(line, " ");

        al_strv_take(&words, al_strndup(line, len));
        line += len + strspn(line + len, " ");
    }
    r = al_shell_check_words(&words, &err);
    assert_true(r == 0 || r == AL_ERR_SANDBOX);
    return r;
}

static const char *const refused[] = {
    "find . -exec x",
    "find . -execdir x",
    "find . -ok x",
    "find . -okdir x",
    "find . -delete",
    "find . -fprint x",
    "find . -fprint0 x",
    "find . -fprintf x y",
    "find . -fls x",
    "sort -o x",
    "sort -ox",
    "sort -ro x",
    "sort --output x",
    "sort --o=x",
    "sort --outpu=x",
    "sort --compress-program=x",
    "sort --comp x",
    "sort -T x",
    "sort --temporary-directory=x",
    "sed -i x",
    "sed -ni x",
    "sed -i.bak x",
    "sed --in-place x",
    "sed --in=.b x",
    "tree -o x",
    "rg --pre x",
    "rg --pre=x",
    "rg -z x",
    "rg --search-zip x",
    "rg --hostname-bin=x",
    "awk -i x",
    "awk --include=x",
    "awk -l x",
    "awk --load=x",
    "file -C x",
    "file --compile x",
    "xxd -r x",
    "go run -exec x",
    "go run -exec=x",
    "go run --exec=x",
    "go test -toolexec=x",
    "go test -vettool x",
    "go build -compiler=x",
    "go build -gccgoflags=x",
    "go build -overlay=x",
    "go build -modcacherw",
    "go build -C x",
    "go build -o .git/x",
    "go build -o=.GIT/x",
    "go",
    "go env",
    "go get x",
    "go generate",
    "go install",
    "go tool x",
    "date -s x",
    "date --set=x",
    "date --set x",
    "date --s=x",
    "date 01010000",
    "date -us x",
    "date -f x",
    "date -d x 01010000",
    "git",
    "git commit",
    "git -c a=b log",
    "git -C x log",
    "git log --output=x",
    "git log --outp=x",
    "git log --ext-diff",
    "git diff --no-index",
    "git show --textconv",
    "git log --show-signature",
    "git diff -Ox",
    "git log -Onone",
    "git status --sho",
    "git log --onelin",
    "git diff --submodule=diff",
    "git log --help",
    "git --no-pager",
    "git --no-pager commit",
    "git log -x",
    "git status -p",
};

static void refuses(void **state)
{

    (void)state;
    for (size_t i = 0; i < COUNT(refused); i++) {
        print_message("# %s\n", refused[i]);
        assert_int_equal(check(refused[i]), AL_ERR_SANDBOX);
    }
}

static const char *const fine[] = {
    "find . -name exec",
    "find . -executable",
    "find . -print0",
    "find -newer a",
    "ls -o",
    "grep -o x",
    "sort -k2,2n -u",
    "sort -to a",
    "sort -- o",
    "sort x-o",
    "sed -n p",
    "sed -e s/i/o/",
    "awk -F: {print}",
    "head -n 1",
    "tail -c 3",
    "wc -l",
    "cat -A",
    "echo -s",
    "go run .",
    "go build -o x",
    "go test ./...",
    "go mod tidy",
    "go run . exec",
    "go test -executable",
    "date",
    "date +%s",
    "date -u",
    "date -d x",
    "date --date=x",
    "date -r x",
    "date -ud x +%F",
    "date -Is",
    "date -Iseconds",
    "date --rfc-3339=date",
    "git log",
    "git --no-pager log",
    "git log -5",
    "git log -n 5",
    "git log -n5",
    "git log --oneline --graph",
    "git log -p --stat",
    "git log -S x",
    "git log -Sx",
    "git log -L 1,2:a",
    "git log HEAD -- --output=x",
    "git diff --cached -U3",
    "git diff -M90%",
    "git diff a b",
    "git show HEAD:a",
    "git status -s -b",
    "git status -uno",
    "git status --porcelain=v2",
    "git log --format=%H -",
};

static void lets_through(void **state)
{

    (void)state;
    for (size_t i = 0; i < COUNT(fine); i++) {
        print_message("# %s\n", fine[i]);
        assert_int_equal(check(fine[i]), 0);
    }
}

static void knows_kinds(void **state)
{
    (void)state;
    assert_int_equal(al_shell_kind_of("echo"), AL_SHELL_ECHO);
    assert_int_equal(al_shell_kind_of("pwd"), AL_SHELL_PWD);
    assert_int_equal(al_shell_kind_of("ls"), AL_SHELL_READER);
    assert_int_equal(al_shell_kind_of("git"), AL_SHELL_GIT);
    assert_int_equal(al_shell_kind_of("go"), AL_SHELL_GO);
    assert_int_equal(al_shell_kind_of("make"), AL_SHELL_OTHER);
}

/* The lists of the rules have spaces between their words. */
static void a_word_with_a_space_is_in_no_list(void **state)
{
    static const char *const rows[][3] = { { "go", "build test", "" },
                                           { "date", "-u --utc", "" },
                                           { "git", "log show", "" },
                                           { "git", "log", "--oneline --graph" } };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        al_auto(al_strv_clear) struct al_strv words = AL_STRV_INIT;

        al_strv_adds(&words, rows[i][0], rows[i][1], *rows[i][2] ? rows[i][2] : NULL, NULL);
        assert_int_equal(al_shell_check_words(&words, NULL), AL_ERR_SANDBOX);
    }
    assert_int_equal(al_shell_kind_of("cat grep"), AL_SHELL_OTHER);
}

static void a_whitelist_is_exact(void **state)
{
    al_auto(al_strv_clear) struct al_strv list = AL_STRV_INIT;
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;

    (void)state;
    al_strv_adds(&list, "ls", "cat", NULL);
    assert_int_equal(al_shell_check_command(&list, "ls", &err), 0);
    assert_int_equal(al_shell_check_command(&list, "l", &err), AL_ERR_SANDBOX);
    assert_int_equal(al_shell_check_command(&list, "LS", &err), AL_ERR_SANDBOX);
    assert_int_equal(al_shell_check_command(&list, "/bin/ls", &err), AL_ERR_SANDBOX);
    assert_int_equal(al_shell_check_command(&list, "rm", &err), AL_ERR_SANDBOX);
    assert_string_equal(err.message, "Command 'rm' not in whitelist");
}

static void git_gets_what_it_must(void **state)
{
    al_auto(al_strv_clear) struct al_strv given = AL_STRV_INIT;
    al_auto(al_strv_clear) struct al_strv argv = AL_STRV_INIT;

    (void)state;
    al_strv_adds(&given, "git", "--no-pager", "log", "-p", "--", "a", NULL);
    al_git_pipeline_words(&given, &argv);
    assert_string_equal(argv.items[2], "log");
    assert_true(al_strv_contains(&argv, "--no-ext-diff"));
    assert_true(al_strv_contains(&argv, "--no-textconv"));
    assert_true(al_strv_contains(&argv, "--no-show-signature"));
    assert_string_equal(argv.items[argv.count - 3], "-p");
    assert_string_equal(argv.items[argv.count - 1], "a");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses),
        cmocka_unit_test(lets_through),
        cmocka_unit_test(knows_kinds),
        cmocka_unit_test(a_word_with_a_space_is_in_no_list),
        cmocka_unit_test(a_whitelist_is_exact),
        cmocka_unit_test(git_gets_what_it_must),
    };

    return cmocka_run_group_tests_name("toolsets/rules", tests, NULL, NULL);
}
