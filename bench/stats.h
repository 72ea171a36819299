// SPDX-License-Identifier: Apache-2.0
/* Time and what to make of many measurements of it. */
#ifndef BENCH_STATS_H
#define BENCH_STATS_H

#include <stddef.h>

/** Monotonic time in milliseconds, with the fraction the clock has. */
double now_ms(void);

/** The value below which `part` (0..1) of the values lie; sorts them. */
double quantile(double *values, size_t count, double part);

/** Of the time of all cores since `before`, the part that the host of this virtual machine gave to
 * others; 0 where nobody tells. */
struct cores {
    double all, stolen;
};
struct cores cores_now(void);
double stolen_since(const struct cores *before);

/** Say what is wrong and end the benchmark. */
void give_up(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));

#endif
