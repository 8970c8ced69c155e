// The kernels of Linux releases, which are packages on their hosts. The vulnerabilities of a release are those of its
// kernels.
import type { Context } from "../../platform/core/context.ts";
import { asCounts } from "../../platform/core/counts.ts";
import { and, contains, eq, exists, has, oneOf, or, type Predicate } from "../../platform/store/query.ts";
import { hostSoftware } from "../software/tables.ts";

export interface Kernel {
  readonly id: number;
  readonly version: string;
  readonly hosts_count: number;
}

/** Packages that are kernels: those of Debian and Ubuntu, and of Red Hat, SUSE and Amazon Linux. */
const kernelPackages: Predicate = or(
  and(eq("source", "deb_packages"), contains("name", "linux-image-")),
  and(eq("source", "rpm_packages"), oneOf("name", ["kernel", "kernel-core", "kernel-default"])),
);

/** Kernels that are counted at the same time. */
const MAX_CONCURRENT = 4;

/** The kernels on these hosts by operating system version, those on most hosts first. */
export async function kernelsBySystem(
  { store }: Context,
  hostPredicate: Predicate,
): Promise<ReadonlyMap<number, Kernel[]>> {
  const packages = await store.software.pick(["id", "name", "version"], { where: kernelPackages });
  const kernels = packages.filter(({ name }) => !name.startsWith("linux-image-") || /^linux-image-\d/.test(name));
  const bySystem = new Map<number, Kernel[]>();
  for (let at = 0; at < kernels.length; at += MAX_CONCURRENT)
    await Promise.all(
      kernels.slice(at, at + MAX_CONCURRENT).map(async ({ id, version }) => {
        const on = and(hostPredicate, exists(hostSoftware, "id", has("software_ids", id)));
        for (const [system, hosts_count] of asCounts(await store.hosts.groupCount("os_version_id", on)))
          bySystem.set(system, [...(bySystem.get(system) ?? []), { id, version, hosts_count }]);
      }),
    );
  for (const kernels of bySystem.values()) kernels.sort((a, b) => b.hosts_count - a.hosts_count || a.id - b.id);
  return bySystem;
}
