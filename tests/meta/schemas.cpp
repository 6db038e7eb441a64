// SPDX-License-Identifier: MIT
// schemas FOLDER [--write] - holds docs/schema/ against the described structs, or writes it
#include <sb/core/fd.hpp>
#include <sb/json/record.hpp>
#include <sb/record/delta.hpp>
#include <sb/record/event.hpp>
#include <sb/record/lease.hpp>
#include <sb/record/partial.hpp>
#include <sb/record/preset.hpp>
#include <sb/record/rank.hpp>
#include <sb/record/run.hpp>
#include <sb/record/sample.hpp>
#include <sb/record/synergy.hpp>
#include <sb/record/test.hpp>
#include <cstdio>
#include <string>

namespace {

/// Indented by two, so that a change of a schema reads well as a change of text.
void pretty(std::string& to, sb::value const& v, std::size_t indent) {
    auto const* o = v.if_object();
    if (!o || o->empty()) return sb::json::append(to, v);
    to += "{\n";
    bool first = true;
    for (auto const& [key, each] : *o) {
        if (!std::exchange(first, false)) to += ",\n";
        to.append(indent + 2, ' ');
        sb::json::append_string(to, key);
        to += ": ";
        pretty(to, each, indent + 2);
    }
    to += "\n";
    to.append(indent, ' ');
    to += "}";
}

template <class R>
bool hold(std::string const& folder, bool write) {
    std::string text;
    pretty(text, sb::json::schema_document<R>(), 0);
    text += "\n";
    auto const path = sb::cat(folder, "/", R::kind, ".json");
    if (write) {
        auto const file = sb::open_file(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
        return !file.has_error() && ::write(file->get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
    }
    auto const there = sb::read_file(path);
    if (!there.has_error() && *there == text) return true;
    std::printf("%s is not what the struct says; to rewrite it: schemas %s --write\n", path.c_str(), folder.c_str());
    return false;
}

} // namespace

int main(int argc, char** argv) {
    std::string const folder = argc > 1 ? argv[1] : "docs/schema";
    bool const write = argc > 2;
    bool const all[] = {hold<sb::event_record>(folder, write), hold<sb::lease_record>(folder, write), hold<sb::partial_record>(folder, write), hold<sb::preset_record>(folder, write),
                        hold<sb::rank_record>(folder, write), hold<sb::run_record>(folder, write),
                        hold<sb::sample_record>(folder, write), hold<sb::delta_record>(folder, write), hold<sb::synergy_record>(folder, write), hold<sb::test_record>(folder, write)};
    for (bool const good : all)
        if (!good) return 1;
}
