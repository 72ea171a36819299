// SPDX-License-Identifier: Apache-2.0
/* The message of a merge, as git merge has it, and of a squash. */
#include "gitops/landing/private.h"

static size_t subject_bytes(const char *message)
{
    return strcspn(message, "\n");
}

/* The subjects of the commits below a line that names the branch; the message of a single one. */
static int message_of_squash(const struct al_landing *landing, struct al_run_limits *budget,
                             struct al_str *out, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv oids = AL_STRV_INIT;
    al_auto(al_commits_read_clear) struct al_commits_read commits = { .items = NULL };
    int r = al_landing_list(landing, budget, &oids, err);

    if (r == 0)
        r = al_inmemory_read(landing->memory, &oids, budget, &commits, err);
    if (r < 0)
        return r;
    if (commits.count == 1) {
        al_str_adds(out, commits.items[0].message);
        return 0;
    }
    al_str_addf(out, "Squash branch '%s'\n", al_named_branch_name(&landing->branch));
    for (size_t i = 0; i < commits.count; i++) {
        const char *subject = commits.items[i].message + strspn(commits.items[i].message, "\n");

        al_str_addf(out, "%s* %.*s\n", i ? "" : "\n", (int)subject_bytes(subject), subject);
    }
    return 0;
}

/* git names the branch that is merged into, unless it is master. */
static void message_of_merge(const struct al_landing *landing, struct al_str *out)
{
    const char *into = al_named_branch_name(&landing->into);

    al_str_addf(out, "Merge branch '%s'", al_named_branch_name(&landing->branch));
    if (strcmp(into, "master") != 0)
        al_str_addf(out, " into %s", into);
    al_str_addc(out, '\n');
}

int al_landing_message(const struct al_landing *landing, struct al_run_limits *budget,
                       char **ret_message, struct al_error *err)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    int r = 0;

    if (landing->strategy == AL_LAND_SQUASH)
        r = message_of_squash(landing, budget, &text, err);
    else
        message_of_merge(landing, &text);
    if (r == 0)
        *ret_message = al_str_detach(&text);
    return r;
}
