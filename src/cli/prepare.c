// SPDX-License-Identifier: Apache-2.0
#include "cli/prepare.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/options.h"
#include "cli/print.h"
#include "guard/root.h"
#include "guard/text.h"
#include "tool/tool.h"
#include "util/nearest.h"

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
    const json_t *type = json_object_get(schema, "type"), *item;
    size_t i;

    if (json_is_string(type))
        return !strcmp(json_string_value(type), wanted);
    json_array_foreach(type, i, item)
    {
        if (json_is_string(item) && !strcmp(json_string_value(item), wanted))
            return true;
    }
    return false;
}

static json_t *word_value(const json_t *schema, const char *text)
{
    json_t *value = NULL;

    if (!allows(schema, "string"))
        value = json_loads(text, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, NULL);
    return value ? value : al_json_string(text);
}

/* Go from "object.member" to the member: its schema, name and place.  NULL: it is none. */
static const json_t *go_to_member(const json_t *properties, const char **name, json_t **arguments)
{
    const char *dot = strchr(*name, '.');
    al_auto(al_freep) char *object = dot ? al_strndup(*name, (size_t)(dot - *name)) : NULL;
    const json_t *schema =
        dot ? json_object_get(json_object_get(json_object_get(properties, object), "properties"),
                              dot + 1)
            : NULL;

    if (!schema)
        return NULL;
    if (!json_object_get(*arguments, object))
        al_json_set(*arguments, object, al_json_object());
    *arguments = json_object_get(*arguments, object);
    *name = dot + 1;
    return json_is_object(*arguments) ? schema : NULL;
}

/* Add one argument.  A list takes one item from each word; numbers, booleans and objects are JSON;
 * a value that is not what the schema says stays a string, and the server reports it. */
static int arguments_add_defined(const struct al_tool *tool, const char *name, const char *text,
                                 json_t *arguments, struct al_error *err)
{
    const json_t *properties = json_object_get(tool->definition->input_schema, "properties");
    const json_t *schema = json_object_get(properties, name);
    json_t *given;

    if (!schema)
        schema = go_to_member(properties, &name, &arguments);
    if (!schema)
        return unknown_option(tool, properties, name, err);
    given = json_object_get(arguments, name);
    if (!allows(schema, "array")) {
        if (given)
            return al_error_set(err, AL_ERR_BAD_ARGS, "%s is given twice", name);
        al_json_set(arguments, name, word_value(schema, text));
        return 0;
    }
    if (!given)
        al_json_set(arguments, name, al_json_array());
    given = json_object_get(arguments, name);
    if (json_is_array(given)) /* otherwise the server reports it */
        al_json_append(given, word_value(json_object_get(schema, "items"), text));
    return 0;
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
    al_auto(al_freep) char *safe = al_text_sanitize_line(word);

    for (size_t i = 0; i < AL_COUNT(meant); i++)
        for (size_t k = 0; k < tool->nparams; k++)
            if (!strcmp(tool->params[k].name, meant[i]))
                return al_error_set(err, AL_ERR_BAD_ARGS,
                                    "'%s' is neither NAME=VALUE nor JSON; did you mean '%s=%s'? "
                                    "airlock tools %s lists the names",
                                    safe, meant[i], safe, tool->name);
    return al_error_set(err, AL_ERR_BAD_ARGS,
                        "'%s' is neither NAME=VALUE nor JSON; airlock tools %s lists the names",
                        safe, tool->name);
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
    if (!*ret_value) {
        al_auto(al_freep) char *reason = al_text_join_lines(where.text);

        return al_error_set(err, AL_ERR_BAD_ARGS, "malformed JSON at column %d: %s", where.column,
                            reason);
    }
    return 0;
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

static const struct al_param *find_row(const struct al_param *rows, size_t nrows, const char *name)
{
    for (size_t i = 0; i < nrows; i++)
        if (al_param_is_called(&rows[i], name))
            return &rows[i];
    return NULL;
}

/* The row of "name", or of "object.name" with its object; NULL: there is none. */
static const struct al_param *find_param(const struct al_tool *tool, const char *name,
                                         const struct al_param **ret_object)
{
    const char *dot = strchr(name, '.');
    al_auto(al_freep) char *first = dot ? al_strndup(name, (size_t)(dot - name)) : NULL;
    const struct al_param *row = find_row(tool->params, tool->nparams, first ? first : name);

    *ret_object = NULL;
    if (!dot || !row)
        return row;
    if (row->type != AL_TYPE_OBJECT)
        return NULL;
    *ret_object = row;
    return find_row(row->object->params, row->object->nparams, dot + 1);
}

static int unknown_name(const struct al_tool *tool, const char *name, struct al_error *err)
{
    struct al_nearest nearest = { .word = name };

    for (size_t i = 0; i < tool->nparams; i++)
        al_nearest_offer(&nearest, tool->params[i].name);
    return al_error_set(err, AL_ERR_BAD_ARGS,
                        "%s has no parameter '%s'; %s%s%sairlock tools %s lists them", tool->name,
                        name, nearest.found ? "did you mean " : "",
                        nearest.found ? nearest.found : "", nearest.found ? "? " : "", tool->name);
}

/* A value that does not fit the type stays a string, and the decoder reports it. */
static json_t *value_of(const struct al_param *param, const char *text)
{
    char *end = NULL;
    long long number;

    if (param->type == AL_TYPE_BOOL && (!strcmp(text, "true") || !strcmp(text, "false")))
        return al_json_bool(*text == 't');
    errno = 0;
    if (param->type == AL_TYPE_INT && *text && !isspace((unsigned char)*text)) {
        number = strtoll(text, &end, 10);
        if (errno == 0 && !*end)
            return al_json_int(number);
    }
    if (param->type == AL_TYPE_OBJECT || param->type == AL_TYPE_OBJECTS) {
        json_t *object = json_loads(text, JSON_REJECT_DUPLICATES, NULL);

        if (object)
            return object;
    }
    return al_json_string(text);
}

/* The member of `arguments` that holds the parameter, in any accepted spelling; NULL: not given. */
static const char *given_name(const struct al_param *param, json_t *arguments)
{
    const char *name;
    json_t *value;

    json_object_foreach(arguments, name, value)
    {
        if (al_param_is_called(param, name))
            return name;
    }
    return NULL;
}

/* The object that a member goes into, made if there is none; NULL: the argument of that name is no
 * object, which the decoder reports. */
static json_t *object_of(const struct al_param *object, json_t *arguments)
{
    const char *given = given_name(object, arguments);

    if (!given)
        al_json_set(arguments, object->name, al_json_object());
    arguments = json_object_get(arguments, given ? given : object->name);
    return json_is_object(arguments) ? arguments : NULL;
}

static int add_pair(const struct al_tool *tool, const char *word, size_t len, json_t *arguments,
                    struct al_error *err)
{
    al_auto(al_freep) char *name = al_strndup(word, len);
    const struct al_param *object = NULL,
                          *param = tool->definition ? NULL : find_param(tool, name, &object);
    const char *given;
    json_t *value;

    if (tool->definition)
        return arguments_add_defined(tool, name, word + len + 1, arguments, err);
    if (!param)
        return unknown_name(tool, name, err);
    if (object)
        arguments = object_of(object, arguments);
    if (!arguments)
        return 0;
    given = given_name(param, arguments);
    if (given && param->type != AL_TYPE_STRINGS)
        return al_error_set(err, AL_ERR_BAD_ARGS, "%s%s%s is given twice",
                            object ? object->name : "", object ? "." : "", param->name);
    value = value_of(param, word + len + 1);
    if (param->type != AL_TYPE_STRINGS) {
        al_json_set(arguments, param->name, value);
        return 0;
    }
    if (!given)
        al_json_set(arguments, param->name, al_json_array());
    if (json_is_array(json_object_get(arguments, given ? given : param->name)))
        al_json_append(json_object_get(arguments, given ? given : param->name), value);
    else
        json_decref(value); /* the member has another type, which the decoder reports */
    return 0;
}

/* Read the words after the tool's name.
 *
 *   JSON         the arguments as an object, at most once
 *   -            the same, from standard input
 *   NAME=VALUE   one argument, converted to the parameter's type; for a list, one item of it */
static int arguments_read(const struct al_tool *tool, int count, char **words,
                          json_t **ret_arguments, struct al_error *err)
{
    al_auto(al_json_decrefp) json_t *arguments = NULL;
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
            r = add_pair(tool, words[i], len, arguments, err);
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
    const char *name;
    json_t *value;

    if (!param || !here || !json_is_object(arguments) ||
        !strcmp(here, setup->roots.items[0].path) || !al_roots_find(&setup->roots, here))
        return;
    json_object_foreach(arguments, name, value)
    {
        if (al_param_is_called(param, name))
            return;
    }
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
