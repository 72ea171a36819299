// SPDX-License-Identifier: Apache-2.0
/*
 * Memory allocation that aborts instead of failing, and cleanup of local variables.
 *
 * Everything that an agent or a repository can make large is capped before it is allocated. Running
 * out of memory is therefore not caused by input, and the program aborts.
 *
 * `al_auto(release) type name = value;` releases a local variable at the end of its scope.
 * `al_take()` moves a pointer out of such a variable and leaves NULL.
 */
#ifndef AL_BASE_MEM_H
#define AL_BASE_MEM_H

#include <stddef.h>
#include <string.h>

#define AL_COUNT(array)       (sizeof(array) / sizeof((array)[0]))
#define al_auto(release)      __attribute__((cleanup(release)))
#define al_unused             __attribute__((unused))
#define al_printf(fmt, first) __attribute__((format(printf, fmt, first)))

/** Allocate `size` bytes (at least one); never NULL.  Release with free(). */
void *al_malloc(size_t size);

/** Allocate `count` zeroed items of `size` bytes; aborts on overflow as well. */
void *al_calloc(size_t count, size_t size);

/** Resize to `count` items of `size` bytes; aborts on overflow as well. */
void *al_reallocarray(void *old, size_t count, size_t size);

/** Make room for one more item behind `count` in an array that nothing else makes larger. */
void *al_grow(void *items, size_t count, size_t size);

/** Copy a string; NULL gives NULL. */
char *al_strdup(const char *text);

/** Copy `len` bytes and add a NUL. */
char *al_strndup(const char *text, size_t len);

/** Cleanup for `al_auto(al_freep) char *p`: frees `p`.  Takes the address of the variable. */
void al_freep(void *pointer_to_pointer);

/** Cleanup for `al_auto(al_closep) int fd`: closes it unless it is negative. */
void al_closep(int *fd);

/** Close a descriptor unless it is negative, keeping errno. */
void al_close(int fd);

/** The function behind al_take(); memcpy, because the pointer may have any type. */
static inline void *al_take_(void *pointer_to_pointer)
{
    void *value;
    void *const none = NULL;

    memcpy(&value, pointer_to_pointer, sizeof(value));
    memcpy(pointer_to_pointer, &none, sizeof(none));
    return value;
}

/** Move a pointer out of a variable, leaving NULL. */
#define al_take(pp) ((__typeof__(*(pp)))al_take_(pp))

/** Move a descriptor out of a variable, leaving -1. */
static inline int al_take_fd(int *fd)
{
    int value = *fd;

    *fd = -1;
    return value;
}

#endif
