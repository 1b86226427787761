/**
 * A seeded simulation of the namenode with everything around it. The namenode's own classes run on
 * the in-memory store; clock, chunk servers, workers and clients are simulated, and crash, stall,
 * lose disks, and send messages late and twice. A simulated block holds no bytes: it holds its
 * coefficients over all data blocks ever written, so that the {@link
 * io.ebbfs.namespace.simulation.Oracle} can say exactly, after every step, whether anything is lost
 * or wrong.
 */
package io.ebbfs.namespace.simulation;
