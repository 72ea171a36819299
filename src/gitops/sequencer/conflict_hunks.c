// SPDX-License-Identifier: Apache-2.0
#include "gitops/sequencer/conflict_hunks.h"

#include <fcntl.h>
#include <stdlib.h>

#include "gitops/location.h"
#include "gitops/oid.h"
#include "gitops/plumbing/revision.h"
#include "guard/nofollow.h"
#include "util/fs.h"

#define ID_DIGITS 8

/* In a file with many conflicts that are not as git made them, those behind have no base. */
#define TRIES_FOR_EACH 64

/* Lengths of markers that are looked for in the stages. */
#define SIZES 1024

static void made_clear(struct al_conflict_made *made)
{
    al_conflict_blocks_clear(&made->blocks);
    al_str_clear(&made->text);
}

void al_conflict_file_clear(struct al_conflict_file *file)
{
    for (size_t i = 0; file->hunks && i < file->blocks.count; i++)
        free(file->hunks[i].id);
    free(file->hunks);
    free(file->lines);
    al_conflict_blocks_clear(&file->blocks);
    al_str_clear(&file->disk);
    made_clear(&file->plain);
    made_clear(&file->made);
    made_clear(&file->wide);
    al_cat_file_clear(file->stages, AL_STAGES);
    *file = AL_CONFLICT_FILE_INIT;
}

static struct al_bytes bytes_of(const struct al_str *text)
{
    return (struct al_bytes){ text->buf, text->len };
}

static int read_disk(const struct al_repo *repo, const char *path, struct al_conflict_file *file,
                     struct al_error *err)
{
    al_auto(al_closep) int top = -1;
    al_auto(al_closep) int fd = -1;
    int r = al_location_open_top(&repo->at, &top, err);

    if (r < 0)
        return r;
    fd = al_nofollow_open(top, path, O_RDONLY);
    file->on_disk = fd >= 0 && al_fs_read_fd(fd, AL_CONFLICT_DISK_BYTES, &file->disk) == 0;
    return 0;
}

static void add_plain(const struct al_str *text, struct al_str *out)
{
    for (size_t i = 0; i < text->len; i++)
        if (text->buf[i] != '\r' || i + 1 == text->len || text->buf[i + 1] != '\n')
            al_str_addc(out, text->buf[i]);
}

/* --- What git made --- */

/* The first length from that on disk on of which no stage has a marker. */
static size_t unused_size(const struct al_conflict_file *file)
{
    bool used[SIZES] = { false };
    size_t size = file->marker_size;

    for (size_t i = 0; i < AL_STAGES; i++) {
        struct al_bytes left = bytes_of(&file->stages[i].data), line;

        while (al_conflict_next_line(&left, &line)) {
            size_t run = 1;

            while (run < line.len && line.data[run] == line.data[0])
                run++;
            if (run < SIZES && al_conflict_marker(line, run))
                used[run] = true;
        }
    }
    while (size < SIZES && used[size])
        size++;
    return size;
}

static bool has_both(const struct al_conflict_file *file)
{
    return file->stages[AL_STAGE_OURS].oid && file->stages[AL_STAGE_THEIRS].oid;
}

static int make(const struct al_repo *repo, const struct al_conflict_file *file, const char *style,
                struct al_run_limits *budget, struct al_conflict_made *made, struct al_error *err)
{
    const struct al_str *one =
        &file->stages[file->stages[AL_STAGE_OURS].oid ? AL_STAGE_OURS : AL_STAGE_THEIRS].data;
    const size_t size = unused_size(file);
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    int r = 0;

    if (made->marker_size)
        return 0;
    if (has_both(file))
        r = al_conflict_merge(repo, file, style, size, budget, &text, err);
    if (r < 0)
        return r;
    made->marker_size = file->nested_size && !has_both(file) ? file->nested_size : size;
    add_plain(has_both(file) ? &text : one, &made->text);
    al_conflict_blocks_find(bytes_of(&made->text), made->marker_size, NULL, &made->blocks);
    return 0;
}

/* Append a text whose markers all have one length and no label, and tell the lines that git did
 * not write as markers. */
static void normalise(const struct al_conflict_made *made, size_t size, struct al_str *out,
                      bool *is_own)
{
    struct al_bytes left = bytes_of(&made->text), line;

    for (size_t i = 0; al_conflict_next_line(&left, &line); i++) {
        const char gits = al_conflict_marker(line, made->marker_size);
        const char any = gits ? gits : al_conflict_marker(line, size);

        if (is_own)
            is_own[i] = !gits;
        for (size_t k = 0; any && k < size; k++)
            al_str_addc(out, any);
        if (any)
            al_str_addc(out, '\n');
        else
            al_str_add(out, line.data, line.len);
    }
}

/* Find the lines of the file in what git made, and those that are no markers of git's. */
static int align(const struct al_repo *repo, struct al_run_limits *budget,
                 struct al_conflict_file *file, struct al_error *err)
{
    al_auto(al_str_clear) struct al_str made = AL_STR_INIT, plain = AL_STR_INIT;
    const size_t nmade = al_conflict_count_lines(bytes_of(&file->made.text)),
                 count = al_conflict_count_lines(bytes_of(&file->plain.text));
    al_auto(al_freep) bool *is_own = al_calloc(nmade + 1, sizeof(*is_own));
    int r;

    normalise(&file->made, file->marker_size, &made, is_own);
    normalise(&file->plain, file->marker_size, &plain, NULL);
    r = al_conflict_align(repo, &made, &plain, budget, &file->lines, err);
    for (size_t i = 0; r == 0 && i < count; i++)
        if (file->lines[i] < nmade && is_own[file->lines[i]])
            file->lines[i] = AL_CONFLICT_OWN;
    return r;
}

/* Whether a stage is what the path is in a commit: then git has merged nothing into it. */
static int is_committed(const struct al_repo *repo, const struct al_conflict_file *file,
                        enum al_stage stage, struct al_run_limits *budget, bool *ret_is,
                        struct al_error *err)
{
    static const char *const commits[AL_STAGES][4] = {
        [AL_STAGE_OURS] = { "HEAD" },
        [AL_STAGE_THEIRS] = { "MERGE_HEAD", "CHERRY_PICK_HEAD", "REBASE_HEAD" },
    };
    int r = 0;

    *ret_is = false;
    for (const char *const *commit = commits[stage]; r == 0 && *commit && !*ret_is; commit++) {
        al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
        al_auto(al_freep) char *oid = NULL;

        al_strv_adds(&command.argv, "git", "rev-parse", "--verify", "--quiet", "--end-of-options",
                     NULL);
        al_strv_addf(&command.argv, "%s:%s", *commit, file->conflict->path);
        r = al_git_run_word(repo, &command, budget, &oid, err);
        *ret_is = oid && !strcmp(oid, file->stages[stage].oid);
    }
    return r;
}

/* Only a path that was renamed can have conflicts in its stages, and has no base then. */
static int find_nested(const struct al_repo *repo, struct al_conflict_file *file,
                       struct al_run_limits *budget, struct al_error *err)
{
    int r = 0;

    for (enum al_stage i = AL_STAGE_OURS; r == 0 && i < AL_STAGES; i++) {
        struct al_conflict_blocks blocks;
        bool is = true;

        if (file->stages[AL_STAGE_BASE].oid)
            break;
        al_conflict_blocks_find(bytes_of(&file->stages[i].data), file->marker_size + 1, NULL,
                                &blocks);
        if (blocks.count)
            r = is_committed(repo, file, i, budget, &is, err);
        al_conflict_blocks_clear(&blocks);
        if (r == 0 && !is)
            file->nested_size = file->marker_size + 1;
    }
    if (file->nested_size && !has_both(file))
        file->marker_size = file->nested_size;
    return r;
}

/* --- What is left of it --- */

/* Whether the file has markers, apart from those between sides, and one before a base. */
static void find_markers(struct al_conflict_file *file, bool *ret_base)
{
    struct al_bytes left = bytes_of(&file->plain.text), line;

    file->has_markers = *ret_base = false;
    for (size_t i = 0; al_conflict_next_line(&left, &line); i++) {
        const bool is_own = file->lines && file->lines[i] == AL_CONFLICT_OWN;
        char c = is_own ? 0 : al_conflict_marker(line, file->marker_size);

        if (!c && file->nested_size)
            c = al_conflict_marker(line, file->nested_size);
        file->has_markers = file->has_markers || (c && c != '=');
        *ret_base = *ret_base || c == '|';
    }
}

static void check_text(struct al_conflict_file *file)
{
    file->is_text = !memchr(file->disk.buf, '\0', file->disk.len);
    file->is_large = file->disk.len > AL_CONFLICT_FILE_BYTES;
    for (size_t i = 0; i < AL_STAGES; i++) {
        const struct al_blob *stage = &file->stages[i];

        if (memchr(stage->data.buf, '\0', stage->data.len))
            file->is_text = false;
        if (stage->oid && (!stage->kept || stage->size > AL_CONFLICT_FILE_BYTES))
            file->is_large = true;
    }
}

/* Find the hunks in the text that is on disk, or could be. */
static int look(const struct al_repo *repo, struct al_run_limits *budget,
                struct al_conflict_file *file, struct al_error *err)
{
    bool with_base;
    int r = 0;

    check_text(file);
    if (!file->is_text)
        return 0;
    add_plain(&file->disk, &file->plain.text);
    file->plain.marker_size = file->marker_size;
    find_markers(file, &with_base);
    if (file->is_large || !file->has_markers)
        return 0;
    if (unused_size(file) != file->marker_size) {
        r = make(repo, file, with_base ? "--diff3" : NULL, budget, &file->made, err);
        if (r == 0)
            r = align(repo, budget, file, err);
        if (r == 0)
            find_markers(file, &with_base);
    }
    if (r < 0)
        return r;
    al_conflict_blocks_find(bytes_of(&file->disk), file->marker_size, file->lines, &file->blocks);
    al_conflict_blocks_find(bytes_of(&file->plain.text), file->marker_size, file->lines,
                            &file->plain.blocks);
    file->is_large = file->blocks.count > AL_CONFLICT_HUNKS_MAX;
    if (file->is_large)
        al_conflict_blocks_clear(&file->blocks);
    return 0;
}

int al_git_conflict_files(const struct al_repo *repo, const struct al_conflict *conflicts,
                          size_t count, struct al_run_limits *budget,
                          struct al_conflict_file *files, struct al_error *err)
{
    int r;

    for (size_t i = 0; i < count; i++) {
        files[i] = AL_CONFLICT_FILE_INIT;
        files[i].conflict = &conflicts[i];
    }
    r = al_conflict_read_stages(repo, files, count, budget, err);
    for (size_t i = 0; r == 0 && i < count; i++) {
        r = find_nested(repo, &files[i], budget, err);
        if (r < 0 || al_conflict_has_links(&conflicts[i]))
            continue;
        r = read_disk(repo, conflicts[i].path, &files[i], err);
        if (r == 0 && files[i].on_disk)
            r = look(repo, budget, &files[i], err);
    }
    return r;
}

int al_git_has_markers(const struct al_repo *repo, const struct al_conflict_file *file,
                       const char *text, struct al_run_limits *budget, bool *ret_has,
                       struct al_error *err)
{
    struct al_conflict_file other = AL_CONFLICT_FILE_INIT;
    int r;

    *ret_has = false;
    if (!text)
        return 0;
    other.conflict = file->conflict;
    other.marker_size = file->marker_size;
    other.nested_size = file->nested_size;
    memcpy(other.stages, file->stages, sizeof(other.stages));
    al_str_adds(&other.disk, text);
    r = look(repo, budget, &other, err);
    *ret_has = other.has_markers;
    memset(other.stages, 0, sizeof(other.stages)); /* they are the file's */
    al_conflict_file_clear(&other);
    return r;
}

/* --- Their ids and sides --- */

/* The same hunk has the same digest, whatever the rest of the file is. */
static void add_digests(const char *path, const struct al_conflict_blocks *blocks,
                        struct al_strv *out)
{
    for (size_t i = 0; i < blocks->count; i++) {
        char text[AL_OID_TEXT];
        struct al_hash hash;
        struct al_oid digest;

        al_hash_init(&hash, true);
        al_hash_add(&hash, path, strlen(path) + 1);
        for (size_t k = AL_STAGE_OURS; k <= AL_STAGE_THEIRS; k++) {
            uint64_t len = blocks->items[i].sides[k].len;

            al_hash_add(&hash, &len, sizeof(len));
            al_hash_add(&hash, blocks->items[i].sides[k].data, blocks->items[i].sides[k].len);
        }
        al_hash_end(&hash, &digest);
        al_oid_text(&digest, true, text);
        text[ID_DIGITS] = '\0';
        al_strv_add(out, text);
    }
}

static size_t count_equal(const struct al_strv *digests, size_t end, const char *digest)
{
    size_t count = 0;

    for (size_t i = 0; i < end; i++)
        count += !strcmp(digests->items[i], digest);
    return count;
}

/* Equal hunks are told apart by where git made them.  Any other one comes behind those. */
static size_t number_of(const struct al_conflict_file *file, const struct al_strv *made,
                        const struct al_strv *left, size_t i)
{
    const size_t line = file->lines ? file->lines[file->plain.blocks.items[i].line - 1] : SIZE_MAX;
    const char *digest = left->items[i];

    for (size_t k = 0; k < made->count; k++)
        if (file->made.blocks.items[k].line - 1 == line && !strcmp(made->items[k], digest))
            return count_equal(made, k + 1, digest);
    return count_equal(left, i + 1, digest) +
           (file->lines ? count_equal(made, made->count, digest) : 0);
}

static int number_hunks(const struct al_repo *repo, struct al_run_limits *budget,
                        struct al_conflict_file *file, struct al_error *err)
{
    const char *path = file->conflict->path;
    al_auto(al_strv_clear) struct al_strv made = AL_STRV_INIT, left = AL_STRV_INIT;
    bool any_equal = false;
    int r = 0;

    add_digests(path, &file->made.blocks, &made);
    add_digests(path, &file->plain.blocks, &left);
    for (size_t i = 0; i < made.count && !any_equal; i++)
        any_equal = count_equal(&made, i, made.items[i]) > 0;
    if (any_equal && !file->lines)
        r = align(repo, budget, file, err);
    for (size_t i = 0; r == 0 && i < left.count; i++) {
        const size_t number = number_of(file, &made, &left, i);

        file->hunks[i].id =
            number > 1 ? al_asprintf("%s-%zu", left.items[i], number) : al_strdup(left.items[i]);
    }
    return r;
}

/* Whether whole lines are among other whole lines. */
static bool has_lines(struct al_bytes in, struct al_bytes lines)
{
    struct al_bytes line;

    do {
        if (in.len >= lines.len && (!lines.len || !memcmp(in.data, lines.data, lines.len)))
            return true;
    } while (al_conflict_next_line(&in, &line));
    return false;
}

/* A hunk that shows no base has that of git's hunk with one, which may be larger. */
static void fill_sides(struct al_conflict_file *file)
{
    const struct al_conflict_blocks *bases = &file->wide.blocks;
    size_t wide = 0, tries = TRIES_FOR_EACH * (file->blocks.count + bases->count);

    for (size_t i = 0; i < file->blocks.count; i++) {
        const struct al_conflict_block *block = &file->plain.blocks.items[i];
        struct al_conflict_hunk *hunk = &file->hunks[i];

        hunk->has_base = block->has_base;
        memcpy(hunk->sides, block->sides, sizeof(hunk->sides));
        for (size_t k = wide; !hunk->has_base && k < bases->count && tries; k++, tries--) {
            const struct al_bytes *sides = bases->items[k].sides;

            hunk->has_base = has_lines(sides[AL_STAGE_OURS], block->sides[AL_STAGE_OURS]) &&
                             has_lines(sides[AL_STAGE_THEIRS], block->sides[AL_STAGE_THEIRS]);
            if (!hunk->has_base)
                continue;
            hunk->sides[AL_STAGE_BASE] = sides[AL_STAGE_BASE];
            wide = k;
        }
    }
}

int al_git_conflict_hunks(const struct al_repo *repo, struct al_run_limits *budget,
                          struct al_conflict_file *file, struct al_error *err)
{
    bool with_base;
    int r;

    if (!file->blocks.count)
        return 0;
    with_base = file->blocks.items[0].has_base;
    file->hunks = al_calloc(file->blocks.count, sizeof(*file->hunks));
    r = make(repo, file, with_base ? "--diff3" : NULL, budget, &file->made, err);
    if (r == 0 && !with_base && has_both(file))
        r = make(repo, file, "--zdiff3", budget, &file->wide, err);
    if (r == 0)
        r = number_hunks(repo, budget, file, err);
    if (r == 0)
        fill_sides(file);
    return r;
}

bool al_conflict_file_is(const struct al_repo *repo, const char *path, const struct al_str *disk)
{
    al_auto(al_conflict_file_clear) struct al_conflict_file file = AL_CONFLICT_FILE_INIT;

    return read_disk(repo, path, &file, NULL) == 0 && file.on_disk && file.disk.len == disk->len &&
           !memcmp(file.disk.buf, disk->buf, disk->len);
}

/* Lines as the file ends them: with a carriage return if the conflict has one. */
static void add_content(const char *content, bool with_returns, struct al_str *out)
{
    size_t len = strlen(content);

    for (size_t i = 0; i < len; i++) {
        if (with_returns && content[i] == '\n' && (i == 0 || content[i - 1] != '\r'))
            al_str_addc(out, '\r');
        al_str_addc(out, content[i]);
    }
    if (len && content[len - 1] != '\n')
        al_str_adds(out, with_returns ? "\r\n" : "\n");
}

static void add_choice(const struct al_conflict_file *file, const struct al_conflict_block *block,
                       const struct al_hunk_choice *choice, struct al_str *out)
{
    const struct al_str *stage = &file->stages[choice->side].data;
    const char *disk = file->disk.buf;
    const size_t start = out->len;

    if (choice->content) {
        add_content(choice->content, block->end > 1 && !memcmp(&disk[block->end - 2], "\r\n", 2),
                    out);
        return;
    }
    al_conflict_take_side(block->sides[choice->side], file->nested_size, choice->side, out);
    /* git ends the last line of a conflict with a newline even if the side has none */
    if (block->end < file->disk.len || !stage->len || out->len == start ||
        stage->buf[stage->len - 1] == '\n')
        return;
    al_str_truncate(out, out->len - 1);
    if (out->len > start && out->buf[out->len - 1] == '\r' && stage->buf[stage->len - 1] != '\r')
        al_str_truncate(out, out->len - 1);
}

void al_conflict_file_settle(const struct al_conflict_file *file,
                             const struct al_hunk_choice *choices, struct al_str *out)
{
    size_t at = 0;

    for (size_t i = 0; i < file->blocks.count; i++) {
        const struct al_conflict_block *block = &file->blocks.items[i];

        if (!choices[i].given)
            continue;
        al_str_add(out, file->disk.buf + at, block->start - at);
        add_choice(file, block, &choices[i], out);
        at = block->end;
    }
    al_str_add(out, file->disk.buf + at, file->disk.len - at);
}
