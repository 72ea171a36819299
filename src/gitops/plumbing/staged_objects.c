// SPDX-License-Identifier: Apache-2.0
#include "gitops/plumbing/staged_objects.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "gitops/command.h"
#include "gitops/nul_records.h"
#include "gitops/oid.h"
#include "gitops/plumbing/bare_run.h"
#include "gitops/refs.h"

static bool add_bytes(void *payload, const char *data, size_t len)
{
    al_str_add(payload, data, len);
    return true;
}

static bool parse_blob(const char *line, char oid[AL_OID_TEXT], struct al_blob_size *ret_blob)
{
    ret_blob->oid = oid;
    return sscanf(line, "%64[0-9a-f] blob %" SCNu64 " %" SCNu64, oid, &ret_blob->bytes,
                  &ret_blob->packed_bytes) == 3;
}

int al_bare_blob_sizes(const struct al_bare *bare, const struct al_strv *oids,
                       void (*take)(void *payload, const struct al_blob_size *blob), void *payload,
                       struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_str_clear) struct al_str input = AL_STR_INIT;
    al_auto(al_str_clear) struct al_str output = AL_STR_INIT;
    char *save = NULL;
    int r;

    for (size_t i = 0; i < oids->count; i++)
        al_str_addf(&input, "%s\n", oids->items[i]);
    command.input = input.buf;
    command.input_len = input.len;
    al_strv_adds(&command.argv, "git", "cat-file",
                 "--batch-check=%(objectname) %(objecttype) %(objectsize) %(objectsize:disk)",
                 "--buffer", NULL);
    r = al_bare_run(bare, &command, true, (struct al_sink){ add_bytes, &output }, budget, err);
    for (char *line = strtok_r(output.buf, "\n", &save); r == 0 && line;
         line = strtok_r(NULL, "\n", &save)) {
        struct al_blob_size blob;
        char oid[AL_OID_TEXT];

        if (parse_blob(line, oid, &blob))
            take(payload, &blob);
    }
    return r;
}

/* A record ":<mode> SP <mode> SP <oid> SP <oid> SP <status>" NUL <path>. */
static bool take_entry(void *payload, char *const *fields)
{
    const char *word = strchr(fields[0], ' ');

    for (int i = 0; word && i < 2; i++)
        word = strchr(word + 1, ' ');
    if (word)
        al_strv_take(payload, al_strndup(word + 1, strcspn(word + 1, " ")));
    return true;
}

/* A record "<mode> SP <oid> SP <stage> TAB <path>". */
static bool take_listed(void *payload, char *const *fields)
{
    const char *word = strchr(fields[0], ' ');

    if (word)
        al_strv_take(payload, al_strndup(word + 1, strcspn(word + 1, " ")));
    return true;
}

int al_git_staged_objects(const struct al_repo *repo, struct al_run_limits *budget,
                          struct al_strv *ret_oids, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_freep) char *head = al_ref_head(&repo->at);
    al_auto(al_nul_records_clear) struct al_nul_records changed =
        AL_NUL_RECORDS_INIT(2, take_entry, ret_oids);
    al_auto(al_nul_records_clear) struct al_nul_records all =
        AL_NUL_RECORDS_INIT(1, take_listed, ret_oids);

    if (!head || !*head) {
        al_strv_adds(&command.argv, "git", "-C", repo->at.top, "ls-files", "-z", "-s", NULL);
        return al_git_read_records(&repo->at, &command, &all, budget, err);
    }
    al_strv_adds(&command.argv, "git", "diff-index", "--cached", "--raw", "-z", "--no-renames",
                 "--no-abbrev", "--ignore-submodules=dirty", "HEAD", "--", NULL);
    return al_git_read_records(&repo->at, &command, &changed, budget, err);
}
