#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check-size.sh [TREE]: no file over 1,000 lines, no C function over 60.
#
# A function is the text between a '{' and a '}' in the first column, where clang-format puts them;
# initialisers begin on the line of their '='.
set -eu
. "$(dirname "$0")/files.sh"

files '\.(c|h|cc|py|sh)$' | xargs awk -v max_file=1000 -v max_function=60 '
function complain(line, why) {
    print FILENAME ":" line ": " why
    bad = 1
}
FNR == max_file + 1 { complain(FNR, "the file is longer than " max_file " lines") }
FNR == 1 { open = 0 }
FILENAME !~ /\.(c|h|cc)$/ { next }
/^\{/ { open = FNR }
/^\}/ && open {
    if (FNR - open - 1 > max_function)
        complain(open, "the function has " FNR - open - 1 " lines, more than " max_function)
    open = 0
}
END { exit bad }' /dev/null
