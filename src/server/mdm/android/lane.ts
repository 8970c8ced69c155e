import type { Lane } from "../../operations/kind.ts";

/** The queue of commands of Android devices. */
export const ANDROID_LANE: Lane = "android";
