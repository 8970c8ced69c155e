// Reconciles soon after changes: of profiles, labels, teams of hosts, and enrollments. The job compares everything.
import { ALL_MEMBERS, channels, HOSTS_MOVED } from "../../platform/core/channels.ts";
import { minutes } from "../../platform/core/clock.ts";
import { startTriggeredTask } from "../../platform/core/concurrency/triggered-task.ts";
import type { Job } from "../../platform/core/job.ts";
import { startedPart } from "../../platform/core/running.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { type Extent, profilesWithLabels, reconcile } from "./reconcile.ts";

/** Call this in the transaction of a change, so that profiles are compared after its commit. */
export function notifyProfiles(store: Pick<ServerTx, "notify">, extent: Extent): Promise<void> {
  const text = JSON.stringify(extent);
  return store.notify(channels.profiles, text.length <= 7000 ? text : "{}");
}

/** What messages have asked for since the last run. */
class Pending {
  isWhole = false;
  readonly profiles = new Set<number>();
  readonly hosts = new Set<number>();
  readonly labels = new Set<number>();

  add({ profileIds, hostIds }: Extent): void {
    if (profileIds === undefined && hostIds === undefined) this.isWhole = true;
    for (const id of profileIds ?? []) this.profiles.add(id);
    for (const id of hostIds ?? []) this.hosts.add(id);
  }

  take(): Pick<Pending, "isWhole"> & { profiles: number[]; hosts: number[]; labels: number[] } {
    const taken = {
      isWhole: this.isWhole,
      profiles: [...this.profiles],
      hosts: [...this.hosts],
      labels: [...this.labels],
    };
    this.isWhole = false;
    for (const part of [this.profiles, this.hosts, this.labels]) part.clear();
    return taken;
  }
}

export const profileReconciler = startedPart("profiles", async (services) => {
  const { store } = services;
  const pending = new Pending();
  const all = () => {
    pending.isWhole = true;
  };
  // A server that was killed may have left changes that nobody has compared.
  all();
  // The listeners for extents are called before that of the task, which then finds what they have noted.
  const stops = [await store.listen(channels.profiles, (payload) => pending.add(JSON.parse(payload) as Extent), all)];
  const task = await startTriggeredTask(
    services,
    { channel: channels.profiles, least: 100, more: 400, failure: "cannot deliver profiles; trying again" },
    async () => {
      const { isWhole, profiles, hosts, labels } = pending.take();
      try {
        if (isWhole) return await reconcile(services, {});
        if (labels.length > 0) profiles.push(...(await profilesWithLabels(store, labels)));
        if (profiles.length > 0) await reconcile(services, { profileIds: [...new Set(profiles)] });
        if (hosts.length > 0) await reconcile(services, { hostIds: hosts });
      } catch (error) {
        // The next run has more to do than was asked for since.
        all();
        throw error;
      }
    },
  );
  stops.push(
    await store.listen(
      channels.labelMembers,
      (payload) => {
        if (payload === HOSTS_MOVED) all();
        else if (payload !== ALL_MEMBERS) for (const id of JSON.parse(payload) as number[]) pending.labels.add(id);
        task.plan();
      },
      all,
    ),
  );
  stops.push(
    await store.listen(
      channels.endUsers,
      (payload) => {
        if (payload === "*") all();
        else for (const id of JSON.parse(payload) as number[]) pending.hosts.add(id);
        task.plan();
      },
      all,
    ),
  );
  return {
    ...task,
    async stop() {
      for (const stop of stops) await stop();
      await task.stop();
    },
  };
});

/** Compares all profiles with all hosts. */
export const profilesJob: Job = {
  name: "profiles",
  every: minutes(10),
  async run(services, signal) {
    await reconcile(services, {}, signal);
  },
};
