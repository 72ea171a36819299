// SPDX-License-Identifier: Apache-2.0
/* Time, and statistics of many measurements. */
#ifndef BENCH_STATS_H
#define BENCH_STATS_H

#include <stddef.h>

/** Monotonic time in milliseconds, with the fraction the clock has. */
double now_ms(void);

/** The value below which `part` (0..1) of the values lie; sorts them. */
double quantile(double *values, size_t count, double part);

/** The share of all cores' time since `before` that the host gave to other virtual machines
 * (steal); 0 where the kernel does not tell. */
struct cores {
    double all, stolen;
};
struct cores cores_now(void);
double stolen_since(const struct cores *before);

/** Print what is wrong and end the benchmark. */
void give_up(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));

#endif
