#include "server/status_server.h"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <span>

namespace ebb::server {
namespace {

constexpr Timeout kPatience = std::chrono::seconds(2);
constexpr Timeout kPauseWithoutDescriptors = std::chrono::milliseconds(100);
constexpr std::size_t kMaxRequestBytes = 8192;

std::string Message(const char* status, const std::string& body) {
  return fmt::format(
      "HTTP/1.1 {}\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n"
      "Content-Length: {}\r\nConnection: close\r\n\r\n{}",
      status, body.size(), body);
}

// The path of "GET /path HTTP/1.1"; empty for any other request.
std::string PathOf(const std::string& request) {
  constexpr std::string_view kGet = "GET ";
  if (!request.starts_with(kGet)) return "";
  const auto end = request.find_first_of(" ?\r", kGet.size());
  return request.substr(kGet.size(), end == std::string::npos ? end : end - kGet.size());
}

}  // namespace

Status StatusServer::Start(const std::string& host, std::uint16_t port) {
  EBB_ASSIGN(listener_, Listener::Listen(host, port));
  thread_ = std::thread([this] { Run(); });
  return {};
}

void StatusServer::Stop() {
  if (!thread_.joinable()) return;
  listener_.Shutdown();
  thread_.join();
}

void StatusServer::Run() {
  for (;;) {
    auto connection = listener_.Accept();
    if (connection) {
      Answer(*connection);
    } else if (connection.error().code == ErrorCode::kBusy) {
      std::this_thread::sleep_for(kPauseWithoutDescriptors);
    } else {
      return;
    }
  }
}

void StatusServer::Answer(Socket& connection) const {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  std::string request;
  std::array<std::byte, 1024> bytes;
  // The whole head is read, so that closing the connection does not reset it.
  while (request.find("\r\n\r\n") == std::string::npos) {
    const auto left = std::chrono::duration_cast<Timeout>(deadline - std::chrono::steady_clock::now());
    if (left <= Timeout::zero() || request.size() > kMaxRequestBytes) return;
    const auto read = connection.ReadSome(bytes, left);
    if (!read || *read == 0) return;
    request.append(reinterpret_cast<const char*>(bytes.data()), *read);
  }
  const std::string response = Response(request);
  // A client that goes away before it has the answer does no harm.
  (void)connection.WriteAll(std::as_bytes(std::span(response)), kPatience);
}

std::string StatusServer::Response(const std::string& request) const {
  const std::string path = PathOf(request);
  if (path == "/live") return Message("200 OK", "live\n");
  if (path == "/metrics") return Message("200 OK", state_.metrics());
  if (path == "/ready") {
    const std::string missing = state_.not_ready();
    return missing.empty() ? Message("200 OK", "ready\n")
                           : Message("503 Service Unavailable", missing + "\n");
  }
  return Message("404 Not Found", "there are /live, /ready, /metrics\n");
}

}  // namespace ebb::server
