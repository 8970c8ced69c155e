// Matches new versions soon after hosts have reported them.

import { channels } from "../../../platform/core/channels.ts";
import { minutes, seconds } from "../../../platform/core/clock.ts";
import { steps, turns } from "../../../platform/core/concurrency/parts.ts";
import { startTriggeredTask, type TriggeredTask } from "../../../platform/core/concurrency/triggered-task.ts";
import type { Services } from "../../../platform/core/context.ts";
import { startedPart } from "../../../platform/core/running.ts";
import { eq, oneOf } from "../../../platform/store/query.ts";
import { type Library, openLibrary } from "../reference/library.ts";
import { currentData } from "../reference/sources.ts";
import { matchSystems } from "./batch.ts";
import { comparerOf } from "./compare.ts";
import { matchNew, progressOf } from "./run.ts";

export const vulnerabilityMatcher = startedPart("matching of new software", (services) =>
  VulnerabilityMatcher.start(services),
);

/** Keeps the reference files open between changes of hosts. */
class VulnerabilityMatcher {
  readonly #services: Services;
  readonly #stopping = new AbortController();
  /** The ids of operating systems that were matched with the open library. */
  readonly #matchedSystems = new Set<number>();
  #library: Library | null = null;
  #task!: TriggeredTask;
  #timer: NodeJS.Timeout | undefined;

  private constructor(services: Services) {
    this.#services = services;
  }

  static async start(services: Services): Promise<VulnerabilityMatcher> {
    const matcher = new VulnerabilityMatcher(services);
    matcher.#task = await startTriggeredTask(
      services,
      {
        channel: channels.softwareCounts,
        least: 300,
        more: 400,
        apart: seconds(1),
        failure: "cannot match new software with vulnerability data; trying again",
      },
      () => matcher.#match(),
    );
    // Operating systems change without their software.
    matcher.#timer = setInterval(() => matcher.#task.plan(), minutes(1));
    matcher.#timer.unref();
    return matcher;
  }

  run(): Promise<void> {
    return this.#task.run();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    clearInterval(this.#timer);
    await this.#task.stop();
    await this.#library?.close();
  }

  async #match(): Promise<void> {
    const services = this.#services;
    const { store } = services;
    const { signal } = this.#stopping;
    if (signal.aborted) return;
    // While all versions are being matched, new ones are among them.
    if (!(await progressOf(services))?.finished_at) return;
    const systems = (await store.osVersions.pick(["id"])).filter(({ id }) => !this.#matchedSystems.has(id));
    const hasNew = (await store.software.pick(["id"], { where: eq("is_matched", false), limit: 1 })).length > 0;
    if (systems.length === 0 && !hasNew) return;
    const comparer = comparerOf(await this.#currentLibrary(), turns());
    const rows = await store.osVersions.list({
      where: oneOf(
        "id",
        systems.map(({ id }) => id),
      ),
    });
    await matchSystems(services, rows, { comparer, signal });
    for (const { id } of rows) this.#matchedSystems.add(id);
    await matchNew(services, comparer, { signal, step: steps() });
  }

  async #currentLibrary(): Promise<Library> {
    const open = this.#library;
    if (open !== null && open.data === (await currentData(this.#services))) return open;
    await open?.close();
    this.#matchedSystems.clear();
    this.#library = await openLibrary(this.#services);
    return this.#library;
  }
}
