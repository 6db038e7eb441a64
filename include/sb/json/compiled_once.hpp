// SPDX-License-Identifier: MIT
// The part of sb/json that is compiled once: the reader (simdjson) and Boost.JSON. Include it in exactly one source file of
// a program that reads JSON or uses documents, and link simdjson. If Boost.JSON's own library is linked, define
// SB_BOOST_JSON_IS_LINKED.
//
// How it works: simdjson's On-Demand reader walks the text and returns tokens; values are made of them in order. number.hpp
// reads the numbers, so that integers stay exact and a negative zero survives. The locator reads a text that simdjson
// refused again, and finds where and why. Both must agree on which texts are valid (tests/fuzz/document_fuzz.cpp).
#pragma once
#include <sb/json/parse.hpp>
#include <sb/json/unescape.hpp>
#if !defined(SB_BOOST_JSON_IS_LINKED)
#include <boost/json/src.hpp>
#endif
#include <simdjson.h>
#include <algorithm>
#include <string>

namespace sb::json {

namespace detail {

/// What a thread keeps from one text to the next.
class simdjson_reader {
public:
    static simdjson_reader& of_this_thread() {
        static thread_local simdjson_reader reader;
        return reader;
    }

    bool make(std::string_view text, value& into, std::size_t& duplicates, int depth) {
        simdjson::ondemand::document document;
        simdjson::ondemand::value root;
        if (parser_.iterate(padded(text)).get(document) != simdjson::SUCCESS || document.get_value().get(root) != simdjson::SUCCESS) return false;
        return make(root, into, duplicates, depth) && is_through(document);
    }

    bool members(std::string_view text, std::span<wanted_member> wanted, std::size_t& duplicates, int depth) {
        simdjson::ondemand::document document;
        simdjson::ondemand::object object;
        if (parser_.iterate(padded(text)).get(document) != simdjson::SUCCESS || document.get_object().get(object) != simdjson::SUCCESS) return false;
        for (auto each : object) {
            simdjson::ondemand::field field;
            std::string_view key;
            if (std::move(each).get(field) != simdjson::SUCCESS || field.unescaped_key().get(key) != simdjson::SUCCESS) return false;
            for (auto& member : wanted) {
                if (member.name != key) continue;
                if (member.is_there) ++duplicates;
                member.is_there = true;
                if (!make(field.value(), member.given, duplicates, depth - 1)) return false;
                break;
            }
        }
        return is_through(document);
    }

    bool check(std::string_view text, int depth) {
        if (static_cast<std::size_t>(depth) != checker_.max_depth() && checker_.allocate(checker_.capacity(), static_cast<std::size_t>(depth)) != simdjson::SUCCESS) return false;
        auto const here = padded(text);
        return checker_.parse(here.data(), here.size(), false).error() == simdjson::SUCCESS;
    }

private:
    static constexpr std::size_t usual = std::size_t{1} << 20; ///< room for texts of this size is kept

    simdjson::padded_string_view padded(std::string_view text) {
        if (text_.size() > usual && text.size() <= usual) *this = {}; // a text was large: its room is freed
        auto const size = text.size() + simdjson::SIMDJSON_PADDING;
        if (text_.size() < size) text_.resize(size);
        text.copy(text_.data(), text.size());
        // a text without its last bracket is walked one token beyond its end; bytes of an earlier text must not continue it
        std::fill_n(text_.data() + text.size(), simdjson::SIMDJSON_PADDING, '\0');
        return simdjson::padded_string_view{text_.data(), text.size(), text_.size()};
    }
    static bool is_through(simdjson::ondemand::document& document) { return document.current_location().error() == simdjson::OUT_OF_BOUNDS; }

    static bool make(simdjson::ondemand::value from, value& into, std::size_t& duplicates, int depth) {
        using simdjson::SUCCESS;
        using type = simdjson::ondemand::json_type;
        type is{};
        if (from.type().get(is) != SUCCESS) return false;
        if (is == type::object) {
            simdjson::ondemand::object object;
            if (depth <= 0 || from.get_object().get(object) != SUCCESS) return false;
            auto& members = into.emplace_object();
            for (auto each : object) {
                simdjson::ondemand::field field;
                std::string_view key;
                if (std::move(each).get(field) != SUCCESS || field.unescaped_key().get(key) != SUCCESS) return false;
                auto const [place, is_new] = members.emplace(key, nullptr);
                if (!is_new) ++duplicates;
                if (!make(field.value(), place->value(), duplicates, depth - 1)) return false;
            }
            return true;
        }
        if (is == type::array) {
            simdjson::ondemand::array array;
            if (depth <= 0 || from.get_array().get(array) != SUCCESS) return false;
            auto& elements = into.emplace_array();
            for (auto each : array) {
                simdjson::ondemand::value element;
                if (std::move(each).get(element) != SUCCESS || !make(element, elements.emplace_back(nullptr), duplicates, depth - 1)) return false;
            }
            return true;
        }
        if (is == type::string) {
            std::string_view text;
            if (from.get_string().get(text) != SUCCESS) return false;
            into.emplace_string().assign(text);
            return true;
        }
        return make_scalar(trim(from.raw_json_token()), into);
    }

public:
    static bool make_scalar(std::string_view token, value& into) {
        if (token == "null") return into.emplace_null(), true;
        if (token == "true" || token == "false") return into = token == "true", true;
        bool whole = false;
        if (token.empty() || number_length(token, whole) != token.size()) return false;
        auto const n = read_number(token, whole);
        switch (n.kind) {
        case number_kind::integer: return into = n.integer, true;
        case number_kind::natural: return into = n.natural, true;
        case number_kind::real: return into = n.real, true;
        case number_kind::overflow:
        case number_kind::malformed: break;
        }
        return false;
    }

private:
    simdjson::ondemand::parser parser_;
    simdjson::dom::parser checker_;
    std::string text_;
};

/// For a text that simdjson refused. If only simdjson finds a problem, the text is too large for it: beyond 4 GiB.
inline fault refused(std::string_view text, parse_limits limits) {
    return locate(text, limits).value_or(fault{0, "too large a text"});
}

} // namespace detail

std::optional<fault> parse(std::string_view text, value& into, std::size_t* duplicates, parse_limits limits) {
    auto const whole = trim(text);
    if (!whole.starts_with('{') && !whole.starts_with('[')) { // one scalar: there is nothing to walk
        if (auto const wrong = locate(text, limits)) return wrong;
        std::string decoded;
        if (!whole.starts_with('"')) (void)detail::simdjson_reader::make_scalar(whole, into);
        else if (unescape(whole.substr(1, whole.size() - 2), decoded)) return fault{0, "not a value"};
        else into.emplace_string().assign(decoded);
        return std::nullopt;
    }
    std::size_t repeated = 0;
    if (!detail::simdjson_reader::of_this_thread().make(text, into, repeated, limits.depth)) return detail::refused(text, limits);
    if (duplicates) *duplicates += repeated;
    return std::nullopt;
}

std::optional<fault> read_members(std::string_view text, std::span<wanted_member> wanted, std::size_t* duplicates, parse_limits limits) {
    std::size_t repeated = 0;
    if (!detail::simdjson_reader::of_this_thread().members(text, wanted, repeated, limits.depth)) return detail::refused(text, limits);
    if (duplicates) *duplicates += repeated;
    return std::nullopt;
}

std::optional<fault> check(std::string_view text, parse_limits limits) {
    if (text.starts_with("\xef") || !detail::simdjson_reader::of_this_thread().check(text, limits.depth)) return locate(text, limits);
    return std::nullopt;
}

} // namespace sb::json
