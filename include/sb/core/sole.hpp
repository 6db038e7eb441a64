// SPDX-License-Identifier: MIT
// Moves of objects that own one resource.
#pragma once
#include <memory>
#include <type_traits>
#include <utility>

namespace sb {

/// A number or pointer that names what one object alone holds. What it is moved from has `None` afterwards.
template <class T, T None>
class sole {
public:
    constexpr explicit sole(T what = None) noexcept : value_{what} {}
    constexpr sole(sole&& from) noexcept : value_{std::exchange(from.value_, None)} {}
    constexpr sole& operator=(sole&& from) noexcept { return *this = std::exchange(from.value_, None); }
    constexpr sole& operator=(T what) noexcept {
        value_ = what;
        return *this;
    }
    constexpr operator T() const noexcept { return value_; }
    constexpr T operator->() const noexcept
        requires std::is_pointer_v<T>
    {
        return value_;
    }

private:
    T value_;
};

/// For move assignment: ends what `held` holds, then takes over what `from` holds.
template <class T>
T& take_over(T& held, T&& from) noexcept {
    if (&held == &from) return held;
    std::destroy_at(&held);
    return *std::construct_at(&held, std::move(from));
}

} // namespace sb
