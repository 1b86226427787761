package io.ebbfs.namenode;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FsShell;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.security.UserGroupInformation;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The trash at HDFS's NameNode and at ours: what commands leave there, and what the emptiers do.
 */
class TrashAsHdfsTest {
  private static final DateTimeFormatter CHECKPOINT = DateTimeFormatter.ofPattern("yyMMddHHmmss");

  @TempDir Path directory;

  private static org.apache.hadoop.fs.Path path(String name) {
    return new org.apache.hadoop.fs.Path(name);
  }

  private static DistributedFileSystem client(InetSocketAddress address) throws Exception {
    return NamenodePair.client(address, Optional.empty());
  }

  /** Everything below a directory, with the time of a trash in place of its digits. */
  private static String tree(DistributedFileSystem client, String top) throws IOException {
    List<String> lines = new ArrayList<>();
    collect(client, path(top), lines);
    return String.join("\n", lines).replaceAll("\\d{13}", "MILLIS").replaceAll("\\d{12}", "TIME");
  }

  private static void collect(
      DistributedFileSystem client, org.apache.hadoop.fs.Path directory, List<String> lines)
      throws IOException {
    for (FileStatus entry : client.listStatus(directory)) {
      lines.add(
          "%s %s %s %s"
              .formatted(
                  entry.isDirectory() ? "d" : "f",
                  entry.getPermission(),
                  entry.getOwner(),
                  entry.getPath().toUri().getPath()));
      if (entry.isDirectory()) {
        collect(client, entry.getPath(), lines);
      }
    }
  }

  @Test
  void commandsMoveAndDeleteAsOnHdfs() throws Exception {
    String trash = "/user/" + UserGroupInformation.getCurrentUser().getShortUserName() + "/.Trash";
    NamenodePair pair =
        new NamenodePair(
            directory, Map.of("fs.trash.interval", "1440"), Map.of("trashInterval", "1d"));
    try (DistributedFileSystem theirs = client(pair.hdfsAddress());
        DistributedFileSystem ours = client(pair.ourAddress())) {
      for (String command :
          List.of(
              "-mkdir -p /d/e /user",
              "-touchz /d/f /d/g /h",
              "-rm /d/f",
              "-rm /d/g /h /none",
              "-touchz /d/f /d/e/i",
              "-rm /d/f",
              "-rm -skipTrash /d/e/i",
              "-rm -r /d",
              "-rm -r /user",
              "-rm -r -skipTrash " + trash + "/Current/h",
              "-rm " + trash + "/Current/d/g",
              "-expunge",
              "-expunge",
              "-touchz /k",
              "-rm /k",
              "-expunge -immediate",
              "-touchz /l",
              "-rm /l",
              "-rm -r " + trash)) {
        assertThat(run(pair.ourAddress(), command))
            .as(command)
            .isEqualTo(run(pair.hdfsAddress(), command));
        assertThat(tree(ours, "/")).as("after %s", command).isEqualTo(tree(theirs, "/"));
      }
      assertThat(ours.getServerDefaults().getTrashInterval()).isEqualTo(1440);
    } finally {
      pair.close();
    }
  }

  private static String run(InetSocketAddress address, String command) throws Exception {
    return NamenodePair.shell(address, FsShell::new, command.split(" "))
        .replaceAll("\\d{13}", "MILLIS");
  }

  @Test
  void theEmptierMakesAndDeletesTheCheckpointsOfHdfs() throws Exception {
    String old = CHECKPOINT.format(LocalDateTime.now().minusDays(2));
    String kept = CHECKPOINT.format(LocalDateTime.now().minusHours(3));
    NamenodePair pair =
        new NamenodePair(
            directory,
            Map.of("fs.trash.interval", "1440", "fs.trash.checkpoint.interval", "0.02"),
            Map.of("trashInterval", "1d", "trashCheckpointInterval", "1s"));
    try (DistributedFileSystem theirs = client(pair.hdfsAddress());
        DistributedFileSystem ours = client(pair.ourAddress())) {
      for (DistributedFileSystem client : List.of(theirs, ours)) {
        fillTrash(client, old, kept);
        Await.until("all trash is emptied", () -> isEmptied(client));
      }
      assertThat(tree(ours, "/user").replace(kept, "KEPT"))
          .isEqualTo(tree(theirs, "/user").replace(kept, "KEPT"))
          .contains("/user/ann/.Trash/TIME/d/f", "/user/cid/.Trash/TIME", "/user/dan/.Trash/notes");
      for (DistributedFileSystem client : List.of(theirs, ours)) {
        assertThat(client.exists(path("/user/ann/.Trash/" + kept + "/d"))).isTrue();
        assertThat(client.exists(path("/user/ann/.Trash/" + old))).isFalse();
        assertThat(client.exists(path("/user/dan/.Trash/" + old + "-1"))).isFalse();
      }
    } finally {
      pair.close();
    }
  }

  private static boolean isEmptied(DistributedFileSystem client) throws IOException {
    for (String user : List.of("ann", "cid", "eve")) {
      if (client.exists(path("/user/" + user + "/.Trash/Current"))) {
        return false;
      }
    }
    return true;
  }

  /** The rename lets both emptiers see the trash of all users at once. */
  private static void fillTrash(DistributedFileSystem client, String old, String kept)
      throws IOException {
    for (String made :
        List.of(
            "ann/.Trash/Current/d",
            "ann/.Trash/" + kept + "/d",
            "ann/.Trash/" + old + "/d",
            "ben",
            "cid/.Trash",
            "dan/.Trash/" + old + "-1/d",
            "dan/.Trash/notes",
            "dan/.Trash/Current2",
            "eve/.Trash/Current")) {
      client.mkdirs(path("/staging/" + made));
    }
    for (String file : List.of("ann/.Trash/Current/d/f", "ben/.Trash", "cid/.Trash/Current")) {
      client.create(path("/staging/" + file)).close();
    }
    assertThat(client.rename(path("/staging"), path("/user"))).isTrue();
  }
}
