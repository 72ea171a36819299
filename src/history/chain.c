// SPDX-License-Identifier: Apache-2.0
/* The key, the head and the chain of a journal: appending lines, whatever happened to a writer, and
 * verifying that every line is there, in its place and unchanged. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <nettle/base16.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/log.h"
#include "history/journal_private.h"

/* --- Key and head --- */

#define KEY_BYTES 32

/* The head is one line of fixed width, written with one pwrite(2): sequence number, size, the two
 * HMACs, and the HMAC of all of these. */
#define HEAD_FORMAT  "%020" PRIu64 " %020" PRIu64 " %s %s "
#define SIGNED_BYTES (AL_HEAD_BYTES - AL_MAC_HEX - 1)

/* That of an empty journal. */
static const struct al_head no_head = { .mac = AL_MAC_NONE, .next = AL_MAC_NONE };

int al_key_load(const char *path, struct al_key *ret_key, struct al_error *err)
{
    al_auto(al_str_clear) struct al_str bytes = AL_STR_INIT;
    int r = al_fs_read(AT_FDCWD, path, KEY_BYTES, &bytes);

    if (r == -ENOENT)
        return al_error_set(err, AL_ERR_NOT_FOUND, "the journal's key '%s' is missing", path);
    if (r == -EFBIG || (r == 0 && bytes.len != KEY_BYTES))
        return al_error_set(err, AL_ERR_EXECUTION, "'%s' is not a key of a journal", path);
    if (r < 0)
        return al_error_errno(err, -r, "cannot read the journal's key '%s'", path);
    hmac_sha256_set_key(&ret_key->ctx, bytes.len, (const uint8_t *)bytes.buf);
    explicit_bzero(bytes.buf, bytes.len);
    return 0;
}

void al_key_mac(const struct al_key *key, const void *data, size_t len,
                char ret_hex[AL_MAC_HEX + 1])
{
    struct hmac_sha256_ctx ctx = key->ctx;
    uint8_t mac[SHA256_DIGEST_SIZE];

    hmac_sha256_update(&ctx, len, data);
    hmac_sha256_digest(&ctx, sizeof(mac), mac);
    base16_encode_update(ret_hex, sizeof(mac), mac);
    ret_hex[AL_MAC_HEX] = '\0';
}

/* The content of the head file: nothing, a head that this key signed, or something else. */
enum head_found { HEAD_EMPTY, HEAD_GOOD, HEAD_BAD };

/* `*ret_head` is that of an empty journal unless it is HEAD_GOOD.  Its state, or -errno. */
static int read_head(int fd, const struct al_key *key, struct al_head *ret_head)
{
    char text[AL_HEAD_BYTES + 1], mac[AL_MAC_HEX + 1];
    struct al_head head;
    ssize_t n = pread(fd, text, sizeof(text), 0);

    if (n < 0)
        return -errno;
    *ret_head = no_head;
    if (n != AL_HEAD_BYTES)
        return n ? HEAD_BAD : HEAD_EMPTY;
    text[AL_HEAD_BYTES - 1] = '\0';
    al_key_mac(key, text, SIGNED_BYTES, mac);
    if (strcmp(text + SIGNED_BYTES, mac) != 0 ||
        sscanf(text, "%20" SCNu64 " %20" SCNu64 " %64s %64s", &head.seq, &head.size, head.mac,
               head.next) != 4)
        return HEAD_BAD;
    *ret_head = head;
    return HEAD_GOOD;
}

int al_head_write(int fd, const struct al_key *key, const struct al_head *head)
{
    char text[AL_HEAD_BYTES + 1], mac[AL_MAC_HEX + 1];

    (void)snprintf(text, sizeof(text), HEAD_FORMAT, head->seq, head->size, head->mac, head->next);
    al_key_mac(key, text, SIGNED_BYTES, mac);
    (void)snprintf(text + SIGNED_BYTES, sizeof(text) - SIGNED_BYTES, "%s\n", mac);
    return lseek(fd, 0, SEEK_SET) < 0 ? -errno : al_write_all(fd, text, AL_HEAD_BYTES);
}

/* --- The chain --- */

/* Lock the chain.  A file system without locks is an error: two writers would overwrite each
 * other's head.  0 or -errno. */
static int lock(struct al_chain *chain)
{
    int r;

    (void)pthread_mutex_lock(&chain->lock);
    r = al_journal_lock(chain->head_fd, LOCK_EX);
    if (r < 0)
        (void)pthread_mutex_unlock(&chain->lock);
    return r;
}

static void unlock(struct al_chain *chain)
{
    al_close(chain->fd);
    chain->fd = -1;
    (void)flock(chain->head_fd, LOCK_UN); /* the lock is held, so this cannot fail */
    (void)pthread_mutex_unlock(&chain->lock);
}

/*
 * Repair a log that is longer than the head says after a line was announced: the writer died.
 * @return 1 when that explains the difference and `head` is right again; 0 when it does not;
 *         -errno.
 */
static int finish_append(struct al_chain *chain, struct al_head *head, uint64_t size)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    const size_t len = (size_t)(size - head->size);
    char mac[AL_MAC_HEX + 1];
    const char *end;

    if (len > AL_JOURNAL_LINE_MAX_BYTES)
        return 0;
    al_str_reserve(&text, len);
    if (pread(chain->fd, text.buf, len, (off_t)head->size) != (ssize_t)len)
        return -EIO;
    end = memchr(text.buf, '\n', len);
    if (!end) {
        if (ftruncate(chain->fd, (off_t)head->size) < 0)
            return -errno;
    } else {
        al_key_mac(&chain->key, text.buf, len - 1, mac);
        if (end != text.buf + len - 1 || strcmp(mac, head->next) != 0)
            return 0;
        head->seq++;
        head->size = size;
        memcpy(head->mac, mac, sizeof(mac));
    }
    memcpy(head->next, AL_MAC_NONE, sizeof(head->next));
    return 1;
}

/* Whether the file that the head describes was renamed because it was full. */
static bool was_renamed(const struct al_chain *chain, const struct al_head *head)
{
    al_auto(al_freep) char *path =
        al_journal_full_path(chain->file, al_journal_count_full(chain->file));
    struct stat st;

    return head->size > 0 && lstat(path, &st) == 0 && S_ISREG(st.st_mode) &&
           (uint64_t)st.st_size == head->size;
}

/* Open the log.  There is none if a process died while it began a new file. */
static int open_log(struct al_chain *chain, const struct al_head *head, uint64_t *ret_size)
{
    struct stat st;

    chain->fd = al_journal_open_file(chain->file, O_RDWR | O_APPEND);
    if (chain->fd == -ENOENT && !was_renamed(chain, head))
        return -ESTALE; /* it was removed, so nothing written to a new one would be expected */
    if (chain->fd == -ENOENT)
        chain->fd = al_journal_open_file(chain->file, O_RDWR | O_APPEND | O_CREAT);
    if (chain->fd < 0)
        return chain->fd;
    if (fstat(chain->fd, &st) < 0)
        return -errno;
    *ret_size = (uint64_t)st.st_size;
    return 0;
}

/* Read the head and make it fit the log. */
static int read_end(struct al_chain *chain, struct al_head *head)
{
    uint64_t size = 0;
    int r = read_head(chain->head_fd, &chain->key, head);

    if (r >= 0)
        r = open_log(chain, head, &size);
    if (r < 0)
        return r;
    if (size < head->size && was_renamed(chain, head))
        head->size = 0;
    if (size == head->size)
        return 0;
    if (size > head->size && strcmp(head->next, AL_MAC_NONE) != 0) {
        r = finish_append(chain, head, size);
        if (r != 0)
            return r < 0 ? r : 0;
    }
    al_log_warn("the journal '%s' was changed by something else, see 'airlock log --verify'",
                chain->file);
    head->size = size;
    return 0;
}

/* Begin a new file if the line would make this one too large.  was_renamed() tells the next writer
 * if the process dies in between. */
static int begin_file(struct al_chain *chain, struct al_head *head, size_t len)
{
    al_auto(al_freep) char *full = NULL;

    if (head->seq == 0 || head->size == 0 || head->size + len <= chain->max_bytes)
        return 0;
    if (fdatasync(chain->fd) < 0) /* al_chain_sync() only sees the new one */
        return -errno;
    full = al_journal_full_path(chain->file, al_journal_count_full(chain->file) + 1);
    if (renameat2(AT_FDCWD, chain->file, AT_FDCWD, full, RENAME_NOREPLACE) < 0) {
        al_log_warn("the journal '%s' is full and cannot be renamed: %s", chain->file,
                    strerrordesc_np(errno));
        return 0; /* a file that is too large is better than a call without a line */
    }
    al_close(chain->fd);
    head->size = 0;
    chain->fd = al_journal_open_file(chain->file, O_RDWR | O_APPEND | O_CREAT);
    return chain->fd < 0 ? chain->fd : 0;
}

static int append_locked(struct al_chain *chain, json_t *line, uint64_t *seen)
{
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    struct al_head head;
    char last = '\n';
    bool in_line;
    int r = read_end(chain, &head);

    if (r < 0)
        return r;
    /* After a partial line of another program this one begins with a newline. */
    in_line = head.size && pread(chain->fd, &last, 1, (off_t)head.size - 1) == 1 && last != '\n';
    if (seen && *seen < head.seq) {
        *seen = head.seq;
        return -EAGAIN;
    }
    al_json_set(line, "seq", al_json_int((int64_t)head.seq + 1));
    al_json_set(line, "prev", al_json_string(head.mac));
    if (in_line)
        al_str_addc(&text, '\n');
    al_json_dump(line, true, &text);
    al_key_mac(&chain->key, text.buf + in_line, text.len - in_line, head.next);
    al_str_addc(&text, '\n');

    r = begin_file(chain, &head, text.len);
    if (r == 0)
        r = al_head_write(chain->head_fd, &chain->key, &head);
    if (r < 0)
        return r;
    r = al_write_all(chain->fd, text.buf, text.len);
    if (r < 0) /* a part of it, as on a full disk, is cut off; that it was announced is no error */
        return ftruncate(chain->fd, (off_t)head.size) < 0 ? -errno : r;
    head.seq++;
    head.size += text.len;
    memcpy(head.mac, head.next, sizeof(head.mac));
    memcpy(head.next, AL_MAC_NONE, sizeof(head.next));
    /* The line counts even if this fails: it was announced, and the next writer repairs the head.
     */
    (void)al_head_write(chain->head_fd, &chain->key, &head);
    return 0;
}

int al_chain_append(struct al_chain *chain, json_t *line, uint64_t *seen, struct al_error *err)
{
    int r = lock(chain);

    if (r == 0) {
        r = append_locked(chain, line, seen);
        unlock(chain);
    }
    if (r == -EAGAIN)
        return AL_ERR_AGAIN;
    return r < 0 ? al_error_errno(err, -r, "cannot write the journal '%s'", chain->file) : 0;
}

uint64_t al_chain_last(struct al_chain *chain)
{
    struct al_head head = { .seq = 0 };

    if (lock(chain) == 0) {
        (void)read_head(chain->head_fd, &chain->key, &head);
        unlock(chain);
    }
    return head.seq;
}

/* The lock is not held meanwhile, so that calls that only read do not wait for the disk. */
int al_chain_sync(struct al_chain *chain, struct al_error *err)
{
    al_auto(al_closep) int fd = open(chain->file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    struct stat st;

    if (fd < 0 || fstat(fd, &st) < 0 || fdatasync(fd) < 0 || fdatasync(chain->head_fd) < 0 ||
        (st.st_ino != chain->synced && fsync(chain->dir_fd) < 0))
        return al_error_errno(err, errno, "cannot synchronise the journal '%s'", chain->file);
    chain->synced = st.st_ino;
    return 0;
}

int al_chain_check(struct al_chain *chain, struct al_error *err)
{
    struct al_head head;
    uint64_t size;
    int r = lock(chain);

    if (r == 0) {
        r = read_head(chain->head_fd, &chain->key, &head);
        if (r >= 0)
            r = open_log(chain, &head, &size);
        unlock(chain);
    }
    if (r == -ESTALE)
        return al_error_set(err, AL_ERR_EXECUTION,
                            "'%s' was removed; start airlock again to begin a new one",
                            chain->file);
    return r < 0 ? al_error_errno(err, -r, "cannot open '%s'", chain->file) : 0;
}

/* No line could be verified any more without its key, so a new one is durable. */
static int load_or_create_key(struct al_chain *chain, struct al_error *err)
{
    al_auto(al_freep) char *path = al_journal_beside(chain->file, ".key");
    unsigned char bytes[KEY_BYTES];
    int r = al_key_load(path, &chain->key, err);

    if (r != AL_ERR_NOT_FOUND)
        return r;
    r = getrandom(bytes, sizeof(bytes), 0) == (ssize_t)sizeof(bytes) ? 0 : -errno;
    if (r == 0)
        r = al_fs_write_durable(chain->dir_fd, strrchr(path, '/') + 1, bytes, sizeof(bytes), 0600);
    explicit_bzero(bytes, sizeof(bytes));
    return r < 0 ? al_error_errno(err, -r, "cannot create the journal's key '%s'", path)
                 : al_key_load(path, &chain->key, err);
}

/* Open head, key and log in this order, so that a log with lines always has the other two. */
static int open_files(struct al_chain *chain, struct al_error *err)
{
    al_auto(al_freep) char *head = al_journal_beside(chain->file, ".head");
    int r;

    chain->head_fd = al_journal_open_file(head, O_RDWR | O_CREAT);
    if (chain->head_fd < 0)
        return al_error_errno(err, -chain->head_fd, "cannot open '%s'", head);
    /* The head is read before each line, and the kernel would update its access time each time.
     * This fails for a file of another user, whose access time is then updated. */
    (void)fcntl(chain->head_fd, F_SETFL, O_NOATIME);
    r = lock(chain);
    if (r < 0)
        return al_error_errno(err, -r, "cannot lock '%s'", head);
    r = load_or_create_key(chain, err);
    if (r == 0) {
        chain->fd = al_journal_open_file(chain->file, O_RDWR | O_APPEND | O_CREAT);
        if (chain->fd < 0)
            r = al_error_errno(err, -chain->fd, "cannot open '%s'", chain->file);
    }
    unlock(chain);
    return r;
}

int al_chain_open(struct al_chain *chain, const char *file, struct al_error *err)
{
    al_auto(al_freep) char *dir = NULL;

    *chain = (struct al_chain){
        .file = al_strdup(file),
        .max_bytes = AL_JOURNAL_FILE_MAX_BYTES,
        .dir_fd = -1,
        .head_fd = -1,
        .fd = -1,
    };
    (void)pthread_mutex_init(&chain->lock, NULL);
    if (file[0] != '/')
        return al_error_set(err, AL_ERR_EXECUTION, "the journal '%s' is not an absolute path",
                            file);
    /* The '/' stays, after which a link is followed. */
    dir = al_strndup(file, (size_t)(strrchr(file, '/') - file) + 1);
    chain->dir_fd = al_journal_open_dir(dir, err);
    return chain->dir_fd < 0 ? chain->dir_fd : open_files(chain, err);
}

void al_chain_close(struct al_chain *chain)
{
    al_close(chain->head_fd);
    al_close(chain->dir_fd);
    explicit_bzero(&chain->key, sizeof(chain->key));
    (void)pthread_mutex_destroy(&chain->lock);
    free(chain->file);
}

/* --- Verifying --- */

struct walk {
    const struct al_key *key;
    struct al_head head;      /* the end of the chain, as the head file says */
    int found;                /* enum head_found */
    uint64_t lines;           /* lines that are intact so far */
    char mac[AL_MAC_HEX + 1]; /* of the last of them */
    uint64_t bad_line;
    char *problem;
};

al_printf(3, 4) static void report(struct walk *walk, uint64_t bad_line, const char *fmt, ...)
{
    struct al_str text = AL_STR_INIT;
    va_list args;

    va_start(args, fmt);
    al_str_addv(&text, fmt, args);
    va_end(args);
    walk->bad_line = bad_line;
    walk->problem = al_str_detach(&text);
}

/* A line with the right number does not have the HMAC of the line before.  Find out which of the
 * two was changed. */
static void report_bad_prev(struct walk *walk, uint64_t number)
{
    bool before_is_good =
        number == 1 || (walk->found == HEAD_GOOD && walk->lines == walk->head.seq &&
                        !strcmp(walk->mac, walk->head.mac));

    if (before_is_good)
        report(walk, number, "line %" PRIu64 " was changed or added", number);
    else
        report(walk, number - 1, "line %" PRIu64 " was changed%s", number - 1,
               walk->found == HEAD_BAD ? ", or the key is not the one it was written with" : "");
}

/* Find a line's `seq` and `prev` where al_chain_append() writes them.  A JSON parser is not
 * used: an agent's input may exceed the parser's limits, and that must not look like tampering. */
static bool parse_seq_and_prev(const char *text, size_t len, uint64_t *ret_seq,
                               char ret_prev[AL_MAC_HEX + 1])
{
    static const char before[] = ",\"prev\":\"", after[] = "\"}";
    const size_t tail = strlen(before) + AL_MAC_HEX + strlen(after);
    const char *at = text + len - tail;

    if (len < tail || strncmp(at, before, strlen(before)) != 0 ||
        strcmp(at + tail - strlen(after), after) != 0)
        return false;
    memcpy(ret_prev, at + strlen(before), AL_MAC_HEX);
    ret_prev[AL_MAC_HEX] = '\0';
    return sscanf(text,
                  "{\"timestamp\":\"%*15[0-9_]\",\"time\":\"%*24[0-9TZ:.-]\",\"seq\":%20" SCNu64
                  ",",
                  ret_seq) == 1;
}

/* Check the next line, and report what is wrong with it or with the line before. */
static void check_line(struct walk *walk, const char *text, size_t len)
{
    uint64_t number = walk->lines + 1, seq;
    char prev[AL_MAC_HEX + 1];

    if (!parse_seq_and_prev(text, len, &seq, prev)) {
        report(walk, number, "line %" PRIu64 " is not a line of this journal", number);
    } else if (seq != number) {
        report(walk, number,
               "line %" PRIu64 " says it is number %" PRIu64 ": lines were removed, added or moved",
               number, seq);
    } else if (strcmp(prev, walk->mac) != 0) {
        report_bad_prev(walk, number);
    } else {
        al_key_mac(walk->key, text, len, walk->mac);
        walk->lines = number;
    }
}

/* Every line fits the one before.  Check that the last one fits the head. */
static void check_end(struct walk *walk, size_t rest)
{
    const struct al_head *head = &walk->head;
    uint64_t next = walk->lines + 1;
    bool announced = strcmp(head->next, AL_MAC_NONE) != 0;

    if (walk->found == HEAD_BAD)
        report(walk, next, "the head file was changed, or the key is not the one of this journal");
    else if (walk->found == HEAD_EMPTY && (walk->lines || rest))
        report(walk, next, "the head file is missing");
    else if (walk->lines < head->seq)
        report(walk, next, "line %" PRIu64 "%s missing or cut short", next,
               next < head->seq ? " and those after it are" : " is");
    else if (walk->lines == head->seq && strcmp(walk->mac, head->mac) != 0)
        report(walk, walk->lines, "line %" PRIu64 " was changed", walk->lines);
    else if (walk->lines == head->seq && rest && !announced)
        report(walk, next, "something else was written after line %" PRIu64, walk->lines);
    else if (walk->lines == head->seq + 1 && !rest && !strcmp(walk->mac, head->next))
        return; /* its writer died before it moved the head */
    else if (walk->lines > head->seq)
        report(walk, head->seq + 1, "line %" PRIu64 " was added by something else", head->seq + 1);
}

static int walk_lines(struct walk *walk, struct al_history *history)
{
    const char *text;
    size_t len;
    int r = 1;

    while (!walk->problem && (r = al_history_next(history, &text, &len)) > 0 && !history->is_torn)
        check_line(walk, text, len);
    if (walk->problem)
        return 0;
    if (r == -EFBIG)
        report(walk, walk->lines + 1, "line %" PRIu64 " has no end", walk->lines + 1);
    else if (r >= 0 && history->is_torn)
        report(walk, walk->lines + 1, "something else was written after line %" PRIu64,
               walk->lines);
    else if (r == 0)
        check_end(walk, history->buf.len - history->begin);
    return r == -EFBIG || r > 0 ? 0 : r;
}

int al_journal_verify(const char *file, struct al_verdict *ret_verdict, struct al_error *err)
{
    al_auto(al_freep) char *key_path = al_journal_beside(file, ".key");
    al_auto(al_history_clear) struct al_history history = AL_HISTORY_INIT;
    struct al_key key;
    struct walk walk = { .key = &key, .head = no_head, .mac = AL_MAC_NONE };
    struct stat st;
    int key_status = al_key_load(key_path, &key, err), fd, r = al_journal_lock_head(file, &fd);

    /* Find the files and where the chain ends, while no line is appended.  There is no end to find
     * without a key. */
    if (fd >= 0 && r == 0 && key_status == 0)
        r = walk.found = read_head(fd, &key, &walk.head);
    if (r >= 0)
        r = al_history_open(file, &history);
    al_close(fd);
    if (r == 0 && walk.found == HEAD_EMPTY && !history.last && lstat(file, &st) < 0)
        return al_error_set(err, AL_ERR_NOT_FOUND, "there is no journal at '%s'", file);
    if (r == 0 && key_status < 0)
        return AL_ERR_EXECUTION;
    if (r == 0)
        r = walk_lines(&walk, &history);
    if (r < 0)
        return al_error_errno(err, -r, "cannot read '%s'", file);
    *ret_verdict = (struct al_verdict){
        .lines = walk.problem && walk.bad_line <= walk.lines ? walk.bad_line - 1 : walk.lines,
        .bad_line = walk.bad_line,
        .problem = walk.problem,
    };
    return 0;
}
