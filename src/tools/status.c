// SPDX-License-Identifier: Apache-2.0
/* git_status: the branch, and which files are staged, modified or untracked.  Its forms are git's
 * words, structured results, and text that says where one is in one call. */

#include "git/plumbing/filters.h"
#include "git/plumbing/revision.h"
#include "git/plumbing/stash_owners.h"
#include "git/reading/read_log.h"
#include "git/refs.h"
#include "tools/private.h"
#include "verbs/porcelain/stash.h"
#include "verbs/submodule/submodules.h"

struct status_args {
    struct al_status_options options; /* of the toolset git */
    struct al_page page;              /* of the toolset everyday */
    struct al_opt_int timeout_ms;
    const char *working_dir;
};

/* Note an operation in progress, and conflicts, for which neither form has a field. */
static void note_operation(const struct al_call *call, size_t conflicts, struct al_result *result)
{
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;

    al_git_operation_line(al_call_repo(call), conflicts, &line);
    if (line.len)
        al_result_note(result, line.buf);
}

/* The part that both tools have. */
#define SHARED                                                                                     \
    .name = "git_status", .title = "Show status",                                                  \
    .about = "Show the branch and which files are staged, modified or untracked.",                 \
    .summary = "Show git status"

/* The toolset git. */

static const struct al_param git_params[] = {
    AL_BOOL_IN(struct status_args, options, porcelain, "As --porcelain=1.", .default_int = 1),
    AL_BOOL_IN(struct status_args, options, branch, "With the branch line.", .default_int = 1),
    AL_BOOL_IN(struct status_args, options, untracked, "With untracked files.", .default_int = 1),
    AL_GIT_COMMON_ROWS(struct status_args),
};

static int git_status(struct al_call *call, struct al_result *result, struct al_error *err)
{
    const struct status_args *args = al_call_args(call);
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    al_auto(al_submodules_clear) struct al_submodules submodules = AL_SUBMODULES_INIT;
    al_auto(al_str_clear) struct al_str notes = AL_STR_INIT;
    int r =
        al_git_status(al_call_repo(call), &args->options, al_call_max_bytes(call), &output, err);

    if (r < 0)
        return r;
    al_git_skipped_filters(al_call_repo(call), &notes);
    al_git_scan_submodules(al_call_repo(call), NULL, args->options.untracked, &submodules);
    al_submodules_add_line(&submodules, &notes);
    (void)al_call_shape_text(call, r, &output, notes.buf, result);
    if (args->options.porcelain) /* git's long format contains it */
        note_operation(call, 0, result);
    return 0;
}

const struct al_tool al_tool_git_status = {
    SHARED,
    AL_TOOL_ONE(git_params, "status", NULL, AL_READS, git_status, AL_ASKS_BY_EFFECTS),
    AL_DIALECT_TOOL(struct status_args),
};

/* The lists of the toolsets workflow and everyday. */

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

/* The words for git's letters: one of a change, two (XY) of both sides of a conflict.  `other`: of
 * those that are not known. */
static const char *words_of(char x, char y, const char *other)
{
    static const struct {
        char xy[3];
        const char *words;
    } known[] = {
        { "A", "new" },
        { "D", "deleted" },
        { "T", "type changed" },
        { "R", "renamed" },
        { "C", "copied" },
        { "UU", "both modified" },
        { "AA", "both added" },
        { "DD", "both deleted" },
        { "AU", "added by us" },
        { "UA", "added by them" },
        { "DU", "deleted by us" },
        { "UD", "deleted by them" },
    };

    for (size_t i = 0; i < AL_COUNT(known); i++)
        if (known[i].xy[0] == x && known[i].xy[1] == y)
            return known[i].words;
    return other;
}

static const char *change_word(char change)
{
    return words_of(change, '\0', "modified");
}

/* A submodule that git itself reports is said in one place with what is inside. */
static bool on_file(void *payload, const struct al_file_state *file)
{
    struct files *files = payload;
    const char *unstaged = change_word(file->unstaged);
    al_auto(al_str_clear) struct al_str renamed = AL_STR_INIT;

    if (file->kind == 'u') {
        add_file(files, CONFLICTS, file->path,
                 words_of(file->staged, file->unstaged, "in conflict"));
        return true;
    }
    if (file->kind == '?') {
        add_file(files, UNTRACKED, file->path, "");
        return true;
    }
    if (file->old_path) {
        al_str_addf(&renamed, "%s from ", file->staged == 'C' ? "copied" : "renamed");
        al_place_add(files->repo, file->old_path, &renamed);
    }
    if (file->staged != '.')
        add_file(files, STAGED, file->path, renamed.len ? renamed.buf : change_word(file->staged));
    if (file->unstaged == 'M' && file->index_mode != file->mode)
        unstaged = "modified, mode changed";
    if (file->unstaged == 'M' && file->is_submodule)
        unstaged = "submodule, new commits";
    if (file->unstaged != '.')
        add_file(files, UNSTAGED, file->path, unstaged);
    return true;
}

static int read_files(struct al_call *call, struct files *files, struct al_worktree_state *state,
                      struct al_error *err)
{
    files->repo = al_call_repo(call);
    al_git_scan_submodules(files->repo, NULL, true, &files->submodules);
    return al_git_read_worktree_state(files->repo, "all", on_file, files, state, err);
}

/* The toolset workflow. */

static const struct al_param workflow_params[] = {
    AL_WORKFLOW_CWD_ROW(struct status_args),
};

static int workflow_status(struct al_call *call, struct al_result *result, struct al_error *err)
{
    al_auto(files_clear) struct files files = { .repo = NULL };
    al_auto(al_worktree_state_clear) struct al_worktree_state state = AL_WORKTREE_STATE_INIT;
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;
    json_t *staged, *modified, *untracked;
    size_t room = al_call_max_bytes(call);
    int r = read_files(call, &files, &state, err);

    if (r < 0)
        return r;
    /* Like git, list a submodule with changes inside as modified, if git does not report it. */
    for (size_t i = 0; i < files.submodules.count; i++) {
        const struct al_submodule *submodule = &files.submodules.items[i];

        if (submodule->content && !al_strv_contains(&files.paths[UNSTAGED], submodule->name) &&
            !al_strv_contains(&files.paths[CONFLICTS], submodule->name))
            al_strv_add(&files.paths[CONFLICTS], submodule->name);
    }
    al_result_set(result, "branch", al_json_name(state.branch ? state.branch : "HEAD"));
    al_result_set(result, "staged", staged = al_json_array());
    al_result_set(result, "modified", modified = al_json_array());
    al_result_set(result, "untracked", untracked = al_json_array());
    al_workflow_add_names(&files.paths[STAGED], staged, &room, &result->truncated);
    al_workflow_add_names(&files.paths[UNSTAGED], modified, &room, &result->truncated);
    al_workflow_add_names(&files.paths[CONFLICTS], modified, &room, &result->truncated);
    al_workflow_add_names(&files.paths[UNTRACKED], untracked, &room, &result->truncated);
    al_result_set(result, "clean",
                  al_json_bool(!result->truncated && !json_array_size(staged) &&
                               !json_array_size(modified) && !json_array_size(untracked)));
    al_submodules_add_line(&files.submodules, &line);
    if (line.len)
        al_result_note(result, line.buf);
    note_operation(call, state.conflicts, result);
    return 0;
}

/* clang-format off */
static const char output_schema[] = AL_JSON({
    "branch": "", "staged": [""], "modified": [""], "untracked": [""], "clean": true
});
/* clang-format on */

const struct al_tool al_tool_workflow_status = {
    SHARED,
    AL_TOOL_ONE(workflow_params, "status", NULL, AL_READS, workflow_status, AL_ASKS_NEVER),
    AL_WORKFLOW_TOOL(struct status_args),
    .output_schema = output_schema,
};

/* The toolset everyday: what there is beside the files. */

/** More entries of the stash are only counted. */
#define STASHES_NAMED 3
#define STASHES_BYTES 20000u

/** More working trees are only counted. */
#define WORKTREES_MAX 20

static void add_remotes(const struct al_repo *repo, struct al_str *out)
{
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;

    al_remote_names(repo, &names);
    for (size_t i = 0; i < names.count; i++) {
        al_auto(al_strv_clear) struct al_strv urls = AL_STRV_INIT;
        al_auto(al_strv_clear) struct al_strv push_urls = AL_STRV_INIT;

        (void)al_remote_addresses(repo, names.items[i], &urls, &push_urls);
        al_place_addf(out, "%s%s%s%s", i ? ", " : "remotes: ", names.items[i],
                      urls.count ? " " : "", urls.count ? urls.items[0] : "");
    }
    if (names.count)
        al_str_addc(out, '\n');
}

/* The number of entries, and the newest of this working tree by name. */
static void add_stashes(struct al_call *call, struct al_str *out)
{
    al_auto(al_stashes_clear) struct al_stashes stashes = AL_STASHES_INIT;
    al_auto(al_stash_owners_clear) struct al_stash_owners owners = AL_STASH_OWNERS_INIT;
    al_auto(al_str_clear) struct al_str names = AL_STR_INIT;
    size_t own = 0;

    (void)al_git_read_stashes(al_call_repo(call), STASHES_BYTES, &stashes, NULL);
    if (!stashes.count)
        return;
    al_stash_owners_read(al_call_repo(call), &owners);
    for (size_t i = 0; i < stashes.count; i++)
        if ((!owners.is_shared || al_stash_is_own(&owners, stashes.items[i].oid)) &&
            own++ < STASHES_NAMED)
            al_place_addf(&names, " %.*s %s\n", AL_SHORT_ID, stashes.items[i].oid,
                          stashes.items[i].subject);
    al_str_addf(out, "stash: %s%s", stashes.truncated ? "more than " : "",
                al_counted(stashes.count, "entry", "entries").text);
    if (owners.is_shared)
        al_str_addf(out, ", %zu of them of this working tree", own);
    al_str_addf(out, "\n%s", names.buf);
}

/* The other working trees, while they are listed. */
struct worktrees {
    struct al_str text;
    size_t count;
};

static bool take_worktree(void *payload, const struct al_head *head)
{
    static const char heads[] = "refs/heads/";
    struct worktrees *to = payload;
    const bool on_branch = head->branch && al_starts_with(head->branch, heads);

    if (head->is_own || !head->top || (!head->branch && !head->oid) || to->count++ >= WORKTREES_MAX)
        return true;
    if (on_branch)
        al_place_addf(&to->text, " %s on %s\n", head->top, head->branch + strlen(heads));
    else
        al_place_addf(&to->text, " %s detached at %.*s\n", head->top, AL_SHORT_ID,
                      head->oid ? head->oid : "");
    return true;
}

static void add_worktrees(const struct al_repo *repo, struct al_str *out)
{
    struct worktrees others = { .text = AL_STR_INIT };

    (void)al_git_each_head(&repo->at, take_worktree, &others, NULL);
    if (others.count)
        al_str_addf(out, "other working trees:\n%s", others.text.buf);
    if (others.count > WORKTREES_MAX)
        al_str_addf(out, " and %zu more\n", others.count - WORKTREES_MAX);
    al_str_clear(&others.text);
}

static void add_facts(struct al_call *call, const struct al_worktree_state *state,
                      struct al_str *out)
{
    const struct al_repo *repo = al_call_repo(call);
    al_auto(al_freep) char *shallow = al_shallow_commits(&repo->at);
    al_auto(al_freep) char *origin = al_git_remote_default(repo, "origin");
    al_auto(al_freep) char *ref = origin ? NULL : al_git_default_branch(repo);
    const char *branch = ref ? ref + strlen("refs/heads/") : origin;

    if (shallow)
        al_str_adds(out, "shallow clone: older commits are not here\n");
    if (branch && (!state->branch || strcmp(branch, state->branch) != 0))
        al_place_addf(out, "default branch: %s\n", branch);
    add_remotes(repo, out);
    add_stashes(call, out);
    add_worktrees(repo, out);
}

/* The toolset everyday: the files. */

/* A file whose filter is not run is modified to git, whatever is in it. */
static int mark_not_compared(struct files *files, struct al_error *err)
{
    const struct al_strv *paths = &files->paths[UNSTAGED];
    al_auto(al_strv_clear) struct al_strv filtered = AL_STRV_INIT;
    int r = al_git_filtered_files(files->repo, paths, &filtered, err);

    for (size_t i = 0; i < paths->count; i++) {
        char **words = &files->words[UNSTAGED].items[i];

        if (strcmp(*words, "modified") != 0 || !al_strv_contains(&filtered, paths->items[i]))
            continue;
        free(*words);
        *words = al_strdup("not compared: its filter is not run");
    }
    return r;
}

/** A longer list of files is collapsed by directory. */
#define LINES_MAX 50
/** The last commits that are shown. */
#define COMMITS 3

static const struct al_param everyday_params[] = {
    AL_PAGE_ROWS(struct status_args),
    AL_WORKING_DIR_ROW(struct status_args),
};

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
        [CONFLICTS] = { "conflict", "conflicts" },
        [STAGED] = { "file", "files" },
        [UNSTAGED] = { "file", "files" },
        [UNTRACKED] = { "untracked file", "untracked files" },
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
        al_str_addf(&line, "%s%s", *path ? ": " : "and ",
                    al_counted(count, nouns[writing->list][0], nouns[writing->list][1]).text);
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

        if (!files->paths[i].count)
            continue;
        (void)al_pages_addf(pages, "%s:\n",
                            al_counted(files->paths[i].count, titles[i], titles[i]).text);
        al_collapse(&files->paths[i], LINES_MAX, take_line, &writing);
    }
}

static bool take_commit(void *payload, const struct al_logged *commit)
{
    struct al_pages *pages = payload;
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;

    al_place_addf(&line, " %s %s %s  %s\n", commit->hash, commit->date, commit->author,
                  commit->message);
    return al_pages_add(pages, line.buf, line.len);
}

static void add_head(struct al_call *call, const struct files *files,
                     struct al_worktree_state *state, struct al_pages *pages)
{
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;
    al_auto(al_str_clear) struct al_str operation = AL_STR_INIT;
    al_auto(al_freep) char *bisected = al_git_bisected(files->repo);
    bool clean = true;

    al_state_add_branch(call, state, &line);
    al_state_add_operation(files->repo, &operation);
    for (int i = 0; i < LISTS; i++)
        clean = clean && !files->paths[i].count;
    if (operation.len)
        al_str_addf(&line, ", %s in progress: git_conflicts continues or aborts it", operation.buf);
    else if (clean)
        al_str_adds(&line, ", clean");
    if (bisected)
        al_place_addf(&line, ", bisect of %s in progress: " AL_BISECT_NEXT, bisected);
    al_str_addc(&line, '\n');
    (void)al_pages_add(pages, line.buf, line.len);
}

static int everyday_status(struct al_call *call, struct al_result *result, struct al_error *err)
{
    const struct status_args *args = al_call_args(call);
    al_auto(al_pages_clear) struct al_pages pages = AL_PAGES_INIT;
    al_auto(files_clear) struct files files = { .repo = NULL };
    al_auto(al_worktree_state_clear) struct al_worktree_state state = AL_WORKTREE_STATE_INIT;
    al_auto(al_str_clear) struct al_str facts = AL_STR_INIT;
    const struct al_log_query last = { .max_count = COMMITS };
    const struct al_log_taker to = { .take_commit = take_commit, .patch = { .payload = &pages } };
    bool unborn;
    int r = al_pages_begin(&pages, call, &args->page, err);

    if (r == 0)
        r = read_files(call, &files, &state, err);
    if (r == 0)
        r = mark_not_compared(&files, err);
    add_submodules(&files);
    if (r < 0)
        return r;
    add_head(call, &files, &state, &pages);
    al_state_add_waiting(call, &facts);
    add_facts(call, &state, &facts);
    if (facts.len)
        (void)al_pages_add(&pages, facts.buf, facts.len);
    if (*state.head) {
        (void)al_pages_adds(&pages, "last commits:\n");
        r = al_git_read_commits(al_call_repo(call), &last, &to, &unborn, err);
    }
    if (r < 0)
        return r;
    add_lists(&pages, &files);
    return al_pages_end(&pages, "more files", result, err);
}

const struct al_tool al_tool_everyday_status = {
    .name = "git_status",
    .title = "Show status",
    .about = "Show where you are: branch, changes, conflicts, stashes, last commits.",
    AL_TOOL_ONE(everyday_params, "status", NULL, AL_READS, everyday_status, AL_ASKS_NEVER),
    AL_EVERYDAY_TOOL(struct status_args),
    AL_EVERYDAY_PAGES,
};
