// SPDX-License-Identifier: Apache-2.0
/* The findings of airlock doctor, and its checks of a repository. */
#ifndef AL_CLI_INSPECT_DOCTOR_H
#define AL_CLI_INSPECT_DOCTOR_H

#include <stdbool.h>

#include "base/json.h"
#include "cli/options.h"
#include "cli/setup.h"

/** The severity of a finding.  AL_MISSING: calls would fail. */
enum al_level { AL_FINE, AL_WARNING, AL_MISSING };

/** The findings of one run. */
struct al_findings {
    json_t *list; /**< owned; objects with the members check, level, state, fix */
    bool missing; /**< whether a finding is AL_MISSING */
};

/** Add a finding: what was looked at, how it is, and unless that is AL_FINE what to do. */
void al_printf(5, 6) al_finding_add(struct al_findings *findings, const char *what,
                                    enum al_level level, const char *fix, const char *fmt, ...);

/** Check the repository of each --root, or of the current directory when none is given.  Call after
 * al_setup_session(). */
void al_doctor_repositories(struct al_findings *findings, const struct al_setup *setup,
                            const struct al_options *options);

/** Start every configured MCP server and report about it.  Call after al_setup_session(). */
void al_doctor_servers(struct al_findings *findings, struct al_setup *setup);

/** Start airlock as each client would in whose settings it is installed, and report about it.  Call
 * after al_setup_session(). */
void al_doctor_clients(struct al_findings *findings, const struct al_setup *setup);

#endif
