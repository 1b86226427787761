#include "client/configuration.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <utility>

#include "client/site_file.h"
#include "client/text.h"

namespace ebb::client {

namespace {

constexpr int kMostExpansions = 20;
constexpr std::uint16_t kDefaultPort = 8020;
constexpr std::string_view kScheme = "hdfs://";

Result<RpcAddress> ParseAddress(const std::string& text, const std::string& where) {
  const auto colon = text.rfind(':');
  RpcAddress address{text.substr(0, colon), kDefaultPort};
  if (colon != std::string::npos) {
    const char* end = text.data() + text.size();
    const auto [at, error] = std::from_chars(text.data() + colon + 1, end, address.port);
    if (error != std::errc() || at != end || address.port == 0) address.host.clear();
  }
  if (address.host.empty()) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("{}: '{}' is no address; write HOST:PORT", where, text));
  }
  return address;
}

int SizeShift(char unit) {
  switch (unit) {
    case 'k':
    case 'K':
      return 10;
    case 'm':
    case 'M':
      return 20;
    case 'g':
    case 'G':
      return 30;
    case 't':
    case 'T':
      return 40;
    default:
      return 0;
  }
}

}  // namespace

Result<Configuration> Configuration::Read(const std::string& directory) {
  Configuration configuration;
  for (const char* name : {"core-site.xml", "hdfs-site.xml"}) {
    const std::string path = directory + "/" + name;
    std::ifstream file(path, std::ios::binary);
    if (!file) continue;
    std::ostringstream text;
    text << file.rdbuf();
    EBB_TRY(configuration.Add(text.str(), path));
  }
  return configuration;
}

Status Configuration::Add(std::string_view xml, const std::string& name) {
  auto properties = ParseSiteFile(xml);
  if (!properties) {
    return Fail(ErrorCode::kInvalid, fmt::format("{}: {}", name, properties.error().message));
  }
  for (auto& property : *properties) {
    Value& value = values_[property.name];
    if (value.final) continue;
    value = {std::move(property.value), property.final};
  }
  return {};
}

void Configuration::Set(const std::string& name, std::string value) {
  Value& present = values_[name];
  if (!present.final) present.text = std::move(value);
}

std::string Configuration::Get(const std::string& name, std::string otherwise) const {
  const auto found = values_.find(name);
  return found == values_.end() ? otherwise : Stripped(Expanded(found->second.text, 0));
}

std::string Configuration::Expanded(const std::string& text, int depth) const {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const auto begin = text.find("${", at);
    const auto end = begin == std::string::npos ? begin : text.find('}', begin);
    if (end == std::string::npos || depth == kMostExpansions) return out + text.substr(at);
    out += text.substr(at, begin - at);
    const auto found = values_.find(text.substr(begin + 2, end - begin - 2));
    out += found == values_.end() ? text.substr(begin, end - begin + 1)
                                  : Expanded(found->second.text, depth + 1);
    at = end + 1;
  }
  return out;
}

std::vector<std::string> Configuration::List(const std::string& name) const {
  std::vector<std::string> words;
  std::istringstream all(Get(name));
  for (std::string word; std::getline(all, word, ',');) {
    word = Stripped(word);
    if (!word.empty()) words.push_back(word);
  }
  return words;
}

Result<std::int64_t> Configuration::Number(const std::string& name, std::int64_t otherwise,
                                           std::int64_t least) const {
  const std::string text = Get(name);
  if (text.empty()) return otherwise;
  const int shift = SizeShift(text.back());
  std::int64_t value = 0;
  const char* end = text.data() + text.size() - (shift > 0 ? 1 : 0);
  const auto [at, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || at != end || value > (INT64_MAX >> shift) || value << shift < least) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("{} is '{}'; write a number from {} on", name, text, least));
  }
  return value << shift;
}

bool Configuration::Flag(const std::string& name, bool otherwise) const {
  const std::string text = Get(name);
  return text.empty() ? otherwise : text == "true";
}

std::string DefaultConfigurationDirectory() {
  const char* configured = std::getenv("HADOOP_CONF_DIR");
  if (configured != nullptr && *configured != '\0') return configured;
  const char* home = std::getenv("HOME");
  const std::string local = std::string(home != nullptr ? home : "") + "/.ebbfs/conf/client";
  return access(local.c_str(), R_OK) == 0 ? local : "/etc/hadoop/conf";
}

Result<std::vector<RpcAddress>> NamenodesOf(const Configuration& configuration,
                                            const std::string& authority) {
  std::vector<RpcAddress> addresses;
  for (const auto& node : configuration.List("dfs.ha.namenodes." + authority)) {
    const std::string name = "dfs.namenode.rpc-address." + authority + "." + node;
    EBB_ASSIGN(auto address, ParseAddress(configuration.Get(name), name));
    addresses.push_back(std::move(address));
  }
  if (!addresses.empty()) return addresses;
  const std::string single = "dfs.namenode.rpc-address." + authority;
  const std::string text = configuration.Get(single);
  EBB_ASSIGN(auto address, text.empty() ? ParseAddress(authority, "hdfs://" + authority)
                                        : ParseAddress(text, single));
  addresses.push_back(std::move(address));
  return addresses;
}

Result<std::string> DefaultAuthority(const Configuration& configuration) {
  const std::string uri = configuration.Get("fs.defaultFS");
  if (!uri.starts_with(kScheme) || uri.size() == kScheme.size()) {
    return Fail(
        ErrorCode::kInvalid,
        fmt::format("fs.defaultFS is '{}'; set it to hdfs://HOST:PORT or hdfs://NAMESERVICE "
                    "in core-site.xml",
                    uri));
  }
  const std::string rest = uri.substr(kScheme.size());
  return rest.substr(0, rest.find('/'));
}

}  // namespace ebb::client
