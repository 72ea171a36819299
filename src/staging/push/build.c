// SPDX-License-Identifier: Apache-2.0
/* The commit that is pushed, built in the store. */
#define _XOPEN_SOURCE 700
#include <inttypes.h>
#include <stdlib.h>
#include <strings.h>
#include <time.h>

#include "gitops/command.h"
#include "staging/push/private.h"
#include "staging/store.h"

const char *al_push_empty_tree(const struct al_push *push)
{
    return al_staging_is_sha256(push->staging)
               ? "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321"
               : "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
}

static int write_tree(const struct al_push_dir *dir, struct al_run_limits *budget,
                      struct al_str *ret_tree, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    int r;

    command.class = AL_GIT_WRITE;
    /* A partial clone lacks objects that the commit does not touch. */
    al_strv_adds(&command.argv, "git", "write-tree", "--missing-ok", NULL);
    r = al_push_git(dir, &command, ret_tree, budget, err);
    al_str_trim_end(ret_tree);
    return r;
}

/* A first commit without files would be of no use to anybody. */
static int check_first(const struct al_push *push, const char *tree, struct al_error *err)
{
    if (strcmp(tree, al_push_empty_tree(push)) != 0)
        return 0;
    return al_error_set(err, AL_ERR_EXECUTION,
                        "There is nothing to push: %s has no commits, and the staged commit only "
                        "deletes files; git_discard removes the staged commit",
                        push->shown);
}

static int check_changes(const struct al_push *push, const struct al_push_dir *dir,
                         const char *tree, struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_str_clear) struct al_str old = AL_STR_INIT;
    int r;

    if (!*push->parent)
        return check_first(push, tree, err);
    al_strv_adds(&command.argv, "git", "rev-parse", "--verify", NULL);
    al_strv_addf(&command.argv, "%s^{tree}", push->parent);
    r = al_push_git(dir, &command, &old, budget, err);
    if (r < 0)
        return r;
    al_str_trim_end(&old);
    if (strcmp(old.buf, tree) != 0)
        return 0;
    return al_error_set(
        err, AL_ERR_EXECUTION,
        "There is nothing to push: %s has these changes already; git_discard removes "
        "the staged commit",
        push->shown);
}

/* Whether a line begins with "Worker:", as git recognizes a trailer: in any case, and with white
 * space before the colon. */
static bool names_worker(const char *line, size_t len)
{
    static const char key[] = "worker";
    const size_t key_len = strlen(key);

    if (len < key_len || strncasecmp(line, key, key_len) != 0)
        return false;
    return line[key_len + strspn(line + key_len, " \t\r\v\f")] == ':';
}

/* The message without lines that pass for our trailer.  The title stays, since it is no trailer. */
static void leave_out_workers(const char *message, struct al_str *out)
{
    for (const char *line = message; *line;) {
        size_t len = strcspn(line, "\n");

        len += line[len] == '\n';
        if (line == message || !names_worker(line, len))
            al_str_add(out, line, len);
        line += len;
    }
}

/* The message, with the worker as a trailer.  A trailer of that name that the agent wrote is left
 * out.  A line "---" is a part of the message. */
static int add_message(const struct al_push *push, const struct al_push_dir *dir,
                       struct al_run_limits *budget, struct al_str *out, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_str_clear) struct al_str message = AL_STR_INIT;

    if (push->staged.worker)
        leave_out_workers(push->staged.message, &message);
    else
        al_str_adds(&message, push->staged.message);
    if (!al_ends_with(message.buf, "\n"))
        al_str_addc(&message, '\n');
    if (!push->staged.worker) {
        al_str_add(out, message.buf, message.len);
        return 0;
    }
    command.input = message.buf;
    command.input_len = message.len;
    al_strv_adds(&command.argv, "git", "interpret-trailers", "--no-divider", "--if-exists=add",
                 NULL);
    al_strv_addf(&command.argv, "--trailer=Worker: %s", push->staged.worker);
    return al_push_git(dir, &command, out, budget, err);
}

/* Seconds since 1970 of an ISO 8601 time in UTC; now, if it cannot be read. */
static int64_t time_of(const char *iso)
{
    struct tm tm = { .tm_year = 0 };

    return strptime(iso, "%Y-%m-%dT%H:%M:%S", &tm) ? (int64_t)timegm(&tm) : (int64_t)time(NULL);
}

static int write_commit(const struct al_push *push, const struct al_push_dir *dir, const char *tree,
                        struct al_run_limits *budget, struct al_str *ret_commit,
                        struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    int r;

    al_str_addf(&text, "tree %s\n", tree);
    if (*push->parent)
        al_str_addf(&text, "parent %s\n", push->parent);
    al_str_addf(&text, "author %s %" PRId64 " +0000\n", push->author,
                time_of(push->staged.created_at));
    al_str_addf(&text, "committer %s %" PRId64 " +0000\n\n", push->author, (int64_t)time(NULL));
    r = add_message(push, dir, budget, &text, err);
    if (r < 0)
        return r;
    command.class = AL_GIT_WRITE;
    command.input = text.buf;
    command.input_len = text.len;
    al_strv_adds(&command.argv, "git", "hash-object", "-t", "commit", "-w", "--stdin", NULL);
    r = al_push_git(dir, &command, ret_commit, budget, err);
    al_str_trim_end(ret_commit);
    return r;
}

int al_push_build(const struct al_push *push, const struct al_push_dir *dir,
                  struct al_run_limits *budget, char **ret_commit, struct al_error *err)
{
    al_auto(al_str_clear) struct al_str tree = AL_STR_INIT;
    al_auto(al_str_clear) struct al_str commit = AL_STR_INIT;
    int r = al_push_build_index(push, dir, budget, err);

    if (r == 0)
        r = al_push_check_tree(push, dir, budget, err);
    if (r == 0)
        r = write_tree(dir, budget, &tree, err);
    if (r == 0)
        r = check_changes(push, dir, tree.buf, budget, err);
    if (r == 0)
        r = write_commit(push, dir, tree.buf, budget, &commit, err);
    if (r == 0)
        *ret_commit = al_str_detach(&commit);
    return r;
}
