// SPDX-License-Identifier: Apache-2.0
/* For config/ only: the parts of a worker file that narrow a session. */
#ifndef AL_CONFIG_WORKER_LIMITS_H
#define AL_CONFIG_WORKER_LIMITS_H

#include "config/worker.h"

/** Read `roots`, `grants` and `policy` from the frontmatter.  0 or AL_ERR_BAD_ARGS. */
int al_worker_take_limits(struct al_worker *worker, struct al_error *err);

#endif
