// The distribution that an RPM package is from, and the stream of a module.
import { kernelSeries } from "./kernels.ts";

/** Packages of others are not in the distribution's advisories, even if they have the same name. */
const vendors: readonly (readonly [vendor: RegExp, ecosystem: string])[] = [
  [/^red hat/i, "Red Hat"],
  [/^centos/i, "Red Hat"],
  [/^rocky/i, "Rocky Linux"],
  [/^almalinux/i, "AlmaLinux"],
];

export function distributionOf(row: { readonly vendor: string; readonly release: string }): string | null {
  const ecosystem = vendors.find(([vendor]) => vendor.test(row.vendor.trim()))?.[1];
  const major = /\.(?:module\+)?el(\d+)/.exec(row.release)?.[1];
  return ecosystem === undefined || major === undefined ? null : `${ecosystem}:${major}`;
}

/** Modules whose streams are major versions; the streams of others are named by two numbers (php 7.4). */
const majorStreams = /^(?:nodejs|npm|nodejs-.*|postgresql.*|pg.*|postgres-.*|redis|go-toolset|golang.*|rust.*|llvm.*)$/;

/** Streams of a module are independent: a fix in nodejs 18 says nothing about nodejs 16. */
export function isOtherStream(name: string, version: string, fixed: string): boolean {
  const isModule = version.includes(".module");
  if (isModule !== fixed.includes(".module")) return true;
  if (!isModule) return false;
  return majorStreams.test(name)
    ? kernelSeries(version).split(".")[0] !== kernelSeries(fixed).split(".")[0]
    : kernelSeries(version) !== kernelSeries(fixed);
}
