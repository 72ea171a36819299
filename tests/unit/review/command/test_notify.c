// SPDX-License-Identifier: Apache-2.0
/* review/command/notify.h: the user's desktop is told that questions wait, in a text that is safe.
 */
#include "review/command/notify.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/lib/assert.h"
#include "tests/lib/tmpdir.h"

struct room {
    struct tmpdir *top;
    char *pipe; /* what the program says */
};

/* A directory with a notify-send of its own, which finds the pipe in $HOME. */
static void enter(struct room *room, const char *script)
{
    al_auto(al_freep) char *program = NULL;

    *room = (struct room){ .top = tmpdir_new() };
    room->pipe = tmpdir_path(room->top, "said");
    assert_int_equal(mkfifo(room->pipe, 0600), 0);
    tmpdir_write(room->top, "notify-send", script);
    program = tmpdir_path(room->top, "notify-send");
    assert_int_equal(chmod(program, 0700), 0);
    assert_int_equal(setenv("HOME", room->top->path, 1), 0);
}

static void leave(struct room *room)
{
    free(room->pipe);
    tmpdir_free(room->top);
}

/* What the program wrote up to its end. */
static void read_pipe(const struct room *room, char *ret_text, size_t size)
{
    FILE *file = fopen(room->pipe, "re");

    assert_non_null(file);
    ret_text[fread(ret_text, 1, size - 1, file)] = '\0';
    assert_int_equal(fclose(file), 0);
}

static void the_program_gets_a_safe_text(void **state)
{
    static const char script[] = "#!/bin/sh\nfor word; do echo \"[$word]\"; done >\"$HOME/said\"\n";
    char text[1024];
    struct al_review_notify *notify;
    struct room room;

    (void)state;
    enter(&room, script);
    notify = al_review_notify_new(AL_NOTIFY_SEND, room.top->path);
    assert_non_null(notify);
    al_review_notify_send(notify, 2, "<b>&\033[2J\nStage two</b>");
    read_pipe(&room, text, sizeof(text));
    al_review_notify_free(notify);
    assert_null(strchr(text, '\033'));
    assert_non_null(strstr(text, "[--app-name=airlock]\n[--]\n[airlock: 2 calls wait]\n[&lt;b&gt;"
                                 "&amp;"));
    assert_non_null(strstr(text, "Stage two&lt;/b&gt;]\n"));
    leave(&room);
}

static void a_long_summary_is_cut_between_characters(void **state)
{
    /* 200 bytes: 100 characters of two bytes; with one byte before them the last one has no room */
    static const struct {
        const char *begin;
        size_t wide, shown;
    } rows[] = { { "", 99, 198 }, { "", 100, 200 }, { "", 101, 200 }, { "x", 100, 199 } };

    (void)state;
    for (size_t i = 0; i < AL_COUNT(rows); i++) {
        al_auto(al_str_clear) struct al_str summary = AL_STR_INIT, wanted = AL_STR_INIT;
        struct al_review_notify *notify;
        struct room room;
        char text[1024];

        al_str_adds(&summary, rows[i].begin);
        for (size_t j = 0; j < rows[i].wide; j++)
            al_str_adds(&summary, "\u00e9");
        al_str_addf(&wanted, "airlock: 1 call waits\n%.*s\n", (int)rows[i].shown, summary.buf);
        enter(&room, "#!/bin/sh\nprintf '%s\\n' \"$3\" \"$4\" >\"$HOME/said\"\n");
        notify = al_review_notify_new(AL_NOTIFY_SEND, room.top->path);
        al_review_notify_send(notify, 1, summary.buf);
        read_pipe(&room, text, sizeof(text));
        al_review_notify_free(notify);
        assert_string_equal(text, wanted.buf);
        leave(&room);
    }
}

static void a_program_that_does_not_end_is_ended(void **state)
{
    static const char script[] =
        "#!/bin/sh\necho began >\"$HOME/said\"\nread word <\"$HOME/said\"\n";
    char text[64];
    struct al_review_notify *notify;
    struct room room;

    (void)state;
    enter(&room, script);
    notify = al_review_notify_new(AL_NOTIFY_SEND, room.top->path);
    al_review_notify_send(notify, 1, "Stage one");
    read_pipe(&room, text, sizeof(text));
    assert_string_equal(text, "began\n");
    al_review_notify_send(notify, 1, "Stage one"); /* it still runs: nothing happens */
    al_review_notify_free(notify);
    leave(&room);
}

static void nothing_is_sent_without_the_setting_or_the_program(void **state)
{
    struct room room;

    (void)state;
    enter(&room, "#!/bin/sh\n");
    assert_null(al_review_notify_new(AL_NOTIFY_NONE, room.top->path));
    assert_null(al_review_notify_new(AL_NOTIFY_BELL, room.top->path));
    assert_int_equal(unlinkat(room.top->fd, "notify-send", 0), 0);
    assert_null(al_review_notify_new(AL_NOTIFY_SEND, room.top->path));
    al_review_notify_send(NULL, 1, "Stage one");
    al_review_notify_free(NULL);
    leave(&room);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_program_gets_a_safe_text),
        cmocka_unit_test(a_long_summary_is_cut_between_characters),
        cmocka_unit_test(a_program_that_does_not_end_is_ended),
        cmocka_unit_test(nothing_is_sent_without_the_setting_or_the_program),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
