// SPDX-License-Identifier: Apache-2.0
/* Approval on the controlling terminal, which the agent's client cannot answer. */
#ifndef AL_CLI_TTY_H
#define AL_CLI_TTY_H

#include <stdbool.h>

#include "guard/approval.h"

struct al_tty {
    int fd; /**< of the controlling terminal; the caller closes it */
    bool colours;
};

/** Open the controlling terminal.  False: there is none. */
bool al_tty_open(struct al_tty *ret);

/** The terminal as an approver, which borrows `tty`. */
struct al_approver al_tty_approver(struct al_tty *tty);

/** Ask on standard output, and read one line.  The letter that it is in lower case, of "yes" too;
 * 0: something else, its end, or a signal.  `cancel` may be NULL. */
char al_tty_ask(const char *question, struct al_cancel *cancel);

/** Test whether to write colours to `fd`: it is a terminal, NO_COLOR is not set and TERM is not
 * "dumb".
 */
bool al_tty_colours(int fd);

/** The bytes of a text that fit into so many columns of a terminal, and the columns that they take.
 * East Asian wide characters and emoji take two. */
size_t al_columns_cut(const char *text, size_t len, size_t room, size_t *ret_columns);

/** Append a safe text line by line, behind `indent`; with colours where it is a diff, if wanted.
 * The last line gets its end. */
void al_tty_add_text(const char *text, const char *indent, bool colours, struct al_str *out);

#endif
