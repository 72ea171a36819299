// SPDX-License-Identifier: Apache-2.0
/* Source: git-lfs-spec, "The Pointer". */
#include "staging/pull/copy.h"

#include <stdlib.h>

#include "gitops/preview/verify_objects.h"
#include "gitops/repo/repo.h"
#include "staging/github.h"
#include "staging/import.h"
#include "staging/store.h"

/* How a pointer of git-lfs(1) begins, and what its size is below. */
#define LFS_MARK      "version https://git-lfs.github.com/spec/"
#define LFS_MAX_BYTES 1024u

int al_pull_too_large(uint64_t bytes, uint64_t max, struct al_error *err)
{
    return al_error_set(err, AL_ERR_EXECUTION,
                        "the files have %llu bytes, more than the %llu that the sandbox may hold, "
                        "so nothing was pulled; give fewer paths or raise staging.max_bytes",
                        (unsigned long long)bytes, (unsigned long long)max);
}

/* --- Which blobs --- */

/* The blobs to read, which may have some twice, and the files that they are of. */
struct request {
    const struct al_pull_copy *copy;
    struct al_strv oids, lacking; /* all, and those that the store lacks */
    size_t *files;
};

static void request_clear(struct request *request)
{
    al_strv_clear(&request->oids);
    al_strv_clear(&request->lacking);
    free(request->files);
}

static bool may_be_lfs(const struct al_pull_file *file)
{
    return file->has_size && file->size > strlen(LFS_MARK) && file->size < LFS_MAX_BYTES;
}

static void add(struct request *request, size_t file, const char *oid, bool lacks)
{
    if (lacks)
        al_strv_add(&request->lacking, oid);
    if (!lacks && !may_be_lfs(&request->copy->list->items[file]))
        return;
    request->files[request->oids.count] = file;
    al_strv_add(&request->oids, oid);
}

/* What the store has comes in the order of the question. */
static int find_blobs(const struct al_staging *staging, struct request *request,
                      struct al_run_limits *budget, struct al_error *err)
{
    const struct al_pull_copy *copy = request->copy;
    al_auto(al_strv_clear) struct al_strv all = AL_STRV_INIT;
    al_auto(al_str_clear) struct al_str known = AL_STR_INIT;
    const char *next;
    size_t asked = 0;
    int r;

    request->files = al_calloc(copy->list->count + 1, sizeof(*request->files));
    for (size_t i = 0; i < copy->list->count; i++) {
        char oid[AL_OID_TEXT];

        al_oid_text(&copy->list->items[i].oid, staging->options.sha256, oid);
        if (copy->wanted[i])
            al_strv_add(&all, oid);
    }
    r = al_bare_existing(&staging->bare, &all, true, &known, budget, err);
    next = known.buf;
    for (size_t i = 0; i < copy->list->count && r == 0; i++) {
        const char *oid = copy->wanted[i] ? all.items[asked++] : NULL;
        const bool lacks = oid && !al_starts_with(next, oid);

        if (oid)
            add(request, i, oid, lacks);
        if (oid && !lacks)
            next += strlen(oid) + 1;
    }
    return r;
}

int al_pull_bring_blobs(struct al_staging *staging, const struct al_pull_copy *copy,
                        struct al_run_limits *budget, struct al_error *err)
{
    al_auto(request_clear) struct request request = { copy, AL_STRV_INIT, AL_STRV_INIT, NULL };
    int r = find_blobs(staging, &request, budget, err);

    return r < 0 ? r : al_github_bring(copy->repo, &request.lacking, budget, err);
}

/* --- Copying --- */

/* Compare the commit and its trees with their ids. */
static int verify_trees(const struct al_pull_copy *copy, struct al_run_limits *budget,
                        struct al_error *err)
{
    al_auto(al_str_clear) struct al_str words = AL_STR_INIT;
    bool complete = true;
    int r;

    al_str_addf(&words, "%s\n%s^{tree}\n", copy->commit, copy->commit);
    for (size_t i = 0; i < copy->list->trees.count; i++)
        al_str_addf(&words, "%s\n", copy->list->trees.items[i]);
    r = al_git_verify_objects(copy->repo, &words, budget, &complete, err);
    if (r == 0 && !complete)
        r = al_error_set(err, AL_ERR_EXECUTION,
                         "the directories of the commit to pull have more than %u bytes; pull from "
                         "a smaller one",
                         AL_VERIFY_MAX_BYTES);
    return r;
}

/* Blobs as they come, each verified. */
struct copying {
    const struct request *request;
    struct al_import *import;
    struct al_str content;
    uint64_t bytes, max_bytes; /* so far; 0: no limit */
};

static int take(void *payload, size_t which, const char *data, size_t len, bool last,
                struct al_error *err)
{
    struct copying *copying = payload;
    struct al_str *content = &copying->content;
    const struct al_pull_copy *copy = copying->request->copy;

    copying->bytes += len;
    if (copying->max_bytes && copying->bytes > copying->max_bytes)
        return al_pull_too_large(copying->bytes, copying->max_bytes, err);
    al_str_add(content, data, len);
    if (!last)
        return 0;
    copy->is_lfs[copying->request->files[which]] =
        content->len < LFS_MAX_BYTES && al_starts_with(content->buf, LFS_MARK);
    al_import_put(copying->import, content->buf, content->len);
    al_str_reset(content);
    return 0;
}

int al_pull_copy_blobs(struct al_staging *staging, const struct al_pull_copy *copy,
                       struct al_run_limits *budget, struct al_error *err)
{
    al_auto(request_clear) struct request request = { copy, AL_STRV_INIT, AL_STRV_INIT, NULL };
    al_auto(al_import_clear) struct al_import import = { .file = NULL };
    struct copying copying = { .request = &request,
                               .import = &import,
                               .content = AL_STR_INIT,
                               .max_bytes = staging->options.max_bytes };
    struct al_bare both = staging->bare;
    int r = verify_trees(copy, budget, err);

    if (r == 0)
        r = find_blobs(staging, &request, budget, err);
    if (r == 0)
        r = al_github_bring(copy->repo, &request.lacking, budget, err);
    if (r == 0)
        r = al_import_begin(staging, &import, err);
    both.lender = &copy->repo->at;
    both.reads_borrowed = true;
    if (r == 0)
        r = al_bare_read(&both, (const char *const *)request.oids.items, request.oids.count, take,
                         &copying, budget, err);
    al_str_clear(&copying.content);
    return r < 0 || !request.lacking.count ? r : al_import_end(&import, budget, NULL, err);
}
