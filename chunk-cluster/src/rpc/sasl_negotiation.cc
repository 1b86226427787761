#include "rpc/sasl_negotiation.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "rpc/wire.h"

namespace ebb::rpc_internal {

using hadoop::common::RpcResponseHeaderProto;

namespace {

constexpr char kSimple[] = "SIMPLE";
// Mechanisms need two or three rounds, and tokens of a few kilobytes.
constexpr int kMostRounds = 20;
constexpr std::size_t kMostFrameBytes = std::size_t{1} << 20;

}  // namespace

SaslNegotiation::SaslNegotiation(Socket& socket, const Authentication& authentication,
                                 std::string server, std::string client_id, Timeout timeout)
    : socket_(socket),
      authentication_(authentication),
      server_(std::move(server)),
      client_id_(std::move(client_id)),
      deadline_(std::chrono::steady_clock::now() + timeout) {}

Result<bool> SaslNegotiation::Run() {
  Message wish;
  wish.set_state(Message::NEGOTIATE);
  EBB_TRY(Send(wish));
  for (int round = 0; round < kMostRounds; ++round) {
    EBB_ASSIGN(const Message message, Receive());
    if (message.state() == Message::SUCCESS) return Finish(message);
    if (message.state() == Message::NEGOTIATE && !exchange_) {
      EBB_ASSIGN(const bool authenticates, Initiate(message));
      if (!authenticates) return false;
    } else if (message.state() == Message::CHALLENGE && exchange_) {
      EBB_TRY(Answer(message));
    } else {
      return Broken(fmt::format("sends a message of the state {}, which has no place here",
                                int{message.state()}));
    }
  }
  return Broken(fmt::format("comes to no end within {} messages", kMostRounds));
}

Timeout SaslNegotiation::Left() const {
  const auto left = std::chrono::ceil<Timeout>(deadline_ - std::chrono::steady_clock::now());
  return std::max(left, Timeout(1));
}

Status SaslNegotiation::Send(const Message& message) {
  std::string frame = rpc_wire::BeginFrame();
  rpc_wire::AppendDelimited(frame, rpc_wire::RequestHeader(rpc_wire::kCallIdSasl, client_id_));
  rpc_wire::AppendDelimited(frame, message);
  rpc_wire::EndFrame(frame);
  return rpc_wire::WriteBytes(socket_, frame, Left());
}

Result<SaslNegotiation::Message> SaslNegotiation::Receive() {
  auto frame = rpc_wire::ReadFrame(socket_, kMostFrameBytes, Left());
  if (!frame && frame.error().code == ErrorCode::kInvalid) return Broken(frame.error().message);
  if (!frame) return std::unexpected(std::move(frame).error());
  rpc_wire::Cursor cursor(*frame);
  RpcResponseHeaderProto header;
  if (const auto status = cursor.Next(header, "an RPC response header"); !status) {
    return Broken(status.error().message);
  }
  if (header.status() != RpcResponseHeaderProto::SUCCESS) {
    return std::unexpected(rpc_wire::ExceptionOf(header, server_));
  }
  Message message;
  if (const auto status = cursor.Next(message, "a SASL message"); !status) {
    return Broken(status.error().message);
  }
  return message;
}

Result<bool> SaslNegotiation::Initiate(const Message& offers) {
  const Message::SaslAuth* simple = nullptr;
  for (const auto& offer : offers.auths()) {
    if (offer.method() == kSimple) {
      simple = &offer;
      continue;
    }
    const SaslOffer told{offer.method(), offer.mechanism(), offer.protocol(), offer.serverid()};
    EBB_ASSIGN(exchange_, authentication_.authenticator->Begin(told, server_));
    if (!exchange_) continue;
    EBB_ASSIGN(const auto token, exchange_->Respond(offer.challenge()));
    EBB_TRY(SendInitiate(offer, token));
    return true;
  }
  if (simple == nullptr || !authentication_.allow_simple) return NothingInCommon(offers);
  // The server answers nothing to that.
  EBB_TRY(SendInitiate(*simple, ""));
  return false;
}

Status SaslNegotiation::SendInitiate(const Message::SaslAuth& offer, const std::string& token) {
  Message message;
  message.set_state(Message::INITIATE);
  message.set_token(token);
  auto& chosen = *message.add_auths();
  chosen = offer;
  // The server compares the rest with what it has offered.
  chosen.clear_challenge();
  return Send(message);
}

Status SaslNegotiation::Answer(const Message& challenge) {
  EBB_ASSIGN(const auto token, exchange_->Respond(challenge.token()));
  Message message;
  message.set_state(Message::RESPONSE);
  message.set_token(token);
  return Send(message);
}

Result<bool> SaslNegotiation::Finish(const Message& success) {
  if (!exchange_ && authentication_.allow_simple) return false;
  if (!exchange_) {
    return Fail(ErrorCode::kUnsupported,
                fmt::format("{} wants this client, which has an authenticator, to go on without "
                            "(SIMPLE); if the server may, set "
                            "ipc.client.fallback-to-simple-auth-allowed to true",
                            server_));
  }
  if (success.has_token()) {
    EBB_ASSIGN(const auto rest, exchange_->Respond(success.token()));
    if (!rest.empty()) return Broken("ends before the client has said all");
  }
  if (!exchange_->complete()) return Broken("ends before the client is content");
  return true;
}

std::unexpected<Error> SaslNegotiation::NothingInCommon(const Message& offers) const {
  std::string names;
  for (const auto& offer : offers.auths()) {
    names += fmt::format("{}{}/{}", names.empty() ? "" : ", ", offer.method(), offer.mechanism());
  }
  return Fail(ErrorCode::kUnsupported,
              fmt::format("{} offers the authentications {}, and the authenticator of this program "
                          "knows none of them; use one that does, or 'hdfs dfs'",
                          server_, names.empty() ? "(none)" : names));
}

std::unexpected<Error> SaslNegotiation::Broken(const std::string& what) const {
  return Fail(ErrorCode::kNetwork,
              fmt::format("the negotiation of SASL failed: {}: {}", server_, what));
}

}  // namespace ebb::rpc_internal
