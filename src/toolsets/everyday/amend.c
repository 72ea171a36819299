// SPDX-License-Identifier: Apache-2.0
#include "toolsets/everyday/amend.h"

#include <inttypes.h>
#include <string.h>

#include "gitops/porcelain/add.h"
#include "gitops/porcelain/log.h"
#include "gitops/repo/repo.h"
#include "toolsets/everyday/everyday.h"
#include "util/str.h"

/** A longer message is taken to be another one. */
#define MESSAGE_MAX_BYTES (1u << 20)

int al_amend_changes_nothing(struct al_call *call, const char *message, bool *ret_nothing,
                             struct al_error *err)
{
    const struct al_repo *repo = al_call_repo(call);
    al_auto(al_str_clear) struct al_str wanted = AL_STR_INIT;
    al_auto(al_freep) char *old = NULL;
    uint64_t staged = 0;
    int r = al_git_count_staged(repo, al_call_budget(call), &staged, err);

    *ret_nothing = r == 0 && !staged && !message;
    if (r < 0 || staged || !message)
        return r;
    r = al_git_read_message(repo, MESSAGE_MAX_BYTES, al_call_budget(call), &old, err);
    if (r < 0)
        return r;
    al_str_adds(&wanted, message);
    al_str_trim_end(&wanted);
    *ret_nothing = !strcmp(wanted.buf, old);
    return 0;
}
