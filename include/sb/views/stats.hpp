// SPDX-License-Identifier: MIT
// Statistics at the end of a pipe, by range-v3:
//
//     for (auto const& got : series | sb::stats::rolling(50) | sb::stats::adf(asked)) …
//
// Everything is lazy, and a window is a span of the series itself: the series must outlive the view. The closures stand beside
// the functions that they call, in sb::stats. A view with memory that it reuses is for one thread at a time.
#pragma once
#include <sb/stats/adf.hpp>
#include <sb/stats/kpss.hpp>
#include <sb/stats/means.hpp>
#include <sb/stats/moments.hpp>
#include <sb/stats/robust.hpp>
#include <sb/stats/rolling_adf.hpp>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <optional>
#include <range/v3/view/facade.hpp>
#include <range/v3/view/transform.hpp>
#include <range/v3/view/view.hpp>
#include <ranges>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace sb::stats {

namespace detail {

/// What a span of constants can be made of and stays valid: not a temporary vector.
template <class Series>
concept held_series = std::ranges::contiguous_range<Series> && std::ranges::sized_range<Series> && std::ranges::borrowed_range<Series>;

template <class Value>
class window_view : public ranges::view_facade<window_view<Value>, ranges::finite> {
public:
    window_view() = default;
    window_view(std::span<Value const> series, std::size_t size) noexcept
        : first_{series.data()}, size_{size}, count_{size == 0 || series.size() < size ? 0 : series.size() - size + 1} {}

private:
    friend ranges::range_access;
    struct cursor {
        Value const* at = nullptr;
        std::size_t size = 0;
        std::span<Value const> read() const noexcept { return {at, size}; }
        bool equal(cursor const& other) const noexcept { return at == other.at; }
        void next() noexcept { ++at; }
        void prev() noexcept { --at; }
        void advance(std::ptrdiff_t by) noexcept { at += by; }
        std::ptrdiff_t distance_to(cursor const& other) const noexcept { return other.at - at; }
    };
    cursor begin_cursor() const noexcept { return {first_, size_}; }
    cursor end_cursor() const noexcept { return {first_ + count_, size_}; }

    Value const* first_ = nullptr;
    std::size_t size_ = 0, count_ = 0;
};
struct windows_of {
    std::size_t size = 0;
    template <held_series Series>
    auto operator()(Series&& series) const noexcept {
        return window_view<std::ranges::range_value_t<Series>>{{std::ranges::data(series), std::ranges::size(series)}, size};
    }
};

/// A test with the memory that its calls reuse, each copy its own.
template <class Request, class Room, class Test>
struct test_with {
    Request asked;
    Test test;
    mutable Room room{};
    auto operator()(std::span<double const> values) const { return test(values, asked, room); }
};

/// The test of windows that mostly move by one value: quick for those that do (rolling_adf.hpp), by what they hold and not by
/// where it is, so that a series may change between two looks at it.
class moving_adf {
public:
    explicit moving_adf(adf_request const& asked) : asked_{asked} {}
    adf_answer operator()(std::span<double const> values) const {
        auto& now = now_;
        bool const alike = !values.empty() && values.size() == now.values.size();
        if (alike && same(values, now.values)) return now.answer; // looked at twice
        if (alike && same(values.first(values.size() - 1), std::span{now.values}.subspan(1))) {
            if (!now.window) {
                now.window.emplace(values.size(), asked_);
                for (double const x : now.values) (void)now.window->push(x);
            }
            now.answer = *now.window->push(values.back());
        } else {
            now.window.reset();
            now.answer = adf(values, asked_, now.room);
        }
        now.values.assign(values.begin(), values.end());
        return now.answer;
    }

private:
    static bool same(std::span<double const> a, std::span<double const> b) noexcept { return std::memcmp(a.data(), b.data(), a.size_bytes()) == 0; }

    struct memory {
        std::vector<double> values; // of the last window
        adf_answer answer; // to it
        std::optional<adf_window> window; // when the last two were neighbours
        adf_room room;
    };
    adf_request asked_;
    mutable memory now_;
};
struct adf_of {
    adf_request asked;
    template <ranges::viewable_range Spans>
    auto operator()(Spans&& spans) const {
        constexpr auto test = [](std::span<double const> values, adf_request const& request, adf_room& room) { return adf(values, request, room); };
        if constexpr (std::same_as<std::remove_cvref_t<Spans>, window_view<double>>) return ranges::views::transform(spans, moving_adf{asked});
        else return ranges::views::transform(std::forward<Spans>(spans), test_with<adf_request, adf_room, decltype(test)>{asked, test, {}});
    }
};

} // namespace detail

/// All windows of so many neighbours, each one value after the last; none if there are fewer values.
inline auto rolling(std::size_t window) { return ranges::make_view_closure(detail::windows_of{window}); }

/// What a function says of each span.
template <class Function>
auto each(Function function) { return ranges::views::transform(std::move(function)); }

/// The augmented Dickey-Fuller test of each span; behind rolling() the quick one.
template <std::same_as<adf_request> Request = adf_request>
auto adf(Request const& asked = {}) { return ranges::make_view_closure(detail::adf_of{asked}); }
/// The test of Kwiatkowski, Phillips, Schmidt and Shin of each span.
template <std::same_as<kpss_request> Request = kpss_request>
auto kpss(Request const& asked = {}) {
    constexpr auto test = [](std::span<double const> values, kpss_request const& request, std::vector<double>& room) { return kpss(values, request, room); };
    return each(detail::test_with<kpss_request, std::vector<double>, decltype(test)>{asked, test, {}});
}
/// The mean of each span, with its error.
inline auto mean_of(bool autocorrelated = false) {
    return each([autocorrelated](std::span<double const> values) { return mean_of(values, autocorrelated); });
}
inline auto median_of() {
    return each([](std::span<double const> values) { return median_of(values); });
}

} // namespace sb::stats
