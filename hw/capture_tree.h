// SPDX-License-Identifier: Apache-2.0
//
// A Tree that is a capture of a machine in memory (docs/formats.md, "Capture of a machine").
#ifndef NCCL_TUNE_HW_CAPTURE_TREE_H_
#define NCCL_TUNE_HW_CAPTURE_TREE_H_

#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "hw/tree.h"

namespace nccl_tune::hw {

struct CaptureFile {
  std::string content;  // with its line ends
};
struct CaptureLink {
  std::string target;
};
struct CaptureFailure {
  std::string errno_name;  // "EINVAL", "EACCES", "EIO", "ENODATA"
};
struct CaptureDevice {
  bool openable = false;
};
struct CaptureFolder {};
using CaptureEntry = std::variant<CaptureFile, CaptureLink, CaptureFailure, CaptureDevice, CaptureFolder>;

// A parsed capture: what the file says, in order of path.
struct Capture {
  std::map<std::string, std::string, std::less<>> header;  // ": KEY TEXT"
  std::map<std::string, CaptureEntry, std::less<>> entries;
};

// `file` names the text in errors ("FILE:LINE: ...").
base::Result<Capture> ParseCapture(std::string_view text, std::string_view file);
// The text that ParseCapture reads back to an equal capture.
std::string WriteCapture(const Capture& capture);

class CaptureTree : public Tree {
 public:
  explicit CaptureTree(Capture capture);

  using Tree::Read;
  base::Result<std::string> Read(std::string_view path, std::size_t limit) const override;
  base::Result<std::vector<std::string>> List(std::string_view path) const override;
  base::Result<std::string> Resolve(std::string_view path) const override;
  facts::Openable CheckOpenable(std::string_view path) const override;

  const Capture& capture() const { return capture_; }

 private:
  Capture capture_;
};

}  // namespace nccl_tune::hw

#endif  // NCCL_TUNE_HW_CAPTURE_TREE_H_
