// SPDX-License-Identifier: Apache-2.0
#include "serve/mcp/offer.h"

#include <stdlib.h>

#include "base/json.h"
#include "call/call.h"
#include "call/registry.h"
#include "call/tool.h"
#include "guard/root.h"
#include "guard/text.h"
#include "tools/upstream/mounts.h"

static void add_listed_tool(const struct al_session *session, const struct al_tool *tool,
                            json_t *tools)
{
    json_t *item;

    if (!al_grant_has_tool(session->grant, tool->name))
        return;
    item = tool->definition ? json_copy((json_t *)tool->definition) : al_json_object();
    al_json_append(tools, item);
    al_json_set(item, "name", al_json_string(tool->name));
    if (tool->definition) /* what its server says, and nothing else */
        return;
    if (!tool->is_everyday)
        al_json_set(item, "title", al_json_string(tool->title));
    al_json_set(item, "description", al_json_string(tool->about));
    al_json_set(item, "inputSchema", al_tool_schema(tool, &session->defaults));
    if (tool->output_schema)
        al_json_set(item, "outputSchema", al_tool_output_schema(tool));
    al_json_set(item, "annotations", al_tool_annotations(tool, session->checkpoints != NULL));
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

/* The longest text: every client puts it before the user's first word. */
#define AL_INSTRUCTIONS_MAX_BYTES 800u

/* Tools that are named as examples. */
#define EXAMPLES_MAX 5

/* What the text depends on. */
enum feature {
    GIT = 1u << 0,          /* git_* tools */
    READS = 1u << 1,        /* the tool Git */
    RUNS = 1u << 2,         /* bash_command */
    WRITES_FILES = 1u << 3, /* the tools of the sandbox's files */
    STAGES = 1u << 4,       /* git_stage and what belongs to it */
    STARTS = 1u << 5,       /* git_status of everyday, which tells all in one call */
    SHOWS_HUNKS = 1u << 6,
    TAKES_HUNKS = 1u << 7,
    UNDOES = 1u << 8,          /* git_undo */
    LANDS = 1u << 9,           /* git_land */
    ASKS = 1u << 10,           /* some tool may need approval */
    ASKS_OFTEN = 1u << 11,     /* also about what can be undone */
    HAS_CAP = 1u << 12,        /* some tool has max_bytes */
    HAS_CURSOR = 1u << 13,     /* some tool goes on where its answer was cut */
    IN_WORKING_DIR = 1u << 14, /* some tool has working_dir */
    AT_TOP = 1u << 15,         /* some tool has cwd, and its paths start at the repository's top */
    HAS_MOUNTS = 1u << 16,     /* tools of other servers */
};

/* A sentence for sessions that have all of some features and none of others. */
struct sentence {
    unsigned with, without;
    const char *text;
};

/* As long as there is room: what is left out, the tools' own descriptions say. */
static const struct sentence ways[] = {
    { STARTS, 0, "Begin with git_status: one call says where you are." },
    { SHOWS_HUNKS | TAKES_HUNKS, 0,
      "git_diff with hunks gives each hunk an id, to stage, commit or discard hunks one by "
      "one." },
    { UNDOES, 0, "git_undo takes back your own last calls." },
    { LANDS, 0, "git_compare shows how branches would combine, git_land brings one into another." },
    { READS | GIT, 0, "Git reads the repository that repo names with its absolute path." },
    { READS, GIT,
      "Git reads: git status, git log, git diff, git show, git blame and more of the repository "
      "that repo names with its absolute path." },
    { RUNS, 0, "bash_command runs one line of allowed programs and is no shell." },
    { STAGES, 0,
      "Sandbox files reach a repository by way of staged commits: git_stage makes one, git_push "
      "pushes it once the user approved it, git_pull brings files of a branch in." },
    { STAGES, GIT,
      "git_status and git_diff show the sandbox and what is staged, not a working tree." },
    { WRITES_FILES, 0,
      "read_file, write_file, list_files and delete_file are for sandbox files below /workspace/, "
      "in no repository." },
};

#define REFUSED                                                                                    \
    " need the user's approval: a refusal is final, so do not repeat the call or look for a way "  \
    "around it."
#define CUT " and says so: narrow the call with paths, refs or a limit."

/* In any case. */
static const struct sentence rules[] = {
    { IN_WORKING_DIR, 0,
      " Paths are relative to working_dir, which defaults to the first allowed root." },
    { IN_WORKING_DIR | AT_TOP, 0,
      " Tools that call it cwd take paths from the top of the repository." },
    { AT_TOP, IN_WORKING_DIR,
      " cwd says which repository, by default that of the first allowed root, and paths are "
      "relative to its top." },
    { 0, 0, " Nothing outside the roots can be reached." },
    { ASKS, ASKS_OFTEN, " The first push, and changes that cannot be undone," REFUSED },
    { ASKS_OFTEN, 0, " Calls that change a repository may" REFUSED },
    { HAS_CURSOR, 0, " Long output is cut and ends with a cursor that goes on there." },
    { HAS_CAP, HAS_CURSOR, " Long output is cut at max_bytes" CUT },
    { 0, HAS_CAP | HAS_CURSOR, " Long output is cut" CUT },
    { HAS_MOUNTS, 0,
      " Tools whose names begin with mcp__ are of other MCP servers, and the same rules hold for "
      "them." },
};

/* What a tool stands for; a toolset of NULL: any. */
static const struct {
    const char *toolset, *tool;
    unsigned feature;
} telling[] = {
    { "everyday", "git_status", STARTS }, { NULL, "git_undo", UNDOES },
    { NULL, "git_land", LANDS },          { NULL, "Git", READS },
    { NULL, "bash_command", RUNS },       { NULL, "write_file", WRITES_FILES },
};

/* The tool git_diff is named "git diff", as a user would say it. */
static const char *const spoken[] = { "status", "diff", "log",  "add",  "commit",
                                      "branch", "push", "pull", "merge" };

static bool holds(const struct sentence *sentence, unsigned features)
{
    return (features & sentence->with) == sentence->with && !(features & sentence->without);
}

static unsigned features_of_params(const struct al_tool *tool)
{
    unsigned features = 0;

    for (size_t i = 0; i < tool->nparams; i++) {
        const struct al_param *param = &tool->params[i];

        if (param->flags & AL_PARAM_MAX_BYTES)
            features |= HAS_CAP;
        if (!strcmp(param->name, "cursor"))
            features |= HAS_CURSOR;
        else if (!strcmp(param->name, "working_dir"))
            features |= IN_WORKING_DIR;
        else if (!strcmp(param->name, "cwd") && tool->runs_at_top)
            features |= AT_TOP;
        else if (!strcmp(param->name, "hunks") && param->type == AL_TYPE_STRINGS)
            features |= TAKES_HUNKS;
        else if (!strcmp(param->name, "hunks") && param->type == AL_TYPE_BOOL)
            features |= SHOWS_HUNKS;
    }
    return features;
}

/* `examples` gets a bit for what of `spoken` the tool is. */
static unsigned features_of(const struct al_listed_tool *listed, bool saves, unsigned *examples)
{
    const struct al_tool *tool = listed->tool;
    const char *toolset = listed->toolset->name;
    unsigned features = features_of_params(tool);

    if (!strcmp(toolset, "staging"))
        features |= STAGES;
    else if (al_starts_with(tool->name, "git_"))
        features |= GIT;
    for (size_t i = 0; features & GIT && i < AL_COUNT(spoken); i++)
        if (!strcmp(tool->name + strlen("git_"), spoken[i]))
            *examples |= 1u << i;
    for (size_t i = 0; i < AL_COUNT(telling); i++)
        if (!strcmp(tool->name, telling[i].tool) &&
            (!telling[i].toolset || !strcmp(toolset, telling[i].toolset)))
            features |= telling[i].feature;
    if (al_tool_asks(tool, saves))
        features |= strcmp(toolset, "everyday") != 0 ? ASKS | ASKS_OFTEN : ASKS;
    return saves ? features : features & ~(unsigned)UNDOES;
}

/* The user's words come first, because clients search tools by them. */
static void add_examples(unsigned examples, struct al_str *out)
{
    size_t count = 0;

    for (size_t i = 0; i < AL_COUNT(spoken) && count < EXAMPLES_MAX; i++)
        if (examples & 1u << i)
            al_str_addf(out, "%sgit %s", count++ ? ", " : "", spoken[i]);
    al_str_adds(out, count ? " and other git work" : "Git work");
    al_str_adds(out, " in the repositories of this machine. Use these tools instead of running git "
                     "in a shell.");
}

static void add_ways(unsigned features, size_t room, struct al_str *out)
{
    for (size_t i = 0; i < AL_COUNT(ways); i++)
        if (holds(&ways[i], features) && out->len + strlen(ways[i].text) + 1 <= room)
            al_str_addf(out, "%s%s", out->len ? " " : "", ways[i].text);
    if (!out->len)
        al_str_adds(out, "Tools for the repositories of this machine.");
}

/* Name the roots, if all of them fit. */
static void add_roots(const struct al_roots *roots, struct al_str *out)
{
    al_auto(al_str_clear) struct al_str list = AL_STR_INIT;

    if (roots)
        al_roots_add_names(roots, &list);
    if (list.len && out->len + list.len + 1 <= AL_INSTRUCTIONS_MAX_BYTES)
        al_str_addf(out, " %s", list.buf);
}

/* The instructions of a session as a JSON string: what its tools do, how to work with them, which
 * parameter selects the repository, and the rules.  Only tools and parameters of the session are
 * named.  With many toolsets, what the tools' own descriptions say as well is left out.  Caller
 * frees. */
static char *instructions_text(const struct al_session *session)
{
    unsigned features = session->mounts ? HAS_MOUNTS : 0, examples = 0;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT, end = AL_STR_INIT;
    struct al_str json = AL_STR_INIT;

    for (size_t i = 0; i < session->registry->count; i++) {
        const struct al_listed_tool *listed = &session->registry->items[i];

        if (al_grant_has_tool(session->grant, listed->tool->name))
            features |= features_of(listed, session->checkpoints != NULL, &examples);
    }
    for (size_t i = 0; i < AL_COUNT(rules); i++)
        if (holds(&rules[i], features))
            al_str_adds(&end, rules[i].text);
    if (features & GIT)
        add_examples(examples, &text);
    add_ways(features, AL_INSTRUCTIONS_MAX_BYTES - end.len, &text);
    al_str_add(&text, end.buf, end.len);
    add_roots(session->roots, &text);
    al_json_quote(text.buf, text.len, &json);
    return al_str_detach(&json);
}

void al_offer_init(struct al_offer *offer, const struct al_session *session, bool is_private)
{
    *offer = (struct al_offer){ .session = session, .is_private = is_private };
    al_request_states_init(&offer->request_states);
    offer->tools = session->mounts ? NULL : al_tools_list_text(session, NULL);
    offer->instructions = instructions_text(session);
}

void al_offer_clear(struct al_offer *offer)
{
    al_request_states_clear(&offer->request_states);
    free(offer->tools);
    free(offer->instructions);
}
