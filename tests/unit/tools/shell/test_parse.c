// SPDX-License-Identifier: Apache-2.0
/* The parser's words are those of bash. */
#include "guard/text.h"
#include "tools/shell/private.h"

#include "tests/lib/assert.h"

/* A parsed line as text: "a|b c", with '<', '>' and the like before the names of files. */
static char *shape(const char *command)
{
    al_auto(al_shell_plan_clear) struct al_shell_plan line = { .nsteps = 0 };
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    struct al_str out = AL_STR_INIT;

    if (al_shell_parse(command, &line, &err) < 0) {
        assert_int_equal(err.status, AL_ERR_BAD_ARGS);
        assert_int_equal(line.nsteps, 0);
        al_str_addf(&out, "! %s", err.message);
        return al_str_detach(&out);
    }
    for (size_t i = 0; i < line.nsteps; i++) {
        const struct al_shell_step *step = &line.steps[i];

        al_str_adds(&out, i ? " | " : "");
        for (size_t k = 0; k < step->given.count; k++) {
            al_str_addf(&out, "[%s]", step->given.items[k]);
            if (*step->patterns.items[k])
                al_str_addf(&out, "~%s", step->patterns.items[k]);
        }
        if (step->files[0])
            al_str_addf(&out, "<%s", step->files[0]);
        if (step->files[1])
            al_str_addf(&out, "%s%s", step->appends[1] ? ">>" : ">", step->files[1]);
        if (step->files[2])
            al_str_addf(&out, "%s%s", step->appends[2] ? "2>>" : "2>", step->files[2]);
        if (step->join)
            al_str_adds(&out, "2>&1");
    }
    return al_str_detach(&out);
}

static void understands(void **state)
{
    static const char *const cases[][2] = {
        { "ls", "[ls]" },
        { "  ls\t-l  ", "[ls][-l]" },
        { "a 'b c' \"d e\" f\\ g", "[a][b c][d e][f g]" },
        { "a'b'\"c\"d", "[abcd]" },
        { "a '' \"\"", "[a][][]" },
        { "a '\"' \"'\" '\\'", "[a][\"]['][\\]" },
        { "a \"\\a\\\\\\\"\\$\\`\"", "[a][\\a\\\"$`]" },
        { "a $ b$ $% \"$\" \"$'\"", "[a][$][b$][$%][$][$']" },
        { "a|b | c", "[a] | [b] | [c]" },
        { "a *.c '*' \\* [a-b]", "[a][*.c]~*.c[*][*][[a-b]]~[a-b]" },
        { "a *'*'?\"[\"", "[a][**?[]~*\\*?\\[" },
        { "a <b >c 2>d", "[a]<b>c2>d" },
        { "a >> b 2>> c", "[a]>>b2>>c" },
        { "a 1>b 0<c", "[a]<c>b" },
        { ">b a c", "[a][c]>b" },
        { "a >b 2>&1 | c", "[a]>b2>&1 | [c]" },
        { "a 2 >b", "[a][2]>b" },
        { "a x2>b", "[a][x2]>b" },
        { "a '2'>b", "[a][2]>b" },
        { "a b#c d~e HEAD~1 {} {x} x{y", "[a][b#c][d~e][HEAD~1][{}][{x}][x{y]" },
        { "a HEAD@{1} !", "[a][HEAD@{1}][!]" },
        { "a >'b c'", "[a]>b c" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        al_auto(al_freep) char *got = shape(cases[i][0]);

        print_message("# %s\n", cases[i][0]);
        assert_string_equal(got, cases[i][1]);
    }
}

static void refuses_by_name(void **state)
{
    static const char *const cases[][2] = {
        { "", "A command is missing" },
        { "a |", "A command is missing beside '|'" },
        { "| a", "A command is missing beside '|'" },
        { "a && b", "'&&' is not allowed" },
        { "a || b", "'||' is not allowed" },
        { "a |& b", "'|&' is not allowed" },
        { "a & b", "'&' is not allowed" },
        { "a; b", "';' is not allowed" },
        { "a\nb", "A newline is not allowed" },
        { "a 'b\nc'", "A newline is not allowed" },
        { "a\rb", "A control character is not allowed" },
        { "a `b`", "'`' (command substitution) is not allowed" },
        { "a \"`b`\"", "'`' (command substitution) is not allowed" },
        { "a $b", "'$' (a variable) is not allowed" },
        { "a \"$b\"", "'$' (a variable) is not allowed" },
        { "a $(b)", "'$' (an expansion) is not allowed" },
        { "a $'b'", "'$' before a quote is not allowed" },
        { "a (b)", "'(' (subshell) is not allowed" },
        { "a <<b", "'<<' (here-document) is not allowed" },
        { "a <<<b", "'<<<' (here-string) is not allowed" },
        { "a <(b)", "'<(' (process substitution) is not allowed" },
        { "a >(b)", "'>(' (process substitution) is not allowed" },
        { "a >| b", "'>|' is not allowed" },
        { "a <> b", "'<>' is not allowed" },
        { "a >&b", "'>&' is not allowed" },
        { "a 1>&2", "'>&' is not allowed" },
        { "a 2>&1b", "'>&' is not allowed" },
        { "a 3>b", "Such a descriptor is not allowed" },
        { "a 22>b", "Such a descriptor is not allowed" },
        { "a 1<b", "Such a descriptor is not allowed" },
        { "a {b}>c", "'{' before a redirect is not allowed" },
        { "a >b >c", "A stream is redirected twice" },
        { "a 2>b 2>&1", "A stream is redirected twice" },
        { "a 2>&1 2>b", "A stream is redirected twice" },
        { "a 2>&1 >b", "A redirect of the output behind 2>&1 is not allowed" },
        { "a >*", "A pattern after a redirect is not allowed" },
        { "a >", "A redirect needs the name of a file" },
        { "a > | b", "A redirect needs the name of a file" },
        { "a ~", "'~' (a home directory) is not allowed" },
        { "a b=~", "'~' (a home directory) is not allowed" },
        { "a b:~", "'~' (a home directory) is not allowed" },
        { "a #b", "'#' (a comment) is not allowed" },
        { "a {b,c}", "'{' (brace expansion) is not allowed" },
        { "a {1..2}", "'{' (brace expansion) is not allowed" },
        { "a {\"b c\",d}", "'{' (brace expansion) is not allowed" },
        { "a 'b", "A quote ' is not closed" },
        { "a \"b", "A quote \" is not closed" },
        { "a \\", "'\\' at the end is not allowed" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        al_auto(al_freep) char *got = shape(cases[i][0]);
        al_auto(al_freep) char *want = al_asprintf("! %s", cases[i][1]);

        print_message("# %s: %s\n", cases[i][0], got);
        assert_true(al_starts_with(got, want));
    }
}

static void counts(void **state)
{
    (void)state;
    for (size_t stages = AL_SHELL_STAGES_MAX - 1; stages <= AL_SHELL_STAGES_MAX + 1; stages++) {
        al_auto(al_str_clear) struct al_str line = AL_STR_INIT;
        al_auto(al_freep) char *got = NULL;

        for (size_t i = 0; i < stages; i++)
            al_str_adds(&line, i ? "|a" : "a");
        got = shape(line.buf);
        assert_int_equal(got[0] != '!', stages <= AL_SHELL_STAGES_MAX);
    }
    for (size_t words = AL_SHELL_WORDS_MAX - 1; words <= AL_SHELL_WORDS_MAX + 1; words++) {
        al_auto(al_str_clear) struct al_str line = AL_STR_INIT;
        al_auto(al_freep) char *got = NULL;

        for (size_t i = 0; i < words; i++)
            al_str_adds(&line, "a ");
        got = shape(line.buf);
        assert_int_equal(got[0] != '!', words <= AL_SHELL_WORDS_MAX);
    }
}

static void quotes_what_it_reads(void **state)
{
    static const char *const words[] = { "", "a", "a b", "it's", "''", "$x `y` \\ \" * ~ {a,b}" };

    (void)state;
    for (size_t i = 0; i < COUNT(words); i++) {
        al_auto(al_str_clear) struct al_str line = AL_STR_INIT;
        al_auto(al_freep) char *got = NULL;
        al_auto(al_freep) char *want = al_asprintf("[a][%s]", words[i]);

        al_str_adds(&line, "a ");
        al_text_add_quoted(words[i], &line);
        got = shape(line.buf);
        assert_string_equal(got, want);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(understands),
        cmocka_unit_test(refuses_by_name),
        cmocka_unit_test(counts),
        cmocka_unit_test(quotes_what_it_reads),
    };

    return cmocka_run_group_tests_name("toolsets/parse", tests, NULL, NULL);
}
