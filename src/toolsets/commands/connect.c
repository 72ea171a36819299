// SPDX-License-Identifier: Apache-2.0
/*
 * The words of git that reach another repository.  They are read as a call of one of everyday's
 * tools, whose rules, questions and checks then hold: what does not come out as one is refused.  So
 * an option is one of those listed, in full, and a remote one that is configured; git never gets an
 * address.
 */
#include <stdlib.h>

#include "gitops/repo/remotes.h"
#include "gitops/repo/repo.h"
#include "toolsets/commands/words.h"
#include "toolsets/transfer.h"

#define CONNECTS " -q --quiet -4 --ipv4 -6 --ipv6 --progress --no-progress -v --verbose "

static const struct connecting {
    const char *command, *verb; /* NULL: no verb */
    const struct al_tool *tool;
    const char *options; /* that git gets; with "=" where they have a value */
} connecting[] = {
    { "fetch", NULL, &al_tool_everyday_fetch,
      CONNECTS "-p --prune --no-prune -t --tags -n --no-tags -f --force --all --dry-run --atomic "
               "-k --keep -a --append --no-recurse-submodules --no-auto-gc --no-auto-maintenance "
               "--porcelain --show-forced-updates --no-show-forced-updates --no-write-fetch-head "
               "--refetch " },
    { "ls-remote", NULL, &al_tool_everyday_fetch,
      " -q --quiet -h --heads -b --branches -t --tags --refs --exit-code --symref --sort= " },
    { "remote", "update", &al_tool_everyday_fetch, CONNECTS "-p --prune " },
};

static const struct connecting *find(const struct al_shell_words *words)
{
    for (size_t i = 0; i < AL_COUNT(connecting); i++)
        if (!strcmp(connecting[i].command, words->command->name) &&
            (!connecting[i].verb ||
             (words->others.count && !strcmp(words->others.items[0], connecting[i].verb))))
            return &connecting[i];
    return NULL;
}

static int refuse(const struct connecting *row, const char *what, const char *why,
                  struct al_error *err)
{
    al_auto(al_freep) char *command =
        al_asprintf("%s%s%s%s%s", row->command, row->verb ? " " : "", row->verb ? row->verb : "",
                    *what ? " " : "", what);
    al_auto(al_freep) char *way = al_asprintf("%s; airlock call %s", why, row->tool->name);

    return al_shell_words_refuse(command, way, err);
}

/* Whether a word is one of the options, or letters that each are one. */
static bool is_listed(const char *options, const char *word)
{
    const char *value = strchr(word, '=');
    al_auto(al_freep) char *name =
        al_strndup(word, value ? (size_t)(value - word) + 1 : strlen(word));
    bool is_known = word[1];

    if (word[1] == '-')
        return al_shell_words_list(options, name);
    for (const char *at = word + 1; *at && is_known; at++)
        is_known = al_shell_words_list(options, (const char[]){ '-', *at, '\0' });
    return is_known;
}

/* Take the options that git gets, each of which stands alone, so that what follows is none. */
static int read_options(struct al_shell_words *words, const struct connecting *row,
                        struct al_error *err)
{
    if (words->paths.count)
        return refuse(row, "--", "leave it out", err);
    for (size_t i = 1; i < words->words.count; i++) {
        const char *word = words->words.items[i];

        if (word[0] != '-')
            continue;
        if (!is_listed(row->options, word))
            return refuse(row, word, "what it leads to cannot be told here", err);
        if (strcmp(word, "--all") != 0)
            al_strv_add(&words->connection.git.options, word);
    }
    return 0;
}

/* A word that names a reference there, and none here. */
static bool is_source(const char *word)
{
    return *word && !strpbrk(word, ":+^*?[\\");
}

static int read_fetch(struct al_shell_words *words, const struct connecting *row,
                      struct al_error *err)
{
    struct al_shell_connection *to = &words->connection;
    const struct al_strv *others = &words->others;
    const size_t first = row->verb ? 1 : 0;
    const bool has_all = al_strv_contains(&words->options, "--all");
    const bool lists = !strcmp(row->command, "ls-remote");

    if (row->verb && others->count > 2)
        return refuse(row, others->items[2], "one remote at a time", err);
    if (has_all && others->count)
        return refuse(row, "--all", "it stands without a remote", err);
    for (size_t i = first + 1; i < others->count; i++) {
        if (!lists && !is_source(others->items[i]))
            return refuse(row, others->items[i],
                          "it would write a reference here; fetch the remote, then git branch",
                          err);
        al_strv_add(&to->git.refs, others->items[i]);
    }
    to->git.is_update = row->verb;
    to->git.command = lists ? "ls-remote" : "fetch";
    if (has_all || (row->verb && others->count < 2)) {
        to->tool = &al_tool_workflow_fetch;
        al_json_set(to->arguments, "all", al_json_bool(true));
    }
    return 0;
}

/* The remote is the first word; NULL: none is named. */
static int read_remote(struct al_shell_words *words, const struct connecting *row,
                       const struct al_repo *repo, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;
    const size_t at = row->verb ? 1 : 0;
    const char *remote = words->others.count > at ? words->others.items[at] : NULL;

    if (!remote)
        return 0;
    al_remote_names(repo, &names);
    if (!al_strv_contains(&names, remote))
        return refuse(row, remote, "there is no remote of this name; git remote add makes one",
                      err);
    al_json_set(words->connection.arguments, "remote", al_json_string(remote));
    return 0;
}

static int decode(struct al_shell_connection *to, const struct al_tool_defaults *defaults,
                  struct al_error *err)
{
    void *args = al_calloc(1, to->tool->args_size);
    int r = al_tool_decode(to->tool, to->arguments, defaults, args, err);

    if (r < 0) {
        free(args);
        return r;
    }
    to->args = args;
    to->operation = al_tool_select(to->tool, NULL, args);
    return 0;
}

int al_shell_connection_read(struct al_shell_words *words, const struct al_repo *repo,
                             const struct al_tool_defaults *defaults, struct al_error *err)
{
    struct al_shell_connection *to = &words->connection;
    const struct connecting *row = find(words);
    int r;

    if (!row)
        return 0;
    if (!repo)
        return refuse(row, "", "there is no repository here", err);
    to->tool = row->tool;
    to->arguments = al_json_object();
    r = read_options(words, row, err);
    if (r == 0)
        r = read_remote(words, row, repo, err);
    if (r == 0)
        r = read_fetch(words, row, err);
    return r < 0 ? r : decode(to, defaults, err);
}

void al_shell_connection_clear(struct al_shell_connection *connection)
{
    if (connection->args)
        al_tool_args_clear(connection->tool, connection->args);
    free(connection->args);
    al_json_decrefp(&connection->arguments);
    al_strv_clear(&connection->git.options);
    al_strv_clear(&connection->git.refs);
}
