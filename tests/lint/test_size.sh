#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"
checker=tools/check-size.sh

lines() {
    awk -v n="$1" 'BEGIN { for (i = 0; i < n; i++) print "/* */" }'
}
function_of() {
    echo 'static void f(void)'
    echo '{'
    lines "$1"
    echo '}'
}

lines 600 | put src/util/a.c
accepts 'a file of 600 lines'
lines 601 | put src/util/a.c
refuses 'a file of 601 lines' 'src/util/a.c:601: the file is longer'
lines 601 | put tools/a.py
refuses 'a script of 601 lines' 'tools/a.py:601'
function_of 60 | put src/util/a.c
accepts 'a function of 60 lines'
function_of 61 | put src/util/a.c
refuses 'a function of 61 lines' 'src/util/a.c:2: the function has 61 lines'
{
    echo 'static const int table[] = {'
    lines 100
    echo '};'
} | put src/util/a.c
accepts 'a table of 100 lines'
finish
