// SPDX-License-Identifier: Apache-2.0
#include "cli/fail.h"

#include "cli/cli.h"
#include "util/log.h"

int al_cli_fail(const struct al_error *err)
{
    al_log_note("%s", err->message);
    if (err->remedy)
        al_log_note("%s", err->remedy);
    return err->status == AL_ERR_BAD_ARGS || err->status == AL_ERR_NOT_FOUND ? AL_EXIT_USAGE
                                                                             : AL_EXIT_FAILED;
}
