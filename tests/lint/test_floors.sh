#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"
checker=tools/check-floors.sh

base() {
    mkdir -p "$sample/tools"
    cp "$top/tools/floors.txt" "$sample/tools/"
}
begin

put src/proc/a.c <<'EOT'
#include <stdio.h>
#include <sys/stat.h>
#include "proc/b.h"
#include "util/str.h"
EOT
accepts 'the own folder, a lower floor and the system'

put src/toolsets/git/status.c <<'EOT'
#include "toolsets/git/common.h"
#include "toolsets/toolsets.h"
#include "tool/tool.h"
EOT
accepts 'a toolset that includes itself and what all toolsets share'

put src/util/a.c <<'EOT'
#include "guard/root.h"
EOT
refuses 'a floor that looks up' 'src/util/a.c:1: util may not include guard/root.h'

put src/mcp/a.cc <<'EOT'
#include "toolsets/git/status.h"
EOT
refuses 'a C++ file that looks sideways' 'mcp may not include toolsets/git/status.h'

put src/guard/a.h <<'EOT'
  #  include "proc/proc.h"
EOT
refuses 'an indented and spaced directive' 'guard may not include proc/proc.h'

put src/tool/a.c <<'EOT'
#include <mcp/server.h>
EOT
refuses 'angle brackets around a folder of ours' 'tool may not include mcp/server.h'

put src/toolsets/git/status.c <<'EOT'
#include "toolsets/shell/run.h"
EOT
refuses 'a toolset that includes another' 'toolset git may not include toolset shell'

put src/util/a.c <<'EOT'
#include "str.h"
EOT
refuses 'an include without its folder' '"str.h" is included without its folder'

put src/drawer/a.c <<'EOT'
#include "util/str.h"
EOT
refuses 'a folder that is on no floor' 'src/drawer is not in tools/floors.txt'
finish
