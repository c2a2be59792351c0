// SPDX-License-Identifier: Apache-2.0
#include "hw/read_hcas.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "hw/capture_tree.h"
#include "hw/read_device.h"
#include "hw/test_machine.h"
#include "hw/test_show.h"

namespace nccl_tune::hw {
namespace {

using facts::Openable;
using Notes = std::vector<facts::Note>;

const std::string kRoce = "sys/devices/pci0000:00/0000:00:03.0/0000:03:00.1/infiniband/mlx5_2";

std::vector<facts::Hca> Read(const Tree& tree, Notes* notes) {
  DeviceReader devices;
  return ReadHcas(tree, &devices, notes);
}

const facts::Hca* Find(const std::vector<facts::Hca>& hcas, const std::string& name) {
  for (const auto& hca : hcas) {
    if (hca.name == name) return &hca;
  }
  return nullptr;
}

TEST(ReadHcasTest, TakesEveryDeviceByPciAddress) {
  Notes notes;
  const auto got = Read(CaptureTree(ParseMachine(kMachineText)), &notes);
  ASSERT_EQ(got.size(), 3u);
  EXPECT_EQ(Show(got[0]),
            "mlx5_0 type0 0000:02:00.0 numa? mlx5_core  0c42:a103:0009:0001 vf of 0000:03:00.1 below 0000:00:02.0 "
            "uverbs0 open1"
            " :1 state3 layer0 200G lid18 sm1");
  EXPECT_EQ(
      Show(got[1]),
      "mlx5_2 type0 0000:03:00.1 numa1 mlx5_core MT_0000000080 0c42:a103:0003:0002 below 0000:00:03.0 uverbs1 open0"
      " :1 state3 layer1 25G 0=fe80::e42:a1ff:fe03:3v1ens5f1 1=fe80::e42:a1ff:fe03:3v2ens5f1"
      " 2=172.20.0.11v1ens5f1 3=172.20.0.11v2ens5f1 10=2a00:1450:4001:800:e42:a1ff:fe03:3v2ens5f1 :2 state0");
  EXPECT_EQ(Show(got[2]), "rxe0 type0 none numa?    software below - open2 :1 state3 layer1 2G 0=8.8.4.4v2eno1");
  EXPECT_TRUE(notes.empty());
}

// One file spoilt costs the one fact it holds, with a note; where more hangs on it, that is said in the row.
TEST(ReadHcasTest, OneLostFileCostsOneFact) {
  const struct {
    const char* path;  // below the device
    const char* from;  // what the line of a whole machine shows...
    const char* to;    // ...and what it shows now
    bool noted;
  } rows[] = {
      {"node_type", " type0", " type?", true},
      {"board_id", " MT_0000000080", " ", true},
      {"sys_image_guid", " 0c42:a103:0003:0002", " ", true},
      {"../../numa_node", " numa1", " numa?", true},
      {"../../driver", " mlx5_core", " ", false},
      {"ports/1/rate", " 25G", "", true},
      {"ports/1/gids/3", " 3=172.20.0.11v2ens5f1", "", true},
      {"ports/1/gid_attrs/types/3", "172.20.0.11v2", "172.20.0.11v?", true},
      {"ports/1/gid_attrs/ndevs/3", "v2ens5f1 10=", "v2 10=", false},  // hidden from other namespaces: no fault
      {"ports/2/state", ":2 state0", ":2 state?", true},
      {"ports/1/lid", "", "", false},  // means nothing on Ethernet
      {"device", "", "", false},       // the place itself tells the function
  };
  const CaptureTree whole(ParseMachine(kMachineText));
  Notes none;
  const auto before = Read(whole, &none);
  for (const auto& row : rows) {
    std::string path = kRoce + "/" + row.path;
    if (std::string(row.path).starts_with("../../"))
      path = kRoce.substr(0, kRoce.find("/infiniband")) + std::string(row.path).substr(5);
    Notes notes;
    const auto got = Read(SpoiltTree(whole, path, base::Code::kUnreadable), &notes);
    ASSERT_EQ(got.size(), 3u) << row.path;
    std::string expected = Show(*Find(before, "mlx5_2"));
    ASSERT_NE(expected.find(row.from), std::string::npos) << row.path;
    expected.replace(expected.find(row.from), std::string(row.from).size(), row.to);
    EXPECT_EQ(Show(*Find(got, "mlx5_2")), expected) << row.path;
    EXPECT_EQ(Show(*Find(got, "mlx5_0")), Show(before[0])) << row.path;
    EXPECT_EQ(Show(*Find(got, "rxe0")), Show(before[2])) << row.path;
    ASSERT_EQ(notes.size(), row.noted ? 1u : 0u) << row.path;
    if (row.noted) {
      EXPECT_EQ(notes[0].where, path);
      EXPECT_EQ(notes[0].what, "spoilt");
    }
  }
}

TEST(ReadHcasTest, WhatThePortHangsOnTakesItAlong) {
  const CaptureTree whole(ParseMachine(kMachineText));
  const struct {
    const char* path;
    const char* port;
  } rows[] = {
      {"ports/1/state", " :1 state? :2 state0"},
      {"ports/1/link_layer", " :1 state3 25G :2 state0"},
      {"ports/1/gids", " :1 state3 layer1 25G :2 state0"},
      {"ports", " uverbs1 open0"},
  };
  for (const auto& row : rows) {
    Notes notes;
    const auto got = Read(SpoiltTree(whole, kRoce + "/" + row.path, base::Code::kForbidden), &notes);
    EXPECT_TRUE(Show(*Find(got, "mlx5_2")).ends_with(row.port)) << Show(*Find(got, "mlx5_2"));
    ASSERT_EQ(notes.size(), 1u) << row.path;
    EXPECT_EQ(notes[0].where, kRoce + "/" + row.path);
  }
}

TEST(ReadHcasTest, TextThatMakesNoSenseIsNotedWithItsValue) {
  const struct {
    const char* path;
    const char* text;
    const char* note;
  } rows[] = {
      {"node_type", "CA", "not a node type: got \"CA\", expected a form such as \"1: CA\""},
      {"node_type", "", "not a node type: got \"\""},
      {"ports/1/state", "ACTIVE", "not a port state: got \"ACTIVE\", expected a form such as \"4: ACTIVE\""},
      {"ports/1/rate", "fast", "not a rate: got \"fast\", expected a form such as \"100 Gb/sec (4X EDR)\""},
      {"ports/1/rate", "0 Gb/sec", "not a rate"},
      {"ports/1/gids/3", "fe80::1", "not a GID: got \"fe80::1\""},
      {"ports/1/gid_attrs/types/3", "RoCE v3",
       "not a GID type: got \"RoCE v3\", expected \"IB/RoCE v1\" or \"RoCE v2\""},
      {"ports/1/gids/x", "y", "entry \"x\" is no number"},
      {"ports/1/gids/-1", "y", "entry \"-1\" is no number"},
      {"ports/one/state", "y", "entry \"one\" is no number"},
      {"ports/9999999999/state", "y", "entry \"9999999999\" is no number"},
  };
  for (const auto& row : rows) {
    Capture capture = ParseMachine(kMachineText);
    capture.entries[kRoce + "/" + row.path] = CaptureFile{std::string(row.text) + "\n"};
    Notes notes;
    const auto got = Read(CaptureTree(capture), &notes);
    EXPECT_EQ(got.size(), 3u);
    ASSERT_EQ(notes.size(), 1u) << row.path << row.text;
    EXPECT_TRUE(notes[0].what.starts_with(row.note)) << notes[0].what;
  }
}

TEST(ReadHcasTest, OpenableByTheVerbsNode) {
  const struct {
    const char* remove;  // whatever begins with it
    const char* note;
    Openable openable;  // of mlx5_2
  } rows[] = {
      {"nothing", "", Openable::kYes},
      {"dev/infiniband/uverbs1", "", Openable::kMissing},
      {"dev/", "", Openable::kUnknown},
      {"sys/class/infiniband_verbs/", "", Openable::kMissing},
      {"sys/class/infiniband_verbs/uverbs1", "", Openable::kMissing},
      {"sys/devices/pci0000:00/0000:00:03.0/0000:03:00.1/infiniband_verbs/uverbs1/ibdev",
       "sys/class/infiniband_verbs/uverbs1/ibdev: No such file or directory", Openable::kMissing},
  };
  for (const auto& row : rows) {
    Capture capture = ParseMachine(kMachineText);
    std::erase_if(capture.entries, [&](const auto& e) { return e.first.starts_with(row.remove); });
    Notes notes;
    const auto got = Read(CaptureTree(capture), &notes);
    EXPECT_EQ(Find(got, "mlx5_2")->openable, row.openable) << row.remove;
    EXPECT_EQ(notes.empty() ? "" : notes[0].where + ": " + notes[0].what, row.note);
  }
  const CaptureTree whole(ParseMachine(kMachineText));
  Notes notes;
  const auto got = Read(SpoiltTree(whole, "sys/class/infiniband_verbs", base::Code::kForbidden), &notes);
  EXPECT_EQ(Find(got, "mlx5_2")->openable, Openable::kUnknown) << "a folder that cannot be listed says nothing";
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_EQ(notes[0].where, "sys/class/infiniband_verbs");
}

TEST(ReadHcasTest, NoDevicesIsNormalAndAClosedFolderIsNot) {
  Capture capture;
  capture.entries["sys/class/net/lo/mtu"] = CaptureFile{"1\n"};
  const CaptureTree none(capture);
  Notes notes;
  EXPECT_TRUE(Read(none, &notes).empty());
  EXPECT_TRUE(notes.empty());
  EXPECT_TRUE(Read(SpoiltTree(none, "sys/class/infiniband", base::Code::kForbidden), &notes).empty());
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_EQ(notes[0].where, "sys/class/infiniband");
}

TEST(ReadHcasTest, ASoftwareDeviceOnACardsFunctionIsSoftware) {
  Capture capture = ParseMachine(kMachineText);
  capture.entries[kRoce + "/parent"] = CaptureFile{"ens5f1\n"};
  Notes notes;
  const auto got = Read(CaptureTree(capture), &notes);
  EXPECT_TRUE(Find(got, "mlx5_2")->is_software);
  EXPECT_EQ(Find(got, "mlx5_2")->pci->ToString(), "0000:03:00.1");
  EXPECT_FALSE(Find(got, "mlx5_0")->is_software);
}

// 256 slots, most of them empty or failing: each costs its GID, and only those in use their type and interface.
TEST(ReadHcasTest, AWholeTableWithHoles) {
  Capture capture = ParseMachine(kMachineText);
  const std::string port = kRoce + "/ports/1/";
  for (int i = 0; i < 256; ++i) {
    const std::string slot = std::to_string(i);
    const bool used = i % 16 == 3;
    capture.entries[port + "gids/" + slot] =
        CaptureFile{used ? "0000:0000:0000:0000:0000:ffff:ac14:000b\n" : "0000:0000:0000:0000:0000:0000:0000:0000\n"};
    if (used) {
      capture.entries[port + "gid_attrs/types/" + slot] = CaptureFile{"RoCE v2\n"};
      capture.entries[port + "gid_attrs/ndevs/" + slot] = CaptureFile{"ens5f1\n"};
    } else {
      capture.entries[port + "gid_attrs/types/" + slot] = CaptureFailure{"EINVAL"};
      capture.entries[port + "gid_attrs/ndevs/" + slot] = CaptureFailure{"EINVAL"};
    }
  }
  const CaptureTree whole(capture);
  const CountingTree tree(whole);
  Notes notes;
  const auto got = Read(tree, &notes);
  EXPECT_TRUE(notes.empty());
  const auto& gids = Find(got, "mlx5_2")->ports[0].gids;
  ASSERT_EQ(gids.size(), 16u);
  EXPECT_EQ(gids[0].index, 3);
  EXPECT_EQ(gids[15].index, 243);
  int reads = 0;
  for (const auto& [path, count] : tree.reads()) reads += path.starts_with(port + "gid") ? count : 0;
  EXPECT_EQ(reads, 256 + 2 * 16);
}

// A table of 256 slots on 16 ports is some thousands of reads; those that cannot matter are not made.
TEST(ReadHcasTest, ReadsNoMoreThanItNeeds) {
  const CaptureTree whole(ParseMachine(kMachineText));
  const CountingTree tree(whole);
  Notes notes;
  EXPECT_EQ(Read(tree, &notes).size(), 3u);
  for (const auto& [path, count] : tree.reads()) {
    EXPECT_EQ(count, 1) << path;
    if (path.find("mlx5_2/ports/2/") != std::string::npos) {
      EXPECT_TRUE(path.ends_with("/state")) << path;
    }
    if (path.starts_with(kRoce) && path.ends_with("/4")) {
      EXPECT_TRUE(path.ends_with("/gids/4")) << path;
    }
  }
  EXPECT_TRUE(tree.reads().contains(kRoce + "/ports/1/gids/4"));
  EXPECT_TRUE(tree.reads().contains(kRoce + "/ports/2/state"));
}

}  // namespace
}  // namespace nccl_tune::hw
