// SPDX-License-Identifier: Apache-2.0
#include "base/mem.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

static _Noreturn void out_of_memory(void)
{
    static const char text[] = "airlock: out of memory\n";

    (void)!write(STDERR_FILENO, text, sizeof(text) - 1);
    abort();
}

void *al_malloc(size_t size)
{
    void *p = malloc(size ? size : 1);

    if (!p)
        out_of_memory();
    return p;
}

void *al_calloc(size_t count, size_t size)
{
    void *p = calloc(count ? count : 1, size ? size : 1);

    if (!p)
        out_of_memory();
    return p;
}

void *al_reallocarray(void *old, size_t count, size_t size)
{
    void *p;

    if (size && count > SIZE_MAX / size)
        out_of_memory();
    p = realloc(old, count && size ? count * size : 1);
    if (!p)
        out_of_memory();
    return p;
}

/* There is room up to the next power of two. */
void *al_grow(void *items, size_t count, size_t size)
{
    return count & (count - 1) ? items : al_reallocarray(items, count ? 2 * count : 1, size);
}

char *al_strdup(const char *text)
{
    return text ? al_strndup(text, strlen(text)) : NULL;
}

char *al_strndup(const char *text, size_t len)
{
    char *copy = al_malloc(len + 1);

    if (len)
        memcpy(copy, text, len);
    copy[len] = '\0';
    return copy;
}

void al_freep(void *pointer_to_pointer)
{
    free(al_take_(pointer_to_pointer));
}

void al_close(int fd)
{
    int saved = errno;

    if (fd >= 0)
        (void)close(fd);
    errno = saved;
}

void al_closep(int *fd)
{
    al_close(al_take_fd(fd));
}
