// SPDX-License-Identifier: Apache-2.0
/*
 * The toolset `conformance`: the tools that the MCP conformance suite looks for by name.
 *
 * Linked into a test program of its own, in which al_toolsets() lists it beside the
 * toolsets of airlock.  Everything but the tools themselves is airlock's: the protocol, the stages
 * of a call, questions, progress and results.
 *
 * Source: @modelcontextprotocol/conformance, the `description` of each scenario.
 */
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/progress.h"
#include "call/call.h"
#include "call/registry.h"

/** Longer than AL_PROGRESS_STEP_MS: a report that comes sooner replaces the one before. */
#define STEP_MS 300

/** The calls of the real and the wrapped function: see tests/conformance/meson.build. */
const struct al_toolset_registry *__real_al_toolsets(void);
const struct al_toolset_registry *__wrap_al_toolsets(void);

#define PNG                                                                                        \
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5Erk"   \
    "Jggg=="
#define WAV           "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA="

#define TEXT(words)   "{\"type\":\"text\",\"text\":\"" words "\"}"
#define IMAGE         "{\"type\":\"image\",\"data\":\"" PNG "\",\"mimeType\":\"image/png\"}"
#define AUDIO         "{\"type\":\"audio\",\"data\":\"" WAV "\",\"mimeType\":\"audio/wav\"}"
#define RESOURCE(uri) "{\"type\":\"resource\",\"resource\":{\"uri\":\"" uri "\","
#define ITEMS(...)    "[" __VA_ARGS__ "]"

#define FORM(members) "{\"type\":\"object\",\"properties\":{" members "}}"
#define FIELD(name)                                                                                \
    "{\"type\":\"object\",\"properties\":{\"" name "\":{\"type\":\"string\"}},\"required\":"       \
    "[\"" name "\"]}"
#define OPTIONS "[\"option1\",\"option2\",\"option3\"]"
#define TITLED                                                                                     \
    "[{\"const\":\"value1\",\"title\":\"First\"},{\"const\":\"value2\",\"title\":\"Second\"},"     \
    "{\"const\":\"value3\",\"title\":\"Third\"}]"

/* What a tool does: return content, or ask the user. */
struct fixture {
    const char *tool;
    const char *content;    /* the items; NULL: none */
    const char *question;   /* NULL: the argument `message` */
    const char *schemas[2]; /* of the forms, one after the other */
};

static const struct fixture fixtures[] = {
    { .tool = "test_simple_text",
      .content = ITEMS(TEXT("This is a simple text response for testing.")) },
    { .tool = "test_image_content", .content = ITEMS(IMAGE) },
    { .tool = "test_audio_content", .content = ITEMS(AUDIO) },
    { .tool = "test_embedded_resource",
      .content = ITEMS(
          RESOURCE("test://embedded-resource") "\"mimeType\":\"text/plain\",\"text\":"
                                               "\"This is an embedded resource content.\"}}") },
    { .tool = "test_multiple_content_types",
      .content = ITEMS(TEXT("Multiple content types test:") "," IMAGE "," RESOURCE(
          "test://mixed-content-resource") "\"mimeType\":"
                                           "\"application/"
                                           "json\",\"text\":\"{\\\"test\\\":\\\"data\\\"}\"}}") },
    { .tool = "test_logging_tool", .content = ITEMS(TEXT("Nothing is logged")) },
    { .tool = "json_schema_2020_12_tool", .content = ITEMS(TEXT("called")) },
    { .tool = "test_elicitation", .schemas = { FIELD("response") } },
    { .tool = "test_elicitation_sep1034_defaults",
      .question = "Please review and update the form fields with defaults",
      .schemas = { FORM("\"name\":{\"type\":\"string\",\"default\":\"John Doe\"},"
                        "\"age\":{\"type\":\"integer\",\"default\":30},"
                        "\"score\":{\"type\":\"number\",\"default\":95.5},"
                        "\"status\":{\"type\":\"string\",\"enum\":[\"active\",\"inactive\","
                        "\"pending\"],\"default\":\"active\"},"
                        "\"verified\":{\"type\":\"boolean\",\"default\":true}") } },
    { .tool = "test_elicitation_sep1330_enums",
      .question = "Please select options from the enum fields",
      .schemas = { FORM("\"untitledSingle\":{\"type\":\"string\",\"enum\":" OPTIONS "},"
                        "\"titledSingle\":{\"type\":\"string\",\"oneOf\":" TITLED "},"
                        "\"legacyEnum\":{\"type\":\"string\",\"enum\":[\"opt1\",\"opt2\","
                        "\"opt3\"],\"enumNames\":[\"One\",\"Two\",\"Three\"]},"
                        "\"untitledMulti\":{\"type\":\"array\",\"minItems\":1,\"maxItems\":3,"
                        "\"items\":{\"type\":\"string\",\"enum\":" OPTIONS "}},"
                        "\"titledMulti\":{\"type\":\"array\",\"minItems\":1,\"maxItems\":3,"
                        "\"items\":{\"anyOf\":" TITLED "}}") } },
    { .tool = "test_streaming_elicitation",
      .question = "Please confirm",
      .schemas = { FIELD("response") } },
    { .tool = "test_input_required_result_elicitation",
      .question = "What is your name?",
      .schemas = { FIELD("name") } },
    { .tool = "test_input_required_result_request_state",
      .question = "Please confirm",
      .schemas = { FORM("\"ok\":{\"type\":\"boolean\"}") } },
    { .tool = "test_input_required_result_tampered_state",
      .question = "Please confirm",
      .schemas = { FORM("\"ok\":{\"type\":\"boolean\"}") } },
    { .tool = "test_input_required_result_multi_round",
      .question = "Step by step",
      .schemas = { FIELD("name"), FIELD("color") } },
};

struct fixture_args {
    struct al_defined_args defined; /* of the tool with a definition */
    const char *words;              /* what to ask */
};

static const struct fixture *fixture_of(const struct al_call *call)
{
    const char *name = al_call_tool(call)->name;

    for (size_t i = 0; i < AL_COUNT(fixtures); i++)
        if (!strcmp(fixtures[i].tool, name))
            return &fixtures[i];
    abort();
}

static json_t *parse(const char *json)
{
    json_t *value = json_loads(json, 0, NULL);

    return value ? value : (abort(), NULL);
}

/* Nothing of a fixture touches a repository or a grant. */
static int authorize(struct al_call *call, struct al_error *err)
{
    (void)call;
    (void)err;
    return 0;
}

static int give_content(struct al_call *call, struct al_result *result, struct al_error *err)
{
    (void)err;
    result->content = parse(fixture_of(call)->content);
    al_str_adds(&result->text, "content");
    return 0;
}

static int fail(struct al_call *call, struct al_result *result, struct al_error *err)
{
    (void)call;
    (void)result;
    return al_error_set(err, AL_ERR_EXECUTION,
                        "This tool intentionally returns an error for testing");
}

static int report_progress(struct al_call *call, struct al_result *result, struct al_error *err)
{
    static const char *const steps[] = { "0 of 100", "50 of 100", "100 of 100" };
    const struct al_progress *progress = al_call_input(call)->progress;

    (void)err;
    for (size_t i = 0; i < AL_COUNT(steps); i++) {
        if (progress)
            progress->report(progress->payload, steps[i]);
        (void)poll(NULL, 0, STEP_MS);
    }
    al_str_adds(&result->text, "done");
    return 0;
}

/* Ask one form, and append the answer. */
static int ask_form(struct al_call *call, const char *question, const char *schema,
                    struct al_str *out, struct al_error *err)
{
    const struct al_asker *asker = al_call_input(call)->asker;
    al_auto(al_json_decrefp) json_t *params = al_json_object(), *answer = NULL;
    int r;

    if (!asker) {
        al_str_adds(out, "Elicitation not supported");
        return 0;
    }
    al_json_set(params, "message", al_json_string(question));
    al_json_set(params, "requestedSchema", parse(schema));
    r = asker->ask(asker->payload, "elicitation/create", params, al_call_input(call)->cancel,
                   &answer, err);
    if (r < 0)
        return r;
    al_str_adds(out, "User response: ");
    if (answer)
        al_json_dump(answer, false, out);
    return 0;
}

static int ask_user(struct al_call *call, struct al_result *result, struct al_error *err)
{
    const struct fixture *fixture = fixture_of(call);
    const struct fixture_args *args = al_call_args(call);
    int r = 0;

    for (size_t i = 0; r == 0 && i < AL_COUNT(fixture->schemas) && fixture->schemas[i]; i++)
        r = ask_form(call, fixture->question ? fixture->question : args->words, fixture->schemas[i],
                     &result->text, err);
    return r;
}

static int ask_model(struct al_call *call, struct al_result *result, struct al_error *err)
{
    const struct al_sampler *sampler = al_call_input(call)->sampler;
    const struct fixture_args *args = al_call_args(call);
    const struct al_sampling_request request = {
        .role = "A test", .task = args->words, .max_tokens = 100, .timeout_ms = 10000
    };
    al_auto(al_freep) char *text = NULL;
    int r = sampler ? sampler->sample(sampler->payload, &request, al_call_input(call)->cancel,
                                      &text, err)
                    : 0;

    if (r == 0)
        al_str_addf(&result->text, "LLM response: %s", text ? text : "none");
    return r;
}

static const struct al_param message[] = { AL_STRING_AS(
    struct fixture_args, words, "message", "The message to show the user.",
    .flags = AL_PARAM_REQUIRED, .max_bytes = 1000) };
static const struct al_param prompt[] = { AL_STRING_AS(
    struct fixture_args, words, "prompt", "The prompt for the model.", .flags = AL_PARAM_REQUIRED,
    .max_bytes = 1000) };

static const struct al_operation gives[] = { { "give", NULL, AL_READS, give_content,
                                               AL_ASKS_NEVER } };
static const struct al_operation fails[] = { { "fail", NULL, AL_READS, fail, AL_ASKS_NEVER } };
static const struct al_operation reports[] = { { "report", NULL, AL_READS, report_progress,
                                                 AL_ASKS_NEVER } };
static const struct al_operation asks[] = { { "ask", NULL, AL_READS, ask_user, AL_ASKS_NEVER } };
static const struct al_operation samples[] = { { "sample", NULL, AL_READS, ask_model,
                                                 AL_ASKS_NEVER } };

/* The schema that json_schema_2020_12_tool publishes. */
static const char schema_2020_12[] = AL_JSON({
    "$schema" : "https://json-schema.org/draft/2020-12/schema",
    "type" : "object",
    "$defs" : {
        "address" : {
            "$anchor" : "addressDef",
            "type" : "object",
            "properties" : { "street" : { "type" : "string" }, "city" : { "type" : "string" } }
        }
    },
    "properties" : {
        "name" : { "type" : "string" },
        "address" : { "$ref" : "#/$defs/address" },
        "contactMethod" : { "type" : "string", "enum" : [ "phone", "email" ] },
        "phone" : { "type" : "string" },
        "email" : { "type" : "string" }
    },
    "allOf" : [ { "anyOf" : [ { "required" : ["phone"] }, { "required" : ["email"] } ] } ],
    "if" : {
        "properties" : { "contactMethod" : { "const" : "phone" } },
        "required" : ["contactMethod"]
    },
    "then" : { "required" : ["phone"] },
    "else" : { "required" : ["email"] },
    "additionalProperties" : false
});

#define ABOUT "A fixture of the MCP conformance suite."

#define FIELDS(tool_name, ...)                                                                     \
    {                                                                                              \
        .name = (tool_name), .title = (tool_name), .about = ABOUT,                                 \
        .args_size = sizeof(struct fixture_args), .noperations = 1,                                \
        .open_repository = al_call_without_repository, .authorize = authorize, __VA_ARGS__         \
    }

#define TOOL(tool_name, ...) &(const struct al_tool)FIELDS(tool_name, __VA_ARGS__)

/* Its definition is made when the toolset is registered. */
static struct al_tool defined = FIELDS("json_schema_2020_12_tool", .operations = gives);

static const struct al_tool *const tools[] = {
    TOOL("test_simple_text", .operations = gives),
    TOOL("test_image_content", .operations = gives),
    TOOL("test_audio_content", .operations = gives),
    TOOL("test_embedded_resource", .operations = gives),
    TOOL("test_multiple_content_types", .operations = gives),
    TOOL("test_logging_tool", .operations = gives),
    TOOL("test_error_handling", .operations = fails),
    TOOL("test_tool_with_progress", .operations = reports),
    TOOL("test_elicitation", .operations = asks, .params = message, .nparams = AL_COUNT(message)),
    TOOL("test_elicitation_sep1034_defaults", .operations = asks),
    TOOL("test_elicitation_sep1330_enums", .operations = asks),
    TOOL("test_streaming_elicitation", .operations = asks),
    TOOL("test_sampling", .operations = samples, .params = prompt, .nparams = AL_COUNT(prompt)),
    TOOL("test_input_required_result_elicitation", .operations = asks),
    TOOL("test_input_required_result_request_state", .operations = asks),
    TOOL("test_input_required_result_tampered_state", .operations = asks),
    TOOL("test_input_required_result_multi_round", .operations = asks),
    &defined,
    NULL,
};

const struct al_toolset_registry *__wrap_al_toolsets(void)
{
    static struct al_toolset toolsets[32];
    static struct al_toolset_registry all;
    const struct al_toolset_registry *real = __real_al_toolsets();

    if (defined.definition)
        return &all;
    defined.definition =
        json_pack("{s:s, s:o}", "description", ABOUT, "inputSchema", parse(schema_2020_12));
    for (size_t i = 0; i < real->count; i++)
        toolsets[i] = real->items[i];
    toolsets[real->count] = (struct al_toolset){
        .name = "conformance",
        .about = "The fixtures of the MCP conformance suite.",
        .tools = tools,
    };
    all = (struct al_toolset_registry){ toolsets, real->count + 1 };
    return &all;
}
