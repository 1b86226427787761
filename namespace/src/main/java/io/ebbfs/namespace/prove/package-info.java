/** Figures about the namenode's decisions, made by its own code: {@code ./ebb prove}. */
package io.ebbfs.namespace.prove;
