// Patterns of names, changes of rights, and the text of extended attributes.
#include <gtest/gtest.h>

#include "client/acl_text.h"
#include "client/glob_pattern.h"
#include "client/mode_change.h"
#include "client/text.h"
#include "client/xattr_text.h"

namespace ebb::client {
namespace {

TEST(GlobPatternTest, Matches) {
  EXPECT_TRUE(Matches("*", ""));
  EXPECT_TRUE(Matches("a*c", "abbc"));
  EXPECT_TRUE(Matches("a*b*c", "aXbXbXc"));
  EXPECT_FALSE(Matches("a*c", "abd"));
  EXPECT_TRUE(Matches("?", "ü"));
  EXPECT_FALSE(Matches("?", "ab"));
  EXPECT_TRUE(Matches("[a-cx]1", "b1"));
  EXPECT_TRUE(Matches("[^a-c]", "d"));
  EXPECT_FALSE(Matches("[^a-c]", "b"));
  EXPECT_TRUE(Matches("[]]", "]"));
  EXPECT_FALSE(Matches("[ab", "a"));
  EXPECT_TRUE(Matches("\\*", "*"));
  EXPECT_FALSE(Matches("\\*", "a"));
  EXPECT_TRUE(Matches("[\\]]", "]"));
}

TEST(GlobPatternTest, ManyStarsDoNotTakeForever) {
  EXPECT_FALSE(Matches("*a*a*a*a*a*a*a*a*a*a*b", std::string(5000, 'a')));
}

TEST(GlobPatternTest, BracesStandForSeveralPatterns) {
  EXPECT_EQ(*ExpandBraces("/a{b,c/d}e"), (std::vector<std::string>{"/abe", "/ac/de"}));
  EXPECT_EQ(*ExpandBraces("{a,b{c,d}}"), (std::vector<std::string>{"a", "bc", "bd"}));
  EXPECT_EQ(*ExpandBraces("\\{a,b}"), (std::vector<std::string>{"\\{a,b}"}));
  EXPECT_FALSE(ExpandBraces("{a"));
  std::string many;
  for (int i = 0; i < 20; ++i) many += "{a,b}";
  EXPECT_FALSE(ExpandBraces(many));
}

TEST(GlobPatternTest, KnowsAndUnquotesPatterns) {
  EXPECT_TRUE(IsPattern("a\\*"));
  EXPECT_FALSE(IsPattern("a b]"));
  EXPECT_EQ(Unquoted("a\\*\\\\"), "a*\\");
  EXPECT_TRUE(HasWildcard("a\\*[b]"));
  EXPECT_FALSE(HasWildcard("a\\*\\[b]\\"));
}

std::uint32_t Changed(const char* text, std::uint32_t mode, bool directory = false) {
  const auto change = ModeChange::Parse(text);
  EXPECT_TRUE(change) << text;
  return change ? change->Apply(mode, directory) : 0;
}

TEST(ModeChangeTest, AppliesNumbersAndSymbols) {
  EXPECT_EQ(Changed("755", 0), 0755U);
  EXPECT_EQ(Changed("1777", 0), 01777U);
  EXPECT_EQ(Changed("u+x", 0644), 0744U);
  EXPECT_EQ(Changed("+x", 0644), 0755U);
  EXPECT_EQ(Changed("a=rw", 0777), 0666U);
  EXPECT_EQ(Changed("go-rw,u=rwx", 0666), 0700U);
  EXPECT_EQ(Changed("a+X", 0644), 0644U);
  EXPECT_EQ(Changed("a+X", 0644, true), 0755U);
  EXPECT_EQ(Changed("+t", 0755), 01755U);
  EXPECT_EQ(Changed("-t", 01755), 0755U);
  EXPECT_EQ(Changed("o+t", 0755), 01755U);
  EXPECT_EQ(Changed("ug+t", 0755), 0755U) << "the sticky bit belongs to others";
  EXPECT_EQ(Changed("o=rx", 01777), 0775U);
  EXPECT_EQ(Changed("o=rxt", 0777), 01775U);
  EXPECT_EQ(Changed("u=rwx", 01777), 01777U);
}

TEST(ModeChangeTest, RefusesWhatIsNoChange) {
  for (const char* text : {"", "9", "7", "2777", "u", "u+", "u+q", "u+x,", "77777", "+x g+w"}) {
    EXPECT_FALSE(ModeChange::Parse(text)) << text;
  }
}

TEST(TextTest, KnowsUtf8) {
  for (const char* text : {"", "abc", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80"}) {
    EXPECT_TRUE(IsUtf8(text)) << text;
  }
  for (const char* text : {"caf\xe8", "\xc3", "\xa9", "\xc3x", "\xc0\xaf", "\xe0\x80\xaf",
                           "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xff", "a\xf0\x9f\x98"}) {
    EXPECT_FALSE(IsUtf8(text)) << text;
  }
}

TEST(XAttrTextTest, NamesAndValuesComeBack) {
  const auto attribute = ParseXAttrName("User.a.b");
  ASSERT_TRUE(attribute);
  EXPECT_EQ(XAttrName(*attribute), "user.a.b");
  EXPECT_FALSE(ParseXAttrName("a"));
  EXPECT_EQ(*ParseXAttrValue("\"a b\""), "a b");
  EXPECT_EQ(*ParseXAttrValue("0x6142"), "aB");
  EXPECT_FALSE(ParseXAttrValue("0x614"));
  EXPECT_FALSE(ParseXAttrValue("0s*"));
  for (const std::string bytes : {"a", "ab", "abc", "abcd\xff"}) {
    EXPECT_EQ(*ParseXAttrValue(XAttrValueText(bytes, ValueCoding::kBase64)), bytes);
    EXPECT_EQ(*ParseXAttrValue(XAttrValueText(bytes, ValueCoding::kHex)), bytes);
  }
}

std::string AclError(const char* text, bool rights) {
  const auto entries = ParseAcl(text, rights);
  return entries ? "" : entries.error().message;
}

TEST(AclTextTest, ParsesEntriesWithAndWithoutRights) {
  using hadoop::hdfs::AclEntryProto;
  const auto entries = *ParseAcl("user::rwx,default:GROUP:staff:r-x,,other::--x", true);
  ASSERT_EQ(entries.size(), 3U);
  EXPECT_EQ(entries[0].type(), AclEntryProto::USER);
  EXPECT_EQ(entries[0].scope(), AclEntryProto::ACCESS);
  EXPECT_FALSE(entries[0].has_name());
  EXPECT_EQ(entries[0].permissions(), AclEntryProto::PERM_ALL);
  EXPECT_EQ(entries[1].type(), AclEntryProto::GROUP);
  EXPECT_EQ(entries[1].scope(), AclEntryProto::DEFAULT);
  EXPECT_EQ(entries[1].name(), "staff");
  EXPECT_EQ(entries[1].permissions(), AclEntryProto::READ_EXECUTE);
  EXPECT_EQ(entries[2].permissions(), AclEntryProto::EXECUTE);
  EXPECT_EQ(ParseAcl("user:ann,default:mask::", false)->size(), 2U);
  EXPECT_EQ(AclError("user:ann", true), "Invalid <aclSpec> : user:ann");
  EXPECT_EQ(AclError("user:ann:rwx", false), "Invalid <aclSpec> : user:ann:rwx");
  EXPECT_EQ(AclError("owner::rwx", true), "Invalid type of acl in <aclSpec> :owner::rwx");
  EXPECT_EQ(AclError("user::wrx", true), "Invalid permission in <aclSpec> : user::wrx");
  EXPECT_EQ(AclError("default:", true), "Invalid <aclSpec> : default:");
  EXPECT_EQ(AclError("::", true), "Invalid <aclSpec> : ::");
}

}  // namespace
}  // namespace ebb::client
