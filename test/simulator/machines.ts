import { DEFAULT_FLAGS } from "../../src/simulator/agent/world.ts";
import { Machine, type MachineSettings } from "../../src/simulator/inventory/machine.ts";
import { platformMix } from "../../src/simulator/inventory/platforms.ts";
import { type MachineState, MachineView } from "../../src/simulator/inventory/view.ts";
import { answerSql } from "../../src/simulator/sql/answer.ts";

export function makeMachine(platform?: string, settings: Partial<MachineSettings> = {}, index = 0): Machine {
  const platforms = platformMix(platform ? [platform] : undefined);
  return new Machine({ seed: 7, platforms, softwarePerHost: 100, quirks: false, managed: 0, ...settings }, index);
}

/** The first machine of the given platform. */
export function findMachine(
  platform: string,
  wanted: (machine: Machine) => boolean,
  settings: Partial<MachineSettings> = {},
) {
  for (let index = 0; index < 2000; index++) {
    const machine = makeMachine(platform, settings, index);
    if (wanted(machine)) return machine;
  }
  throw new Error(`no such ${platform} machine`);
}

export function view(machine: Machine, state: Partial<MachineState> = {}): MachineView {
  return new MachineView(machine, {
    unixTime: 1_760_000_000,
    bootedAt: 1_759_990_000,
    agentStartedAt: 1_759_990_100,
    changes: 0,
    flags: DEFAULT_FLAGS,
    schedule: () => [],
    ...state,
  });
}

export const ask = (machine: Machine, sql: string, state: Partial<MachineState> = {}) =>
  answerSql(sql, view(machine, state));
