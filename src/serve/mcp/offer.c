// SPDX-License-Identifier: Apache-2.0
#include "serve/mcp/offer.h"

#include <stdlib.h>

#include "base/json.h"
#include "call/call.h"
#include "call/mounts.h"
#include "call/registry.h"
#include "call/tool.h"

static json_t *tool_entry(const struct al_session *session, const struct al_tool *tool)
{
    json_t *item = tool->definition ? json_copy((json_t *)tool->definition) : al_json_object();

    al_json_set(item, "name", al_json_string(tool->name));
    if (tool->definition) /* what its server says, and nothing else */
        return item;
    al_json_set(item, "title", al_json_string(tool->title));
    al_json_set(item, "description", al_json_string(tool->about));
    al_json_set(item, "inputSchema", al_tool_schema(tool, &session->defaults));
    if (tool->output_schema)
        al_json_set(item, "outputSchema", al_tool_output_schema(tool));
    al_json_set(item, "annotations", al_tool_annotations(tool, session->checkpoints != NULL));
    return item;
}

static void add_listed_tool(const struct al_session *session, const struct al_tool *tool,
                            json_t *tools)
{
    if (al_grant_has_tool(session->grant, tool->name))
        al_json_append(tools, tool_entry(session, tool));
}

char *al_tools_list_text(const struct al_session *session, const struct al_mounted_list *mounted)
{
    al_auto(al_json_decrefp) json_t *tools = al_json_array();
    struct al_str text = AL_STR_INIT;

    for (size_t i = 0; i < session->registry->count; i++) {
        const struct al_tool *tool = session->registry->items[i].tool;

        if (!al_mounts_replaces(session->mounts, tool->name))
            add_listed_tool(session, tool, tools);
    }
    for (size_t i = 0; mounted && i < mounted->count; i++)
        add_listed_tool(session, mounted->items[i].tool, tools);
    al_str_adds(&text, "\"tools\":");
    al_json_dump(tools, false, &text);
    return al_str_detach(&text);
}

struct al_session;

/* The longest text: every client puts it before the user's first word. */
#define AL_INSTRUCTIONS_MAX_BYTES 800u

/* Tools that are named as examples. */
#define EXAMPLES_MAX 5

/* The facts that the text depends on. */
struct features {
    bool git, reads, runs; /* git_* tools; the tool Git; bash_command */
    bool writes_files;     /* the tools of the sandbox's files */
    bool stages;           /* git_stage and what belongs to it */
    bool starts;           /* git_status of everyday, which tells all in one call */
    bool shows_hunks, takes_hunks;
    bool undoes;         /* git_undo */
    bool lands;          /* git_land */
    bool asks;           /* some tool may need approval */
    bool asks_little;    /* what asks, asks about what cannot be undone */
    bool has_cap;        /* some tool has max_bytes */
    bool has_cursor;     /* some tool goes on where its answer was cut */
    bool in_working_dir; /* some tool has working_dir */
    bool at_top;         /* some tool has cwd, and its paths start at the top of the repository */
    unsigned examples;   /* a bit for each of `spoken` */
};

/* The tool git_diff is named "git diff", as a user would say it. */
static const char *const spoken[] = { "status", "diff", "log",  "add",  "commit",
                                      "branch", "push", "pull", "merge" };

static void note_example(struct features *features, const char *name)
{
    for (size_t i = 0; i < AL_COUNT(spoken); i++)
        if (!strcmp(name + strlen("git_"), spoken[i]))
            features->examples |= 1u << i;
}

static void add_examples(const struct features *features, struct al_str *out)
{
    size_t count = 0;

    for (size_t i = 0; i < AL_COUNT(spoken) && count < EXAMPLES_MAX; i++)
        if (features->examples & 1u << i)
            al_str_addf(out, "%sgit %s", count++ ? ", " : "", spoken[i]);
    al_str_adds(out, count ? " and other git work" : "Git work");
}

static void add_params(struct features *features, const struct al_tool *tool)
{
    for (size_t i = 0; i < tool->nparams; i++) {
        const struct al_param *param = &tool->params[i];

        features->has_cap |= (param->flags & AL_PARAM_MAX_BYTES) != 0;
        features->has_cursor |= !strcmp(param->name, "cursor");
        features->in_working_dir |= !strcmp(param->name, "working_dir");
        features->at_top |= !strcmp(param->name, "cwd") && tool->runs_at_top;
        features->takes_hunks |= !strcmp(param->name, "hunks") && param->type == AL_TYPE_STRINGS;
        features->shows_hunks |= !strcmp(param->name, "hunks") && param->type == AL_TYPE_BOOL;
    }
}

static void add_tool(struct features *features, const struct al_listed_tool *listed, bool saves)
{
    const struct al_tool *tool = listed->tool;

    if (!strcmp(listed->toolset->name, "staging")) {
        features->stages = true;
    } else if (al_starts_with(tool->name, "git_")) {
        features->git = true;
        note_example(features, tool->name);
    }
    features->starts |=
        !strcmp(listed->toolset->name, "everyday") && !strcmp(tool->name, "git_status");
    features->undoes |= saves && !strcmp(tool->name, "git_undo");
    features->lands |= !strcmp(tool->name, "git_land");
    features->reads |= !strcmp(tool->name, "Git");
    features->runs |= !strcmp(tool->name, "bash_command");
    features->writes_files |= !strcmp(tool->name, "write_file");
    features->asks |= al_tool_asks(tool, saves);
    features->asks_little &=
        !al_tool_asks(tool, saves) || !strcmp(listed->toolset->name, "everyday");
    add_params(features, tool);
}

/* Add a sentence if there is room for it: what is left out, the tools' own descriptions say. */
static void add_sentence(struct al_str *out, size_t room, const char *sentence)
{
    if (out->len + strlen(sentence) + 1 <= room)
        al_str_addf(out, "%s%s", out->len ? " " : "", sentence);
}

static void add_ways(const struct features *features, size_t room, struct al_str *out)
{
    if (features->starts)
        add_sentence(out, room, "Begin with git_status: one call says where you are.");
    if (features->shows_hunks && features->takes_hunks)
        add_sentence(out, room,
                     "git_diff with hunks gives each hunk an id, to stage, commit or "
                     "take back hunks one by one.");
    if (features->undoes)
        add_sentence(out, room, "git_undo takes back your own last calls.");
    if (features->lands)
        add_sentence(out, room,
                     "git_compare shows how branches would combine, git_land brings one "
                     "into another.");
}

/* The user's words come first, because clients search tools by them. */
static void add_purpose(const struct features *features, size_t room, struct al_str *out)
{
    if (features->git) {
        add_examples(features, out);
        al_str_adds(out, " in the repositories of this machine. Use these tools instead of running "
                         "git in a shell.");
    }
    add_ways(features, room, out);
    if (features->reads)
        add_sentence(out, room,
                     features->git
                         ? "Git reads the repository that repo names with its absolute path."
                         : "Git reads: git status, git log, git diff, git show, git blame and more "
                           "of the repository that repo names with its absolute path.");
    if (features->runs)
        add_sentence(out, room, "bash_command runs one line of allowed programs and is no shell.");
    if (features->stages)
        add_sentence(out, room,
                     "Sandbox files reach a repository by way of staged commits: git_stage makes "
                     "one, git_push pushes it once the user approved it, git_pull brings files of "
                     "a branch in.");
    if (features->stages && !features->git)
        add_sentence(out, room,
                     "git_status and git_diff show the sandbox and what is staged, not "
                     "a working tree.");
    if (features->writes_files)
        add_sentence(out, room,
                     "read_file, write_file, list_files and delete_file are for sandbox "
                     "files below /workspace/, in no repository.");
    if (!out->len)
        al_str_adds(out, "Tools for the repositories of this machine.");
}

static void add_places(const struct features *features, struct al_str *out)
{
    if (features->in_working_dir)
        al_str_adds(out, " Paths are relative to working_dir, which defaults to the first allowed "
                         "root.");
    if (features->in_working_dir && features->at_top)
        al_str_adds(out, " Tools that call it cwd take paths from the top of the repository.");
    else if (features->at_top)
        al_str_adds(out, " cwd says which repository, by default that of the first allowed root, "
                         "and paths are relative to its top.");
    al_str_adds(out, " Nothing outside the roots can be reached.");
}

static void add_rules(const struct features *features, struct al_str *out)
{
    if (features->asks)
        al_str_addf(out,
                    " %s need the user's approval: a refusal is final, so do not repeat the call "
                    "or look for a way around it.",
                    features->asks_little ? "The first push, and changes that cannot be undone,"
                                          : "Calls that change a repository may");
    if (features->has_cursor)
        al_str_adds(out, " Long output is cut and ends with a cursor that goes on there.");
    else
        al_str_addf(out,
                    " Long output is cut%s and says so: narrow the call with paths, refs or a "
                    "limit.",
                    features->has_cap ? " at max_bytes" : "");
}

/* The instructions of a session as a JSON string: what its tools do, how to work with them, which
 * parameter selects the repository, and the rules.  Only tools and parameters of the session are
 * named.  With many toolsets, what the tools' own descriptions say as well is left out.  Caller
 * frees. */
static char *instructions_text(const struct al_session *session)
{
    struct features features = { .asks_little = true };
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT, end = AL_STR_INIT;
    struct al_str json = AL_STR_INIT;

    for (size_t i = 0; i < session->registry->count; i++) {
        const struct al_listed_tool *listed = &session->registry->items[i];

        if (al_grant_has_tool(session->grant, listed->tool->name))
            add_tool(&features, listed, session->checkpoints != NULL);
    }
    add_places(&features, &end);
    add_rules(&features, &end);
    if (session->mounts)
        al_str_adds(&end, " Tools whose names begin with mcp__ are of other MCP servers, and the "
                          "same rules hold for them.");
    add_purpose(&features, AL_INSTRUCTIONS_MAX_BYTES - end.len, &text);
    al_str_add(&text, end.buf, end.len);
    al_json_quote(text.buf, text.len, &json);
    return al_str_detach(&json);
}

int al_offer_init(struct al_offer *offer, const struct al_session *session, bool is_private,
                  struct al_error *err)
{
    *offer = (struct al_offer){ .session = session, .is_private = is_private };
    if (al_request_states_init(&offer->request_states, err) < 0)
        return AL_ERR_EXECUTION;
    offer->tools = session->mounts ? NULL : al_tools_list_text(session, NULL);
    offer->instructions = instructions_text(session);
    return 0;
}

void al_offer_clear(struct al_offer *offer)
{
    al_mounted_list_unref(offer->session->mounts, offer->list);
    al_request_states_clear(&offer->request_states);
    free(offer->text);
    free(offer->tools);
    free(offer->instructions);
}
