// SPDX-License-Identifier: MIT
// A value, or one line a person can act on.
#pragma once
#include <boost/system/result.hpp>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace sb {

/// Who can mend it; decides the exit status.
enum class blame { caller, input, system };

struct error {
    blame on;
    std::string what; ///< "open /sys/fs/cgroup/sb: Permission denied"
};

/// What `value()` throws on a result that holds an error: the caller did not look.
[[noreturn]] inline void throw_exception_from_error(error const& e, boost::source_location const&) {
    throw std::runtime_error{e.what};
}

template <class T>
struct [[nodiscard]] result : boost::system::result<T, error> {
    using boost::system::result<T, error>::result;
};

inline error caller_error(std::string what) { return {blame::caller, std::move(what)}; }
inline error input_error(std::string what) { return {blame::input, std::move(what)}; }
inline error system_error(std::string what) { return {blame::system, std::move(what)}; }

/// The line for `errno` (or `code`) after `verb` failed on `name`.
inline error errno_error(std::string_view verb, std::string_view name, int code) {
    std::string what{verb};
    if (!name.empty()) what.append(" ").append(name);
    what.append(": ").append(std::strerror(code));
    return system_error(std::move(what));
}
inline error last_error(std::string_view verb, std::string_view name = {}) {
    return errno_error(verb, name, errno);
}

} // namespace sb

#define SB_JOIN2(a, b) a##b
#define SB_JOIN(a, b) SB_JOIN2(a, b)

/// `SB_TRY(auto fd, open_file(path, O_RDONLY));` gives the value or returns the error from here.
#define SB_TRY(target, ...)                                                                                            \
    auto SB_JOIN(sb_try_, __LINE__) = (__VA_ARGS__);                                                                   \
    if (SB_JOIN(sb_try_, __LINE__).has_error()) return std::move(SB_JOIN(sb_try_, __LINE__)).error();                  \
    target = std::move(SB_JOIN(sb_try_, __LINE__)).value()

/// The same for a `result<void>`.
#define SB_CHECK(...)                                                                                                  \
    do {                                                                                                               \
        if (auto sb_check_ = (__VA_ARGS__); sb_check_.has_error()) return std::move(sb_check_).error();                \
    } while (0)
