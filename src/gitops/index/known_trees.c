// SPDX-License-Identifier: Apache-2.0
#include "gitops/index/known_trees.h"

#include <stdlib.h>
#include <string.h>

#include "gitops/layer.h"
#include "gitops/location.h"
#include "gitops/ruleset.h"
#include "util/mem.h"

static void free_tree(struct al_git *git, struct al_known_tree *tree)
{
    if (tree->ruleset)
        al_git_ruleset_put(git, tree->ruleset);
    if (tree->is_open)
        al_index_store_close(&tree->store);
    free(tree->git_dir);
    free(tree->top);
    free(tree);
}

static void free_all(struct al_git *git)
{
    struct al_private_indexes *all = git->private_indexes;

    git->private_indexes = NULL;
    for (struct al_known_tree *tree = all->first, *next; tree; tree = next) {
        next = tree->next;
        free_tree(git, tree);
    }
    (void)pthread_mutex_destroy(&all->lock);
    free(all);
}

struct al_private_indexes *al_known_trees(struct al_git *git)
{
    struct al_private_indexes *all;

    (void)pthread_mutex_lock(&git->lock);
    if (!git->private_indexes) {
        git->private_indexes = al_calloc(1, sizeof(*git->private_indexes));
        (void)pthread_mutex_init(&git->private_indexes->lock, NULL);
        git->free_private_indexes = free_all;
    }
    all = git->private_indexes;
    (void)pthread_mutex_unlock(&git->lock);
    return all;
}

/* With the lock held.  Unlink a tree from the list; it is freed when it has no user. */
static void unlink_tree(struct al_private_indexes *all, struct al_known_tree *tree)
{
    for (struct al_known_tree **at = &all->first; *at; at = &(*at)->next) {
        if (*at == tree) {
            *at = tree->next;
            all->count--;
            return;
        }
    }
}

/* With the lock held.  Make room for one more tree, if one has no user. */
static void drop_oldest(struct al_git *git, struct al_private_indexes *all)
{
    struct al_known_tree *oldest = NULL;

    if (all->count < AL_KNOWN_TREES_MAX)
        return;
    for (struct al_known_tree *tree = all->first; tree; tree = tree->next)
        if (!tree->users)
            oldest = tree;
    if (oldest) {
        unlink_tree(all, oldest);
        free_tree(git, oldest);
    }
}

/* With the lock held.  The tree of a location, first in the list. */
static struct al_known_tree *find_tree(struct al_private_indexes *all, const struct al_location *at)
{
    struct al_known_tree *tree = all->first;

    while (tree && (strcmp(tree->git_dir, at->git_dir) != 0 || strcmp(tree->top, at->top) != 0))
        tree = tree->next;
    if (tree) {
        unlink_tree(all, tree);
    } else {
        drop_oldest(at->git, all);
        tree = al_calloc(1, sizeof(*tree));
        tree->git_dir = al_strdup(at->git_dir);
        tree->top = al_strdup(at->top);
    }
    tree->next = all->first;
    all->first = tree;
    all->count++;
    return tree;
}

/* The file system is asked without the lock: a dead file server then stops only this call. */
struct al_known_tree *al_known_tree_get(struct al_private_indexes *all,
                                        const struct al_location *at, enum al_file_times *ret_times)
{
    const uint64_t serial = al_mounts_serial();
    struct al_known_tree *tree;
    bool is_known;

    (void)pthread_mutex_lock(&all->lock);
    tree = find_tree(all, at);
    tree->users++;
    is_known = serial && serial == tree->mounts;
    *ret_times = tree->times;
    (void)pthread_mutex_unlock(&all->lock);
    if (is_known)
        return tree;
    *ret_times =
        !serial || al_mounts_below(tree->top) ? AL_TIMES_UNKNOWN : al_file_times_of(tree->top);
    (void)pthread_mutex_lock(&all->lock);
    tree->mounts = serial;
    tree->times = *ret_times;
    (void)pthread_mutex_unlock(&all->lock);
    return tree;
}

void al_known_tree_put(struct al_git *git, struct al_private_indexes *all,
                       struct al_known_tree *tree)
{
    if (tree->is_lost)
        unlink_tree(all, tree);
    if (--tree->users == 0 && tree->is_lost)
        free_tree(git, tree);
}
