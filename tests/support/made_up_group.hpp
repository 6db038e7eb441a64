// SPDX-License-Identifier: MIT
// A folder with plain files of the names that the kernel gives those of a control group.
#pragma once
#include "support/files.hpp"
#include "support/victim.hpp"
#include <sb/cgroup/cgroup_figures.hpp>
#include <sb/files/folder.hpp>
#include <string>
#include <string_view>

namespace sb::test {

struct made_up_group : folder {
    unique_fd fd = files::open_folder(AT_FDCWD, path().c_str());
    void write(char const* name, std::string_view text) const { put(*this / name, text); }
    std::string read(char const* name) const { return read_file(*this / name).value(); }
    /// All controllers are there.
    cgroup::group_places places(int version) const {
        cgroup::group_places all;
        for (auto& each : all) each = {fd.get(), version};
        return all;
    }
};

} // namespace sb::test
