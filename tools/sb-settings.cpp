// SPDX-License-Identifier: MIT
// sb-settings - show a settings file as JSON
#include "manual.hpp"
#include <sb/cli/tool.hpp>
#include <sb/yaml/read_yaml.hpp>
#include <string>
#include <vector>

namespace {

struct choices {
    std::vector<std::string> files;
    bool json = false;
};

sb::result<void> show(sb::cli::io& io, choices const& asked) {
    if (asked.files.size() > 1) return sb::caller_error("takes one file");
    auto const file = !asked.files.empty() ? asked.files[0] : io.settings_file.empty() ? std::string{sb::cli::found_settings} : io.settings_file;
    auto const name = file == "-" ? "standard input" : file;
    sb::cli::readable_file open;
    if (file != "-") {
        SB_TRY(open, sb::cli::open_regular(file, true));
    }
    SB_TRY(auto const text, sb::read_all(open.fd ? open.fd.get() : 0, name, sb::cli::most_bytes_of_settings));
    SB_TRY(auto const settings, sb::yaml::read_text(text, name));
    if (asked.json) {
        io.out << sb::json::text_of(settings) << "\n";
        return {};
    }
    for (auto const& [key, v] : settings) {
        sb::json::append_string(io.out.buffer(), key);
        io.out << ": " << sb::json::text_of(v) << "\n";
    }
    return {};
}

} // namespace

int main(int argc, char** argv) {
    choices asked;
    sb::cli::tool tool{"sb-settings", "show a settings file as JSON, or say what is wrong with it"};
    tool.about(sb::generated::version, sb::generated::manual);
    tool.flag("--json", "print one compact line instead of one line per top-level key", asked.json);
    tool.operands("[FILE]", "file to read, - is standard input; default: the file that the tools read", asked.files);
    tool.without_settings();
    return tool.run(argc, argv, [&](sb::cli::io& io) { return show(io, asked); });
}
