// SPDX-License-Identifier: Apache-2.0
#include "tool/hint.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guard/text.h"
#include "tool/args.h"
#include "tool/private.h"
#include "util/fs.h"

static bool is_there(const char *dir, const char *path)
{
    al_auto(al_freep) char *abs = al_fs_join(dir, path);
    struct stat st;

    return lstat(abs, &st) == 0;
}

/* git prints paths relative to the top, but takes them relative to the working directory. */
static char *hint_for(const struct al_repo *repo, const char *path)
{
    const char *below = al_fs_beneath(repo->at.top, repo->at.dir);
    al_auto(al_freep) char *safe = al_text_sanitize_line(path);
    al_auto(al_freep) char *other = NULL;
    const char *rest;

    if (*path == '/' || !below || !*below || is_there(repo->at.dir, path) ||
        !is_there(repo->at.top, path))
        return NULL;
    rest = al_fs_beneath(below, path);
    other = rest && *rest ? al_text_sanitize_line(rest) : al_fs_join(repo->at.top, path);
    if (!rest || !*rest) {
        al_auto(al_freep) char *abs = other;

        other = al_text_sanitize_line(abs);
    }
    return al_asprintf("'%s' is relative to the top of the repository; with this working_dir it is "
                       "'%s'",
                       safe, other);
}

static char *hint_for_param(const struct al_call *call, const struct al_param *param)
{
    const char *path = param->type == AL_TYPE_STRING ? al_args_string(call->args, param) : NULL;
    char *hint = NULL;

    if (path)
        return hint_for(call->repo, path);
    if (param->type == AL_TYPE_STRINGS) {
        const struct al_strv *list = al_args_strings(call->args, param);

        for (size_t i = 0; i < list->count && !hint; i++)
            hint = hint_for(call->repo, list->items[i]);
    }
    return hint;
}

/* Remedies by the words of git's message.  NULL as `tool` or `toolset` matches any.  A remedy that
 * names a tool is used if the session has this tool, and in the toolset whose parameters it names.
 * Toolset `git` has a remedy only where it replaces git's own advice. */
static const struct {
    const char *words, *tool, *toolset, *remedy;
} remedies[] = {
    { "not fully merged", "git_branch", "git",
      "git_branch with force_delete deletes it all the same." },
    { "not fully merged", "git_branch", "workflow",
      "git_branch with force deletes it all the same." },
    { "Cannot delete branch '", "git_checkout", "workflow",
      "HEAD is on it, here or in another worktree: git_checkout another branch first." },
    { "user.name or user.email not configured", NULL, "workflow",
      "The user can set user.name and user.email; until then nothing can be committed." },
    { "There is nothing to abort", NULL, "workflow",
      "Nothing is in progress, so there is nothing to do." },
    { "ignored by one of your .gitignore files", NULL, NULL,
      "They are ignored (.gitignore), and no tool adds ignored files; the user can, or can "
      "change the pattern." },
    { "did not match any file", "git_status", "workflow",
      "There is no such file: git_status and the working tree have the names." },
    { "a program airlock does not run", NULL, "workflow",
      "The user can do this with git itself, which runs the filter (of Git LFS: git-lfs); "
      "other files go on working." },
    { "untracked working tree files would be overwritten by", NULL, NULL,
      "Move or remove these files first." },
    { "would be overwritten by", "git_stash", NULL,
      "Commit these changes with git_commit, or put them aside with git_stash, first." },
    { "you need to resolve your current index first", "git_resolve_conflict", "workflow",
      "Resolve the conflicts first: git_conflict_info shows them, git_resolve_conflict resolves a "
      "file." },
    { "unmerged files", "git_resolve_conflict", "workflow",
      "Resolve the conflicts first: git_conflict_info shows them, git_resolve_conflict resolves a "
      "file." },
};

/* Remedies for toolset `workflow` that name a parameter of another tool.  Two toolsets may have a
 * tool of that name: the session's tool has to be the one of toolset `from`. */
static const struct {
    enum al_code code; /* matched if `words` is NULL */
    const char *words, *tool, *from, *remedy;
} remedies_elsewhere[] = {
    { AL_CODE_NONE, "does not have any commits yet", "git_commit", "workflow",
      "The branch has no commit yet: git_commit with all makes the first one." },
    { AL_CODE_NONE, "ambiguous argument 'HEAD'", "git_commit", "workflow",
      "The branch has no commit yet: git_commit with all makes the first one." },
    { AL_CODE_BRANCH_NOT_FOUND, NULL, "git_branch", "git",
      "See git_branch with list_all for the branches there are." },
};

/* Whether the session has the tool, from this toolset (NULL: any). */
static bool session_has(const struct al_session *session, const char *tool, const char *from)
{
    const struct al_listed_tool *listed =
        session->registry ? al_registry_find(session->registry, tool) : NULL;

    return listed && al_grant_has_tool(session->grant, tool) &&
           (!from || !strcmp(from, listed->toolset->name));
}

static const char *remedy_elsewhere(const struct al_call *call, const struct al_error *error)
{
    if (strcmp(call->input->tool->toolset->name, "workflow") != 0)
        return NULL;
    for (size_t i = 0; i < AL_COUNT(remedies_elsewhere); i++) {
        const char *words = remedies_elsewhere[i].words;

        if ((words ? strstr(error->message, words) != NULL
                   : error->code == remedies_elsewhere[i].code) &&
            session_has(call->session, remedies_elsewhere[i].tool, remedies_elsewhere[i].from))
            return remedies_elsewhere[i].remedy;
    }
    return NULL;
}

static char *remedy_for(const struct al_call *call, const struct al_error *error)
{
    const char *elsewhere;

    if (error->remedy || !error->message ||
        (error->status != AL_ERR_EXECUTION && error->status != AL_ERR_NOT_FOUND))
        return NULL;
    for (size_t i = 0; i < AL_COUNT(remedies); i++) {
        const char *tool = remedies[i].tool, *toolset = remedies[i].toolset;

        if (!strstr(error->message, remedies[i].words) ||
            (toolset && strcmp(toolset, call->input->tool->toolset->name) != 0))
            continue;
        if (!tool || session_has(call->session, tool, NULL))
            return al_strdup(remedies[i].remedy);
    }
    elsewhere = remedy_elsewhere(call, error);
    return elsewhere ? al_strdup(elsewhere) : NULL;
}

/* For a call that lacks a required parameter: "git_commit takes: type (required), scope, …". */
static char *hint_for_missing(const struct al_tool *tool, const struct al_tool_defaults *defaults)
{
    struct al_str out = AL_STR_INIT;

    al_str_addf(&out, "%s takes: ", tool->name);
    for (size_t i = 0; i < tool->nparams; i++)
        al_str_addf(&out, "%s%s%s", i ? ", " : "", tool->params[i].name,
                    al_param_is_required(&tool->params[i], defaults) ? " (required)" : "");
    return al_str_detach(&out);
}

char *al_call_hint(const struct al_call *call, const struct al_error *error)
{
    const struct al_tool *tool = call->tool;
    char *hint = NULL;

    if (tool->definition) /* its words are the server's */
        return NULL;
    if (error->status == AL_ERR_BAD_ARGS && error->message &&
        al_ends_with(error->message, " is required"))
        return hint_for_missing(tool, &call->session->defaults);
    if (!call->repo || !call->args || tool->runs_at_top || !error->reason ||
        strcmp(error->reason, "not_found") != 0)
        return remedy_for(call, error);
    for (size_t i = 0; i < tool->nparams && !hint; i++)
        if (tool->params[i].flags & AL_PARAM_PATH)
            hint = hint_for_param(call, &tool->params[i]);
    return hint ? hint : remedy_for(call, error);
}
