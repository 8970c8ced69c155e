// What lock, unlock and wipe share: the hosts meant, the confirmation, the calls, and the wait for their outcome.
import * as Flags from "@oclif/core/flags";
import { type Host, hostsApi } from "../api/hosts.ts";
import { ApiCallError } from "../client/errors.ts";
import { ClientCommand } from "./client-command.ts";
import { CliError, failed, tell, usage } from "./errors.ts";
import { dryRunFlag } from "./flags.ts";
import type { View } from "./output.ts";
import { durationMs, plural, printable } from "./text.ts";

type Action = "lock" | "unlock" | "wipe";
type State = Pick<Host["mdm"], "device_status" | "pending_action"> & { unlock_pin?: string | undefined };
export type Target = Pick<Host, "id" | "hostname" | "display_name" | "platform" | "mdm">;

/** `pending`: the host has not told how it went. */
interface Outcome {
  readonly id: number;
  readonly host: string;
  readonly outcome: "done" | "failed" | "pending";
  readonly device_status: string;
  readonly pending_action: string;
  readonly unlock_pin?: string;
  readonly reason?: string;
}

export const hostActionFlags = {
  wait: Flags.boolean({ summary: "Wait until the hosts have told how it went." }),
  timeout: Flags.string({ summary: "How long to wait (10m).", helpValue: "10m", dependsOn: ["wait"] }),
  "all-hosts": Flags.boolean({ summary: "Say outright that every host is meant." }),
  ...dryRunFlag,
};

const wanted = { lock: "locked", unlock: "unlocked", wipe: "wiped" } as const;
/** Calls under way at once. */
const AT_ONCE = 8;
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 5_000;

const view: View = {
  columns: [
    { key: "id" },
    { key: "host" },
    { key: "outcome" },
    { key: "device_status", header: "state" },
    { key: "pending_action", header: "pending" },
    { key: "unlock_pin", header: "pin" },
    { key: "reason" },
  ],
};

export abstract class HostActionCommand extends ClientCommand {
  protected abstract readonly action: Action;
  protected abstract request(id: number): Promise<State>;
  /** Asks whether that is meant, by the danger of it. */
  protected abstract ask(question: string, hosts: readonly Target[]): Promise<void>;

  /** The host's name, by either of its names, or the number of hosts. */
  protected async askTyped(question: string, hosts: readonly Target[]): Promise<void> {
    const [host] = hosts;
    if (hosts.length !== 1 || !host) return this.confirmTyped(question, String(hosts.length));
    const { hostname, display_name } = host;
    await this.confirmTyped(question, this.common.confirm === hostname ? hostname : display_name);
  }

  protected async act(names: readonly string[], flags: Readonly<Record<string, unknown>>): Promise<void> {
    if (names.length === 0) throw usage("which hosts?", "Name them by id, hostname, uuid or serial number.");
    const given = String(flags.timeout ?? "10m");
    const timeout = durationMs(given, "--timeout");
    const hosts = await this.named(names);
    if (hosts.length > 1 && flags["all-hosts"] !== true) {
      const { count } = await this.call(hostsApi.count);
      if (hosts.length >= count)
        throw usage(`these are all ${hosts.length} hosts that you can see`, "Add --all-hosts if that is meant.");
    }
    const told = hosts.length === 1 ? printable(hosts[0]!.display_name) : plural(hosts.length, "host");
    if (flags["dry-run"] === true) {
      const shown = hosts.map(({ id, display_name, platform, mdm }) => ({
        id,
        display_name,
        platform,
        device_status: mdm.device_status,
        pending_action: mdm.pending_action,
      }));
      return this.printPlan(`${this.action} ${told}`, shown);
    }
    await this.ask(`${this.action[0]!.toUpperCase()}${this.action.slice(1)} ${told}?`, hosts);

    let outcomes = await inParts(hosts, (host) => this.begin(host, hosts.length === 1));
    if (flags.wait === true) outcomes = await this.follow(outcomes, timeout);
    else
      for (const { host, outcome } of outcomes)
        if (outcome === "pending") this.note(`${host}: ${this.action} is pending`);
    await this.printList(outcomes, view);
    this.conclude(outcomes, flags.wait === true, given);
  }

  /** Several hosts: each stands for itself, and its refusal is told beside the others' outcomes. */
  private async begin({ id, display_name, mdm }: Target, alone: boolean): Promise<Outcome> {
    const host = printable(display_name);
    try {
      const { device_status, pending_action, unlock_pin } = await this.request(id);
      const pin = unlock_pin === undefined ? {} : { unlock_pin };
      return { id, host, outcome: pending_action === "" ? "done" : "pending", device_status, pending_action, ...pin };
    } catch (error) {
      if (alone || !(error instanceof ApiCallError)) throw error;
      const { message, errors } = tell(error);
      const reason = errors[0]?.reason ?? message;
      const { device_status, pending_action } = mdm;
      return { id, host, outcome: "failed", device_status, pending_action, reason };
    }
  }

  private async follow(outcomes: readonly Outcome[], timeout: number): Promise<Outcome[]> {
    const progress = this.progress(`waiting for ${plural(outcomes.length, "host")} ...`);
    const started = this.io.now().getTime();
    let slept = 0;
    let now = [...outcomes];
    try {
      for (let pause = FIRST_WAIT_MS; now.some(({ outcome }) => outcome === "pending"); ) {
        const left = timeout - Math.max(slept, this.io.now().getTime() - started);
        if (left <= 0) break;
        const ms = Math.min(pause, left);
        await this.io.sleep(ms, this.stop.signal);
        slept += ms;
        pause = Math.min(LONGEST_WAIT_MS, pause * 1.5);
        now = await inParts(now, (one) => (one.outcome === "pending" ? this.look(one) : Promise.resolve(one)));
        const open = now.filter(({ outcome }) => outcome === "pending").length;
        progress.update(`${now.length - open} of ${plural(now.length, "host")} answered ...`);
      }
    } finally {
      progress.done();
    }
    return now;
  }

  private async look(before: Outcome): Promise<Outcome> {
    const input = { params: { id: before.id }, query: { exclude_software: true } };
    try {
      const { device_status, pending_action, action_failure } = (await this.call(hostsApi.get, input)).host.mdm;
      const state = { ...before, device_status, pending_action };
      if (pending_action === this.action) return state;
      if (device_status === wanted[this.action]) return { ...state, outcome: "done" };
      return { ...state, outcome: "failed", reason: printable(action_failure ?? `the ${this.action} was cancelled`) };
    } catch (error) {
      if (!(error instanceof ApiCallError) || error.status !== 404) throw error;
      return { ...before, outcome: "failed", reason: "the host was deleted" };
    }
  }

  private conclude(outcomes: readonly Outcome[], waited: boolean, timeout: string): void {
    const bad = outcomes.filter(({ outcome }) => outcome === "failed");
    const [first] = bad;
    if (first && outcomes.length === 1) throw failed(`${first.host}: ${first.reason}`);
    if (bad.length === outcomes.length) throw failed(`no host did: ${first?.reason}`);
    if (bad.length > 0) throw new CliError("partial", `${bad.length} of ${plural(outcomes.length, "host")} failed`);
    const open = outcomes.filter(({ outcome }) => outcome === "pending").length;
    if (waited && open > 0)
      throw new CliError(
        "pending",
        `after ${timeout} the ${this.action} is still pending on ${plural(open, "host")}`,
        "It stays so until the host is online. `svc hosts upcoming HOST` shows it, `svc hosts cancel` takes it back.",
      );
  }

  private async named(names: readonly string[]): Promise<Target[]> {
    const hosts = new Map<number, Target>();
    for (const name of names) {
      const { id, hostname, display_name, platform, mdm } = await this.host(name);
      hosts.set(id, { id, hostname, display_name, platform, mdm });
    }
    return [...hosts.values()];
  }
}

async function inParts<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const made: R[] = [];
  for (let at = 0; at < items.length; at += AT_ONCE)
    made.push(...(await Promise.all(items.slice(at, at + AT_ONCE).map(work))));
  return made;
}
