// SPDX-License-Identifier: Apache-2.0
#include "cli/print.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/log.h"
#include "call/registry.h"
#include "cli/cli.h"
#include "cli/names.h"
#include "cli/setup.h"
#include "cli/signals.h"
#include "guard/text.h"
#include "tools/toolsets.h"
#include "tools/upstream/mounts.h"

#define NAME_COLUMNS 18

const char *al_operation_condition(const struct al_tool *tool, const struct al_operation *op)
{
    for (size_t i = 0; i < tool->nstricter; i++)
        if (al_stricter_is_of(&tool->stricter[i], op))
            return tool->stricter[i].condition;
    return NULL;
}

static bool asks(const struct al_operation *op, const struct al_config *config)
{
    return al_operation_asks(op, config->approval.mode, config->journal.checkpoints);
}

const char *al_tool_asking(const struct al_tool *tool, const struct al_config *config)
{
    size_t asking = 0;

    if (config->approval.mode == AL_APPROVAL_ALLOW)
        return "none";

    for (size_t i = 0; i < tool->noperations; i++) {
        if (asks(&tool->operations[i], config))
            asking++;
        else if (al_operation_condition(tool, &tool->operations[i]))
            return "some";
    }
    if (asking == 0)
        return "none";
    if (asking < tool->noperations)
        return "some";
    return config->approval.mode == AL_APPROVAL_DENY ? "deny" : "ask";
}

static void add_item(const char *name, const char *text, struct al_str *out)
{
    al_str_addf(out, "  %-*s", NAME_COLUMNS, name);
    if (strlen(name) > NAME_COLUMNS)
        al_str_addc(out, '\n');
    al_cli_wrap(out, 2 + NAME_COLUMNS + 2, text);
}

static void add_operation(const struct al_tool *tool, const struct al_operation *op,
                          const struct al_config *config, struct al_str *out)
{
    const bool always = asks(op, config);
    const char *condition = always ? NULL : al_operation_condition(tool, op);
    al_auto(al_freep) char *asked = condition ? al_asprintf("asks only %s", condition) : NULL;

    add_item(op->name, asked ? asked : always ? "asks" : "does not ask", out);
}

/* Two rows are one operation if it has more effects at times; git_commit also writes the working
 * tree when it continues a rebase.  Such an operation is shown once. */
static bool is_shown_before(const struct al_operation *operations, size_t i,
                            const struct al_config *config)
{
    for (size_t k = 0; k < i; k++)
        if (!strcmp(operations[k].name, operations[i].name) &&
            asks(&operations[k], config) == asks(&operations[i], config))
            return true;
    return false;
}

static void add_value(const json_t *value, struct al_str *out)
{
    if (json_is_string(value))
        al_str_adds(out, json_string_value(value));
    else
        al_json_dump(value, false, out);
}

/* Add the choices or the bounds of a parameter: "one of a, b", "1 to 100". */
static void add_bounds(const json_t *schema, struct al_str *out)
{
    const json_t *values = json_object_get(schema, "enum");
    const json_t *least = json_object_get(schema, "minimum");
    const json_t *most = json_object_get(schema, "maximum");
    const json_t *item;
    size_t i;

    json_array_foreach(values, i, item)
    {
        al_str_adds(out, i ? ", " : "; one of ");
        add_value(item, out);
    }
    if (least && most)
        al_str_addf(out, "; %lld to %lld", (long long)json_integer_value(least),
                    (long long)json_integer_value(most));
    else if (least)
        al_str_addf(out, "; at least %lld", (long long)json_integer_value(least));
}

static void add_default(const json_t *schema, struct al_str *out)
{
    const json_t *value = json_object_get(schema, "default");
    if (!value || json_is_false(value))
        return;
    al_str_adds(out, "; default ");
    add_value(value, out);
}

static const char *type_of(const json_t *schema)
{
    const char *type = al_json_get_string(schema, "type");
    const char *items = al_json_get_string(json_object_get(schema, "items"), "type");

    if (type && !strcmp(type, "array"))
        return items && !strcmp(items, "object") ? "list of objects, as JSON"
                                                 : "list; may be repeated";
    return type && !strcmp(type, "boolean") ? "true or false" : type ? type : "string";
}

bool al_cli_list_has(const json_t *list, const char *text)
{
    const json_t *item;
    size_t i;

    json_array_foreach(list, i, item)
    {
        if (json_is_string(item) && !strcmp(json_string_value(item), text))
            return true;
    }
    return false;
}

static bool is_required(const json_t *schema, const char *name)
{
    return al_cli_list_has(json_object_get(schema, "required"), name);
}

static void add_parameter(const char *name, const json_t *schema, bool required, struct al_str *out)
{
    const char *about = al_json_get_string(schema, "description");
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    al_str_addf(&text, "%s%s(%s", about ? about : "", about ? " " : "", type_of(schema));
    add_bounds(schema, &text);
    add_default(schema, &text);
    al_str_adds(&text, required ? "; required)" : ")");
    add_item(name, text.buf, out);
}

/* The members of an object come behind it, as they are written: "target.branch". */
static void add_parameters(const json_t *schema, struct al_str *out)
{
    const json_t *param, *member;
    const char *name, *of;

    json_object_foreach(json_object_get(schema, "properties"), name, param)
    {
        add_parameter(name, param, is_required(schema, name), out);
        json_object_foreach(json_object_get(param, "properties"), of, member)
        {
            al_auto(al_freep) char *full = al_asprintf("%s.%s", name, of);

            add_parameter(full, member, is_required(param, of), out);
        }
    }
}

static void add_help(const struct al_listed_tool *listed, const struct al_tool_defaults *defaults,
                     const struct al_config *config, struct al_str *out)
{
    const struct al_tool *tool = listed->tool;
    al_auto(al_json_decrefp) json_t *schema = al_tool_schema(tool, defaults);

    al_str_addf(out, "usage: airlock call [OPTIONS] %s [NAME=VALUE...] [JSON|-]\n\n", tool->name);
    al_cli_wrap(out, 0, tool->about);
    al_str_addf(out, "%s %s; risk %s.\n", tool->definition ? "MCP server" : "Toolset",
                listed->toolset->name + (tool->definition ? strlen(AL_MOUNTS_PREFIX) : 0),
                al_effects_risk(al_tool_effects(tool)));
    al_str_adds(out, "\nOperations, and whether you are asked:\n");
    for (size_t i = 0; i < tool->noperations; i++)
        if (!is_shown_before(tool->operations, i, config))
            add_operation(tool, &tool->operations[i], config, out);
    if (json_object_size(json_object_get(schema, "properties")))
        al_str_adds(out, "\nParameters (NAME=VALUE, or members of a JSON object):\n");
    add_parameters(schema, out);
}

void al_tool_show(const struct al_listed_tool *listed, const struct al_tool_defaults *defaults,
                  const struct al_config *config, struct al_str *out)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    add_help(listed, defaults, config, &text);
    if (listed->tool->definition) /* names and values of the schema are the server's */
        al_text_sanitize(text.buf, text.len, out);
    else
        al_str_add(out, text.buf, text.len);
}

int al_unknown_tool(const struct al_setup *setup, const char *word, struct al_error *err)
{
    const char *meant = al_registry_nearest(&setup->registry, NULL, word);
    const struct al_listed_tool other = al_toolset_find_tool(al_toolsets(), word);
    struct al_nearest nearest = { .word = word };
    struct al_listed_tool near = { .tool = NULL };

    al_names_offer(&nearest);
    if (nearest.found)
        near = al_toolset_find_tool(al_toolsets(), nearest.found);
    if (!meant && near.tool && al_registry_find(&setup->registry, near.tool->name))
        meant = near.tool->name; /* the session has it, from another toolset */
    if (al_registry_find(&setup->registry, word))
        return al_error_set(err, AL_ERR_BAD_ARGS, "the grant '%s' does not include '%s'",
                            setup->session.grant->name, word);
    if (other.tool && !strcmp(other.toolset->name, "commands"))
        return al_error_set(err, AL_ERR_BAD_ARGS,
                            "'%s' is no tool of a session, but for a shell: airlock help %s", word,
                            word);
    if (setup->registry.count && other.tool)
        return al_error_set(
            err, AL_ERR_BAD_ARGS,
            "'%s' is a tool of the toolset %s, which is not chosen; add --toolset %s", word,
            other.toolset->name, other.toolset->name);
    if (setup->registry.count && !meant && near.tool)
        return al_error_set(err, AL_ERR_BAD_ARGS,
                            "unknown tool '%s'; did you mean %s of the toolset %s? It is not "
                            "chosen; add --toolset %s",
                            word, near.tool->name, near.toolset->name, near.toolset->name);
    return al_error_set(err, AL_ERR_BAD_ARGS, "unknown tool '%s'; %s%s%sairlock tools lists them",
                        word, meant ? "did you mean " : "", meant ? meant : "", meant ? "? " : "");
}

int al_cli_fail(const struct al_error *err)
{
    al_auto(al_freep) char *safe = al_text_join_lines(err->message);

    al_log_note("%s", safe);
    if (err->remedy)
        al_log_note("%s", err->remedy);
    return err->status == AL_ERR_BAD_ARGS || err->status == AL_ERR_NOT_FOUND ? AL_EXIT_USAGE
                                                                             : AL_EXIT_FAILED;
}

int al_cli_usage(const char *fmt, ...)
{
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;
    al_auto(al_freep) char *safe = NULL;
    va_list args;

    va_start(args, fmt);
    al_str_addv(&line, fmt, args);
    va_end(args);
    safe = al_text_sanitize_line(line.buf);
    al_log_note("%s", safe);
    return AL_EXIT_USAGE;
}

int al_cli_unknown(const char *what, const struct al_nearest *nearest, const char *see)
{
    const bool found = nearest->found;

    return al_cli_usage("%s '%s'; %s%s%s%c%s", what, nearest->word, found ? "did you mean " : "",
                        found ? nearest->found : "", found ? "? " : "", found ? 'S' : 's', see + 1);
}

static bool output_lost; /* output of this process was lost */

static void note_error(int r)
{
    if (r >= 0 || r == -EPIPE) /* a reader may stop early */
        return;
    if (!output_lost)
        al_log_note("cannot write: %s", strerrordesc_np(-r));
    output_lost = true;
}

void al_cli_print(int fd, const struct al_str *text)
{
    note_error(al_write_all(fd, text->buf, text->len));
}

void al_cli_say(const char *fmt, ...)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    va_list args;

    va_start(args, fmt);
    al_str_addv(&text, fmt, args);
    va_end(args);
    al_cli_print(STDOUT_FILENO, &text);
}

void al_cli_print_json(json_t *object)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    al_json_dump(object, false, &text);
    al_str_addc(&text, '\n');
    al_cli_print(STDOUT_FILENO, &text);
    json_decref(object);
}

void al_cli_wrap(struct al_str *out, size_t indent, const char *text)
{
    size_t column = 0;

    for (size_t i = out->len; i > 0 && out->buf[i - 1] != '\n'; i--)
        column++;
    for (const char *word = text; *word;) {
        size_t len = strcspn(word, " \n");

        if (column > indent &&
            (column + 1 + len > AL_CLI_COLUMNS || (word > text && word[-1] == '\n'))) {
            al_str_addc(out, '\n');
            column = 0;
        }
        for (bool apart = column > indent; apart || column < indent; apart = false, column++)
            al_str_addc(out, ' ');
        al_str_add(out, word, len);
        column += len;
        word += len + strspn(word + len, " \n");
    }
    al_str_addc(out, '\n');
}

int al_cli_finish(int code)
{
    if (code == AL_EXIT_FAILED && al_signals_caught())
        return 128 + al_signals_caught();
    return code == AL_EXIT_OK && output_lost ? AL_EXIT_FAILED : code;
}

void al_cli_note_wait(void *payload, const char *line)
{
    (void)payload;
    if (line)
        al_log_note("%s", line);
}
