// SPDX-License-Identifier: Apache-2.0
#include "tools/commands/commands.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "git/plumbing/revision.h"
#include "git/plumbing/snapshot.h"
#include "git/repo/remotes.h"
#include "git/repo/words.h"
#include "guard/gitdir.h"
#include "guard/nofollow.h"
#include "guard/path.h"
#include "tools/private.h"
#include "verbs/worktree/submodules.h"

/* --- git clone: an exchange of an empty repository of airlock's own, in which git makes another
 * one --- */

/* A path is given to git as an address, since it would copy what is there; it then keeps what it
 * would have of the path. */
static int take_path(struct al_call *call, const struct al_shell_words *words, struct al_error *err)
{
    al_auto(al_freep) char *here = getcwd(NULL, 0);
    al_auto(al_freep) char *path = al_fs_join(here ? here : ".", words->operands.items[0]);
    const char *origin = al_shell_words_value(&words->connection.git.options, "--origin=", "-o");
    al_auto(al_strv_clear) struct al_strv place = AL_STRV_INIT, set = AL_STRV_INIT;
    int code;

    al_strv_adds(&place, "-C", words->operands.items[1], NULL);
    al_strv_add(&set, "config");
    al_strv_addf(&set, "remote.%s.url", origin ? origin : AL_DEFAULT_REMOTE);
    al_strv_add(&set, path);
    return al_git_run_words(al_call_session(call)->git, NULL,
                            &(struct al_git_words){ .globals = &place,
                                                    .words = &set,
                                                    .class = AL_GIT_WRITE,
                                                    .shell = al_call_session(call)->caller_shell },
                            al_call_budget(call), &code, err);
}

static int check_there(const struct al_call *call, const char *given, struct al_error *err)
{
    al_auto(al_url_clear) struct al_url url = AL_URL_INIT;
    al_auto(al_freep) char *here = getcwd(NULL, 0);
    al_auto(al_freep) char *path = NULL;
    al_auto(al_freep) char *abs = NULL;
    al_auto(al_closep) int fd = -1;
    int r = al_url_parse(given, &url, err);

    if (r < 0 || url.kind != AL_URL_PATH)
        return r;
    path = al_fs_join(here ? here : ".", url.path);
    if (al_roots_open(al_call_session(call)->roots, path, O_PATH, &fd, &abs, NULL) !=
        AL_ERR_NOT_FOUND)
        return 0;
    return al_error_set(err, AL_ERR_EXECUTION, "repository '%s' does not exist", url.shown);
}

/* Open what a path names, without its ".git" too, as git finds it.  -1: nothing, or an address. */
static int open_named(const char *given)
{
    al_auto(al_freep) char *full = al_asprintf("%s.git", given);
    const int fd = strstr(given, "://") ? -1 : open(given, O_PATH | O_CLOEXEC);

    return fd < 0 && !strstr(given, "://") ? open(full, O_PATH | O_CLOEXEC) : fd;
}

/* `own` has no reference and no object: git makes another repository for what it gets. */
static int clone_into(struct al_call *call, struct al_shell_words *words, struct al_repo *own,
                      struct al_network_shown *shown, struct al_error *err)
{
    const char *given = words->operands.items[0];
    const struct al_strv *options = &words->connection.git.options;
    al_auto(al_url_clear) struct al_url url = AL_URL_INIT;
    const bool is_path = al_url_parse(given, &url, NULL) == 0 && url.kind == AL_URL_PATH;
    al_auto(al_closep) int fd = open_named(given);
    /* The user's own url.*.insteadOf is followed.  It makes no address of a path, which is asked
     * about as one of this machine. */
    al_auto(al_freep) char *path =
        fd >= 0   ? al_fs_fd_path(fd)
        : is_path ? al_strdup(given)
                  : al_remote_rewritten(own->vetting, given, "insteadof", given);
    al_auto(al_remote_clear) struct al_remote remote = { .name = al_strdup(given) };
    al_auto(al_network_endp) struct al_network *network = NULL;
    int r = fd < 0 ? check_there(call, given, err) : 0;

    if (r < 0)
        return r;
    al_strv_add(&remote.urls, path ? path : given);
    if (fd < 0 && strcmp(path, given) != 0)
        al_strv_add(&remote.urls, given); /* which is agreed to as well */
    al_known_remotes_note(own);
    if (al_call_was_asked(call))
        al_remote_accept(own, &remote, AL_FETCHES);
    r = al_transfer_begin(call, own, &remote, remote.urls.items[0], AL_FETCHES, &network, err);
    if (r == 0 && fd < 0 && strcmp(path, given) != 0) { /* the new one has it as it was given */
        free(network->address);
        network->address = al_strdup(given);
    }
    if (r == 0)
        r = al_git_clone_words(network, options, words->operands.items[1], shown, err);
    if (r == 0 && !shown->exit_code && network->other && !strstr(remote.urls.items[0], "://") &&
        !al_strv_contains(options, "-q") && !al_strv_contains(options, "--quiet") &&
        !al_strv_contains(options, "--no-local")) /* as git when it has copied */
        (void)al_write_all(shown->shell->err_fd, "done.\n", strlen("done.\n"));
    if (r == 0 && !shown->exit_code && network->other && fd >= 0)
        r = take_path(call, words, err);
    return r;
}

int al_shell_clone(struct al_call *call, struct al_shell_words *words, int *ret_code,
                   struct al_error *err)
{
    struct al_network_shown shown = { .shell = al_call_session(call)->caller_shell };
    struct al_repo *own = NULL;
    int r = al_repo_make_own(al_call_session(call)->git, al_call_budget(call), &own, err);

    if (r < 0)
        return r;
    own->at.is_own = false; /* the new one is in a root */
    r = clone_into(call, words, own, &shown, err);
    *ret_code = shown.exit_code;
    al_repo_free(own);
    return r;
}

/*
 * git submodule update and add: what they would fetch is there when git begins.  A submodule that
 * is not here is cloned as by git clone, and one that lacks its commit fetches as by git fetch,
 * both from an address that was agreed to; git itself then connects to nothing.
 */

/* A repository whose submodules are updated. */
struct level {
    struct al_call *call;
    const struct al_repo *repo;
    const struct al_shell_words *words; /* of the line */
    const struct al_strv *specs;        /* the submodules that it names; none: all */
    const char *prefix;                 /* the path to the repository; NULL: it is the outer one */
    struct al_strv settings;            /* what the configuration has about its submodules */
    struct al_strv chosen;              /* the paths that submodule.active has */
    bool chooses;                       /* there is one */
};

static void forget_settings(struct level *level)
{
    al_strv_clear(&level->settings);
    al_strv_clear(&level->chosen);
}

/* The words behind the verb that are no options.  Borrowed. */
static struct al_strv specs_of(const struct al_shell_words *words)
{
    const bool has_verb = words->operands.count;

    return (struct al_strv){ words->operands.items + has_verb, words->operands.count - has_verb };
}

/* --- Where a submodule is --- */

static bool is_there(const char *dir, const char *name)
{
    al_auto(al_freep) char *path = al_fs_join(dir, name);

    return access(path, F_OK) == 0;
}

/* Its files are there, or its git directory is. */
static bool is_checked_out(const struct al_repo *repo, const struct al_worktree_submodule *part)
{
    al_auto(al_freep) char *git = al_fs_join(part->path, ".git");

    return is_there(repo->at.top, git);
}

static const char *setting(const struct level *level, const struct al_worktree_submodule *part,
                           const char *variable)
{
    return al_worktree_submodule_value(&level->settings, part->dir + strlen("modules/"), variable);
}

/* A path, from the top of the working tree.  Caller frees. */
static char *absolute(const struct al_repo *repo, const char *address)
{
    al_auto(al_url_clear) struct al_url url = AL_URL_INIT;
    const bool is_path = !strstr(address, "://") && al_url_parse(address, &url, NULL) == 0 &&
                         url.kind == AL_URL_PATH;

    return is_path ? al_fs_join(repo->at.top, address) : al_strdup(address);
}

/* The base of an address with "./" or "../": the remote, else the repository. */
static char *base_of(const struct al_repo *repo)
{
    al_auto(al_strv_clear) struct al_strv urls = AL_STRV_INIT, push_urls = AL_STRV_INIT;
    al_auto(al_freep) char *branch = al_current_branch(repo);
    al_auto(al_freep) char *remote = al_remote_default(repo, branch);

    return remote && al_remote_addresses(repo, remote, &urls, &push_urls) && urls.count
               ? absolute(repo, urls.items[0])
               : al_strdup(repo->at.top);
}

static bool is_relative(const char *address)
{
    return al_starts_with(address, "./") || al_starts_with(address, "../");
}

/* The address that git makes of a relative one.  Caller frees. */
static char *resolve(const struct al_repo *repo, const char *given)
{
    al_auto(al_freep) char *base = is_relative(given) ? base_of(repo) : NULL;
    size_t len = base ? strlen(base) : 0;
    char between = '/';

    if (!base)
        return al_strdup(given);
    while (len && base[len - 1] == '/')
        len--;
    while (is_relative(given)) {
        if (given[1] == '.') {
            while (len && base[len - 1] != '/' && base[len - 1] != ':')
                len--;
            if (len)
                between = base[--len];
        }
        given = strchr(given, '/') + 1;
    }
    return al_asprintf("%.*s%c%.*s", (int)len, base, between,
                       (int)(strlen(given) - al_ends_with(given, "/")), given);
}

static int list(const struct al_repo *repo, const struct al_strv *specs,
                struct al_worktree_submodules *out, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv unnamed = AL_STRV_INIT; /* git says so itself */

    return al_worktree_list_submodules(repo, "", "", specs, out, &unnamed, err);
}

/* The values of submodule.active are pathspecs from the top. */
static void read_settings(struct level *level)
{
    static const char key[] = "submodule.active\n";
    al_auto(al_strv_clear) struct al_strv specs = AL_STRV_INIT;
    al_auto(al_worktree_submodules_clear) struct al_worktree_submodules parts =
        AL_WORKTREE_SUBMODULES_INIT;

    forget_settings(level);
    al_worktree_submodule_settings(level->repo, false, &level->settings);
    for (size_t i = 0; i < level->settings.count; i++) {
        const char *line = level->settings.items[i], *value = line + strlen(key);

        if (al_starts_with(line, key) && al_starts_with(value, ":("))
            al_strv_addf(&specs, ":(top,%s", value + strlen(":("));
        else if (al_starts_with(line, key))
            al_strv_addf(&specs, "%s%s", *value == ':' ? ":/" : ":(top)", value + (*value == ':'));
    }
    level->chooses = specs.count;
    if (specs.count)
        (void)list(level->repo, &specs, &parts, NULL);
    for (size_t i = 0; i < parts.count; i++)
        al_strv_add(&level->chosen, parts.items[i].path);
}

/* The address of a submodule that git updates, or with `inits` makes one of; NULL: it is passed
 * over.  Caller frees. */
static char *url_of(const struct level *level, const struct al_worktree_submodule *part, bool inits)
{
    const char *known = setting(level, part, "url"), *own = setting(level, part, "active");
    const bool is_active = own              ? *own && !al_shell_words_list(" false no off 0 ", own)
                           : level->chooses ? al_strv_contains(&level->chosen, part->path)
                                            : known != NULL;

    if (!is_active && !(inits && (level->specs->count || !level->chooses)))
        return NULL;
    if (known)
        return absolute(level->repo, known);
    return part->url ? resolve(level->repo, part->url) : NULL;
}

/* The address that a submodule is cloned from; NULL: git does not clone it.  Caller frees. */
static char *address_of(const struct level *level, const struct al_worktree_submodule *part)
{
    const struct al_shell_words *words = level->words;
    const bool is_told = al_shell_words_have(words, " --checkout --merge --rebase ", true);
    const char *known = setting(level, part, "update"), *how = known ? known : part->update;

    if (is_checked_out(level->repo, part) || is_there(level->repo->at.git_dir, part->dir) ||
        (how && !is_told && !al_shell_words_list(" checkout merge rebase ", how)))
        return NULL;
    return url_of(level, part, al_shell_words_have(words, " --init --require-init ", true));
}

/* --- What a line clones --- */

static int find_updated(const struct level *level, struct al_strv *out, struct al_error *err)
{
    al_auto(al_worktree_submodules_clear) struct al_worktree_submodules parts =
        AL_WORKTREE_SUBMODULES_INIT;
    int r = list(level->repo, level->specs, &parts, err);

    for (size_t i = 0; r == 0 && i < parts.count; i++) {
        al_auto(al_freep) char *address = address_of(level, &parts.items[i]);

        if (address)
            al_strv_adds(out, parts.items[i].path, address, parts.items[i].dir, NULL);
    }
    return r;
}

static bool is_ignored(const struct al_repo *repo, const char *below)
{
    al_auto(al_closep) int top_fd = open(repo->at.top, O_PATH | O_DIRECTORY | O_CLOEXEC);
    al_auto(al_strv_clear) struct al_strv paths = AL_STRV_INIT, ignored = AL_STRV_INIT;

    al_strv_add(&paths, below);
    return al_git_ignored_paths(repo, top_fd, &paths, &ignored, NULL) == 0 && ignored.count;
}

/* git add of a submodule clones, unless something of the name is there or it refuses. */
static int find_added(const struct level *level, struct al_strv *out, struct al_error *err)
{
    const struct al_repo *repo = level->repo;
    const char *given = level->specs->count ? level->specs->items[0] : "";
    al_auto(al_strv_clear) struct al_strv spec = AL_STRV_INIT;
    al_auto(al_worktree_submodules_clear) struct al_worktree_submodules parts =
        AL_WORKTREE_SUBMODULES_INIT;
    al_auto(al_freep) char *path = level->specs->count > 1 ? al_strdup(level->specs->items[1])
                                                           : al_shell_guess_dir(given, false);
    al_auto(al_freep) char *full = al_beneath_join(repo->at.dir, path);
    const char *below = al_fs_beneath(repo->at.top, full);
    const char *name = al_shell_words_value(&level->words->given, "--name=", "--name=");
    al_auto(al_freep) char *dir = al_asprintf("modules/%s", name ? name : below ? below : "");
    al_auto(al_freep) char *address = resolve(repo, given);
    int r;

    if (!*given || level->specs->count > 2 || !below || !*below || !strstr(address, "/") ||
        (*address != '/' && !strchr(address, ':')) || !al_path_is_plain(dir) ||
        al_path_has_dot_git(dir) || is_there(repo->at.git_dir, dir) || access(full, F_OK) == 0 ||
        (is_relative(given) && strcmp(repo->at.dir, repo->at.top) != 0))
        return 0;
    al_strv_addf(&spec, ":(top,literal)%s", below);
    r = list(repo, &spec, &parts, err);
    if (r == 0 && ((!parts.count && !is_ignored(repo, below)) ||
                   al_shell_words_have(level->words, " --force -f ", true)))
        al_strv_adds(out, below, address, dir, NULL);
    return r;
}

int al_shell_submodules_read(struct al_call *call, struct al_shell_words *words,
                             const struct al_repo *repo, struct al_error *err)
{
    const struct al_strv specs = specs_of(words);
    al_auto(forget_settings) struct level level = { call, repo, words, &specs };

    if (!repo || !al_shell_words_do(words, "submodule", " add update "))
        return 0;
    if (!strcmp(words->others.items[0], "add"))
        return find_added(&level, &words->clones, err);
    read_settings(&level);
    return find_updated(&level, &words->clones, err);
}

/* --- Git's part --- */

/* Run `git submodule`.  `silent` keeps what it prints. */
static int run_git(const struct level *level, const char *prefix, const struct al_strv *all,
                   const struct al_strv *config, bool is_silent, int *ret_code,
                   struct al_error *err)
{
    struct al_git_shell shell = *al_call_session(level->call)->caller_shell;
    al_auto(al_closep) int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

    shell.config = config;
    if (is_silent)
        shell.out_fd = null;
    return al_git_run_words(al_call_session(level->call)->git, level->repo,
                            &(struct al_git_words){ .globals = &level->words->globals,
                                                    .words = all,
                                                    .class = AL_GIT_WRITE,
                                                    .prefix = prefix,
                                                    .starts_children = true,
                                                    .shell = &shell },
                            al_call_budget(level->call), ret_code, err);
}

/* --- What airlock fetches --- */

/* git makes its directories through no link, and its git directory inside of no other one. */
static int check_places(const struct level *level, const char *path, const char *dir,
                        struct al_error *err)
{
    al_auto(al_closep) int top = open(level->repo->at.top, O_PATH | O_DIRECTORY | O_CLOEXEC);
    const int fd = al_nofollow_open(top, path, O_PATH);
    al_auto(al_freep) char *above = al_strdup(dir);

    if (fd < 0 && fd != -ENOENT)
        return al_shell_words_refuse("submodule", "its path leads through a link", err);
    al_close(fd);
    for (char *end; (end = strrchr(above, '/'));) {
        al_auto(al_freep) char *head = NULL;

        *end = '\0';
        head = al_fs_join(above, "HEAD");
        if (is_there(level->repo->at.git_dir, head))
            return al_shell_words_refuse("submodule", "its name is inside of another one", err);
    }
    return al_shell_check_made(level->call, level->repo->at.top, path, err);
}

/* The question about the line, if there was one, named the new addresses of its own repository;
 * rules are held against every address. */
static int check_rules(const struct level *level, const char *address, bool is_asked,
                       struct al_error *err)
{
    const struct al_session *session = al_call_session(level->call);
    al_auto(al_strv_clear) struct al_strv addresses = AL_STRV_INIT;
    al_auto(al_str_clear) struct al_str rule = AL_STR_INIT;
    struct al_ruling ruling;

    al_strv_take(&addresses, al_url_shown(address));
    ruling = al_policy_decide(session->policy, session->mode,
                              &(struct al_policy_query){ .tool = "git",
                                                         .operation = "submodule",
                                                         .effects = AL_USES_NETWORK,
                                                         .addresses = &addresses });
    if (!ruling.number || !ruling.rule->address || ruling.decision == AL_APPROVAL_ALLOW ||
        (is_asked && ruling.decision == AL_APPROVAL_ASK))
        return 0;
    al_ruling_describe(&ruling, &rule);
    return al_error_set(err, AL_ERR_SANDBOX, "git submodule %s is refused: %s is about %s",
                        level->words->others.items[0], rule.buf, addresses.items[0]);
}

/* Make the git directory where git looks for it.  git then makes the files, as it does for one that
 * was there before. */
static int clone_part(const struct level *level, char *const *clone, int *ret_code,
                      struct al_error *err)
{
    static const char *const kept[] = { "--quiet", "-q", "--progress", "--single-branch",
                                        "--no-single-branch" };
    const char *depth = al_shell_words_value(&level->words->given, "--depth=", "--depth="), *name;
    al_auto(al_freep) char *full = al_fs_join(level->repo->at.top, clone[0]);
    al_auto(al_freep) char *file = al_fs_join(full, ".git");
    al_auto(al_closep) int git_fd = open(level->repo->at.git_dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    al_auto(al_closep) int above = -1;
    al_auto(al_shell_words_clear) struct al_shell_words line = AL_SHELL_WORDS_INIT;
    struct al_strv *options = &line.connection.git.options;
    int r = check_places(level, clone[0], clone[2], err);

    if (r == 0)
        r = check_rules(level, clone[1], !level->prefix, err);
    if (r < 0)
        return r;
    above = al_nofollow_open_parent(git_fd, clone[2], true, &name);
    if (above < 0)
        return al_error_errno(err, -above, "cannot make the git directory of '%s'", clone[0]);
    al_strv_adds(&line.operands, clone[1], full, NULL);
    al_strv_add(options, "--no-checkout");
    al_strv_addf(options, "--separate-git-dir=%s/%s", level->repo->at.git_dir, clone[2]);
    for (size_t i = 0; i < AL_COUNT(kept); i++)
        if (al_strv_contains(&level->words->options, kept[i]))
            al_strv_add(options, kept[i]);
    if (depth)
        al_strv_addf(options, "--depth=%s", depth);
    r = al_shell_clone(level->call, &line, ret_code, err);
    if (r == 0 && !*ret_code && unlink(file) < 0)
        return al_error_errno(err, errno, "cannot remove '%s'", file);
    return r;
}

static bool has_commit(const struct al_repo *repo, const char *head)
{
    al_auto(al_freep) char *oid = NULL;

    return al_git_resolve_commit(repo, head, &oid, NULL) == 0;
}

static int fetch_once(const struct level *level, const struct al_repo *repo, const char *ref,
                      int *ret_code, struct al_error *err)
{
    struct al_call *call = level->call;
    const char *depth = al_shell_words_value(&level->words->given, "--depth=", "--depth=");
    struct al_network_shown shown = { .shell = al_call_session(call)->caller_shell };
    struct al_fetch_words words = { .command = "fetch", .shell = shown.shell };
    al_auto(al_remote_clear) struct al_remote remote = AL_REMOTE_INIT;
    al_auto(al_network_endp) struct al_network *network = NULL;
    al_auto(al_freep) char *branch = al_current_branch(repo);
    al_auto(al_freep) char *name = al_remote_default(repo, branch);
    int r;

    if (shown.shell->is_confined && !shown.shell->has_network)
        return al_shell_words_refuse("submodule update", AL_SHELL_OFFLINE, err);
    r = al_remote_find(repo, name ? name : AL_DEFAULT_REMOTE, &remote, err);
    if (r == 0)
        r = check_rules(level, remote.urls.items[0], false, err);
    if (r == 0)
        r = al_transfer_begin(call, repo, &remote, remote.urls.items[0], AL_FETCHES, &network, err);
    if (r < 0)
        return r;
    if (al_shell_words_have(level->words, " --quiet -q ", true))
        al_strv_add(&words.options, "--quiet");
    if (depth)
        al_strv_addf(&words.options, "--depth=%s", depth);
    if (ref)
        al_strv_add(&words.refs, ref);
    r = al_git_fetch_words(network, &words, &shown, err);
    *ret_code = shown.exit_code;
    al_strv_clear(&words.options);
    al_strv_clear(&words.refs);
    return r;
}

/* Let git put a git directory that is there to its files, and its files to it. */
static int connect_part(const struct level *level, const char *path, const char *dir,
                        const char *address, int *ret_code, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv all = AL_STRV_INIT;

    al_strv_adds(&all, "submodule", "clone", NULL);
    al_strv_addf(&all, "--path=%s", path);
    al_strv_addf(&all, "--name=%s", dir + strlen("modules/"));
    al_strv_addf(&all, "--url=%s", address);
    return run_git(level, NULL, &all, NULL, false, ret_code, err);
}

static int open_part(const struct level *level, const char *path, struct al_repo **ret_repo,
                     struct al_error *err)
{
    return al_repo_open_at(al_call_session(level->call)->git, level->repo->at.top, path,
                           al_call_budget(level->call), ret_repo, err);
}

/* The fetch of git in a submodule: all, if it lacks its commit, and then that by its name.  One
 * without files gets them afterwards, as one that is new. */
static int fetch_part(const struct level *level, const struct al_worktree_submodule *part,
                      int *ret_code, struct al_error *err)
{
    const bool follows = al_shell_words_have(level->words, " --remote ", true);
    const bool has_files = is_checked_out(level->repo, part);
    al_auto(al_freep) char *url = url_of(level, part, false);
    al_auto(al_freep) char *full = al_fs_join(level->repo->at.top, part->path);
    al_auto(al_freep) char *file = al_fs_join(full, ".git");
    struct al_repo *repo = NULL;
    int r = 0;

    if (!url || (!has_files && !is_there(level->repo->at.git_dir, part->dir)))
        return 0; /* git says what there is to say */
    if (!has_files)
        r = check_places(level, part->path, part->dir, err);
    if (r == 0 && !has_files)
        r = connect_part(level, part->path, part->dir, url, ret_code, err);
    if (r == 0 && !*ret_code)
        r = open_part(level, part->path, &repo, err);
    if (repo && (follows || !has_commit(repo, part->head)))
        r = fetch_once(level, repo, NULL, ret_code, err);
    if (repo && r == 0 && !follows && !*ret_code && !has_commit(repo, part->head))
        r = fetch_once(level, repo, part->head, ret_code, err);
    al_repo_free(repo);
    if (!has_files && repo && unlink(file) < 0 && errno != ENOENT)
        return al_error_errno(err, errno, "cannot remove '%s'", file);
    return r;
}

/* --- git submodule update --- */

/* git puts no prefix before what this prints. */
static void say_registered(const struct level *level, const struct al_worktree_submodules *parts)
{
    const int fd = al_call_session(level->call)->caller_shell->err_fd;

    for (size_t i = 0; i < parts->count; i++) {
        const struct al_worktree_submodule *part = &parts->items[i];
        al_auto(al_freep) char *url = part->url ? resolve(level->repo, part->url) : NULL;
        al_auto(al_freep) char *line =
            al_asprintf("Submodule '%s' (%s) registered for path '%s%s'\n",
                        part->dir + strlen("modules/"), url ? url : "", level->prefix, part->path);

        if (url && !setting(level, part, "url"))
            (void)al_write_all(fd, line, strlen(line));
    }
}

static int init(const struct level *level, const struct al_worktree_submodules *parts,
                int *ret_code, struct al_error *err)
{
    const bool is_quiet = al_shell_words_have(level->words, " --quiet -q ", true);
    al_auto(al_strv_clear) struct al_strv all = AL_STRV_INIT;

    if (level->prefix && !is_quiet)
        say_registered(level, parts);
    al_strv_adds(&all, "submodule", "init", NULL);
    if (level->prefix || is_quiet)
        al_strv_add(&all, "--quiet");
    al_strv_add(&all, "--");
    al_strv_add_all(&all, level->specs);
    return run_git(level, NULL, &all, NULL, false, ret_code, err);
}

/* The line, without what is done already. */
static int check_out(const struct level *level, const struct al_strv *specs,
                     const struct al_strv *modes, int *ret_code, struct al_error *err)
{
    const struct al_strv *words = &level->words->words;
    al_auto(al_strv_clear) struct al_strv all = AL_STRV_INIT;

    al_strv_adds(&all, "submodule", "update", "--no-fetch", NULL);
    for (size_t i = 1; i < words->count && strcmp(words->items[i], "--") != 0; i++) {
        const char *word = words->items[i];
        al_auto(al_freep) char *name = al_strndup(word, strcspn(word, "="));

        if (*word == '-' &&
            !al_shell_words_list(" --init --recursive --depth -j --jobs --filter ", name))
            al_strv_add(&all, word);
    }
    al_strv_add(&all, "--");
    al_strv_add_all(&all, specs);
    return run_git(level, level->prefix, &all, modes, false, ret_code, err);
}

static int update(struct level *level, const struct al_strv *clones, int *ret_code,
                  struct al_error *err);

/* Nobody was asked about what is in a submodule, and no mount protects what is made now. */
static int check_known(const struct level *level, const struct al_strv *clones,
                       struct al_error *err)
{
    if (clones->count && al_call_session(level->call)->caller_shell->is_confined)
        return al_shell_words_refuse("submodule", AL_SHELL_CONFINED, err);
    for (size_t i = 0; i < clones->count; i += 3) {
        al_auto(al_freep) char *shown = al_url_shown(clones->items[i + 1]);
        al_auto(al_freep) char *prefix = al_text_sanitize_line(level->prefix);

        if (al_shell_address_is_new(level->repo, clones->items[i + 1]))
            return al_error_set(err, AL_ERR_SANDBOX,
                                "git submodule update is refused: %s has a submodule at %s, about "
                                "which nobody was asked; git -C %s submodule update --init",
                                prefix, shown, prefix);
    }
    return 0;
}

static int update_nested(const struct level *level, const struct al_worktree_submodule *part,
                         int *ret_code, struct al_error *err)
{
    al_auto(al_freep) char *prefix =
        al_asprintf("%s%s/", level->prefix ? level->prefix : "", part->path);
    al_auto(al_strv_clear) struct al_strv none = AL_STRV_INIT, clones = AL_STRV_INIT;
    struct al_repo *repo = NULL;
    al_auto(forget_settings) struct level below = { level->call, NULL, level->words, &none,
                                                    prefix };
    int r = is_checked_out(level->repo, part) ? open_part(level, part->path, &repo, err) : 0;

    if (r < 0 || !repo)
        return r;
    below.repo = repo;
    read_settings(&below);
    r = find_updated(&below, &clones, err);
    if (r == 0)
        r = check_known(&below, &clones, err);
    if (r == 0)
        r = update(&below, &clones, ret_code, err);
    al_repo_free(repo);
    return r;
}

/* git ends with what is nested in one before it goes to the next. */
static int check_out_each(const struct level *level, const struct al_worktree_submodules *parts,
                          const struct al_strv *modes, int *ret_code, struct al_error *err)
{
    int r = 0;

    for (size_t i = 0; r == 0 && !*ret_code && i < parts->count; i++) {
        const struct al_worktree_submodule *part = &parts->items[i];
        al_auto(al_strv_clear) struct al_strv spec = AL_STRV_INIT;
        al_auto(al_freep) char *url = url_of(level, part, false);

        al_strv_addf(&spec, ":(top,literal)%s", part->path);
        if (!url && !level->specs->count)
            continue;
        r = check_out(level, &spec, modes, ret_code, err);
        if (r == 0 && !*ret_code)
            r = update_nested(level, part, ret_code, err);
    }
    return r;
}

static int update(struct level *level, const struct al_strv *clones, int *ret_code,
                  struct al_error *err)
{
    al_auto(al_worktree_submodules_clear) struct al_worktree_submodules parts =
        AL_WORKTREE_SUBMODULES_INIT;
    al_auto(al_strv_clear) struct al_strv modes = AL_STRV_INIT;
    const bool fetches = !al_shell_words_have(level->words, " --no-fetch -N ", true);
    int r = list(level->repo, level->specs, &parts, err);

    if (r == 0 && al_shell_words_have(level->words, " --init --require-init ", true))
        r = init(level, &parts, ret_code, err);
    read_settings(level);
    for (size_t i = 0; r == 0 && !*ret_code && i < clones->count; i += 3)
        r = clone_part(level, clones->items + i, ret_code, err);
    for (size_t i = 0; r == 0 && !*ret_code && fetches && i < parts.count; i++)
        r = fetch_part(level, &parts.items[i], ret_code, err);
    if (r < 0 || *ret_code)
        return r;
    /* The vetted value replaces only a mode that runs a program. */
    for (size_t i = 0; i < parts.count; i++) {
        const char *how = setting(level, &parts.items[i], "update");

        if (!how || !al_shell_words_list(" checkout merge rebase ", how))
            continue;
        al_strv_addf(&modes, "submodule.%s.update", parts.items[i].dir + strlen("modules/"));
        al_strv_add(&modes, how);
    }
    return parts.count && al_shell_words_have(level->words, " --recursive ", true)
               ? check_out_each(level, &parts, &modes, ret_code, err)
               : check_out(level, level->specs, &modes, ret_code, err);
}

/* The work of git add of a submodule on a new clone. */
static int check_out_added(const struct level *level, char *const *clone, int *ret_code,
                           struct al_error *err)
{
    struct al_call *call = level->call;
    const char *branch = al_shell_words_value(&level->words->given, "--branch=", "-b");
    al_auto(al_strv_clear) struct al_strv all = AL_STRV_INIT;
    struct al_repo *repo = NULL;
    int r = connect_part(level, clone[0], clone[2], clone[1], ret_code, err);

    if (r < 0 || *ret_code)
        return r;
    r = open_part(level, clone[0], &repo, err);
    al_strv_adds(&all, "checkout", "-f", "-q", NULL);
    if (branch) {
        al_strv_adds(&all, "-B", branch, NULL);
        al_strv_addf(&all, "origin/%s", branch);
    }
    if (r == 0)
        r = al_git_run_words(al_call_session(call)->git, repo,
                             &(struct al_git_words){ .globals = &level->words->globals,
                                                     .words = &all,
                                                     .class = AL_GIT_WRITE,
                                                     .shell = al_call_session(call)->caller_shell },
                             al_call_budget(call), ret_code, err);
    al_repo_free(repo);
    return r;
}

/* git takes the clone for one that was there before, and says so, to which it would have added
 * nothing. */
static int add(const struct level *level, int *ret_code, struct al_error *err)
{
    const struct al_strv *clones = &level->words->clones;
    int r = clones->count ? clone_part(level, clones->items, ret_code, err) : 0;

    if (r == 0 && !*ret_code && clones->count)
        r = check_out_added(level, clones->items, ret_code, err);
    return r == 0 && !*ret_code
               ? run_git(level, NULL, &level->words->words, NULL, clones->count, ret_code, err)
               : r;
}

int al_shell_submodules(struct al_call *call, const struct al_shell_words *words, int *ret_code,
                        struct al_error *err)
{
    const struct al_strv specs = specs_of(words);
    al_auto(forget_settings) struct level level = { call, al_call_repo(call), words, &specs };

    return strcmp(words->others.items[0], "add") != 0
               ? update(&level, &words->clones, ret_code, err)
               : add(&level, ret_code, err);
}
