// SPDX-License-Identifier: Apache-2.0
#include "tests/tables/self_check.h"

#include <regex.h>
#include <stdlib.h>

#include "call/call.h"

#define TOOL_ABOUT_MAX_BYTES  400
#define PARAM_ABOUT_MAX_BYTES 160

/** The largest integer that every JSON reader represents exactly. */
#define INTEGER_MAX (INT64_C(1) << 53)

/* Whether a text is not empty and consists of these characters. */
static bool only(const char *text, const char *allowed)
{
    size_t len = strspn(text, allowed);

    return len > 0 && text[len] == '\0';
}

#define LOWER   "abcdefghijklmnopqrstuvwxyz"
#define LETTERS LOWER "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS  "0123456789"

static char *prose_fault(const char *about, size_t max_bytes)
{
    if (!about || !*about)
        return al_strdup("has no description");
    if (strlen(about) > max_bytes)
        return al_asprintf("has a description of more than %zu bytes", max_bytes);
    if (!al_ends_with(about, "."))
        return al_strdup("has a description without a final period");
    return NULL;
}

/* The subset: printable ASCII, escaped metacharacters, brackets without escapes and classes,
 * groups, and at most one quantifier for each atom.  A dot is not in the subset: the dialects
 * disagree about newlines.  skip_*() return what follows, or NULL outside the subset. */
#define METACHARACTERS "^$\\.*+?()[]{}|"

static const char *skip_branches(const char *at, bool grouped);

static bool is_literal(char c)
{
    return c >= ' ' && c <= '~' && !strchr(METACHARACTERS, c);
}

static const char *skip_bracket(const char *at)
{
    if (*at == '^')
        at++;
    if (*at == ']')
        return NULL; /* a literal in POSIX, the end of the bracket in ECMA-262 */
    while (*at >= ' ' && *at <= '~' && !strchr("[]\\", *at))
        at++;
    return *at == ']' ? at + 1 : NULL;
}

static const char *skip_quantifier(const char *at)
{
    if (*at == '{') {
        at += 1 + strspn(at + 1, DIGITS);
        if (at[-1] == '{')
            return NULL;
        if (*at == ',')
            at += 1 + strspn(at + 1, DIGITS);
        if (*at++ != '}')
            return NULL;
    } else if (*at && strchr("*+?", *at)) {
        at++;
    }
    return *at && strchr("*+?{", *at) ? NULL : at;
}

static const char *skip_atom(const char *at)
{
    if (*at == '[')
        return skip_bracket(at + 1);
    if (*at == '(') {
        at = skip_branches(at + 1, true);
        return at && *at == ')' ? at + 1 : NULL;
    }
    if (*at == '\\')
        return at[1] && strchr(METACHARACTERS, at[1]) ? at + 2 : NULL;
    return is_literal(*at) ? at + 1 : NULL;
}

static const char *skip_branches(const char *at, bool grouped)
{
    bool empty = true;

    while (*at && *at != ')' && *at != '$') {
        if (*at == '|') {
            if (empty || !grouped) /* outside a group each anchor would apply to one branch */
                return NULL;
            empty = true;
            at++;
            continue;
        }
        at = skip_atom(at);
        at = at ? skip_quantifier(at) : NULL;
        if (!at)
            return NULL;
        empty = false;
    }
    return empty ? NULL : at;
}

char *al_pattern_fault(const char *pattern)
{
    regex_t compiled;
    const char *end;

    if (*pattern != '^' || !al_ends_with(pattern, "$"))
        return al_strdup("has a pattern that is not anchored");
    if (regcomp(&compiled, pattern, REG_EXTENDED | REG_NOSUB) != 0)
        return al_strdup("has a pattern that does not compile");
    regfree(&compiled);
    end = skip_branches(pattern + 1, false);
    if (!end || strcmp(end, "$") != 0)
        return al_strdup("has a pattern outside what POSIX ERE and ECMA-262 share");
    return NULL;
}

/* Parameter rows. */

static char *int_fault(const struct al_param *param)
{
    const unsigned configured = AL_PARAM_TIMEOUT | AL_PARAM_MAX_BYTES;
    bool has_default = (param->flags & AL_PARAM_HAS_DEFAULT) || param->default_int != 0;

    if (param->min >= param->max)
        return al_strdup("needs a min below its max");
    if (param->min < -INTEGER_MAX || param->max > INTEGER_MAX)
        return al_strdup("has a bound beyond 2^53");
    if ((param->flags & configured) && has_default)
        return al_strdup("has a default of its own beside the configured one");
    if ((param->flags & configured) == 0 && has_default &&
        (param->default_int < param->min || param->default_int > param->max))
        return al_strdup("has a default outside its bounds");
    return NULL;
}

static char *string_fault(const struct al_param *param)
{
    const char *standard = param->default_str;

    if (param->min_bytes > al_param_max_bytes(param))
        return al_strdup("has min_bytes above max_bytes");
    if (param->pattern) {
        char *fault = al_pattern_fault(param->pattern);

        if (fault)
            return fault;
    }
    if ((param->flags & AL_PARAM_HAS_DEFAULT) && !standard)
        return al_strdup("says that it has a default and has none");
    if (standard &&
        (strlen(standard) < param->min_bytes || strlen(standard) > al_param_max_bytes(param) ||
         (param->pattern && !al_pattern_matches(param->pattern, standard))))
        return al_strdup("has a default that breaks its own rules");
    return NULL;
}

static char *list_fault(const struct al_param *param)
{
    if (param->default_str || (param->flags & AL_PARAM_HAS_DEFAULT))
        return al_strdup("is a list with a default");
    if (param->min < 0 || param->min > al_param_max_items(param))
        return al_strdup("has a min outside 0..max");
    return NULL;
}

static char *strings_fault(const struct al_param *param)
{
    char *fault = list_fault(param);

    return fault ? fault : string_fault(param);
}

static char *choice_fault(const struct al_param *param)
{
    bool found = false;

    if (!param->choices || !param->choices->name)
        return al_strdup("has no choices");
    for (const struct al_choice *choice = param->choices; choice->name; choice++) {
        found = found || choice->value == param->default_int;
        for (const struct al_choice *other = param->choices; other < choice; other++) {
            if (strcmp(other->name, choice->name) == 0 || other->value == choice->value)
                return al_asprintf("has the choice '%s' twice", choice->name);
        }
    }
    if (!found && !(param->flags & AL_PARAM_REQUIRED))
        return al_strdup("has a default outside its choices");
    return NULL;
}

static char *type_fault(const struct al_param *param)
{
    switch (param->type) {
    case AL_TYPE_BOOL:
        return NULL;
    case AL_TYPE_INT:
        return int_fault(param);
    case AL_TYPE_STRING:
        return string_fault(param);
    case AL_TYPE_STRINGS:
        return strings_fault(param);
    case AL_TYPE_CHOICE:
        return choice_fault(param);
    case AL_TYPE_OBJECT:
        return NULL; /* members_fault() looks at its rows */
    case AL_TYPE_OBJECTS:
        return list_fault(param);
    }
    return al_strdup("has no type");
}

static size_t size_of(const struct al_param *param)
{
    static const size_t sizes[] = {
        [AL_TYPE_BOOL] = sizeof(bool),           [AL_TYPE_INT] = sizeof(struct al_opt_int),
        [AL_TYPE_STRING] = sizeof(const char *), [AL_TYPE_STRINGS] = sizeof(struct al_strv),
        [AL_TYPE_CHOICE] = sizeof(int),          [AL_TYPE_OBJECTS] = sizeof(struct al_objects),
    };

    return param->type == AL_TYPE_OBJECT ? param->object->size : sizes[param->type];
}

static char *flags_fault(const struct al_param *param)
{
    const unsigned integer =
        AL_PARAM_TIMEOUT | AL_PARAM_SECONDS | AL_PARAM_MAX_BYTES | AL_PARAM_MAX_HIDDEN;
    const unsigned with_default = AL_PARAM_HAS_DEFAULT | AL_PARAM_TIMEOUT | AL_PARAM_MAX_BYTES;

    if ((param->flags & integer) && param->type != AL_TYPE_INT)
        return al_strdup("has a flag that is for integers");
    if ((param->flags & AL_PARAM_BRANCH) && param->type != AL_TYPE_STRING &&
        param->type != AL_TYPE_STRINGS)
        return al_strdup("is a branch and no string");
    if ((param->flags & AL_PARAM_OUTPUT) && param->type != AL_TYPE_STRING)
        return al_strdup("is a directory for files and no string");
    if ((param->flags & AL_PARAM_PATH) && param->type != AL_TYPE_STRING &&
        param->type != AL_TYPE_STRINGS)
        return al_strdup("is a path and neither a string nor a list");
    if ((param->flags & AL_PARAM_EVERY_PATH) && param->type != AL_TYPE_BOOL &&
        param->type != AL_TYPE_STRING && param->type != AL_TYPE_STRINGS &&
        param->type != AL_TYPE_OBJECTS)
        return al_strdup("concerns every path and is no bool, string or list");
    if ((param->flags & AL_PARAM_REQUIRED) &&
        ((param->flags & with_default) || param->default_str || param->default_int != 0))
        return al_strdup("is required and has a default");
    if ((param->flags & AL_PARAM_MAY_BE_ABSENT) && !(param->flags & AL_PARAM_REQUIRED))
        return al_strdup("may be missing and is not required");
    if ((param->flags & AL_PARAM_DEFAULT_TARGET) && !(param->flags & AL_PARAM_REQUIRED))
        return al_strdup("goes without saying with a default target and is not required");
    return NULL;
}

/* A row's place in a struct of `args_size` bytes; `first` is the first row there. */
static char *place_fault(const struct al_param *first, size_t args_size,
                         const struct al_param *param)
{
    size_t size = size_of(param);

    if (size > args_size || param->offset > args_size - size)
        return al_strdup("lies outside the arguments");
    for (const struct al_param *other = first; other < param; other++) {
        if (strcmp(other->name, param->name) == 0)
            return al_strdup("is there twice");
        if (al_param_is_called(other, param->name))
            return al_asprintf("is another spelling of '%s'", other->name);
        if (other->offset < param->offset + size && param->offset < other->offset + size_of(other))
            return al_asprintf("shares its field with '%s'", other->name);
    }
    return NULL;
}

static char *working_dir_fault(const struct al_tool *tool, const struct al_param *param)
{
    if ((!strcmp(param->name, "working_dir") || !strcmp(param->name, "cwd")) &&
        param->offset != tool->working_dir_offset)
        return al_strdup("is not where working_dir_offset points");
    return NULL;
}

/* What a row says by itself. */
static char *row_fault(const struct al_param *param)
{
    char *fault = param->about ? prose_fault(param->about, PARAM_ABOUT_MAX_BYTES) : NULL;

    if (!fault && (strcspn(param->name, LETTERS) > 0 || !only(param->name, LETTERS DIGITS "_")))
        fault = al_strdup("has a name that is not letters, digits and underscores");
    if (!fault)
        fault = type_fault(param);
    if (!fault)
        fault = flags_fault(param);
    return fault;
}

static char *members_fault(const struct al_param *param);

static char *member_fault(const struct al_object *object, const struct al_param *member)
{
    /* The stages read only these flags of a member. */
    const unsigned allowed = AL_PARAM_REQUIRED | AL_PARAM_HAS_DEFAULT | AL_PARAM_MAX_HIDDEN |
                             AL_PARAM_BRANCH | AL_PARAM_NAME | AL_PARAM_MAY_BE_ABSENT |
                             AL_PARAM_PATH;
    char *fault;

    if (member->type == AL_TYPE_OBJECT)
        return al_strdup("is an object in an object");
    if (member->type == AL_TYPE_OBJECTS && members_fault(member))
        return members_fault(member);
    if (member->flags & ~allowed)
        return al_strdup("has a flag that is not for members of an object");
    if (member->offset < sizeof(bool))
        return al_strdup("lies where the object says whether it is given");
    fault = row_fault(member);
    return fault ? fault : place_fault(object->params, object->size, member);
}

static char *named(const char *what, const char *name, char *fault)
{
    al_auto(al_freep) char *owned = fault;

    return al_asprintf("%s '%s' %s", what, name ? name : "", owned);
}

static char *members_fault(const struct al_param *param)
{
    const struct al_object *object = param->object;
    char *fault = NULL;

    if (param->type != AL_TYPE_OBJECT && param->type != AL_TYPE_OBJECTS)
        return object ? al_strdup("has members and is no object") : NULL;
    if (!object || object->nparams == 0)
        return al_strdup("is an object without members");
    for (size_t i = 0; i < object->nparams && !fault; i++) {
        fault = member_fault(object, &object->params[i]);
        if (fault)
            fault = named("has a member", object->params[i].name, fault);
    }
    return fault;
}

static char *param_fault(const struct al_tool *tool, const struct al_param *param)
{
    char *fault = row_fault(param);

    if (!fault)
        fault = members_fault(param);
    if (!fault)
        fault = place_fault(tool->params, tool->args_size, param);
    if (!fault)
        fault = working_dir_fault(tool, param);
    return fault;
}

bool al_tool_has_action(const struct al_tool *tool, const char *name)
{
    size_t i = 0;

    while (i < tool->nparams && tool->params[i].type != AL_TYPE_CHOICE)
        i++;
    for (const struct al_choice *choice = i < tool->nparams ? tool->params[i].choices : NULL;
         choice && choice->name; choice++)
        if (!strcmp(choice->name, name))
            return true;
    return false;
}

/* Operations, and the tool as a whole. */

static char *operation_fault(const struct al_tool *tool, const struct al_operation *op)
{
    bool last = op == &tool->operations[tool->noperations - 1];

    if (!op->name || !only(op->name, LOWER DIGITS "_"))
        return al_strdup("has a name that is not lower case, digits and underscores");
    for (const struct al_operation *other = tool->operations; other < op; other++) {
        if (strcmp(other->name, op->name) == 0 && other->effects == op->effects && !tool->takes)
            return al_strdup("is there twice");
    }
    if (last && op->applies)
        return al_strdup("is the last and has a condition");
    if (!last && !op->applies && !tool->takes && !al_tool_has_action(tool, op->name))
        return al_strdup("has no condition and is not the last");
    if (op->effects == 0 || op->effects >= 1u << AL_EFFECT_COUNT)
        return al_strdup("has no effects, or unknown ones");
    if (!op->execute)
        return al_strdup("does nothing");
    if (!tool->summarize && !tool->summary &&
        ((op->effects & AL_DISCARDS_WORK) || al_effects_change_repository(op->effects)))
        return al_strdup("changes the repository, and the tool has no summary");
    return NULL;
}

/* Whether something changes the repository is told from the plain operation. */
static char *stricter_fault(const struct al_tool *tool, const struct al_stricter *stricter)
{
    size_t i = 0;

    if (!stricter->holds || !stricter->condition)
        return al_strdup("does not say when it holds");
    if (stricter->effects >= 1u << AL_EFFECT_COUNT ||
        al_effects_change_repository(stricter->effects))
        return al_strdup("has effects that only an operation has");
    while (i < tool->noperations && !al_stricter_is_of(stricter, &tool->operations[i]))
        i++;
    return i < tool->noperations ? NULL : al_strdup("is stricter than no operation");
}

static char *output_fault(const char *text)
{
    al_auto(al_json_decrefp) json_t *example = json_loads(text, JSON_REJECT_DUPLICATES, NULL);

    return json_is_object(example) ||
                   (json_is_array(example) && json_is_object(json_array_get(example, 0)))
               ? NULL
               : al_strdup("has an output schema that is no JSON object");
}

/* What needs a repository is for a tool that has one. */
static char *repository_fault(const struct al_tool *tool)
{
    const unsigned paths = AL_PARAM_PATH | AL_PARAM_EVERY_PATH | AL_PARAM_OUTPUT;
    bool needs = tool->runs_at_top || tool->moves_branch || tool->affected_files;

    if (tool->open_repository != al_call_without_repository)
        return NULL;
    for (size_t i = 0; i < tool->nparams; i++)
        needs |= (tool->params[i].flags & paths) != 0;
    for (size_t i = 0; i < tool->noperations; i++)
        needs |=
            al_effects_change_repository(tool->operations[i].effects & ~(unsigned)AL_DISCARDS_WORK);
    return needs ? al_strdup("has no repository and needs one") : NULL;
}

static char *tool_fault(const struct al_tool *tool)
{
    char *fault = repository_fault(tool);

    if (fault)
        return fault;
    if (!tool->name || strlen(tool->name) > 64 || !only(tool->name, LETTERS DIGITS "_-"))
        return al_strdup("has a name that is not 1 to 64 letters, digits, '_' and '-'");
    if (!tool->title || !*tool->title)
        return al_strdup("has no title");
    if (tool->nparams > AL_PARAMS_MAX)
        return al_asprintf("has more than %d parameters", AL_PARAMS_MAX);
    if (tool->noperations == 0)
        return al_strdup("has no operations");
    if (tool->output_schema) {
        fault = output_fault(tool->output_schema);
        if (fault)
            return fault;
    }
    return prose_fault(tool->about, TOOL_ABOUT_MAX_BYTES);
}

char *al_tool_self_check(const struct al_tool *tool)
{
    char *fault = tool_fault(tool);

    if (fault)
        return named("tool", tool->name, fault);
    for (size_t i = 0; i < tool->nparams; i++) {
        fault = param_fault(tool, &tool->params[i]);
        if (fault)
            return named("parameter", tool->params[i].name, fault);
    }
    for (size_t i = 0; i < tool->noperations; i++) {
        fault = operation_fault(tool, &tool->operations[i]);
        if (fault)
            return named("operation", tool->operations[i].name, fault);
    }
    for (size_t i = 0; i < tool->nstricter; i++) {
        fault = stricter_fault(tool, &tool->stricter[i]);
        if (fault)
            return named("stricter operation", tool->stricter[i].operation, fault);
    }
    return NULL;
}
