// SPDX-License-Identifier: Apache-2.0
//
// Messages are put together as the kernel does (net/dcb/dcbnl.c), on a little-endian machine, as all of ours are.
#include <gtest/gtest.h>
#include <net/if.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "core/facts/node.h"
#include "hw/dcb.h"

namespace nccl_tune::hw {
namespace {

constexpr int kGetDcb = 78;
constexpr int kError = 2;
constexpr int kIeeeGet = 21;
constexpr int kIfname = 1;
constexpr int kIeee = 13;
constexpr int kEts = 1;
constexpr int kPfc = 2;
constexpr int kAppTable = 3;
constexpr int kApp = 1;
constexpr int kDcbApp = 2;
constexpr int kNested = 0x8000;

std::string Number(std::uint32_t value, int bytes) {
  std::string out;
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> 8 * i & 0xff);
  return out;
}

std::string Attribute(int type, const std::string& payload) {
  std::string out =
      Number(static_cast<std::uint32_t>(payload.size() + 4), 2) + Number(static_cast<std::uint32_t>(type), 2) + payload;
  while (out.size() % 4 != 0) out += '\0';
  return out;
}

// struct ieee_pfc: capability, priorities, MACsec bypass, delay, 8 requests, 8 indications.
std::string Pfc(int enabled) {
  std::string out(136, '\0');
  out[0] = 8;
  out[1] = static_cast<char>(enabled);
  return Attribute(kPfc, out);
}

std::string App(int selector, int priority, int protocol, int type = kApp) {
  return Attribute(type, Number(static_cast<std::uint32_t>(selector), 1) +
                             Number(static_cast<std::uint32_t>(priority), 1) +
                             Number(static_cast<std::uint32_t>(protocol), 2));
}

std::string Message(int type, const std::string& payload) {
  return Number(static_cast<std::uint32_t>(payload.size() + 16), 4) + Number(static_cast<std::uint32_t>(type), 2) +
         Number(0, 2) + Number(7, 4) + Number(0, 4) + payload;
}

std::string Reply(const std::string& attributes, int command = kIeeeGet) {
  return Message(kGetDcb, Number(0, 1) + Number(static_cast<std::uint32_t>(command), 1) + Number(0, 2) + attributes);
}

std::string Ieee(const std::string& inner) {
  return Reply(Attribute(kIfname, std::string("ens5f1\0", 7)) + Attribute(kIeee | kNested, inner));
}

std::string Show(const std::string& message) {
  const auto got = ParseDcbReply(message);
  if (!got.ok()) return (got.error().code == base::Code::kNotFound ? "none: " : "") + got.error().ToString();
  std::string out;
  for (const int priority : got->LosslessPriorities()) out += std::to_string(priority) + " ";
  for (const auto& entry : got->dscp) out += std::to_string(entry.dscp) + ":" + std::to_string(entry.priority) + " ";
  return out;
}

TEST(ParseDcbReplyTest, Good) {
  const std::string entries = App(5, 3, 26) + App(1, 0, 0) + App(5, 3, 26) + App(5, 0, 10) + App(255, 3, 3, kDcbApp);
  const struct {
    const char* what;
    std::string message;
    const char* shown;
  } rows[] = {
      {"as mlx5 answers",
       Ieee(Attribute(kEts, std::string(59, '\0')) + Pfc(8) + Attribute(kAppTable | kNested, App(5, 3, 26))),
       "3 26:3 "},
      {"other entries are skipped", Ieee(Pfc(8) + Attribute(kAppTable, entries)), "3 10:0 26:3 "},
      {"no entries", Ieee(Pfc(8) + Attribute(kAppTable, "")), "3 "},
      {"no table", Ieee(Pfc(8)), "3 "},
      {"off", Ieee(Pfc(0)), ""},
      {"all", Ieee(Pfc(255)), "0 1 2 3 4 5 6 7 "},
      {"unknown attributes", Ieee(Attribute(99, "xyz") + Pfc(2) + Attribute(0, "")), "1 "},
      {"a longer struct of a newer kernel",
       Ieee(Attribute(kPfc, std::string(1, 8) + std::string(1, 16) + std::string(200, 'x'))), "4 "},
      {"a longer entry", Ieee(Pfc(8) + Attribute(kAppTable, Attribute(kApp, std::string("\5\3\x1a\0xxxx", 8)))),
       "3 26:3 "},
      {"bytes behind the message", Ieee(Pfc(8)) + "more", "3 "},
  };
  for (const auto& row : rows) EXPECT_EQ(Show(row.message), row.shown) << row.what;
}

TEST(ParseDcbReplyTest, NoDcb) {
  EXPECT_EQ(Show(Message(kError, Number(static_cast<std::uint32_t>(-95), 4) + std::string(32, '\0'))),
            "none: Operation not supported");
  EXPECT_EQ(Show(Message(kError, Number(static_cast<std::uint32_t>(-19), 4))), "none: No such device");
  EXPECT_EQ(Show(Reply("")), "none: no DCB of IEEE's kind");
  EXPECT_EQ(Show(Reply(Attribute(kIfname, "e"))), "none: no DCB of IEEE's kind");
  EXPECT_EQ(Show(Ieee("")), "none: no PFC");
  EXPECT_EQ(Show(Ieee(Attribute(kAppTable, App(5, 3, 26)))), "none: no PFC");
}

TEST(ParseDcbReplyTest, Bad) {
  const std::string good = Ieee(Pfc(8));
  const auto with_length = [&](std::uint32_t length) { return Number(length, 4) + good.substr(4); };
  const struct {
    const char* what;
    std::string message;
    const char* shown;
  } rows[] = {
      {"nothing", "", "answer of 0 bytes"},
      {"half a header", good.substr(0, 15), "answer of 15 bytes"},
      {"a length of nothing", with_length(0), "answer of 176 bytes that says 0"},
      {"a length below the header", with_length(15), "answer of 176 bytes that says 15"},
      {"a length beyond the end", with_length(177), "answer of 176 bytes that says 177"},
      {"the longest length", with_length(0xffffffff), "answer of 176 bytes that says 4294967295"},
      {"cut in the middle", good.substr(0, 100), "answer of 100 bytes that says 176"},
      {"another type", Message(16, std::string(16, '\0')), "answer of type 16"},
      {"done", Message(3, Number(0, 4)), "answer of type 3"},
      {"no dcbmsg", Message(kGetDcb, "abc"), "answer cut short"},
      {"another command", Reply(Attribute(kIeee, Pfc(8)), 20), "answer to another question"},
      {"an error without its number", Message(kError, "abc"), "error cut short"},
      {"an acknowledgement", Message(kError, Number(0, 4)), "an acknowledgement in place of an answer"},
      {"a positive error", Message(kError, Number(95, 4)), "an acknowledgement in place of an answer"},
      {"forbidden", Message(kError, Number(static_cast<std::uint32_t>(-1), 4)), "Operation not permitted"},
      {"the least number", Message(kError, Number(0x80000000, 4)), "error"},
      {"three bytes of an attribute", Reply("abc"), "attribute cut short"},
      {"an attribute of no length", Reply(Number(0, 4)), "attribute of 0 bytes where 4 are left"},
      {"shorter than its head", Reply(Number(3, 2) + Number(kIeee, 2)), "attribute of 3 bytes where 4 are left"},
      {"longer than the message", Reply(Number(5, 2) + Number(kIeee, 2)), "attribute of 5 bytes where 4 are left"},
      {"the longest", Reply(Number(0xffff, 2) + Number(kIeee, 2)), "attribute of 65535 bytes where 4 are left"},
      {"inside, longer than its parent", Ieee(Number(8, 2) + Number(kPfc, 2)), "attribute of 8 bytes where 4 are left"},
      {"inside, no length", Ieee(Number(0, 4)), "attribute of 0 bytes where 4 are left"},
      {"a short PFC", Ieee(Attribute(kPfc, std::string(135, '\0'))), "PFC of 135 bytes"},
      {"an empty PFC", Ieee(Attribute(kPfc, "")), "PFC of 0 bytes"},
      {"a short entry", Ieee(Pfc(8) + Attribute(kAppTable, Attribute(kApp, "abc"))), "application entry of 3 bytes"},
      {"an entry beyond its table", Ieee(Pfc(8) + Attribute(kAppTable, Number(9, 2) + Number(kApp, 2) + "abcd")),
       "attribute of 9 bytes where 8 are left"},
      {"no DSCP", Ieee(Pfc(8) + Attribute(kAppTable, App(5, 3, 64))), "DSCP 64 with priority 3"},
      {"no DSCP at all", Ieee(Pfc(8) + Attribute(kAppTable, App(5, 3, 65535))), "DSCP 65535 with priority 3"},
      {"no priority", Ieee(Pfc(8) + Attribute(kAppTable, App(5, 8, 26))), "DSCP 26 with priority 8"},
  };
  for (const auto& row : rows) EXPECT_EQ(Show(row.message), row.shown) << row.what;
}

// Whatever is cut off, nothing is read beyond the end, and no half answer passes for a whole one.
TEST(ParseDcbReplyTest, EveryCut) {
  const std::string good = Ieee(Pfc(8) + Attribute(kAppTable, App(5, 3, 26)));
  for (std::size_t length = 0; length < good.size(); ++length)
    EXPECT_FALSE(ParseDcbReply(std::string(good.data(), length)).ok()) << length;
}

TEST(MakeDcbRequestTest, IsWhatTheKernelExpects) {
  const auto got = MakeDcbRequest("ens5f1", 7);
  ASSERT_TRUE(got.ok());
  EXPECT_EQ(*got, Number(32, 4) + Number(kGetDcb, 2) + Number(1, 2) + Number(7, 4) + Number(0, 4) +
                      std::string({0, kIeeeGet, 0, 0}) + Number(11, 2) + Number(kIfname, 2) +
                      std::string("ens5f1\0\0", 8));
  EXPECT_TRUE(MakeDcbRequest(std::string(IFNAMSIZ - 1, 'x'), 1).ok());
  for (const std::string& name :
       {std::string(), std::string(IFNAMSIZ, 'x'), std::string(70000, 'x'), std::string("a\0b", 3)}) {
    const auto bad = MakeDcbRequest(name, 1);
    ASSERT_FALSE(bad.ok()) << name.size();
    EXPECT_EQ(bad.error().code, base::Code::kNotFound);
  }
}

// The loopback has no DCB on any kernel; other answers depend on the machine.
TEST(LiveDcbTest, NoDcbIsNoFact) {
  const DcbSource source = LiveDcb();
  std::vector<facts::Note> notes;
  for (const char* name : {"lo", "no-such-if", "", "a name that is far too long for one", "lo"})
    EXPECT_FALSE(source(name, &notes).has_value()) << name;
  for (const auto& note : notes) ADD_FAILURE() << note.where << ": " << note.what;
}

}  // namespace
}  // namespace nccl_tune::hw
