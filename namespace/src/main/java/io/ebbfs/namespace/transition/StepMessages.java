package io.ebbfs.namespace.transition;

import io.ebbfs.namespace.block.ClusterView;
import io.ebbfs.namespace.block.ClusterView.Disk;
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
import org.apache.hadoop.thirdparty.protobuf.ByteString;

/** Steps as the messages that chunk servers get, each with the server that is to run it. */
final class StepMessages {
  private final ClusterView cluster;
  private final Wire wire;
  private final RandomGenerator random;

  StepMessages(ClusterView cluster, Wire wire, RandomGenerator random) {
    this.cluster = cluster;
    this.wire = wire;
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

  /** The step as a message; empty if a server that it needs is not in service any more. */
  Optional<StepProto> step(String name, Step step, Map<String, Integer> stepsByServer) {
    Optional<Server> executor = executor(step, stepsByServer);
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
    stepsByServer.merge(executor.get().uuid(), 1, Integer::sum);
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

  /** A server that holds many of the blocks read or written and has few steps of this claim. */
  private Optional<Server> executor(Step step, Map<String, Integer> stepsByServer) {
    Map<String, Integer> blocksOn = new HashMap<>();
    step.sources()
        .forEach(
            s ->
                s.storageUuids().stream()
                    .map(this::serverOf)
                    .flatMap(Optional::stream)
                    .distinct()
                    .forEach(uuid -> blocksOn.merge(uuid, 1, Integer::sum)));
    step.outputs()
        .forEach(o -> serverOf(o.storageUuid()).ifPresent(u -> blocksOn.merge(u, 1, Integer::sum)));
    Server best = null;
    double bestScore = 0;
    for (Server server : cluster.liveServers()) {
      double score =
          blocksOn.getOrDefault(server.uuid(), 0)
              - stepsByServer.getOrDefault(server.uuid(), 0)
              - 0.1 * server.activeTransfers()
              + 0.001 * randomUpTo(100);
      if (blocksOn.containsKey(server.uuid()) && (best == null || score > bestScore)) {
        best = server;
        bestScore = score;
      }
    }
    return Optional.ofNullable(best);
  }

  private Optional<String> serverOf(String storageUuid) {
    return cluster.disk(storageUuid).map(Disk::serverUuid);
  }

  private int randomUpTo(int bound) {
    synchronized (random) {
      return random.nextInt(bound + 1);
    }
  }
}
