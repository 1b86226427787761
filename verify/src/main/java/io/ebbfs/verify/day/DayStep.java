package io.ebbfs.verify.day;

import java.util.Map;

/**
 * What a step of the day took and moved.
 *
 * @param name of the step
 * @param seconds until all that it waits for had come about
 * @param bytesMoved that chunk servers received from each other for copies, repairs and moves
 * @param bytesNecessary the same as computed: what the step makes necessary
 * @param bytesConverted that they received for encodings and conversions, which have nothing to do
 *     with the step
 * @param figures others of this step
 */
record DayStep(
    String name,
    double seconds,
    long bytesMoved,
    long bytesNecessary,
    long bytesConverted,
    Map<String, Object> figures) {}
