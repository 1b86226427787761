/**
 * The report of an experiment: figures computed from raw results by pure functions, and a page that
 * shows them.
 *
 * <p>Reading order: {@link io.ebbfs.workloads.report.Runs} finds the results, {@link
 * io.ebbfs.workloads.report.Figures} computes, {@link io.ebbfs.workloads.report.GoalClaims} judges,
 * {@code Page} draws.
 */
package io.ebbfs.workloads.report;
