// SPDX-License-Identifier: MIT
// Why a payload cannot see a command, and the bindings that show it together with what it needs.
//
// How it works: names are looked up as the caller, who gave the first of them. The content of a file may come from a hostile
// program. So a file is read only as its payload could read it: in the workspace as its owner, elsewhere as the payload's
// user. Only regular files are read, and only their beginning. What these users may not read is not read.
#pragma once
#include <sb/core/fd.hpp>
#include <sb/core/read_regular.hpp>
#include <sb/core/text.hpp>
#include <sb/files/folder.hpp>
#include <sb/files/path.hpp>
#include <sb/process/look_as.hpp>
#include <sb/sandbox/view.hpp>
#include <algorithm>
#include <cstdlib>
#include <fcntl.h>
#include <optional>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace sb::local {

class hidden_command {
public:
    hidden_command(sandbox::view const& shown, process::payload_user const& payload) : shown_{&shown}, payload_{payload} {}

    /// No value when a payload can see the file, everything that links on the way to it name, and its interpreter.
    std::optional<std::string> why(std::string const& file) const {
        auto const& shown = *shown_;
        auto const there = sandbox::host_path(shown, file);
        auto const real = files::real_path(there);
        if (real.has_error()) return std::nullopt; // other code reports a missing file
        hidden_files found;
        if (there == file) follow_links(file, found); // else a binding or another root shows it under this name
        auto interpreter = interpreter_of(*real);
        for (int nested = 0; !interpreter.empty() && nested < most_nested; ++nested) {
            auto const place = sandbox::host_path(shown, interpreter);
            auto const next = files::real_path(place);
            if (next.has_error()) break; // no binding can fix that
            if (found.first.empty()) found.before = "its interpreter ";
            if (place == interpreter) follow_links(interpreter, found);
            interpreter = interpreter_of(*next);
        }
        if (found.first.empty()) return std::nullopt;
        if (files::is_below(found.first, "/tmp") || files::is_below(found.first, "/var/tmp")) return cat(found.before, found.first, " is hidden by the sandbox's own /tmp; copy it to the workspace ", shown.work);
        std::string advice;
        for (auto const& each : found.folders) advice += cat(" --bind ", each, ":", each, ":ro");
        if (advice.empty()) return cat(found.before, found.first, " is not visible in the sandbox");
        return cat(found.before, found.first, " is not visible in the sandbox;", advice, found.folders.size() == 1 ? " shows it" : " show it");
    }

private:
    struct hidden_files {
        std::string before, first; ///< the first of them, and its relation to the command
        std::vector<std::string> folders; ///< folders that show them all
    };
    void look_at(std::string const& file, hidden_files& found) const {
        auto const holds = [&](std::string const& each) {
            auto const real = files::real_path(each);
            return files::is_below(file, each) || (!real.has_error() && files::is_below(file, *real));
        };
        if (sandbox::shows(*shown_, file) || std::any_of(found.folders.begin(), found.folders.end(), holds)) return;
        if (found.first.empty()) found.first = file;
        for (auto& each : folders_around(file)) found.folders.push_back(std::move(each));
        // a virtual environment of Python takes its library from the place where it was made
        auto const real = files::real_path(folder_of(folder_of(file)) + "/pyvenv.cfg");
        if (real.has_error()) return;
        split(beginning_of(*real, std::size_t{64} << 10), '\n', [&](std::string_view line) {
            auto const equals = line.find('=');
            if (equals != std::string_view::npos && trim(line.substr(0, equals)) == "home") look_at(cat(trim(line.substr(equals + 1)), "/python3"), found);
        });
    }
    /// A payload must see each name on the way from a name to its file, and the file itself.
    void follow_links(std::string path, hidden_files& found) const {
        for (int hop = 0; hop < most_links; ++hop) {
            std::string target(4096, '\0');
            auto const n = ::readlink(path.c_str(), target.data(), target.size());
            bool const alternative = hop > 0 && n > 0 && files::is_below(path, "/etc"); // shown if it leads to programs
            if (!alternative) look_at(path, found);
            if (n <= 0) { // a folder on the way may have been a link too
                if (auto const real = files::real_path(path); !real.has_error()) look_at(*real, found);
                return;
            }
            target.resize(static_cast<std::size_t>(n));
            path = without_dots(target.starts_with('/') ? target : cat(folder_of(path), "/", target));
        }
    }
    /// The folder of an absolute path; empty for a file directly in the root.
    static std::string folder_of(std::string const& path) { return path.substr(0, path.rfind('/')); }
    static std::string without_dots(std::string_view path) {
        std::string made;
        split(path, '/', [&](std::string_view name) {
            if (name == "..") made = made.empty() ? made : folder_of(made);
            else if (!name.empty() && name != ".") made += cat("/", name);
        });
        return made;
    }
    /// The folders that a program needs are near it: below the prefix whose `bin` contains it, for example for a user's own
    /// interpreters. If the prefix also contains other files of the caller, only its `bin` and `lib`; without a prefix, the
    /// folder of the program.
    static std::vector<std::string> folders_around(std::string const& file) {
        auto const folder = folder_of(file), prefix = folder_of(folder);
        if (folder.empty()) return {};
        auto const has = [&](char const* part) { return ::access(cat(prefix, "/", part).c_str(), F_OK) == 0; };
        bool const programs = folder.ends_with("/bin") || folder.ends_with("/sbin") || folder.ends_with("/shims");
        bool const installed = programs && (has("lib") || has("lib64") || has("libexec") || has("pyvenv.cfg"));
        if (!installed || prefix.empty()) return {folder};
        char const* const home = std::getenv("HOME");
        auto const home_path = home && *home == '/' ? files::real_path(home) : result<std::string>{std::string{}};
        auto const real = files::real_path(prefix);
        bool const private_too = !home_path.has_error() && !real.has_error() && !home_path->empty() &&
                                 (files::is_below(*home_path, *real) || *real == *home_path + "/.local");
        if (!private_too) return {prefix};
        std::vector<std::string> folders{folder};
        for (char const* part : {"lib", "lib64", "libexec"})
            if (has(part)) folders.push_back(cat(prefix, "/", part));
        return folders;
    }
    /// What `#!` names; empty for a file that is not a script.
    std::string interpreter_of(std::string const& script) const {
        auto const head = beginning_of(script, 256);
        if (!head.starts_with("#!")) return {};
        auto const rest = std::string_view{head}.substr(2);
        auto const line = trim(rest.substr(0, rest.find('\n')));
        return std::string{line.substr(0, line.find_first_of(" \t"))};
    }
    /// The first bytes of a file, by its real path; empty when a payload could not read it.
    std::string beginning_of(std::string const& real, std::size_t most_bytes) const {
        // starts at the place that shows it: a user below that place need not pass through the folders above it
        std::string from = "/";
        bool is_work = false;
        for (auto const& each : shown_->bindings)
            if (files::is_below(real, each.source) && each.source.size() > from.size()) from = each.source;
        if (!shown_->work.empty() && files::is_below(real, shown_->work) && shown_->work.size() >= from.size()) from = shown_->work, is_work = true;
        unique_fd const top{::open(from.c_str(), O_PATH | O_CLOEXEC)};
        struct stat owner {};
        if (!top || ::fstat(top.get(), &owner) != 0) return {};
        process::look_as const meanwhile{is_work ? process::payload_user{owner.st_uid, owner.st_gid} : payload_};
        auto below = std::string_view{real}.substr(std::min(from.size(), real.size()));
        while (below.starts_with('/')) below.remove_prefix(1);
        unique_fd inner;
        if (!below.empty()) {
            inner = files::place_at(top.get(), std::string{below}.c_str(), RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
            if (!inner) return {};
        }
        auto text = read_regular(below.empty() ? top.get() : inner.get(), most_bytes, real);
        return text.has_error() ? std::string{} : std::move(*text);
    }
    static constexpr int most_links = 40, most_nested = 5; // the same limits as the kernel's

    sandbox::view const* shown_;
    process::payload_user payload_;
};

} // namespace sb::local
