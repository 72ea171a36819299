// SPDX-License-Identifier: Apache-2.0
#include "history/aside.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "guard/gitdir.h"
#include "guard/nofollow.h"
#include "guard/text.h"
#include "util/fs.h"

#define RECORD_MAX_BYTES (64u << 20)
#define TRIES_MAX        1000
#define DEPTH_MAX        128
#define MARK_MAX_BYTES   128

void al_aside_entry_clear(struct al_aside_entry *entry)
{
    for (size_t i = 0; i < entry->count; i++)
        free(entry->items[i].path);
    free(entry->items);
    free(entry->why);
    free(entry->name);
    free(entry->note);
    free(entry->beside);
    al_close(entry->base_fd);
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

/* 0: it is no number of an entry. */
static unsigned long parse_seq(const char *name)
{
    char *end;
    unsigned long seq = *name >= '1' && *name <= '9' ? strtoull(name, &end, 10) : 0;

    return seq && !*end ? seq : 0;
}

static int compare_seqs(const void *a, const void *b)
{
    const unsigned long x = *(const unsigned long *)a, y = *(const unsigned long *)b;

    return (x > y) - (x < y);
}

static unsigned long *list_seqs(int base_fd, size_t *ret_count)
{
    al_auto(al_closedirp) DIR *dir = al_fs_list_at(base_fd);
    const struct dirent *entry;
    unsigned long *seqs = NULL;

    *ret_count = 0;
    while (dir && (entry = readdir(dir))) {
        if (!parse_seq(entry->d_name))
            continue;
        seqs = al_reallocarray(seqs, *ret_count + 1, sizeof(*seqs));
        seqs[(*ret_count)++] = parse_seq(entry->d_name);
    }
    if (seqs)
        qsort(seqs, *ret_count, sizeof(*seqs), compare_seqs);
    return seqs;
}

unsigned long *al_aside_list(int common_fd, size_t *ret_count)
{
    al_auto(al_closep) int base_fd = open_base(common_fd, false);

    *ret_count = 0;
    return base_fd < 0 ? NULL : list_seqs(base_fd, ret_count);
}

/* Lock an open folder.  False: another process has it, or has removed it meanwhile. */
static bool lock_folder(int fd)
{
    struct stat st;

    return flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &st) == 0 && st.st_nlink > 0;
}

/* Make the next free folder. */
static int make_folder(struct al_aside_entry *entry)
{
    size_t count;
    al_auto(al_freep) unsigned long *seqs = list_seqs(entry->base_fd, &count);
    unsigned long seq = count ? seqs[count - 1] : 0;

    for (unsigned tries = 0; tries < TRIES_MAX; tries++) {
        al_auto(al_closep) int fd = -1;
        char name[32];

        (void)snprintf(name, sizeof(name), "%lu", ++seq);
        if (mkdirat(entry->base_fd, name, 0700) < 0) {
            if (errno == EEXIST)
                continue;
            return -errno;
        }
        fd = enter(entry->base_fd, name, false);
        if (fd < 0 || !lock_folder(fd))
            continue; /* another process took it for one that a crash has left */
        entry->seq = seq;
        entry->fd = al_take_fd(&fd);
        return 0;
    }
    return -EEXIST;
}

/* --- Its record --- */

static void add_field(struct al_str *text, const char *key, const char *value)
{
    if (value)
        al_str_addf(text, "%s %zu %s\n", key, strlen(value), value);
}

static int append(const struct al_aside_entry *entry, const struct al_str *text, bool sync)
{
    int r = al_write_all(entry->record_fd, text->buf, text->len);

    if (r == 0 && sync)
        r = al_fs_sync(entry->record_fd);
    return r < 0 || !sync ? r : al_fs_sync(entry->fd);
}

static int append_mark(struct al_aside_entry *entry, const char *key)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    int r;

    add_field(&text, key, "");
    r = append(entry, &text, true);
    if (r == 0)
        entry->is_whole = !strcmp(key, "end");
    return r;
}

static void add_item(struct al_aside_entry *entry, char *path, dev_t device)
{
    entry->items = al_reallocarray(entry->items, entry->count + 1, sizeof(*entry->items));
    entry->items[entry->count++] = (struct al_aside_item){ .path = path, .device = device };
}

static void take_field(struct al_aside_entry *entry, const char *key, char *value, dev_t *device)
{
    al_auto(al_freep) char *owned = value;

    if (!strcmp(key, "why") && !entry->why)
        entry->why = al_take(&owned);
    else if (!strcmp(key, "name") && !entry->name)
        entry->name = al_take(&owned);
    else if (!strcmp(key, "note") && !entry->note)
        entry->note = al_take(&owned);
    else if (!strcmp(key, "beside") && !entry->beside)
        entry->beside = al_take(&owned);
    else if (!strcmp(key, "when"))
        entry->when_ns = strtoll(value, NULL, 10);
    else if (!strcmp(key, "bytes"))
        entry->bytes = strtoull(value, NULL, 10);
    else if (!strcmp(key, "device"))
        *device = (dev_t)strtoull(value, NULL, 10);
    else if (!strcmp(key, "one"))
        entry->is_one = true;
    else if (!strcmp(key, "item"))
        add_item(entry, al_take(&owned), *device);
    else if (!strcmp(key, "end") || !strcmp(key, "back"))
        entry->is_whole = *key == 'e';
    else if (!strcmp(key, "gone"))
        entry->is_gone = true;
}

/* What a crash has torn off is not there. */
static size_t parse_record(struct al_aside_entry *entry, const struct al_str *text)
{
    const char *at = text->buf, *end = text->buf + text->len;
    dev_t device = 0;

    for (;;) {
        const char *space = memchr(at, ' ', (size_t)(end - at));
        char *rest = NULL;
        const size_t len = space ? strtoull(space + 1, &rest, 10) : 0;
        char key[16];

        if (!space || space - at >= (ptrdiff_t)sizeof(key) || *rest != ' ' ||
            len >= (size_t)(end - rest - 1) || rest[1 + len] != '\n')
            return (size_t)(at - text->buf);
        (void)snprintf(key, sizeof(key), "%.*s", (int)(space - at), at);
        take_field(entry, key, al_strndup(rest + 1, len), &device);
        at = rest + 1 + len + 1;
    }
}

/* --- A hidden folder --- */

static void hidden_name(const struct al_aside_entry *entry, char ret_name[64])
{
    (void)snprintf(ret_name, 64, AL_ASIDE_HIDDEN "%lu", entry->seq);
}

/* What the hidden folder says: nobody can have another folder say that of this entry. */
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
    char name[64];

    hidden_name(entry, name);
    entry->hidden_fd = enter(entry->beside_fd, name, false);
    if (entry->hidden_fd >= 0 &&
        al_fs_read(entry->hidden_fd, ".gitignore", MARK_MAX_BYTES, &text) == 0 &&
        !strcmp(text.buf, mark))
        return;
    al_close(entry->hidden_fd);
    entry->hidden_fd = -1;
}

static int make_hidden(struct al_aside_entry *entry, int parent_fd)
{
    al_auto(al_freep) char *mark = hidden_mark(entry);
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    char name[64];
    int r;

    if (entry->beside_fd < 0)
        entry->beside_fd = al_nofollow_open(parent_fd, "", O_RDONLY | O_DIRECTORY);
    entry->beside = entry->beside_fd < 0 ? NULL : al_fs_fd_path(entry->beside_fd);
    if (!entry->beside)
        return -ENOENT;
    add_field(&text, "beside", entry->beside);
    r = append(entry, &text, true);
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

static void remove_hidden(struct al_aside_entry *entry)
{
    char name[64];

    hidden_name(entry, name);
    if (entry->hidden_fd >= 0)
        al_fs_remove_tree_at(entry->beside_fd, name);
}

/* --- Beginning and loading --- */

int al_aside_begin(int common_fd, const struct al_aside_about *about,
                   struct al_aside_entry *ret_entry, struct al_error *err)
{
    al_auto(al_aside_entry_clear) struct al_aside_entry entry = AL_ASIDE_ENTRY_INIT;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    struct timespec now;
    char when[32];
    int r;

    (void)clock_gettime(CLOCK_REALTIME, &now);
    (void)snprintf(when, sizeof(when), "%lld%09ld", (long long)now.tv_sec, now.tv_nsec);
    add_field(&text, "why", about->why);
    add_field(&text, "name", about->name);
    add_field(&text, "note", about->note);
    add_field(&text, "when", when);
    add_field(&text, "one", about->is_one ? "" : NULL);
    entry.is_brief = about->is_brief;
    (void)parse_record(&entry, &text);
    r = entry.base_fd = open_base(common_fd, true);
    if (r >= 0)
        r = make_folder(&entry);
    if (r >= 0 && about->beside_fd >= 0)
        r = entry.beside_fd = al_nofollow_open(about->beside_fd, "", O_RDONLY | O_DIRECTORY);
    if (r >= 0) {
        entry.record_fd =
            openat(entry.fd, "record", O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
        r = entry.record_fd < 0 ? -errno : append(&entry, &text, !about->is_brief);
    }
    if (r < 0)
        return al_error_errno(err, -r, "cannot make a folder in airlock/aside");
    *ret_entry = entry;
    entry = AL_ASIDE_ENTRY_INIT;
    return 0;
}

static int load(int base_fd, unsigned long seq, struct al_aside_entry *ret_entry)
{
    al_auto(al_aside_entry_clear) struct al_aside_entry entry = AL_ASIDE_ENTRY_INIT;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    al_auto(al_closep) int root_fd = -1;
    char name[32];
    size_t len;

    (void)snprintf(name, sizeof(name), "%lu", seq);
    entry.seq = seq;
    entry.fd = enter(base_fd, name, false);
    entry.base_fd = fcntl(base_fd, F_DUPFD_CLOEXEC, 0);
    if (entry.fd < 0 || entry.base_fd < 0 || !lock_folder(entry.fd))
        return AL_ERR_NOT_FOUND;
    entry.record_fd =
        openat(entry.fd, "record", O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (entry.record_fd < 0 || al_fs_read_fd(entry.record_fd, RECORD_MAX_BYTES, &text) < 0)
        return AL_ERR_NOT_FOUND;
    len = parse_record(&entry, &text);
    if (len < text.len && ftruncate(entry.record_fd, (off_t)len) < 0)
        return AL_ERR_NOT_FOUND;
    if (entry.beside && *entry.beside == '/') {
        root_fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
        entry.beside_fd = al_nofollow_open(root_fd, entry.beside + 1, O_RDONLY | O_DIRECTORY);
        if (entry.beside_fd >= 0)
            open_hidden(&entry);
    }
    *ret_entry = entry;
    entry = AL_ASIDE_ENTRY_INIT;
    return 0;
}

int al_aside_load(int common_fd, unsigned long seq, struct al_aside_entry *ret_entry)
{
    al_auto(al_closep) int base_fd = open_base(common_fd, false);

    int r = base_fd < 0 ? AL_ERR_NOT_FOUND : load(base_fd, seq, ret_entry);

    if (r == 0 && ret_entry->is_gone) {
        al_aside_entry_clear(ret_entry);
        return AL_ERR_NOT_FOUND;
    }
    return r;
}

/* --- Things --- */

/* rename(2) that replaces nothing.  Few file systems do not know that flag, and a look before has
 * to do there. */
static int rename_new(int from_fd, const char *from, int to_fd, const char *to)
{
    struct stat st;

    if (renameat2(from_fd, from, to_fd, to, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL)
        return -errno;
    if (fstatat(to_fd, to, &st, AT_SYMLINK_NOFOLLOW) == 0)
        return -EEXIST;
    return renameat(from_fd, from, to_fd, to) < 0 ? -errno : 0;
}

int al_aside_folder_of(const struct al_aside_entry *entry, size_t item, char ret_name[32])
{
    struct stat st;

    (void)snprintf(ret_name, 32, "%zu", item);
    if (fstatat(entry->fd, ret_name, &st, AT_SYMLINK_NOFOLLOW) == 0)
        return entry->fd;
    return entry->hidden_fd >= 0 &&
                   fstatat(entry->hidden_fd, ret_name, &st, AT_SYMLINK_NOFOLLOW) == 0
               ? entry->hidden_fd
               : -1;
}

char *al_aside_item_path(const struct al_aside_entry *entry, size_t item)
{
    char name[32];
    int dir_fd = al_aside_folder_of(entry, item, name);
    al_auto(al_freep) char *dir = dir_fd < 0 ? NULL : al_fs_fd_path(dir_fd);

    return dir ? al_fs_join(dir, name) : NULL;
}

bool al_aside_has(const struct al_aside_entry *entry, size_t item)
{
    char name[32];

    return al_aside_folder_of(entry, item, name) >= 0;
}

int al_aside_open_item(const struct al_aside_entry *entry, size_t item, int flags)
{
    char name[32];
    int dir_fd = al_aside_folder_of(entry, item, name);

    return dir_fd < 0 ? -ENOENT : al_nofollow_open(dir_fd, name, flags);
}

void al_aside_drop_item(struct al_aside_entry *entry, size_t item)
{
    char name[32];
    int dir_fd = al_aside_folder_of(entry, item, name);

    if (dir_fd >= 0)
        al_fs_remove_tree_at(dir_fd, name);
}

static int cannot(const char *path, const char *what, int r, struct al_error *err)
{
    al_auto(al_freep) char *safe = al_text_sanitize_line(path);

    if (r == -EEXIST)
        return al_error_set(err, AL_ERR_EXECUTION, "'%s' cannot %s: something is there", safe,
                            what);
    return al_error_errno(err, -r, "'%s' cannot %s", safe, what);
}

static int record_item(struct al_aside_entry *entry, char *path, dev_t device)
{
    al_auto(al_freep) char *number = al_asprintf("%" PRIu64, (uint64_t)device);
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    add_field(&text, "device", number);
    add_field(&text, "item", path);
    add_item(entry, path, device);
    return append(entry, &text, entry->count == 1 && !entry->is_brief);
}

static int take_away(struct al_aside_entry *entry, size_t item, int parent_fd, const char *name)
{
    char to[32];
    int r;

    (void)snprintf(to, sizeof(to), "%zu", item);
    r = rename_new(parent_fd, name, entry->fd, to);
    if (r != -EXDEV)
        return r;
    r = entry->hidden_fd >= 0 ? 0 : make_hidden(entry, parent_fd);
    return r < 0 ? r : rename_new(parent_fd, name, entry->hidden_fd, to);
}

int al_aside_move(struct al_aside_entry *entry, int parent_fd, const char *name, const char *path,
                  struct al_error *err)
{
    al_auto(al_freep) char *parent = path ? NULL : al_fs_fd_path(parent_fd);
    al_auto(al_freep) char *whole = path     ? al_strdup(path)
                                    : parent ? al_fs_join(parent, name)
                                             : NULL;
    struct stat st;
    int r = 0;

    if (!whole || fstatat(parent_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return al_error_set(err, AL_ERR_NOT_FOUND, "there is nothing to move aside");
    r = record_item(entry, al_strdup(whole), st.st_dev);
    if (r == 0)
        r = take_away(entry, entry->count - 1, parent_fd, name);
    return r < 0 ? cannot(whole, "be moved aside", r, err) : 0;
}

int al_aside_move_item(struct al_aside_entry *entry, size_t item, int parent_fd, const char *name,
                       struct al_error *err)
{
    char from[32];
    int dir_fd = al_aside_folder_of(entry, item, from);
    int r = dir_fd < 0 ? -ENOENT : rename_new(dir_fd, from, parent_fd, name);

    return r < 0 ? cannot(entry->items[item].path, "come back", r, err) : 0;
}

int al_aside_end(struct al_aside_entry *entry, struct al_error *err)
{
    int r = append_mark(entry, "end");

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

static int check_place(const struct al_aside_entry *entry, size_t item, struct al_error *err)
{
    const char *path = entry->items[item].path, *name;
    struct stat st;
    al_auto(al_closep) int fd = open_place(path, &name);

    if (fd >= 0 && fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return 0;
    return cannot(path, "come back", fd < 0 ? fd : -EEXIST, err);
}

static int move_back(struct al_aside_entry *entry, size_t item, struct al_error *err)
{
    const char *name;
    al_auto(al_closep) int fd = open_place(entry->items[item].path, &name);

    return fd < 0 ? cannot(entry->items[item].path, "come back", fd, err)
                  : al_aside_move_item(entry, item, fd, name, err);
}

/* Those from `first` on are back, and go aside again. */
static void take_away_again(struct al_aside_entry *entry, const bool *was_aside, size_t first)
{
    for (size_t i = first; i < entry->count; i++) {
        const char *name;
        al_auto(al_closep) int fd = was_aside[i] ? open_place(entry->items[i].path, &name) : -1;

        if (fd >= 0)
            (void)take_away(entry, i, fd, name);
    }
    (void)append_mark(entry, "end");
}

int al_aside_return(struct al_aside_entry *entry, struct al_error *err)
{
    al_auto(al_freep) bool *is_aside = al_calloc(entry->count + 1, sizeof(*is_aside));
    int r = 0;

    for (size_t i = 0; i < entry->count && r == 0; i++) {
        is_aside[i] = al_aside_has(entry, i);
        r = is_aside[i] ? check_place(entry, i, err) : 0;
    }
    if (r < 0)
        return r;
    r = append_mark(entry, "back");
    if (r < 0)
        return al_error_errno(err, -r, "cannot write a record in airlock/aside");
    for (size_t i = entry->count; i > 0; i--) {
        r = is_aside[i - 1] ? move_back(entry, i - 1, err) : 0;
        if (r < 0) {
            take_away_again(entry, is_aside, i);
            return r;
        }
    }
    al_aside_remove(entry);
    return 0;
}

/* --- Size, removal, clearing up --- */

static uint64_t bytes_of(int dir_fd, const char *name, int depth)
{
    struct stat st;
    al_auto(al_closep) int fd = -1;
    al_auto(al_closedirp) DIR *dir = NULL;
    const struct dirent *entry;
    uint64_t bytes;

    if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return 0;
    /* a file with other names stays when this one goes */
    bytes = (uint64_t)st.st_blocks * 512 / (S_ISDIR(st.st_mode) ? 1 : st.st_nlink);
    if (!S_ISDIR(st.st_mode) || depth > DEPTH_MAX)
        return bytes;
    fd = al_nofollow_open(dir_fd, name, O_RDONLY | O_DIRECTORY);
    dir = fd < 0 ? NULL : al_fs_list_at(fd);
    while (dir && (entry = readdir(dir)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            bytes += bytes_of(fd, entry->d_name, depth + 1);
    return bytes;
}

uint64_t al_aside_bytes(struct al_aside_entry *entry)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    al_auto(al_freep) char *number = NULL;

    if (entry->bytes)
        return entry->bytes;
    entry->bytes = bytes_of(entry->fd, ".", 0);
    if (entry->hidden_fd >= 0)
        entry->bytes += bytes_of(entry->hidden_fd, ".", 0);
    number = al_asprintf("%" PRIu64, entry->bytes);
    add_field(&text, "bytes", number);
    (void)append(entry, &text, false);
    return entry->bytes;
}

static bool is_empty(const struct al_aside_entry *entry)
{
    for (size_t i = 0; i < entry->count; i++)
        if (al_aside_has(entry, i))
            return false;
    return true;
}

/* What a crash leaves half removed is not moved back, and the next one removes the rest: the record
 * goes last. */
void al_aside_remove(struct al_aside_entry *entry)
{
    char name[32];

    if (!entry->is_brief && !is_empty(entry))
        (void)append_mark(entry, "gone");
    for (size_t i = 0; i < entry->count && !entry->is_brief; i++)
        al_aside_drop_item(entry, i);
    remove_hidden(entry);
    (void)snprintf(name, sizeof(name), "%lu", entry->seq);
    al_fs_remove_tree_at(entry->base_fd, name);
    al_aside_entry_clear(entry);
}

/* On a file system that is not mounted now. */
static bool may_have_more(const struct al_aside_entry *entry)
{
    return entry->beside && entry->beside_fd < 0;
}

static bool is_below(const char *path, const struct al_strv *below)
{
    for (size_t i = 0; i < below->count; i++)
        if (al_fs_beneath(below->items[i], path))
            return true;
    return false;
}

/* No path of a record leads further than that: open_place() takes no ".." and follows no link. */
static bool is_ours(const struct al_aside_entry *entry, const struct al_strv *below)
{
    bool ours = !entry->beside || is_below(entry->beside, below);

    for (size_t i = 0; i < entry->count; i++)
        ours &= is_below(entry->items[i].path, below);
    return ours;
}

/* Each of them for itself; those that cannot go back are a whole entry from now on. */
static void return_some(struct al_aside_entry *entry)
{
    for (size_t i = entry->count; i > 0 && !entry->is_one; i--)
        if (al_aside_has(entry, i - 1) && check_place(entry, i - 1, NULL) == 0)
            (void)move_back(entry, i - 1, NULL);
    if (is_empty(entry))
        al_aside_remove(entry);
    else
        (void)append_mark(entry, "end");
}

static void name_kept(const struct al_aside_entry *entry, struct al_strv *ret_kept)
{
    for (size_t i = 0; i < entry->count && ret_kept; i++) {
        al_auto(al_freep) char *place = al_aside_item_path(entry, i);
        al_auto(al_freep) char *line =
            place ? al_asprintf("%s: %s", entry->items[i].path, place) : NULL;
        al_auto(al_freep) char *safe = line ? al_text_sanitize_line(line) : NULL;

        if (safe)
            al_strv_add(ret_kept, safe);
    }
}

void al_aside_tidy(int common_fd, const struct al_strv *below, struct al_strv *ret_kept)
{
    al_auto(al_closep) int base_fd = open_base(common_fd, false);
    size_t count = 0;
    al_auto(al_freep) unsigned long *seqs = base_fd < 0 ? NULL : list_seqs(base_fd, &count);

    for (size_t i = 0; i < count; i++) {
        al_auto(al_aside_entry_clear) struct al_aside_entry entry = AL_ASIDE_ENTRY_INIT;

        if (load(base_fd, seqs[i], &entry) < 0)
            continue;
        if (entry.is_gone || (is_empty(&entry) && !may_have_more(&entry)))
            al_aside_remove(&entry);
        else if (!entry.is_whole && is_ours(&entry, below) && al_aside_return(&entry, NULL) < 0) {
            return_some(&entry);
            name_kept(&entry, ret_kept);
        }
    }
}

uint64_t al_aside_gc(int common_fd, int64_t needed_since_ns, int64_t young_since_ns,
                     uint64_t max_bytes)
{
    al_auto(al_closep) int base_fd = open_base(common_fd, false);
    size_t count = 0;
    al_auto(al_freep) unsigned long *seqs = base_fd < 0 ? NULL : list_seqs(base_fd, &count);
    uint64_t left = 0;

    /* The newest first: they are kept as long as there is room. */
    for (size_t i = count; i > 0; i--) {
        al_auto(al_aside_entry_clear) struct al_aside_entry entry = AL_ASIDE_ENTRY_INIT;

        if (load(base_fd, seqs[i - 1], &entry) < 0 || (!entry.is_whole && !entry.is_gone))
            continue;
        if (!entry.is_gone)
            left += al_aside_bytes(&entry);
        if (!entry.is_gone && entry.when_ns >= needed_since_ns &&
            (left <= max_bytes || entry.when_ns >= young_since_ns))
            continue;
        left -= entry.bytes;
        max_bytes = left < max_bytes ? left : max_bytes; /* nothing older stays */
        al_aside_remove(&entry);
    }
    return left;
}
