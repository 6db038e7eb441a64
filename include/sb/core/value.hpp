// SPDX-License-Identifier: MIT
// Any JSON value, for open maps and documents: Boost.JSON's. Objects keep the order in which keys came (`stable_erase` too;
// `erase` does not). A program that uses one needs Boost.JSON's code once: see sb/json/compiled_once.hpp.
#pragma once
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <algorithm>
#include <string_view>
#include <vector>

namespace sb {

using value = boost::json::value;
using array = boost::json::array;
using object = boost::json::object;

/// Any number as a double; `otherwise` for what is none.
inline double number_or(value const& v, double otherwise) noexcept {
    if (auto const* i = v.if_int64()) return static_cast<double>(*i);
    if (auto const* n = v.if_uint64()) return static_cast<double>(*n);
    if (auto const* x = v.if_double()) return *x;
    return otherwise;
}
inline std::string_view string_or(value const& v, std::string_view otherwise) noexcept {
    auto const* s = v.if_string();
    return s ? std::string_view{s->data(), s->size()} : otherwise;
}

/// Puts the keys into the order of their bytes.
inline void sort_keys(object& o) {
    std::vector<object::value_type*> members;
    members.reserve(o.size());
    for (auto& each : o) members.push_back(&each);
    std::sort(members.begin(), members.end(), [](auto const* a, auto const* b) { return a->key() < b->key(); });
    object sorted(o.storage());
    sorted.reserve(members.size());
    for (auto* each : members) sorted.insert(std::move(*each));
    o = std::move(sorted);
}

} // namespace sb
