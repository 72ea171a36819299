// SPDX-License-Identifier: Apache-2.0
/* The one C++ file: toml++'s tree, handed to C one key at a time. */

/* pkg-config may say that the distribution's shared library is wanted; it is not. */
#undef TOML_HEADER_ONLY
#undef TOML_SHARED_LIB
#define TOML_HEADER_ONLY       1
#define TOML_EXCEPTIONS        0
#define TOML_ENABLE_FORMATTERS 0
#define TOML_MAX_NESTED_VALUES 16

/* toml++ asserts what a file can break ("[" before a line break), and goes on to report just that;
 * with NDEBUG it would take the assertion for granted instead. */
#undef NDEBUG
#define TOML_ASSERT(expr) static_cast<void>(0)
#include <toml++/toml.h>

#include <string>
#include <string_view>
#include <vector>

#include "config/toml.h"

namespace
{

struct walker {
    al_toml_visit_fn visit;
    void *payload;

    void table(const toml::table &from, const std::string &above) const;
    bool value(const toml::node &node, const std::string &key, unsigned line) const;
};

/*
 * toml++ recurses once for each part of a dotted key and bounds only brackets.  Gives the line with
 * more dots between two separators than any key or string of ours has, or 0.
 */
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

/* A quoted key may hold a dot; without its quotes it would pass for a key of a table. */
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
        for (const toml::node &item : *node.as_array())
            if (!item.is_string())
                return AL_TOML_LIST;
        return AL_TOML_STRINGS;
    default:
        return AL_TOML_TIME;
    }
}

bool walker::value(const toml::node &node, const std::string &key, unsigned line) const
{
    std::vector<al_toml_item> items;
    al_toml_value value = {};

    value.key = key.c_str();
    value.line = line;
    value.type = type_of(node);
    if (value.type == AL_TOML_BOOL)
        value.boolean = node.as_boolean()->get();
    else if (value.type == AL_TOML_INT)
        value.integer = node.as_integer()->get();
    else if (value.type == AL_TOML_STRING)
        items.push_back(item_of(node));
    else if (value.type == AL_TOML_STRINGS)
        for (const toml::node &item : *node.as_array())
            items.push_back(item_of(item));
    value.items = items.data();
    value.nitems = items.size();
    return visit(payload, &value);
}

void walker::table(const toml::table &from, const std::string &above) const
{
    for (auto &&[name, node] : from) {
        const std::string key = join(above, name.str());

        if (value(node, key, name.source().begin.line) && node.is_table())
            table(*node.as_table(), key);
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
    walker{ visit, payload }.table(result.table(), "");
    return 0;
}
