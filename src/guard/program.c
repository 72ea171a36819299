// SPDX-License-Identifier: Apache-2.0
#include "guard/program.h"

#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fs.h"
#include "base/log.h"
#include "guard/text.h"

const char *const al_whitelist_standard[] = {
    "ls", "cat", "grep", "find", "head", "tail", "wc", "echo", "pwd", "date", "git", "go", NULL,
};

/* Never on a whitelist: commands that change files or the user, download, or run a command line. */
static const char *const never[] = {
    "rm",   "mv",  "cp",  "chmod", "chown", "sudo", "su",   "curl", "wget", "bash",   "sh",
    "dash", "zsh", "ksh", "fish",  "csh",   "tcsh", "eval", "exec", "doas", "pkexec",
};

int al_whitelist_check(const char *name, struct al_error *err)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.+-";
    al_auto(al_freep) char *safe = al_text_sanitize_line(name);

    if (!*name || name[strspn(name, letters)] || strchr("-.", *name))
        return al_error_set(err, AL_ERR_BAD_ARGS, "'%s' is no name of a command", safe);
    for (size_t i = 0; i < AL_COUNT(never); i++)
        if (!strcmp(never[i], name))
            return al_error_set(err, AL_ERR_BAD_ARGS, "'%s' is always refused", safe);
    return 0;
}

#define INTERP_MAX_BYTES 4096

/* The kernel also executes the dynamic loader, so confinement has to allow it. */
char *al_program_interpreter(const char *program)
{
    al_auto(al_closep) int fd = open(program, O_RDONLY | O_CLOEXEC);
    char path[INTERP_MAX_BYTES + 1];
    Elf64_Ehdr head;

    if (fd < 0 || pread(fd, &head, sizeof(head), 0) != (ssize_t)sizeof(head) ||
        memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64)
        return NULL;
    for (unsigned i = 0; i < head.e_phnum; i++) {
        Elf64_Phdr part;
        off_t at = (off_t)(head.e_phoff + (uint64_t)i * head.e_phentsize);
        ssize_t n;

        if (pread(fd, &part, sizeof(part), at) != (ssize_t)sizeof(part))
            return NULL;
        if (part.p_type != PT_INTERP || part.p_filesz > INTERP_MAX_BYTES)
            continue;
        n = pread(fd, path, (size_t)part.p_filesz, (off_t)part.p_offset);
        if (n <= 1)
            return NULL;
        path[n] = '\0';
        return al_strdup(path);
    }
    return NULL;
}

/* The program in one directory of $PATH; NULL when there is none to use.  Empty and relative
 * entries are skipped: they mean the current directory, where an agent may write. */
static char *program_in(const char *dir, const char *name, const struct al_roots *roots)
{
    al_auto(al_freep) char *path = al_fs_join(dir, name);
    al_auto(al_freep) char *program = NULL;
    struct stat st, self;

    if (dir[0] != '/' || stat(path, &st) < 0 || !S_ISREG(st.st_mode) || access(path, X_OK) < 0 ||
        /* A link to airlock itself under another name stands in for the program of that name. */
        (!al_ends_with(name, "airlock") && stat("/proc/self/exe", &self) == 0 &&
         st.st_dev == self.st_dev && st.st_ino == self.st_ino))
        return NULL;
    program = realpath(path, NULL);
    if (program && roots && al_roots_find(roots, program)) {
        al_log_warn("the %s in '%s' is not used: it lies in a root", name, dir);
        return NULL;
    }
    return al_take(&program);
}

char *al_program_find(const char *name, const char *path_list, const struct al_roots *roots)
{
    const char *at = path_list;

    while (at && *at) {
        const char *end = strchrnul(at, ':');
        al_auto(al_freep) char *dir = al_strndup(at, (size_t)(end - at));
        char *program = program_in(dir, name, roots);

        if (program)
            return program;
        at = *end ? end + 1 : end;
    }
    return NULL;
}
