// SPDX-License-Identifier: Apache-2.0
#include "gitops/sequencer/savepoint.h"

#include <stdlib.h>
#include <unistd.h>

#include "gitops/command.h"
#include "gitops/index_lock.h"
#include "gitops/refs.h"
#include "gitops/run.h"
#include "guard/text.h"

/* Time to put back what a killed git left: apart from the call's, which may be used up. */
#define PUT_BACK_MS 60000u

/* A killed git removes its lock at once; somebody else's is not waited for long. */
#define LOCK_MS 5000u

void al_savepoint_clear(struct al_savepoint *before)
{
    for (size_t i = 0; i < before->nfiles; i++) {
        free(before->files[i].name);
        al_str_clear(&before->files[i].text);
    }
    free(before->files);
    if (before->index)
        (void)unlink(before->index);
    free(before->index);
    free(before->head);
    free(before->commit);
    al_strv_clear(&before->refs);
    al_strv_clear(&before->incoming);
    al_buffer_clear(&before->dirty);
    al_buffer_clear(&before->there);
    *before = AL_SAVEPOINT_INIT;
}

static void note_ref(const struct al_repo *repo, struct al_savepoint *before, const char *ref)
{
    if (!al_is_reference(ref))
        return;
    al_strv_add(&before->refs, ref);
    al_strv_take(&before->refs, al_ref_oid(&repo->at, ref));
}

/* The branch HEAD is on, and the one that a rebase in progress will move when it ends. */
static void note_refs(const struct al_repo *repo, struct al_savepoint *before)
{
    before->head = al_ref_read_head(&repo->at);
    before->commit = al_ref_head(&repo->at);
    if (before->head && al_starts_with(before->head, "ref: "))
        note_ref(repo, before, before->head + strlen("ref: "));
    for (size_t i = 0; i < before->nfiles; i++) {
        al_auto(al_freep) char *ref = NULL;

        if (!al_ends_with(before->files[i].name, "/head-name"))
            continue;
        ref = al_strndup(before->files[i].text.buf, strcspn(before->files[i].text.buf, "\n"));
        note_ref(repo, before, ref);
    }
}

int al_savepoint_note(const struct al_repo *repo, const struct al_strv *incoming,
                      struct al_run_limits *budget, struct al_savepoint *ret_before,
                      struct al_error *err)
{
    struct al_savepoint before = AL_SAVEPOINT_INIT;
    int r;

    for (size_t i = 0; i < incoming->count; i++)
        al_strv_add(&before.incoming, incoming->items[i]);
    r = al_savepoint_note_files(repo, &before, err);
    if (r == 0) {
        note_refs(repo, &before);
        r = al_savepoint_note_tree(repo, budget, &before, err);
    }
    if (r < 0) {
        al_savepoint_clear(&before);
        return r;
    }
    *ret_before = before;
    return 0;
}

int al_savepoint_note_git_dir(const struct al_repo *repo, struct al_savepoint *ret_before,
                              struct al_error *err)
{
    struct al_savepoint before = AL_SAVEPOINT_INIT;
    int r = al_savepoint_note_files(repo, &before, err);

    if (r < 0) {
        al_savepoint_clear(&before);
        return r;
    }
    note_refs(repo, &before);
    *ret_before = before;
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

static int put_back_ref(const struct al_repo *repo, const char *ref, const char *commit,
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

static int put_back_head(const struct al_repo *repo, const char *head, struct al_run_limits *budget,
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

static int put_back_refs(const struct al_repo *repo, const struct al_savepoint *before,
                         struct al_run_limits *budget, struct al_error *err)
{
    int r = put_back_head(repo, before->head, budget, err);

    for (size_t i = 0; r == 0 && i + 1 < before->refs.count; i += 2)
        r = put_back_ref(repo, before->refs.items[i], before->refs.items[i + 1], budget, err);
    return r;
}

int al_savepoint_put_back_git_dir(struct al_repo *repo, const struct al_savepoint *before,
                                  struct al_error *err)
{
    struct al_run_limits budget = { .left_ms = PUT_BACK_MS };
    int r = put_back_refs(repo, before, &budget, err);

    return r == 0 ? al_savepoint_put_back_files(repo, before, err) : r;
}

int al_savepoint_put_back(struct al_repo *repo, const struct al_savepoint *before,
                          struct al_error *err)
{
    struct al_run_limits budget = { .left_ms = LOCK_MS };
    int r = al_index_lock_wait(&repo->at, &budget, err);

    budget.left_ms = PUT_BACK_MS;
    if (r == 0)
        r = al_savepoint_put_back_tree(repo, before, &budget, err);
    if (r == 0)
        r = al_savepoint_put_back_index(repo, before, err);
    if (r == 0)
        r = put_back_refs(repo, before, &budget, err);
    if (r == 0)
        r = al_savepoint_put_back_files(repo, before, err);
    return r;
}

int al_savepoint_settle(struct al_repo *repo, const struct al_savepoint *before, int r,
                        struct al_error *err)
{
    al_auto(al_error_clear) struct al_error problem = AL_ERROR_INIT;
    bool done;

    if (r != AL_ERR_TIMEOUT && r != AL_ERR_CANCELLED)
        return r;
    done = al_savepoint_put_back(repo, before, &problem) == 0;
    if (!err)
        return r;
    free(err->detail);
    err->detail =
        done ? al_strdup("The repository was put back as it was.")
             : al_asprintf("The repository could not be put back as it was: %s", problem.message);
    err->remedy = done ? "The repository was put back as it was; a person can raise timeout_ms in "
                         "[tools.git] of the configuration."
                       : "The repository could not be put back as it was: see git_status, and "
                         "git_merge with abort.";
    return r;
}

int al_savepoint_undo(struct al_repo *repo, const struct al_savepoint *before, int r,
                      struct al_error *err)
{
    al_auto(al_error_clear) struct al_error problem = AL_ERROR_INIT;

    if (r != AL_ERR_EXECUTION)
        return al_savepoint_settle(repo, before, r, err);
    if (al_savepoint_put_back(repo, before, &problem) < 0 && err) {
        free(err->detail);
        err->detail =
            al_asprintf("The repository could not be put back as it was: %s", problem.message);
    }
    return r;
}
