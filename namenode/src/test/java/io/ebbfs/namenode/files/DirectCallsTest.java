package io.ebbfs.namenode.files;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.namenode.files.erasure.ErasureCodingService;
import io.ebbfs.namenode.files.inodes.Caller;
import io.ebbfs.namenode.rpc.client.ClientFrontEnd;
import io.ebbfs.namenode.rpc.client.DirectCalls;
import io.ebbfs.namenode.rpc.client.FileServices;
import io.ebbfs.namenode.rpc.client.ReadOnlyGuard;
import io.ebbfs.namenode.rpc.server.LaterException;
import io.ebbfs.namenode.rpc.server.MethodHandler;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.permission.AclEntry;
import org.apache.hadoop.hdfs.protocol.Block;
import org.apache.hadoop.hdfs.protocol.proto.AclProtos.FsPermissionProto;
import org.apache.hadoop.hdfs.protocol.proto.ClientNamenodeProtocolProtos.AddBlockFlagProto;
import org.apache.hadoop.hdfs.protocol.proto.ClientNamenodeProtocolProtos.AddBlockRequestProto;
import org.apache.hadoop.hdfs.protocol.proto.ClientNamenodeProtocolProtos.AddBlockResponseProto;
import org.apache.hadoop.hdfs.protocol.proto.ClientNamenodeProtocolProtos.ClientNamenodeProtocol;
import org.apache.hadoop.hdfs.protocol.proto.ClientNamenodeProtocolProtos.CompleteRequestProto;
import org.apache.hadoop.hdfs.protocol.proto.ClientNamenodeProtocolProtos.CreateRequestProto;
import org.apache.hadoop.hdfs.protocol.proto.ClientNamenodeProtocolProtos.CreateResponseProto;
import org.apache.hadoop.hdfs.protocol.proto.ClientNamenodeProtocolProtos.DeleteRequestProto;
import org.apache.hadoop.hdfs.protocol.proto.ClientNamenodeProtocolProtos.GetBlockLocationsRequestProto;
import org.apache.hadoop.hdfs.protocol.proto.ClientNamenodeProtocolProtos.GetFileInfoRequestProto;
import org.apache.hadoop.hdfs.protocol.proto.ClientNamenodeProtocolProtos.GetListingRequestProto;
import org.apache.hadoop.hdfs.protocol.proto.ClientNamenodeProtocolProtos.MkdirsRequestProto;
import org.apache.hadoop.hdfs.protocol.proto.ClientNamenodeProtocolProtos.Rename2RequestProto;
import org.apache.hadoop.hdfs.protocol.proto.ClientNamenodeProtocolProtos.RenameRequestProto;
import org.apache.hadoop.hdfs.protocol.proto.ClientNamenodeProtocolProtos.RenewLeaseRequestProto;
import org.apache.hadoop.hdfs.protocol.proto.ClientNamenodeProtocolProtos.SetPermissionRequestProto;
import org.apache.hadoop.hdfs.protocol.proto.ClientNamenodeProtocolProtos.SetReplicationRequestProto;
import org.apache.hadoop.hdfs.protocol.proto.HdfsProtos.DatanodeIDProto;
import org.apache.hadoop.hdfs.protocol.proto.HdfsProtos.DatanodeInfoProto;
import org.apache.hadoop.hdfs.protocol.proto.HdfsProtos.LocatedBlockProto;
import org.apache.hadoop.hdfs.protocolPB.ClientNamenodeProtocolServerSideTranslatorPB;
import org.apache.hadoop.hdfs.protocolPB.PBHelperClient;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.thirdparty.protobuf.BlockingService;
import org.apache.hadoop.thirdparty.protobuf.ByteString;
import org.apache.hadoop.thirdparty.protobuf.Descriptors.MethodDescriptor;
import org.apache.hadoop.thirdparty.protobuf.Message;
import org.apache.hadoop.thirdparty.protobuf.ServiceException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * A namenode that answers directly gives the bytes, and the exceptions, of one that answers by
 * Hadoop's classes: both get the same random calls.
 */
class DirectCallsTest {
  private static final int SERVERS = 4;
  private static final int ROUNDS = 10;
  private static final int CALLS = 400;

  private static final List<String> PATHS =
      List.of("/a", "/b", "/a/x", "/a/y", "/b/\u00e4\u4e2d", "/a/x/f", "/b/f", "/f", "/", "no");

  /** One of the two namenodes. */
  private static final class World {
    private final NamespaceFixture real = new NamespaceFixture();
    private final SimulatedDatanodes datanodes = new SimulatedDatanodes(real, SERVERS);
    private final FileServices files =
        new FileServices(
            real.mkdirs,
            real.attributes,
            real.acls,
            real.xattrs,
            real.quotas,
            null,
            null,
            new ErasureCodingService(real.store, real.clock),
            real.inodes,
            real.renames,
            real.deletions,
            real.creation,
            null,
            real.truncation,
            real.concat,
            real.writes,
            real.reads,
            real.replication,
            real.summaries,
            null,
            real.leases,
            real.recovery,
            null,
            null);

    World() throws IOException {}
  }

  /** What a namenode has answered: bytes, or an exception. */
  private record Outcome(ByteString bytes, String failure) {}

  private final long seed = Long.getLong("seed", new Random().nextLong());
  private final Random random = new Random(seed);
  private final Map<String, Integer> answered = new HashMap<>();
  private final Map<String, Long> fileIds = new HashMap<>();
  private final Map<String, LocatedBlockProto> lastBlocks = new HashMap<>();
  private World objects;
  private World bytes;
  private BlockingService ofObjects;
  private BlockingService ofBytes;
  private Caller.Superuser superuser;
  private Map<String, MethodHandler> direct;

  @BeforeEach
  void start() throws IOException {
    System.out.println("seed " + seed);
    fileIds.clear();
    lastBlocks.clear();
    objects = new World();
    bytes = new World();
    superuser =
        new Caller.Superuser(
            UserGroupInformation.getCurrentUser().getShortUserName(), "supergroup");
    ofObjects = translator(objects);
    ofBytes = translator(bytes);
    direct =
        ReadOnlyGuard.of(
            new DirectCalls(bytes.files, superuser, bytes.real.identity.blockPoolId()).handlers(),
            bytes.real.cluster::isReadOnly);
  }

  private BlockingService translator(World world) throws IOException {
    ClientFrontEnd calls =
        new ClientFrontEnd(
            world.files, world.real.blocks, null, world.real.cluster, null, superuser, null);
    return ClientNamenodeProtocol.newReflectiveBlockingService(
        new ClientNamenodeProtocolServerSideTranslatorPB(
            ReadOnlyGuard.of(calls, world.real.cluster::isReadOnly)));
  }

  @Test
  void bothWaysAnswerTheSame() throws Exception {
    for (int round = 0; round < ROUNDS; round++) {
      start();
      for (int i = 0; i < CALLS; i++) {
        objects.real.clock.advance(3);
        bytes.real.clock.advance(3);
        step();
      }
    }
    assertThat(answered.keySet())
        .as("methods that have succeeded, seed %d", seed)
        .containsAll(direct.keySet());
  }

  @Test
  void anOperatorsSafeModeRefusesChangesBothWays() throws Exception {
    objects.real.cluster.setSafeMode(true);
    bytes.real.cluster.setSafeMode(true);
    for (int i = 0; i < CALLS; i++) {
      step();
    }
    assertThat(answered.keySet())
        .as("methods that have succeeded")
        .isSubsetOf("getFileInfo", "getListing", "getBlockLocations", "renewLease");
  }

  private String path() {
    return PATHS.get(random.nextInt(PATHS.size()));
  }

  private String client() {
    return "client-" + random.nextInt(2);
  }

  private FsPermissionProto permission() {
    return FsPermissionProto.newBuilder().setPerm(random.nextInt(02000)).build();
  }

  private void step() throws Exception {
    String path = path();
    switch (random.nextInt(15)) {
      case 0 -> call("mkdirs", mkdirs(path));
      case 1 -> {
        if (random.nextInt(3) == 0) {
          call(
              "delete",
              DeleteRequestProto.newBuilder()
                  .setSrc(path)
                  .setRecursive(random.nextBoolean())
                  .build());
        }
      }
      case 2 -> rename(path);
      case 3 ->
          call(
              "setPermission",
              SetPermissionRequestProto.newBuilder()
                  .setSrc(path)
                  .setPermission(permission())
                  .build());
      case 4 ->
          call(
              "setReplication",
              SetReplicationRequestProto.newBuilder()
                  .setSrc(path)
                  .setReplication(random.nextInt(5))
                  .build());
      case 5 ->
          call("renewLease", RenewLeaseRequestProto.newBuilder().setClientName(client()).build());
      case 6 -> call("getFileInfo", GetFileInfoRequestProto.newBuilder().setSrc(path).build());
      case 7 -> call("getListing", listing(path));
      case 8 ->
          call(
              "getBlockLocations",
              GetBlockLocationsRequestProto.newBuilder()
                  .setSrc(path)
                  .setOffset(random.nextInt(100) - 5)
                  .setLength(random.nextInt(3) == 0 ? Long.MAX_VALUE : random.nextInt(100))
                  .build());
      case 9, 10 -> create(path);
      case 11, 12 -> addBlock(path);
      case 13 -> list(path);
      default -> complete(path);
    }
  }

  /** A list of access control, which shows in the answers of other calls. */
  private void list(String path) {
    List<AclEntry> entries =
        AclEntry.parseAclSpec(
            random.nextBoolean() ? "user:ann:rwx" : "default:group:crew:r-x", true);
    for (World world : List.of(objects, bytes)) {
      try {
        world.real.acls.set(world.real.root(), path, List.of());
        world.real.acls.modify(world.real.root(), path, entries);
      } catch (IOException | RuntimeException e) {
        // there is no such file or directory, or it is a file
      }
    }
  }

  private void rename(String path) throws Exception {
    if (random.nextBoolean()) {
      call("rename", RenameRequestProto.newBuilder().setSrc(path).setDst(path()).build());
      return;
    }
    call(
        "rename2",
        Rename2RequestProto.newBuilder()
            .setSrc(path)
            .setDst(path())
            .setOverwriteDest(random.nextBoolean())
            .build());
  }

  private MkdirsRequestProto mkdirs(String path) {
    MkdirsRequestProto.Builder request =
        MkdirsRequestProto.newBuilder()
            .setSrc(path)
            .setMasked(permission())
            .setCreateParent(random.nextBoolean());
    if (random.nextBoolean()) {
      request.setUnmasked(permission());
    }
    return request.build();
  }

  private GetListingRequestProto listing(String path) {
    return GetListingRequestProto.newBuilder()
        .setSrc(path)
        .setStartAfter(ByteString.copyFromUtf8(random.nextBoolean() ? "" : "f"))
        .setNeedLocation(random.nextInt(4) == 0)
        .build();
  }

  private void create(String path) throws Exception {
    Outcome made =
        call(
            "create",
            CreateRequestProto.newBuilder()
                .setSrc(path)
                .setMasked(permission())
                .setUnmasked(permission())
                .setEcPolicyName(random.nextInt(10) == 0 ? "RS-6-3-1024k" : "")
                .setClientName("client-0")
                .setCreateFlag(1 + random.nextInt(3) + (random.nextInt(4) == 0 ? 0x80 : 0))
                .setCreateParent(random.nextBoolean())
                .setReplication(1 + random.nextInt(3))
                .setBlockSize(1 << 20)
                .build());
    if (made.bytes() != null) {
      fileIds.put(path, CreateResponseProto.parseFrom(made.bytes()).getFs().getFileId());
      lastBlocks.remove(path);
    }
  }

  private void addBlock(String path) throws Exception {
    AddBlockRequestProto.Builder request =
        AddBlockRequestProto.newBuilder().setSrc(path).setClientName("client-0");
    if (fileIds.containsKey(path)) {
      request.setFileId(fileIds.get(path));
    }
    if (lastBlocks.containsKey(path) && random.nextInt(10) > 0) {
      request.setPrevious(lastBlocks.get(path).getB());
    }
    if (random.nextBoolean()) {
      request.addFavoredNodes("localhost:" + (1000 + random.nextInt(SERVERS + 1)));
    }
    if (random.nextInt(4) == 0) {
      request.addFlags(AddBlockFlagProto.forNumber(1 + random.nextInt(2)));
    }
    for (int i = 0; i < SERVERS; i++) {
      if (random.nextInt(6) == 0) {
        request.addExcludeNodes(excluded("server-" + i));
      }
    }
    Outcome added = call("addBlock", request.build());
    if (added.bytes() != null) {
      LocatedBlockProto block = AddBlockResponseProto.parseFrom(added.bytes()).getBlock();
      lastBlocks.put(path, written(block, random.nextInt(50)));
    }
  }

  private static DatanodeInfoProto excluded(String uuid) {
    return DatanodeInfoProto.newBuilder()
        .setId(
            DatanodeIDProto.newBuilder()
                .setDatanodeUuid(uuid)
                .setIpAddr("127.0.0.1")
                .setHostName("localhost")
                .setXferPort(1)
                .setInfoPort(2)
                .setIpcPort(3))
        .build();
  }

  /** The client has written a block, and most servers report the block. */
  private LocatedBlockProto written(LocatedBlockProto block, long length) throws IOException {
    LocatedBlockProto full =
        block.toBuilder().setB(block.getB().toBuilder().setNumBytes(length)).build();
    if (random.nextInt(3) > 0) {
      Block replica = PBHelperClient.convert(full.getB()).getLocalBlock();
      String[] storages = full.getStorageIDsList().toArray(String[]::new);
      String[] some = Arrays.copyOf(storages, 1 + random.nextInt(storages.length));
      objects.datanodes.report(replica, some);
      bytes.datanodes.report(replica, some);
    }
    return full;
  }

  private void complete(String path) throws Exception {
    CompleteRequestProto.Builder request =
        CompleteRequestProto.newBuilder()
            .setSrc(path)
            .setClientName(random.nextInt(8) == 0 ? "client-1" : "client-0");
    if (fileIds.containsKey(path)) {
      request.setFileId(fileIds.get(path));
    }
    if (lastBlocks.containsKey(path)) {
      request.setLast(lastBlocks.get(path).getB());
    }
    call("complete", request.build());
  }

  // ---- both ways

  private Outcome call(String method, Message request) throws Exception {
    Outcome expected = byObjects(ofObjects, method, request);
    Outcome found;
    try {
      found = byBytes(() -> answer(method, request));
    } catch (LaterException later) {
      // Hadoop's way has no wait: the client asks again.
      later.event().toCompletableFuture().get();
      expected = byObjects(ofObjects, method, request);
      found = byBytes(later.rest());
    }
    assertThat(found).as("%s of %s, seed %d", method, request, seed).isEqualTo(expected);
    if (found.bytes() != null) {
      answered.merge(method, 1, Integer::sum);
    }
    return found;
  }

  /** The request stands in the middle of a frame. */
  private byte[] answer(String method, Message request) throws IOException {
    byte[] message = request.toByteArray();
    byte[] frame = new byte[message.length + 8];
    System.arraycopy(message, 0, frame, 3, message.length);
    return direct.get(method).answer(frame, 3, message.length);
  }

  private static Outcome byBytes(LaterException.Rest call) {
    try {
      return new Outcome(ByteString.copyFrom(call.run()), null);
    } catch (LaterException e) {
      throw e;
    } catch (FileNotFoundException | FileAlreadyExistsException e) {
      assertThat(e.getStackTrace()).as("the costly part of %s", e.getMessage()).isEmpty();
      return new Outcome(null, e.toString());
    } catch (IOException | RuntimeException e) {
      return new Outcome(null, e.toString());
    }
  }

  private static Outcome byObjects(BlockingService translator, String method, Message request) {
    MethodDescriptor descriptor = translator.getDescriptorForType().findMethodByName(method);
    try {
      Message answer = translator.callBlockingMethod(descriptor, null, request);
      return new Outcome(answer.toByteString(), null);
    } catch (ServiceException e) {
      return new Outcome(null, e.getCause().toString());
    } catch (RuntimeException e) {
      return new Outcome(null, e.toString());
    }
  }
}
