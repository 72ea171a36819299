// SPDX-License-Identifier: Apache-2.0
#include "gitops/submodule/submodules.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "gitops/command.h"
#include "gitops/environment.h"
#include "gitops/location.h"
#include "gitops/nul_records.h"
#include "gitops/oid.h"
#include "gitops/plumbing/index_scan.h"
#include "gitops/plumbing/nested.h"
#include "gitops/refs.h"
#include "gitops/run.h"
#include "gitops/submodule/scan.h"
#include "gitops/vet/vet.h"
#include "guard/nofollow.h"
#include "guard/text.h"
#include "util/clock.h"
#include "util/fs.h"
#include "util/str.h"

#define TYPE_GITLINK      0160000u
#define ENTRIES_PER_CLOCK 256

/* --- Files --- */

/*
 * The entries of a submodule's index compared with its files.
 *
 * An entry with the stat of its file is unchanged if the index is younger than the file; otherwise
 * the content is hashed.  Anybody may have written the index: its names are opened below the top of
 * the working tree and through no link.
 *
 * Source: gitformat-index(5), git's racy-git.txt.
 */

#define TYPE_LINK            0120000u
#define ATTRIBUTES           ".gitattributes"
#define ATTRIBUTES_MAX_BYTES (64u << 10)

static const char unreadable[] = "a file in it cannot be read";
static const char too_big[] = "too much of it would have to be compared";
static const char converted[] = "what its files are is for a filter to say";
static const char unknown_index[] = "its index cannot be read";

struct comparison {
    struct al_submodule_scan *scan;
    struct timespec index_time;
    char *parent;  /* the directory of the previous entry */
    int parent_fd; /* that directory, open, or -errno */
    bool differs;  /* the content of a file differs from what was staged */
    bool converts; /* attributes may convert content, which could explain `differs` */
};

/* The directory of an entry, open.  Consecutive entries are usually in the same one. */
static int parent_of(struct comparison *c, const char *name, const char **ret_base)
{
    const char *slash = strrchr(name, '/');
    size_t len = slash ? (size_t)(slash - name) : 0;

    *ret_base = slash ? slash + 1 : name;
    if (c->parent && strlen(c->parent) == len && !memcmp(c->parent, name, len))
        return c->parent_fd;
    free(c->parent);
    al_close(c->parent_fd);
    c->parent = al_strndup(name, len);
    c->parent_fd = al_nofollow_open(c->scan->top, c->parent, O_PATH | O_DIRECTORY);
    return c->parent_fd;
}

/* Whether `error` means that the file does not exist, as opposed to cannot be read. */
static bool is_gone(int error)
{
    return error == ENOENT || error == ENOTDIR || error == ELOOP;
}

static bool same_time(const struct timespec *time, uint32_t s, uint32_t ns)
{
    return (uint32_t)time->tv_sec == s && (!ns || (uint32_t)time->tv_nsec == ns);
}

/* A file that was changed when the index was written, or later, may still have the same stat. */
static bool is_racy(const struct comparison *c, const struct al_index_entry *entry)
{
    uint32_t s = (uint32_t)c->index_time.tv_sec;

    if (s != entry->mtime_s || !entry->mtime_ns)
        return s <= entry->mtime_s;
    return (uint32_t)c->index_time.tv_nsec <= entry->mtime_ns;
}

static bool looks_the_same(const struct comparison *c, const struct stat *st,
                           const struct al_index_entry *entry)
{
    return (uint32_t)st->st_size == entry->size && (uint32_t)st->st_ino == entry->ino &&
           same_time(&st->st_mtim, entry->mtime_s, entry->mtime_ns) &&
           same_time(&st->st_ctim, entry->ctime_s, entry->ctime_ns) && !is_racy(c, entry);
}

/* A chmod changes the ctime; a file system without modes changes neither. */
static bool is_of_another_type(const struct stat *st, const struct al_index_entry *entry)
{
    if ((entry->mode & 0170000u) == TYPE_LINK)
        return !S_ISLNK(st->st_mode);
    if (!S_ISREG(st->st_mode))
        return true;
    return !(st->st_mode & S_IXUSR) != !(entry->mode & S_IXUSR) &&
           !same_time(&st->st_ctim, entry->ctime_s, entry->ctime_ns);
}

static bool has_id(const struct comparison *c, const struct al_index_entry *entry, const char *data,
                   size_t len)
{
    const bool sha256 = c->scan->repo->vetting->is_sha256;
    al_auto(al_freep) char *id = al_git_blob_id(sha256, data, len);
    char text[65];

    for (size_t i = 0; i < (sha256 ? 32u : 20u); i++)
        (void)snprintf(text + 2 * i, 3, "%02x", entry->oid[i]);
    return !strcmp(id, text);
}

/* Compare again with LF line ends, which git stores if it converts line ends. */
static bool has_id_with_lf(const struct comparison *c, const struct al_index_entry *entry,
                           const struct al_str *content)
{
    al_auto(al_str_clear) struct al_str lf = AL_STR_INIT;

    for (size_t i = 0; i < content->len; i++)
        if (content->buf[i] != '\r' || i + 1 == content->len || content->buf[i + 1] != '\n')
            al_str_addc(&lf, content->buf[i]);
    return lf.len != content->len && has_id(c, entry, lf.buf, lf.len);
}

static void compare_link(struct comparison *c, const struct al_index_entry *entry, int parent,
                         const char *base)
{
    char target[PATH_MAX];
    ssize_t len = readlinkat(parent, base, target, sizeof(target));

    if (len < 0)
        c->scan->unseen = unreadable;
    else if (!has_id(c, entry, target, (size_t)len))
        c->scan->content |= AL_MODIFIED_CONTENT;
}

static void compare_content(struct comparison *c, const struct al_index_entry *entry, int parent,
                            const char *base, uint64_t size)
{
    struct al_submodule_scan *scan = c->scan;
    al_auto(al_str_clear) struct al_str content = AL_STR_INIT;
    al_auto(al_closep) int fd = -1;
    int r;

    if (size > scan->bounds->bytes) {
        scan->unseen = too_big;
        return;
    }
    scan->bounds->bytes -= size;
    fd = al_nofollow_open(parent, base, O_RDONLY);
    r = fd < 0 ? fd : al_fs_read_fd(fd, AL_SUBMODULE_HASHED_MAX, &content);
    if (r < 0)
        scan->unseen = unreadable;
    else if (!has_id(c, entry, content.buf, content.len) && !has_id_with_lf(c, entry, &content))
        c->differs = true;
}

static void compare_file(struct comparison *c, const struct al_index_entry *entry)
{
    struct al_submodule_scan *scan = c->scan;
    const char *base;
    int parent = parent_of(c, entry->name, &base), error = parent < 0 ? -parent : 0;
    struct stat st;

    if (!error && fstatat(parent, base, &st, AT_SYMLINK_NOFOLLOW) < 0)
        error = errno;
    if (is_gone(error))
        scan->content |= entry->skip_worktree ? 0 : AL_MODIFIED_CONTENT;
    else if (error)
        scan->unseen = unreadable;
    else if (looks_the_same(c, &st, entry))
        return;
    else if (is_of_another_type(&st, entry) || (entry->size && entry->size != (uint32_t)st.st_size))
        scan->content |= AL_MODIFIED_CONTENT;
    else if (S_ISLNK(st.st_mode))
        compare_link(c, entry, parent, base);
    else
        compare_content(c, entry, parent, base, (uint64_t)st.st_size);
}

/* A submodule of the submodule: another commit is modified content; its own content is scanned
 * later. */
static void compare_gitlink(struct comparison *c, const struct al_index_entry *entry)
{
    struct al_submodule_scan *scan = c->scan;
    al_auto(al_freep) char *path = al_asprintf("%s/%s", scan->path, entry->name);
    al_auto(al_freep) char *abs = al_fs_join(scan->repo->at.top, path);
    al_auto(al_freep) char *head = NULL;
    al_auto(al_closep) int fd = al_nofollow_open(scan->top, entry->name, O_PATH | O_DIRECTORY);
    char text[65];

    if (fd < 0) {
        scan->content |= is_gone(-fd) && !entry->skip_worktree ? AL_MODIFIED_CONTENT : 0;
        return;
    }
    head = al_git_nested_head(&scan->repo->at, abs);
    for (size_t i = 0; i < (scan->repo->vetting->is_sha256 ? 32u : 20u); i++)
        (void)snprintf(text + 2 * i, 3, "%02x", entry->oid[i]);
    if (head && *head && strcmp(head, text) != 0)
        scan->content |= AL_MODIFIED_CONTENT;
    al_strv_take(scan->nested, al_take(&path));
}

/* Whether an attributes file may convert content, other than line ends. */
static bool may_convert(int dir_fd, const char *name)
{
    static const char *const words[] = { "filter", "ident", "working-tree-encoding" };
    al_auto(al_closep) int fd = al_nofollow_open(dir_fd, name, O_RDONLY);
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    if (fd < 0)
        return fd != -ENOENT;
    if (al_fs_read_fd(fd, ATTRIBUTES_MAX_BYTES, &text) < 0)
        return true;
    for (size_t i = 0; i < AL_COUNT(words); i++)
        if (strstr(text.buf, words[i]))
            return true;
    return false;
}

static bool take_entry(void *payload, const struct al_index_entry *entry)
{
    struct comparison *c = payload;
    struct al_submodule_scan *scan = c->scan;

    if (!scan->bounds->entries) {
        scan->unseen = al_scan_too_many;
        return false;
    }
    if (--scan->bounds->entries % ENTRIES_PER_CLOCK == 0 && !al_scan_has_time(scan))
        return false;
    al_strv_add(&scan->names, entry->name);
    if (al_ends_with(entry->name, ATTRIBUTES) && !c->converts)
        c->converts = may_convert(scan->top, entry->name);
    if (entry->stage || entry->intent_to_add)
        scan->content |= AL_MODIFIED_CONTENT;
    else if ((entry->mode & 0170000u) == TYPE_GITLINK)
        compare_gitlink(c, entry);
    else if (!(scan->content & AL_MODIFIED_CONTENT))
        compare_file(c, entry);
    return true;
}

/* Compare the entries of an open index with the files, and fill scan->names and scan->nested. */
static void scan_files(struct al_submodule_scan *scan, int index_fd)
{
    struct comparison c = { .scan = scan, .parent_fd = -1 };
    enum al_index_end end;
    struct stat st;

    if (fstat(index_fd, &st) == 0)
        c.index_time = st.st_mtim;
    c.converts = may_convert(scan->common, "info/attributes");
    end = al_index_read(index_fd, scan->repo->vetting->is_sha256 ? 32 : 20, take_entry, &c);
    if (end == AL_INDEX_NOT_UNDERSTOOD || end == AL_INDEX_SPLIT || end == AL_INDEX_SPARSE) {
        scan->content = 0; /* entries read so far are invalid */
        c.differs = false;
        scan->unseen = unknown_index;
    }
    if (c.differs && !c.converts)
        scan->content |= AL_MODIFIED_CONTENT;
    else if (c.differs && !scan->unseen && !(scan->content & AL_MODIFIED_CONTENT))
        scan->unseen = converted;
    free(c.parent);
    al_close(c.parent_fd);
}

/* --- Submodules --- */

/* --- Untracked --- */

/* A search for untracked files in a submodule: its directories against the names in its index. */

/* --- Ignore --- */

/*
 * Test whether an ignore rule might match a file, without git.  The answer may be a wrong yes but
 * never a wrong no.
 *
 * Only the last component of a rule is compared with the name of the file and of each directory
 * above it: that component has to match one of them, whatever the rest of the rule says.
 *
 * Source: gitignore(5).
 */

/* One rule. */
struct al_ignore_rule {
    char *dir;  /*< the directory it applies to, with '/' at the end; "": everywhere */
    char *part; /*< its last component; NULL: it may match anything */
};

/* A list of rules. */
struct al_ignore_rules {
    struct al_ignore_rule *items;
    size_t count;
};

#define AL_IGNORE_RULES_INIT ((struct al_ignore_rules){ .items = NULL })

#define FILE_MAX_BYTES       (256u << 10)
#define RULES_MAX            1000
#define PART_MAX_BYTES       200
#define STARS_MAX            3 /* fnmatch(3) is slow with more */
#define NAME_MAX_BYTES       255

static void ignore_rules_clear(struct al_ignore_rules *rules)
{
    for (size_t i = 0; i < rules->count; i++) {
        free(rules->items[i].dir);
        free(rules->items[i].part);
    }
    free(rules->items);
    *rules = AL_IGNORE_RULES_INIT;
}

/* Takes ownership of `part`. */
static void add(struct al_ignore_rules *rules, const char *dir, char *part)
{
    rules->items = al_reallocarray(rules->items, rules->count + 1, sizeof(*rules->items));
    rules->items[rules->count++] = (struct al_ignore_rule){ al_strdup(dir), part };
}

static size_t count_stars(const char *part)
{
    size_t stars = 0;

    for (; *part; part++)
        stars += *part == '*';
    return stars;
}

/* Add the rule of one line.  A negated rule ignores nothing. */
static void add_line(struct al_ignore_rules *rules, const char *dir, char *line)
{
    size_t len = strlen(line);
    const char *part;

    if (*line == '#' || *line == '!')
        return;
    while (len && strchr(" \t\r", line[len - 1]))
        line[--len] = '\0';
    while (len && line[len - 1] == '/')
        line[--len] = '\0';
    if (!len)
        return;
    if (rules->count >= RULES_MAX) { /* later files are not read: anything may be ignored */
        add(rules, "", NULL);
        return;
    }
    part = strrchr(line, '/');
    part = part ? part + 1 : line;
    /* Escapes and brackets are not parsed: such a rule may match anything. */
    if (strpbrk(line, "\\[") || strlen(part) > PART_MAX_BYTES || count_stars(part) > STARS_MAX)
        add(rules, dir, NULL);
    else
        add(rules, dir, al_strdup(part));
}

/*
 * Add the rules of a file.  A file that exists but cannot be read adds a rule that may match
 * anything.
 *
 * @param fd   The open file, or -errno of open(2); the caller closes it.
 * @param dir  The directory the rules apply to.
 */
static void ignore_rules_read(struct al_ignore_rules *rules, int fd, const char *dir)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    char *save = NULL;

    if (fd == -ENOENT || fd == -ENOTDIR)
        return;
    if (fd < 0 || al_fs_read_fd(fd, FILE_MAX_BYTES, &text) < 0 || strlen(text.buf) != text.len) {
        add(rules, dir, NULL);
        return;
    }
    /* A byte order mark is skipped, as in git. */
    for (char *line =
             strtok_r(text.buf + (al_starts_with(text.buf, "\xef\xbb\xbf") ? 3 : 0), "\n", &save);
         line && rules->count <= RULES_MAX; line = strtok_r(NULL, "\n", &save))
        add_line(rules, dir, line);
}

static bool matches_a_part(const char *part, const char *path)
{
    char name[NAME_MAX_BYTES + 1];

    while (*path) {
        size_t len = strcspn(path, "/");

        if (len > NAME_MAX_BYTES)
            return true;
        memcpy(name, path, len);
        name[len] = '\0';
        if (fnmatch(part, name, FNM_CASEFOLD) == 0)
            return true;
        path += len + (path[len] == '/');
    }
    return false;
}

/* Test whether a rule might match `path` or a directory above it. */
static bool ignore_rules_may_match(const struct al_ignore_rules *rules, const char *path)
{
    for (size_t i = 0; i < rules->count; i++) {
        const struct al_ignore_rule *rule = &rules->items[i];

        if (al_starts_with(path, rule->dir) &&
            (!rule->part || matches_a_part(rule->part, path + strlen(rule->dir))))
            return true;
    }
    return false;
}

/* --- Untracked --- */

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
        (tracked == NOT_TRACKED && ignore_rules_may_match(&search->rules, path)))
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
             !ignore_rules_may_match(&search->rules, path))
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

    ignore_rules_read(&search->rules, fd, dir);
}

/* The user's core.excludesFile, as a private copy. */
static void read_excludes(struct search *search, const char *path)
{
    al_auto(al_closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

    ignore_rules_read(&search->rules, fd < 0 ? -errno : fd, "");
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

/* Search for a file that is not in scan->names and that no rule could ignore.  A file that a rule
 * might ignore does not count. */
static void scan_untracked(struct al_submodule_scan *scan)
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
    ignore_rules_clear(&search.rules);
    al_strv_clear(&search.dirs);
}

/* --- Submodules --- */

#define NAMED_MAX         20

#define PLAIN_INDEXES_MAX 16
#define RACY_NS           20000000

static const char outside[] = "its git directory lies outside the allowed roots";
static const char no_git_dir[] = "its .git leads to no git directory";
static const char no_index[] = "its index cannot be read";
static const char no_commit[] = "its commit cannot be read";
static const char too_many_submodules[] = "there are too many submodules";

/** Working trees to scan: the submodules of the repository, then those found in them. */
struct queue {
    struct al_strv paths; /* paths from the top */
    size_t owners;        /* this many paths at the front are the repository's own submodules */
    const char *within;
};

void al_submodules_clear(struct al_submodules *submodules)
{
    for (size_t i = 0; i < submodules->count; i++)
        free(submodules->items[i].name);
    free(submodules->items);
    *submodules = AL_SUBMODULES_INIT;
}

static bool is_within(const char *name, const char *within)
{
    size_t len = within ? strlen(within) : 0;

    return !len || (!strncmp(name, within, len) && (!name[len] || name[len] == '/'));
}

/* Conflicts are reported by git itself; a skip-worktree entry need not be there. */
static bool take_gitlink(void *payload, const struct al_index_entry *entry)
{
    struct queue *queue = payload;

    if ((entry->mode & 0170000u) != TYPE_GITLINK || entry->stage || entry->skip_worktree ||
        !is_within(entry->name, queue->within))
        return true;
    al_strv_add(&queue->paths, entry->name);
    return true;
}

/* "<mode> <oid> <stage> TAB <path>" */
static bool take_listed(void *payload, char *const *fields)
{
    struct queue *queue = payload;
    const char *tab = strchr(fields[0], '\t');

    if (tab && al_starts_with(fields[0], "160000 ") && tab[-1] == '0' &&
        is_within(tab + 1, queue->within))
        al_strv_add(&queue->paths, tab + 1);
    return true;
}

/* For a split index, whose entries are in two files: ask git. */
static void list_gitlinks(const struct al_repo *repo, struct queue *queue,
                          struct al_run_limits *budget)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_CONTENT_INIT;
    al_auto(al_nul_records_clear) struct al_nul_records records =
        AL_NUL_RECORDS_INIT(1, take_listed, queue);

    al_strv_clear(&queue->paths);
    al_strv_adds(&command.argv, "git", "-C", repo->at.top, "ls-files", "--stage", "-z", NULL);
    if (al_git_read_records(&repo->at, &command, &records, budget, NULL) < 0)
        al_strv_clear(&queue->paths);
}

/* Indexes without a gitlink, so that a status of an unchanged index does not read it again. */
static struct {
    pthread_mutex_t lock; /* guards what follows */
    struct al_file_id ids[PLAIN_INDEXES_MAX];
    size_t next;
} plain_indexes = { .lock = PTHREAD_MUTEX_INITIALIZER };

static bool is_known_plain(const struct al_file_id *id)
{
    bool known = false;

    (void)pthread_mutex_lock(&plain_indexes.lock);
    for (size_t i = 0; !known && i < PLAIN_INDEXES_MAX; i++)
        known = al_file_id_equal(&plain_indexes.ids[i], id);
    (void)pthread_mutex_unlock(&plain_indexes.lock);
    return known && id->exists;
}

/* File times tick coarsely: an index that changed in the last 20 ms may change again unseen. */
static void remember_plain(const struct al_file_id *id)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_REALTIME, &now);
    if ((int64_t)now.tv_sec * 1000000000 + now.tv_nsec - id->ctime_ns < RACY_NS)
        return;
    (void)pthread_mutex_lock(&plain_indexes.lock);
    plain_indexes.ids[plain_indexes.next] = *id;
    plain_indexes.next = (plain_indexes.next + 1) % PLAIN_INDEXES_MAX;
    (void)pthread_mutex_unlock(&plain_indexes.lock);
}

static void find_gitlinks(const struct al_repo *repo, struct queue *queue,
                          struct al_run_limits *budget)
{
    al_auto(al_freep) char *path = al_fs_join(repo->at.git_dir, "index");
    al_auto(al_closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    enum al_index_end end;
    struct al_file_id id;
    struct stat st;

    if (fd < 0 || fstat(fd, &st) < 0)
        return;
    id = al_file_id_from(&st);
    if (is_known_plain(&id))
        return;
    end = al_index_read(fd, repo->vetting->is_sha256 ? 32 : 20, take_gitlink, queue);
    if (end == AL_INDEX_SPLIT || end == AL_INDEX_NOT_UNDERSTOOD)
        list_gitlinks(repo, queue, budget);
    /* A search within one path says nothing about the rest of the index. */
    if (end == AL_INDEX_WHOLE && !queue->paths.count && (!queue->within || !*queue->within))
        remember_plain(&id);
    queue->owners = queue->paths.count;
}

/* Whether there is an object store without alternates, which might lead anywhere. */
static bool has_store(int common)
{
    al_auto(al_closep) int fd = al_nofollow_open(common, "objects", O_PATH | O_DIRECTORY);
    al_auto(al_closep) int other = fd < 0 ? -1 : al_nofollow_open(fd, "info/alternates", O_PATH);

    return fd >= 0 && other == -ENOENT;
}

/* Compare the index with the commit by a git of the repository around it, to which only the index,
 * the commit and the objects come from the submodule. */
static void scan_staged(struct al_submodule_scan *scan, const char *index, const char *common_dir,
                        const char *head, struct al_run_limits *budget)
{
    const int64_t began_ms = al_clock_ms();
    const int64_t left_ms = scan->bounds->deadline_ms - began_ms;
    struct al_run_limits limits = *budget;
    uint32_t ran_ms;
    int r;
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_CONTENT_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    al_auto(al_strv_clear) struct al_strv env = AL_STRV_INIT;
    al_auto(al_strv_clear) struct al_strv objects = AL_STRV_INIT;
    const struct al_git_link link = { .protocol = "none", .env = &env };

    if (!al_is_oid(head, strlen(head)) || !has_store(scan->common)) {
        scan->unseen = no_commit;
        return;
    }
    if (left_ms <= 0) {
        scan->unseen = al_scan_too_long;
        return;
    }
    if (left_ms < (int64_t)limits.left_ms)
        limits.left_ms = (uint32_t)left_ms;
    al_strv_take(&objects, al_fs_join(common_dir, "objects"));
    al_strv_take(&env, al_git_alternates(&objects));
    command.index = index;
    command.link = &link;
    al_strv_adds(&command.argv, "git", "diff-index", "--cached", "--quiet", "--no-ext-diff",
                 "--no-textconv", "--ignore-submodules=dirty", head, "--", NULL);
    r = al_git_run(&scan->repo->at, &command, &(struct al_git_run){ .max_bytes = 0 }, &limits,
                   &output, NULL);
    ran_ms = (uint32_t)(al_clock_ms() - began_ms);
    budget->left_ms = ran_ms < budget->left_ms ? budget->left_ms - ran_ms : 1;
    if (r == AL_ERR_TIMEOUT)
        scan->unseen = al_scan_too_long;
    else if (r < 0 || (output.exit_code != 0 && output.exit_code != 1))
        scan->unseen = no_commit;
    else if (output.exit_code == 1)
        scan->content |= AL_MODIFIED_CONTENT;
}

static void scan_repository(struct al_submodule_scan *scan, const char *git_dir,
                            const char *common_dir, struct al_run_limits *budget)
{
    const struct al_location nested = { .git = scan->repo->at.git,
                                        .git_dir = (char *)git_dir,
                                        .common_dir = (char *)common_dir,
                                        .git_fd = -1 };
    al_auto(al_freep) char *index = al_fs_join(git_dir, "index");
    al_auto(al_closep) int fd = open(index, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    al_auto(al_closep) int common = open(common_dir, O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    al_auto(al_freep) char *head = al_ref_head(&nested);

    if (fd < 0 || common < 0) {
        scan->unseen = no_index;
        return;
    }
    scan->common = common;
    scan_files(scan, fd);
    if (!scan->unseen && !(scan->content & AL_MODIFIED_CONTENT))
        scan_staged(scan, index, common_dir, head, budget);
    if (!scan->unseen && !scan->bounds->no_untracked)
        scan_untracked(scan);
}

/* A directory without a `.git` is a submodule that is not checked out. */
static void scan_submodule(struct al_submodule_scan *scan, struct al_run_limits *budget)
{
    al_auto(al_freep) char *top = al_fs_join(scan->repo->at.top, scan->path);
    al_auto(al_freep) char *git_dir = NULL;
    al_auto(al_freep) char *common_dir = NULL;
    int r = al_git_nested_dirs(&scan->repo->at, top, &git_dir, &common_dir);

    if (r == 0)
        scan_repository(scan, git_dir, common_dir, budget);
    else if (r != AL_ERR_NOT_FOUND)
        scan->unseen = r == AL_ERR_SANDBOX ? outside : no_git_dir;
}

/* Add the result of a scan to the submodule `name`, which the scanned one is or lies in. */
static void keep(struct al_submodules *to, const char *name, const struct al_submodule_scan *scan)
{
    struct al_submodule *item = NULL;

    if (!scan->content && !scan->unseen)
        return;
    for (size_t i = 0; i < to->count; i++)
        if (!strcmp(to->items[i].name, name))
            item = &to->items[i];
    if (!item) {
        to->items = al_reallocarray(to->items, to->count + 1, sizeof(*to->items));
        item = &to->items[to->count++];
        *item = (struct al_submodule){ .name = al_strdup(name) };
    }
    item->content |= scan->content;
    item->unseen = item->unseen ? item->unseen : scan->unseen;
}

/* The repository's own submodule that a path is or lies in. */
static const char *owner_of(const struct queue *queue, const char *path)
{
    for (size_t i = 0; i < queue->owners; i++)
        if (is_within(path, queue->paths.items[i]))
            return queue->paths.items[i];
    return path;
}

static void scan_next(const struct al_repo *repo, int top, struct queue *queue, size_t number,
                      struct al_scan_bounds *bounds, struct al_run_limits *budget,
                      struct al_submodules *to)
{
    al_auto(al_freep) char *path = al_strdup(queue->paths.items[number]);
    al_auto(al_closep) int fd = al_nofollow_open(top, path, O_PATH | O_DIRECTORY);
    struct al_submodule_scan scan = { .repo = repo,
                                      .bounds = bounds,
                                      .path = path,
                                      .top = fd,
                                      .common = -1,
                                      .nested = &queue->paths };

    if (fd < 0)
        return; /* git itself reports that it is gone or no directory */
    if (number >= AL_SUBMODULES_MAX)
        scan.unseen = too_many_submodules;
    else if (al_scan_has_time(&scan))
        scan_submodule(&scan, budget);
    keep(to, owner_of(queue, path), &scan);
    al_strv_clear(&scan.names);
}

void al_git_scan_submodules(const struct al_repo *repo, const char *within, bool untracked,
                            struct al_run_limits *budget, struct al_submodules *ret_submodules)
{
    struct queue queue = { .within = within };
    struct al_submodules found = AL_SUBMODULES_INIT;
    struct al_scan_bounds bounds = {
        .entries = AL_SUBMODULE_ENTRIES_MAX,
        .listed = AL_SUBMODULE_ENTRIES_MAX,
        .bytes = AL_SUBMODULE_HASHED_MAX,
        .deadline_ms = al_clock_ms() + AL_SUBMODULE_TIME_MAX_MS,
        .no_untracked = !untracked,
    };
    int top = -1;

    find_gitlinks(repo, &queue, budget);
    if (queue.owners && al_location_open_top(&repo->at, &top, NULL) == 0)
        for (size_t i = 0; i < queue.paths.count; i++)
            scan_next(repo, top, &queue, i, &bounds, budget, &found);
    al_close(top);
    al_strv_clear(&queue.paths);
    *ret_submodules = found;
}

static void add_one(const struct al_submodule *submodule, struct al_str *out)
{
    static const char *const words[] = {
        [AL_MODIFIED_CONTENT] = "modified content",
        [AL_UNTRACKED_CONTENT] = "untracked content",
        [AL_MODIFIED_CONTENT | AL_UNTRACKED_CONTENT] = "modified content, untracked content",
    };
    al_auto(al_freep) char *name = al_text_sanitize_shown_line(submodule->name);

    al_str_addf(out, "%s (", name);
    if (submodule->content)
        al_str_adds(out, words[submodule->content]);
    if (submodule->unseen)
        al_str_addf(out, "%s: %s", submodule->content ? ", not looked at in full" : "not looked at",
                    submodule->unseen);
    al_str_addc(out, ')');
}

void al_submodules_add_line(const struct al_submodules *submodules, struct al_str *out)
{
    if (!submodules->count)
        return;
    if (out->len)
        al_str_addc(out, '\n');
    al_str_adds(out, "airlock: inside submodules: ");
    for (size_t i = 0; i < submodules->count && i < NAMED_MAX; i++) {
        al_str_adds(out, i ? ", " : "");
        add_one(&submodules->items[i], out);
    }
    if (submodules->count > NAMED_MAX)
        al_str_addf(out, ", and %zu more", submodules->count - NAMED_MAX);
}
