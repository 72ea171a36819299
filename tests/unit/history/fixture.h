// SPDX-License-Identifier: Apache-2.0
/* A journal in a scratch directory, as the tests of src/history share it. */
#ifndef TESTS_UNIT_HISTORY_FIXTURE_H
#define TESTS_UNIT_HISTORY_FIXTURE_H

#include <dirent.h>

#include "history/journal_private.h"
#include "tests/lib/assert.h"
#include "tests/lib/tmpdir.h"

/* A new scratch directory for each test, so that no test sees another's lines. */
static inline int journal_setup(void **state)
{
    *state = tmpdir_new();
    return 0;
}

static inline int journal_teardown(void **state)
{
    tmpdir_free(*state);
    return 0;
}

#define JOURNAL_TEST(name) cmocka_unit_test_setup_teardown(name, journal_setup, journal_teardown)

static inline struct al_journal *journal_open(const struct tmpdir *dir)
{
    al_auto(al_freep) char *file = tmpdir_path(dir, "tool_log.jsonl");
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    struct al_journal *journal = NULL;
    int r = al_journal_open(file, &journal, &err);

    if (r < 0)
        print_message("%s\n", err.message);
    assert_int_equal(r, 0);
    return journal;
}

static inline int journal_begin(struct al_journal *journal, const char *tool, const json_t *input,
                                struct al_record **ret_record, struct al_error *err)
{
    return al_record_open(journal, &(struct al_record_begin){ .tool = tool, .input = input },
                          ret_record, err);
}

/* Record one call from its beginning to its end.  The status of closing it. */
static inline int journal_add(struct al_journal *journal, const char *tool)
{
    const struct al_record_end end = {
        .decision = "auto", .decided_by = "policy", .text = "done", .text_len = 4
    };
    struct al_record *record = NULL;
    int r = journal_begin(journal, tool, NULL, &record, NULL);

    return r < 0 ? r : al_record_close(record, &end);
}

/* Record `count` calls of "tool". */
static inline void journal_fill(const struct tmpdir *dir, int count)
{
    struct al_journal *journal = journal_open(dir);

    for (int i = 0; i < count; i++)
        assert_int_equal(journal_add(journal, "tool"), 0);
    al_journal_free(journal);
}

/* Verify the log: 0 for an intact chain of `*ret_lines` lines, else the number of the bad line. */
static inline uint64_t journal_bad_line(const struct tmpdir *dir, uint64_t *ret_lines)
{
    al_auto(al_freep) char *file = tmpdir_path(dir, "tool_log.jsonl");
    struct al_verdict verdict = { .lines = 0 };

    assert_int_equal(al_journal_verify(file, &verdict, NULL), 0);
    assert_true((verdict.bad_line == 0) == (verdict.problem == NULL));
    if (verdict.problem)
        print_message("# %s\n", verdict.problem);
    free(verdict.problem);
    *ret_lines = verdict.lines;
    return verdict.bad_line;
}

static inline void assert_intact(const struct tmpdir *dir, uint64_t lines)
{
    uint64_t found;

    assert_int_equal(journal_bad_line(dir, &found), 0);
    assert_int_equal(found, lines);
}

static inline void assert_bad_line(const struct tmpdir *dir, uint64_t bad_line)
{
    uint64_t found;

    assert_int_equal(journal_bad_line(dir, &found), bad_line);
    assert_int_equal(found, bad_line - 1);
}

/* The names in open/ of the files that have a call, or with `idle` of those without one. */
static inline struct al_strv journal_open_names(const struct tmpdir *dir, bool idle)
{
    al_auto(al_freep) char *path = tmpdir_path(dir, "open");
    DIR *open = opendir(path);
    struct al_strv names = AL_STRV_INIT;
    const struct dirent *entry;

    assert_non_null(open);
    while ((entry = readdir(open))) {
        al_auto(al_freep) char *name = al_asprintf("open/%s", entry->d_name);
        al_auto(al_freep) char *text = entry->d_name[0] == '.' ? NULL : tmpdir_read(dir, name);
        bool written = false;
        al_auto(al_json_decrefp) json_t *call =
            text ? al_open_record_read(text, strlen(text), &written) : NULL;

        if (text && !call == idle)
            al_strv_add(&names, name);
    }
    closedir(open);
    return names;
}

static inline size_t journal_open_count(const struct tmpdir *dir, bool idle)
{
    struct al_strv names = journal_open_names(dir, idle);
    size_t count = names.count;

    al_strv_clear(&names);
    return count;
}

/* Replace the log's bytes, as a user with an editor would. */
static inline void journal_rewrite(struct tmpdir *dir, const char *text)
{
    tmpdir_write(dir, "tool_log.jsonl", text);
}

static inline char *journal_text(const struct tmpdir *dir)
{
    char *text = tmpdir_read(dir, "tool_log.jsonl");

    assert_non_null(text);
    return text;
}

#endif
