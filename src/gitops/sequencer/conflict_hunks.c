// SPDX-License-Identifier: Apache-2.0
#include "gitops/sequencer/conflict_hunks.h"

#include <fcntl.h>
#include <stdlib.h>

#include "gitops/location.h"
#include "gitops/oid.h"
#include "gitops/sequencer/conflict_numbers.h"
#include "guard/nofollow.h"
#include "util/fs.h"

#define ID_DIGITS 8

/* In a file with many conflicts that are not as git made them, those behind have no base. */
#define TRIES_FOR_EACH 64

void al_conflict_file_clear(struct al_conflict_file *file)
{
    for (size_t i = 0; file->hunks && i < file->blocks.count; i++)
        free(file->hunks[i].id);
    free(file->hunks);
    al_conflict_blocks_clear(&file->blocks);
    al_conflict_blocks_clear(&file->plain_blocks);
    al_conflict_blocks_clear(&file->merged_blocks);
    al_conflict_blocks_clear(&file->base_blocks);
    al_str_clear(&file->disk);
    al_str_clear(&file->plain);
    al_str_clear(&file->merged);
    al_str_clear(&file->merged_with_base);
    *file = AL_CONFLICT_FILE_INIT;
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
    file->on_disk = fd >= 0 && al_fs_read_fd(fd, AL_CONFLICT_FILE_BYTES, &file->disk) == 0;
    file->is_text = file->on_disk && !memchr(file->disk.buf, '\0', file->disk.len);
    return 0;
}

static void add_plain(const struct al_str *text, struct al_str *out)
{
    for (size_t i = 0; i < text->len; i++)
        if (text->buf[i] != '\r' || i + 1 == text->len || text->buf[i + 1] != '\n')
            al_str_addc(out, text->buf[i]);
}

/* The same hunk has the same digest, whatever the rest of the file is. */
static char *digest_of(const char *path, const struct al_conflict_block *block)
{
    char text[AL_OID_TEXT];
    struct al_hash hash;
    struct al_oid digest;

    al_hash_init(&hash, true);
    al_hash_add(&hash, path, strlen(path) + 1);
    for (size_t i = AL_STAGE_OURS; i <= AL_STAGE_THEIRS; i++) {
        uint64_t len = block->sides[i].len;

        al_hash_add(&hash, &len, sizeof(len));
        al_hash_add(&hash, block->sides[i].data, block->sides[i].len);
    }
    al_hash_end(&hash, &digest);
    al_oid_text(&digest, true, text);
    return al_strndup(text, ID_DIGITS);
}

static void number_hunks(const char *path, struct al_conflict_file *file)
{
    bool shows_base = file->plain_blocks.count && file->plain_blocks.items[0].has_base;
    const struct al_conflict_text disk = { &file->plain, &file->plain_blocks };
    const struct al_conflict_text made = {
        shows_base ? &file->merged_with_base : &file->merged,
        shows_base ? &file->base_blocks : &file->merged_blocks,
    };
    al_auto(al_freep) size_t *numbers = al_calloc(file->blocks.count + 1, sizeof(*numbers));

    al_conflict_number(&disk, &made, numbers);
    for (size_t i = 0; i < file->blocks.count; i++) {
        al_auto(al_freep) char *digest = digest_of(path, &file->plain_blocks.items[i]);

        file->hunks[i].id =
            numbers[i] > 1 ? al_asprintf("%s-%zu", digest, numbers[i]) : al_take(&digest);
    }
}

/* The number of bytes of whole lines that two texts have in common at their beginnings. */
static size_t common_lines(struct al_bytes a, struct al_bytes b)
{
    size_t common = 0;

    for (size_t i = 0; i < a.len && i < b.len && a.data[i] == b.data[i]; i++)
        if (a.data[i] == '\n')
            common = i + 1;
    return common;
}

/* The same at their ends. */
static size_t common_last_lines(struct al_bytes a, struct al_bytes b)
{
    size_t common = 0, i = 0;

    while (i < a.len && i < b.len && a.data[a.len - i - 1] == b.data[b.len - i - 1]) {
        i++;
        if (i == a.len || i == b.len || a.data[a.len - i - 1] == '\n')
            common = i == a.len || a.data[a.len - i - 1] == '\n' ? i : common;
    }
    return common;
}

/* The lines of the base that belong to a hunk: git's hunk with a base may be larger, by lines that
 * both sides have. */
static bool find_base(const struct al_conflict_block *wide, const struct al_conflict_block *block,
                      struct al_bytes *ret_base)
{
    const struct al_bytes *ours = &wide->sides[AL_STAGE_OURS];
    size_t at = al_bytes_find_lines(ours, &block->sides[AL_STAGE_OURS], 0);
    struct al_bytes base = wide->sides[AL_STAGE_BASE], before, behind;
    size_t cut;

    if (at == (size_t)-1 || al_bytes_find_lines(&wide->sides[AL_STAGE_THEIRS],
                                                &block->sides[AL_STAGE_THEIRS], 0) == (size_t)-1)
        return false;
    before = (struct al_bytes){ ours->data, at };
    behind = (struct al_bytes){ ours->data + at + block->sides[AL_STAGE_OURS].len,
                                ours->len - at - block->sides[AL_STAGE_OURS].len };
    cut = common_lines(before, base);
    base.data += cut;
    base.len -= cut;
    base.len -= common_last_lines(behind, base);
    *ret_base = base;
    return true;
}

static void fill_hunks(const char *path, struct al_conflict_file *file)
{
    size_t wide = 0, tries = TRIES_FOR_EACH * (file->blocks.count + file->base_blocks.count);

    file->hunks = al_calloc(file->blocks.count + 1, sizeof(*file->hunks));
    for (size_t i = 0; i < file->blocks.count; i++) {
        const struct al_conflict_block *block = &file->plain_blocks.items[i];
        struct al_conflict_hunk *hunk = &file->hunks[i];

        hunk->on_disk = &file->blocks.items[i];
        hunk->has_base = block->has_base;
        for (size_t k = 0; k < AL_STAGES; k++)
            hunk->sides[k] = block->sides[k];
        for (size_t k = wide; !hunk->has_base && k < file->base_blocks.count && tries; k++) {
            tries--;
            hunk->has_base =
                find_base(&file->base_blocks.items[k], block, &hunk->sides[AL_STAGE_BASE]);
            wide = hunk->has_base ? k : wide;
        }
    }
    number_hunks(path, file);
}

static bool has_links(const struct al_conflict *conflict)
{
    for (size_t i = 0; i < AL_STAGES; i++)
        if (al_side_is_link(&conflict->sides[i]) || al_side_is_submodule(&conflict->sides[i]))
            return true;
    return false;
}

int al_git_conflict_file(const struct al_repo *repo, const struct al_conflict *conflict,
                         struct al_run_limits *budget, struct al_conflict_file *file,
                         struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv paths = AL_STRV_INIT;
    size_t marker_size = AL_MARKER_SIZE;
    int r = has_links(conflict) ? 0 : read_disk(repo, conflict->path, file, err);

    if (r < 0 || !file->is_text)
        return r;
    al_strv_add(&paths, conflict->path);
    r = al_git_marker_sizes(repo, &paths, budget, &marker_size, err);
    if (r < 0)
        return r;
    al_conflict_blocks_find(file->disk.buf, file->disk.len, marker_size, &file->blocks);
    r = al_conflict_read_sides(repo, conflict, marker_size, budget, file, err);
    if (r < 0)
        return r;
    add_plain(&file->disk, &file->plain);
    al_conflict_blocks_find(file->plain.buf, file->plain.len, marker_size, &file->plain_blocks);
    al_conflict_blocks_find(file->merged.buf, file->merged.len, marker_size, &file->merged_blocks);
    al_conflict_blocks_find(file->merged_with_base.buf, file->merged_with_base.len, marker_size,
                            &file->base_blocks);
    fill_hunks(conflict->path, file);
    return 0;
}

bool al_conflict_file_is(const struct al_repo *repo, const char *path, const struct al_str *disk)
{
    al_auto(al_conflict_file_clear) struct al_conflict_file file = AL_CONFLICT_FILE_INIT;

    return read_disk(repo, path, &file, NULL) == 0 && file.on_disk && file.disk.len == disk->len &&
           !memcmp(file.disk.buf, disk->buf, disk->len);
}

const struct al_conflict_hunk *al_conflict_file_find(const struct al_conflict_file *file,
                                                     const char *id)
{
    for (size_t i = 0; i < file->blocks.count; i++)
        if (!strcmp(file->hunks[i].id, id))
            return &file->hunks[i];
    return NULL;
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

static const struct al_hunk_choice *choice_of(const struct al_conflict_hunk *hunk,
                                              const struct al_hunk_choice *choices, size_t nchoices)
{
    for (size_t i = 0; i < nchoices; i++)
        if (choices[i].hunk == hunk)
            return &choices[i];
    return NULL;
}

static void add_choice(const struct al_conflict_file *file, const struct al_hunk_choice *choice,
                       struct al_str *out)
{
    const struct al_conflict_block *block = choice->hunk->on_disk;
    const struct al_bytes *side = &block->sides[choice->side];

    if (choice->content) {
        add_content(choice->content,
                    file->disk.buf[block->end - 1] == '\n' && block->end > 1 &&
                        file->disk.buf[block->end - 2] == '\r',
                    out);
        return;
    }
    al_str_add(out, side->data, side->len);
    /* git ends the last line of a conflict with a newline even if the side has none */
    if (block->end == file->disk.len && !file->ends_with_newline[choice->side] && side->len)
        al_str_truncate(out, out->len - 1);
}

void al_conflict_file_settle(const struct al_conflict_file *file,
                             const struct al_hunk_choice *choices, size_t nchoices,
                             struct al_str *out)
{
    size_t at = 0;

    for (size_t i = 0; i < file->blocks.count; i++) {
        const struct al_conflict_block *block = &file->blocks.items[i];
        const struct al_hunk_choice *choice = choice_of(&file->hunks[i], choices, nchoices);

        if (!choice)
            continue;
        al_str_add(out, file->disk.buf + at, block->start - at);
        add_choice(file, choice, out);
        at = block->end;
    }
    al_str_add(out, file->disk.buf + at, file->disk.len - at);
}
