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
#include "base/str.h"
EOT
accepts 'the own folder, a lower floor and the system'

put src/tools/git/status.c <<'EOT'
#include "tools/git/common.h"
#include "tools/toolsets.h"
#include "call/tool.h"
EOT
accepts 'a toolset that includes itself and what all toolsets share'

put src/base/a.c <<'EOT'
#include "guard/root.h"
EOT
refuses 'a floor that looks up' 'src/base/a.c:1: base may not include guard/root.h'

put src/serve/mcp/a.cc <<'EOT'
#include "serve/upstream/upstream.h"
EOT
refuses 'a C++ file that looks sideways' 'serve/mcp may not include serve/upstream/upstream.h'

put src/guard/a.h <<'EOT'
  #  include "proc/proc.h"
EOT
refuses 'an indented and spaced directive' 'guard may not include proc/proc.h'

put src/call/a.c <<'EOT'
#include <serve/mcp/server.h>
EOT
refuses 'angle brackets around a folder of ours' 'call may not include serve/mcp/server.h'

put src/tools/git/status.c <<'EOT'
#include "tools/shell/run.h"
EOT
refuses 'a toolset that includes another' 'toolset git may not include toolset shell'

put src/base/a.c <<'EOT'
#include "str.h"
EOT
refuses 'an include without its folder' '"str.h" is included without its folder'

put src/drawer/a.c <<'EOT'
#include "base/str.h"
EOT
refuses 'a folder that is on no floor' 'src/drawer is not in tools/floors.txt'
finish
