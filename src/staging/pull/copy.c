// SPDX-License-Identifier: Apache-2.0
#include "staging/pull/private.h"

#include <inttypes.h>

#include "git/plumbing/revision.h"
#include "git/repo/repo.h"
#include "git/run.h"
#include "git/vet/vet.h"
#include "staging/base.h"
#include "staging/store.h"
#include "staging/target.h"
#include "verbs/preview/verify_objects.h"

/* How a pointer of git-lfs(1) begins, and what its size is below (git-lfs-spec, "The Pointer"). */
#define LFS_MARK      "version https://git-lfs.github.com/spec/"
#define LFS_MAX_BYTES 1024u

/* --- What the commit has --- */

int al_pull_read_commit(struct al_pull *pull)
{
    const struct al_pull_request *request = pull->request;
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    int r;

    al_tree_reader_begin(&pull->commit, request->repo->vetting->is_sha256);
    al_strv_adds(&command.argv, "git", "-c", AL_NO_COMMIT_GRAPH, "ls-tree", "-r", "-t", "-z",
                 "--full-tree", NULL);
    al_strv_addf(&command.argv, "%s^{tree}", request->commit);
    r = al_git_read_records(&request->repo->at, &command, &pull->commit.records, pull->err);
    return r < 0 ? r
                 : al_tree_reader_end(&pull->commit, "the commit to pull",
                                      "pull from a smaller one", pull->err);
}

/* --- Content --- */

static bool is_wanted(const struct al_pull_item *item)
{
    return item->chosen && !item->skipped && item->theirs.mode &&
           !al_sandbox_version_equal(&item->theirs, &item->base);
}

static void list_blobs(const struct al_pull *pull, struct al_strv *ret_oids)
{
    for (size_t i = 0; i < pull->count; i++) {
        char oid[AL_OID_TEXT];

        al_oid_text(&pull->items[i].theirs.oid, pull->staging->options.sha256, oid);
        if (is_wanted(&pull->items[i]))
            al_strv_add(ret_oids, oid);
    }
}

int al_pull_bring_blobs(const struct al_pull *pull)
{
    al_auto(al_strv_clear) struct al_strv oids = AL_STRV_INIT;

    list_blobs(pull, &oids);
    return al_target_bring(pull->request->repo, &oids, pull->err);
}

/* Compare the commit and its trees with their ids. */
static int verify_trees(const struct al_pull *pull)
{
    const char *commit = pull->request->commit;
    al_auto(al_str_clear) struct al_str words = AL_STR_INIT;
    bool complete = true;
    int r;

    al_str_addf(&words, "%s\n%s^{tree}\n", commit, commit);
    al_str_add(&words, pull->commit.trees.buf, pull->commit.trees.len);
    r = al_git_verify_objects(&pull->request->repo->at, &words, &complete, pull->err);
    if (r == 0 && !complete)
        r = al_error_set(pull->err, AL_ERR_EXECUTION,
                         "the directories of the commit to pull have more than %u bytes; pull from "
                         "a smaller one",
                         AL_VERIFY_MAX_BYTES);
    return r;
}

/* Blobs as they come, each verified. */
struct copying {
    struct al_pull_item *next; /* those before it have come */
    struct al_import *import;
    struct al_str content;
    uint64_t bytes, max_bytes; /* so far; 0: no limit */
};

static int take(void *payload, size_t which, const char *data, size_t len, bool last,
                struct al_error *err)
{
    struct copying *copying = payload;
    struct al_str *content = &copying->content;

    (void)which;
    copying->bytes += len;
    if (copying->max_bytes && copying->bytes > copying->max_bytes)
        return al_error_set(err, AL_ERR_EXECUTION,
                            "the files have more than the %" PRIu64 " bytes that the sandbox may "
                            "hold, so nothing was pulled; give fewer paths or raise "
                            "staging.max_bytes",
                            copying->max_bytes);
    al_str_add(content, data, len);
    if (!last)
        return 0;
    while (!is_wanted(copying->next))
        copying->next++;
    copying->next++->is_lfs =
        content->len < LFS_MAX_BYTES && al_starts_with(content->buf, LFS_MARK);
    al_import_put(copying->import, content->buf, content->len);
    al_str_reset(content);
    return 0;
}

int al_pull_copy_blobs(struct al_pull *pull)
{
    const struct al_repo *repo = pull->request->repo;
    al_auto(al_strv_clear) struct al_strv oids = AL_STRV_INIT;
    al_auto(al_import_clear) struct al_import import = { .file = NULL };
    struct copying copying = { .next = pull->items,
                               .import = &import,
                               .content = AL_STR_INIT,
                               .max_bytes = pull->staging->options.max_bytes };
    struct al_location both = al_staging_bare(pull->staging, pull->budget);
    int r = verify_trees(pull);

    list_blobs(pull, &oids);
    if (r < 0 || !oids.count)
        return r;
    r = al_target_bring(repo, &oids, pull->err);
    if (r == 0)
        r = al_import_begin(pull->staging, &import, pull->err);
    both.lender = &repo->at;
    if (r == 0)
        r = al_bare_read(&both, (const char *const *)oids.items, oids.count, take, &copying,
                         pull->err);
    al_str_clear(&copying.content);
    return r < 0 ? r : al_import_end(&import, pull->budget, NULL, pull->err);
}
