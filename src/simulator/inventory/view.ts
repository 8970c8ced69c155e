import { versionCompare } from "../../agent-wire/version-compare.ts";
import { NoModel } from "../sql/answer.ts";
import type { SqlRow, TableData, Tables } from "../sql/execute.ts";
import type { Machine } from "./machine.ts";
import { agentTables } from "./table-names.ts";
import type { TableSpec } from "./table-spec.ts";
import { ACCOUNT_TABLES } from "./tables-accounts.ts";
import { DEVICE_TABLES } from "./tables-device.ts";
import { EVENT_TABLES } from "./tables-events.ts";
import { NETWORK_TABLES } from "./tables-network.ts";
import { SOFTWARE_TABLES } from "./tables-software.ts";
import { SYSTEM_TABLES } from "./tables-system.ts";

export type ScheduledStats = {
  name: string;
  query: string;
  interval: number;
  executions: number;
  lastExecuted: number;
  outputSize: number;
};

/** The state of a machine that changes while it runs. */
export type MachineState = {
  unixTime: number;
  bootedAt: number;
  agentStartedAt: number;
  /** The number of changes of its software. */
  changes: number;
  flags: Readonly<Record<string, string>>;
  schedule: () => ScheduledStats[];
};

const SPECS: Readonly<Record<string, TableSpec>> = {
  ...SYSTEM_TABLES,
  ...DEVICE_TABLES,
  ...NETWORK_TABLES,
  ...ACCOUNT_TABLES,
  ...SOFTWARE_TABLES,
  ...EVENT_TABLES,
};

/** The tables of one machine at one moment. */
export class MachineView implements Tables {
  readonly machine: Machine;
  readonly state: MachineState;
  readonly #built = new Map<string, TableData>();

  constructor(machine: Machine, state: MachineState) {
    this.machine = machine;
    this.state = state;
  }

  table(name: string, beside: ReadonlySet<string> = NOTHING): TableData | null {
    const spec = this.#specOf(name);
    if (!spec) {
      if (this.#knows(name)) throw new NoModel(name);
      return null;
    }
    let data = this.#built.get(name);
    if (!data) {
      data = { columns: spec.columns, rows: spec.rows(this) };
      this.#built.set(name, data);
    }
    if (spec.perUserSince && versionCompare(this.machine.agentVersion, spec.perUserSince) < 0) {
      return { columns: data.columns.filter((column) => column !== "uid"), rows: data.rows };
    }
    // Without a join with users, such tables return only the rows of the agent's own user.
    if (!spec.perUser || beside.has("users")) return data;
    const { rows } = data;
    return { columns: data.columns, rows: rows.filter((row) => row.uid === 0) };
  }

  rowsOf(name: string): readonly SqlRow[] {
    return this.table(name)?.rows ?? [];
  }

  /** Table names for osquery_registry. */
  tableNames(): string[] {
    const { family } = this.machine.platform;
    const modelled = Object.keys(SPECS).filter((name) => this.#specOf(name));
    return [...new Set([...modelled, ...agentTables(family)])].filter((name) => this.#knows(name)).sort();
  }

  #knows(name: string): boolean {
    const spec = SPECS[name];
    if (spec?.since && versionCompare(this.machine.agentVersion, spec.since) < 0) return false;
    return this.#specOf(name) !== null || agentTables(this.machine.platform.family).has(name);
  }

  #specOf(name: string): TableSpec | null {
    const spec = Object.hasOwn(SPECS, name) ? SPECS[name] : undefined;
    if (!spec?.families.includes(this.machine.platform.family)) return null;
    if (spec.managed && !this.machine.managed) return null;
    if (spec.since && versionCompare(this.machine.agentVersion, spec.since) < 0) return null;
    return spec;
  }
}

const NOTHING: ReadonlySet<string> = new Set();
