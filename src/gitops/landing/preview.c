// SPDX-License-Identifier: Apache-2.0
#include "gitops/diff/diff.h"
#include "gitops/landing/private.h"
#include "gitops/plumbing/batch.h"
#include "gitops/preview/commits.h"
#include "gitops/preview/diff_excerpt.h"
#include "gitops/repo/repo.h"
#include "guard/text.h"

int al_landing_paths(const struct al_landing *landing, struct al_run_limits *budget,
                     struct al_strv *ret_paths, struct al_error *err)
{
    struct al_buffer list = { .max_bytes = AL_PATH_LIST_MAX_BYTES };
    int r = 0;

    if (!al_landing_is_idle(landing))
        r = al_git_list_changed(al_inmemory_repo(landing->memory), landing->into.oid,
                                landing->commit, budget, &list, err);
    for (size_t at = 0; r == 0 && at < list.len; at += strlen(list.data + at) + 1)
        al_strv_add(ret_paths, list.data + at);
    al_buffer_clear(&list);
    return r;
}

/* Those of the branch; of a rebase the new ones. */
static int add_commits(const struct al_landing *landing, struct al_run_limits *budget,
                       struct al_str *out, struct al_error *err)
{
    al_auto(al_freep) char *without = al_asprintf("^%s", landing->into.oid);
    const bool is_rebase = landing->strategy == AL_LAND_REBASE;
    const char *tip = is_rebase ? landing->commit : landing->branch.oid;
    bool any = false;

    return al_git_commits_excerpt(
        al_inmemory_repo(landing->memory),
        &(struct al_commits_shown){ .words = (const char *const[]){ tip, without, NULL },
                                    .format = "  %h %an: %s",
                                    .title = landing->strategy == AL_LAND_SQUASH
                                                 ? "These commits come in as one:"
                                             : is_rebase ? "These commits come in, made anew:"
                                                         : "These commits come in:" },
        budget, out, &any, err);
}

static void add_worktree(const struct al_landing *landing, struct al_str *out)
{
    al_auto(al_freep) char *top = al_text_sanitize_shown_line(landing->repo->at.top);

    if (al_landing_is_checked_out(landing->repo, landing->into.ref))
        al_str_addf(out, "The files of the working tree '%s' are brought along.\n", top);
    else
        al_str_adds(out, "No working tree has the branch checked out; no file changes.\n");
}

/* The whole message of the commit that is made: it is part of what is approved. */
static void add_message(const struct al_landing *landing, struct al_str *out)
{
    if (!landing->message)
        return;
    al_str_adds(out, "The commit's message:\n");
    al_text_add_indented(out, landing->message, true);
    if (!al_ends_with(out->buf, "\n"))
        al_str_addc(out, '\n');
}

int al_landing_preview(const struct al_landing *landing, struct al_run_limits *budget,
                       struct al_str *out, struct al_error *err)
{
    const struct al_diff_options change = { .unified = -1,
                                            .from_ref = landing->into.oid,
                                            .to_ref = landing->commit };
    int r;

    if (landing->strategy != AL_LAND_FF)
        al_git_show_unsigned(landing->repo, out);
    add_worktree(landing, out);
    add_message(landing, out);
    r = add_commits(landing, budget, out, err);
    return r < 0
               ? r
               : al_git_diff_excerpt(al_inmemory_repo(landing->memory), &change, budget, out, err);
}
