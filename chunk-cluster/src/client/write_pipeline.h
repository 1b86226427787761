// A pipeline of servers that a block is written through: packets go out, acknowledgements come
// back.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "client/write_packet.h"
#include "common/error.h"
#include "common/socket.h"
#include "common/socket_reader.h"
#include "datatransfer.pb.h"
#include "hdfs.pb.h"

namespace ebb::client {

using PacketPointer = std::shared_ptr<const WritePacket>;

// The servers of a block, the storages there, and the block itself.
struct PipelineTarget {
  hadoop::hdfs::LocatedBlockProto block;
  std::string client_name;
  // The block's length at most.
  std::uint64_t block_bytes = 0;
  hadoop::hdfs::OpWriteBlockProto::BlockConstructionStage stage =
      hadoop::hdfs::OpWriteBlockProto::PIPELINE_SETUP_CREATE;
  // The stamp that the block gets; that of `block` is the one that the servers know.
  std::uint64_t new_stamp = 0;
  // What all servers have acknowledged, and what was sent to any.
  std::uint64_t acknowledged_bytes = 0;
  std::uint64_t sent_bytes = 0;
  format::Checksum checksum;
  // The most packets without acknowledgement.
  std::size_t window = 32;

  // Takes a server out.
  void Drop(int server);
  // Appends a server of `from`.
  void Add(const hadoop::hdfs::LocatedBlockProto& from, int server);
};

// One thread writes. A thread of the pipeline reads acknowledgements, and sends heartbeats while
// the writer has nothing to send. After an error the pipeline is of no more use but for
// failed_server() and TakeUnacknowledged().
class WritePipeline {
 public:
  struct Failure {
    Error error;
    // The index of the server that the failure is blamed on.
    int server = 0;
  };

  [[nodiscard]] static std::expected<std::unique_ptr<WritePipeline>, Failure> Open(
      const PipelineTarget& target);
  ~WritePipeline();
  WritePipeline(const WritePipeline&) = delete;
  WritePipeline& operator=(const WritePipeline&) = delete;

  // Waits while too many packets are without acknowledgement.
  [[nodiscard]] Status Send(PacketPointer packet);
  // Waits until all packets are acknowledged by all servers.
  [[nodiscard]] Status AwaitAll();

  [[nodiscard]] int failed_server();
  // In the order in which they were sent.
  [[nodiscard]] std::deque<PacketPointer> TakeUnacknowledged();

 private:
  using Clock = std::chrono::steady_clock;

  WritePipeline(Socket socket, const PipelineTarget& target);
  void ReadLoop();
  // Sends a heartbeat if nothing was sent for long; kTimeout if an acknowledgement is overdue.
  [[nodiscard]] Status OnSilence();
  [[nodiscard]] Status TakeAcknowledgement();
  void Break(Error error, int server);

  Socket socket_;
  SocketReader reader_;
  const std::uint64_t block_id_;
  const int servers_;
  const std::size_t window_;
  std::mutex sending_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<PacketPointer> unacknowledged_;
  Clock::time_point last_sent_ = Clock::now();
  Clock::time_point last_heard_ = Clock::now();
  std::optional<Failure> failure_;
  bool closing_ = false;
  std::thread thread_;
};

}  // namespace ebb::client
