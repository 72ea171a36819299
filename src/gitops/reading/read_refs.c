// SPDX-License-Identifier: Apache-2.0
#include "gitops/reading/read_refs.h"

#include <string.h>

#include "gitops/command.h"
#include "gitops/nul_records.h"

/* Six fields, each ended by NUL; the newline after a record is in front of the next one. */
#define BRANCHES_FORMAT                                                                            \
    "--format=%(HEAD)%(refname)%00%(objectname:short) %(committerdate:short)%00"                   \
    "%(upstream:short)%00%(upstream:track,nobracket)%00%(worktreepath)%00%(contents:subject)%00"
#define IDS_FORMAT "--format=%(HEAD)%(refname)%00%(objectname) %00%(upstream)%00%00%00%00"
#define IDS_FORMAT "--format=%(HEAD)%(refname)%00%(objectname) %00%(upstream)%00%00%00%00"
#define TAGS_FORMAT                                                                                \
    "--format= %(refname)%00%(if)%(*objectname)%(then)%(*objectname:short)%(else)"                 \
    "%(objectname:short)%(end) "                                                                   \
    "%(creatordate:short)%00%(objecttype)%00%00%00%(contents:subject)%00"

static const char heads[] = "refs/heads/", remotes[] = "refs/remotes/", tags[] = "refs/tags/";

struct listing {
    bool (*take)(void *payload, const struct al_listed_ref *ref);
    void *payload;
    bool tags;
};

static const char *short_name(const char *ref)
{
    static const char *const prefixes[] = { heads, remotes, tags };

    for (size_t i = 0; i < AL_COUNT(prefixes); i++)
        if (al_starts_with(ref, prefixes[i]))
            return ref + strlen(prefixes[i]);
    return ref;
}

static bool take_record(void *payload, char *const *fields)
{
    const struct listing *listing = payload;
    const char *mark = fields[0] + (*fields[0] == '\n');
    char *space = strchr(fields[1], ' ');
    struct al_listed_ref ref = { .is_current = *mark == '*' };

    if (!*mark || !space)
        return true;
    ref.name = short_name(mark + 1);
    ref.is_remote = al_starts_with(mark + 1, remotes);
    if (ref.is_remote && al_ends_with(ref.name, "/HEAD"))
        return true;
    *space = '\0';
    ref.hash = fields[1];
    ref.date = space + 1;
    ref.is_annotated = listing->tags && !strcmp(fields[2], "tag");
    ref.upstream = listing->tags ? "" : short_name(fields[2]);
    ref.track = fields[3];
    ref.worktree = fields[4];
    ref.subject = fields[5];
    return listing->take(listing->payload, &ref);
}

static void add_scope(struct al_strv *argv, const char *scope, const char *pattern)
{
    if (pattern)
        al_strv_addf(argv, "%s%s", scope, pattern);
    else
        al_strv_add(argv, scope);
}

int al_git_read_refs(const struct al_repo *repo, const struct al_refs_query *query,
                     bool (*take)(void *payload, const struct al_listed_ref *ref), void *payload,
                     struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_CONTENT_INIT;
    struct listing listing = { .take = take, .payload = payload, .tags = query->tags };
    struct al_nul_records records = AL_NUL_RECORDS_INIT(6, take_record, &listing);
    int r;

    al_strv_adds(&command.argv, "git", "for-each-ref",
                 query->tags  ? TAGS_FORMAT
                 : query->ids ? IDS_FORMAT
                              : BRANCHES_FORMAT,
                 NULL);
    if (!query->ids)
        al_strv_add(&command.argv, query->tags ? "--sort=-creatordate" : "--sort=-committerdate");
    if (!query->tags)
        al_strv_add(&command.argv, "--sort=refname:rstrip=-2"); /* heads before remotes */
    if (query->merged_into)
        al_strv_addf(&command.argv, "--merged=%s", query->merged_into);
    if (query->contains)
        al_strv_addf(&command.argv, "--contains=%s", query->contains);
    al_strv_add(&command.argv, "--");
    add_scope(&command.argv, query->tags ? tags : heads, query->pattern);
    if (query->remotes)
        add_scope(&command.argv, remotes, query->pattern);
    r = al_git_read_records(&repo->at, &command, &records, budget, err);
    al_nul_records_clear(&records);
    return r;
}
