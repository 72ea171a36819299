// SPDX-License-Identifier: Apache-2.0
/*
 * checkpoint GIT REPOSITORY FILE [EXECUTIONS]: the cost of a checkpoint beside `git status` of the
 * same repository, and the size of the store after many executions.  It changes the repository: use
 * a copy.
 */
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "bench/plain.h"
#include "bench/stats.h"
#include "git/command.h"
#include "git/repo/git.h"
#include "git/repo/repo.h"
#include "guard/root.h"
#include "history/checkpoint.h"

#define PAIRS            40
#define PAIR_BUDGET_MS   15 /* beside two of git status, and two fsyncs */
#define STORE_BUDGET_MIB 50.0
#define LEFT_MS          600000u

extern char **environ;

struct place {
    struct al_roots roots;
    struct al_git *git;
    struct al_repo *repo;
    struct al_store *store;
    struct al_checkpoint_settings settings;
    char state_dir[64];
    struct al_run_limits budget;
};

static void must(int r, const struct al_error *err)
{
    if (r < 0)
        give_up("%s", err->message);
}

static void place_open(struct place *place, const char *program, const char *dir)
{
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;

    *place = (struct place){ .roots = AL_ROOTS_INIT,
                             .state_dir = "/tmp/airlock-bench-XXXXXX",
                             .budget = { .left_ms = LEFT_MS } };
    if (!mkdtemp(place->state_dir))
        give_up("cannot make a directory below /tmp");
    place->settings = (struct al_checkpoint_settings){ .state_dir = place->state_dir,
                                                       .max_store_bytes = 1u << 31,
                                                       .max_age_days = 30,
                                                       .max_file_bytes = 100u << 20 };
    must(al_proc_init(program, &err), &err);
    must(al_roots_add(&place->roots, dir, NULL, NULL, &err), &err);
    must(al_git_new(&(struct al_git_options){ .program = program,
                                              .roots = &place->roots,
                                              .env_allow = &AL_STRV_INIT,
                                              .environ_ = environ,
                                              .state_dir = place->state_dir },
                    &place->git, &err),
         &err);
    must(al_repo_open(place->git, place->roots.items[0].path, ".", &place->budget, &place->repo,
                      &err),
         &err);
    must(al_store_open(&place->settings, place->repo, true, &place->store, &err), &err);
}

static void place_close(struct place *place)
{
    al_store_close(place->store);
    al_repo_free(place->repo);
    al_git_free(place->git);
    al_roots_clear(&place->roots);
    al_fs_remove_tree(place->state_dir);
}

static void take(struct place *place, const char *before, char ret_id[AL_OID_TEXT])
{
    struct al_checkpoint_reason reason = { .tool = "bench",
                                           .operation = "bench",
                                           .before = before };
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;

    place->budget.left_ms = LEFT_MS;
    must(al_checkpoint_create(place->store, &reason, ret_id, &err), &err);
}

static double two_fsyncs(const struct place *place)
{
    double begin = now_ms();

    for (int i = 0; i < 2; i++) {
        al_auto(al_freep) char *path = al_asprintf("%s/fsync-%d", place->state_dir, i);
        al_auto(al_closep) int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

        if (fd < 0 || write(fd, "x", 1) != 1 || fsync(fd) < 0)
            give_up("cannot write %s", path);
    }
    return now_ms() - begin;
}

/* Of an execution that may change everything, and changes nothing. */
static double timed_pair(struct place *place)
{
    double begin = now_ms();
    char before[AL_OID_TEXT], after[AL_OID_TEXT];

    take(place, NULL, before);
    take(place, before, after);
    return now_ms() - begin;
}

static double timed_status(const char *dir)
{
    static const char *const argv[] = { "git", "status", "--porcelain", NULL };
    double begin = now_ms();

    (void)plain_run(dir, argv, 0);
    return now_ms() - begin;
}

/* True when it is within the budget. */
static bool compare_time(struct place *place, const char *dir)
{
    double bare[PAIRS], ours[PAIRS], synced[PAIRS], most, median;
    double first = timed_pair(place);

    (void)timed_status(dir);
    (void)timed_pair(place);
    for (size_t i = 0; i < PAIRS; i++) {
        if (i % 2)
            bare[i] = timed_status(dir);
        ours[i] = timed_pair(place);
        synced[i] = two_fsyncs(place);
        if (i % 2 == 0)
            bare[i] = timed_status(dir);
    }
    median = quantile(ours, PAIRS, 0.5);
    most = 2 * quantile(bare, PAIRS, 0.5) + PAIR_BUDGET_MS + quantile(synced, PAIRS, 0.5);
    printf("%-34s %6.2f ms %6.2f ms %15s  <= %-16.2f ms %s\n", "both checkpoints, nothing changed",
           quantile(bare, PAIRS, 0.5), median, "", most, median <= most ? "" : "OVER");
    printf("%-34s %9s %6.0f ms\n", "the first ones", "", first);
    return median <= most;
}

static uint64_t tree_bytes;

static int add_blocks(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)path;
    (void)type;
    (void)at;
    tree_bytes += (uint64_t)st->st_blocks * 512;
    return 0;
}

/* Bytes on disk of a directory. */
static double disk_mib(const char *path)
{
    tree_bytes = 0;
    (void)nftw(path, add_blocks, 16, FTW_PHYS);
    return (double)tree_bytes / 1048576.0;
}

/* One execution: a line in a file of the index, staged.  Gives the bytes that are new. */
static size_t execute(const char *dir, const char *file, unsigned number)
{
    const char *const argv[] = { "git", "add", "--", file, NULL };
    al_auto(al_freep) char *path = al_fs_join(dir, file);
    char line[64];
    int len = snprintf(line, sizeof(line), "/* execution %u */\n", number);
    int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    struct stat st;

    if (fd < 0 || write(fd, line, (size_t)len) != len || fstat(fd, &st) < 0)
        give_up("cannot write to %s", path);
    close(fd);
    (void)plain_run(dir, argv, 0);
    return (size_t)st.st_size;
}

static bool fill_store(struct place *place, const char *dir, const char *file, unsigned executions)
{
    double before_mib = disk_mib(place->state_dir), budget = STORE_BUDGET_MIB * executions / 1000;
    double content_mib = 0, grown_mib, begin = now_ms();
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;

    for (unsigned i = 0; i < executions; i++) {
        char before[AL_OID_TEXT], after[AL_OID_TEXT];

        take(place, NULL, before);
        content_mib += (double)execute(dir, file, i) / 1048576.0;
        take(place, before, after);
        must(al_store_gc(place->store, &err), &err);
    }
    grown_mib = disk_mib(place->state_dir) - before_mib - content_mib;
    printf("%-34s %9s %6.1f MiB %15s  <= %-19.1f %s\n", "the store, beyond what changed", "",
           grown_mib, "", budget, grown_mib <= budget ? "" : "OVER");
    printf("%u executions, %.0f ms each with a git add\n", executions,
           (now_ms() - begin) / executions);
    return grown_mib <= budget;
}

int main(int argc, char **argv)
{
    unsigned executions = argc > 4 ? (unsigned)strtoul(argv[4], NULL, 10) : 200;
    struct place place;
    bool good;

    if (argc < 4)
        give_up("usage: checkpoint GIT REPOSITORY FILE [EXECUTIONS]");
    place_open(&place, argv[1], argv[2]);
    good = compare_time(&place, argv[2]);
    good &= fill_store(&place, argv[2], argv[3], executions);
    place_close(&place);
    return good ? 0 : 1;
}
