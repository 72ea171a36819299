// SPDX-License-Identifier: Apache-2.0
#include "git/plumbing/revision.h"

#include <stdio.h>

#include "git/command.h"
#include "git/refs.h"
#include "git/run.h"
#include "git/vet/vet.h"
#include "guard/text.h"

#define WORD_MAX_BYTES (64u << 10) /* an id, a name of a reference, the ids of the parents */

int al_git_run_word(const struct al_repo *repo, struct al_git_command *command, char **ret_word,
                    struct al_error *err)
{
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    int r = al_git_run(&repo->at, command, &(struct al_git_run){ .max_bytes = WORD_MAX_BYTES },
                       &output, err);

    if (r < 0)
        return r;
    al_str_trim_end(&output.out.out);
    *ret_word = al_git_read_well(&output) ? al_str_detach(&output.out.out) : NULL;
    return 0;
}

int al_git_find_object(const struct al_repo *repo, const char *word, const char *type,
                       char **ret_oid, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_freep) char *typed = al_asprintf("%s^{%s}", word, type);

    /* ":/text" goes on to the end of the word. */
    al_strv_adds(&command.argv, "git", "rev-parse", "--verify", "--quiet",
                 al_starts_with(word, ":/") ? word : typed, NULL);
    return al_git_run_word(repo, &command, ret_oid, err);
}

int al_git_resolve_commit(const struct al_repo *repo, const char *word, char **ret_oid,
                          struct al_error *err)
{
    al_auto(al_freep) char *shown = NULL;
    int r = al_git_find_object(repo, word, "commit", ret_oid, err);

    if (r < 0 || *ret_oid)
        return r;
    shown = al_text_sanitize_line(word);
    r = al_error_set_code(err, AL_ERR_EXECUTION, AL_CODE_BRANCH_NOT_FOUND, "Branch not found: %s",
                          shown);
    return al_error_about(al_error_reason(r, err, "not_found"), err, AL_SUBJECT_REVISION, shown);
}

int al_git_resolve_branch(const struct al_repo *repo, const char *word, char **ret_oid,
                          struct al_error *err)
{
    al_auto(al_freep) char *ref = al_asprintf("refs/heads/%s", word);
    al_auto(al_freep) char *oid = al_ref_oid(&repo->at, ref);

    if (!al_is_oid(oid, strlen(oid)) || !*oid)
        return al_git_resolve_commit(repo, word, ret_oid, err);
    *ret_oid = al_take(&oid);
    return 0;
}

int al_git_merge_base(const struct al_repo *repo, const char *one, const char *other,
                      char **ret_base, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;

    al_strv_adds(&command.argv, "git", "-c", AL_NO_COMMIT_GRAPH, "merge-base", one, other, NULL);
    return al_git_run_word(repo, &command, ret_base, err);
}

int al_git_count_apart(const struct al_repo *repo, const char *ours, const char *theirs,
                       size_t *ret_ours, size_t *ret_theirs, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    int r;

    al_strv_adds(&command.argv, "git", "-c", AL_NO_COMMIT_GRAPH, "rev-list", "--left-right",
                 "--count", NULL);
    al_strv_addf(&command.argv, "%s...%s", ours, theirs);
    al_strv_add(&command.argv, "--");
    r = al_git_run_checked(&repo->at, &command, WORD_MAX_BYTES, &output, err);
    if (r == 0 && sscanf(output.out.out.buf, "%zu %zu", ret_ours, ret_theirs) != 2)
        r = al_error_set(err, AL_ERR_EXECUTION, "git rev-list did not say what was asked");
    return r;
}

const char *al_git_empty_tree(const struct al_repo *repo)
{
    return repo->vetting->is_sha256
               ? "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321"
               : "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
}
