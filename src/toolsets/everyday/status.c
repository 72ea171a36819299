// SPDX-License-Identifier: Apache-2.0
/* git_status: where one is, in one call. */
#include <stdlib.h>
#include <string.h>

#include "answer/collapse.h"
#include "answer/place.h"
#include "answer/state_line.h"
#include "gitops/reading/read_log.h"
#include "gitops/reading/worktree_state.h"
#include "gitops/submodule/submodules.h"
#include "tool/call.h"
#include "toolsets/everyday/everyday.h"
#include "toolsets/everyday/status_facts.h"

/** A longer list of files is collapsed by directory. */
#define LINES_MAX 50
/** The last commits that are shown. */
#define COMMITS 3

struct status_args {
    struct al_page page;
    AL_EVERYDAY_FIELDS;
};

static const struct al_param params[] = {
    AL_PAGE_ROWS(struct status_args),
    AL_EVERYDAY_WORKING_DIR_ROW(struct status_args),
};

enum list { CONFLICTS, STAGED, UNSTAGED, UNTRACKED, LISTS };

/** The files, each as "path NUL what is said about it", so that they can be sorted. */
struct files {
    const struct al_repo *repo;
    struct al_strv paths[LISTS], words[LISTS];
    struct al_submodules submodules;
};

static void files_clear(struct files *files)
{
    for (int i = 0; i < LISTS; i++) {
        al_strv_clear(&files->paths[i]);
        al_strv_clear(&files->words[i]);
    }
    al_submodules_clear(&files->submodules);
}

static void add_file(struct files *files, enum list list, const char *path, const char *words)
{
    al_strv_add(&files->paths[list], path);
    al_strv_add(&files->words[list], words);
}

static const char *change_word(char change)
{
    switch (change) {
    case 'A':
        return "new";
    case 'D':
        return "deleted";
    case 'T':
        return "type changed";
    case 'R':
        return "renamed";
    case 'C':
        return "copied";
    default:
        return "modified";
    }
}

/* Both sides of a conflict: git's XY of an unmerged file. */
static const char *conflict_word(const struct al_file_state *file)
{
    static const struct {
        char xy[3];
        const char *words;
    } known[] = {
        { "UU", "both modified" },   { "AA", "both added" },    { "DD", "both deleted" },
        { "AU", "added by us" },     { "UA", "added by them" }, { "DU", "deleted by us" },
        { "UD", "deleted by them" },
    };

    for (size_t i = 0; i < AL_COUNT(known); i++)
        if (known[i].xy[0] == file->staged && known[i].xy[1] == file->unstaged)
            return known[i].words;
    return "in conflict";
}

static void on_renamed(struct files *files, const struct al_file_state *file)
{
    al_auto(al_str_clear) struct al_str words = AL_STR_INIT;

    al_str_addf(&words, "%s from ", file->staged == 'C' ? "copied" : "renamed");
    al_place_add(files->repo, file->old_path, &words);
    add_file(files, STAGED, file->path, words.buf);
}

/* A submodule that git itself reports is said in one place with what is inside. */
static void on_file(void *payload, const struct al_file_state *file)
{
    struct files *files = payload;
    const char *unstaged = change_word(file->unstaged);

    if (file->kind == 'u') {
        add_file(files, CONFLICTS, file->path, conflict_word(file));
        return;
    }
    if (file->kind == '?') {
        add_file(files, UNTRACKED, file->path, "");
        return;
    }
    if (file->old_path && file->staged != '.')
        on_renamed(files, file);
    else if (file->staged != '.')
        add_file(files, STAGED, file->path, change_word(file->staged));
    if (file->unstaged == '.')
        return;
    if (file->unstaged == 'M' && file->index_mode != file->mode)
        unstaged = "modified, mode changed";
    if (file->unstaged == 'M' && file->is_submodule)
        unstaged = "submodule, new commits";
    add_file(files, UNSTAGED, file->path, unstaged);
}

static void add_submodules(struct files *files)
{
    for (size_t i = 0; i < files->submodules.count; i++) {
        const struct al_submodule *submodule = &files->submodules.items[i];
        const char *words = submodule->content & AL_MODIFIED_CONTENT ? "submodule, changes inside"
                            : submodule->content & AL_UNTRACKED_CONTENT
                                ? "submodule, untracked files inside"
                                : "submodule, not looked at";

        add_file(files, UNSTAGED, submodule->name, words);
    }
}

/** A list while it is written. */
struct writing {
    struct al_pages *pages;
    const struct files *files;
    enum list list;
};

static void take_line(void *payload, const char *path, size_t count, size_t index)
{
    static const char *const nouns[][2] = {
        [CONFLICTS] = { " conflict", " conflicts" },
        [STAGED] = { " file", " files" },
        [UNSTAGED] = { " file", " files" },
        [UNTRACKED] = { " untracked file", " untracked files" },
    };
    const struct writing *writing = payload;
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;

    al_str_addc(&line, ' ');
    if (*path)
        al_place_add(writing->files->repo, path, &line);
    if (count == 1 && *path) {
        const char *words = writing->files->words[writing->list].items[index];

        al_str_addf(&line, "%s%s%s", *words ? " (" : "", words, *words ? ")" : "");
    } else {
        al_str_adds(&line, *path ? ": " : "and ");
        al_answer_add_count(count, &line);
        al_str_adds(&line, nouns[writing->list][count != 1]);
    }
    al_str_addc(&line, '\n');
    (void)al_pages_add(writing->pages, line.buf, line.len);
}

/* Say "modified" once, not for each file, where nothing else is in the list. */
static void add_lists(struct al_pages *pages, const struct files *files)
{
    static const char *const titles[] = { [CONFLICTS] = "in conflict, see git_conflicts",
                                          [STAGED] = "staged",
                                          [UNSTAGED] = "not staged",
                                          [UNTRACKED] = "untracked" };

    for (int i = 0; i < LISTS; i++) {
        struct writing writing = { .pages = pages, .files = files, .list = (enum list)i };
        al_auto(al_str_clear) struct al_str title = AL_STR_INIT;

        if (!files->paths[i].count)
            continue;
        al_answer_add_count(files->paths[i].count, &title);
        al_str_addf(&title, " %s:\n", titles[i]);
        (void)al_pages_add(pages, title.buf, title.len);
        al_collapse(&files->paths[i], LINES_MAX, take_line, &writing);
    }
}

static bool take_commit(void *payload, const struct al_logged *commit)
{
    struct al_pages *pages = payload;
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;

    al_str_addf(&line, " %s %s ", commit->hash, commit->date);
    al_place_add_name(commit->author, &line);
    al_str_adds(&line, "  ");
    al_place_add_name(commit->message, &line);
    al_str_addc(&line, '\n');
    return al_pages_add(pages, line.buf, line.len);
}

static int add_commits(struct al_call *call, struct al_pages *pages, struct al_error *err)
{
    const struct al_log_query query = { .max_count = COMMITS };
    const struct al_log_taker to = { .take_commit = take_commit, .patch = { .payload = pages } };
    bool unborn;

    (void)al_pages_adds(pages, "last commits:\n");
    return al_git_read_commits(al_call_repo(call), &query, &to, al_call_budget(call), &unborn, err);
}

static int read_files(struct al_call *call, struct files *files, struct al_worktree_state *state,
                      struct al_error *err)
{
    int r;

    al_git_scan_submodules(files->repo, NULL, true, al_call_budget(call), &files->submodules);
    r = al_git_read_worktree_state(files->repo, "all", on_file, files, al_call_budget(call), state,
                                   err);
    add_submodules(files);
    return r;
}

static void add_head(const struct al_repo *repo, const struct files *files,
                     const struct al_worktree_state *state, struct al_pages *pages)
{
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;
    al_auto(al_str_clear) struct al_str operation = AL_STR_INIT;
    bool clean = true;

    al_state_add_branch(state, &line);
    al_state_add_operation(repo, &operation);
    for (int i = 0; i < LISTS; i++)
        clean = clean && !files->paths[i].count;
    if (operation.len)
        al_str_addf(&line, ", %s in progress: git_conflicts continues or aborts it", operation.buf);
    else if (clean)
        al_str_adds(&line, ", clean");
    al_str_addc(&line, '\n');
    (void)al_pages_add(pages, line.buf, line.len);
}

static int execute(struct al_call *call, const void *p, struct al_result *result,
                   struct al_error *err)
{
    const struct status_args *args = p;
    al_auto(al_pages_clear) struct al_pages pages = AL_PAGES_INIT;
    al_auto(files_clear) struct files files = { .repo = al_call_repo(call) };
    al_auto(al_worktree_state_clear) struct al_worktree_state state = AL_WORKTREE_STATE_INIT;
    al_auto(al_str_clear) struct al_str facts = AL_STR_INIT;
    int r = al_pages_begin(&pages, call, &args->page, err);

    if (r == 0)
        r = read_files(call, &files, &state, err);
    if (r < 0)
        return r;
    add_head(files.repo, &files, &state, &pages);
    al_status_add_facts(files.repo, &state, &facts);
    if (facts.len)
        (void)al_pages_add(&pages, facts.buf, facts.len);
    if (*state.head)
        r = add_commits(call, &pages, err);
    if (r < 0)
        return r;
    add_lists(&pages, &files);
    return al_pages_end(&pages, "more files", result, err);
}

static const struct al_operation operations[] = {
    { "status", NULL, AL_READS, execute, AL_ASKS_NEVER },
};

const struct al_tool al_tool_everyday_status = {
    .name = "git_status",
    .title = "Show status",
    .about = "Show where you are: branch, changes, conflicts, stashes, last commits.",
    AL_TOOL_ROWS(params, operations),
    AL_EVERYDAY_TOOL(struct status_args),
    AL_EVERYDAY_PAGES,
};
