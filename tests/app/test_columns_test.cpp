// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include <sb/app/test_columns.hpp>
#include <cmath>
#include <string>
#include <vector>

using sb::app::shown;

TEST_CASE("a number has two digits of the interval that it is known within") {
    CHECK(shown(3.14159265, 0.02) == "3.1416"); // four at least
    CHECK(shown(123.456789, 0.02) == "123.457");
    CHECK(shown(123.456789, 20) == "123.46"); // two at least
    CHECK(shown(0.0) == "0.0000");
    CHECK(shown(1e8) == "100000000");
}

TEST_CASE("what is very small or very large has an exponent") {
    CHECK(shown(0.00001234) == "1.234e-05");
    CHECK(shown(1e15) == "1.000e+15");
    CHECK(shown(-0.00001234567, 1e-9) == "-1.23457e-05"); // 1e-9 and 1e-10 are the two digits of the interval
}

TEST_CASE("what is unknown, true or a place of a change is shown as such") {
    CHECK(shown(sb::value()) == "-");
    CHECK(shown(sb::value(true)) == "true");
    CHECK(shown(sb::value(12)) == "12");
    CHECK(shown(sb::value(sb::array{})) == "-");
    CHECK(shown(sb::value(sb::array{sb::object{{"at", 4}}, sb::object{{"at", 31}}})) == "4 31");
}

TEST_CASE("people read the bound with p and the reason last; programs read each member") {
    sb::test_record first, second;
    first.test = "kpss", first.name = "a", first.statistic = 0.5, first.p = 0.1, first.p_bound = ">=", first.n = 9;
    first.besides["critical"] = sb::object{{"1%", 0.739}};
    second.test = "kpss", second.name = "b", second.n = 1, second.reason = "too few values";
    auto const answers = std::vector{first, second};
    CHECK(sb::app::test_table(answers, false).text() == "test  name  statistic         p  n  critical 1%  reason\n"
                                                       "kpss  a        0.5000  >=0.1000  9       0.7390\n"
                                                       "kpss  b             -         -  1               too few values\n");
    CHECK(sb::app::test_table(answers, true).csv() == "test,name,statistic,p,p_bound,n,critical 1%,reason\n"
                                                     "kpss,a,0.5,0.1,>=,9,0.739,\n"
                                                     "kpss,b,,,,1,,too few values\n");
}

TEST_CASE("a forecast has a column for each step") {
    sb::test_record forecast;
    forecast.test = "forecast", forecast.statistic = 10, forecast.n = 30;
    forecast.besides["steps"] = sb::array{sb::object{{"mean", 10}, {"lo", 8}, {"hi", 12}}, sb::object{{"mean", 11.5}, {"lo", 7.5}, {"hi", 15.5}}};
    CHECK(sb::app::test_table({forecast}, false).csv() == "test,statistic,p,n,+1,+2,reason\nforecast,10.00,-,30,10 (8 .. 12),11.50 (7.5000 .. 15.50),\n");
}
