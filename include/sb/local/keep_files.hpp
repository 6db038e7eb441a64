// SPDX-License-Identifier: MIT
// Keeps what a run wrote in its sandbox.
#pragma once
#include <sb/core/printable.hpp>
#include <sb/core/result.hpp>
#include <sb/core/text.hpp>
#include <sb/files/copy_tree.hpp>
#include <sb/files/session_folder.hpp>
#include <sb/sandbox/instance.hpp>
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <sys/statfs.h>
#include <utility>
#include <vector>

namespace sb::local {
namespace detail {

/// In a name a backslash is written as \x5c, so a line that begins with any other backslash is ours.
inline result<void> write_list(int folder, std::string const& name, std::string_view called, std::vector<std::string> const& lines, std::int64_t count) {
    if (lines.empty()) return {};
    SB_TRY(auto const file, files::make_file(folder, name, called));
    std::string text;
    for (auto const& each : lines) text += printable(each, true) + "\n";
    if (count > std::ssize(lines)) text += cat("\\... and ", count - std::ssize(lines), " more\n");
    return write_all(file.get(), text, cat(called, "/", name));
}

} // namespace detail

/// `work` contains what was changed; `removed` names what was deleted there.
inline result<void> keep_files(sandbox::instance const& from_run, files::session_folder const& in, std::string const& run) {
    auto const called = cat(in.path(), "/", run);
    SB_TRY(auto const kept, files::make_folder(in.fd(), run, in.path()));
    // holes and links that cannot be kept unchanged would need room: the total must not exceed the room that the run had
    struct statfs room {};
    auto left = ::fstatfs(from_run.scratch(), &room) == 0 && room.f_blocks > 0 ? static_cast<std::int64_t>(room.f_blocks) * room.f_bsize : -1;
    for (auto const& [name, from] : {std::pair{"work", from_run.upper()}, {"home", from_run.home()}, {"tmp", from_run.tmp()}}) {
        SB_TRY(auto const to, files::make_folder(kept.get(), name, called));
        SB_TRY(auto const told, files::copy_tree(from, to.get(), files::tree_owner{::geteuid(), ::getegid()}, left, true));
        if (left >= 0) left = std::max<std::int64_t>(left - told.bytes, 0);
        SB_CHECK(detail::write_list(kept.get(), cat(std::string_view{name}, ".removed"), called, told.removed, told.removed_count));
        SB_CHECK(detail::write_list(kept.get(), cat(std::string_view{name}, ".skipped"), called, told.skipped, told.skipped_count));
    }
    return {};
}

} // namespace sb::local
