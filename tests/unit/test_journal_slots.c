// SPDX-License-Identifier: Apache-2.0
/* journal/slots.h: what open/ says of the calls that run, and of those whose process died. */
#include "journal/slots.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/journal_fixture.h"
#include "util/fs.h"

/* Idle files that stay. */
#define IDLE_MAX 64

static struct al_slots *open_slots(const struct tmpdir *dir)
{
    al_auto(al_freep) char *path = tmpdir_path(dir, "open");
    struct al_slots *slots = NULL;

    assert_int_equal(al_slots_open(path, &slots, NULL), 0);
    return slots;
}

static int try_to_take(struct al_slots *slots, const char *text, struct al_slot **ret_slot)
{
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;

    al_str_adds(&line, text);
    return al_slots_take(slots, &line, ret_slot);
}

static struct al_slot *take(struct al_slots *slots, const char *text)
{
    struct al_slot *slot = NULL;

    assert_int_equal(try_to_take(slots, text, &slot), 0);
    return slot;
}

static int extend(struct al_slot *slot, const char *text)
{
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;

    al_str_adds(&line, text);
    return al_slots_extend(slot, &line);
}

static char *slot_name(unsigned n)
{
    return al_asprintf("open/%ld-%u", (long)getpid(), n);
}

static char *slot_text(const struct tmpdir *dir, unsigned n)
{
    al_auto(al_freep) char *name = slot_name(n);
    char *text = tmpdir_read(dir, name);

    assert_non_null(text);
    return text;
}

/* The last line of open/<our pid>-<n> is `line`. */
static void assert_shows(const struct tmpdir *dir, unsigned n, const char *line)
{
    al_auto(al_freep) char *text = slot_text(dir, n);
    char *end = strrchr(text, '\n'), *begin;

    assert_non_null(end);
    assert_string_equal(end, "\n");
    while (end > text && end[-1] == ' ')
        end--;
    *end = '\0';
    begin = strrchr(text, '\n');
    assert_string_equal(begin ? begin + 1 : text, line);
}

static void shows_a_call_while_it_runs_and_no_longer(void **state)
{
    const struct tmpdir *dir = *state;
    struct al_slots *slots = open_slots(dir);
    struct al_slot *one = take(slots, "one"), *two = take(slots, "two");

    assert_shows(dir, 0, "one");
    assert_shows(dir, 1, "two");
    al_slots_give_back(slots, one);
    assert_shows(dir, 0, "");
    assert_shows(dir, 1, "two");
    assert_int_equal(journal_open_count(dir, false), 1);
    al_slots_give_back(slots, two);
    assert_int_equal(journal_open_count(dir, false), 0);
    assert_int_equal(journal_open_count(dir, true), 2);
    al_slots_free(slots);
    assert_int_equal(journal_open_count(dir, true), 0);
}

static bool is_there(const struct tmpdir *dir, const char *name);

/* Both names of a file: one that is seen, and one that is not. */
static void assert_named(const struct tmpdir *dir, unsigned n, bool seen, bool hidden)
{
    al_auto(al_freep) char *name = slot_name(n);
    al_auto(al_freep) char *dotted = al_asprintf("open/.%ld-%u", (long)getpid(), n);

    assert_int_equal(is_there(dir, name), seen);
    assert_int_equal(is_there(dir, dotted), hidden);
}

static void hides_what_is_idle_and_nothing_else(void **state)
{
    const struct tmpdir *dir = *state;
    struct al_slots *slots = open_slots(dir);
    struct al_slot *one = take(slots, "one"), *two = take(slots, "two");

    al_slots_hide_idle(slots);
    assert_named(dir, 0, true, false);
    al_slots_give_back(slots, two);
    assert_named(dir, 1, true, false);
    al_slots_hide_idle(slots);
    al_slots_hide_idle(slots);
    assert_named(dir, 0, true, false);
    assert_named(dir, 1, false, true);
    two = take(slots, "again");
    assert_shows(dir, 1, "again");
    assert_named(dir, 1, true, false);
    al_slots_give_back(slots, two);
    al_slots_hide_idle(slots);
    al_slots_give_back(slots, one);
    al_slots_free(slots);
    assert_named(dir, 0, false, false);
    assert_named(dir, 1, false, false);
}

static struct al_slot *take_unseen(struct al_slots *slots, const char *text)
{
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;
    struct al_slot *slot = NULL;

    al_str_adds(&line, text);
    assert_int_equal(al_slots_take_unseen(slots, &line, &slot), 0);
    return slot;
}

/* Only a file that is hidden already stays so. */
static void shows_a_call_no_sooner_than_it_is_told_to(void **state)
{
    const struct tmpdir *dir = *state;
    struct al_slots *slots = open_slots(dir);
    struct al_slot *slot = take_unseen(slots, "one");

    assert_shows(dir, 0, "one");
    al_slots_give_back(slots, slot);
    slot = take_unseen(slots, "two");
    assert_shows(dir, 0, "two");
    al_slots_give_back(slots, slot);
    al_slots_hide_idle(slots);

    slot = take_unseen(slots, "three");
    assert_named(dir, 0, false, true);
    al_slots_show(slots, slot);
    assert_named(dir, 0, true, false);
    assert_shows(dir, 0, "three");
    al_slots_show(slots, slot);
    assert_named(dir, 0, true, false);
    al_slots_give_back(slots, slot);
    al_slots_hide_idle(slots);

    al_slots_give_back(slots, take_unseen(slots, "four"));
    assert_named(dir, 0, false, true);
    al_slots_leave(take(slots, "five")); /* seen again */
    assert_shows(dir, 0, "five");
    al_slots_free(slots);
}

static void shows_no_call_under_a_name_that_is_anothers(void **state)
{
    struct tmpdir *dir = *state;
    struct al_slots *slots = open_slots(dir);
    al_auto(al_freep) char *name = slot_name(0);
    struct al_slot *slot;

    al_slots_give_back(slots, take(slots, "one"));
    al_slots_hide_idle(slots);
    slot = take_unseen(slots, "two");
    tmpdir_write(dir, name, "another's\n");
    al_slots_show(slots, slot);
    assert_named(dir, 0, true, true);
    assert_shows(dir, 0, "another's");
    al_slots_give_back(slots, slot);
    al_slots_free(slots);
    assert_named(dir, 0, true, false);
}

/* Where our number means nothing, another process can have both names. */
static void does_not_take_a_name_that_is_anothers(void **state)
{
    struct tmpdir *dir = *state;
    struct al_slots *slots = open_slots(dir);
    al_auto(al_freep) char *name = slot_name(0);
    al_auto(al_freep) char *dotted = al_asprintf("open/.%ld-1", (long)getpid());
    struct al_slot *slot;

    al_slots_give_back(slots, take(slots, "one"));
    al_slots_hide_idle(slots);
    tmpdir_write(dir, name, "another's\n");
    slot = take(slots, "two");
    assert_shows(dir, 0, "another's");
    assert_shows(dir, 1, "two");
    tmpdir_write(dir, dotted, "another's\n");
    al_slots_give_back(slots, slot);
    al_slots_hide_idle(slots);
    assert_named(dir, 1, false, true); /* which is not ours */
    al_slots_leave(take(slots, "three"));
    assert_shows(dir, 2, "three");
    al_slots_free(slots);
    assert_true(is_there(dir, dotted));
}

static void leaves_nothing_of_an_earlier_call_in_a_file(void **state)
{
    static const char *const texts[] = { "a long text", "short", "longer", "a long text again",
                                         "x" };
    const struct tmpdir *dir = *state;
    struct al_slots *slots = open_slots(dir);

    for (size_t i = 0; i < COUNT(texts); i++) {
        struct al_slot *slot = take(slots, texts[i]);

        assert_shows(dir, 0, texts[i]);
        al_auto(al_freep) char *text = slot_text(dir, 0);
        assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
        al_slots_give_back(slots, slot);
        assert_shows(dir, 0, "");
    }
    al_slots_free(slots);
}

/* One that keeps its size costs less to write. */
static void keeps_the_size_of_a_file(void **state)
{
    const struct tmpdir *dir = *state;
    struct al_slots *slots = open_slots(dir);

    al_slots_give_back(slots, take(slots, "0123456789"));
    for (size_t len = 1; len <= 11; len++) {
        al_auto(al_freep) char *line = al_strndup("0123456789a", len);
        struct al_slot *slot = take(slots, line);
        al_auto(al_freep) char *text = slot_text(dir, 0);

        assert_shows(dir, 0, line);
        assert_int_equal(strlen(text), len == 11 ? 13 : 12);
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
    assert_int_equal(journal_open_count(dir, false), 1);
    assert_int_equal(journal_open_count(dir, true), 0);
}

static void keeps_few_files_for_later(void **state)
{
    const struct tmpdir *dir = *state;
    struct al_slots *slots = open_slots(dir);

    for (size_t n = IDLE_MAX - 1; n <= IDLE_MAX + 1; n++) {
        struct al_slot *taken[IDLE_MAX + 1];

        for (size_t i = 0; i < n; i++)
            taken[i] = take(slots, "x");
        for (size_t i = 0; i < n; i++)
            al_slots_give_back(slots, taken[i]);
        assert_int_equal(journal_open_count(dir, true), n > IDLE_MAX ? IDLE_MAX : n);
    }
    al_slots_free(slots);
}

static void empties_a_large_file_at_once(void **state)
{
    const struct tmpdir *dir = *state;
    const size_t limit = 4096;

    for (size_t size = limit - 1; size <= limit + 1; size++) {
        struct al_slots *slots = open_slots(dir);
        al_auto(al_freep) char *line = al_calloc(size, 1);

        memset(line, 'a', size - 2); /* its end has two bytes */
        al_slots_give_back(slots, take(slots, line));
        assert_int_equal(journal_open_count(dir, true), 1);
        al_auto(al_freep) char *text = slot_text(dir, 0);
        assert_int_equal(strlen(text), size > limit ? 0 : size);
        al_slots_leave(take(slots, "next"));
        assert_shows(dir, 0, "next");
        al_slots_free(slots);
        al_auto(al_freep) char *name = slot_name(0);
        assert_int_equal(unlinkat(dir->fd, name, 0), 0);
    }
}

static void does_not_touch_a_record_that_has_its_name(void **state)
{
    struct tmpdir *dir = *state;
    struct al_slots *slots = open_slots(dir);
    al_auto(al_freep) char *name = slot_name(0);

    tmpdir_write(dir, name, "another's\n");
    al_slots_leave(take(slots, "ours"));
    assert_shows(dir, 0, "another's");
    assert_shows(dir, 1, "ours");
    al_slots_free(slots);
}

static void does_without_an_idle_file_that_somebody_removed(void **state)
{
    struct tmpdir *dir = *state;
    struct al_slots *slots = open_slots(dir);
    al_auto(al_freep) char *name = slot_name(0);

    al_slots_give_back(slots, take(slots, "one"));
    assert_int_equal(unlinkat(dir->fd, name, 0), 0);
    tmpdir_write(dir, name, "another's\n"); /* where our number means nothing, it is another's */
    al_slots_leave(take(slots, "two"));
    assert_shows(dir, 0, "another's");
    assert_shows(dir, 1, "two");
    al_slots_free(slots);
}

static void removes_no_other_file_of_its_name(void **state)
{
    struct tmpdir *dir = *state;
    struct al_slots *slots = open_slots(dir);
    al_auto(al_freep) char *name = slot_name(0);

    al_slots_give_back(slots, take(slots, "one"));
    assert_int_equal(unlinkat(dir->fd, name, 0), 0);
    tmpdir_write(dir, name, "another's\n");
    al_slots_free(slots);
    assert_shows(dir, 0, "another's");
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
    struct al_slot *idle = take(ours, "idle");

    al_slots_give_back(ours, idle);
    tmpdir_write(dir, "open/12-3", "left  \n");
    for (size_t i = 0; i < COUNT(others); i++)
        tmpdir_write(dir, others[i], "no slot's name\n");
    assert_collects(slots, "left  \n");
    assert_false(is_there(dir, "open/12-3"));
    for (size_t i = 0; i < COUNT(others); i++)
        assert_true(is_there(dir, others[i]));
    assert_shows(dir, 0, "running");
    assert_shows(dir, 1, "");
    al_slots_give_back(ours, running);
    al_slots_free(ours);
    al_slots_free(slots);
}

/* One that was not shown yet when its process died. */
static void collects_what_is_hidden_too(void **state)
{
    struct tmpdir *dir = *state;
    struct al_slots *ours = open_slots(dir), *slots = open_slots(dir);
    struct al_slot *running;

    al_slots_give_back(ours, take(ours, "one"));
    al_slots_hide_idle(ours);
    running = take_unseen(ours, "running");
    tmpdir_write(dir, "open/.12-3", "hidden  \n");
    assert_collects(slots, "hidden  \n");
    assert_false(is_there(dir, "open/.12-3"));
    assert_named(dir, 0, false, true);
    al_slots_give_back(ours, running);
    al_slots_free(ours);
    al_slots_free(slots);
}

static void removes_what_was_idle_when_its_process_died(void **state)
{
    static const struct {
        const char *name, *text;
    } files[] = {
        { "open/12-3", "" },
        { "open/12-4", "an earlier call's\n\n" },
        { "open/12-5", "an earlier call's\nwhat became known of it\n\n" },
        { "open/12-6", "\n\n" },
        { "open/.12-7", "an earlier call's\n\n" },
        { "open/.12-8", "" },
    };
    struct tmpdir *dir = *state;
    struct al_slots *slots = open_slots(dir);

    for (size_t i = 0; i < COUNT(files); i++)
        tmpdir_write(dir, files[i].name, files[i].text);
    assert_collects(slots, "");
    for (size_t i = 0; i < COUNT(files); i++)
        assert_false(is_there(dir, files[i].name));
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
    struct al_slot *slot = take(slots, "one");

    assert_int_equal(extend(slot, "two"), 0);
    assert_shows(dir, 0, "two");
    assert_int_equal(extend(slot, "three"), 0);
    assert_shows(dir, 0, "three");
    al_auto(al_freep) char *text = slot_text(dir, 0);
    assert_string_equal(text, "one \ntwo \nthree \n");
    al_slots_give_back(slots, slot);
    assert_shows(dir, 0, "");
    slot = take(slots, "4");
    assert_shows(dir, 0, "4");
    al_slots_give_back(slots, slot);
    al_slots_free(slots);
}

/* The soft limit for file sizes, which a full disk is played with. */
static void limit_files(rlim_t bytes)
{
    struct rlimit limit;

    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void a_line_that_finds_no_room_changes_nothing(void **state)
{
    const struct tmpdir *dir = *state;

    (void)signal(SIGXFSZ, SIG_IGN);
    for (rlim_t room = 0; room <= 5; room++) { /* "two" and its end have five bytes */
        struct al_slots *slots = open_slots(dir);
        struct al_slot *slot = take(slots, "one");
        int r;

        limit_files(5 + room);
        r = extend(slot, "two");
        limit_files(RLIM_INFINITY);
        assert_int_equal(r, room == 5 ? 0 : -EFBIG);
        al_auto(al_freep) char *text = slot_text(dir, 0);
        assert_memory_equal(text, "one \ntwo \n", 5 + room);
        assert_int_equal(strlen(text), 5 + room);
        if (r < 0)
            assert_true(extend(slot, "three") < 0);
        al_slots_give_back(slots, slot);
        assert_int_equal(journal_open_count(dir, true), 1);
        al_slots_leave(take(slots, "next"));
        assert_shows(dir, 0, "next");
        al_slots_free(slots);
        al_auto(al_freep) char *name = slot_name(0);
        assert_int_equal(unlinkat(dir->fd, name, 0), 0);
    }
}

static void a_call_that_finds_no_room_leaves_no_file(void **state)
{
    const struct tmpdir *dir = *state;
    struct al_slots *slots = open_slots(dir);

    (void)signal(SIGXFSZ, SIG_IGN);
    for (rlim_t room = 0; room <= 5; room++) {
        struct al_slot *slot = NULL;
        int r;

        limit_files(room);
        r = try_to_take(slots, "one", &slot);
        limit_files(RLIM_INFINITY);
        assert_int_equal(r, room == 5 ? 0 : -EFBIG);
        assert_int_equal(journal_open_count(dir, false), room == 5);
        assert_int_equal(journal_open_count(dir, true), 0);
        if (slot)
            al_slots_give_back(slots, slot);
    }
    al_slots_free(slots);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        JOURNAL_TEST(shows_a_call_while_it_runs_and_no_longer),
        JOURNAL_TEST(hides_what_is_idle_and_nothing_else),
        JOURNAL_TEST(shows_a_call_no_sooner_than_it_is_told_to),
        JOURNAL_TEST(shows_no_call_under_a_name_that_is_anothers),
        JOURNAL_TEST(does_not_take_a_name_that_is_anothers),
        JOURNAL_TEST(leaves_nothing_of_an_earlier_call_in_a_file),
        JOURNAL_TEST(keeps_the_size_of_a_file),
        JOURNAL_TEST(keeps_what_it_is_told_to_leave),
        JOURNAL_TEST(keeps_few_files_for_later),
        JOURNAL_TEST(empties_a_large_file_at_once),
        JOURNAL_TEST(does_not_touch_a_record_that_has_its_name),
        JOURNAL_TEST(does_without_an_idle_file_that_somebody_removed),
        JOURNAL_TEST(removes_no_other_file_of_its_name),
        JOURNAL_TEST(collects_what_nobody_holds),
        JOURNAL_TEST(collects_what_is_hidden_too),
        JOURNAL_TEST(removes_what_was_idle_when_its_process_died),
        JOURNAL_TEST(collects_again_what_served_no_purpose_yet),
        JOURNAL_TEST(follows_no_link_and_waits_for_no_pipe),
        JOURNAL_TEST(shows_what_became_known_behind_what_was),
        JOURNAL_TEST(a_line_that_finds_no_room_changes_nothing),
        JOURNAL_TEST(a_call_that_finds_no_room_leaves_no_file),
    };

    return cmocka_run_group_tests_name("journal/slots", tests, NULL, NULL);
}
