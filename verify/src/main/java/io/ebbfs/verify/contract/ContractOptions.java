package io.ebbfs.verify.contract;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * The options of a run of the contract tests.
 *
 * @param onHdfs whether they run on Apache HDFS instead of a cluster of EbbFS
 * @param subjects the subjects of the tests; all if empty
 * @param json the file of the result
 * @param directory of the cluster; a temporary one if empty
 */
public record ContractOptions(
    boolean onHdfs, List<String> subjects, Optional<Path> json, Optional<Path> directory) {}
