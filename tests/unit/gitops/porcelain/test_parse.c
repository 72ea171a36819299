// SPDX-License-Identifier: Apache-2.0
/* gitops/porcelain/parse.c: git's machine-readable output is parsed, wherever it is split. */
#include <stdlib.h>

#include "gitops/nul_records.h"
#include "gitops/porcelain/parse.h"
#include "tests/lib/assert.h"

#define ZEROS "0000000000000000000000000000000000000000"
#define ONE   "1 M. N... 100644 100644 100644 " ZEROS " " ZEROS " "

/* Feed a whole constant, including NULs, in pieces of `piece` bytes. Returns false once it is
 * refused. */
#define FEED(reader, text, piece) feed(&(reader)->records, (text), sizeof(text) - 1, (piece))

static bool feed(struct al_nul_records *records, const char *text, size_t len, size_t piece)
{
    bool more = true;

    for (size_t at = 0; at < len && more; at += piece)
        more = al_nul_records_add(records, text + at, len - at < piece ? len - at : piece);
    al_nul_records_clear(records);
    return more;
}

static void joined(const struct al_strv *list, const char *wanted)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    for (size_t i = 0; i < list->count; i++)
        al_str_addf(&text, "%s%s", i ? "|" : "", list->items[i]);
    assert_string_equal(text.buf, wanted);
}

/** The names that were passed on, with "|" before each but the first. */
struct names {
    struct al_str lists[AL_CHANGES];
};

static void clear_names(struct names *names)
{
    for (int i = 0; i < AL_CHANGES; i++)
        al_str_clear(&names->lists[i]);
}

#define NAMES_INIT ((struct names){ { AL_STR_INIT, AL_STR_INIT, AL_STR_INIT } })

static void take_name(void *payload, enum al_status_change change, const char *name)
{
    struct al_str *list = &((struct names *)payload)->lists[change];

    al_str_addf(list, "%s%s", list->len ? "|" : "", name);
}

static const char status_text[] =
    "# branch.oid " ZEROS "\0# branch.head main\0# branch.upstream origin/main\0"
    "1 M. N... 100644 100644 100644 " ZEROS " " ZEROS " staged file\0"
    "1 .D N... 100644 100644 000000 " ZEROS " " ZEROS " gone\nline\0"
    "1 AM N... 000000 100644 100644 " ZEROS " " ZEROS " both\0"
    "2 R. N... 100644 100644 100644 " ZEROS " " ZEROS " R100 new name\0? old name\0"
    "u UU N... 100644 100644 100644 100644 " ZEROS " " ZEROS " " ZEROS " in conflict\0"
    "? un tracked\0! ignored\0";

static void status_sorts_names(void **state)
{
    (void)state;
    for (size_t piece = 1; piece < 40; piece += 13) {
        al_auto(clear_names) struct names names = NAMES_INIT;
        al_auto(al_worktree_clear) struct al_worktree status = AL_WORKTREE_INIT(take_name, &names);
        struct al_status_reader reader;

        al_status_reader_init(&reader, &status, 1000);
        assert_true(FEED(&reader, status_text, piece));
        assert_string_equal(status.branch, "main");
        assert_string_equal(names.lists[AL_STAGED].buf, "staged file|both|new name");
        assert_string_equal(names.lists[AL_MODIFIED].buf, "gone\nline|both|in conflict");
        assert_string_equal(names.lists[AL_UNTRACKED].buf, "un tracked");
        assert_false(status.truncated);
    }
}

static void status_ignores_what_is_no_record(void **state)
{
    static const char text[] = "1\0"
                               "1 M\0"
                               "1 MM a b\0u UU\0?\0\0x\0# branch\0"
                               "12 M. N... 1 1 1 a b name\0";
    al_auto(clear_names) struct names names = NAMES_INIT;
    al_auto(al_worktree_clear) struct al_worktree status = AL_WORKTREE_INIT(take_name, &names);
    struct al_status_reader reader;

    (void)state;
    al_status_reader_init(&reader, &status, 1000);
    assert_true(FEED(&reader, text, 7));
    assert_null(status.branch);
    for (int i = 0; i < AL_CHANGES; i++)
        assert_string_equal(names.lists[i].buf, "");
}

static void status_keeps_what_fits(void **state)
{
    static const char text[] = ONE "abcd\0" ONE "efgh\0";

    (void)state;
    for (size_t room = 13; room <= 15;
         room++) { /* seven: a name of four bytes and what JSON adds */
        al_auto(clear_names) struct names names = NAMES_INIT;
        al_auto(al_worktree_clear) struct al_worktree status = AL_WORKTREE_INIT(take_name, &names);
        struct al_status_reader reader;

        al_status_reader_init(&reader, &status, room);
        assert_int_equal(FEED(&reader, text, sizeof(text)), room >= 14);
        assert_string_equal(names.lists[AL_STAGED].buf, room >= 14 ? "abcd|efgh" : "abcd");
        assert_int_equal(status.truncated, room < 14);
    }
}

static const char log_text[] = "h1\0A <a@x>\0d1\0subject\0h2\0B <b@x>\0d2\0\0h3\0C <>\0d3\0x\0";

static void take_commit(void *payload, const struct al_log_entry *entry)
{
    al_str_addf(payload, "%s|%s|%s|%s\n", entry->hash, entry->author, entry->date, entry->subject);
}

static void history_stops_at_its_limit(void **state)
{
    (void)state;
    for (size_t limit = 2; limit <= 4; limit++) {
        al_auto(al_str_clear) struct al_str seen = AL_STR_INIT;
        struct al_commits history = AL_COMMITS_INIT(take_commit, &seen);
        struct al_commits_reader reader;

        al_commits_reader_init(&reader, &history, limit, 1000);
        assert_int_equal(FEED(&reader, log_text, 5), limit >= 3);
        assert_int_equal(history.count, limit < 3 ? limit : 3);
        assert_int_equal(history.truncated, limit < 3);
        assert_string_equal(seen.buf, limit < 3 ? "h1|A <a@x>|d1|subject\nh2|B <b@x>|d2|\n"
                                                : "h1|A <a@x>|d1|subject\nh2|B <b@x>|d2|\n"
                                                  "h3|C <>|d3|x\n");
    }
}

static void history_keeps_what_fits(void **state)
{
    al_auto(al_str_clear) struct al_str seen = AL_STR_INIT;
    struct al_commits history = AL_COMMITS_INIT(take_commit, &seen);
    struct al_commits_reader reader;

    (void)state;
    al_commits_reader_init(&reader, &history, 10, 250);
    assert_false(FEED(&reader, log_text, sizeof(log_text)));
    assert_int_equal(history.count, 2);
    assert_string_equal(seen.buf, "h1|A <a@x>|d1|subject\nh2|B <b@x>|d2|\n");
    assert_true(history.truncated);
}

static void branches_have_short_names(void **state)
{
    static const char text[] = "*refs/heads/main\0h1\0refs/remotes/origin/main\0\0\n"
                               " refs/heads/local\0h2\0refs/heads/main\0\0\n"
                               " refs/heads/alias\0h2\0\0refs/heads/main\0\n"
                               " refs/remotes/origin/HEAD\0h1\0\0refs/remotes/origin/main\0\n"
                               " refs/remotes/origin/main\0h1\0\0\0\n";
    al_auto(al_branches_clear) struct al_branches branches = AL_BRANCHES_INIT;
    struct al_branches_reader reader;

    (void)state;
    al_branches_reader_init(&reader, &branches, 1000);
    assert_true(FEED(&reader, text, 11));
    assert_int_equal(branches.count, 4);
    assert_string_equal(branches.items[0].name, "main");
    assert_string_equal(branches.items[0].upstream, "origin/main");
    assert_true(branches.items[0].current && !branches.items[0].remote);
    assert_string_equal(branches.items[1].upstream, "main");
    assert_false(branches.items[1].current);
    assert_string_equal(branches.items[2].name, "alias");
    assert_null(branches.items[2].upstream);
    assert_string_equal(branches.items[3].name, "origin/main");
    assert_string_equal(branches.items[3].hash, "h1");
    assert_true(branches.items[3].remote);
}

static void branches_keep_what_fits(void **state)
{
    static const char text[] = "*refs/heads/a\0h\0\0\0\n refs/heads/b\0h\0\0\0\n";

    (void)state;
    for (size_t room = 110; room <= 250; room += 140) {
        al_auto(al_branches_clear) struct al_branches branches = AL_BRANCHES_INIT;
        struct al_branches_reader reader;

        al_branches_reader_init(&reader, &branches, room);
        assert_int_equal(FEED(&reader, text, 3), room == 250);
        assert_int_equal(branches.count, room == 250 ? 2 : 1);
        assert_int_equal(branches.truncated, room != 250);
    }
}

static void stash_subjects_are_taken_apart(void **state)
{
    static const struct {
        const char *subject, *message, *branch;
    } facts[] = {
        { "On main: my words", "my words", "main" },
        { "WIP on main: 1a2b3c4 subject", "1a2b3c4 subject", "main" },
        { "On feature/a: x: y", "x: y", "feature/a" },
        { "On (no branch): words", "words", NULL },
        { "WIP on (no branch): words", "words", NULL },
        { "On main:", "On main:", NULL },
        { "On main:words", "On main:words", NULL },
        { "On its own", "On its own", NULL },
        { "Off main: x", "Off main: x", NULL },
        { "WIP main: x", "WIP main: x", NULL },
        { "", "", NULL },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(facts); i++) {
        al_auto(al_stashes_clear) struct al_stashes stashes = AL_STASHES_INIT;
        al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
        struct al_stashes_reader reader;

        al_str_addf(&text, "%s%cdate%c", facts[i].subject, '\0', '\0');
        al_stashes_reader_init(&reader, &stashes, 1000);
        assert_true(feed(&reader.records, text.buf, text.len, text.len));
        assert_int_equal(stashes.count, 1);
        assert_string_equal(stashes.items[0].message, facts[i].message);
        assert_string_equal(stashes.items[0].date, "date");
        if (facts[i].branch)
            assert_string_equal(stashes.items[0].branch, facts[i].branch);
        else
            assert_null(stashes.items[0].branch);
    }
}

static void stashes_and_names_keep_what_fits(void **state)
{
    static const char text[] = "a\0b\0c\0d\0";
    al_auto(al_stashes_clear) struct al_stashes stashes = AL_STASHES_INIT;
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;
    struct al_stashes_reader stash_reader;
    struct al_file_list_reader names_reader;

    (void)state;
    al_stashes_reader_init(&stash_reader, &stashes, 100);
    assert_false(FEED(&stash_reader, text, 1));
    assert_int_equal(stashes.count, 1);
    assert_true(stashes.truncated);
    al_file_list_reader_init(&names_reader, &names, 15);
    assert_false(FEED(&names_reader, text, 1));
    joined(&names, "a|b|c");
    assert_true(names_reader.truncated);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(status_sorts_names),
        cmocka_unit_test(status_ignores_what_is_no_record),
        cmocka_unit_test(status_keeps_what_fits),
        cmocka_unit_test(history_stops_at_its_limit),
        cmocka_unit_test(history_keeps_what_fits),
        cmocka_unit_test(branches_have_short_names),
        cmocka_unit_test(branches_keep_what_fits),
        cmocka_unit_test(stash_subjects_are_taken_apart),
        cmocka_unit_test(stashes_and_names_keep_what_fits),
    };

    return cmocka_run_group_tests_name("gitops/porcelain", tests, NULL, NULL);
}
