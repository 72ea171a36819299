// SPDX-License-Identifier: Apache-2.0
/* The only C++ file: it passes toml++'s tree to C, one key at a time. */

/* pkg-config may ask for the distribution's shared library; airlock uses the headers only. */
#undef TOML_HEADER_ONLY
#undef TOML_SHARED_LIB
#define TOML_HEADER_ONLY       1
#define TOML_EXCEPTIONS        0
#define TOML_ENABLE_FORMATTERS 0
#define TOML_MAX_NESTED_VALUES 16

/* Some of toml++'s assertions fail for a malformed file ("[" before a line break), and toml++ then
 * reports the error.  With NDEBUG it would assume that the assertion holds, so the assertions are
 * disabled here in another way. */
#undef NDEBUG
#define TOML_ASSERT(expr) static_cast<void>(0)
#include <toml++/toml.h>

#include <string>
#include <string_view>
#include <vector>

#include "cli/config/toml.h"

namespace
{

struct walker {
    al_toml_visit_fn visit;
    void *payload;

    void table(const toml::table &from, const std::string &above, unsigned depth) const;
    void list(const toml::array &from, al_toml_value place, unsigned depth) const;
    bool value(const toml::node &node, al_toml_value place) const;
};

/* toml++ recurses once for each part of a dotted key, and limits only brackets.  Returns the line
 * that has more dots between two separators than any key or string of airlock's configuration, or
 * 0. */
unsigned too_deep(std::string_view text)
{
    constexpr unsigned max_dots = 256;
    unsigned line = 1, dots = 0;

    for (char c : text) {
        if (c == '.' && ++dots > max_dots)
            return line;
        if (c == '\n')
            line++;
        if (std::string_view("\n=,[]{}").find(c) != std::string_view::npos)
            dots = 0;
    }
    return 0;
}

bool is_bare(std::string_view key)
{
    for (char c : key)
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
              c == '_' || c == '-'))
            return false;
    return !key.empty();
}

/* A quoted key may contain a dot; without its quotes it would look like a key of a table. */
std::string join(const std::string &above, std::string_view key)
{
    std::string part = is_bare(key) ? std::string(key) : '"' + std::string(key) + '"';

    return above.empty() ? part : above + '.' + part;
}

al_toml_item item_of(const toml::node &node)
{
    const std::string &text = node.as_string()->get();

    return { text.c_str(), text.size(), node.source().begin.line };
}

al_toml_type type_of(const toml::node &node)
{
    switch (node.type()) {
    case toml::node_type::table:
        return AL_TOML_TABLE;
    case toml::node_type::string:
        return AL_TOML_STRING;
    case toml::node_type::integer:
        return AL_TOML_INT;
    case toml::node_type::boolean:
        return AL_TOML_BOOL;
    case toml::node_type::floating_point:
        return AL_TOML_FLOAT;
    case toml::node_type::array:
        if (!node.as_array()->empty() && node.as_array()->is_homogeneous<toml::table>())
            return AL_TOML_TABLES;
        for (const toml::node &item : *node.as_array())
            if (!item.is_string())
                return AL_TOML_LIST;
        return AL_TOML_STRINGS;
    default:
        return AL_TOML_TIME;
    }
}

/* `place` has every member set but the value. */
bool walker::value(const toml::node &node, al_toml_value place) const
{
    std::vector<al_toml_item> items;

    place.type = type_of(node);
    if (place.type == AL_TOML_BOOL)
        place.boolean = node.as_boolean()->get();
    else if (place.type == AL_TOML_INT)
        place.integer = node.as_integer()->get();
    else if (place.type == AL_TOML_STRING)
        items.push_back(item_of(node));
    else if (place.type == AL_TOML_STRINGS)
        for (const toml::node &item : *node.as_array())
            items.push_back(item_of(item));
    place.items = items.data();
    place.nitems = place.type == AL_TOML_TABLES ? node.as_array()->size() : items.size();
    return visit(payload, &place);
}

void walker::list(const toml::array &from, al_toml_value place, unsigned depth) const
{
    place.in_list = true;
    for (const toml::node &item : from) {
        place.line = item.source().begin.line;
        if (value(item, place))
            table(*item.as_table(), place.key, depth + 1);
    }
}

void walker::table(const toml::table &from, const std::string &above, unsigned depth) const
{
    for (auto &&[name, node] : from) {
        const std::string key = join(above, name.str());
        al_toml_value place = {};

        place.key = key.c_str();
        place.name = name.str().data();
        place.name_len = name.str().size();
        place.depth = depth;
        place.line = name.source().begin.line;
        if (!value(node, place))
            continue;
        if (node.is_table())
            table(*node.as_table(), key, depth + 1);
        else if (type_of(node) == AL_TOML_TABLES)
            list(*node.as_array(), place, depth);
    }
}

} // namespace

int al_toml_walk(const char *text, size_t len, al_toml_visit_fn visit, al_toml_fail_fn fail,
                 void *payload)
{
    if (unsigned line = too_deep(std::string_view(text, len))) {
        fail(payload, line, "too many dots");
        return -1;
    }
    const toml::parse_result result = toml::parse(std::string_view(text, len));
    if (!result) {
        const std::string what(result.error().description());

        fail(payload, result.error().source().begin.line, what.c_str());
        return -1;
    }
    walker{ visit, payload }.table(result.table(), "", 0);
    return 0;
}
