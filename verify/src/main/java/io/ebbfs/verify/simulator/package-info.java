/**
 * A seeded simulation of the namenode with everything around it. The namenode's own classes run on
 * the in-memory store, and clients call the namenode's own services. Clocks, network, chunk
 * servers, workers and clients are simulated: they crash, stall, lose disks and unsynced writes,
 * cannot reach each other, and send messages late and twice. A simulated block has no bytes ({@link
 * io.ebbfs.verify.simulator.BlockContent}), so the oracle can say exactly, after every step,
 * whether anything is lost or wrong.
 *
 * <p>Read first {@link io.ebbfs.verify.simulator.FaultSchedule}, which draws the events of one
 * seed, then {@link io.ebbfs.verify.simulator.Oracle}, which checks the promises after each event.
 */
package io.ebbfs.verify.simulator;
