#include "client/configuration.h"

#include <gtest/gtest.h>

namespace ebb::client {
namespace {

Configuration Of(std::string_view xml) {
  Configuration configuration;
  const auto added = configuration.Add(xml, "test.xml");
  EXPECT_TRUE(added) << added.error().message;
  return configuration;
}

TEST(ConfigurationTest, ReadsPropertiesWithCommentsEntitiesAndSections) {
  const auto configuration = Of(R"(<?xml version="1.0"?>
<!-- a <property> that does not count -->
<configuration>
  <property><name> a </name><value> 1 &lt; 2 &#x41;&amp;</value><description>x</description></property>
  <property><name>b</name><value><![CDATA[<raw>]]></value></property>
  <property><name>empty</name><value/></property>
</configuration>)");
  EXPECT_EQ(configuration.Get("a"), "1 < 2 A&");
  EXPECT_EQ(configuration.Get("b"), "<raw>");
  EXPECT_EQ(configuration.Get("empty", "otherwise"), "");
  EXPECT_EQ(configuration.Get("none", "otherwise"), "otherwise");
}

TEST(ConfigurationTest, ALaterValueWinsUnlessTheEarlierOneIsFinal) {
  auto configuration =
      Of("<property><name>a</name><value>1</value></property>"
         "<property><name>b</name><value>1</value><final>true</final></property>");
  configuration.Set("a", "2");
  configuration.Set("b", "2");
  EXPECT_EQ(configuration.Get("a"), "2");
  EXPECT_EQ(configuration.Get("b"), "1");
}

TEST(ConfigurationTest, ValuesHoldOtherValuesAndCirclesEnd) {
  auto configuration = Of("");
  configuration.Set("host", "h1");
  configuration.Set("uri", "hdfs://${host}:9000/${none}");
  configuration.Set("circle", "x${circle}");
  EXPECT_EQ(configuration.Get("uri"), "hdfs://h1:9000/${none}");
  EXPECT_TRUE(configuration.Get("circle").starts_with("xxx"));
}

TEST(ConfigurationTest, AMistakeIsToldWithItsLine) {
  for (const char* xml : {"\n<property><name>a</name>", "\n<property></property>", "\n<a",
                          "\n<value>&none;</value>", "\n<!-- open", "\n<xi:include href='x'/>"}) {
    Configuration configuration;
    const auto added = configuration.Add(xml, "test.xml");
    ASSERT_FALSE(added) << xml;
    EXPECT_TRUE(added.error().message.starts_with("test.xml: line 2: ")) << added.error().message;
  }
}

TEST(ConfigurationTest, NumbersHaveUnitsAndBounds) {
  auto configuration = Of("");
  configuration.Set("size", "64m");
  configuration.Set("negative", "-1");
  configuration.Set("word", "many");
  configuration.Set("huge", "9000000000t");
  EXPECT_EQ(*configuration.Number("size", 0), 64 << 20);
  EXPECT_EQ(*configuration.Number("none", 7), 7);
  for (const char* name : {"negative", "word", "huge"}) {
    const auto number = configuration.Number(name, 0);
    ASSERT_FALSE(number);
    EXPECT_TRUE(number.error().message.starts_with(name));
  }
}

TEST(ConfigurationTest, NamenodesAreThoseOfTheNameServiceOrOfTheAuthority) {
  auto configuration = Of("");
  EXPECT_EQ(*NamenodesOf(configuration, "host:9000"), (std::vector<RpcAddress>{{"host", 9000}}));
  EXPECT_EQ(*NamenodesOf(configuration, "host"), (std::vector<RpcAddress>{{"host", 8020}}));
  EXPECT_FALSE(NamenodesOf(configuration, "host:port"));
  configuration.Set("dfs.ha.namenodes.ns", "a, b");
  configuration.Set("dfs.namenode.rpc-address.ns.a", "h1:1");
  const auto incomplete = NamenodesOf(configuration, "ns");
  ASSERT_FALSE(incomplete);
  EXPECT_NE(incomplete.error().message.find("dfs.namenode.rpc-address.ns.b"), std::string::npos);
  configuration.Set("dfs.namenode.rpc-address.ns.b", "h2:2");
  EXPECT_EQ(*NamenodesOf(configuration, "ns"), (std::vector<RpcAddress>{{"h1", 1}, {"h2", 2}}));
}

TEST(ConfigurationTest, TheDefaultFileSystemIsOneOfHdfs) {
  auto configuration = Of("");
  EXPECT_FALSE(DefaultAuthority(configuration));
  configuration.Set("fs.defaultFS", "hdfs://ns/path");
  EXPECT_EQ(*DefaultAuthority(configuration), "ns");
}

}  // namespace
}  // namespace ebb::client
