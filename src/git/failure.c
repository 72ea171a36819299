// SPDX-License-Identifier: Apache-2.0
#include "git/failure.h"

#include <stdarg.h>

#include "git/command.h"
#include "git/git_lock.h"
#include "git/refs.h"

/* git_fetch and git_pull keep the filter of the clone, so they do not download the object either.
 */
const char al_not_downloaded[] =
    "Not downloaded: this is a partial clone that lacks what is needed here, and no tool brings "
    "it; a user runs this very command with git itself, or 'git fetch --refetch --no-filter'.";

/* Messages of git (in the C locale, which every child gets): its exit code is the same for all of
 * them.  Each has the reason, the code and the subject that it means; with `end`, the name of the
 * subject stands between the words and it, or the end of the line if it is "".  The first row that
 * fits counts. */
static const struct {
    const char *words, *end, *reason;
    enum al_code code;
    enum al_subject subject;
} known[] = {
    { "invalid reference: ", "", "not_found", AL_CODE_BRANCH_NOT_FOUND, AL_SUBJECT_REVISION },
    { "error: branch '", NULL, "not_found", AL_CODE_BRANCH_NOT_FOUND, AL_SUBJECT_NONE },
    { "error: refname refs/heads/", NULL, "not_found", AL_CODE_BRANCH_NOT_FOUND, AL_SUBJECT_NONE },
    { "o branch named '", "'", "not_found", AL_CODE_BRANCH_NOT_FOUND, AL_SUBJECT_BRANCH },
    { "pathspec '", "' did not match any file(s) known to git", "not_found", AL_CODE_NONE,
      AL_SUBJECT_TRACKED_PATH },
    { "log for 'stash' only has", NULL, "not_found", AL_CODE_NONE, AL_SUBJECT_NONE },
    { "ambiguous argument 'HEAD'", NULL, "not_found", AL_CODE_NONE, AL_SUBJECT_UNBORN },
    { "does not have any commits yet", NULL, NULL, AL_CODE_NONE, AL_SUBJECT_UNBORN },
    { "ambiguous argument '", "': unknown revision", "not_found", AL_CODE_BRANCH_NOT_FOUND,
      AL_SUBJECT_REVISION },
    { "bad revision '", "'", "not_found", AL_CODE_BRANCH_NOT_FOUND, AL_SUBJECT_REVISION },
    { "resolve revision: ", "", "not_found", AL_CODE_BRANCH_NOT_FOUND, AL_SUBJECT_REVISION },
    { "malformed object name ", "", "not_found", AL_CODE_BRANCH_NOT_FOUND, AL_SUBJECT_REVISION },
    { "bad object ", NULL, "not_found", AL_CODE_NONE, AL_SUBJECT_NONE },
    { "does not exist in '", NULL, "not_found", AL_CODE_NONE, AL_SUBJECT_NONE },
    { "no such path", NULL, "not_found", AL_CODE_NONE, AL_SUBJECT_NONE },
    { "pathspec '", "' did not match any files", "not_found", AL_CODE_NONE, AL_SUBJECT_PATH },
    { "Cannot lstat '", "'", "not_found", AL_CODE_NONE, AL_SUBJECT_PATH },
    { "Pathspec '", "' is in submodule '", NULL, AL_CODE_NONE, AL_SUBJECT_PATH },
    { "untracked working tree files would be overwritten by", NULL, "conflict",
      AL_CODE_DIRTY_WORKDIR, AL_SUBJECT_UNTRACKED },
    { "would be overwritten by", NULL, "conflict", AL_CODE_DIRTY_WORKDIR, AL_SUBJECT_NONE },
    { "' not uptodate. ", NULL, NULL, AL_CODE_DIRTY_WORKDIR, AL_SUBJECT_NONE },
    { " would be removed by ", NULL, NULL, AL_CODE_DIRTY_WORKDIR, AL_SUBJECT_NONE },
    { " branch named '", NULL, NULL, AL_CODE_BRANCH_EXISTS, AL_SUBJECT_NONE },
    { "unmerged files", NULL, "conflict", AL_CODE_CONFLICT, AL_SUBJECT_NONE },
    { "You have unstaged changes", NULL, NULL, AL_CODE_DIRTY_WORKDIR, AL_SUBJECT_NONE },
    { "index contains uncommitted changes", NULL, NULL, AL_CODE_DIRTY_WORKDIR, AL_SUBJECT_NONE },
    { "resolve your current index first", NULL, "conflict", AL_CODE_CONFLICT, AL_SUBJECT_NONE },
    { ": needs merge", NULL, "conflict", AL_CODE_CONFLICT, AL_SUBJECT_NONE },
    { "CONFLICT (", NULL, "conflict", AL_CODE_CONFLICT, AL_SUBJECT_NONE },
    { "already exists, no checkout", NULL, "conflict", AL_CODE_DIRTY_WORKDIR, AL_SUBJECT_NONE },
    { ".lock': File exists", NULL, NULL, AL_CODE_LOCK_TIMEOUT, AL_SUBJECT_NONE },
    { "Index was not unstashed", NULL, "conflict", AL_CODE_CONFLICT, AL_SUBJECT_NONE },
    { " is not fully merged", NULL, NULL, AL_CODE_NONE, AL_SUBJECT_NOT_MERGED },
    { "annot delete branch '", NULL, NULL, AL_CODE_NONE, AL_SUBJECT_HELD },
    { "ignored by one of your .gitignore files", NULL, NULL, AL_CODE_NONE, AL_SUBJECT_IGNORED },
    { "' is unmerged", NULL, NULL, AL_CODE_NONE, AL_SUBJECT_UNMERGED },
    { "in the middle of a merge", NULL, NULL, AL_CODE_NONE, AL_SUBJECT_IN_PROGRESS },
    { " is being rebased at ", NULL, NULL, AL_CODE_NONE, AL_SUBJECT_IN_PROGRESS },
    { "must be run in a work tree", NULL, NULL, AL_CODE_NONE, AL_SUBJECT_BARE },
    { " has only ", NULL, NULL, AL_CODE_NONE, AL_SUBJECT_LINES },
    { "egular expression", NULL, NULL, AL_CODE_NONE, AL_SUBJECT_EXPRESSION },
    { "Unmatched ", NULL, NULL, AL_CODE_NONE, AL_SUBJECT_EXPRESSION },
    { "cherry-pick is now empty", NULL, NULL, AL_CODE_NONE, AL_SUBJECT_EMPTIED },
    { "nothing to commit", NULL, NULL, AL_CODE_NONE, AL_SUBJECT_EMPTIED },
    { "nothing added to commit", NULL, NULL, AL_CODE_NONE, AL_SUBJECT_EMPTIED },
    { "no changes added to commit", NULL, NULL, AL_CODE_NONE, AL_SUBJECT_EMPTIED },
    { "not found", NULL, "not_found", AL_CODE_NONE, AL_SUBJECT_NONE },
};

/* Advice names commands that an agent cannot run. */
static bool is_advice(const char *line)
{
    static const char *const beginnings[] = { "hint:",    "If you are sure ",  "Please ",
                                              "Aborting", "(use \"git ",       "Use '",
                                              "Or ",      "warning: ignoring " };

    line += strspn(line, " "); /* behind a tab is the name of a file */
    for (size_t i = 0; i < AL_COUNT(beginnings); i++)
        if (al_starts_with(line, beginnings[i]))
            return true;
    return false;
}

/* Append the lines that are not advice; all lines if there are no others. */
static void add_without_advice(const char *text, struct al_str *out)
{
    for (const char *line = text; *line;) {
        size_t len = strcspn(line, "\n");

        len += line[len] == '\n';
        if (!is_advice(line))
            al_str_add(out, line, len);
        line += len;
    }
    if (!out->len)
        al_str_adds(out, text);
}

/* git keeps references as files: "'<there>' exists; cannot create '<new>'" when one name is a
 * directory of the other.  Names have no blanks, and may have quotes. */
static bool said_clash(const char *text, struct al_error *err)
{
    static const char between[] = "' exists; cannot create '";
    const char *gap = strstr(text, between), *there = gap,
               *new = gap ? gap + sizeof(between) - 1 : "";
    al_auto(al_freep) char *one = NULL, *other = NULL;
    bool is_remote = al_starts_with(new, "refs/remotes/"),
         is_tag = al_starts_with(new, "refs/tags/");

    while (there > text && there[-1] != ' ' && there[-1] != '\n')
        there--;
    if (!gap || there == gap || strcspn(new, " \n") < 2)
        return false;
    one = al_strndup(new, strcspn(new, " \n") - 1);
    other = al_strndup(there + 1, (size_t)(gap - there - 1));
    (void)al_error_set_code(
        err, AL_ERR_EXECUTION, is_remote || is_tag ? AL_CODE_NONE : AL_CODE_BRANCH_EXISTS,
        "The %s '%s' and '%s' cannot both exist: git keeps them as files, and one "
        "name is a directory of the other",
        is_tag ? "tags" : "branches", al_ref_short(one), al_ref_short(other));
    if (err)
        err->remedy = is_remote
                          ? "git_fetch with prune: true forgets the branches that are gone there, "
                            "then this one can come."
                          : "Choose another name.";
    return true;
}

/* Whether git said these words, and the name beside them. */
static bool said_words(const char *text, const char *words, const char *end, struct al_error *err)
{
    const char *at = strstr(text, words), *name = at ? at + strlen(words) : NULL, *to;

    if (!at || !end)
        return at;
    to = *end ? strstr(name, end) : name + strcspn(name, "\n");
    if (!to || to == name)
        return false;
    err->name = al_strndup(name, (size_t)(to - name));
    return true;
}

/* The error of what git said: the one place that reads its English. */
static int said(const char *text, struct al_error *err)
{
    int r;

    if (said_clash(text, err))
        return AL_ERR_EXECUTION;
    r = al_error_set(err, AL_ERR_EXECUTION, "%s", text);
    if (err && (strstr(text, " from promisor remote") || strstr(text, "promisor-remote: ")))
        err->remedy = al_not_downloaded;
    for (size_t i = 0; err && i < AL_COUNT(known); i++) {
        if (said_words(text, known[i].words, known[i].end, err)) {
            err->reason = known[i].reason;
            err->code = known[i].code;
            err->subject = known[i].subject;
            break;
        }
    }
    return r;
}

int al_git_would_fail(struct al_error *err, const char *fmt, ...)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    va_list args;

    va_start(args, fmt);
    al_str_addv(&text, fmt, args);
    va_end(args);
    return said(text.buf, err);
}

int al_git_failed(const struct al_git_output *output, struct al_error *err)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    /* git 2.40 names the files in conflict on stdout, and only what follows from them on stderr. */
    const bool on_out = !output->err.out.len || strstr(output->out.out.buf, ": needs merge");
    const struct al_str *words = on_out ? &output->out.out : &output->err.out;

    add_without_advice(words->len ? words->buf : "", &text);
    al_str_trim_end(&text);
    if (output->stopped) {
        al_str_reset(&text);
        al_str_adds(&text, "git was stopped because it said too much");
    } else if (!text.len && output->signal) {
        al_str_addf(&text, "git was ended by signal %d", output->signal);
    } else if (!text.len)
        al_str_addf(&text, "exit code %d", output->exit_code);
    return said(text.buf, err);
}

bool al_git_wrote_all_files(const struct al_git_output *output)
{
    static const char beginning[] = "\nerror: ";
    const char *said = output->err.out.buf;

    return output->exit_code == 0 && !al_starts_with(said, beginning + 1) &&
           !strstr(said, beginning);
}

/* Whether git's complaint about this lock stands on a line that begins with "fatal: " or "error: ",
 * depending on the command.  Of a reference it says first which one. */
static bool complains_about(const char *said, const struct al_location *at, enum al_git_locks lock)
{
    al_auto(al_freep) char *path = al_git_lock_path(at, lock);
    al_auto(al_freep) char *words =
        lock == AL_LOCK_CONFIG ? al_asprintf("could not lock config file %.*s: File exists",
                                             (int)(strlen(path) - strlen(".lock")), path)
                               : al_asprintf("Unable to create '%s': File exists", path);
    const char *next;

    for (const char *line = said; *line; line = next) {
        const char *end = line + strcspn(line, "\n"), *at_words;

        next = *end ? end + 1 : end;
        if (!al_starts_with(line, "fatal: ") && !al_starts_with(line, "error: "))
            continue;
        at_words = memmem(line, (size_t)(end - line), words, strlen(words));
        if (at_words && (lock == AL_LOCK_PACKED_REFS || at_words == line + strlen("fatal: ")))
            return true;
    }
    return false;
}

unsigned al_git_failed_on_lock(const struct al_location *at, unsigned locks,
                               const struct al_git_output *output)
{
    for (unsigned lock = AL_LOCK_INDEX; lock <= AL_LOCK_PACKED_REFS; lock <<= 1)
        if (output->exit_code != 0 && locks & lock &&
            complains_about(output->err.out.buf, at, (enum al_git_locks)lock))
            return lock;
    return 0;
}

bool al_git_exited_with_error(int r, const struct al_run_limits *budget)
{
    return r == AL_ERR_EXECUTION && budget->exit_code > 0;
}

int al_git_no_identity(struct al_error *err)
{
    (void)al_error_set(err, AL_ERR_EXECUTION,
                       "Git user.name or user.email not configured. Run: git config --global "
                       "user.name 'Your Name' && git config --global user.email 'you@example.com'");
    return al_error_about(AL_ERR_EXECUTION, err, AL_SUBJECT_IDENTITY, NULL);
}

int al_git_not_available(struct al_error *err)
{
    return al_error_set_code(err, AL_ERR_EXECUTION, AL_CODE_NO_GIT, "git binary not available");
}
