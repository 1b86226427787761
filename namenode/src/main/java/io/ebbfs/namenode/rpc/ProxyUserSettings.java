package io.ebbfs.namenode.rpc;

import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.security.authorize.ProxyUsers;

/** Which users may act as others, for all namenodes of this process. Thread-safe. */
public final class ProxyUserSettings {
  private static volatile List<String> users = List.of();

  private ProxyUserSettings() {}

  /** From now on, these users may act as any user, from any machine. */
  public static void use(List<String> names) {
    users = List.copyOf(names);
    refresh();
  }

  /** Hadoop's class decides, so it gets the settings by its own names. */
  static void refresh() {
    Configuration configuration = new Configuration();
    for (String user : users) {
      configuration.set("hadoop.proxyuser." + user + ".hosts", "*");
      configuration.set("hadoop.proxyuser." + user + ".groups", "*");
    }
    ProxyUsers.refreshSuperUserGroupsConfiguration(configuration);
  }
}
