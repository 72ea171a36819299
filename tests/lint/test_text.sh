#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"
checker=tools/check-text.sh

say() { # the words of a document; written in pieces by the callers, since this file is checked too
    printf '%s\n' "$1" | put docs/a.md
}

printf '#!/bin/sh\n# SPDX-License-Identifier: Apache-2.0\n' | put tools/a.sh
say 'To do: nothing.  mktemp /tmp/XXXXXX, ~/.config, /usr/local/bin, /workspace/a, https://example.com'
accepts 'a licensed script and plain words'

printf 'int a;\n' | put src/base/a.c
refuses 'a source without its licence' 'src/base/a.c: no SPDX'

for word in 'TO''DO' 'FIX''ME' 'XX''X'; do
    say "$word: later"
    refuses "$word" 'unfinished work'
done
for path in '/ho''me/jane/src' '/Us''ers/jane' '/ro''ot/.ssh' '/wo''rk/tree'; do
    say "see $path"
    refuses "$path" "a path of one machine"
done
for host in 'registry.npm''js.org' 'py''pi.org' 'crates.''io'; do
    say "from $host"
    refuses "$host" 'a package registry'
done
finish
