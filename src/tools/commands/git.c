// SPDX-License-Identifier: Apache-2.0
/* git: the words of git's own command line, with git's own output. */
#include <fcntl.h>
#include <unistd.h>

#include "call/answer.h"
#include "git/environment.h"
#include "git/plumbing/revision.h"
#include "git/refs.h"
#include "git/repo/words.h"
#include "guard/env.h"
#include "guard/gitdir.h"
#include "tools/commands/commands.h"
#include "tools/private.h"
#include "verbs/preview/diff_excerpt.h"
#include "verbs/worktree/list.h"

struct git_args {
    struct al_strv args;
    const char *working_dir;
};

static const struct al_param params[] = {
    AL_STRINGS(struct git_args, args, "The words after git.", .flags = AL_PARAM_RAW,
               .max_bytes = 1u << 20),
    AL_STRING(struct git_args, working_dir, NULL, .flags = AL_PARAM_NAME),
};

static void free_words(void *words)
{
    al_shell_words_clear(words);
    free(words);
}

/* The path of what is there, through links; NULL: nothing.  Caller frees. */
static char *real_path(const char *path)
{
    al_auto(al_closep) int fd = open(path, O_PATH | O_CLOEXEC);

    return fd >= 0 ? al_fs_fd_path(fd) : NULL;
}

static int check_place(const char *option, const char *given, const char *found,
                       struct al_error *err)
{
    al_auto(al_freep) char *real = given ? real_path(given) : NULL;

    if (!given || (real && found && !strcmp(real, found)))
        return 0;
    return al_error_set(err, AL_ERR_SANDBOX,
                        "git %s is refused: it leads to another repository than the one here; use "
                        "-C DIRECTORY",
                        option);
}

/* Whether git, which looks into the parents of a directory, would have ended before it was there.
 */
static bool is_above_ceiling(const struct al_location *at, const char *ceilings)
{
    al_auto(al_freep) char *text = al_strdup(ceilings);
    al_auto(al_strv_clear) struct al_strv all = AL_STRV_INIT;
    bool is = false;

    al_strv_split(&all, text, ":");
    for (size_t i = 0; i < all.count; i++) {
        al_auto(al_freep) char *real = real_path(all.items[i]);
        const char *below = real ? al_fs_beneath(real, at->dir) : NULL;

        is |= below && *below && al_fs_beneath(at->top, real);
    }
    return is;
}

int al_shell_open(struct al_call *call, const char *dir, struct al_repo **ret_repo,
                  struct al_error *err)
{
    const struct al_session *session = al_call_session(call);
    al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;
    int r = al_repo_open(session->git, session->roots->items[0].path, dir ? dir : ".",
                         al_call_budget(call), ret_repo, &why);

    if (r == 0 && session->caller_shell && session->caller_shell->ceilings &&
        is_above_ceiling(&(*ret_repo)->at, session->caller_shell->ceilings)) {
        al_repo_free(*ret_repo);
        *ret_repo = NULL;
    }
    if (r < 0 && why.code == AL_CODE_NOT_INITIALIZED)
        return 0;
    if (r == AL_ERR_SANDBOX && dir && *dir == '/' && !al_roots_find(session->roots, dir)) {
        al_auto(al_freep) char *safe = al_text_sanitize_line(dir);

        return al_error_set(err, AL_ERR_SANDBOX,
                            "'%s' is outside of the roots; the user adds it to `roots` in the "
                            "configuration file, which then names this repository too",
                            safe);
    }
    return al_error_pass(r, &why, err);
}

/* Selecting the operation needs the words, and these the aliases of the repository. */
static int open_repository(struct al_call *call, struct al_repo **ret_repo, struct al_error *err)
{
    const struct git_args *args = al_call_args(call);
    struct al_shell_words *words = al_calloc(1, sizeof(*words));
    const struct al_location *at;
    int r;

    *words = AL_SHELL_WORDS_INIT;
    al_call_set_tool_data(call, words, free_words);
    r = al_shell_open(call, args->working_dir, ret_repo, err);
    if (r < 0)
        return r;
    at = *ret_repo ? &(*ret_repo)->at : NULL;
    r = al_shell_words_read(words, &args->args, *ret_repo, err);
    if (r == 0)
        r = al_shell_connection_read(words, *ret_repo, &al_call_session(call)->defaults, err);
    if (r == 0)
        r = al_shell_submodules_read(call, words, *ret_repo, err);
    if (r == 0)
        r = check_place("--git-dir", words->git_dir, at ? at->git_dir : NULL, err);
    return r < 0 ? r : check_place("--work-tree", words->work_tree, at ? at->top : NULL, err);
}

/* The operation is chosen before anything else is asked of the tool. */
unsigned al_shell_effects(const struct al_call *call)
{
    return al_tool_select(al_call_tool(call), call, NULL)->effects;
}

static bool removes_files(const struct al_shell_words *words)
{
    return al_shell_words_are(words, "rm", NULL) && !al_strv_contains(&words->options, "--cached");
}

/* git looks at a submodule through a shell, and no checkpoint has the ignored files there.  One
 * below a directory that is named is where git ends: it starts no other git then. */
static int check_removed(const struct al_repo *repo, const struct al_shell_words *words,
                         struct al_error *err)
{
    for (size_t i = 0; i < words->operands.count; i++) {
        al_auto(al_freep) char *abs = al_fs_join(repo->at.dir, words->operands.items[i]);
        al_auto(al_freep) char *git = al_fs_join(abs, ".git");
        const char *below = al_fs_beneath(repo->at.top, abs);

        if (below && *below && strcmp(words->operands.items[i], ".") != 0 && access(git, F_OK) == 0)
            return al_shell_words_refuse(
                "rm",
                "git would run a shell in the submodule; git rm --cached takes it out of the "
                "index, then remove its directory",
                err);
    }
    return 0;
}

/* The directory that git makes; NULL: none. */
static const char *made_by(const struct al_shell_words *words)
{
    const bool moves = al_shell_words_do(words, "worktree", " move ");
    const size_t at = moves ? 2 : !al_shell_words_are(words, "init", NULL);

    if (!moves && !al_shell_words_do(words, "worktree", " add ") &&
        !al_shell_words_are(words, " clone init ", NULL))
        return NULL;
    return at < words->operands.count ? words->operands.items[at] : "";
}

/* git writes to the directory that it is given, which may be git's own: the next existing one above
 * says so, through links.  ".." could lead from one that git makes first. */
int al_shell_check_made(const struct al_call *call, const char *dir, const char *word,
                        struct al_error *err)
{
    const struct al_shell_words *words = al_call_tool_data(call);
    al_auto(al_freep) char *full = al_fs_join(dir, word);
    al_auto(al_freep) char *at = al_strdup(full);
    al_auto(al_freep) char *real = real_path(at);
    const char *why = NULL;

    for (char *end; !real && (end = strrchr(at, '/')) && end > at;) {
        *end = '\0';
        real = real_path(at);
    }
    if (!real || al_path_has_dot_git(real) || al_path_has_dot_git(word) ||
        strstr(full + strlen(at), ".."))
        why = "the directory may be git's own; make it elsewhere";
    else if (!al_roots_find(al_call_session(call)->roots, real))
        why = "the directory is outside of the roots; make it inside";
    return why ? al_shell_words_refuse(words->words.items[0], why, err) : 0;
}

static int check_config(const struct al_shell_words *words, struct al_error *err)
{
    const bool has_verb = al_shell_words_do(words, "config", " set unset ");
    const bool is_shared = al_shell_words_are(words, "config", " --global --system ");
    const char *key = words->operands.count > has_verb ? words->operands.items[has_verb] : "";
    al_auto(al_freep) char *what = al_asprintf("config %s", key);

    if (!is_shared && al_config_key_is_harmless(key))
        return 0;
    return al_shell_words_refuse(
        what,
        is_shared ? "the user's and the machine's stay; without --global or --system it is set here"
                  : "this key can run something or lead elsewhere; the user can set it",
        err);
}

static int authorize(struct al_call *call, struct al_error *err)
{
    const struct git_args *args = al_call_args(call);
    const struct al_repo *repo = al_call_repo(call);
    const struct al_shell_words *words = al_call_tool_data(call);
    const struct al_shell_connection *to = &words->connection;
    const struct al_git_shell *shell = al_call_session(call)->caller_shell;
    const char *made;
    void *own;
    int r = 0;

    /* No mount protects a git directory that is made now. */
    if (shell->is_confined &&
        (words->clones.count || al_shell_words_are(words, " clone init ", NULL)))
        return al_shell_words_refuse(words->command.name, AL_SHELL_CONFINED, err);
    if (shell->is_confined && to->tool && !shell->has_network)
        return al_shell_words_refuse(words->words.items[0], AL_SHELL_OFFLINE, err);
    /* git renames first, and then finds out that the index does not take the name. */
    for (size_t i = 0; r == 0 && al_shell_words_are(words, "mv", NULL) && i < words->words.count;
         i++)
        if (al_path_has_dot_git(words->words.items[i]))
            r = al_gitdir_refuse(words->words.items[i], err);
    if (r == 0 && repo && words->operands.count > 1 &&
        al_shell_words_are(words, "branch", " -m -M --move "))
        r = al_worktree_check_free(repo, words->operands.items[0], true, err);
    if (r == 0 && repo)
        r = al_shell_check_filters(repo, words, err);
    if (r == 0 && al_shell_words_are(words, "config", NULL) &&
        (al_shell_effects(call) & AL_WRITES_CONFIG))
        r = check_config(words, err);
    if (r == 0 && repo && removes_files(words))
        r = check_removed(repo, words, err);
    if (r == 0 && (made = made_by(words)))
        r = al_shell_check_made(call, args->working_dir ? args->working_dir : ".", made, err);
    if (r < 0)
        return r;
    if (repo && al_location_is_bare(&repo->at) && !al_effects_read_only(al_shell_effects(call)))
        return al_call_refuse_bare(call, err);
    if (!to->tool || !to->tool->authorize)
        return 0;
    own = al_call_swap_args(call, to->args);
    r = to->tool->authorize(call, err);
    (void)al_call_swap_args(call, own);
    return r;
}

/* Whether the tool that the words stand for would ask. */
static bool is_stricter(struct al_call *call)
{
    const struct al_shell_words *words = al_call_tool_data(call);
    const struct al_shell_connection *to = &words->connection;
    void *own = al_call_swap_args(call, to->args);
    bool holds = false;

    for (size_t i = 0; to->tool && !holds && i < to->tool->nstricter; i++) {
        const struct al_stricter *form = &to->tool->stricter[i];

        holds = al_stricter_is_of(form, to->operation) && form->holds(call);
    }
    (void)al_call_swap_args(call, own);
    return holds;
}

/* Whether a remote that has this address leads to another machine where none has led yet.  A path
 * may lead there by the user's own url.*.insteadOf. */
bool al_shell_address_is_new(const struct al_repo *repo, const char *address)
{
    const struct al_strv none = AL_STRV_INIT;
    const struct al_strv *rules = repo ? &repo->vetting->rewrites : &none;
    const struct al_strv *values = repo ? &repo->vetting->remotes : &none;
    al_auto(al_url_clear) struct al_url url = AL_URL_INIT;
    bool is_here = al_url_parse(address, &url, NULL) == 0 && url.kind == AL_URL_PATH;

    for (size_t i = 0; i + 2 < rules->count; i += 3) /* base, variable, prefix */
        is_here &= !al_starts_with(address, rules->items[i + 2]);
    for (size_t i = 0; !is_here && i + 1 < values->count; i += 2) /* key, value */
        is_here = al_starts_with(values->items[i], "remote.") &&
                  (al_ends_with(values->items[i], ".url") ||
                   al_ends_with(values->items[i], ".pushurl")) &&
                  !strcmp(values->items[i + 1], address);
    return !is_here;
}

static void add_if_new(const struct al_call *call, const char *address, struct al_strv *out)
{
    if (al_shell_address_is_new(al_call_repo(call), address))
        al_strv_take(out, al_url_shown(address));
}

/* Append the new addresses that a remote gets, which are the user's for the next call. */
static void find_new_addresses(const struct al_call *call, struct al_strv *out)
{
    const struct al_shell_words *words = al_call_tool_data(call);
    const bool adds = al_call_repo(call) && al_shell_words_do(words, "remote", " add set-url ");

    for (size_t i = 0;
         i < words->operands.count && (adds || (!i && al_shell_words_are(words, "clone", NULL)));
         i++)
        add_if_new(call, words->operands.items[i], out);
    for (size_t i = 1; i < words->clones.count; i += 3)
        add_if_new(call, words->clones.items[i], out);
}

static bool leads_elsewhere(struct al_call *call)
{
    al_auto(al_strv_clear) struct al_strv addresses = AL_STRV_INIT;

    find_new_addresses(call, &addresses);
    return addresses.count;
}

char *al_shell_commit_of(struct al_call *call, const char *word)
{
    char *oid = NULL;

    (void)al_git_resolve_commit(al_call_repo(call), strcmp(word, "-") != 0 ? word : "@{-1}", &oid,
                                NULL);
    return oid;
}

static bool pulls_by_rebase(struct al_call *call, const struct al_shell_words *words)
{
    const struct al_repo *repo = al_call_repo(call);
    al_auto(al_freep) char *branch = al_current_branch(repo);
    al_auto(al_freep) char *key = NULL;
    al_auto(al_freep) char *value = NULL;

    if (al_shell_words_are(words, "pull", " -r --rebase "))
        return true;
    if (al_shell_words_are(words, "pull", " --no-rebase --ff-only "))
        return false;
    key = branch ? al_asprintf("branch.%s.rebase", branch) : NULL;
    value = key ? al_git_setting(repo, key) : NULL;
    if (!value)
        value = al_git_setting(repo, "pull.rebase");
    return value && strcmp(value, "false") != 0;
}

struct al_shell_words al_shell_words_done(struct al_call *call)
{
    static char fetched[] = "FETCH_HEAD", *names[] = { fetched, NULL };
    struct al_shell_words words = *(const struct al_shell_words *)al_call_tool_data(call);

    if (!strcmp(words.command.name, "pull")) {
        words.command.name = pulls_by_rebase(call, &words) ? "rebase" : "merge";
        words.others = (struct al_strv){ names, 1 };
    }
    return words;
}

/* The commits that a line takes from a branch: those of `from` that `to` does not have.  An amend
 * takes one, and a rebase from the root all, which have no `to`; a pull by rebase begins onto what
 * was fetched before.  False: it takes none, or git says why. */
static bool find_taken(struct al_call *call, char **ret_from, char **ret_to)
{
    const struct al_shell_words *words = al_call_tool_data(call);
    const struct al_strv *others = &words->others;
    const bool resets = !strcmp(words->command.name, "reset");
    const bool pulls = !strcmp(words->command.name, "pull");
    const bool rebases = pulls || !strcmp(words->command.name, "rebase");
    const bool root = al_shell_words_are(words, "rebase", " --root ");
    const bool takes_all = root || al_shell_words_are(words, "commit", " --amend ");
    al_auto(al_freep) char *pulled =
        pulls && others->count > 1 ? al_fs_join(others->items[0], others->items[1]) : NULL;
    const char *onto = pulled                    ? pulled
                       : others->count && !pulls ? others->items[0]
                       : rebases                 ? "@{upstream}"
                                                 : NULL;

    if (!al_call_repo(call) || !(resets || rebases || takes_all) ||
        (pulls && !pulls_by_rebase(call, words)) ||
        al_shell_words_are(words, "rebase", " --continue --abort --skip --quit ") ||
        (resets && words->operands.count > 1)) /* of paths */
        return false;
    *ret_from = al_shell_commit_of(
        call, rebases && !pulls && others->count > !root ? others->items[!root] : "HEAD");
    if (!takes_all && onto)
        *ret_to = al_shell_commit_of(call, onto);
    return *ret_from && (takes_all || *ret_to);
}

/* Whether these are on a remote, as everyday's tools ask. */
static bool rewrites_pushed(struct al_call *call)
{
    al_auto(al_freep) char *from = NULL, *to = NULL;
    bool pushed = true;

    if (!find_taken(call, &from, &to))
        return false;
    if (!al_shell_words_are(al_call_tool_data(call), "rebase", " --root "))
        (void)al_git_has_pushed(al_call_repo(call), from, to, &pushed, NULL);
    return pushed;
}

static const struct al_stricter stricter[] = {
    { "commit", rewrites_pushed, AL_REPLAY_CONDITION, 0 },
    { "rebase", rewrites_pushed, AL_REPLAY_CONDITION, 0 },
    { "reset", rewrites_pushed, AL_REPLAY_CONDITION, 0 },
    { "clone", leads_elsewhere, "for an address elsewhere that no remote has", AL_LEAVES_MACHINE },
    { "fetch", is_stricter, AL_TRANSFER_CONDITION, AL_LEAVES_MACHINE },
    { "ls_remote", is_stricter, AL_TRANSFER_CONDITION, AL_LEAVES_MACHINE },
    { "pull", is_stricter, AL_TRANSFER_CONDITION, AL_LEAVES_MACHINE },
    { "pull", rewrites_pushed, AL_REPLAY_CONDITION, 0 },
    { "push", is_stricter, "for the first push to an address and branch", 0 },
    { "remote", leads_elsewhere, "for an address elsewhere that no remote has", 0 },
    { "remote_update", is_stricter, AL_TRANSFER_CONDITION, AL_LEAVES_MACHINE },
    { "submodule", leads_elsewhere, "for an address elsewhere that no remote has",
      AL_LEAVES_MACHINE },
};

/* An "always" for one kind of push, branch and address is none for another. */
static const char *const always_by[] = { "as", "branch", "address", NULL };

/* Rules look at the branch that is pushed as well. */
static int resolve_connection(struct al_call *call, const struct al_shell_connection *to,
                              struct al_error *err)
{
    void *own = al_call_swap_args(call, to->args);
    int r = to->tool->resolve(call, err);
    const char *branch = r == 0 && to->name ? al_call_resolved(call, "branch") : NULL;
    al_auto(al_freep) char *ref = branch ? al_asprintf("refs/heads/%s", branch) : NULL;

    (void)al_call_swap_args(call, own);
    al_call_resolve(call, "as", to->operation->name);
    if (ref && !al_starts_with(branch, "refs/tags/"))
        al_call_resolve(call, AL_RESOLVED_BRANCH, ref);
    return r;
}

/* The branches that rules look at: those that are named, and the current one. */
static int resolve(struct al_call *call, struct al_error *err)
{
    const struct al_shell_words *words = al_call_tool_data(call);
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT, addresses = AL_STRV_INIT;

    if (al_shell_words_are(words, "clone", NULL) && words->operands.count) {
        al_auto(al_freep) char *shown = al_url_shown(words->operands.items[0]);

        al_call_resolve(call, AL_RESOLVED_ADDRESS, shown);
    }
    find_new_addresses(call, &addresses);
    for (size_t i = 0; i < addresses.count; i++) {
        al_call_resolve(call, AL_RESOLVED_ADDRESS, addresses.items[i]);
        al_call_resolve(call, AL_RESOLVED_NEW_ADDRESS, addresses.items[i]);
    }
    if (words->connection.tool)
        return resolve_connection(call, &words->connection, err);
    if (al_effects_read_only(al_shell_effects(call)))
        return 0;
    al_shell_words_branches(words, &names);
    if (names.count && al_call_repo(call))
        al_ref_head_branches(&al_call_repo(call)->at, &names);
    for (size_t i = 0; i < names.count; i++) {
        al_auto(al_freep) char *ref = al_asprintf("refs/heads/%s", names.items[i]);

        al_call_resolve(call, AL_RESOLVED_BRANCH, ref);
    }
    return 0;
}

/* Add files and directories by their names below the top.  False: a word may stand for any. */
static bool add_paths(const struct al_repo *repo, const struct al_strv *words, struct al_strv *out)
{
    bool are_known = true;

    for (size_t i = 0; i < words->count; i++) {
        const char *word = words->items[i];
        al_auto(al_freep) char *abs = al_fs_join(repo->at.dir, word);
        const char *below = al_fs_beneath(repo->at.top, abs);
        struct stat st;

        if (*word == ':' || strpbrk(word, "*?[\\") || strstr(word, "..") || !below || !*below ||
            !strcmp(word, "."))
            are_known = false;
        else
            al_strv_addf(out, lstat(abs, &st) == 0 && S_ISREG(st.st_mode) ? "%s" : "%s/", below);
    }
    return are_known;
}

/* Whether a word before the paths leads to a path within a commit, as REVISION:PATH does, or is a
 * tree: they are below it, wherever that is in a commit.  The name of a commit or stash counts for
 * nothing. */
static bool names_tree(struct al_call *call, const struct al_shell_words *words)
{
    static const char listing[] = " archive checkout diff diff-index diff-tree grep reset ";
    const char *command = words->command.name;
    const size_t before = words->words.count - words->paths.count;
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;

    for (size_t i = 1; i < before && !al_shell_words_list(" commit stash ", command); i++)
        if (strchr(words->words.items[i], ':'))
            return true;
    if (!strcmp(command, "restore"))
        al_strv_adds(&names, al_shell_words_value(&words->given, "--source=", "-s"), NULL);
    else if (words->paths.count && al_shell_words_list(listing, command))
        al_strv_add_all(&names, &words->others);
    for (size_t i = 0; i < names.count; i++) {
        al_auto(al_freep) char *commit = al_shell_commit_of(call, names.items[i]);
        al_auto(al_freep) char *tree = NULL;

        if (!commit &&
            al_git_find_object(al_call_repo(call), names.items[i], "tree", &tree, NULL) == 0 &&
            tree)
            return true;
    }
    return false;
}

/* The paths that rules look at: those that are named, else every one. */
static int policy_paths(struct al_call *call, struct al_strv *out, struct al_error *err)
{
    const unsigned touching = AL_READS | AL_WRITES_INDEX | AL_WRITES_WORKTREE | AL_WRITES_FILES;
    const struct al_shell_words *words = al_call_tool_data(call);
    const struct al_repo *repo = al_call_repo(call);
    const size_t before = out->count;

    (void)err;
    if (!(al_shell_effects(call) & touching) || !repo)
        return 0;
    if (names_tree(call, words) || !add_paths(repo, &words->paths, out) ||
        ((words->command.flags & AL_SHELL_NAMES_PATHS) && !add_paths(repo, &words->others, out)) ||
        out->count == before)
        al_strv_add(out, "");
    return 0;
}

/* The path of a place, of which the last part need not be there, as git has it.  Caller frees. */
static char *real_place(const char *path)
{
    const char *name = strrchr(path, '/');
    al_auto(al_freep) char *real = real_path(path);
    al_auto(al_freep) char *above = al_strndup(path, (size_t)(name - path));
    al_auto(al_freep) char *dir = real ? NULL : real_path(above);

    return dir ? al_fs_join(dir, name + 1) : al_take(&real);
}

/* Find the worktree that git means by a word: the only one whose path ends with it, else the one at
 * that place. */
static int find_worktree(const struct al_repo *repo, const char *word, char **ret_top,
                         struct al_error *err)
{
    al_auto(al_worktrees_clear) struct al_worktrees all = AL_WORKTREES_INIT;
    al_auto(al_freep) char *full = al_fs_join(repo->at.dir, word);
    al_auto(al_freep) char *there = real_place(full);
    al_auto(al_freep) char *end = al_asprintf("/%s", word);
    const char *named = NULL, *found = NULL;
    size_t count = 0;
    int r = al_worktree_list(repo, &all, err);

    for (size_t i = 0; r == 0 && i < all.count; i++) {
        const char *path = all.items[i].path;

        if (there && !strcmp(path, there))
            found = path;
        if (!strcmp(path, word) || al_ends_with(path, end)) {
            named = path;
            count++;
        }
    }
    if (count == 1)
        found = named;
    if (r == 0 && !found)
        return al_error_set(err, AL_ERR_EXECUTION, "'%s' is not a working tree", word);
    *ret_top = found ? al_strdup(found) : NULL;
    return r;
}

/* The files that git worktree remove takes along.  git keeps what is more than ignored without
 * --force, which is said here: git itself could find less a moment later. */
static int preview_removal(struct al_call *call, const struct al_shell_words *words,
                           struct al_str *out, struct al_error *err)
{
    const char *word = words->operands.count == 2 ? words->operands.items[1] : NULL;
    al_auto(al_freep) char *top = NULL;
    al_auto(al_str_clear) struct al_str loss = AL_STR_INIT;
    int r = word ? find_worktree(al_call_repo(call), word, &top, err) : 0;

    if (r < 0 || !word ||
        access(top, F_OK) < 0) /* git says how it is used, or its files are gone */
        return r;
    r = al_worktree_add_loss(call, top, &loss, NULL);
    if (r == AL_ERR_TIMEOUT || r == AL_ERR_CANCELLED)
        return al_error_set(err, (enum al_status)r, "the worktree could not be looked at in time");
    if (r < 0)
        al_str_adds(&loss, "  what it has cannot be told\n");
    else if (loss.len && !al_starts_with(loss.buf, "  ignored") &&
             !al_shell_words_have(words, " --force -f ", true))
        return al_error_set(err, AL_ERR_EXECUTION,
                            "'%s' contains modified or untracked files, use --force to delete it",
                            word);
    if (loss.len)
        al_str_addf(out, "Gone for good, and no rollback brings it back:\n%s", loss.buf);
    return 0;
}

/* git clean says itself what it removes. */
static int preview_clean(const struct al_repo *repo, const struct al_shell_words *words,
                         struct al_str *out, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_git_output_clear) struct al_git_output said = { .exit_code = -1 };
    const size_t most = al_git_excerpt_bytes(repo->at.budget, AL_GIT_EXCERPT_MAX_BYTES);
    int r;

    command.show_controls = command.lists_untracked = true;
    al_strv_add(&command.argv, "git");
    al_strv_add_all(&command.argv, &words->globals);
    al_strv_add(&command.argv, "clean");
    al_strv_add_all(&command.argv, &words->given);
    al_strv_adds(&command.argv, "--no-quiet", "--dry-run", "--", NULL);
    al_strv_add_all(&command.argv, &words->operands);
    r = al_git_run_checked(&repo->at, &command, most, &said, err);
    if (r == 0)
        al_git_add_excerpt(repo->at.budget, said.out.out.buf, said.out.out.len, said.stopped, out);
    return r;
}

static int preview_taken(struct al_call *call, struct al_str *out, struct al_error *err)
{
    const bool is_one = al_shell_words_are(al_call_tool_data(call), "commit", NULL);
    al_auto(al_freep) char *from = NULL, *to = NULL, *without = NULL;
    bool any;

    if (!find_taken(call, &from, &to))
        return 0;
    without = to ? al_asprintf("^%s", to) : NULL;
    return al_git_commits_excerpt(
        al_call_repo(call),
        &(struct al_commits_shown){
            .words = (const char *const[]){ from, is_one ? "--max-count=1" : without, NULL },
            .format = "  %h %s",
            .title = "These commits leave the branch:" },
        out, &any, err);
}

/* git itself says what it needs without a repository. */
static int preview(struct al_call *call, struct al_str *out, struct al_error *err)
{
    const struct al_shell_words *words = al_call_tool_data(call);
    const struct al_shell_connection *to = &words->connection;

    if (al_call_repo(call) && al_shell_words_do(words, "worktree", " remove "))
        return preview_removal(call, words, out, err);
    if (al_call_repo(call) && al_shell_words_are(words, "clean", NULL))
        return preview_clean(al_call_repo(call), words, out, err);
    if (to->tool) {
        void *own = al_call_swap_args(call, to->args);
        const int r = to->tool->preview(call, out, err);

        (void)al_call_swap_args(call, own);
        return r;
    }
    if (!al_call_repo(call) && !leads_elsewhere(call))
        al_call_plan(call)->skips_approval = true;
    return preview_taken(call, out, err);
}

/* A repository without own includes has nothing but its own files and the user's read. */
static void read_no_includes(const struct al_repo *repo, struct al_shell_words *words)
{
    struct al_strv all = AL_STRV_INIT;

    if (!repo || repo->vetting->includes || strcmp(words->command.name, "config") != 0 ||
        words->words.count < 2 || words->words.items[1][0] != '-')
        return;
    al_strv_adds(&all, "config", "--no-includes", NULL);
    for (size_t i = 1; i < words->words.count; i++)
        al_strv_add(&all, words->words.items[i]);
    al_strv_clear(&words->words);
    words->words = all;
}

/* The settings that keep git pull from its fetch, as key, value, ...: it fetches from all remotes
 * but those that are left out, which are all of them.  The upstream says nothing about branches
 * that are named. */
static void keep_from_fetching(const struct al_call *call, const struct al_shell_words *words,
                               struct al_strv *config)
{
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;
    al_auto(al_freep) char *branch = al_current_branch(al_call_repo(call));

    al_remote_names(al_call_repo(call), &names);
    for (size_t i = 0; i < names.count; i++) {
        al_strv_addf(config, "remote.%s.skipFetchAll", names.items[i]);
        al_strv_add(config, "true");
    }
    if (words->connection.git.refs.count && branch) {
        al_strv_addf(config, "branch.%s.remote", branch);
        al_strv_add(config, "/");
    }
}

/* The reflog's word for a pull. */
static void add_action(struct al_git_shell *shell, const struct al_shell_words *words,
                       struct al_strv *env)
{
    al_auto(al_str_clear) struct al_str action = AL_STR_INIT;

    for (size_t i = 0; i < words->words.count; i++)
        al_str_addf(&action, "%s%s", i ? " " : "", words->words.items[i]);
    al_strv_add_all(env, shell->env);
    if (!al_env_get(env, "GIT_REFLOG_ACTION"))
        al_env_add(env, "GIT_REFLOG_ACTION", action.buf);
    shell->env = env;
}

/* git pull without its fetch.  FETCH_HEAD stays as it is. */
static int pull_offline(struct al_call *call, const struct al_shell_words *words,
                        const char *option, int *ret_code, struct al_error *err)
{
    struct al_git_shell shell = *al_call_session(call)->caller_shell;
    al_auto(al_strv_clear) struct al_strv env = AL_STRV_INIT, config = AL_STRV_INIT;
    al_auto(al_strv_clear) struct al_strv all = AL_STRV_INIT;

    keep_from_fetching(call, words, &config);
    add_action(&shell, words, &env);
    shell.config = &config;
    al_strv_adds(&all, "pull", "--all", "--append", option, NULL);
    al_strv_add_all(&all, &words->connection.rest);
    return al_git_run_words(al_call_session(call)->git, al_call_repo(call),
                            &(struct al_git_words){ .globals = &words->globals,
                                                    .words = &all,
                                                    .class = AL_GIT_WRITE,
                                                    .starts_children = true,
                                                    .shell = &shell },
                            al_call_budget(call), ret_code, err);
}

/* git pull looks whether it may begin, and fetches; what it writes then is known before it does the
 * rest of it, without a connection. */
static int fetch(struct al_call *call, struct al_error *err)
{
    struct al_shell_words *words = al_call_tool_data(call);
    struct al_shell_connection *to = &words->connection;
    struct al_git_shell shell = *al_call_session(call)->caller_shell;
    al_auto(al_strv_clear) struct al_strv env = AL_STRV_INIT;
    int r;

    if (!to->tool || strcmp(words->command.name, "pull") != 0)
        return 0;
    add_action(&shell, words, &env);
    to->git.shell = &shell;
    r = pull_offline(call, words, "--dry-run", &to->code, err);
    if (r < 0 || to->code)
        return r;
    r = al_fetch_in_shell(call, to->args, &to->git, &to->code, err);
    to->git.shell = NULL;
    to->code = to->code ? 1 : -al_strv_contains(&to->git.options, "--dry-run");
    return r;
}

static int connect_to(struct al_call *call, struct al_shell_words *words, int *ret_code,
                      struct al_error *err)
{
    struct al_shell_connection *to = &words->connection;

    if (!to->tool)
        return al_shell_clone(call, words, ret_code, err);
    if (to->name)
        return al_push_in_shell(call, to->args, &to->git.options, to->name, ret_code, err);
    if (!strcmp(words->command.name, "pull")) {
        *ret_code = to->code < 0 ? 0 : to->code;
        return to->code ? 0 : pull_offline(call, words, NULL, ret_code, err);
    }
    to->git.shell = al_call_session(call)->caller_shell;
    return al_fetch_in_shell(call, to->args, &to->git, ret_code, err);
}

static int run_here(struct al_call *call, struct al_shell_words *words, int *ret_code,
                    struct al_error *err)
{
    const unsigned flags = words->command.flags;
    const bool reads = al_effects_read_only(al_shell_effects(call));
    enum al_git_class class = reads ? AL_GIT_READ : AL_GIT_WRITE;

    if (reads && (flags & AL_SHELL_SHOWS_SETTINGS)) {
        class = AL_GIT_CONFIG;
        read_no_includes(al_call_repo(call), words);
    }
    if (!al_call_repo(call) && !(flags & AL_SHELL_OUTSIDE)) /* git says that it needs one */
        class = AL_GIT_READ;
    return al_git_run_words(
        al_call_session(call)->git, al_call_repo(call),
        &(struct al_git_words){
            .globals = &words->globals,
            .words = &words->words,
            .class = class,
            .starts_children = (flags & AL_SHELL_STARTS_CHILDREN) && !removes_files(words),
            .finds_itself = reads || (flags & AL_SHELL_OUTSIDE),
            .shows_patches = flags & AL_SHELL_SHOWS_PATCHES,
            .shell = al_call_session(call)->caller_shell,
        },
        al_call_budget(call), ret_code, err);
}

static int run(struct al_call *call, struct al_result *result, struct al_error *err)
{
    struct al_shell_words *words = al_call_tool_data(call);
    const bool changes = al_call_repo(call) && !al_effects_read_only(al_shell_effects(call));
    al_auto(al_str_clear) struct al_str waiting = AL_STR_INIT;
    al_auto(al_freep) char *head = changes ? al_ref_head(&al_call_repo(call)->at) : NULL;
    int code = 0, r;

    if (words->connection.tool || al_shell_words_are(words, "clone", NULL))
        r = connect_to(call, words, &code, err);
    else if (al_call_repo(call) && al_shell_words_do(words, "submodule", " add update "))
        r = al_shell_submodules(call, words, &code, err);
    else
        r = run_here(call, words, &code, err);
    if (r < 0)
        return r;
    if (changes) /* git knows nothing of them */
        al_state_add_waiting(call, &waiting);
    if (waiting.len)
        al_result_note(result, waiting.buf);
    al_str_addf(&result->text, "git exited with %d", code);
    result->exit_code = code;
    al_shell_notes_add(call, head, result);
    result->not_done = code != 0 && !al_effects_read_only(al_shell_effects(call));
    return 0;
}

int64_t al_shell_timeout_ms(const struct al_session *session)
{
    (void)session;
    return 24 * 3600 * 1000;
}

static void summarize(const struct al_call *call, struct al_str *out)
{
    const struct git_args *args = al_call_args(call);

    al_str_adds(out, "git");
    for (size_t i = 0; i < args->args.count; i++)
        al_text_add_word(args->args.items[i], out);
}

static bool command_line(const struct al_call *call, struct al_str *out)
{
    summarize(call, out);
    return true;
}

/*
 * rows.inc has what `git` may be told.  It is included with ROW() once for the operations and once
 * for their conditions: the command, the operation, the operation of the toolset `everyday` that it
 * also is, its effects, and the condition (struct al_shell_words_form).  The first row of a command
 * that applies counts, and the last one of each has no condition.  A row that reaches another
 * repository is the operation of `everyday` that it is read as (connect.c).
 */
static const struct al_shell_words_form forms[] = {
#define ROW(command, name, tool, operation, effects, asks, ...) { command, __VA_ARGS__ },
#include "tools/commands/rows.inc"
};

static const struct al_operation operations[] = {
#define ROW(command, name, tool, operation, effects, asks, ...)                                    \
    { name, NULL, effects, run, asks, 0, 0, false, tool, operation },
#include "tools/commands/rows.inc"
    /* Words without a row: `open_repository` has refused them. */
    { "unknown", NULL, AL_WRITES_WORKTREE | AL_DISCARDS_WORK | AL_RUNS_PROGRAM, run,
      AL_ASKS_ALWAYS },
};

static bool takes(const struct al_call *call, const struct al_operation *operation)
{
    const struct al_shell_words *words = al_call_tool_data(call);

    return words && al_shell_words_match(words, &forms[operation - operations]) &&
           (!words->connection.name ||
            !strcmp(words->connection.operation->name, operation->like_operation));
}

const struct al_tool al_tool_commands_git = {
    .name = "git",
    .title = "Run git",
    .about = "Run git's own command line, with git's own output.",
    AL_TOOL_ROWS(params, operations),
    AL_TOOL_STRICTER(stricter),
    .args_size = sizeof(struct git_args),
    .working_dir_offset = offsetof(struct git_args, working_dir),
    .open_repository = open_repository,
    .takes = takes,
    .always_by = always_by,
    .timeout_ms = al_shell_timeout_ms,
    .moves_branch = true,
    .summarize = summarize,
    .command_line = command_line,
    .resolve = resolve,
    .policy_paths = policy_paths,
    .fetch = fetch,
    .overwritten_files = al_shell_overwritten,
    .authorize = authorize,
    .preview = preview,
};
