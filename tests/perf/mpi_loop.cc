// SPDX-License-Identifier: Apache-2.0
//
// A plain loop of MPI_Allreduce that shares no code with nccl-bench: what its mpi backend is measured against
// (docs/measuring.md). Buffers, warm-up, iterations and barriers are those of `nccl-bench all_reduce -b FIRST -e LAST
// -f FACTOR -n ITERATIONS`. Rank 0 prints a line per size: bytes, microseconds of one call out of place and in place
// (the mean over the ranks), wrong elements.
//   mpi_loop FIRST LAST FACTOR ITERATIONS
#include <mpi.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace {

constexpr int kUsage = 2;
constexpr std::size_t kValues = 100;  // so few that a float adds them exactly

struct Loop {
  std::size_t first = 0;
  std::size_t last = 0;
  std::size_t factor = 0;
  std::size_t iterations = 0;
  int rank = 0;
  int ranks = 1;
  std::byte* send = nullptr;
  std::byte* receive = nullptr;
};

bool Read(const char* text, std::size_t least, std::size_t most, std::size_t& number) {
  const std::string_view digits(text);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return error == std::errc() && end == digits.data() + digits.size() && number >= least && number <= most;
}

float Value(int rank, std::size_t index) {
  return static_cast<float>(static_cast<std::size_t>(rank) + index % kValues + 1);
}

// Page-aligned, every page written.
std::byte* MakeBuffer(std::size_t bytes) {
  constexpr std::size_t kPage = 4096;
  const std::size_t all = (bytes / kPage + 1) * kPage;
  auto* const buffer = static_cast<std::byte*>(std::aligned_alloc(kPage, all));
  if (buffer != nullptr) std::memset(buffer, 0, all);
  return buffer;
}

void Fill(const Loop& loop, std::size_t bytes, bool in_place) {
  std::memset(loop.receive, 0, bytes);
  auto* const values = reinterpret_cast<float*>(in_place ? loop.receive : loop.send);
  for (std::size_t i = 0; i < bytes / sizeof(float); ++i) values[i] = Value(loop.rank, i);
}

// The iterations go through the buffers from their beginning on, as often as the size fits.
void Run(const Loop& loop, std::size_t bytes, bool in_place, std::size_t calls) {
  const std::size_t places = loop.last / bytes;
  const auto count = static_cast<int>(bytes / sizeof(float));
  for (std::size_t i = 0; i < calls; ++i) {
    const std::size_t shift = bytes * (i % places);
    MPI_Allreduce(in_place ? MPI_IN_PLACE : loop.send + shift, loop.receive + shift, count, MPI_FLOAT, MPI_SUM,
                  MPI_COMM_WORLD);
  }
}

double MeanMicroseconds(const Loop& loop, std::size_t bytes, bool in_place) {
  Fill(loop, bytes, in_place);
  MPI_Barrier(MPI_COMM_WORLD);
  const auto start = std::chrono::steady_clock::now();
  Run(loop, bytes, in_place, loop.iterations);
  const std::chrono::duration<double, std::micro> passed = std::chrono::steady_clock::now() - start;
  double own = passed.count() / static_cast<double>(loop.iterations);
  double sum = 0;
  MPI_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  return sum / loop.ranks;
}

// Wrong elements of one call, over all ranks.
double Wrong(const Loop& loop, std::size_t bytes, bool in_place) {
  Fill(loop, bytes, in_place);
  Run(loop, bytes, in_place, 1);
  double own = 0;
  const auto* const values = reinterpret_cast<const float*>(loop.receive);
  for (std::size_t i = 0; i < bytes / sizeof(float); ++i) {
    float expected = 0;
    for (int rank = 0; rank < loop.ranks; ++rank) expected += Value(rank, i);
    if (values[i] != expected) ++own;
  }
  double all = 0;
  MPI_Allreduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

void Measure(const Loop& loop) {
  MPI_Barrier(MPI_COMM_WORLD);
  for (std::size_t bytes = loop.first; bytes <= loop.last; bytes *= 2) Run(loop, bytes, false, 1);
  for (std::size_t bytes = loop.first; bytes <= loop.last; bytes *= loop.factor) {
    double times[2] = {};
    double wrong = 0;
    for (const bool in_place : {false, true}) {
      times[in_place ? 1 : 0] = MeanMicroseconds(loop, bytes, in_place);
      wrong += Wrong(loop, bytes, in_place);
    }
    if (loop.rank == 0) std::printf("%zu %.6f %.6f %.0f\n", bytes, times[0], times[1], wrong);
  }
}

}  // namespace

int main(int argc, char** argv) {
  constexpr std::size_t kMostBytes = std::size_t{1} << 30U;
  Loop loop;
  if (argc != 5 || !Read(argv[1], sizeof(float), kMostBytes, loop.first) || loop.first % sizeof(float) != 0 ||
      !Read(argv[2], loop.first, kMostBytes, loop.last) || !Read(argv[3], 2, kMostBytes, loop.factor) ||
      !Read(argv[4], 1, kMostBytes, loop.iterations)) {
    std::fprintf(stderr,
                 "mpi_loop: expected FIRST LAST FACTOR ITERATIONS: bytes from 4 to 1G in fours, a factor of 2 "
                 "or more, at least one iteration\n");
    return kUsage;
  }
  if (MPI_Init(&argc, &argv) != MPI_SUCCESS) return 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &loop.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &loop.ranks);
  loop.send = MakeBuffer(loop.last);
  loop.receive = MakeBuffer(loop.last);
  if (loop.send == nullptr || loop.receive == nullptr) MPI_Abort(MPI_COMM_WORLD, 1);
  Measure(loop);
  std::free(loop.send);
  std::free(loop.receive);
  MPI_Finalize();
  return 0;
}
