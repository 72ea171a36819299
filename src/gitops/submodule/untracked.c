// SPDX-License-Identifier: Apache-2.0
#include "gitops/submodule/untracked.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "gitops/submodule/ignore.h"
#include "gitops/submodule/submodules.h"
#include "gitops/vet/vet.h"
#include "guard/nofollow.h"
#include "util/fs.h"

#define ENTRIES_PER_CLOCK 256

struct search {
    struct al_submodule_scan *scan;
    struct al_ignore_rules rules;
    struct al_strv dirs; /* directories to list, with '/' at the end; "" is the top */
};

enum tracked { NOT_TRACKED, IS_TRACKED, HAS_TRACKED };

/* Whether the index has a name, or a name below it. */
static enum tracked find(const struct al_strv *names, const char *path)
{
    al_auto(al_freep) char *below = al_asprintf("%s/", path);
    size_t low = 0, high = names->count;

    if (al_strv_contains_sorted(names, path))
        return IS_TRACKED;
    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (strcmp(names->items[middle], below) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < names->count && al_starts_with(names->items[low], below) ? HAS_TRACKED
                                                                          : NOT_TRACKED;
}

static unsigned char type_of(int dir_fd, const struct dirent *entry)
{
    struct stat st;

    if (entry->d_type != DT_UNKNOWN)
        return entry->d_type;
    if (fstatat(dir_fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return DT_UNKNOWN;
    return S_ISDIR(st.st_mode) ? DT_DIR : S_ISREG(st.st_mode) ? DT_REG : DT_LNK;
}

/* A nested repository counts as one untracked file. */
static bool is_repository(int dir_fd, const char *name)
{
    al_auto(al_freep) char *path = al_asprintf("%s/.git", name);
    struct stat st;

    return fstatat(dir_fd, path, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

static void take_directory(struct search *search, int dir_fd, const char *name, char *path)
{
    struct al_submodule_scan *scan = search->scan;
    enum tracked tracked = find(&scan->names, path);

    if (tracked == IS_TRACKED ||
        (tracked == NOT_TRACKED && al_ignore_rules_may_match(&search->rules, path)))
        return;
    if (tracked == NOT_TRACKED && is_repository(dir_fd, name))
        scan->content |= AL_UNTRACKED_CONTENT;
    else
        al_strv_addf(&search->dirs, "%s/", path);
}

static void take(struct search *search, int dir_fd, const char *dir, const struct dirent *entry)
{
    struct al_submodule_scan *scan = search->scan;
    al_auto(al_freep) char *path = al_asprintf("%s%s", dir, entry->d_name);
    unsigned char type = type_of(dir_fd, entry);

    if (type == DT_DIR)
        take_directory(search, dir_fd, entry->d_name, path);
    else if ((type == DT_REG || type == DT_LNK) && find(&scan->names, path) != IS_TRACKED &&
             !al_ignore_rules_may_match(&search->rules, path))
        scan->content |= AL_UNTRACKED_CONTENT;
}

static bool is_nothing(const char *name)
{
    return !strcmp(name, ".") || !strcmp(name, "..") || !strcmp(name, ".git");
}

/* Read through no link, as git reads .gitignore. */
static void read_rules(struct search *search, int dir_fd, const char *file, const char *dir)
{
    al_auto(al_closep) int fd = al_nofollow_open(dir_fd, file, O_RDONLY);

    al_ignore_rules_read(&search->rules, fd, dir);
}

/* The user's core.excludesFile, as a private copy. */
static void read_excludes(struct search *search, const char *path)
{
    al_auto(al_closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

    al_ignore_rules_read(&search->rules, fd < 0 ? -errno : fd, "");
}

static void list(struct search *search, const char *dir)
{
    struct al_submodule_scan *scan = search->scan;
    al_auto(al_freep) char *rules = al_asprintf("%s.gitignore", dir);
    al_auto(al_freep) char *name = al_strndup(dir, *dir ? strlen(dir) - 1 : 0);
    al_auto(al_closedirp) DIR *listing =
        al_fs_list(al_nofollow_open(scan->top, name, O_RDONLY | O_DIRECTORY));
    struct dirent *entry;

    if (!listing)
        return;
    read_rules(search, scan->top, rules, dir);
    while (!(scan->content & AL_UNTRACKED_CONTENT) && (entry = readdir(listing))) {
        if (is_nothing(entry->d_name))
            continue;
        if (!scan->bounds->listed) {
            scan->unseen = al_scan_too_many;
            return;
        }
        if (--scan->bounds->listed % ENTRIES_PER_CLOCK == 0 && !al_scan_has_time(scan))
            return;
        take(search, dirfd(listing), dir, entry);
    }
}

void al_scan_untracked(struct al_submodule_scan *scan)
{
    struct search search = { .scan = scan };
    const char *excludes = scan->repo->vetting->excludes_path;

    al_strv_add(&search.dirs, "");
    read_rules(&search, scan->common, "info/exclude", "");
    if (excludes)
        read_excludes(&search, excludes);
    for (size_t i = 0;
         i < search.dirs.count && !scan->unseen && !(scan->content & AL_UNTRACKED_CONTENT); i++) {
        al_auto(al_freep) char *dir = al_strdup(search.dirs.items[i]);

        list(&search, dir);
    }
    al_ignore_rules_clear(&search.rules);
    al_strv_clear(&search.dirs);
}
