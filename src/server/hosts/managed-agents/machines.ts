// Decides which machine has an agent's key. A machine that was cloned with its agent has the key, and often the
// hardware UUID, of the original. Our agent therefore sends with each call its hardware UUID and its run: a random text
// of this process that no copy of its files has. Agents of others send neither, and are not compared.

import { isoAt, seconds } from "../../platform/core/clock.ts";
import { limit } from "../../platform/core/limits.ts";

/** What an agent sends of its machine. */
export interface Machine {
  readonly run: string;
  readonly hardware_uuid: string;
}

export interface Run {
  readonly run: string;
  /** When another run took its place; null: it is the current one. */
  readonly replaced_at: string | null;
}

/** What is stored of the machine that uses a host's key. */
export interface StoredMachine {
  /** Null: nothing is known, as for agents of others. */
  readonly hardware_uuid: string | null;
  /** In the order in which they were first seen. */
  readonly runs: readonly Run[];
}

export const noMachine: StoredMachine = { hardware_uuid: null, runs: [] };

/**
 * - `same`: the current run.
 * - `starts`: a run that is seen for the first time: the agent has restarted, or a copy of it was started.
 * - `late`: a replaced run whose request may have been under way when its process ended.
 * - `returns`: a run that was replaced, and is still there: what has replaced it runs on another machine.
 * - `copy`: a run that another machine has replaced by returning.
 * - `other hardware`: the key was copied to a machine with another hardware UUID.
 */
export type MachineVerdict = "same" | "starts" | "late" | "returns" | "copy" | "other hardware";

/** Requests of a process that has ended do not arrive later than this. */
const LATE_SPAN = seconds(10);
/** Enough for many restarts and clones at the same time; the oldest ones are forgotten. */
export const agentRuns = limit({
  what: "processes of an agent that are told apart, to find cloned machines",
  max: 64,
  unit: "entries",
  per: "host",
  beyond: "The oldest are forgotten.",
});

export const currentRun = ({ runs }: StoredMachine): string | null =>
  runs.find(({ replaced_at }) => replaced_at === null)?.run ?? null;

const isSameUuid = (uuid: string, other: string): boolean => uuid.toLowerCase() === other.toLowerCase();

/**
 * Judges a call, and returns what is to be stored afterwards. Of two machines with one key, the one whose run was seen
 * first keeps it.
 */
export function judge(
  stored: StoredMachine,
  { run, hardware_uuid }: Machine,
  now: number,
): [MachineVerdict, StoredMachine] {
  if (stored.hardware_uuid !== null && !isSameUuid(stored.hardware_uuid, hardware_uuid))
    return ["other hardware", stored];
  const { runs } = stored;
  const current = runs.findIndex(({ replaced_at }) => replaced_at === null);
  const at = runs.findIndex((each) => each.run === run);
  if (at < 0) {
    const replaced = runs.map((each) => (each.replaced_at === null ? { ...each, replaced_at: isoAt(now) } : each));
    return ["starts", { hardware_uuid, runs: [...replaced, { run, replaced_at: null }].slice(-agentRuns.max) }];
  }
  if (at === current) return ["same", stored];
  if (at > current) return ["copy", stored];
  if (now - Date.parse(runs[at]!.replaced_at!) < LATE_SPAN) return ["late", stored];
  return ["returns", { ...stored, runs: returned(runs, at, now) }];
}

/** An enrollment is sent once, at the start or after a key was refused, so it is never late. */
export function judgeEnrollment(stored: StoredMachine, machine: Machine, now: number): [MachineVerdict, StoredMachine] {
  // The enrollment replaces the key, whoever had it.
  const isOther = stored.hardware_uuid !== null && !isSameUuid(stored.hardware_uuid, machine.hardware_uuid);
  const [verdict, next] = judge(isOther ? noMachine : stored, machine, now);
  if (verdict !== "late") return [verdict, next];
  const at = stored.runs.findIndex(({ run }) => run === machine.run);
  return ["returns", { ...stored, runs: returned(stored.runs, at, now) }];
}

const returned = (runs: readonly Run[], at: number, now: number): readonly Run[] =>
  runs.map((each, i) => {
    if (i === at) return { ...each, replaced_at: null };
    return each.replaced_at === null ? { ...each, replaced_at: isoAt(now) } : each;
  });
