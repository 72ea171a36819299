// SPDX-License-Identifier: Apache-2.0
#include "gitops/sequencer/todo.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "gitops/location.h"
#include "gitops/refs.h"
#include "gitops/sequencer/operation_state.h"
#include "guard/nofollow.h"
#include "util/fs.h"

/* The todo commands that are allowed. Every other command runs a program (exec), writes references
 * (label, update-ref), moves HEAD (reset), or merges as files in the repository say (merge). */
static bool is_allowed(const char *word, bool *ret_is_commit)
{
    static const char *const commits[] = { "pick", "p",      "reword", "r",     "edit",
                                           "e",    "squash", "s",      "fixup", "f" };
    static const char *const others[] = { "drop", "d", "noop", "break", "b" };

    for (size_t i = 0; i < AL_COUNT(commits); i++)
        if (!strcmp(word, commits[i]))
            return *ret_is_commit = true;
    *ret_is_commit = false;
    for (size_t i = 0; i < AL_COUNT(others); i++)
        if (!strcmp(word, others[i]))
            return true;
    return false;
}

/* Add the commit of a line, "fixup -C <id> # subject" or without the option.  git has written it
 * in full. */
static void add_commit(const char *at, const char *end, struct al_strv *commits)
{
    while (at < end) {
        size_t len = strcspn(at, " \t\r\n");

        if (al_is_oid(at, len)) {
            al_strv_take(commits, al_strndup(at, len));
            return;
        }
        at += len;
        at += strspn(at, " \t\r");
        if (at < end && *at != '-' && !al_is_oid(at, strcspn(at, " \t\r\n")))
            return;
    }
}

char *al_rebase_vet_todo(const char *todo, size_t *ret_left, struct al_strv *commits)
{
    *ret_left = 0;
    for (const char *at = todo; *at;) {
        size_t len = strcspn(at, "\n");
        size_t blank = strspn(at, " \t\r");
        al_auto(al_freep) char *word = NULL;
        bool is_commit;

        if (blank < len && at[blank] != '#') {
            word = al_strndup(at + blank, strcspn(at + blank, " \t\r\n"));
            if (!is_allowed(word, &is_commit))
                return al_take(&word);
            *ret_left += is_commit;
            if (is_commit)
                add_commit(at + blank, at + len, commits);
        }
        at += len + (at[len] == '\n');
    }
    return NULL;
}

char *al_sequencer_vet_todo(const char *todo, struct al_strv *ret_commits)
{
    for (const char *at = todo; *at; at += strcspn(at, "\n"), at += *at == '\n') {
        size_t len = strcspn(at, " \t\r\n");
        const char *oid = at + len + strspn(at + len, " \t");
        size_t oid_len = strcspn(oid, " \t\r\n");
        al_auto(al_freep) char *word = al_strndup(at, len);

        if (!len || *at == '#')
            continue;
        if (strcmp(word, "pick") != 0 && strcmp(word, "revert") != 0)
            return al_take(&word);
        if (!al_is_oid(oid, oid_len))
            return al_strndup(oid, oid_len);
        al_strv_take(ret_commits, al_strndup(oid, oid_len));
    }
    return NULL;
}

/* Read a state file; "" when there is none. */
static void read_file(const struct al_repo *repo, const char *name, struct al_str *text)
{
    al_auto(al_closep) int git_dir = -1;
    al_auto(al_closep) int fd = -1;

    if (al_location_open_git_dir(&repo->at, &git_dir, NULL) < 0)
        return;
    fd = al_nofollow_open(git_dir, name, O_RDONLY);
    if (fd < 0 || al_fs_read_fd(fd, AL_TODO_MAX_BYTES, text) < 0)
        al_str_reset(text);
}

void al_todo_left(const struct al_repo *repo, struct al_strv *out)
{
    const bool rebase = al_git_operation_state(repo) == AL_IN_PROGRESS_REBASE;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    al_auto(al_strv_clear) struct al_strv commits = AL_STRV_INIT;
    al_auto(al_freep) char *refused = NULL;
    size_t left;

    read_file(repo, rebase ? "rebase-merge/git-rebase-todo" : "sequencer/todo", &text);
    refused = rebase ? al_rebase_vet_todo(text.buf, &left, &commits)
                     : al_sequencer_vet_todo(text.buf, &commits);
    if (refused)
        return;
    for (size_t i = rebase ? 0 : 1; i < commits.count; i++)
        al_strv_add(out, commits.items[i]);
}

unsigned al_todo_mainline(const struct al_repo *repo)
{
    static const char key[] = "mainline = ";
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    const char *at;

    read_file(repo, "sequencer/opts", &text);
    at = strstr(text.buf, key);
    at = at ? at + strlen(key) : "";
    return *at > '0' && *at <= '9' && !(at[1] >= '0' && at[1] <= '9') ? (unsigned)(*at - '0') : 0;
}
