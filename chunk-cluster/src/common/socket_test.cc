#include "common/socket.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdio>
#include <memory>
#include <thread>
#include <vector>

#include "common/open_sockets.h"
#include "common/socket_reader.h"

namespace ebb {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(SocketTest, ConnectsAndCarriesBytesBothWays) {
  auto listener = Listener::Listen("127.0.0.1", 0);
  ASSERT_TRUE(listener.has_value());
  auto client = Socket::Connect("127.0.0.1", listener->port(), seconds(5));
  ASSERT_TRUE(client.has_value()) << client.error().message;
  auto server = listener->Accept();
  ASSERT_TRUE(server.has_value());
  std::vector<std::byte> sent(3'000'000);
  for (std::size_t i = 0; i < sent.size(); ++i) sent[i] = static_cast<std::byte>(i * 7);
  std::thread writer([&] {
    iovec parts[3] = {{sent.data(), 1}, {sent.data() + 1, 0}, {sent.data() + 1, sent.size() - 1}};
    EXPECT_TRUE(client->WriteAll(std::span<iovec>(parts), seconds(20)).has_value());
  });
  std::vector<std::byte> received(sent.size());
  EXPECT_TRUE(server->ReadExact(received, seconds(20)).has_value());
  writer.join();
  EXPECT_EQ(sent, received);
}

TEST(SocketTest, SendsAFile) {
  auto pair = Socket::Pair();
  ASSERT_TRUE(pair.has_value());
  const std::unique_ptr<FILE, int (*)(FILE*)> file(std::tmpfile(), &std::fclose);
  std::fputs("0123456789", file.get());
  std::fflush(file.get());
  ASSERT_TRUE(pair->first.SendFile(fileno(file.get()), 3, 4, seconds(5)).has_value());
  char text[4];
  ASSERT_TRUE(pair->second.ReadExact(std::as_writable_bytes(std::span(text)), seconds(5)));
  EXPECT_EQ(std::string(text, 4), "3456");
  const auto beyond = pair->first.SendFile(fileno(file.get()), 8, 4, seconds(5));
  ASSERT_FALSE(beyond.has_value());
  EXPECT_EQ(beyond.error().code, ErrorCode::kIo);
}

TEST(SocketTest, ASilentPeerIsATimeout) {
  auto pair = Socket::Pair();
  ASSERT_TRUE(pair.has_value());
  std::byte one;
  const auto read = pair->first.ReadExact(std::span(&one, 1), milliseconds(20));
  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().code, ErrorCode::kTimeout);
  const std::vector<std::byte> much(50'000'000);
  const auto write = pair->first.WriteAll(much, milliseconds(50));
  ASSERT_FALSE(write.has_value());
  EXPECT_EQ(write.error().code, ErrorCode::kTimeout);
}

TEST(SocketTest, ShutdownWakesAReader) {
  auto pair = Socket::Pair();
  ASSERT_TRUE(pair.has_value());
  std::thread reader([&] {
    std::byte one;
    EXPECT_FALSE(pair->first.ReadExact(std::span(&one, 1), seconds(60)).has_value());
  });
  pair->first.Shutdown();
  reader.join();
}

TEST(SocketTest, AClosedPeerEndsTheStream) {
  auto pair = Socket::Pair();
  ASSERT_TRUE(pair.has_value());
  pair->second.Close();
  std::byte one;
  const auto some = pair->first.ReadSome(std::span(&one, 1), seconds(5));
  ASSERT_TRUE(some.has_value());
  EXPECT_EQ(*some, 0U);
}

TEST(SocketTest, NobodyListening) {
  auto listener = Listener::Listen("127.0.0.1", 0);
  ASSERT_TRUE(listener.has_value());
  const auto port = listener->port();
  const auto taken = Listener::Listen("127.0.0.1", port);
  ASSERT_FALSE(taken.has_value());
  EXPECT_NE(taken.error().message.find(std::to_string(port)), std::string::npos);
  listener = Listener();
  const auto client = Socket::Connect("127.0.0.1", port, seconds(5));
  ASSERT_FALSE(client.has_value());
  EXPECT_EQ(client.error().code, ErrorCode::kNetwork);
}

// No peer is at fault, and a later call may succeed.
TEST(SocketTest, AProcessWithoutDescriptorsIsBusy) {
  auto listener = Listener::Listen("127.0.0.1", 0);
  ASSERT_TRUE(listener.has_value());
  rlimit usual = {};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &usual), 0);
  rlimit none = usual;
  none.rlim_cur = 0;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  const auto refused = Socket::Connect("127.0.0.1", listener->port(), seconds(5));
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &usual), 0);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::kBusy) << refused.error().message;
  EXPECT_TRUE(Socket::Connect("127.0.0.1", listener->port(), seconds(5)).has_value());
}

TEST(SocketReaderTest, SilenceIsToldAgainAndTheReadGoesOn) {
  auto [one, other] = Socket::Pair().value();
  SocketReader reader(one);
  int calls = 0;
  const std::byte byte{7};
  reader.OnSilence(milliseconds(20), [&]() -> Status {
    ++calls;
    if (calls < 2) return {};
    EXPECT_TRUE(other.WriteAll(std::span(&byte, 1), seconds(5)).has_value());
    return {};
  });
  const auto silent = reader.Take(1, milliseconds(30));
  ASSERT_FALSE(silent);
  EXPECT_EQ(silent.error().code, ErrorCode::kTimeout);
  EXPECT_EQ(calls, 1);
  calls = 0;
  const auto taken = reader.Take(1, seconds(20));
  ASSERT_TRUE(taken) << taken.error().message;
  EXPECT_EQ((*taken)[0], byte);
  EXPECT_EQ(calls, 2);
}

TEST(SocketReaderTest, SilenceMayEndTheRead) {
  auto [one, other] = Socket::Pair().value();
  SocketReader reader(one);
  reader.OnSilence(milliseconds(20), []() -> Status {
    return Fail(ErrorCode::kTimeout, "silent for too long");
  });
  const auto silent = reader.Take(1, seconds(20));
  ASSERT_FALSE(silent);
  EXPECT_EQ(silent.error().message, "silent for too long");
}

TEST(OpenSocketsTest, AllAreShutDownAndNoneIsTakenLater) {
  auto [one, other] = Socket::Pair().value();
  OpenSockets sockets;
  ASSERT_TRUE(sockets.Add(one));
  ASSERT_TRUE(sockets.Add(other));
  sockets.Remove(other);
  sockets.ShutdownAll();
  std::byte byte{};
  EXPECT_EQ(one.ReadSome(std::span(&byte, 1), seconds(20)).value_or(1), 0U);
  EXPECT_FALSE(sockets.Add(other));
}

TEST(ListenerTest, ShutdownWakesAccept) {
  auto listener = Listener::Listen("127.0.0.1", 0);
  ASSERT_TRUE(listener.has_value());
  std::thread acceptor([&] {
    const auto accepted = listener->Accept();
    ASSERT_FALSE(accepted.has_value());
    EXPECT_EQ(accepted.error().code, ErrorCode::kShutdown);
  });
  listener->Shutdown();
  acceptor.join();
}

}  // namespace
}  // namespace ebb
