/**
 * Stock clients use a cluster of real processes while something breaks every 10 to 20 seconds. A
 * model of what the clients were promised is compared with what they find.
 *
 * <p>Read {@link io.ebbfs.verify.soak.Soak} first, then {@link io.ebbfs.verify.soak.SoakFile} for
 * the promises, {@link io.ebbfs.verify.soak.SoakUser} for the traffic and {@link
 * io.ebbfs.verify.soak.SoakFaults} for the faults.
 */
package io.ebbfs.verify.soak;
