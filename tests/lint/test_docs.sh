#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"
checker=tools/check-docs.sh

base() {
    mkdir -p "$sample/src/base" "$sample/docs"
    touch "$sample/src/base/str.c" "$sample/README.md"
}
begin

put docs/a.md <<'EOT'
`src/base/str.c`, `src/base/`, `src/<folder>/x.c`, [the page](../README.md#top), <https://example.com/x>,
[elsewhere](https://example.com), `make test`
EOT
accepts 'paths that are there, placeholders, links elsewhere'

put docs/a.md <<'EOT'
see
`src/base/gone.c`
EOT
refuses 'a path that is not there' 'docs/a.md:2: there is no src/base/gone.c'

put docs/a.md <<'EOT'
[the page](gone.md)
EOT
refuses 'a link that leads nowhere' 'docs/a.md:1: there is no docs/gone.md'

yes word | head -n 20001 | put docs/a.md
refuses 'too many words' 'docs: 20001 words, of 20000'

put docs/a.md </dev/null
yes line | head -n 176 | put README.md
refuses 'a README that is too long' 'README.md: 176 lines, of 175'

{ yes line | head -n 26; echo '## More'; } | put README.md
refuses 'a first screen that is too long' 'README.md: a first screen of 26 lines, of 25'

{ yes line | head -n 25; echo '## More'; yes line | head -n 149; } | put README.md
yes word | head -n 20001 | put docs/REFERENCE.md
accepts 'as many of the page that the program prints'
finish
