# SPDX-License-Identifier: MIT
add_executable(series_page views/series_page.cpp)
target_link_libraries(series_page PRIVATE sandbench::views sb_developer)
target_include_directories(series_page PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}")
add_test(NAME views/page COMMAND series_page "${PROJECT_SOURCE_DIR}/docs/how-to/series.md")
