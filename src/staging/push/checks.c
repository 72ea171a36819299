// SPDX-License-Identifier: Apache-2.0
/*
 * What a target says about a push: who the author is, whether it refuses, and what it ignores.
 *
 * Source: git-config(1) receive.*, transfer.hideRefs, user.*; git-check-ignore(1).
 */
#include <stdlib.h>
#include <strings.h>

#include "gitops/nul_records.h"
#include "gitops/refs.h"
#include "gitops/run.h"
#include "gitops/sequencer/operation_state.h"
#include "guard/text.h"
#include "staging/push/private.h"

/* user.name and user.email by scope: the user's own, then the target's. */
struct identity {
    char *name[2], *email[2];
};

static void identity_clear(struct identity *identity)
{
    for (int i = 0; i < 2; i++) {
        free(identity->name[i]);
        free(identity->email[i]);
    }
}

/* One value of `git config -z --show-scope`: "<scope>" NUL "<key> LF <value>" NUL. */
static bool take_identity(void *payload, char *const *fields)
{
    struct identity *identity = payload;
    const bool is_users = !strcmp(fields[0], "global") || !strcmp(fields[0], "system");
    const char *value = strchr(fields[1], '\n');
    char **at = al_starts_with(fields[1], "user.name") ? &identity->name[!is_users]
                                                       : &identity->email[!is_users];

    if (!value || !strcmp(fields[0], "command"))
        return true;
    free(*at); /* the last value counts */
    *at = al_strdup(value + 1);
    return true;
}

/* As git writes a name: without the characters that end it. */
static void add_clean(const char *text, struct al_str *out)
{
    for (; *text; text++)
        if (!strchr("<>\n\r", *text))
            al_str_addc(out, *text);
    al_str_trim_end(out);
}

static char *format_author(const char *name, const char *email)
{
    struct al_str author = AL_STR_INIT;

    add_clean(name, &author);
    al_str_adds(&author, " <");
    add_clean(email, &author);
    al_str_addc(&author, '>');
    return al_str_detach(&author);
}

int al_push_find_author(const struct al_push *push, struct al_run_limits *budget, char **ret_author,
                        struct al_error *err)
{
    const char *configured = al_staging_options(push->staging)->author;
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(identity_clear) struct identity identity = { .name = { NULL } };
    al_auto(al_nul_records_clear) struct al_nul_records records =
        AL_NUL_RECORDS_INIT(2, take_identity, &identity);
    const char *name, *email;
    int r;

    if (configured) {
        *ret_author = al_strdup(configured);
        return 0;
    }
    al_strv_adds(&command.argv, "git", "config", "-z", "--show-scope", "--get-regexp",
                 "^user\\.(name|email)$", NULL);
    r = al_git_read_records(&push->repo->at, &command, &records, budget, err);
    if (r < 0 && budget->exit_code != 1) /* 1: neither is set */
        return r;
    if (r < 0 && err)
        al_error_clear(err);
    name = identity.name[0] ? identity.name[0] : identity.name[1];
    email = identity.email[0] ? identity.email[0] : identity.email[1];
    *ret_author = name && *name && email ? format_author(name, email)
                                         : al_strdup("airlock <airlock@localhost>");
    return 0;
}

/* Settings by which the target's owner refuses pushes. */
struct refusal {
    const struct al_push *push;
    char *text;
};

/* Test whether a name lies in a hidden part of the references; "!" shows it again, "^" is about
 * full names, as these are. */
static bool is_hidden(const char *ref, const char *pattern)
{
    size_t len;

    pattern += *pattern == '^';
    len = strlen(pattern);
    while (len && pattern[len - 1] == '/')
        len--;
    return len && !strncmp(ref, pattern, len) && (!ref[len] || ref[len] == '/');
}

static bool refuses_current(const char *value)
{
    return !strcasecmp(value, "refuse") || !strcasecmp(value, "true") ||
           !strcasecmp(value, "yes") || !strcasecmp(value, "on") || !strcmp(value, "1");
}

/* "<key> LF <value>".  The last setting about a reference counts. */
static bool take_setting(void *payload, char *const *fields)
{
    struct refusal *refusal = payload;
    const char *value = strchr(fields[0], '\n');
    al_auto(al_freep) char *key = al_strndup(fields[0], strcspn(fields[0], "\n"));
    const char *ref = refusal->push->ref;

    value = value ? value + 1 : "true";
    if (al_ends_with(key, "hiderefs")) {
        const bool shows = *value == '!';

        if (is_hidden(ref, value + shows)) {
            free(refusal->text);
            refusal->text = shows ? NULL
                                  : al_asprintf("The target's configuration protects this branch "
                                                "(%s)",
                                                key);
        }
    } else if (refusal->push->is_checked_out && refuses_current(value) && !refusal->text) {
        refusal->text = al_asprintf("The target's configuration refuses pushes to the branch that "
                                    "is checked out (%s)",
                                    key);
    }
    return true;
}

static int find_setting(const struct al_push *push, struct al_run_limits *budget,
                        char **ret_refusal, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    struct refusal refusal = { .push = push };
    al_auto(al_nul_records_clear) struct al_nul_records records =
        AL_NUL_RECORDS_INIT(1, take_setting, &refusal);
    int r;

    al_strv_adds(&command.argv, "git", "config", "-z", "--get-regexp",
                 "^(receive\\.hiderefs|transfer\\.hiderefs|receive\\.denycurrentbranch)$", NULL);
    r = al_git_read_records(&push->repo->at, &command, &records, budget, err);
    if (r < 0 && budget->exit_code == 1) { /* none of them is set */
        if (err)
            al_error_clear(err);
        r = 0;
    }
    *ret_refusal = refusal.text;
    return r;
}

/* A merge or a rebase of this branch would be completed on top of a state that it never saw. */
static char *find_operation(const struct al_push *push)
{
    const enum al_operation_state state = al_git_operation_state(push->repo);
    al_auto(al_strv_clear) struct al_strv branches = AL_STRV_INIT;

    if (al_location_is_bare(&push->repo->at) || state == AL_IN_PROGRESS_NONE)
        return NULL;
    al_ref_head_branches(&push->repo->at, &branches);
    if (!al_strv_contains(&branches, push->ref + strlen(AL_HEADS)))
        return NULL;
    return al_asprintf("A %s of this branch is in progress in the target; the user has to complete "
                       "or abort it first",
                       al_operation_state_noun(state));
}

int al_push_find_refusal(const struct al_push *push, struct al_run_limits *budget,
                         char **ret_refusal, struct al_error *err)
{
    int r = 0;

    *ret_refusal = find_operation(push);
    if (!*ret_refusal)
        r = find_setting(push, budget, ret_refusal, err);
    if (r == 0 && !*ret_refusal)
        r = al_push_find_other_worktree(push, ret_refusal, err);
    return r;
}

static bool take_path(void *payload, char *const *fields)
{
    al_strv_add(payload, fields[0]);
    return true;
}

int al_push_find_ignored(const struct al_push *push, struct al_run_limits *budget,
                         struct al_strv *ret_paths, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_nul_records_clear) struct al_nul_records records =
        AL_NUL_RECORDS_INIT(1, take_path, ret_paths);
    al_auto(al_str_clear) struct al_str names = AL_STR_INIT;
    int r;

    for (size_t i = 0; i < push->staged.count; i++) {
        const struct al_staged_file *file = &push->staged.files[i];

        if (file->operation == AL_STAGED_CREATE)
            al_str_add(&names, file->path, strlen(file->path) + 1);
    }
    if (!names.len || al_location_is_bare(&push->repo->at))
        return 0;
    command.input = names.buf;
    command.input_len = names.len;
    al_strv_adds(&command.argv, "git", "check-ignore", "--no-index", "-z", "--stdin", NULL);
    r = al_git_read_records(&push->repo->at, &command, &records, budget, err);
    if (r < 0 && budget->exit_code == 1) { /* none is ignored */
        if (err)
            al_error_clear(err);
        r = 0;
    }
    return r;
}
