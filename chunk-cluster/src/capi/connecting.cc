// The calls that connect and disconnect, and those that read the configuration.
#include <fmt/format.h>

#include <cerrno>
#include <cstdint>
#include <limits>

#include "capi/c_memory.h"
#include "capi/connection.h"
#include "capi/failure.h"
#include "capi/hdfs.h"

using ebb::capi::Answer;
using ebb::capi::CheckHandle;
using ebb::capi::Connect;
using ebb::capi::CopyText;
using ebb::capi::FailWith;
using ebb::capi::Guarded;
using ebb::capi::ReadConfiguration;
using ebb::capi::TextOf;

namespace {

// Changes a builder, if there is one. The calls that do so return nothing: without a builder the
// connection fails.
template <typename Change>
void ChangeBuilder(hdfsBuilder* builder, const Change& change) noexcept {
  (void)Guarded([&]() -> Answer<void> {
    EBB_TRY(CheckHandle(builder));
    change(*builder);
    return {};
  });
}

hdfsFS ConnectWith(const char* name_node, tPort port, const char* user, bool own) noexcept {
  hdfsBuilder* builder = hdfsNewBuilder();
  if (builder == nullptr) return nullptr;
  hdfsBuilderSetNameNode(builder, name_node);
  hdfsBuilderSetNameNodePort(builder, port);
  hdfsBuilderSetUserName(builder, user);
  if (own) hdfsBuilderSetForceNewInstance(builder);
  return hdfsBuilderConnect(builder);
}

}  // namespace

hdfsBuilder* hdfsNewBuilder() {
  return Guarded<hdfsBuilder*>(nullptr, []() -> Answer<hdfsBuilder*> {
    return std::make_unique<hdfsBuilder>().release();
  });
}

void hdfsFreeBuilder(hdfsBuilder* builder) { const std::unique_ptr<hdfsBuilder> owned(builder); }

void hdfsBuilderSetNameNode(hdfsBuilder* builder, const char* name_node) {
  ChangeBuilder(builder, [&](hdfsBuilder& changed) {
    changed.name_node.reset();
    if (name_node != nullptr) changed.name_node = name_node;
  });
}

void hdfsBuilderSetNameNodePort(hdfsBuilder* builder, tPort port) {
  ChangeBuilder(builder, [&](hdfsBuilder& changed) { changed.port = port; });
}

void hdfsBuilderSetUserName(hdfsBuilder* builder, const char* user) {
  ChangeBuilder(builder, [&](hdfsBuilder& changed) { changed.user = user == nullptr ? "" : user; });
}

void hdfsBuilderSetKerbTicketCachePath(hdfsBuilder* /*builder*/, const char* /*path*/) {}

void hdfsBuilderSetForceNewInstance(hdfsBuilder* builder) {
  ChangeBuilder(builder, [&](hdfsBuilder& changed) { changed.own_connections = true; });
}

int hdfsBuilderConfSetStr(hdfsBuilder* builder, const char* key, const char* value) {
  const int code = Guarded([&]() -> Answer<void> {
    EBB_TRY(CheckHandle(builder));
    EBB_ASSIGN(auto name, TextOf(key, "the key"));
    if (value != nullptr) builder->settings.emplace_back(std::move(name), value);
    return {};
  });
  return code == 0 ? 0 : errno;
}

hdfsFS hdfsBuilderConnect(hdfsBuilder* builder) {
  const std::unique_ptr<hdfsBuilder> owned(builder);
  return Guarded<hdfsFS>(nullptr, [&]() -> Answer<hdfsFS> {
    EBB_TRY(CheckHandle(builder));
    EBB_ASSIGN(auto connected, Connect(*builder));
    return connected.release();
  });
}

hdfsFS hdfsConnect(const char* name_node, tPort port) {
  return ConnectWith(name_node, port, nullptr, false);
}

hdfsFS hdfsConnectAsUser(const char* name_node, tPort port, const char* user) {
  return ConnectWith(name_node, port, user, false);
}

hdfsFS hdfsConnectNewInstance(const char* name_node, tPort port) {
  return ConnectWith(name_node, port, nullptr, true);
}

hdfsFS hdfsConnectAsUserNewInstance(const char* name_node, tPort port, const char* user) {
  return ConnectWith(name_node, port, user, true);
}

int hdfsDisconnect(hdfsFS fs) {
  return Guarded([&]() -> Answer<void> {
    EBB_TRY(CheckHandle(fs));
    // The connections are the parent's: a child that closed them would disturb the parent.
    if (fs->process != getpid()) return {};
    const std::unique_ptr<hdfs_internal> owned(fs);
    return {};
  });
}

int hdfsConfGetStr(const char* key, char** value) {
  const int code = Guarded([&]() -> Answer<void> {
    EBB_TRY(CheckHandle(value));
    EBB_ASSIGN(const auto name, TextOf(key, "the key"));
    EBB_ASSIGN(const auto configuration, ReadConfiguration({}));
    *value = configuration.Has(name) ? CopyText(configuration.Get(name)).release() : nullptr;
    return {};
  });
  return code == 0 ? 0 : errno;
}

int hdfsConfGetInt(const char* key, std::int32_t* value) {
  using Limits = std::numeric_limits<std::int32_t>;
  const int code = Guarded([&]() -> Answer<void> {
    EBB_TRY(CheckHandle(value));
    EBB_ASSIGN(const auto name, TextOf(key, "the key"));
    EBB_ASSIGN(const auto configuration, ReadConfiguration({}));
    EBB_ASSIGN(const auto number, configuration.Number(name, *value, Limits::min()));
    if (number > Limits::max()) {
      return FailWith(EINVAL, fmt::format("{} is {}, which has more than 32 bits", name, number));
    }
    *value = static_cast<std::int32_t>(number);
    return {};
  });
  return code == 0 ? 0 : errno;
}

void hdfsConfStrFree(char* value) { std::free(value); }

char* hdfsGetLastExceptionRootCause() { return ebb::capi::LastRootCause(); }

char* hdfsGetLastExceptionStackTrace() { return ebb::capi::LastTrace(); }
