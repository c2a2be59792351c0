// SPDX-License-Identifier: Apache-2.0
//
// What any C++ program costs here before it does anything.
int main() {}
