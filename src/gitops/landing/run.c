// SPDX-License-Identifier: Apache-2.0
/* The objects come first, then the reference, then the working tree. */
#include "gitops/run.h"
#include "gitops/follow/follow.h"
#include "gitops/landing/private.h"
#include "gitops/refs.h"
#include "guard/text.h"

#define MESSAGE_BYTES (64u * 1024u)

/* Move `into` in one transaction that also verifies where the landed branch is. */
static int move(const struct al_landing *landing, const char *from, const char *to,
                bool verifies_branch, struct al_run_limits *budget,
                struct al_git_output *ret_output, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_str_clear) struct al_str input = AL_STR_INIT;

    al_str_addf(&input, "option no-deref\nupdate %s %s %s\n", landing->into.ref, to, from);
    if (verifies_branch)
        al_str_addf(&input, "option no-deref\nverify %s %s\n", landing->branch.ref,
                    landing->branch.oid);
    command.class = AL_GIT_WRITE;
    command.input = input.buf;
    command.input_len = input.len;
    al_strv_adds(&command.argv, "git", "update-ref", "-m", NULL);
    al_strv_addf(&command.argv, "airlock: land %s (%s)", al_named_branch_name(&landing->branch),
                 al_landing_strategy_name(landing->strategy));
    al_strv_add(&command.argv, "--stdin");
    return al_git_run(&landing->repo->at, &command,
                      &(struct al_git_run){ .max_bytes = MESSAGE_BYTES }, budget, ret_output, err);
}

/* Say which branch moved, if one did. */
static int not_moved(const struct al_landing *landing, const struct al_git_output *output,
                     struct al_error *err)
{
    const struct al_named_branch *const branches[] = { &landing->into, &landing->branch };
    al_auto(al_freep) char *why = al_text_join_lines(output->err.out.buf);

    for (size_t i = 0; i < AL_COUNT(branches); i++) {
        al_auto(al_freep) char *now = al_ref_oid(&landing->repo->at, branches[i]->ref);
        al_auto(al_freep) char *name = al_text_sanitize_line(al_named_branch_name(branches[i]));

        if (strcmp(now, branches[i]->oid) != 0)
            return al_error_set_code(err, AL_ERR_EXECUTION, AL_CODE_CONFLICT,
                                     "Branch %s moved meanwhile, and nothing was landed; call "
                                     "git_land again",
                                     name);
    }
    return al_error_set(err, AL_ERR_EXECUTION, "git did not move the branch: %s", why);
}

static int move_forward(const struct al_landing *landing, struct al_run_limits *budget,
                        struct al_error *err)
{
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    int r = move(landing, landing->into.oid, landing->commit, true, budget, &output, err);

    return r == 0 && output.exit_code != 0 ? not_moved(landing, &output, err) : r;
}

/* The working tree could not follow: the branch goes back, so that nothing is half landed. */
static void move_back(const struct al_landing *landing, struct al_run_limits *budget,
                      struct al_error *err)
{
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    struct al_run_limits left = { .left_ms = budget->left_ms > 10000 ? budget->left_ms : 10000 };
    int r = move(landing, landing->commit, landing->into.oid, false, &left, &output, NULL);

    if (err && (r < 0 || output.exit_code != 0))
        err->remedy = "The branch has moved all the same; the user can take it back with 'airlock "
                      "rollback'.";
}

int al_landing_run(struct al_landing *landing, struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_freep) char *shown = al_text_sanitize_line(landing->repo->at.top);
    const struct al_follow with = { .repo = landing->repo,
                                    .from = landing->into.oid,
                                    .shown = shown };
    int r = al_landing_check(landing, budget, err);

    if (r == 0)
        r = al_inmemory_accept(landing->memory, landing->commit, budget, err);
    if (r == 0)
        r = move_forward(landing, budget, err);
    if (r < 0 || !al_landing_is_checked_out(landing->repo, landing->into.ref))
        return r;
    r = al_follow_wholly(&with, landing->commit, budget, err);
    if (r < 0)
        move_back(landing, budget, err);
    return r;
}
