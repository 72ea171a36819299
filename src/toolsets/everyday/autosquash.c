// SPDX-License-Identifier: Apache-2.0
/*
 * The order of commits whose subjects begin with "fixup! ", "squash! " and "amend! ".
 *
 * Source: git-rebase(1), "--autosquash".
 */
#include <ctype.h>
#include <stdlib.h>

#include "gitops/refs.h"
#include "toolsets/everyday/rebase_plan.h"

/* One commit of the list. */
struct entry {
    const char *oid;
    char *subject;
    const char *message;
    enum al_replay_kind kind;
    size_t after; /* the entry it is moved behind; its own number: it is not */
    size_t last;  /* the last entry that was moved behind this one, or this one */
    size_t next;  /* the entry that follows in the chain; 0: none */
};

/* Read a prefix and skip it, several of them too.  False when there is none. */
static bool skip_prefix(const char **subject, enum al_replay_kind *ret_kind, bool *ret_amends)
{
    static const struct {
        const char *word;
        enum al_replay_kind kind;
        bool amends;
    } prefixes[] = { { "fixup!", AL_REPLAY_FIXUP, false },
                     { "squash!", AL_REPLAY_SQUASH, false },
                     { "amend!", AL_REPLAY_SQUASH, true } };

    for (size_t i = 0; i < AL_COUNT(prefixes); i++) {
        if (!al_starts_with(*subject, prefixes[i].word))
            continue;
        *subject += strlen(prefixes[i].word);
        *subject += strspn(*subject, " \t");
        *ret_kind = prefixes[i].kind;
        *ret_amends = prefixes[i].amends;
        return true;
    }
    return false;
}

/* The entry before `i` that a subject means: by its subject, else by an id, else by the beginning
 * of its subject.  `i` itself when there is none. */
static size_t find_target(const struct entry *entries, size_t i, const char *subject)
{
    size_t len = strlen(subject);

    for (size_t k = 0; k < i; k++)
        if (!strcmp(entries[k].subject, subject))
            return k;
    for (size_t k = 0; len >= 4 && !strchr(subject, ' ') && al_is_oid(subject, len) && k < i; k++)
        if (!strncmp(entries[k].oid, subject, len))
            return k;
    for (size_t k = 0; k < i; k++)
        if (!strncmp(entries[k].subject, subject, len))
            return k;
    return i;
}

/* What an amend! commit gives as the message: its own without the first paragraph. */
static const char *amended_message(const char *message)
{
    const char *rest = strstr(message, "\n\n");

    return rest ? rest + 2 : message;
}

static void place(struct entry *entries, size_t i)
{
    const char *subject = entries[i].subject;
    enum al_replay_kind kind = AL_REPLAY_PICK, inner;
    bool amends = false, ignored;
    size_t target;

    entries[i].after = i;
    if (!skip_prefix(&subject, &kind, &amends))
        return;
    while (skip_prefix(&subject, &inner, &ignored))
        continue;
    target = find_target(entries, i, subject);
    if (target == i)
        return;
    entries[i].kind = kind;
    entries[i].after = target;
    entries[i].message = amends ? amended_message(entries[i].message) : NULL;
    entries[entries[target].last].next = i;
    entries[target].last = i;
}

static char *subject_of(const char *message)
{
    struct al_str out = AL_STR_INIT;

    while (*message == '\n')
        message++;
    for (const char *at = message; *at && !(at[0] == '\n' && (at[1] == '\n' || !at[1])); at++)
        al_str_addc(&out, *at == '\n' ? ' ' : *at);
    al_str_trim_end(&out);
    return al_str_detach(&out);
}

static void add_entries(struct entry *entries, size_t count, struct al_replay_work *work)
{
    for (size_t i = 0; i < count; i++) {
        if (entries[i].after != i)
            continue;
        for (size_t k = i;; k = entries[k].next) {
            al_replay_work_add(work, entries[k].kind, entries[k].oid,
                               entries[k].kind == AL_REPLAY_SQUASH ? entries[k].message : NULL, 0);
            if (!entries[k].next)
                break;
        }
    }
}

int al_rebase_autosquash(struct al_call *call, const struct al_strv *list,
                         struct al_replay_work *work, struct al_error *err)
{
    al_auto(al_commits_read_clear) struct al_commits_read commits = { .items = NULL };
    al_auto(al_freep) struct entry *entries = al_calloc(list->count + 1, sizeof(*entries));
    int r = al_inmemory_open(al_call_repo(call), &work->memory, err);

    if (r == 0 && list->count)
        r = al_inmemory_read(work->memory, list, al_call_budget(call), &commits, err);
    if (r < 0)
        return r;
    for (size_t i = 0; i < list->count; i++) {
        entries[i] = (struct entry){ .oid = list->items[i],
                                     .subject = subject_of(commits.items[i].message),
                                     .message = commits.items[i].message,
                                     .kind = AL_REPLAY_PICK,
                                     .last = i };
        place(entries, i);
    }
    add_entries(entries, list->count, work);
    for (size_t i = 0; i < list->count; i++)
        free(entries[i].subject);
    return 0;
}
