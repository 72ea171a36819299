// SPDX-License-Identifier: Apache-2.0
#include "gitops/message/message_cleanup.h"

#include <stdlib.h>
#include <string.h>

#include "guard/text.h"
#include "util/str.h"
#include "util/utf8.h"

#define PROPOSED_BYTES (16u * 1024u)

size_t al_message_characters(const char *text)
{
    size_t count = 0;

    for (; *text; text++)
        count += ((unsigned char)*text & 0xc0) != 0x80;
    return count;
}

/* Clean up the lines of a message: trim line ends and the start of the subject, and put an empty
 * line after the subject. `take` converts each line; when it returns NULL, there is no message. */
static char *tidy(const char *text, char *(*take)(const char *line, bool is_subject))
{
    al_auto(al_str_clear) struct al_str message = AL_STR_INIT;
    bool subject_is_last = false;

    for (const char *at = text; *at;) {
        size_t len = strcspn(at, "\n");
        al_auto(al_str_clear) struct al_str line = AL_STR_INIT;
        al_auto(al_freep) char *taken = NULL;

        al_str_add(&line, at, len);
        al_str_trim_end(&line);
        at += len + (at[len] == '\n');
        if (!message.len && !line.len)
            continue;
        taken = take(message.len ? line.buf : line.buf + strspn(line.buf, " \t\r"), !message.len);
        if (!taken)
            return NULL;
        if (subject_is_last && *taken)
            al_str_addc(&message, '\n');
        subject_is_last = !message.len;
        al_str_addf(&message, "%s\n", taken);
    }
    al_str_trim_end(&message);
    if (!message.len)
        return NULL;
    al_str_addc(&message, '\n');
    return al_str_detach(&message);
}

static char *take_prepared(const char *line, bool is_subject)
{
    (void)is_subject;
    return al_text_join_lines(line);
}

char *al_message_clean_prepared(const char *text)
{
    return tidy(text, take_prepared);
}

/* Accept a line only if every character is visible, and the subject is not too long. */
static char *take_proposed(const char *line, bool is_subject)
{
    al_auto(al_freep) char *shown = al_text_join_shown_lines(line);

    if (strcmp(shown, line) != 0 || (is_subject && al_message_characters(line) > AL_SUBJECT_MAX))
        return NULL;
    return al_take(&shown);
}

/* Remove a code fence, "```text" to "```", which models like to add. */
static char *without_fence(const char *text)
{
    const char *first = text + strspn(text, " \t\r\n");
    const char *begin = strchr(first, '\n');
    const char *end = begin ? strstr(begin, "\n```") : NULL;

    if (!al_starts_with(first, "```") || !end || end[4 + strspn(end + 4, " \t\r\n")])
        return al_strdup(text);
    return al_strndup(begin + 1, end > begin ? (size_t)(end - begin - 1) : 0);
}

char *al_commit_message_accept(const char *proposed)
{
    al_auto(al_freep) char *text = NULL;

    if (strlen(proposed) > PROPOSED_BYTES || !al_utf8_valid(proposed, strlen(proposed)))
        return NULL;
    text = without_fence(proposed);
    return tidy(text, take_proposed);
}
