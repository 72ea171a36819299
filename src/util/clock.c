// SPDX-License-Identifier: Apache-2.0
#include "util/clock.h"

#include <string.h>
#include <time.h>

int64_t al_clock_ms(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* The formatted text of one second, kept because many calls fall into the same second. */
struct second {
    time_t at;
    char text[24]; /* "": nothing is kept yet */
};

void al_clock_iso(char ret_text[25])
{
    static _Thread_local struct second last;
    struct timespec now;
    unsigned ms;
    struct tm tm;

    (void)clock_gettime(CLOCK_REALTIME, &now);
    if (now.tv_sec != last.at || !last.text[0]) {
        (void)gmtime_r(&now.tv_sec, &tm);
        if (!strftime(last.text, sizeof(last.text), "%Y-%m-%dT%H:%M:%S.", &tm))
            last.text[0] = '\0';
        last.at = now.tv_sec;
    }
    ms = (unsigned)now.tv_nsec / 1000000;
    memcpy(ret_text, last.text, 20);
    ret_text[20] = (char)('0' + ms / 100);
    ret_text[21] = (char)('0' + ms / 10 % 10);
    ret_text[22] = (char)('0' + ms % 10);
    ret_text[23] = 'Z';
    ret_text[24] = '\0';
}

void al_clock_stamp(char ret_text[16])
{
    static _Thread_local struct second last;
    time_t now = time(NULL);
    struct tm tm;

    if (now != last.at || !last.text[0]) {
        (void)localtime_r(&now, &tm);
        if (!strftime(last.text, sizeof(last.text), "%Y%m%d_%H%M%S", &tm))
            last.text[0] = '\0';
        last.at = now;
    }
    memcpy(ret_text, last.text, 15);
    ret_text[15] = '\0';
}
