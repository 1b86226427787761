/**
 * Histories: clients work on a few shared paths while processes are killed and frozen, and a
 * checker decides whether each history is linearizable.
 */
package io.ebbfs.verify.histories;
