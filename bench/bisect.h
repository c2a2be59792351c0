// SPDX-License-Identifier: Apache-2.0
//
// The search for slow nodes with few measurements. A group is as fast as its slowest node, so that one measurement of a
// group tells about all its nodes. All groups of a round are disjoint and are measured at the same time.
//
//   1. Halves, quarters, ... of the nodes, down to four: log2(N) - 2 rounds. They show what is slow only in large
//      groups. Two slow halves look like two good ones; therefore nothing is left out.
//   2. Pairs: three rounds, each node with three others; up to 8 nodes all pairs.
//   3. A node without any good pair is measured with good ones, a slow pair of two good nodes and a slow group of good
//      nodes again, until each is good once or slow often enough. Mostly two rounds.
//
// It is a search for nodes. A slow link is found when a measured pair has it, and shows as a slow group when both ends
// are in one half; all links are what the pairs of schedule.h are for.
//
// A node is good as soon as one of its pairs is: a measurement can be slow by chance, but not fast. Good is what
// reaches `tolerance` of what the good ones of the same size reach (schedule.h). Pure; plain values, one thread.
#ifndef NCCL_TUNE_BENCH_BISECT_H_
#define NCCL_TUNE_BENCH_BISECT_H_

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "bench/schedule.h"

namespace nccl_tune::bench {

using NodeGroup = std::vector<std::uint64_t>;

struct BisectSettings {
  double tolerance = 0.8;  // 0 < tolerance < 1
  unsigned evidence = 4;   // slow measurements before a node (with good partners), a link or a group is named
};

struct BisectFindings {
  struct SlowNode {
    std::uint64_t node = 0;
    double busbw = 0;  // GB/s, the best of its pairs with good nodes
  };
  struct SlowLink {  // between two good nodes
    Pair pair{};
    double busbw = 0;  // the best of its measurements
  };
  struct SlowGroup {  // slow together, though neither its parts nor any of its nodes is
    NodeGroup nodes{};
    double busbw = 0;
    double reference = 0;  // of groups of this size
  };
  double reference = 0;  // busbw of a good pair
  std::vector<SlowNode> nodes{};
  std::vector<SlowLink> links{};
  std::vector<SlowGroup> groups{};
  bool two_speeds = false;   // more than a quarter of the nodes is slow: rather two kinds of nodes than faults
  std::uint64_t rounds = 0;  // measured
};

class Bisect {
 public:
  // With fewer than 3 nodes there is nothing to compare; then nothing is named.
  explicit Bisect(std::uint64_t nodes, BisectSettings settings = {});

  // What to measure now; empty: the search is over.
  const std::vector<NodeGroup>& Next() const { return next_; }
  // Busbw in GB/s of each group of Next(), in its order; 0 or NaN when it could not be measured.
  void Take(const std::vector<double>& busbw);
  // Complete when Next() is empty.
  const BisectFindings& findings() const { return findings_; }

 private:
  enum class Stage { kGroups, kPairs, kNodes, kTogether, kDone };

  struct Measured {
    double best = 0;
    unsigned times = 0;
    void Add(double busbw);
  };
  struct Level {
    std::vector<NodeGroup> groups{};  // the halves of group i are 2i and 2i+1 of the next level
    std::vector<Measured> measured{};
    double reference = 0;
  };
  struct Verdict {
    bool good = false;
    unsigned evidence = 0;  // slow measurements with good nodes
    double best = 0;
  };

  void AddLevels();
  void TakeGroups(const std::vector<double>& busbw);
  bool IsSlow(double busbw, double reference) const { return busbw < settings_.tolerance * reference; }
  bool IsSlowLink(const Pair& pair, const Measured& measured) const;
  void Judge();
  void Propose();
  void ProposePairs();
  void ProposeNodes();
  std::optional<std::uint64_t> PartnerOf(std::uint64_t node, std::uint64_t position, const NodeGroup& good,
                                         const std::vector<bool>& busy) const;
  void ProposeLinks(std::vector<bool>* busy);
  bool IsExplained(const NodeGroup& group) const;
  // Calls `use(level, index)` with every smallest slow group that no slow node or link explains.
  template <typename Use>
  void ForEachSlowGroup(Use&& use) const;
  void ProposeTogether();
  void NameNodesAndLinks();
  void NameGroups();

  std::uint64_t nodes_;
  BisectSettings settings_;
  Stage stage_ = Stage::kGroups;
  std::uint64_t step_ = 0;  // within the stage
  std::vector<Level> levels_{};
  std::map<Pair, Measured> pairs_{};
  std::vector<Verdict> verdicts_{};
  unsigned evidence_ = 0;                                     // that a slow node needs
  std::vector<std::pair<std::size_t, std::size_t>> asked_{};  // level and index of each group of next_, kTogether
  std::vector<NodeGroup> next_{};
  BisectFindings findings_{};
};

}  // namespace nccl_tune::bench

#endif  // NCCL_TUNE_BENCH_BISECT_H_
