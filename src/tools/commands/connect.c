// SPDX-License-Identifier: Apache-2.0
/*
 * The words of git that reach another repository.  They are read as a call of one of everyday's
 * tools, whose rules, questions and checks then hold: what does not come out as one is refused.  So
 * an option is one of those listed, in full, and a remote one that is configured; git never gets an
 * address.
 */

#include "git/refs.h"
#include "git/repo/words.h"
#include "tools/commands/commands.h"
#include "tools/private.h"

#define CONNECTS " -q --quiet -4 --ipv4 -6 --ipv6 --progress --no-progress -v --verbose "
#define FETCHES                                                                                    \
    CONNECTS "-p --prune --no-prune -t --tags -k --keep -a --append --dry-run -j --jobs= "         \
             "--show-forced-updates --no-show-forced-updates --depth= --deepen= --shallow-since= " \
             "--unshallow "

static const struct connecting {
    const char *command;
    const struct al_tool *tool;
    const char *options; /* that git gets; with "=" where they have a value */
    const char *read;    /* that the call is made of */
    const char *rest;    /* that git pull gets for what it does with what was fetched */
    bool is_update;      /* it is git remote update */
} connecting[] = {
    { "clone", NULL,
      CONNECTS "-n --no-checkout --bare -o --origin= -b --branch= --depth= --shallow-since= -j "
               "--jobs= --single-branch --no-single-branch --no-tags --no-local ",
      " -l --local --no-hardlinks ", "" },
    { "fetch", &al_tool_everyday_fetch,
      FETCHES "-n --no-tags --atomic --no-recurse-submodules --no-auto-gc --no-auto-maintenance "
              "--porcelain --no-write-fetch-head --refetch ",
      " --all ", "" },
    { "ls-remote", &al_tool_everyday_fetch,
      " -q --quiet -h --heads -b --branches -t --tags --refs --exit-code --symref --sort= ", "",
      "" },
    { "pull", &al_tool_everyday_fetch, FETCHES "--no-tags ", " --all ",
      " -q --quiet -v --verbose --progress --no-progress --ff --no-ff --ff-only -r --rebase "
      "--rebase= --no-rebase --commit --no-commit --squash --no-squash -n --stat --no-stat "
      "--summary --no-summary --log --log= --no-log --signoff --no-signoff -s --strategy= -X "
      "--strategy-option= --autostash --no-autostash --allow-unrelated-histories --verify "
      "--no-verify --cleanup= --no-edit " },
    { "push", &al_tool_everyday_push,
      CONNECTS "--porcelain --thin --no-thin --atomic --no-verify -n --dry-run ",
      " -u --set-upstream -f --force --force-with-lease -d --delete --tags ", "" },
    { "remote", &al_tool_everyday_fetch, CONNECTS "-p --prune ", "", "", .is_update = true },
};

static const struct connecting *find(const struct al_shell_words *words)
{
    for (size_t i = 0; i < AL_COUNT(connecting); i++)
        if (!strcmp(connecting[i].command, words->command.name) &&
            (!connecting[i].is_update || al_shell_words_do(words, "remote", " update ")))
            return &connecting[i];
    return NULL;
}

static int refuse(const struct connecting *row, const char *what, const char *why,
                  struct al_error *err)
{
    al_auto(al_freep) char *command = al_asprintf(
        "%s%s%s%s", row->command, row->is_update ? " update" : "", *what ? " " : "", what);
    al_auto(al_freep) char *way =
        row->tool ? al_asprintf("%s; airlock call %s", why, row->tool->name) : al_strdup(why);

    return al_shell_words_refuse(command, way, err);
}

static int read_options(struct al_shell_words *words, const struct connecting *row,
                        struct al_error *err)
{
    if (words->paths.count && row->tool)
        return refuse(row, "--", "leave it out", err);
    for (size_t i = 0; i < words->given.count; i++) {
        const char *given = words->given.items[i], *equals = strchr(given, '=');
        const size_t all = equals ? (size_t)(equals - given) + 1 : strlen(given);
        al_auto(al_freep) char *name = al_strndup(given, given[1] == '-' ? all : 2);
        const bool is_fetched = al_shell_words_list(row->options, name);
        const bool is_rest = al_shell_words_list(row->rest, name);

        if (al_starts_with(given, "--rebase=i"))
            return refuse(row, given, "it opens an editor", err);
        if (words->lacks_value ||
            (!is_fetched && !is_rest && !al_shell_words_list(row->read, name)))
            return refuse(row, given, "what it leads to cannot be told here", err);
        if (is_fetched)
            al_strv_add(&words->connection.git.options, given);
        if (is_rest)
            al_strv_add(&words->connection.rest, given);
    }
    return 0;
}

static int read_fetch(struct al_shell_words *words, const struct connecting *row,
                      struct al_error *err)
{
    struct al_shell_connection *to = &words->connection;
    const struct al_strv *others = &words->others;
    const size_t first = row->is_update;
    const bool has_all = al_strv_contains(&words->options, "--all");
    const bool lists = !strcmp(row->command, "ls-remote");

    if (row->is_update && others->count > 2)
        return refuse(row, others->items[2], "one remote at a time", err);
    if (has_all && others->count)
        return refuse(row, "--all", "it stands without a remote", err);
    for (size_t i = first + 1; i < others->count; i++) {
        if (!lists && !strcmp(others->items[i], "tag"))
            return refuse(row, "tag", "it would write a tag here; git fetch --tags moves none",
                          err);
        if (!lists && (!*others->items[i] || strpbrk(others->items[i], ":+^*?[\\")))
            return refuse(row, others->items[i],
                          "it would write a reference here; fetch the remote, then git branch",
                          err);
        al_strv_add(&to->git.refs, others->items[i]);
    }
    to->git.is_update = row->is_update;
    to->git.command = lists ? "ls-remote" : "fetch";
    if (has_all || (row->is_update && others->count < 2)) {
        to->tool = &al_tool_workflow_fetch;
        al_json_set(to->arguments, "all", al_json_bool(true));
    }
    return 0;
}

/* --- push --- */

static const char heads[] = "refs/heads/", tags[] = "refs/tags/";

/* The user has to name it, since settings or git would choose it. */
static int name_it(const struct connecting *row, const char *what, struct al_error *err)
{
    return refuse(row, what, "name one branch: git push REMOTE BRANCH", err);
}

static bool is_set(const struct al_repo *repo, const char *key)
{
    al_auto(al_freep) char *value = al_git_setting(repo, key);

    return value;
}

/* The current branch, if that is what git would push with these settings, and to its name there. */
static int read_default(struct al_shell_words *words, const struct connecting *row,
                        const struct al_repo *repo, const char *name, struct al_error *err)
{
    static const char alike[] = " simple current upstream ";
    al_auto(al_remote_clear) struct al_remote remote = AL_REMOTE_INIT;
    al_auto(al_freep) char *branch = al_current_branch(repo);
    al_auto(al_freep) char *how = al_git_setting(repo, "push.default");
    al_auto(al_freep) char *own = al_asprintf("remote.%s.push", name);
    al_auto(al_freep) char *mirror = al_asprintf("remote.%s.mirror", name);
    al_auto(al_freep) char *upstream = NULL;

    if (!branch || is_set(repo, own) || is_set(repo, mirror) ||
        (how && !al_shell_words_list(alike, how)) || al_shell_words_have(words, " --tags ", true))
        return name_it(row, "", err);
    if (!how || strcmp(how, "current") != 0) {
        if (al_remote_find(repo, name, &remote, NULL) == 0)
            upstream = al_remote_upstream(repo, &remote, branch);
        if (!upstream || strcmp(upstream, branch) != 0)
            return name_it(row, "", err);
    }
    al_json_set(words->connection.arguments, "branch", al_json_string(branch));
    words->connection.name = al_take(&branch);
    return 0;
}

/* A name with or without what it is: a branch, or a tag, which a name alone is if there is no
 * branch of it.  False: there are both, and git itself says which it is. */
static bool tell(const struct al_repo *repo, const char *given, const char **ret_name,
                 bool *ret_is_tag)
{
    const char *name = al_starts_with(given, heads)  ? given + strlen(heads)
                       : al_starts_with(given, tags) ? given + strlen(tags)
                                                     : given;
    al_auto(al_freep) char *as_branch = al_asprintf("%s%s", heads, name);
    al_auto(al_freep) char *as_tag = al_asprintf("%s%s", tags, name);

    *ret_name = name;
    *ret_is_tag = name == given ? al_ref_exists(&repo->at, as_tag) : al_starts_with(given, tags);
    return name != given || !*ret_is_tag || !al_ref_exists(&repo->at, as_branch);
}

/* "NAME" or "NAME:NAME", each with or without refs/heads/, as "branch"; the same with refs/tags/ as
 * "tag". */
static int read_names(struct al_shell_words *words, const struct connecting *row,
                      const struct al_repo *repo, const char *spec, struct al_error *err)
{
    struct al_shell_connection *to = &words->connection;
    const char *colon = strchr(spec, ':'), *target = colon ? colon + 1 : spec;
    al_auto(al_freep) char *given = al_strndup(spec, strcspn(spec, ":"));
    const bool is_head = !strcmp(given, "HEAD") || !strcmp(given, "@");
    al_auto(al_freep) char *head = is_head ? al_current_branch(repo) : NULL;
    al_auto(al_freep) char *from = !is_head ? al_strdup(given)
                                   : head   ? al_asprintf("%s%s", heads, head)
                                            : NULL;
    al_auto(al_freep) char *full = NULL;
    const char *name;
    bool is_tag;

    if (!from || !tell(repo, from, &name, &is_tag))
        return name_it(row, spec, err);
    full = al_asprintf("%s%s", is_tag ? tags : heads, name);
    if (al_arg_check_branch("branch", name, NULL) < 0 || strchr(target, ':') ||
        (colon && strcmp(target, name) != 0 && strcmp(target, full) != 0))
        return name_it(row, spec, err);
    al_json_set(to->arguments, is_tag ? "tag" : "branch", al_json_string(name));
    to->name = al_strdup(is_head                                             ? "HEAD"
                         : al_shell_words_have(words, " --porcelain ", true) ? full
                                                                             : name);
    return 0;
}

static int read_refspec(struct al_shell_words *words, const struct connecting *row,
                        const struct al_repo *repo, const char *spec, struct al_error *err)
{
    struct al_shell_connection *to = &words->connection;
    const bool deletes = al_shell_words_have(words, " -d --delete ", true);
    const char *given = spec + (*spec == ':'), *name;
    bool is_tag;

    if (deletes || *spec == ':') {
        if (!*given || strpbrk(given, ":+^*") || (deletes && *spec == ':') ||
            !tell(repo, given, &name, &is_tag))
            return name_it(row, spec, err);
        if (is_tag)
            return al_shell_words_refuse("push --delete",
                                         "airlock deletes no tag of a remote; the user can, and "
                                         "refs/heads/NAME is a branch",
                                         err);
        al_json_set(to->arguments, "delete", al_json_bool(true));
        to->name = al_strdup(given);
        al_json_set(to->arguments, "branch", al_json_string(name));
        return 0;
    }
    if (*spec == '+')
        al_json_set(to->arguments, "force", al_json_bool(true));
    return read_names(words, row, repo, spec + (*spec == '+'), err);
}

static int read_push(struct al_shell_words *words, const struct connecting *row,
                     const struct al_repo *repo, struct al_error *err)
{
    static const char *const flags[][2] = {
        { " -u --set-upstream ", "set_upstream" },
        { " -f --force --force-with-lease ", "force" },
        { " --tags ", "tags" },
    };
    const struct al_strv *others = &words->others;
    json_t *arguments = words->connection.arguments;
    al_auto(al_freep) char *branch = al_current_branch(repo);
    al_auto(al_freep) char *usual = branch ? al_remote_push_default(repo, branch) : NULL;

    if (!others->count) {
        if (!usual)
            usual = al_remote_default(repo, branch);
        al_json_set(arguments, "remote", al_json_string(usual));
    }
    for (size_t i = 0; i < AL_COUNT(flags); i++)
        if (al_shell_words_have(words, flags[i][0], true))
            al_json_set(arguments, flags[i][1], al_json_bool(true));
    if (others->count < 2 && !al_shell_words_have(words, " -d --delete ", true))
        return read_default(words, row, repo, others->count ? others->items[0] : usual, err);
    if (others->count == 3 && !strcmp(others->items[1], "tag")) {
        al_auto(al_freep) char *tag = al_asprintf("%s%s", tags, others->items[2]);

        return read_refspec(words, row, repo, tag, err);
    }
    if (others->count != 2)
        return name_it(row, others->count > 2 ? others->items[2] : "", err);
    return read_refspec(words, row, repo, others->items[1], err);
}

/* The remote is the first word, else that of the current branch, which is "." for a branch here. */
static int read_remote(struct al_shell_words *words, const struct connecting *row,
                       const struct al_repo *repo, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;
    const size_t at = row->is_update;
    const char *remote = words->others.count > at ? words->others.items[at] : NULL;
    const bool follows = row->tool == &al_tool_everyday_fetch && !row->is_update &&
                         !al_shell_words_have(words, " --all ", true);
    al_auto(al_freep) char *branch = !remote && follows ? al_current_branch(repo) : NULL;
    al_auto(al_freep) char *key = branch ? al_asprintf("branch.%s.remote", branch) : NULL;
    al_auto(al_freep) char *followed = key ? al_git_setting(repo, key) : NULL;

    al_remote_names(repo, &names);
    if (followed && !al_strv_contains(&names, followed))
        return refuse(row, "", "the branch follows no remote; name the remote", err);
    if (!remote)
        return 0;
    if (!strcmp(remote, "."))
        return refuse(row, remote, "it is this repository; git show-ref lists what it has", err);
    if (!al_strv_contains(&names, remote))
        return refuse(row, remote, "there is no remote of this name; git remote add makes one",
                      err);
    al_json_set(words->connection.arguments, "remote", al_json_string(remote));
    return 0;
}

char *al_shell_guess_dir(const char *address, bool is_bare)
{
    static const char *const ends[] = { "/", "/.git", ".git" };
    al_auto(al_freep) char *text = al_strdup(address);
    const char *name = text;

    for (size_t i = 0; i < AL_COUNT(ends); i++)
        while (al_ends_with(text, ends[i]))
            text[strlen(text) - strlen(ends[i])] = '\0';
    for (const char *at = text; *at; at++)
        if (*at == '/' || *at == ':')
            name = at + 1;
    return al_asprintf("%s%s", name, is_bare && *name ? ".git" : "");
}

/* An address, and the directory that git makes. */
static int read_clone(struct al_shell_words *words, const struct connecting *row,
                      struct al_error *err)
{
    struct al_strv *both = &words->operands;
    al_auto(al_url_clear) struct al_url url = AL_URL_INIT;

    if (!both->count || both->count > 2)
        return refuse(row, "", "it takes an address, and a directory", err);
    if (both->count == 1)
        al_strv_take(
            both, al_shell_guess_dir(both->items[0], al_shell_words_have(words, " --bare ", true)));
    if (!*both->items[1])
        return refuse(row, "", "name the directory that it makes", err);
    return al_url_parse(both->items[0], &url, err);
}

int al_shell_connection_read(struct al_shell_words *words, const struct al_repo *repo,
                             const struct al_tool_defaults *defaults, struct al_error *err)
{
    struct al_shell_connection *to = &words->connection;
    const struct connecting *row = find(words);
    int r;

    if (!row)
        return 0;
    if (!row->tool) {
        r = read_options(words, row, err);
        return r == 0 ? read_clone(words, row, err) : r;
    }
    if (!repo)
        return refuse(row, "", "there is no repository here", err);
    to->tool = row->tool;
    to->arguments = al_json_object();
    r = read_options(words, row, err);
    if (r == 0)
        r = read_remote(words, row, repo, err);
    if (r == 0)
        r = row->tool == &al_tool_everyday_push ? read_push(words, row, repo, err)
                                                : read_fetch(words, row, err);
    if (r == 0) {
        to->args = al_calloc(1, to->tool->args_size);
        r = al_tool_decode(to->tool, to->arguments, defaults, to->args, err);
    }
    if (r == 0) {
        to->operation = al_tool_select(to->tool, NULL, to->args);
    } else {
        free(al_take(&to->args));
        to->tool = NULL;
    }
    return r;
}

void al_shell_connection_clear(struct al_shell_connection *connection)
{
    if (connection->args)
        al_tool_args_clear(connection->tool, connection->args);
    free(connection->args);
    al_json_decrefp(&connection->arguments);
    al_strv_clear(&connection->git.options);
    al_strv_clear(&connection->git.refs);
    al_strv_clear(&connection->rest);
    free(connection->name);
}
