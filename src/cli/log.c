// SPDX-License-Identifier: Apache-2.0
#include "cli/log.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"
#include "guard/text.h"
#include "journal/journal.h"
#include "journal/lines.h"
#include "util/fs.h"
#include "util/log.h"
#include "util/utf8.h"

#define LAST_MAX          1000000000u
#define FLUSH_BYTES       (64u << 10)
#define SUMMARY_MAX_BYTES 200u

#define BOLD              "\033[1m"
#define RED               "\033[31m"
#define YELLOW            "\033[33m"
#define RESET             "\033[0m"

/** What was asked for. */
struct query {
    const char *tool; /* NULL: any */
    char since[32];   /* as the log's "time"; "" for the beginning */
    size_t last;      /* 0: all */
    bool json, verify, follow;
};

/** Where a line stands in the log. */
struct place {
    uint64_t at;
    size_t len;
};

/** The last places seen, oldest at `next` once it is full. */
struct ring {
    struct place *items;
    size_t count, next;
};

struct view {
    const struct query *query;
    struct al_lines lines;
    struct al_str out;
    bool colours;
    bool any;    /* a row was shown */
    bool closed; /* nobody reads what we write */
};

/* --- The words of the command line --- */

static bool parse_number(const char *text, size_t *ret_number)
{
    size_t number = 0;

    for (const char *at = text; *at; at++) {
        if (*at < '0' || *at > '9' || number > LAST_MAX)
            return false;
        number = number * 10 + (size_t)(*at - '0');
    }
    *ret_number = number;
    return *text && number >= 1 && number <= LAST_MAX;
}

static void format_utc(time_t when, int ms, char ret_text[32])
{
    struct tm tm;
    char seconds[24] = "";

    if (gmtime_r(&when, &tm))
        (void)strftime(seconds, sizeof(seconds), "%Y-%m-%dT%H:%M:%S", &tm);
    (void)snprintf(ret_text, 32, "%s.%03dZ", seconds, ms);
}

/* "90s", "15m", "2h", "3d", "1w": so long ago. */
static bool parse_ago(const char *text, char ret_since[32])
{
    static const struct {
        char unit;
        time_t seconds;
    } units[] = { { 's', 1 }, { 'm', 60 }, { 'h', 3600 }, { 'd', 86400 }, { 'w', 604800 } };
    size_t digits = strspn(text, "0123456789");
    al_auto(al_freep) char *number = al_strndup(text, digits);
    size_t count;

    if (!parse_number(number, &count) || count > 1000000 || !text[digits] || text[digits + 1])
        return false;
    for (size_t i = 0; i < AL_COUNT(units); i++) {
        if (units[i].unit != text[digits])
            continue;
        format_utc(time(NULL) - (time_t)count * units[i].seconds, 0, ret_since);
        return true;
    }
    return false;
}

/* A date, with a time or without, local unless it says otherwise; also as R3 writes it. */
static bool parse_date(const char *text, char ret_since[32])
{
    static const char *const forms[] = { "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M",
                                         "%Y-%m-%d %H:%M",    "%Y%m%d_%H%M%S",     "%Y-%m-%d" };

    for (size_t i = 0; i < AL_COUNT(forms); i++) {
        struct tm tm = { .tm_isdst = -1 };
        const char *rest = strptime(text, forms[i], &tm);
        time_t when;
        int ms = 0, used = 0;

        if (!rest)
            continue;
        if (sscanf(rest, ".%3d%n", &ms, &used) == 1 && used == 4 && ms >= 0)
            rest += used;
        if (!*rest) {
            when = mktime(&tm);
        } else {
            const char *end = strptime(rest, "%z", &tm);
            long offset = tm.tm_gmtoff;

            if (!end || *end)
                continue;
            when = timegm(&tm) - offset;
        }
        format_utc(when, ms, ret_since);
        return true;
    }
    return false;
}

static int usage(const char *fmt, const char *word)
{
    al_auto(al_freep) char *safe = al_text_word(word);

    al_log_note("%s '%s'; see airlock log --help", fmt, safe);
    return AL_EXIT_USAGE;
}

/* The value of "--name VALUE" or "--name=VALUE"; NULL when the word is another option. */
static const char *value_of(const char *name, int *at, int argc, char **argv)
{
    size_t len = strlen(name);

    if (strncmp(argv[*at], name, len) != 0)
        return NULL;
    if (argv[*at][len] == '=')
        return argv[*at] + len + 1;
    return !argv[*at][len] && *at + 1 < argc ? argv[++*at] : NULL;
}

static int parse_word(struct query *query, int *at, int argc, char **argv)
{
    const struct {
        const char *name;
        bool *flag;
    } flags[] = { { "--json", &query->json },
                  { "--verify", &query->verify },
                  { "--follow", &query->follow } };
    const char *word = argv[*at], *value;

    for (size_t i = 0; i < AL_COUNT(flags); i++) {
        if (strcmp(word, flags[i].name) != 0)
            continue;
        *flags[i].flag = true;
        return AL_EXIT_OK;
    }
    if ((value = value_of("--tool", at, argc, argv))) {
        query->tool = value;
        return AL_EXIT_OK;
    }
    if ((value = value_of("--since", at, argc, argv)))
        return parse_ago(value, query->since) || parse_date(value, query->since)
                   ? AL_EXIT_OK
                   : usage("cannot read the time", value);
    if (!strcmp(word, "--tool") || !strcmp(word, "--since"))
        return usage("a value is missing after", word);
    if (word[0] == '-' && (word[1] < '0' || word[1] > '9'))
        return usage("unknown option", word);
    if (query->last)
        return usage("one number is enough:", word);
    return parse_number(word, &query->last) ? AL_EXIT_OK : usage("not a number of lines:", word);
}

/* --- Showing --- */

static void flush(struct view *view)
{
    int r = view->closed ? 0 : al_write_all(STDOUT_FILENO, view->out.buf, view->out.len);

    if (r < 0)
        view->closed = true;
    if (r < 0 && r != -EPIPE)
        al_log_note("cannot write: %s", strerrordesc_np(-r));
    al_str_reset(&view->out);
}

/* A member as one word of a row; "-" where there is none.  Caller frees. */
static char *word_of(const json_t *line, const char *name)
{
    const char *text = al_json_get_string(line, name);

    return text && *text ? al_text_word(text) : al_strdup("-");
}

/* "2026-01-02T03:04:05.678Z" as a person's clock showed it. */
static void add_local_time(const json_t *line, struct al_str *out)
{
    const char *text = al_json_get_string(line, "time");
    struct tm tm = { .tm_isdst = 0 };
    char local[32];
    time_t when;

    if (text && strptime(text, "%Y-%m-%dT%H:%M:%S", &tm)) {
        when = timegm(&tm);
        if (localtime_r(&when, &tm) && strftime(local, sizeof(local), "%Y-%m-%d %H:%M:%S", &tm)) {
            al_str_adds(out, local);
            return;
        }
    }
    al_str_addf(out, "%-19s", "-");
}

/* The summary, or why the call failed. */
static void add_summary(const json_t *line, struct al_str *out)
{
    const char *text = al_json_get_string(line, "summary");
    al_auto(al_freep) char *safe = NULL;
    size_t len;

    if (!text)
        text = al_json_get_string(json_object_get(line, "result"), "error");
    safe = al_text_word(text ? text : "");
    len = strlen(safe);
    if (len > SUMMARY_MAX_BYTES)
        len = al_utf8_floor(safe, SUMMARY_MAX_BYTES);
    al_str_add(out, safe, len);
    al_str_adds(out, safe[len] ? "..." : "");
}

static const char *colour_of(const char *outcome)
{
    static const char *const stopped[] = { "cancelled", "interrupted", "dry_run" };

    if (!strcmp(outcome, "ok") || !strcmp(outcome, "-"))
        return NULL;
    for (size_t i = 0; i < AL_COUNT(stopped); i++)
        if (!strcmp(outcome, stopped[i]))
            return YELLOW;
    return RED;
}

static void add_head(struct view *view)
{
    if (isatty(STDOUT_FILENO))
        al_str_addf(&view->out, "%s%-19s  %5s  %-20s  %-14s  %-8s  %-11s  %6s  %s%s\n",
                    view->colours ? BOLD : "", "TIME", "SEQ", "TOOL", "OPERATION", "DECISION",
                    "OUTCOME", "MS", "SUMMARY", view->colours ? RESET : "");
}

static void add_row(struct view *view, const json_t *line)
{
    al_auto(al_freep) char *tool = word_of(line, "tool");
    al_auto(al_freep) char *operation = word_of(line, "operation");
    al_auto(al_freep) char *decision = word_of(line, "decision");
    al_auto(al_freep) char *outcome = word_of(line, "outcome");
    const char *colour = view->colours ? colour_of(outcome) : NULL;
    struct al_str *out = &view->out;

    if (!view->any)
        add_head(view);
    add_local_time(line, out);
    al_str_addf(out,
                "  %5" JSON_INTEGER_FORMAT "  %-20s  %-14s  %-8s  %s%-11s%s  %6" //
                JSON_INTEGER_FORMAT "  ",
                json_integer_value(json_object_get(line, "seq")), tool, operation, decision,
                colour ? colour : "", outcome, colour ? RESET : "",
                json_integer_value(json_object_get(line, "duration_ms")));
    add_summary(line, out);
    al_str_trim_end(out);
    al_str_addc(out, '\n');
}

static bool is_plain(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (text[i] < 0x20 || text[i] > 0x7e)
            return false;
    return true;
}

/* The line as it is; one that somebody else wrote could do things to a terminal. */
static void add_json(struct view *view, const json_t *line, const char *text, size_t len)
{
    if (is_plain(text, len))
        al_str_add(&view->out, text, len);
    else
        al_json_dump(line, true, &view->out);
    al_str_addc(&view->out, '\n');
}

static void show(struct view *view, const char *text, size_t len)
{
    al_auto(al_json_decrefp) json_t *line = json_loadb(text, len, JSON_ALLOW_NUL, NULL);

    if (!json_is_object(line))
        al_log_note("a line of the journal cannot be read; see airlock log --verify");
    else if (view->query->json)
        add_json(view, line, text, len);
    else
        add_row(view, line);
    view->any |= line != NULL;
    if (view->out.len >= FLUSH_BYTES)
        flush(view);
}

/* --- Finding --- */

static bool matches(const struct query *query, const char *text, size_t len)
{
    al_auto(al_json_decrefp) json_t *line = NULL;
    const char *tool, *time;

    if (!query->tool && !query->since[0])
        return true;
    line = json_loadb(text, len, JSON_ALLOW_NUL, NULL);
    tool = al_json_get_string(line, "tool");
    time = al_json_get_string(line, "time");
    return (!query->tool || (tool && !strcmp(tool, query->tool))) &&
           (!query->since[0] || (time && strcmp(time, query->since) >= 0));
}

static void remember(struct ring *ring, size_t last, struct place place)
{
    if (ring->count < last) {
        if ((ring->count & (ring->count - 1)) == 0) /* room doubles at powers of two */
            ring->items = al_reallocarray(ring->items, ring->count ? 2 * ring->count : 1,
                                          sizeof(*ring->items));
        ring->items[ring->count++] = place;
        return;
    }
    ring->items[ring->next] = place;
    ring->next = (ring->next + 1) % last;
}

static int show_place(struct view *view, struct place place)
{
    al_auto(al_lines_clear) struct al_lines one = AL_LINES_INIT(view->lines.fd, place.at);
    const char *text;
    size_t len;
    int r;

    one.limit = place.at + place.len + 1;
    r = al_lines_next(&one, &text, &len);
    if (r > 0)
        show(view, text, len);
    return r < 0 ? r : 0;
}

/* Everything up to the end of the file that was asked for, in the file's order.  0 or -errno. */
static int show_to_end(struct view *view, size_t last)
{
    struct ring ring = { .items = NULL };
    const char *text;
    size_t len;
    int r;

    while (!view->closed && (r = al_lines_next(&view->lines, &text, &len)) > 0) {
        if (!matches(view->query, text, len))
            continue;
        if (last)
            remember(&ring, last, (struct place){ al_lines_offset(&view->lines) - len - 1, len });
        else
            show(view, text, len);
    }
    if (view->closed)
        r = 0;
    for (size_t i = 0; i < ring.count && r == 0 && !view->closed; i++)
        r = show_place(view, ring.items[(ring.next + i) % ring.count]);
    free(ring.items);
    flush(view);
    return r;
}

/* --- Following --- */

/* Wait for something to happen beside the log.  False when it is time to end. */
static bool wait_for_change(int notify_fd, int signal_fd)
{
    struct pollfd wait[] = {
        { .fd = notify_fd, .events = POLLIN },
        { .fd = signal_fd, .events = POLLIN },
        { .fd = STDOUT_FILENO, .events = 0 }, /* its reader going away is told all the same */
    };
    char events[4096];

    while (poll(wait, AL_COUNT(wait), -1) < 0)
        if (errno != EINTR)
            return false;
    if (wait[1].revents || wait[2].revents)
        return false;
    (void)!read(notify_fd, events, sizeof(events)); /* which file it was does not matter */
    return true;
}

static int open_log(const char *file)
{
    int fd = open(file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

    return fd < 0 ? -errno : fd;
}

static int follow(struct view *view, const char *file, int notify_fd)
{
    al_auto(al_closep) int signal_fd = -1;
    sigset_t ends;
    int r = 0;

    (void)sigemptyset(&ends);
    (void)sigaddset(&ends, SIGINT);
    (void)sigaddset(&ends, SIGTERM);
    (void)sigprocmask(SIG_BLOCK, &ends, NULL); /* until the process ends, which is then soon */
    signal_fd = signalfd(-1, &ends, SFD_CLOEXEC);
    if (signal_fd < 0)
        return -errno;
    /* Once more before waiting: the watch was set before, so nothing falls in between. */
    do {
        if (view->lines.fd < 0)
            view->lines.fd = open_log(file);
        if (view->lines.fd >= 0)
            r = show_to_end(view, 0);
    } while (r == 0 && !view->closed && wait_for_change(notify_fd, signal_fd));
    return r;
}

static int watch_directory(const char *file)
{
    al_auto(al_freep) char *dir = al_strndup(file, (size_t)(strrchr(file, '/') - file) + 1);
    int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);

    if (fd >= 0 && inotify_add_watch(fd, dir, IN_MODIFY | IN_CREATE | IN_MOVED_TO) < 0) {
        al_close(fd);
        fd = -1;
    }
    return fd < 0 ? -errno : fd;
}

/* --- The command --- */

static int fail(const char *file, int r)
{
    al_log_note("cannot read the journal '%s': %s", file, strerrordesc_np(-r));
    return AL_EXIT_FAILED;
}

static int verify(const char *file, bool json)
{
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    struct al_verdict verdict = { .lines = 0 };

    if (al_journal_verify(file, &verdict, &err) < 0) {
        al_log_note("%s", err.message);
        return AL_EXIT_FAILED;
    }
    if (json)
        (void)printf("{\"intact\":%s,\"lines\":%" PRIu64 ",\"bad_line\":%" PRIu64
                     ",\"problem\":%s%s%s}\n",
                     verdict.problem ? "false" : "true", verdict.lines, verdict.bad_line,
                     verdict.problem ? "\"" : "", verdict.problem ? verdict.problem : "null",
                     verdict.problem ? "\"" : "");
    else if (verdict.problem)
        (void)printf("The journal was tampered with: %s. Lines in order before that: %" PRIu64
                     ".\n",
                     verdict.problem, verdict.lines);
    else
        (void)printf("%" PRIu64 " line%s, chain intact\n", verdict.lines,
                     verdict.lines == 1 ? "" : "s");
    free(verdict.problem);
    return verdict.bad_line ? AL_EXIT_FAILED : AL_EXIT_OK;
}

static int show_log(const struct query *query, const char *file)
{
    al_auto(al_closep) int notify_fd = query->follow ? watch_directory(file) : -1;
    al_auto(al_closep) int fd = open_log(file);
    struct view view = {
        .query = query,
        .lines = AL_LINES_INIT(fd, 0),
        .out = AL_STR_INIT,
        .colours = al_tty_colours(STDOUT_FILENO),
    };
    int r = fd >= 0 ? show_to_end(&view, query->last) : fd == -ENOENT ? 0 : fd;

    if (r == 0 && !view.any && al_lines_offset(&view.lines) == 0)
        (void)fputs("nothing recorded yet\n", query->json ? stderr : stdout);
    (void)fflush(stdout);
    if (r == 0 && query->follow && notify_fd < 0 && notify_fd != -ENOENT)
        r = notify_fd;
    else if (r == 0 && query->follow && notify_fd >= 0)
        r = follow(&view, file, notify_fd);
    if (view.lines.fd != fd)
        al_close(view.lines.fd);
    al_lines_clear(&view.lines);
    al_str_clear(&view.out);
    return r < 0 ? fail(file, r) : AL_EXIT_OK;
}

int al_cmd_log(const char *journal_file, int argc, char **argv)
{
    struct query query = { .tool = NULL };

    for (int i = 0; i < argc; i++) {
        int code = parse_word(&query, &i, argc, argv);

        if (code != AL_EXIT_OK)
            return code;
    }
    if (query.verify && (query.follow || query.last || query.tool || query.since[0]))
        return usage("everything is checked, or nothing:", "--verify");
    (void)signal(SIGPIPE, SIG_IGN); /* a reader that has seen enough is no failure */
    return query.verify ? verify(journal_file, query.json) : show_log(&query, journal_file);
}
