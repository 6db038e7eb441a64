// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include <sb/run/badness.hpp>
#include <boost/describe/enumerators.hpp>
#include <boost/mp11/algorithm.hpp>
#include <set>

using sb::end_class;
using sb::run::badness;

TEST_CASE("ok is no bad end, and every other end has a place of its own") {
    std::set<int> places;
    int count = 0;
    boost::mp11::mp_for_each<boost::describe::describe_enumerators<end_class>>([&](auto each) {
        INFO(each.name);
        CHECK(places.insert(badness(each.value)).second);
        ++count;
    });
    CHECK(count == 11);
    CHECK(*places.begin() == 0);
    CHECK(*places.rbegin() == 10); // one more would be a class without a place
    CHECK(badness(end_class::ok) == 0);
}

TEST_CASE("a run that we could not make is the worst end, and an exit status the mildest bad one") {
    CHECK(badness(end_class::failed) == 1);
    CHECK(badness(end_class::failed) < badness(end_class::signalled));
    CHECK(badness(end_class::signalled) < badness(end_class::memory));
    CHECK(badness(end_class::memory) < badness(end_class::timeout));
    CHECK(badness(end_class::timeout) < badness(end_class::refused));
    CHECK(badness(end_class::setup) == 10);
}
