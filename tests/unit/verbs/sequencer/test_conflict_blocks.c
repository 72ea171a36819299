// SPDX-License-Identifier: Apache-2.0
/* verbs/sequencer/conflict_hunks.c: the conflicts in a text. */
#include "base/str.h"
#include "tests/lib/assert.h"
#include "verbs/sequencer/conflict_hunks.h"

/* The blocks as "line[ours|base|theirs]", the base as "-" when there is none. */
static void finds_sized(const char *text, size_t marker_size, const char *expected)
{
    al_auto(al_conflict_blocks_clear) struct al_conflict_blocks blocks = { .items = NULL };
    al_auto(al_str_clear) struct al_str out = AL_STR_INIT;

    al_conflict_blocks_find((struct al_bytes){ text, strlen(text) }, marker_size, NULL, &blocks);
    for (size_t i = 0; i < blocks.count; i++) {
        const struct al_conflict_block *block = &blocks.items[i];

        al_str_addf(&out, "%zu[", block->line);
        al_str_add(&out, block->sides[AL_STAGE_OURS].data, block->sides[AL_STAGE_OURS].len);
        al_str_addc(&out, '|');
        if (block->has_base)
            al_str_add(&out, block->sides[AL_STAGE_BASE].data, block->sides[AL_STAGE_BASE].len);
        else
            al_str_addc(&out, '-');
        al_str_addc(&out, '|');
        al_str_add(&out, block->sides[AL_STAGE_THEIRS].data, block->sides[AL_STAGE_THEIRS].len);
        al_str_addf(&out, "]%zu", block->end - block->start);
    }
    assert_string_equal(out.buf, expected);
}

static void finds(const char *text, const char *expected)
{
    finds_sized(text, 7, expected);
}

static void blocks_are_found(void **state)
{
    (void)state;
    finds("", "");
    finds("plain\n", "");
    finds("<<<<<<< a\no\n=======\nt\n>>>>>>> b\n", "1[o\n|-|t\n]32");
    finds("x\n<<<<<<<\n=======\n>>>>>>>", "2[|-|]23");
    finds("<<<<<<< a\no\n||||||| c\nb\n=======\nt\n>>>>>>> b\n", "1[o\n|b\n|t\n]44");
    finds("<<<<<<< a\r\no\r\n=======\r\nt\r\n>>>>>>> b\r\nz", "1[o\r\n|-|t\r\n]37");
    finds("<<<<<<<\n1\n=======\n>>>>>>>\nx\n<<<<<<<\n=======\n2\n>>>>>>>\n",
          "1[1\n|-|]266[|-|2\n]26");
}

static void what_is_no_block_is_left_alone(void **state)
{
    (void)state;
    finds("<<<<<<< a\no\n=======\nt\n", "");             /* no end */
    finds("<<<<<<< a\no\n>>>>>>> b\n", "");              /* no middle */
    finds("<<<<<<<< a\no\n=======\nt\n>>>>>>> b\n", ""); /* another size */
    finds("<<<<<<<a\no\n=======\nt\n>>>>>>> b\n", "");
    finds("<<<<<< a\no\n=======\nt\n>>>>>>> b\n", "");
    finds(" <<<<<<< a\no\n=======\nt\n>>>>>>> b\n", "");
    /* markers of a base that itself was in conflict are longer */
    finds("<<<<<<< a\no\n||||||| c\n<<<<<<<<< x\n=========\n>>>>>>>>> y\n=======\nt\n>>>>>>> b\n",
          "1[o\n|<<<<<<<<< x\n=========\n>>>>>>>>> y\n|t\n]76");
}

static void the_size_is_that_of_the_attribute(void **state)
{
    (void)state;
    finds_sized("<<<\no\n===\nt\n>>>\n", 3, "1[o\n|-|t\n]16");
    finds_sized("<<<\no\n===\nt\n>>>\n", 4, "");
    finds_sized("<<<\no\n===\nt\n>>>\n", 2, "");
}

static void lines_of_the_file_are_no_markers(void **state)
{
    static const char text[] = "<<<<<<<\n=======\n=======\nt\n>>>>>>>\n";
    static const size_t lines[] = { 0, AL_CONFLICT_OWN, SIZE_MAX, 3, 4 };
    al_auto(al_conflict_blocks_clear) struct al_conflict_blocks blocks = { .items = NULL };

    (void)state;
    al_conflict_blocks_find((struct al_bytes){ text, strlen(text) }, 7, lines, &blocks);
    assert_int_equal(blocks.count, 1);
    assert_int_equal(blocks.items[0].sides[AL_STAGE_OURS].len, 8);
    assert_int_equal(blocks.items[0].sides[AL_STAGE_THEIRS].len, 2);
}

static void every_conflict_is_taken_from_one_side(void **state)
{
    static const char text[] = "a\n<<<\no\n===\nt\n>>>\nb\n<<<\n|||\nx\n===\nu\n>>>\n";
    al_auto(al_str_clear) struct al_str ours = AL_STR_INIT, theirs = AL_STR_INIT,
                                        same = AL_STR_INIT;
    const struct al_bytes bytes = { text, strlen(text) };

    (void)state;
    al_conflict_take_side(bytes, 3, AL_STAGE_OURS, &ours);
    al_conflict_take_side(bytes, 3, AL_STAGE_THEIRS, &theirs);
    al_conflict_take_side(bytes, 0, AL_STAGE_THEIRS, &same);
    assert_string_equal(ours.buf, "a\no\nb\n");
    assert_string_equal(theirs.buf, "a\nt\nb\nu\n");
    assert_string_equal(same.buf, text);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_found),
        cmocka_unit_test(what_is_no_block_is_left_alone),
        cmocka_unit_test(the_size_is_that_of_the_attribute),
        cmocka_unit_test(lines_of_the_file_are_no_markers),
        cmocka_unit_test(every_conflict_is_taken_from_one_side),
    };

    return cmocka_run_group_tests_name("gitops/sequencer/conflict_blocks", tests, NULL, NULL);
}
