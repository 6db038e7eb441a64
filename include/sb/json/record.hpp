// SPDX-License-Identifier: MIT
// Converts described structs to JSON objects and back: one definition is used to write, to read and to make a schema.
#pragma once
#include <sb/core/result.hpp>
#include <sb/core/text.hpp>
#include <sb/json/parse.hpp>
#include <sb/core/value.hpp>
#include <sb/json/write.hpp>
#include <boost/describe.hpp>
#include <boost/mp11.hpp>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace sb::json {

/// A record is alone on its line and begins with `kind` and `v`.
template <class T>
concept record = requires {
    { T::kind } -> std::convertible_to<std::string_view>;
    { T::version } -> std::convertible_to<int>;
};
/// A record whose members are stored beside free keys of its own: it has its own functions to become an object and back.
template <class T>
concept open_record = record<T> && requires(T const& r, object const& o) {
    { r.to_object() } -> std::same_as<object>;
    { T::from_object(o) } -> std::same_as<result<T>>;
};
template <class T>
concept described_struct = boost::describe::has_describe_members<T>::value && !std::is_union_v<T>;
template <class T>
concept described_enum = std::is_enum_v<T> && boost::describe::has_describe_enumerators<T>::value;

namespace detail {

/// `class_` and the like are needed because of C++; JSON has `class`.
constexpr std::string_view json_name(char const* member) noexcept {
    std::string_view name{member};
    if (name.ends_with('_')) name.remove_suffix(1);
    return name;
}

template <class T>
struct is_optional : std::false_type {};
template <class T>
struct is_optional<std::optional<T>> : std::true_type {};
template <class T>
struct is_vector : std::false_type {};
template <class T>
struct is_vector<std::vector<T>> : std::true_type {};
template <class T>
struct is_map : std::false_type {};
template <class T>
struct is_map<std::map<std::string, T>> : std::true_type {};

template <described_struct T, class Use>
void each_member(Use use) {
    boost::mp11::mp_for_each<boost::describe::describe_members<T, boost::describe::mod_public>>(
        [&](auto member) { use(json_name(member.name), member.pointer); });
}

} // namespace detail

template <described_enum E>
constexpr std::string_view name_of(E e) noexcept {
    std::string_view name = "?";
    boost::mp11::mp_for_each<boost::describe::describe_enumerators<E>>([&](auto each) {
        if (each.value == e) name = detail::json_name(each.name);
    });
    return name;
}

/// ---- writing --------------------------------------------------------------------------------------------------

template <class T>
void append_record(std::string& to, T const& v) {
    if constexpr (detail::is_optional<T>::value) {
        if (v) append_record(to, *v);
        else to.append("null");
    } else if constexpr (std::same_as<T, bool>) {
        to.append(v ? "true" : "false");
    } else if constexpr (std::integral<T>) {
        append_number(to, v);
    } else if constexpr (std::floating_point<T>) {
        append_real(to, v);
    } else if constexpr (described_enum<T>) {
        append_string(to, name_of(v));
    } else if constexpr (std::convertible_to<T const&, std::string_view>) {
        append_string(to, v, true);
    } else if constexpr (detail::is_vector<T>::value || detail::is_map<T>::value) {
        constexpr bool map = detail::is_map<T>::value;
        to.push_back(map ? '{' : '[');
        bool first = true;
        for (auto const& each : v) {
            if (!std::exchange(first, false)) to.push_back(',');
            if constexpr (map) append_string(to, each.first), to.push_back(':'), append_record(to, each.second);
            else append_record(to, each);
        }
        to.push_back(map ? '}' : ']');
    } else if constexpr (open_record<T>) {
        append(to, value(v.to_object()));
    } else if constexpr (described_struct<T>) {
        bool first = true;
        to.push_back('{');
        if constexpr (record<T>) {
            to.append("\"kind\":"), append_string(to, T::kind);
            to.append(",\"v\":"), append_number(to, T::version);
            first = false;
        }
        detail::each_member<T>([&](std::string_view name, auto pointer) {
            if (!std::exchange(first, false)) to.push_back(',');
            to.push_back('"'), to.append(name), to.append("\":");
            append_record(to, v.*pointer);
        });
        to.push_back('}');
    } else {
        append(to, value(v));
    }
}

/// One record, one line.
template <record T>
std::string line(T const& r) {
    std::string text;
    append_record(text, r);
    text.push_back('\n');
    return text;
}

/// ---- reading --------------------------------------------------------------------------------------------------

namespace detail {
inline error expected(std::string_view what, std::string_view where) {
    return input_error(where.empty() ? cat("not ", what) : cat("\"", where, "\" is not ", what));
}
} // namespace detail

/// Fills `into`; the error names the wrong member. Unknown keys are skipped; only an optional may be missing.
template <class T>
result<void> read_record(value const& from, T& into, std::string_view where = {}) {
    using detail::expected;
    if constexpr (detail::is_optional<T>::value) {
        if (from.is_null()) {
            into.reset();
            return {};
        }
        return read_record(from, into.emplace(), where);
    } else if constexpr (std::same_as<T, bool>) {
        auto const* b = from.if_bool();
        if (!b) return expected("true or false", where);
        into = *b;
        return {};
    } else if constexpr (std::integral<T>) {
        auto const take = [&](auto const* given) {
            bool const fits = given && std::in_range<T>(*given);
            if (fits) into = static_cast<T>(*given);
            return fits;
        };
        if (!take(from.if_int64()) && !take(from.if_uint64())) return expected("an integer in range", where);
        return {};
    } else if constexpr (std::floating_point<T>) {
        if (!from.is_number() && !from.is_null()) return expected("a number", where);
        into = number_or(from, std::numeric_limits<T>::quiet_NaN()); // written as null, because it is not a JSON number
        return {};
    } else if constexpr (described_enum<T>) {
        auto const* s = from.if_string();
        bool known = false;
        if (s)
            boost::mp11::mp_for_each<boost::describe::describe_enumerators<T>>([&](auto each) {
                if (detail::json_name(each.name) == *s) into = each.value, known = true;
            });
        if (!known) return expected("a word that this version knows", where);
        return {};
    } else if constexpr (std::same_as<T, std::string>) {
        auto const* s = from.if_string();
        if (!s) return expected("a string", where);
        into = *s;
        return {};
    } else if constexpr (detail::is_vector<T>::value) {
        auto const* a = from.if_array();
        if (!a) return expected("an array", where);
        into.clear();
        for (auto const& each : *a) SB_CHECK(read_record(each, into.emplace_back(), where));
        return {};
    } else if constexpr (detail::is_map<T>::value) {
        auto const* o = from.if_object();
        if (!o) return expected("an object", where);
        into.clear();
        for (auto const& [key, each] : *o) SB_CHECK(read_record(each, into[key], key));
        return {};
    } else if constexpr (std::same_as<T, object>) {
        auto const* o = from.if_object();
        if (!o) return expected("an object", where);
        into = *o;
        return {};
    } else if constexpr (std::same_as<T, value>) {
        into = from;
        return {};
    } else if constexpr (open_record<T>) {
        auto const* o = from.if_object();
        if (!o) return expected("an object", where);
        SB_TRY(into, T::from_object(*o));
        return {};
    } else {
        static_assert(described_struct<T>);
        auto const* o = from.if_object();
        if (!o) return expected("an object", where);
        std::optional<error> wrong;
        detail::each_member<T>([&](std::string_view name, auto pointer) {
            if (wrong) return;
            auto& member = into.*pointer;
            if (auto const* given = o->if_contains(name)) {
                if (auto const got = read_record(*given, member, name); got.has_error()) wrong = got.error();
            } else if constexpr (!detail::is_optional<std::remove_reference_t<decltype(member)>>::value) {
                wrong = input_error(cat("no \"", name, "\""));
            }
        });
        if (wrong) return *wrong;
        return {};
    }
}

/// ---- schema ---------------------------------------------------------------------------------------------------

/// JSON Schema (2020-12) of a member's type.
template <class T>
object schema_of() {
    if constexpr (detail::is_optional<T>::value) {
        return {{"anyOf", array{schema_of<typename T::value_type>(), object{{"type", "null"}}}}};
    } else if constexpr (std::same_as<T, bool>) {
        return {{"type", "boolean"}};
    } else if constexpr (std::integral<T>) {
        return {{"type", "integer"}};
    } else if constexpr (std::floating_point<T>) {
        return {{"type", array{"number", "null"}}}; // a number that is not finite is written as null
    } else if constexpr (described_enum<T>) {
        array words;
        boost::mp11::mp_for_each<boost::describe::describe_enumerators<T>>(
            [&](auto each) { words.emplace_back(detail::json_name(each.name)); });
        return {{"enum", std::move(words)}};
    } else if constexpr (std::same_as<T, std::string>) {
        return {{"type", "string"}};
    } else if constexpr (detail::is_vector<T>::value) {
        return {{"type", "array"}, {"items", schema_of<typename T::value_type>()}};
    } else if constexpr (detail::is_map<T>::value) {
        return {{"type", "object"}, {"additionalProperties", schema_of<typename T::mapped_type>()}};
    } else if constexpr (std::same_as<T, object>) {
        return {{"type", "object"}};
    } else if constexpr (std::same_as<T, value>) {
        return {};
    } else if constexpr (requires { T::schema(); }) {
        return T::schema();
    } else {
        static_assert(described_struct<T>);
        object members;
        array required;
        if constexpr (record<T>) {
            members["kind"] = object{{"const", T::kind}};
            members["v"] = object{{"const", std::int64_t{T::version}}};
            required = {"kind", "v"};
        }
        detail::each_member<T>([&](std::string_view name, auto pointer) {
            using member = std::remove_reference_t<decltype(std::declval<T&>().*pointer)>;
            members[name] = schema_of<member>();
            if (!detail::is_optional<member>::value) required.emplace_back(name);
        });
        return {{"type", "object"}, {"properties", std::move(members)}, {"required", std::move(required)}};
    }
}

/// The schema of a record as a document of its own.
template <record T>
object schema_document() {
    object schema{{"$schema", "https://json-schema.org/draft/2020-12/schema"}, {"title", T::kind}};
    for (auto& [key, v] : schema_of<T>()) schema[key] = std::move(v);
    return schema;
}

} // namespace sb::json
