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
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;
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
    Map<String, Integer> blocksOn = blocksOn(step);
    Optional<Server> executor = executor(step, blocksOn);
    if (executor.isEmpty()) {
      return Optional.empty();
    }
    CombineRequestProto.Builder combine =
        CombineRequestProto.newBuilder()
            .setId(name)
            .setCoefficients(ByteString.copyFrom(step.coefficients()));
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
    load.add(transition, executor.get().uuid(), receivedBy(executor.get().uuid(), step, blocksOn));
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
   * blocks: those of this step that it does not hold, and those of the steps it has to do already.
   */
  private Optional<Server> executor(Step step, Map<String, Integer> blocksOn) {
    Server best = null;
    double least = 0;
    for (Server server : cluster.liveServers()) {
      double blocks =
          load.of(server.uuid())
              + receivedBy(server.uuid(), step, blocksOn)
              + 0.1 * server.activeTransfers()
              + 0.001 * randomUpTo(100);
      if (blocksOn.containsKey(server.uuid()) && (best == null || blocks < least)) {
        best = server;
        least = blocks;
      }
    }
    return Optional.ofNullable(best);
  }

  /** How many blocks of the step cross the network if this server combines them. */
  private static int receivedBy(String serverUuid, Step step, Map<String, Integer> blocksOn) {
    return step.sources().size() + step.outputs().size() - blocksOn.getOrDefault(serverUuid, 0);
  }

  /** By server, how many of the blocks read and written are on it. */
  private Map<String, Integer> blocksOn(Step step) {
    Map<String, Integer> blocksOn = new HashMap<>();
    Stream.concat(
            step.sources().stream().map(Source::storageUuids),
            step.outputs().stream().map(output -> List.of(output.storageUuid())))
        .map(cluster::serversOf)
        .forEach(servers -> servers.forEach(uuid -> blocksOn.merge(uuid, 1, Integer::sum)));
    return blocksOn;
  }

  private int randomUpTo(int bound) {
    synchronized (random) {
      return random.nextInt(bound + 1);
    }
  }
}
