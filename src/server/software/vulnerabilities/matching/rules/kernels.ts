// Packages of Linux kernels.

/** Parts of a kernel that do not run: headers, tools and documentation have its version, but not its vulnerabilities. */
const sides =
  /^(?:linux-(?:headers|libc-dev|tools|cloud-tools|doc|source|modules|buildinfo|config|kbuild|compiler|perf|cpupower|generic|aws|gcp|azure|lowlatency|virtual)(?:-.*)?|linux-image-(?!unsigned-\d)[a-z].*|kernel-(?:headers|devel|doc|tools|tools-libs|modules|modules-core|modules-extra|srpm-macros|abi-stablelists|debug|debug-.*|rt-devel|rt-modules.*)|bpftool|perf|python3-perf)$/;

export const isKernelSide = (name: string): boolean => sides.test(name);

/** `5.15` of 5.15.0-91.101. */
export const kernelSeries = (version: string): string => /^(?:\d+:)?(\d+\.\d+)/.exec(version)?.[1] ?? "";

/**
 * Source packages of a kernel of Ubuntu, the most specific first: `linux-image-6.5.0-14-generic` on 22.04 is from
 * linux-hwe-6.5, `linux-image-5.15.0-1051-aws` from linux-aws.
 */
export function debKernelSources(name: string, series: string): string[] {
  const flavour = /^linux-image-(?:unsigned-)?[\d.]+-\d+-(.+)$/.exec(name)?.[1] ?? "generic";
  const kernel = flavour.replace(/-(?:64k|fde|tegra|fips).*$/, "");
  if (kernel === "generic" || kernel === "lowlatency")
    return [
      `linux-hwe-${series}`,
      ...(kernel === "lowlatency" ? [`linux-lowlatency-hwe-${series}`, "linux-lowlatency"] : []),
      "linux",
    ];
  return [`linux-${kernel}-${series}`, `linux-${kernel}`];
}
