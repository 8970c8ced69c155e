import type { Lane } from "../../hosts/operations/kind.ts";

export const APPLE_LANE: Lane = "apple";
