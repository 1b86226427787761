package io.ebbfs.verify.simulator;

import io.ebbfs.namenode.replicas.BlockPlaces;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.apache.hadoop.hdfs.protocol.Block;

/**
 * The pipeline of one block that a client writes: some servers, and what all of them have
 * acknowledged. A change of the pipeline is not over until the namenode knows it. Used by one
 * thread.
 */
final class SimPipeline {
  /** A replica of the pipeline. */
  record Node(SimServer server, String storageUuid) {}

  private final SimNetwork network;
  private final long blockId;
  private long generationStamp;
  private long acknowledgedBytes;
  private List<Node> nodes = new ArrayList<>();
  private boolean finished;
  // The generation before the servers were changed; the present one if the namenode knows it.
  private long knownStamp;

  SimPipeline(SimCluster cluster, BlockPlaces located) {
    network = cluster.network();
    blockId = located.block().getBlockId();
    generationStamp = located.block().getGenerationStamp();
    acknowledgedBytes = located.block().getLengthBytes();
    knownStamp = generationStamp;
    for (BlockPlaces.Place place : located.places()) {
      SimServer server = cluster.server(place.server().uuid());
      if (server != null) {
        nodes.add(new Node(server, place.storageUuid()));
      }
    }
  }

  /** The block as the client knows it. */
  Block block() {
    return new Block(blockId, acknowledgedBytes, generationStamp);
  }

  /** The block as the namenode knows it. */
  Block known() {
    return new Block(blockId, acknowledgedBytes, knownStamp);
  }

  long acknowledgedBytes() {
    return acknowledgedBytes;
  }

  List<Node> nodes() {
    return nodes;
  }

  List<String> storageUuids() {
    return nodes.stream().map(Node::storageUuid).toList();
  }

  boolean isFinished() {
    return finished;
  }

  /** Whether the servers have a generation that the namenode does not know yet. */
  boolean isUnknown() {
    return knownStamp != generationStamp;
  }

  void namenodeKnows() {
    knownStamp = generationStamp;
  }

  /** Whether the server before a node in the pipeline can send to it. */
  private boolean isReached(Node node) {
    int at = nodes.indexOf(node);
    return at == 0 || !network.isCut(nodes.get(at - 1).server().uuid(), node.server().uuid());
  }

  /** The server that could not begin the block; null if all could. */
  SimServer setUp() {
    for (Node node : nodes) {
      if (!isReached(node)
          || !node.server().transfers().create(node.storageUuid(), blockId, generationStamp)) {
        return node.server();
      }
    }
    return null;
  }

  /** Sends bytes; the first server that fails ends the flow to the servers behind it. */
  boolean send(long lengthBytes) {
    for (Node node : nodes) {
      if (!isReached(node)
          || !node.server().transfers().receive(blockId, generationStamp, lengthBytes)) {
        return false;
      }
    }
    acknowledgedBytes = lengthBytes;
    return true;
  }

  /**
   * Sends the end of the block.
   *
   * @param reached the number of servers that it reaches, before the client dies
   */
  boolean finish(int reached) {
    for (Node node : nodes.subList(0, Math.min(reached, nodes.size()))) {
      if (!isReached(node)
          || !node.server().transfers().finish(blockId, generationStamp, acknowledgedBytes)) {
        return false;
      }
    }
    finished = reached >= nodes.size();
    return finished;
  }

  /** Goes on with the servers that still can, under a new generation. */
  boolean rebuild(long newStamp, boolean close) {
    return change(
        newStamp,
        node ->
            close
                ? node.server()
                    .transfers()
                    .recoverClose(blockId, generationStamp, newStamp, acknowledgedBytes)
                : node.server()
                    .transfers()
                    .recoverWriter(blockId, generationStamp, newStamp, acknowledgedBytes),
        close);
  }

  /** Opens the replicas of a closed block to append to it. */
  boolean reopen(long newStamp) {
    return change(
        newStamp,
        node ->
            node.server().transfers().reopen(blockId, generationStamp, newStamp, acknowledgedBytes),
        false);
  }

  private boolean change(long newStamp, Predicate<Node> works, boolean close) {
    List<Node> left = new ArrayList<>(nodes.stream().filter(works).toList());
    if (left.isEmpty()) {
      return false;
    }
    nodes = left;
    generationStamp = newStamp;
    finished = close;
    return true;
  }
}
