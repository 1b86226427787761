/**
 * The report of an experiment: figures computed from raw results by pure functions, and a page that
 * shows them.
 *
 * <p>Reading order: {@link io.ebbfs.workloads.experiment.report.Runs} finds the results, {@link
 * io.ebbfs.workloads.experiment.report.Figures} computes, {@link
 * io.ebbfs.workloads.experiment.report.Claims} judges, {@code Page} draws.
 */
package io.ebbfs.workloads.experiment.report;
