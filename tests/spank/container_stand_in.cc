// SPDX-License-Identifier: Apache-2.0
//
// A SPANK plugin that does to a task's environment what pyxis does, in the hook in which pyxis does it: all variables
// of the host go into the container, and over them those of the image, but for the ones named in --container-env. The
// image is a file with a line NAME=VALUE for each. Nothing else of a container is there.
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "spank/slurm.h"

namespace {

std::string& Image() {
  static std::string path;
  return path;
}

std::set<std::string>& FromHost() {
  static std::set<std::string> names;
  return names;
}

int TakeImage(int, const char* text, int) {
  Image() = text == nullptr ? "" : text;
  return 0;
}

int TakeNames(int, const char* text, int) {
  std::istringstream names(text == nullptr ? "" : text);
  for (std::string name; std::getline(names, name, ',');) FromHost().insert(name);
  return 0;
}

bool HostHas(spank_t spank, const std::string& name) {
  char value[4096];
  return spank_getenv(spank, name.c_str(), value, sizeof value) != ESPANK_ENV_NOEXIST;
}

}  // namespace

extern "C" {

extern const char plugin_name[];
extern const char plugin_type[];
extern const unsigned int plugin_version;
extern const unsigned int spank_plugin_version;

const char plugin_name[] = "container_stand_in";
const char plugin_type[] = "spank";
const unsigned int plugin_version = PLUGIN_VERSION;
const unsigned int spank_plugin_version = 1;

int slurm_spank_init(spank_t spank, int, char**) {
  static char image_name[] = "container-image";
  static char image_info[] = "FILE";
  static char image_usage[] = "a file with the variables of the image";
  static char names_name[] = "container-env";
  static char names_info[] = "NAME[,NAME...]";
  static char names_usage[] = "variables that keep the host's value";
  static spank_option image = {image_name, image_info, image_usage, 1, 0, TakeImage};
  static spank_option names = {names_name, names_info, names_usage, 1, 0, TakeNames};
  spank_option_register(spank, &image);
  spank_option_register(spank, &names);
  return 0;
}

int slurm_spank_task_init(spank_t spank, int, char**) {
  if (Image().empty()) return 0;
  std::ifstream image(Image());
  for (std::string line; std::getline(image, line);) {
    const auto equals = line.find('=');
    if (equals == std::string::npos) continue;
    const std::string name = line.substr(0, equals);
    if (FromHost().contains(name) && HostHas(spank, name)) continue;
    spank_setenv(spank, name.c_str(), line.c_str() + equals + 1, 1);
  }
  return 0;
}

}  // extern "C"
