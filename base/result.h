// SPDX-License-Identifier: Apache-2.0
//
// Result<T>: a value or an Error, never both. The part of std::expected that the project needs, to be replaced by it
// at C++23. Our code neither throws nor catches; every function that can fail returns a Result.
//
// Threads: plain values, no shared state. Ownership: a Result owns its value or error.
#ifndef NCCL_TUNE_BASE_RESULT_H_
#define NCCL_TUNE_BASE_RESULT_H_

#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace nccl_tune::base {

enum class Code {
  kInvalidInput,  // text that the user or a file gave
  kNotFound,      // absent
  kForbidden,     // there, but not for this user
  kUnreadable,    // there, but reading it fails (an I/O error, EINVAL of an empty GID slot)
  kUnsupported,   // understood, but not possible here
  kTimeout,       // a deadline of ours expired
  kInternal,      // a fault of ours
};

// What went wrong, on what, and what to do. Every part but `what` may be empty.
struct Error {
  Code code = Code::kInternal;
  std::string what{};      // one clause, lower case: "not a number"
  std::string where{};     // path, option or variable it is about
  std::string seen{};      // the value found
  std::string expected{};  // what would have been right
  std::string hint{};      // what to do now

  // "WHERE: WHAT: got \"SEEN\", expected EXPECTED. HINT", without the parts that are empty. Control characters in
  // `seen` and `where` are shown as \xNN, so a message is always one line.
  std::string ToString() const;
};

// Text with control characters, backslashes and bytes that are not ASCII replaced by \xNN; cut after 200 bytes.
std::string Printable(std::string_view text);

// The beginning of a text that may be very long, with its length: "abc... (131072 bytes)".
std::string Shortened(std::string_view text);

template <typename T>
class [[nodiscard]] Result {
 public:
  // Implicit on purpose: `return value;` and `return Error{...};` both read as they should.
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const { return state_.index() == 0; }
  // The value; calling it on an error is a fault of the caller.
  const T& value() const& { return std::get<0>(state_); }
  T& value() & { return std::get<0>(state_); }
  T&& value() && { return std::get<0>(std::move(state_)); }
  const T& operator*() const& { return value(); }
  const T* operator->() const { return &value(); }
  T value_or(T fallback) const { return ok() ? value() : std::move(fallback); }
  const Error& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

// Result of a call that yields nothing but success.
struct Done {};
using Status = Result<Done>;
inline Status Ok() { return Status(Done{}); }

}  // namespace nccl_tune::base

// Leave the function with the error of `expression`, if it has one.
#define NCCL_TUNE_RETURN_IF_ERROR(expression)                    \
  do {                                                           \
    auto nccl_tune_status = (expression);                        \
    if (!nccl_tune_status.ok()) return nccl_tune_status.error(); \
  } while (false)

// Declare `name` with the value of `expression`, or leave the function with its error.
#define NCCL_TUNE_ASSIGN_OR_RETURN(name, expression)     \
  auto name##_result = (expression);                     \
  if (!name##_result.ok()) return name##_result.error(); \
  auto name = std::move(name##_result).value()

#endif  // NCCL_TUNE_BASE_RESULT_H_
