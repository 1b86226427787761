/** Runs experiments, which files describe, on real clusters, and writes their raw results. */
package io.ebbfs.workloads.experiment;
