// SPDX-License-Identifier: Apache-2.0
/* Stand-ins for the parts that a build leaves out; each says so.  And in a static program, for what
 * the C library would load libraries of the machine for, which may be those of another one. */
#include <errno.h>
#include <iconv.h>
#include <pwd.h>
#include <stdio.h>

#include "cli/print.h"

#ifdef AL_WITHOUT_HTTP
#include "review/web/web.h"
#include "serve/command/http.h"
#include "serve/http/server.h"

#define NO_HTTP "this airlock was built without libmicrohttpd and has no HTTP server"

static int fail(void)
{
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;

    (void)al_error_set(&err, AL_ERR_NOT_FOUND, NO_HTTP);
    return al_cli_fail(&err);
}

int al_serve_http(struct al_setup *setup, const struct al_options *options)
{
    (void)setup;
    (void)options;
    return fail();
}

int al_review_web(struct al_setup *setup, const struct al_strv *dirs, const char *address)
{
    (void)setup;
    (void)dirs;
    (void)address;
    return fail();
}

int al_http_tls_check(const struct al_http_tls *tls, struct al_error *err)
{
    (void)tls;
    return al_error_set(err, AL_ERR_BAD_ARGS, NO_HTTP);
}
#endif

#ifdef AL_WITHOUT_SCREEN
#include "review/screen/screen.h"

bool al_terminal_is_able(void)
{
    return false;
}

int al_review_screen(const struct al_setup *setup, const struct al_strv *dirs, struct al_error *err)
{
    (void)setup;
    (void)dirs;
    return al_error_set(err, AL_ERR_NOT_FOUND, "this airlock was built without ncurses");
}
#endif

#ifdef AL_WITHOUT_WORKERS
#include "base/value.h"

int al_yaml_read(const char *file, unsigned first_line, const char *text, size_t len,
                 struct al_value *ret_yaml, struct al_error *err)
{
    (void)text;
    (void)len;
    (void)ret_yaml;
    return al_error_set(err, AL_ERR_BAD_ARGS, "%s:%u: this airlock was built without libyaml", file,
                        first_line);
}
#endif

#ifdef AL_LINKED
#include "review/screen/library.h"

#define FUNCTION(name) .name = name,

/* The program has the library in it. */
int al_curses_load(const char *soname, const struct al_curses **ret, struct al_error *err)
{
    static const struct al_curses linked = { AL_CURSES_FUNCTIONS(FUNCTION) };

    (void)soname;
    (void)err;
    *ret = &linked;
    return 0;
}

/* Encodings are modules that are loaded.  Latin-1 is read without them. */
iconv_t iconv_open(const char *to, const char *from)
{
    (void)to;
    (void)from;
    errno = EINVAL;
    return (iconv_t)-1;
}

/* Looks in /etc/passwd alone. */
struct passwd *getpwuid(uid_t uid)
{
    FILE *file = fopen("/etc/passwd", "re");
    struct passwd *entry = file ? fgetpwent(file) : NULL;

    while (entry && entry->pw_uid != uid)
        entry = fgetpwent(file);
    if (file)
        (void)fclose(file);
    return entry;
}
#endif
