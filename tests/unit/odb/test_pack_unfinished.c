// SPDX-License-Identifier: Apache-2.0
/* odb/pack_write.h: git sees nothing of what is not finished. */
#include "tests/unit/odb/pack_lib.h"

static void shows_nothing_before_it_is_finished(void **state)
{
    struct pack_world *w = *state;
    al_auto(al_freep) char *bytes = noise(300000, 7);
    struct al_oid oid;
    uint64_t size;

    put(w, bytes, 300000, &oid); /* more than the buffer, so there is a file */
    assert_int_equal(count_files(w, "tmp_", "", &size), 1);
    assert_int_equal(count_files(w, "pack-", "", &size), 0);
    assert_false(git_has(w, &oid));
    finish(w);
    assert_true(git_has(w, &oid));
    assert_sound(w, 1);
}

static void leaves_nothing_when_it_is_given_up(void **state)
{
    struct pack_world *w = *state;
    al_auto(al_freep) char *bytes = noise(300000, 7);
    struct al_oid oid;
    uint64_t size;

    put(w, bytes, 300000, &oid);
    al_pack_free(w->pack);
    w->pack = NULL;
    assert_int_equal(count_files(w, "", "", &size), 0);
    assert_false(git_has(w, &oid));
}

static void writes_no_pack_without_an_object(void **state)
{
    struct pack_world *w = *state;
    uint64_t size;

    finish(w);
    assert_int_equal(al_pack_bytes(w->pack), 0);
    assert_int_equal(al_pack_begin(w->pack, AL_OBJECT_BLOB, 3, &w->err), 0);
    assert_int_equal(al_pack_undo(w->pack, &w->err), 0);
    finish(w);
    assert_int_equal(count_files(w, "", "", &size), 0);
}

static void takes_back_an_object_that_was_begun_or_ended(void **state)
{
    struct pack_world *w = *state;
    al_auto(al_freep) char *bytes = noise(300000, 9);
    struct al_oid first, begun, ended, last;
    uint64_t before;

    put_text(w, "first\n", &first);
    before = al_pack_bytes(w->pack);
    put_text(w, "ended\n", &ended);
    assert_int_equal(al_pack_undo(w->pack, &w->err), 0);
    assert_int_equal(al_pack_bytes(w->pack), before);
    for (size_t len = 10; len <= 300000; len += 299990) { /* in the buffer, and beyond it */
        assert_int_equal(al_pack_begin(w->pack, AL_OBJECT_BLOB, 300000, &w->err), 0);
        assert_int_equal(al_pack_add(w->pack, bytes, len, &w->err), 0);
        assert_int_equal(al_pack_undo(w->pack, &w->err), 0);
        assert_int_equal(al_pack_bytes(w->pack), before);
    }
    put_text(w, "last\n", &last);
    finish(w);
    assert_sound(w, 1);
    al_oid_of(false, AL_OBJECT_BLOB, bytes, 300000, &begun);
    assert_text(w, &first, "first\n");
    assert_text(w, &last, "last\n");
    assert_false(git_has(w, &begun));
    assert_false(git_has(w, &ended));
}

static void leaves_out_an_object_that_was_not_ended(void **state)
{
    struct pack_world *w = *state;
    struct al_oid first, open;

    put_text(w, "first\n", &first);
    assert_int_equal(al_pack_begin(w->pack, AL_OBJECT_BLOB, 5, &w->err), 0);
    assert_int_equal(al_pack_add(w->pack, "open\n", 5, &w->err), 0);
    finish(w);
    assert_sound(w, 1);
    al_oid_of(false, AL_OBJECT_BLOB, "open\n", 5, &open);
    assert_true(git_has(w, &first));
    assert_false(git_has(w, &open));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        PACK_TEST(shows_nothing_before_it_is_finished),
        PACK_TEST(leaves_nothing_when_it_is_given_up),
        PACK_TEST(writes_no_pack_without_an_object),
        PACK_TEST(takes_back_an_object_that_was_begun_or_ended),
        PACK_TEST(leaves_out_an_object_that_was_not_ended),
    };

    return cmocka_run_group_tests_name("odb/pack_unfinished", tests, NULL, NULL);
}
