// SPDX-License-Identifier: Apache-2.0
#include "gitops/sequencer/operation_sides.h"

#include <fcntl.h>
#include <stdlib.h>

#include "gitops/location.h"
#include "gitops/nul_records.h"
#include "gitops/refs.h"
#include "gitops/sequencer/operation_state.h"
#include "guard/nofollow.h"
#include "util/fs.h"

#define LINE_BYTES 65536u

static const char heads[] = "refs/heads/";

void al_operation_sides_clear(struct al_operation_sides *sides)
{
    free(sides->ours);
    free(sides->theirs);
    *sides = AL_OPERATION_SIDES_INIT;
}

char *al_operation_line(const struct al_repo *repo, const char *name)
{
    al_auto(al_closep) int git_dir = -1;
    al_auto(al_closep) int fd = -1;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    if (al_location_open_git_dir(&repo->at, &git_dir, NULL) < 0)
        return NULL;
    fd = al_nofollow_open(git_dir, name, O_RDONLY);
    if (fd < 0 || al_fs_read_fd(fd, LINE_BYTES, &text) < 0)
        return NULL;
    return al_strndup(text.buf, strcspn(text.buf, "\n"));
}

char *al_operation_oid(const struct al_repo *repo, const char *name)
{
    al_auto(al_freep) char *line = al_operation_line(repo, name);

    return line && *line && al_is_oid(line, strlen(line)) ? al_take(&line) : NULL;
}

/* What git says about a commit. */
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

static int name_commits(const struct al_repo *repo, struct named *commits,
                        struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_nul_records_clear) struct al_nul_records records =
        AL_NUL_RECORDS_INIT(4, take, commits);

    al_strv_adds(&command.argv, "git", "log", "-z", "--no-walk=unsorted", "--ignore-missing",
                 "--abbrev=8", "--encoding=UTF-8", "--decorate=short",
                 "--decorate-refs=refs/heads/", "--decorate-refs=refs/remotes/",
                 "--format=%H%x00%h%x00%s%x00%D", NULL);
    for (size_t i = 0; i < 2; i++)
        if (commits[i].oid)
            al_strv_add(&command.argv, commits[i].oid);
    return al_git_read_records(&repo->at, &command, &records, budget, err);
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

/* The branch of HEAD, or of the rebase that detached it. */
static char *current_branch(const struct al_repo *repo)
{
    al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;

    al_ref_head_branches(&repo->at, &names);
    return al_strdup(names.count ? names.items[0] : "HEAD");
}

static void name_rebase(const struct al_repo *repo, const struct named *commits,
                        struct al_operation_sides *sides)
{
    al_auto(al_freep) char *onto = branch_or_commit(&commits[0]);
    al_auto(al_freep) char *picked = commit_words(&commits[1]);
    al_auto(al_freep) char *head = al_operation_line(repo, "rebase-merge/head-name");
    const char *branch = head && al_starts_with(head, heads) ? head + strlen(heads) : NULL;

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
        return al_strdup("what was brought back, such as a stash entry");
    case AL_IN_PROGRESS_CHERRY_PICK:
    case AL_IN_PROGRESS_REBASE:
        break;
    }
    return al_take(&words);
}

int al_git_operation_sides(const struct al_repo *repo, struct al_run_limits *budget,
                           struct al_operation_sides *ret_sides, struct al_error *err)
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
    int r = onto || other ? name_commits(repo, commits, budget, err) : 0;

    if (r == 0 && rebases)
        name_rebase(repo, commits, ret_sides);
    if (r == 0 && !rebases) {
        ret_sides->ours = current_branch(repo);
        ret_sides->theirs = theirs_of(state, &commits[1]);
    }
    named_clear(&commits[0]);
    named_clear(&commits[1]);
    return r;
}
