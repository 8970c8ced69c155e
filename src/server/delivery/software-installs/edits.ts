// What changes of packages, and moves of hosts, mean for installations.

import { isOpen, lockOperations } from "../../hosts/operations/queue.ts";
import { operations } from "../../hosts/operations/tables.ts";
import { recordEntries } from "../../platform/activities/record.ts";
import type { Context } from "../../platform/core/context.ts";
import { and, eq, everything, exists, not, oneOf, type Predicate } from "../../platform/store/query.ts";
import type { Installer } from "../../software/installers/hosts.ts";
import type { InstallerListener } from "../../software/installers/service.ts";
import { forgetInstallsOf, forgetPendingInstalls } from "../../software/software/install-status.ts";
import { cancelRun } from "./kinds.ts";
import { isPending, refreshStatus } from "./status.ts";

/** What hosts have not begun is cancelled. What they have begun goes on with the file and the scripts that they have. */
async function cancelWaiting(inside: Context, { id }: Pick<Installer, "id">, which: Predicate): Promise<void> {
  const { store } = inside;
  const waiting = and(
    eq("installer_id", id),
    which,
    isPending,
    exists(operations, "id", and(isOpen, eq("attempts", 0))),
  );
  const hostIds = (await store.softwareInstallRuns.pick(["host_id"], { where: waiting })).map(({ host_id }) => host_id);
  await lockOperations(store, hostIds);
  // Read again under the locks: hosts may have begun meanwhile.
  for (const run of await store.softwareInstallRuns.list({ where: waiting })) {
    const [operation, host] = [await store.operations.get(run.id), await store.hosts.get(run.host_id)];
    if (operation && host)
      await recordEntries(inside, [await cancelRun(inside, host, run, operation)], { hostId: host.id });
  }
}

const installs = eq("is_uninstall", false);

async function startAnew(
  { store }: Context,
  { id }: Pick<Installer, "id">,
  which: Predicate = everything,
): Promise<void> {
  await store.softwareInstallRuns.update({ where: and(eq("installer_id", id), which), set: { is_outdated: true } });
  await forgetInstallsOf(store, id);
}

/**
 * Results of a package that goes no longer count. What hosts have begun is shown until it ends, because they are busy with
 * the title.
 */
async function startAnewOnceDone(inside: Context, { id }: Pick<Installer, "id">): Promise<void> {
  const { store } = inside;
  const begun = await store.softwareInstallRuns.list({
    where: and(eq("installer_id", id), isPending, exists(operations, "id", isOpen)),
  });
  const isBegun = oneOf(
    "id",
    begun.map((run) => run.id),
  );
  await startAnew(inside, { id }, not(isBegun));
  for (const run of begun) await refreshStatus(store, run);
}

export const installsFollowPackages: InstallerListener = {
  async changed(inside, installer, { newFile, onlyShown }) {
    if (!onlyShown) await cancelWaiting(inside, installer, installs);
    if (newFile) await startAnew(inside, installer);
  },
  async removed(inside, installer) {
    // Removals too: nothing would show them as waiting, and a new package of the title could not be removed or installed.
    await cancelWaiting(inside, installer, everything);
    await startAnewOnceDone(inside, installer);
  },
};

/** For hosts that enroll into another team, whose operations are cancelled all at once. */
export async function dropPendingInstalls(
  { store, clock }: Pick<Context, "store" | "clock">,
  hostIds: readonly number[],
): Promise<void> {
  await store.softwareInstallRuns.update({
    where: and(oneOf("host_id", hostIds), isPending),
    set: { status: "canceled", file_id: null, ended_at: clock.iso() },
  });
  await forgetPendingInstalls(store, hostIds);
}
