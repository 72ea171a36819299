// SPDX-License-Identifier: Apache-2.0
/* cli/config/tokens.h: what a token file may say, whose it has to be, and who is found in it. */
#include "cli/config/tokens.h"

#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/cli/config/lib.h"

#define T31 "0123456789abcdef0123456789abcde"
#define T32 "0123456789abcdef0123456789abcdef"
#define U32 "fedcba9876543210fedcba9876543210"

static struct al_grants grants;

static int setup_grants(void **state)
{
    (void)state;
    (void)al_grants_add(&grants, "reader");
    (void)al_grants_add(&grants, "writer");
    return 0;
}

static int clear_grants(void **state)
{
    (void)state;
    al_grants_clear(&grants);
    return 0;
}

static int parse(const char *text, size_t len, struct al_tokens *tokens, struct al_error *err)
{
    al_auto(al_str_clear) struct al_str copy = AL_STR_INIT;

    print_message("# %s\n", text);
    al_str_add(&copy, text, len);
    return al_tokens_parse("tokens", &copy, &grants, tokens, err);
}

static void reads_tokens_with_grants_and_agents(void **state)
{
    static const char text[] = "# who may come in\n"
                               "\n" T32 "\n"
                               "  \t" U32 "  reader # a comment\r\n"
                               "a" T32 "\twriter\tbot-1\t#\n"
                               "#" T32 "x nobody\n"
                               "b" T32 " reader \xc3\xa9t\xc3\xa9";
    al_auto(al_tokens_clear) struct al_tokens tokens = AL_TOKENS_INIT;
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    const struct al_token *token;

    (void)state;
    assert_int_equal(parse(text, sizeof(text) - 1, &tokens, &err), 0);
    assert_int_equal(tokens.count, 4);
    token = al_tokens_find(&tokens, T32, 32);
    assert_int_equal(token->line, 3);
    assert_null(token->grant);
    assert_null(token->agent);
    token = al_tokens_find(&tokens, U32, 32);
    assert_int_equal(token->line, 4);
    assert_string_equal(token->grant, "reader");
    assert_null(token->agent);
    token = al_tokens_find(&tokens, "a" T32, 33);
    assert_string_equal(token->grant, "writer");
    assert_string_equal(token->agent, "bot-1");
    token = al_tokens_find(&tokens, "b" T32, 33);
    assert_int_equal(token->line, 7);
    assert_string_equal(token->agent, "\xc3\xa9t\xc3\xa9");
}

static void refuses_what_is_wrong_and_prints_no_word_of_it(void **state)
{
    static const struct {
        const char *text, *why;
    } facts[] = {
        { "", "tokens: there is no token; a line is TOKEN [GRANT [AGENT]]" },
        { "# only a comment\n\n \t\n",
          "tokens: there is no token; a line is TOKEN [GRANT [AGENT]]" },
        { "#" T32 "\n", "tokens: there is no token; a line is TOKEN [GRANT [AGENT]]" },
        { T31 "\n",
          "tokens:1: a token has at least 32 characters; make one with: openssl rand -hex 32" },
        { "secretword",
          "tokens:1: a token has at least 32 characters; make one with: openssl rand -hex 32" },
        { T32 "\n" U32 "\n" T32 " reader\n", "tokens:3: the token of line 1 again" },
        { T32 " secretword\n",
          "tokens:1: the second word is no grant of the configuration, which has reader, writer" },
        { "reader " T32 "\n", "tokens:1: a token has at least 32 characters, and comes first: "
                              "TOKEN [GRANT [AGENT]]; make "
                              "one with: openssl rand -hex 32" },
        { "#\n" T32 " " U32 "\n",
          "tokens:2: the second word is no grant of the configuration, which has reader, writer" },
        { T32 " Reader\n",
          "tokens:1: the second word is no grant of the configuration, which has reader, writer" },
        { T32 " reader a b\n",
          "tokens:1: there are more than three words; a line is TOKEN [GRANT [AGENT]]" },
        { T32 " reader a " U32 " d e f\n",
          "tokens:1: there are more than three words; a line is TOKEN [GRANT [AGENT]]" },
        { T32 " reader \xe2\x80\xae"
              "bot\n",
          "tokens:1: the third word, the agent's name, must be 1 to 64 bytes of visible characters "
          "on one line" },
        { T32 " reader 12345678901234567890123456789012345678901234567890123456789012345\n",
          "tokens:1: the third word, the agent's name, must be 1 to 64 bytes of visible characters "
          "on one line" },
        { "\xc3\xa9" T32 "\n", "tokens:1: a token consists of visible ASCII characters" },
        { T32 "\x7f\n", "tokens:1: a token consists of visible ASCII characters" },
        { T32 "\x0b"
              "reader\n",
          "tokens:1: a token consists of visible ASCII characters" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(facts); i++) {
        struct al_tokens tokens = { .count = 77 };
        al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;

        assert_int_equal(parse(facts[i].text, strlen(facts[i].text), &tokens, &err),
                         AL_ERR_BAD_ARGS);
        assert_string_equal(err.message, facts[i].why);
        assert_null(strstr(err.message, "secretword"));
        assert_int_equal(tokens.count, 77);
    }
}

static void refuses_a_nul(void **state)
{
    static const char text[] = T32 "\0 reader\n";
    struct al_tokens tokens = AL_TOKENS_INIT;
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;

    (void)state;
    assert_int_equal(parse(text, sizeof(text) - 1, &tokens, &err), AL_ERR_BAD_ARGS);
    assert_string_equal(err.message, "tokens:1: the line contains a NUL");
}

static void without_grants_none_can_be_named(void **state)
{
    static const struct al_grants no_grants = { .items = NULL };
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    struct al_tokens tokens = AL_TOKENS_INIT;
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;

    (void)state;
    al_str_adds(&text, T32 " reader\n");
    assert_int_equal(al_tokens_parse("a\nb", &text, &no_grants, &tokens, &err), AL_ERR_BAD_ARGS);
    assert_string_equal(err.message, "a<U+000A>b:1: the second word is no grant of the "
                                     "configuration, which has none");
}

static void bounds_the_length_of_a_token(void **state)
{
    (void)state;
    for (size_t len = AL_TOKEN_MAX_BYTES - 1; len <= AL_TOKEN_MAX_BYTES + 1; len++) {
        al_auto(al_tokens_clear) struct al_tokens tokens = AL_TOKENS_INIT;
        al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
        al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
        bool fits = len <= AL_TOKEN_MAX_BYTES;

        while (text.len < len)
            al_str_addc(&text, 't');
        assert_int_equal(al_tokens_parse("tokens", &text, &grants, &tokens, &err),
                         fits ? 0 : AL_ERR_BAD_ARGS);
        assert_int_equal(al_tokens_find(&tokens, text.buf, len) != NULL, fits);
    }
}

static void bounds_the_number_of_tokens(void **state)
{
    (void)state;
    for (unsigned count = AL_TOKENS_MAX - 1; count <= AL_TOKENS_MAX + 1; count++) {
        al_auto(al_tokens_clear) struct al_tokens tokens = AL_TOKENS_INIT;
        al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
        al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
        bool fits = count <= AL_TOKENS_MAX;

        for (unsigned i = 0; i < count; i++)
            al_str_addf(&text, "%032u\n", i);
        assert_int_equal(al_tokens_parse("tokens", &text, &grants, &tokens, &err),
                         fits ? 0 : AL_ERR_BAD_ARGS);
        assert_int_equal(tokens.count, fits ? count : 0);
    }
}

static void finds_each_token_and_no_other(void **state)
{
    al_auto(al_tokens_clear) struct al_tokens tokens = AL_TOKENS_INIT;
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    static const char text[] = T32 "\n" U32 "\nx" T32 "\n";

    (void)state;
    assert_int_equal(parse(text, sizeof(text) - 1, &tokens, &err), 0);
    assert_ptr_equal(al_tokens_find(&tokens, T32, 32), &tokens.items[0]);
    assert_ptr_equal(al_tokens_find(&tokens, U32, 32), &tokens.items[1]);
    assert_ptr_equal(al_tokens_find(&tokens, "x" T32, 33), &tokens.items[2]);
    assert_null(al_tokens_find(&tokens, T32, 31));
    assert_null(al_tokens_find(&tokens, T32 "x", 33));
    assert_null(al_tokens_find(&tokens, "0123456789ABCDEF0123456789abcdef", 32));
    assert_null(al_tokens_find(&tokens, "", 0));
    assert_null(al_tokens_find(&tokens, T32 "\n" U32, 65));
}

static void makes_tokens_that_differ(void **state)
{
    al_auto(al_tokens_clear) struct al_tokens tokens = AL_TOKENS_INIT;
    al_auto(al_str_clear) struct al_str one = AL_STR_INIT;
    al_auto(al_str_clear) struct al_str two = AL_STR_INIT;

    (void)state;
    al_tokens_make(&tokens, &one);
    al_tokens_make(&tokens, &two);
    assert_int_equal(one.len, 64);
    assert_int_equal(strspn(one.buf, "0123456789abcdef"), 64);
    assert_string_not_equal(one.buf, two.buf);
    assert_ptr_equal(al_tokens_find(&tokens, one.buf, one.len), &tokens.items[0]);
    assert_ptr_equal(al_tokens_find(&tokens, two.buf, two.len), &tokens.items[1]);
    assert_null(tokens.items[0].grant);
}

static int read_file(const char *path, struct al_error *err)
{
    al_auto(al_tokens_clear) struct al_tokens tokens = AL_TOKENS_INIT;

    return al_tokens_read(path, &grants, &tokens, err);
}

static void the_file_is_the_users_alone(void **state)
{
    static const struct {
        mode_t mode;
        bool is_private;
    } facts[] = {
        { 0600, true },  { 0400, true },  { 0700, true },  { 0640, false },
        { 0604, false }, { 0620, false }, { 0602, false }, { 0610, false },
        { 0601, false }, { 0644, false }, { 0666, false },
    };
    al_auto(al_freep) char *path = tmpdir_path(*state, "tokens");
    al_auto(al_freep) char *link = tmpdir_path(*state, "link");

    tmpdir_write(*state, "tokens", T32 "\n");
    tmpdir_symlink(*state, "tokens", "link");
    for (size_t i = 0; i < COUNT(facts); i++) {
        al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
        al_auto(al_freep) char *why =
            al_asprintf("%s: other users have rights to the token file (mode %04o); chmod 600 it, "
                        "and make new tokens if somebody may have read them",
                        path, (unsigned)facts[i].mode);

        assert_int_equal(chmod(path, facts[i].mode), 0);
        assert_int_equal(read_file(path, &err), facts[i].is_private ? 0 : AL_ERR_BAD_ARGS);
        if (!facts[i].is_private)
            assert_string_equal(err.message, why);
        assert_int_equal(read_file(link, NULL), facts[i].is_private ? 0 : AL_ERR_BAD_ARGS);
    }
}

static void another_users_file_is_refused(void **state)
{
    al_auto(al_freep) char *path = tmpdir_path(*state, "tokens");
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;

    tmpdir_write(*state, "tokens", T32 "\n");
    assert_int_equal(chmod(path, 0600), 0);
    if (chown(path, 65534, (gid_t)-1) < 0)
        skip(); /* only root can give files away */
    assert_int_equal(read_file(path, &err), AL_ERR_BAD_ARGS);
    assert_non_null(strstr(err.message, ": the token file belongs to another user"));
}

static void only_a_regular_file_of_some_size_is_read(void **state)
{
    al_auto(al_freep) char *path = tmpdir_path(*state, "tokens");
    al_auto(al_freep) char *missing = tmpdir_path(*state, "missing");
    al_auto(al_freep) char *fifo = tmpdir_path(*state, "fifo");
    const struct tmpdir *dir = *state;

    assert_int_equal(read_file(missing, NULL), AL_ERR_BAD_ARGS);
    assert_int_equal(read_file(dir->path, NULL), AL_ERR_BAD_ARGS);
    assert_int_equal(mkfifo(fifo, 0600), 0);
    assert_int_equal(read_file(fifo, NULL), AL_ERR_BAD_ARGS);
    tmpdir_write(*state, "tokens", T32 "\n");
    assert_int_equal(chmod(path, 0600), 0);
    for (off_t size = AL_TOKEN_FILE_MAX - 1; size <= AL_TOKEN_FILE_MAX + 1; size++) {
        al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;

        assert_int_equal(truncate(path, size), 0); /* NULs behind the token */
        assert_int_equal(read_file(path, &err), AL_ERR_BAD_ARGS);
        assert_int_equal(strstr(err.message, "larger than") != NULL, size > AL_TOKEN_FILE_MAX);
    }
}

#define FILE_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_tokens_with_grants_and_agents),
        cmocka_unit_test(refuses_what_is_wrong_and_prints_no_word_of_it),
        cmocka_unit_test(refuses_a_nul),
        cmocka_unit_test(without_grants_none_can_be_named),
        cmocka_unit_test(bounds_the_length_of_a_token),
        cmocka_unit_test(bounds_the_number_of_tokens),
        cmocka_unit_test(finds_each_token_and_no_other),
        cmocka_unit_test(makes_tokens_that_differ),
        FILE_TEST(the_file_is_the_users_alone),
        FILE_TEST(another_users_file_is_refused),
        FILE_TEST(only_a_regular_file_of_some_size_is_read),
    };

    return cmocka_run_group_tests_name("config/tokens", tests, setup_grants, clear_grants);
}
