// SPDX-License-Identifier: Apache-2.0
/*
 * gitops/sequencer/conflict_numbers.h: which of the equal conflicts of a file one is, and that the
 * work is linear.
 *
 * The source is included, not linked, so that the bytes that it compares can be counted.
 */
#include <string.h>

static size_t compared;

static int counted_memcmp(const void *a, const void *b, size_t len)
{
    compared += len;
    return memcmp(a, b, len);
}

static void *counted_memmem(const void *in, size_t in_len, const void *what, size_t len)
{
    char *found = memmem(in, in_len, what, len);

    compared += found ? (size_t)(found - (const char *)in) + len : in_len;
    return found;
}

#define memcmp counted_memcmp
#define memmem counted_memmem
#include "gitops/sequencer/conflict_numbers.c"
#undef memcmp
#undef memmem

#include "tests/lib/assert.h"

#define SAME "<<<<<<< a\no\n=======\nt\n>>>>>>> b\n"
#define ELSE "<<<<<<< a\nx\n=======\ny\n>>>>>>> b\n"

/* The numbers of the conflicts that are left, "1 2 4". */
static void numbers(const char *made, const char *disk, const char *expected)
{
    struct al_str texts[2] = { AL_STR_INIT, AL_STR_INIT };
    struct al_conflict_blocks blocks[2] = { AL_CONFLICT_BLOCKS_INIT, AL_CONFLICT_BLOCKS_INIT };
    al_auto(al_str_clear) struct al_str out = AL_STR_INIT;
    size_t found[64];

    al_str_adds(&texts[0], disk);
    al_str_adds(&texts[1], made);
    for (size_t i = 0; i < 2; i++)
        al_conflict_blocks_find(texts[i].buf, texts[i].len, 7, &blocks[i]);
    assert_true(blocks[0].count <= AL_COUNT(found));
    al_conflict_number(&(struct al_conflict_text){ &texts[0], &blocks[0] },
                       &(struct al_conflict_text){ &texts[1], &blocks[1] }, found);
    for (size_t i = 0; i < blocks[0].count; i++)
        al_str_addf(&out, "%s%zu", i ? " " : "", found[i]);
    assert_string_equal(out.buf, expected);
    for (size_t i = 0; i < 2; i++) {
        al_conflict_blocks_clear(&blocks[i]);
        al_str_clear(&texts[i]);
    }
}

static void nothing_resolved(void **state)
{
    (void)state;
    numbers("", "", "");
    numbers(SAME, SAME, "1");
    numbers("1\n" SAME "2\n" ELSE "3\n" SAME "4\n", "1\n" SAME "2\n" ELSE "3\n" SAME "4\n",
            "1 1 2");
    numbers(SAME "\n" SAME "\n" SAME, SAME "\n" SAME "\n" SAME, "1 2 3");
}

static void some_resolved(void **state)
{
    static const char made[] = "1\n" SAME "2\n" SAME "3\n" SAME "4\n" SAME "5\n";

    (void)state;
    numbers(made, "1\no\n2\n" SAME "3\n" SAME "4\n" SAME "5\n", "2 3 4");
    numbers(made, "1\n" SAME "2\nt\n3\n" SAME "4\n" SAME "5\n", "1 3 4");
    numbers(made, "1\n" SAME "2\n" SAME "3\n" SAME "4\nmine\n5\n", "1 2 3");
    numbers(made, "1\no\n2\n" SAME "3\nt\n4\n" SAME "5\n", "2 4");
    numbers(made, "1\nmine\n2\n" SAME "3\n4\n" SAME "5\n", "2 4");
    numbers(made, "1\no\n2\no\n3\n" SAME "4\no\n5\n", "3");
    numbers(made, "1\no\n2\no\n3\no\n4\no\n5\n", "");
}

/* Nothing but the count of the lines between tells which ones are left. */
static void alike_between(void **state)
{
    static const char made[] = "g\n" SAME "g\n" SAME "g\n" SAME "g\n" SAME "g\n" SAME "g\n";

    (void)state;
    numbers(made, "g\n" SAME "g\no\ng\n" SAME "g\no\ng\n" SAME "g\n", "1 3 5");
    numbers(made, "g\no\ng\nt\ng\n" SAME "g\n" SAME "g\no\ng\n", "3 4");
    numbers(made, "g\no\ng\n" SAME "g\nmine\nmine\ng\n" SAME "g\nt\ng\n", "2 4");
}

static void edited_between(void **state)
{
    static const char made[] = "1\n" SAME "2\n" SAME "3\n" SAME "4\n";

    (void)state;
    numbers(made, "1\no\n2\n" SAME "new 3\n" SAME "4\n", "2 3");
    numbers(made, "one\n" SAME "2\n" SAME "3\n" SAME "4\n", "1 2 3");
    numbers(made, "1\n" SAME "2\nmore\n" SAME "4\nend\n", "1 3");
    /* A conflict that a user made is numbered among those on disk. */
    numbers(made, "1\n" ELSE "2\n" ELSE "3\n", "1 2");
    numbers("", SAME "x\n" SAME, "1 2");
}

/* The bytes that are compared, of a file of `count` equal conflicts of which `left` are left after
 * every resolved one. */
static size_t cost_of(size_t count, size_t left)
{
    struct al_str texts[2] = { AL_STR_INIT, AL_STR_INIT };
    struct al_conflict_blocks blocks[2] = { AL_CONFLICT_BLOCKS_INIT, AL_CONFLICT_BLOCKS_INIT };
    size_t *found = al_calloc(count, sizeof(*found));
    size_t bytes;

    for (size_t i = 0; i < count; i++) {
        al_str_adds(&texts[0], "between\n");
        al_str_adds(&texts[0], i % (left + 1) ? SAME : "mine\n");
        al_str_adds(&texts[1], "between\n" SAME);
    }
    for (size_t i = 0; i < 2; i++)
        al_conflict_blocks_find(texts[i].buf, texts[i].len, 7, &blocks[i]);
    compared = 0;
    al_conflict_number(&(struct al_conflict_text){ &texts[0], &blocks[0] },
                       &(struct al_conflict_text){ &texts[1], &blocks[1] }, found);
    for (size_t i = 0; i < blocks[0].count; i++)
        assert_int_equal(found[i], i + i / left + 2);
    bytes = texts[0].len + texts[1].len;
    for (size_t i = 0; i < 2; i++) {
        al_conflict_blocks_clear(&blocks[i]);
        al_str_clear(&texts[i]);
    }
    free(found);
    return compared / bytes;
}

/* Sorting takes the logarithm of the number. */
static void work_is_linear(void **state)
{
    static const size_t lefts[] = { 1, 2, 7, 1000000 };

    (void)state;
    for (size_t i = 0; i < AL_COUNT(lefts); i++)
        assert_true(cost_of(20000, lefts[i]) <= 2 * cost_of(500, lefts[i]) + 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_resolved), cmocka_unit_test(some_resolved),
        cmocka_unit_test(alike_between),    cmocka_unit_test(edited_between),
        cmocka_unit_test(work_is_linear),
    };

    return cmocka_run_group_tests_name("gitops/sequencer/conflict_numbers", tests, NULL, NULL);
}
