// SPDX-License-Identifier: Apache-2.0
#include "hw/elf_number.h"

#include <elf.h>

#include <cstring>
#include <optional>
#include <string>
#include <utility>

namespace nccl_tune::hw {
namespace {

base::Error Invalid(const char* what) { return {.code = base::Code::kInvalidInput, .what = what}; }

// A structure at an offset; nothing where the file ends before.
template <typename T>
std::optional<T> At(std::string_view bytes, std::uint64_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return std::nullopt;
  T out;
  std::memcpy(&out, bytes.data() + offset, sizeof out);
  return out;
}

// Entry `index` of a table.
template <typename T>
std::optional<T> Entry(std::string_view bytes, std::uint64_t table, std::uint64_t index) {
  if (table > bytes.size() || index > bytes.size() / sizeof(T)) return std::nullopt;
  return At<T>(bytes, table + index * sizeof(T));
}

bool IsNamed(std::string_view bytes, std::uint64_t at, std::string_view name) {
  if (at >= bytes.size()) return false;
  const std::string_view rest = bytes.substr(at);
  return rest.starts_with(name) && rest.size() > name.size() && rest[name.size()] == '\0';
}

// Where in the file an address of the loaded image lies.
std::optional<std::uint64_t> OffsetOf(std::string_view bytes, const Elf64_Ehdr& header, std::uint64_t address) {
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    const auto part = Entry<Elf64_Phdr>(bytes, header.e_phoff, i);
    if (!part) return std::nullopt;
    if (part->p_type == PT_LOAD && address >= part->p_vaddr && address - part->p_vaddr < part->p_filesz)
      return part->p_offset + (address - part->p_vaddr);
  }
  return std::nullopt;
}

}  // namespace

base::Result<std::uint32_t> ReadElfNumber(std::string_view bytes, std::string_view name) {
  const auto header = At<Elf64_Ehdr>(bytes, 0);
  const bool is_elf = header && std::memcmp(header->e_ident, ELFMAG, SELFMAG) == 0;
  if (!is_elf || header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB)
    return Invalid("not a library for 64 bits");
  for (unsigned i = 0; i < header->e_shnum; ++i) {
    const auto section = Entry<Elf64_Shdr>(bytes, header->e_shoff, i);
    if (!section) return Invalid("a library that is cut off");
    if (section->sh_type != SHT_DYNSYM) continue;
    const auto names = Entry<Elf64_Shdr>(bytes, header->e_shoff, section->sh_link);
    if (!names) return Invalid("a library that is cut off");
    for (std::uint64_t k = 0; k < section->sh_size / sizeof(Elf64_Sym); ++k) {
      const auto symbol = Entry<Elf64_Sym>(bytes, section->sh_offset, k);
      if (!symbol) return Invalid("a library that is cut off");
      if (symbol->st_shndx == SHN_UNDEF || names->sh_offset > bytes.size() ||
          !IsNamed(bytes, names->sh_offset + symbol->st_name, name))
        continue;
      const auto offset = OffsetOf(bytes, *header, symbol->st_value);
      const auto number = offset ? At<std::uint32_t>(bytes, *offset) : std::nullopt;
      if (!number) return Invalid("a library that is cut off");
      return *number;
    }
  }
  return base::Error{.code = base::Code::kNotFound, .what = "it has no " + std::string(name)};
}

}  // namespace nccl_tune::hw
