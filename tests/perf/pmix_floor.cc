// SPDX-License-Identifier: Apache-2.0
//
// The least that any launcher over PMIx does before it becomes the program: init, one put, the fence with all data, a
// get of each rank, finalize, exec. What nccl-launch costs is measured against it (docs/measuring.md).
//   pmix_floor PROGRAM ARGS
#include <pmix.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

void Check(pmix_status_t status, const char* call) {
  if (status == PMIX_SUCCESS) return;
  std::fprintf(stderr, "pmix_floor: %s: %s\n", call, PMIx_Error_string(status));
  std::exit(125);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  // As nccl-launch does: with the store that a second client of this node can still use (PMIx 4.2 servers).
  const char* store = std::getenv("PMIX_GDS_MODULE");
  if (store != nullptr && std::strncmp(store, "ds", 2) == 0) setenv("PMIX_MCA_gds", "hash", 1);
  pmix_proc_t self;
  Check(PMIx_Init(&self, nullptr, 0), "PMIx_Init");
  pmix_proc_t all = self;
  all.rank = PMIX_RANK_WILDCARD;
  pmix_info_t option;
  bool yes = true;
  PMIX_INFO_LOAD(&option, PMIX_OPTIONAL, &yes, PMIX_BOOL);
  pmix_value_t* value = nullptr;
  Check(PMIx_Get(&all, PMIX_JOB_SIZE, &option, 1, &value), "PMIx_Get of the size");
  const pmix_rank_t ranks = value->data.uint32;

  pmix_value_t own;
  char text[64] = "what one rank tells the others, of the size of an address";
  own.type = PMIX_STRING;
  own.data.string = text;
  Check(PMIx_Put(PMIX_GLOBAL, "floor", &own), "PMIx_Put");
  Check(PMIx_Commit(), "PMIx_Commit");
  PMIX_INFO_LOAD(&option, PMIX_COLLECT_DATA, &yes, PMIX_BOOL);
  Check(PMIx_Fence(&all, 1, &option, 1), "PMIx_Fence");
  PMIX_INFO_LOAD(&option, PMIX_IMMEDIATE, &yes, PMIX_BOOL);
  for (all.rank = 0; all.rank < ranks; ++all.rank) Check(PMIx_Get(&all, "floor", &option, 1, &value), "PMIx_Get");
  Check(PMIx_Finalize(nullptr, 0), "PMIx_Finalize");
  execvp(argv[1], argv + 1);
  std::fprintf(stderr, "pmix_floor: %s: cannot be executed\n", argv[1]);
  return 126;
}
