package io.ebbfs.namenode.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ebbfs.namenode.files.inodes.Caller;
import io.ebbfs.namenode.files.inodes.CreateModes;
import io.ebbfs.namenode.files.inodes.Inode;
import io.ebbfs.namenode.files.io.FileCreationService;
import io.ebbfs.namenode.store.InMemoryStore;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.StoreFormat;
import io.ebbfs.protocol.proto.StoreProtos.PinProto;
import java.io.IOException;
import java.util.EnumSet;
import java.util.List;
import org.apache.hadoop.fs.CreateFlag;
import org.apache.hadoop.fs.permission.AclEntry;
import org.apache.hadoop.fs.permission.FsAction;
import org.apache.hadoop.fs.permission.FsCreateModes;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.hdfs.protocol.AclException;
import org.apache.hadoop.security.AccessControlException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The rows of access control lists; {@code AclsAsHdfsTest} compares their calls with HDFS's. */
class AclServiceTest {
  private NamespaceFixture real;
  private Caller root;
  private Caller ann;

  MetadataStore store() {
    return new InMemoryStore();
  }

  @BeforeEach
  void start() throws IOException {
    real = new NamespaceFixture(store());
    StoreFormat.check(real.store);
    root = real.root();
    ann = real.user("ann", "staff");
    real.mkdirs("/d");
    real.touch("/d/f");
  }

  private static List<AclEntry> entries(String spec) {
    return AclEntry.parseAclSpec(spec, true);
  }

  private Inode inode(String path) throws IOException {
    return real.inodes.get(root, path);
  }

  private boolean hasFormat() throws IOException {
    return real.store.transact(0, StoreFormat::hasAcls);
  }

  @Test
  void onlyAListThatIsSetKeepsOlderVersionsOut() throws IOException {
    assertThatThrownBy(() -> real.acls.modify(ann, "/d/f", entries("user:ann:rwx")))
        .isInstanceOf(AccessControlException.class);
    assertThatThrownBy(() -> real.acls.modify(root, "/d/f", entries("default:user:ann:rwx")))
        .isInstanceOf(AclException.class);
    real.acls.modify(root, "/d/f", entries("user::rw-,other::---"));
    real.acls.removeEntries(root, "/d/f", entries("user:ann:rwx"));
    real.acls.remove(root, "/d/f");
    assertThat(hasFormat()).isFalse();
    real.acls.modify(root, "/d/f", entries("user:ann:rwx"));
    assertThat(hasFormat()).isTrue();
    assertThat(inode("/d/f").row().getPermission()).isEqualTo(0670);
  }

  @Test
  void aListGoesAlongWithARenameAndLeavesNothingBehind() throws IOException {
    real.acls.modify(root, "/d/f", entries("user:ann:rwx,group:staff:r--"));
    int permission = inode("/d/f").row().getPermission();
    real.renames.rename(root, "/d/f", "/d/g");
    assertThat(inode("/d/g").row().getAccessAclList()).hasSize(3);
    assertThat(inode("/d/g").row().getPermission()).isEqualTo(permission);
    real.acls.remove(root, "/d/g");
    assertThat(inode("/d/g").hasAcl()).isFalse();
    assertThat(inode("/d/g").row().getPermission()).isEqualTo(0644);
  }

  @Test
  void aCallThatComesTwiceHasOneEffect() throws IOException {
    for (int i = 0; i < 2; i++) {
      real.acls.modify(root, "/d", entries("user:ann:r-x,default:user:ann:rwx"));
    }
    Inode once = inode("/d");
    real.acls.modify(root, "/d", entries("user:ann:r-x,default:user:ann:rwx"));
    assertThat(inode("/d")).isEqualTo(once);
    for (int i = 0; i < 2; i++) {
      real.acls.removeEntries(root, "/d", entries("user:ann:r-x"));
    }
    assertThat(inode("/d").row().getAccessAclList()).isEmpty();
    assertThat(inode("/d").row().getDefaultAclList()).hasSize(5);
  }

  @Test
  void theUmaskCountsOnlyWithoutADefaultList() throws IOException {
    FsPermission asked = FsCreateModes.create(new FsPermission(0700), new FsPermission(0777));
    real.mkdirs.mkdirs(root, "/d/without", asked, true);
    real.acls.modify(root, "/d", entries("default:user:ann:rwx"));
    real.mkdirs.mkdirs(root, "/d/with", asked, true);
    real.mkdirs.mkdirs(root, "/d/old", new FsPermission(0700), true);
    assertThat(inode("/d/without").row().getPermission()).isEqualTo(0700);
    assertThat(inode("/d/with").row().getPermission()).isEqualTo(0775);
    assertThat(inode("/d/old").row().getPermission()).isEqualTo(0700);
    assertThat(inode("/d/with").row().getDefaultAclList())
        .isEqualTo(inode("/d").row().getDefaultAclList());
  }

  @Test
  void aNamedUserPassesAndAMaskStopsThem() throws IOException {
    real.attributes.setPermission(root, "/d", new FsPermission(0700));
    real.acls.modify(root, "/d", entries("user:ann:rwx"));
    real.touch(ann, "/d/by-ann", false);
    real.attributes.setPermission(root, "/d", new FsPermission(0700)); // the mask
    assertThatThrownBy(() -> real.touch(ann, "/d/no", false))
        .isInstanceOf(AccessControlException.class);
    assertThatThrownBy(() -> real.inodes.checkAccess(ann, "/d", FsAction.EXECUTE))
        .isInstanceOf(AccessControlException.class);
  }

  // ---- flags of a create
  // --------------------------------------------------------------------------

  @Test
  void aFileThatShouldBeReplicatedIsPinned() throws IOException {
    FileCreationService.Request request =
        new FileCreationService.Request(
            "/d/stays",
            CreateModes.of(0644),
            "client",
            "127.0.0.1",
            EnumSet.of(CreateFlag.CREATE, CreateFlag.SHOULD_REPLICATE),
            true,
            3,
            NamespaceFixture.BLOCK_BYTES);
    assertThat(real.creation.create(root, request).row().getPin()).isEqualTo(PinProto.REPLICAS);
    assertThat(real.xattrs.list(root, "/d/stays")).hasSize(1);
    assertThat(inode("/d/f").row().hasPin()).isFalse();
  }
}
