package io.ebbfs.namenode;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.hadoop.hdfs.DistributedFileSystem;

/** The clients of several users at a {@link NamenodePair}, whose calls are to end alike at both. */
final class ComparedUsers implements AutoCloseable {
  private final NamenodePair pair;
  private final Map<String, DistributedFileSystem> hdfs = new HashMap<>();
  private final Map<String, DistributedFileSystem> ours = new HashMap<>();

  /** A call of one client. */
  interface Call {
    Object run(DistributedFileSystem client) throws IOException;
  }

  /**
   * @param directory for the data of both namenodes
   * @param superuser one of the users: the user of the test
   */
  ComparedUsers(Path directory, List<String> users, String superuser) throws Exception {
    pair = new NamenodePair(directory);
    for (String user : users) {
      Optional<String> name = user.equals(superuser) ? Optional.empty() : Optional.of(user);
      hdfs.put(user, NamenodePair.client(pair.hdfsAddress(), name));
      ours.put(user, NamenodePair.client(pair.ourAddress(), name));
    }
  }

  InetSocketAddress ourAddress() {
    return pair.ourAddress();
  }

  DistributedFileSystem ours(String user) {
    return ours.get(user);
  }

  /** The outcome at our namenode. */
  String ourOutcome(String user, Call call) {
    return outcome(ours.get(user), call);
  }

  /** The same at HDFS's NameNode. */
  String hdfsOutcome(String user, Call call) {
    return outcome(hdfs.get(user), call);
  }

  /** The result at one namenode, or the class and the first line of the failure. */
  static String outcome(DistributedFileSystem client, Call call) {
    try {
      return String.valueOf(call.run(client));
    } catch (IOException | RuntimeException e) {
      return e.getClass().getName() + ": " + String.valueOf(e.getMessage()).lines().findFirst();
    }
  }

  /** Makes a call at both, and compares how it ends. */
  void same(String user, String what, Call call) {
    assertThat(ourOutcome(user, call))
        .as("%s by %s", what, user)
        .isEqualTo(hdfsOutcome(user, call));
  }

  @Override
  public void close() throws IOException {
    for (DistributedFileSystem client : hdfs.values()) {
      client.close();
    }
    for (DistributedFileSystem client : ours.values()) {
      client.close();
    }
    pair.close();
  }
}
