// SPDX-License-Identifier: Apache-2.0
#include "core/nccl/check_value.h"

#include <gtest/gtest.h>

#include <string>

#include "core/nccl/variables.h"

namespace nccl_tune::nccl {
namespace {

TEST(CheckValueTest, Good) {
  const struct {
    const char* name;
    const char* value;
  } rows[] = {
      {"NCCL_IB_HCA", "=mlx5_0:1,mlx5_2:1"},
      {"NCCL_IB_HCA", "mlx5"},
      {"NCCL_IB_HCA", "^=mlx5_0,mlx5_2"},
      {"NCCL_IB_HCA", "=mlx5_0::0:1"},
      {"NCCL_IB_HCA", "=mlx5_0,,mlx5_2"},
      {"NCCL_SOCKET_IFNAME", "=eth0"},
      {"NCCL_SOCKET_IFNAME", "^lo,docker"},
      {"NCCL_IB_GID_INDEX", "3"},
      {"NCCL_IB_GID_INDEX", "-1"},
      {"NCCL_IB_TC", "106"},
      {"NCCL_IB_TC", "0x6a"},
      {"NCCL_IB_TIMEOUT", "22"},
      {"NCCL_IB_RETRY_CNT", "7"},
      {"NCCL_IB_AR_THRESHOLD", "8192"},
      {"NCCL_IB_ADDR_FAMILY", "AF_INET6"},
      {"NCCL_IB_ADDR_RANGE", "10.0.0.0/8"},
      {"NCCL_IB_ADDR_RANGE", "fd00::/8"},
      {"NCCL_NET_GDR_LEVEL", "PHB"},
      {"NCCL_NET_GDR_LEVEL", "3"},
      {"NCCL_NET_FORCE_MERGE", "a,b;c,d"},
      {"NCCL_NET", "AWS Libfabric"},
      {"GLOO_SOCKET_IFNAME", "eth0,eth1"},
      {"NVSHMEM_HCA_LIST", "^mlx5_0:1"},
      {"UCX_NET_DEVICES", "mlx5_0:1,eth0"},
      {"OMPI_MCA_btl_tcp_if_include", "10.0.0.0/8"},
  };
  for (const auto& row : rows) {
    const auto got = CheckValue(row.name, row.value);
    EXPECT_TRUE(got.ok()) << row.name << "=" << row.value << ": " << (got.ok() ? "" : got.error().ToString());
  }
}

struct BadRow {
  const char* name;
  const char* value;
  const char* message;
};

void ExpectMessages(const BadRow* begin, const BadRow* end) {
  for (const BadRow* row = begin; row != end; ++row) {
    const auto got = CheckValue(row->name, row->value);
    ASSERT_FALSE(got.ok()) << row->name << "=" << row->value;
    EXPECT_EQ(got.error().ToString(), std::string(row->name) + ": " + row->message);
  }
}

TEST(CheckValueTest, BadIntegers) {
  const BadRow rows[] = {
      {"NCCL_IB_DISABLE", "true", "text, which reads silently as 0: got \"true\", expected 0 to 1"},
      {"NCCL_IB_DISABLE", "yes", "text, which reads silently as 0: got \"yes\", expected 0 to 1"},
      {"NCCL_IB_SL", "low", "text, which reads silently as 0: got \"low\", expected -1 to 15"},
      {"NCCL_IB_DISABLE", "1;", "text after the number is ignored, so it reads as 1: got \"1;\", expected 0 to 1"},
      {"NCCL_CROSS_NIC", "1 ", "text after the number is ignored, so it reads as 1: got \"1 \", expected 0 to 2"},
      {"NCCL_CROSS_NIC", "1.5", "text after the number is ignored, so it reads as 1: got \"1.5\", expected 0 to 2"},
      {"NCCL_CROSS_NIC", "09", "text after the number is ignored, so it reads as 0: got \"09\", expected 0 to 2"},
      {"NCCL_IB_SL", "010", "a leading 0 makes it octal, so it reads as 8: got \"010\", expected -1 to 15. Write 10."},
      {"NCCL_IB_SL", "03", "a leading 0 makes it octal, so it reads as 3: got \"03\", expected -1 to 15. Write 3."},
      {"NCCL_CROSS_NIC", "00", "a leading 0 makes it octal, so it reads as 0: got \"00\", expected 0 to 2. Write 0."},
      {"NCCL_CROSS_NIC", "99999999999999999999",
       "too large a number, so the default applies: got \"99999999999999999999\", expected 0 to 2"},
      {"NCCL_CROSS_NIC", "3", "number out of range: got \"3\", expected 0 to 2"},
      {"NCCL_CROSS_NIC", "-1", "number out of range: got \"-1\", expected 0 to 2"},
      {"NCCL_IB_AR_THRESHOLD", "-1", "number out of range: got \"-1\", expected 0 or more"},
      {"NCCL_IB_QPS_PER_CONNECTION", "0", "number out of range: got \"0\", expected 1 to 128"},
      {"NCCL_IB_ROCE_VERSION_NUM", "3", "number out of range: got \"3\", expected 1 to 2"},
      {"NCCL_IB_TC", "256",
       "number out of range: got \"256\", expected -1 to 255. It is DSCP x 4, so DSCP 26 is 104 or 106."},
      {"NCCL_IB_RETRY_CNT", "13",
       "number out of range: got \"13\", expected 0 to 7. It is a field of 3 bits, so 7 is the most; raise "
       "NCCL_IB_TIMEOUT "
       "instead."},
      {"NCCL_IB_TIMEOUT", "2",
       "number out of range: got \"2\", expected 14 to 31. It is 4.096 us x 2^n: 14 is 67 ms, 20 is 4.3 s, 22 is 17 s; "
       "0 and "
       "32 up never end."},
      {"NCCL_IB_TIMEOUT", "32",
       "number out of range: got \"32\", expected 14 to 31. It is 4.096 us x 2^n: 14 is 67 ms, 20 is 4.3 s, 22 is 17 "
       "s; 0 and "
       "32 up never end."},
      {"NCCL_IB_GID_INDEX", "auto",
       "text, which reads silently as 0: got \"auto\", expected -1 to 255. An index is used unchecked on every device; "
       "-1 "
       "lets NCCL choose from 2.21 on."},
  };
  ExpectMessages(std::begin(rows), std::end(rows));
}

TEST(CheckValueTest, BadLists) {
  const char* kSymbol = "a symbol counts only at the start, here it is part of a name: ";
  const std::string repeated = std::string(kSymbol) + "got \"^=a,^=b\". Write \"^=a,b\".";
  const std::string twice = std::string(kSymbol) + "got \"=a,=b\". Write \"=a,b\".";
  const std::string order = std::string(kSymbol) + "got \"=^a\". Write \"^=a\".";
  const std::string later = std::string(kSymbol) + "got \"a,^b\". Write \"^a,b\".";
  const BadRow rows[] = {
      {"NCCL_IB_HCA", "^=a,^=b", repeated.c_str()},
      {"NCCL_IB_HCA", "=a,=b", twice.c_str()},
      {"NCCL_IB_HCA", "=^a", order.c_str()},
      {"NCCL_IB_HCA", "a,^b", later.c_str()},
      {"NCCL_IB_HCA", "=a, b",
       "blanks and semicolons are part of a name: got \"=a, b\", expected names with commas between. Write \"=a,b\"."},
      {"NCCL_IB_HCA", "=a;b",
       "blanks and semicolons are part of a name: got \"=a;b\", expected names with commas between. Write \"=a,b\"."},
      {"NCCL_IB_HCA", "^", "a list without names, which takes nothing: got \"^\". Empty means every device."},
      {"NCCL_IB_HCA", "=", "a list without names, which takes everything: got \"=\". Empty means every device."},
      {"NCCL_IB_HCA", "=a:0",
       "port \"0\" matches none: got \"=a:0\", expected a number from 1 on. Empty means every device."},
      {"NCCL_IB_HCA", "=a:x",
       "port \"x\" matches none: got \"=a:x\", expected a number from 1 on. Empty means every device."},
      {"NCCL_IB_HCA",
       "=a:", "port \"\" matches none: got \"=a:\", expected a number from 1 on. Empty means every device."},
      {"NCCL_SOCKET_IFNAME", "e", "one character, which counts as unset: got \"e\""},
      {"NCCL_SOCKET_IFNAME", "^", "one character, which counts as unset: got \"^\""},
      {"NCCL_SOCKET_IFNAME", "^docker0",
       "a list that excludes replaces the defaults and so admits lo: got \"^docker0\". Add lo, or name one interface."},
      {"NCCL_SOCKET_IFNAME", "=eth0:1",
       "an interface has no port, and an alias label cannot be named: got \"=eth0:1\", expected names"},
      {"NCCL_SOCKET_IFNAME", "=a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q",
       "NCCL keeps 16 names and ignores the rest: got \"=a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q\""},
      {"GLOO_SOCKET_IFNAME", "=eth0",
       "names are exact here, the symbol would be part of one: got \"=eth0\", expected plain names. Write \"eth0\"."},
      {"GLOO_SOCKET_IFNAME", "^docker",
       "names are exact here, the symbol would be part of one: got \"^docker\", expected plain names. Write "
       "\"docker\"."},
      {"TP_SOCKET_IFNAME", "eth0, eth1",
       "blanks are part of a name: got \"eth0, eth1\", expected names with commas between. Write \"eth0,eth1\"."},
      {"NVSHMEM_HCA_LIST", "=mlx5_0:1",
       "names are exact here, the symbol would be part of one: got \"=mlx5_0:1\", expected plain names. Write "
       "\"mlx5_0:1\"."},
      {"NVSHMEM_HCA_LIST", "^=mlx5_0",
       "names are exact here, the symbol would be part of one: got \"^=mlx5_0\", expected plain names. Write "
       "\"^mlx5_0\"."},
      {"NVSHMEM_HCA_LIST", "a,,b", "an empty name: got \"a,,b\", expected names with commas between. Write \"a,b\"."},
  };
  ExpectMessages(std::begin(rows), std::end(rows));
}

TEST(CheckValueTest, BadEnumsNetworksAndTexts) {
  const char* levels = "expected LOC, NVL, NVB, C2C, PIX, PXB, P2C, PXN, PHB, SYS, 0, 1, 2, 3, 4";
  const std::string node = std::string("no value of this variable, so it is ignored: got \"NODE\", ") + levels +
                           ". Names are upper case; the NODE of nvidia-smi is PHB here.";
  const std::string lower =
      std::string("no value of this variable, so it is ignored: got \"phb\", ") + levels + ". Write PHB.";
  const char* kNetwork =
      "expected one network such as 10.0.0.0/8. Anything else is ignored, at most with an INFO line.";
  const auto network = [&](const char* what, const char* value) {
    return std::string(what) + ": got \"" + value + "\", " + kNetwork;
  };
  const std::string no_length = network("no prefix length", "10.0.0.0");
  const std::string two = network("more than one network, or a blank", "10.0.0.0/8,172.20.0.0/12");
  const std::string text = network("no number after the slash", "10.0.0.0/x");
  const std::string host = network("no IP address before the slash", "host/8");
  const std::string partial = network("no IP address before the slash", "10.0/16");
  const BadRow rows[] = {
      {"NCCL_NET_GDR_LEVEL", "NODE", node.c_str()},
      {"NCCL_NET_GDR_LEVEL", "phb", lower.c_str()},
      {"NCCL_IB_ADDR_FAMILY", "inet",
       "no value of this variable, so it is ignored: got \"inet\", expected AF_INET, AF_INET6. Other text is ignored."},
      {"NCCL_SOCKET_FAMILY", "AF_INET ",
       "no value of this variable, so it is ignored: got \"AF_INET \", expected AF_INET, AF_INET6. Write AF_INET."},
      {"NCCL_IB_ADDR_RANGE", "10.0.0.0", no_length.c_str()},
      {"NCCL_IB_ADDR_RANGE", "10.0.0.0/8,172.20.0.0/12", two.c_str()},
      {"NCCL_IB_ADDR_RANGE", "10.0.0.0/x", text.c_str()},
      {"NCCL_IB_ADDR_RANGE", "host/8", host.c_str()},
      {"NCCL_IB_ADDR_RANGE", "10.0/16", partial.c_str()},
      {"NCCL_IB_ADDR_RANGE", "10.0.0.0/33",
       "prefix length out of range: got \"10.0.0.0/33\", expected 0 to 32. Anything else is ignored, at most with an "
       "INFO "
       "line."},
      {"NCCL_NET", "IB\n",
       "a line end or other control character in the value: got \"IB\\x0a\". Another name than that of "
       "a transport found makes NCCL fail."},
      {"NCCL_IB_PCI_RELAXED_ORDERING", "1\t", "a line end or other control character in the value: got \"1\\x09\""},
  };
  ExpectMessages(std::begin(rows), std::end(rows));
}

TEST(CheckValueTest, EmptyAndUnknown) {
  for (const Variable& variable : AllVariables()) {
    const auto got = CheckValue(variable.name, "");
    ASSERT_FALSE(got.ok()) << variable.name;
    EXPECT_EQ(got.error().what, "empty value");
    EXPECT_TRUE(got.error().hint.ends_with("Unset it instead.")) << variable.name;
  }
  EXPECT_EQ(CheckValue("NCCL_HOSTID", "").error().ToString(),
            "NCCL_HOSTID: empty value. An empty id makes all nodes one. Unset it instead.");
  EXPECT_EQ(CheckValue("NCCL_IB_HCAS", "x").error().ToString(), "NCCL_IB_HCAS: not a variable that we know");
  EXPECT_EQ(CheckValue("NCCL_IB_HCAS", "x").error().code, base::Code::kNotFound);
}

}  // namespace
}  // namespace nccl_tune::nccl
