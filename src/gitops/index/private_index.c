// SPDX-License-Identifier: Apache-2.0
#include "gitops/index/private_index.h"

#include <errno.h>
#include <fcntl.h>
#include <nettle/sha2.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "gitops/index/index_source.h"
#include "gitops/index/index_store.h"
#include "gitops/index/known_trees.h"
#include "gitops/index/mounts.h"
#include "gitops/index/staleness.h"
#include "gitops/index/unused_indexes.h"
#include "gitops/layer.h"
#include "gitops/ruleset.h"
#include "gitops/vet/vet.h"

#define SECOND_NS INT64_C(1000000000)

/* One run of git on a private index. */
struct use {
    struct al_private_indexes *all;
    struct al_known_tree *tree;
    enum al_file_times times;
    bool has_taken;   /* the tree */
    bool has_lock;    /* of the store */
    bool may_refresh; /* the index */
    int64_t began_ns;
    struct al_index_record record;
    struct al_index_source source;
    struct al_strv config;
    struct al_git_index index; /* for the command */
};

static int64_t now_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * SECOND_NS + now.tv_nsec;
}

static char *dir_of(const struct al_location *at)
{
    static const char digits[] = "0123456789abcdef";
    uint8_t digest[SHA256_DIGEST_SIZE];
    char name[33] = "";
    struct sha256_ctx ctx;

    sha256_init(&ctx);
    sha256_update(&ctx, strlen(at->git_dir) + 1, (const uint8_t *)at->git_dir);
    sha256_update(&ctx, strlen(at->top), (const uint8_t *)at->top);
    sha256_digest(&ctx, sizeof(digest), digest);
    for (size_t i = 0; i < 16; i++) {
        name[2 * i] = digits[digest[i] >> 4];
        name[2 * i + 1] = digits[digest[i] & 15];
    }
    return al_fs_join(at->git->indexes_dir, name);
}

/* By the caller that has taken the tree.  Open the store, read what it holds, and lock it. */
static bool open_store(struct use *use, const struct al_location *at, bool create)
{
    struct al_known_tree *tree = use->tree;
    struct al_index_store store;
    struct al_index_record record = { .format = "" };

    if (!tree->is_open) {
        al_auto(al_freep) char *dir = dir_of(at);

        if (al_index_store_open(dir, create, &store) < 0)
            return false;
        (void)al_index_store_load(&store, &record);
        (void)pthread_mutex_lock(&use->all->lock);
        tree->store = store;
        tree->record = record;
        tree->is_open = true;
        (void)pthread_mutex_unlock(&use->all->lock);
    }
    use->has_lock = use->has_lock || al_index_store_lock(&tree->store);
    return use->has_lock;
}

/* The store is not as it should be; the next call opens it again. */
static void lose(struct use *use)
{
    (void)pthread_mutex_lock(&use->all->lock);
    use->tree->is_lost = true;
    (void)pthread_mutex_unlock(&use->all->lock);
}

static void note_record(struct use *use)
{
    (void)pthread_mutex_lock(&use->all->lock);
    use->tree->record = use->record;
    (void)pthread_mutex_unlock(&use->all->lock);
}

/* By the caller that has taken the tree.  Whether the store holds a copy of this very index;
 * another server may have made it. */
static bool find_copy(struct use *use)
{
    const struct al_known_tree *tree = use->tree;

    use->record = tree->record;
    if (!al_index_store_holds(&tree->store, &use->record, &use->source) &&
        !(al_index_store_load(&tree->store, &use->record) &&
          al_index_store_holds(&tree->store, &use->record, &use->source)))
        return false;
    if (!al_index_store_may_refresh(&tree->store, &use->record))
        return false;
    note_record(use);
    return true;
}

/* A small index whose files are known to git is read as fast without a copy.  A large one gets a
 * copy when it is read a second time. */
static bool is_worth(struct use *use, const struct al_repo *repo, int index_fd,
                     const struct stat *index, bool *ret_is_stale)
{
    struct al_known_tree *tree = use->tree;
    al_auto(al_closep) int top_fd = -1;

    *ret_is_stale = false;
    if (al_file_id_equal(&tree->judged, &use->source.id))
        return true;
    if (al_location_open_top(&repo->at, &top_fd, NULL) == 0 &&
        al_index_stale_entries(index_fd, index, top_fd, repo->vetting->is_sha256, ret_is_stale) >=
            AL_STALE_ENTRIES_MIN)
        return true;
    tree->judged = use->source.id;
    return false;
}

static void tidy(struct use *use, const char *dir)
{
    bool has_tidied;

    (void)pthread_mutex_lock(&use->all->lock);
    has_tidied = use->all->has_tidied;
    use->all->has_tidied = true;
    (void)pthread_mutex_unlock(&use->all->lock);
    if (!has_tidied)
        al_indexes_remove_unused(dir);
}

/* By the caller that has taken the tree. */
static bool make_copy(struct use *use, const struct al_repo *repo)
{
    struct al_known_tree *tree = use->tree;
    struct stat st;
    al_auto(al_closep) int fd = -1;
    bool is_stale;
    int r;

    if (!al_index_source_is_settled(&use->source))
        return false;
    fd = al_index_source_open(&repo->at, &st);
    if (fd < 0 || !is_worth(use, repo, fd, &st, &is_stale) || !open_store(use, &repo->at, true))
        return false;
    r = al_index_store_fill(&tree->store, fd, repo->vetting->is_sha256, is_stale, &use->source,
                            tree->top, &use->record);
    if (r == -ENOENT)
        lose(use); /* somebody removed the directory */
    else if (r < 0 && r != -EAGAIN)
        tree->unfit = use->source.id;
    if (r < 0)
        return false;
    note_record(use);
    tidy(use, repo->at.git->indexes_dir);
    return true;
}

/* Whether it is known that this index is better read as it is. */
static bool is_better_alone(const struct al_known_tree *tree, const struct al_file_id *id)
{
    return al_file_id_equal(&tree->unfit, id) ||
           (id->size < AL_LARGE_INDEX_BYTES && al_file_id_equal(&tree->judged, id));
}

/* While another caller refreshes the index: what it started with is good for reading. */
static bool prepare_to_read(struct use *use)
{
    struct al_known_tree *tree = use->tree;
    bool is_open;

    (void)pthread_mutex_lock(&use->all->lock);
    is_open = tree->is_open;
    use->record = tree->record;
    (void)pthread_mutex_unlock(&use->all->lock);
    return is_open && al_index_store_holds(&tree->store, &use->record, &use->source);
}

static void fill_in(struct use *use, bool lists_files)
{
    struct al_known_tree *tree = use->tree;

    al_strv_adds(&use->config, "core.untrackedcache",
                 use->times == AL_TIMES_OF_DIRS ? "true" : "false", "core.trustctime", "true",
                 "core.checkstat", "default", "core.splitindex", "false", "index.sparse", "false",
                 NULL);
    if (lists_files)
        al_strv_adds(&use->config, "status.showuntrackedfiles", "all", NULL);
    use->index = (struct al_git_index){
        .path = use->may_refresh ? tree->store.work_index : tree->store.ready_index,
        .may_refresh = use->may_refresh,
        .config = &use->config,
        .dir = tree->store.dir,
        .work_dir = tree->store.work_dir,
        .ruleset = &tree->ruleset,
        .lock_fd = tree->store.lock_fd,
    };
    use->began_ns = now_ns();
}

/* Let others have the tree. */
static void release(struct use *use, const struct al_repo *repo)
{
    if (use->has_lock)
        al_index_store_unlock(&use->tree->store);
    (void)pthread_mutex_lock(&use->all->lock);
    if (use->has_taken)
        use->tree->is_taken = false;
    al_known_tree_put(repo->at.git, use->all, use->tree);
    (void)pthread_mutex_unlock(&use->all->lock);
    al_strv_clear(&use->config);
}

/* Find the tree, and take it if it may have a copy and nobody else has taken it.  False when it is
 * read without. */
static bool find_tree(struct use *use, const struct al_location *at)
{
    struct al_known_tree *tree;
    bool may_have;

    use->all = al_known_trees(at->git);
    use->tree = tree = al_known_tree_get(use->all, at, &use->times);
    may_have = use->times != AL_TIMES_UNKNOWN;
    (void)pthread_mutex_lock(&use->all->lock);
    if (may_have && !tree->is_taken) {
        may_have = !is_better_alone(tree, &use->source.id);
        tree->is_taken = use->has_taken = may_have;
    }
    (void)pthread_mutex_unlock(&use->all->lock);
    return may_have;
}

static bool begin(struct use *use, const struct al_repo *repo, bool lists_files)
{
    if (repo->at.is_own || al_location_is_bare(&repo->at) || !repo->vetting->is_lasting ||
        !al_index_source_find(&repo->at, &use->source))
        return false;
    if (!find_tree(use, &repo->at)) {
        release(use, repo);
        return false;
    }
    al_index_source_digest(repo->vetting, &use->source);
    use->may_refresh = use->has_taken && ((open_store(use, &repo->at, false) && find_copy(use)) ||
                                          make_copy(use, repo));
    if (!use->may_refresh && !prepare_to_read(use)) {
        release(use, repo);
        return false;
    }
    fill_in(use, lists_files);
    return true;
}

/* Give the refreshed index to everybody.  git takes a missing index for an empty one, so the answer
 * counts only if the index is still there: false when it is not. */
static bool end(struct use *use, const struct al_repo *repo, int exit_code)
{
    const struct al_known_tree *tree = use->tree;
    struct stat st;
    const bool is_there = lstat(use->index.path, &st) == 0;

    if (!is_there)
        lose(use);
    if (use->may_refresh) {
        if (!is_there || exit_code > 0 ||
            al_index_store_publish(&tree->store, use->began_ns, tree->top, &use->record) < 0) {
            memset(&use->record, 0, sizeof(use->record));
            (void)unlinkat(tree->store.dir_fd, "record", 0);
        }
        note_record(use);
    }
    release(use, repo);
    return is_there;
}

int al_private_index_run(const struct al_repo *repo, struct al_git_command *command,
                         bool lists_files, const struct al_git_run *options,
                         struct al_run_limits *budget, struct al_git_output *ret_output,
                         struct al_error *err)
{
    struct use use = { .tree = NULL };
    al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;
    bool is_there;
    int r;

    if (!begin(&use, repo, lists_files))
        return al_git_run(&repo->at, command, options, budget, ret_output, err);
    command->private_index = &use.index;
    r = al_git_run(&repo->at, command, options, budget, ret_output, &why);
    command->private_index = NULL;
    is_there = end(&use, repo, budget->exit_code);
    if (is_there && (r == 0 || budget->exit_code <= 0 || options->sink.add)) {
        if (r < 0 && err) {
            al_error_clear(err);
            *err = why;
            why = AL_ERROR_INIT;
        }
        return r;
    }
    if (r == 0)
        al_git_output_clear(ret_output);
    if (options->sink.add)
        return al_error_set(err, AL_ERR_EXECUTION,
                            "airlock's copy of the index vanished; call again");
    return al_git_run(&repo->at, command, options, budget, ret_output, err);
}
