// SPDX-License-Identifier: Apache-2.0
#include "gitops/sequencer/picked_message.h"

#include <fcntl.h>
#include <string.h>

#include "gitops/location.h"
#include "guard/nofollow.h"
#include "util/fs.h"

#define MESSAGE_BYTES (1u << 20)
#define CONFLICTS     " Conflicts:\n"
#define SCISSORS      " ------------------------ >8 ------------------------\n"

/* Whether all lines of a text are a comment character and a tab, and a name. */
static bool lists_names(const char *text, char comment)
{
    for (; *text; text += strcspn(text, "\n"), text += *text == '\n')
        if (text[0] != comment || text[1] != '\t')
            return false;
    return true;
}

/* Find the list of conflicts at the end: "\n# Conflicts:\n", and "#\t<path>" for each. */
static char *find_list(char *text)
{
    char *at = text;

    for (; (at = strstr(at, CONFLICTS)); at += strlen(CONFLICTS))
        if (at > text + 1 && at[-2] == '\n' && lists_names(at + strlen(CONFLICTS), at[-1]))
            return at - 1;
    return NULL;
}

/* Read what git prepared, and find the list of conflicts in it; NULL when it has none. */
static int read_prepared(const struct al_repo *repo, struct al_str *text, char **ret_list)
{
    al_auto(al_closep) int git_dir = -1;
    al_auto(al_closep) int fd = -1;
    int r = al_location_open_git_dir(&repo->at, &git_dir, NULL);

    if (r < 0)
        return r;
    fd = al_nofollow_open(git_dir, "MERGE_MSG", O_RDONLY);
    r = fd < 0 ? fd : al_fs_read_fd(fd, MESSAGE_BYTES, text);
    if (r < 0 || !text->len || strlen(text->buf) != text->len)
        return AL_ERR_EXECUTION;
    *ret_list = find_list(text->buf);
    return 0;
}

/* Remove the line that git puts above the list with "--cleanup=scissors", and what is below. */
static void cut_at_scissors(char *text, char comment)
{
    const char line[] = { '\n', comment, '\0' };
    char *at = text, *found = NULL;

    for (; (at = strstr(at, line)); at++)
        if (al_starts_with(at + 2, SCISSORS))
            found = at + 1;
    if (found)
        *found = '\0';
}

char *al_git_prepared_message(const struct al_repo *repo)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    char *list, comment;

    if (read_prepared(repo, &text, &list) < 0)
        return NULL;
    if (list) {
        comment = *list;
        *list = '\0';
        cut_at_scissors(text.buf, comment);
    }
    return text.buf[strspn(text.buf, " \t\r\n")] ? al_strdup(text.buf) : NULL;
}

char *al_git_picked_message(const struct al_repo *repo)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    char *list, comment, begin[3] = "\n";

    if (read_prepared(repo, &text, &list) < 0 || !list)
        return NULL;
    comment = *list;
    *list = '\0';
    begin[1] = comment;
    return *text.buf == comment || strstr(text.buf, begin) ? al_strdup(text.buf) : NULL;
}
