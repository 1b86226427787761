package io.ebbfs.manager.model;

import io.ebbfs.coding.code.CodeFamily;
import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.coding.code.Codes;
import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.coding.packing.StripePacker;
import io.ebbfs.protocol.CodingProtocol;
import io.ebbfs.protocol.proto.CodingProtos.*;
import io.ebbfs.protocol.proto.StoreProtos.*;
import io.ebbfs.protocol.proto.StoreProtos.PinProto;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.apache.hadoop.hdfs.protocol.proto.HdfsProtos.DatanodeIDProto;
import org.apache.hadoop.thirdparty.protobuf.ByteString;
import org.apache.hadoop.thirdparty.protobuf.RpcController;
import org.apache.hadoop.thirdparty.protobuf.ServiceException;

/**
 * The namenode's side of CodingProtocol as the manager sees it, in memory: files, stripes with
 * exact parity lengths, and transitions that a test completes or fails one by one.
 */
public final class ModelNamenode implements CodingProtocol {
  private static final int REPLICATION = 3;
  private static final long ROOT_ID = 16385;

  /** By uuid: the servers that are to leave. */
  public final Map<String, DrainStatusProto> drains = new TreeMap<>();

  /** By uuid: the servers that hibernate. */
  public final Map<String, HibernationStatusProto> hibernations = new TreeMap<>();

  /** Whether the disks are levelled. */
  public boolean rebalances;

  /** Why the drain of a server is refused, by its uuid. */
  public final Map<String, String> drainRefusals = new TreeMap<>();

  /** A file. Its unencoded blocks are replicated, its other blocks are members of stripes. */
  public static final class ModelFile {
    public final long id;
    public String path;
    public final long[] lengths;
    public long modifiedMillis;
    public boolean underConstruction;
    public String owner = "o";
    public String group = "g";
    public PinProto pin;

    /** 0 as a namenode of a former version that does not tell it. */
    public int replication = (int) REPLICATION;

    /** Its client has encoded the file, with half as many parities as data. */
    public boolean clientStriped;

    long releasedMillis;
    public final long[] stripeOfBlock;
    final long[] transitionOfBlock;

    ModelFile(long id, String path, long[] lengths, long modifiedMillis) {
      this.id = id;
      this.path = path;
      this.lengths = lengths;
      this.modifiedMillis = modifiedMillis;
      this.stripeOfBlock = new long[lengths.length];
      this.transitionOfBlock = new long[lengths.length];
    }
  }

  record Data(long fileId, int index, long length, boolean dead) {}

  /** A stripe; data by position. */
  public static final class ModelStripe {
    public final long id;
    public final ErasureCode code;
    public final String policy;
    public final long group;
    public final int slot;
    public final Map<Integer, Data> data;
    public long transition;
    public boolean lost;
    long createdMillis;

    ModelStripe(
        long id, ErasureCode code, String policy, long group, int slot, Map<Integer, Data> data) {
      this.id = id;
      this.code = code;
      this.policy = policy;
      this.group = group;
      this.slot = slot;
      this.data = data;
    }

    public long live() {
      return data.values().stream().filter(d -> !d.dead).mapToLong(Data::length).sum();
    }

    public long dead() {
      return data.values().stream().filter(d -> d.dead).mapToLong(Data::length).sum();
    }

    public long parity() {
      long bytes = 0;
      for (int p = code.dataCount(); p < code.size(); p++) {
        bytes += parityBytes(p);
      }
      return bytes;
    }

    private long parityBytes(int position) {
      return code.lengthBytes(position, i -> data.containsKey(i) ? data.get(i).length : 0);
    }
  }

  public final Map<Long, ModelFile> files = new TreeMap<>();
  public final Map<Long, ModelStripe> stripes = new TreeMap<>();

  /** The ids of directories by path, the root left out; each has some file below it, or had. */
  public final Map<String, Long> directories = new TreeMap<>();

  /** The pins of directories by id. */
  public final Map<Long, PinProto> pins = new TreeMap<>();

  public final Map<Long, TransitionRow> transitions = new TreeMap<>();
  private final Map<Long, List<Map<Integer, Data>>> encodings = new TreeMap<>();
  public final List<DecisionProto> proposed = new ArrayList<>();
  public int servers = 12;

  /** Free space that one disk has in addition. */
  public long freedBytes;

  public int disksPerServer = 6;
  public boolean safeMode;
  public int deadServer = -1;
  public int emptyServer = -1;
  public boolean failedDisk;
  public boolean down;

  /** Proposals take effect, and their answers are lost. */
  public boolean losesAnswers;

  public long nowMillis;
  public String worker = "job-1";

  /** How often changes were lost. */
  public long changesLost;

  /** Publishes a mark in the change stream. */
  public java.util.function.Consumer<String> marks = mark -> {};

  private long nextId = 1;
  private long nextDirectoryId = 1_000_000;

  public synchronized ModelFile addFile(String path, long modifiedMillis, long... lengths) {
    directoryOf(path);
    ModelFile file = new ModelFile(nextId++, path, lengths, modifiedMillis);
    files.put(file.id, file);
    return file;
  }

  private long directoryOf(String path) {
    String parent = path.substring(0, path.lastIndexOf('/'));
    if (parent.isEmpty()) {
      return ROOT_ID;
    }
    directoryOf(parent);
    return directories.computeIfAbsent(parent, p -> nextDirectoryId++);
  }

  /** Moves a directory with all that is below it. */
  public synchronized void rename(String from, String to) {
    directoryOf(to);
    for (String path : List.copyOf(directories.keySet())) {
      if (path.equals(from) || path.startsWith(from + "/")) {
        directories.put(to + path.substring(from.length()), directories.remove(path));
      }
    }
    for (ModelFile file : files.values()) {
      if (file.path.startsWith(from + "/")) {
        file.path = to + file.path.substring(from.length());
      }
    }
  }

  /** Deletes a directory with all that is below it. */
  public synchronized void deleteTree(String path) {
    List.copyOf(files.values()).stream()
        .filter(file -> file.path.startsWith(path + "/"))
        .forEach(file -> delete(file.id));
    directories.keySet().removeIf(d -> d.equals(path) || d.startsWith(path + "/"));
  }

  /** Deletes a file: its blocks in stripes become tombstones. */
  public synchronized void delete(long fileId) {
    files.remove(fileId);
    for (ModelStripe stripe : stripes.values()) {
      stripe.data.replaceAll(
          (p, d) -> d.fileId == fileId ? new Data(fileId, d.index, d.length, true) : d);
    }
    stripes.values().removeIf(s -> s.live() == 0 && s.transition == 0);
  }

  /** Deletes the file with a block at this data position of a stripe. */
  public synchronized void deleteAt(long stripeId, int position) {
    delete(stripes.get(stripeId).data.get(position).fileId);
  }

  /**
   * Appends: the last block leaves its stripe, where a tombstone stays, and is longer afterwards.
   */
  public synchronized void append(long fileId, long bytes) {
    ModelFile file = files.get(fileId);
    int last = file.lengths.length - 1;
    for (ModelStripe stripe : stripes.values()) {
      stripe.data.replaceAll(
          (p, d) ->
              d.fileId == fileId && d.index == last ? new Data(fileId, last, d.length, true) : d);
    }
    stripes.values().removeIf(s -> s.live() == 0 && s.transition == 0);
    file.lengths[last] += bytes;
    file.stripeOfBlock[last] = 0;
    file.modifiedMillis = nowMillis;
  }

  public synchronized List<Long> activeIds() {
    return transitions.values().stream()
        .filter(t -> t.getState().getNumber() <= TransitionStateProto.RUNNING_VALUE)
        .map(TransitionRow::getId)
        .toList();
  }

  public synchronized void run(long id) {
    transitions.computeIfPresent(
        id,
        (i, t) ->
            t.toBuilder()
                .setState(TransitionStateProto.RUNNING)
                .setWorker(worker)
                .setAttempt(t.getAttempt() + 1)
                .setUpdatedMillis(nowMillis)
                .build());
  }

  public synchronized void fail(long id, String reason) {
    TransitionRow row = transitions.get(id);
    release(row);
    transitions.put(
        id,
        row.toBuilder()
            .setState(TransitionStateProto.FAILED)
            .setFailure(reason)
            .setUpdatedMillis(nowMillis)
            .build());
  }

  /**
   * Ends a transition that found no place for its blocks. As in the namenode, its row tells what
   * was missing and what the cluster had.
   */
  public synchronized void failForLack(long id, TransitionStateProto state, long missingBytes)
      throws ServiceException {
    fail(id, "no place");
    int disks = 0;
    long free = 0;
    var servers = getCluster(null, GetClusterRequestProto.getDefaultInstance()).getServersList();
    for (var server : servers) {
      disks += server.getStoragesCount();
      free += server.getStoragesList().stream().mapToLong(s -> s.getRemainingBytes()).sum();
    }
    transitions.put(
        id,
        transitions.get(id).toBuilder()
            .setState(state)
            .setMissingBytes(missingBytes)
            .setClusterServers(servers.size())
            .setClusterDisks(disks)
            .setClusterFreeBytes(free)
            .build());
  }

  private void release(TransitionRow row) {
    for (ModelFile file : files.values()) {
      for (int i = 0; i < file.transitionOfBlock.length; i++) {
        if (file.transitionOfBlock[i] == row.getId()) {
          file.transitionOfBlock[i] = 0;
        }
      }
    }
    row.getStripesList()
        .forEach(
            s -> {
              if (stripes.containsKey(s.getStripeId())) {
                stripes.get(s.getStripeId()).transition = 0;
              }
            });
  }

  private static CodeFamily family(ErasureCode code) {
    return CodeRegistry.builtIn().familyOf(code.name()).orElse(CodeFamily.single(code));
  }

  public synchronized void complete(long id) {
    TransitionRow row = transitions.get(id);
    release(row);
    ErasureCode to = Codes.byName(row.getToCode());
    CodeFamily family = family(to);
    if (row.getKind() == TransitionKindProto.ENCODE) {
      List<Map<Integer, Data>> packed = encodings.remove(id);
      long group =
          packed.size() > 1 || family.groupSize() > 1 && to == family.fastCode() ? nextId++ : 0;
      for (int slot = 0; slot < packed.size(); slot++) {
        Map<Integer, Data> data = packed.get(slot);
        data.values().removeIf(d -> !files.containsKey(d.fileId));
        addStripe(to, row.getPolicy(), group, slot, data);
      }
    } else if (row.getKind() == TransitionKindProto.SUBTRACT) {
      ModelStripe stripe = stripes.get(row.getStripes(0).getStripeId());
      stripe.data.values().removeIf(Data::dead);
    } else if (row.hasGroupFileId()) {
      files.get(row.getGroupFileId()).clientStriped = false;
      files.get(row.getGroupFileId()).releasedMillis = nowMillis;
    } else if (row.getKind() == TransitionKindProto.RELEASE) {
      makeReplicas(row.getStripes(0));
    } else if (row.getKind() == TransitionKindProto.REWRITE) {
      rewrite(row, to, family);
    } else if (row.getKind() == TransitionKindProto.UPCODE) {
      Map<Integer, Data> merged = new TreeMap<>();
      row.getStripesList()
          .forEach(
              s -> {
                ModelStripe stripe = stripes.remove(s.getStripeId());
                int offset = stripe.slot * family.fastCode().dataCount();
                stripe.data.forEach((p, d) -> merged.put(offset + p, d));
              });
      addStripe(to, row.getPolicy(), 0, 0, merged);
    } else {
      ModelStripe stripe = stripes.remove(row.getStripes(0).getStripeId());
      long group = family.groupSize() > 1 ? nextId++ : 0;
      for (int slot = 0; slot < family.groupSize(); slot++) {
        Map<Integer, Data> part = new TreeMap<>();
        int offset = slot * family.fastCode().dataCount();
        stripe.data.forEach(
            (p, d) -> {
              if (p >= offset && p < offset + family.fastCode().dataCount()) {
                part.put(p - offset, d);
              }
            });
        addStripe(to, row.getPolicy(), group, slot, part);
      }
    }
    transitions.put(
        id,
        row.toBuilder()
            .setState(TransitionStateProto.DONE)
            .setWorker(worker)
            .setUpdatedMillis(nowMillis)
            .setBytesRead(1000)
            .setBytesWritten(500)
            .setBlocksRead(3)
            .build());
  }

  /** Takes blocks out of a stripe, and its deleted blocks with them. */
  private void makeReplicas(TransitionStripeProto released) {
    ModelStripe stripe = stripes.get(released.getStripeId());
    for (int position : released.getPositionsList()) {
      Data data = stripe.data.remove(position);
      ModelFile file = files.get(data.fileId);
      if (file != null) {
        file.stripeOfBlock[data.index] = 0;
        file.releasedMillis = nowMillis;
      }
    }
    stripe.data.values().removeIf(Data::dead);
    if (stripe.data.isEmpty()) {
      stripes.remove(stripe.id);
    }
  }

  private void rewrite(TransitionRow row, ErasureCode code, CodeFamily family) {
    List<Data> live = new ArrayList<>();
    for (TransitionStripeProto planned : row.getStripesList()) {
      ModelStripe stripe = stripes.remove(planned.getStripeId());
      stripe.data.values().stream().filter(d -> !d.dead).forEach(live::add);
    }
    live.sort(Comparator.comparingLong(Data::length).reversed());
    int together = code == family.fastCode() ? family.groupSize() : 1;
    long group = 0;
    for (int s = 0; s * code.dataCount() < live.size(); s++) {
      int first = s * code.dataCount();
      List<Data> blocks = live.subList(first, Math.min(live.size(), first + code.dataCount()));
      Map<Integer, Data> data = new TreeMap<>();
      for (int i = 0; i < blocks.size(); i++) {
        data.put(StripePacker.positionsFor(code, blocks.size()).get(i), blocks.get(i));
      }
      group = together > 1 && s % together == 0 ? nextId++ : group;
      addStripe(code, row.getPolicy(), group, s % together, data);
    }
  }

  private void addStripe(
      ErasureCode code, String policy, long group, int slot, Map<Integer, Data> data) {
    if (data.values().stream().allMatch(Data::dead)) {
      return;
    }
    ModelStripe stripe = new ModelStripe(nextId++, code, policy, group, slot, data);
    stripe.createdMillis = nowMillis;
    stripes.put(stripe.id, stripe);
    data.values().stream()
        .filter(d -> !d.dead)
        .forEach(d -> files.get(d.fileId).stripeOfBlock[d.index] = stripe.id);
  }

  public synchronized void completeAll(Random order) {
    List<Long> ids = new ArrayList<>(activeIds());
    java.util.Collections.shuffle(ids, order);
    ids.forEach(this::complete);
  }

  // ---- the protocol -------------------------------------------------------------------------

  private void check() throws ServiceException {
    if (down) {
      throw new ServiceException("connection refused");
    }
  }

  @Override
  public synchronized ListFilesResponseProto listFiles(
      RpcController controller, ListFilesRequestProto request) throws ServiceException {
    check();
    long after = request.hasCursor() ? Long.parseLong(request.getCursor().toStringUtf8()) : -1;
    int limit = request.hasLimit() ? request.getLimit() : 100;
    ListFilesResponseProto.Builder page = ListFilesResponseProto.newBuilder();
    directories.forEach(
        (path, id) -> {
          if (request.getInodeIdsList().contains(id) || request.getWithDirectories() && after < 0) {
            DirectoryStatusProto.Builder directory =
                DirectoryStatusProto.newBuilder()
                    .setDirectoryId(id)
                    .setParentId(directoryOf(path))
                    .setPath(path);
            if (pins.containsKey(id)) {
              directory.setPin(pins.get(id));
            }
            page.addDirectories(directory);
          }
        });
    if (request.getInodeIdsCount() > 0) {
      files.values().stream()
          .filter(file -> request.getInodeIdsList().contains(file.id))
          .forEach(file -> page.addFiles(status(file)));
      return page.build();
    }
    for (ModelFile file : files.values()) {
      boolean below =
          !request.hasPath()
              || request.getPath().equals("/")
              || file.path.equals(request.getPath())
              || file.path.startsWith(request.getPath() + "/");
      if (file.id <= after || !below) {
        continue;
      }
      if (page.getFilesCount() == limit) {
        long last = page.getFiles(limit - 1).getFileId();
        return page.setCursor(ByteString.copyFromUtf8(Long.toString(last))).build();
      }
      page.addFiles(status(file));
    }
    return page.build();
  }

  private FileStatusProto status(ModelFile file) {
    long length = 0;
    long unencoded = 0;
    int striped = 0;
    FileStatusProto.Builder status = FileStatusProto.newBuilder();
    for (int i = 0; i < file.lengths.length; i++) {
      length += file.lengths[i];
      if (file.stripeOfBlock[i] != 0) {
        striped++;
        if (!status.getStripeIdsList().contains(file.stripeOfBlock[i])) {
          status.addStripeIds(file.stripeOfBlock[i]);
        }
      } else {
        unencoded += file.lengths[i];
        if (file.transitionOfBlock[i] != 0) {
          status.setTransitionId(file.transitionOfBlock[i]);
        }
      }
    }
    if (file.pin != null) {
      status.setPin(file.pin);
    }
    if (file.releasedMillis > 0) {
      status.setReleasedMillis(file.releasedMillis);
    }
    if (file.replication > 0) {
      status.setReplication(file.replication);
    }
    if (file.clientStriped) {
      status.setPin(PinProto.REPLICAS).setGroupStoredBytes(length * 3 / 2);
      unencoded = 0;
    }
    return status
        .setFileId(file.id)
        .setPath(file.path)
        .setParentId(directoryOf(file.path))
        .setOwner(file.owner)
        .setGroup(file.group)
        .setLengthBytes(length)
        .setModifiedMillis(file.modifiedMillis)
        .setUnderConstruction(file.underConstruction)
        .setBlocks(file.lengths.length)
        .setStripedBlocks(striped)
        .setStoredBytes(length - unencoded + unencoded * REPLICATION)
        .setReplicatedBytes(unencoded)
        .setReplicatedStoredBytes(unencoded * REPLICATION)
        .build();
  }

  @Override
  public synchronized ListStripesResponseProto listStripes(
      RpcController controller, ListStripesRequestProto request) throws ServiceException {
    check();
    long after = request.hasCursor() ? Long.parseLong(request.getCursor().toStringUtf8()) : -1;
    ListStripesResponseProto.Builder page = ListStripesResponseProto.newBuilder();
    if (request.getStripeIdsCount() > 0) {
      stripes.values().stream()
          .filter(stripe -> request.getStripeIdsList().contains(stripe.id))
          .forEach(stripe -> page.addStripes(status(stripe)));
      return page.build();
    }
    for (ModelStripe stripe : stripes.values()) {
      if (stripe.id <= after) {
        continue;
      }
      if (page.getStripesCount() == request.getLimit()) {
        long last = page.getStripes(page.getStripesCount() - 1).getStripe().getId();
        return page.setCursor(ByteString.copyFromUtf8(Long.toString(last))).build();
      }
      page.addStripes(status(stripe));
    }
    return page.build();
  }

  private static StripeStatusProto status(ModelStripe stripe) {
    StripeRow.Builder row =
        StripeRow.newBuilder()
            .setId(stripe.id)
            .setCode(stripe.code.name())
            .setUnitLengthBytes(
                stripe.data.values().stream().mapToLong(Data::length).max().orElse(0))
            .setGeneration(1)
            .setPolicy(stripe.policy)
            .setCreatedMillis(stripe.createdMillis);
    if (stripe.group != 0) {
      row.setGroupId(stripe.group).setGroupSlot(stripe.slot);
    }
    stripe.data.forEach(
        (position, d) ->
            row.addMembers(
                StripeMemberProto.newBuilder()
                    .setPosition(position)
                    .setBlockId(1)
                    .setGenerationStamp(1)
                    .setLengthBytes(d.length)
                    .setOwnerId(d.dead ? stripe.id : d.fileId)
                    .setOwnerIndex(d.index)
                    .setTombstone(d.dead)));
    for (int position = stripe.code.dataCount(); position < stripe.code.size(); position++) {
      row.addMembers(
          StripeMemberProto.newBuilder()
              .setPosition(position)
              .setBlockId(1)
              .setGenerationStamp(1)
              .setLengthBytes(stripe.parityBytes(position))
              .setOwnerId(stripe.id)
              .setOwnerIndex(position)
              .setTombstone(false));
    }
    StripeStatusProto.Builder status =
        StripeStatusProto.newBuilder()
            .setStripe(row)
            .setLiveBytes(stripe.live())
            .setDeadBytes(stripe.dead())
            .setParityBytes(stripe.parity());
    if (stripe.transition != 0) {
      status.setTransitionId(stripe.transition);
    }
    if (stripe.lost) {
      status.addLostPositions(0);
    }
    return status.build();
  }

  @Override
  public synchronized GetClusterResponseProto getCluster(
      RpcController controller, GetClusterRequestProto request) throws ServiceException {
    check();
    GetClusterResponseProto.Builder cluster = GetClusterResponseProto.newBuilder();
    for (int s = 0; s < servers; s++) {
      ServerStatusProto.Builder server =
          ServerStatusProto.newBuilder()
              .setServer(
                  DatanodeIDProto.newBuilder()
                      .setIpAddr("127.0.0.1")
                      .setHostName("server-" + s)
                      .setDatanodeUuid("uuid-" + s)
                      .setXferPort(9000 + s)
                      .setInfoPort(0)
                      .setIpcPort(9100 + s))
              .setLive(s != deadServer)
              .setLastHeartbeatMillis(nowMillis);
      if (drains.containsKey("uuid-" + s)) {
        server.setDrain(drains.get("uuid-" + s));
      }
      if (hibernations.containsKey("uuid-" + s)) {
        server.setHibernation(hibernations.get("uuid-" + s));
      }
      for (int d = 0; d < disksPerServer; d++) {
        server.addStorages(
            StorageStatusProto.newBuilder()
                .setStorageUuid("disk-" + s + "-" + d)
                .setFailed(failedDisk && s == 2 && d == 3)
                .setCapacityBytes(1L << 34)
                .setUsedBytes(s == emptyServer ? 0 : (1L << 30) * (1 + (s * 7 + d * 3) % 9))
                .setRemainingBytes((1L << 33) + (s == 0 && d == 0 ? freedBytes : 0))
                .setBlocks(s == emptyServer ? 0 : 100 + s + d));
      }
      cluster.addServers(server);
    }
    long logical = 0;
    long stored = 0;
    for (ModelFile file : files.values()) {
      logical += status(file).getLengthBytes();
      stored += status(file).getStoredBytes();
    }
    for (ModelStripe stripe : stripes.values()) {
      stored += stripe.parity() + stripe.dead();
    }
    cluster.addScans(
        ScanStatusProto.newBuilder()
            .setName("blocks")
            .setStartedMillis(100)
            .setVisited(600)
            .setCompletedMillis(60)
            .setRows(1_000));
    cluster.addScans(
        ScanStatusProto.newBuilder().setName("stripes").setStartedMillis(100).setVisited(7));
    long lost = stripes.values().stream().filter(s -> s.lost).count();
    if (request.hasChangeMark()) {
      marks.accept(request.getChangeMark());
    }
    if (scrub != null) {
      cluster.setScrub(scrub);
    }
    return cluster
        .setChangesLost(changesLost)
        .setFiles(files.size())
        .setLogicalBytes(logical)
        .setStoredBytes(stored)
        .setUnderReplicatedBlocks(0)
        .setMissingBlocks(0)
        .addAllStripesByLoss(lost == 0 ? List.of() : List.of(lost))
        .setUnrecoverableStripes(0)
        .addCounters(CountProto.newBuilder().setName("opens").setValue(7))
        .addCounters(counter("bytesMoved.ENCODE", transitions.size() * 31_000_000L))
        .addCounters(counter("bytesMoved.UPCODE", transitions.size() * 3_000_000L))
        .addCounters(counter("degradedReads.PC(6x5)", transitions.size()))
        .setSafeMode(safeMode)
        .build();
  }

  private static CountProto counter(String name, long value) {
    return CountProto.newBuilder().setName(name).setValue(value).build();
  }

  @Override
  public synchronized ProposeResponseProto propose(
      RpcController controller, ProposeRequestProto request) throws ServiceException {
    check();
    ProposeResponseProto.Builder response = ProposeResponseProto.newBuilder();
    for (DecisionProto decision : request.getDecisionsList()) {
      proposed.add(decision);
      response.addResults(
          decision.getKind() == TransitionKindProto.ENCODE ? encode(decision) : convert(decision));
    }
    if (losesAnswers) {
      throw new ServiceException("connection reset by peer");
    }
    return response.build();
  }

  private ProposedProto encode(DecisionProto decision) {
    List<Data> unencoded = new ArrayList<>();
    for (long id : decision.getFileIdsList()) {
      ModelFile file = files.get(id);
      for (int i = 0; file != null && i < file.lengths.length; i++) {
        if (file.stripeOfBlock[i] == 0 && file.transitionOfBlock[i] == 0) {
          unencoded.add(new Data(id, i, file.lengths[i], false));
        }
      }
    }
    unencoded.sort(Comparator.comparingLong(Data::length).reversed());
    if (decision.hasLongestBlocks()) {
      unencoded
          .subList(Math.min(decision.getLongestBlocks(), unencoded.size()), unencoded.size())
          .clear();
    }
    ErasureCode code = Codes.byName(decision.getToCode());
    CodeFamily family = family(code);
    int perTransition = code.dataCount() * (code == family.fastCode() ? family.groupSize() : 1);
    ProposedProto.Builder result = ProposedProto.newBuilder();
    for (int from = 0; from < unencoded.size(); from += perTransition) {
      TransitionRow.Builder row = row(decision);
      List<Map<Integer, Data>> packed = new ArrayList<>();
      for (int i = from; i < Math.min(unencoded.size(), from + perTransition); i++) {
        Data data = unencoded.get(i);
        int stripe = (i - from) / code.dataCount();
        int first = from + stripe * code.dataCount();
        int blocks = Math.min(code.dataCount(), unencoded.size() - first);
        int position = StripePacker.positionsFor(code, blocks).get(i - first);
        if (packed.size() == stripe) {
          packed.add(new TreeMap<>());
        }
        packed.get(stripe).put(position, data);
        files.get(data.fileId).transitionOfBlock[data.index] = row.getId();
        row.addBlocks(
            TransitionBlockProto.newBuilder()
                .setStripeIndex(stripe)
                .setPosition(position)
                .setOwnerId(data.fileId)
                .setOwnerIndex(data.index)
                .setBlockId(1));
      }
      encodings.put(row.getId(), packed);
      transitions.put(row.getId(), row.build());
      result.addTransitionIds(row.getId());
    }
    return result.build();
  }

  private ProposedProto convert(DecisionProto decision) {
    TransitionRow.Builder row = row(decision);
    if (decision.getKind() == TransitionKindProto.RELEASE && decision.getStripeIdsCount() == 0) {
      row.setGroupFileId(decision.getFileIds(0));
    }
    if (decision.getKind() == TransitionKindProto.SUBTRACT && decision.getStripeIdsCount() != 1) {
      return ProposedProto.newBuilder().setRefusal("the model subtracts of one stripe").build();
    }
    for (long id : decision.getStripeIdsList()) {
      ModelStripe stripe = stripes.get(id);
      if (stripe == null || stripe.transition != 0 || stripe.lost) {
        return ProposedProto.newBuilder().setRefusal("stripe " + id + " is not free").build();
      }
      stripe.transition = row.getId();
      TransitionStripeProto.Builder planned =
          TransitionStripeProto.newBuilder().setStripeId(id).setGeneration(1);
      if (decision.getKind() == TransitionKindProto.RELEASE) {
        stripe.data.forEach(
            (position, data) -> {
              if (!data.dead && decision.getFileIdsList().contains(data.fileId)) {
                planned.addPositions(position);
              }
            });
      }
      row.setFromCode(stripe.code.name()).addStripes(planned);
    }
    transitions.put(row.getId(), row.build());
    return ProposedProto.newBuilder().addTransitionIds(row.getId()).build();
  }

  private TransitionRow.Builder row(DecisionProto decision) {
    return TransitionRow.newBuilder()
        .setId(nextId++)
        .setKind(decision.getKind())
        .setState(TransitionStateProto.PLANNED)
        .setPolicy(decision.getPolicy())
        .setToCode(decision.getToCode())
        .setReason(decision.getReason())
        .setCreatedMillis(nowMillis)
        .setUpdatedMillis(nowMillis)
        .setPriority(priority(decision))
        .setAttempt(0);
  }

  private static int priority(DecisionProto decision) {
    return switch (decision.getKind()) {
      case REWRITE, SUBTRACT -> CodingProtocol.PRIORITY_FOR_BOUND;
      default -> 100;
    };
  }

  /** The last report of what is read most; null before the first. */
  public ReportHeatRequestProto heat;

  @Override
  public synchronized ReportHeatResponseProto reportHeat(
      RpcController c, ReportHeatRequestProto request) throws ServiceException {
    check();
    heat = request;
    return ReportHeatResponseProto.getDefaultInstance();
  }

  /** The parity scrub; null before its first pass. */
  public ScrubStatusProto scrub;

  @Override
  public synchronized ReportScrubResponseProto reportScrub(
      RpcController c, ReportScrubRequestProto request) throws ServiceException {
    check();
    scrub = scrub.toBuilder().setRequestedPass(request.getRequestedPass()).build();
    return ReportScrubResponseProto.getDefaultInstance();
  }

  @Override
  public CheckQuotasResponseProto checkQuotas(RpcController c, CheckQuotasRequestProto request) {
    throw new UnsupportedOperationException();
  }

  @Override
  public synchronized DrainResponseProto drain(RpcController c, DrainRequestProto request)
      throws ServiceException {
    check();
    DrainResponseProto.Builder response =
        DrainResponseProto.newBuilder()
            .setBlocks(1_234)
            .setBytes(5L << 30)
            .setEstimated(false)
            .setServersThatStay(servers - 1 - drains.size())
            .setFreeBytesThatStay(9L << 30);
    if (drainRefusals.containsKey(request.getServerUuid())) {
      return response.setRefusal(drainRefusals.get(request.getServerUuid())).build();
    }
    boolean drained = drains.containsKey(request.getServerUuid());
    if (request.getEnd() != drained) {
      return response
          .setRefusal(drained ? "it is being drained already" : "it is not drained")
          .build();
    }
    if (request.getDryRun()) {
      return response.build();
    }
    if (request.getEnd()) {
      drains.remove(request.getServerUuid());
    } else {
      drains.put(request.getServerUuid(), DrainStatusProto.newBuilder().setDrained(false).build());
    }
    return response.build();
  }

  @Override
  public synchronized HibernateResponseProto hibernate(
      RpcController c, HibernateRequestProto request) throws ServiceException {
    check();
    HibernateResponseProto.Builder response =
        HibernateResponseProto.newBuilder().setBlocks(1_234).setBlocksChecked(1_234);
    boolean sleeps = hibernations.containsKey(request.getServerUuid());
    if (request.getEnd() != sleeps) {
      return response
          .setRefusal(sleeps ? "it hibernates already" : "it does not hibernate")
          .build();
    }
    long until = nowMillis + request.getForMillis();
    if (!request.getDryRun() && sleeps) {
      hibernations.remove(request.getServerUuid());
    } else if (!request.getDryRun()) {
      hibernations.put(
          request.getServerUuid(),
          HibernationStatusProto.newBuilder().setUntilMillis(until).setReady(false).build());
    }
    return response.setUntilMillis(until).build();
  }

  @Override
  public synchronized RebalanceResponseProto rebalance(
      RpcController c, RebalanceRequestProto request) throws ServiceException {
    check();
    switch (request.getOrder()) {
      case REBALANCE_START -> rebalances = true;
      case REBALANCE_STOP -> rebalances = false;
      default -> {}
    }
    return RebalanceResponseProto.newBuilder()
        .setRunning(rebalances)
        .setThreshold(request.hasThreshold() ? request.getThreshold() : 0.1)
        .setBytesPerSecond(request.hasBytesPerSecond() ? request.getBytesPerSecond() : 20L << 20)
        .setMeanShare(0.5)
        .setBytesToMove(100L << 20)
        .setSecondsLeft(5)
        .setMovedBlocks(0)
        .setMovedBytes(0)
        .setUnderWay(0)
        .build();
  }

  @Override
  public synchronized PinResponseProto pin(RpcController c, PinRequestProto request)
      throws ServiceException {
    check();
    ModelFile file =
        files.values().stream()
            .filter(f -> f.path.equals(request.getPath()))
            .findFirst()
            .orElse(null);
    Long directory = directories.get(request.getPath());
    if (file == null && directory == null) {
      return PinResponseProto.newBuilder().setRefusal("there is no " + request.getPath()).build();
    }
    PinProto before = file == null ? pins.get(directory) : file.pin;
    PinProto pin = request.hasPin() ? request.getPin() : null;
    if (!request.getDryRun() && file != null) {
      file.pin = pin;
    } else if (!request.getDryRun()) {
      pins.put(directory, pin);
      pins.values().remove(null);
    }
    PinResponseProto.Builder response = PinResponseProto.newBuilder();
    return (before == null ? response : response.setBefore(before)).build();
  }

  @Override
  public synchronized CancelResponseProto cancel(RpcController c, CancelRequestProto request)
      throws ServiceException {
    check();
    TransitionRow row = transitions.get(request.getTransitionId());
    if (row.getState().getNumber() > TransitionStateProto.RUNNING_VALUE) {
      return CancelResponseProto.newBuilder().setRefusal("it has ended").build();
    }
    fail(row.getId(), request.getReason());
    return CancelResponseProto.getDefaultInstance();
  }

  @Override
  public synchronized ListTransitionsResponseProto listTransitions(
      RpcController controller, ListTransitionsRequestProto request) throws ServiceException {
    check();
    long after = request.hasCursor() ? Long.parseLong(request.getCursor().toStringUtf8()) : -1;
    ListTransitionsResponseProto.Builder page = ListTransitionsResponseProto.newBuilder();
    for (TransitionRow row : transitions.values()) {
      boolean wanted =
          (request.getStatesCount() == 0 || request.getStatesList().contains(row.getState()))
              && (request.getTransitionIdsCount() == 0
                  || request.getTransitionIdsList().contains(row.getId()));
      if (!wanted || row.getId() <= after) {
        continue;
      }
      if (request.hasLimit() && page.getTransitionsCount() == request.getLimit()) {
        long last = page.getTransitions(page.getTransitionsCount() - 1).getId();
        return page.setCursor(ByteString.copyFromUtf8(Long.toString(last))).build();
      }
      page.addTransitions(row);
    }
    return page.build();
  }

  @Override
  public GetReadPlanResponseProto getReadPlan(
      RpcController controller, GetReadPlanRequestProto request) throws ServiceException {
    throw new ServiceException("not for the manager");
  }

  @Override
  public ClaimResponseProto claim(RpcController controller, ClaimRequestProto request)
      throws ServiceException {
    throw new ServiceException("not for the manager");
  }

  @Override
  public RenewResponseProto renew(RpcController controller, RenewRequestProto request)
      throws ServiceException {
    throw new ServiceException("not for the manager");
  }

  @Override
  public CommitResponseProto commit(RpcController controller, CommitRequestProto request)
      throws ServiceException {
    throw new ServiceException("not for the manager");
  }

  @Override
  public FailResponseProto fail(RpcController controller, FailRequestProto request)
      throws ServiceException {
    throw new ServiceException("not for the manager");
  }
}
