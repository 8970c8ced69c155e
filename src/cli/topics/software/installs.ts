// What `svc software install` and `svc software uninstall` share: how hosts are asked, and followed together.

import * as Flags from "@oclif/core/flags";
import type { BulkOutcome } from "../../../api/inventory/bulk-actions.ts";
import { hostsApi } from "../../../api/inventory/hosts.ts";
import type { HostSoftwareItem } from "../../../api/software/software.ts";
import { ApiCallError } from "../../../client/errors.ts";
import { printable } from "../../../text/printable.ts";
import type { ClientCommand } from "../../client-command.ts";
import { CliError, errorReport, notFound } from "../../errors.ts";
import type { View } from "../../output/output.ts";
import { timeoutOf, waitFlags } from "../../wait.ts";
import { type BulkOptions, previewBulk, runBulk, type SendBulk } from "../hosts/bulk.ts";
import {
  askIfSelected,
  concludeAll,
  confirmFlag,
  findTargets,
  followAll,
  shortNameOf,
  type Target,
  targetFlags,
} from "../hosts/targets.ts";
import { offered, oneNamed, titleNamed } from "./titles.ts";

export interface InstallOutcome {
  readonly host: string;
  readonly host_id: number;
  readonly software_title_id: number;
  /** Status in the host's software, or `refused`, or `canceled`. */
  readonly status: string;
  readonly message: string;
  readonly output: string;
  /** The uuid of the installation, the store's command, or the script that uninstalls. */
  readonly uuid: string;
}

const view: View = {
  columns: [{ key: "host" }, { key: "status" }, { key: "message" }, { key: "output", block: true }, { key: "uuid" }],
};

export const installFlags = {
  title: Flags.string({
    summary: "Id or name of the software title, as `svc hosts software HOST --available-for-install` shows it.",
    required: true,
  }),
  ...waitFlags,
  ...targetFlags,
  ...confirmFlag,
};

interface InstallFlags {
  readonly title: string;
  readonly wait?: boolean | undefined;
  readonly timeout?: string | undefined;
  readonly "dry-run"?: boolean | undefined;
  readonly where?: string | undefined;
  readonly "all-hosts"?: boolean | undefined;
}

/** What differs between the two commands. */
export interface InstallSteps {
  /** The command's own name. */
  readonly verb: "install" | "uninstall";
  /** The status of a host that has done it. */
  readonly done: string;
  ask(hostId: number, titleId: number): Promise<unknown>;
  /** One call for many hosts, where there is one. */
  askMany?(titleId: number, hostIds: number[], options: BulkOptions): Promise<BulkOutcome>;
  /** The id of what was just asked for. */
  uuidIn(item: HostSoftwareItem | undefined): string;
  look(before: InstallOutcome): Promise<InstallOutcome>;
}

export class Installs {
  readonly #command: ClientCommand;
  readonly #steps: InstallSteps;

  constructor(command: ClientCommand, steps: InstallSteps) {
    this.#command = command;
    this.#steps = steps;
  }

  async carryOut(names: readonly string[], flags: InstallFlags): Promise<void> {
    const timeout = timeoutOf(flags);
    const hosts = await findTargets(this.#command, names, flags, "install");
    const groups = hosts.length > 1 && this.#steps.askMany ? await this.#groupsOf(hosts, flags.title) : null;
    if (groups !== null) for (const group of groups) await this.#preview(group);
    if (flags["dry-run"] && groups !== null) {
      const shown = { hosts: hosts.map(({ id }) => id), title: flags.title };
      return this.#command.printPlan(`${this.#steps.verb} ${printable(flags.title)} on ${shortNameOf(hosts)}`, shown);
    }
    if (flags["dry-run"])
      this.#command.trying(`${this.#steps.verb} ${printable(flags.title)} on ${shortNameOf(hosts)}`, {
        hosts: hosts.map(({ id }) => id),
        title: flags.title,
      });
    const question = `${this.#steps.verb === "install" ? "Install" : "Uninstall"} ${printable(flags.title)} on`;
    await askIfSelected(this.#command, `${question} ${shortNameOf(hosts)}?`, names, hosts);
    let now: InstallOutcome[] = [];
    if (groups !== null) for (const group of groups) now.push(...(await this.#beginGroup(group)));
    else for (const host of hosts) now.push(await this.#begin(host, flags.title, hosts.length === 1));
    let waited: unknown;
    if (flags.wait)
      waited = await this.#follow(now, timeout, (seen) => {
        now = seen;
      }).catch((error: unknown) => error);
    await this.#command.printListOrOne(now, view);
    if (waited) throw waited;
    this.#conclude(now, flags.wait === true);
  }

  async #begin(host: Target, title: string, alone: boolean): Promise<InstallOutcome> {
    const name = printable(host.display_name);
    let titleId = 0;
    try {
      titleId = await this.#titleOn(host.id, title);
      await this.#steps.ask(host.id, titleId);
    } catch (error) {
      if (alone || !(error instanceof ApiCallError || error instanceof CliError)) throw error;
      const { message, errors } = errorReport(error);
      const reason = errors[0]?.reason ?? message;
      return outcome(name, host.id, titleId, { status: "refused", message: reason });
    }
    const uuid = this.#steps.uuidIn(await this.itemOn(host.id, titleId));
    return outcome(name, host.id, titleId, {
      status: `pending_${this.#steps.verb}`,
      message: "waiting for the host",
      uuid,
    });
  }

  /** The hosts by the title that their team offers with this id or name. */
  async #groupsOf(hosts: readonly Target[], title: string): Promise<TitleGroup[]> {
    const groups = new Map<number | null, Target[]>();
    const titles = new Map<number, number | null>();
    for (const host of hosts) {
      const team = host.team_id ?? 0;
      if (!titles.has(team)) titles.set(team, await this.#titleIn(team, title));
      const titleId = titles.get(team)!;
      groups.set(titleId, [...(groups.get(titleId) ?? []), host]);
    }
    return [...groups].map(([titleId, members]) => ({ titleId, hosts: members }));
  }

  /** Null: the team offers no title with this name. */
  async #titleIn(team: number, title: string): Promise<number | null> {
    try {
      return await titleNamed(await this.#command.client(), title, offered(team));
    } catch (error) {
      if (error instanceof CliError && error.kind === "not_found") return null;
      throw error;
    }
  }

  #sendTo(titleId: number): SendBulk {
    return (ids, options) => this.#steps.askMany!(titleId, ids, options);
  }

  async #preview({ titleId, hosts }: TitleGroup): Promise<void> {
    if (titleId === null) this.#command.note(`left out: ${shortNameOf(hosts)}: ${NOT_OFFERED}`);
    else await previewBulk(this.#command, hosts, this.#sendTo(titleId));
  }

  async #beginGroup({ titleId, hosts }: TitleGroup): Promise<InstallOutcome[]> {
    const refused = (host: Target, message: string) =>
      outcome(printable(host.display_name), host.id, titleId ?? 0, { status: "refused", message });
    if (titleId === null) return hosts.map((host) => refused(host, NOT_OFFERED));
    const { results } = await runBulk(this.#command, hosts, this.#sendTo(titleId));
    const resultOf = new Map(results.map((result) => [result.id, result]));
    return hosts.map((host) => {
      const result = resultOf.get(host.id);
      if (result?.outcome !== "done") return refused(host, result?.reason ?? "the server has not reached it");
      const started = {
        status: `pending_${this.#steps.verb}`,
        message: "waiting for the host",
        uuid: result.reference,
      };
      return outcome(printable(host.display_name), host.id, titleId, started);
    });
  }

  async #titleOn(hostId: number, title: string): Promise<number> {
    if (/^\d{1,15}$/.test(title)) return Number(title);
    const offered = await this.#softwareOn(hostId, { available_for_install: true, query: title });
    const match = oneNamed(offered, title);
    if (match) return match.id;
    const hint = `\`svc hosts software ${hostId} --available-for-install\` shows what is offered.`;
    throw notFound(`the host is offered no software with the name ${JSON.stringify(title)}`, hint);
  }

  async itemOn(hostId: number, titleId: number): Promise<HostSoftwareItem | undefined> {
    for (const query of [{ available_for_install: true }, {}]) {
      const item = (await this.#softwareOn(hostId, query)).find(({ id }) => id === titleId);
      if (item) return item;
    }
    return undefined;
  }

  async #softwareOn(hostId: number, query: { available_for_install?: boolean; query?: string }) {
    const client = await this.#command.client();
    return (await client.all(hostsApi.software, { params: { id: hostId }, query }, "software")).rows;
  }

  #follow(begun: readonly InstallOutcome[], timeout: string, report: (now: InstallOutcome[]) => void): Promise<void> {
    return followAll(this.#command, begun, {
      timeout,
      isOpen: ({ status }) => status.startsWith("pending_"),
      look: (before) => this.#steps.look(before),
      report,
      going: (hosts) => ({
        what: `${hosts} did not report a result yet`,
        hint: "`svc hosts software HOST` shows the state, `svc hosts cancel` cancels what has not started.",
      }),
    });
  }

  #conclude(outcomes: readonly InstallOutcome[], isOver: boolean): void {
    const bad = outcomes.filter(({ status }) => status === "refused" || (isOver && status !== this.#steps.done));
    concludeAll(
      outcomes,
      bad.map(({ host, message, status }) => ({ host, reason: message || status })),
    );
  }
}

const NOT_OFFERED = "the team of the host offers no software with this name";

/** Hosts on which one title is installed; null: their teams do not offer it. */
interface TitleGroup {
  readonly titleId: number | null;
  readonly hosts: readonly Target[];
}

const outcome = (
  host: string,
  host_id: number,
  software_title_id: number,
  rest: Pick<InstallOutcome, "status" | "message"> & Partial<InstallOutcome>,
): InstallOutcome => ({ host, host_id, software_title_id, output: "", uuid: "", ...rest });
