// SPDX-License-Identifier: MIT
// A record: something found or done that is no measurement, such as a finding of sb-doctor.
#pragma once
#include <boost/describe.hpp>
#include <optional>
#include <string>

namespace sb {

/// Something that was found or done and is no measurement.
struct event_record {
    static constexpr auto kind = "event";
    static constexpr int version = 1;
    std::string topic; ///< what it is about: doctor, purge, …
    std::string name;
    std::string status; ///< ok, missing, limited, …: the topic's own words
    std::string what; ///< one line for a person
    std::optional<std::string> mend; ///< the command or change that mends it
};
BOOST_DESCRIBE_STRUCT(event_record, (), (topic, name, status, what, mend))

} // namespace sb
