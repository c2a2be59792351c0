// SPDX-License-Identifier: Apache-2.0
#include "tests/perf/machine_layout.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace nccl_tune::perf {
namespace {

constexpr int kGpus = 8;
constexpr int kOtherFunctions = 64;  // memory controllers, bridges, storage: only their class is of interest

base::Error ErrorAt(std::error_code code, const std::string& path) {
  return {.code = base::Code::kUnreadable, .what = code.message(), .where = path};
}

// Writes below a root and remembers the first failure.
class Writer {
 public:
  explicit Writer(std::string root) : root_(std::move(root)) {}

  void Folder(const std::string& path) {
    std::error_code code;
    std::filesystem::create_directories(root_ + "/" + path, code);
    Keep(code, path);
  }
  void File(const std::string& path, const std::string& text) {
    const int fd = open((root_ + "/" + path).c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    const bool written = fd >= 0 && write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
    if (!written) Keep(std::error_code(errno, std::generic_category()), path);
    if (fd >= 0) close(fd);
  }
  void Link(const std::string& path, const std::string& target) {
    std::error_code code;
    std::filesystem::create_symlink(target, root_ + "/" + path, code);
    Keep(code, path);
  }
  const base::Status& status() const { return status_; }

 private:
  void Keep(std::error_code code, const std::string& path) {
    if (code && status_.ok()) status_ = ErrorAt(code, path);
  }

  std::string root_;
  base::Status status_ = base::Ok();
};

std::string Format(const char* pattern, auto... values) {
  std::array<char, 128> text{};
  std::snprintf(text.data(), text.size(), pattern, values...);
  return text.data();
}

// A PCI function in a hierarchy of its own; its folder relative to the root.
std::string PutFunction(Writer& out, const std::string& address, const std::string& place, const char* pci_class,
                        const char* vendor, int numa) {
  std::string folder = "sys/devices/" + place;
  out.Folder(folder);
  out.File(folder + "/class", std::string(pci_class) + "\n");
  out.File(folder + "/vendor", std::string(vendor) + "\n");
  out.File(folder + "/numa_node", std::to_string(numa) + "\n");
  out.Link("sys/bus/pci/devices/" + address, "../../../devices/" + place);
  return folder;
}

// A function on bus `bus` below a root port, which is a PCI function too.
std::string PutCard(Writer& out, int bus, const char* pci_class, const char* vendor, int numa) {
  const std::string port = Format("0000:%02x:01.0", bus);
  const std::string card = Format("0000:%02x:00.0", bus + 1);
  const std::string root = Format("pci0000:%02x/", bus) + port;
  PutFunction(out, port, root, "0x060400", "0x8086", numa);
  return PutFunction(out, card, root + "/" + card, pci_class, vendor, numa);
}

void PutNetdev(Writer& out, const std::string& function, const std::string& name, int ifindex, int mbit) {
  const std::string folder = function + "/net/" + name;
  out.Folder(folder);
  out.Link(folder + "/device", "../../../" + function.substr(function.rfind('/') + 1));
  out.File(folder + "/ifindex", std::to_string(ifindex) + "\n");
  out.File(folder + "/type", "1\n");
  out.File(folder + "/flags", "0x1003\n");
  out.File(folder + "/operstate", "up\n");
  out.File(folder + "/carrier", "1\n");
  out.File(folder + "/mtu", mbit > 10000 ? "9000\n" : "1500\n");
  out.File(folder + "/speed", std::to_string(mbit) + "\n");
  out.File(folder + "/address", Format("02:00:5e:00:00:%02x\n", ifindex));
  out.File(folder + "/uevent", "INTERFACE=" + name + "\nIFINDEX=" + std::to_string(ifindex) + "\n");
  out.Link("sys/class/net/" + name, "../../" + folder.substr(4));
}

// Link-local and IPv4, each for RoCE v1 and v2, as the kernel fills a table; after them more IPv4 addresses.
std::string GidText(int hca, int slot, bool filled) {
  if (!filled) return "0000:0000:0000:0000:0000:0000:0000:0000\n";
  if (slot < 2) return Format("fe80:0000:0000:0000:0000:5eff:fe00:00%02x\n", hca);
  return Format("0000:0000:0000:0000:0000:ffff:0a%02x:%02x0b\n", hca, slot / 2);
}

void PutPort(Writer& out, const std::string& port, int hca, const std::string& netdev, const Shape& shape) {
  out.Folder(port + "/gids");
  out.Folder(port + "/gid_attrs/types");
  out.Folder(port + "/gid_attrs/ndevs");
  out.File(port + "/state", "4: ACTIVE\n");
  out.File(port + "/phys_state", "5: LinkUp\n");
  out.File(port + "/link_layer", "Ethernet\n");
  out.File(port + "/rate", "400 Gb/sec (4X NDR)\n");
  out.File(port + "/lid", "0x0\n");
  out.File(port + "/sm_lid", "0x0\n");
  for (int slot = 0; slot < shape.gid_entries; ++slot) {
    const std::string name = "/" + std::to_string(slot);
    out.File(port + "/gids" + name, GidText(hca, slot, slot < shape.filled));
    out.File(port + "/gid_attrs/types" + name, slot % 2 == 0 ? "IB/RoCE v1\n" : "RoCE v2\n");
    out.File(port + "/gid_attrs/ndevs" + name, netdev + "\n");
  }
}

void PutHca(Writer& out, int hca, int gpus, const Shape& shape) {
  const int numa = hca * 2 / shape.hcas;
  const std::string function = PutCard(out, 4 * hca, "0x020000", "0x15b3", numa);
  out.Link(function + "/driver", "../../../../bus/pci/drivers/mlx5_core");
  const std::string name = "mlx5_" + std::to_string(hca);
  const std::string device = function + "/infiniband/" + name;
  const std::string netdev = "rail" + std::to_string(hca);
  PutNetdev(out, function, netdev, 10 + hca, 400000);
  PutPort(out, device + "/ports/1", hca, netdev, shape);
  out.Link(device + "/device", "../../../" + function.substr(function.rfind('/') + 1));
  out.File(device + "/node_type", "1: CA\n");
  out.File(device + "/board_id", "MT_0000000838\n");
  out.File(device + "/sys_image_guid", Format("0200:5e00:0000:%04x\n", hca));
  out.Link("sys/class/infiniband/" + name, "../../" + device.substr(4));
  const std::string verbs = "uverbs" + std::to_string(hca);
  out.Folder(function + "/infiniband_verbs/" + verbs);
  out.File(function + "/infiniband_verbs/" + verbs + "/ibdev", name + "\n");
  out.Link("sys/class/infiniband_verbs/" + verbs, "../../" + function.substr(4) + "/infiniband_verbs/" + verbs);
  out.File("dev/infiniband/" + verbs, "");
  if (hca < gpus) PutCard(out, 4 * hca + 2, "0x030200", "0x10de", numa);
}

void PutManagement(Writer& out) {
  const std::string function = PutCard(out, 0xf0, "0x020000", "0x8086", 0);
  out.Link(function + "/driver", "../../../../bus/pci/drivers/igb");
  PutNetdev(out, function, "eno1", 2, 1000);
  const std::string loopback = "sys/devices/virtual/net/lo";
  out.Folder(loopback);
  out.File(loopback + "/ifindex", "1\n");
  out.File(loopback + "/type", "772\n");
  out.File(loopback + "/flags", "0x9\n");
  out.File(loopback + "/operstate", "unknown\n");
  out.File(loopback + "/carrier", "1\n");
  out.File(loopback + "/mtu", "65536\n");
  out.Link("sys/class/net/lo", "../../devices/virtual/net/lo");
}

std::string AddressJson(const std::string& name, int ifindex, const std::string& address) {
  return R"({"ifindex":)" + std::to_string(ifindex) + R"(,"ifname":")" + name +
         R"(","flags":["UP","LOWER_UP"],"link_type":"ether","addr_info":[{"local":")" + address +
         R"(","prefixlen":24,"scope":"global"}]})";
}

void PutAddresses(Writer& out, int hcas) {
  std::string addresses = "[" + AddressJson("eno1", 2, "192.168.7.11");
  for (int hca = 0; hca < hcas; ++hca) {
    addresses += ",\n" + AddressJson("rail" + std::to_string(hca), 10 + hca, "10." + std::to_string(hca) + ".1.11");
  }
  out.File("ip-addr.json", addresses + "]\n");
  out.File("ip-route.json", R"([{"dst":"default","gateway":"192.168.7.1","dev":"eno1","flags":[]}])");
}

}  // namespace

base::Result<TemporaryFolder> TemporaryFolder::Make() {
  std::error_code code;
  const bool memory = std::filesystem::is_directory("/dev/shm", code) && access("/dev/shm", W_OK) == 0;
  std::string path = std::string(memory ? "/dev/shm" : "/tmp") + "/nccl-tune-perf.XXXXXX";
  if (mkdtemp(path.data()) == nullptr) return ErrorAt(std::error_code(errno, std::generic_category()), path);
  return TemporaryFolder(path);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

base::Status LayOutMachine(const std::string& root, const Shape& shape) {
  Writer out(root);
  for (const char* folder : {"sys/class/infiniband", "sys/class/infiniband_verbs", "sys/class/net", "dev/infiniband",
                             "sys/bus/pci/devices", "sys/bus/pci/drivers/mlx5_core", "sys/bus/pci/drivers/igb"}) {
    out.Folder(folder);
  }
  for (int hca = 0; hca < shape.hcas; ++hca) PutHca(out, hca, kGpus, shape);
  PutManagement(out);
  for (int i = 0; i < kOtherFunctions; ++i) {
    const std::string address = Format("0000:fe:%02x.%d", i / 8, i % 8);
    PutFunction(out, address, "pci0000:fe/" + address, "0x088000", "0x8086", 0);
  }
  PutAddresses(out, shape.hcas);
  return out.status();
}

}  // namespace nccl_tune::perf
