// SPDX-License-Identifier: Apache-2.0
#include "git/progress.h"

#include "guard/text.h"

/* Longer than any progress line; a longer line is passed on in pieces. */
#define LINE_MAX_BYTES 1024

/* Titles of git's own counters.  Other counters come from hooks and are passed on. */
static const char *const titles[] = {
    "Enumerating objects", "Counting objects",    "Compressing objects", "Writing objects",
    "Receiving objects",   "Unpacking objects",   "Resolving deltas",    "Checking connectivity",
    "Finding sources",     "Removing duplicates", "Updating files",      "Indexing objects",
};

/* "Counting objects:  50% (1/2)", "Enumerating objects: 5, done." */
static bool is_counter(const char *line)
{
    for (size_t i = 0; i < AL_COUNT(titles); i++) {
        const char *rest = al_starts_with(line, titles[i]) ? line + strlen(titles[i]) : "";

        if (*rest == ':')
            return strspn(rest + 1 + strspn(rest + 1, " "), "0123456789") > 0;
    }
    return false;
}

bool al_is_progress(const char *line)
{
    if (al_starts_with(line, "remote: "))
        line += strlen("remote: ");
    return is_counter(line) || al_starts_with(line, "Total ") ||
           al_starts_with(line, "Delta compression using up to ");
}

/* Handle a complete line; `end` is the byte that ended it, or 0. */
static void take_line(struct al_progress_filter *filter, char end)
{
    struct al_str *line = &filter->line;

    if (line->len && al_is_progress(line->buf)) {
        al_auto(al_freep) char *shown = al_text_join_lines(line->buf);

        for (size_t len = strlen(shown); len && shown[len - 1] == ' '; len--)
            shown[len - 1] = '\0';
        filter->to->report(filter->to->payload, shown);
    } else {
        if (end)
            al_str_addc(line, end);
        if (!filter->full && line->len)
            filter->full = !filter->rest.add(filter->rest.payload, line->buf, line->len);
    }
    al_str_reset(line);
}

bool al_progress_filter_add(void *payload, const char *data, size_t len)
{
    struct al_progress_filter *filter = payload;

    for (size_t i = 0; i < len; i++) {
        if (data[i] == '\r' || data[i] == '\n')
            take_line(filter, data[i]);
        else
            al_str_addc(&filter->line, data[i]);
        if (filter->line.len == LINE_MAX_BYTES)
            take_line(filter, 0);
    }
    return true; /* progress is still reported when the sink is full */
}

void al_progress_filter_end(struct al_progress_filter *filter)
{
    take_line(filter, 0);
    al_str_clear(&filter->line);
}
