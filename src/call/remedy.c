// SPDX-License-Identifier: Apache-2.0
/* The next step after a failure: one table, by what the failure is about, its code and the words of
 * the toolset.  Nothing is said where no row fits.  tests/golden/remedies.txt has it for reading.
 */
#include "call/private.h"

#define W    (1u << AL_WORDS_WORKFLOW)
#define E    (1u << AL_WORDS_EVERYDAY)
#define BOTH (W | E)
#define ANY  (1u << AL_WORDS_PLAIN | BOTH)

static const struct {
    enum al_subject subject; /* AL_SUBJECT_NONE: any */
    enum al_code code;       /* AL_CODE_NONE: any */
    unsigned words;
    const char *tool; /* that the session has to have; NULL: none */
    const char *from; /* the toolset of that tool; NULL: any */
    const char *remedy;
} remedies[] = {
    { AL_SUBJECT_UNBORN, 0, W, "git_commit", "workflow",
      "The branch has no commit yet: git_commit with all makes the first one." },
    { AL_SUBJECT_UNBORN, 0, E, "git_commit", NULL,
      "The branch has no commit yet: git_commit makes the first one." },
    { AL_SUBJECT_REVISION, 0, E, "git_tag", NULL,
      "git_branch lists the branches there are, git_tag the tags, git_log the commits." },
    { AL_SUBJECT_TRACKED_PATH, 0, W, "git_status", NULL,
      "There is no such file: git_status and the working tree have the names." },
    { AL_SUBJECT_PATH, 0, W, "git_status", NULL,
      "There is no such file: git_status and the working tree have the names." },
    { AL_SUBJECT_DIRECTORY, 0, E, NULL, NULL,
      "working_dir is a directory inside a repository; without it, the first root is meant." },
    { AL_SUBJECT_OUTSIDE, 0, E, NULL, NULL,
      "Paths are relative to working_dir and inside its repository." },
    { AL_SUBJECT_HUNK, 0, E, "git_diff", NULL,
      "git_diff with hunks, and with staged for staged ones, shows the ids there are; git_show "
      "with hunks those of a commit." },
    { AL_SUBJECT_LINES, 0, E, "git_blame", NULL,
      "Give lines that the file has; git_blame without lines shows all of them." },
    { AL_SUBJECT_EXPRESSION, 0, E, NULL, NULL,
      "Correct the expression, or search for plain text." },
    { AL_SUBJECT_NOT_MERGED, 0, 1u << AL_WORDS_PLAIN, "git_branch", "git",
      "git_branch with force_delete deletes it all the same." },
    { AL_SUBJECT_NOT_MERGED, 0, W, "git_branch", "workflow",
      "git_branch with force deletes it all the same." },
    { AL_SUBJECT_HELD, 0, W, "git_checkout", NULL,
      "HEAD is on it, here or in another worktree: git_checkout another branch first." },
    { AL_SUBJECT_UNTRACKED, 0, E, "git_stash", NULL,
      "Move these files out of the way first; git_stash with untracked and paths stashes them." },
    { AL_SUBJECT_UNTRACKED, 0, ANY, NULL, NULL, "Move these files out of the way first." },
    { AL_SUBJECT_IGNORED, 0, ANY, "git_commit", NULL,
      "They are ignored (.gitignore), and no tool adds ignored files; the user can, or can change "
      "the pattern." },
    { AL_SUBJECT_UNMERGED, 0, E, "git_conflicts", NULL,
      "git_conflicts shows its conflicts and resolves them." },
    { AL_SUBJECT_MARKERS, 0, E, "git_conflicts", NULL,
      "Edit the file until none is left, or let git_conflicts resolve it with take ours or theirs, "
      "content or hunks." },
    { AL_SUBJECT_IN_PROGRESS, 0, E, "git_conflicts", NULL,
      "git_conflicts with action continue or abort brings it to an end first." },
    { AL_SUBJECT_LEFT_TO_GIT, 0, E, "git_conflicts", NULL,
      "The user can go on with git itself; git_conflicts with action abort aborts it." },
    { AL_SUBJECT_FILTER, 0, BOTH, NULL, NULL,
      "The user can do this with git itself, which runs the filter (of Git LFS: git-lfs); other "
      "files go on working." },
    { AL_SUBJECT_IDENTITY, 0, BOTH, NULL, NULL,
      "The user can set user.name and user.email; until then nothing can be committed." },
    { 0, AL_CODE_CONFLICT, W, "git_resolve_conflict", NULL,
      "Resolve the conflicts first: git_conflict_info shows them, git_resolve_conflict resolves a "
      "file." },
    { 0, AL_CODE_CONFLICT, E, "git_conflicts", NULL,
      "git_conflicts shows the conflicts and resolves them; with action abort it gives the "
      "operation up." },
    { 0, AL_CODE_CONFLICT, ANY, "git_add", NULL,
      "Edit the files until no conflict is left in them, and stage them with git_add, first." },
    { 0, AL_CODE_DIRTY_WORKDIR, ANY, "git_stash", NULL,
      "Commit these changes with git_commit, or put them aside with git_stash, first." },
    { 0, AL_CODE_BRANCH_EXISTS, W, NULL, NULL,
      "Choose another name, or use the branch that is there." },
    { 0, AL_CODE_BRANCH_EXISTS, E, "git_branch", NULL,
      "Choose another name, or use the branch that is there: git_branch lists them." },
    { 0, AL_CODE_BRANCH_NOT_FOUND, W, "git_branch", "git",
      "See git_branch with list_all for the branches there are." },
    { 0, AL_CODE_BRANCH_NOT_FOUND, W, "git_branch", "workflow",
      "See git_branch with action list for the branches there are." },
    { 0, AL_CODE_BRANCH_NOT_FOUND, E, "git_branch", NULL,
      "git_branch lists the branches there are, git_log the commits." },
    { 0, AL_CODE_REMOTE_ERROR, W, "git_remote", "workflow",
      "See git_remote with action list for the remotes there are, and whether the URL is right." },
    { 0, AL_CODE_REMOTE_ERROR, E, "git_remote", NULL,
      "git_remote lists the remotes and their addresses." },
    { 0, AL_CODE_NO_STAGED_CHANGES, W, "git_commit", "workflow",
      "Commit every change with all: true; git_status shows whether there is one." },
    { 0, AL_CODE_NO_STAGED_CHANGES, E, "git_status", NULL,
      "git_status shows what has changed; git_commit takes paths, hunks or all." },
    { 0, AL_CODE_STASH_EMPTY, W, "git_stash", NULL,
      "There is nothing to restore; action push makes an entry." },
    { 0, AL_CODE_STASH_EMPTY, E, "git_stash", NULL,
      "git_stash with action list shows the entries." },
    { 0, AL_CODE_NOT_INITIALIZED, W, NULL, NULL, "Give cwd a directory inside a git repository." },
    { 0, AL_CODE_NOT_INITIALIZED, E, NULL, NULL,
      "Give working_dir a directory inside a git repository." },
    { 0, AL_CODE_PROTECTED_PATH, BOTH, NULL, NULL,
      "Name files of the working tree; .git is git's own." },
    { 0, AL_CODE_LOCK_TIMEOUT, BOTH, NULL, NULL,
      "Another git is at work there: try again later; the user can remove the lock if none runs." },
    { 0, AL_CODE_TIMEOUT, BOTH, NULL, NULL,
      "Ask for less at once; the user can raise timeout_ms in [tools.git] of the configuration." },
    { 0, AL_CODE_SNAPSHOT_DISABLED, BOTH, NULL, NULL,
      "The user can mend that (see airlock doctor), or set on_snapshot_failure to warn in "
      "[journal] of the configuration." },
};

void al_session_join(const struct al_session *session, const json_t *meta)
{
    if (session->journal && !session->number)
        al_journal_join(session->journal, al_json_get_string(meta, "sessionId"), NULL);
}

bool al_session_has(const struct al_session *session, const char *tool, const char *from)
{
    const struct al_listed_tool *listed =
        session->registry ? al_registry_find(session->registry, tool) : NULL;

    return listed && al_grant_has_tool(session->grant, tool) &&
           (!from || !strcmp(from, listed->toolset->name));
}

const char *al_remedy(const struct al_session *session, enum al_words words,
                      const struct al_error *error)
{
    for (size_t i = 0; i < AL_COUNT(remedies); i++)
        if ((!remedies[i].subject || remedies[i].subject == error->subject) &&
            (!remedies[i].code || remedies[i].code == error->code) &&
            remedies[i].words & 1u << words &&
            (!remedies[i].tool || al_session_has(session, remedies[i].tool, remedies[i].from)))
            return remedies[i].remedy;
    return words != AL_WORDS_PLAIN && error->status == AL_ERR_SANDBOX
               ? "Use a repository and paths inside the allowed roots."
               : NULL;
}
