// SPDX-License-Identifier: Apache-2.0
#include "tool/worktree_calls.h"

#include <stdlib.h>
#include <string.h>

#include "guard/text.h"
#include "history/journal.h"
#include "tool/private.h"

/* What is this much before the end of the journal is not read. */
#define READ_BACK_BYTES (64u << 20)

/* Safe text.  Caller frees. */
static char *name_call(const json_t *call)
{
    const char *tool = al_json_get_string(call, "tool");
    const char *agent = al_json_get_string(call, "agent");
    al_auto(al_freep) char *words = al_asprintf("%s%s%s", tool ? tool : "a call",
                                                agent ? " of agent " : "", agent ? agent : "");

    return al_text_sanitize_line(words);
}

struct running {
    const char *top;
    char *words; /* of the first one; NULL: none */
};

static void take_running(void *payload, long pid, const json_t *call)
{
    struct running *running = payload;
    al_auto(al_freep) char *name = NULL;

    if (running->words || !al_journal_is_about(call, running->top))
        return;
    name = name_call(call);
    running->words = al_asprintf("%s (process %ld)", name, pid);
}

/* This call is recorded with its own working tree, which is another one. */
char *al_call_running_in(const struct al_call *call, const char *top)
{
    const struct al_journal *journal = call->session->journal;
    struct running running = { .top = top };

    if (journal)
        (void)al_journal_running(al_journal_file(journal), take_running, &running);
    return running.words;
}

static void take_line(const char *text, size_t len, const char *const *tops, size_t ntops,
                      char **words)
{
    static const char member[] = "\"repository\":\"";
    al_auto(al_json_decrefp) json_t *line = NULL;
    al_auto(al_freep) char *repository = NULL;
    const char *time;

    if (!memmem(text, len, member, strlen(member)))
        return;
    line = json_loadb(text, len, JSON_ALLOW_NUL, NULL);
    repository = al_journal_path(line, "repository");
    time = al_json_get_string(line, "time");
    for (size_t i = 0; repository && time && i < ntops; i++) {
        al_auto(al_freep) char *name = NULL;
        al_auto(al_freep) char *when = NULL;

        if (strcmp(repository, tops[i]) != 0)
            continue;
        name = name_call(line);
        when = al_text_sanitize_line(time);
        free(words[i]);
        words[i] = al_asprintf("%s, %s", name, when);
    }
}

void al_call_last_in(const struct al_call *call, const char *const *tops, size_t ntops,
                     char **ret_words)
{
    const struct al_journal *journal = call->session->journal;
    al_auto(al_history_clear) struct al_history history = AL_HISTORY_INIT;
    const char *text;
    size_t len;

    memset(ret_words, 0, ntops * sizeof(*ret_words));
    if (!journal || al_history_open(al_journal_file(journal), &history) < 0)
        return;
    (void)al_history_skip_old(&history, READ_BACK_BYTES);
    while (al_history_next(&history, &text, &len) > 0)
        take_line(text, len, tops, ntops, ret_words);
}
