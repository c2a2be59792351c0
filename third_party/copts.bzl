"""Compiler flags of our own code, in one place."""

COPTS = [
    "-Wall",
    "-Wextra",
    "-Wshadow",
    "-Wnon-virtual-dtor",
    "-Wconversion",
    "-Werror",
]

# Links the C++ runtime into a program or library, so that an older libstdc++ on a login node does not matter. The build
# tool appends -lstdc++ itself; with the archive before it and --as-needed that one is not taken.
STATIC_RUNTIME = [
    "-static-libgcc",
    "-Wl,--as-needed",
    "-l:libstdc++.a",
]
