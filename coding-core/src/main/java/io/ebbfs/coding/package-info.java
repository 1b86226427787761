/**
 * Erasure codes as data, and the planner that turns a request (encode, repair, convert, read) into
 * linear combinations of blocks. Nothing here reads a clock or a network, and only {@link
 * io.ebbfs.coding.definitions.CodesFile} reads a file.
 *
 * <p>Reading order: {@link io.ebbfs.coding.code.ErasureCode}, {@link
 * io.ebbfs.coding.code.CodeRegistry}, {@link io.ebbfs.coding.plan.CombinePlan}, {@link
 * io.ebbfs.coding.plan.Planner}. Documented in docs/codes.md.
 */
package io.ebbfs.coding;
