#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check-headers.sh [TREE]: headers are contracts.
#
# 1. Each compiles alone, as C11 and without a warning.
# 2. Each has an include guard named after its path, and opens with a comment about its purpose.
# 3. Each block of declarations (lines without a blank one between them) has a doc comment above or
#    in it.  Names that end in _new, _free, _init, _clear, _ref, _unref (with a p: the cleanup
#    form) need none: these words always mean the same, see CONTRIBUTING.md.
# 4. A doc comment that declares a failing AL_API function has @param, @return, Ownership:, Errors:
#    and Source:.
set -eu
. "$(dirname "$0")/files.sh"

bad=0
for header in $(files '^(src|include)/.*\.h$'); do
    printf '#include "%s"\n' "${header#*/}" |
        ${CC:-cc} -x c -std=c11 -D_GNU_SOURCE -Wall -Wextra -Wpedantic -Werror -fsyntax-only \
            -Isrc -Iinclude - || { echo "$header: does not compile alone"; bad=1; }
done

files '^(src|include)/.*\.h$' | xargs awk '
function complain(line, why) {
    print FILENAME ":" line ": " why
    bad = 1
}
function end_block() {
    if (declares && !documented)
        complain(declares, "no doc comment: " first)
    if (api && documented) {
        n = split("@return Ownership: Errors: Source:", need, " ")
        for (i = 1; i <= n; i++)
            if (index(comment, need[i]) == 0)
                complain(api, "an AL_API function without " need[i])
    }
    declares = documented = api = 0
    comment = ""
}
FNR == 1 {
    guard = toupper(FILENAME)
    sub(/^(SRC|INCLUDE)\//, "AL_", guard)
    gsub(/[^A-Z0-9]/, "_", guard)
    guarded = inside = depth = declares = documented = api = opened = 0
    comment = ""
}
FNR == 2 && /^\/\*/ { opened = 1 }
$1 == "#ifndef" && !guarded {
    guarded = 1
    if ($2 != guard)
        complain(FNR, "the guard is not " guard)
    if (!opened)
        complain(FNR, "the header does not open with what it is for")
}
/^[ \t]*\/\*\*/ { documented = inside = 1 }
/^[ \t]*\/\*[^*]/ || /^[ \t]*\/\*$/ { inside = 1 }
inside {
    comment = comment $0 "\n"
    if (/\*\//)
        inside = 0
    next
}
/\/\*\*</ { documented = 1 }
/^$/ && depth == 0 { end_block(); next }
/^#/ || /\\$/ { continued = /\\$/; next }
continued { continued = /\\$/; next }
depth == 0 && /^[A-Za-z].*[;{(,]/ && !/^extern "C"/ && !/^struct [a-z_0-9]+;/ {
    if ($0 !~ /_(new|free|init|clear|ref|unref|freep|clearp|unrefp)\(/ && !declares) {
        declares = FNR
        first = $0
    }
    if (/^AL_API int/)
        api = FNR
}
{ depth += gsub(/\{/, "{") - gsub(/\}/, "}") }
END { end_block(); exit bad }' || bad=1
exit $bad
