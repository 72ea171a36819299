// SPDX-License-Identifier: Apache-2.0
#include "verbs/porcelain/branch.h"

#include <stdlib.h>

#include "git/command.h"
#include "git/failure.h"
#include "git/git_lock.h"
#include "git/plumbing/revision.h"
#include "git/refs.h"
#include "git/run.h"
#include "guard/text.h"
#include "verbs/preview/diff_excerpt.h"

/* More entries of a log are not looked at. */
#define LOG_MAX   1000
#define OID_BYTES 64

bool al_git_branch_was_at(const struct al_repo *repo, const char *name, const char *oid)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    const struct al_git_run run = { .max_bytes = LOG_MAX * (OID_BYTES + 1) };

    al_strv_adds(&command.argv, "git", "rev-list", "--walk-reflogs", NULL);
    al_strv_addf(&command.argv, "--max-count=%d", LOG_MAX);
    al_strv_addf(&command.argv, "refs/heads/%s", name);
    al_strv_add(&command.argv, "--");
    return *oid && al_git_run(&repo->at, &command, &run, &output, NULL) == 0 &&
           strstr(output.out.out.buf, oid);
}

int al_git_branch_list(const struct al_repo *repo, bool all, bool remote, size_t max_bytes,
                       struct al_git_output *ret_output, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;

    al_strv_adds(&command.argv, "git", "branch", "-v", NULL);
    if (all)
        al_strv_add(&command.argv, "-a");
    else if (remote)
        al_strv_add(&command.argv, "-r");
    return al_git_run_checked(&repo->at, &command, max_bytes, ret_output, err);
}

int al_git_branch_preview(const struct al_repo *repo, const char *name, struct al_str *out,
                          struct al_error *err)
{
    al_auto(al_freep) char *ref = al_asprintf("refs/heads/%s", name);
    al_auto(al_freep) char *others = al_asprintf("--exclude=refs/heads/%s", name);
    const char *const words[] = { ref, "--not", others, "--all", NULL };
    bool any;

    if (!al_ref_exists(&repo->at, ref)) /* git says so when it is deleted */
        return 0;
    return al_git_commits_excerpt(
        repo,
        &(struct al_commits_shown){ .words = words,
                                    .format = "%h %s",
                                    .title = "Lost, because nothing else holds these commits:" },
        out, &any, err);
}

/* The reference a branch must be merged to before `git branch -d` deletes it: its upstream if that
 * exists, else HEAD. */
static int merge_target(const struct al_repo *repo, const char *ref, char **ret_target,
                        struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_freep) char *upstream = NULL;
    int r;

    al_strv_adds(&command.argv, "git", "for-each-ref", "--format=%(upstream)", ref, NULL);
    r = al_git_run_word(repo, &command, &upstream, err);
    if (r == 0)
        *ret_target = upstream && *upstream && al_ref_exists(&repo->at, upstream)
                          ? al_take(&upstream)
                          : al_strdup("HEAD");
    return r;
}

static bool exists(const struct al_repo *repo, const char *name)
{
    al_auto(al_freep) char *ref = al_asprintf("refs/heads/%s", name);

    return al_ref_exists(&repo->at, ref);
}

int al_git_branch_create_check(const struct al_repo *repo, const char *name, struct al_error *err)
{
    al_auto(al_freep) char *safe = al_text_sanitize_line(name);

    return exists(repo, name)
               ? al_git_would_fail(err, "fatal: a branch named '%s' already exists", safe)
               : 0;
}

int al_git_branch_rename_check(const struct al_repo *repo, const char *name, const char *new_name,
                               struct al_error *err)
{
    al_auto(al_freep) char *safe = al_text_sanitize_line(name);
    al_auto(al_strv_clear) struct al_strv current = AL_STRV_INIT;

    al_ref_head_branches(&repo->at, &current);
    if (!exists(repo, name) && !al_strv_contains(&current, name))
        return al_git_would_fail(err, "fatal: no branch named '%s'", safe);
    return strcmp(name, new_name) != 0 ? al_git_branch_create_check(repo, new_name, err) : 0;
}

void al_branch_unmerged_clear(struct al_branch_unmerged *unmerged)
{
    free(unmerged->target);
    *unmerged = (struct al_branch_unmerged){ .ahead = 0 };
}

int al_git_branch_unmerged(const struct al_repo *repo, const char *name,
                           struct al_branch_unmerged *ret_unmerged, struct al_error *err)
{
    al_auto(al_freep) char *ref = al_asprintf("refs/heads/%s", name);
    size_t ahead = 0, missing = 0, behind;
    int r = merge_target(repo, ref, &ret_unmerged->target, err);

    if (r == 0)
        r = al_git_count_apart(repo, ref, ret_unmerged->target, &ahead, &behind, err);
    ret_unmerged->ahead = ahead;
    if (r == 0 && ret_unmerged->ahead && strcmp(ret_unmerged->target, "HEAD") != 0) {
        r = al_git_count_apart(repo, ref, "HEAD", &missing, &behind, err);
        ret_unmerged->is_in_head = r == 0 && !missing;
    }
    return r;
}

/* Run a command that changes a branch and says so. */
static int run(struct al_repo *repo, struct al_git_command *command, size_t max_bytes,
               struct al_git_output *ret_output, struct al_error *err)
{
    command->class = AL_GIT_WRITE;
    return al_git_run(&repo->at, command,
                      &(struct al_git_run){
                          .max_bytes = max_bytes, .locks = AL_LOCK_PACKED_REFS, .checked = true },
                      ret_output, err);
}

int al_git_branch_delete(struct al_repo *repo, const char *name, bool force, size_t max_bytes,
                         struct al_git_output *ret_output, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;

    al_strv_adds(&command.argv, "git", "branch", force ? "-D" : "-d", "--", name, NULL);
    return run(repo, &command, max_bytes, ret_output, err);
}

int al_git_branch_rename(struct al_repo *repo, const char *from, const char *to, size_t max_bytes,
                         struct al_git_output *ret_output, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;

    al_strv_adds(&command.argv, "git", "branch", "-m", "--", from, to, NULL);
    return run(repo, &command, max_bytes, ret_output, err);
}

int al_git_tag_create(struct al_repo *repo, const struct al_tag_options *options,
                      struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;

    al_strv_adds(&command.argv, "git", "tag", "--no-sign", NULL);
    if (options->message) {
        command.input = options->message;
        command.input_len = strlen(options->message);
        al_strv_adds(&command.argv, "--annotate", "--cleanup=whitespace", "--file=-", NULL);
    }
    al_strv_adds(&command.argv, "--", options->name, options->rev ? options->rev : "HEAD", NULL);
    return al_git_write(&repo->at, &command, 0, err);
}

int al_git_tag_delete(struct al_repo *repo, const char *name, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;

    al_strv_adds(&command.argv, "git", "tag", "--delete", "--", name, NULL);
    return al_git_write(&repo->at, &command, AL_LOCK_PACKED_REFS, err);
}

/* Another process moved what the branch was made from.  The branch goes as it came. */
static int take_back(struct al_repo *repo, const char *name, const char *made, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_git_command_clear) struct al_git_command config = AL_GIT_COMMAND_INIT;
    al_auto(al_error_clear) struct al_error none = AL_ERROR_INIT;
    int r;

    al_strv_adds(&command.argv, "git", "update-ref", "--no-deref", "-d", NULL);
    al_strv_addf(&command.argv, "refs/heads/%s", name);
    al_strv_add(&command.argv, made);
    r = al_git_write(&repo->at, &command, AL_LOCK_PACKED_REFS, err);
    al_strv_adds(&config.argv, "git", "config", "--local", "--remove-section", NULL);
    al_strv_addf(&config.argv, "branch.%s", name);
    if (r == 0) /* fails if the branch follows none */
        (void)al_git_write(&repo->at, &config, AL_LOCK_CONFIG, &none);
    return r < 0 ? r
                 : al_error_set(err, AL_ERR_EXECUTION,
                                "What the branch was to begin at moved just now; nothing was done");
}

int al_git_branch_create_from(struct al_repo *repo, const char *name, const char *from,
                              const char *oid, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_freep) char *ref = al_asprintf("refs/heads/%s", name);
    al_auto(al_freep) char *now = NULL, *moved = NULL;
    int r;

    al_strv_adds(&command.argv, "git", "branch", "--", name, from ? from : oid, NULL);
    r = al_git_write(&repo->at, &command, 0, err);
    if (r < 0 || !oid)
        return r;
    now = al_ref_oid(&repo->at, ref);
    if (!strcmp(now, oid))
        return 0;
    r = al_git_resolve_commit(repo, from ? from : oid, &moved, err);
    if (r == 0 && strcmp(now, moved) != 0) /* somebody commits on it already */
        r = al_error_set(err, AL_ERR_EXECUTION, "The branch moved as soon as it was made");
    return r < 0 ? r : take_back(repo, name, now, err);
}
