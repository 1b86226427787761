package io.ebbfs.verify.soak;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;

/**
 * The options of a soak.
 *
 * @param length how long faults are injected; the checks at the end come on top
 * @param seed of all random choices
 * @param json the file that gets the figures
 * @param directory of the cluster; a temporary one if empty
 */
public record SoakOptions(
    Duration length, long seed, Optional<Path> json, Optional<Path> directory) {}
