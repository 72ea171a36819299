// SPDX-License-Identifier: Apache-2.0
#include "bench/stats.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

double now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

double quantile(double *values, size_t count, double part)
{
    qsort(values, count, sizeof(*values), by_value);
    return values[(size_t)(part * (double)(count - 1) + 0.5)];
}

/* proc(5): user nice system idle iowait irq softirq steal, and two that are parts of others. */
struct cores cores_now(void)
{
    struct cores cores = { .all = 0 };
    FILE *stat = fopen("/proc/stat", "re");
    double ticks[8];
    int n = stat ? fscanf(stat, "cpu %lf %lf %lf %lf %lf %lf %lf %lf", ticks, ticks + 1, ticks + 2,
                          ticks + 3, ticks + 4, ticks + 5, ticks + 6, ticks + 7)
                 : 0;

    for (int i = 0; n == 8 && i < n; i++)
        cores.all += ticks[i];
    if (n == 8)
        cores.stolen = ticks[7];
    if (stat)
        (void)fclose(stat);
    return cores;
}

double stolen_since(const struct cores *before)
{
    const struct cores now = cores_now();

    return now.all > before->all ? (now.stolen - before->stolen) / (now.all - before->all) : 0;
}

void give_up(const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    (void)fputs("bench: ", stderr);
    (void)vfprintf(stderr, fmt, args);
    (void)fputc('\n', stderr);
    va_end(args);
    exit(1);
}
