// SPDX-License-Identifier: Apache-2.0
#include "gitops/submodule/scan.h"

#include "util/clock.h"

const char al_scan_too_many[] = "it has too many files";
const char al_scan_too_long[] = "it takes too long";

bool al_scan_has_time(struct al_submodule_scan *scan)
{
    if (al_clock_ms() < scan->bounds->deadline_ms)
        return true;
    scan->unseen = al_scan_too_long;
    return false;
}
