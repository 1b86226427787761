/** How many failure domains a code needs so that the loss of one is survived. */
package io.ebbfs.coding.tolerance;
