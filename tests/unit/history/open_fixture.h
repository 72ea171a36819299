// SPDX-License-Identifier: Apache-2.0
/* The open records of a scratch directory, as the tests of history/open_records.c share them. */
#ifndef TESTS_UNIT_HISTORY_OPEN_FIXTURE_H
#define TESTS_UNIT_HISTORY_OPEN_FIXTURE_H

#include <unistd.h>

#include "history/journal_private.h"
#include "tests/unit/history/fixture.h"

static inline struct al_open_records *open_records(const struct tmpdir *dir)
{
    al_auto(al_freep) char *path = tmpdir_path(dir, "open");
    struct al_open_records *records = NULL;

    assert_int_equal(al_open_records_open(path, &records, NULL), 0);
    return records;
}

static inline int try_to_begin(struct al_open_records *records, uint64_t serial,
                               const char *members, struct al_open_record *ret_record)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    al_str_adds(&text, members);
    return al_open_records_begin(records, serial, &text, ret_record);
}

static inline struct al_open_record begin(struct al_open_records *records, uint64_t serial,
                                          const char *members)
{
    struct al_open_record record = { .file = NULL };

    assert_int_equal(try_to_begin(records, serial, members, &record), 0);
    return record;
}

static inline int note(struct al_open_records *records, const struct al_open_record *record,
                       const char *members)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    al_str_adds(&text, members);
    return al_open_records_note(records, record, &text);
}

static inline char *file_name(unsigned n)
{
    return al_asprintf("open/%ld-%u.jsonl", (long)getpid(), n);
}

static inline bool is_there(const struct tmpdir *dir, const char *name)
{
    return faccessat(dir->fd, name, F_OK, 0) == 0;
}

/* Assert the text of this process's file number `n`; NULL: there is no such file. */
static inline void assert_file(const struct tmpdir *dir, unsigned n, const char *text)
{
    al_auto(al_freep) char *name = file_name(n);

    assert_int_equal(is_there(dir, name), text != NULL);
    if (!text)
        return;
    al_auto(al_freep) char *found = tmpdir_read(dir, name);
    assert_string_equal(found, text);
}

#endif
