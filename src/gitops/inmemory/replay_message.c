// SPDX-License-Identifier: Apache-2.0
/* The messages of replayed commits.  Source: git-stripspace(1), git-rebase(1), git-revert(1). */
#include <string.h>

#include "gitops/inmemory/private.h"

static size_t without_space(const char *line, size_t len)
{
    while (len && strchr(" \t\r\v\f", line[len - 1]))
        len--;
    return len;
}

void al_message_strip_space(const char *message, struct al_str *out)
{
    bool empty_before = false, any = false;

    for (const char *line = message; *line;) {
        const size_t all = strcspn(line, "\n");
        const size_t len = without_space(line, all);

        if (len) {
            if (any && empty_before)
                al_str_addc(out, '\n');
            al_str_add(out, line, len);
            al_str_addc(out, '\n');
            any = true;
        }
        empty_before = !len;
        line += all + (line[all] == '\n');
    }
}

const char *al_message_without_empty_lines(const char *message)
{
    for (;;) {
        const size_t all = strcspn(message, "\n");

        if (!*message || without_space(message, all))
            return message;
        message += all + (message[all] == '\n');
    }
}

/* A message without a subject that only says where the commit belongs. */
static const char *without_mark(const char *message)
{
    if (!al_starts_with(message, "squash!") && !al_starts_with(message, "fixup!") &&
        !al_starts_with(message, "amend!"))
        return message;
    message += strcspn(message, "\n");
    return message;
}

void al_message_squash(const char *first, const char *second, struct al_str *out)
{
    al_auto(al_str_clear) struct al_str both = AL_STR_INIT;

    al_str_addf(&both, "%s\n\n%s", first, without_mark(second));
    al_message_strip_space(both.buf, out);
}

void al_message_revert(const struct al_commit_read *commit, const char *mainline,
                       struct al_str *out)
{
    const char *subject = al_message_without_empty_lines(commit->message);

    al_str_addf(out, "Revert \"%.*s\"\n\nThis reverts commit %s", (int)strcspn(subject, "\n"),
                subject, commit->oid);
    if (mainline)
        al_str_addf(out, ", reversing\nchanges made to %s", mainline);
    al_str_adds(out, ".\n");
}
