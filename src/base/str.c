// SPDX-License-Identifier: Apache-2.0
#include "base/str.h"

#include <stdio.h>
#include <stdlib.h>

char al_str_empty[1];

void al_str_clear(struct al_str *s)
{
    if (s->cap)
        free(s->buf);
    *s = AL_STR_INIT;
}

void al_str_reset(struct al_str *s)
{
    al_str_truncate(s, 0);
}

void al_str_reserve(struct al_str *s, size_t extra)
{
    size_t need = s->len + extra + 1;
    size_t cap = s->cap;

    if (need <= cap)
        return;
    if (cap < 64)
        cap = 64;
    while (cap < need)
        cap += cap / 2;
    s->buf = al_reallocarray(s->cap ? s->buf : NULL, cap, 1);
    s->cap = cap;
    s->buf[s->len] = '\0';
}

void al_str_add(struct al_str *s, const void *data, size_t len)
{
    if (!len)
        return;
    al_str_reserve(s, len);
    memcpy(s->buf + s->len, data, len);
    s->len += len;
    s->buf[s->len] = '\0';
}

void al_str_adds(struct al_str *s, const char *text)
{
    al_str_add(s, text, strlen(text));
}

void al_str_addc(struct al_str *s, char c)
{
    al_str_add(s, &c, 1);
}

void al_str_addv(struct al_str *s, const char *fmt, va_list args)
{
    va_list again;
    int need;

    va_copy(again, args);
    need = vsnprintf(NULL, 0, fmt, again);
    va_end(again);
    if (need < 0)
        abort(); /* an invalid format */
    al_str_reserve(s, (size_t)need);
    (void)vsnprintf(s->buf + s->len, (size_t)need + 1, fmt, args);
    s->len += (size_t)need;
}

void al_str_addf(struct al_str *s, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    al_str_addv(s, fmt, args);
    va_end(args);
}

void al_str_truncate(struct al_str *s, size_t len)
{
    if (len >= s->len)
        return;
    s->len = len;
    s->buf[len] = '\0';
}

void al_str_trim_end(struct al_str *s)
{
    size_t len = s->len;

    while (len && strchr(" \t\r\n", s->buf[len - 1]) && s->buf[len - 1])
        len--;
    al_str_truncate(s, len);
}

char *al_str_detach(struct al_str *s)
{
    char *buf = s->cap ? s->buf : al_strndup("", 0);

    *s = AL_STR_INIT;
    return buf;
}

char *al_asprintf(const char *fmt, ...)
{
    struct al_str s = AL_STR_INIT;
    va_list args;

    va_start(args, fmt);
    al_str_addv(&s, fmt, args);
    va_end(args);
    return al_str_detach(&s);
}

void al_strv_clear(struct al_strv *v)
{
    for (size_t i = 0; i < v->count; i++)
        free(v->items[i]);
    free(v->items);
    *v = AL_STRV_INIT;
}

void al_strv_take(struct al_strv *v, char *item)
{
    /* The capacity doubles at powers of two, so that adding n items copies O(n) pointers. */
    if (!v->items || (v->count & (v->count + 1)) == 0)
        v->items = al_reallocarray(v->items, 2 * (v->count + 1), sizeof(*v->items));
    v->items[v->count++] = item;
    v->items[v->count] = NULL;
}

void al_strv_add(struct al_strv *v, const char *item)
{
    al_strv_take(v, al_strdup(item));
}

void al_strv_addf(struct al_strv *v, const char *fmt, ...)
{
    struct al_str s = AL_STR_INIT;
    va_list args;

    va_start(args, fmt);
    al_str_addv(&s, fmt, args);
    va_end(args);
    al_strv_take(v, al_str_detach(&s));
}

void al_strv_add_all(struct al_strv *v, const struct al_strv *from)
{
    for (size_t i = 0; from && i < from->count; i++)
        al_strv_add(v, from->items[i]);
}

void al_strv_adds(struct al_strv *v, ...)
{
    const char *item;
    va_list args;

    va_start(args, v);
    while ((item = va_arg(args, const char *)))
        al_strv_add(v, item);
    va_end(args);
}

void al_strv_split(struct al_strv *v, char *text, const char *delimiters)
{
    char *save = NULL;

    for (char *part = text ? strtok_r(text, delimiters, &save) : NULL; part;
         part = strtok_r(NULL, delimiters, &save))
        al_strv_add(v, part);
}

bool al_strv_contains(const struct al_strv *v, const char *item)
{
    for (size_t i = 0; i < v->count; i++)
        if (!strcmp(v->items[i], item))
            return true;
    return false;
}

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

void al_strv_sort(struct al_strv *v)
{
    if (v->count)
        qsort(v->items, v->count, sizeof(*v->items), by_bytes);
}

bool al_strv_contains_sorted(const struct al_strv *v, const char *item)
{
    return v->count && bsearch(&item, v->items, v->count, sizeof(*v->items), by_bytes);
}

bool al_starts_with(const char *text, const char *prefix)
{
    return !strncmp(text, prefix, strlen(prefix));
}

bool al_ends_with(const char *text, const char *suffix)
{
    size_t len = strlen(text), tail = strlen(suffix);

    return len >= tail && !strcmp(text + len - tail, suffix);
}
