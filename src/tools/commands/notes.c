// SPDX-License-Identifier: Apache-2.0
/* Notes on a line beside git's own words: what git would have run, and where it could not look. */
#include <unistd.h>

#include "git/plumbing/skipped.h"
#include "git/refs.h"
#include "tools/commands/commands.h"
#include "tools/private.h"

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
    const bool rebases = !strcmp(words->command->name, "rebase");
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
    struct al_shell_words_command command;
    const struct al_shell_words words = al_shell_words_done(call, &command);
    const struct hooked *row = hooked;
    al_auto(al_freep) char *now = al_ref_head(&al_call_repo(call)->at);
    const bool moved = strcmp(before, now) != 0;
    const bool is_unchecked =
        al_shell_words_have(&words, " --no-verify ", false) ||
        (!strcmp(command.name, "commit") && al_shell_words_have(&words, " -n ", true));

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
        (!strcmp(words->command->name, "checkout") && words->operands.count > 1))
        return true;
    now = al_ref_head(&al_call_repo(call)->at);
    return strcmp(before, now) != 0;
}

static void note_skipped(struct al_call *call, const char *before, struct al_result *result)
{
    const unsigned effects = al_tool_select(al_call_tool(call), call, NULL)->effects;
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
    if (result->exit_code > 1 && (words->command->flags & AL_SHELL_STARTS_CHILDREN) && before &&
        repo->vetting->merge_drivers.count) {
        al_auto(al_freep) char *name = al_text_sanitize_line(repo->vetting->merge_drivers.items[0]);
        al_auto(al_freep) char *note = al_asprintf(
            "merge drivers ('%s') do not run here; the user can call git by its own path", name);

        al_result_note(result, note);
    }
    if (result->exit_code > 1 && !strcmp(words->command->name, "merge") && words->others.count > 1)
        al_result_note(result, "git merges several at once by a shell script, which does not run "
                               "here; merge one after the other");
    if (result->exit_code > 1)
        note_outside(al_call_session(call)->roots, &words->words, result);
    if (before)
        note_skipped(call, before, result);
}
