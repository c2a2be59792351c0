"""One fuzzer: NAME_fuzz.cc, its kept inputs in corpus/NAME/, its words in dictionaries/NAME.dict where they help."""

load("//third_party:copts.bzl", "COPTS")

def fuzz_target(name, deps, runs = 2000):
    """A test that replays the kept inputs and some changes of them, and a libFuzzer program for --config=fuzz.

    Args:
      name: of the fuzzer; NAME_fuzz_test and NAME_fuzzer are made.
      deps: what NAME_fuzz.cc includes, but for byte_reader and require.
      runs: changed inputs in the test.
    """
    native.cc_library(
        name = name + "_fuzz",
        testonly = True,
        srcs = [name + "_fuzz.cc"],
        copts = COPTS,
        deps = deps + [
            ":byte_reader",
            ":require",
        ],
        alwayslink = True,
    )
    corpus = native.glob(["corpus/" + name + "/*"], allow_empty = False)
    native.cc_test(
        name = name + "_fuzz_test",
        size = "small",
        args = [
            "tests/fuzz/corpus/" + name,
            "--runs=%d" % runs,
        ],
        data = corpus,
        deps = [
            ":" + name + "_fuzz",
            ":replay_main",
        ],
    )
    native.cc_binary(
        name = name + "_fuzzer",
        testonly = True,
        linkopts = ["-fsanitize=fuzzer"],
        tags = ["manual"],  # links under --config=fuzz only
        deps = [":" + name + "_fuzz"],
    )
