// The C++ side of RpcInterop.java. "serve" answers the calls of Hadoop's client until standard
// input ends. "call PORT" calls Hadoop's server. Exits with 0 if all answers are as expected.
#include <unistd.h>

#include <condition_variable>
#include <cstdlib>
#include <functional>
#include <future>
#include <iostream>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "chunk.pb.h"
#include "rpc/client.h"
#include "rpc/server.h"

namespace {

constexpr char kProtocol[] = "io.ebbfs.protocol.ChunkProtocol";
constexpr int kThreads = 4;
constexpr int kCalls = 200;

class Slow {
 public:
  void Wait() {
    std::unique_lock lock(mutex_);
    ++waiting_;
    changed_.wait(lock, [&] { return released_; });
    --waiting_;
  }
  void Release() {
    const std::lock_guard lock(mutex_);
    released_ = true;
    changed_.notify_all();
  }
  int waiting() {
    const std::lock_guard lock(mutex_);
    return waiting_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int waiting_ = 0;
  bool released_ = false;
};

int Serve() {
  Slow slow;
  ebb::RpcServer server(ebb::RpcServer::Options{});
  ebb::RpcHandlers handlers;
  handlers["combine"] = ebb::MakeRpcHandler<ebbfs::CombineRequestProto>(
      [&](const ebb::RpcCaller& caller,
          const ebbfs::CombineRequestProto& request) -> ebb::Result<ebbfs::CombineResponseProto> {
        ebbfs::CombineResponseProto response;
        response.set_status(ebbfs::COMBINE_OK);
        response.set_message(request.id());
        if (request.id() == "user") response.set_message(caller.user);
        if (request.id() == "fail") return Fail(ebb::ErrorCode::kIo, "the disk is full");
        if (request.id() == "missing") {
          return std::unexpected(
              ebb::Error{ebb::ErrorCode::kNotFound, "gone", "java.io.FileNotFoundException"});
        }
        if (request.id() == "slow") slow.Wait();
        if (request.id() == "release") {
          slow.Release();
          response.set_message("released");
        }
        return response;
      });
  handlers["status"] = ebb::MakeRpcHandler<ebbfs::ChunkStatusRequestProto>(
      [&](const ebb::RpcCaller&,
          const ebbfs::ChunkStatusRequestProto&) -> ebb::Result<ebbfs::ChunkStatusResponseProto> {
        ebbfs::ChunkStatusResponseProto response;
        response.set_combinesrunning(static_cast<std::uint32_t>(slow.waiting()));
        return response;
      });
  server.RegisterService(kProtocol, 1, std::move(handlers));
  if (auto status = server.Start(); !status) {
    std::cerr << status.error().message << std::endl;
    return 1;
  }
  std::cout << server.port() << std::endl;
  char byte = 0;
  while (read(STDIN_FILENO, &byte, 1) > 0) {
  }
  slow.Release();
  return 0;
}

ebb::Result<std::string> Combine(ebb::RpcClient& client, const std::string& id) {
  ebbfs::CombineRequestProto request;
  request.set_id(id);
  request.set_coefficients("");
  ebbfs::CombineResponseProto response;
  EBB_TRY(client.Call("combine", request, response));
  return response.message();
}

void Expect(const std::string& wanted, const std::string& actual) {
  if (wanted == actual) return;
  std::cerr << "wanted '" << wanted << "', was '" << actual << "'" << std::endl;
  std::exit(1);
}

void ExpectEcho(ebb::RpcClient& client, const std::string& id, const std::string& wanted) {
  const auto answer = Combine(client, id);
  Expect(wanted, answer ? *answer : answer.error().message);
}

std::string ClassOf(const ebb::Status& status) {
  return status ? "no exception" : status.error().exception_class;
}

int Call(std::uint16_t port) {
  ebb::RpcClient client("127.0.0.1", port, kProtocol, 1, "alice");
  ExpectEcho(client, "echo", "echo");
  ExpectEcho(client, "user", "alice");
  ExpectEcho(client, "client", "16");
  ExpectEcho(client, "call", "3/0");
  const auto missing = Combine(client, "missing");
  Expect("java.io.FileNotFoundException", missing ? *missing : missing.error().exception_class);
  ebbfs::VerifyResponseProto verified;
  Expect("java.lang.UnsupportedOperationException",
         ClassOf(client.Call("verify", ebbfs::VerifyRequestProto(), verified)));
  Expect("org.apache.hadoop.ipc.RpcNoSuchMethodException",
         ClassOf(client.Call("nothing", ebbfs::VerifyRequestProto(), verified)));
  ebb::RpcClient other("127.0.0.1", port, "io.ebbfs.Other", 1);
  Expect("org.apache.hadoop.ipc.RpcNoSuchProtocolException",
         ClassOf(other.Call("verify", ebbfs::VerifyRequestProto(), verified)));
  auto slow = std::async(std::launch::async, [&] { return Combine(client, "slow"); });
  std::vector<std::jthread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      const std::string prefix(static_cast<std::size_t>(1 + t * 5000), 'x');
      for (int i = 0; i < kCalls; ++i) {
        ExpectEcho(client, prefix + std::to_string(i), prefix + std::to_string(i));
      }
    });
  }
  threads.clear();
  ExpectEcho(client, "release", "release");
  Expect("slow", slow.get().value_or("error"));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string(argv[1]) == "serve") return Serve();
  if (argc == 3 && std::string(argv[1]) == "call") {
    return Call(static_cast<std::uint16_t>(std::stoi(argv[2])));
  }
  std::cerr << "usage: rpc_interop serve | call PORT" << std::endl;
  return 2;
}
