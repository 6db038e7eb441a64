// SPDX-License-Identifier: MIT
// The least that a static C++ program costs.
int main() { return 0; }
