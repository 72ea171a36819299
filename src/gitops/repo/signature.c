// SPDX-License-Identifier: Apache-2.0
#include "gitops/repo/signature.h"

#include <strings.h>

#include "gitops/layer.h"
#include "gitops/vet/vet.h"

int al_git_check_signature(const struct al_repo *repo, struct al_error *err)
{
    int r;

    if (!repo->at.git->require_signature || !repo->vetting->user_wants_signatures)
        return 0;
    r = al_error_set(err, AL_ERR_EXECUTION,
                     "A commit made here would not be signed, and the user requires signatures "
                     "(require_signature in [tools.git], commit.gpgSign)");
    if (err)
        err->remedy = "A user makes this commit with git itself.";
    return r;
}

void al_git_show_unsigned(const struct al_repo *repo, struct al_str *out)
{
    if (repo->vetting->wants_signatures)
        al_str_adds(out, "No commit made here is signed, although commit.gpgSign asks for it.\n");
}

void al_git_skipped_signature(const struct al_repo *repo, struct al_str *out)
{
    if (!repo->vetting->wants_signatures)
        return;
    if (out->len)
        al_str_addc(out, '\n');
    al_str_adds(out, "airlock: not signed, although commit.gpgSign asks for it");
}
