/** What the periodic work of namenode and manager costs as the number of files grows. */
package io.ebbfs.verify.scale;
