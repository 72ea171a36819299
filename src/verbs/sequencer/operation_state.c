// SPDX-License-Identifier: Apache-2.0
#include "verbs/sequencer/operation_state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fs.h"
#include "git/command.h"
#include "git/diff/diff.h"
#include "git/git_lock.h"
#include "git/location.h"
#include "git/oid.h"
#include "git/plumbing/filters.h"
#include "git/refs.h"
#include "git/run.h"
#include "guard/nofollow.h"
#include "verbs/preview/affected_files.h"
#include "verbs/preview/verify_objects.h"
#include "verbs/sequencer/conflict.h"

/* --- Operation sides --- */

#define FILE_BYTES (4u << 20)
#define BRANCHES   "refs/heads/"

int al_operation_file(const struct al_repo *repo, const char *name, struct al_str *ret_text)
{
    al_auto(al_closep) int git_dir = -1;
    al_auto(al_closep) int fd = -1;
    int r = al_location_open_git_dir(&repo->at, &git_dir, NULL) < 0 ? -EIO : 0;

    if (al_ref_is_stored(&repo->at, name)) {
        al_auto(al_freep) char *stored = al_ref_stored(&repo->at, name);

        al_str_adds(ret_text, stored ? stored : "");
        return stored ? 0 : -ENOENT;
    }
    if (r < 0)
        return r;
    fd = al_nofollow_open(git_dir, name, O_RDONLY);
    r = fd < 0 ? fd : al_fs_read_fd(fd, FILE_BYTES, ret_text);
    if (r < 0)
        al_str_reset(ret_text);
    return r;
}

void al_operation_sides_clear(struct al_operation_sides *sides)
{
    free(sides->ours);
    free(sides->theirs);
    *sides = AL_OPERATION_SIDES_INIT;
}

/* Read the first line of a file of the git directory; NULL: there is none.  Caller frees. */
static char *operation_line(const struct al_repo *repo, const char *name)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    return al_operation_file(repo, name, &text) < 0 ? NULL
                                                    : al_strndup(text.buf, strcspn(text.buf, "\n"));
}

char *al_git_bisected(const struct al_repo *repo)
{
    return operation_line(repo, "BISECT_START");
}

char *al_operation_oid(const struct al_repo *repo, const char *name)
{
    al_auto(al_freep) char *line = operation_line(repo, name);

    return line && *line && al_is_oid(line, strlen(line)) ? al_take(&line) : NULL;
}

/* The words of git about a commit. */
struct named {
    const char *oid;
    char *id, *subject, *branch; /* `branch`: a branch or tag that is at the commit, "" for none */
};

static void named_clear(struct named *named)
{
    free(named->id);
    free(named->subject);
    free(named->branch);
}

/* The first name of "HEAD -> main, origin/main". */
static char *first_name(const char *names)
{
    if (al_starts_with(names, "HEAD -> "))
        names += strlen("HEAD -> ");
    if (al_starts_with(names, "tag: "))
        names += strlen("tag: ");
    return al_strndup(names, strcspn(names, ","));
}

/* Fields: the id, the abbreviated id, the subject, the names. */
static bool take(void *payload, char *const *fields)
{
    struct named *commits = payload;

    for (size_t i = 0; i < 2; i++) {
        if (!commits[i].oid || commits[i].id || strcmp(commits[i].oid, fields[0]) != 0)
            continue;
        commits[i].id = al_strdup(fields[1]);
        commits[i].subject = al_strdup(fields[2]);
        commits[i].branch = first_name(fields[3]);
    }
    return true;
}

static int name_commits(const struct al_repo *repo, struct named *commits, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;

    al_strv_adds(&command.argv, "git", "log", "-z", "--no-walk=unsorted", "--ignore-missing",
                 "--abbrev=8", "--encoding=UTF-8", "--decorate=short",
                 "--decorate-refs=refs/heads/", "--decorate-refs=refs/remotes/",
                 "--format=%H%x00%h%x00%s%x00%D", NULL);
    for (size_t i = 0; i < 2; i++)
        if (commits[i].oid)
            al_strv_add(&command.argv, commits[i].oid);
    return al_git_read_records(&repo->at, &command, 4, take, commits, err);
}

static char *commit_words(const struct named *commit)
{
    return commit->id ? al_asprintf("%s \"%s\"", commit->id, commit->subject)
                      : al_strdup("a commit");
}

static char *branch_or_commit(const struct named *commit)
{
    return commit->id && *commit->branch ? al_strdup(commit->branch) : commit_words(commit);
}

static void name_rebase(const struct al_repo *repo, const struct named *commits,
                        struct al_operation_sides *sides)
{
    al_auto(al_freep) char *onto = branch_or_commit(&commits[0]);
    al_auto(al_freep) char *picked = commit_words(&commits[1]);
    al_auto(al_freep) char *head = operation_line(repo, "rebase-merge/head-name");
    const char *branch = head && al_starts_with(head, BRANCHES) ? head + strlen(BRANCHES) : NULL;

    sides->ours = al_asprintf("%s and what was replayed on it so far", onto);
    sides->theirs = branch ? al_asprintf("%s of %s", picked, branch) : al_take(&picked);
}

static char *theirs_of(enum al_operation_state state, const struct named *commit)
{
    al_auto(al_freep) char *words = commit_words(commit);

    switch (state) {
    case AL_IN_PROGRESS_MERGE:
        return branch_or_commit(commit);
    case AL_IN_PROGRESS_REVERT:
        return al_asprintf("the state before %s", words);
    case AL_IN_PROGRESS_AM:
        return al_strdup("the patch");
    case AL_IN_PROGRESS_NONE:
        return al_strdup("what was applied, such as a stash entry");
    case AL_IN_PROGRESS_CHERRY_PICK:
    case AL_IN_PROGRESS_REBASE:
        break;
    }
    return al_take(&words);
}

int al_git_operation_sides(const struct al_repo *repo, struct al_operation_sides *ret_sides,
                           struct al_error *err)
{
    static const char *const files[] = {
        [AL_IN_PROGRESS_NONE] = NULL,
        [AL_IN_PROGRESS_MERGE] = "MERGE_HEAD",
        [AL_IN_PROGRESS_REBASE] = "REBASE_HEAD",
        [AL_IN_PROGRESS_CHERRY_PICK] = "CHERRY_PICK_HEAD",
        [AL_IN_PROGRESS_REVERT] = "REVERT_HEAD",
        [AL_IN_PROGRESS_AM] = NULL,
    };
    enum al_operation_state state = al_git_operation_state(repo);
    bool rebases = state == AL_IN_PROGRESS_REBASE;
    al_auto(al_freep) char *onto = rebases ? al_operation_oid(repo, "rebase-merge/onto") : NULL;
    al_auto(al_freep) char *other = files[state] ? al_operation_oid(repo, files[state]) : NULL;
    struct named commits[2] = { { .oid = onto }, { .oid = other } };
    int r = onto || other ? name_commits(repo, commits, err) : 0;

    if (r == 0 && rebases)
        name_rebase(repo, commits, ret_sides);
    if (r == 0 && !rebases) {
        ret_sides->ours = al_ref_head_branch(&repo->at);
        ret_sides->theirs = theirs_of(state, &commits[1]);
    }
    named_clear(&commits[0]);
    named_clear(&commits[1]);
    return r;
}

/* --- Begun --- */

static struct al_noted begun = AL_NOTED_INIT;

static void add_text(struct al_hash *hash, const char *text)
{
    al_hash_add(hash, text ? text : "", text ? strlen(text) + 1 : 1);
}

/* The first line of a state file, and which file it is: git writes it once for each operation.  The
 * same merge, given up and begun again by a user, is another one. */
static void add_file(const struct al_repo *repo, const char *name, struct al_hash *hash)
{
    al_auto(al_freep) char *line = operation_line(repo, name);
    al_auto(al_closep) int git_dir = -1;
    struct stat st;

    add_text(hash, line);
    if (al_location_open_git_dir(&repo->at, &git_dir, NULL) < 0 ||
        fstatat(git_dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return;
    al_hash_add(hash, &st.st_ino, sizeof(st.st_ino));
    al_hash_add(hash, &st.st_mtim.tv_sec, sizeof(st.st_mtim.tv_sec));
    al_hash_add(hash, &st.st_mtim.tv_nsec, sizeof(st.st_mtim.tv_nsec));
}

/* The identity of an operation from its beginning to its end, or to the next commit of a single
 * one.  False: none is in progress. */
static bool identify(const struct al_repo *repo, uint64_t session, struct al_oid *ret_id)
{
    static const char *const files[] = { "rebase-merge/orig-head", "rebase-merge/onto",
                                         "rebase-apply/orig-head", "sequencer/head", "MERGE_HEAD" };
    static const char *const single[] = { "CHERRY_PICK_HEAD", "REVERT_HEAD" };
    enum al_operation_state state = al_git_operation_state(repo);
    al_auto(al_freep) char *sequence = operation_line(repo, "sequencer/head");
    struct al_hash hash;

    if (state == AL_IN_PROGRESS_NONE)
        return false;
    al_hash_init(&hash, true);
    al_hash_add(&hash, &session, sizeof(session));
    al_hash_add(&hash, &state, sizeof(state));
    add_text(&hash, repo->at.git_dir);
    for (size_t i = 0; i < AL_COUNT(files); i++)
        add_file(repo, files[i], &hash);
    for (size_t i = 0; !sequence && state != AL_IN_PROGRESS_REBASE && i < AL_COUNT(single); i++)
        add_file(repo, single[i], &hash);
    al_hash_end(&hash, ret_id);
    return true;
}

/* Instead of a session's number: an operation that any of them began. */
#define ANY_SESSION UINT64_MAX

static bool is_noted(const struct al_repo *repo, uint64_t session)
{
    struct al_oid id;

    return identify(repo, session, &id) && al_noted_has(&begun, &id);
}

void al_operation_note_begun(const struct al_repo *repo, uint64_t session)
{
    const uint64_t sessions[] = { session, ANY_SESSION };
    struct al_oid id;

    for (size_t i = 0; i < AL_COUNT(sessions); i++)
        if (identify(repo, sessions[i], &id))
            al_noted_add(&begun, &id);
}

enum al_begun al_operation_begun(const struct al_repo *repo, uint64_t session)
{
    if (is_noted(repo, session))
        return AL_BEGUN_HERE;
    return is_noted(repo, ANY_SESSION) ? AL_BEGUN_ELSEWHERE : AL_BEGUN_OUTSIDE;
}

/* --- Operation excerpt --- */

/* Describe the operation in progress that a commit concludes or continues. */

#define HEADS_MAX       64
#define SHOWN_MAX_BYTES (64u * 1024u)

void al_operation_heads(const struct al_repo *repo, const char *name, struct al_strv *heads)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    al_auto(al_strv_clear) struct al_strv lines = AL_STRV_INIT;

    if (al_operation_file(repo, name, &text) == 0)
        al_strv_split(&lines, text.buf, "\n");
    for (size_t i = 0; i < lines.count; i++)
        if (al_is_oid(lines.items[i], strlen(lines.items[i])))
            al_strv_add(heads, lines.items[i]);
}

/* Append the abbreviated id and the subject of each commit. */
static int show_heads(const struct al_repo *repo, const struct al_strv *heads, struct al_str *out,
                      struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    al_auto(al_str_clear) struct al_str words = AL_STR_INIT;
    bool all = true;
    int r;

    command.show_controls = true;
    al_strv_adds(&command.argv, "git", "log", "--no-walk=unsorted", "--abbrev=8",
                 "--format=  %h %s", "--no-decorate", "--no-show-signature", "--no-color", NULL);
    for (size_t i = 0; i < heads->count && i < HEADS_MAX; i++) {
        al_strv_add(&command.argv, heads->items[i]);
        al_str_addf(&words, "%s\n", heads->items[i]);
    }
    al_strv_add(&command.argv, "--");
    r = al_git_verify_objects(&repo->at, &words, &all, err);
    if (r == 0)
        r = al_git_run(&repo->at, &command,
                       &(struct al_git_run){
                           .max_bytes = al_git_excerpt_bytes(repo->at.budget, SHOWN_MAX_BYTES),
                           .checked = true },
                       &output, err);
    if (r < 0)
        return r;
    al_git_add_excerpt(repo->at.budget, output.out.out.buf, output.out.out.len, output.stopped,
                       out);
    if (heads->count > HEADS_MAX)
        al_str_addf(out, "  … and %zu more\n", heads->count - HEADS_MAX);
    return 0;
}

int al_git_operation_excerpt(const struct al_repo *repo, struct al_str *out, struct al_error *err)
{
    static const struct {
        enum al_operation_state state;
        const char *file, *title;
    } rows[] = {
        { AL_IN_PROGRESS_MERGE, "MERGE_HEAD",
          "This concludes a merge, and takes in the history of:" },
        { AL_IN_PROGRESS_CHERRY_PICK, "CHERRY_PICK_HEAD", "This continues the cherry-pick of:" },
        { AL_IN_PROGRESS_REVERT, "REVERT_HEAD", "This continues the revert of:" },
    };
    enum al_operation_state state = al_git_operation_state(repo);
    int r = 0;

    for (size_t i = 0; r == 0 && i < AL_COUNT(rows); i++) {
        al_auto(al_strv_clear) struct al_strv heads = AL_STRV_INIT;

        if (rows[i].state == state)
            al_operation_heads(repo, rows[i].file, &heads);
        if (!heads.count)
            continue;
        al_str_addf(out, "%s\n", rows[i].title);
        r = show_heads(repo, &heads, out, err);
    }
    return r;
}

/* --- Picked message --- */

#define CONFLICTS " Conflicts:\n"
#define SCISSORS  " ------------------------ >8 ------------------------\n"

/* Whether all lines of a text are a comment character and a tab, and a name. */
static bool lists_names(const char *text, char comment)
{
    for (; *text; text += strcspn(text, "\n"), text += *text == '\n')
        if (text[0] != comment || text[1] != '\t')
            return false;
    return true;
}

/* Find the list of conflicts at the end: "\n# Conflicts:\n", and "#\t<path>" for each. */
static char *find_list(char *text)
{
    char *at = text;

    for (; (at = strstr(at, CONFLICTS)); at += strlen(CONFLICTS))
        if (at > text + 1 && at[-2] == '\n' && lists_names(at + strlen(CONFLICTS), at[-1]))
            return at - 1;
    return NULL;
}

/* Read what git prepared, and find the list of conflicts in it; NULL when it has none. */
static int read_prepared(const struct al_repo *repo, struct al_str *text, char **ret_list)
{
    if (al_operation_file(repo, "MERGE_MSG", text) < 0 || !text->len ||
        strlen(text->buf) != text->len)
        return AL_ERR_EXECUTION;
    *ret_list = find_list(text->buf);
    return 0;
}

/* Remove the line that git puts above the list with "--cleanup=scissors", and what is below. */
static void cut_at_scissors(char *text, char comment)
{
    const char line[] = { '\n', comment, '\0' };
    char *at = text, *found = NULL;

    for (; (at = strstr(at, line)); at++)
        if (al_starts_with(at + 2, SCISSORS))
            found = at + 1;
    if (found)
        *found = '\0';
}

char *al_git_prepared_message(const struct al_repo *repo)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    char *list, comment;

    if (read_prepared(repo, &text, &list) < 0)
        return NULL;
    if (list) {
        comment = *list;
        *list = '\0';
        cut_at_scissors(text.buf, comment);
    }
    return text.buf[strspn(text.buf, " \t\r\n")] ? al_strdup(text.buf) : NULL;
}

char *al_git_picked_message(const struct al_repo *repo)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    char *list, comment, begin[3] = "\n";

    if (read_prepared(repo, &text, &list) < 0 || !list)
        return NULL;
    comment = *list;
    *list = '\0';
    begin[1] = comment;
    return *text.buf == comment || strstr(text.buf, begin) ? al_strdup(text.buf) : NULL;
}

/* --- Operation state --- */

static bool has_file(int git_dir, const char *name)
{
    struct stat st;

    return fstatat(git_dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

static bool has_head(const struct al_repo *repo, int git_dir, const char *name)
{
    al_auto(al_freep) char *stored = al_ref_stored(&repo->at, name);

    return stored || has_file(git_dir, name);
}

/* A sequence of cherry-picks or reverts that stopped between two commits. */
static enum al_operation_state sequencer_state(const struct al_repo *repo)
{
    al_auto(al_str_clear) struct al_str todo = AL_STR_INIT;

    if (al_operation_file(repo, "sequencer/todo", &todo) < 0)
        return AL_IN_PROGRESS_NONE;
    return al_starts_with(todo.buf, "revert") ? AL_IN_PROGRESS_REVERT : AL_IN_PROGRESS_CHERRY_PICK;
}

enum al_operation_state al_git_operation_state(const struct al_repo *repo)
{
    al_auto(al_closep) int git_dir = -1;

    if (al_location_open_git_dir(&repo->at, &git_dir, NULL) < 0)
        return AL_IN_PROGRESS_NONE;
    if (has_file(git_dir, "rebase-apply/applying"))
        return AL_IN_PROGRESS_AM;
    if (has_file(git_dir, "rebase-merge") || has_file(git_dir, "rebase-apply"))
        return AL_IN_PROGRESS_REBASE;
    if (has_file(git_dir, "MERGE_HEAD"))
        return AL_IN_PROGRESS_MERGE;
    if (has_head(repo, git_dir, "CHERRY_PICK_HEAD"))
        return AL_IN_PROGRESS_CHERRY_PICK;
    if (has_head(repo, git_dir, "REVERT_HEAD"))
        return AL_IN_PROGRESS_REVERT;
    return sequencer_state(repo);
}

const char *al_operation_state_name(enum al_operation_state state)
{
    static const char *const names[] = {
        [AL_IN_PROGRESS_NONE] = "",         [AL_IN_PROGRESS_MERGE] = "merge",
        [AL_IN_PROGRESS_REBASE] = "rebase", [AL_IN_PROGRESS_CHERRY_PICK] = "cherry-pick",
        [AL_IN_PROGRESS_REVERT] = "revert", [AL_IN_PROGRESS_AM] = "am",
    };

    return names[state];
}

const char *al_operation_state_noun(enum al_operation_state state)
{
    return state == AL_IN_PROGRESS_AM ? "application of patches" : al_operation_state_name(state);
}

/* Read a number from a state file of a rebase; 0 when there is none. */
static unsigned long read_number(const struct al_repo *repo, const char *name)
{
    al_auto(al_freep) char *line = operation_line(repo, name);

    return line ? strtoul(line, NULL, 10) : 0;
}

bool al_git_operation_step(const struct al_repo *repo, unsigned long *ret_step,
                           unsigned long *ret_last)
{
    static const char *const files[][2] = { { "rebase-merge/msgnum", "rebase-merge/end" },
                                            { "rebase-apply/next", "rebase-apply/last" } };

    for (size_t i = 0; i < AL_COUNT(files); i++) {
        *ret_step = read_number(repo, files[i][0]);
        *ret_last = read_number(repo, files[i][1]);
        if (*ret_step && *ret_last)
            return true;
    }
    return false;
}

void al_git_operation_line(const struct al_repo *repo, size_t conflicts, struct al_str *out)
{
    enum al_operation_state state = al_git_operation_state(repo);
    const char *name =
        state == AL_IN_PROGRESS_AM ? "series of patches" : al_operation_state_name(state);
    unsigned long step, last;

    if (state != AL_IN_PROGRESS_NONE) {
        al_str_addf(out, "A %s is in progress", name);
        if (al_git_operation_step(repo, &step, &last))
            al_str_addf(out, " (%lu of %lu)", step, last);
    }
    if (conflicts)
        al_str_addf(out, "%s%zu conflict%s", state != AL_IN_PROGRESS_NONE ? ", " : "", conflicts,
                    conflicts == 1 ? "" : "s");
}

int al_git_check_no_operation(const struct al_repo *repo, struct al_error *err)
{
    enum al_operation_state state = al_git_operation_state(repo);
    int r = al_git_check_no_conflicts(repo, err);

    if (r < 0 || state == AL_IN_PROGRESS_NONE)
        return r;
    if (state == AL_IN_PROGRESS_AM)
        return al_error_set_code(err, AL_ERR_EXECUTION, AL_CODE_OPERATION_FAILED,
                                 "An application of patches (git am) is in progress; a user "
                                 "concludes it with git itself, git_merge and abort aborts it");
    return al_error_set_code(err, AL_ERR_EXECUTION, AL_CODE_OPERATION_FAILED,
                             "A %s is in progress; conclude it with git_commit, or give it up with "
                             "git_merge and abort",
                             al_operation_state_name(state));
}

/* The commit that --abort goes back to: a rebase's or sequence's original head, else "HEAD". Caller
 * frees. */
static char *abort_target(const struct al_repo *repo)
{
    static const char *const files[] = { "rebase-merge/orig-head", "rebase-apply/orig-head",
                                         "sequencer/head" };

    for (size_t i = 0; i < AL_COUNT(files); i++) {
        char *oid = al_operation_oid(repo, files[i]);

        if (oid)
            return oid;
    }
    return al_strdup("HEAD");
}

int al_git_abort_check(const struct al_repo *repo, struct al_error *err)
{
    al_auto(al_freep) char *target = NULL;

    if (al_git_operation_state(repo) == AL_IN_PROGRESS_NONE) {
        return al_error_remedy(
            al_error_set_code(err, AL_ERR_EXECUTION, AL_CODE_OPERATION_FAILED,
                              "There is nothing to abort: no merge, rebase, cherry-pick or revert "
                              "is in progress"),
            err, "Nothing has to be aborted: go on with what is to be done.");
    }
    target = abort_target(repo);
    return al_git_check_filters_between(repo, target, NULL, err);
}

int al_git_abort_affected_files(const struct al_repo *repo, struct al_strv *out,
                                struct al_error *err)
{
    al_auto(al_freep) char *target = abort_target(repo);
    int r = al_git_overwritten_files(repo, NULL, false, out, err);

    return r < 0 ? r : al_git_untracked_overwritten(repo, target, NULL, out, err);
}

int al_git_abort_preview(const struct al_repo *repo, struct al_str *out, struct al_error *err)
{
    al_auto(al_freep) char *target = abort_target(repo);
    const struct al_diff_options lost = { .stat = true, .unified = -1, .from_ref = target };
    const enum al_operation_state state = al_git_operation_state(repo);
    size_t at;
    int r;

    al_str_addf(out, "%s %s is in progress.", state == AL_IN_PROGRESS_AM ? "An" : "A",
                al_operation_state_noun(state));
    at = out->len;
    r = al_git_loss_excerpt(repo, &lost, " Going back loses these changes:", out, err);
    if (r < 0)
        return r;
    if (out->len == at)
        al_str_adds(out, " Going back loses no changes.\n");
    return al_git_untracked_excerpt(repo, target, NULL, out, err);
}

int al_git_abort(struct al_repo *repo, enum al_operation_state *ret_done, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    enum al_operation_state state = al_git_operation_state(repo);
    int r = al_git_abort_check(repo, err);

    if (r == 0) /* git does not abort a merge while files look changed, as after a rollback */
        r = al_git_refresh_index(&repo->at, err);
    if (r < 0)
        return r;
    command.starts_children =
        true; /* git merge --abort runs git reset; git rebase --abort runs git am or git stash */
    al_strv_adds(&command.argv, "git", al_operation_state_name(state), "--abort", NULL);
    r = al_git_write(&repo->at, &command, AL_LOCK_INDEX, err);
    if (r == 0)
        *ret_done = state;
    return r;
}
