// SPDX-License-Identifier: Apache-2.0
#include "cli/tty.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <poll.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>
#include <wchar.h>

#include "base/fs.h"
#include "base/str.h"
#include "base/utf8.h"
#include "cli/pager.h"
#include "guard/text.h"
#include "proc/cancel.h"
#include "review/lines.h"

/* Combining characters count as one: a line is never wider than computed.  Source: wcwidth(3). */
static size_t columns_of(uint32_t c)
{
    const int columns = wcwidth((wchar_t)c);

    return columns > 0 ? (size_t)columns : 1;
}

size_t al_columns_cut(const char *text, size_t len, size_t room, size_t *ret_columns)
{
    size_t used = 0, at = 0;

    while (at < len) {
        uint32_t c = 0;
        const int bytes = al_utf8_next(text + at, len - at, &c);
        const size_t columns = bytes > 0 ? columns_of(c) : 1; /* an invalid byte is a character */

        if (used + columns > room)
            break;
        used += columns;
        at += bytes > 0 ? (size_t)bytes : 1;
    }
    *ret_columns = used;
    return at;
}

/* The widest frame in columns, and the narrowest one. */
#define AL_FRAME_MAX_COLUMNS 80
#define AL_FRAME_MIN_COLUMNS 40

/* "│ " in front and " │" behind. */
#define BORDER_COLUMNS 4

/* A line goes on this far to the right. */
#define INDENT 6

static void add_edge(struct al_str *out, const char *left, const char *right, size_t inner)
{
    al_str_adds(out, left);
    for (size_t i = 0; i < inner + 2; i++)
        al_str_adds(out, "─");
    al_str_addf(out, "%s\n", right);
}

static void add_row(struct al_str *out, size_t indent, const char *text, size_t len, size_t inner)
{
    size_t used;

    (void)al_columns_cut(text, len, SIZE_MAX, &used);
    used += indent;
    al_str_addf(out, "│ %*s%.*s%*s │\n", (int)indent, "", (int)len, text,
                (int)(used < inner ? inner - used : 0), "");
}

static void add_line(struct al_str *out, const char *text, size_t len, size_t inner)
{
    size_t indent = 0, columns;

    do {
        const size_t part = al_columns_cut(text, len, inner - indent, &columns);

        add_row(out, indent, text, part, inner);
        text += part;
        len -= part;
        indent = INDENT;
    } while (len);
}

/* Append `text` in a frame as wide as a terminal of so many columns; 0: not known.  A line that is
 * too long goes on in the next one. */
static void frame_add(struct al_str *out, const char *text, size_t columns)
{
    const size_t most = columns && columns < AL_FRAME_MAX_COLUMNS ? columns : AL_FRAME_MAX_COLUMNS;
    const size_t inner =
        (most < AL_FRAME_MIN_COLUMNS ? AL_FRAME_MIN_COLUMNS : most) - BORDER_COLUMNS;

    add_edge(out, "┌", "┐", inner);
    for (const char *at = text; *at;) {
        const size_t len = strcspn(at, "\n");

        add_line(out, at, len, inner);
        at += len + (at[len] == '\n');
    }
    add_edge(out, "└", "┘", inner);
}

#define BOLD           "\033[1m"
#define DIM            "\033[2m"
#define RED            "\033[31m"
#define GREEN          "\033[32m"
#define CYAN           "\033[36m"
#define RESET          "\033[0m"

#define LINE_MAX_BYTES 1024u

/* The keys of a question in a frame, and what they do. */
#define FRAME_KEYS "[d]iff  [a]pprove  [r]eject  [?]help"
#define FRAME_HELP                                                                                 \
    "d, diff     show all that would be pushed\n"                                                  \
    "a, approve  push it, this once\n"                                                             \
    "r, reject   push nothing; you can say why, and the agent reads it\n"                          \
    "Also: o, once, y and yes for a; n and no for r.\n"

/* The same for other questions. */
#define HELP_ONCE    "o, once     allow this one call\n"
#define HELP_APPROVE "a, approve  the same\n"
#define HELP_ALWAYS  "a, always   allow it from now on, as the question says\n"
#define HELP_REST                                                                                  \
    "r, reject   do nothing; you can say why, and the agent reads it\n"                            \
    "d, diff     show all that would change\n"                                                     \
    "Also: y and yes for o; n and no for r.\n"

bool al_tty_colours(int fd)
{
    const char *none = getenv("NO_COLOR");
    const char *term = getenv("TERM");

    return isatty(fd) && !(none && *none) && !(term && !strcmp(term, "dumb"));
}

bool al_tty_open(struct al_tty *ret)
{
    ret->fd = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
    ret->colours = ret->fd >= 0 && al_tty_colours(ret->fd);
    return ret->fd >= 0;
}

void al_tty_add_text(const char *text, const char *indent, bool colours, struct al_str *out)
{
    static const char *const kinds[] = {
        [AL_LINE_FILE] = BOLD,   [AL_LINE_META] = BOLD,   [AL_LINE_HUNK] = CYAN,
        [AL_LINE_ADDED] = GREEN, [AL_LINE_REMOVED] = RED, [AL_LINE_FACT] = NULL
    };
    struct al_review_line *lines;
    const size_t count = al_review_cut(text, strlen(text), &lines);

    for (size_t i = 0; i < count; i++) {
        const char *colour = colours ? kinds[lines[i].kind] : NULL;

        al_str_addf(out, "%s%s%.*s%s%s", lines[i].continues ? "" : indent, colour ? colour : "",
                    (int)lines[i].len, lines[i].text, colour ? RESET : "",
                    i + 1 < count && lines[i + 1].continues ? "" : "\n");
    }
    free(lines);
}

/* Indent each line, so that the text of a call cannot pass for airlock's own lines. */
static void add_indented(const struct al_tty *tty, const char *text, struct al_str *out)
{
    al_tty_add_text(text, "  ", tty->colours, out);
    if (*text)
        al_str_addc(out, '\n');
}

/* The framed part comes last, so that it stays in sight. */
static void add_detail(const struct al_tty *tty, const struct al_approval_request *request,
                       struct al_str *out)
{
    al_auto(al_freep) char *before = al_strndup(request->detail, request->framed_at);
    const char *after = request->detail + request->framed_at + request->framed_len;

    if (!request->framed_len) {
        add_indented(tty, request->detail, out);
        return;
    }
    add_indented(tty, before, out);
    add_indented(tty, after + strspn(after, "\n"), out);
}

static void add_frame(const struct al_tty *tty, const struct al_approval_request *request,
                      struct al_str *out)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    const char *at = request->detail + request->framed_at, *end = at + request->framed_len;
    /* wcwidth(3) needs a locale in which text is UTF-8; rules are matched without one. */
    locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0), own = uselocale(utf8);
    struct winsize size = { .ws_col = 0 };

    al_str_addf(&text, " %s\n\n", request->tool);
    while (at < end) {
        const size_t len = strcspn(at, "\n");

        al_str_addf(&text, len ? " %.*s\n" : "%.*s\n", (int)len, at);
        at += len + 1;
    }
    al_str_addf(&text, "\n %s\n", FRAME_KEYS);
    (void)ioctl(tty->fd, TIOCGWINSZ, &size);
    frame_add(out, text.buf, size.ws_col);
    (void)uselocale(own);
    if (utf8)
        freelocale(utf8);
}

/* The heading in bold and dim: what, where, how risky, why and for whom it is asked. */
static void add_heading(const struct al_tty *tty, const struct al_approval_request *request,
                        struct al_str *out)
{
    al_auto(al_str_clear) struct al_str heading = AL_STR_INIT;
    size_t first;

    al_approval_add_heading(request, &heading);
    first = strcspn(heading.buf, "\n");
    al_str_addf(out, "\n%s%.*s%s\n", tty->colours ? BOLD : "", (int)first, heading.buf,
                tty->colours ? RESET : "");
    al_str_addf(out, "%s%sRisk: %s\n", tty->colours ? DIM : "", heading.buf + first + 1,
                request->risk);
    if (request->agent)
        al_str_addf(out, "Agent: %s\n", request->agent);
    if (tty->colours) {
        al_str_truncate(out, out->len - 1);
        al_str_adds(out, RESET "\n");
    }
}

static void add_question(const struct al_tty *tty, const struct al_approval_request *request,
                         struct al_str *out)
{
    al_auto(al_str_clear) struct al_str rest = AL_STR_INIT;

    add_heading(tty, request, out);
    add_detail(tty, request, out);
    al_approval_add_full_summary(request, &rest);
    add_indented(tty, rest.buf, out);
    if (request->framed_len)
        add_frame(tty, request, out);
}

/* Wait for input.  Returns false when cancelled. */
static bool wait_for_input(const struct al_tty *tty, const struct al_meanwhile *meanwhile,
                           struct al_cancel *cancel)
{
    struct pollfd wait[3] = {
        { .fd = tty->fd, .events = POLLIN },
        { .fd = al_cancel_fd(cancel), .events = POLLIN },
        { .fd = meanwhile ? meanwhile->fd : -1, .events = POLLIN },
    };

    for (;;) {
        const int n = poll(wait, AL_COUNT(wait), -1);

        if (n < 0 && errno == EINTR)
            continue;
        if (al_cancel_fired(cancel))
            return false;
        if (n < 0 || wait[0].revents)
            return true;
        if (wait[2].revents)
            meanwhile->run(meanwhile->payload);
    }
}

/* Read one whole line; more than LINE_MAX_BYTES of it are discarded.  Returns false at end of input
 * and when cancelled. */
static bool read_line(const struct al_tty *tty, const struct al_meanwhile *meanwhile,
                      struct al_cancel *cancel, struct al_str *ret_line)
{
    char chunk[256];
    ssize_t n;

    al_str_reset(ret_line);
    while (!ret_line->len || ret_line->buf[ret_line->len - 1] != '\n') {
        if (!wait_for_input(tty, meanwhile, cancel))
            return false;
        n = read(tty->fd, chunk, sizeof(chunk));
        if (n <= 0)
            return false;
        if (ret_line->len < LINE_MAX_BYTES || chunk[n - 1] == '\n')
            al_str_add(ret_line, chunk, (size_t)n);
    }
    return true;
}

char al_tty_ask(const char *question, struct al_cancel *cancel)
{
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;

    (void)al_write_all(STDOUT_FILENO, question, strlen(question));
    if (!read_line(&(struct al_tty){ .fd = STDIN_FILENO }, NULL, cancel, &line))
        return 0;
    return !strcasecmp(line.buf, "yes\n") || line.len == 2 ? (char)(*line.buf | 0x20) : 0;
}

/* The letter of an answer; 0: not an answer.  A word that only begins like an answer is not
 * accepted, so that nothing is approved by mistake. */
static char letter_of(const char *line, bool offers_always)
{
    static const struct {
        const char *word;
        char letter;
    } answers[] = {
        { "always", 'a' }, { "approve", 'o' }, { "once", 'o' }, { "yes", 'o' }, { "no", 'r' },
        { "reject", 'r' }, { "diff", 'd' },    { "help", '?' }, { "?", '?' },
    };
    size_t len;

    line += strspn(line, " \t");
    len = strcspn(line, " \t\r\n");
    if (line[len + strspn(line + len, " \t\r\n")])
        return 0;
    for (size_t i = 0; i < AL_COUNT(answers); i++)
        if ((len == 1 || len == strlen(answers[i].word)) &&
            strncasecmp(line, answers[i].word, len) == 0)
            return answers[i].letter == 'a' && !offers_always ? 'o' : answers[i].letter;
    return 0;
}

static void write_text(const struct al_tty *tty, const char *text)
{
    (void)al_write_all(tty->fd, text, strlen(text));
}

/* Ask until the user gives a valid answer, and return its letter.  At end of input and when
 * cancelled: 'r', and *ret_ended is set. */
static char ask_once(const struct al_tty *tty, const struct al_approval_request *request,
                     struct al_cancel *cancel, bool *ret_ended)
{
    const bool offers_always = request->always_covers != NULL, framed = request->framed_len > 0;
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;

    for (;;) {
        char letter;

        write_text(tty, framed          ? "> "
                        : offers_always ? "[o]nce [a]lways [r]eject [d]iff? "
                                        : "[o]nce [r]eject [d]iff? ");
        *ret_ended = !read_line(tty, request->meanwhile, cancel, &line);
        if (*ret_ended) {
            write_text(tty, "\n");
            return 'r';
        }
        letter = letter_of(line.buf, offers_always && !framed);
        if (letter && letter != '?')
            return letter;
        if (letter == '?')
            write_text(tty, framed          ? FRAME_HELP
                            : offers_always ? HELP_ONCE HELP_ALWAYS HELP_REST
                                            : HELP_ONCE HELP_APPROVE HELP_REST);
        else
            write_text(tty, framed          ? "Please answer d, a, r or ?.\n"
                            : offers_always ? "Please answer o, a, r, d or ?.\n"
                                            : "Please answer o, r, d or ?.\n");
    }
}

/* The text in full; or why it cannot be shown, which is written at once. */
static bool make_full(const struct al_tty *tty, const struct al_approval_request *request,
                      struct al_str *out)
{
    al_auto(al_error_clear) struct al_error why = AL_ERROR_INIT;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    if (!request->add_full)
        al_str_adds(out, request->detail);
    else if (request->add_full(request->payload, out, &why) < 0)
        al_str_addf(&text, "This cannot be shown in full: %s\n", why.message ? why.message : "");
    write_text(tty, text.buf);
    return !text.len;
}

/* Show everything in the pager: the question with the text in full.  Of a push, only what the frame
 * does not show. */
static void show_in_full(const struct al_tty *tty, const struct al_approval_request *request)
{
    al_auto(al_str_clear) struct al_str full = AL_STR_INIT;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    if (!make_full(tty, request, &full))
        return;
    if (!request->framed_len) {
        al_auto(al_freep) char *before =
            al_strndup(request->detail, request->add_full ? request->framed_at : 0);

        add_heading(tty, request, &text);
        add_indented(tty, before, &text);
        al_approval_add_full_summary(request, &full);
        add_indented(tty, full.buf, &text);
        al_pager_show(tty->fd, text.buf, text.len);
    } else if (full.len && !al_ends_with(request->detail, full.buf)) {
        add_indented(tty, full.buf, &text);
        al_pager_show(tty->fd, text.buf, text.len);
    }
}

/* Show the question and ask.  'd' shows the full text and asks again.  Returns 0 when the terminal
 * is gone; *ret_ended as in ask_once(). */
static char ask_until_answered(const struct al_tty *tty, const struct al_approval_request *request,
                               struct al_cancel *cancel, bool *ret_ended)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    char letter;

    add_question(tty, request, &text);
    (void)tcflush(tty->fd, TCIFLUSH); /* discard what was typed before the question */
    do {
        if (al_write_all(tty->fd, text.buf, text.len) < 0)
            return 0;
        letter = ask_once(tty, request, cancel, ret_ended);
        if (letter == 'd')
            show_in_full(tty, request);
    } while (letter == 'd');
    return letter;
}

static void ask_for_reason(const struct al_tty *tty, const struct al_meanwhile *meanwhile,
                           struct al_cancel *cancel, struct al_approval_answer *answer)
{
    al_auto(al_str_clear) struct al_str line = AL_STR_INIT;

    write_text(tty, "Reason (empty for none): ");
    if (read_line(tty, meanwhile, cancel, &line))
        al_approval_answer_set_reason(answer, line.buf);
    else
        write_text(tty, "\n");
}

static int ask(void *payload, const struct al_approval_request *request, struct al_cancel *cancel,
               struct al_approval_answer *ret_answer, struct al_error *err)
{
    const struct al_tty *tty = payload;
    bool ended = false;
    const char letter = ask_until_answered(tty, request, cancel, &ended);

    if (!letter)
        return 0;
    if (letter == 'r' && !ended)
        ask_for_reason(tty, request->meanwhile, cancel, ret_answer);
    if (al_cancel_fired(cancel))
        return al_error_set(err, AL_ERR_CANCELLED, "Cancelled");
    ret_answer->decision = letter == 'r'                             ? AL_ANSWER_REJECT
                           : letter == 'a' && request->always_covers ? AL_ANSWER_ALWAYS
                                                                     : AL_ANSWER_ONCE;
    return 0;
}

struct al_approver al_tty_approver(struct al_tty *tty)
{
    return (struct al_approver){ .name = "terminal", .ask = ask, .payload = tty };
}
