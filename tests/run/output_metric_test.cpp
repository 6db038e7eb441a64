// SPDX-License-Identifier: MIT
#include "support/victim.hpp"
#include <sb/run/output_metric.hpp>
#include <string>
#include <sys/mman.h>

using namespace sb::run;

namespace {
std::optional<double> found(std::string_view metric, std::string_view output) {
    std::vector<output_metric> metrics;
    auto made = output_metric::parse(metric);
    metrics.push_back(std::move(*made));
    sb::unique_fd const file{::memfd_create("output", MFD_CLOEXEC)};
    REQUIRE(::write(file.get(), output.data(), output.size()) == static_cast<ssize_t>(output.size()));
    look_for(metrics, file.get());
    return metrics.front().take();
}
} // namespace

TEST_CASE("a number is found in the output: last match, first bracketed part") {
    CHECK(found("t=total ([0-9.]+)", "total 1.5\nnoise\ntotal 42 of 100\n") == 42.0);
    CHECK(found("t=[0-9]+", "a 7 b\n") == 7.0);
    CHECK(found("t=x=(-?[0-9.e+-]+)", "x=-1.5e3") == -1500.0);
    CHECK(found("t=x=(\\+?[0-9]+)", "x=+3") == 3.0);
    CHECK(found("t=total ([0-9.]+)", "nothing here") == std::nullopt);
    CHECK(found("t=(word)", "word") == std::nullopt); // no number
    CHECK(found("t=b=([0-9]+)", std::string_view{"a\0b=5\n", 6}) == 5.0);
}

TEST_CASE("a match far behind in a large output is found") {
    CHECK(found("t=end ([0-9]+)", std::string(300000, 'x') + "\nend 9\n") == 9.0);
}

TEST_CASE("a pattern that takes too long in what was printed is given up") {
    std::vector<output_metric> metrics;
    metrics.push_back(*output_metric::parse("n=([0-9]+)"));
    metrics.push_back(*output_metric::parse("t=([0-9]+)+s"));
    sb::unique_fd const file{::memfd_create("output", MFD_CLOEXEC)};
    std::string const output(300000, '1');
    REQUIRE(::write(file.get(), output.data(), output.size()) == static_cast<ssize_t>(output.size()));
    CHECK_FALSE(look_for(metrics, file.get(), 1));
    for (auto& each : metrics) CHECK_FALSE(each.take());
}

TEST_CASE("a metric that cannot be is refused in words") {
    CHECK(output_metric::parse("name").error().what == "--metric \"name\": write NAME=REGEX");
    CHECK(output_metric::parse("=x").has_error());
    CHECK(output_metric::parse("n=(").error().on == sb::blame::caller);
}
