// SPDX-License-Identifier: Apache-2.0
/* history/checkpoint.h, al_checkpoint_contains(): a file counts only if the checkpoint has its
 * exact bytes. */
#include "git/command.h"
#include "history/checkpoint.h"
#include "tests/unit/history/checkpoint_lib.h"

/* The first of some names that the last checkpoint does not have; NULL when there is none. */
static const char *missing(struct saver *s, const char *dir, const char *const *names)
{
    al_auto(al_strv_clear) struct al_strv list = AL_STRV_INIT;
    al_auto(al_closep) int fd = openat(s->w->repo->fd, *dir ? dir : ".", O_PATH | O_CLOEXEC);
    const char *found = "not said";

    for (size_t i = 0; names[i]; i++)
        al_strv_add(&list, names[i]);
    assert_int_equal(al_checkpoint_contains(s->store, s->id, fd, dir, &list, &found, &s->w->err),
                     0);
    for (size_t i = 0; found && names[i]; i++)
        if (!strcmp(found, names[i]))
            return names[i];
    assert_null(found);
    return NULL;
}

#define MISSING(s, dir, ...) missing(s, dir, (const char *const[]){ __VA_ARGS__, NULL })

static void fill(struct saver *s)
{
    char large[200000];

    memset(large, 'x', sizeof(large));
    tmpdir_write(s->w->repo, ".gitignore", "ignored\n");
    tmpdir_write(s->w->repo, "d/a", "text\n");
    tmpdir_write(s->w->repo, "d/b", "");
    tmpdir_write_bytes(s->w->repo, "d/large", large, sizeof(large));
    tmpdir_write(s->w->repo, "d/ignored", "x\n");
    tmpdir_write(s->w->repo, "d/odd\n[*]\xff", "odd\n");
    tmpdir_write(s->w->repo, "d/sub/a", "deep\n");
    tmpdir_write(s->w->repo, "dd", "beside\n");
    tmpdir_symlink(s->w->repo, "a", "d/link");
    take(s, NULL);
}

static void holds_what_was_taken(void **state)
{
    struct saver *s = *state;

    fill(s);
    assert_null(MISSING(s, "d", "a", "b", "large", "odd\n[*]\xff"));
    assert_null(MISSING(s, "d/sub", "a"));
    assert_null(MISSING(s, "", "dd", "a.txt"));
    assert_null(MISSING(s, "d", NULL));
}

static void holds_nothing_else(void **state)
{
    struct saver *s = *state;

    fill(s);
    tmpdir_write(s->w->repo, "d/new", "new\n");
    tmpdir_write(s->w->repo, "e/a", "text\n");
    assert_string_equal(MISSING(s, "d", "a", "new", "b"), "new");
    assert_string_equal(MISSING(s, "d", "a", "ignored"), "ignored");
    assert_string_equal(MISSING(s, "d", "sub"), "sub");
    assert_string_equal(MISSING(s, "d", "link"), "link");
    assert_string_equal(MISSING(s, "e", "a"), "a");
    assert_string_equal(MISSING(s, "", "a"), "a");
}

static void holds_no_file_that_changed(void **state)
{
    static const char *const changes[] = { "Text\n", "text", "text\n\n", "" };
    struct saver *s = *state;
    char large[200000];

    fill(s);
    for (size_t i = 0; i < AL_COUNT(changes); i++) {
        tmpdir_write(s->w->repo, "d/a", changes[i]);
        assert_string_equal(MISSING(s, "d", "b", "a"), "a");
    }
    tmpdir_write(s->w->repo, "d/a", "text\n"); /* the same bytes again */
    assert_null(MISSING(s, "d", "a"));
    memset(large, 'x', sizeof(large));
    large[sizeof(large) - 1] = 'y';
    tmpdir_write_bytes(s->w->repo, "d/large", large, sizeof(large));
    assert_string_equal(MISSING(s, "d", "large"), "large");
}

/* Another type of file in its place.  The fifo is not waited for. */
static void holds_nothing_that_is_no_file_any_more(void **state)
{
    struct saver *s = *state;

    fill(s);
    assert_int_equal(unlinkat(s->w->repo->fd, "d/b", 0), 0);
    assert_string_equal(MISSING(s, "d", "a", "b"), "b");
    assert_int_equal(mkfifoat(s->w->repo->fd, "d/b", 0600), 0);
    assert_string_equal(MISSING(s, "d", "a", "b"), "b");
    assert_int_equal(unlinkat(s->w->repo->fd, "d/b", 0), 0);
    tmpdir_symlink(s->w->repo, "/dev/null", "d/b"); /* reads as what d/b was */
    assert_string_equal(MISSING(s, "d", "a", "b"), "b");
}

static void says_that_there_is_no_checkpoint(void **state)
{
    struct saver *s = *state;
    al_auto(al_strv_clear) struct al_strv list = AL_STRV_INIT;
    const char *found = "untouched";

    fill(s);
    al_strv_add(&list, "a.txt");
    memset(s->id, '1', 40);
    assert_true(
        al_checkpoint_contains(s->store, s->id, s->w->repo->fd, "", &list, &found, &s->w->err) < 0);
    assert_string_equal(found, "untouched");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        SAVER_TEST(holds_what_was_taken),
        SAVER_TEST(holds_nothing_else),
        SAVER_TEST(holds_no_file_that_changed),
        SAVER_TEST(holds_nothing_that_is_no_file_any_more),
        SAVER_TEST(says_that_there_is_no_checkpoint),
    };

    gitops_begin();
    return cmocka_run_group_tests_name("checkpoint/contains", tests, NULL, NULL);
}
