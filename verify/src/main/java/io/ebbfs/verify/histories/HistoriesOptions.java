package io.ebbfs.verify.histories;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;

/** What is asked of a run: how long calls are made, and where the figures go. */
public record HistoriesOptions(
    Duration length, long seed, Optional<Path> json, Optional<Path> directory) {}
