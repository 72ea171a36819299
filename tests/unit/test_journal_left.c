// SPDX-License-Identifier: Apache-2.0
/* journal/left.h: a call whose process died has its line after the next start, and one line only.
 */
#include "journal/left.h"

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guard/effects.h"
#include "tests/unit/journal_fixture.h"
#include "util/fs.h"

extern char **environ;

/* How far the other process goes before it is killed. */
static const char *const ends[] = { "begun", "known", "closed" };

/* What the other process does: "begun DIRECTORY" and so on. */
static int be_a_victim(const char *end, char *path)
{
    struct tmpdir dir = { .path = path, .fd = -1 };
    al_auto(al_freep) char *file = tmpdir_path(&dir, "tool_log.jsonl");
    const struct al_record_end known = {
        .operation = "both",
        .effects = AL_WRITES_INDEX,
        .outcome = "ok",
        .decision = "once",
        .decided_by = "terminal",
        .git_commit = "1234",
        .repository = "/srv/app",
        .success = true,
    };
    struct al_journal *journal = NULL;
    struct al_record *record = NULL;

    if (al_journal_open(file, &journal, NULL) < 0 ||
        al_journal_open_record(journal, "git_restore", NULL, &record, NULL) < 0)
        return 1;
    if (strcmp(end, "begun") != 0 && al_journal_note(journal, record, &known, NULL) < 0)
        return 1;
    if (!strcmp(end, "closed")) {
        al_auto(al_freep) char *open = tmpdir_path(&dir, "open");
        al_auto(al_freep) char *name = al_asprintf("%s/%ld-0", open, (long)getpid());
        al_auto(al_freep) char *kept = al_asprintf("%s/kept", open);

        /* As if the file were still there: it is taken away and put back under its name. */
        if (link(name, kept) < 0 || al_journal_close_record(journal, record, &known, NULL) < 0 ||
            rename(kept, name) < 0)
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
    const struct al_record_end end = { .outcome = "ok" };
    struct al_journal *journal = journal_open(dir);
    struct al_record *record = NULL;

    assert_int_equal(al_journal_open_record(journal, "git_add", NULL, &record, NULL), 0);
    journal_fill(dir, 0); /* another server begins and ends */
    assert_intact(dir, 0);
    assert_int_equal(al_journal_close_record(journal, record, &end, NULL), 0);
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
        tmpdir_write(dir, "open/12-3", texts[i]);
        journal_fill(dir, 0);
        assert_intact(dir, 0);
        assert_int_equal(faccessat(dir->fd, "open/12-3", F_OK, 0), -1);
    }
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        JOURNAL_TEST(writes_the_line_of_a_call_that_had_begun),
        JOURNAL_TEST(writes_all_that_was_known),
        JOURNAL_TEST(writes_no_second_line),
        JOURNAL_TEST(writes_each_line_once_whoever_starts_next),
        JOURNAL_TEST(leaves_a_call_that_runs_alone),
        JOURNAL_TEST(drops_what_never_became_a_record),
    };

    for (size_t i = 0; argc == 3 && i < COUNT(ends); i++)
        if (!strcmp(argv[1], ends[i]))
            return be_a_victim(ends[i], argv[2]);
    return cmocka_run_group_tests_name("journal/left", tests, NULL, NULL);
}
