import type { Lane } from "../../hosts/operations/kind.ts";

/** The queue of commands of Android devices. */
export const ANDROID_LANE: Lane = "android";
