// The settings of a client: core-site.xml and hdfs-site.xml of a directory, as Hadoop reads them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/error.h"
#include "rpc/address.h"

namespace ebb::client {

// What dfs.blocksize is without a configuration.
inline constexpr std::int64_t kDefaultBlockBytes = 128 << 20;

// Values by name. A value may hold ${name}, which stands for another value. Includes of other files
// (xi:include) are refused.
class Configuration {
 public:
  Configuration() = default;

  // Reads core-site.xml and hdfs-site.xml of the directory; a missing file counts as empty.
  // kInvalid names the file and the place of a mistake.
  [[nodiscard]] static Result<Configuration> Read(const std::string& directory);

  // Adds the properties of the text of an XML file. `name` is for messages.
  [[nodiscard]] Status Add(std::string_view xml, const std::string& name);
  // A later value wins, unless the earlier one is final.
  void Set(const std::string& name, std::string value);

  [[nodiscard]] bool Has(const std::string& name) const { return values_.contains(name); }
  [[nodiscard]] std::string Get(const std::string& name, std::string otherwise = {}) const;
  // The comma-separated words of a value, without blanks around them.
  [[nodiscard]] std::vector<std::string> List(const std::string& name) const;
  // kInvalid names the property, if the value is no number from `least` on. Sizes may end with k,
  // m, g or t (binary).
  [[nodiscard]] Result<std::int64_t> Number(const std::string& name, std::int64_t otherwise,
                                            std::int64_t least = 0) const;
  [[nodiscard]] bool Flag(const std::string& name, bool otherwise) const;

 private:
  struct Value {
    std::string text;
    bool final = false;
  };
  [[nodiscard]] std::string Expanded(const std::string& text, int depth) const;

  std::map<std::string, Value, std::less<>> values_;
};

// Where a client finds its configuration: HADOOP_CONF_DIR, else that of the cluster of 'ebb up',
// else where packages of Hadoop have it.
[[nodiscard]] std::string DefaultConfigurationDirectory();

// The namenodes of "hdfs://AUTHORITY": of a name service, or of one host and port. kInvalid names
// what is missing in the configuration.
[[nodiscard]] Result<std::vector<RpcAddress>> NamenodesOf(const Configuration& configuration,
                                                          const std::string& authority);
// The authority of fs.defaultFS. kInvalid if that is no file system of HDFS.
[[nodiscard]] Result<std::string> DefaultAuthority(const Configuration& configuration);

}  // namespace ebb::client
