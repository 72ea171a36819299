// SPDX-License-Identifier: Apache-2.0
#include "toolsets/private_file.h"

#include <fnmatch.h>
#include <stddef.h>
#include <string.h>

#include "util/mem.h"

static const char secret[] = "looks like a secret";
static const char dump[] = "looks like a core dump";

/* Globs for the last component, in any case.  The first match counts. */
static const struct row {
    const char *pattern;
    const char *looks; /* NULL: an ordinary file */
} rows[] = {
    { ".env.example", NULL },
    { ".env.sample", NULL },
    { ".env.template", NULL },
    { ".env.dist", NULL },
    { ".env*", secret },
    { "*.pem", secret },
    { "*.key", secret },
    { "*.p12", secret },
    { "*.pfx", secret },
    { "*.jks", secret },
    { "*.keystore", secret },
    { "*.keytab", secret },
    { "*.kdbx", secret },
    { "*.ppk", secret },
    { "id_*.*", NULL }, /* id_map.c, and the public half of a key */
    { "id_*", secret },
    { ".netrc", secret },
    { "_netrc", secret },
    { ".pgpass", secret },
    { ".pypirc", secret },
    { ".htpasswd", secret },
    { ".git-credentials", secret },
    { "credentials", secret },
    { "core.[0-9]*", dump },
    { "core.dump", dump },
    { "*.coredump", dump },
    { "vgcore.[0-9]*", dump },
};

const char *al_private_file(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;

    for (size_t i = 0; i < AL_COUNT(rows); i++)
        if (fnmatch(rows[i].pattern, name, FNM_CASEFOLD) == 0)
            return rows[i].looks;
    return NULL;
}
