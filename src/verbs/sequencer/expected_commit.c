// SPDX-License-Identifier: Apache-2.0
#include "verbs/sequencer/expected_commit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/fs.h"
#include "git/command.h"
#include "git/failure.h"
#include "git/location.h"
#include "git/oid.h"
#include "git/plumbing/revision.h"
#include "git/refs.h"
#include "git/run.h"
#include "git/vet/vet.h"
#include "verbs/preview/verify_objects.h"
#include "verbs/sequencer/operation_state.h"

#define PARENTS_MAX_BYTES (64u * 1024u)

static bool hash(void *payload, const char *data, size_t len)
{
    al_hash_add(payload, data, len);
    return true;
}

/* Digest of the differing files with their ids and modes. `to` NULL: compare with the index, the
 * repository's own if `index` is NULL. */
static int digest_changes(const struct al_repo *repo, const char *from, const char *to,
                          const char *index, struct al_run_limits *budget, char ret_hex[65],
                          struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    struct al_hash sum;
    struct al_oid id;
    int r;

    command.index = index;
    al_hash_init(&sum, true);
    al_strv_adds(&command.argv, "git", "diff", "--raw", "-z", "--no-abbrev", "--no-renames",
                 "--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty", NULL);
    if (!to)
        al_strv_add(&command.argv, "--cached");
    al_strv_add(&command.argv, *from ? from : al_git_empty_tree(repo));
    if (to)
        al_strv_add(&command.argv, to);
    al_strv_add(&command.argv, "--");
    r = al_git_run(&repo->at, &command, &(struct al_git_run){ .sink = { hash, &sum } }, budget,
                   &output, err);
    if (r == 0 && output.exit_code != 0)
        r = al_git_failed(&output, err);
    al_hash_end(&sum, &id);
    al_oid_text(&id, true, ret_hex);
    return r;
}

int al_git_add_merge_heads(const struct al_repo *repo, struct al_str *out, struct al_error *err)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    char *save = NULL;
    int r = al_operation_file(repo, "MERGE_HEAD", &text);

    if (r < 0 && r != -ENOENT)
        return al_error_errno(err, -r, "cannot read 'MERGE_HEAD'");
    for (char *id = strtok_r(text.buf, "\n", &save); id; id = strtok_r(NULL, "\n", &save))
        al_str_addf(out, " %s", id);
    return 0;
}

/* Whether the merge records every parent, even one that another parent contains (--no-ff). */
static bool keeps_all_parents(const struct al_repo *repo)
{
    al_auto(al_str_clear) struct al_str mode = AL_STR_INIT;

    return al_operation_file(repo, "MERGE_MODE", &mode) == 0 && strstr(mode.buf, "no-ff");
}

/* Append the parents that git commit would record. For a merge it leaves out parents that another
 * parent contains. */
static int add_parents(const struct al_repo *repo, const char *head, struct al_run_limits *budget,
                       struct al_str *out, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    al_auto(al_str_clear) struct al_str merged = AL_STR_INIT;
    char *save = NULL;
    int r = al_git_add_merge_heads(repo, &merged, err);

    if (r < 0 || !merged.len || !*head || keeps_all_parents(repo)) {
        al_str_addf(out, "%s%s%s", *head ? " " : "", head, merged.buf);
        return r;
    }
    al_strv_adds(&command.argv, "git", "merge-base", "--independent", head, NULL);
    for (char *id = strtok_r(merged.buf, " ", &save); id; id = strtok_r(NULL, " ", &save))
        if (al_is_oid(id, strlen(id)))
            al_strv_add(&command.argv, id);
    r = al_git_run(&repo->at, &command,
                   &(struct al_git_run){ .max_bytes = PARENTS_MAX_BYTES, .checked = true }, budget,
                   &output, err);
    if (r < 0)
        return r;
    for (char *id = strtok_r(output.out.out.buf, "\n", &save); id; id = strtok_r(NULL, "\n", &save))
        al_str_addf(out, " %s", id);
    return 0;
}

int al_git_expect_commit(const struct al_repo *repo, const char *index,
                         struct al_run_limits *budget, char **ret_expected, struct al_error *err)
{
    al_auto(al_freep) char *head = al_ref_head(&repo->at);
    al_auto(al_str_clear) struct al_str expected = AL_STR_INIT;
    char changes[65];
    int r = digest_changes(repo, head, NULL, index, budget, changes, err);

    if (r < 0)
        return r;
    al_str_adds(&expected, changes);
    r = add_parents(repo, head, budget, &expected, err);
    if (r == 0)
        *ret_expected = al_str_detach(&expected);
    return r;
}

int al_git_read_parents(const struct al_repo *repo, const char *commit,
                        struct al_run_limits *budget, struct al_str *out, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    const char *blank;
    int r;

    al_strv_adds(&command.argv, "git", "rev-list", "--parents", "--max-count=1", commit, "--",
                 NULL);
    r = al_git_run(&repo->at, &command,
                   &(struct al_git_run){ .max_bytes = PARENTS_MAX_BYTES, .checked = true }, budget,
                   &output, err);
    if (r < 0)
        return r;
    al_str_trim_end(&output.out.out);
    blank = strchr(output.out.out.buf, ' ');
    al_str_adds(out, blank ? blank : "");
    return 0;
}

int al_git_check_commit(const struct al_repo *repo, const char *expected, const char *from,
                        struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_freep) char *commit = al_ref_head(&repo->at);
    al_auto(al_str_clear) struct al_str became = AL_STR_INIT;
    char changes[65];
    int r = digest_changes(repo, from, commit, NULL, budget, changes, err);

    if (r < 0)
        return r;
    al_str_adds(&became, changes);
    r = al_git_read_parents(repo, commit, budget, &became, err);
    if (r == 0 && strcmp(became.buf, expected) != 0)
        r = al_error_set(
            err, AL_ERR_EXECUTION,
            "The commit differs from what was shown, since another process changed the "
            "index meanwhile");
    return r;
}
