package io.ebbfs.verify.histories;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;

/**
 * What is asked of a run.
 *
 * @param length how long calls are made
 * @param namenodes 1 with an embedded store, or several on a store of three nodes
 * @param json where the figures go
 * @param directory where the cluster lives
 */
public record HistoriesOptions(
    Duration length, int namenodes, long seed, Optional<Path> json, Optional<Path> directory) {}
