// SPDX-License-Identifier: Apache-2.0
/* staging/staged.h: finding, discarding and pushing staged commits, in one session and the next. */
#include "staging/store.h"
#include "tests/unit/staging/lib.h"

static int find(struct stager *s, const char *given)
{
    al_auto(al_staged_clear) struct al_staged found = { .id = "" };

    al_error_clear(&s->w->err);
    return al_staged_find(s->staging, given, BUDGET, &found, &s->w->err);
}

static void make(struct stager *s, const char *path, const char *message)
{
    put(s, path, message);
    stage(s, "/workspace", message);
}

static void is_found_by_a_unique_beginning(void **state)
{
    struct stager *s = *state;
    char id[AL_STAGED_ID_TEXT];

    make(s, "a", "one");
    for (size_t len = 0; len <= 36; len++) {
        (void)snprintf(id, sizeof(id), "%.*s", (int)len, s->last.id);
        assert_int_equal(find(s, id), len < 6 ? AL_ERR_EXECUTION : 0);
    }
    for (size_t i = 0; i < 36; i++)
        if (id[i] >= 'a' && id[i] <= 'f')
            id[i] = (char)(id[i] - 'a' + 'A');
    assert_int_equal(find(s, id), 0);
}

static void what_matches_nothing_is_not_found(void **state)
{
    static const char *const words[] = { "",     "abc",       "--help", "../../x",
                                         "HEAD", "zzzzzzzzz", "00000",  "ffffff%s%n" };
    struct stager *s = *state;

    make(s, "a", "one");
    for (size_t i = 0; i < COUNT(words); i++) {
        assert_int_equal(find(s, words[i]), AL_ERR_EXECUTION);
        assert_string_equal(s->w->err.reason, "not_found");
    }
}

/* Write a record under another id. */
static void copy_as(struct stager *s, const char *id)
{
    (void)snprintf(s->last.id, sizeof(s->last.id), "%s", id);
    must(s, al_staged_write(s->staging, &s->last, NULL, &s->w->err));
}

static void an_ambiguous_beginning_is_refused(void **state)
{
    struct stager *s = *state;

    make(s, "a", "one");
    copy_as(s, "abcdef00-0000-4000-8000-000000000000");
    copy_as(s, "abcdef10-0000-4000-8000-000000000000");
    assert_int_equal(find(s, "abcdef"), AL_ERR_EXECUTION);
    assert_string_equal(s->w->err.message,
                        "'abcdef' is the beginning of 2 staged commits; give more of its id");
    assert_int_equal(find(s, "abcdef0"), 0);
    assert_int_equal(find(s, "abcdef1"), 0);
    assert_int_equal(find(s, "abcdef2"), AL_ERR_EXECUTION);
}

static void are_listed_oldest_first_whatever_the_clock_says(void **state)
{
    struct stager *s = *state;

    make(s, "a", "one");
    s->last.order += INT64_C(3600) * 1000000000; /* made when the clock was an hour ahead */
    must(s, al_staged_write(s->staging, &s->last, NULL, &s->w->err));
    make(s, "a", "two");
    make(s, "a", "three");
    assert_staged(s, "one,two,three");
}

static void survive_the_session(void **state)
{
    struct stager *s = *state;
    struct al_staged found;

    make(s, "a", "one");
    make(s, "b", "two");
    open_session(s);
    assert_changes(s, "");
    assert_staged(s, "one,two");
    must(s, al_staged_find(s->staging, s->last.id, BUDGET, &found, &s->w->err));
    assert_string_equal(found.message, "two");
    assert_string_equal(found.files[0].path, "b");
    assert_string_equal(found.created_at, s->last.created_at);
    al_staged_clear(&found);
    /* The new sandbox knows nothing of the old one's files. */
    put(s, "a", "one");
    assert_changes(s, "+ a");
}

static void a_discarded_one_is_gone_and_its_files_are_changed_again(void **state)
{
    struct stager *s = *state;
    al_auto(al_freep) char *refs = NULL;

    pull(s, "a", 0100644, "zero");
    make(s, "a", "one");
    make(s, "b", "two");
    assert_changes(s, "");
    must(s, al_staged_discard(s->staging, &s->last, BUDGET, &s->w->err));
    assert_changes(s, "+ b");
    assert_staged(s, "one");
    assert_int_equal(al_staged_discard(s->staging, &s->last, BUDGET, &s->w->err), AL_ERR_EXECUTION);
    assert_string_equal(s->w->err.reason, "not_found");
    refs = store_git(s, "for-each-ref", "refs/staged/");
    assert_null(strstr(refs, s->last.id));
}

static void names_that_are_no_utf8_are_kept(void **state)
{
    struct stager *s = *state;

    pull(s, "caf\xe9", 0100644, "one");
    put(s, "caf\xe9", "two");
    stage(s, "/workspace", "latin");
    assert_files(s, "M caf\xe9");
    open_session(s);
    {
        al_auto(al_staged_list_clear) struct al_staged_list list = { .items = NULL };

        must(s, al_staged_list(s->staging, BUDGET, &list, &s->w->err));
        assert_string_equal(list.items[0].files[0].path, "caf\xe9");
    }
}

static void damaged_records_do_not_hide_the_others(void **state)
{
    static const char *const texts[] = {
        "",
        "{",
        "[]",
        "{\"id\": 1}",
        ("{\"message\": \"m\", \"createdAt\": \"x\", \"order\": 1,"
         " \"sandbox\": \"s\", \"commit\": \"no\", \"files\": []}"),
        "\xff\xfe"
    };
    struct stager *s = *state;

    make(s, "a", "one");
    for (size_t i = 0; i < COUNT(texts); i++) {
        must(s,
             al_fs_write_atomic(s->staging->staged_fd, "00000000-0000-4000-8000-000000000000.json",
                                texts[i], strlen(texts[i]), 0600, true));
        assert_staged(s, "one");
    }
}

static void finds_an_earlier_commit_of_the_same_file(void **state)
{
    struct stager *s = *state;
    al_auto(al_staged_list_clear) struct al_staged_list list = { .items = NULL };
    const char *path = NULL;

    make(s, "a", "one");
    make(s, "b", "two");
    make(s, "a", "three");
    must(s, al_staged_list(s->staging, BUDGET, &list, &s->w->err));
    assert_null(al_staged_earlier(&list, &list.items[0], &path));
    assert_null(al_staged_earlier(&list, &list.items[1], &path));
    assert_ptr_equal(al_staged_earlier(&list, &list.items[2], &path), &list.items[0]);
    assert_string_equal(path, "a");
    list.items[0].sandbox[0] ^= 1; /* another sandbox's */
    assert_null(al_staged_earlier(&list, &list.items[2], &path));
}

/* --- Pushing --- */

#define HEAD_1 "1111111111111111111111111111111111111111"
#define HEAD_2 "2222222222222222222222222222222222222222"
#define HEAD_3 "3333333333333333333333333333333333333333"

static const struct al_staged_push pushed = { "local:/x", "refs/heads/main", HEAD_1, HEAD_2 };

static void set_head(struct stager *s, const char *head)
{
    al_auto(al_base_clear) struct al_base base = { .heads = NULL };

    must(s, al_base_load(s->staging, s->staging->key, BUDGET, &base, &s->w->err));
    al_heads_set(&base.heads, pushed.target, pushed.branch, head);
    must(s, al_base_save(s->staging, s->staging->key, &base, BUDGET, &s->w->err));
}

static void assert_head(const json_t *heads, const char *wanted)
{
    const char *head = al_heads_find(heads, pushed.target, pushed.branch);

    assert_string_equal(head ? head : "none", wanted);
}

static void assert_heads(struct stager *s, const char *of_base, const char *of_first)
{
    al_auto(al_staged_list_clear) struct al_staged_list list = { .items = NULL };
    al_auto(al_base_clear) struct al_base base = { .heads = NULL };

    must(s, al_base_load(s->staging, s->staging->key, BUDGET, &base, &s->w->err));
    must(s, al_staged_list(s->staging, BUDGET, &list, &s->w->err));
    assert_head(base.heads, of_base);
    assert_head(list.items[0].heads, of_first);
}

static void a_pushed_one_becomes_the_base_and_advances_the_heads(void **state)
{
    struct stager *s = *state;

    pull(s, "gone", 0100644, "zero");
    make(s, "old", "based on nothing");
    set_head(s, HEAD_1);
    make(s, "b", "based on 1");
    put(s, "gone", NULL);
    make(s, "a", "one");
    assert_files(s, "+ a, - gone");
    must(s, al_staged_pushed(s->staging, &s->last, &pushed, BUDGET, &s->w->err));
    assert_staged(s, "based on nothing,based on 1");
    assert_changes(s, "");
    assert_heads(s, HEAD_2, "none");
    put(s, "a", "two");
    assert_changes(s, "M a");
    assert_whole(s);
}

static void heads_of_other_commits_stay(void **state)
{
    struct stager *s = *state;

    set_head(s, HEAD_3);
    make(s, "b", "based on 3");
    set_head(s, HEAD_1);
    assert_changes(s, "+ b"); /* to be staged again */
    put(s, "a", "based on 1");
    stage(s, "/workspace/a", "based on 1");
    set_head(s, HEAD_3);
    assert_changes(s, "+ a");
    must(s, al_staged_pushed(s->staging, &s->last, &pushed, BUDGET, &s->w->err));
    assert_heads(s, HEAD_3, HEAD_3);
}

static void heads_advance_with_our_own_push(void **state)
{
    struct stager *s = *state;

    set_head(s, HEAD_1);
    make(s, "b", "waits");
    make(s, "a", "goes");
    must(s, al_staged_pushed(s->staging, &s->last, &pushed, BUDGET, &s->w->err));
    assert_heads(s, HEAD_2, HEAD_2);
}

static void one_of_a_dead_sandbox_changes_no_base(void **state)
{
    struct stager *s = *state;

    make(s, "a", "one");
    open_session(s);
    put(s, "a", "one");
    must(s, al_staged_pushed(s->staging, &s->last, &pushed, BUDGET, &s->w->err));
    assert_changes(s, "+ a");
    assert_staged(s, "");
}

/* Another session pushes what this one, which is alive, has staged. */
static void one_of_a_living_sandbox_changes_its_base(void **state)
{
    struct stager *s = *state;
    struct al_staging_options options = s->options;
    struct al_staging *other = NULL;

    make(s, "a", "one");
    options.sandbox = NULL;
    must(s, al_staging_new(&options, BUDGET, &other, &s->w->err));
    must(s, al_staged_pushed(other, &s->last, &pushed, BUDGET, &s->w->err));
    al_staging_free(other);
    assert_changes(s, "");
    put(s, "a", "two");
    assert_changes(s, "M a");
}

static void a_push_that_was_not_recorded_to_the_end_is_completed(void **state)
{
    struct stager *s = *state;
    al_auto(al_json_decrefp) json_t *object =
        json_pack("{s:s, s:s, s:s, s:s}", "target", pushed.target, "branch", pushed.branch,
                  "oldHead", pushed.old_head, "commit", pushed.commit);

    set_head(s, HEAD_1);
    make(s, "b", "waits");
    make(s, "a", "goes");
    must(s, al_staged_write(s->staging, &s->last, object, &s->w->err));
    assert_staged(s, "waits");
    assert_heads(s, HEAD_2, HEAD_2);
    assert_changes(s, "");
    make(s, "c", "goes as well");
    must(s, al_staged_write(s->staging, &s->last, object, &s->w->err));
    open_session(s);
    assert_staged(s, "waits");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STAGER_TEST(is_found_by_a_unique_beginning),
        STAGER_TEST(what_matches_nothing_is_not_found),
        STAGER_TEST(an_ambiguous_beginning_is_refused),
        STAGER_TEST(are_listed_oldest_first_whatever_the_clock_says),
        STAGER_TEST(survive_the_session),
        STAGER_TEST(a_discarded_one_is_gone_and_its_files_are_changed_again),
        STAGER_TEST(names_that_are_no_utf8_are_kept),
        STAGER_TEST(damaged_records_do_not_hide_the_others),
        STAGER_TEST(finds_an_earlier_commit_of_the_same_file),
        STAGER_TEST(a_pushed_one_becomes_the_base_and_advances_the_heads),
        STAGER_TEST(heads_of_other_commits_stay),
        STAGER_TEST(heads_advance_with_our_own_push),
        STAGER_TEST(one_of_a_dead_sandbox_changes_no_base),
        STAGER_TEST(one_of_a_living_sandbox_changes_its_base),
        STAGER_TEST(a_push_that_was_not_recorded_to_the_end_is_completed),
    };

    gitops_begin();
    return cmocka_run_group_tests_name("staging/staged", tests, NULL, NULL);
}
