// SPDX-License-Identifier: MIT
// The one way from records to a table: a column says what it shows of a record, a format says how the table is written.
#pragma once
#include <sb/cli/io.hpp>
#include <sb/cli/table.hpp>
#include <sb/core/value.hpp>
#include <sb/json/record.hpp>
#include <boost/describe.hpp>
#include <boost/mp11.hpp>
#include <algorithm>
#include <cmath>
#include <concepts>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sb::cli {

/// A column of a table in which each row is a `Row`.
template <class Row>
struct record_column {
    std::string title;
    table::align side = table::align::left;
    std::function<std::string(Row const&)> cell;
    std::size_t least = 0; ///< the fewest cells that it takes on a terminal
};
template <class Row>
using record_columns = std::vector<record_column<Row>>;

template <class Row>
table table_of(std::vector<Row> const& rows, record_columns<Row> const& columns) {
    table answer;
    for (auto const& each : columns) answer.column(each.title, each.side, each.least);
    for (auto const& row : rows) {
        std::vector<std::string> cells;
        for (auto const& each : columns) cells.push_back(each.cell(row));
        answer.row(std::move(cells));
    }
    return answer;
}

/// A member as a program reads it in a cell: a string without quotes, nothing for null and for what is not finite, else JSON.
template <class T>
std::string exact_cell(T const& member) {
    if constexpr (requires { member.has_value(); }) return member ? exact_cell(*member) : std::string{};
    else if constexpr (std::convertible_to<T const&, std::string_view>) return std::string{std::string_view{member}};
    else if constexpr (std::same_as<T, value>) return member.is_null() ? std::string{} : member.if_string() ? std::string{*member.if_string()} : json::text_of(member);
    else {
        if constexpr (std::floating_point<T>)
            if (!std::isfinite(member)) return {};
        std::string text;
        json::append_record(text, member);
        return text;
    }
}

/// A column for each member of a described record, with its exact value.
template <json::described_struct Row>
record_columns<Row> member_columns() {
    record_columns<Row> columns;
    boost::mp11::mp_for_each<boost::describe::describe_members<Row, boost::describe::mod_public>>([&](auto member) {
        columns.push_back({member.name, table::align::left, [member](Row const& row) { return exact_cell(row.*member.pointer); }});
    });
    return columns;
}

/// A column for each name that any of the objects has, in the order in which the names first come; `text` makes the cells.
inline record_columns<object> member_columns(std::vector<object> const& rows, std::function<std::string(value const&)> const& text = exact_cell<value>) {
    record_columns<object> columns;
    for (auto const& row : rows)
        for (auto const& member : row) {
            std::string const name{member.key()};
            if (std::any_of(columns.begin(), columns.end(), [&](auto const& each) { return each.title == name; })) continue;
            columns.push_back({name, table::align::left, [name, text](object const& each) {
                                   auto const* const found = each.if_contains(name);
                                   return found ? text(*found) : std::string{};
                               }});
        }
    return columns;
}

/// A table in one of the forms csv, md and table. People are shown no table that has no row.
inline void write_table(io& to, std::string_view format, table const& rows) {
    if (format == "csv") to.out << rows.csv(to.out_terminal);
    else if (format == "md") to.out << rows.markdown();
    else if (rows.rows() > 0) to.out << rows.text(to.out_color);
}

/// A line of JSON a row.
template <class Row>
void write_lines(io& to, std::vector<Row> const& rows) {
    for (auto const& row : rows) {
        json::append_record(to.out.buffer(), row);
        to.out << "\n";
    }
}

} // namespace sb::cli
