// SPDX-License-Identifier: Apache-2.0
//
// Plays Slurm for the plugin: the functions that Slurm exports to it, kept in one object, and the calls that Slurm
// makes. The functions are looked up by the plugin in the program that loads it, so there is one host at a time.
#ifndef NCCL_TUNE_TESTS_SPANK_HOST_H_
#define NCCL_TUNE_TESTS_SPANK_HOST_H_

#include <map>
#include <string>
#include <vector>

namespace nccl_tune::spank_test {

class Host {
 public:
  // Loads a fresh copy of the plugin, whose state starts empty.
  Host();
  ~Host();
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  bool loaded() const { return library_ != nullptr; }

  // The callbacks, as Slurm calls them; the return value is the plugin's.
  int Init(std::vector<std::string> arguments = {});
  int Option(const char* value, bool remote);
  int UserInit();
  int TaskInit();

  std::map<std::string, std::string> job;   // the job's environment: what spank_get_item gives
  std::map<std::string, std::string> task;  // the task's: what spank_getenv and spank_setenv work on
  std::string log;                          // lines of slurm_error and slurm_spank_log
  int log_to = -1;                          // a descriptor that they are written to as well; -1: none
  std::string info;                         // lines of slurm_info
  std::string debug;                        // lines of slurm_debug
  std::string option_name;                  // as registered
  int changes = 0;                          // calls that change the task's environment
  int forks = 0;
  bool has_environment = true;  // false: spank_get_item fails
  bool can_set = true;          // false: spank_setenv fails
  unsigned node_id = 0;         // S_JOB_NODEID
  int task_id = 0;              // S_TASK_ID
  std::vector<char*> entries;   // the job's environment as Slurm hands it out

  int (*callback)(int, const char*, int) = nullptr;

 private:
  int Call(const char* name, std::vector<std::string> arguments);
  void* library_ = nullptr;
  std::vector<std::string> texts_;
};

// The host that exists now.
Host* TheHost();

}  // namespace nccl_tune::spank_test

#endif  // NCCL_TUNE_TESTS_SPANK_HOST_H_
