// SPDX-License-Identifier: MIT
// File descriptors, owned from birth.
#pragma once
#include <sb/core/result.hpp>
#include <cerrno>
#include <fcntl.h>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace sb {

/// Owns one file descriptor; -1 is none.
class unique_fd {
public:
    explicit unique_fd(int fd = -1) noexcept : fd_{fd} {}
    unique_fd(unique_fd&& from) noexcept : fd_{std::exchange(from.fd_, -1)} {}
    unique_fd& operator=(unique_fd&& from) noexcept {
        std::swap(fd_, from.fd_);
        return *this;
    }
    ~unique_fd() { reset(); }
    int get() const noexcept { return fd_; }
    int release() noexcept { return std::exchange(fd_, -1); }
    explicit operator bool() const noexcept { return fd_ >= 0; }
    void reset() noexcept {
        if (fd_ >= 0) ::close(std::exchange(fd_, -1)); // once: Linux frees the number even when close reports EINTR
    }

private:
    int fd_;
};

/// Calls again while a signal interrupts.
template <class Call>
auto retry(Call call) {
    for (;;)
        if (auto const outcome = call(); outcome >= 0 || errno != EINTR) return outcome;
}

/// open(2), always close-on-exec: a sandboxed program inherits what is named, never what leaked.
inline result<unique_fd> open_file(std::string const& path, int flags, mode_t mode = 0) {
    int const fd = retry([&] { return ::open(path.c_str(), flags | O_CLOEXEC, mode); });
    if (fd < 0) return last_error("open", path.empty() ? "\"\"" : path);
    return unique_fd{fd};
}

struct pipe_ends {
    unique_fd read, write;
};

inline result<pipe_ends> make_pipe(int flags = 0) {
    int ends[2];
    if (::pipe2(ends, flags | O_CLOEXEC) < 0) return last_error("pipe");
    return pipe_ends{unique_fd{ends[0]}, unique_fd{ends[1]}};
}

/// What a descriptor has to say up to its end, of at most `limit` bytes; `path` is for the error.
inline result<std::string> read_all(int fd, std::string const& path, std::size_t limit) {
    std::string text;
    char block[1 << 14];
    for (;;) {
        auto const n = retry([&] { return ::read(fd, block, sizeof block); });
        if (n < 0) return last_error("read", path);
        if (n == 0) return text;
        text.append(block, static_cast<std::size_t>(n));
        if (text.size() > limit) return system_error("read " + path + ": larger than " + std::to_string(limit) + " bytes");
    }
}

/// The whole of a small file; `limit` guards against a wrong path.
inline result<std::string> read_file(std::string const& path, std::size_t limit = std::size_t{64} << 20) {
    SB_TRY(auto const fd, open_file(path, O_RDONLY));
    return read_all(fd.get(), path, limit);
}

/// Makes a folder and those above it, as `mkdir -p` does; what is there stays as it is.
inline result<void> make_folders(std::string const& path, mode_t mode) {
    for (auto end = path.find('/', 1);; end = path.find('/', end + 1)) {
        auto const part = path.substr(0, end);
        if (::mkdir(part.c_str(), mode) != 0 && errno != EEXIST) return last_error("make folder", part);
        if (end == std::string::npos) return {};
    }
}

/// All of `text`, in as many writes as that takes: for files and pipes. `name` is for the error.
inline result<void> write_all(int fd, std::string_view text, std::string_view name) {
    while (!text.empty()) {
        auto const n = retry([&] { return ::write(fd, text.data(), text.size()); });
        if (n < 0) return last_error("write", name);
        text.remove_prefix(static_cast<std::size_t>(n));
    }
    return {};
}

/// All of `text` in one write, for what takes each write as a word of its own: the kernel's knobs.
inline result<void> write_once(int fd, std::string_view text, std::string_view name) {
    auto const n = retry([&] { return ::write(fd, text.data(), text.size()); });
    if (n < 0) return last_error("write", name);
    if (n == static_cast<ssize_t>(text.size())) return {};
    return system_error(std::string{"write "}.append(name).append(": the kernel took only ").append(std::to_string(n)).append(" of ").append(std::to_string(text.size())).append(" bytes"));
}
/// The same for a knob that is there.
inline result<void> write_once(std::string const& path, std::string_view text) {
    SB_TRY(auto const knob, open_file(path, O_WRONLY));
    return write_once(knob.get(), text, path);
}

} // namespace sb
