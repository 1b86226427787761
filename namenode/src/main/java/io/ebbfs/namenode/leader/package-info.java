/** Which of the namenodes on a shared store serves. */
package io.ebbfs.namenode.leader;
