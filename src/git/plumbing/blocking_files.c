// SPDX-License-Identifier: Apache-2.0
#include "git/plumbing/blocking_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/fs.h"
#include "git/location.h"
#include "guard/nofollow.h"
#include "guard/text.h"

struct search {
    int top_fd;
    struct al_strv dirs; /* directories that were or will be searched */
    int64_t deadline_ms;
    char *found;
};

static bool is_opened_by_git(const char *name)
{
    return !strcmp(name, ".gitignore") || !strcmp(name, ".gitattributes");
}

/* The type bits of st_mode; 0 when the file is gone. */
static mode_t type_of(int dir_fd, const struct dirent *entry)
{
    struct stat st;

    if (entry->d_type != DT_UNKNOWN)
        return (mode_t)DTTOIF(entry->d_type);
    return fstatat(dir_fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 ? st.st_mode & S_IFMT : 0;
}

static char *below(const char *dir, const char *name)
{
    return *dir ? al_fs_join(dir, name) : al_strdup(name);
}

static void check_entry(struct search *search, const char *dir, int dir_fd,
                        const struct dirent *entry)
{
    const char *name = entry->d_name;
    mode_t type;

    if (!strcmp(name, ".") || !strcmp(name, "..") || !strcmp(name, ".git"))
        return;
    type = type_of(dir_fd, entry);
    if (S_ISDIR(type))
        al_strv_take(&search->dirs, below(dir, name));
    else if (is_opened_by_git(name) && (S_ISFIFO(type) || S_ISCHR(type) || S_ISBLK(type)))
        search->found = below(dir, name);
}

static void search_dir(struct search *search, size_t which)
{
    al_auto(al_freep) char *path = al_strdup(search->dirs.items[which]);
    al_auto(al_closedirp) DIR *dir =
        al_fs_list(al_nofollow_open(search->top_fd, path, O_RDONLY | O_DIRECTORY));
    const struct dirent *entry;

    while (dir && !search->found && al_clock_ms() < search->deadline_ms && (entry = readdir(dir)))
        check_entry(search, path, dirfd(dir), entry);
}

char *al_git_find_blocking_file(const struct al_repo *repo)
{
    struct search search = { .top_fd = -1,
                             .deadline_ms = al_clock_ms() + AL_BLOCKING_FILES_MAX_MS };
    al_auto(al_freep) char *word = NULL;

    if (al_location_open_top(&repo->at, &search.top_fd, NULL) == 0)
        al_strv_add(&search.dirs, "");
    /* Breadth first, so that a file near the top is found in any tree. */
    for (size_t i = 0; i < search.dirs.count && !search.found && al_clock_ms() < search.deadline_ms;
         i++)
        search_dir(&search, i);
    al_close(search.top_fd);
    al_strv_clear(&search.dirs);
    if (!search.found)
        return NULL;
    word = al_text_sanitize_line(search.found);
    free(search.found);
    return al_asprintf("'%s' is a fifo or a device, and git waits for what it opens there; remove "
                       "it",
                       word);
}
