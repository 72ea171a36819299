// SPDX-License-Identifier: Apache-2.0
/*
 * Airlock against bare git, call by call in one run, with the budget beside each figure.
 *
 *   bench AIRLOCK SMALL FILE BIG FILE
 *
 * "Bare" is posix_spawn, exec, read all, wait, with the command line that airlock gives git.  The
 * two calls of a pair alternate in order, so that other load on the machine affects both.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/plain.h"
#include "bench/server.h"
#include "bench/stats.h"

#define PAIRS_MAX  400
#define PAIRS_MIN  45
#define ROW_MS     6000.0
#define CONCURRENT 64
#define LOG_FLAGS                                                                                  \
    "--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty", "--no-show-signature", "--"
#define DIFF_FLAGS "--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty"
#define FILE_WORD  NULL
#define COUNT_WORD NULL
#define CAP_BYTES  200000

struct comparison {
    const char *title;
    const char *dir;
    const char *tool;
    const char *dir_name; /* the parameter that takes `dir`; NULL: none does */
    char arguments[256];  /* a JSON object without it */
    const char *argv[12];
    size_t stop_after;
    double budget;   /* times bare */
    double slack_ms; /* within this much of bare is good too; 0: no */
};

static bool all_good = true;

static const char *verdict(bool good)
{
    all_good = all_good && good;
    return good ? "pass" : "OVER";
}

static void heading(const char *text)
{
    printf("\n%-34s %9s %9s %7s %7s  %-22s\n", text, "bare", "airlock", "median", "p95", "budget");
}

static void figure(const char *what, const char *value, const char *budget, bool good)
{
    printf("%-34s %36s  %-22s %s\n", what, value, budget, verdict(good));
}

static double timed_call(struct server *server, const char *tool, const char *arguments)
{
    double start = now_ms();

    server_send(server, tool, arguments);
    server_receive(server);
    return now_ms() - start;
}

static double timed_plain(const struct comparison *c)
{
    double start = now_ms();

    plain_run(c->dir, c->argv, c->stop_after);
    return now_ms() - start;
}

static void compare(struct server *server, const struct comparison *c)
{
    static double bare[PAIRS_MAX], ours[PAIRS_MAX], ratio[PAIRS_MAX];
    double begin = now_ms(), bare_ms, ours_ms, median;
    char arguments[512], budget[64];
    size_t n = 0;

    if (c->dir_name)
        (void)snprintf(arguments, sizeof(arguments), "{\"%s\":\"%s\"%s%s}", c->dir_name, c->dir,
                       *c->arguments ? "," : "", c->arguments);
    else
        (void)snprintf(arguments, sizeof(arguments), "{%s}", c->arguments);
    timed_plain(c);
    timed_call(server, c->tool, arguments);
    while (n < PAIRS_MAX && (n < PAIRS_MIN || now_ms() - begin < ROW_MS)) {
        if (n % 2)
            bare[n] = timed_plain(c);
        ours[n] = timed_call(server, c->tool, arguments);
        if (n % 2 == 0)
            bare[n] = timed_plain(c);
        ratio[n] = ours[n] / bare[n];
        n++;
    }
    bare_ms = quantile(bare, n, 0.5);
    ours_ms = quantile(ours, n, 0.5);
    median = quantile(ratio, n, 0.5);
    (void)snprintf(budget, sizeof(budget), c->slack_ms > 0 ? "<= %.2f or +%.1f ms" : "<= %.2f",
                   c->budget, c->slack_ms);
    printf("%-34s %6.2f ms %6.2f ms %7.3f %7.3f  %-22s %s\n", c->title, bare_ms, ours_ms, median,
           quantile(ratio, n, 0.95), budget,
           verdict(median <= c->budget || (c->slack_ms > 0 && ours_ms - bare_ms <= c->slack_ms)));
    (void)fflush(stdout);
}

/* How many commits of `dir` make a log of about `bytes`. */
static int commits_for(const char *dir, size_t bytes)
{
    const char *const argv[] = { "git", "log", "--max-count=200", LOG_FLAGS, NULL };
    size_t of_200 = plain_run(dir, argv, 0);

    return of_200 ? (int)(bytes * 200 / of_200) : 200;
}

/*
 * What each repository is asked: a tool and the git command it comes to.  A budget of 0 is the one
 * of the repository.  What takes git as long in either has slack in both: Landlock and seccomp
 * alone cost a twentieth of so short a command.  FILE_WORD and COUNT_WORD are filled in.
 */
enum {
    STATUS,
    DIFF,
    LOG_20,
    SHOW,
    BLAME,
    SMALL_ROWS,
    LOG_150_KB = SMALL_ROWS,
    LOG_CUT,
    LOG_FILE,
    ROWS
};

static const struct comparison asked[ROWS] = {
    [STATUS] = { .title = "git_status",
                 .tool = "git_status",
                 .argv = { "git", "status", "--porcelain=1", "-b", "--ignore-submodules=dirty" } },
    [DIFF] = { .title = "git_diff",
               .tool = "git_diff",
               .argv = { "git", "diff", DIFF_FLAGS, "--" } },
    [LOG_20] = { .title = "git_log, 20 commits",
                 .tool = "git_log",
                 .arguments = "\"max_count\":20",
                 .argv = { "git", "log", "--max-count=20", LOG_FLAGS },
                 .slack_ms = 0.3 },
    [SHOW] = { .title = "git_show",
               .tool = "git_show",
               .argv = { "git", "show", DIFF_FLAGS, "--no-show-signature", "HEAD", "--" },
               .budget = 1.15,
               .slack_ms = 0.3 },
    [BLAME] = { .title = "git_blame",
                .tool = "git_blame",
                .argv = { "git", "blame", "--no-textconv", "--", FILE_WORD },
                .budget = 1.15,
                .slack_ms = 0.3 },
    [LOG_150_KB] = { .title = "git_log, about 150 kB",
                     .tool = "git_log",
                     .argv = { "git", "log", COUNT_WORD, LOG_FLAGS },
                     .budget = 1.10 },
    [LOG_CUT] = { .title = "git_log cut at 200 kB",
                  .tool = "git_log",
                  .argv = { "git", "log", LOG_FLAGS },
                  .stop_after = CAP_BYTES,
                  .budget = 1.10 },
    [LOG_FILE] = { .title = "git_log of a file",
                   .tool = "git_log",
                   .argv = { "git", "log", LOG_FLAGS, FILE_WORD } },
};

static void compare_tools(struct server *server, const char *title, const char *dir,
                          const char *file, double budget, double slack_ms)
{
    static char max_count[32];
    struct comparison rows[ROWS];
    size_t count = slack_ms > 0 ? SMALL_ROWS : ROWS;
    int commits = commits_for(dir, 150000);

    memcpy(rows, asked, sizeof(rows));
    (void)snprintf(max_count, sizeof(max_count), "--max-count=%d", commits);
    (void)snprintf(rows[BLAME].arguments, sizeof(rows[BLAME].arguments), "\"path\":\"%s\"", file);
    (void)snprintf(rows[LOG_FILE].arguments, sizeof(rows[0].arguments), "\"path\":\"%s\"", file);
    (void)snprintf(rows[LOG_150_KB].arguments, sizeof(rows[0].arguments), "\"max_count\":%d",
                   commits);
    (void)snprintf(rows[LOG_CUT].arguments, sizeof(rows[0].arguments), "\"max_bytes\":%d",
                   CAP_BYTES);
    rows[BLAME].argv[4] = file;
    rows[LOG_FILE].argv[7] = file;
    rows[LOG_150_KB].argv[2] = max_count;
    if (count == ROWS) { /* its changes are an answer of 150 kB, which has a budget of its own */
        rows[DIFF].title = "git_diff, about 150 kB";
        rows[DIFF].budget = rows[LOG_150_KB].budget;
    }
    heading(title);
    for (size_t i = 0; i < count; i++) {
        rows[i].dir = dir;
        rows[i].dir_name = "working_dir";
        if (rows[i].budget <= 0) {
            rows[i].budget = budget;
            if (slack_ms > 0)
                rows[i].slack_ms = slack_ms;
        }
        compare(server, &rows[i]);
    }
}

/* The same facts as objects: what is asked of git is not more, and what is made of its answer is
 * not much beside it.  That git need not flush after each commit is our advantage (GIT_FLUSH). */
static const struct comparison structured[] = {
    { .title = "workflow git_status",
      .tool = "git_status",
      .argv = { "git", "status", "--porcelain=v2", "--branch", "--no-ahead-behind", "-z",
                "--untracked-files=all", "--find-renames", "--ignore-submodules=dirty" } },
    { .title = "workflow git_log, 20 commits",
      .tool = "git_log",
      .arguments = "\"limit\":20",
      .argv = { "git", "log", "-z", "--format=%H%x00%an <%ae>%x00%aI%x00%s", "--encoding=UTF-8",
                "--max-count=21", "--no-patch", "--no-show-signature", "--" } },
    { .title = "workflow git_diff, 20 commits",
      .tool = "git_diff",
      .arguments = "\"ref\":\"HEAD~20\"",
      .argv = { "git", "diff", DIFF_FLAGS, "HEAD~20", "--" } },
};

static void compare_structured(const char *airlock, const char *const *roots)
{
    struct server server;

    server_start(&server, airlock, roots, "workflow");
    for (; *roots; roots++) {
        heading(roots[1] ? "small repository, structured" : "big repository, structured");
        for (size_t i = 0; i < AL_COUNT(structured); i++) {
            struct comparison row = structured[i];

            row.dir = *roots;
            row.dir_name = "cwd";
            row.budget = 1.15;
            row.slack_ms = 0.3;
            compare(&server, &row);
        }
    }
    server_stop(&server);
}

static void measure_start(const char *airlock, const char *const *roots)
{
    double ms[21];
    char value[64];

    for (size_t i = 0; i < AL_COUNT(ms); i++) {
        struct server server;
        double start = now_ms();

        server_start(&server, airlock, roots, "git");
        ms[i] = now_ms() - start;
        server_stop(&server);
    }
    (void)snprintf(value, sizeof(value), "%.2f ms (p95 %.2f)", quantile(ms, AL_COUNT(ms), 0.5),
                   quantile(ms, AL_COUNT(ms), 0.95));
    figure("start to initialize answered", value, "<= 5 ms",
           quantile(ms, AL_COUNT(ms), 0.5) <= 5.0);
}

static void measure_concurrent(struct server *server, const char *dir)
{
    static const char *const argv[] = {
        "git", "status", "--porcelain=1", "-b", "--ignore-submodules=dirty", NULL
    };
    unsigned workers = (unsigned)sysconf(_SC_NPROCESSORS_ONLN);
    double ratio[9], bare[9], ours[9];
    char arguments[512], value[96];

    (void)snprintf(arguments, sizeof(arguments), "{\"working_dir\":\"%s\"}", dir);
    for (size_t i = 0; i < AL_COUNT(ratio); i++) {
        double start = now_ms();

        for (int k = 0; k < CONCURRENT; k++)
            server_send(server, "git_status", arguments);
        for (int k = 0; k < CONCURRENT; k++)
            server_receive(server);
        ours[i] = now_ms() - start;
        start = now_ms();
        plain_run_many(dir, argv, CONCURRENT, workers);
        bare[i] = now_ms() - start;
        ratio[i] = bare[i] / ours[i];
    }
    (void)snprintf(value, sizeof(value), "%.2f x bare (%.0f/s, bare %.0f/s)",
                   quantile(ratio, AL_COUNT(ratio), 0.5),
                   CONCURRENT * 1e3 / quantile(ours, AL_COUNT(ours), 0.5),
                   CONCURRENT * 1e3 / quantile(bare, AL_COUNT(bare), 0.5));
    figure("64 git_status at once, rate", value, ">= 0.90 x bare",
           quantile(ratio, AL_COUNT(ratio), 0.5) >= 0.90);
}

static void memory_row(const char *what, long kib, double budget_mib)
{
    char value[64], budget[64];
    double mib = (double)kib / 1024.0;

    (void)snprintf(value, sizeof(value), "%.1f MiB", mib);
    (void)snprintf(budget, sizeof(budget), "<= %.1f MiB", budget_mib);
    figure(what, value, budget, mib <= budget_mib);
}

/* A pipeline of four programs and the cost of the line itself: no checkpoint is taken before it. */
static void compare_pipeline(const char *airlock, const char *dir)
{
    static const char *const options[] = { "--tool=command", "--no-git", NULL };
#define LINE "grep -rn a . | head -n 500 | cat | wc -l"
    const struct comparison pipeline = {
        .title = "bash_command, four programs",
        .dir = dir,
        .tool = "bash_command",
        .arguments = "\"command\":\"" LINE "\",\"reason\":\"bench\"",
        .argv = { "bash", "-c", LINE },
        .budget = 1.2,
    };
    const char *const roots[] = { dir, NULL };
    struct server server;

    server_start_with(&server, airlock, roots, "shell", options);
    heading("without a shell, against bash");
    compare(&server, &pipeline);
    server_stop(&server);
}

/* On a machine with other load the figures would measure that load. */
static void warn_of_load(double load_before, const struct cores *before)
{
    const double stolen = stolen_since(before);

    if (load_before > 0.5)
        printf("\nThe machine was busy when this began (load %.1f): run it again when it is not.\n",
               load_before);
    if (stolen > 0.02)
        printf(
            "\nThe host gave %.0f %% of the cores' time to others meanwhile: run it again later.\n",
            stolen * 100);
}

int main(int argc, char **argv)
{
    struct server server;
    const char *roots[3];
    double load_before = 0;
    long idle, capped;
    const struct cores before = cores_now();

    if (argc != 6)
        give_up("usage: bench AIRLOCK SMALL FILE BIG FILE");
    (void)getloadavg(&load_before, 1);
    roots[0] = argv[2];
    roots[1] = argv[4];
    roots[2] = NULL;
    server_start(&server, argv[1], roots, "git");
    idle = server_memory_kib(&server, "VmRSS");
    compare_tools(&server, "small repository", argv[2], argv[3], 1.15, 0.3);
    capped = server_memory_kib(&server, "VmHWM");
    compare_tools(&server, "big repository", argv[4], argv[5], 1.05, 0);
    compare_structured(argv[1], roots);
    printf("\n%-34s %36s  %-22s\n", "the server", "", "budget");
    measure_start(argv[1], roots);
    memory_row("memory, idle", idle, 4.0);
    memory_row("memory, peak of small calls", capped, 16.0);
    memory_row("memory, peak of calls cut at 200 kB", server_memory_kib(&server, "VmHWM"),
               16.0 + CAP_BYTES / 1048576.0);
    measure_concurrent(&server, argv[2]);
    memory_row("memory, peak of 64 calls at once", server_memory_kib(&server, "VmHWM"),
               16.0 + CONCURRENT * CAP_BYTES / 1048576.0);
    memory_row("memory, after all of it", server_memory_kib(&server, "VmRSS"), 16.0);
    server_stop(&server);
    compare_pipeline(argv[1], argv[2]);
    warn_of_load(load_before, &before);
    printf("\n%s\n", all_good ? "within the budget" : "over the budget where it says OVER");
    return all_good ? 0 : 1;
}
