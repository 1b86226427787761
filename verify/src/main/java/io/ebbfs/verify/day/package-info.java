/**
 * A day in the life of a cluster, compressed: a server joins, another is drained, one hibernates, a
 * rack is lost, disks get full and are levelled, a killed server returns. Clients read and write
 * throughout.
 *
 * <p>Read {@link io.ebbfs.verify.day.Day} first, then {@link io.ebbfs.verify.day.DaySteps} for what
 * happens, and {@link io.ebbfs.verify.day.NecessaryBytes} and {@link
 * io.ebbfs.verify.day.ReceivedBytes} for the two figures that are compared.
 */
package io.ebbfs.verify.day;
