// SPDX-License-Identifier: Apache-2.0
#include "gitops/sequencer/savepoint.h"

#include <stdlib.h>

#include "gitops/command.h"
#include "gitops/git_lock.h"
#include "gitops/refs.h"
#include "gitops/run.h"
#include "guard/text.h"

/* Time limit for restoring, apart from the call's own, which may be used up. */
#define RESTORE_MS 60000u

/* A killed git removes its index lock at once. The lock of another process is waited for only this
 * long. */
#define LOCK_MS 5000u

void al_savepoint_clear(struct al_savepoint *savepoint)
{
    for (size_t i = 0; i < savepoint->nfiles; i++) {
        free(savepoint->files[i].name);
        al_str_clear(&savepoint->files[i].text);
    }
    free(savepoint->files);
    al_closep(&savepoint->index);
    free(savepoint->head);
    free(savepoint->commit);
    al_strv_clear(&savepoint->refs);
    al_strv_clear(&savepoint->incoming);
    al_strv_clear(&savepoint->written);
    al_buffer_clear(&savepoint->dirty);
    al_buffer_clear(&savepoint->preexisting);
    *savepoint = AL_SAVEPOINT_INIT;
}

static void save_ref(const struct al_repo *repo, struct al_savepoint *savepoint, const char *ref)
{
    if (!al_is_reference(ref))
        return;
    al_strv_add(&savepoint->refs, ref);
    al_strv_take(&savepoint->refs, al_ref_oid(&repo->at, ref));
}

/* Save the branch that HEAD is on, and the one that a rebase in progress will move when it ends. */
static void save_refs(const struct al_repo *repo, struct al_savepoint *savepoint)
{
    savepoint->head = al_ref_read_head(&repo->at);
    savepoint->commit = al_ref_head(&repo->at);
    if (savepoint->head && al_starts_with(savepoint->head, "ref: "))
        save_ref(repo, savepoint, savepoint->head + strlen("ref: "));
    for (size_t i = 0; i < savepoint->nfiles; i++) {
        al_auto(al_freep) char *ref = NULL;

        if (!al_ends_with(savepoint->files[i].name, "/head-name"))
            continue;
        ref = al_strndup(savepoint->files[i].text.buf, strcspn(savepoint->files[i].text.buf, "\n"));
        save_ref(repo, savepoint, ref);
    }
}

int al_savepoint_create_for(const struct al_repo *repo, const struct al_strv *incoming,
                            const struct al_strv *files, struct al_run_limits *budget,
                            struct al_savepoint *ret_savepoint, struct al_error *err)
{
    struct al_savepoint savepoint = AL_SAVEPOINT_INIT;
    int r;

    savepoint.any_file = !files;
    savepoint.watch = budget->watch;
    for (size_t i = 0; files && i < files->count; i++)
        al_strv_add(&savepoint.written, files->items[i]);
    al_strv_sort(&savepoint.written);

    for (size_t i = 0; i < incoming->count; i++)
        al_strv_add(&savepoint.incoming, incoming->items[i]);
    r = al_savepoint_take_files(repo, &savepoint, err);
    if (r == 0)
        r = al_savepoint_take_index(repo, &savepoint, err);
    if (r == 0) {
        save_refs(repo, &savepoint);
        r = al_savepoint_take_tree(repo, budget, &savepoint, err);
    }
    if (r < 0) {
        al_savepoint_clear(&savepoint);
        return r;
    }
    *ret_savepoint = savepoint;
    return 0;
}

int al_savepoint_create(const struct al_repo *repo, const struct al_strv *incoming,
                        struct al_run_limits *budget, struct al_savepoint *ret_savepoint,
                        struct al_error *err)
{
    return al_savepoint_create_for(repo, incoming, NULL, budget, ret_savepoint, err);
}

int al_savepoint_take_git_dir(const struct al_repo *repo, struct al_savepoint *ret_savepoint,
                              struct al_error *err)
{
    struct al_savepoint savepoint = AL_SAVEPOINT_INIT;
    int r = al_savepoint_take_files(repo, &savepoint, err);

    if (r < 0) {
        al_savepoint_clear(&savepoint);
        return r;
    }
    save_refs(repo, &savepoint);
    *ret_savepoint = savepoint;
    return 0;
}

static int run(const struct al_repo *repo, struct al_git_command *command,
               struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };

    command->class = AL_GIT_WRITE;
    return al_git_run(&repo->at, command, &(struct al_git_run){ .max_bytes = 0, .checked = true },
                      budget, &output, err);
}

static int restore_ref(const struct al_repo *repo, const char *ref, const char *commit,
                       struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_freep) char *now = al_ref_oid(&repo->at, ref);

    if (!strcmp(now, commit))
        return 0;
    al_strv_adds(&command.argv, "git", "update-ref", "-m", "airlock: put back", NULL);
    if (*commit)
        al_strv_adds(&command.argv, ref, commit, NULL);
    else
        al_strv_adds(&command.argv, "-d", ref, NULL);
    return run(repo, &command, budget, err);
}

static int restore_head(const struct al_repo *repo, const char *head, struct al_run_limits *budget,
                        struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_freep) char *now = al_ref_read_head(&repo->at);

    if (!head || (now && !strcmp(now, head)))
        return 0;
    al_strv_add(&command.argv, "git");
    if (al_starts_with(head, "ref: "))
        al_strv_adds(&command.argv, "symbolic-ref", "-m", "airlock: put back", "HEAD",
                     head + strlen("ref: "), NULL);
    else
        al_strv_adds(&command.argv, "update-ref", "-m", "airlock: put back", "--no-deref", "HEAD",
                     head, NULL);
    return run(repo, &command, budget, err);
}

static int restore_refs(const struct al_repo *repo, const struct al_savepoint *savepoint,
                        struct al_run_limits *budget, struct al_error *err)
{
    int r = restore_head(repo, savepoint->head, budget, err);

    for (size_t i = 0; r == 0 && i + 1 < savepoint->refs.count; i += 2)
        r = restore_ref(repo, savepoint->refs.items[i], savepoint->refs.items[i + 1], budget, err);
    return r;
}

int al_savepoint_restore_git_dir(struct al_repo *repo, const struct al_savepoint *savepoint,
                                 struct al_error *err)
{
    struct al_run_limits budget = { .left_ms = RESTORE_MS };
    int r = restore_refs(repo, savepoint, &budget, err);

    return r == 0 ? al_savepoint_restore_files(repo, savepoint, err) : r;
}

int al_savepoint_restore(struct al_repo *repo, const struct al_savepoint *savepoint,
                         struct al_error *err)
{
    struct al_run_limits budget = { .left_ms = LOCK_MS, .watch = savepoint->watch };
    int r = al_git_lock_wait(&repo->at, AL_LOCK_INDEX, &budget, err);

    budget.left_ms = RESTORE_MS;
    if (r == 0)
        r = al_savepoint_restore_tree(repo, savepoint, &budget, err);
    if (r == 0)
        r = al_savepoint_restore_index(repo, savepoint, err);
    if (r == 0)
        r = restore_refs(repo, savepoint, &budget, err);
    if (r == 0)
        r = al_savepoint_restore_files(repo, savepoint, err);
    return r;
}

int al_savepoint_restore_if_stopped(struct al_repo *repo, const struct al_savepoint *savepoint,
                                    int r, struct al_error *err)
{
    al_auto(al_error_clear) struct al_error problem = AL_ERROR_INIT;
    bool done;

    if (r != AL_ERR_TIMEOUT && r != AL_ERR_CANCELLED)
        return r;
    done = al_savepoint_restore(repo, savepoint, &problem) == 0;
    if (!err)
        return r;
    free(err->detail);
    err->detail =
        done ? al_strdup("The repository was put back as it was.")
             : al_asprintf("The repository could not be put back as it was: %s", problem.message);
    err->remedy = done ? "The repository was put back as it was; the user can raise timeout_ms in "
                         "[tools.git] of the configuration."
                       : "The repository could not be put back as it was: see git_status, and "
                         "git_merge with abort.";
    return r;
}

int al_savepoint_restore_if_failed(struct al_repo *repo, const struct al_savepoint *savepoint,
                                   int r, struct al_error *err)
{
    al_auto(al_error_clear) struct al_error problem = AL_ERROR_INIT;

    if (r != AL_ERR_EXECUTION)
        return al_savepoint_restore_if_stopped(repo, savepoint, r, err);
    if (al_savepoint_restore(repo, savepoint, &problem) < 0 && err) {
        free(err->detail);
        err->detail =
            al_asprintf("The repository could not be put back as it was: %s", problem.message);
    }
    return r;
}
