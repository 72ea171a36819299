// SPDX-License-Identifier: Apache-2.0
#include "guard/rules/approval.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "guard/text.h"
#include "util/utf8.h"

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

void al_approval_answer_clear(struct al_approval_answer *answer)
{
    free(answer->reason);
    *answer = AL_APPROVAL_ANSWER_INIT;
}

/* The length in bytes of the first `max` characters. */
static size_t characters(const char *text, size_t max)
{
    const size_t len = strlen(text);
    size_t at = 0;
    uint32_t ignored;

    for (; max && at < len; max--) {
        int n = al_utf8_next(text + at, len - at, &ignored);

        at += n > 0 ? (size_t)n : 1;
    }
    return at;
}

void al_approval_answer_set_reason(struct al_approval_answer *answer, const char *text)
{
    al_auto(al_freep) char *line = al_text_join_lines(text);
    const char *from = line + strspn(line, " ");
    size_t len = characters(from, AL_APPROVAL_REASON_MAX);

    while (len && from[len - 1] == ' ')
        len--;
    free(answer->reason);
    answer->reason = len ? al_strndup(from, len) : NULL;
}

static bool is_long(const struct al_approval_request *request)
{
    return request->summary[characters(request->summary, AL_APPROVAL_SUMMARY_MAX)] != '\0';
}

void al_approval_add_heading(const struct al_approval_request *request, struct al_str *out)
{
    al_auto(al_freep) char *repository = al_text_sanitize_shown_line(request->repository);

    al_str_add(out, request->summary, characters(request->summary, AL_APPROVAL_SUMMARY_MAX));
    al_str_addf(out, "%s\nIn %s, by %s (%s)\n", is_long(request) ? "..." : "", repository,
                request->tool, request->operation);
    if (request->always_covers)
        al_str_addf(out, "\"always\" covers %s\n", request->always_covers);
}

void al_approval_add_full_summary(const struct al_approval_request *request, struct al_str *out)
{
    if (is_long(request))
        al_str_addf(out, "The whole first line:\n%s\n", request->summary);
}

struct al_approvals *al_approvals_new(void)
{
    struct al_approvals *approvals = al_calloc(1, sizeof(*approvals));

    (void)pthread_mutex_init(&approvals->lock, NULL); /* cannot fail with default attributes */
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
