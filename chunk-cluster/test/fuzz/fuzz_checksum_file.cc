// A data file and a checksum file as a crash or a bad disk left them: found at the start, and read.
// The input is the length of the data file (2 bytes), a choice (1 byte: finalized or being
// written), and the checksum file.
#include <spdlog/spdlog.h>

#include <fstream>

#include "disk/verified_reader.h"
#include "scratch_store.h"

namespace {

const bool kQuiet = (spdlog::set_level(spdlog::level::off), true);

void WriteFile(const std::string& path, const char* data, std::size_t size) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path, std::ios::binary).write(data, static_cast<std::streamsize>(size));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ebb;
  if (size < 3 || size > 4096) return 0;
  const std::size_t length = (data[0] * 256u + data[1]) % 8192;
  const bool finalized = data[2] % 2 == 0;
  const std::uint64_t id = 1;
  const fuzz::ScratchFolder folder;
  fuzz::OpenStore(folder.path());
  const std::string place =
      folder.path() + "/" +
      (finalized ? std::string(format::kFinalized) + "/" + format::SubdirectoryName(id)
                 : std::string(format::kBeingWritten)) +
      "/";
  const std::string text(length, 'x');
  WriteFile(place + format::BlockFileName(id), text.data(), text.size());
  WriteFile(place + format::MetaFileName(id, 1001), reinterpret_cast<const char*>(data + 3),
            size - 3);

  const auto store = fuzz::OpenStore(folder.path());
  const auto found = store->Find(id);
  if (!found) return 0;
  if (found->length_bytes > length) abort();
  auto reader = OpenVerifiedReader(*store, id, 1001, found->length_bytes, 0);
  if (!reader) return 0;
  std::vector<std::byte> bytes(found->length_bytes);
  if (!(*reader)->Read(bytes)) return 0;
  // A verified read returns exactly the bytes of the file.
  for (const std::byte byte : bytes) {
    if (byte != std::byte{'x'}) abort();
  }
  return 0;
}
