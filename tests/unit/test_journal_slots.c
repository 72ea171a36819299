// SPDX-License-Identifier: Apache-2.0
/* journal/slots.h: what stands in open/ are the calls that run, and those whose process died. */
#include "journal/slots.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/journal_fixture.h"
#include "util/fs.h"

static struct al_slots *open_slots(const struct tmpdir *dir)
{
    al_auto(al_freep) char *path = tmpdir_path(dir, "open");
    struct al_slots *slots = NULL;

    assert_int_equal(al_slots_open(path, &slots, NULL), 0);
    return slots;
}

/* How many names in open/ begin with a dot, or do not. */
static size_t count(const struct tmpdir *dir, bool dotted)
{
    al_auto(al_freep) char *path = tmpdir_path(dir, "open");
    DIR *open = opendir(path);
    const struct dirent *entry;
    size_t found = 0;

    assert_non_null(open);
    while ((entry = readdir(open)))
        found += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
                 (entry->d_name[0] == '.') == dotted;
    closedir(open);
    return found;
}

static struct al_slot *take(struct al_slots *slots, const char *text)
{
    struct al_slot *slot = NULL;

    assert_int_equal(al_slots_take(slots, text, strlen(text), &slot), 0);
    return slot;
}

/* open/<our pid>-<n> holds exactly `text`. */
static void assert_shows(const struct tmpdir *dir, unsigned n, const char *text)
{
    al_auto(al_freep) char *name = al_asprintf("open/%ld-%u", (long)getpid(), n);
    al_auto(al_freep) char *found = tmpdir_read(dir, name);

    assert_non_null(found);
    assert_string_equal(found, text);
}

static void shows_a_call_while_it_runs_and_no_longer(void **state)
{
    const struct tmpdir *dir = *state;
    struct al_slots *slots = open_slots(dir);
    struct al_slot *one = take(slots, "one"), *two = take(slots, "two");

    assert_shows(dir, 0, "one");
    assert_shows(dir, 1, "two");
    al_slots_give_back(slots, one);
    assert_int_equal(count(dir, false), 1);
    al_slots_give_back(slots, two);
    assert_int_equal(count(dir, false), 0);
    al_slots_free(slots);
    assert_int_equal(count(dir, true), 0);
}

static void leaves_nothing_of_an_earlier_call_in_a_file(void **state)
{
    static const char *const texts[] = { "a long text", "short", "", "longer again", "x" };
    const struct tmpdir *dir = *state;
    struct al_slots *slots = open_slots(dir);

    for (size_t i = 0; i < COUNT(texts); i++) {
        struct al_slot *slot = take(slots, texts[i]);

        assert_shows(dir, 0, texts[i]);
        al_slots_give_back(slots, slot);
    }
    al_slots_free(slots);
}

static void keeps_what_it_is_told_to_leave(void **state)
{
    const struct tmpdir *dir = *state;
    struct al_slots *slots = open_slots(dir);

    al_slots_leave(take(slots, "left"));
    al_slots_give_back(slots, take(slots, "next"));
    al_slots_free(slots);
    assert_shows(dir, 0, "left");
    assert_int_equal(count(dir, false), 1);
    assert_int_equal(count(dir, true), 0);
}

static void keeps_few_and_small_files_for_later(void **state)
{
    const struct tmpdir *dir = *state;
    struct al_slots *slots = open_slots(dir);

    for (size_t n = 15; n <= 17; n++) {
        struct al_slot *taken[17];

        for (size_t i = 0; i < n; i++)
            taken[i] = take(slots, "x");
        for (size_t i = 0; i < n; i++)
            al_slots_give_back(slots, taken[i]);
        assert_int_equal(count(dir, true), n > 16 ? 16 : n);
    }
    al_slots_free(slots);
}

static void gives_up_a_large_file_at_once(void **state)
{
    const struct tmpdir *dir = *state;
    const size_t limit = 64u << 10;

    for (size_t len = limit - 1; len <= limit + 1; len++) {
        struct al_slots *slots = open_slots(dir);
        al_auto(al_freep) char *text = al_calloc(len + 1, 1);

        memset(text, 'a', len);
        al_slots_give_back(slots, take(slots, text));
        assert_int_equal(count(dir, true), len > limit ? 0 : 1);
        al_slots_free(slots);
    }
}

static void does_not_touch_a_record_that_has_its_name(void **state)
{
    struct tmpdir *dir = *state;
    struct al_slots *slots = open_slots(dir);
    al_auto(al_freep) char *name = al_asprintf("open/%ld-0", (long)getpid());
    al_auto(al_freep) char *idle = al_asprintf("open/.%ld-1", (long)getpid());

    tmpdir_write(dir, name, "another's");
    tmpdir_write(dir, idle, "another's too");
    al_slots_leave(take(slots, "ours"));
    assert_shows(dir, 0, "another's");
    assert_shows(dir, 2, "ours");
    al_slots_free(slots);
}

static void does_without_an_idle_file_that_somebody_removed(void **state)
{
    const struct tmpdir *dir = *state;
    struct al_slots *slots = open_slots(dir);
    al_auto(al_freep) char *idle = al_asprintf("open/.%ld-0", (long)getpid());

    al_slots_give_back(slots, take(slots, "one"));
    assert_int_equal(unlinkat(dir->fd, idle, 0), 0);
    al_slots_leave(take(slots, "two"));
    assert_shows(dir, 1, "two");
    al_slots_free(slots);
}

/* What al_slots_collect() handed over, one text behind the other. */
static int remember(void *context, const char *text, size_t len)
{
    struct al_str *seen = context;

    al_str_add(seen, text, len);
    return strcmp(text, "keep me") == 0 ? -1 : 0;
}

static void assert_collects(struct al_slots *slots, const char *text)
{
    al_auto(al_str_clear) struct al_str seen = AL_STR_INIT;

    al_slots_collect(slots, remember, &seen);
    assert_string_equal(seen.buf, text);
}

static bool is_there(const struct tmpdir *dir, const char *name)
{
    return faccessat(dir->fd, name, F_OK, 0) == 0;
}

static void collects_what_nobody_holds(void **state)
{
    static const char *const others[] = { "open/12-3.txt", "open/-1-3", "open/.hidden",
                                          "open/x",        "open/12",   "open/.12-" };
    struct tmpdir *dir = *state;
    struct al_slots *ours = open_slots(dir), *slots = open_slots(dir);
    struct al_slot *running = take(ours, "running");

    al_slots_give_back(ours, take(ours, "idle"));
    tmpdir_write(dir, "open/12-3", "left");
    tmpdir_write(dir, "open/12-4", "");
    tmpdir_write(dir, "open/.12-5", "an earlier call's");
    for (size_t i = 0; i < COUNT(others); i++)
        tmpdir_write(dir, others[i], "no slot's name");
    assert_collects(slots, "left");
    assert_false(is_there(dir, "open/12-3"));
    assert_false(is_there(dir, "open/12-4"));
    assert_false(is_there(dir, "open/.12-5"));
    for (size_t i = 0; i < COUNT(others); i++)
        assert_true(is_there(dir, others[i]));
    assert_shows(dir, 0, "running");
    al_slots_give_back(ours, running);
    al_slots_free(ours);
    al_slots_free(slots);
}

static void collects_again_what_served_no_purpose_yet(void **state)
{
    struct tmpdir *dir = *state;
    struct al_slots *slots = open_slots(dir);

    tmpdir_write(dir, "open/12-3", "keep me");
    assert_collects(slots, "keep me");
    assert_collects(slots, "keep me");
    al_slots_free(slots);
    assert_true(is_there(dir, "open/12-3"));
}

static void follows_no_link_and_waits_for_no_pipe(void **state)
{
    struct tmpdir *dir = *state;
    struct al_slots *slots = open_slots(dir);

    tmpdir_write(dir, "outside", "a person's");
    assert_int_equal(symlinkat("../outside", dir->fd, "open/12-3"), 0);
    assert_int_equal(mkfifoat(dir->fd, "open/12-4", 0600), 0);
    assert_collects(slots, "");
    assert_true(is_there(dir, "outside"));
    al_slots_free(slots);
}

static void shows_what_became_known_behind_what_was(void **state)
{
    const struct tmpdir *dir = *state;
    struct al_slots *slots = open_slots(dir);
    struct al_slot *slot = take(slots, "one\n");

    assert_int_equal(al_slots_extend(slot, "two\n", 4), 0);
    assert_shows(dir, 0, "one\ntwo\n");
    al_slots_give_back(slots, slot);
    slot = take(slots, "3\n");
    assert_shows(dir, 0, "3\n");
    al_slots_give_back(slots, slot);
    al_slots_free(slots);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        JOURNAL_TEST(shows_a_call_while_it_runs_and_no_longer),
        JOURNAL_TEST(leaves_nothing_of_an_earlier_call_in_a_file),
        JOURNAL_TEST(keeps_what_it_is_told_to_leave),
        JOURNAL_TEST(keeps_few_and_small_files_for_later),
        JOURNAL_TEST(gives_up_a_large_file_at_once),
        JOURNAL_TEST(does_not_touch_a_record_that_has_its_name),
        JOURNAL_TEST(does_without_an_idle_file_that_somebody_removed),
        JOURNAL_TEST(collects_what_nobody_holds),
        JOURNAL_TEST(collects_again_what_served_no_purpose_yet),
        JOURNAL_TEST(follows_no_link_and_waits_for_no_pipe),
        JOURNAL_TEST(shows_what_became_known_behind_what_was),
    };

    return cmocka_run_group_tests_name("journal/slots", tests, NULL, NULL);
}
