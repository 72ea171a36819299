// SPDX-License-Identifier: Apache-2.0
/* review/door.h: a door is attached to every process, whatever those say; it never blocks. */
#include "review/door.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "review/place.h"
#include "review/server.h"
#include "tests/lib/assert.h"
#include "tests/lib/tmpdir.h"

/* A process with a socket, which says what the test tells it to. */
struct fake {
    pid_t pid;
    int orders_fd; /* what it says to whoever connects; at its end it ends */
};

#define ENTRY(id, time)                                                                            \
    "{\"entry\":{\"id\":\"" id "\",\"time\":\"" time "\",\"repository\":\"/r\",\"tool\":\"t\","    \
    "\"operation\":\"o\",\"summary\":\"s\",\"risk\":\"low\",\"text\":\"x\",\"deadline\":\"d\"}}\n"
#define END "{\"end\":true}\n"

static void quit(void)
{
    /* Not _exit(): the leak checker would look for what the parent has allocated. */
    (void)syscall(SYS_exit_group, 0);
    abort();
}

/* Pass everything on in both directions. */
static void relay(int orders_fd, int fd)
{
    struct pollfd wait[2] = { { .fd = orders_fd, .events = POLLIN },
                              { .fd = fd, .events = POLLIN } };
    char chunk[65536];

    while (poll(wait, COUNT(wait), -1) > 0) {
        for (int i = 0; i < 2; i++) {
            const ssize_t n = wait[i].revents ? recv(wait[i].fd, chunk, sizeof(chunk), 0) : -1;

            if (n == 0 && i == 0)
                return;
            if (n == 0)
                wait[1].fd = -1; /* the door has let it go, and the process lives on */
            for (ssize_t sent = 0; n > 0 && sent < n;) {
                const ssize_t m = send(wait[!i].fd, chunk + sent, (size_t)(n - sent), MSG_NOSIGNAL);

                if (m < 0)
                    break;
                sent += m;
            }
        }
    }
}

static struct fake start(const char *dir)
{
    struct fake fake;
    int pair[2], dir_fd, listen_fd = -1, fd;
    struct pollfd wait[2];
    char ready;

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    fake.pid = fork();
    assert_true(fake.pid >= 0);
    if (fake.pid) {
        al_close(pair[1]);
        fake.orders_fd = pair[0];
        assert_int_equal(recv(fake.orders_fd, &ready, 1, 0), 1);
        return fake;
    }
    al_close(pair[0]);
    if (al_review_place_open(dir, true, true, &dir_fd, NULL) < 0 ||
        al_review_place_listen(dir_fd, &listen_fd, NULL) < 0)
        quit();
    (void)send(pair[1], "r", 1, 0);
    wait[0] = (struct pollfd){ .fd = listen_fd, .events = POLLIN };
    wait[1] = (struct pollfd){ .fd = pair[1], .events = POLLRDHUP };
    if (poll(wait, COUNT(wait), -1) > 0 && wait[0].revents &&
        (fd = accept(listen_fd, NULL, NULL)) >= 0)
        relay(pair[1], fd);
    al_review_place_remove(dir_fd);
    quit();
    return fake;
}

static void say(const struct fake *fake, const char *text)
{
    for (size_t sent = 0, len = strlen(text); sent < len;) {
        const ssize_t n = send(fake->orders_fd, text + sent, len - sent, MSG_NOSIGNAL);

        assert_true(n > 0);
        sent += (size_t)n;
    }
}

/* The next line that the door sends. */
static void hear(const struct fake *fake, char *ret_line, size_t size)
{
    size_t len = 0;

    while (len + 1 < size && recv(fake->orders_fd, ret_line + len, 1, 0) == 1 &&
           ret_line[len] != '\n')
        len++;
    ret_line[len] = '\0';
}

static void end(struct fake *fake)
{
    al_close(fake->orders_fd);
    assert_int_equal(waitpid(fake->pid, NULL, 0), fake->pid);
}

/* A directory and a door to it. */
struct room {
    struct tmpdir *top;
    char *dir;
    struct al_review_door *door;
};

static struct room enter(void)
{
    struct room room = { .top = tmpdir_new() };
    al_auto(al_strv_clear) struct al_strv dirs = AL_STRV_INIT;

    room.dir = tmpdir_path(room.top, "airlock");
    al_strv_add(&dirs, room.dir);
    room.door = al_review_door_new(&dirs);
    assert_non_null(room.door);
    return room;
}

static void leave(struct room *room)
{
    al_review_door_free(room->door);
    free(room->dir);
    tmpdir_free(room->top);
}

/* Run the door until all these changes came. */
static void await(const struct room *room, unsigned wanted)
{
    struct pollfd wait = { .fd = al_review_door_fd(room->door), .events = POLLIN };
    unsigned changes = 0;

    while ((changes & wanted) != wanted) {
        assert_int_equal(poll(&wait, 1, -1), 1);
        changes |= al_review_door_run(room->door);
    }
}

static const struct al_review_list *await_questions(const struct room *room, size_t count)
{
    while (al_review_door_questions(room->door)->count != count)
        await(room, AL_DOOR_QUESTIONS);
    return al_review_door_questions(room->door);
}

static void await_problem(const struct room *room, const char *part)
{
    while (!al_review_door_problem(room->door) || !strstr(al_review_door_problem(room->door), part))
        await(room, AL_DOOR_PROBLEMS);
}

static const char *id_at(const struct al_review_list *list, size_t index)
{
    return al_json_get_string(list->items[index].entry, "id");
}

static void what_waits_in_every_process_oldest_first(void **state)
{
    struct room room = enter();
    struct fake one = start(room.dir), two = start(room.dir);
    const struct al_review_list *list;

    (void)state;
    say(&one, ENTRY("00000001", "2026-01-01T00:00:02.000Z") END);
    say(&two, ENTRY("00000002", "2026-01-01T00:00:01.000Z")
                  ENTRY("00000003", "2026-01-01T00:00:03.000Z") END);
    list = await_questions(&room, 3);
    assert_string_equal(id_at(list, 0), "00000002");
    assert_string_equal(id_at(list, 1), "00000001");
    assert_string_equal(id_at(list, 2), "00000003");
    assert_int_equal(list->items[1].pid, one.pid);
    say(&two, "{\"gone\":\"00000002\"}\n{\"gone\":\"00000009\"}\n");
    list = await_questions(&room, 2);
    assert_string_equal(id_at(list, 0), "00000001");
    end(&two);
    list = await_questions(&room, 1);
    assert_string_equal(id_at(list, 0), "00000001");
    end(&one);
    (void)await_questions(&room, 0);
    assert_null(al_review_door_problem(room.door));
    leave(&room);
}

static void each_answer_has_one_reply(void **state)
{
    struct room room = enter();
    struct fake fake = start(room.dir);
    struct al_review_reply reply;
    char line[1024], said[1024];
    int64_t ticket;

    (void)state;
    say(&fake, ENTRY("00000001", "2026-01-01T00:00:01.000Z") END);
    (void)await_questions(&room, 1);
    hear(&fake, line, sizeof(line));
    assert_string_equal(line, "{\"do\":\"attach\"}");
    for (int i = 0; i < 3; i++) {
        static const char *const answers[] = { "\"gone\":\"00000001\"", "\"error\":\"no\\nway\"",
                                               "\"ok\":true" };
        static const enum al_review_outcome outcomes[] = { AL_REVIEW_GONE, AL_REVIEW_WRONG,
                                                           AL_REVIEW_TAKEN };

        ticket = al_review_door_answer(room.door, "00000001", AL_ANSWER_REJECT, "because\nof it");
        (void)al_review_door_run(room.door);
        hear(&fake, line, sizeof(line));
        (void)snprintf(said, sizeof(said),
                       "{\"do\":\"answer\",\"id\":\"00000001\",\"decision\":\"reject\","
                       "\"reason\":\"because of it\",\"ticket\":%lu}",
                       (unsigned long)ticket);
        assert_string_equal(line, said);
        (void)snprintf(said, sizeof(said), "{%s,\"ticket\":%lu}\n", answers[i],
                       (unsigned long)ticket);
        say(&fake, said);
        await(&room, AL_DOOR_REPLIES);
        assert_true(al_review_door_next_reply(room.door, &reply));
        assert_int_equal(reply.ticket, ticket);
        assert_int_equal(reply.outcome, outcomes[i]);
        assert_string_equal(reply.id, "00000001");
        if (reply.outcome == AL_REVIEW_WRONG)
            assert_string_equal(reply.message, "no way");
        al_review_reply_clear(&reply);
        assert_false(al_review_door_next_reply(room.door, &reply));
    }
    /* Nobody has this one; and the process of the other one ends. */
    ticket = al_review_door_answer(room.door, "no such id", AL_ANSWER_ONCE, NULL);
    await(&room, AL_DOOR_REPLIES);
    assert_true(al_review_door_next_reply(room.door, &reply));
    assert_int_equal(reply.ticket, ticket);
    assert_int_equal(reply.outcome, AL_REVIEW_GONE);
    al_review_reply_clear(&reply);
    ticket = al_review_door_answer(room.door, "00000001", AL_ANSWER_ONCE, NULL);
    end(&fake);
    await(&room, AL_DOOR_REPLIES);
    assert_true(al_review_door_next_reply(room.door, &reply));
    assert_int_equal(reply.ticket, ticket);
    assert_int_equal(reply.outcome, AL_REVIEW_GONE);
    al_review_reply_clear(&reply);
    leave(&room);
}

static void a_whole_text_comes_in_pieces(void **state)
{
    struct room room = enter();
    struct fake fake = start(room.dir);
    const struct al_review_text *text;
    char line[1024];

    (void)state;
    say(&fake, ENTRY("00000001", "2026-01-01T00:00:01.000Z")
                   ENTRY("00000002", "2026-01-01T00:00:02.000Z") END);
    (void)await_questions(&room, 2);
    hear(&fake, line, sizeof(line));
    assert_null(al_review_door_text(room.door, "00000001"));
    al_review_door_ask_text(room.door, "00000001");
    al_review_door_ask_text(room.door, "00000002");
    al_review_door_ask_text(room.door, "00000001");
    (void)al_review_door_run(room.door);
    hear(&fake, line, sizeof(line)); /* the last one that was asked for */
    assert_string_equal(line, "{\"do\":\"text\",\"id\":\"00000001\",\"ticket\":1}");
    say(&fake, "{\"text\":\"a\\n\",\"more\":true,\"ticket\":1}\n"
               "{\"text\":\"b\\n\",\"more\":false,\"ticket\":1}\n");
    await(&room, AL_DOOR_TEXTS);
    text = al_review_door_text(room.door, "00000001");
    while (!text->complete)
        await(&room, AL_DOOR_TEXTS);
    assert_string_equal(text->text.buf, "a\nb\n");
    al_review_door_ask_text(room.door, "00000002");
    assert_null(al_review_door_text(room.door, "00000001"));
    (void)al_review_door_run(room.door);
    hear(&fake, line, sizeof(line));
    assert_string_equal(line, "{\"do\":\"text\",\"id\":\"00000002\",\"ticket\":2}");
    say(&fake, "{\"error\":\"it changed\",\"ticket\":2}\n");
    await(&room, AL_DOOR_TEXTS);
    text = al_review_door_text(room.door, "00000002");
    assert_string_equal(text->problem, "it changed");
    assert_false(text->complete);
    /* One that failed can be asked for again, and goes with its question. */
    al_review_door_ask_text(room.door, "00000002");
    (void)al_review_door_run(room.door);
    hear(&fake, line, sizeof(line));
    say(&fake, "{\"gone\":\"00000002\"}\n{\"gone\":\"00000002\",\"ticket\":3}\n");
    (void)await_questions(&room, 1);
    assert_null(al_review_door_text(room.door, "00000002"));
    end(&fake);
    leave(&room);
}

/* Each of these lets the process go, and no other one. */
static void what_a_process_must_not_say(void **state)
{
    static const char *const wrong[][2] = {
        { "nonsense\n", "does not know" },
        { "[]\n", "does not know" },
        { "{}\n", "does not know" },
        { "{\"end\":true,\"end\":true}\n", "does not know" },
        { "{\"text\":\"unasked\",\"more\":false}\n", "does not know" },
        { "{\"ok\":true}\n", "does not know" },
        { "{\"entry\":{}}\n", "cannot be shown" },
        { ENTRY("0000000g", "t"), "cannot be shown" },
        { ENTRY("000000001", "t"), "cannot be shown" },
        { ENTRY("00000001", "t"), "cannot be shown" }, /* another process has it */
        { "{\"error\":\"go \\u001b[2Jaway\"}\n", "refuses: go away" },
    };
    struct room room = enter();
    struct fake good = start(room.dir);

    (void)state;
    say(&good, ENTRY("00000001", "2026-01-01T00:00:01.000Z") END);
    (void)await_questions(&room, 1);
    for (size_t i = 0; i < COUNT(wrong); i++) {
        struct fake bad = start(room.dir);

        say(&bad, wrong[i][0]);
        await_problem(&room, wrong[i][1]);
        end(&bad);
        while (al_review_door_problem(room.door))
            await(&room, AL_DOOR_PROBLEMS);
        assert_int_equal(al_review_door_questions(room.door)->count, 1);
    }
    end(&good);
    leave(&room);
}

static void more_than_fits(void **state)
{
    struct room room = enter();
    struct fake fake = start(room.dir);
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    (void)state;
    for (unsigned i = 0; i < AL_REVIEW_ENTRIES_MAX; i++) {
        char line[512];

        (void)snprintf(line, sizeof(line),
                       "{\"entry\":{\"id\":\"%08x\",\"time\":\"t\",\"repository\":\"/r\",\"tool\":"
                       "\"t\",\"operation\":\"o\",\"summary\":\"s\",\"risk\":\"low\",\"text\":\"\","
                       "\"deadline\":\"d\"}}\n",
                       i + 16);
        al_str_adds(&text, line);
    }
    say(&fake, text.buf);
    say(&fake, END);
    (void)await_questions(&room, AL_REVIEW_ENTRIES_MAX);
    assert_null(al_review_door_problem(room.door));
    say(&fake, ENTRY("00000001", "t"));
    await_problem(&room, "more questions than it may");
    assert_int_equal(al_review_door_questions(room.door)->count, 0);
    end(&fake);
    leave(&room);
}

/* A process that hangs keeps nothing waiting but what it is asked. */
static void a_process_that_hangs(void **state)
{
    struct room room = enter();
    struct fake deaf = start(room.dir), good = start(room.dir);
    struct al_review_reply reply;
    int64_t ticket;

    (void)state;
    say(&deaf, ENTRY("00000001", "2026-01-01T00:00:01.000Z") END);
    say(&good, ENTRY("00000002", "2026-01-01T00:00:01.000Z") END);
    (void)await_questions(&room, 2);
    assert_true(al_review_door_is_settled(room.door));
    ticket = al_review_door_answer(room.door, "00000001", AL_ANSWER_ONCE, NULL);
    await(&room, AL_DOOR_REPLIES | AL_DOOR_QUESTIONS);
    assert_true(al_review_door_next_reply(room.door, &reply));
    assert_int_equal(reply.ticket, ticket);
    assert_int_equal(reply.outcome, AL_REVIEW_WRONG);
    assert_non_null(strstr(reply.message, "does not answer"));
    al_review_reply_clear(&reply);
    assert_string_equal(id_at(await_questions(&room, 1), 0), "00000002");
    assert_non_null(al_review_door_problem(room.door));
    end(&good); /* it has a copy of the other one's descriptor */
    end(&deaf);
    leave(&room);
}

static void it_is_known_while_it_lives(void **state)
{
    struct room room = enter();
    al_auto(al_closep) int dir_fd = -1;

    (void)state;
    assert_int_equal(al_review_place_open(room.dir, false, false, &dir_fd, NULL), 0);
    assert_true(al_review_door_is_settled(room.door));
    assert_true(al_review_place_is_attended(dir_fd));
    assert_true(al_review_place_is_attended(dir_fd));
    al_review_door_free(room.door);
    assert_false(al_review_place_is_attended(dir_fd));
    room.door = NULL;
    leave(&room);
}

/* A server with one question, until it is told to end; then it says who answered. */
static struct fake start_server(const char *dir)
{
    static const struct al_approval_request request = { .tool = "t",
                                                        .operation = "o",
                                                        .summary = "s",
                                                        .detail = "",
                                                        .repository = "/r",
                                                        .risk = "low" };
    struct al_approval_answer answer = AL_APPROVAL_ANSWER_INIT;
    struct al_review_queue *queue;
    struct al_review_server *server;
    struct al_review_entry entry;
    struct al_strv dirs = AL_STRV_INIT;
    struct fake fake;
    struct pollfd wait[2];
    char said = 'r';
    int pair[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    fake.pid = fork();
    assert_true(fake.pid >= 0);
    if (fake.pid) {
        al_close(pair[1]);
        fake.orders_fd = pair[0];
        assert_int_equal(recv(fake.orders_fd, &said, 1, 0), 1);
        return fake;
    }
    al_close(pair[0]);
    al_strv_add(&dirs, dir);
    queue = al_review_queue_new(600);
    server = al_review_server_new(queue);
    if (!server || al_review_server_listen(server, &dirs, NULL) < 0 ||
        !al_review_begin(queue, &request, NULL, NULL, &entry))
        quit();
    (void)send(pair[1], &said, 1, 0);
    wait[0] = (struct pollfd){ .fd = al_review_server_fd(server), .events = POLLIN };
    wait[1] = (struct pollfd){ .fd = pair[1], .events = POLLIN };
    while (poll(wait, COUNT(wait), -1) > 0 && !wait[1].revents)
        al_review_server_run(server);
    said = al_review_end(queue, &entry, &answer) == AL_REVIEW_ANSWERED &&
                   answer.decision == AL_ANSWER_ONCE
               ? 'o'
               : 'w';
    (void)send(pair[1], &said, 1, MSG_NOSIGNAL);
    al_review_server_free(server);
    quit();
    return fake;
}

static enum al_review_outcome await_reply(const struct room *room)
{
    struct al_review_reply reply = { .message = NULL };
    enum al_review_outcome outcome;

    while (!al_review_door_next_reply(room->door, &reply))
        await(room, AL_DOOR_REPLIES);
    outcome = reply.outcome;
    al_review_reply_clear(&reply);
    return outcome;
}

static void of_two_doors_one_is_first(void **state)
{
    struct room one = enter(), two = { .top = one.top, .dir = one.dir };
    al_auto(al_strv_clear) struct al_strv dirs = AL_STRV_INIT;
    struct fake server = start_server(one.dir);
    char said = 0, id[16];

    (void)state;
    al_strv_add(&dirs, one.dir);
    two.door = al_review_door_new(&dirs);
    (void)snprintf(id, sizeof(id), "%s", id_at(await_questions(&one, 1), 0));
    assert_string_equal(id_at(await_questions(&two, 1), 0), id);
    (void)al_review_door_answer(one.door, id, AL_ANSWER_ONCE, NULL);
    assert_int_equal(await_reply(&one), AL_REVIEW_TAKEN);
    /* The other one has not read yet that it is gone. */
    (void)al_review_door_answer(two.door, id, AL_ANSWER_REJECT, "too late");
    assert_int_equal(await_reply(&two), AL_REVIEW_GONE);
    (void)await_questions(&one, 0);
    (void)await_questions(&two, 0);
    say(&server, "e");
    assert_int_equal(recv(server.orders_fd, &said, 1, 0), 1);
    assert_int_equal(said, 'o');
    end(&server);
    al_review_door_free(two.door);
    leave(&one);
}

static void a_server_that_is_killed(void **state)
{
    struct room room = enter();
    struct fake server = start_server(room.dir), after;

    (void)state;
    (void)await_questions(&room, 1);
    (void)kill(server.pid, SIGKILL);
    end(&server);
    (void)await_questions(&room, 0);
    after = start_server(room.dir);
    (void)await_questions(&room, 1);
    assert_null(al_review_door_problem(room.door));
    say(&after, "e");
    end(&after);
    leave(&room);
}

/* A door that ends leaves the question to others. */
static void a_door_that_ends(void **state)
{
    struct room room = enter();
    struct fake server = start_server(room.dir);
    al_auto(al_strv_clear) struct al_strv dirs = AL_STRV_INIT;

    (void)state;
    (void)await_questions(&room, 1);
    al_review_door_free(room.door);
    al_strv_add(&dirs, room.dir);
    room.door = al_review_door_new(&dirs);
    (void)await_questions(&room, 1);
    (void)al_review_door_answer(room.door, id_at(await_questions(&room, 1), 0), AL_ANSWER_ALWAYS,
                                NULL);
    assert_int_equal(await_reply(&room), AL_REVIEW_WRONG); /* it is not offered */
    assert_int_equal(al_review_door_questions(room.door)->count, 1);
    say(&server, "e");
    end(&server);
    leave(&room);
}

static void a_directory_that_cannot_be_used(void **state)
{
    struct tmpdir *top = tmpdir_new();
    al_auto(al_freep) char *file = tmpdir_path(top, "file");
    struct room room = { .top = top };
    al_auto(al_strv_clear) struct al_strv dirs = AL_STRV_INIT;

    (void)state;
    tmpdir_write(top, "file", "");
    al_strv_add(&dirs, "/nowhere/at/all"); /* as without XDG_RUNTIME_DIR */
    al_strv_add(&dirs, file);
    room.door = al_review_door_new(&dirs);
    await_problem(&room, "is a link or a file; remove it");
    assert_true(al_review_door_is_settled(room.door));
    al_review_door_free(room.door);
    tmpdir_free(top);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_waits_in_every_process_oldest_first),
        cmocka_unit_test(each_answer_has_one_reply),
        cmocka_unit_test(a_whole_text_comes_in_pieces),
        cmocka_unit_test(what_a_process_must_not_say),
        cmocka_unit_test(more_than_fits),
        cmocka_unit_test(a_process_that_hangs),
        cmocka_unit_test(it_is_known_while_it_lives),
        cmocka_unit_test(of_two_doors_one_is_first),
        cmocka_unit_test(a_server_that_is_killed),
        cmocka_unit_test(a_door_that_ends),
        cmocka_unit_test(a_directory_that_cannot_be_used),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
