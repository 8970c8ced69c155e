// Pretends to install software: fetches what to do and a part of the file, and reports a result, or never does.
import type { Machine } from "../inventory/machine.ts";
import type { World } from "./world.ts";

/** The simulated time of an installation, in seconds. */
const INSTALL_S = 2;

type Details = {
  installer_id?: number;
  pre_install_condition?: string;
  install_script?: string;
  uninstall_script?: string;
  post_install_script?: string;
};
type Result = {
  install_uuid: string;
  pre_install_condition_output: string | null;
  install_script_exit_code: number;
  install_script_output: string;
  post_install_script_exit_code: number | null;
  post_install_script_output: string | null;
};
type Endpoint = "managed_install_details" | "managed_install_package" | "managed_install_result";
type InstallCall = (
  endpoint: Endpoint,
  body: Record<string, unknown>,
) => Promise<{ json: Record<string, unknown> } | null>;

export class Installs {
  readonly #world: World;
  readonly #machine: Machine;
  readonly #call: InstallCall;
  readonly #results: Result[] = [];
  /** Installs of which no result will be reported. */
  readonly #hung = new Set<string>();
  #count = 0;

  constructor(world: World, machine: Machine, call: InstallCall) {
    this.#world = world;
    this.#machine = machine;
    this.#call = call;
  }

  /** The number of results that the server has not accepted. */
  get undelivered(): number {
    return this.#results.length;
  }

  /** Installs once. The server lists an installation until it has the result, even while that is being sent. */
  async run(install_uuid: string): Promise<void> {
    const isKnown =
      this.#hung.has(install_uuid) || this.#results.some((result) => result.install_uuid === install_uuid);
    if (this.#world.stopping || isKnown) return;
    const answer = await this.#call("managed_install_details", { install_uuid });
    if (!answer) return;
    const details: Details = answer.json;
    if (!(await this.#call("managed_install_package", { installer_id: details.installer_id }))) return;
    const { installTimeouts } = this.#world.settings;
    const chance = this.#machine.random(70_000 + this.#count++);
    if (chance.chance(installTimeouts)) return void this.#hung.add(install_uuid);
    await this.#world.sleep(this.#world.interval(INSTALL_S));
    this.#results.push({
      install_uuid,
      ...this.#pretend(details, chance.chance(this.#world.settings.installFailures)),
    });
  }

  #pretend(details: Details, fails: boolean): Omit<Result, "install_uuid"> {
    const before = { pre_install_condition_output: details.pre_install_condition ? '[{"1":"1"}]' : null };
    const noPost = { post_install_script_exit_code: null, post_install_script_output: null };
    if (!this.#machine.runsScripts)
      return { ...before, install_script_exit_code: -2, install_script_output: "Scripts are disabled", ...noPost };
    const installed = { install_script_exit_code: 0, install_script_output: "installed" };
    if (!details.post_install_script) {
      const failed = { install_script_exit_code: 1, install_script_output: "FAILED: simulated failure" };
      return { ...before, ...(fails ? failed : installed), ...noPost };
    }
    const rolledBack = details.uninstall_script
      ? "FAILED: simulated failure, rolled back"
      : "FAILED: simulated failure";
    const post = fails
      ? { post_install_script_exit_code: 1, post_install_script_output: rolledBack }
      : { post_install_script_exit_code: 0, post_install_script_output: "checked" };
    return { ...before, ...installed, ...post };
  }

  async deliver(): Promise<void> {
    const { stats } = this.#world;
    for (let first = this.#results[0]; first !== undefined; first = this.#results[0]) {
      if (!(await this.#call("managed_install_result", first))) return;
      this.#results.shift();
      stats.installsRun++;
      if ((first.post_install_script_exit_code ?? first.install_script_exit_code) !== 0) stats.installsFailed++;
    }
  }
}
