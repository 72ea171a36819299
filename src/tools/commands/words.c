// SPDX-License-Identifier: Apache-2.0
/*
 * git takes abbreviations of long options, and letters in one word.  So a form that does more than
 * another is chosen by every word that could mean its option, and one that only reads by the whole
 * option alone.  A seeming read can still write nothing: the kernel sees to that.
 */
#include "tools/commands/commands.h"

#include <ctype.h>
#include <unistd.h>

#include "base/nearest.h"
#include "git/environment.h"

#define ALIASES_MAX 10

static const struct al_shell_words_command commands[] = {
    { "add", NULL, " --chmod --pathspec-from-file ",
      AL_SHELL_STARTS_CHILDREN | AL_SHELL_NAMES_PATHS },
    { "am", "Cp?S", " --directory --exclude --include --patch-format --resolvemsg ",
      AL_SHELL_STARTS_CHILDREN },
    { "apply", "pC", " --directory --exclude --include --whitespace ", 0 },
    { "archive", "o", " --output --format --prefix --add-file ", 0 },
    { "bisect", NULL, NULL, AL_SHELL_STARTS_CHILDREN },
    { "branch", "u",
      " --set-upstream-to --contains --no-contains --merged --no-merged --points-at --sort "
      "--format ",
      AL_SHELL_NAMES_BRANCHES },
    { "checkout", "bB", " --orphan --conflict --pathspec-from-file ",
      AL_SHELL_STARTS_CHILDREN | AL_SHELL_NAMES_BRANCHES },
    { "checkout-index", NULL, NULL, AL_SHELL_NAMES_PATHS },
    { "cherry-pick", "mX?S", " --mainline --strategy --strategy-option --cleanup ",
      AL_SHELL_STARTS_CHILDREN },
    { "clean", "e", " --exclude ", 0 },
    { "clone", "bojx", " --branch --origin --depth --shallow-since --jobs ", 0 },
    { "commit", "mFCct?Su",
      " --message --file --reuse-message --reedit-message --author --date --template --cleanup "
      "--trailer --fixup --squash --pathspec-from-file ",
      0 },
    { "commit-tree", "pmFS?", NULL, 0 },
    { "config", "f", " --file --blob --type --default ", AL_SHELL_SHOWS_SETTINGS },
    { "describe", NULL, " --match --exclude --candidates ", AL_SHELL_STARTS_CHILDREN },
    { "fetch", "j", " --jobs --depth --deepen --shallow-since ", 0 },
    { "format-patch", "ovn", " --output-directory --output ", AL_SHELL_SHOWS_PATCHES },
    { "hash-object", "t", " --path ", 0 },
    { "help", NULL, NULL, AL_SHELL_SHOWS_SETTINGS },
    { "init", "b", " --initial-branch --template --separate-git-dir --object-format ",
      AL_SHELL_OUTSIDE },
    { "maintenance", NULL, " --task --schedule ", AL_SHELL_STARTS_CHILDREN },
    { "merge", "msXF?S", " --message --strategy --strategy-option --file --cleanup --into-name ",
      AL_SHELL_STARTS_CHILDREN },
    { "mv", NULL, NULL, AL_SHELL_NAMES_PATHS },
    { "notes", "mFCc", " --message --file --reuse-message --reedit-message --ref ",
      AL_SHELL_STARTS_CHILDREN },
    { "pull", "jsX",
      " --jobs --depth --deepen --shallow-since --strategy --strategy-option --cleanup ",
      AL_SHELL_STARTS_CHILDREN },
    { "push", NULL, NULL, 0 },
    { "rebase", "sXxC?S", " --onto --strategy --strategy-option --exec --whitespace ",
      AL_SHELL_STARTS_CHILDREN | AL_SHELL_NAMES_BRANCHES },
    { "reflog", "n", NULL, 0 },
    { "remote", "tm", NULL, 0 },
    { "reset", NULL, " --pathspec-from-file ", 0 },
    { "restore", "s", " --source --conflict --pathspec-from-file ", AL_SHELL_NAMES_PATHS },
    { "rev-parse", NULL, NULL, AL_SHELL_SHOWS_SETTINGS },
    { "revert", "mX?S", " --mainline --strategy --strategy-option --cleanup ",
      AL_SHELL_STARTS_CHILDREN },
    { "rm", NULL, " --pathspec-from-file ", AL_SHELL_STARTS_CHILDREN | AL_SHELL_NAMES_PATHS },
    { "stash", "m", " --message --pathspec-from-file ",
      AL_SHELL_STARTS_CHILDREN | AL_SHELL_NAMES_BRANCHES },
    { "submodule", "bnj", " --branch --name --reference --depth --jobs --filter --summary-limit ",
      AL_SHELL_STARTS_CHILDREN },
    { "switch", "cC", " --create --orphan --conflict ",
      AL_SHELL_STARTS_CHILDREN | AL_SHELL_NAMES_BRANCHES },
    { "symbolic-ref", "m", NULL, AL_SHELL_NAMES_BRANCHES },
    { "tag", "mFu",
      " --message --file --local-user --cleanup --contains --no-contains --merged --no-merged "
      "--points-at --sort --format ",
      0 },
    { "update-index", NULL, " --cacheinfo --chmod --index-version ", 0 },
    { "update-ref", "m", NULL, AL_SHELL_NAMES_BRANCHES },
    { "var", NULL, NULL, AL_SHELL_SHOWS_SETTINGS },
    { "worktree", "bB", " --reason ", AL_SHELL_STARTS_CHILDREN | AL_SHELL_NAMES_BRANCHES },
};

static const char start_gits[] = " fsck gc prune range-diff repack verify-pack ";
static const char show_patches[] = " diff diff-files diff-index diff-tree log show whatchanged ";

/* Each command that has a row.  A command that is not in the table above is like any other. */
static const char with_rows[] =
#define ROW(command, ...) " " command
#include "tools/commands/rows.inc"
    " ";

/* The words that are refused, and the way there is instead. */
static const struct refusal {
    struct al_shell_words_form form;
    const char *why;
    const char *unless; /* none of these options is given, nor is it the next word */
} refusals[] = {
#define AT_TERMINAL "it asks on a terminal"
    { { NULL, " --ext-diff --textconv " },
      "it runs a program that the repository names; leave it out" },
    { { NULL, " --remerge-diff " }, "git writes objects for it; -m shows both sides" },
    { { NULL, " --help " }, "it opens a manual page; -h is short, and man git has all" },
    { { "add", " -p -i -e --patch --interactive --edit " },
      AT_TERMINAL "; name files, or give hunks to airlock call git_commit" },
    { { "am", " -i --interactive -S --gpg-sign " }, AT_TERMINAL "; leave it out" },
    { { "archive", " -o --output " },
      "git writes to git directories too; leave it out, and write standard output to the file" },
    { { "archive", " --remote --exec " }, "it connects; git clone, and archive that" },
    { { "bisect", .verbs = " run " },
      "it runs a program; test each commit yourself, then git bisect good or git bisect bad" },
    { { "bisect", .verbs = " view visualize " }, "it opens another program; git bisect log" },
    { { "branch", " --edit-description " },
      "it opens an editor; git config branch.NAME.description TEXT sets it" },
    { { " checkout reset restore ", " -p --patch " }, AT_TERMINAL "; name files" },
    { { " branch checkout clean config reset restore rm switch tag ", " --end-of-options " },
      "what follows is no option, and would count as one; leave it out" },
    { { " checkout reset restore switch ", " --recurse-submodules " },
      "git would work in a submodule; leave it out" },
    { { "checkout-index", " --prefix " }, "git writes to git directories too; leave it out" },
    { { "clean", " -i --interactive " }, AT_TERMINAL "; -n shows what would go, -f does it" },
    { { "commit", " -p --patch --interactive " },
      AT_TERMINAL "; airlock call git_commit takes hunks" },
    { { "commit", " -e --edit -c --reedit-message -t --template " },
      "it opens an editor; give the message with -m or -F" },
    { { "commit", " --trailer " },
      "it runs a program for it; -m TEXT -m 'KEY: VALUE' says the same" },
    { { " commit commit-tree ", " -S --gpg-sign " }, "airlock makes no signatures; leave it out" },
    { { "config", " -e --edit " }, "it opens an editor; git config KEY VALUE sets one key" },
    { { "config", " -f --file --blob " }, "it reads any file; read and edit that file itself" },
    { { "config", " --rename-section --remove-section " },
      "it changes many keys; git config --unset KEY removes one" },
    { { "config", .verbs = " edit rename-section remove-section " },
      "it changes many keys; git config KEY VALUE sets one" },
    { { "format-patch" },
      "git writes to git directories too; use --stdout, and write that to a file",
      " --stdout " },
    { { "fsck", " --lost-found " }, "it writes what was lost; git fsck names it" },
    { { " gc read-tree repack ", " --expire-to --filter-to --index-output --recurse-submodules " },
      "it writes elsewhere; leave it out" },
    { { "grep", " -O --open-files-in-pager " }, "it starts a pager; leave it out" },
    { { "help", " -w --web -i --info -m --man " },
      "it opens another program; git COMMAND -h is short" },
    { { "init", " --template --separate-git-dir " },
      "it brings files from elsewhere; leave it out" },
    { { "maintenance", .verbs = " start stop register unregister " },
      "it changes the user's own settings; git maintenance run is for this repository" },
    { { " mergetool difftool gui citool " },
      "it opens another program; git diff shows both sides, airlock call git_conflicts resolves" },
    { { " mktag " }, "git tag -a NAME -m TEXT makes a tag" },
    { { " merge tag ", " -e --edit -S --gpg-sign " }, "it opens an editor or signs; -m TEXT" },
    { { "notes", .verbs = " edit " }, "it opens an editor; git notes add -f -m TEXT" },
    { { "notes", .verbs = " add append " },
      "it opens an editor; give the text with -m or -F",
      " -m -F -C --message --file --reuse-message " },
    { { "rebase", " -i --interactive --edit-todo " },
      "it opens an editor; airlock call git_rebase takes a plan" },
    { { "rebase", " -x --exec -S --gpg-sign " },
      "it runs a program; rebase first, and run that afterwards" },
    { { "rebase", " --update-refs " },
      "no rule sees the branches that move; airlock call git_rebase takes update_refs" },
    { { "remote", .verbs = " prune " }, "it connects; git fetch --prune does the same" },
    { { "remote", .verbs = " show " }, "it connects; git remote show -n does not", " -n " },
    { { "remote", " -f --fetch -a --auto --mirror ", .verbs = " add set-head " },
      "it connects; airlock call git_fetch does" },
    { { " replace filter-branch " },
      "other commits would stand for these; airlock call git_rebase changes commits" },
    { { " rerere " },
      "it would resolve conflicts unseen; airlock call git_conflicts resolves them" },
    { { "stash", " -p --patch " }, AT_TERMINAL "; git stash push -- FILES", " show list " },
    { { "stash", .verbs = " export import " },
      "no rule sees what it writes; git stash branch NAME" },
    { { "submodule", .verbs = " foreach " },
      "it runs a command in each; git -C PATH COMMAND runs git in one" },
    { { "submodule", " -i --reference " },
      "write --init in full; objects come from no other place" },
    { { "tag", " -s --sign -u --local-user -v --verify " },
      "airlock makes and checks no signatures; -a -m TEXT makes a tag" },
    { { "tag", " -a --annotate " },
      "it opens an editor; give the text with -m or -F",
      " -m -F --message --file " },
    { { "update-ref", " --stdin " },
      "no rule sees the branches it names; give each in a line of its own" },
};

int al_shell_words_refuse(const char *what, const char *why, struct al_error *err)
{
    al_auto(al_freep) char *safe = al_text_sanitize_line(what);

    return al_error_set(err, AL_ERR_SANDBOX, "git %s is refused: %s", safe, why);
}

void al_shell_words_clear(struct al_shell_words *words)
{
    al_strv_clear(&words->globals);
    al_strv_clear(&words->words);
    al_strv_clear(&words->options);
    al_strv_clear(&words->given);
    al_strv_clear(&words->others);
    al_strv_clear(&words->paths);
    al_strv_clear(&words->operands);
    al_strv_clear(&words->clones);
    al_shell_connection_clear(&words->connection);
}

const char *al_shell_words_value(const struct al_strv *given, const char *option,
                                 const char *letter)
{
    const char *found = NULL;

    for (size_t i = 0; i < given->count; i++) {
        const char *word = given->items[i], *end = strchr(word, '=');

        if (end && end > word + 2 && !strncmp(word, option, (size_t)(end - word))) /* shortened */
            found = end + 1;
        else if (al_starts_with(word, letter))
            found = word + strlen(letter);
    }
    return found;
}

/* Whether a word that was seen can mean one of these options. */
static bool means(const char *list, const char *seen, bool in_full)
{
    al_auto(al_freep) char *begin = NULL;

    if (in_full || seen[1] != '-' || !seen[2])
        return al_shell_words_list(list, seen);
    begin = al_asprintf(" %s", seen);
    return strstr(list, begin) != NULL;
}

bool al_shell_words_have(const struct al_shell_words *words, const char *list, bool in_full)
{
    for (size_t i = 0; i < words->options.count; i++)
        if (means(list, words->options.items[i], in_full))
            return true;
    return false;
}

static bool has_verb(const struct al_shell_words *words, const char *list)
{
    return words->others.count && al_shell_words_list(list, words->others.items[0]);
}

bool al_shell_words_do(const struct al_shell_words *words, const char *command, const char *verbs)
{
    return al_shell_words_are(words, command, NULL) && has_verb(words, verbs);
}

bool al_shell_words_match(const struct al_shell_words *words,
                          const struct al_shell_words_form *form)
{
    const size_t operands = words->operands.count;

    return (!form->command || !strcmp(form->command, words->command.name) ||
            al_shell_words_list(form->command, words->command.name)) &&
           (!form->options || al_shell_words_have(words, form->options, form->in_full)) &&
           (!form->verbs || has_verb(words, form->verbs)) && (!form->is_bare || !operands) &&
           (!form->is_single || operands <= 1);
}

bool al_shell_words_are(const struct al_shell_words *words, const char *command,
                        const char *options)
{
    return al_shell_words_match(
        words, &(struct al_shell_words_form){ .command = command, .options = options });
}

/* --- Options of git itself --- */

/* The value of "--name=VALUE", or of "--name VALUE", which takes the next word.  NULL: the word is
 * another option. */
static const char *value_of(const char *name, const struct al_strv *given, size_t *at)
{
    const char *word = given->items[*at];
    const size_t len = strlen(name);

    if (strncmp(word, name, len) != 0)
        return NULL;
    if (word[len] == '=')
        return word + len + 1;
    return !word[len] && *at + 1 < given->count ? given->items[++*at] : NULL;
}

/* -c KEY=VALUE, or KEY alone for "true". */
static int add_setting(struct al_shell_words *words, const char *setting, struct al_error *err)
{
    static const char idle[] = " core.pager= core.pager=cat core.editor=: core.editor=true "
                               "sequence.editor=: sequence.editor=true ";
    al_auto(al_freep) char *key = al_strndup(setting, strcspn(setting, "="));
    al_auto(al_freep) char *what = al_asprintf("-c %s", key);

    if (al_shell_words_list(idle, setting)) /* there is no pager and no editor */
        return 0;
    if (!al_config_key_is_harmless(key))
        return al_shell_words_refuse(
            what, "this key can run something or lead elsewhere; leave it out", err);
    al_strv_adds(&words->globals, "-c", setting, NULL);
    return 0;
}

/* Read the options of git itself, and leave *at at the command. */
static int read_globals(struct al_shell_words *words, const struct al_strv *given, size_t *at,
                        struct al_error *err)
{
    static const char kept[] = " --no-pager -P --no-optional-locks --no-replace-objects "
                               "--literal-pathspecs --glob-pathspecs --noglob-pathspecs "
                               "--icase-pathspecs --no-lazy-fetch --no-advice ";
    int r = 0;

    for (; r == 0 && *at < given->count && given->items[*at][0] == '-'; ++*at) {
        const char *word = given->items[*at], *value;

        if (al_shell_words_list(
                " --version -v --help -h --exec-path --html-path --man-path --info-path ", word))
            return 0;
        if (al_shell_words_list(kept, word))
            al_strv_add(&words->globals, word);
        else if (al_shell_words_list(" -p --paginate ", word)) /* there is no pager */
            continue;
        else if (!strcmp(word, "-C") && *at + 1 < given->count)
            ++*at; /* the front door went there */
        else if ((value = value_of("-c", given, at)))
            r = add_setting(words, value, err);
        else if ((value = value_of("--git-dir", given, at)))
            words->git_dir = value;
        else if ((value = value_of("--work-tree", given, at)))
            words->work_tree = value;
        else
            r = al_shell_words_refuse(
                word,
                al_shell_words_list(" -C -c --git-dir --work-tree ", word)
                    ? "its value is missing behind it"
                    : "airlock takes no such option before the command; leave it out",
                err);
    }
    return r;
}

/* --- Aliases --- */

bool al_shell_words_split(const char *line, struct al_strv *ret_words)
{
    al_auto(al_str_clear) struct al_str word = AL_STR_INIT;
    char quote = 0;
    bool has_word = false;

    for (const char *at = line;; at++) {
        if (!*at || (!quote && isspace((unsigned char)*at))) {
            if (has_word)
                al_strv_add(ret_words, word.buf ? word.buf : "");
            if (!*at)
                return !quote && ret_words->count;
            al_str_reset(&word);
            has_word = false;
            continue;
        }
        has_word = true;
        if (*at == quote)
            quote = 0;
        else if (!quote && (*at == '"' || *at == '\''))
            quote = *at;
        else if (*at == '\\' && quote != '\'' && at[1])
            al_str_addc(&word, *++at);
        else
            al_str_addc(&word, *at);
    }
}

static const char *find_alias(const struct al_repo *repo, const char *name)
{
    const struct al_strv *aliases = repo ? &repo->vetting->aliases : NULL;
    const char *found = NULL; /* the last one wins */

    for (size_t i = 0; aliases && i + 1 < aliases->count; i += 2)
        if (!strcasecmp(aliases->items[i], name))
            found = aliases->items[i + 1];
    return found;
}

/* `name` is borrowed.  False: there is no row of it. */
static bool take_command(struct al_shell_words *words, const char *name)
{
    if (!al_shell_words_list(with_rows, name))
        return false;
    words->command = (struct al_shell_words_command){
        .name = name,
        .flags = al_shell_words_list(show_patches, name) ? AL_SHELL_SHOWS_PATCHES
                 : al_shell_words_list(start_gits, name) ? AL_SHELL_STARTS_CHILDREN
                                                         : 0,
    };
    for (size_t i = 0; i < AL_COUNT(commands); i++)
        if (!strcmp(commands[i].name, name))
            words->command = commands[i];
    return true;
}

/* Replace the first word by the words of its alias. */
static int expand_alias(struct al_shell_words *words, const char *alias, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv expanded = AL_STRV_INIT;
    const char *name = words->words.items[0];

    if (*alias == '!')
        return al_shell_words_refuse(name, "the alias runs a shell; run its command yourself", err);
    if (!al_shell_words_split(alias, &expanded) || expanded.items[0][0] == '-')
        return al_shell_words_refuse(
            name, "its alias is no command of git; write the command itself", err);
    for (size_t i = 1; i < words->words.count; i++)
        al_strv_add(&expanded, words->words.items[i]);
    al_strv_clear(&words->words);
    words->words = expanded;
    expanded = AL_STRV_INIT;
    return 0;
}

static int unknown(const char *name, struct al_error *err)
{
    struct al_nearest nearest = { .word = name };
    al_auto(al_freep) char *names = al_strdup(with_rows);
    al_auto(al_freep) char *meant = NULL;
    char *save = NULL;

    for (size_t i = 0; i < AL_COUNT(refusals); i++)
        if (al_shell_words_list(refusals[i].form.command, name))
            return al_shell_words_refuse(name, refusals[i].why, err);
    for (char *at = strtok_r(names, " ", &save); at; at = strtok_r(NULL, " ", &save))
        al_nearest_offer(&nearest, at);
    if (nearest.found)
        meant = al_asprintf("airlock does not know it; did you mean git %s?", nearest.found);
    return al_shell_words_refuse(
        name,
        meant ? meant
              : "airlock does not run this command; airlock tools lists what there is, or the user "
                "can run it",
        err);
}

static int find(struct al_shell_words *words, const struct al_repo *repo, struct al_error *err)
{
    int r = 0;

    for (int round = 0; r == 0; round++) {
        const char *name = words->words.items[0], *alias;

        if (take_command(words, name))
            return 0;
        alias = round < ALIASES_MAX ? find_alias(repo, name) : NULL;
        r = alias ? expand_alias(words, alias, err) : unknown(name, err);
    }
    return r;
}

/* --- Options of the command --- */

/* The value of an option that takes the next word. */
static const char *take_next(struct al_shell_words *words, size_t *at)
{
    const char *next = *at + 1 < words->words.count ? words->words.items[*at + 1] : NULL;

    ++*at;
    words->lacks_value = !next;
    return next ? next : "";
}

/* "-fdx": each letter counts, up to one that takes what follows, or the next word. */
static void read_letters(struct al_shell_words *words, size_t *at)
{
    const char *letters = words->command.letters;
    const char *attached = letters ? strchr(letters, '?') : NULL;
    bool is_last = false;

    for (const char *next = words->words.items[*at] + 1; *next && !is_last; next++) {
        const char *found = letters ? strchr(letters, *next) : NULL, *value = found ? next + 1 : "";

        is_last = found;
        if (found && !*value && (!attached || found < attached))
            value = take_next(words, at);
        al_strv_addf(&words->options, "-%c", *next);
        al_strv_addf(&words->given, "-%c%s", *next, value);
    }
}

static void read_options(struct al_shell_words *words)
{
    const struct al_strv *all = &words->words;
    size_t i = 1;

    for (; i < all->count && strcmp(all->items[i], "--") != 0; i++) {
        const char *word = all->items[i], *values = words->command.values;
        const size_t len = strcspn(word, "=");

        if (word[0] != '-' || !word[1]) {
            al_strv_add(&words->others, word);
        } else if (word[1] != '-') {
            read_letters(words, &i);
        } else {
            al_strv_addf(&words->options, "%.*s", (int)len, word);
            if (!word[len] && values && means(values, word, false))
                al_strv_addf(&words->given, "%s=%s", word, take_next(words, &i));
            else
                al_strv_add(&words->given, word);
        }
    }
    for (i++; i < all->count; i++)
        al_strv_add(&words->paths, all->items[i]);
    al_strv_add_all(&words->operands, &words->others);
    al_strv_add_all(&words->operands, &words->paths);
}

/* Options of git apply write anywhere, so those alone count that are known, in full.  Undocumented
 * words of git submodule's own are told apart by the verb, which comes first. */
static int refuse_unknown(const struct al_shell_words *words, struct al_error *err)
{
    static const char known[] =
        " -p -C -R -N -3 -z -v -q --exclude --include --no-add --stat --numstat --summary --check "
        "--index --intent-to-add --cached --apply --3way --ours --theirs --union --whitespace "
        "--ignore-space-change --ignore-whitespace --reverse --unidiff-zero --reject "
        "--allow-overlap --verbose --quiet --inaccurate-eof --recount --directory --allow-empty ";
    static const char verbs[] = " -q --quiet --cached absorbgitdirs add deinit init set-branch "
                                "set-url status summary sync update ";
    char *const *all = words->words.items;
    const size_t count = strcmp(words->command.name, "submodule") ? 0 : words->words.count;

    for (size_t i = 0; !strcmp(words->command.name, "apply") && i < words->options.count; i++) {
        const char *option = words->options.items[i];
        al_auto(al_freep) char *what = al_asprintf("apply %s", option);

        if (!al_shell_words_list(known, option))
            return al_shell_words_refuse(
                what, "it may write anywhere; write an option in full, or leave it out", err);
    }
    for (size_t i = 1; i < count && (i == 1 || *all[i - 1] == '-'); i++)
        if (!al_shell_words_list(verbs, all[i]))
            return al_shell_words_refuse(*all, "what it does comes first: init, update ...", err);
    return 0;
}

static int refuse_options(const struct al_shell_words *words, struct al_error *err)
{
    for (size_t i = 0; i < AL_COUNT(refusals); i++) {
        const struct refusal *row = &refusals[i];
        al_auto(al_str_clear) struct al_str what = AL_STR_INIT;

        if (!al_shell_words_match(words, &row->form) ||
            (row->unless &&
             (al_shell_words_have(words, row->unless, true) ||
              (words->words.count > 1 && al_shell_words_list(row->unless, words->words.items[1])))))
            continue;
        al_str_adds(&what, words->command.name);
        if (row->form.verbs)
            al_str_addf(&what, " %s", words->others.items[0]);
        for (size_t k = 0; row->form.options && k < words->options.count; k++)
            if (means(row->form.options, words->options.items[k], false))
                al_str_addf(&what, " %s", words->options.items[k]);
        return al_shell_words_refuse(what.buf, row->why, err);
    }
    return refuse_unknown(words, err);
}

/* git takes the message that an unfinished merge, pick or revert has left. */
static bool has_message(const struct al_shell_words *words, const struct al_repo *repo)
{
    static const char given[] = " -m -F -C --message --file --reuse-message --fixup --squash "
                                "--no-edit --dry-run --short --porcelain --long ";
    al_auto(al_freep) char *left = repo ? al_fs_join(repo->at.git_dir, "MERGE_MSG") : NULL;

    return al_shell_words_have(words, given, true) ||
           (left && !al_shell_words_have(words, " --amend ", false) && access(left, F_OK) == 0);
}

/* Through another name a branch could be moved past the rules for its own. */
static int check_symbolic_ref(const struct al_shell_words *words, struct al_error *err)
{
    char *const *names = words->operands.items;

    if (words->operands.count < 2 || !strcmp(names[0], "HEAD") ||
        (!al_starts_with(names[0], "refs/heads/") && !al_starts_with(names[1], "refs/heads/")))
        return 0;
    return al_shell_words_refuse(
        "symbolic-ref", "a second name for a branch; git branch NAME makes one of its own", err);
}

/* "COMMAND -h", or "help COMMAND", which would open a manual page and gets the usage instead. */
static bool asks_for_usage(struct al_shell_words *words)
{
    const bool is_help = !strcmp(words->command.name, "help");
    const char *second = words->words.count == 2 ? words->words.items[1] : "";
    al_auto(al_freep) char *about = NULL;

    if (al_shell_words_are(words, " bisect submodule ", NULL) ||
        !(is_help ? al_shell_words_list(with_rows, second) : !strcmp(second, "-h")))
        return false;
    about = al_strdup(is_help ? second : words->words.items[0]);
    al_strv_clear(&words->words);
    al_strv_adds(&words->words, about, "-h", NULL);
    words->command = (struct al_shell_words_command){ .name = "help" }; /* as any command reads */
    return true;
}

int al_shell_words_read(struct al_shell_words *words, const struct al_strv *given,
                        const struct al_repo *repo, struct al_error *err)
{
    size_t at = 0;
    int r = read_globals(words, given, &at, err);

    for (; at < given->count; at++)
        al_strv_add(&words->words, given->items[at]);
    if (r < 0)
        return r;
    if (!words->words.count) {
        (void)take_command(words, "help");
        return 0;
    }
    if (words->words.items[0][0] == '-') { /* --version and its like */
        (void)take_command(words, "version");
        return words->words.count == 1
                   ? 0
                   : al_shell_words_refuse(words->words.items[0], "it stands alone", err);
    }
    r = find(words, repo, err);
    if (r < 0)
        return r;
    if (asks_for_usage(words))
        return 0;
    read_options(words);
    r = refuse_options(words, err);
    /* git starts another git for it, and prints nothing if it cannot. */
    for (size_t i = 1; r == 0 && i < words->words.count; i++)
        if (words->words.items[i][0] == '-' && strstr(words->words.items[i], "%(describe"))
            r = al_shell_words_refuse("--format=%(describe)",
                                      "it starts another program; git describe says it", err);
    if (r == 0 && !strcmp(words->command.name, "symbolic-ref"))
        r = check_symbolic_ref(words, err);
    if (r == 0 && !strcmp(words->command.name, "help") && words->others.count)
        r = al_shell_words_refuse("help", "it opens a manual page; git COMMAND -h is short", err);
    if (r == 0 && !strcmp(words->command.name, "commit") && !has_message(words, repo))
        r = al_shell_words_refuse(
            "commit",
            "without a message it opens an editor; give one with -m or -F, or "
            "--no-edit with --amend",
            err);
    return r;
}

static void add_branch(const char *word, struct al_strv *ret_names)
{
    static const char heads[] = "refs/heads/";

    al_strv_add(ret_names, al_starts_with(word, heads) ? word + strlen(heads) : word);
}

/* The branch that git makes from "REMOTE/NAME", or from a directory: one of the word's ends. */
static void add_ends(const char *word, struct al_strv *ret_names)
{
    al_auto(al_freep) char *plain = al_strdup(word);

    for (size_t len = strlen(plain); len && plain[len - 1] == '/';)
        plain[--len] = '\0';
    for (const char *at = plain; (at = strchr(at, '/'));)
        al_strv_add(ret_names, ++at);
}

/* "--orphan=NAME", "-fBNAME": whichever letter it is that takes the rest. */
static void add_attached_branches(const char *word, struct al_strv *ret_names)
{
    const char *value = strchr(word, '=');

    if (word[1] == '-' && value)
        add_branch(value + 1, ret_names);
    for (const char *at = word; word[1] != '-' && (at = strpbrk(at + 1, "bBcC"));)
        if (at[1])
            add_branch(at + 1, ret_names);
}

void al_shell_words_branches(const struct al_shell_words *words, struct al_strv *ret_names)
{
    static const char named[] = " -b -B -c -C --create --force-create --orphan ";
    const bool takes_end =
        !al_shell_words_have(words, named, true) &&
        (al_shell_words_list(" checkout switch ", words->command.name)
             ? al_shell_words_have(words, " -t --track ", false)
             : !strcmp(words->command.name, "worktree") && has_verb(words, " add "));

    if (!(words->command.flags & AL_SHELL_NAMES_BRANCHES) ||
        (!strcmp(words->command.name, "stash") && !has_verb(words, " branch ")))
        return;
    for (size_t i = 1; i < words->words.count; i++) {
        const char *word = words->words.items[i];

        if (word[0] == '-')
            add_attached_branches(word, ret_names);
        else
            add_branch(word, ret_names);
        if (word[0] != '-' && takes_end)
            add_ends(word, ret_names);
    }
}
