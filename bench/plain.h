// SPDX-License-Identifier: Apache-2.0
/* A call without airlock: posix_spawn, exec, read all, wait. */
#ifndef BENCH_PLAIN_H
#define BENCH_PLAIN_H

#include <stddef.h>

/**
 * Run a program in `dir` and read what it writes.
 *
 * @param argv        NULL-terminated; looked up on PATH.
 * @param stop_after  Kill it once it wrote this many bytes; 0: let it finish.
 * @return the number of bytes read.
 */
size_t plain_run(const char *dir, const char *const *argv, size_t stop_after);

/** Run it `times` times, `workers` at once. */
void plain_run_many(const char *dir, const char *const *argv, unsigned times, unsigned workers);

#endif
