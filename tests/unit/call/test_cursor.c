// SPDX-License-Identifier: Apache-2.0
/* answer/cursor.c: what an owner's cursors may hold, and whose are forgotten. */
#include "call/answer.h"

#include "tests/lib/assert.h"

#define OWNER_BYTES_MAX ((size_t)4 << 20)

/* The call that a cursor is made by. */
static struct al_session sessions[2] = { { .number = 1, .owner = 1 }, { .number = 2, .owner = 2 } };
static struct al_session *session;
static json_t *arguments;

const json_t *__wrap_al_call_arguments(const struct al_call *call);
const struct al_session *__wrap_al_call_session(const struct al_call *call);
const struct al_tool *__wrap_al_call_tool(const struct al_call *call);

const json_t *__wrap_al_call_arguments(const struct al_call *call)
{
    (void)call;
    return arguments;
}

const struct al_session *__wrap_al_call_session(const struct al_call *call)
{
    (void)call;
    return session;
}

const struct al_tool *__wrap_al_call_tool(const struct al_call *call)
{
    (void)call;
    return NULL;
}

/* Make a cursor whose arguments take so many bytes. */
static char *make(size_t owner, size_t bytes)
{
    const size_t len = bytes - 2 * AL_JSON_VALUE_BYTES - 1;
    al_auto(al_freep) char *text = al_calloc(1, len + 1);
    struct al_str word = AL_STR_INIT;

    memset(text, 'x', len);
    arguments = al_json_object();
    al_json_set(arguments, "a", al_json_string(text));
    assert_int_equal(al_json_bytes(arguments), bytes);
    session = &sessions[owner];
    al_cursor_add(NULL, &(struct al_cursor_place){ .unit = 1 }, &word);
    json_decref(arguments);
    return al_str_detach(&word);
}

static bool is_known(size_t owner, const char *word)
{
    struct al_cursor_place place;

    return al_cursor_find(&sessions[owner], word, &place, NULL) == 0;
}

static void the_oldest_goes_beyond_the_limit(void **state)
{
    (void)state;
    for (size_t bytes = OWNER_BYTES_MAX - 1; bytes <= OWNER_BYTES_MAX + 1; bytes++) {
        al_auto(al_freep) char *first = make(0, 1000);
        al_auto(al_freep) char *second = make(0, 2000);
        al_auto(al_freep) char *third = NULL;

        assert_true(is_known(0, first));
        third = make(0, bytes - 3000);
        assert_int_equal(is_known(0, first), bytes <= OWNER_BYTES_MAX);
        assert_true(is_known(0, second));
        assert_true(is_known(0, third));
        free(make(0, OWNER_BYTES_MAX)); /* for which all others go */
        assert_false(is_known(0, second));
        assert_false(is_known(0, third));
    }
}

static void the_newest_stays(void **state)
{
    al_auto(al_freep) char *large = NULL;

    (void)state;
    large = make(0, 2 * OWNER_BYTES_MAX);
    assert_true(is_known(0, large));
    free(make(0, 1000));
    assert_false(is_known(0, large));
}

static void another_owner_loses_nothing(void **state)
{
    al_auto(al_freep) char *other = make(1, 1000);

    (void)state;
    for (int i = 0; i < 10; i++)
        free(make(0, OWNER_BYTES_MAX));
    assert_true(is_known(1, other));
    assert_false(is_known(0, other));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_oldest_goes_beyond_the_limit),
        cmocka_unit_test(the_newest_stays),
        cmocka_unit_test(another_owner_loses_nothing),
    };

    return cmocka_run_group_tests_name("answer/cursor", tests, NULL, NULL);
}
