// SPDX-License-Identifier: Apache-2.0
/* The arguments of a call, by the rows of its tool: which are given, which have no effect, and the
 * summary. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "call/private.h"
#include "guard/text.h"

static size_t count_of(const void *args, const struct al_param *param)
{
    return param->type == AL_TYPE_STRINGS
               ? al_args_strings(args, param)->count
               : ((const struct al_objects *)al_args_field(args, param))->count;
}

bool al_args_given(const void *args, const struct al_param *param)
{
    switch (param->type) {
    case AL_TYPE_BOOL:
    case AL_TYPE_OBJECT:
        return al_args_bool(args, param);
    case AL_TYPE_INT:
        return al_args_int(args, param)->given;
    case AL_TYPE_STRING:
        return al_args_string(args, param);
    case AL_TYPE_STRINGS:
    case AL_TYPE_OBJECTS:
        return count_of(args, param) > 0;
    case AL_TYPE_CHOICE:
        break;
    }
    return true;
}

static const struct al_param *find_row(const struct al_tool *tool, const char *name, size_t len)
{
    al_auto(al_freep) char *word = al_strndup(name, len);

    return al_params_find(tool->params, tool->nparams, word);
}

static const char *choice_of(const void *args, const struct al_param *param)
{
    const struct al_choice *choice = param->choices;

    while (choice->name && choice->value != *(const int *)al_args_field(args, param))
        choice++;
    return choice->name ? choice->name : "";
}

/* The first choice of a tool says what it does; NULL: it has none. */
static const struct al_param *action_row(const struct al_tool *tool)
{
    for (size_t i = 0; i < tool->nparams; i++)
        if (tool->params[i].type == AL_TYPE_CHOICE)
            return &tool->params[i];
    return NULL;
}

bool al_args_action_is(const struct al_tool *tool, const void *args, const char *name)
{
    const struct al_param *row = action_row(tool);

    return row && !strcmp(choice_of(args, row), name);
}

static bool has_word(const char *words, const char *word)
{
    const size_t len = strlen(word);

    for (const char *at = words; (at = strstr(at, word)); at += len)
        if ((at == words || at[-1] == ' ') && (!at[len] || at[len] == ' '))
            return true;
    return false;
}

/* The action, if it is none that the parameter goes with; else NULL. */
static const char *wrong_action(const struct al_tool *tool, const void *args,
                                const struct al_param *param)
{
    const struct al_param *row = param->actions ? action_row(tool) : NULL;
    const char *action = row ? choice_of(args, row) : NULL;

    return action && !has_word(param->actions, action) && al_args_given(args, param) ? action
                                                                                     : NULL;
}

int al_args_check_used(const struct al_tool *tool, const void *args, struct al_error *err)
{
    for (size_t i = 0; i < tool->nparams; i++) {
        const char *action = wrong_action(tool, args, &tool->params[i]);

        if (!action)
            continue;
        return al_error_remedy(al_error_set(err, AL_ERR_BAD_ARGS, "%s has no meaning for action %s",
                                            tool->params[i].name, action),
                               err, "Leave it out, or give the action that has it.");
    }
    return 0;
}

/* The first given one of the parameters that make this one void; NULL: it has its effect. */
static const struct al_param *winner(const struct al_tool *tool, const void *args,
                                     const struct al_param *param)
{
    const char *text = param->type == AL_TYPE_STRING ? al_args_string(args, param) : "x";
    const struct al_param *other;

    for (const char *at = param->unless; at && *at && al_args_given(args, param) && *text;
         at += strcspn(at, " "), at += strspn(at, " ")) {
        other = find_row(tool, at, strcspn(at, " "));
        if (other && al_args_given(args, other))
            return other;
    }
    return NULL;
}

void al_args_note_ignored(const struct al_tool *tool, const void *args, struct al_str *out)
{
    al_auto(al_freep) char *since = NULL;

    for (size_t i = 0; i < tool->nparams; i++) {
        const struct al_param *param = &tool->params[i], *other = winner(tool, args, param);
        const char *action = wrong_action(tool, args, param);

        if (!action && !other)
            continue;
        if (!since) {
            since = action ? al_asprintf("since action is %s", action)
                           : al_asprintf("since %s is given", other->name);
            al_str_addf(out, "%sairlock: ignored: ", out->len ? "\n" : "");
        }
        al_str_addf(out, "%s, ", param->name);
    }
    al_str_adds(out, since ? since : "");
}

/* --- The summary --- */

struct summary {
    const struct al_tool *tool;
    const void *args;
    struct al_str *out;
};

static const struct al_param *named_row(const struct summary *summary, const char *name, size_t len)
{
    const struct al_param *row = find_row(summary->tool, name, len);

    if (!row)
        abort(); /* which a test finds */
    return row;
}

static void write_value(const struct summary *summary, const struct al_param *param, bool in_full,
                        size_t max)
{
    const char *text;

    if (param->type == AL_TYPE_STRINGS) {
        al_text_add_list(summary->out, al_args_strings(summary->args, param), max);
    } else if (param->type == AL_TYPE_INT) {
        al_str_addf(summary->out, "%" PRId64, al_args_int(summary->args, param)->value);
    } else {
        text = param->type == AL_TYPE_CHOICE ? choice_of(summary->args, param)
                                             : al_args_string(summary->args, param);
        if (text)
            al_str_add(summary->out, text, in_full ? strlen(text) : strcspn(text, "\n"));
    }
}

/* "^message}", "#hunks hunk}", "paths:2}": gives the place behind it. */
static const char *write_field(const struct summary *summary, const char *at, bool shows)
{
    const char *name = at + (*at == '^' || *at == '#'), *end = strchr(name, '}');
    const size_t len = strcspn(name, " :}");
    const struct al_param *param = named_row(summary, name, len);

    if (shows && *at == '#') {
        al_str_addf(summary->out, "%zu%.*s", count_of(summary->args, param),
                    (int)(end - name - (int)len), name + len);
        if (name[len] == ' ' && count_of(summary->args, param) != 1)
            al_str_addc(summary->out, 's');
    } else if (shows) {
        write_value(summary, param, *at != '^',
                    name[len] == ':' ? (size_t)(name[len + 1] - '0') : 3);
    }
    return end + 1;
}

static const char *write_part(const struct summary *summary, const char *at, bool shows);

static bool is_word(const struct summary *summary, const struct al_param *param, const char *word,
                    size_t len)
{
    al_auto(al_str_clear) struct al_str is = AL_STR_INIT;

    write_value(&(struct summary){ summary->tool, summary->args, &is }, param, true, 1);
    return is.len == len && !strncmp(is.buf, word, len);
}

/* "name?text]", "!name=x?text]" */
static const char *write_group(const struct summary *summary, const char *at, bool shows)
{
    const bool negated = *at == '!';
    const char *name = at + negated, *text = strchr(name, '?') + 1;
    const size_t len = strcspn(name, "=?");
    const struct al_param *param = named_row(summary, name, len);
    const char *word = name[len] == '=' ? name + len + 1 : NULL;
    const bool holds = word ? is_word(summary, param, word, (size_t)(text - 1 - word))
                            : al_args_given(summary->args, param);

    at = write_part(summary, text, shows && holds != negated);
    return at + (*at == ']');
}

/* Up to the ']' of a group, or the end. */
static const char *write_part(const struct summary *summary, const char *at, bool shows)
{
    while (*at && *at != ']') {
        if (*at == '[') {
            at = write_group(summary, at + 1, shows);
        } else if (*at == '{') {
            at = write_field(summary, at + 1, shows);
        } else {
            if (shows)
                al_str_addc(summary->out, *at);
            at++;
        }
    }
    return at;
}

void al_tool_write_summary(const struct al_tool *tool, const void *args, struct al_str *out)
{
    (void)write_part(&(struct summary){ tool, args, out }, tool->summary, true);
}
