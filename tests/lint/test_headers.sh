#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"
checker=tools/check-headers.sh

header() { # the declarations come on standard input
    {
        echo '// SPDX-License-Identifier: Apache-2.0'
        echo '/* What it is for. */'
        echo '#ifndef AL_BASE_A_H'
        echo '#define AL_BASE_A_H'
        echo
        cat
        echo
        echo '#endif'
    } | put src/base/a.h
}

header <<'EOT'
/** What it does. */
int al_a_get(void);

/** The first of a group; the others follow it without a blank line. */
void al_a_add(int value);
void al_a_set(int value);

/** A thing. */
struct al_a {
    int value; /**< what it holds */
};

struct al_b;
struct al_a *al_a_new(void);
void al_a_free(struct al_a *a);

#define AL_A_MAX 3
EOT
accepts 'documented declarations, groups, life cycle words'

header <<'EOT'
int al_a_get(void);
EOT
refuses 'a function without a doc comment' 'src/base/a.h:6: no doc comment: int al_a_get'

header <<'EOT'
/* Not a doc comment. */
struct al_a {
    int value;
};
EOT
refuses 'a struct without a doc comment' 'src/base/a.h:7: no doc comment: struct al_a {'

header <<'EOT'
/** What it does. */
size_t al_a_get(void);
EOT
refuses 'a header that needs another one before it' 'src/base/a.h: does not compile alone'

printf '// SPDX-License-Identifier: Apache-2.0\n/* x */\n#ifndef AL_B_H\n#define AL_B_H\n#endif\n' |
    put src/base/a.h
refuses 'a guard of another name' 'the guard is not AL_BASE_A_H'

printf '// SPDX-License-Identifier: Apache-2.0\n#ifndef AL_BASE_A_H\n#define AL_BASE_A_H\n#endif\n' |
    put src/base/a.h
refuses 'a header that does not say what it is for' 'does not open with what it is for'

header <<'EOT'
#define AL_API

/**
 * Get it.
 *
 * @return 0 or a negative status.
 * Errors: none.  Source: nothing.
 */
AL_API int al_a_get(void);
EOT
refuses 'a public function that does not say who owns what' 'an AL_API function without Ownership:'
finish
