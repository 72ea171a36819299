// SPDX-License-Identifier: Apache-2.0
/*
 * The answer of a target to a push: who the author is, and whether it refuses.
 *
 * Source: git-config(1) receive.*, transfer.hideRefs, user.*, safe.bareRepository;
 * gitrepository-layout(5).
 */
#include <fcntl.h>
#include <stdlib.h>
#include <strings.h>

#include "base/fs.h"
#include "git/command.h"
#include "git/refs.h"
#include "git/run.h"
#include "guard/gitdir.h"
#include "guard/path.h"
#include "guard/text.h"
#include "staging/push/private.h"
#include "staging/store.h"
#include "verbs/follow/follow.h"
#include "verbs/sequencer/operation_state.h"

/* A setting: the user's own, else the target's. */
struct setting {
    char *value;
    bool is_users;
};

struct settings {
    struct al_push *push;
    struct setting name, email;
};

static void settings_clear(struct settings *settings)
{
    free(settings->name.value);
    free(settings->email.value);
}

static void take_identity(struct setting *at, const char *scope, const char *value)
{
    const bool is_users = !strcmp(scope, "global") || !strcmp(scope, "system");

    if (!value || !strcmp(scope, "command") || (at->is_users && !is_users))
        return;
    free(at->value); /* the last value counts */
    *at = (struct setting){ al_strdup(value), is_users };
}

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

/* The last setting about a reference counts. */
static void take_refusal(struct al_push *push, const char *key, const char *value)
{
    value = value ? value : "true";
    if (al_ends_with(key, "hiderefs")) {
        const bool shows = *value == '!';

        if (is_hidden(push->ref, value + shows)) {
            free(push->refusal);
            push->refusal = shows ? NULL
                                  : al_asprintf("The target's configuration protects this branch "
                                                "(%s)",
                                                key);
        }
    } else if (push->is_checked_out && refuses_current(value) && !push->refusal) {
        push->refusal = al_asprintf("The target's configuration refuses pushes to the branch that "
                                    "is checked out (%s)",
                                    key);
    }
}

/* One value of `git config -z --show-scope`: "<scope>" NUL "<key> LF <value>" NUL. */
static bool take_setting(void *payload, char *const *fields)
{
    struct settings *settings = payload;
    char *value = strchr(fields[1], '\n');

    if (value)
        *value++ = '\0';
    if (!strcmp(fields[1], "user.name"))
        take_identity(&settings->name, fields[0], value);
    else if (!strcmp(fields[1], "user.email"))
        take_identity(&settings->email, fields[0], value);
    else
        take_refusal(settings->push, fields[1], value);
    return true;
}

/* The name as git writes it: without the characters that end it. */
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

int al_push_read_settings(struct al_push *push)
{
    const char *configured = push->staging->options.author;
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(settings_clear) struct settings settings = { .push = push };
    const struct setting *name = &settings.name, *email = &settings.email;
    int r;

    al_strv_adds(&command.argv, "git", "config", "-z", "--show-scope", "--get-regexp",
                 "^(user\\.(name|email)|receive\\.hiderefs|transfer\\.hiderefs|"
                 "receive\\.denycurrentbranch)$",
                 NULL);
    r = al_git_find_records(&push->repo->at, &command, 2, take_setting, &settings, push->err);
    if (r < 0)
        return r;
    push->author = configured ? al_strdup(configured)
                   : name->value && *name->value && email->value
                       ? format_author(name->value, email->value)
                       : al_strdup("airlock <airlock@localhost>");
    return 0;
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

/* --- Working trees of the target that use the branch --- */

/* Why each use of the branch forbids a push: by another working tree, and by the target's own.
 * NULL: it does not. */
static const char *const uses[][2] = {
    [AL_BRANCH_UNUSED] = { NULL, NULL },
    [AL_BRANCH_CHECKED_OUT] = { "Another working tree of the target has this branch checked out",
                                NULL },
    [AL_BRANCH_REBASED] = { "Another working tree of the target rebases this branch; the user has "
                            "to complete or abort the rebase first",
                            "A rebase of this branch is in progress in the target; the user has to "
                            "complete or abort it first" },
    [AL_BRANCH_BISECTED] = { "Another working tree of the target bisects this branch; the user has "
                             "to end that with git bisect reset first",
                             "A bisection of this branch is in progress in the target; the user "
                             "has to end it with git bisect reset first" },
};

/* Another working tree has the branch checked out, or one rebases or bisects it. */
static int find_other_worktree(const struct al_push *push, char **ret_refusal)
{
    al_auto(al_branch_users_clear) struct al_branch_users users = { .items = NULL };
    const char *why = NULL;
    int r = al_branch_find_users(push->repo, push->ref, &users, push->err);

    for (size_t i = 0; r == 0 && !why && i < users.count; i++)
        why = uses[users.items[i].use][users.items[i].is_own];
    if (why)
        *ret_refusal = al_strdup(why);
    return r;
}

int al_push_find_refusal(struct al_push *push, char **ret_refusal)
{
    *ret_refusal = find_operation(push);
    if (!*ret_refusal)
        *ret_refusal = al_take(&push->refusal);
    return *ret_refusal ? 0 : find_other_worktree(push, ret_refusal);
}

/* --- Git directories --- */

/* A push writes no file into a git directory, whatever its name, and makes none: git would run what
 * its configuration and its hooks say as soon as the user works below it. */

/* The parts of a git directory: HEAD with objects and refs, or HEAD with commondir. */
enum { HEAD, OBJECTS, REFS, COMMONDIR, PARTS };
static const char *const parts[PARTS] = { "head", "objects", "refs", "commondir" };

/* The directories of a tree that have each part: folded, with the '/' at the end, sorted; "": the
 * top.  Two that differ in case alone or the like are one directory where file systems ignore that
 * (guard/path.h). */
struct holders {
    struct al_strv of[PARTS];
};

static void holders_clear(struct holders *holders)
{
    for (size_t i = 0; i < PARTS; i++)
        al_strv_clear(&holders->of[i]);
}

/* The paths come in the order of their bytes, so that a directory mostly comes after itself. */
static void add_holder(struct al_strv *list, const char *path, size_t dir_len)
{
    al_auto(al_freep) char *dir = al_fold_path(path, dir_len);

    if (!list->count || strcmp(list->items[list->count - 1], dir) != 0)
        al_strv_take(list, al_take(&dir));
}

static void find_holders(const struct al_sandbox_files *files, struct holders *ret)
{
    for (size_t i = 0; i < files->count; i++) {
        const char *path = files->items[i].path;

        for (size_t at = 0, len; path[at]; at += len + (path[at + len] == '/')) {
            len = strcspn(path + at, "/");
            for (size_t part = 0; part < PARTS; part++)
                if (al_fold_is(path + at, len, parts[part]))
                    add_holder(&ret->of[part], path, at);
        }
    }
    for (size_t part = 0; part < PARTS; part++)
        al_strv_sort(&ret->of[part]);
}

/* A file that the push brings below a directory; NULL: none. */
static const char *find_below(const struct al_staged *staged, const char *dir)
{
    for (size_t i = 0; i < staged->count; i++) {
        const char *path = staged->files[i].path;
        al_auto(al_freep) char *folded = al_fold_path(path, strlen(path));

        if (staged->files[i].operation != AL_STAGED_DELETE && al_starts_with(folded, dir))
            return path;
    }
    return NULL;
}

int al_push_check_tree(const struct al_push *push, const struct al_sandbox_files *files)
{
    al_auto(holders_clear) struct holders holders = { .of = { AL_STRV_INIT } };
    const struct al_strv *heads = &holders.of[HEAD];

    find_holders(files, &holders);
    for (size_t i = 0; i < heads->count; i++) {
        const char *dir = heads->items[i];
        const bool is_whole = al_strv_contains_sorted(&holders.of[COMMONDIR], dir) ||
                              (al_strv_contains_sorted(&holders.of[OBJECTS], dir) &&
                               al_strv_contains_sorted(&holders.of[REFS], dir));
        const char *file = is_whole ? find_below(&push->staged, dir) : NULL;

        if (file)
            return al_gitdir_refuse(file, push->err);
    }
    return 0;
}

/* Whether the file would lie in a git directory of the working tree, or make one of a directory. */
static bool lies_in_one(const struct al_push *push, const char *path)
{
    al_auto(al_freep) char *dir = al_fs_join(push->repo->at.top, path);
    const size_t top = strlen(push->repo->at.top);
    char *slash;

    while ((slash = strrchr(dir, '/')) && (size_t)(slash - dir) >= top) {
        al_auto(al_closep) int fd = -1;

        *slash = '\0';
        fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (fd >= 0)
            return al_gitdir_contains(fd, slash + 1);
    }
    return false;
}

int al_push_check_gitdirs(const struct al_push *push)
{
    for (size_t i = 0; i < push->staged.count && !al_location_is_bare(&push->repo->at); i++)
        if (push->staged.files[i].operation != AL_STAGED_DELETE &&
            lies_in_one(push, push->staged.files[i].path))
            return al_gitdir_refuse(push->staged.files[i].path, push->err);
    return 0;
}
