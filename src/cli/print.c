// SPDX-License-Identifier: Apache-2.0
#include "cli/print.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "util/fs.h"
#include "util/log.h"

int al_cli_fail(const struct al_error *err)
{
    al_log_note("%s", err->message);
    if (err->remedy)
        al_log_note("%s", err->remedy);
    return err->status == AL_ERR_BAD_ARGS || err->status == AL_ERR_NOT_FOUND ? AL_EXIT_USAGE
                                                                             : AL_EXIT_FAILED;
}

static bool output_lost; /* output of this process was lost */

static void note_error(int r)
{
    if (r >= 0 || r == -EPIPE) /* a reader may stop early */
        return;
    if (!output_lost)
        al_log_note("cannot write: %s", strerrordesc_np(-r));
    output_lost = true;
}

void al_cli_print(int fd, const struct al_str *text)
{
    note_error(al_write_all(fd, text->buf, text->len));
}

void al_cli_wrap(struct al_str *out, size_t indent, const char *text)
{
    size_t column = 0;

    for (size_t i = out->len; i > 0 && out->buf[i - 1] != '\n'; i--)
        column++;
    for (const char *word = text; *word;) {
        size_t len = strcspn(word, " ");

        if (column > indent && column + 1 + len > AL_CLI_COLUMNS) {
            al_str_addc(out, '\n');
            column = 0;
        }
        for (bool apart = column > indent; apart || column < indent; apart = false, column++)
            al_str_addc(out, ' ');
        al_str_add(out, word, len);
        column += len;
        word += len + strspn(word + len, " ");
    }
    al_str_addc(out, '\n');
}

/* stdio keeps no errno of an earlier failure.  Whether it was EPIPE is visible in the pipe's state.
 */
static bool is_reader_gone(void)
{
    struct pollfd out = { .fd = STDOUT_FILENO, .events = POLLOUT };

    return poll(&out, 1, 0) == 1 && out.revents & (POLLERR | POLLNVAL);
}

int al_cli_finish(int code)
{
    if (fflush(stdout) != 0)
        note_error(-errno);
    else if (ferror(stdout) && !is_reader_gone())
        note_error(-EIO);
    return code == AL_EXIT_OK && output_lost ? AL_EXIT_FAILED : code;
}

void al_cli_note(const char *line)
{
    al_log_note("%s", line);
}

void al_cli_note_wait(void *payload, const char *line)
{
    (void)payload;
    if (line)
        al_cli_note(line);
}
