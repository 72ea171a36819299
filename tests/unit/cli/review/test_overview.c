// SPDX-License-Identifier: Apache-2.0
/* cli/review/overview.h: what runs, what ended lately and what is staged, as safe text. */
#include "cli/review/overview.h"

#include <poll.h>
#include <unistd.h>

#include "guard/rules/effects.h"
#include "history/journal.h"
#include "tests/lib/assert.h"
#include "tests/lib/tmpdir.h"
#include "util/fs.h"

struct room {
    struct tmpdir *top;
    struct al_setup setup;
    struct al_journal *journal;
    struct al_overview_source *source;
};

static void enter(struct room *room)
{
    *room = (struct room){ .top = tmpdir_new() };
    room->setup.state_dir = tmpdir_path(room->top, "state");
    room->setup.journal_file = tmpdir_path(room->top, "state/tool_log.jsonl");
    assert_int_equal(al_journal_open(room->setup.journal_file, &room->journal, NULL), 0);
    room->source = al_overview_open(&room->setup);
}

static void leave(struct room *room)
{
    al_overview_close(room->source);
    al_journal_free(room->journal);
    free(room->setup.state_dir);
    free(room->setup.journal_file);
    tmpdir_free(room->top);
}

static struct al_record *begin(const struct room *room, const char *tool)
{
    struct al_record *record = NULL;

    assert_int_equal(
        al_record_open(room->journal, &(struct al_record_begin){ .tool = tool }, &record, NULL), 0);
    return record;
}

static void end(struct al_record *record, const char *repository, const char *checkpoint)
{
    static const char text[] = "done\033[2J\nand more";
    const struct al_record_end ending = {
        .operation = "op",
        .effects = checkpoint ? AL_WRITES_INDEX : AL_READS,
        .decision = "auto",
        .decided_by = "policy",
        .summary = "one\ntwo",
        .repository = repository,
        .git_commit = checkpoint,
        .text = text,
        .text_len = strlen(text),
    };

    assert_int_equal(al_record_close(record, &ending), 0);
}

static void executions_newest_first(void **state)
{
    const struct al_overview *shown;
    struct room room;
    struct pollfd wait = { .events = POLLIN };
    const struct al_overview_call *call;

    (void)state;
    enter(&room);
    shown = al_overview_get(room.source);
    wait.fd = al_overview_fd(room.source);
    assert_false(al_overview_refresh(room.source, NULL));
    assert_int_equal(shown->nexecutions, 0);
    assert_null(shown->problem);
    end(begin(&room, "git_add"), "/r", "0123456789012345678901234567890123456789");
    end(begin(&room, "git_log"), "/r", NULL);
    assert_int_equal(poll(&wait, 1, -1), 1);
    assert_true(al_overview_refresh(room.source, NULL));
    assert_int_equal(shown->nexecutions, 2);
    assert_string_equal(shown->executions[0].tool, "git_log");
    assert_false(shown->executions[0].changes || shown->executions[0].checkpointed);
    call = al_overview_find(room.source, 1);
    assert_ptr_equal(call, &shown->executions[1]);
    assert_string_equal(call->tool, "git_add");
    assert_string_equal(call->summary, "one two");
    assert_string_equal(call->result, "done<U+001B>[2J\nand more");
    assert_string_equal(call->agent, "");
    assert_string_equal(call->outcome, "ok");
    assert_true(call->changes && call->checkpointed);
    assert_true(call->duration_ms >= 0);
    assert_int_equal(al_overview_newest(room.source, "/r"), 1);
    assert_int_equal(al_overview_newest(room.source, "/other"), 0);
    assert_null(al_overview_find(room.source, 3));
    assert_false(al_overview_refresh(room.source, NULL));
    assert_false(shown->has_older);
    leave(&room);
}

static void the_newest_are_kept(void **state)
{
    const struct al_overview *shown;
    struct room room;

    (void)state;
    enter(&room);
    shown = al_overview_get(room.source);
    for (size_t part = 0; part < 3; part++) {
        for (size_t i = 0; i < 400; i++)
            end(begin(&room, "git_log"), "/r", NULL);
        assert_true(al_overview_refresh(room.source, NULL));
        assert_int_equal(shown->has_older, part == 2);
    }
    assert_int_equal(shown->nexecutions, AL_OVERVIEW_EXECUTIONS_MAX);
    for (size_t i = 0; i < shown->nexecutions; i++)
        assert_int_equal(shown->executions[i].seq, 1200 - i);
    leave(&room);
}

static void calls_that_run_and_those_that_wait(void **state)
{
    const struct al_overview *shown;
    struct room room;
    struct al_record *one, *two;
    struct al_review_waiting question = { .pid = getpid() };
    const struct al_review_list waiting = { &question, 1 };

    (void)state;
    enter(&room);
    shown = al_overview_get(room.source);
    one = begin(&room, "git_add");
    two = begin(&room, "git_log");
    assert_int_equal(al_record_update(one,
                                      &(struct al_record_end){ .operation = "add",
                                                               .decision = "none",
                                                               .decided_by = "none",
                                                               .summary = "Stage" },
                                      false, NULL),
                     0);
    assert_true(al_overview_refresh(room.source, NULL));
    assert_int_equal(shown->nrunning, 2);
    assert_false(shown->running[0].waits || shown->running[1].waits);
    question.entry = json_pack("{s:s,s:s}", "tool", "git_add", "summary", "Stage");
    assert_true(al_overview_refresh(room.source, &waiting));
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(shown->running[i].waits, !strcmp(shown->running[i].tool, "git_add"));
    assert_int_equal(shown->running[0].pid, getpid());
    json_decref(question.entry);
    end(one, "/r", NULL);
    end(two, "/r", NULL);
    assert_true(al_overview_refresh(room.source, NULL));
    assert_int_equal(shown->nrunning, 0);
    assert_int_equal(shown->nexecutions, 2);
    leave(&room);
}

static void staged_commits_of_all_stores(void **state)
{
    const struct al_overview *shown;
    struct room room;
    al_auto(al_freep) char *a = NULL, *b = NULL;

    (void)state;
    enter(&room);
    shown = al_overview_get(room.source);
    a = tmpdir_path(room.top, "state/staging/a/staged");
    b = tmpdir_path(room.top, "state/staging/b/staged");
    assert_int_equal(al_fs_mkdirs(a, 0700), 0);
    assert_int_equal(al_fs_mkdirs(b, 0700), 0);
    tmpdir_write(room.top, "state/staging/a/staged/1.json",
                 "{\"id\":\"1\",\"createdAt\":\"2026-01-01T00:00:00.000Z\","
                 "\"message\":\"\\n\\u001b[2Jtitle\\n\\nbody\",\"worker\":\"w\","
                 "\"files\":[{\"path\":\"a/b\",\"operation\":\"create\"}]}");
    tmpdir_write(room.top, "state/staging/b/staged/2.json",
                 "{\"id\":\"2\",\"createdAt\":\"2026-01-02T00:00:00.000Z\",\"message\":\"two\","
                 "\"files\":[]}");
    tmpdir_write(room.top, "state/staging/b/staged/3.json", "{\"id\":\"3\"");
    tmpdir_write(room.top, "state/staging/b/staged/4.json",
                 "{\"id\":\"4\",\"createdAt\":\"t\",\"message\":\"pushed\",\"pushed\":{}}");
    assert_true(al_overview_refresh(room.source, NULL));
    assert_int_equal(shown->nstaged, 2);
    assert_string_equal(shown->staged[0].id, "2");
    assert_string_equal(shown->staged[1].title, "<U+001B>[2Jtitle");
    assert_string_equal(shown->staged[1].worker, "w");
    assert_int_equal(shown->staged[1].files, 1);
    assert_non_null(strstr(shown->staged[1].text, "body\n\n1 file:\n  create: a/b\n"));
    assert_false(al_overview_refresh(room.source, NULL));
    leave(&room);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(executions_newest_first),
        cmocka_unit_test(the_newest_are_kept),
        cmocka_unit_test(calls_that_run_and_those_that_wait),
        cmocka_unit_test(staged_commits_of_all_stores),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
