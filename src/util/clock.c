// SPDX-License-Identifier: Apache-2.0
#include "util/clock.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

int64_t al_clock_ms(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void al_clock_iso(char ret_text[25])
{
    struct timespec now;
    struct tm tm;
    char seconds[20];
    char text[64];

    (void)clock_gettime(CLOCK_REALTIME, &now);
    (void)gmtime_r(&now.tv_sec, &tm);
    if (!strftime(seconds, sizeof(seconds), "%Y-%m-%dT%H:%M:%S", &tm))
        seconds[0] = '\0';
    (void)snprintf(text, sizeof(text), "%s.%03dZ", seconds,
                   (int)((unsigned long)now.tv_nsec / 1000000 % 1000));
    memcpy(ret_text, text, 24);
    ret_text[24] = '\0';
}

void al_clock_stamp(char ret_text[16])
{
    time_t now = time(NULL);
    struct tm tm;

    (void)localtime_r(&now, &tm);
    if (!strftime(ret_text, 16, "%Y%m%d_%H%M%S", &tm))
        ret_text[0] = '\0';
}
