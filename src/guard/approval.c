// SPDX-License-Identifier: Apache-2.0
#include "guard/approval.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct remembered {
    char *tool;
    char *operation;
    char *repository;
};

struct al_approvals {
    pthread_mutex_t lock;
    struct remembered *items;
    size_t count;
};

int al_approval_mode_parse(const char *text)
{
    if (!strcmp(text, "ask"))
        return AL_APPROVAL_ASK;
    if (!strcmp(text, "allow"))
        return AL_APPROVAL_ALLOW;
    if (!strcmp(text, "deny"))
        return AL_APPROVAL_DENY;
    return -1;
}

struct al_approvals *al_approvals_new(void)
{
    struct al_approvals *approvals = al_calloc(1, sizeof(*approvals));

    (void)pthread_mutex_init(&approvals->lock, NULL); /* with default attributes it cannot fail */
    return approvals;
}

void al_approvals_free(struct al_approvals *approvals)
{
    if (!approvals)
        return;
    for (size_t i = 0; i < approvals->count; i++) {
        free(approvals->items[i].tool);
        free(approvals->items[i].operation);
        free(approvals->items[i].repository);
    }
    free(approvals->items);
    (void)pthread_mutex_destroy(&approvals->lock);
    free(approvals);
}

/* The caller holds the lock. */
static bool find(const struct al_approvals *approvals, const char *tool, const char *operation,
                 const char *repository)
{
    for (size_t i = 0; i < approvals->count; i++) {
        const struct remembered *item = &approvals->items[i];

        if (!strcmp(item->tool, tool) && !strcmp(item->operation, operation) &&
            !strcmp(item->repository, repository))
            return true;
    }
    return false;
}

void al_approvals_remember(struct al_approvals *approvals, const char *tool, const char *operation,
                           const char *repository)
{
    (void)pthread_mutex_lock(&approvals->lock);
    if (!find(approvals, tool, operation, repository)) {
        approvals->items =
            al_reallocarray(approvals->items, approvals->count + 1, sizeof(*approvals->items));
        approvals->items[approvals->count++] = (struct remembered){
            .tool = al_strdup(tool),
            .operation = al_strdup(operation),
            .repository = al_strdup(repository),
        };
    }
    (void)pthread_mutex_unlock(&approvals->lock);
}

bool al_approvals_has(struct al_approvals *approvals, const char *tool, const char *operation,
                      const char *repository)
{
    bool has;

    (void)pthread_mutex_lock(&approvals->lock);
    has = find(approvals, tool, operation, repository);
    (void)pthread_mutex_unlock(&approvals->lock);
    return has;
}
