// SPDX-License-Identifier: Apache-2.0
/* NUL-separated output, read as it comes: records of a fixed number of fields. */
#ifndef AL_GITOPS_NUL_RECORDS_H
#define AL_GITOPS_NUL_RECORDS_H

#include <stdbool.h>
#include <stddef.h>

#include "util/str.h"

#define AL_RECORD_FIELDS_MAX 4

struct al_nul_records {
    struct al_str field[AL_RECORD_FIELDS_MAX];
    size_t nfields, at;
    /** Called with the fields of one record; false ends the reading (and stops git). */
    bool (*take)(void *payload, char *const *fields);
    void *payload;
};

#define AL_NUL_RECORDS_INIT(n, fn, data)                                                           \
    ((struct al_nul_records){ .field = { AL_STR_INIT, AL_STR_INIT, AL_STR_INIT, AL_STR_INIT },     \
                              .nfields = (n),                                                      \
                              .take = (fn),                                                        \
                              .payload = (data) })

void al_nul_records_clear(struct al_nul_records *records);

/** Feed bytes, split anywhere.  The form of a sink. */
bool al_nul_records_add(void *payload, const char *data, size_t len);

#endif
