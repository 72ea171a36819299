// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>
#include <stdlib.h>

#include "gitops/filters.h"
#include "gitops/verbs.h"
#include "gitops/vet.h"

static int stash_empty(struct al_error *err)
{
    int r =
        al_error_set_code(err, AL_ERR_EXECUTION, AL_CODE_STASH_EMPTY, "No stash entries found.");

    if (err)
        err->reason = "not_found";
    return r;
}

int al_git_stash_list(const struct al_repo *repo, size_t max_bytes, struct al_budget *budget,
                      struct al_git_output *ret_output, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;

    if (!al_repo_has_ref(repo, "refs/stash")) {
        *ret_output = (struct al_git_output){
            .out = AL_TEXT_INIT(0),
            .err = AL_TEXT_INIT(0),
        };
        return 0;
    }
    /* What `git stash list` runs, without the child it starts for it. */
    al_strv_adds(&command.argv, "git", "log", "--format=%gd: %gs", "-g", "--first-parent", "-m",
                 "refs/stash", "--", NULL);
    return al_git_run_checked(repo, &command, max_bytes, budget, ret_output, err);
}

int al_git_stash_show(const struct al_repo *repo, int64_t index, size_t max_bytes,
                      struct al_budget *budget, struct al_git_output *ret_output,
                      struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;

    if (!al_repo_has_ref(repo, "refs/stash"))
        return stash_empty(err);
    al_strv_adds(&command.argv, "git", "stash", "show", NULL);
    al_strv_addf(&command.argv, "stash@{%" PRId64 "}", index);
    return al_git_run_checked(repo, &command, max_bytes, budget, ret_output, err);
}

/* Paths a stash push takes away, or a pop or apply brings back. */
static int list_touched(const struct al_repo *repo, const struct al_stash_options *options,
                        struct al_budget *budget, struct al_buffer *list, struct al_error *err)
{
    al_auto(al_freep) char *entry = al_asprintf("stash@{%" PRId64 "}", options->index);
    al_auto(al_freep) char *parent = al_asprintf("%s^", entry);

    return options->action == AL_STASH_PUSH
               ? al_git_list_changed(repo, "HEAD", NULL, budget, list, err)
               : al_git_list_changed(repo, parent, entry, budget, list, err);
}

int al_git_stash_check(const struct al_repo *repo, const struct al_stash_options *options,
                       struct al_budget *budget, struct al_error *err)
{
    struct al_buffer list = { .max_bytes = AL_FILTERED_MAX_BYTES };
    bool applies = options->action == AL_STASH_POP || options->action == AL_STASH_APPLY;
    al_auto(al_error_clear) struct al_error ignored = AL_ERROR_INIT;
    int r;

    if (options->action != AL_STASH_PUSH && !al_repo_has_ref(repo, "refs/stash"))
        return options->action == AL_STASH_CLEAR ? 0 : stash_empty(err);
    if (options->action != AL_STASH_PUSH && !applies)
        return 0;
    if (!repo->vetting->filters.count && !(applies && repo->vetting->merge_drivers.count))
        return 0;
    r = list_touched(repo, options, budget, &list, &ignored);
    if (r == 0)
        r = al_git_check_filters(repo, &list, NULL, budget, err);
    else if (r == AL_ERR_EXECUTION)
        r = 0; /* no such entry: for git itself to complain about */
    if (r == 0 && applies && list.len)
        r = al_git_check_merge_drivers(repo, &list, budget, err);
    al_buffer_clear(&list);
    return r;
}

static void add_words(struct al_strv *argv, const struct al_stash_options *options)
{
    static const char *const verbs[] = { "push", "pop", "apply", "drop", "clear" };

    al_strv_adds(argv, "git", "stash", verbs[options->action], NULL);
    if (options->action == AL_STASH_PUSH) {
        if (options->include_untracked)
            al_strv_add(argv, "--include-untracked");
        if (options->message)
            al_strv_addf(argv, "--message=%s", options->message);
    } else if (options->action != AL_STASH_CLEAR) {
        al_strv_addf(argv, "stash@{%" PRId64 "}", options->index);
    }
}

int al_git_stash(struct al_repo *repo, const struct al_stash_options *options, size_t max_bytes,
                 struct al_budget *budget, struct al_git_output *ret_output, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    int r;

    command.class = AL_GIT_WRITE;
    command.starts_children = true; /* git stash runs gits of its own: reset, clean, apply */
    add_words(&command.argv, options);
    r = al_git_run_writer(repo, &command, max_bytes, budget, ret_output, err);
    if (r == AL_ERR_EXECUTION && err && strstr(err->message, "CONFLICT")) {
        err->code = AL_CODE_CONFLICT;
        err->reason = "conflict";
    }
    return r;
}
