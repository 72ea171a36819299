// SPDX-License-Identifier: Apache-2.0
#include "gitops/plumbing/partial_clone.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>

#include "gitops/command.h"
#include "gitops/failure.h"
#include "gitops/nul_records.h"
#include "gitops/plumbing/batch.h"
#include "gitops/plumbing/rollback_plumbing.h"
#include "gitops/refs.h"
#include "gitops/repo/repo.h"
#include "guard/text.h"
#include "util/fs.h"

bool al_repo_is_partial(const struct al_repo *repo)
{
    al_auto(al_freep) char *packs = al_fs_join(repo->at.common_dir, "objects/pack");
    al_auto(al_closedirp) DIR *dir =
        al_fs_list(open(packs, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
    const struct dirent *entry;

    while (dir && (entry = readdir(dir)))
        if (al_ends_with(entry->d_name, ".promisor"))
            return true;
    return false;
}

/** The files that would be written, and the ids of the content they would get. */
struct needed {
    struct al_strv paths, oids;
    bool broken;
};

static void needed_clear(struct needed *needed)
{
    al_strv_clear(&needed->paths);
    al_strv_clear(&needed->oids);
}

/* A record is ":<mode> SP <mode> SP <oid> SP <oid> SP <status>", then the path.  The first mode and
 * id are those that would be written; a deletion and a gitlink have no content. */
static bool add_needed(void *payload, char *const *fields)
{
    static const char absent[] = ":000000", gitlink[] = ":160000";
    struct needed *needed = payload;
    const char *oid = strchr(fields[0], ' ');
    size_t len;

    oid = oid ? strchr(oid + 1, ' ') : NULL;
    len = oid ? strcspn(++oid, " ") : 0;
    needed->broken |= !al_is_oid(oid ? oid : "", len);
    if (needed->broken)
        return false;
    if (al_starts_with(fields[0], absent) || al_starts_with(fields[0], gitlink))
        return true;
    al_strv_take(&needed->oids, al_strndup(oid, len));
    al_strv_add(&needed->paths, fields[1]);
    return true;
}

static int list_batch(const struct al_repo *repo, const char *from, const struct al_str *words,
                      size_t *at, struct al_run_limits *budget, struct needed *needed,
                      struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_nul_records_clear) struct al_nul_records records =
        AL_NUL_RECORDS_INIT(2, add_needed, needed);
    int r;

    al_strv_adds(&command.argv, "git", "diff", "--raw", "-z", "--no-abbrev", "--no-renames",
                 "--no-ext-diff", "--no-textconv", "--ignore-submodules=all", NULL);
    if (from)
        al_strv_add(&command.argv, from);
    al_strv_add(&command.argv, "--");
    if (words->len)
        (void)al_batch_add(&command.argv, words, at);
    r = al_git_read_records(&repo->at, &command, &records, budget, err);
    if (r == 0 && needed->broken)
        r = al_error_set(err, AL_ERR_EXECUTION, "git diff did not list what differs");
    return r;
}

static int refuse(const struct needed *needed, const char *oid, struct al_error *err)
{
    al_auto(al_freep) char *word = NULL;
    const char *path = "";

    for (size_t i = 0; i < needed->oids.count && !*path; i++)
        if (!strcmp(needed->oids.items[i], oid))
            path = needed->paths.items[i];
    word = al_text_sanitize_line(path);
    (void)al_error_set(err, AL_ERR_EXECUTION,
                       "The content of '%s' was not downloaded, so nothing was done", word);
    if (err)
        err->remedy = al_not_downloaded;
    return AL_ERR_EXECUTION;
}

int al_git_check_downloaded(const struct al_repo *repo, const char *from,
                            const struct al_strv *paths, struct al_run_limits *budget,
                            struct al_error *err)
{
    al_auto(needed_clear) struct needed needed = { .broken = false };
    al_auto(al_strv_clear) struct al_strv missing = AL_STRV_INIT;
    al_auto(al_str_clear) struct al_str words = AL_STR_INIT;
    size_t at = 0;
    int r = 0;

    if (!al_repo_is_partial(repo))
        return 0;
    if (paths && paths->count)
        r = al_repo_pathspecs(repo, paths, budget, &words, err);
    do {
        if (r == 0)
            r = list_batch(repo, from, &words, &at, budget, &needed, err);
    } while (r == 0 && at < words.len);
    if (r == 0)
        r = al_git_missing_objects(repo, &needed.oids, budget, &missing, err);
    return r == 0 && missing.count ? refuse(&needed, missing.items[0], err) : r;
}
