"""Stand-in for rules_cc: this Bazel has the rules built in."""

cc_library = native.cc_library
cc_binary = native.cc_binary
cc_test = native.cc_test
cc_import = native.cc_import
cc_toolchain = native.cc_toolchain
cc_toolchain_suite = native.cc_toolchain_suite
objc_library = native.objc_library
cc_toolchain_alias = getattr(native, "cc_toolchain_alias", None)
cc_libc_top_alias = getattr(native, "cc_libc_top_alias", None)
compiler_flag = getattr(native, "compiler_flag", None)
