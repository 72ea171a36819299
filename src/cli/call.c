// SPDX-License-Identifier: Apache-2.0
/* airlock call: one tool call from the command line, through the same pipeline as every call. */
#include "cli/call.h"

#include <ctype.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/log.h"
#include "base/nearest.h"
#include "call/tool.h"
#include "cli/cli.h"
#include "cli/print.h"
#include "cli/setup.h"
#include "cli/signals.h"
#include "cli/tty.h"
#include "guard/root.h"
#include "guard/text.h"
#include "proc/cancel.h"
#include "staging/sandbox/sandbox.h"
#include "staging/settings.h"
#include "tools/toolsets.h"

/* --- The tool and its arguments --- */

static int unknown_option(const struct al_tool *tool, const json_t *properties, const char *name,
                          struct al_error *err)
{
    struct al_nearest nearest = { .word = name };
    const char *own;
    json_t *schema;

    json_object_foreach((json_t *)properties, own, schema) al_nearest_offer(&nearest, own);
    return al_error_set(err, AL_ERR_BAD_ARGS,
                        "%s has no parameter '%s'; %s%s%sairlock tools %s lists them", tool->name,
                        name, nearest.found ? "did you mean " : "",
                        nearest.found ? nearest.found : "", nearest.found ? "? " : "", tool->name);
}

/* Whether a schema allows a type: {"type": "array"}, or {"type": ["array", "null"]}. */
static bool allows(const json_t *schema, const char *wanted)
{
    const json_t *type = json_object_get(schema, "type");

    return json_is_string(type) ? !strcmp(json_string_value(type), wanted)
                                : al_cli_list_has(type, wanted);
}

static json_t *word_value(const json_t *schema, const char *text)
{
    json_t *value = NULL;

    if (!allows(schema, "string") && !isspace((unsigned char)*text))
        value = json_loads(text, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, NULL);
    return value ? value : al_json_string(text);
}

#define ARGUMENTS_MAX_BYTES (10u << 20)

static int read_stdin(struct al_str *text, struct al_error *err)
{
    char chunk[8192];
    ssize_t n;

    while ((n = read(STDIN_FILENO, chunk, sizeof(chunk))) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return al_error_errno(err, errno, "cannot read the arguments");
        al_str_add(text, chunk, (size_t)n);
        if (text->len > ARGUMENTS_MAX_BYTES)
            return al_error_set(err, AL_ERR_BAD_ARGS, "the arguments are larger than 10 MiB");
    }
    return 0;
}

/* An integer that jansson cannot hold is still JSON.  It is read as a real, so that the parameter's
 * bounds reject it. */
static json_t *load(const struct al_str *text, json_error_t *where)
{
    const size_t flags = JSON_ALLOW_NUL | JSON_REJECT_DUPLICATES | JSON_DECODE_ANY;
    json_t *value = json_loadb(text->buf, text->len, flags, where);

    if (!value && json_error_code(where) == json_error_numeric_overflow)
        value = json_loadb(text->buf, text->len, flags | JSON_DECODE_INT_AS_REAL, where);
    return value;
}

/* A word may be a path or a revision, given as git takes it. */
static int refuse_word(const struct al_tool *tool, const char *word, struct al_error *err)
{
    static const char *const meant[] = { "paths", "path", "command", "branch" };

    for (size_t i = 0; i < AL_COUNT(meant); i++)
        for (size_t k = 0; k < tool->nparams; k++)
            if (!strcmp(tool->params[k].name, meant[i]))
                return al_error_set(err, AL_ERR_BAD_ARGS,
                                    "'%s' is neither NAME=VALUE nor JSON; did you mean '%s=%s'? "
                                    "airlock tools %s lists the names",
                                    word, meant[i], word, tool->name);
    return al_error_set(err, AL_ERR_BAD_ARGS,
                        "'%s' is neither NAME=VALUE nor JSON; airlock tools %s lists the names",
                        word, tool->name);
}

static int read_json(const struct al_tool *tool, const char *word, json_t **ret_value,
                     struct al_error *err)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    bool is_input = !strcmp(word, "-");
    json_error_t where;
    int r = 0;

    if (is_input)
        r = read_stdin(&text, err);
    else
        al_str_adds(&text, word);
    if (r < 0)
        return r;
    *ret_value = load(&text, &where);
    if (!*ret_value && !is_input && isalpha((unsigned char)word[0]))
        return refuse_word(tool, word, err);
    return *ret_value ? 0
                      : al_error_set(err, AL_ERR_BAD_ARGS, "malformed JSON at column %d: %s",
                                     where.column, where.text);
}

/* The length of NAME in "NAME=VALUE", where NAME may be that of a member ("target.branch"); 0: the
 * word has another form. */
static size_t name_of(const char *word)
{
    size_t len = 0;

    while (isalnum((unsigned char)word[len]) || word[len] == '_' || word[len] == '.')
        len++;
    return isalpha((unsigned char)word[0]) && word[len] == '=' ? len : 0;
}

/* The member of this name, or for a tool of airlock's in any spelling that it takes; NULL: none. */
static const char *find_name(const struct al_tool *tool, const json_t *members, const char *name)
{
    const char *at;
    json_t *value;

    json_object_foreach((json_t *)members, at, value)
    {
        if (!strcmp(at, name) ||
            (!tool->definition && al_param_is_called(&(struct al_param){ .name = at }, name)))
            return at;
    }
    return NULL;
}

static json_t *properties_of(const json_t *schema)
{
    return json_object_get(schema, "properties");
}

/* The member `name` of the arguments, which is made if there is none. */
static json_t *member_of(const struct al_tool *tool, json_t *arguments, const char *name,
                         json_t *(*make)(void))
{
    const char *given = find_name(tool, arguments, name);

    if (!given)
        al_json_set(arguments, name, make());
    return json_object_get(arguments, given ? given : name);
}

/* Add one argument to an object with this schema.  A list takes one item from each word; numbers,
 * booleans and objects are JSON; a value that is not what the schema says stays a string, and the
 * server reports it. */
static int add_value(const struct al_tool *tool, const json_t *schema, const char *name,
                     const char *shown, const char *text, json_t *arguments, struct al_error *err)
{
    const json_t *items = json_object_get(schema, "items");
    const bool is_list = allows(schema, "array");
    al_auto(al_json_decrefp) json_t *value = word_value(is_list ? items : schema, text);
    json_t *list;

    if (!is_list || (properties_of(items) && json_is_array(value))) {
        if (find_name(tool, arguments, name))
            return al_error_set(err, AL_ERR_BAD_ARGS, "%s is given twice", shown);
        al_json_set(arguments, name, al_take(&value));
        return 0;
    }
    list = member_of(tool, arguments, name, al_json_array);
    if (json_is_array(list)) /* otherwise the server reports it */
        al_json_append(list, al_take(&value));
    return 0;
}

/* NAME is that of a property, or "object.member". */
static int add_pair(const struct al_tool *tool, const json_t *schema, const char *word, size_t len,
                    json_t *arguments, struct al_error *err)
{
    al_auto(al_freep) char *name = al_strndup(word, len);
    al_auto(al_freep) char *first = al_strndup(word, strcspn(name, "."));
    const json_t *properties = properties_of(schema);
    const char *own = find_name(tool, properties, name);
    const char *object = own || !name[strlen(first)] ? NULL : find_name(tool, properties, first);
    al_auto(al_freep) char *shown = NULL;

    if (object) {
        properties = properties_of(json_object_get(properties, object));
        own = find_name(tool, properties, name + strlen(first) + 1);
    }
    if (!own)
        return unknown_option(tool, properties_of(schema), name, err);
    if (object)
        arguments = member_of(tool, arguments, object, al_json_object);
    if (!json_is_object(arguments)) /* the server reports it */
        return 0;
    shown = al_asprintf("%s%s%s", object ? object : "", object ? "." : "", own);
    return add_value(tool, json_object_get(properties, own), own, shown, word + len + 1, arguments,
                     err);
}

/* Read the words after the tool's name.
 *
 *   JSON         the arguments as an object, at most once
 *   -            the same, from standard input
 *   NAME=VALUE   one argument, converted to the parameter's type; for a list, one item of it */
static int arguments_read(const struct al_tool *tool, int count, char **words,
                          json_t **ret_arguments, struct al_error *err)
{
    const struct al_tool_defaults none = { .timeout_ms = 0 };
    al_auto(al_json_decrefp) json_t *arguments = NULL;
    al_auto(al_json_decrefp) json_t *schema = al_tool_schema(tool, &none);
    int r = 0;

    for (int i = 0; i < count && r == 0; i++) {
        if (name_of(words[i]))
            continue;
        if (arguments)
            return al_error_set(err, AL_ERR_BAD_ARGS,
                                "the arguments are one JSON object and NAME=VALUE words");
        r = read_json(tool, words[i], &arguments, err);
    }
    if (r == 0 && !arguments)
        arguments = al_json_object();
    for (int i = 0; i < count && r == 0; i++) {
        size_t len = name_of(words[i]);

        if (len && !json_is_object(arguments))
            r = al_error_set(err, AL_ERR_BAD_ARGS, "the arguments are no JSON object");
        else if (len)
            r = add_pair(tool, schema, words[i], len, arguments, err);
    }
    if (r == 0)
        *ret_arguments = al_take(&arguments);
    return r;
}

/* The tool's optional parameter for the working directory; NULL: there is none. */
static const struct al_param *working_dir_param(const struct al_tool *tool)
{
    if (tool->open_repository)
        return NULL;
    for (size_t i = 0; i < tool->nparams; i++)
        if (tool->params[i].offset == tool->working_dir_offset &&
            tool->params[i].type == AL_TYPE_STRING && !(tool->params[i].flags & AL_PARAM_REQUIRED))
            return &tool->params[i];
    return NULL;
}

/* Like git, a command works in the current directory, if that is inside a root.  An argument that
 * is given takes precedence. */
static void set_working_dir(const struct al_setup *setup, const struct al_tool *tool,
                            json_t *arguments)
{
    const struct al_param *param = working_dir_param(tool);
    al_auto(al_freep) char *here = realpath(".", NULL);

    if (!param || !here || !json_is_object(arguments) ||
        !strcmp(here, setup->roots.items[0].path) || !al_roots_find(&setup->roots, here) ||
        find_name(tool, arguments, param->name))
        return;
    al_json_set(arguments, param->name, al_json_name(here));
}

/* Find the tool and read its arguments.  The tools of another MCP server are known only in a
 * session. */
static int prepare_tool(struct al_setup *setup, int argc, char **argv,
                        const struct al_listed_tool **ret_tool, json_t **ret_arguments,
                        struct al_error *err)
{
    const bool mounted = al_starts_with(argv[0], AL_MOUNTS_PREFIX);
    int r = mounted ? al_setup_session(setup, err) : 0;

    if (r < 0)
        return r;
    *ret_tool = al_registry_find(&setup->registry, argv[0]);
    if (mounted && al_mounts_claims(setup->session.mounts, argv[0]))
        r = al_setup_find_mounted(setup, argv[0], ret_tool, err);
    else if (!*ret_tool)
        r = al_unknown_tool(setup, argv[0], err);
    if (r == 0)
        r = arguments_read((*ret_tool)->tool, argc - 1, argv + 1, ret_arguments, err);
    return r < 0 || mounted ? r : al_setup_session(setup, err);
}

int al_prepare_call(struct al_setup *setup, const char *command, const struct al_options *options,
                    int argc, char **argv, const struct al_listed_tool **ret_tool,
                    json_t **ret_arguments, struct al_error *err)
{
    int r;

    r = al_setup_config(setup, options, err);
    if (r == 0)
        r = al_setup_tools(setup, err);
    if (r < 0)
        return r;
    if (argc < 1)
        return al_error_set(err, AL_ERR_BAD_ARGS,
                            "%s needs a tool and, optionally, its arguments, for example: "
                            "airlock %s git_log max_count=3",
                            command, command);
    r = prepare_tool(setup, argc, argv, ret_tool, ret_arguments, err);
    if (r == 0)
        set_working_dir(setup, (*ret_tool)->tool, *ret_arguments);
    return r;
}

/* --- Pulls before it --- */

static json_t *arguments_of(const struct al_auto_pull *pull)
{
    const struct al_target *source = &pull->source;
    json_t *arguments = json_pack("{s:[s]}", "paths", pull->path);

    if (pull->source.given)
        al_json_set(arguments, "source",
                    json_pack("{s:s, s:s*, s:s*, s:s*}", "type", al_target_type_name(source->type),
                              "path", source->path, "repo", source->repo, "branch",
                              source->branch));
    return arguments;
}

static void pull_one(const struct al_setup *setup, const struct al_listed_tool *tool,
                     const struct al_auto_pull *pull, struct al_cancel *cancel)
{
    al_auto(al_json_decrefp) json_t *arguments = arguments_of(pull);
    al_auto(al_result_clear) struct al_result result = AL_RESULT_INIT;
    al_auto(al_freep) char *path = al_text_sanitize_line(pull->path);
    const json_t *conflicts;

    al_call_run(&setup->session,
                &(struct al_call_input){ .tool = tool, .arguments = arguments, .cancel = cancel },
                &result);
    conflicts = json_object_get(result.structured, "conflicts");
    if (al_cancel_fired(cancel))
        return;
    if (result.status < 0) {
        al_auto(al_freep) char *text = al_text_join_lines(result.text.buf);

        al_log_warn("auto_pull of '%s' failed: %s", path, text);
    } else if (json_array_size(conflicts)) {
        al_log_warn("auto_pull of '%s': %zu file(s) have conflict markers", path,
                    json_array_size(conflicts));
    }
}

static bool has_pulls(const struct al_setup *setup)
{
    const struct al_staging_settings *settings = setup->session.staging_settings;

    return setup->auto_pulls && settings && settings->npulls && setup->session.staging;
}

void al_auto_pull(const struct al_setup *setup, struct al_cancel *cancel)
{
    const struct al_staging_settings *settings = setup->session.staging_settings;
    /* An earlier toolset may have a tool of that name. */
    const struct al_listed_tool tool = { .toolset = al_toolset_find(al_toolsets(), "staging"),
                                         .tool = &al_tool_staging_pull };

    if (!has_pulls(setup))
        return;
    for (size_t i = 0; i < settings->npulls && !al_cancel_fired(cancel); i++)
        pull_one(setup, &tool, &settings->pulls[i], cancel);
}

/* --- In the background --- */

struct al_auto_pulling {
    const struct al_setup *setup;
    struct al_cancel *cancel, *ended;
    pthread_t thread;
    bool has_thread;
};

static void *pull_all(void *payload)
{
    struct al_auto_pulling *pulling = payload;

    al_auto_pull(pulling->setup, pulling->cancel);
    al_cancel_fire(pulling->ended);
    return NULL;
}

struct al_auto_pulling *al_auto_pull_begin(const struct al_setup *setup)
{
    struct al_auto_pulling *pulling;

    if (!has_pulls(setup))
        return NULL;
    pulling = al_calloc(1, sizeof(*pulling));
    pulling->setup = setup;
    pulling->cancel = al_cancel_new();
    pulling->ended = al_cancel_new();
    pulling->has_thread = pthread_create(&pulling->thread, NULL, pull_all, pulling) == 0;
    if (!pulling->has_thread)
        (void)pull_all(pulling);
    return pulling;
}

const struct al_cancel *al_auto_pull_ended(const struct al_auto_pulling *pulling)
{
    return pulling ? pulling->ended : NULL;
}

void al_auto_pull_end(struct al_auto_pulling *pulling)
{
    if (!pulling)
        return;
    al_cancel_fire(pulling->cancel);
    if (pulling->has_thread)
        (void)pthread_join(pulling->thread, NULL);
    al_cancel_unref(pulling->cancel);
    al_cancel_unref(pulling->ended);
    free(pulling);
}

/* The terminal, once airlock review can be asked too. */
struct doors {
    struct al_setup *setup;
    struct al_approver terminal;
};

static int ask(void *payload, const struct al_approval_request *request, struct al_cancel *cancel,
               struct al_approval_answer *ret_answer, struct al_error *err)
{
    const struct doors *doors = payload;

    al_setup_review_listen(doors->setup);
    return doors->terminal.ask(doors->terminal.payload, request, cancel, ret_answer, err);
}

static void print_line(int fd, const char *prefix, const struct al_str *text)
{
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;

    al_str_adds(&line, prefix);
    al_str_add(&line, text->buf, text->len);
    if (!line.len || line.buf[line.len - 1] != '\n')
        al_str_addc(&line, '\n');
    al_cli_print(fd, &line);
}

/* A file's content is exact, so a terminal gets it made safe. */
static void print_text(const struct al_str *text)
{
    al_auto(al_str_clear) struct al_str safe = AL_STR_INIT, shown = AL_STR_INIT;

    if (isatty(STDOUT_FILENO))
        al_text_sanitize(text->buf, text->len, &safe);
    al_tty_add_text(safe.buf, "", al_tty_colours(STDOUT_FILENO), &shown);
    print_line(STDOUT_FILENO, "", shown.len ? &shown : text);
}

static void print_result(const struct al_result *result, bool json,
                         void (*show)(const struct al_result *result))
{
    if (json) {
        al_auto(al_str_clear) struct al_str object = AL_STR_INIT;

        al_result_dump(result, NULL, &object);
        print_line(STDOUT_FILENO, "", &object);
    } else if (result->status == AL_OK && show) {
        show(result);
    } else if (result->status == AL_OK || result->structured) {
        if (result->text.len)
            print_text(&result->text);
        if (result->notes.len) /* not to stdout, which a program may parse as one object */
            print_line(STDERR_FILENO, "", &result->notes);
    } else {
        const char *kind = al_status_kind(result->status);
        al_auto(al_freep) char *prefix = al_asprintf("%s: ", kind);

        print_line(STDERR_FILENO, strcmp(result->text.buf, kind) ? prefix : "", &result->text);
    }
}

static int exit_code_of(const struct al_result *result)
{
    if (result->status == AL_ERR_APPROVAL_REQUIRED || result->status == AL_ERR_APPROVAL_DENIED)
        return AL_EXIT_NOT_APPROVED;
    return result->status == AL_OK ? AL_EXIT_OK : AL_EXIT_FAILED;
}

int al_cli_run_call(struct al_setup *setup, const struct al_listed_tool *tool,
                    const json_t *arguments, bool json,
                    void (*show)(const struct al_result *result))
{
    al_auto(al_cancel_unrefp) struct al_cancel *cancel = al_cancel_new();
    al_auto(al_result_clear) struct al_result result = AL_RESULT_INIT;
    const struct al_sandbox *sandbox = setup->session.sandbox;
    struct doors doors = { .setup = setup };
    const struct al_approver approver = { .name = "terminal", .ask = ask, .payload = &doors };
    struct al_tty tty;
    bool has_tty;
    int code;

    al_setup_one_call(setup);
    al_setup_review(setup);
    al_signals_handle(setup, al_cancel_ref(cancel));
    al_auto_pull(setup, cancel);
    has_tty = al_tty_open(&tty);
    if (has_tty)
        doors.terminal = al_tty_approver(&tty);
    else
        al_setup_review_await(setup);
    al_call_run(&setup->session,
                &(struct al_call_input){
                    .tool = tool,
                    .arguments = arguments,
                    .cancel = cancel,
                    .approver = has_tty ? &approver : NULL,
                    .waiting = &(struct al_progress){ .report = al_cli_note_wait },
                },
                &result);
    print_result(&result, json, show);
    code = exit_code_of(&result);
    /* A sandbox in memory is gone when this command ends. */
    if (code == AL_EXIT_OK && !strcmp(tool->toolset->name, "files") && sandbox &&
        !al_sandbox_dir(sandbox) && al_effects_have_side_effects(al_tool_effects(tool->tool)))
        al_log_note("the sandbox is in memory and ends with this command; with staging.backend = "
                    "\"directory\" it stays");
    if (code == AL_EXIT_OK && show && result.not_done)
        code = AL_EXIT_FAILED;
    al_close(tty.fd);
    return code;
}

int al_cmd_call(struct al_options *options, int argc, char **argv)
{
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    al_auto(al_json_decrefp) json_t *arguments = NULL;
    const struct al_listed_tool *tool = NULL;
    struct al_setup setup;
    int r, code;

    if (al_option(options, "--help"))
        return al_tools_show(options, argv[0]);
    r = al_prepare_call(&setup, "call", options, argc, argv, &tool, &arguments, &err);
    setup.auto_pulls = true;
    code = r < 0 ? al_cli_fail(&err)
                 : al_cli_run_call(&setup, tool, arguments, al_option(options, "--json"), NULL);
    al_setup_clear(&setup);
    return code;
}
