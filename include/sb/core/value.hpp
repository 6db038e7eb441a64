// SPDX-License-Identifier: MIT
// Any JSON value, for open maps and documents; objects keep the order in which they were written.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace sb {

class value;
using array = std::vector<value>;

/// Keys in order of first appearance; a later duplicate replaces the value (and the reader counts it).
class object {
public:
    using member = std::pair<std::string, value>;
    object() = default;
    object(std::initializer_list<member> members);

    value const* find(std::string_view key) const noexcept;
    value* find(std::string_view key) noexcept;
    value& operator[](std::string_view key);
    /// True when the key was new.
    bool set(std::string_view key, value v);
    bool erase(std::string_view key);
    bool empty() const noexcept;
    std::size_t size() const noexcept;
    auto begin() const noexcept { return members_.begin(); }
    auto end() const noexcept { return members_.end(); }
    auto begin() noexcept { return members_.begin(); }
    auto end() noexcept { return members_.end(); }
    std::vector<member>& members() noexcept {
        index_.drop();
        return members_;
    }
    friend bool operator==(object const&, object const&);

private:
    /// Where names are, once there are many: a hostile line has a hundred thousand. Made when first asked, and again after
    /// any change that it did not see; a copy of an object begins without.
    class name_index {
    public:
        name_index() = default;
        name_index(name_index const&) noexcept {}
        name_index(name_index&&) = default;
        name_index& operator=(name_index const&) noexcept {
            drop();
            return *this;
        }
        name_index& operator=(name_index&&) = default;
        void drop() noexcept { slots_.reset(); }
        std::size_t find(std::vector<member> const& all, std::string_view name);

    private:
        struct table {
            std::vector<std::uint32_t> places; // a member's number, counted from 1; 0 is free
            std::size_t known = 0; // so many members are in it
        };
        std::unique_ptr<table> slots_;
    };
    static constexpr std::size_t few = 32;
    std::size_t place_of(std::string_view key) const noexcept;

    std::vector<member> members_;
    mutable name_index index_;
};

class value {
public:
    value() = default;
    value(std::nullptr_t) {}
    value(bool b) : held_{b} {}
    value(int n) : held_{std::int64_t{n}} {}
    value(long n) : held_{std::int64_t{n}} {}
    value(long long n) : held_{static_cast<std::int64_t>(n)} {}
    value(std::uint64_t n) {
        if (n <= INT64_MAX) held_ = static_cast<std::int64_t>(n);
        else held_ = n;
    }
    value(double x) : held_{x} {}
    value(std::string s) : held_{std::move(s)} {}
    value(std::string_view s) : held_{std::string{s}} {}
    value(char const* s) : held_{std::string{s}} {}
    value(array a) : held_{std::move(a)} {}
    value(object o) : held_{std::move(o)} {}

    bool is_null() const noexcept { return std::holds_alternative<std::monostate>(held_); }
    bool is_number() const noexcept { return held_.index() >= 2 && held_.index() <= 4; }
    bool const* if_bool() const noexcept { return std::get_if<bool>(&held_); }
    std::int64_t const* if_integer() const noexcept { return std::get_if<std::int64_t>(&held_); }
    std::uint64_t const* if_natural() const noexcept { return std::get_if<std::uint64_t>(&held_); } ///< above 2^63 - 1
    double const* if_real() const noexcept { return std::get_if<double>(&held_); }
    std::string const* if_string() const noexcept { return std::get_if<std::string>(&held_); }
    array const* if_array() const noexcept { return std::get_if<array>(&held_); }
    object const* if_object() const noexcept { return std::get_if<object>(&held_); }
    array* if_array() noexcept { return std::get_if<array>(&held_); }
    object* if_object() noexcept { return std::get_if<object>(&held_); }
    /// Any number as a double; `otherwise` for what is none.
    double number_or(double otherwise) const noexcept {
        if (auto const* i = if_integer()) return static_cast<double>(*i);
        if (auto const* n = if_natural()) return static_cast<double>(*n);
        if (auto const* x = if_real()) return *x;
        return otherwise;
    }
    std::string_view string_or(std::string_view otherwise) const noexcept {
        auto const* s = if_string();
        return s ? std::string_view{*s} : otherwise;
    }
    friend bool operator==(value const&, value const&) = default;

private:
    std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string, array, object> held_;
};

inline object::object(std::initializer_list<member> members) {
    for (auto const& [key, v] : members) set(key, v);
}
inline bool object::empty() const noexcept { return members_.empty(); }
inline std::size_t object::size() const noexcept { return members_.size(); }
inline std::size_t object::name_index::find(std::vector<member> const& all, std::string_view name) {
    if (!slots_) slots_ = std::make_unique<table>();
    auto& places = slots_->places; // no structured binding: clang 14 lets no lambda capture one
    auto& known = slots_->known;
    if (places.size() < 2 * all.size()) places.assign(4 * all.size(), 0), known = 0;
    std::hash<std::string_view> const hash;
    auto const look = [&](std::string_view wanted) {
        auto at = hash(wanted) % places.size();
        while (places[at] != 0 && all[places[at] - 1].first != wanted) at = at + 1 == places.size() ? 0 : at + 1;
        return at;
    };
    for (; known < all.size(); ++known)
        if (auto const at = look(all[known].first); places[at] == 0) places[at] = static_cast<std::uint32_t>(known + 1);
    auto const at = places[look(name)];
    return at == 0 ? all.size() : at - 1;
}
inline std::size_t object::place_of(std::string_view key) const noexcept {
    if (members_.size() > few) return index_.find(members_, key);
    std::size_t i = 0;
    while (i < members_.size() && members_[i].first != key) ++i;
    return i;
}
inline value const* object::find(std::string_view key) const noexcept {
    auto const i = place_of(key);
    return i < members_.size() ? &members_[i].second : nullptr;
}
inline value* object::find(std::string_view key) noexcept {
    return const_cast<value*>(std::as_const(*this).find(key));
}
inline bool object::set(std::string_view key, value v) {
    if (auto* const there = find(key)) {
        *there = std::move(v);
        return false;
    }
    members_.emplace_back(key, std::move(v));
    return true;
}
inline value& object::operator[](std::string_view key) {
    if (auto* const there = find(key)) return *there;
    return members_.emplace_back(key, value{}).second;
}
inline bool object::erase(std::string_view key) {
    index_.drop();
    return std::erase_if(members_, [&](member const& m) { return m.first == key; }) > 0;
}
inline bool operator==(object const& a, object const& b) { return a.members_ == b.members_; }

} // namespace sb
