package io.ebbfs.verify.cluster;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * The options of a verification on a cluster.
 *
 * @param seed of all random choices
 * @param only runs only cases whose name contains all words of one entry; all cases if empty
 * @param directory for the clusters of the run; a temporary one if empty
 * @param quick whether to run only a sample, which takes about a minute
 */
public record VerifyOptions(
    long seed, List<String> only, Optional<Path> directory, boolean quick) {}
