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
