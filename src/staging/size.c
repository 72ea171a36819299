// SPDX-License-Identifier: Apache-2.0
#include "staging/size.h"

#include <inttypes.h>

void al_size_add(struct al_str *out, uint64_t bytes)
{
    static const char *const units[] = { "KB", "MB", "GB", "TB" };
    uint64_t one = 1024;
    size_t unit = 0;

    if (bytes * 10 < 1024) {
        al_str_addf(out, "%" PRIu64 " B", bytes);
        return;
    }
    /* Tenths, rounded; 1023.95 KB and more would read "1024.0 KB". */
    while (unit + 1 < AL_COUNT(units) &&
           bytes / one * 10 + (bytes % one * 10 + one / 2) / one >= UINT64_C(10240)) {
        one *= 1024;
        unit++;
    }
    bytes = bytes / one * 10 + (bytes % one * 10 + one / 2) / one;
    al_str_addf(out, "%" PRIu64 ".%" PRIu64 " %s", bytes / 10, bytes % 10, units[unit]);
}
