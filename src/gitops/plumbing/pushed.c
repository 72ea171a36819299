// SPDX-License-Identifier: Apache-2.0
#include "gitops/plumbing/pushed.h"

#include "gitops/command.h"
#include "gitops/failure.h"
#include "gitops/plumbing/revision.h"
#include "gitops/refs.h"
#include "gitops/repo/known_remotes.h"
#include "gitops/run.h"

#define COUNT_MAX_BYTES 64u
#define TIPS_MAX_BYTES  (16u << 20)

int al_git_note_pushed(const struct al_repo *repo, struct al_run_limits *budget,
                       struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_CONTENT_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    al_auto(al_strv_clear) struct al_strv tips = AL_STRV_INIT;
    char *save = NULL;
    int r;

    al_strv_adds(&command.argv, "git", "for-each-ref", "--format=%(objectname)", "refs/remotes/",
                 NULL);
    r = al_git_run(&repo->at, &command,
                   &(struct al_git_run){ .max_bytes = TIPS_MAX_BYTES, .checked = true }, budget,
                   &output, err);
    if (r < 0)
        return r;
    for (char *id = strtok_r(output.out.out.buf, "\n", &save); id; id = strtok_r(NULL, "\n", &save))
        if (al_is_oid(id, strlen(id)))
            al_strv_add(&tips, id);
    al_remote_tips_note(repo, &tips);
    return 0;
}

/* Count commits, "0" to be compared as text; with `pushed` only those that none of these has and
 * no remote-tracking branch. */
static int count(const struct al_repo *repo, const char *from, const char *to,
                 const struct al_str *pushed, struct al_run_limits *budget, char **ret_count,
                 struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    int r;

    al_strv_adds(&command.argv, "git", "-c", AL_NO_COMMIT_GRAPH, "rev-list", "--count", NULL);
    if (!to)
        al_strv_adds(&command.argv, pushed ? "--max-count=1" : "--no-walk", NULL);
    al_strv_add(&command.argv, from);
    if (to)
        al_strv_addf(&command.argv, "^%s", to);
    if (pushed) {
        command.input = pushed->buf;
        command.input_len = pushed->len;
        al_strv_adds(&command.argv, "--ignore-missing", "--stdin", "--not", "--remotes", NULL);
    } else {
        al_strv_add(&command.argv, "--");
    }
    r = al_git_run(&repo->at, &command,
                   &(struct al_git_run){ .max_bytes = COUNT_MAX_BYTES, .checked = true }, budget,
                   &output, err);
    if (r < 0)
        return r;
    al_str_trim_end(&output.out.out);
    *ret_count = al_str_detach(&output.out.out);
    return 0;
}

int al_git_has_pushed(const struct al_repo *repo, const char *from, const char *to,
                      struct al_run_limits *budget, bool *ret_pushed, struct al_error *err)
{
    al_auto(al_freep) char *all = NULL;
    al_auto(al_freep) char *unpushed = NULL;
    al_auto(al_strv_clear) struct al_strv tips = AL_STRV_INIT;
    al_auto(al_str_clear) struct al_str words = AL_STR_INIT;
    int r = al_git_note_pushed(repo, budget, err);

    if (r == 0)
        r = count(repo, from, to, NULL, budget, &all, err);
    al_remote_tips_add(repo, &tips);
    for (size_t i = 0; i < tips.count; i++)
        al_str_addf(&words, "^%s\n", tips.items[i]);
    if (r == 0)
        r = count(repo, from, to, &words, budget, &unpushed, err);
    *ret_pushed = r < 0 || strcmp(all, unpushed) != 0;
    return r;
}
