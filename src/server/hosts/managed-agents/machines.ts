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
export interface KnownMachine {
  /** Null: nothing is known, as for agents of others. */
  readonly hardware_uuid: string | null;
  /** In the order in which they were first seen. */
  readonly runs: readonly Run[];
}

export const noMachine: KnownMachine = { hardware_uuid: null, runs: [] };

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
const LATE = seconds(10);
/** Enough for many restarts and clones at the same time; the oldest ones are forgotten. */
export const agentRuns = limit({
  what: "processes of an agent that are told apart, to find cloned machines",
  max: 64,
  unit: "entries",
  per: "host",
  beyond: "The oldest are forgotten.",
});

export const currentRun = ({ runs }: KnownMachine): string | null =>
  runs.find(({ replaced_at }) => replaced_at === null)?.run ?? null;

const isSameUuid = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();

/**
 * Judges a call, and returns what is to be stored afterwards. Of two machines with one key, the one whose run was seen
 * first keeps it.
 */
export function judge(
  known: KnownMachine,
  { run, hardware_uuid }: Machine,
  now: number,
): [MachineVerdict, KnownMachine] {
  if (known.hardware_uuid !== null && !isSameUuid(known.hardware_uuid, hardware_uuid)) return ["other hardware", known];
  const { runs } = known;
  const current = runs.findIndex(({ replaced_at }) => replaced_at === null);
  const at = runs.findIndex((one) => one.run === run);
  if (at < 0) {
    const replaced = runs.map((one) => (one.replaced_at === null ? { ...one, replaced_at: isoAt(now) } : one));
    return ["starts", { hardware_uuid, runs: [...replaced, { run, replaced_at: null }].slice(-agentRuns.max) }];
  }
  if (at === current) return ["same", known];
  if (at > current) return ["copy", known];
  if (now - Date.parse(runs[at]!.replaced_at!) < LATE) return ["late", known];
  return ["returns", { ...known, runs: returned(runs, at, now) }];
}

/** An enrollment is sent once, at the start or after a key was refused, so it is never late. */
export function judgeEnrollment(known: KnownMachine, machine: Machine, now: number): [MachineVerdict, KnownMachine] {
  // The enrollment replaces the key, whoever had it.
  const isOther = known.hardware_uuid !== null && !isSameUuid(known.hardware_uuid, machine.hardware_uuid);
  const [verdict, next] = judge(isOther ? noMachine : known, machine, now);
  if (verdict !== "late") return [verdict, next];
  const at = known.runs.findIndex(({ run }) => run === machine.run);
  return ["returns", { ...known, runs: returned(known.runs, at, now) }];
}

const returned = (runs: readonly Run[], at: number, now: number): readonly Run[] =>
  runs.map((one, i) => {
    if (i === at) return { ...one, replaced_at: null };
    return one.replaced_at === null ? { ...one, replaced_at: isoAt(now) } : one;
  });
