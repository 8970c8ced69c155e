// Columns and progress of carves.
import { Carve } from "../../../api/checks/carves.ts";
import type { View } from "../../output/output.ts";
import { sizeText } from "../../output/size.ts";
import { timeColumn } from "../../output/time-column.ts";

export const isComplete = ({ max_block, block_count }: Carve): boolean => max_block === block_count - 1;

export const stateOf = (carve: Carve): string =>
  carve.expired
    ? "expired"
    : carve.error !== undefined
      ? `failed: ${carve.error}`
      : isComplete(carve)
        ? "complete"
        : `${Math.floor(((carve.max_block + 1) * 100) / carve.block_count)} %`;

export const carveView = (relative: boolean, now: Date): View => ({
  schema: () => Carve,
  columns: [
    { key: "id" },
    { key: "host_id", header: "host id" },
    { key: "name" },
    { key: "carve_size", header: "size", text: (size) => (typeof size === "number" ? sizeText(size) : "") },
    { key: "max_block", header: "last block" },
    { key: "block_count", header: "blocks" },
    { key: "expired" },
    timeColumn("created_at", "began", relative, now),
    { key: "error" },
  ],
});
