// SPDX-License-Identifier: Apache-2.0
#include "gitops/landing/branches.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gitops/plumbing/revision.h"
#include "gitops/refs.h"
#include "gitops/run.h"
#include "guard/arg.h"
#include "guard/text.h"

#define COUNTS_BYTES 128u

void al_named_branch_clear(struct al_named_branch *branch)
{
    free(branch->ref);
    free(branch->oid);
    *branch = (struct al_named_branch){ .ref = NULL };
}

const char *al_named_branch_name(const struct al_named_branch *branch)
{
    return branch->ref + strlen(AL_HEADS);
}

int al_landing_check_name(const char *param, const char *name, struct al_error *err)
{
    al_auto(al_freep) char *safe = NULL;
    int r = al_arg_check_branch(param, name, err);

    if (r < 0 || !al_starts_with(name, AL_HEADS))
        return r;
    safe = al_text_sanitize_line(name + strlen(AL_HEADS));
    return al_error_set(err, AL_ERR_BAD_ARGS, "%s is a name without " AL_HEADS "; give '%s'", param,
                        safe);
}

static int not_found(const char *name, struct al_error *err)
{
    al_auto(al_freep) char *safe = al_text_sanitize_line(name);

    return al_error_about(al_error_set_code(err, AL_ERR_EXECUTION, AL_CODE_BRANCH_NOT_FOUND,
                                            "There is no branch '%s'", safe),
                          err, AL_SUBJECT_BRANCH, safe);
}

int al_landing_find(const struct al_repo *repo, const char *name,
                    struct al_named_branch *ret_branch, struct al_error *err)
{
    al_auto(al_freep) char *ref = al_asprintf(AL_HEADS "%s", name);
    al_auto(al_freep) char *loose = al_ref_read_loose(&repo->at, ref);
    al_auto(al_freep) char *oid = NULL;

    if (loose && al_starts_with(loose, "ref:")) {
        al_auto(al_freep) char *safe = al_text_sanitize_line(name);

        return al_error_set(err, AL_ERR_EXECUTION,
                            "Branch '%s' stands for another branch (it is a symbolic reference); "
                            "name that one",
                            safe);
    }
    oid = al_ref_oid(&repo->at, ref);
    if (!oid || !*oid)
        return not_found(name, err);
    ret_branch->ref = al_take(&ref);
    ret_branch->oid = al_take(&oid);
    return 0;
}

int al_landing_default(const struct al_repo *repo, char **ret_name, struct al_error *err)
{
    static const char prefix[] = "ref: refs/remotes/origin/";
    al_auto(al_freep) char *origin = al_ref_read_loose(&repo->at, "refs/remotes/origin/HEAD");
    const char *const names[] = {
        "main", origin && al_starts_with(origin, prefix) ? origin + strlen(prefix) : NULL, "master"
    };

    for (size_t i = 0; i < AL_COUNT(names); i++) {
        al_auto(al_freep) char *ref = names[i] ? al_asprintf(AL_HEADS "%s", names[i]) : NULL;

        if (ref && al_ref_exists(&repo->at, ref)) {
            *ret_name = al_strdup(names[i]);
            return 0;
        }
    }
    return al_error_set_code(err, AL_ERR_EXECUTION, AL_CODE_BRANCH_NOT_FOUND,
                             "The repository has no branch main or master, and none that is "
                             "origin's default; give into");
}

int al_landing_base(const struct al_repo *repo, const char *one, const char *other,
                    struct al_run_limits *budget, char **ret_base, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;

    al_strv_adds(&command.argv, "git", "-c", AL_NO_COMMIT_GRAPH, "merge-base", one, other, NULL);
    return al_git_run_word(repo, &command, budget, ret_base, err);
}

int al_landing_count(const struct al_repo *repo, const char *ours, const char *theirs,
                     struct al_run_limits *budget, size_t *ret_ours, size_t *ret_theirs,
                     struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    int r;

    al_strv_adds(&command.argv, "git", "-c", AL_NO_COMMIT_GRAPH, "rev-list", "--left-right",
                 "--count", NULL);
    al_strv_addf(&command.argv, "%s...%s", ours, theirs);
    al_strv_add(&command.argv, "--");
    r = al_git_run(&repo->at, &command,
                   &(struct al_git_run){ .max_bytes = COUNTS_BYTES, .checked = true }, budget,
                   &output, err);
    if (r == 0 && sscanf(output.out.out.buf, "%zu %zu", ret_ours, ret_theirs) != 2)
        r = al_error_set(err, AL_ERR_EXECUTION, "git rev-list did not say what was asked");
    return r;
}
