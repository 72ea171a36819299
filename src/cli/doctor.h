// SPDX-License-Identifier: Apache-2.0
/* The findings of airlock doctor, and the part of it about a repository. */
#ifndef AL_CLI_DOCTOR_H
#define AL_CLI_DOCTOR_H

#include <stdbool.h>

#include "cli/options.h"
#include "cli/setup.h"
#include "util/json.h"

/** How much a finding matters: AL_MISSING is what calls would fail for. */
enum al_level { AL_FINE, AL_WARNING, AL_MISSING };

/** The findings so far. */
struct al_findings {
    json_t *list; /**< owned; {check, level, state, fix} each */
    bool missing; /**< one of them is AL_MISSING */
};

/** Add a finding. `fix` counts where it is not fine. */
void al_finding_add(struct al_findings *findings, const char *what, enum al_level level,
                    const char *state, const char *fix);

/** Look at the repository of each --root, without one at that of the current directory; the session
 * is set up. */
void al_doctor_repositories(struct al_findings *findings, const struct al_setup *setup,
                            const struct al_options *options);

#endif
