"""Stand-in for rules_java: this Bazel has the rules built in."""

java_binary = native.java_binary
java_import = native.java_import
java_library = native.java_library
java_runtime = native.java_runtime
java_toolchain = native.java_toolchain
java_package_configuration = native.java_package_configuration
java_plugin = native.java_plugin
java_test = native.java_test
