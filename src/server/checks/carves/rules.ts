// Validation of carves and their blocks, with the protocol's error texts (docs/protocols/agent.md, Carves).

import { hours, isoAt } from "../../platform/core/clock.ts";
import { type ApiError, notOnThisServer } from "../../platform/core/errors.ts";
import { limit } from "../../platform/core/limits.ts";
import type { Settings } from "../../platform/core/settings/settings.ts";
import { and, eq, gt, isNull, or, type Predicate } from "../../platform/store/query.ts";
import type { RowOf } from "../../platform/store/table.ts";
import type { carves } from "./tables.ts";

export type CarveRow = RowOf<typeof carves>;

const MiB = 1024 * 1024;
/** Maximum size of a block request in bytes. */
const BLOCK_BODY_MAX = 16 * MiB;
const MAX_BLOCK_SIZE = 256 * MiB;
/** 8 GiB in the agents' default block size of 8 KiB. */
export const carveBlocks = limit({
  what: "blocks of a file carve",
  max: 1_048_576,
  unit: "entries",
  beyond: "The carve is refused.",
});
export const carveNames = limit({
  what: "`carve_id` and `request_id` of a file carve",
  max: 255,
  unit: "characters",
  beyond: "The carve is refused.",
});
/** Contents are kept for this long after the first block, or after the start if there is none. */
export const RETENTION = hours(24);

export interface Plan {
  readonly block_count: number;
  readonly block_size: number;
  readonly carve_size: number;
  readonly carve_id: string;
  readonly request_id: string;
}

/** Parses a whole number; old agents send text. Infinity if it exceeds the safe range, NaN if it is not a number. */
export function wholeNumber(value: unknown): number {
  const text = typeof value === "string" ? value.trim() : value;
  const number = typeof text === "number" || (typeof text === "string" && /^-?\d+$/.test(text)) ? Number(text) : NaN;
  if (Number.isSafeInteger(number)) return number;
  return Math.abs(number) > Number.MAX_SAFE_INTEGER ? number * Number.POSITIVE_INFINITY : Number.NaN;
}

/** The carve described by a begin request, or the reason for refusing it. */
export function planOf(
  body: Readonly<Record<string, unknown>>,
  limits: Pick<Settings, "carve_max_size">,
): Plan | string {
  const plan = {
    block_count: wholeNumber(body.block_count),
    block_size: wholeNumber(body.block_size),
    carve_size: wholeNumber(body.carve_size),
    carve_id: typeof body.carve_id === "string" ? body.carve_id : "",
    request_id: typeof body.request_id === "string" ? body.request_id : "",
  };
  const { block_count: count, block_size: size, carve_size: total } = plan;
  for (const name of ["carve_size", "block_size", "block_count"] as const)
    if (Number.isNaN(plan[name])) return `${name} must be a whole number`;
  if (total <= 0) return "carve_size must be greater than 0";
  if (size <= 0) return "block_size must be greater than 0";
  if (size > MAX_BLOCK_SIZE || size > largestBlock) return "block_size exceeds max";
  if (total > limits.carve_max_size) return "carve_size exceeds max";
  if (!((count - 1) * size < total && total <= count * size))
    return "carve_size does not match block_size and block_count";
  if (count > carveBlocks.max) return "block_count exceeds max";
  for (const name of ["carve_id", "request_id"] as const) {
    if (plan[name] === "") return `${name} must not be empty`;
    if (plan[name].length > carveNames.max) return `${name} is longer than ${carveNames.max} characters`;
  }
  return plan;
}

/** Encoded as base64 it must fit into a request, with 1 KiB for the rest. */
const largestBlock = Math.floor(((BLOCK_BODY_MAX - 1024) / 4) * 3);

type BlockVerdict = { readonly kind: "new" | "repeated" } | { readonly kind: "wrong"; readonly text: string };

const wrong = (text: string): BlockVerdict => ({ kind: "wrong", text });

/** Classifies a block by its number and length. `null`: the data was not base64. */
export function judgeBlock(carve: CarveRow, blockId: number, length: number | null): BlockVerdict {
  const { block_count: count, block_size: size, carve_size: total, max_block: last } = carve;
  if (Number.isNaN(blockId)) return wrong("block_id must be a whole number");
  if (blockId > count - 1) return wrong(`block_id exceeds expected max (${count - 1}): ${blockId}`);
  // Agents send one block at a time, in order, and repeat one whose answer they have lost.
  if (blockId < 0 || blockId > last + 1) return wrong(unexpected(carve, blockId));
  if (length === null) return wrong("data is not base64");
  if (length > size) return wrong(`exceeded declared block size ${size}: ${length}`);
  // A repeated block is compared with the stored one, whatever its length.
  if (blockId <= last) return { kind: "repeated" };
  if (blockId < count - 1)
    return length < size ? wrong(`block ${blockId} is shorter than block size ${size}: ${length}`) : { kind: "new" };
  const sum = blockId * size + length;
  return sum === total ? { kind: "new" } : wrong(`carve_size ${total} does not match received size: ${sum}`);
}

export const unexpected = (carve: CarveRow, blockId: number): string =>
  `block_id does not match expected block (${carve.max_block + 1}): ${blockId}`;

export const isComplete = (carve: CarveRow): boolean => carve.max_block === carve.block_count - 1;

/** An agent that has sent nothing for this long has given up. */
export const STALLED_AFTER = hours(1);

/** Why a carve failed or stalled; null: it is complete or in progress. */
export function errorOf(carve: CarveRow, now: number): string | null {
  if (carve.error !== null || isComplete(carve)) return carve.error;
  if (now - Date.parse(carve.updated_at) < STALLED_AFTER) return null;
  return `block ${carve.max_block + 1} is missing: the host has sent nothing for an hour`;
}

/** The stored size of a block in bytes. */
export const lengthOfBlock = (
  { block_count: count, block_size: size, carve_size: total }: CarveRow,
  id: number,
): number => (id < count - 1 ? size : total - (count - 1) * size);

/** Compares with the clock, since the job that marks carves as expired runs only occasionally. */
export const isExpired = (carve: CarveRow, now: number): boolean =>
  carve.expired ||
  (carve.expires_at === null ? Date.parse(carve.created_at) + RETENTION : Date.parse(carve.expires_at)) <= now;

/** Selects the carves for which `isExpired` is false. */
export const alive = (now: number): Predicate =>
  and(
    eq("expired", false),
    or(gt("expires_at", isoAt(now)), and(isNull("expires_at"), gt("created_at", isoAt(now - RETENTION)))),
  );

/** The key of a block in the blob store. */
export const blockKey = (carveId: number, blockId: number): string => `${carveKeys(carveId)}${blockId}`;
export const carveKeys = (carveId: number): string => `${CARVE_KEYS}${carveId}/`;
export const CARVE_KEYS = "carves/";

export const missingBlock = (block: number): ApiError => notOnThisServer(`block ${block} of the carve`, "the carve");
