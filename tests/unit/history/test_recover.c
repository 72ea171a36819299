// SPDX-License-Identifier: Apache-2.0
/* history/open_records.c: a call whose process died has exactly one line after the next start. */
#include "history/journal_private.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fs.h"
#include "guard/effects.h"
#include "tests/unit/history/fixture.h"

extern char **environ;

/* How far the other process gets before it is killed. */
static const char *const ends[] = { "begun", "known", "closed", "again", "twins" };

/* Everything happens in the same millisecond. */
void __wrap_al_clock_iso(char ret_text[25]);

void __wrap_al_clock_iso(char ret_text[25])
{
    (void)snprintf(ret_text, 25, "2026-01-02T03:04:05.678Z");
}

/* The program of the other process: "begun DIRECTORY" and so on. */
static int be_a_victim(const char *end, char *path)
{
    struct tmpdir dir = { .path = path, .fd = -1 };
    al_auto(al_freep) char *file = tmpdir_path(&dir, "tool_log.jsonl");
    const struct al_record_end known = {
        .operation = "both",
        .effects = AL_WRITES_INDEX,
        .decision = "once",
        .decided_by = "terminal",
        .git_commit = "1234",
        .repository = "/srv/app",
    };
    struct al_journal *journal = NULL;
    const struct al_record_begin status = { .tool = "git_status" };
    struct al_record *record = NULL, *twins[2];

    if (al_journal_open(file, &journal, NULL) < 0 ||
        journal_begin(journal, "git_restore", NULL, &record, NULL) < 0)
        return 1;
    if (strcmp(end, "begun") != 0 && al_record_update(record, &known, true, NULL) < 0)
        return 1;
    if (!strcmp(end, "closed")) {
        al_auto(al_freep) char *name = tmpdir_path(&dir, "open");
        al_auto(al_freep) char *file_name = al_asprintf("%s/%ld-0.jsonl", name, (long)getpid());
        al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
        al_auto(al_closep) int fd = open(file_name, O_RDWR | O_CLOEXEC);

        /* As if it had died before it wrote that the log has the call's line. */
        if (fd < 0 || al_fs_read_fd(fd, 1 << 20, &text) < 0 ||
            al_record_close(record, &known) < 0 || ftruncate(fd, (off_t)text.len) < 0)
            return 1;
    }
    if (!strcmp(end, "again") && /* after a call that ended */
        (al_record_close(record, &known) < 0 ||
         al_record_open(journal, &status, &record, NULL) < 0))
        return 1;
    if (!strcmp(end, "twins")) { /* one ended and one killed, in the same millisecond */
        if (al_record_open(journal, &status, &twins[0], NULL) < 0 ||
            al_record_open(journal, &status, &twins[1], NULL) < 0 ||
            al_record_close(twins[0], &known) < 0)
            return 1;
    }
    (void)raise(SIGKILL);
    return 1;
}

static void kill_one(const struct tmpdir *dir, const char *end)
{
    al_auto(al_freep) char *role = al_strdup(end);
    char self[] = "/proc/self/exe";
    char *argv[] = { self, role, dir->path, NULL };
    pid_t pid;
    int status;

    assert_int_equal(posix_spawn(&pid, self, NULL, NULL, argv, environ), 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
}

static json_t *last_line(const struct tmpdir *dir)
{
    al_auto(al_freep) char *text = journal_text(dir);
    char *end = strrchr(text, '\n'), *line;

    *end = '\0';
    line = strrchr(text, '\n');
    return json_loads(line ? line + 1 : text, 0, NULL);
}

static void assert_text(const json_t *line, const char *name, const char *text)
{
    const char *found = al_json_get_string(line, name);

    if (!text)
        assert_true(json_is_null(json_object_get(line, name)));
    else if (!found)
        fail_msg("%s is absent", name);
    else
        assert_string_equal(found, text);
}

static void writes_the_line_of_a_call_that_had_begun(void **state)
{
    const struct tmpdir *dir = *state;

    kill_one(dir, "begun");
    journal_fill(dir, 0);
    assert_intact(dir, 1);
    al_auto(al_json_decrefp) json_t *line = last_line(dir);
    assert_text(line, "outcome", "interrupted");
    assert_text(line, "tool", "git_restore");
    assert_text(line, "decision", "none");
    assert_text(line, "git_commit", NULL);
    assert_true(json_is_false(json_object_get(json_object_get(line, "result"), "success")));
}

static void writes_the_line_of_a_call_behind_another(void **state)
{
    const struct tmpdir *dir = *state;

    kill_one(dir, "again");
    journal_fill(dir, 0);
    assert_intact(dir, 2);
    al_auto(al_json_decrefp) json_t *line = last_line(dir);
    assert_text(line, "outcome", "interrupted");
    assert_text(line, "tool", "git_status");
    assert_null(json_object_get(line, "begin"));
}

static void writes_the_line_of_a_call_that_was_the_same_as_another(void **state)
{
    const struct tmpdir *dir = *state;
    uint64_t lines;

    kill_one(dir, "twins");
    journal_fill(dir, 0);
    assert_int_equal(journal_bad_line(dir, &lines), 0);
    assert_int_equal(lines, 3); /* the ended call, and git_restore, which was open as well */
    journal_fill(dir, 0);
    assert_int_equal(journal_bad_line(dir, &lines), 0);
    assert_int_equal(lines, 3);
    al_auto(al_freep) char *text = journal_text(dir);
    const char *first = strstr(text, "\"tool\":\"git_status\"");
    assert_non_null(first);
    assert_non_null(strstr(first + 1, "\"tool\":\"git_status\""));
    assert_non_null(strstr(text, "\"id\":2,\"agent\":null,\"tool\":\"git_status\""));
    assert_non_null(strstr(text, "\"id\":3,\"agent\":null,\"tool\":\"git_status\""));
}

static void writes_all_that_was_known(void **state)
{
    const struct tmpdir *dir = *state;

    kill_one(dir, "known");
    journal_fill(dir, 0);
    assert_intact(dir, 1);
    al_auto(al_json_decrefp) json_t *line = last_line(dir);
    assert_text(line, "outcome", "interrupted");
    assert_text(line, "operation", "both");
    assert_text(line, "decision", "once");
    assert_text(line, "decided_by", "terminal");
    assert_text(line, "git_commit", "1234");
    assert_text(line, "repository", "/srv/app");
    assert_text(json_object_get(line, "result"), "error", "airlock ended while the call ran");
    assert_int_equal(json_array_size(json_object_get(line, "effects")), 1);
    assert_true(json_is_null(json_object_get(line, "duration_ms")));
}

static void writes_no_second_line(void **state)
{
    const struct tmpdir *dir = *state;

    kill_one(dir, "closed");
    assert_intact(dir, 1);
    journal_fill(dir, 1);
    journal_fill(dir, 0);
    assert_intact(dir, 2);
}

static void writes_each_line_once_whoever_starts_next(void **state)
{
    const struct tmpdir *dir = *state;

    for (size_t i = 0; i < 5; i++)
        kill_one(dir, i % 2 ? "known" : "begun");
    journal_fill(dir, 0);
    journal_fill(dir, 0);
    assert_intact(dir, 5);
}

static void leaves_a_call_that_runs_alone(void **state)
{
    const struct tmpdir *dir = *state;
    const struct al_record_end end = { .status = AL_OK };
    struct al_journal *journal = journal_open(dir);
    struct al_record *record = NULL;

    assert_int_equal(journal_begin(journal, "git_add", NULL, &record, NULL), 0);
    journal_fill(dir, 0); /* another server starts and ends */
    assert_intact(dir, 0);
    assert_int_equal(al_record_close(record, &end), 0);
    al_journal_free(journal);
    assert_intact(dir, 1);
}

static void drops_what_never_became_a_record(void **state)
{
    static const char *const texts[] = { "{\"timestamp\":\"2026", "\n", "{}\n", "[]\n",
                                         "nonsense\n" };
    struct tmpdir *dir = *state;

    journal_fill(dir, 0);
    for (size_t i = 0; i < COUNT(texts); i++) {
        tmpdir_write(dir, "open/12-3.jsonl", texts[i]);
        journal_fill(dir, 0);
        assert_intact(dir, 0);
        assert_int_equal(faccessat(dir->fd, "open/12-3.jsonl", F_OK, 0), -1);
    }
}

/* Of several open calls, those whose line is in the log already get no second one. */
static void tells_calls_by_their_number(void **state)
{
    struct tmpdir *dir = *state;
    struct al_journal *journal = journal_open(dir);
    const struct al_record_end end = { .status = AL_OK };
    struct al_record *records[6];

    for (size_t i = 0; i < COUNT(records); i++)
        assert_int_equal(journal_begin(journal, "same", NULL, &records[i], NULL), 0);
    struct al_strv names = journal_open_names(dir, false);
    assert_int_equal(names.count, COUNT(records));
    for (size_t i = 0; i < names.count; i++) {
        al_auto(al_freep) char *copy = al_asprintf("open/2000000000-%zu.jsonl", i);
        al_auto(al_freep) char *text = tmpdir_read(dir, names.items[i]);

        tmpdir_write(dir, copy, text); /* as if another process had died with it */
    }
    al_strv_clear(&names);
    for (size_t i = 0; i < COUNT(records); i += 2)
        assert_int_equal(al_record_close(records[i], &end), 0);
    journal_fill(dir, 0);
    assert_intact(dir, COUNT(records));
    for (size_t i = 1; i < COUNT(records); i += 2)
        assert_int_equal(al_record_close(records[i], &end), 0);
    al_journal_free(journal);
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        JOURNAL_TEST(writes_the_line_of_a_call_that_had_begun),
        JOURNAL_TEST(writes_the_line_of_a_call_behind_another),
        JOURNAL_TEST(writes_the_line_of_a_call_that_was_the_same_as_another),
        JOURNAL_TEST(writes_all_that_was_known),
        JOURNAL_TEST(writes_no_second_line),
        JOURNAL_TEST(writes_each_line_once_whoever_starts_next),
        JOURNAL_TEST(leaves_a_call_that_runs_alone),
        JOURNAL_TEST(drops_what_never_became_a_record),
        JOURNAL_TEST(tells_calls_by_their_number),
    };

    for (size_t i = 0; argc == 3 && i < COUNT(ends); i++)
        if (!strcmp(argv[1], ends[i]))
            return be_a_victim(ends[i], argv[2]);
    return cmocka_run_group_tests_name("journal/recover", tests, NULL, NULL);
}
