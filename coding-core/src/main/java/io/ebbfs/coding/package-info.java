/**
 * Erasure codes as data, and the planner that turns a wish (encode, repair, convert, read) into
 * linear combinations of blocks. Pure functions: nothing here reads a clock, a disk or a network.
 *
 * <p>Reading order: {@link io.ebbfs.coding.ErasureCode}, {@link io.ebbfs.coding.Codes}, {@link
 * io.ebbfs.coding.CombinePlan}, {@link io.ebbfs.coding.Planner}. Documented in docs/codes.md.
 */
package io.ebbfs.coding;
