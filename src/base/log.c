// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <unistd.h>

#include "base/str.h"

static al_printf(2, 0) void line(const char *prefix, const char *fmt, va_list args)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    al_str_adds(&text, prefix);
    al_str_addv(&text, fmt, args);
    al_str_addc(&text, '\n');
    (void)!write(STDERR_FILENO, text.buf, text.len);
}

void al_log_warn(const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    line("airlock: warning: ", fmt, args);
    va_end(args);
}

void al_log_note(const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    line("airlock: ", fmt, args);
    va_end(args);
}
