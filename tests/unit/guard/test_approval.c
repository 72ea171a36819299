// SPDX-License-Identifier: Apache-2.0
/* guard/approval.h: "always" covers one tool, operation and repository, from every thread;
 * the heading of a question; the reason of an answer. */
#include "guard/approval.h"

#include <pthread.h>

#include "base/str.h"
#include "tests/lib/assert.h"

static void always_covers_exactly_what_was_answered(void **state)
{
    struct al_approvals *approvals = al_approvals_new(NULL);

    (void)state;
    assert_false(al_approvals_has(approvals, "git_add", "add", "/r"));
    al_approvals_remember(approvals, "git_add", "add", "/r");
    al_approvals_remember(approvals, "git_add", "add", "/r");
    assert_true(al_approvals_has(approvals, "git_add", "add", "/r"));
    assert_false(al_approvals_has(approvals, "git_add", "add", "/r2"));
    assert_false(al_approvals_has(approvals, "git_add", "add", "/"));
    assert_false(al_approvals_has(approvals, "git_add", "remove", "/r"));
    assert_false(al_approvals_has(approvals, "git_commit", "add", "/r"));
    assert_false(al_approvals_has(approvals, "git_ad", "dadd", "/r"));
    assert_false(al_approvals_has(approvals, "", "", ""));
    al_approvals_free(approvals);
    al_approvals_free(NULL);
}

static void *remember_many(void *payload)
{
    for (int i = 0; i < 50; i++) {
        al_auto(al_freep) char *repository = al_asprintf("/r%d", i);

        al_approvals_remember(payload, "tool", "op", repository);
        if (!al_approvals_has(payload, "tool", "op", repository))
            return payload;
    }
    return NULL;
}

static void threads_share_the_answers(void **state)
{
    struct al_approvals *approvals = al_approvals_new(NULL);
    pthread_t threads[4];

    (void)state;
    for (size_t i = 0; i < COUNT(threads); i++)
        assert_int_equal(pthread_create(&threads[i], NULL, remember_many, approvals), 0);
    for (size_t i = 0; i < COUNT(threads); i++) {
        void *missed = NULL;

        assert_int_equal(pthread_join(threads[i], &missed), 0);
        assert_null(missed);
    }
    assert_true(al_approvals_has(approvals, "tool", "op", "/r49"));
    assert_false(al_approvals_has(approvals, "tool", "op", "/r50"));
    al_approvals_free(approvals);
}

static struct al_approval_request about(const char *summary)
{
    return (struct al_approval_request){ .tool = "git_add",
                                         .operation = "add",
                                         .summary = summary,
                                         .detail = "",
                                         .repository = "/src/pro\nject\033[2J",
                                         .risk = "low",
                                         .state = "" };
}

static void a_question_begins_with_what_and_where(void **state)
{
    struct al_approval_request request = about("Stage 1 file(s): a.txt");
    al_auto(al_str_clear) struct al_str out = AL_STR_INIT;

    (void)state;
    al_approval_add_heading(&request, &out);
    assert_string_equal(out.buf, "Stage 1 file(s): a.txt\n"
                                 "In /src/pro<U+000A>ject<U+001B>[2J, by git_add (add)\n");
    al_str_reset(&out);
    al_approval_add_full_summary(&request, &out);
    assert_int_equal(out.len, 0);
    request.always_covers = "every add";
    al_approval_add_heading(&request, &out);
    assert_non_null(strstr(out.buf, "(add)\n\"always\" covers every add\n"));
}

static void a_long_summary_is_cut_and_follows_whole(void **state)
{
    static const char *const units[] = { "x", "\303\251" };

    (void)state;
    for (size_t i = 0; i < COUNT(units); i++) {
        for (size_t count = 199; count <= 202; count++) {
            al_auto(al_str_clear) struct al_str summary = AL_STR_INIT;
            al_auto(al_str_clear) struct al_str out = AL_STR_INIT;
            al_auto(al_str_clear) struct al_str rest = AL_STR_INIT;
            const bool cut = count > AL_APPROVAL_SUMMARY_MAX;

            for (size_t n = 0; n < count; n++)
                al_str_adds(&summary, units[i]);
            const struct al_approval_request request = about(summary.buf);
            al_approval_add_heading(&request, &out);
            al_approval_add_full_summary(&request, &rest);
            assert_int_equal(strcspn(out.buf, "\n"),
                             cut ? 200 * strlen(units[i]) + 3 : summary.len);
            assert_true((strstr(out.buf, "...\n") != NULL) == cut);
            assert_true((rest.len > 0) == cut);
            assert_true(!cut || strstr(rest.buf, summary.buf));
        }
    }
}

static void a_reason_is_one_safe_line(void **state)
{
    static const struct {
        const char *given, *kept;
    } rows[] = {
        { "no", "no" },
        { "  not\non\tmain \r\n", "not on main" },
        { "a\033[2Jb\007", "ab" },
        { "\342\200\256no", "<U+202E>no" },
        { "", NULL },
        { " \t\n", NULL },
    };
    al_auto(al_approval_answer_clear) struct al_approval_answer answer = AL_APPROVAL_ANSWER_INIT;
    al_auto(al_str_clear) struct al_str words = AL_STR_INIT;

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        al_approval_answer_set_reason(&answer, rows[i].given);
        assert_true((answer.reason != NULL) == (rows[i].kept != NULL));
        if (rows[i].kept)
            assert_string_equal(answer.reason, rows[i].kept);
    }
    for (size_t n = 0; n < 2 * AL_APPROVAL_REASON_MAX; n++)
        al_str_adds(&words, "\303\251");
    al_approval_answer_set_reason(&answer, words.buf);
    assert_int_equal(strlen(answer.reason), 2 * AL_APPROVAL_REASON_MAX);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(always_covers_exactly_what_was_answered),
        cmocka_unit_test(threads_share_the_answers),
        cmocka_unit_test(a_question_begins_with_what_and_where),
        cmocka_unit_test(a_long_summary_is_cut_and_follows_whole),
        cmocka_unit_test(a_reason_is_one_safe_line),
    };

    return cmocka_run_group_tests_name("guard/approval", tests, NULL, NULL);
}
