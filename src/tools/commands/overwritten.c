// SPDX-License-Identifier: Apache-2.0
/*
 * Ignored files that git would write over without a word.  git itself lists what a line writes:
 * what a tree has that it goes to and the index has not, and what the commits change that it merges
 * or replays.
 */
#include <fcntl.h>

#include "git/failure.h"
#include "git/plumbing/batch.h"
#include "git/plumbing/revision.h"
#include "tools/commands/commands.h"
#include "tools/private.h"
#include "verbs/sequencer/overwrite.h"

#define LISTED "-z --name-only --no-renames --no-relative --no-ext-diff --diff-filter="
#define LOGGED                                                                                     \
    "-c log.showRoot=true log --format= --no-color --no-show-signature --no-notes --no-decorate "  \
    "--diff-merges=separate " LISTED "d "

static const char goes[] = "diff-index --cached " LISTED "D";
static const char merges[] = "diff " LISTED "d";
static const char replays[] = LOGGED "--no-walk";
static const char takes_back[] = LOGGED "--no-walk -R";
static const char walks[] = LOGGED;
static const char here[] = LOGGED "HEAD";
static const char bisects[] = LOGGED "--bisect";

/* The revisions that a line names, and what git does with them; every row that applies counts. */
static const struct writes {
    struct al_shell_words_form form;
    const char *how;            /* NULL: the operand is itself the file */
    size_t first;               /* the first operand that does */
    const char *before, *after; /* of the operand; NULL: nothing */
    const char *rest;           /* before those behind the first one; NULL: `before` */
    const char *unnamed;        /* where there is none; NULL: it writes nothing */
    const char *option;         /* its value counts in place of operands; NULL: none */
    bool is_one;                /* the operands behind it are paths */
} writes[] = {
#define NONE ((size_t)-1)
    { { " am cherry-pick merge rebase revert ", " --abort " }, goes, .unnamed = "HEAD" },
    { { " am rebase ", " --abort " }, goes, .unnamed = "ORIG_HEAD" },
    { { "bisect" }, bisects, NONE, .unnamed = "" },
    { { "bisect", .verbs = " start " }, walks, 1, .rest = "^" },
    { { "bisect", .verbs = " reset start " }, goes, 1, .unnamed = "BISECT_START" },
    { { "cherry-pick" }, replays },
    { { " checkout reset switch " }, goes, .is_one = true },
    { { " checkout reset ", " --hard --force -f ", .is_bare = true }, goes, .unnamed = "HEAD" },
    { { "merge" }, merges, .before = "HEAD..." },
    { { "merge", " --allow-unrelated-histories " }, goes },
    { { "mv", " -f --force " }, NULL, 1 },
    { { "read-tree" }, goes },
    { { "rebase" }, goes, .unnamed = "@{upstream}" },
    { { "rebase" }, here, .before = "^", .rest = "", .unnamed = "@{upstream}" },
    { { "rebase", " --onto " }, goes, .option = "--onto=" },
    { { "restore" }, goes, .option = "--source=", .is_one = true },
    { { "restore" }, goes, .option = "-s", .is_one = true },
    { { "revert" }, takes_back },
    { { "stash", .verbs = " apply pop " }, replays, 1, .unnamed = "stash@{0}" },
    { { "stash", .verbs = " apply pop " }, replays, 1, "stash@{", "}" },
    { { "stash", .verbs = " branch " }, goes, 2, .after = "^", .unnamed = "stash@{0}" },
    { { "stash", .verbs = " branch " }, replays, 2, .unnamed = "stash@{0}" },
};

struct writing {
    const struct al_repo *repo;
    const struct al_shell_words *words;
    struct al_strv files; /* from the top */
};

/* Add what git lists of revisions.  What it says of the words it says itself when it runs. */
static int add(struct writing *w, const char *how, const struct al_strv *revs,
               const struct al_strv *paths, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;
    al_auto(al_freep) char *options = al_strdup(how);
    int r;

    al_strv_add(&command.argv, "git");
    al_strv_add_all(&command.argv, &w->words->globals);
    al_strv_split(&command.argv, options, " ");
    for (size_t i = 0; i < revs->count; i++)
        if (*revs->items[i] && *revs->items[i] != '-')
            al_strv_add(&command.argv, revs->items[i]);
    al_strv_add(&command.argv, "--");
    al_strv_add_all(&command.argv, paths);
    r = al_git_list_paths(w->repo, &command, &w->files, &why);
    return al_git_exited_with_error(r, w->repo->at.budget) ? 0 : al_error_pass(r, &why, err);
}

/* The tree that a word names, or the branch that git would make from one of a remote, or the one
 * that a bisection began on.  Caller frees. */
static char *tree_of(const struct al_repo *repo, const char *word)
{
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT, remotes = AL_STRV_INIT;
    al_auto(al_freep) char *path = al_fs_join(repo->at.git_dir, "BISECT_START");
    al_auto(al_str_clear) struct al_str start = AL_STR_INIT;
    char *tree = NULL;

    if (!strcmp(word, "BISECT_START") && al_fs_read(AT_FDCWD, path, PATH_MAX, &start) == 0)
        al_str_trim_end(&start);
    al_remote_names(repo, &remotes);
    al_strv_add(&names, start.len ? start.buf : word);
    for (size_t i = 0; i < remotes.count; i++)
        al_strv_addf(&names, "refs/remotes/%s/%s", remotes.items[i], word);
    for (size_t i = 0; i < names.count && !tree; i++)
        (void)al_git_find_object(repo, names.items[i], "tree", &tree, NULL);
    return tree;
}

static int add_row(struct writing *w, const struct writes *row, struct al_error *err)
{
    const struct al_strv *others = &w->words->others, *given = &w->words->given;
    const char *value = row->option ? al_shell_words_value(given, row->option, row->option) : NULL;
    const char *before = row->before ? row->before : "", *after = row->after ? row->after : "";
    const size_t first = row->option ? NONE : row->first;
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT, paths = AL_STRV_INIT;
    int r = 0;

    for (size_t i = 0; i < others->count; i++)
        if (row->is_one && (i || row->option))
            al_strv_add(&paths, others->items[i]);
        else if (i >= first)
            al_strv_addf(&names, "%s%s%s", names.count && row->rest ? row->rest : before,
                         strcmp(others->items[i], "-") != 0 ? others->items[i] : "@{-1}", after);
    al_strv_add_all(&paths, &w->words->paths);
    if (!names.count && (value || row->unnamed))
        al_strv_addf(&names, "%s%s%s", before, value ? value : row->unnamed, after);
    if (row->how == walks && names.count < 2) /* of a bisection: it does not go there yet */
        return 0;
    if (names.count && row->how && row->how != goes && row->how != merges)
        return add(w, row->how, &names, &paths, err);
    for (size_t i = 0; i < names.count && r == 0; i++) {
        al_auto(al_freep) char *tree = row->how == goes ? tree_of(w->repo, names.items[i]) : NULL;
        al_auto(al_freep) char *full = al_fs_join(w->repo->at.dir, names.items[i]);
        const char *below = row->how ? NULL : al_fs_beneath(w->repo->at.top, full);

        if (below)
            al_strv_add(&w->files, below);
        else if (row->how && (row->how != goes || tree))
            r = add(w, row->how, &(struct al_strv){ tree ? &tree : &names.items[i], 1 }, &paths,
                    err);
    }
    return r;
}

int al_shell_overwritten(struct al_call *call, struct al_strv *out, struct al_error *err)
{
    struct al_shell_words_command command;
    const struct al_shell_words words = al_shell_words_done(call, &command);
    const char *strategy = al_shell_words_value(&words.given, "--strategy=", "-s");
    struct writing w = { al_call_repo(call), &words, AL_STRV_INIT };
    al_auto(al_strv_clear) struct al_strv lost = AL_STRV_INIT;
    int r = 0;

    if (words.connection.code || /* git pull ends with its fetch */
        (!strcmp(command.name, "merge") && strategy && !strcmp(strategy, "ours")))
        return 0;
    for (size_t i = 0; i < AL_COUNT(writes) && r == 0; i++)
        if (al_shell_words_match(&words, &writes[i].form))
            r = add_row(&w, &writes[i], err);
    if (r == 0)
        r = al_overwrite_list(w.repo, &w.files, &lost, err);
    for (size_t i = 0; i < lost.count; i++)
        al_strv_take(out, al_fs_join(w.repo->at.top, lost.items[i]));
    al_strv_clear(&w.files);
    return r;
}
