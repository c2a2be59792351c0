"""Compiler flags of our own code, in one place."""

COPTS = [
    "-Wall",
    "-Wextra",
    "-Wshadow",
    "-Wnon-virtual-dtor",
    "-Wconversion",
    "-Werror",
]
