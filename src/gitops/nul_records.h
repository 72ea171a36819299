// SPDX-License-Identifier: Apache-2.0
/* A streaming reader of NUL-separated output: records with a fixed number of fields. */
#ifndef AL_GITOPS_NUL_RECORDS_H
#define AL_GITOPS_NUL_RECORDS_H

#include <stdbool.h>
#include <stddef.h>

#include "gitops/command.h"
#include "gitops/location.h"
#include "util/str.h"

#define AL_RECORD_FIELDS_MAX 6

struct al_nul_records {
    struct al_str field[AL_RECORD_FIELDS_MAX];
    size_t nfields, at;
    /** Gets the fields of one record; false ends the reading and stops git. */
    bool (*take)(void *payload, char *const *fields);
    void *payload;
};

#define AL_NUL_RECORDS_INIT(n, fn, data)                                                           \
    ((struct al_nul_records){                                                                      \
        .field = { AL_STR_INIT, AL_STR_INIT, AL_STR_INIT, AL_STR_INIT, AL_STR_INIT, AL_STR_INIT }, \
        .nfields = (n),                                                                            \
        .take = (fn),                                                                              \
        .payload = (data) })

void al_nul_records_clear(struct al_nul_records *records);

/** Feed bytes, split anywhere.  An al_sink function. */
bool al_nul_records_add(void *payload, const char *data, size_t len);

/** Run a command and feed its output to `records`.  A git that fails is an error; a git that was
 * stopped because `records` wanted no more is not. */
int al_git_read_records(const struct al_location *at, const struct al_git_command *command,
                        struct al_nul_records *records, struct al_run_limits *budget,
                        struct al_error *err);

/** Run a command and count the records of one field that it prints. */
int al_git_count_records(const struct al_location *at, const struct al_git_command *command,
                         struct al_run_limits *budget, uint64_t *ret_count, struct al_error *err);

#endif
