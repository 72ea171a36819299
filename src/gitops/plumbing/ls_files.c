// SPDX-License-Identifier: Apache-2.0
#include "gitops/plumbing/ls_files.h"

#include "gitops/command.h"
#include "gitops/failure.h"
#include "gitops/nul_records.h"
#include "gitops/run.h"

struct listing {
    al_listed_fn take;
    void *payload;
    bool broken; /* git printed a line in an unknown form */
};

/* "<tag> SP <mode> SP <oid> SP <stage> TAB <path>" */
static bool parse_entry(const char *text, struct al_listed *listed)
{
    const char *tab = strchr(text, '\t');
    const char *oid = strchr(text + 2, ' ');
    const char *stage = oid ? strchr(oid + 1, ' ') : NULL;

    if (!tab || !stage || stage > tab || stage[1] < '0' || stage[1] > '3')
        return false;
    for (const char *at = text + 2; at < oid; at++) {
        if (*at < '0' || *at > '7')
            return false;
        listed->mode = listed->mode * 8 + (unsigned)(*at - '0');
    }
    listed->entry = text;
    listed->entry_len = (size_t)(tab - text) + 1;
    listed->oid = oid + 1;
    listed->stage = (unsigned)(stage[1] - '0');
    listed->path = tab + 1;
    return true;
}

static bool take_record(void *payload, char *const *fields)
{
    struct listing *listing = payload;
    const char *text = fields[0];
    struct al_listed listed = { .tag = text[0], .oid = "", .entry = "" };

    if (text[0] == '\0' || text[1] != ' ') {
        listing->broken = true;
        return false;
    }
    if (listed.tag == '?') {
        listed.path = text + 2;
    } else if (!parse_entry(text, &listed)) {
        listing->broken = true;
        return false;
    }
    return listing->take(listing->payload, &listed);
}

int al_git_list_files(const struct al_repo *repo, int top_fd, bool ignored, al_listed_fn take,
                      void *payload, struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    struct listing listing = { .take = take, .payload = payload };
    al_auto(al_nul_records_clear) struct al_nul_records records =
        AL_NUL_RECORDS_INIT(1, take_record, &listing);
    int r;

    command.cwd_fd = top_fd;
    al_strv_adds(&command.argv, "git", "ls-files", "-z", "-v", "-s", "-o", "--exclude-standard",
                 ignored ? "-i" : "-c", NULL);
    r = al_git_run(&repo->at, &command,
                   &(struct al_git_run){ .sink = { al_nul_records_add, &records } }, budget,
                   &output, err);
    if (r < 0)
        return r;
    if (listing.broken)
        return al_error_set(err, AL_ERR_EXECUTION, "git listed files in an unknown form");
    return !al_git_read_well(&output) ? al_git_failed(&output, err) : 0;
}
