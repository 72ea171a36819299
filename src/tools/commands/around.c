// SPDX-License-Identifier: Apache-2.0
/* The files that a line would stage or write over, and those that git left out of it. */
#include "tools/commands/commands.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "git/failure.h"
#include "git/plumbing/batch.h"
#include "git/plumbing/filters.h"
#include "git/plumbing/revision.h"
#include "git/refs.h"
#include "tools/private.h"
#include "verbs/sequencer/overwrite.h"

/* --- Files that it would stage: no filter runs here, and what is staged would be the content that
 * one hides, or was to replace --- */

#define NAMED "--modified", "--others"
#define NEW   NAMED, "--exclude-standard"

/* The files that a line stages: the first row that applies counts. */
static const struct staging {
    struct al_shell_words_form form;
    const char *of[4]; /* options of git ls-files(1); none: nothing is */
    bool all;          /* whatever its words are */
} rows[] = {
    { { "add", " -n --dry-run -N --intent-to-add --refresh " }, { NULL } },
    { { "add", " --renormalize " }, { "--cached" } },
    { { "add", " -u --update " }, { "--modified" } },
    { { "add", " -f --force " }, { NAMED } },
    { { "add" }, { NEW } },
    { { "update-index", " --stdin -g --again " }, { NAMED }, true },
    { { "update-index", " --assume-unchanged --no-assume-unchanged --skip-worktree "
                        "--no-skip-worktree --fsmonitor-valid --no-fsmonitor-valid "
                        "--force-remove " },
      { NULL } },
    { { "update-index", .is_bare = true }, { NULL } },
    { { "update-index" }, { NAMED } },
    { { "commit", " -a --all --pathspec-from-file " }, { "--modified" }, true },
    { { "commit", .is_bare = true }, { NULL } },
    { { "commit" }, { "--modified" } },
    { { "stash", .verbs = " apply branch clear drop export import list pop show store " },
      { NULL } },
    { { "stash", " -a --all " }, { NAMED } },
    { { "stash", " -u --include-untracked " }, { NEW } },
    { { "stash", .verbs = " save create " }, { "--modified" }, true },
    { { "stash" }, { "--modified" } },
};

static int list_staged(const struct al_repo *repo, const struct al_shell_words *words,
                       const struct staging *row, bool all, struct al_strv *ret_paths,
                       struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    const size_t first = al_shell_words_do(words, "stash", " push save create ");

    al_strv_add(&command.argv, "git");
    al_strv_add_all(&command.argv, &words->globals);
    al_strv_adds(&command.argv, "ls-files", "-z", "--full-name", NULL);
    for (size_t i = 0; i < AL_COUNT(row->of) && row->of[i]; i++)
        al_strv_add(&command.argv, row->of[i]);
    al_strv_add(&command.argv, "--");
    if (all || row->all || words->operands.count <= first ||
        al_shell_words_have(words, " --pathspec-from-file ", false))
        al_strv_add(&command.argv, ":/");
    else
        for (size_t i = first; i < words->operands.count; i++)
            al_strv_add(&command.argv, words->operands.items[i]);
    return al_git_list_paths(repo, &command, ret_paths, err);
}

int al_shell_check_filters(const struct al_repo *repo, const struct al_shell_words *words,
                           struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv paths = AL_STRV_INIT, files = AL_STRV_INIT;
    al_auto(al_closep) int top_fd = -1;
    const struct staging *row = rows;
    struct stat st;
    int r;

    if (!repo->vetting->filters.count || al_location_is_bare(&repo->at))
        return 0;
    while (row < rows + AL_COUNT(rows) && !al_shell_words_match(words, &row->form))
        row++;
    if (row == rows + AL_COUNT(rows) || !row->of[0])
        return 0;
    r = list_staged(repo, words, row, false, &paths, NULL);
    if (r < 0) /* perhaps git does not take a path */
        r = list_staged(repo, words, row, true, &paths, err);
    if (r == 0)
        r = al_location_open_top(&repo->at, &top_fd, err);
    for (size_t i = 0; r == 0 && i < paths.count; i++)
        if (fstatat(top_fd, paths.items[i], &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode))
            al_strv_add(&files, paths.items[i]);
    return r < 0 || !files.count ? r : al_git_check_filters(repo, &files, NULL, err);
}

/* --- Ignored files that git would write over without a word.  git itself lists what a line writes:
 * what a tree has that it goes to and the index has not, and what the commits change that it merges
 * or replays --- */

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

/* Add what git lists of revisions.  Errors about the words are git's to say when it runs. */
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
    const struct al_shell_words words = al_shell_words_done(call);
    const char *strategy = al_shell_words_value(&words.given, "--strategy=", "-s");
    struct writing w = { al_call_repo(call), &words, AL_STRV_INIT };
    al_auto(al_strv_clear) struct al_strv lost = AL_STRV_INIT;
    int r = 0;

    if (!(al_shell_effects(call) & AL_WRITES_WORKTREE) ||
        words.connection.code || /* git pull ends with its fetch */
        (al_shell_words_are(&words, "merge", NULL) && strategy && !strcmp(strategy, "ours")))
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

/* --- Notes beside git's own words: what git would have run, and where it could not look --- */

/*
 * The hooks that git runs of the repository; the first row of a command that applies counts, and a
 * pull is a merge or a rebase.
 *
 * Source: githooks(5).
 */
static const struct hooked {
    struct al_shell_words_form form;
    bool stays, commits;   /* also where HEAD does not move; it makes commits */
    const char *checks;    /* those that --no-verify leaves out, between spaces */
    const char *others;    /* the others */
    const char *forwarded; /* these alone, if HEAD is now a commit that was there; NULL: never */
} hooked[] = {
#define CHECKS   "pre-commit commit-msg"
#define MAKES    "prepare-commit-msg post-commit"
#define APPLIES  "applypatch-msg pre-applypatch post-applypatch"
#define FORWARDS "pre-rebase post-checkout"
#define MERGED   "prepare-commit-msg post-merge"
#define REBASES  "pre-rebase", "post-checkout post-rewrite "
    { { " am cherry-pick merge rebase revert ", " --abort --quit " } },
    { { "am" }, false, true, "applypatch-msg pre-applypatch", "post-applypatch" },
    { { "bisect" }, .others = "post-checkout" },
    { { " cherry-pick merge revert ", " --continue " }, false, true, CHECKS, MAKES },
    { { "cherry-pick" }, false, true, NULL, MAKES, "" },
    { { " checkout restore switch " }, true, .others = "post-checkout" },
    { { "commit", " --amend " }, false, true, CHECKS, MAKES " post-rewrite" },
    { { "commit" }, false, true, CHECKS, MAKES },
    { { "merge", " --squash " }, true, .others = "post-merge" },
    { { "merge" }, false, true, "pre-merge-commit commit-msg", MERGED, "post-merge" },
    { { "push" }, true, .checks = "pre-push" },
    { { "rebase", " --skip " }, true, .others = "post-rewrite" },
    { { "rebase", " --continue " }, true, true, NULL, MAKES " post-rewrite" },
    { { "rebase", " --apply " }, false, true, REBASES APPLIES, FORWARDS },
    { { "rebase" }, false, true, REBASES MAKES, FORWARDS },
    { { "revert" }, false, true, NULL, MAKES },
    { { "stash", .verbs = " branch " }, true, .others = "post-checkout" },
    { { "worktree", " --no-checkout " } },
    { { "worktree", .verbs = " add " }, true, .others = "post-checkout" },
};

/* git cannot read a file elsewhere, and does not know why: "-F /tmp/message". */
static void note_outside(const struct al_roots *roots, const struct al_strv *words,
                         struct al_result *result)
{
    for (size_t i = 1; i < words->count; i++) {
        const char *word = words->items[i], *path = strchr("/-", *word) ? strchr(word, '/') : NULL;
        al_auto(al_freep) char *safe = path ? al_text_sanitize_line(path) : NULL;
        al_auto(al_freep) char *line = al_asprintf(
            "%s is outside of the roots, where git reads nothing; copy it inside, or pipe it in",
            safe ? safe : "");

        if (path && !al_roots_find(roots, path) && access(path, F_OK) == 0)
            al_result_note(result, line);
    }
}

/* Whether HEAD is now a commit that the line names or follows, and that was there. */
static bool is_forwarded(struct al_call *call, const struct al_shell_words *words, const char *now)
{
    const char *onto = al_shell_words_value(&words->given, "--onto=", "--onto=");
    const bool rebases = !strcmp(words->command.name, "rebase");
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;
    bool is = false;

    al_strv_adds(&names, "@{upstream}", onto, NULL);
    for (size_t i = 0; i < words->others.count && (!i || !rebases); i++) /* then it is a branch */
        al_strv_add(&names, words->others.items[i]);
    for (size_t i = 0; i < names.count && !is; i++) {
        al_auto(al_freep) char *oid = al_shell_commit_of(call, names.items[i]);

        is = oid && !strcmp(oid, now);
    }
    return is;
}

/* Append the hooks that git would have run.  Returns whether it would have made commits. */
static bool add_hooks(struct al_call *call, const char *before, bool failed, struct al_str *out)
{
    const struct al_shell_words words = al_shell_words_done(call);
    const struct hooked *row = hooked;
    al_auto(al_freep) char *now = al_ref_head(&al_call_repo(call)->at);
    const bool moved = strcmp(before, now) != 0;
    const bool is_unchecked =
        al_shell_words_have(&words, " --no-verify ", false) ||
        (al_shell_words_are(&words, "commit", NULL) && al_shell_words_have(&words, " -n ", true));

    while (row < hooked + AL_COUNT(hooked) && !al_shell_words_match(&words, &row->form))
        row++;
    if (row == hooked + AL_COUNT(hooked) || (!moved && (failed || !row->stays)))
        return false;
    if (row->forwarded && is_forwarded(call, &words, now)) {
        al_str_adds(out, words.connection.tool ? "post-merge" : row->forwarded);
        return false;
    }
    al_str_addf(out, "%s %s", row->checks && !is_unchecked ? row->checks : "",
                row->others ? row->others : "");
    return row->commits && !al_shell_words_have(&words, " --no-gpg-sign ", false);
}

/* Whether git may have written files that a filter is for. */
static bool writes_files(const struct al_call *call, unsigned effects, const char *before,
                         int exit_code)
{
    static const struct al_shell_words_form form = {
        .command = " am apply checkout-index read-tree reset restore stash "
    };
    const struct al_shell_words *words = al_call_tool_data(call);
    al_auto(al_freep) char *now = NULL;

    if (exit_code || !(effects & AL_WRITES_WORKTREE) || !al_call_repo(call)->vetting->filters.count)
        return false;
    if (al_shell_words_match(words, &form) ||
        (!strcmp(words->command.name, "checkout") && words->operands.count > 1))
        return true;
    now = al_ref_head(&al_call_repo(call)->at);
    return strcmp(before, now) != 0;
}

static void note_skipped(struct al_call *call, const char *before, struct al_result *result)
{
    const unsigned effects = al_shell_effects(call);
    al_auto(al_str_clear) struct al_str hooks = AL_STR_INIT, lines = AL_STR_INIT;
    al_auto(al_strv_clear) struct al_strv each = AL_STRV_INIT;
    const bool commits = add_hooks(call, before, result->exit_code, &hooks);

    if (!result->exit_code)
        al_str_addf(&hooks, "%s%s", effects & AL_WRITES_REFS ? " reference-transaction" : "",
                    effects & (AL_WRITES_INDEX | AL_WRITES_WORKTREE) ? " post-index-change" : "");
    al_outcome_add_skipped(call, hooks.len ? hooks.buf : "", commits, &lines);
    if (writes_files(call, effects, before, result->exit_code))
        al_git_skipped_filters(al_call_repo(call), &lines);
    al_strv_split(&each, lines.buf, "\n");
    for (size_t i = 0; i < each.count; i++)
        al_result_note(result, each.items[i] + strlen("airlock: "));
}

void al_shell_notes_add(struct al_call *call, const char *before, struct al_result *result)
{
    const struct al_shell_words *words = al_call_tool_data(call);
    const struct al_repo *repo = al_call_repo(call);

    /* git says that it cannot start a program, and not for which driver. */
    if (result->exit_code > 1 && (words->command.flags & AL_SHELL_STARTS_CHILDREN) && before &&
        repo->vetting->merge_drivers.count) {
        al_auto(al_freep) char *name = al_text_sanitize_line(repo->vetting->merge_drivers.items[0]);
        al_auto(al_freep) char *note = al_asprintf(
            "merge drivers ('%s') do not run here; the user can call git by its own path", name);

        al_result_note(result, note);
    }
    if (result->exit_code > 1 && !strcmp(words->command.name, "merge") && words->others.count > 1)
        al_result_note(result, "git merges several at once by a shell script, which does not run "
                               "here; merge one after the other");
    if (result->exit_code > 1)
        note_outside(al_call_session(call)->roots, &words->words, result);
    if (before)
        note_skipped(call, before, result);
}
