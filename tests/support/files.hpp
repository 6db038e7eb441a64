// SPDX-License-Identifier: MIT
// Files that tests read: oracles in the tree, and what may stand beside the checkout.
#pragma once
#include "support/catch.hpp"
#include <sb/core/fd.hpp>
#include <cstdlib>
#include <string>
#include <string_view>
#include <sys/stat.h>

namespace sb::test {

inline std::string oracle(std::string const& name) { return read_file(SB_SOURCE_DIR + "/tests/oracles/" + name).value(); }

/// A file of the folder `shared` beside the checkout; empty where it is absent.
inline std::string shared_file(std::string const& name) {
    char const* const folder = std::getenv("SB_SHARED");
    auto const text = folder ? read_file(std::string{folder} + "/" + name) : result<std::string>{system_error("no folder")};
    return text.has_error() ? std::string{} : *text;
}

/// Whether there is anything of that name, even a link to nowhere.
inline bool exists(std::string const& path) {
    struct stat facts {};
    return ::lstat(path.c_str(), &facts) == 0;
}
/// A file with this text and nothing else.
inline void put(std::string const& path, std::string_view text, mode_t mode = 0644) {
    auto const file = open_file(path, O_WRONLY | O_CREAT | O_TRUNC, mode);
    if (file.has_error() || write_all(file->get(), text, path).has_error()) std::abort();
}

/// A file that is gone when the test is.
class scratch_file {
public:
    explicit scratch_file(std::string_view text) {
        int const fd = ::mkstemp(path_);
        auto const n = ::write(fd, text.data(), text.size());
        ::close(fd);
        if (n != static_cast<ssize_t>(text.size())) std::abort();
    }
    ~scratch_file() { ::unlink(path_); }
    scratch_file(scratch_file const&) = delete;
    scratch_file& operator=(scratch_file const&) = delete;
    std::string path() const { return path_; }

private:
    char path_[32] = "/tmp/sb-test-XXXXXX";
};

} // namespace sb::test
