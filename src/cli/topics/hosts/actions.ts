// Shared by lock, unlock and wipe: selection of hosts, confirmation, the calls, and waiting for the outcome.

import * as Flags from "@oclif/core/flags";
import type { Approval } from "../../../api/hosts/approvals.ts";
import type { Host } from "../../../api/hosts/host.ts";
import type { BulkOutcome } from "../../../api/inventory/bulk-actions.ts";
import { hostsApi } from "../../../api/inventory/hosts.ts";
import { ApiCallError } from "../../../client/errors.ts";
import { plural } from "../../../text/plural.ts";
import { printable } from "../../../text/printable.ts";
import type { ClientCommand } from "../../client-command.ts";
import { CliError, errorReport, failed } from "../../errors.ts";
import type { View } from "../../output/output.ts";
import { asShown, needsApproval, selectionOfHosts, wouldNeedApproval } from "../../selection.ts";
import { type Going, interrupted, timeoutOf, waitFlags, waitFor } from "../../wait.ts";
import { previewBulk, runBulk, type SendBulk } from "./bulk.ts";
import { findTargets, shortNameOf, type Target, targetFlags } from "./targets.ts";

type Action = "lock" | "unlock" | "wipe";
type State = Pick<Host["mdm"], "device_status" | "pending_action"> & {
  unlock_pin?: string | undefined;
  approval?: Approval | undefined;
};
/** Request options that identify the host that was shown to the user. */
export interface AsShown {
  readonly headers: Record<string, string>;
}
/** `pending`: the host has not reported a result yet. */
interface ActionOutcome {
  readonly id: number;
  readonly host: string;
  readonly outcome: "done" | "failed" | "pending";
  readonly device_status: string;
  readonly pending_action: string;
  readonly unlock_pin?: string;
  readonly reason?: string;
  /** Set if no command was sent to the host, because another user must approve it first. */
  readonly approval_id?: number;
}

export const hostActionFlags = {
  reason: Flags.string({
    summary: "Why: recorded with the activity of each host, and shown to the user who approves a wipe.",
  }),
  ...waitFlags,
  ...targetFlags,
};

interface ActionFlags {
  readonly wait?: boolean | undefined;
  readonly timeout?: string | undefined;
  readonly where?: string | undefined;
  readonly "all-hosts"?: boolean | undefined;
  readonly "dry-run"?: boolean | undefined;
  readonly reason?: string | undefined;
}

/** What the body of one call for many hosts has besides the hosts. */
export interface ManyHosts {
  readonly ids: number[];
  readonly reason?: string;
}

/** Platforms whose users unlock the screen as usual: the devices do not stay locked. */
const unlockedByUsers: ReadonlySet<string> = new Set(["android"]);
const desiredStatus = { lock: "locked", unlock: "unlocked", wipe: "wiped" } as const;
/** Maximum number of concurrent calls. */
const MAX_CONCURRENT = 8;

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

/** What differs between the three commands. */
export interface HostAction {
  readonly action: Action;
  request(id: number, options: AsShown): Promise<State>;
  requestMany(hosts: ManyHosts, options: AsShown): Promise<BulkOutcome>;
  /** Whether these hosts are asked one by one, because the replies contain what users need of each. */
  isOneByOne?(hosts: readonly Target[]): boolean;
  /** Asks for confirmation; how strict that is depends on the action. */
  ask(question: string, hosts: readonly Target[]): Promise<void>;
}

export class HostActions {
  readonly #command: ClientCommand;
  readonly #steps: HostAction;

  constructor(command: ClientCommand, steps: HostAction) {
    this.#command = command;
    this.#steps = steps;
  }

  async act(names: readonly string[], flags: ActionFlags): Promise<void> {
    const timeout = timeoutOf(flags);
    const hosts = await findTargets(this.#command, names, flags, "lock");
    const target = shortNameOf(hosts);
    const { reason } = flags;
    const isBulk = reason !== undefined || (hosts.length > 1 && !this.#steps.isOneByOne?.(hosts));
    const send: SendBulk = (ids, options) =>
      this.#steps.requestMany({ ids, ...(reason === undefined ? {} : { reason }) }, options);
    const preview = isBulk ? await previewBulk(this.#command, hosts, send) : null;
    if (flags["dry-run"] === true) {
      const shown = hosts.map(({ id, display_name, platform, mdm }) => ({
        id,
        display_name,
        platform,
        device_status: mdm.device_status,
        pending_action: mdm.pending_action,
      }));
      const outcomes = preview === null ? await this.#beginAll(hosts) : [];
      for (const { host, reason } of outcomes) if (reason !== undefined) this.#command.note(`${host}: ${reason}`);
      await this.#command.printPlan(`${this.#steps.action} ${target}`, shown);
      return preview === null ? this.#conclude(outcomes) : this.#concludePreview(hosts, preview);
    }
    await this.#steps.ask(`${this.#steps.action[0]!.toUpperCase()}${this.#steps.action.slice(1)} ${target}?`, hosts);

    let outcomes = isBulk ? await this.#beginMany(hosts, send) : await this.#beginAll(hosts);
    let waited: unknown;
    if (flags.wait === true) {
      // The outcome of each host is also reported if the wait ends early.
      const progress = (now: ActionOutcome[]) => {
        outcomes = now;
      };
      waited = await this.#follow(outcomes, timeout, progress).catch((error: unknown) => error);
      if (waited instanceof Error && !(waited instanceof CliError)) throw waited;
    } else
      for (const outcome of outcomes)
        if (isOpen(outcome)) this.#command.note(`${outcome.host}: ${this.#pendingText(outcome)}`);
    await this.#command.printList(outcomes, view);
    this.#conclude(outcomes);
    if (waited) throw waited;
  }

  async #beginAll(hosts: readonly Target[]): Promise<ActionOutcome[]> {
    let requested = 0;
    try {
      return await inParts(hosts, async (host) => {
        const outcome = await this.#begin(host, hosts.length === 1);
        requested++;
        return outcome;
      });
    } catch (error) {
      if (!this.#command.stop.signal.aborted) throw error;
      throw interrupted({
        what: `${requested} of ${plural(hosts.length, "host")}: ${this.#steps.action} was requested`,
        hint: "`svc hosts upcoming HOST` shows pending actions, `svc hosts cancel` cancels them.",
      });
    }
  }

  /** One call for all hosts. */
  async #beginMany(hosts: readonly Target[], send: SendBulk): Promise<ActionOutcome[]> {
    const { outcome, results } = await runBulk(this.#command, hosts, send);
    const { approval } = outcome;
    const resultOf = byId(results);
    return hosts.map(({ id, display_name, mdm }): ActionOutcome => {
      const { device_status, pending_action } = mdm;
      const before = { id, host: printable(display_name), device_status, pending_action };
      if (approval) {
        const reason = `needs approval: svc approvals approve ${approval.id}`;
        return { ...before, outcome: "pending", reason, approval_id: approval.id };
      }
      const result = resultOf.get(id);
      if (result?.outcome === "done") return { ...before, outcome: "pending", pending_action: this.#steps.action };
      return { ...before, outcome: "failed", reason: printable(result?.reason ?? "the server has not reached it") };
    });
  }

  #concludePreview(hosts: readonly Target[], { skipped, skipped_reasons, approval }: BulkOutcome): void {
    const [host] = hosts;
    const [first] = skipped_reasons;
    if (first && hosts.length === 1) throw failed(`${printable(host!.display_name)}: ${printable(first.reason)}`);
    if (first && skipped === hosts.length) throw failed(`failed on all hosts: ${printable(first.reason)}`);
    if (skipped > 0) throw new CliError("partial", `${skipped} of ${plural(hosts.length, "host")} failed`);
    if (approval) throw wouldNeedApproval();
  }

  /** With several hosts, a refused host does not fail the others: the refusal is reported as its outcome. */
  async #begin({ id, display_name, mdm }: Target, alone: boolean): Promise<ActionOutcome> {
    const host = printable(display_name);
    try {
      const shown = await selectionOfHosts([{ id }]);
      const state = await asShown(shown, (options) => this.#steps.request(id, options));
      const { device_status, pending_action, unlock_pin, approval } = state;
      const pin = unlock_pin === undefined ? {} : { unlock_pin };
      if (approval) {
        const reason = this.#command.triesOut
          ? "needs approval"
          : `needs approval: svc approvals approve ${approval.id}`;
        return { id, host, outcome: "pending", device_status, pending_action, reason, approval_id: approval.id };
      }
      const begun = { id, host, device_status, pending_action, ...pin };
      return { ...begun, outcome: pending_action === "" && !needsPin(begun) ? "done" : "pending" };
    } catch (error) {
      const refused = error instanceof ApiCallError || (error instanceof CliError && error.kind === "conflict");
      if (alone || !refused) throw error;
      const { message, errors } = errorReport(error);
      const reason = errors[0]?.reason ?? message;
      const { device_status, pending_action } = mdm;
      return { id, host, outcome: "failed", device_status, pending_action, reason };
    }
  }

  async #follow(
    outcomes: readonly ActionOutcome[],
    timeout: string,
    report: (now: ActionOutcome[]) => void,
  ): Promise<void> {
    const progress = this.#command.progress(`waiting for ${plural(outcomes.length, "host")} ...`);
    let now = [...outcomes];
    const done = async () => {
      now = await inParts(now, (outcome) => (isOpen(outcome) ? this.#readOutcome(outcome) : Promise.resolve(outcome)));
      report(now);
      const open = now.filter(isOpen).length;
      progress.update(`${now.length - open} of ${plural(now.length, "host")} reported ...`);
      return open === 0;
    };
    const going = (): Going => {
      const open = now.filter(isOpen);
      return {
        what: `the ${this.#steps.action} is still pending on ${plural(open.length, "host")}`,
        hint: open.every(needsPin)
          ? "It ends when someone enters the PIN on the Mac."
          : "It runs when the host is online. `svc hosts upcoming HOST` shows it, `svc hosts cancel` cancels it.",
      };
    };
    await waitFor(this.#command.io, this.#command.stop.signal, { timeout, done, going }).finally(progress.done);
  }

  async #readOutcome(before: ActionOutcome): Promise<ActionOutcome> {
    const input = { params: { id: before.id }, query: { exclude_software: true } };
    try {
      const { mdm, platform } = (await this.#command.call(hostsApi.get, input)).host;
      const { device_status, pending_action, action_failure } = mdm;
      const state = { ...before, device_status, pending_action };
      if (pending_action === this.#steps.action) return state;
      if (device_status === desiredStatus[this.#steps.action]) return { ...state, outcome: "done" };
      if (this.#steps.action === "lock" && unlockedByUsers.has(platform) && action_failure === undefined)
        return { ...state, outcome: "done" };
      if (pending_action === "" && needsPin(state)) return state;
      return {
        ...state,
        outcome: "failed",
        reason: printable(action_failure ?? `the ${this.#steps.action} was cancelled`),
      };
    } catch (error) {
      if (!(error instanceof ApiCallError) || error.status !== 404) throw error;
      return { ...before, outcome: "failed", reason: "the host was deleted" };
    }
  }

  #pendingText(outcome: ActionOutcome): string {
    return needsPin(outcome)
      ? `enter the PIN ${outcome.unlock_pin} on the Mac to unlock it`
      : `${this.#steps.action} is pending`;
  }

  #conclude(outcomes: readonly ActionOutcome[]): void {
    const bad = outcomes.filter(({ outcome }) => outcome === "failed");
    const [first] = bad;
    if (first && outcomes.length === 1) throw failed(`${first.host}: ${first.reason}`);
    if (bad.length === outcomes.length) throw failed(`failed on all hosts: ${first?.reason}`);
    if (bad.length > 0) throw new CliError("partial", `${bad.length} of ${plural(outcomes.length, "host")} failed`);
    const ids = new Set(outcomes.flatMap(({ approval_id }) => approval_id ?? []));
    const approvals = [...ids].map((id) => ({ id }));
    if (approvals.length > 0) throw this.#command.triesOut ? wouldNeedApproval() : needsApproval(approvals);
  }
}

/** A Mac is unlocked by whoever enters its PIN. */
const needsPin = ({
  device_status,
  pending_action,
  unlock_pin,
}: Pick<ActionOutcome, "device_status" | "pending_action"> & {
  readonly unlock_pin?: string;
}): boolean => unlock_pin !== undefined && device_status === "locked" && pending_action === "";

const isOpen = ({ outcome, approval_id }: ActionOutcome): boolean => outcome === "pending" && approval_id === undefined;

const byId = <T extends { readonly id: number }>(rows: readonly T[]): ReadonlyMap<number, T> =>
  new Map(rows.map((row) => [row.id, row]));

async function inParts<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let at = 0; at < items.length; at += MAX_CONCURRENT)
    results.push(...(await Promise.all(items.slice(at, at + MAX_CONCURRENT).map(work))));
  return results;
}
