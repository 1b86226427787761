#include "server/status_server.h"

#include <gtest/gtest.h>

#include <array>
#include <chrono>

#include "server/log.h"

namespace ebb::server {
namespace {

constexpr Timeout kAnswerPatience = std::chrono::seconds(10);

std::string Ask(std::uint16_t port, std::string_view request) {
  auto socket = Socket::Connect("127.0.0.1", port, kAnswerPatience);
  EXPECT_TRUE(socket);
  EXPECT_TRUE(socket->WriteAll(std::as_bytes(std::span(request)), kAnswerPatience));
  std::string answer;
  std::array<std::byte, 512> bytes;
  for (;;) {
    const auto read = socket->ReadSome(bytes, kAnswerPatience);
    if (!read || *read == 0) return answer;
    answer.append(reinterpret_cast<const char*>(bytes.data()), *read);
  }
}

TEST(StatusServerTest, AnswersProbesAndMetrics) {
  std::string missing = "no namenode";
  StatusServer server({[&] { return missing; }, [] { return std::string("a_metric 1\n"); }});
  ASSERT_TRUE(server.Start("127.0.0.1", 0));
  EXPECT_TRUE(Ask(server.port(), "GET /live HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 200 "));
  const auto not_ready = Ask(server.port(), "GET /ready HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_TRUE(not_ready.starts_with("HTTP/1.1 503 "));
  EXPECT_TRUE(not_ready.ends_with("\r\n\r\nno namenode\n"));
  missing = "";
  EXPECT_TRUE(Ask(server.port(), "GET /ready HTTP/1.0\r\n\r\n").starts_with("HTTP/1.1 200 "));
  EXPECT_TRUE(Ask(server.port(), "GET /metrics?x HTTP/1.1\r\n\r\n").ends_with("a_metric 1\n"));
  EXPECT_TRUE(Ask(server.port(), "GET /other HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 404 "));
  EXPECT_TRUE(Ask(server.port(), "POST /live HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 404 "));
}

TEST(StatusServerTest, NoClientHoldsItForLong) {
  StatusServer server({[] { return ""; }, [] { return ""; }});
  ASSERT_TRUE(server.Start("127.0.0.1", 0));
  const auto silent = Socket::Connect("127.0.0.1", server.port(), kAnswerPatience);
  ASSERT_TRUE(silent);
  EXPECT_EQ(Ask(server.port(), std::string(20'000, 'x')), "");
  EXPECT_TRUE(Ask(server.port(), "GET /live HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 200 "));
}

TEST(JsonLogTest, EscapesWhatEndsAString) {
  EXPECT_EQ(JsonEscaped("say \"a\\b\"\n"), "say \\\"a\\\\b\\\"\\u000a");
}

}  // namespace
}  // namespace ebb::server
