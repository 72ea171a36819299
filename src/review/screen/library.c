// SPDX-License-Identifier: Apache-2.0
#include "review/screen/library.h"

#include <dlfcn.h>
#include <stddef.h>

#define SONAME       "libncursesw.so.6"
#define PACKAGE      "libncursesw6"

#define SYMBOL(name) { #name, offsetof(struct al_curses, name) },

static const struct {
    const char *name;
    size_t offset;
} symbols[] = { AL_CURSES_FUNCTIONS(SYMBOL) };

static struct al_curses curses; /* once `loaded` */
static bool loaded;

int al_curses_load(const char *soname, const struct al_curses **ret, struct al_error *err)
{
    struct al_curses found;
    void *handle;

    if (loaded && !soname) {
        *ret = &curses;
        return 0;
    }
    handle = dlopen(soname ? soname : SONAME, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        return al_error_set(err, AL_ERR_NOT_FOUND,
                            "the screen needs ncurses; install " PACKAGE " (%s)", dlerror());
    for (size_t i = 0; i < AL_COUNT(symbols); i++) {
        void *symbol = dlsym(handle, symbols[i].name);

        if (!symbol) {
            dlclose(handle);
            return al_error_set(err, AL_ERR_NOT_FOUND, "this ncurses has no %s(); install " PACKAGE,
                                symbols[i].name);
        }
        memcpy((char *)&found + symbols[i].offset, &symbol, sizeof(symbol));
    }
    curses = found;
    loaded = true;
    *ret = &curses;
    return 0;
}
