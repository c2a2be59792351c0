// SPDX-License-Identifier: Apache-2.0
#include "hw/gather.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/parse_number.h"
#include "hw/dcb.h"
#include "hw/scrub.h"
#include "hw/sysfs_text.h"

namespace nccl_tune::hw {
namespace {

constexpr std::array kPciAttributes = {"class",
                                       "vendor",
                                       "device",
                                       "numa_node",
                                       "local_cpulist",
                                       "subsystem_vendor",
                                       "subsystem_device",
                                       "current_link_speed",
                                       "current_link_width",
                                       "max_link_speed",
                                       "max_link_width",
                                       "sriov_totalvfs",
                                       "sriov_numvfs"};
constexpr std::array kHcaAttributes = {"node_type", "fw_ver", "hca_type", "board_id"};
constexpr std::array kGuidAttributes = {"node_guid", "sys_image_guid"};
constexpr std::array kPortAttributes = {"state", "phys_state", "link_layer", "rate", "lid", "sm_lid", "pkeys/0"};
constexpr std::array kNetAttributes = {"ifindex",      "operstate", "carrier", "flags",     "type",           "mtu",
                                       "speed",        "dev_port",  "dev_id",  "tun_flags", "phys_port_name", "pkey",
                                       "bonding/mode", "qos/trust"};
// Present or not is what matters.
constexpr std::array kMarkers = {"sys/module/nvidia_peermem/version",
                                 "sys/kernel/mm/memory_peers/nv_mem/version",
                                 "sys/kernel/mm/memory_peers/nv_mem_nc/version",
                                 "sys/kernel/mm/memory_peers/nvidia-peermem/version",
                                 "sys/module/ib_core/parameters/netns_mode",
                                 "proc/sys/kernel/osrelease"};

class Gatherer {
 public:
  Gatherer(const Tree& tree, const IpFacts& ip) : tree_(tree), ip_(ip) {}

  Capture Run(std::optional<facts::IpAddress> node_address) {
    out_.header["name"] = "captured";
    if (node_address) out_.header["node-addr"] = scrub_.Address(*node_address).ToString();
    for (const auto& name : tree_.List("sys/class/infiniband").value_or({})) TakeHca(name);
    TakeVerbsNodes();
    for (const auto& name : tree_.List("sys/class/net").value_or({})) TakeNetdev(name);
    TakePci();
    for (const char* path : kMarkers) TakeText(path, path);
    TakeHost();
    TakeIp();
    // A machine with a /dev but no node in it tells more than a tree without /dev.
    if (tree_.Exists("dev")) out_.entries.try_emplace("dev", CaptureFolder{});
    DropFoldersWithContent();
    return std::move(out_);
  }

 private:
  // Paths of a capture hold interface names too.
  std::string ScrubPath(std::string_view path) {
    std::string out;
    while (true) {
      const auto slash = path.find('/');
      out += scrub_.Name(path.substr(0, slash));
      if (slash == std::string_view::npos) return out;
      out += '/';
      path.remove_prefix(slash + 1);
    }
  }

  // What the format can carry: a name with a blank stays behind, and so does the root itself.
  static bool IsClean(std::string_view path) {
    return !path.empty() && std::all_of(path.begin(), path.end(), [](char c) { return c > ' ' && c < 0x7f; });
  }

  void Put(std::string_view path, CaptureEntry entry) {
    if (IsClean(path)) out_.entries.insert_or_assign(ScrubPath(path), std::move(entry));
  }

  // A folder that counts even when there is nothing to take in it.
  void KeepFolder(std::string_view path) {
    if (IsClean(path)) out_.entries.try_emplace(ScrubPath(path), CaptureFolder{});
  }

  static bool IsPlain(std::string_view line) {
    return std::all_of(line.begin(), line.end(), [](char c) { return c >= ' ' && c < 0x7f; });
  }

  void PutLine(std::string_view path, std::string_view line) {
    if (IsPlain(line)) Put(path, CaptureFile{std::string(line) + "\n"});
  }

  // The first line as a capture holds it; nothing where the format cannot carry it.
  static std::optional<std::string> FirstLine(std::string_view text) {
    const std::string_view line = base::Trim(text.substr(0, text.find('\n')));
    return IsPlain(line) ? std::optional(std::string(line)) : std::nullopt;
  }

  // The file `from`, first line only, kept under `to`; a failing read is kept as such.
  void TakeText(std::string_view from, std::string_view to) {
    const auto text = tree_.Read(from);
    if (text.ok()) {
      // Left out it would be a file that is not there, which can mean something.
      if (const auto line = FirstLine(*text))
        PutLine(to, *line);
      else
        Put(to, CaptureFailure{"EINVAL"});
    } else if (text.error().code == base::Code::kUnreadable) {
      // A folder in a file's place, below a link that leads astray, is no failing file.
      if (!tree_.List(from).ok()) Put(to, CaptureFailure{"EINVAL"});
    } else if (text.error().code == base::Code::kForbidden) {
      Put(to, CaptureFailure{"EACCES"});
    }
  }

  // Of a file only the first line that begins with `start`.
  void TakeLineWith(std::string_view start, const std::string& path) {
    const std::string text = tree_.Read(path).value_or("");
    for (std::string_view rest = text; !rest.empty();) {
      const std::string_view line = rest.substr(0, rest.find('\n'));
      if (line.starts_with(start)) return PutLine(path, line);
      rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    }
  }

  // The folder `from` as `link`, or a link from there to where it leads now, written relative to its own folder.
  // Nothing where it leads to no folder or the format cannot carry it: what hangs on it stays behind with it.
  std::optional<std::string> TakeLink(const std::string& from, const std::string& link) {
    const auto target = tree_.Resolve(from);
    if (!target.ok() || !IsClean(*target) || !IsClean(link) || !tree_.List(*target).ok()) return std::nullopt;
    if (*target == from) {
      KeepFolder(link);
      return *target;
    }
    std::string up;
    for (const char c : link) up += c == '/' ? "../" : "";
    Put(link, CaptureLink{up + ScrubPath(*target)});
    KeepFolder(*target);
    return *target;
  }

  void TakePciFunction(const std::string& path) {
    for (const char* name : kPciAttributes) TakeText(path + "/" + name, path + "/" + name);
    TakeLink(path + "/driver", path + "/driver");
    TakeLink(path + "/physfn", path + "/physfn");
    const std::string code = FirstLine(tree_.Read(path + "/class").value_or("")).value_or("");
    const bool decides = code.starts_with("0x02") || code.starts_with("0x03") || code.starts_with("0x12");
    const auto group = decides ? TakeLink(path + "/iommu_group", path + "/iommu_group") : std::nullopt;
    if (group) TakeText(*group + "/type", *group + "/type");
  }

  void TakePort(const std::string& path) {
    for (const char* name : kPortAttributes) TakeText(path + "/" + name, path + "/" + name);
    for (const auto& index : tree_.List(path + "/gids").value_or({})) {
      const auto gid = tree_.Read(path + "/gids/" + index);
      const std::string scrubbed = gid.ok() ? scrub_.Gid(base::Trim(*gid)) : "";
      if (scrubbed.empty()) continue;
      PutLine(path + "/gids/" + index, scrubbed);
      TakeText(path + "/gid_attrs/types/" + index, path + "/gid_attrs/types/" + index);
      const auto netdev = tree_.Read(path + "/gid_attrs/ndevs/" + index);
      if (netdev.ok())
        PutLine(path + "/gid_attrs/ndevs/" + index, scrub_.Name(base::Trim(*netdev)));
      else
        TakeText(path + "/gid_attrs/ndevs/" + index, path + "/gid_attrs/ndevs/" + index);
    }
  }

  void TakeHca(const std::string& name) {
    const auto target = TakeLink("sys/class/infiniband/" + name, "sys/class/infiniband/" + name);
    if (!target) return;
    has_hcas_ = true;
    for (const char* attribute : kHcaAttributes) TakeText(*target + "/" + attribute, *target + "/" + attribute);
    for (const char* attribute : kGuidAttributes) {
      const auto guid = tree_.Read(*target + "/" + attribute);
      const std::string scrubbed = guid.ok() ? scrub_.Guid(base::Trim(*guid)) : "";
      if (!scrubbed.empty()) PutLine(*target + "/" + attribute, scrubbed);
    }
    const auto device = TakeLink(*target + "/device", *target + "/device");
    if (device) TakePciFunction(*device);
    for (const auto& port : tree_.List(*target + "/ports").value_or({})) {
      if (!tree_.List(*target + "/ports/" + port).ok()) continue;
      KeepFolder(*target + "/ports/" + port);
      TakePort(*target + "/ports/" + port);
      TakeLineWith("Global tclass=", *target + "/tc/" + port + "/traffic_class");
    }
  }

  void TakeVerbsNodes() {
    for (const auto& name : tree_.List("sys/class/infiniband_verbs").value_or({})) {
      const auto target = TakeLink("sys/class/infiniband_verbs/" + name, "sys/class/infiniband_verbs/" + name);
      if (!target || !name.starts_with("uverbs")) continue;
      TakeText(*target + "/ibdev", *target + "/ibdev");
      TakeText(*target + "/dev", *target + "/dev");
      const std::string node = "dev/infiniband/" + name;
      const auto openable = tree_.CheckOpenable(node);
      if (openable == facts::Openable::kYes || openable == facts::Openable::kNo) {
        Put(node, CaptureDevice{openable == facts::Openable::kYes});
      }
    }
  }

  void TakeNetdev(const std::string& name) {
    const auto target = TakeLink("sys/class/net/" + name, "sys/class/net/" + name);
    if (!target) return;
    for (const char* attribute : kNetAttributes) TakeText(*target + "/" + attribute, *target + "/" + attribute);
    const auto mac = tree_.Read(*target + "/address");
    const std::string scrubbed = mac.ok() ? scrub_.Mac(base::Trim(*mac)) : "";
    if (!scrubbed.empty()) PutLine(*target + "/address", scrubbed);
    for (const char* folder : {"wireless", "phy80211", "bridge", "bonding"}) {
      if (tree_.Exists(*target + "/" + folder)) KeepFolder(*target + "/" + folder);
    }
    TakeLineWith("DEVTYPE=", *target + "/uevent");  // the rest repeats the name
    TakeLayers(*target);
    const auto device = TakeLink(*target + "/device", *target + "/device");
    if (device) TakePciFunction(*device);
    TakeLink(*target + "/master", *target + "/master");
    if (device) TakeDcb(name);
  }

  void TakeDcb(const std::string& name) {
    std::vector<facts::Note> notes;
    const auto dcb = has_hcas_ && ip_.dcb ? ip_.dcb(name, &notes) : std::nullopt;
    if (!dcb) return;
    Put("dcb/" + name + "/pfc.json", CaptureFile{WriteDcbPfc(*dcb) + "\n"});
    Put("dcb/" + name + "/app.json", CaptureFile{WriteDcbApp(*dcb) + "\n"});
  }

  // What the interface lies on, by names.
  void TakeLayers(const std::string& target) {
    constexpr std::string_view kLower = "lower_";
    const auto parent = tree_.Read(target + "/parent");
    if (parent.ok()) PutLine(target + "/parent", scrub_.Name(base::Trim(*parent)));
    for (const auto& entry : tree_.List(target).value_or({})) {
      if (!entry.starts_with(kLower)) continue;
      const std::string name = scrub_.Name(std::string_view(entry).substr(kLower.size()));
      TakeLink(target + "/" + entry, target + "/" + std::string(kLower) + name);
    }
  }

  // What the whole host shares.
  void TakeHost() {
    const auto units = tree_.List("sys/class/iommu");
    if (units.ok()) Put("sys/class/iommu", CaptureFolder{});
    for (const auto& unit : units.value_or({})) Put("sys/class/iommu/" + unit, CaptureFolder{});
    // Behind the bracket stands who built it.
    const std::string driver = tree_.Read("proc/driver/nvidia/version").value_or("");
    const std::string_view line = base::Trim(std::string_view(driver).substr(0, driver.find_first_of("(\n")));
    if (!line.empty()) PutLine("proc/driver/nvidia/version", line);
    std::string vlans;
    for (const auto& row : ParseVlanConfig(tree_.Read("proc/net/vlan/config").value_or(""))) {
      vlans += scrub_.Name(row.name) + " | " + std::to_string(row.id) + " | " + scrub_.Name(row.parent) + "\n";
    }
    if (!vlans.empty()) Put("proc/net/vlan/config", CaptureFile{vlans});
  }

  void TakePci() {
    for (const auto& name : tree_.List("sys/bus/pci/devices").value_or({})) {
      const auto target = TakeLink("sys/bus/pci/devices/" + name, "sys/bus/pci/devices/" + name);
      if (target) TakePciFunction(*target);
    }
  }

  void TakeIp() {
    IpFacts ip = ip_;
    for (auto& interface : ip.interfaces) {
      interface.name = scrub_.Name(interface.name);
      if (interface.master) interface.master = scrub_.Name(*interface.master);
      if (interface.parent) interface.parent = scrub_.Name(*interface.parent);
      for (auto& a : interface.addresses) a.prefix.address = scrub_.Address(a.prefix.address);
    }
    for (auto& route : ip.routes) {
      route.interface = scrub_.Name(route.interface);
      if (!route.destination) continue;
      // What is scrubbed names a network again: its host part may not be empty.
      route.destination->address = scrub_.Address(route.destination->address);
      route.destination = route.destination->Network();
    }
    Put("ip-addr.json", CaptureFile{WriteIpAddr(ip.interfaces) + "\n"});
    Put("ip-route.json", CaptureFile{WriteIpRoute(ip.routes) + "\n"});
  }

  // Only empty folders need a line.
  void DropFoldersWithContent() {
    for (auto it = out_.entries.begin(); it != out_.entries.end();) {
      const auto next = out_.entries.lower_bound(it->first + "/");
      const bool has_content = next != out_.entries.end() && next->first.starts_with(it->first + "/");
      it = has_content && std::holds_alternative<CaptureFolder>(it->second) ? out_.entries.erase(it) : std::next(it);
    }
  }

  const Tree& tree_;
  const IpFacts& ip_;
  Scrubber scrub_;
  bool has_hcas_ = false;  // in the capture
  Capture out_;
};

}  // namespace

Capture Gather(const Tree& tree, const IpFacts& ip, std::optional<facts::IpAddress> node_address) {
  return Gatherer(tree, ip).Run(node_address);
}

}  // namespace nccl_tune::hw
