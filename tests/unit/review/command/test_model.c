// SPDX-License-Identifier: Apache-2.0
/* review/command/model.h: what runs, what ended lately and what is staged. */
#include "review/command/model.h"

#include <poll.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/fs.h"
#include "guard/effects.h"
#include "history/journal.h"
#include "tests/lib/assert.h"
#include "tests/lib/tmpdir.h"

struct room {
    struct tmpdir *top;
    struct al_setup setup;
    struct al_journal *journal;
    struct al_model *model;
};

static void enter(struct room *room)
{
    *room = (struct room){ .top = tmpdir_new() };
    room->setup.state_dir = tmpdir_path(room->top, "state");
    room->setup.journal_file = tmpdir_path(room->top, "state/tool_log.jsonl");
    assert_int_equal(al_journal_open(room->setup.journal_file, &room->journal, NULL), 0);
    room->model = al_model_open(&room->setup);
}

static void leave(struct room *room)
{
    al_model_close(room->model);
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

static void add_fact(void *payload, const char *label, const char *value, const char *iso)
{
    assert_int_equal(iso != NULL, !strcmp(label, "began"));
    al_str_addf(payload, "%s=%s\n", label, value);
}

static void executions_newest_first(void **state)
{
    struct room room;
    struct pollfd wait = { .events = POLLIN };
    const struct al_item *item;
    struct al_str text = AL_STR_INIT, facts = AL_STR_INIT;

    (void)state;
    enter(&room);
    wait.fd = room.model->fd;
    assert_false(al_model_refresh(room.model, NULL));
    assert_int_equal(room.model->parts[AL_ITEM_EXECUTION].count, 0);
    assert_null(room.model->problem);
    end(begin(&room, "git_add"), "/r", "0123456789012345678901234567890123456789");
    end(begin(&room, "git_log"), "/r", NULL);
    assert_int_equal(poll(&wait, 1, -1), 1);
    assert_true(al_model_refresh(room.model, NULL));
    assert_int_equal(room.model->parts[AL_ITEM_EXECUTION].count, 2);
    item = al_model_item(room.model, AL_ITEM_EXECUTION, 0);
    assert_string_equal(al_item_get(item, "tool"), "git_log");
    assert_false(item->changes || item->checkpointed);
    item = al_model_find(room.model, AL_ITEM_EXECUTION, "1");
    assert_ptr_equal(item, al_model_item(room.model, AL_ITEM_EXECUTION, 1));
    assert_int_equal(item->seq, 1);
    assert_string_equal(al_item_get(item, "tool"), "git_add");
    assert_string_equal(al_item_title(item), "one\ntwo");
    assert_string_equal(al_item_get(item, "agent"), "");
    assert_string_equal(al_item_get(item, "outcome"), "ok");
    assert_true(item->changes && item->checkpointed);
    al_item_add_text(item, &text);
    assert_string_equal(text.buf, "done\033[2J\nand more");
    assert_true(al_item_matches(item, "GIT_A", true));
    assert_false(al_item_matches(item, "git_log", false));
    assert_false(al_item_matches(al_model_item(room.model, AL_ITEM_EXECUTION, 0), "", true));
    al_item_facts(item, add_fact, &facts);
    assert_non_null(strstr(facts.buf, "outcome=ok\ndecision=auto, by policy\nrepository=/r\n"
                                      "tool=git_add (op)\nbegan=just now\n"));
    al_str_clear(&text);
    al_str_clear(&facts);
    assert_int_equal(al_model_newest(room.model, "/r"), 1);
    assert_int_equal(al_model_newest(room.model, "/other"), 0);
    assert_null(al_model_find(room.model, AL_ITEM_EXECUTION, "3"));
    assert_false(al_model_refresh(room.model, NULL));
    assert_false(room.model->has_older);
    leave(&room);
}

static void the_newest_are_kept(void **state)
{
    struct room room;

    (void)state;
    enter(&room);
    for (size_t part = 0; part < 3; part++) {
        for (size_t i = 0; i < 400; i++)
            end(begin(&room, "git_log"), "/r", NULL);
        assert_true(al_model_refresh(room.model, NULL));
        assert_int_equal(room.model->has_older, part == 2);
    }
    assert_int_equal(room.model->parts[AL_ITEM_EXECUTION].count, AL_MODEL_ITEMS_MAX);
    for (size_t i = 0; i < AL_MODEL_ITEMS_MAX; i++)
        assert_int_equal(al_model_item(room.model, AL_ITEM_EXECUTION, i)->seq, 1200 - i);
    leave(&room);
}

static void calls_that_run_and_those_that_wait(void **state)
{
    struct room room;
    struct al_record *one, *two;
    struct al_review_waiting question = { .pid = getpid() };
    const struct al_review_list waiting = { &question, 1 };
    const struct al_item *item;

    (void)state;
    enter(&room);
    one = begin(&room, "git_add");
    two = begin(&room, "git_log");
    assert_int_equal(al_record_update(one,
                                      &(struct al_record_end){ .operation = "add",
                                                               .decision = "none",
                                                               .decided_by = "none",
                                                               .summary = "Stage" },
                                      false, NULL),
                     0);
    assert_true(al_model_refresh(room.model, NULL));
    assert_int_equal(room.model->parts[AL_ITEM_RUNNING].count, 2);
    question.entry =
        json_pack("{s:s,s:s,s:s}", "id", "00000001", "tool", "git_add", "summary", "Stage");
    assert_true(al_model_refresh(room.model, &waiting));
    assert_int_equal(room.model->parts[AL_ITEM_RUNNING].count, 1);
    item = al_model_item(room.model, AL_ITEM_RUNNING, 0);
    assert_string_equal(al_item_get(item, "tool"), "git_log");
    assert_int_equal(strtol(item->key, NULL, 10), getpid());
    assert_string_equal(al_model_item(room.model, AL_ITEM_QUESTION, 0)->key, "00000001");
    json_decref(question.entry);
    end(one, "/r", NULL);
    end(two, "/r", NULL);
    assert_true(al_model_refresh(room.model, NULL));
    assert_int_equal(room.model->parts[AL_ITEM_RUNNING].count, 0);
    assert_int_equal(room.model->parts[AL_ITEM_EXECUTION].count, 2);
    leave(&room);
}

static void staged_commits_of_all_stores(void **state)
{
    const struct al_item *item;
    struct al_str text = AL_STR_INIT;
    struct room room;
    al_auto(al_freep) char *a = NULL, *b = NULL;

    (void)state;
    enter(&room);
    a = tmpdir_path(room.top, "state/staging/a/staged");
    b = tmpdir_path(room.top, "state/staging/b/staged");
    assert_int_equal(al_fs_mkdirs(a, 0700), 0);
    assert_int_equal(al_fs_mkdirs(b, 0700), 0);
    tmpdir_write(room.top, "state/staging/a/staged/1.json",
                 "{\"id\":\"1\",\"createdAt\":\"2026-01-01T00:00:00.000Z\","
                 "\"message\":\"\\n\\u001b[2Jtitle\\n\\nbody\",\"worker\":\"w\","
                 "\"files\":[{\"sandboxPath\":\"/workspace/a/b\",\"operation\":\"create\"}]}");
    tmpdir_write(room.top, "state/staging/b/staged/2.json",
                 "{\"id\":\"2\",\"createdAt\":\"2026-01-02T00:00:00.000Z\",\"message\":\"two\","
                 "\"files\":[]}");
    tmpdir_write(room.top, "state/staging/b/staged/3.json", "{\"id\":\"3\"");
    tmpdir_write(room.top, "state/staging/b/staged/4.json",
                 "{\"id\":\"4\",\"createdAt\":\"t\",\"message\":\"pushed\",\"pushed\":{}}");
    assert_true(al_model_refresh(room.model, NULL));
    assert_int_equal(room.model->parts[AL_ITEM_STAGED].count, 2);
    assert_string_equal(al_model_item(room.model, AL_ITEM_STAGED, 0)->key, "2");
    item = al_model_item(room.model, AL_ITEM_STAGED, 1);
    assert_string_equal(al_item_title(item), "\033[2Jtitle");
    assert_string_equal(al_item_get(item, "agent"), "w");
    al_item_add_text(item, &text);
    assert_non_null(strstr(text.buf, "body\n\n1 file:\n  create: /workspace/a/b\n"));
    al_str_clear(&text);
    assert_false(al_model_refresh(room.model, NULL));
    leave(&room);
}

static void times_as_a_user_reads_them(void **state)
{
    static const struct {
        time_t from_now;
        const char *shown;
    } rows[] = { { -5, "just now" },
                 { 30, "in less than a minute" },
                 { -90, "1 minute ago" },
                 { -59 * 60 - 30, "59 minutes ago" },
                 { 9 * 60 + 30, "in 9 minutes" },
                 { -61 * 60, "1 hour ago" },
                 { -23 * 3600 - 60, "23 hours ago" } };

    (void)state;
    for (size_t i = 0; i < AL_COUNT(rows); i++) {
        const time_t at = time(NULL) + rows[i].from_now;
        al_auto(al_freep) char *shown = NULL;
        char iso[40];
        struct tm tm;

        (void)strftime(iso, sizeof(iso), "%Y-%m-%dT%H:%M:%S.000Z", gmtime_r(&at, &tm));
        shown = al_review_when(iso);
        assert_string_equal(shown, rows[i].shown);
    }
    al_auto(al_freep) char *old = al_review_when("2020-01-31T12:00:00.000Z");
    al_auto(al_freep) char *none = al_review_when("nonsense");

    assert_true(al_starts_with(old, "2020-0"));
    assert_string_equal(none, "nonsense");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(executions_newest_first),
        cmocka_unit_test(the_newest_are_kept),
        cmocka_unit_test(calls_that_run_and_those_that_wait),
        cmocka_unit_test(staged_commits_of_all_stores),
        cmocka_unit_test(times_as_a_user_reads_them),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
