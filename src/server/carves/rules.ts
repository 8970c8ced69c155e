// What a carve may be, and what a block of it (agent protocol, section 7). The texts are the protocol's own.
import { hours, isoAt } from "../core/clock.ts";
import type { Settings } from "../core/settings.ts";
import { and, eq, gt, isNull, or, type Predicate } from "../store/query.ts";
import type { RowOf } from "../store/table.ts";
import type { carves } from "./tables.ts";

export type CarveRow = RowOf<typeof carves>;

const MiB = 1024 * 1024;
/** Bytes of a block request at most. */
export const BLOCK_BODY_MAX = 16 * MiB;
const MAX_BLOCK_SIZE = 256 * MiB;
/** 8 GiB in the agents' default blocks of 8 KiB. */
const MAX_BLOCK_COUNT = 1_048_576;
const MAX_TEXT = 255;
/** Contents stay this long after their first byte; a carve without any, after it began. */
export const RETENTION = hours(24);

export interface Plan {
  readonly block_count: number;
  readonly block_size: number;
  readonly carve_size: number;
  readonly carve_id: string;
  readonly request_id: string;
}

/** Old agents send numbers as text. Beyond what a number holds exactly is Infinity; anything else NaN. */
export function wholeNumber(value: unknown): number {
  const text = typeof value === "string" ? value.trim() : value;
  const number = typeof text === "number" || (typeof text === "string" && /^-?\d+$/.test(text)) ? Number(text) : NaN;
  if (Number.isSafeInteger(number)) return number;
  return Math.abs(number) > Number.MAX_SAFE_INTEGER ? number * Number.POSITIVE_INFINITY : Number.NaN;
}

/** The carve that a begin request tells of, or why there can be none. */
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
  if (count > MAX_BLOCK_COUNT) return "block_count exceeds max";
  for (const name of ["carve_id", "request_id"] as const) {
    if (plan[name] === "") return `${name} must not be empty`;
    if (plan[name].length > MAX_TEXT) return `${name} is longer than ${MAX_TEXT} characters`;
  }
  return plan;
}

/** As base64 it must fit a request, with 1 KiB for the rest. */
const largestBlock = Math.floor(((BLOCK_BODY_MAX - 1024) / 4) * 3);

export type Verdict = { readonly kind: "new" | "repeated" } | { readonly kind: "wrong"; readonly text: string };

const wrong = (text: string): Verdict => ({ kind: "wrong", text });

/** Blocks that may come before one that is missing. Agents send them in order; what comes between may not keep it. */
const AHEAD_MAX = 1_024;

/** How far the carve is once that block is stored too. */
export function withBlock({ max_block: last, ahead }: Pick<CarveRow, "max_block" | "ahead">, blockId: number) {
  const beyond = [...ahead, blockId].sort((a, b) => a - b);
  let max_block = last;
  while (beyond[0] === max_block + 1) max_block = beyond.shift()!;
  return { max_block, ahead: beyond };
}

/** What a block of that number and length is to a carve. `null`: the data was no base64. */
export function judgeBlock(carve: CarveRow, blockId: number, length: number | null): Verdict {
  const { block_count: count, block_size: size, carve_size: total, max_block: last } = carve;
  if (Number.isNaN(blockId)) return wrong("block_id must be a whole number");
  if (blockId > count - 1) return wrong(`block_id exceeds expected max (${count - 1}): ${blockId}`);
  if (blockId < 0 || blockId > last + 1 + AHEAD_MAX) return wrong(unexpected(carve, blockId));
  if (length === null) return wrong("data is not base64");
  if (length > size) return wrong(`exceeded declared block size ${size}: ${length}`);
  // Sent again it is held against what is stored, whatever its length.
  if (blockId <= last || carve.ahead.includes(blockId)) return { kind: "repeated" };
  if (blockId < count - 1)
    return length < size ? wrong(`block ${blockId} is shorter than block size ${size}: ${length}`) : { kind: "new" };
  const sum = blockId * size + length;
  return sum === total ? { kind: "new" } : wrong(`carve_size ${total} does not match received size: ${sum}`);
}

export const unexpected = (carve: CarveRow, blockId: number): string =>
  `block_id does not match expected block (${carve.max_block + 1}): ${blockId}`;

export const isComplete = (carve: CarveRow): boolean => carve.max_block === carve.block_count - 1;

/** Bytes of the block as it must have been stored. */
export const lengthOfBlock = (
  { block_count: count, block_size: size, carve_size: total }: CarveRow,
  id: number,
): number => (id < count - 1 ? size : total - (count - 1) * size);

/** By the clock: a job that marks carves as expired runs only now and then. */
export const isExpired = (carve: CarveRow, now: number): boolean =>
  carve.expired ||
  (carve.expires_at === null ? Date.parse(carve.created_at) + RETENTION : Date.parse(carve.expires_at)) <= now;

/** The carves for which `isExpired` is false. */
export const alive = (now: number): Predicate =>
  and(
    eq("expired", false),
    or(gt("expires_at", isoAt(now)), and(isNull("expires_at"), gt("created_at", isoAt(now - RETENTION)))),
  );

/** Where a block lies in the blob store. */
export const blockKey = (carveId: number, blockId: number): string => `${carveKeys(carveId)}${blockId}`;
export const carveKeys = (carveId: number): string => `${CARVE_KEYS}${carveId}/`;
export const CARVE_KEYS = "carves/";
