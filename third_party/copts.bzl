"""Compiler flags of our own code, in one place."""

COPTS = [
    "-Wall",
    "-Wextra",
    "-Wshadow",
    "-Wnon-virtual-dtor",
    "-Wconversion",
    "-Werror",
    # GCC 12 at -O2 says it of the value inside a std::variant that it cannot follow; clang and the sanitizers look too.
    # The second is GCC's alone: clang refuses its name without the first.
    "-Wno-unknown-warning-option",
    "-Wno-maybe-uninitialized",
]

# Links the C++ runtime into a program or library, so that an older libstdc++ on a login node does not matter. The build
# tool appends -lstdc++ itself; with the archive before it and --as-needed that one is not taken.
STATIC_RUNTIME = [
    "-static-libgcc",
    "-Wl,--as-needed",
    "-l:libstdc++.a",
]
