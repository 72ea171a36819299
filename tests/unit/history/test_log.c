// SPDX-License-Identifier: Apache-2.0
/* history/journal.h: every call has one line with everything that is known of it. */
#include <fcntl.h>
#include <nettle/hmac.h>
#include <regex.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "guard/effects.h"
#include "tests/unit/history/fixture.h"

#define ZEROS "0000000000000000000000000000000000000000000000000000000000000000"

/* Line `number` (from 1) of the log. */
static char *line_text(const struct tmpdir *dir, int number)
{
    al_auto(al_freep) char *text = journal_text(dir);
    char *at = text;

    for (int i = 1; i < number; i++)
        at = strchr(at, '\n') + 1;
    return al_strndup(at, strcspn(at, "\n"));
}

static json_t *line_json(const struct tmpdir *dir, int number)
{
    al_auto(al_freep) char *text = line_text(dir, number);
    json_t *line = json_loads(text, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);

    assert_non_null(line);
    return line;
}

static bool matches(const char *text, const char *pattern)
{
    regex_t regex;
    int r;

    assert_int_equal(regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB), 0);
    r = regexec(&regex, text, 0, NULL, 0);
    regfree(&regex);
    return r == 0;
}

/* The name of the one open record; NULL when there is none.  Caller frees. */
static char *open_name(const struct tmpdir *dir)
{
    struct al_strv names = journal_open_names(dir, false);
    char *name = names.count ? al_strdup(names.items[0]) : NULL;

    assert_true(names.count <= 1);
    al_strv_clear(&names);
    return name;
}

static void writes_the_members_in_their_order(void **state)
{
    static const char *const names[] = {
        "timestamp",  "time",        "seq",     "conversation_id", "id",          "agent",
        "tool",       "operation",   "effects", "input",           "result",      "outcome",
        "decision",   "decided_by",  "summary", "git_commit",      "duration_ms", "root",
        "repository", "confinement", "prev",
    };
    const struct al_record_end end = {
        .operation = "both",
        .effects = AL_READS | AL_WRITES_INDEX,
        .decision = "once",
        .decided_by = "elicitation",
        .summary = "Restore a.c",
        .root = "/srv",
        .repository = "/srv/app",
        .confinement = "landlock7+seccomp",
        .git_commit = "0123",
        .text = "Restored 1 file(s)",
        .text_len = 18,
    };
    const struct tmpdir *dir = *state;
    struct al_journal *journal = journal_open(dir);
    al_auto(al_json_decrefp) json_t *input = json_loads("{\"paths\":[\"a.c\"]}", 0, NULL);
    struct al_record_begin begin = { .tool = "git_restore", .agent = "reviewer" };
    struct al_record *record = NULL;
    const char *name;
    json_t *value;
    size_t i = 0;

    begin.input = input;
    assert_int_equal(al_record_open(journal, &begin, &record, NULL), 0);
    assert_int_equal(al_record_close(record, &end), 0);
    al_auto(al_json_decrefp) json_t *line = line_json(dir, 1);
    json_object_foreach(line, name, value) assert_string_equal(name, names[i++]);
    assert_int_equal(i, COUNT(names));

    al_auto(al_freep) char *text = line_text(dir, 1);
    assert_non_null(strstr(text, "\"seq\":1,"));
    assert_non_null(strstr(
        text, ",\"id\":1,\"agent\":\"reviewer\",\"tool\":\"git_restore\",\"operation\":\"both\","
              "\"effects\":[\"reads\",\"writes_index\"],"
              "\"input\":{\"paths\":[\"a.c\"]},"
              "\"result\":{\"success\":true,\"output\":\"Restored 1 file(s)\"},"
              "\"outcome\":\"ok\",\"decision\":\"once\","
              "\"decided_by\":\"elicitation\",\"summary\":\"Restore a.c\","
              "\"git_commit\":\"0123\",\"duration_ms\":"));
    assert_non_null(strstr(text, ",\"root\":\"/srv\","
                                 "\"repository\":\"/srv/app\","
                                 "\"confinement\":\"landlock7+seccomp\",\"prev\":\"" ZEROS "\"}"));
    assert_true(matches(al_json_get_string(line, "timestamp"), "^[0-9]{8}_[0-9]{6}$"));
    assert_true(matches(al_json_get_string(line, "time"),
                        "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z$"));
    al_auto(al_freep) char *session = al_journal_conversation(journal, 0);
    assert_string_equal(al_json_get_string(line, "conversation_id"), session);
    al_journal_free(journal);
}

static void writes_null_for_what_is_not_known(void **state)
{
    static const char *const nulls[] = { "agent",      "operation",  "decision",
                                         "decided_by", "summary",    "git_commit",
                                         "root",       "repository", "confinement" };
    const struct al_record_end end = { .status = AL_ERR_EXECUTION };
    const struct tmpdir *dir = *state;
    struct al_journal *journal = journal_open(dir);
    struct al_record *record = NULL;

    assert_int_equal(journal_begin(journal, "x", NULL, &record, NULL), 0);
    assert_int_equal(al_record_close(record, &end), 0);
    al_journal_free(journal);
    al_auto(al_json_decrefp) json_t *line = line_json(dir, 1);
    for (size_t i = 0; i < COUNT(nulls); i++)
        assert_true(json_is_null(json_object_get(line, nulls[i])));
    al_auto(al_freep) char *text = line_text(dir, 1);
    assert_non_null(strstr(text, "\"effects\":[],\"input\":{},"
                                 "\"result\":{\"success\":false,\"error\":\"\"}"));
}

static void chains_each_line_to_the_one_before(void **state)
{
    const struct tmpdir *dir = *state;

    journal_fill(dir, 3);
    al_auto(al_str_clear) struct al_str key = AL_STR_INIT;
    assert_int_equal(al_fs_read(dir->fd, "tool_log.key", 32, &key), 0);
    assert_int_equal(key.len, 32);
    for (int number = 1; number <= 3; number++) {
        al_auto(al_json_decrefp) json_t *line = line_json(dir, number);
        char wanted[65] = ZEROS;

        assert_int_equal(json_integer_value(json_object_get(line, "seq")), number);
        if (number > 1) {
            al_auto(al_freep) char *before = line_text(dir, number - 1);
            struct hmac_sha256_ctx ctx;
            uint8_t mac[32];

            hmac_sha256_set_key(&ctx, key.len, (const uint8_t *)key.buf);
            hmac_sha256_update(&ctx, strlen(before), (const uint8_t *)before);
            hmac_sha256_digest(&ctx, sizeof(mac), mac);
            for (size_t i = 0; i < sizeof(mac); i++)
                (void)snprintf(wanted + 2 * i, 3, "%02x", mac[i]);
        }
        assert_string_equal(al_json_get_string(line, "prev"), wanted);
    }
}

static void writes_ascii_whatever_comes_in(void **state)
{
    static const char text[] = "caf\xc3\xa9 \xff \xf0\x9f\x8c\xb2 \x1b[31m\n\0\x7f";
    const struct al_record_end end = { .status = AL_ERR_EXECUTION,
                                       .text = text,
                                       .text_len = sizeof(text) - 1,
                                       .summary = "\xe2\x80\xae",
                                       .repository = "/\xc3\xa9/\xff" };
    const struct tmpdir *dir = *state;
    struct al_journal *journal = journal_open(dir);
    al_auto(al_json_decrefp) json_t *input = json_pack("{s:s}", "\xc3\xa9", "\xc3\xa9\n");
    struct al_record *record = NULL;

    assert_int_equal(journal_begin(journal, "x", input, &record, NULL), 0);
    assert_int_equal(al_record_close(record, &end), 0);
    al_journal_free(journal);
    al_auto(al_freep) char *line = journal_text(dir);
    for (const char *at = line; at[1]; at++)
        assert_true(*at >= 0x20 && *at <= 0x7f);
    assert_string_equal(strchr(line, '\n'), "\n");
    al_auto(al_json_decrefp) json_t *value = line_json(dir, 1);
    const json_t *error = json_object_get(json_object_get(value, "result"), "error");
    static const char wanted[] = "caf\xc3\xa9 \xef\xbf\xbd \xf0\x9f\x8c\xb2 \x1b[31m\n\0\x7f";
    assert_int_equal(json_string_length(error), sizeof(wanted) - 1);
    assert_memory_equal(json_string_value(error), wanted, sizeof(wanted));
    assert_intact(dir, 1);
}

/* JSON that is nested deeper than a parser allows must not look like tampering. */
static void verifies_whatever_was_given_as_input(void **state)
{
    const struct tmpdir *dir = *state;
    struct al_journal *journal = journal_open(dir);
    json_t *input = al_json_array();

    for (int i = 0; i < 3000; i++) {
        json_t *outer = al_json_array();

        al_json_append(outer, input);
        input = outer;
    }
    for (int i = 0; i < 2; i++) {
        const struct al_record_end end = { .status = AL_ERR_BAD_ARGS };
        struct al_record *record = NULL;

        assert_int_equal(journal_begin(journal, "x", input, &record, NULL), 0);
        assert_int_equal(al_record_close(record, &end), 0);
    }
    json_decref(input);
    al_journal_free(journal);
    assert_intact(dir, 2);
}

static void keeps_an_open_record_until_it_is_closed(void **state)
{
    const struct tmpdir *dir = *state;
    struct al_journal *journal = journal_open(dir);
    const struct al_record_end end = { .status = AL_OK };
    al_auto(al_json_decrefp) json_t *input = json_pack("{s:s}", "MY_TOKEN", "secret");
    struct al_record *record = NULL;
    al_auto(al_freep) char *begin = al_asprintf("open/%ld-", (long)getpid());

    assert_null(open_name(dir));
    assert_int_equal(journal_begin(journal, "git_add", input, &record, NULL), 0);
    al_auto(al_freep) char *name = open_name(dir);
    assert_non_null(name);
    assert_true(al_starts_with(name, begin));
    al_auto(al_freep) char *text = tmpdir_read(dir, name);
    bool written = false;
    al_auto(al_json_decrefp) json_t *note = al_open_record_read(text, strlen(text), &written);
    assert_false(written);
    assert_string_equal(al_json_get_string(note, "tool"), "git_add");
    assert_string_equal(al_json_get_string(json_object_get(note, "input"), "MY_TOKEN"),
                        "[redacted]");
    al_auto(al_freep) char *began = al_strdup(al_json_get_string(note, "time"));
    assert_int_equal(al_record_close(record, &end), 0);
    assert_null(open_name(dir));
    al_auto(al_json_decrefp) json_t *line = line_json(dir, 1);
    assert_string_equal(al_json_get_string(line, "time"), began);
    al_journal_free(journal);
}

static void leaves_the_open_records_of_others_alone(void **state)
{
    struct tmpdir *dir = *state;
    al_auto(al_freep) char *taken = al_asprintf("open/%ld-0.jsonl", (long)getpid());

    (void)mkdirat(dir->fd, "open", 0700);
    tmpdir_write(dir, taken, "{\"begin\":1}\n");
    al_auto(al_closep) int fd = openat(dir->fd, taken, O_RDONLY | O_CLOEXEC);
    assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), 0); /* as its writer does */
    journal_fill(dir, 2);
    al_auto(al_freep) char *name = open_name(dir);
    assert_string_equal(name, taken);
    al_auto(al_freep) char *text = tmpdir_read(dir, taken);
    assert_string_equal(text, "{\"begin\":1}\n");
    assert_intact(dir, 2);
}

static void gives_each_session_its_own_id(void **state)
{
    const struct tmpdir *dir = *state;
    struct al_journal *one = journal_open(dir), *two = journal_open(dir);

    al_auto(al_freep) char *first = al_journal_conversation(one, 0);
    al_auto(al_freep) char *second = al_journal_conversation(two, 0);
    assert_true(matches(first, "^[0-9]{8}_[0-9]{6}-[0-9a-f]{6}$"));
    assert_string_not_equal(first, second);
    al_journal_free(one);
    al_journal_free(two);
}

static void says_when_it_cannot_be_opened(void **state)
{
    struct tmpdir *dir = *state;
    al_auto(al_freep) char *file = tmpdir_path(dir, "tool_log.jsonl");
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    struct al_journal *journal = NULL;

    tmpdir_write(dir, "open", "not a directory");
    assert_int_equal(al_journal_open(file, &journal, &err), AL_ERR_EXECUTION);
    assert_non_null(err.message);
    assert_int_equal(al_journal_open("relative", &journal, &err), AL_ERR_EXECUTION);
    assert_null(journal);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        JOURNAL_TEST(writes_the_members_in_their_order),
        JOURNAL_TEST(writes_null_for_what_is_not_known),
        JOURNAL_TEST(chains_each_line_to_the_one_before),
        JOURNAL_TEST(writes_ascii_whatever_comes_in),
        JOURNAL_TEST(verifies_whatever_was_given_as_input),
        JOURNAL_TEST(keeps_an_open_record_until_it_is_closed),
        JOURNAL_TEST(leaves_the_open_records_of_others_alone),
        JOURNAL_TEST(gives_each_session_its_own_id),
        JOURNAL_TEST(says_when_it_cannot_be_opened),
    };

    return cmocka_run_group_tests_name("journal/log", tests, NULL, NULL);
}
