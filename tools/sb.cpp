// SPDX-License-Identifier: MIT
// sb - run a tool of sandbench by its short name
#include "manual.hpp"
#include <sb/cli/sibling_tool.hpp>
#include <sb/cli/tool.hpp>
#include <algorithm>
#include <dirent.h>
#include <string>
#include <vector>

namespace {

/// Empty where it cannot be told: then nothing is run, for what has the name of a tool may be another's.
std::string own_folder() {
    auto const self = sb::cli::sibling_tool("sb");
    return self.substr(0, self.empty() ? 0 : self.rfind('/'));
}

/// The names after "sb-" of all tools beside this one.
std::vector<std::string> tools_in(std::string const& folder) {
    std::vector<std::string> names;
    DIR* const open = ::opendir(folder.c_str());
    if (!open) return names;
    while (auto const* entry = ::readdir(open))
        if (std::string name{entry->d_name}; name.starts_with("sb-") && ::access((folder + "/" + name).c_str(), X_OK) == 0)
            names.push_back(name.substr(3));
    ::closedir(open);
    std::sort(names.begin(), names.end());
    return names;
}

sb::result<void> dispatch(sb::cli::io& io, std::vector<std::string>& words) {
    auto const folder = own_folder();
    if (folder.empty()) return sb::system_error("cannot find the folder of the tools: there is no /proc, and sb is not in PATH");
    auto const names = tools_in(folder);
    if (words.empty()) {
        io.out << "sandbench: run anything under controlled adversity, and get an honest verdict\n\n";
        for (auto const& name : names) {
            int status = 0;
            auto const help = sb::cli::output_of(folder + "/sb-" + name, {"--help"}, status);
            auto const first = help.has_error() ? std::string{} : help->substr(0, help->find('\n'));
            auto const dash = first.find(" - ");
            io.out << sb::cat("  sb ", name, std::string(name.size() < 12 ? 12 - name.size() : 1, ' '),
                              dash == std::string::npos ? "" : first.substr(dash + 3), "\n");
        }
        io.out << "\n`sb NAME --help` explains each tool; `man sb` shows a first pipeline.\n";
        return {};
    }
    if (std::find(names.begin(), names.end(), words[0]) == names.end()) {
        auto const hint = sb::did_you_mean(words[0], names);
        return sb::caller_error(sb::cat("no tool \"", words[0], "\"", hint, hint.empty() ? "; " : " ", "sb alone lists them"));
    }
    auto program = folder + "/sb-" + words[0];
    std::vector<char*> argv{program.data()};
    for (auto i = words.begin() + 1; i != words.end(); ++i) argv.push_back(i->data());
    argv.push_back(nullptr);
    std::signal(SIGPIPE, SIG_DFL);
    ::execv(program.c_str(), argv.data());
    return sb::last_error("run", program);
}

} // namespace

int main(int argc, char** argv) {
    std::vector<std::string> words;
    sb::cli::tool tool{"sb", "run a sandbench tool by its short name"};
    tool.about(sb::generated::version, sb::generated::manual);
    tool.command("[TOOL [ARGUMENT…]]", "`sb exec …` is `sb-exec …`; without TOOL it lists the tools", words);
    tool.dispatches();
    return tool.run(argc, argv, [&](sb::cli::io& io) { return dispatch(io, words); });
}
