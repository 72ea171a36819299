// SPDX-License-Identifier: Apache-2.0
#include "git/reading/read_object.h"

#include <stdlib.h>
#include <string.h>

#include "git/command.h"
#include "git/plumbing/filters.h"
#include "git/refs.h"
#include "git/run.h"

#define INFO_MAX_BYTES 65536u

void al_object_info_clear(struct al_object_info *info)
{
    free(al_take(&info->oid));
}

/* "<oid> <type> <size>"; anything else says that there is no such object. */
static void read_info(const char *line, struct al_object_info *info)
{
    const size_t oid_len = strcspn(line, " ");
    const char *type = line + oid_len + 1, *size;

    if (!al_is_oid(line, oid_len) || line[oid_len] != ' ')
        return;
    size = type + strcspn(type, " ");
    for (size_t i = AL_OBJECT_COMMIT; i < AL_COUNT(al_object_types); i++)
        if (al_starts_with(type, al_object_types[i]) && type + strlen(al_object_types[i]) == size)
            info->type = (enum al_object_type)i;
    if (info->type == AL_OBJECT_NONE)
        return;
    info->oid = al_strndup(line, oid_len);
    info->bytes = strtoull(size, NULL, 10);
}

int al_git_read_object_info(const struct al_repo *repo, const char *word,
                            struct al_object_info *ret_info, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    int r;

    command.input = word;
    command.input_len = strlen(word) + 1;
    al_strv_adds(&command.argv, "git", "cat-file", "-z",
                 "--batch-check=%(objectname) %(objecttype) %(objectsize)", NULL);
    r = al_git_run_checked(&repo->at, &command, INFO_MAX_BYTES, &output, err);
    if (r == 0)
        read_info(output.out.out.buf, ret_info);
    return r;
}

int al_git_read_object(const struct al_repo *repo, const struct al_object_info *info,
                       struct al_sink to, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;

    al_strv_adds(&command.argv, "git", "cat-file", info->type == AL_OBJECT_TAG ? "tag" : "blob",
                 info->oid, NULL);
    return al_git_read(&repo->at, &command, to, err);
}

struct listing {
    bool (*take)(void *payload, const struct al_tree_entry *entry);
    void *payload;
    bool has_sizes;
};

/* "<mode> <type> <oid> <size>\t<name>"; the size is padded, and "-" for what is no file. */
static bool take_entry(void *payload, char *const *fields)
{
    const struct listing *listing = payload;
    const char *tab = strchr(fields[0], '\t');
    struct al_tree_entry entry = { .mode = (unsigned)strtoull(fields[0], NULL, 8) };
    const char *size = tab;

    if (!tab)
        return true;
    while (size > fields[0] && size[-1] != ' ')
        size--;
    entry.name = tab + 1;
    entry.bytes = *size == '-' || !listing->has_sizes ? 0 : strtoull(size, NULL, 10);
    return listing->take(listing->payload, &entry);
}

int al_git_read_tree(const struct al_repo *repo, const struct al_object_info *info,
                     bool (*take)(void *payload, const struct al_tree_entry *entry), void *payload,
                     struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    /* A partial clone may lack the files whose sizes are asked for. */
    struct listing listing = { .take = take,
                               .payload = payload,
                               .has_sizes = !al_repo_is_partial(repo) };

    al_strv_adds(&command.argv, "git", "ls-tree", "-z", "--full-tree", NULL);
    if (listing.has_sizes)
        al_strv_add(&command.argv, "--long");
    al_strv_add(&command.argv, info->oid);
    return al_git_read_records(&repo->at, &command, 1, take_entry, &listing, err);
}

/* Six fields, each ended by NUL; the newline after a record is in front of the next one. */
#define BRANCHES_FORMAT                                                                            \
    "--format=%(HEAD)%(refname)%00%(objectname:short=8) %(committerdate:short)%00"                 \
    "%(upstream:short)%00%(upstream:track,nobracket)%00%(worktreepath)%00%(contents:subject)%00"
#define IDS_FORMAT "--format=%(HEAD)%(refname)%00%(objectname) %00%(upstream)%00%00%00%00"
#define TAGS_FORMAT                                                                                \
    "--format= %(refname)%00%(if)%(*objectname)%(then)%(*objectname:short=8)%(else)"               \
    "%(objectname:short=8)%(end) "                                                                 \
    "%(creatordate:short)%00%(objecttype)%00%00%00%(contents:subject)%00"

static const char heads[] = "refs/heads/", remotes[] = "refs/remotes/", tags[] = "refs/tags/";

struct refs_listing {
    bool (*take)(void *payload, const struct al_listed_ref *ref);
    void *payload;
    bool tags;
};

static bool take_record(void *payload, char *const *fields)
{
    const struct refs_listing *listing = payload;
    const char *mark = fields[0] + (*fields[0] == '\n');
    char *space = strchr(fields[1], ' ');
    struct al_listed_ref ref = { .is_current = *mark == '*' };

    if (!*mark || !space)
        return true;
    ref.name = al_ref_short(mark + 1);
    ref.is_remote = al_starts_with(mark + 1, remotes);
    if (ref.is_remote && al_ends_with(ref.name, "/HEAD"))
        return true;
    *space = '\0';
    ref.hash = fields[1];
    ref.date = space + 1;
    ref.upstream = listing->tags ? "" : al_ref_short(fields[2]);
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
                     struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    struct refs_listing listing = { .take = take, .payload = payload, .tags = query->tags };

    al_strv_adds(&command.argv, "git", "for-each-ref",
                 query->ids    ? IDS_FORMAT
                 : query->tags ? TAGS_FORMAT
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
    return al_git_read_records(&repo->at, &command, 6, take_record, &listing, err);
}
