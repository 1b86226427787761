package io.ebbfs.namenode.tasks.claim;

import io.ebbfs.namenode.datanodes.ClusterView;
import io.ebbfs.namenode.datanodes.ClusterView.Server;
import io.ebbfs.namenode.stripes.ProtoConverter;
import io.ebbfs.namenode.tasks.plan.AttemptPlan.Gather;
import io.ebbfs.namenode.tasks.plan.AttemptPlan.Output;
import io.ebbfs.namenode.tasks.plan.AttemptPlan.Source;
import io.ebbfs.namenode.tasks.plan.AttemptPlan.Step;
import io.ebbfs.protocol.proto.ChunkProtos.BlockLocationProto;
import io.ebbfs.protocol.proto.ChunkProtos.CellsProto;
import io.ebbfs.protocol.proto.ChunkProtos.CombineRequestProto;
import io.ebbfs.protocol.proto.ChunkProtos.SourceProto;
import io.ebbfs.protocol.proto.ChunkProtos.TargetProto;
import io.ebbfs.protocol.proto.CodingProtos.StepProto;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.random.RandomGenerator;
import org.apache.hadoop.thirdparty.protobuf.ByteString;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Builds the messages that tell a worker which server combines which blocks. {@link
 * CombinerChooser} chooses the server. Thread-safe.
 */
final class StepMessageBuilder {
  private static final Logger LOG = LoggerFactory.getLogger(StepMessageBuilder.class);

  private final ClusterView cluster;
  private final ProtoConverter converter;
  private final CombineLoadTracker load;
  private final RandomGenerator random;

  StepMessageBuilder(
      ClusterView cluster,
      ProtoConverter converter,
      CombineLoadTracker load,
      RandomGenerator random) {
    this.cluster = cluster;
    this.converter = converter;
    this.load = load;
    this.random = random;
  }

  /** A block and its disks, in the order given; empty if no disk of it is known any more. */
  Optional<SourceProto> source(Source source) {
    List<BlockLocationProto> locations = new ArrayList<>();
    source.storageUuids().forEach(uuid -> converter.location(uuid).ifPresent(locations::add));
    return source(source, locations);
  }

  private Optional<SourceProto> source(Source source, List<BlockLocationProto> locations) {
    return locations.isEmpty()
        ? Optional.empty()
        : Optional.of(
            SourceProto.newBuilder()
                .setBlock(
                    converter.block(
                        source.blockId(), source.generationStamp(), source.lengthBytes()))
                .addAllLocations(locations)
                .build());
  }

  /**
   * The message of a step of a transition. The step counts as load of its combiner and of the
   * servers of its targets from now on.
   *
   * @return empty if a server that the step needs is not in service any more
   */
  Optional<StepProto> step(String name, long transition, Step step) {
    return message(name, transition, step, false);
  }

  /** The message of a step that computes its outputs to compare them, and writes none of them. */
  Optional<StepProto> check(String name, long transition, Step step) {
    return message(name, transition, step, true);
  }

  private Optional<StepProto> message(String name, long transition, Step step, boolean check) {
    List<Set<String>> reads = step.sources().stream().map(this::servers).toList();
    List<Set<String>> writes =
        check ? List.of() : step.outputs().stream().map(this::servers).toList();
    Optional<Server> combiner = combiner(transition, reads, writes);
    if (combiner.isEmpty()) {
      return Optional.empty();
    }
    CombineRequestProto.Builder combine =
        CombineRequestProto.newBuilder()
            .setId(name)
            .setCoefficients(ByteString.copyFrom(step.coefficients()));
    if (check) {
      combine.setCheck(true);
    }
    for (int s = 0; s < step.sources().size(); s++) {
      Source source = step.sources().get(s);
      Optional<SourceProto> message = source(source, locations(source, combiner.get()));
      if (message.isEmpty()) {
        return Optional.empty();
      }
      int unit = step.places().get(s).position();
      combine.addSources(
          step.gather().isEmpty()
              ? message.get()
              : byCells(message.get(), step.gather().get(), unit));
    }
    for (Output output : step.outputs()) {
      Optional<TargetProto> message = target(output);
      if (message.isEmpty()) {
        return Optional.empty();
      }
      combine.addTargets(message.get());
    }
    return Optional.of(
        StepProto.newBuilder()
            .setExecutor(ProtoConverter.server(combiner.get()))
            .setCombine(combine)
            .build());
  }

  /** A data block of a block group, which enters by its cells. */
  static SourceProto byCells(SourceProto block, Gather gather, int unit) {
    return block.toBuilder()
        .setCells(
            CellsProto.newBuilder()
                .setCellBytes(gather.cellBytes())
                .setUnits(gather.units())
                .setUnit(unit)
                .setStartBytes(gather.startBytes()))
        .build();
  }

  private Optional<TargetProto> target(Output output) {
    return converter
        .location(output.storageUuid())
        .map(
            location ->
                TargetProto.newBuilder()
                    .setBlock(
                        converter.block(
                            output.blockId(), output.generationStamp(), output.lengthBytes()))
                    .setLocation(location)
                    .build());
  }

  /** The combiner's own disk first, the other disks in random order. */
  private List<BlockLocationProto> locations(Source source, Server combiner) {
    List<BlockLocationProto> locations = new ArrayList<>();
    for (String storage : source.storageUuids()) {
      converter
          .location(storage)
          .ifPresent(
              location -> {
                boolean own = location.getServer().getDatanodeUuid().equals(combiner.uuid());
                int at = own ? 0 : randomUpTo(locations.size());
                locations.add(at, location);
              });
    }
    locations.sort(
        Comparator.comparing(l -> !l.getServer().getDatanodeUuid().equals(combiner.uuid())));
    return locations;
  }

  /** Chooses the server that runs a step, and notes its load before anyone else chooses. */
  private Optional<Server> combiner(
      long transition, List<Set<String>> sources, List<Set<String>> targets) {
    synchronized (load) {
      List<Server> inService = cluster.liveServers();
      Optional<CombinerChooser.Choice> choice =
          CombinerChooser.choose(
              inService.stream().map(this::candidate).toList(),
              sources,
              targets,
              () -> randomUpTo(CombinerChooser.MAX_DRAW));
      if (choice.isEmpty()) {
        return Optional.empty();
      }
      LOG.debug("Combiner of a step of transition {}: {}", transition, choice.get());
      addLoad(transition, choice.get(), targets);
      String chosen = choice.get().serverUuid();
      return inService.stream().filter(server -> server.uuid().equals(chosen)).findFirst();
    }
  }

  private CombinerChooser.Candidate candidate(Server server) {
    return new CombinerChooser.Candidate(
        server.uuid(), load.of(server.uuid()), server.activeTransfers());
  }

  private void addLoad(long transition, CombinerChooser.Choice choice, List<Set<String>> targets) {
    load.add(transition, choice.serverUuid(), choice.sourcesToReceive());
    for (Set<String> target : targets) {
      if (!target.contains(choice.serverUuid())) {
        target.forEach(server -> load.add(transition, server, 1));
      }
    }
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
