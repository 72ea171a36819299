// SPDX-License-Identifier: Apache-2.0
/* A mounted tool in the stages of a call. */
#include "tools/upstream/mounted.h"

#include "base/base64.h"
#include "base/utf8.h"
#include "call/defined.h"
#include "git/command.h"
#include "guard/root.h"

/** The longest part of a refused name that is repeated. */
#define SHOWN_MAX_BYTES 80u

/* The name of a mounted tool.  Caller frees. */
static char *mounted_name(const char *server, const char *tool)
{
    return al_asprintf(AL_MOUNTS_PREFIX "%s__%s", server, tool);
}

size_t al_mounted_server(const char *name)
{
    const char *server = name + strlen(AL_MOUNTS_PREFIX), *end;

    if (!al_starts_with(name, AL_MOUNTS_PREFIX))
        return 0;
    end = strstr(server, "__");
    return end && end[2] ? (size_t)(end - server) : 0;
}

static char *refusal(const char *tool, const char *why)
{
    al_auto(al_freep) char *safe = al_text_sanitize_shown_line(tool);

    if (strlen(safe) > SHOWN_MAX_BYTES)
        safe[al_utf8_floor(safe, SHOWN_MAX_BYTES)] = '\0';
    return al_asprintf("'%s' %s", safe, why);
}

char *al_mounted_refusal(const char *server, const char *tool)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "0123456789_-";
    al_auto(al_freep) char *name = mounted_name(server, tool);

    if (!*tool || tool[strspn(tool, allowed)])
        return refusal(tool, "has characters that clients refuse");
    if (strlen(name) > AL_MOUNTS_NAME_MAX_BYTES)
        return refusal(tool, "is too long behind the name of the server");
    return NULL;
}

/* The most fields of a form, and the longest schema as JSON. */
#define FIELDS_MAX       64u
#define SCHEMA_MAX_BYTES 65536u

/* A copy in which text that users read is safe.  Caller owns the reference. */
static json_t *safe_copy(const json_t *value, bool is_read)
{
    const char *name;
    json_t *copy, *member;
    size_t i;

    if (is_read && json_is_string(value)) {
        al_auto(al_freep) char *safe = al_text_join_shown_lines(json_string_value(value));

        return al_json_string(safe);
    }
    if (json_is_array(value)) {
        copy = al_json_array();
        json_array_foreach(value, i, member) al_json_append(copy, safe_copy(member, is_read));
        return copy;
    }
    if (!json_is_object(value))
        return json_incref((json_t *)value);
    copy = al_json_object();
    json_object_foreach((json_t *)value, name, member)
    {
        al_json_set(copy, name,
                    safe_copy(member, !strcmp(name, "title") || !strcmp(name, "description") ||
                                          !strcmp(name, "enumNames")));
    }
    return copy;
}

json_t *al_question_params(const json_t *params, const char *server, const char *tool)
{
    const char *asked = al_json_get_string(params, "message");
    const char *mode = al_json_get_string(params, "mode");
    const json_t *schema = json_object_get(params, "requestedSchema");
    al_auto(al_str_clear) struct al_str message = AL_STR_INIT, json = AL_STR_INIT;

    if (!asked || !json_is_object(schema) || (mode && strcmp(mode, "form") != 0) ||
        json_object_size(json_object_get(schema, "properties")) > FIELDS_MAX)
        return NULL;
    al_json_dump(schema, true, &json);
    if (json.len > SCHEMA_MAX_BYTES)
        return NULL;
    al_str_addf(&message,
                "The MCP server %s asks this, while it runs %s. It is not a question of "
                "airlock's:\n",
                server, tool);
    al_text_add_indented(&message, asked, false);
    return json_pack("{s:s*, s:o, s:o}", "mode", mode, "message",
                     al_json_stringn(message.buf, message.len), "requestedSchema",
                     safe_copy(schema, false));
}

/* The value that binds an approval to the definition; an "always" shows its beginning. */
#define DEFINITION "definition"

/* The longest wait for the new list of a server that has just said that it has changed. */
#define CHANGE_MS 3000

/* Without the annotation readOnlyHint a tool counts as everything. */
#define EVERYTHING ((1u << AL_EFFECT_COUNT) - 1)

static const struct al_mounted *mounted_of(const struct al_call *call)
{
    const struct al_defined_args *defined = al_call_args(call);

    return (const struct al_mounted *)defined->tool;
}

static const char *server_of(const struct al_mounted *mounted)
{
    return al_upstream_name(mounted->mount->upstream);
}

/* A server that contradicts itself is not believed. */
static unsigned effects_of(const json_t *annotations)
{
    if (!json_is_true(json_object_get(annotations, "readOnlyHint")) ||
        json_is_true(json_object_get(annotations, "destructiveHint")))
        return EVERYTHING;
    if (json_is_false(json_object_get(annotations, "openWorldHint")))
        return AL_READS;
    return AL_READS | AL_USES_NETWORK;
}

static int changed(const struct al_mounted *mounted, struct al_error *err)
{
    return al_error_set(err, AL_ERR_EXECUTION,
                        "The MCP server %s has changed its tool %s since it was listed. Nothing "
                        "was done; list the tools again",
                        server_of(mounted), mounted->upstream);
}

/* The definition that the user was shown has to be the one that the server has when the call runs.
 */
static int resolve(struct al_call *call, struct al_error *err)
{
    const struct al_mounted *mounted = mounted_of(call);
    json_t *now = NULL;
    const json_t *tool;
    bool same;
    int r = al_upstream_tools(mounted->mount->upstream, CHANGE_MS, al_call_input(call)->cancel,
                              &now, err);

    if (r < 0)
        return r;
    tool = al_upstream_tools_find(now, mounted->upstream);
    same = tool && json_equal(tool, mounted->definition);
    json_decref(now);
    if (!same)
        return changed(mounted, err);
    al_call_resolve(call, DEFINITION, mounted->digest);
    return 0;
}

/* The server can use all of every root, whatever the call is about. */
static int authorize(struct al_call *call, struct al_error *err)
{
    const struct al_roots *roots = al_call_session(call)->roots;
    int r = 0;

    for (size_t i = 0; r == 0 && i < roots->count; i++)
        if (!al_root_is_released(&roots->items[i]))
            r = al_grant_check_tree(al_call_session(call)->grant, roots->items[i].path, true, err);
    return r;
}

static void summarize(const struct al_call *call, struct al_str *out)
{
    al_defined_summarize(al_call_args(call), server_of(mounted_of(call)), out);
}

static int preview(struct al_call *call, struct al_str *out, struct al_error *err)
{
    return al_defined_preview(al_call_args(call), al_call_budget(call)->in_full, out, err);
}

/* A call that runs. */
struct running {
    struct al_call *call;
    const struct al_mounted *mounted;
};

static void on_progress(void *payload, const struct al_upstream_progress *progress)
{
    const struct running *running = payload;
    const struct al_progress *to = al_call_input(running->call)->progress;
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;

    al_str_addf(&line, "%g", progress->progress);
    if (progress->total >= 0)
        al_str_addf(&line, " of %g", progress->total);
    if (progress->message)
        al_str_addf(&line, ": %s", progress->message);
    to->report(to->payload, line.buf);
}

static int on_question(void *payload, const char *method, const json_t *params,
                       struct al_cancel *cancel, json_t **ret_result, struct al_error *err)
{
    const struct running *running = payload;
    const struct al_asker *client = al_call_input(running->call)->asker;
    const bool is_form = !strcmp(method, "elicitation/create");
    al_auto(al_json_decrefp) json_t *form =
        is_form
            ? al_question_params(params, server_of(running->mounted), running->mounted->upstream)
            : NULL;

    *ret_result = NULL;
    if (is_form && !form)
        return 0;
    return client->ask(client->payload, method, form ? form : params, cancel, ret_result, err);
}

static int execute(struct al_call *call, struct al_result *result, struct al_error *err)
{
    const struct al_mounted *mounted = mounted_of(call);
    struct running running = { .call = call, .mounted = mounted };
    al_auto(al_upstream_state_clear) struct al_upstream_state state = { .ntools = 0 };
    al_auto(al_json_decrefp) json_t *answer = NULL;
    int r = al_upstream_call(mounted->mount->upstream,
                             &(struct al_upstream_call){
                                 .tool = mounted->upstream,
                                 .definition = mounted->definition,
                                 .arguments = al_call_arguments(call),
                                 .cancel = al_call_input(call)->cancel,
                                 .progress = al_call_input(call)->progress ? on_progress : NULL,
                                 .ask = al_call_input(call)->asker ? on_question : NULL,
                                 .payload = &running,
                             },
                             &answer, err);

    if (r == 0)
        r = al_upstream_take_result(answer, al_call_max_bytes(call), server_of(mounted),
                                    json_object_get(mounted->definition, "outputSchema") != NULL,
                                    result, err);
    al_upstream_get_state(mounted->mount->upstream, &state);
    result->confinement = state.confined ? NULL : "none";
    result->exit_code = -1; /* no git ran */
    return r;
}

size_t al_mounted_init(struct al_mounted *mounted, const struct al_mount *mount,
                       const json_t *definition)
{
    static const char *const always_by[] = { DEFINITION, NULL };
    const unsigned effects = effects_of(json_object_get(definition, "annotations"));
    const char *title = al_json_get_string(definition, "title");
    const char *about = al_json_get_string(definition, "description");
    al_auto(al_str_clear) struct al_str json = AL_STR_INIT;

    mounted->mount = mount;
    mounted->definition = definition;
    mounted->upstream = al_json_get_string(definition, "name");
    mounted->name = mounted_name(al_upstream_name(mount->upstream), mounted->upstream);
    mounted->operation = (struct al_operation){
        .name = "call", .effects = effects, .execute = execute, .asks = AL_ASKS_BY_EFFECTS
    };
    mounted->tool = (struct al_tool){
        .name = mounted->name,
        .title = title ? title : mounted->upstream,
        .about = about ? about : "",
        .args_size = sizeof(struct al_defined_args),
        .operations = &mounted->operation,
        .noperations = 1,
        .definition = definition,
        .at_first_root = true,
        .moves_branch = al_effects_change_repository(effects),
        .resolve = resolve,
        .authorize = authorize,
        .summarize = summarize,
        .preview = preview,
        .always_by = always_by,
    };
    al_json_dump(definition, false, &json);
    mounted->digest = al_sha256(json.buf, json.len);
    return json.len;
}
