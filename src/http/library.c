// SPDX-License-Identifier: Apache-2.0
#include "http/library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>

#define SONAME  "libmicrohttpd.so.12"
#define PACKAGE "libmicrohttpd12"

#define SYMBOL(name)                                                                               \
    {                                                                                              \
        "MHD_" #name, offsetof(struct al_http_library, name)                                       \
    }

static const struct {
    const char *name;
    size_t offset;
} symbols[] = {
    SYMBOL(start_daemon),
    SYMBOL(stop_daemon),
    SYMBOL(run),
    SYMBOL(get_timeout),
    SYMBOL(get_daemon_info),
    SYMBOL(add_connection),
    SYMBOL(get_connection_info),
    SYMBOL(get_connection_values_n),
    SYMBOL(suspend_connection),
    SYMBOL(resume_connection),
    SYMBOL(create_response_from_buffer),
    SYMBOL(create_response_from_callback),
    SYMBOL(add_response_header),
    SYMBOL(queue_response),
    SYMBOL(destroy_response),
    SYMBOL(get_version),
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct al_http_library library; /* under `lock` until `loaded` */
static bool loaded;

static int find_symbols(void *handle, struct al_http_library *ret, struct al_error *err)
{
    for (size_t i = 0; i < AL_COUNT(symbols); i++) {
        void *symbol = dlsym(handle, symbols[i].name);

        if (!symbol)
            return al_error_set(err, AL_ERR_NOT_FOUND,
                                "libmicrohttpd is too old: it has no %s(); install " PACKAGE
                                " 0.9.75 or newer",
                                symbols[i].name);
        memcpy((char *)ret + symbols[i].offset, &symbol, sizeof(symbol));
    }
    return 0;
}

/* The caller has the lock. */
static int load(const char *soname, struct al_error *err)
{
    struct al_http_library found = { .strict = false };
    void *handle = dlopen(soname ? soname : SONAME, RTLD_NOW | RTLD_LOCAL);
    int r;

    if (!handle)
        return al_error_set(err, AL_ERR_NOT_FOUND,
                            "an HTTP server needs libmicrohttpd; install " PACKAGE " (%s)",
                            dlerror());
    r = find_symbols(handle, &found, err);
    if (r < 0) {
        dlclose(handle);
        return r;
    }
    found.strict = found.get_version()[0] != '0';
    library = found;
    loaded = true;
    return 0;
}

int al_http_library_load(const char *soname, const struct al_http_library **ret,
                         struct al_error *err)
{
    int r = 0;

    pthread_mutex_lock(&lock);
    if (!loaded || soname)
        r = load(soname, err);
    pthread_mutex_unlock(&lock);
    if (r == 0)
        *ret = &library;
    return r;
}
