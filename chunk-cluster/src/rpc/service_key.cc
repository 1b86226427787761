#include "rpc/service_key.h"

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "rpc/wire.h"

namespace ebb {

namespace {

constexpr std::size_t kLeastCharacters = 32;
constexpr std::string_view kContext = "ebbfs-service-1";
constexpr char kRefused[] = "org.apache.hadoop.security.AccessControlException";

std::string Hex(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) text += fmt::format("{:02x}", static_cast<std::uint8_t>(byte));
  return text;
}

bool EqualInConstantTime(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

bool IsOfThisMachine(std::string_view peer) {
  return peer.starts_with("127.") || peer.starts_with("[::1]") || peer.starts_with("::1:");
}

std::unexpected<Error> Refuse(std::string message) {
  return std::unexpected(Error{ErrorCode::kInvalid, std::move(message), kRefused});
}

}  // namespace

Result<ServiceKey> ServiceKey::Read(const std::string& path) {
  struct stat info = {};
  if (stat(path.c_str(), &info) != 0) {
    return Fail(ErrorCode::kInvalid, fmt::format("--service-key {}: {}; name the file that the "
                                                 "namenode has as serviceKey",
                                                 path, std::strerror(errno)));
  }
  if ((info.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("--service-key {}: other users may read it; run 'chmod 600 {}'", path,
                            path));
  }
  std::ifstream file(path);
  ServiceKey key;
  std::getline(file, key.secret_);
  while (!key.secret_.empty() && static_cast<unsigned char>(key.secret_.back()) <= ' ') {
    key.secret_.pop_back();
  }
  if (!file || key.secret_.size() < kLeastCharacters) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("--service-key {}: its first line has {} characters, at least {} are "
                            "needed; make one with 'openssl rand -hex 32'",
                            path, key.secret_.size(), kLeastCharacters));
  }
  key.path_ = path;
  return key;
}

std::string ServiceKey::Proof(std::string_view protocol, std::string_view context) const {
  std::string text(protocol);
  text.push_back('\n');
  text.append(context);
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest = {};
  unsigned length = 0;
  // A failure leaves the length 0, and the empty proof is refused by every server.
  HMAC(EVP_sha256(), secret_.data(), static_cast<int>(secret_.size()),
       reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data(), &length);
  return {reinterpret_cast<const char*>(digest.data()), length};
}

void ServiceKey::Sign(hadoop::common::RpcRequestHeaderProto& header,
                      std::string_view protocol) const {
  if (!present()) return;
  auto& context = *header.mutable_callercontext();
  context.set_context(fmt::format("{} {}", kContext, Hex(rpc_wire::NewClientId())));
  context.set_signature(Proof(protocol, context.context()));
}

Status ServiceKey::Check(const hadoop::common::RPCCallerContextProto& proof,
                         std::string_view protocol, std::string_view peer) const {
  if (!present()) {
    if (IsOfThisMachine(peer)) return {};
    return Refuse(fmt::format("{} is refused for {}: this chunk server has no service key, so that "
                              "it answers this protocol on its own machine only; start it with "
                              "--service-key FILE",
                              protocol, peer));
  }
  if (proof.context().starts_with(kContext) && !proof.signature().empty() &&
      EqualInConstantTime(proof.signature(), Proof(protocol, proof.context()))) {
    return {};
  }
  return Refuse(
      fmt::format("{} is refused for {}: the call has {} service key; give the caller the key of "
                  "this chunk server, the file {}",
                  protocol, peer, proof.has_signature() ? "another" : "no", path_));
}

}  // namespace ebb
