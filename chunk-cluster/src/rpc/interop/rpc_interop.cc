// The C++ side of RpcInterop.java. "serve" answers the calls of Hadoop's client until standard
// input ends. "call PORT" calls Hadoop's server, and "authenticate PORT" one that wants a token.
// Exits with 0 if all answers are as expected.
#include <fmt/format.h>
#include <openssl/evp.h>
#include <unistd.h>

#include <condition_variable>
#include <cstdlib>
#include <functional>
#include <future>
#include <iostream>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "chunk.pb.h"
#include "rpc/authenticator.h"
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

std::string Md5(const std::string& text) {
  std::string digest(EVP_MAX_MD_SIZE, '\0');
  unsigned size = 0;
  EVP_Digest(text.data(), text.size(), reinterpret_cast<unsigned char*>(digest.data()), &size,
             EVP_md5(), nullptr);
  digest.resize(size);
  return digest;
}

std::string Hex(const std::string& bytes) {
  std::string text;
  for (const char c : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return text;
}

// The client's side of DIGEST-MD5 (RFC 2831), as much of it as Hadoop's tokens need.
class DigestExchange final : public ebb::SaslExchange {
 public:
  DigestExchange(std::string password, std::string uri)
      : password_(std::move(password)), uri_(std::move(uri)) {}

  ebb::Result<std::string> Respond(std::string_view token) override {
    if (!nonce_.empty()) {
      complete_ = token == "rspauth=" + Proof("");
      return std::string();
    }
    nonce_ = Value(token, "nonce");
    realm_ = Value(token, "realm");
    return fmt::format(
        "charset=utf-8,username=\"{}\",realm=\"{}\",nonce=\"{}\",nc=00000001,cnonce=\"{}\","
        "digest-uri=\"{}\",maxbuf=65536,response={},qop=auth",
        kUser, realm_, nonce_, kClientNonce, uri_, Proof("AUTHENTICATE"));
  }
  bool complete() const override { return complete_; }

 private:
  // A token whose identifier is the text "alice", as Hadoop writes it and in base 64.
  static constexpr char kUser[] = "BWFsaWNl";
  static constexpr char kClientNonce[] = "ofThisTest";

  static std::string Value(std::string_view token, std::string_view name) {
    const auto begin = token.find(fmt::format("{}=\"", name)) + name.size() + 2;
    return std::string(token.substr(begin, token.find('"', begin) - begin));
  }

  std::string Proof(const std::string& method) const {
    const std::string who = Md5(fmt::format("{}:{}:{}", kUser, realm_, password_));
    const std::string session = Hex(Md5(fmt::format("{}:{}:{}", who, nonce_, kClientNonce)));
    const std::string call = Hex(Md5(fmt::format("{}:{}", method, uri_)));
    return Hex(
        Md5(fmt::format("{}:{}:00000001:{}:auth:{}", session, nonce_, kClientNonce, call)));
  }

  const std::string password_;
  const std::string uri_;
  std::string realm_;
  std::string nonce_;
  bool complete_ = false;
};

class TokenAuthenticator final : public ebb::Authenticator {
 public:
  explicit TokenAuthenticator(std::string password) : password_(std::move(password)) {}

  ebb::Result<std::unique_ptr<ebb::SaslExchange>> Begin(const ebb::SaslOffer& offer,
                                                        const std::string& /*server*/) override {
    if (offer.method != "TOKEN" || offer.mechanism != "DIGEST-MD5") return nullptr;
    return std::make_unique<DigestExchange>(password_, offer.protocol + "/" + offer.server_id);
  }

 private:
  const std::string password_;
};

int Authenticate(std::uint16_t port) {
  ebb::RpcClient::Options options;
  // "secret" in base 64.
  options.authentication.authenticator = std::make_shared<TokenAuthenticator>("c2VjcmV0");
  ebb::RpcClient client("127.0.0.1", port, kProtocol, 1, "bob", options);
  ExpectEcho(client, "user", "alice");
  ExpectEcho(client, "echo", "echo");
  options.authentication.authenticator = std::make_shared<TokenAuthenticator>("d3Jvbmc=");
  ebb::RpcClient stranger("127.0.0.1", port, kProtocol, 1, "bob", options);
  const auto refused = Combine(stranger, "user");
  Expect("javax.security.sasl.SaslException", refused ? *refused : refused.error().exception_class);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string(argv[1]) == "serve") return Serve();
  if (argc == 3 && std::string(argv[1]) == "call") {
    return Call(static_cast<std::uint16_t>(std::stoi(argv[2])));
  }
  if (argc == 3 && std::string(argv[1]) == "authenticate") {
    return Authenticate(static_cast<std::uint16_t>(std::stoi(argv[2])));
  }
  std::cerr << "usage: rpc_interop serve | call PORT | authenticate PORT" << std::endl;
  return 2;
}
