// SPDX-License-Identifier: Apache-2.0
//
// The stand-in libibverbs shows what is laid out, by the symbols and versions that NCCL looks up.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <infiniband/verbs.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#undef ibv_get_device_list
#undef ibv_query_port

namespace nccl_tune {
namespace {

void Write(const std::string& path, const std::string& text) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path) << text;
}

class FakeverbsTest : public testing::Test {
 protected:
  void SetUp() override {
    library_ = dlopen("tests/gpu/libfakeverbs.so", RTLD_NOW);
    ASSERT_NE(library_, nullptr) << dlerror();
  }

  template <typename Function>
  Function* Find(const char* name) {
    auto* found = reinterpret_cast<Function*>(dlvsym(library_, name, "IBVERBS_1.1"));
    EXPECT_NE(found, nullptr) << name;
    return found;
  }

  void* library_ = nullptr;
};

void LayOut(const std::string& root) {
  Write(root + "/sys/class/infiniband_verbs/uverbs10/ibdev", "mlx5_1\n");
  Write(root + "/sys/class/infiniband_verbs/uverbs9/ibdev", "mlx5_0\n");
  Write(root + "/dev/infiniband/uverbs9", "");
  const std::string ports = root + "/sys/class/infiniband/mlx5_0/ports/";
  Write(ports + "1/state", "1: DOWN\n");
  Write(ports + "2/state", "4: ACTIVE\n");
  Write(ports + "2/link_layer", "InfiniBand\n");
  Write(ports + "2/rate", "400 Gb/sec (4X NDR)\n");
}

TEST_F(FakeverbsTest, ShowsAMachine) {
  const std::string root = testing::TempDir() + "/machine";
  LayOut(root);
  setenv("NCCL_TUNE_FAKE_ROOT", root.c_str(), 1);
  int count = 0;
  ibv_device** list = Find<ibv_device**(int*)>("ibv_get_device_list")(&count);
  ASSERT_EQ(count, 2);
  EXPECT_STREQ(list[0]->name, "mlx5_0");
  EXPECT_STREQ(list[1]->name, "mlx5_1");
  EXPECT_STREQ(list[0]->dev_name, "uverbs9");
  EXPECT_EQ(list[2], nullptr);

  const auto open = Find<ibv_context*(ibv_device*)>("ibv_open_device");
  EXPECT_EQ(open(list[1]), nullptr);
  EXPECT_EQ(errno, EACCES);
  ibv_context* context = open(list[0]);
  ASSERT_NE(context, nullptr);
  ibv_device_attr device;
  EXPECT_EQ(Find<int(ibv_context*, ibv_device_attr*)>("ibv_query_device")(context, &device), 0);
  EXPECT_EQ(device.phys_port_cnt, 2);

  const auto query = Find<int(ibv_context*, uint8_t, ibv_port_attr*)>("ibv_query_port");
  ibv_port_attr port;
  EXPECT_EQ(query(context, 1, &port), 0);
  EXPECT_EQ(port.state, IBV_PORT_DOWN);
  EXPECT_EQ(port.link_layer, IBV_LINK_LAYER_UNSPECIFIED);
  EXPECT_EQ(query(context, 2, &port), 0);
  EXPECT_EQ(port.state, IBV_PORT_ACTIVE);
  EXPECT_EQ(port.link_layer, IBV_LINK_LAYER_INFINIBAND);
  EXPECT_EQ(port.active_width, 2);
  EXPECT_EQ(port.active_speed, 128);
  EXPECT_EQ(Find<int(ibv_context*)>("ibv_close_device")(context), 0);
  Find<void(ibv_device**)>("ibv_free_device_list")(list);
}

TEST_F(FakeverbsTest, HasWhatNcclNeeds) {
  for (const char* name :
       {"ibv_get_device_list", "ibv_free_device_list", "ibv_get_device_name", "ibv_open_device", "ibv_close_device",
        "ibv_get_async_event", "ibv_ack_async_event",  "ibv_query_device",    "ibv_query_port",  "ibv_query_gid",
        "ibv_query_qp",        "ibv_alloc_pd",         "ibv_dealloc_pd",      "ibv_reg_mr",      "ibv_dereg_mr",
        "ibv_create_cq",       "ibv_destroy_cq",       "ibv_create_qp",       "ibv_modify_qp",   "ibv_destroy_qp",
        "ibv_fork_init",       "ibv_event_type_str"}) {
    EXPECT_NE(dlvsym(library_, name, "IBVERBS_1.1"), nullptr) << name;
  }
}

}  // namespace
}  // namespace nccl_tune
