/** Experiments that are described by files, run on a real cluster and leave raw results. */
package io.ebbfs.workloads.experiment;
