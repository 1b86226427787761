/**
 * The simulated comparison of redundancy policies. Costs are block moves (a block read or written
 * once); figures are bytes per stored logical byte and day. See {@code docs/policy-comparison.md}.
 */
package io.ebbfs.verify.policy;
