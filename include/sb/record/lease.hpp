// SPDX-License-Identifier: MIT
// A record: what a session that is killed would leave behind.
#pragma once
#include <boost/describe.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sb {

/// What a session may leave behind when it is killed, written down before it is made: the next session clears it away.
struct lease_record {
    static constexpr auto kind = "lease";
    static constexpr int version = 1;
    std::string id; ///< twelve hexadecimal digits; in the name of every control group of the session
    std::int64_t pid = 0;
    std::string started; ///< UTC
    std::string boot_id; ///< after another boot only files are left
    std::optional<std::string> machine; ///< twelve hexadecimal digits, of its id and node name: another machine that shares the folder lets it be
    std::string temp_folder; ///< a path in the folder that holds ours; empty: none
    std::vector<std::string> cgroups; ///< folders in which groups named sandbench-ID and sandbench-ID.WORD may be
    std::vector<std::string> switched_on; ///< controllers handed down in the last of these folders for this session alone
    std::optional<std::int64_t> uid; ///< that its payloads run as, and no other session's; null: the caller's own, or one that is shared
};
BOOST_DESCRIBE_STRUCT(lease_record, (), (id, pid, started, boot_id, machine, temp_folder, cgroups, switched_on, uid))

} // namespace sb
