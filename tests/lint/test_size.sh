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

lines 1000 | put src/base/a.c
accepts 'a file of 1,000 lines'
lines 1001 | put src/base/a.c
refuses 'a file of 1,001 lines' 'src/base/a.c:1001: the file is longer'
lines 1001 | put tools/a.py
refuses 'a script of 1,001 lines' 'tools/a.py:1001'
function_of 60 | put src/base/a.c
accepts 'a function of 60 lines'
function_of 61 | put src/base/a.c
refuses 'a function of 61 lines' 'src/base/a.c:2: the function has 61 lines'
{
    echo 'static const int table[] = {'
    lines 100
    echo '};'
} | put src/base/a.c
accepts 'a table of 100 lines'
finish
