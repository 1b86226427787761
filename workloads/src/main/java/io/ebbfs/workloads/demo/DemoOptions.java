package io.ebbfs.workloads.demo;

import java.nio.file.Path;

/**
 * The options of a demo.
 *
 * @param directory holds the files to store
 * @param keep leaves the cluster up at the end
 * @param output gets demo-report.json and demo-report.html
 * @param clusterDirectory the directory of the cluster
 * @param httpPort of the dashboard; 0 for any free one
 * @param seed of the files that are read and of the faults
 */
public record DemoOptions(
    Path directory,
    boolean keep,
    Path output,
    Path clusterDirectory,
    int servers,
    int disks,
    int httpPort,
    long seed) {}
