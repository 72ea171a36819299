// SPDX-License-Identifier: Apache-2.0
/*
 * One `git cat-file --batch` gives the commit, its trees and the blobs, in the order in which they
 * are asked for.  Blobs are packed while they arrive, so memory does not depend on their size.
 *
 * Source: git-cat-file(1) "BATCH OUTPUT"; git-lfs-spec, "The Pointer".
 */
#include "staging/pull/copy.h"

#include <stdio.h>
#include <stdlib.h>

#include "gitops/failure.h"
#include "gitops/plumbing/revision.h"
#include "gitops/repo/repo.h"
#include "gitops/run.h"
#include "odb/pack_write.h"
#include "staging/github.h"
#include "staging/store.h"

#define HEADER_MAX_BYTES 256u
#define LFS_MAX_BYTES    1024u
#define BEGINNING_BYTES  128u /* kept of each object: more than both texts that are looked for */

static const char lfs_mark[] = "version https://git-lfs.github.com/spec/";

/* An object that is asked for. */
struct wanted {
    char oid[AL_OID_TEXT]; /* "": the tree of the commit, whose id is not known yet */
    enum al_object_type type;
    bool packs;
    bool *is_lfs; /* NULL: no file */
};

struct copying {
    bool sha256;
    struct wanted *wanted;
    size_t nwanted, which;
    struct al_pack *pack;
    uint64_t max_bytes, packed; /* of all blobs; 0: no limit */
    struct al_strv brought;     /* the ids of the blobs that are packed */
    struct al_str line;         /* the header that is being read */
    struct al_str beginning;    /* of the object */
    struct al_hash hash;        /* of an object that is not packed */
    uint64_t size, left;        /* of the object; bytes left of it with the newline behind it */
    char tree[AL_OID_TEXT];     /* of the commit, by its content */
    int status;
    struct al_error *err;
};

static const char *const types[] = {
    [AL_OBJECT_COMMIT] = "commit", [AL_OBJECT_TREE] = "tree", [AL_OBJECT_BLOB] = "blob"
};

static bool fail(struct copying *copying, int status)
{
    copying->status = status;
    return false;
}

static bool fail_on_object(struct copying *copying, const char *what, const char *remedy)
{
    const struct wanted *wanted = &copying->wanted[copying->which];

    (void)al_error_set(copying->err, AL_ERR_EXECUTION, "The %s %s %s, so nothing was pulled",
                       types[wanted->type], *wanted->oid ? wanted->oid : copying->tree, what);
    if (copying->err)
        copying->err->remedy = remedy;
    return fail(copying, AL_ERR_EXECUTION);
}

static bool is_forged(struct copying *copying)
{
    return fail_on_object(copying, "of the repository has other content than its id says",
                          "The user can look with git fsck.");
}

static bool is_missing(struct copying *copying)
{
    return fail_on_object(
        copying, "is not in the repository",
        "A partial clone has not downloaded it, or the repository is damaged. The "
        "user can look with git fsck.");
}

/* "<oid> SP <type> SP <size>" */
static bool begin_object(struct copying *copying)
{
    const struct wanted *wanted = &copying->wanted[copying->which];
    const char *line = copying->line.buf, *type = strchr(line, ' ');
    const char *size = strrchr(line, ' ');
    size_t len = strlen(types[wanted->type]);
    char *end = NULL;

    if (al_ends_with(line, " missing") || !type || size == type)
        return is_missing(copying);
    if (strncmp(type + 1, types[wanted->type], len) != 0 || type[1 + len] != ' ' ||
        (*wanted->oid && !al_starts_with(line, wanted->oid)))
        return is_forged(copying);
    copying->size = strtoull(size + 1, &end, 10);
    if (end == size + 1 || *end || copying->size > UINT64_MAX / 2)
        return is_forged(copying);
    copying->left = copying->size + 1;
    al_str_reset(&copying->beginning);
    if (!wanted->packs) {
        al_hash_init_object(&copying->hash, copying->sha256, wanted->type, copying->size);
        return true;
    }
    copying->packed += copying->size;
    if (copying->max_bytes && copying->packed > copying->max_bytes)
        return fail(copying, al_pull_too_large(copying->packed, copying->max_bytes, copying->err));
    return al_pack_begin(copying->pack, wanted->type, copying->size, copying->err) == 0 ||
           fail(copying, AL_ERR_EXECUTION);
}

/* The commit says which tree it has; git may have read another one. */
static void read_commit(struct copying *copying)
{
    static const char mark[] = "tree ";
    struct al_oid oid;

    if (al_starts_with(copying->beginning.buf, mark) &&
        al_oid_parse(copying->beginning.buf + strlen(mark), copying->sha256, &oid))
        al_oid_text(&oid, copying->sha256, copying->tree);
}

static bool end_object(struct copying *copying)
{
    const struct wanted *wanted = &copying->wanted[copying->which];
    const char *expected = *wanted->oid ? wanted->oid : copying->tree;
    char text[AL_OID_TEXT];
    struct al_oid oid;

    if (!wanted->packs)
        al_hash_end(&copying->hash, &oid);
    else if (al_pack_end(copying->pack, &oid, copying->err) < 0)
        return fail(copying, AL_ERR_EXECUTION);
    al_oid_text(&oid, copying->sha256, text);
    if (strcmp(text, expected) != 0)
        return is_forged(copying);
    if (wanted->type == AL_OBJECT_COMMIT)
        read_commit(copying);
    if (wanted->is_lfs)
        *wanted->is_lfs =
            copying->size < LFS_MAX_BYTES && al_starts_with(copying->beginning.buf, lfs_mark);
    copying->which++;
    return true;
}

/* Use bytes of an object, or the newline behind it.  Returns how many; 0: failed. */
static size_t take_content(struct copying *copying, const char *data, size_t len)
{
    uint64_t content = copying->left - 1;
    size_t piece = len < content ? len : (size_t)content;
    size_t room = BEGINNING_BYTES - copying->beginning.len;
    int r = 0;

    if (!content) {
        copying->left = 0;
        return end_object(copying) ? 1 : 0;
    }
    al_str_add(&copying->beginning, data, piece < room ? piece : room);
    if (copying->wanted[copying->which].packs)
        r = al_pack_add(copying->pack, data, piece, copying->err);
    else
        al_hash_add(&copying->hash, data, piece);
    if (r < 0)
        copying->status = r;
    copying->left -= piece;
    return r < 0 ? 0 : piece;
}

static size_t take_line(struct copying *copying, const char *data, size_t len)
{
    const char *eol = memchr(data, '\n', len);
    size_t piece = eol ? (size_t)(eol - data) : len;

    if (copying->which == copying->nwanted)
        return 0;
    al_str_add(&copying->line, data, piece);
    if (copying->line.len > HEADER_MAX_BYTES)
        return is_missing(copying);
    if (!eol)
        return piece;
    if (!begin_object(copying))
        return 0;
    al_str_reset(&copying->line);
    return piece + 1;
}

static bool add_output(void *payload, const char *data, size_t len)
{
    struct copying *copying = payload;

    while (len) {
        size_t taken =
            copying->left ? take_content(copying, data, len) : take_line(copying, data, len);

        if (!taken)
            return false;
        data += taken;
        len -= taken;
    }
    return true;
}

static int read_objects(const struct al_repo *repo, const struct al_str *words,
                        struct copying *copying, struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    int r;

    command.input = words->buf;
    command.input_len = words->len;
    command.buffered = true;
    al_strv_adds(&command.argv, "git", "-c", AL_NO_COMMIT_GRAPH, "cat-file", "--batch", "--buffer",
                 NULL);
    r = al_git_run(&repo->at, &command, &(struct al_git_run){ .sink = { add_output, copying } },
                   budget, &output, err);
    if (copying->status < 0)
        return copying->status;
    if (r == 0 && !al_git_read_well(&output))
        return al_git_failed(&output, err);
    if (r == 0 && copying->which != copying->nwanted)
        return al_error_set(err, AL_ERR_EXECUTION, "git cat-file did not say what was asked");
    return r;
}

static void ask(struct copying *copying, struct al_str *words, const char *word,
                const struct wanted *wanted)
{
    al_str_addf(words, "%s\n", word);
    copying->wanted[copying->nwanted++] = *wanted;
}

/* Ask for the commit and all trees.  Each tree is asked for once. */
static void ask_for_trees(const struct al_pull_copy *copy, struct copying *copying,
                          struct al_str *words)
{
    al_auto(al_oid_set_clear) struct al_oid_set seen = { .slots = NULL };
    al_auto(al_freep) char *top = al_asprintf("%s^{tree}", copy->commit);
    struct wanted wanted = { .type = AL_OBJECT_COMMIT };
    struct al_oid oid;

    (void)snprintf(wanted.oid, sizeof(wanted.oid), "%s", copy->commit);
    ask(copying, words, copy->commit, &wanted);
    ask(copying, words, top, &(struct wanted){ .type = AL_OBJECT_TREE });
    wanted.type = AL_OBJECT_TREE;
    for (size_t i = 0; i < copy->list->trees.count; i++) {
        const char *text = copy->list->trees.items[i];

        if (!al_oid_parse(text, copying->sha256, &oid) || !al_oid_set_add(&seen, &oid))
            continue;
        (void)snprintf(wanted.oid, sizeof(wanted.oid), "%s", text);
        ask(copying, words, text, &wanted);
    }
}

/* Ask for the blobs that the store lacks, and for small ones that may be a pointer. */
static void ask_for_blobs(const struct al_pull_copy *copy, struct al_objects *objects,
                          struct copying *copying, struct al_str *words)
{
    al_auto(al_oid_set_clear) struct al_oid_set seen = { .slots = NULL };

    for (size_t i = 0; i < copy->list->count; i++) {
        const struct al_pull_file *file = &copy->list->items[i];
        struct wanted wanted = { .type = AL_OBJECT_BLOB, .is_lfs = &copy->is_lfs[i] };
        bool may_be_lfs =
            file->has_size && file->size > sizeof(lfs_mark) && file->size < LFS_MAX_BYTES;

        if (!copy->wanted[i])
            continue;
        wanted.packs = !al_objects_has(objects, &file->oid) && al_oid_set_add(&seen, &file->oid);
        al_oid_text(&file->oid, copying->sha256, wanted.oid);
        if (wanted.packs)
            al_strv_add(&copying->brought, wanted.oid);
        if (wanted.packs || may_be_lfs)
            ask(copying, words, wanted.oid, &wanted);
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

int al_pull_copy_blobs(struct al_staging *staging, const struct al_pull_copy *copy,
                       struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_str_clear) struct al_str words = AL_STR_INIT;
    al_auto(al_objects_clear) struct al_objects objects;
    struct copying copying = { .sha256 = staging->options.sha256,
                               .max_bytes = staging->options.max_bytes,
                               .line = AL_STR_INIT,
                               .beginning = AL_STR_INIT,
                               .err = err };
    int r;

    al_staging_objects(staging, &objects);
    copying.wanted =
        al_calloc(copy->list->count + copy->list->trees.count + 2, sizeof(*copying.wanted));
    ask_for_trees(copy, &copying, &words);
    ask_for_blobs(copy, &objects, &copying, &words);
    copying.pack = al_pack_new(staging->pack_fd, copying.sha256, true);
    al_pack_store_only(copying.pack);
    r = al_github_bring(copy->repo, &copying.brought, budget, err);
    if (r == 0)
        r = read_objects(copy->repo, &words, &copying, budget, err);
    if (r == 0)
        r = al_pack_finish(copying.pack, err);
    al_pack_free(copying.pack);
    al_str_clear(&copying.line);
    al_str_clear(&copying.beginning);
    al_strv_clear(&copying.brought);
    free(copying.wanted);
    return r;
}
