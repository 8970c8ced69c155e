// A simulated Android device: it applies the policies that it is given, does commands, and reports both.

import { mix, Random } from "../random.ts";
import { AgentApp } from "./agent-app.ts";
import type { AndroidFacts } from "./facts.ts";
import type { EnrollmentToken } from "./stand-in.ts";
import type { DeviceWorld } from "./world.ts";

type Json = Readonly<Record<string, unknown>>;

interface AppliedPolicy {
  readonly policyName: string;
  readonly version: number;
  /** Settings that the device could not apply. */
  readonly problems: readonly Json[];
}

export class AndroidDevice {
  readonly facts: AndroidFacts;
  readonly name: string;
  policyName = "";
  isEnrolled = false;
  hasLeft = false;
  readonly #world: DeviceWorld;
  readonly #random: Random;
  #agent: AgentApp;
  #token: EnrollmentToken | null = null;
  #applied: AppliedPolicy = { policyName: "", version: 0, problems: [] };
  #isApplying = false;

  constructor(world: DeviceWorld, enterprise: string, facts: AndroidFacts, index: number) {
    this.#world = world;
    this.facts = facts;
    this.name = `${enterprise}/devices/${facts.id}`;
    this.#random = new Random(mix(world.seed, index, 44));
    this.#agent = this.#newAgent();
  }

  /** The vendor's description of the device. */
  describe(): Json {
    const { policyName, version, problems } = this.#applied;
    const state = this.hasLeft ? "DELETED" : "ACTIVE";
    return {
      ...this.facts.description,
      name: this.name,
      state,
      appliedState: state,
      enrollmentTokenData: this.#token?.additionalData ?? "",
      policyName: this.policyName,
      appliedPolicyName: policyName,
      appliedPolicyVersion: String(version),
      policyCompliant: problems.length === 0,
      nonComplianceDetails: problems,
      lastStatusReportTime: new Date(this.#world.now()).toISOString(),
    };
  }

  /** The user enters the token. Resolves when the server has taken the news, or the fleet has ended. */
  async enroll(token: EnrollmentToken): Promise<void> {
    this.#token = token;
    this.#agent = this.#newAgent();
    this.policyName = token.policyName;
    this.hasLeft = false;
    const isTaken = await this.#world.messages.send("ENROLLMENT", this.describe());
    if (!isTaken) return;
    this.isEnrolled = true;
    this.#world.stats.enrolled++;
    this.applySoon();
  }

  /** The device's policy has changed, or it got another one. */
  applySoon(): void {
    if (this.#isApplying || this.hasLeft) return;
    this.#isApplying = true;
    this.#soon(async () => {
      this.#isApplying = false;
      this.#apply();
      await this.report();
      await this.#agent.configured(this.#world.standIn.policies.get(this.policyName)?.content ?? {});
    });
  }

  #newAgent(): AgentApp {
    return new AgentApp(this.#world, () => this.#random.chance(this.#world.errors));
  }

  #apply(): void {
    const { standIn, stats, errors } = this.#world;
    const version = standIn.versionOf(this.policyName);
    const isNew = version !== this.#applied.version || this.policyName !== this.#applied.policyName;
    const [setting] = Object.keys(standIn.policies.get(this.policyName)?.content ?? {});
    const fails = isNew ? this.#random.chance(errors) : this.#applied.problems.length > 0;
    const problems = fails && setting ? [{ settingName: setting, nonComplianceReason: "USER_ACTION" }] : [];
    if (isNew) stats[problems.length > 0 ? "partly" : "applied"]++;
    this.#applied = { policyName: this.policyName, version, problems };
  }

  async report(): Promise<void> {
    if (this.#token !== null) await this.#world.messages.send("STATUS_REPORT", this.describe());
  }

  perform(operation: string, command: Json): void {
    const { stats, notNow, postponedSeconds, work } = this.#world;
    const isAway = this.#random.chance(notNow);
    if (isAway) stats.postponed++;
    if (isAway) work.after(postponedSeconds, () => this.#answer(operation, command));
    else this.#soon(() => this.#answer(operation, command));
  }

  async #answer(name: string, command: Json): Promise<void> {
    const { standIn, stats, errors, messages } = this.#world;
    if (this.hasLeft) return;
    const fails = this.#random.chance(errors);
    stats[fails ? "refused" : "done"]++;
    const operation = {
      name,
      metadata: { ...command, ...(fails ? { errorCode: "API_LEVEL" } : {}) },
      done: true,
      ...(fails ? { error: { code: 9, message: "the device does not support the command" } } : { response: {} }),
    };
    standIn.operations.set(name, operation);
    await messages.send("COMMAND", operation);
    if (command.type === "WIPE" && !fails) await this.#leave();
  }

  /** The vendor has deleted it, or it was erased. */
  remove(): void {
    this.#soon(() => this.#leave());
  }

  async #leave(): Promise<void> {
    if (this.hasLeft) return;
    const { stats, messages } = this.#world;
    this.hasLeft = true;
    this.isEnrolled = false;
    stats.left++;
    if (!this.facts.isPersonal) stats.wiped++;
    await messages.send("STATUS_REPORT", this.describe());
  }

  #soon(work: () => Promise<void>): void {
    this.#world.work.after(this.#random.next() * this.#world.reactionSeconds, work);
  }
}
