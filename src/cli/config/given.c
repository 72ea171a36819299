// SPDX-License-Identifier: Apache-2.0
#include "cli/config/given.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

void al_options_clear(struct al_options *options)
{
    al_strv_clear(&options->given);
}

const char *al_option(const struct al_options *options, const char *name)
{
    const struct al_strv *given = &options->given;
    const char *value = NULL;

    for (size_t i = 0; i < given->count; i += 2)
        if (!strcmp(given->items[i], name))
            value = given->items[i + 1];
    return value;
}

void al_option_all(const struct al_options *options, const char *name, struct al_strv *ret_values)
{
    const struct al_strv *given = &options->given;

    for (size_t i = 0; i < given->count; i += 2)
        if (!strcmp(given->items[i], name))
            al_strv_add(ret_values, given->items[i + 1]);
}

void al_option_set(struct al_options *options, const char *name, const char *value)
{
    struct al_strv *given = &options->given;
    size_t kept = 0;

    for (size_t i = 0; i < given->count; i += 2) {
        const bool goes = !strcmp(given->items[i], name);

        for (size_t k = i; k < i + 2; k++)
            if (goes)
                free(given->items[k]);
            else
                given->items[kept++] = given->items[k]; /* values are borrowed */
    }
    given->count = kept;
    al_strv_adds(given, name, value, NULL);
}
