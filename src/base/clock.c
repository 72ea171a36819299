// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"

#include <stdio.h>
#include <time.h>

int64_t al_clock_ms(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int64_t al_clock_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void al_clock_iso(char ret_text[25])
{
    struct timespec now;
    struct tm tm;

    (void)clock_gettime(CLOCK_REALTIME, &now);
    (void)gmtime_r(&now.tv_sec, &tm);
    ret_text[0] = '\0';
    if (strftime(ret_text, 25, "%Y-%m-%dT%H:%M:%S", &tm) == 19)
        (void)snprintf(ret_text + 19, 6, ".%03uZ", (unsigned)(now.tv_nsec / 1000000 % 1000));
}

int64_t al_clock_iso_ms(const char *text)
{
    struct tm tm = { .tm_isdst = 0 };
    const char *rest = text ? strptime(text, "%Y-%m-%dT%H:%M:%S.", &tm) : NULL;
    int ms = 0;

    return rest && sscanf(rest, "%3dZ", &ms) == 1 ? (int64_t)timegm(&tm) * 1000 + ms : 0;
}

void al_clock_stamp(char ret_text[16])
{
    time_t now = time(NULL);
    struct tm tm;

    (void)localtime_r(&now, &tm);
    if (!strftime(ret_text, 16, "%Y%m%d_%H%M%S", &tm))
        ret_text[0] = '\0';
}
