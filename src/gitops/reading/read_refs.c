// SPDX-License-Identifier: Apache-2.0
#include "gitops/reading/read_refs.h"

#include <fcntl.h>
#include <string.h>

#include "gitops/command.h"
#include "gitops/git_lock.h"
#include "gitops/location.h"
#include "gitops/nul_records.h"
#include "gitops/refs.h"
#include "gitops/run.h"
#include "guard/nofollow.h"
#include "util/fs.h"

#define OUTPUT_BYTES (64u * 1024u)

/* Six fields, each ended by NUL; the newline after a record is in front of the next one. */
#define BRANCHES_FORMAT                                                                            \
    "--format=%(HEAD)%(refname)%00%(objectname:short) %(committerdate:short)%00"                   \
    "%(upstream:short)%00%(upstream:track,nobracket)%00%(worktreepath)%00%(contents:subject)%00"
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

/* The name without its prefix, which says what it is; NULL for another reference. */
static const char *short_name(const char *ref, struct al_listed_ref *to)
{
    static const char *const prefixes[] = { heads, remotes, tags };

    for (size_t i = 0; i < AL_COUNT(prefixes); i++) {
        if (!al_starts_with(ref, prefixes[i]))
            continue;
        to->is_remote = prefixes[i] == remotes;
        return ref + strlen(prefixes[i]);
    }
    return NULL;
}

static bool take_record(void *payload, char *const *fields)
{
    const struct listing *listing = payload;
    const char *mark = fields[0] + (*fields[0] == '\n');
    char *space = strchr(fields[1], ' ');
    struct al_listed_ref ref = { .is_current = *mark == '*' };

    if (!*mark || !space)
        return true;
    ref.name = short_name(mark + 1, &ref);
    if (!ref.name || (ref.is_remote && al_ends_with(ref.name, "/HEAD")))
        return true;
    *space = '\0';
    ref.hash = fields[1];
    ref.date = space + 1;
    ref.is_annotated = listing->tags && !strcmp(fields[2], "tag");
    ref.upstream = listing->tags ? "" : fields[2];
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
                 query->tags ? "--sort=-creatordate" : "--sort=-committerdate", NULL);
    if (!query->tags)
        al_strv_add(&command.argv, "--sort=refname:rstrip=-2"); /* heads before remotes */
    al_strv_add(&command.argv, query->tags ? TAGS_FORMAT : BRANCHES_FORMAT);
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

static int change(struct al_repo *repo, struct al_git_command *command, unsigned locks,
                  struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };

    command->class = AL_GIT_WRITE;
    return al_git_run(
        &repo->at, command,
        &(struct al_git_run){ .max_bytes = OUTPUT_BYTES, .locks = locks, .checked = true }, budget,
        &output, err);
}

int al_git_tag_create(struct al_repo *repo, const struct al_tag_options *options,
                      struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;

    al_strv_adds(&command.argv, "git", "tag", "--no-sign", NULL);
    if (options->message) {
        command.input = options->message;
        command.input_len = strlen(options->message);
        al_strv_adds(&command.argv, "--annotate", "--cleanup=whitespace", "--file=-", NULL);
    }
    al_strv_adds(&command.argv, "--", options->name, options->rev ? options->rev : "HEAD", NULL);
    return change(repo, &command, 0, budget, err);
}

int al_git_tag_delete(struct al_repo *repo, const char *name, struct al_run_limits *budget,
                      struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;

    al_strv_adds(&command.argv, "git", "tag", "--delete", "--", name, NULL);
    return change(repo, &command, AL_LOCK_PACKED_REFS, budget, err);
}

/* The commit that a new branch was made at, by the first entry of its reflog, "<old> <new> ...";
 * without one, the commit that it is at now.  Caller frees. */
static char *first_commit(const struct al_repo *repo, const char *ref, const char *now)
{
    al_auto(al_freep) char *path = al_fs_join("logs", ref);
    al_auto(al_str_clear) struct al_str log = AL_STR_INIT;
    al_auto(al_closep) int common_fd = -1;
    al_auto(al_closep) int fd = -1;
    const size_t len = strlen(now);

    if (al_location_open_common_dir(&repo->at, &common_fd, NULL) < 0)
        return al_strdup(now);
    fd = al_nofollow_open(common_fd, path, O_RDONLY);
    return fd < 0 || al_fs_read_fd(fd, OUTPUT_BYTES, &log) < 0 || log.len <= 2 * len ||
                   !al_is_oid(log.buf + len + 1, len)
               ? al_strdup(now)
               : al_strndup(log.buf + len + 1, len);
}

/* Another process moved what the branch was made from.  The branch goes as it came, unless somebody
 * has moved it since. */
static int take_back(struct al_repo *repo, const char *name, const char *made,
                     struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_git_command_clear) struct al_git_command config = AL_GIT_COMMAND_INIT;
    al_auto(al_error_clear) struct al_error none = AL_ERROR_INIT;
    int r;

    al_strv_adds(&command.argv, "git", "update-ref", "--no-deref", "-d", NULL);
    al_strv_addf(&command.argv, "refs/heads/%s", name);
    al_strv_add(&command.argv, made);
    r = change(repo, &command, AL_LOCK_PACKED_REFS, budget, err);
    al_strv_adds(&config.argv, "git", "config", "--local", "--remove-section", NULL);
    al_strv_addf(&config.argv, "branch.%s", name);
    if (r == 0) /* fails if the branch follows none */
        (void)change(repo, &config, AL_LOCK_CONFIG, budget, &none);
    return r < 0 ? r
                 : al_error_set(err, AL_ERR_EXECUTION,
                                "What the branch was to begin at moved just now; nothing was done");
}

int al_git_branch_create_from(struct al_repo *repo, const char *name, const char *from,
                              const char *oid, struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_freep) char *ref = al_asprintf("refs/heads/%s", name);
    al_auto(al_freep) char *now = NULL;
    al_auto(al_freep) char *made = NULL;
    int r;

    al_strv_adds(&command.argv, "git", "branch", "--", name, from ? from : oid, NULL);
    r = change(repo, &command, 0, budget, err);
    if (r < 0 || !oid)
        return r;
    now = al_ref_oid(&repo->at, ref);
    if (!strcmp(now, oid))
        return 0;
    made = first_commit(repo, ref, now);
    return !strcmp(made, oid) ? 0 : take_back(repo, name, made, budget, err);
}
