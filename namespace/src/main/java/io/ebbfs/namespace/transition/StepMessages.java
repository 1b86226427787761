package io.ebbfs.namespace.transition;

import io.ebbfs.namespace.block.ClusterView;
import io.ebbfs.namespace.block.ClusterView.Server;
import io.ebbfs.namespace.stripe.Wire;
import io.ebbfs.namespace.transition.AttemptPlan.Output;
import io.ebbfs.namespace.transition.AttemptPlan.Source;
import io.ebbfs.namespace.transition.AttemptPlan.Step;
import io.ebbfs.protocol.proto.ChunkProtos.BlockLocationProto;
import io.ebbfs.protocol.proto.ChunkProtos.CombineRequestProto;
import io.ebbfs.protocol.proto.ChunkProtos.SourceProto;
import io.ebbfs.protocol.proto.ChunkProtos.TargetProto;
import io.ebbfs.protocol.proto.CodingProtos.StepProto;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.random.RandomGenerator;
import org.apache.hadoop.thirdparty.protobuf.ByteString;

/** Steps as the messages that chunk servers get, each with the server that is to run it. */
final class StepMessages {
  private final ClusterView cluster;
  private final Wire wire;
  private final ServerLoad load;
  private final RandomGenerator random;

  StepMessages(ClusterView cluster, Wire wire, ServerLoad load, RandomGenerator random) {
    this.cluster = cluster;
    this.wire = wire;
    this.load = load;
    this.random = random;
  }

  /** A block and where it is, in this order; empty if none of its disks is known any more. */
  Optional<SourceProto> source(Source source) {
    List<BlockLocationProto> locations = new ArrayList<>();
    source.storageUuids().forEach(uuid -> wire.location(uuid).ifPresent(locations::add));
    return source(source, locations);
  }

  private Optional<SourceProto> source(Source source, List<BlockLocationProto> locations) {
    return locations.isEmpty()
        ? Optional.empty()
        : Optional.of(
            SourceProto.newBuilder()
                .setBlock(
                    wire.block(source.blockId(), source.generationStamp(), source.lengthBytes()))
                .addAllLocations(locations)
                .build());
  }

  /**
   * A step of a transition as a message, and as load of the server that is to run it; empty if a
   * server that it needs is not in service any more.
   */
  Optional<StepProto> step(String name, long transition, Step step) {
    return message(name, transition, step, false);
  }

  /** The same for a step that only computes its outputs, and writes none of them. */
  Optional<StepProto> check(String name, long transition, Step step) {
    return message(name, transition, step, true);
  }

  private Optional<StepProto> message(String name, long transition, Step step, boolean check) {
    List<Set<String>> reads = step.sources().stream().map(this::servers).toList();
    List<Set<String>> writes =
        check ? List.of() : step.outputs().stream().map(this::servers).toList();
    Optional<Server> executor = executor(transition, reads, writes);
    if (executor.isEmpty()) {
      return Optional.empty();
    }
    CombineRequestProto.Builder combine =
        CombineRequestProto.newBuilder()
            .setId(name)
            .setCoefficients(ByteString.copyFrom(step.coefficients()));
    if (check) {
      combine.setCheck(true);
    }
    for (Source source : step.sources()) {
      Optional<SourceProto> message = source(source, locations(source, executor.get()));
      if (message.isEmpty()) {
        return Optional.empty();
      }
      combine.addSources(message.get());
    }
    for (Output output : step.outputs()) {
      Optional<BlockLocationProto> location = wire.location(output.storageUuid());
      if (location.isEmpty()) {
        return Optional.empty();
      }
      combine.addTargets(
          TargetProto.newBuilder()
              .setBlock(
                  wire.block(output.blockId(), output.generationStamp(), output.lengthBytes()))
              .setLocation(location.get()));
    }
    return Optional.of(
        StepProto.newBuilder()
            .setExecutor(Wire.server(executor.get()))
            .setCombine(combine)
            .build());
  }

  /** The executor's own disk first, the others in any order. */
  private List<BlockLocationProto> locations(Source source, Server executor) {
    List<BlockLocationProto> locations = new ArrayList<>();
    for (String storage : source.storageUuids()) {
      wire.location(storage)
          .ifPresent(
              location -> {
                boolean own = location.getServer().getDatanodeUuid().equals(executor.uuid());
                int at = own ? 0 : randomUpTo(locations.size());
                locations.add(at, location);
              });
    }
    locations.sort(
        Comparator.comparing(l -> !l.getServer().getDatanodeUuid().equals(executor.uuid())));
    return locations;
  }

  /**
   * Of the servers that hold a block read or written, the one that will have received the fewest
   * blocks: those of this step that it does not hold, and those of the steps that were handed out
   * before. What it has to send to others counts like what it receives. Whoever chooses next sees
   * what this choice adds.
   */
  private Optional<Server> executor(
      long transition, List<Set<String>> reads, List<Set<String>> writes) {
    synchronized (load) {
      Optional<Server> executor = leastLoaded(reads, writes);
      executor.ifPresent(server -> addLoad(transition, server.uuid(), reads, writes));
      return executor;
    }
  }

  private void addLoad(
      long transition, String executor, List<Set<String>> reads, List<Set<String>> writes) {
    load.add(transition, executor, without(executor, reads));
    for (Set<String> target : writes) {
      if (!target.contains(executor)) {
        target.forEach(server -> load.add(transition, server, 1));
      }
    }
  }

  private Optional<Server> leastLoaded(List<Set<String>> reads, List<Set<String>> writes) {
    Set<String> candidates = new HashSet<>();
    reads.forEach(candidates::addAll);
    writes.forEach(candidates::addAll);
    Server best = null;
    double least = 0;
    for (Server server : cluster.liveServers()) {
      if (!candidates.contains(server.uuid())) {
        continue;
      }
      double blocks =
          load.of(server.uuid())
              + without(server.uuid(), reads)
              + without(server.uuid(), writes)
              + 0.1 * server.activeTransfers()
              + 0.001 * randomUpTo(100);
      if (best == null || blocks < least) {
        best = server;
        least = blocks;
      }
    }
    return Optional.ofNullable(best);
  }

  /** How many blocks are not on a server. */
  private static int without(String serverUuid, List<Set<String>> blocks) {
    return (int) blocks.stream().filter(servers -> !servers.contains(serverUuid)).count();
  }

  private Set<String> servers(Source source) {
    return cluster.serversOf(source.storageUuids());
  }

  private Set<String> servers(Output output) {
    return cluster.serversOf(List.of(output.storageUuid()));
  }

  private int randomUpTo(int bound) {
    synchronized (random) {
      return random.nextInt(bound + 1);
    }
  }
}
