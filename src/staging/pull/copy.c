// SPDX-License-Identifier: Apache-2.0
/* One `git cat-file --batch` gives the commit, its trees and the blobs, in the order in which they
 * are asked for. */
#include "staging/pull/copy.h"

#include <stdio.h>
#include <stdlib.h>

#include "gitops/repo/repo.h"
#include "odb/objects.h"
#include "staging/github.h"
#include "staging/pull/copy_read.h"
#include "staging/store.h"

/* What to ask for. */
struct request {
    const struct al_pull_copy *copy;
    struct al_pull_copying copying;
    struct al_str words;    /* one a line */
    struct al_strv brought; /* the ids of what a repository on GitHub has to be asked for */
    uint32_t npacked;       /* how many of the objects are packed */
    struct al_run_limits *budget;
};

static void clear(struct request *request)
{
    al_pull_copying_clear(&request->copying);
    al_str_clear(&request->words);
    al_strv_clear(&request->brought);
}

static void ask(struct request *request, const char *word, const struct al_pull_wanted *wanted)
{
    struct al_pull_copying *copying = &request->copying;

    al_str_adds(&request->words, word);
    al_str_addc(&request->words, '\n');
    copying->wanted[copying->nwanted++] = *wanted;
}

/* Ask for the commit and all trees.  Each tree is asked for once. */
static void ask_for_trees(struct request *request)
{
    const struct al_pull_copy *copy = request->copy;
    al_auto(al_oid_set_clear) struct al_oid_set seen = { .slots = NULL };
    al_auto(al_freep) char *top = al_asprintf("%s^{tree}", copy->commit);
    struct al_pull_wanted wanted = { .type = AL_OBJECT_COMMIT, .file = AL_PULL_NO_FILE };
    struct al_oid oid;

    (void)snprintf(wanted.oid, sizeof(wanted.oid), "%s", copy->commit);
    ask(request, copy->commit, &wanted);
    wanted.type = AL_OBJECT_TREE;
    *wanted.oid = '\0';
    ask(request, top, &wanted);
    for (size_t i = 0; i < copy->list->trees.count; i++) {
        const char *text = copy->list->trees.items[i];

        if (!al_oid_parse(text, request->copying.sha256, &oid) || !al_oid_set_add(&seen, &oid))
            continue;
        (void)snprintf(wanted.oid, sizeof(wanted.oid), "%s", text);
        ask(request, text, &wanted);
    }
}

/* Note a file that is created.  Returns which one it is. */
static size_t add_created(struct al_pull_created *created, const struct al_pull_file *file)
{
    created->items[created->count] = (struct al_sandbox_file){
        .path = file->path, .mode = file->mode, .oid = file->oid, .is_new = true
    };
    return created->count++;
}

static bool may_be_lfs(const struct al_pull_file *file)
{
    return file->has_size && file->size > sizeof(AL_LFS_MARK) && file->size < AL_LFS_MAX_BYTES;
}

/* Ask for the blobs that the store lacks, once for each file that is created, and for small ones
 * that may be a pointer. */
static void ask_for_blobs(struct request *request, struct al_objects *objects)
{
    const struct al_pull_copy *copy = request->copy;
    struct al_pull_copying *copying = &request->copying;
    al_auto(al_oid_set_clear) struct al_oid_set seen = { .slots = NULL };

    for (size_t i = 0; i < copy->list->count; i++) {
        const struct al_pull_file *file = &copy->list->items[i];
        struct al_pull_wanted wanted = { .type = AL_OBJECT_BLOB,
                                         .is_lfs = &copy->is_lfs[i],
                                         .file = AL_PULL_NO_FILE };
        bool lacks;

        if (!copy->wanted[i])
            continue;
        lacks = !al_objects_has(objects, &file->oid);
        copy->creates[i] &= lacks;
        wanted.packs = lacks && al_oid_set_add(&seen, &file->oid);
        al_oid_text(&file->oid, copying->sha256, wanted.oid);
        request->npacked += wanted.packs;
        if (wanted.packs && copy->repo->mirror)
            al_strv_add(&request->brought, wanted.oid);
        if (copy->creates[i])
            wanted.file = add_created(&copying->created, file);
        if (wanted.packs || copy->creates[i] || may_be_lfs(file))
            ask(request, wanted.oid, &wanted);
    }
}

int al_pull_too_large(uint64_t bytes, uint64_t max, struct al_error *err)
{
    return al_error_set(err, AL_ERR_EXECUTION,
                        "the files have %llu bytes, more than the %llu that the sandbox may hold, "
                        "so nothing was pulled; give fewer paths or raise staging.max_bytes",
                        (unsigned long long)bytes, (unsigned long long)max);
}

int al_pull_bring_blobs(struct al_staging *staging, const struct al_pull_copy *copy,
                        struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_objects_clear) struct al_objects objects;
    al_auto(al_strv_clear) struct al_strv oids = AL_STRV_INIT;
    char text[AL_OID_TEXT];

    al_staging_objects(staging, &objects);
    for (size_t i = 0; i < copy->list->count; i++) {
        if (!copy->wanted[i] || al_objects_has(&objects, &copy->list->items[i].oid))
            continue;
        al_oid_text(&copy->list->items[i].oid, staging->options.sha256, text);
        al_strv_add(&oids, text);
    }
    return al_github_bring(copy->repo, &oids, budget, err);
}

/* The sandbox asks for the content of the files that are created; the words have their ids. */
static int read_created(void *payload, const char *const *oids, size_t count, al_blob_take *take,
                        void *take_payload, struct al_error *err)
{
    struct request *request = payload;

    (void)oids;
    (void)count;
    request->copying.created.take = take;
    request->copying.created.payload = take_payload;
    return al_pull_read_objects(request->copy->repo, &request->words, &request->copying,
                                request->budget, err);
}

static int read_all(struct al_staging *staging, struct request *request, struct al_error *err)
{
    const struct al_pull_created *created = &request->copying.created;
    const struct al_blob_source source = { read_created, request };

    if (created->count)
        return al_sandbox_import(staging->options.sandbox, created->items, created->count, &source,
                                 err);
    return al_pull_read_objects(request->copy->repo, &request->words, &request->copying,
                                request->budget, err);
}

int al_pull_copy_blobs(struct al_staging *staging, const struct al_pull_copy *copy,
                       struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_objects_clear) struct al_objects objects;
    al_auto(clear) struct request request = {
        .copy = copy, .words = AL_STR_INIT, .brought = AL_STRV_INIT, .budget = budget
    };
    struct al_pull_copying *copying = &request.copying;
    int r;

    *copying = AL_PULL_COPYING_INIT;
    copying->sha256 = staging->options.sha256;
    copying->max_bytes = staging->options.max_bytes;
    copying->err = err;
    copying->wanted =
        al_calloc(copy->list->count + copy->list->trees.count + 2, sizeof(*copying->wanted));
    copying->created.items = al_calloc(copy->list->count + 1, sizeof(*copying->created.items));
    al_staging_objects(staging, &objects);
    ask_for_trees(&request);
    ask_for_blobs(&request, &objects);
    copying->pack = al_pack_new(staging->pack_fd, copying->sha256, true);
    al_pack_store_only(copying->pack);
    al_pack_expect(copying->pack, request.npacked);
    r = al_github_bring(copy->repo, &request.brought, budget, err);
    if (r == 0)
        r = read_all(staging, &request, err);
    return r < 0 ? r : al_pack_finish(copying->pack, err);
}
