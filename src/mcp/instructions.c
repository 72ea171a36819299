// SPDX-License-Identifier: Apache-2.0
#include "mcp/instructions.h"

#include "tool/call.h"
#include "tool/tool.h"
#include "util/json.h"

/* Tools that are named as examples. */
#define EXAMPLES_MAX 5

/* The facts that the text depends on. */
struct features {
    bool git, reads, runs;        /* git_* tools; the tool Git; bash_command */
    bool writes_files;            /* the tools of the sandbox's files */
    bool stages;                  /* git_stage and what belongs to it */
    bool asks;                    /* some tool may need approval */
    bool has_cap;                 /* some tool has max_bytes */
    struct al_str in_working_dir; /* names of tools with working_dir: "git_log, git_diff" */
    struct al_str
        at_top; /* names of tools with cwd whose paths start at the top of the repository */
    struct al_str examples; /* "git status, git diff" */
    size_t nexamples;
};

static void clear_features(struct features *features)
{
    al_str_clear(&features->in_working_dir);
    al_str_clear(&features->at_top);
    al_str_clear(&features->examples);
}

static void add_name(struct al_str *list, const char *name)
{
    al_str_addf(list, "%s%s", list->len ? ", " : "", name);
}

/* The tool git_diff is named "git diff", as a user would say it. */
static void add_example(struct features *features, const char *name)
{
    static const char *const spoken[] = { "status", "diff", "log",  "add",  "commit",
                                          "branch", "push", "pull", "merge" };

    for (size_t i = 0; i < AL_COUNT(spoken) && features->nexamples < EXAMPLES_MAX; i++) {
        if (strcmp(name + strlen("git_"), spoken[i]) != 0)
            continue;
        al_str_addf(&features->examples, "%sgit %s", features->examples.len ? ", " : "", spoken[i]);
        features->nexamples++;
    }
}

static void add_params(struct features *features, const struct al_tool *tool)
{
    for (size_t i = 0; i < tool->nparams; i++) {
        const struct al_param *param = &tool->params[i];

        features->has_cap |= (param->flags & AL_PARAM_MAX_BYTES) != 0;
        if (!strcmp(param->name, "working_dir"))
            add_name(&features->in_working_dir, tool->name);
        else if (!strcmp(param->name, "cwd") && tool->runs_at_top)
            add_name(&features->at_top, tool->name);
    }
}

static void add_tool(struct features *features, const struct al_listed_tool *listed, bool saves)
{
    const struct al_tool *tool = listed->tool;

    if (!strcmp(listed->toolset->name, "staging")) {
        features->stages = true;
    } else if (al_starts_with(tool->name, "git_")) {
        features->git = true;
        add_example(features, tool->name);
    }
    features->reads |= !strcmp(tool->name, "Git");
    features->runs |= !strcmp(tool->name, "bash_command");
    features->writes_files |= !strcmp(tool->name, "write_file");
    features->asks |= al_tool_asks(tool, saves);
    add_params(features, tool);
}

/* The user's words come first, because clients search tools by them. */
static void add_purpose(const struct features *features, struct al_str *out)
{
    if (features->git)
        al_str_addf(out,
                    "%s%sother git work in the repositories of this machine. Use these tools "
                    "instead of running git in a shell.",
                    features->examples.buf, features->examples.len ? " and " : "");
    if (features->reads)
        al_str_addf(out,
                    "%sGit reads: git status, git log, git diff, git show, git blame and more of "
                    "the repository that repo names with its absolute path.",
                    out->len ? " " : "");
    if (features->runs)
        al_str_addf(out, "%sbash_command runs one line of allowed programs and is no shell.",
                    out->len ? " " : "");
    if (features->writes_files)
        al_str_addf(out,
                    "%sread_file, write_file, list_files and delete_file are for the files of a "
                    "sandbox below /workspace/, which is in no repository.",
                    out->len ? " " : "");
    if (features->stages)
        al_str_addf(
            out,
            "%sWork in the sandbox reaches a repository by way of staged commits: git_stage "
            "makes one of changed sandbox files, git_push pushes it to a branch once the "
            "user approved it, git_pull brings files of a branch into the sandbox.%s",
            out->len ? " " : "",
            features->git ? ""
                          : " git_status and git_diff show the sandbox and what is "
                            "staged, not a working tree.");
    if (!out->len)
        al_str_adds(out, "Tools for the repositories of this machine.");
}

static void add_places(const struct features *features, struct al_str *out)
{
    if (features->in_working_dir.len)
        al_str_adds(out, " Paths are relative to working_dir, which defaults to the first allowed "
                         "root.");
    if (features->in_working_dir.len && features->at_top.len)
        al_str_addf(out,
                    " %s call it cwd, and their paths are relative to the top of the "
                    "repository.",
                    features->at_top.buf);
    else if (features->at_top.len)
        al_str_adds(out, " cwd says which repository, by default that of the first allowed root, "
                         "and paths are relative to its top.");
    al_str_adds(out, " Nothing outside the roots can be reached.");
}

static void add_rules(const struct features *features, struct al_str *out)
{
    if (features->asks)
        al_str_adds(out, " Calls that change a repository may be shown to the user for approval "
                         "first: a refusal is final, so do not repeat the call or look for a way "
                         "around it.");
    al_str_addf(out,
                " Long output is cut%s and says so: narrow the call with paths, refs or a "
                "limit%s.",
                features->has_cap ? " at max_bytes" : "",
                features->has_cap ? " instead of raising it" : "");
}

char *al_instructions_text(const struct al_session *session)
{
    al_auto(clear_features) struct features features = { .in_working_dir = AL_STR_INIT,
                                                         .at_top = AL_STR_INIT,
                                                         .examples = AL_STR_INIT };
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    struct al_str json = AL_STR_INIT;

    for (size_t i = 0; i < session->registry->count; i++) {
        const struct al_listed_tool *listed = &session->registry->items[i];

        if (al_grant_has_tool(session->grant, listed->tool->name))
            add_tool(&features, listed, session->checkpoints != NULL);
    }
    add_purpose(&features, &text);
    add_places(&features, &text);
    add_rules(&features, &text);
    if (session->mounts)
        al_str_adds(&text, " Tools whose names begin with mcp__ are of other MCP servers, and the "
                           "same rules hold for them.");
    al_json_quote(text.buf, text.len, &json);
    return al_str_detach(&json);
}
