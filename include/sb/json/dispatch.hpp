// SPDX-License-Identifier: MIT
// Passes one line to the handler of its kind: each handler names a record, or the members of one that it needs.
//
//     json::dispatch(line,
//         json::on<preset_record>([&](preset_record preset) { … }),               // the whole record
//         json::on<&run_record::run_id, &run_record::wall_s>([&](std::string id, double wall_s) { … }), // only these two members are read
//         json::on<lease_record>([&] { … }),                                      // only its kind
//         json::otherwise([&](std::string_view kind) { … }));                     // a kind without a handler
#pragma once
#include <sb/json/record.hpp>
#include <array>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace sb::json {

/// The result of dispatching a line.
struct dispatched {
    enum class line_is : std::uint8_t {
        taken, ///< a handler of its kind was called
        other, ///< there is no handler for its kind
        without_kind, ///< an object without a kind, or whose kind is not text
        no_object, ///< JSON, but not an object
        misfit, ///< of a known kind, but its members do not fit: `what`
        broken ///< not JSON: `at` and `what`
    };
    line_is is = line_is::taken;
    std::size_t duplicates = 0; ///< of keys that were read; the last value of each counts
    std::size_t at = 0; ///< byte position, from 0
    std::string what = {};
};

namespace detail {

template <class T>
struct member_of;
template <class Record, class Member>
struct member_of<Member Record::*> {
    using record = Record;
    using member = Member;
};

template <record R, class Use>
struct record_handler {
    using handles = R;
    Use use;
};
template <auto First, auto... Rest>
struct member_list {};
template <class Members, class Use>
struct member_handler;
template <auto First, auto... Rest, class Use>
struct member_handler<member_list<First, Rest...>, Use> {
    using handles = typename member_of<decltype(First)>::record;
    static_assert((std::same_as<handles, typename member_of<decltype(Rest)>::record> && ...), "the members of one record");
    Use use;
};
template <class Use>
struct other_handler {
    using handles = void;
    Use use;
};

} // namespace detail

/// The name in JSON of a record's member.
template <auto Member>
constexpr std::string_view name_of_member() noexcept {
    using of = detail::member_of<decltype(Member)>;
    std::string_view name;
    boost::mp11::mp_for_each<boost::describe::describe_members<typename of::record, boost::describe::mod_public>>([&](auto each) {
        if constexpr (std::same_as<std::remove_cv_t<decltype(each.pointer)>, decltype(Member)>)
            if (each.pointer == Member) name = detail::json_name(each.name);
    });
    return name;
}

template <record R, class Use>
constexpr auto on(Use use) {
    return detail::record_handler<R, Use>{std::move(use)};
}
template <auto First, auto... Rest, class Use>
constexpr auto on(Use use) {
    return detail::member_handler<detail::member_list<First, Rest...>, Use>{std::move(use)};
}
template <class Use>
constexpr auto otherwise(Use use) {
    return detail::other_handler<Use>{std::move(use)};
}

/// The kind of an object; null unless it is given as text.
inline value const* kind_of(object const& o) noexcept {
    auto const* const kind = o.if_contains("kind");
    return kind && kind->if_string() ? kind : nullptr;
}

namespace detail {

/// Reads what the handler needs and calls it; false: the kind does not belong to this handler.
class dispatching {
public:
    dispatching(std::string_view line, std::string_view kind, dispatched& into) noexcept : line_{line}, kind_{kind}, into_{into} {}

    template <record R, class Use>
    bool operator()(record_handler<R, Use>& handler) {
        if (kind_ != R::kind) return false;
        if constexpr (std::invocable<Use&>) {
            handler.use();
        } else {
            value whole;
            R record;
            if (auto const wrong = parse(line_, whole, &into_.duplicates)) into_.is = dispatched::line_is::broken, into_.at = wrong->at, into_.what = wrong->what;
            else if (auto const got = read_record(whole, record); got.has_error()) into_.is = dispatched::line_is::misfit, into_.what = got.error().what;
            else handler.use(std::move(record));
        }
        return true;
    }
    template <auto... Members, class Use>
    bool operator()(member_handler<member_list<Members...>, Use>& handler) {
        if (kind_ != member_handler<member_list<Members...>, Use>::handles::kind) return false;
        std::array<wanted_member, sizeof...(Members)> wanted{wanted_member{name_of_member<Members>()}...};
        std::tuple<typename member_of<decltype(Members)>::member...> made;
        if (auto const wrong = read_members(line_, wanted, &into_.duplicates)) {
            into_.is = dispatched::line_is::broken, into_.at = wrong->at, into_.what = wrong->what;
            return true;
        }
        std::size_t next = 0;
        bool const fits = std::apply([&](auto&... each) { return (fill(wanted[next++], each) && ...); }, made);
        if (fits) std::apply([&](auto&... each) { handler.use(std::move(each)...); }, made);
        return true;
    }
    template <class Use>
    bool operator()(other_handler<Use>&) {
        return false;
    }

private:
    template <class T>
    bool fill(wanted_member const& from, T& into) {
        if (!from.is_there) {
            if constexpr (is_optional<T>::value) return true;
            else return into_.is = dispatched::line_is::misfit, into_.what = cat("no \"", from.name, "\""), false;
        }
        auto const got = read_record(from.given, into, from.name);
        if (got.has_error()) into_.is = dispatched::line_is::misfit, into_.what = got.error().what;
        return !got.has_error();
    }

    std::string_view line_, kind_;
    dispatched& into_;
};

template <class Use>
void call_other(other_handler<Use>& handler, std::string_view kind) {
    handler.use(kind);
}
template <class Handler>
void call_other(Handler&, std::string_view) {}

} // namespace detail

/// Every byte of the line is checked. Only the members that a handler names are made into values.
template <class... Handlers>
dispatched dispatch(std::string_view line, Handlers... handlers) {
    dispatched done;
    if (auto const wrong = check(line)) {
        done.is = dispatched::line_is::broken, done.at = wrong->at, done.what = wrong->what;
        return done;
    }
    std::array<wanted_member, 1> kind{wanted_member{"kind"}};
    if (!trim(line).starts_with('{') || read_members(line, kind)) {
        done.is = dispatched::line_is::no_object, done.what = "not an object";
        return done;
    }
    if (!kind[0].given.is_string()) {
        done.is = dispatched::line_is::without_kind;
        return done;
    }
    auto const said = string_or(kind[0].given, {});
    detail::dispatching offer{line, said, done};
    if ((offer(handlers) || ...)) return done;
    done.is = dispatched::line_is::other;
    (detail::call_other(handlers, said), ...);
    return done;
}

} // namespace sb::json
