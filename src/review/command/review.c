// SPDX-License-Identifier: Apache-2.0
/* airlock review: the questions that wait for an approval, and answers to them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/nearest.h"
#include "cli/cli.h"
#include "cli/print.h"
#include "cli/setup.h"
#include "guard/text.h"
#include "review/command/model.h"
#include "review/door.h"
#include "review/screen/screen.h"
#include "review/web/web.h"

static void add_line(const char *text, struct al_str *out)
{
    al_auto(al_freep) char *line = al_text_join_shown_lines(text);

    al_str_adds(out, line);
}

/* Append the entries as one JSON array on a line, in ASCII. */
static void add_json(const struct al_review_list *waiting, struct al_str *out)
{
    al_auto(al_json_decrefp) json_t *array = al_json_array();

    for (size_t i = 0; i < waiting->count; i++)
        al_json_append(array, json_incref(waiting->items[i].entry));
    al_json_dump(array, true, out);
    al_str_addc(out, '\n');
}

/* Append an entry on three lines. */
static void add_item(const struct al_item *item, struct al_str *out)
{
    const char *operation = al_item_get(item, "operation"), *agent = al_item_get(item, "agent");
    const bool waits = item->kind == AL_ITEM_QUESTION;
    al_auto(al_freep) char *began = al_review_when(al_item_get(item, "time"));
    al_auto(al_freep) char *until = al_review_when(al_item_get(item, "deadline"));
    al_auto(al_str_clear) struct al_str about = AL_STR_INIT;

    al_str_addf(out, "%*.*s  ", AL_REVIEW_ID_CHARS, (int)strcspn(item->key, " "), item->key);
    add_line(al_item_title(item), out);
    al_str_addf(&about, "%s%s%s%s", al_item_get(item, "tool"), *operation ? " (" : "", operation,
                *operation ? ")" : "");
    al_str_addf(&about, "%s%s in %s", waits ? ", risk " : "", al_item_get(item, "risk"),
                al_item_get(item, "repository"));
    al_str_adds(out, "\n          ");
    add_line(about.buf, out);
    al_str_reset(&about);
    al_str_addf(&about, "%s %s by %s%s%s", waits ? "asked" : "began", began, *agent ? agent : "-",
                waits ? ", ends " : "", until);
    al_str_adds(out, "\n          ");
    add_line(about.buf, out);
    al_str_addc(out, '\n');
}

/* Append what waits and what runs, for a user. */
static void add_list(const struct al_model *model, struct al_str *out)
{
    al_str_adds(out, model->parts[AL_ITEM_QUESTION].count ? "Waiting for an answer:\n"
                                                          : "Nothing waits for an answer.\n");
    for (size_t i = 0; i < model->parts[AL_ITEM_QUESTION].count; i++)
        add_item(al_model_item(model, AL_ITEM_QUESTION, i), out);
    for (size_t i = 0; i < model->parts[AL_ITEM_RUNNING].count; i++) {
        al_str_adds(out, i ? "" : "\nRunning:\n");
        add_item(al_model_item(model, AL_ITEM_RUNNING, i), out);
    }
}

static void add_fact(void *payload, const char *label, const char *value, const char *iso)
{
    (void)iso;
    al_str_addf(payload, "%-12s", !strcmp(label, "always") ? "--always" : label);
    add_line(value, payload);
    al_str_addc(payload, '\n');
}

/* Append one question with its text; NULL: the excerpt that it has.  Text of the call is indented,
 * so that it cannot pass for airlock's own lines. */
static void add_question(const struct al_item *item, const char *text, struct al_str *out)
{
    al_auto(al_str_clear) struct al_str safe = AL_STR_INIT;

    add_fact(out, "summary", al_item_title(item), NULL);
    add_fact(out, "risk", al_item_get(item, "risk"), NULL);
    add_fact(out, "why", al_item_get(item, "why"), NULL);
    al_item_facts(item, add_fact, out);
    if (!text)
        text = al_item_get(item, "text");
    if (!*text)
        return;
    al_text_sanitize_shown(text, strlen(text), &safe);
    al_str_addc(out, '\n');
    for (const char *at = safe.buf; *at;) {
        const size_t len = strcspn(at, "\n");

        al_str_addf(out, "  %.*s\n", (int)len, at);
        at += len + (at[len] == '\n');
    }
}

/* The request of the command line. */
struct command {
    struct al_setup setup;
    struct al_strv dirs; /* of the sockets */
    const char *verb, *id;
    const char *address;    /* of --web; NULL: a free port */
    char *reason;           /* NULL: none */
    bool list, always, web; /* --list, --always and --web are given */
    bool json;
};

/* A door that has seen all that waits, for one command.  NULL: there is none. */
static struct al_review_door *open_door(const struct command *command)
{
    struct al_review_door *door = al_review_door_peek(&command->dirs);

    if (!door) {
        al_log_note("the questions cannot be seen: %s", strerrordesc_np(errno));
        return NULL;
    }
    if (al_review_door_problem(door))
        al_log_note("%s", al_review_door_problem(door));
    return door;
}

static int list(const struct command *command, struct al_review_door *door, struct al_str *out)
{
    struct al_model *model = al_model_open(&command->setup);

    al_model_read_calls(model, al_review_door_questions(door));
    if (command->json)
        add_json(al_review_door_questions(door), out);
    else
        add_list(model, out);
    al_model_close(model);
    return AL_EXIT_OK;
}

static int say_gone(const struct command *command)
{
    al_auto(al_freep) char *safe = al_text_sanitize_line(command->id);

    al_log_note("no question '%s' waits; see airlock review --list", safe);
    return AL_EXIT_FAILED;
}

static int show(const struct command *command, struct al_review_door *door, struct al_str *out)
{
    const struct al_review_list *waiting = al_review_door_questions(door);
    const struct al_review_waiting *found = al_review_list_find(waiting, command->id);
    const struct al_review_text *text;
    struct al_model *model;

    if (found && command->json) {
        al_json_dump(found->entry, true, out);
        al_str_addc(out, '\n');
        return AL_EXIT_OK;
    }
    al_review_door_ask_text(door, command->id);
    while ((text = al_review_door_text(door, command->id)) && !text->complete && !text->problem)
        al_review_door_wait(door);
    if (!text)
        return say_gone(command);
    if (!text->complete)
        al_log_note("only an excerpt is shown: %s", text->problem);
    model = al_model_open(&command->setup);
    al_model_read_calls(model, waiting);
    add_question(al_model_find(model, AL_ITEM_QUESTION, command->id),
                 text->complete ? text->text.buf : NULL, out);
    al_model_close(model);
    return AL_EXIT_OK;
}

/* Answer, and say what was answered. */
static int answer(const struct command *command, struct al_review_door *door,
                  enum al_answer decision, const char *word, struct al_str *out)
{
    const struct al_review_waiting *found =
        al_review_list_find(al_review_door_questions(door), command->id);
    struct al_review_reply reply;
    al_auto(al_freep) char *summary = NULL;

    if (!found)
        return say_gone(command);
    summary = al_text_join_shown_lines(al_json_get_string(found->entry, "summary"));
    (void)al_review_door_answer(door, command->id, decision, command->reason);
    al_review_door_await_reply(door, &reply);
    if (reply.outcome == AL_REVIEW_TAKEN)
        al_str_addf(out, "%s: %s\n", word, summary);
    else if (reply.outcome == AL_REVIEW_GONE)
        (void)say_gone(command);
    else
        al_log_note("%s", reply.message);
    al_review_reply_clear(&reply);
    return reply.outcome == AL_REVIEW_TAKEN ? AL_EXIT_OK : AL_EXIT_FAILED;
}

static int approve(const struct command *command, struct al_review_door *door, struct al_str *out)
{
    return command->always ? answer(command, door, AL_ANSWER_ALWAYS, "Approved always", out)
                           : answer(command, door, AL_ANSWER_ONCE, "Approved once", out);
}

static int reject(const struct command *command, struct al_review_door *door, struct al_str *out)
{
    return answer(command, door, AL_ANSWER_REJECT, "Rejected", out);
}

static const struct verb {
    const char *name;
    int (*run)(const struct command *command, struct al_review_door *door, struct al_str *out);
    bool takes_json, takes_always, takes_reason;
} verbs[] = {
    { "show", show, .takes_json = true },
    { "approve", approve, .takes_always = true },
    { "reject", reject, .takes_reason = true },
};

static const struct verb *find_verb(const char *word, struct al_error *err)
{
    al_auto(al_freep) char *safe = al_text_sanitize_line(word);
    struct al_nearest nearest = { .word = word };

    for (size_t i = 0; i < AL_COUNT(verbs); i++) {
        if (!strcmp(verbs[i].name, word))
            return &verbs[i];
        al_nearest_offer(&nearest, verbs[i].name);
    }
    (void)al_error_set(err, AL_ERR_BAD_ARGS,
                       nearest.found ? "review: unknown command '%s'; did you mean %s?"
                                     : "review: unknown command '%s'; see airlock review --help",
                       safe, nearest.found);
    return NULL;
}

static void join_reason(struct command *command, int argc, char **argv)
{
    struct al_str reason = AL_STR_INIT;

    for (int i = 0; i < argc; i++)
        al_str_addf(&reason, "%s%s", i ? " " : "", argv[i]);
    if (argc > 0)
        command->reason = al_str_detach(&reason);
}

/* The words beside --web: an address, or none. */
static int read_web(struct command *command, int argc, char **argv, struct al_error *err)
{
    if (argc > 1 || command->list || command->always || command->json)
        return al_error_set(err, AL_ERR_BAD_ARGS,
                            "--web takes an address or nothing: airlock review --web [ADDR:PORT]");
    command->address = argc ? argv[0] : NULL;
    return 0;
}

static int read_words(struct command *command, int argc, char **argv, const struct verb **ret_verb,
                      struct al_error *err)
{
    const struct verb *verb;

    *ret_verb = NULL;
    if (command->web)
        return read_web(command, argc, argv, err);
    verb = argc > 0 ? find_verb(argv[0], err) : NULL;
    *ret_verb = verb;
    if (argc > 0 && !verb)
        return AL_ERR_BAD_ARGS;
    if (command->always && !(verb && verb->takes_always))
        return al_error_set(err, AL_ERR_BAD_ARGS, "--always goes with airlock review approve ID");
    if (!verb)
        return 0;
    if (command->list)
        return al_error_set(err, AL_ERR_BAD_ARGS, "--list stands alone: airlock review --list");
    if (argc < 2 || (argc > 2 && !verb->takes_reason))
        return al_error_set(err, AL_ERR_BAD_ARGS, "review %s needs the id of one question",
                            verb->name);
    if (command->json && !verb->takes_json)
        return al_error_set(err, AL_ERR_BAD_ARGS, "review %s prints nothing as JSON", verb->name);
    command->id = argv[1];
    join_reason(command, argc - 2, argv + 2);
    return 0;
}

/* The screen, where it can be one.  A negative result: nothing was done. */
static int show_screen(const struct command *command)
{
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    int code;

    if (command->list || command->json || !al_terminal_is_able())
        return AL_ERR_NOT_FOUND;
    code = al_review_screen(&command->setup, &command->dirs, &err);
    if (code < 0)
        al_log_note("%s", err.message);
    return code;
}

static int run(struct command *command, const struct al_options *options, const struct verb *verb)
{
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    al_auto(al_str_clear) struct al_str out = AL_STR_INIT;
    struct al_review_door *door;
    int code;

    if (al_setup_config(&command->setup, options, &err) < 0)
        return al_cli_fail(&err);
    al_setup_review_dirs(&command->setup, &command->dirs);
    if (command->web)
        return al_review_web(&command->setup, &command->dirs, command->address);
    code = verb ? AL_ERR_NOT_FOUND : show_screen(command);
    if (code >= 0)
        return code;
    door = open_door(command);
    if (!door)
        return AL_EXIT_FAILED;
    code = verb ? verb->run(command, door, &out) : list(command, door, &out);
    al_review_door_free(door);
    al_cli_print(STDOUT_FILENO, &out);
    return code;
}

int al_cmd_review(struct al_options *options, int argc, char **argv)
{
    struct command command = { .dirs = AL_STRV_INIT,
                               .list = al_option(options, "--list"),
                               .always = al_option(options, "--always"),
                               .web = al_option(options, "--web"),
                               .json = al_option(options, "--json") };
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    const struct verb *verb = NULL;
    int r, code;

    r = read_words(&command, argc, argv, &verb, &err);
    code = r < 0 ? al_cli_fail(&err) : run(&command, options, verb);
    al_strv_clear(&command.dirs);
    al_freep(&command.reason);
    al_setup_clear(&command.setup);
    return code;
}
