package io.ebbfs.namenode.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ebbfs.namenode.files.inodes.Caller;
import io.ebbfs.namenode.files.inodes.Inode;
import java.io.FileNotFoundException;
import java.io.IOException;
import org.apache.hadoop.fs.permission.FsAction;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.security.AccessControlException;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class PermissionCheckerTest {
  private NamespaceFixture real;
  private Caller root;
  private Caller alice;
  private Caller bob;

  @BeforeEach
  void makeTree() throws IOException {
    real = new NamespaceFixture();
    root = real.root();
    alice = real.user("alice", "staff");
    bob = real.user("bob", "staff", "others");
    real.mkdirs("/home/alice");
    real.attributes.setOwner(root, "/home/alice", "alice", "staff");
    real.touch(alice, "/home/alice/f", false);
  }

  private void mode(String path, int mode) throws IOException {
    real.attributes.setPermission(root, path, new FsPermission((short) mode));
  }

  private static void denied(ThrowingCallable call, String... parts) {
    var thrown = assertThatThrownBy(call).isInstanceOf(AccessControlException.class);
    for (String part : parts) {
      thrown.hasMessageContaining(part);
    }
  }

  @Test
  void newInodesBelongToTheirMakerAndTheGroupAbove() throws IOException {
    Inode file = real.inodes.get(root, "/home/alice/f");
    assertThat(file.row().getOwner()).isEqualTo("alice");
    assertThat(file.row().getGroup()).isEqualTo("staff");
    assertThat(real.inodes.get(root, "/home").row().getGroup()).isEqualTo("supergroup");
  }

  @Test
  void impliedDirectoriesCanBeUsedByTheirMaker() throws IOException {
    real.mkdirs.mkdirs(alice, "/home/alice/x/y", new FsPermission(0), true);
    assertThat(real.inodes.get(root, "/home/alice/x").permission().toShort())
        .isEqualTo((short) 0300);
    assertThat(real.inodes.get(root, "/home/alice/x/y").permission().toShort())
        .isEqualTo((short) 0);
  }

  @Test
  void writingADirectoryNeedsW() throws IOException {
    denied(
        () -> real.touch(bob, "/home/alice/g", false),
        "Permission denied: user=bob, access=WRITE, inode=\"/home/alice\":alice:staff:drwxr-xr-x");
    denied(() -> real.mkdirs.mkdirs(bob, "/home/alice/a/b", new FsPermission(0755), true));
    denied(() -> real.deletions.delete(bob, "/home/alice/f", false));
    denied(() -> real.renames.rename(bob, "/home/alice/f", "/home/alice/g"));
    denied(() -> real.renames.rename2(bob, "/home/alice/f", "/home/alice/g", false));
    mode("/home/alice", 0775);
    assertThat(real.renames.rename(bob, "/home/alice/f", "/home/alice/g")).isTrue();
  }

  @Test
  void passingADirectoryNeedsX() throws IOException {
    mode("/home/alice", 0766);
    denied(() -> real.reads.status(bob, "/home/alice/f", false, ""), "access=EXECUTE");
    denied(() -> real.reads.status(bob, "/home/alice/none", false, ""));
    assertThat(real.reads.status(bob, "/home/alice", false, "").isDirectory()).isTrue();
  }

  @Test
  void listingADirectoryNeedsRAndX() throws IOException {
    mode("/home/alice", 0711);
    denied(() -> real.reads.list(bob, "/home/alice", new byte[0], false, ""), "READ_EXECUTE");
    assertThat(real.reads.status(bob, "/home/alice/f", false, "").isFile()).isTrue();
  }

  @Test
  void readingAFileNeedsR() throws IOException {
    mode("/home/alice/f", 0600);
    denied(() -> real.reads.locate(bob, "/home/alice/f", 0, 1, ""), "access=READ");
    mode("/home/alice/f", 0640);
    assertThat(real.reads.locate(bob, "/home/alice/f", 0, 1, "").getFileLength()).isZero();
    denied(() -> real.reads.locate(real.user("eve", "staffers"), "/home/alice/f", 0, 1, ""));
  }

  @Test
  void theOwnersOwnBitsCountForTheOwner() throws IOException {
    mode("/home/alice/f", 0077);
    denied(() -> real.reads.locate(alice, "/home/alice/f", 0, 1, ""));
    assertThat(real.reads.locate(bob, "/home/alice/f", 0, 1, "").getFileLength()).isZero();
  }

  @Test
  void overwritingNeedsWOnTheFile() throws IOException {
    mode("/home/alice", 0777);
    denied(() -> real.touch(bob, "/home/alice/f", true));
    mode("/home/alice/f", 0666);
    real.touch(bob, "/home/alice/f", true);
    assertThat(real.inodes.get(root, "/home/alice/f").row().getOwner()).isEqualTo("bob");
  }

  @Test
  void theStickyBitKeepsOthersFilesInPlace() throws IOException {
    mode("/home/alice", 01777);
    denied(() -> real.deletions.delete(bob, "/home/alice/f", false), "sticky bit");
    denied(() -> real.renames.rename(bob, "/home/alice/f", "/home/alice/g"), "sticky bit");
    real.touch(bob, "/home/alice/b", false);
    assertThat(real.deletions.delete(bob, "/home/alice/b", false)).isTrue();
    assertThat(real.deletions.delete(alice, "/home/alice/f", false)).isTrue();
  }

  @Test
  void aTreeIsDeletedOnlyWithAllRightsBelow() throws IOException {
    real.mkdirs.mkdirs(alice, "/home/alice/x/y", new FsPermission(0755), true);
    real.touch(alice, "/home/alice/x/y/f", false);
    mode("/home/alice", 0777);
    mode("/home/alice/x", 0777);
    denied(() -> real.deletions.delete(bob, "/home/alice/x", true), "access=ALL");
    mode("/home/alice/x/y", 0777);
    assertThat(real.deletions.delete(bob, "/home/alice/x", true)).isTrue();
  }

  @Test
  void attributesBelongToTheOwner() throws IOException {
    denied(() -> real.attributes.setPermission(bob, "/home/alice/f", new FsPermission(0777)));
    denied(() -> real.attributes.setOwner(alice, "/home/alice/f", "bob", null));
    denied(() -> real.attributes.setOwner(alice, "/home/alice/f", null, "others"));
    denied(() -> real.attributes.setTimes(bob, "/home/alice/f", 1, 1));
    denied(() -> real.replication.set(bob, "/home/alice/f", 2));
    real.attributes.setOwner(alice, "/home/alice/f", "alice", "staff");
    real.attributes.setTimes(alice, "/home/alice/f", 1, 2);
    assertThat(real.replication.set(alice, "/home/alice/f", 2)).isTrue();
  }

  @Test
  void membersOfTheSupergroupMayDoEverything() throws IOException {
    mode("/home/alice", 0);
    Caller operator = real.user("op", "supergroup");
    assertThat(real.reads.status(operator, "/home/alice/f", false, "").isFile()).isTrue();
    real.attributes.setOwner(operator, "/home/alice/f", "bob", null);
    assertThat(real.deletions.delete(operator, "/home/alice/f", false)).isTrue();
  }

  @Test
  void accessCanBeAskedFor() throws IOException {
    real.inodes.checkAccess(bob, "/home/alice/f", FsAction.READ);
    denied(() -> real.inodes.checkAccess(bob, "/home/alice/f", FsAction.WRITE));
    assertThatThrownBy(() -> real.inodes.checkAccess(bob, "/none", FsAction.READ))
        .isInstanceOf(FileNotFoundException.class);
  }
}
