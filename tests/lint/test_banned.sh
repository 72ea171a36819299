#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"
checker=tools/check-banned.sh

base() {
    mkdir -p "$sample/tools"
    cp "$top/tools/banned.txt" "$sample/tools/"
}
begin

put src/base/a.c <<'EOT'
/* strcpy(a, b) in a comment */
// and gets(line) too
static const char *const text = "system(\"id\")";
void al_strcpy(void);
void f(struct s *s)
{
    al_strcpy();
    s->exit(1);
    snprintf(0, 0, "printf(%s)", text);
}
EOT
accepts 'comments, strings, members and longer names'

put src/cli/main.c <<'EOT'
void f(void)
{
    printf("%s", getenv("HOME"));
    exit(0);
}
EOT
accepts 'what the front door may do'

put src/proc/child.c <<'EOT'
void f(void)
{
    execve(0, 0, 0);
    _exit(127);
}
EOT
accepts 'the child that becomes another program'

for name in strcpy strcat sprintf vsprintf strtok gets system popen localtime gmtime asctime ctime \
    strncpy setenv getenv printf puts exit strtol realpath; do
    put src/git/a.c <<EOT
void f(void)
{
    $name ("x");
}
EOT
    refuses "$name in a library" "src/git/a.c:3: $name() is banned"
done

put src/tools/git/a.c <<'EOT'
/* a comment
 * of two lines */
int f(void) { return execv(0, 0); }
EOT
refuses 'a process that proc does not know of' 'src/tools/git/a.c:3: execv()'

put src/cli/a.c <<'EOT'
int f(void) { return system("id"); }
EOT
refuses 'a shell, at the front door too' 'system() is banned'
finish
