#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"
checker=tools/check-rooms.sh

base() {
    put tools/rooms.txt <<'EOT'
# room, budget, ceiling
base  2 3
call  3 4
EOT
}
begin

lines() {
    awk -v n="$1" 'BEGIN { for (i = 0; i < n; i++) print "int a;" }'
}

lines 3 | put src/base/a.c
accepts 'a room that reaches its ceiling'
lines 4 | put src/base/a.c
refuses 'a room that is over its ceiling' 'over its ceiling'
lines 2 | put src/base/a.c
lines 2 | put src/base/a.h
refuses 'what several files have together' 'over its ceiling'
lines 4 | put src/call/inner/a.c
accepts 'an inner folder that reaches the ceiling of its room'
lines 4 | put src/base/inner/a.c
refuses 'an inner folder over it' 'over its ceiling'
put src/base/a.c <<'EOT'
// one
/* two
   "three" */ /* four */
int a; /* five

   six */

#define SLASHES "// \" /*"
char b = '"';
EOT
accepts 'comments and blank lines, which do not count'
put src/base/a.c <<'EOT'
char *a = "/*";
int b;
char c = '"'; /* " */
int d; /* */
EOT
refuses 'code beside what looks like a comment' 'over its ceiling'
lines 1 | put src/new/a.c
refuses 'a folder of no room' 'src/new/a.c: no room'
finish
