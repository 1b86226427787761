// A chunk server on loopback for tests of record appends.
#pragma once

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "disk/faulty_file_system.h"
#include "disk/test_support.h"
#include "hdfs.pb.h"
#include "transfer/server.h"

namespace ebb::transfer {

struct LaneNode {
  explicit LaneNode(std::size_t max_lanes = 4) {
    store = ebb::testing::OpenStore(files, {directory / "a"});
    TransferServer::Options options;
    options.max_lanes = max_lanes;
    server = std::make_unique<TransferServer>(options, *store, nullptr);
    EXPECT_TRUE(server->Listen());
    server->Serve();
  }
  hadoop::hdfs::DatanodeIDProto id() const {
    hadoop::hdfs::DatanodeIDProto id;
    id.set_ipaddr("127.0.0.1");
    id.set_hostname("127.0.0.1");
    id.set_datanodeuuid(store->server_uuid());
    id.set_xferport(server->port());
    id.set_infoport(0);
    id.set_ipcport(0);
    return id;
  }
  // The bytes that a reader may see, out of the file of the replica.
  std::vector<std::byte> Read(std::uint64_t block_id) const {
    const auto info = store->Find(block_id);
    if (!info) return {};
    std::vector<std::byte> bytes(info->length_bytes);
    for (const auto& path : directory.Find(fmt::format("blk_{}", block_id))) {
      if (std::string(path).ends_with(".meta")) continue;
      std::ifstream file(path, std::ios::binary);
      file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
      EXPECT_TRUE(file.good());
    }
    return bytes;
  }

  ebb::testing::TemporaryDirectory directory;
  FaultyFileSystem files;
  std::unique_ptr<BlockStore> store;
  std::unique_ptr<TransferServer> server;
};

}  // namespace ebb::transfer
