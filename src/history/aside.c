// SPDX-License-Identifier: Apache-2.0
#include "history/aside.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "guard/gitdir.h"
#include "guard/nofollow.h"
#include "guard/text.h"

#define RECORD_MAX_BYTES (64u << 20)
#define TRIES_MAX        1000
#define DEPTH_MAX        128u /* each level has a descriptor */
#define MARK_MAX_BYTES   128

void al_aside_entry_clear(struct al_aside_entry *entry)
{
    al_strv_clear(&entry->items);
    free(entry->note);
    free(entry->beside);
    al_close(entry->record_fd);
    al_close(entry->fd); /* with the lock */
    al_close(entry->beside_fd);
    al_close(entry->hidden_fd);
    *entry = AL_ASIDE_ENTRY_INIT;
}

/* --- The folder and its entries --- */

/* A folder in another one, which is made if it is missing.  -errno on failure. */
static int enter(int dir_fd, const char *name, bool make)
{
    if (make && mkdirat(dir_fd, name, 0700) < 0 && errno != EEXIST)
        return -errno;
    return al_nofollow_open(dir_fd, name, O_RDONLY | O_DIRECTORY);
}

static int open_base(int common_fd, bool make)
{
    al_auto(al_closep) int fd = enter(common_fd, "airlock", make);

    return fd < 0 ? fd : enter(fd, "aside", make);
}

/* The newest entry before another one; 0: there is none. */
static unsigned long find_before(int base_fd, unsigned long limit)
{
    al_auto(al_closedirp) DIR *dir = al_fs_list_at(base_fd);
    const struct dirent *entry;
    unsigned long newest = 0;

    while (dir && (entry = readdir(dir))) {
        const char *name = entry->d_name;
        char *end;
        const unsigned long seq = *name >= '1' && *name <= '9' ? strtoull(name, &end, 10) : 0;

        if (seq > newest && seq < limit && !*end)
            newest = seq;
    }
    return newest;
}

/* Open an entry's folder, and lock it.  False: another process has it, or has removed it. */
static bool open_folder(int base_fd, struct al_aside_entry *entry)
{
    char name[32];
    struct stat st;

    (void)snprintf(name, sizeof(name), "%lu", entry->seq);
    entry->fd = enter(base_fd, name, false);
    return entry->fd >= 0 && flock(entry->fd, LOCK_EX | LOCK_NB) == 0 &&
           fstat(entry->fd, &st) == 0 && st.st_nlink > 0;
}

/* Make the next free folder. */
static int make_folder(int base_fd, struct al_aside_entry *entry)
{
    entry->seq = find_before(base_fd, ULONG_MAX);
    for (unsigned tries = 0; tries < TRIES_MAX; tries++) {
        char name[32];

        (void)snprintf(name, sizeof(name), "%lu", ++entry->seq);
        if (mkdirat(base_fd, name, 0700) < 0) {
            if (errno != EEXIST)
                return -errno;
        } else if (open_folder(base_fd, entry)) {
            return 0;
        }
        al_closep(&entry->fd); /* another process took it for one that a crash has left */
    }
    return -EEXIST;
}

/* --- Its record --- */

static void take_word(struct al_aside_entry *entry, const char *word)
{
    const char *value = strchrnul(word, ' ');

    value += *value == ' ';
    switch (*word) {
    case 'n': /* note */
        free(entry->note);
        entry->note = al_strdup(value);
        break;
    case 'i': /* item */
        al_strv_add(&entry->items, value);
        break;
    case 'b': /* beside */
        free(entry->beside);
        entry->beside = al_strdup(value);
        break;
    case 'e': /* end */
    case 'a': /* again */
        entry->is_whole = *word == 'e';
        break;
    case 'g': /* gone */
        entry->is_gone = true;
        break;
    default:
        break;
    }
}

static int append(struct al_aside_entry *entry, const char *word, const char *value, bool sync)
{
    al_auto(al_freep) char *text = al_asprintf("%s %s", word, value);
    int r = al_write_all(entry->record_fd, text, strlen(text) + 1);

    if (r == 0 && sync)
        r = al_fs_sync(entry->record_fd);
    if (r == 0 && sync)
        r = al_fs_sync(entry->fd);
    if (r == 0)
        take_word(entry, text);
    return r;
}

/* A word that a crash has torn off is not there. */
static int read_record(struct al_aside_entry *entry)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    size_t at = 0, len;
    int r;

    entry->record_fd =
        openat(entry->fd, "record", O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (entry->record_fd < 0)
        return -errno;
    r = al_fs_read_fd(entry->record_fd, RECORD_MAX_BYTES, &text);
    for (; r == 0 && at < text.len && at + (len = strlen(text.buf + at)) < text.len; at += len + 1)
        take_word(entry, text.buf + at);
    return at < text.len && ftruncate(entry->record_fd, (off_t)at) < 0 ? -errno : r;
}

/* --- A hidden folder --- */

static void hidden_name(const struct al_aside_entry *entry, char ret_name[64])
{
    (void)snprintf(ret_name, 64, AL_ASIDE_HIDDEN "%lu", entry->seq);
}

/* The text of the hidden folder: nobody can have another folder say that of this entry. */
static char *hidden_mark(const struct al_aside_entry *entry)
{
    struct stat st;

    return fstat(entry->fd, &st) < 0
               ? al_strdup("")
               : al_asprintf("# airlock: %" PRIu64 ".%" PRIu64 ".%" PRId64 "\n*\n",
                             (uint64_t)st.st_dev, (uint64_t)st.st_ino, al_fs_birth_ns(entry->fd));
}

/* Nothing that somebody put into its place is believed. */
static void open_hidden(struct al_aside_entry *entry)
{
    al_auto(al_freep) char *mark = hidden_mark(entry);
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    al_auto(al_closep) int root_fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC), fd = -1;
    char name[64];

    if (!entry->beside || *entry->beside != '/')
        return;
    hidden_name(entry, name);
    entry->beside_fd = al_nofollow_open(root_fd, entry->beside + 1, O_RDONLY | O_DIRECTORY);
    if (entry->beside_fd >= 0)
        fd = enter(entry->beside_fd, name, false);
    if (fd >= 0 && al_fs_read(fd, ".gitignore", MARK_MAX_BYTES, &text) == 0 &&
        !strcmp(text.buf, mark))
        entry->hidden_fd = al_take_fd(&fd);
}

static int make_hidden(struct al_aside_entry *entry, int parent_fd)
{
    al_auto(al_freep) char *mark = hidden_mark(entry);
    al_auto(al_freep) char *beside = NULL;
    char name[64];
    int r;

    if (entry->beside_fd < 0)
        entry->beside_fd = al_nofollow_open(parent_fd, "", O_RDONLY | O_DIRECTORY);
    beside = entry->beside_fd < 0 ? NULL : al_fs_fd_path(entry->beside_fd);
    r = beside ? append(entry, "beside", beside, true) : -ENOENT;
    hidden_name(entry, name);
    if (r == 0 && mkdirat(entry->beside_fd, name, 0700) < 0)
        r = -errno;
    if (r < 0)
        return r;
    entry->hidden_fd = enter(entry->beside_fd, name, false);
    return entry->hidden_fd < 0
               ? entry->hidden_fd
               : al_fs_write_atomic(entry->hidden_fd, ".gitignore", mark, strlen(mark), 0600, true);
}

/* --- Beginning and loading --- */

int al_aside_begin(int common_fd, const char *note, int beside_fd, struct al_aside_entry *ret_entry,
                   struct al_error *err)
{
    al_auto(al_aside_entry_clear) struct al_aside_entry entry = AL_ASIDE_ENTRY_INIT;
    al_auto(al_closep) int base_fd = open_base(common_fd, true);
    int r = base_fd < 0 ? base_fd : make_folder(base_fd, &entry);

    if (r == 0)
        r = read_record(&entry);
    if (r == 0 && note)
        r = append(&entry, "note", note, true);
    if (r == 0 && beside_fd >= 0)
        r = entry.beside_fd = al_nofollow_open(beside_fd, "", O_RDONLY | O_DIRECTORY);
    if (r < 0)
        return al_error_errno(err, -r, "cannot make a folder in airlock/aside");
    *ret_entry = entry;
    entry = AL_ASIDE_ENTRY_INIT;
    return 0;
}

bool al_aside_next(int common_fd, unsigned long *seq, struct al_aside_entry *entry)
{
    al_auto(al_closep) int base_fd = open_base(common_fd, false);

    al_aside_entry_clear(entry);
    while (base_fd >= 0 && (*seq = find_before(base_fd, *seq))) {
        entry->seq = *seq;
        if (open_folder(base_fd, entry) && read_record(entry) == 0) {
            open_hidden(entry);
            return true;
        }
        al_aside_entry_clear(entry);
    }
    return false;
}

/* --- Things --- */

int al_aside_folder_of(const struct al_aside_entry *entry, size_t item, char ret_name[32])
{
    const int fds[] = { entry->fd, entry->hidden_fd };
    struct stat st;

    (void)snprintf(ret_name, 32, "%zu", item);
    for (size_t i = 0; i < AL_COUNT(fds); i++)
        if (fds[i] >= 0 && fstatat(fds[i], ret_name, &st, AT_SYMLINK_NOFOLLOW) == 0)
            return fds[i];
    return -1;
}

static bool is_aside(const struct al_aside_entry *entry, size_t item)
{
    char name[32];

    return al_aside_folder_of(entry, item, name) >= 0;
}

static int cannot(const char *path, const char *what, int r, struct al_error *err)
{
    al_auto(al_freep) char *safe = al_text_sanitize_line(path);

    if (r == -EEXIST)
        return al_error_set(err, AL_ERR_EXECUTION, "'%s' cannot %s: something is there", safe,
                            what);
    return al_error_errno(err, -r, "'%s' cannot %s", safe, what);
}

/* Nothing has that number in a folder that is locked.  In one step: what somebody puts into its
 * place meanwhile stays there. */
static int take_away(struct al_aside_entry *entry, size_t item, int parent_fd, const char *name)
{
    char to[32];
    int r;

    (void)snprintf(to, sizeof(to), "%zu", item);
    if (renameat(parent_fd, name, entry->fd, to) == 0)
        return 0;
    if (errno != EXDEV)
        return -errno;
    r = entry->hidden_fd >= 0 ? 0 : make_hidden(entry, parent_fd);
    return r == 0 && renameat(parent_fd, name, entry->hidden_fd, to) < 0 ? -errno : r;
}

int al_aside_move(struct al_aside_entry *entry, int parent_fd, const char *name, const char *path,
                  struct al_error *err)
{
    struct stat st;
    int r;

    if (fstatat(parent_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return al_error_set(err, AL_ERR_NOT_FOUND, "there is nothing to move aside");
    r = append(entry, "item", path, entry->note != NULL); /* or a part of them would come back */
    if (r == 0)
        r = take_away(entry, entry->items.count - 1, parent_fd, name);
    return r < 0 ? cannot(path, "be moved aside", r, err) : 0;
}

int al_aside_end(struct al_aside_entry *entry, struct al_error *err)
{
    int r = append(entry, "end", "", true);

    if (r == 0 && entry->hidden_fd >= 0)
        r = al_fs_sync(entry->hidden_fd);
    return r < 0 ? al_error_errno(err, -r, "cannot write a record in airlock/aside") : 0;
}

/* --- Going back --- */

/* The folder that a thing belongs in.  -errno on failure. */
static int open_place(const char *path, const char **ret_name)
{
    al_auto(al_closep) int root_fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);

    return *path != '/' ? -EINVAL : al_nofollow_open_parent(root_fd, path + 1, false, ret_name);
}

static int move_back(struct al_aside_entry *entry, size_t item, struct al_error *err)
{
    const char *path = entry->items.items[item], *name;
    char from[32];
    const int dir_fd = al_aside_folder_of(entry, item, from);
    al_auto(al_closep) int fd = open_place(path, &name);
    int r = fd < 0 ? fd : al_fs_rename_new(dir_fd, from, fd, name);

    return r < 0 ? cannot(path, "come back", r, err) : 0;
}

int al_aside_return(struct al_aside_entry *entry, struct al_error *err)
{
    const size_t count = entry->items.count;
    al_auto(al_freep) bool *is_back = al_calloc(count + 1, sizeof(*is_back));
    int r = append(entry, "again", "", true);

    if (r < 0)
        return al_error_errno(err, -r, "cannot write a record in airlock/aside");
    for (size_t i = count; i > 0 && r == 0; i--)
        if (is_aside(entry, i - 1)) {
            r = move_back(entry, i - 1, err);
            is_back[i - 1] = r == 0;
        }
    if (r == 0) {
        al_aside_remove(entry);
        return 0;
    }
    for (size_t i = 0; i < count; i++) { /* all or none */
        const char *name;
        al_auto(al_closep) int fd = is_back[i] ? open_place(entry->items.items[i], &name) : -1;

        if (fd >= 0)
            (void)take_away(entry, i, fd, name);
    }
    (void)append(entry, "end", "", true);
    return r;
}

/* --- Size, removal, clearing up --- */

/* Whether something is aside; each is named.  A power failure may leave a thing and take the words
 * that tell where it was. */
static bool has_things(const struct al_aside_entry *entry, struct al_strv *ret_kept)
{
    const int fds[] = { entry->fd, entry->hidden_fd };
    bool has = false;

    for (size_t i = 0; i < AL_COUNT(fds) && fds[i] >= 0; i++) {
        al_auto(al_closedirp) DIR *dir = al_fs_list_at(fds[i]);
        al_auto(al_freep) char *folder = al_fs_fd_path(fds[i]);
        const struct dirent *thing;

        has |= !dir;
        while (dir && (thing = readdir(dir))) {
            const size_t item = strtoull(thing->d_name, NULL, 10);
            const char *path = item < entry->items.count ? entry->items.items[item] : "?";
            al_auto(al_freep) char *line = al_asprintf("%s: %s/%s", path, folder, thing->d_name);

            if (!isdigit((unsigned char)*thing->d_name))
                continue;
            has = true;
            if (ret_kept)
                al_strv_take(ret_kept, al_text_sanitize_line(line));
        }
    }
    return has;
}

/* Things that a crash leaves half removed are not moved back, and the next one removes the rest:
 * its record says so, or is gone. */
void al_aside_remove(struct al_aside_entry *entry)
{
    al_auto(al_closep) int base_fd = openat(entry->fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
    char name[64];

    if (entry->note && has_things(entry, NULL))
        (void)append(entry, "gone", "", true);
    hidden_name(entry, name);
    if (entry->hidden_fd >= 0)
        al_fs_remove_tree_at(entry->beside_fd, name);
    (void)snprintf(name, sizeof(name), "%lu", entry->seq);
    al_fs_remove_tree_at(base_fd, name);
    al_aside_entry_clear(entry);
}

static bool is_below(const char *path, const struct al_strv *below)
{
    for (size_t i = 0; i < below->count; i++)
        if (al_fs_beneath(below->items[i], path))
            return true;
    return false;
}

/* No path of a record leads further than that: open_place() takes no ".." and follows no link.  A
 * hidden folder may also be beside the first thing. */
static bool is_ours(const struct al_aside_entry *entry, const struct al_strv *below)
{
    const char *first = entry->items.count ? entry->items.items[0] : NULL;
    const char *rest = first && entry->beside ? al_fs_beneath(entry->beside, first) : NULL;
    bool ours = !entry->beside || is_below(entry->beside, below) || (rest && !strchr(rest, '/'));

    for (size_t i = 0; i < entry->items.count; i++)
        ours &= is_below(entry->items.items[i], below);
    return ours;
}

/* Files go back each for itself; those that cannot are a whole entry from now on. */
static void move_all_back(struct al_aside_entry *entry, struct al_strv *ret_kept)
{
    if (entry->note && al_aside_return(entry, NULL) == 0)
        return;
    for (size_t i = entry->items.count; i > 0 && !entry->note; i--)
        if (is_aside(entry, i - 1))
            (void)move_back(entry, i - 1, NULL);
    if (has_things(entry, ret_kept))
        (void)append(entry, "end", "", true);
    else
        al_aside_remove(entry);
}

void al_aside_tidy(int common_fd, const struct al_strv *below, struct al_strv *ret_kept)
{
    al_auto(al_aside_entry_clear) struct al_aside_entry entry = AL_ASIDE_ENTRY_INIT;

    for (unsigned long seq = ULONG_MAX; al_aside_next(common_fd, &seq, &entry);) {
        /* More may be on a file system that is not mounted now. */
        const bool may_have_more = entry.beside && entry.beside_fd < 0;

        if (entry.is_gone || (!has_things(&entry, NULL) && !may_have_more))
            al_aside_remove(&entry);
        else if (!entry.is_whole && is_ours(&entry, below))
            move_all_back(&entry, ret_kept);
    }
}

/* The bytes on the disk of a file, or of all below a directory.  A file with other names stays when
 * this one goes. */
static uint64_t disk_bytes(int dir_fd, const char *name, unsigned depth)
{
    al_auto(al_closedirp) DIR *dir =
        al_fs_list(al_nofollow_open(dir_fd, name, O_RDONLY | O_DIRECTORY));
    const struct dirent *entry;
    struct stat st;
    uint64_t bytes;

    if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return 0;
    bytes = (uint64_t)st.st_blocks * 512 / (S_ISDIR(st.st_mode) ? 1 : st.st_nlink);
    while (dir && depth < DEPTH_MAX && (entry = readdir(dir)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            bytes += disk_bytes(dirfd(dir), entry->d_name, depth + 1);
    return bytes;
}

void al_aside_gc(int common_fd, int64_t needed_since_ns, int64_t young_since_ns, uint64_t max_bytes)
{
    al_auto(al_aside_entry_clear) struct al_aside_entry entry = AL_ASIDE_ENTRY_INIT;
    uint64_t left = 0;

    /* The newest first: they are kept as long as there is room. */
    for (unsigned long seq = ULONG_MAX; al_aside_next(common_fd, &seq, &entry);) {
        /* when all of it had been moved, or was last looked at in vain */
        const int64_t when_ns = al_file_id_at(entry.fd, "record").mtime_ns;
        uint64_t bytes = disk_bytes(entry.fd, ".", 0);

        if (!entry.is_whole && !entry.is_gone)
            continue;
        if (entry.hidden_fd >= 0)
            bytes += disk_bytes(entry.hidden_fd, ".", 0);
        if (!entry.is_gone && when_ns >= needed_since_ns &&
            (left + bytes <= max_bytes || when_ns >= young_since_ns)) {
            left += bytes;
            continue;
        }
        if (!entry.is_gone)
            max_bytes = left < max_bytes ? left : max_bytes; /* nothing older stays */
        al_aside_remove(&entry);
    }
}
